#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same job gives the same bytes: any number of threads, any instruction set, here or on a
service."""

import json
import struct
import unittest

import numpy as np
import onnx

import models
from programs import DIGITS, Case, Server, octavo


# The first channel of %r uses the whole range, the others a sixteenth of it.
UNEQUAL_CHANNELS = """graph(%x: tensor<1x2xf32>) -> (%y) {
  const %u = [16, 1, 0.5, -16, 1, 1] : tensor<2x3xf32>
  const %w = [0.01, 0.02, 1, 2, 1, -1] : tensor<3x2xf32>
  %a = MatMul(%x, %u) : tensor<1x3xf32>
  %r = Relu(%a) : tensor<1x3xf32>
  %y = MatMul(%r, %w) : tensor<1x2xf32>
}
"""


class SameBytes(Case):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--job-threads", "2")
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)

    def files_of(self, name, *arguments, **how):
        """Everything that one job writes, by file name."""
        folder = self.folder / name
        folder.mkdir()
        result = octavo("optimize", *arguments, "-o", folder / "out.onnx", "--report",
                        folder / "report.json", "--html", folder / "report.html",
                        "--deterministic", **how)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    def assert_all_same(self, *arguments):
        first = self.files_of("one", *arguments, "--threads", 1)
        self.assertEqual(first, self.files_of("two", *arguments, "--threads", 2))
        self.assertEqual(first, self.files_of("portable", *arguments, OCTAVO_ISA="portable"))
        for threads in (1, 2):
            self.assertEqual(first, self.files_of(f"remote{threads}", *arguments, "--threads",
                                                  threads, server=self.server.address))
        return first

    def test_of_digits(self):
        self.assert_all_same(DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz")

    def test_of_samples_that_evaluate(self):
        first = self.assert_all_same(DIGITS / "model.onnx", "--data",
                                     DIGITS / "calibration.npz", "--evaluate", DIGITS / "heldout.npz",
                                     "--samples", 32)
        self.assertEqual(json.loads(first["report.json"])["numerics"]["samples_role"], "evaluation")

    def test_of_values_of_16_bits_that_a_budget_chooses(self):
        first = self.assert_all_same(DIGITS / "model.onnx", "--data",
                                     DIGITS / "calibration.npz", "--accuracy-budget", "39")
        budget = json.loads(first["report.json"])["accuracy_budget"]
        self.assertTrue(budget["reached"] and budget["groups"], budget)
        names = [name for group in budget["groups"] for name in group["values"]]
        named = self.files_of("named", DIGITS / "model.onnx", "--data",
                              DIGITS / "calibration.npz", "--int16", ",".join(names))
        self.assertEqual(json.loads(named["report.json"])["numerics"]["outputs"],
                         json.loads(first["report.json"])["numerics"]["outputs"])

    def test_of_a_search(self):
        first = self.assert_all_same(DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz",
                                     "--search")
        report = json.loads(first["report.json"])
        [chosen] = [row for row in report["search"] if row["chosen"]]
        self.assertEqual(len(report["search"]), 7)
        for key in ("calibration", "rounding"):
            self.assertEqual(report["options"][key], chosen[key])
        equalize = "on" if chosen["equalize"] else "off"
        self.assertEqual(report["options"]["equalize"], equalize)
        self.assertIn(b"<h2>Search</h2>", first["report.html"])
        # The report runs the same job again, and its winner by name gives the same network.
        again = self.files_of("again", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz",
                              "--options-from", self.folder / "one" / "report.json")
        self.assertEqual(again, first)
        named = self.files_of("named", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz",
                              "--calibration", chosen["calibration"], "--rounding",
                              chosen["rounding"], "--equalize", equalize)
        self.assertEqual(models.without_stamp(named["out.onnx"]),
                         models.without_stamp(first["out.onnx"]))
        result = octavo("reproduce", self.folder / "one" / "report.json", "--from", DIGITS)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_of_equalized_channels(self):
        model = self.folder / "net.graph"
        model.write_text(UNEQUAL_CHANNELS)
        first = self.assert_all_same(model, "--data", "random:1:32", "--equalize", "on")
        report = json.loads(first["report.json"])
        self.assertIn("equalize/channels", {entry["rule"] for entry in report["ledger"]})

    def test_of_a_profile_alone(self):
        profile = self.folder / "p.json"
        result = octavo("profile", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz",
                        "-o", profile)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_all_same(DIGITS / "model.onnx", "--profile", profile)

    def test_of_a_profile_with_data_and_options(self):
        profile = self.folder / "p.json"
        octavo("profile", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz", "-o",
               profile)
        self.assert_all_same(DIGITS / "model.onnx", "--profile", profile, "--data",
                             DIGITS / "calibration.npz", "--emit", "qlinear", "--calibration", "mse",
                             "--per-tensor", "--activations", "i8")

    def test_of_a_profile_in_each_form(self):
        """The model is the same whatever tool's form the same ranges stand in."""
        profile = self.folder / "p.json"
        octavo("profile", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz", "-o",
               profile)
        bare = json.loads(profile.read_text())
        bare = {"octavo_profile": 1, "values": [
            {"name": value["name"], "min": -127 * scale, "max": 127 * scale}
            for value in bare["values"]
            for scale in [2.0 ** np.ceil(np.log2(max(-value["min"], value["max"], 1) / 127))]]}
        ranges = {value["name"]: (value["min"], value["max"]) for value in bare["values"]}
        forms = {
            "own": json.dumps(bare),
            "ort": json.dumps({"CLS": "TensorsData", "data": {
                name: {"CLS": "TensorData", "lowest": low, "highest": high}
                for name, (low, high) in ranges.items()}}),
            "trt": "TRT-8400-EntropyCalibration2\n" + "".join(
                f"{name}: {struct.pack('>f', high / 127).hex()}\n"
                for name, (low, high) in ranges.items()),
        }
        for form, text in forms.items():
            (self.folder / form).write_text(text)
        glow = self.folder / "glow.yaml"
        result = octavo("merge-profiles", self.folder / "own", self.folder / "trt", "-o", glow)
        self.assertEqual(result.returncode, 0, result.stderr)
        models_of = {}
        for form in [*forms, glow.name]:
            arguments = [DIGITS / "model.onnx", "--profile", self.folder / form]
            models_of[form] = self.files_of(f"{form}-here", *arguments)["out.onnx"]
            self.assertEqual(models_of[form], self.files_of(
                f"{form}-remote", *arguments, server=self.server.address)["out.onnx"], form)
        bare_models = {models.without_stamp(model) for model in models_of.values()}
        self.assertEqual(len(bare_models), 1)

    def test_with_external_data_and_a_bound_shape(self):
        model = models.model(
            [onnx.helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])],
            [models.weight()], inputs=[("x", [1, 2, "height", "width"])])
        path = self.folder / "m.onnx"
        onnx.save(model, str(path), save_as_external_data=True, size_threshold=0, location="w.bin")
        self.assertTrue((self.folder / "w.bin").exists())
        data = models.samples(self.folder / "x.npz", shape=[1, 2, 6, 5])
        self.assert_all_same(path, "--data", data, "--shape", "x=1,2,6,5")

    def test_of_groups_and_of_biases_of_every_shape(self):
        """The service survives what once ended it: ConvTranspose with groups and a bias."""
        node, draw = onnx.helper.make_node, np.random.default_rng(3).normal
        nodes = [node("ConvTranspose", ["x", "w", "b"], ["t"], group=2),
                 node("Flatten", ["t"], ["g0"])]
        constants = [models.tensor("w", draw(size=(2, 2, 2, 2))), models.tensor("b", draw(size=4))]
        width = 100
        for i, shape in enumerate(([1, 5], [], [1], [1, 1], [5])):
            constants += [models.tensor(f"w{i}", draw(size=(width, 5))),
                          models.tensor(f"b{i}", draw(size=shape))]
            nodes.append(node("Gemm", [f"g{i}", f"w{i}", f"b{i}"], [f"g{i + 1}"]))
            width = 5
        nodes.append(node("Identity", ["g5"], ["y"]))
        path = self.folder / "m.onnx"
        onnx.save(models.model(nodes, constants), str(path))
        self.assert_all_same(path, "--data", models.samples(self.folder / "x.npz"))

    def test_of_a_model_without_inputs(self):
        path = self.folder / "m.onnx"
        onnx.save(models.model([onnx.helper.make_node("Relu", ["c"], ["y"])],
                               [models.tensor("c", [1.0, -2.0])], inputs=()), str(path))
        self.assert_all_same(path)

    def test_of_a_native_graph_that_stopped_on_the_way(self):
        # A graph that stopped has no moments of the samples that chose its ranges.
        data = ["--data", DIGITS / "calibration.npz", "--rounding", "nearest"]
        # The sizes of a native graph are fixed.
        whole = models.without_stamp(
            self.files_of("whole", DIGITS / "model.onnx", *data, "--batch", 1)["out.onnx"])
        half = self.folder / "half.octavo"
        for stop in ("lower", "quantize", "absorb-rescales", "specialize-bias", "merge-constants"):
            result = octavo("optimize", DIGITS / "model.onnx", *data, "-o", half, "--stop-before",
                            stop)
            self.assertEqual(result.returncode, 0, result.stderr)
            rest = data if stop in ("lower", "quantize") else ["--no-quantize"]
            here = self.files_of(stop, half, *rest)["out.onnx"]
            self.assertEqual(whole, models.without_stamp(here), stop)
            self.assertEqual(here, self.files_of(f"{stop}-remote", half, *rest,
                                                 server=self.server.address)["out.onnx"], stop)

        # What it is stands in it, whatever it is called.
        other = half.rename(self.folder / "half.bin")
        here = self.files_of("renamed", other, "--no-quantize")["out.onnx"]
        self.assertEqual(whole, models.without_stamp(here))
        self.assertEqual(here, self.files_of("renamed-remote", other, "--no-quantize",
                                             server=self.server.address)["out.onnx"])

    def test_with_external_weights(self):
        files = self.assert_all_same(DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz",
                                     "--external-over", 0)
        self.assertEqual({"out.onnx", "out.onnx.data", "report.json", "report.html"}, set(files))
        model = onnx.load(str(self.folder / "one" / "out.onnx"))
        onnx.checker.check_model(model)
        whole = self.files_of("whole", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz")
        inside = onnx.load_from_string(whole["out.onnx"])
        self.assertLess(len(files["out.onnx"]), len(whole["out.onnx"]) // 2)
        for external, expected in zip(model.graph.initializer, inside.graph.initializer):
            np.testing.assert_array_equal(onnx.numpy_helper.to_array(external),
                                          onnx.numpy_helper.to_array(expected), external.name)

    def test_of_an_integer_interface(self):
        data = ["--data", DIGITS / "calibration.npz"]
        whole = ["--holdout", "none"]  # octavo diff takes all samples
        integer = self.assert_all_same(DIGITS / "model.onnx", *data, *whole, "--integer-io")
        report = json.loads(integer["report.json"])
        rules = {entry["rule"]: entry["effect"] for entry in report["ledger"]}
        self.assertEqual(rules["move-quantize/integer-input"], "exact")
        self.assertEqual(rules["move-quantize/integer-output"], "exact")
        self.assertLessEqual({"integer_input", "integer_output"},
                             {warning["code"] for warning in report["warnings"]})
        # An integer output is rounded in either report: it is what --no-float-outputs computes.
        plain = json.loads(self.files_of("plain", DIGITS / "model.onnx", *data, *whole,
                                         "--no-float-outputs")["report.json"])
        self.assertEqual(plain["numerics"]["outputs"], report["numerics"]["outputs"])
        said = octavo("diff", DIGITS / "model.onnx", self.folder / "one" / "out.onnx", *data)
        self.assertEqual(said.returncode, 0, said.stderr)
        told, wanted = json.loads(said.stdout)["numerics"], report["numerics"]
        self.assertEqual([each["name"] for each in told["outputs"]],
                         [each["name"] for each in wanted["outputs"]])
        self.assertEqual(told["outputs"][0]["sqnr_db"], wanted["outputs"][0]["sqnr_db"])

    def test_integer_samples_give_the_outputs_of_the_float_interface(self):
        data = ["--data", DIGITS / "calibration.npz"]
        plain = self.files_of("plain", DIGITS / "model.onnx", *data,
                              "--no-float-outputs")["out.onnx"]
        (self.folder / "plain.onnx").write_bytes(plain)
        arrays = np.load(DIGITS / "heldout.npz")
        (name,) = arrays.files
        real = arrays[name][:20]
        for form in ("qdq", "qlinear"):
            files = self.files_of(form, DIGITS / "model.onnx", *data, "--integer-io", "--emit",
                                  form)
            model = onnx.load_from_string(files["out.onnx"])
            for value in (model.graph.input[0], model.graph.output[0]):
                self.assertEqual(value.type.tensor_type.elem_type, onnx.TensorProto.UINT8)
            self.assertEqual(model.graph.input[0].name, name)
            figures = {value.name: onnx.numpy_helper.to_array(value)
                       for value in model.graph.initializer}
            integers = np.rint(real / figures[f"{name}.scale"]) + figures[f"{name}.zero_point"]
            (self.folder / f"{form}.onnx").write_bytes(files["out.onnx"])
            output = model.graph.output[0].name
            got = self.run_on(form, {name: np.clip(integers, 0, 255).astype(np.uint8)}, output)
            wanted = self.run_on("plain", {name: real}, output)
            self.assertEqual(got.dtype, np.uint8)
            step = figures[f"{output}.scale"]
            zero = figures[f"{output}.zero_point"].astype(np.int32)
            np.testing.assert_array_equal((got.astype(np.int32) - zero).astype(np.float32) * step,
                                          wanted)

    def run_on(self, model, arrays, output):
        data, folder = self.folder / f"{model}.npz", self.folder / f"{model}-values"
        np.savez(data, **arrays)
        result = octavo("run", self.folder / f"{model}.onnx", "--data", data, "-o", folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        return np.load(folder / f"{output}.npy")

    def quantized_movement(self):
        """x quantized, transposed and dequantized, as a model says that x is quantized."""
        pair = ["scale", "zero"]
        path = self.folder / "movement.onnx"
        onnx.save(models.model(
            [onnx.helper.make_node("Exp", ["x"], ["e"]),
             onnx.helper.make_node("QuantizeLinear", ["e", *pair], ["q"]),
             onnx.helper.make_node("Transpose", ["q"], ["t"], perm=[0, 2, 3, 1]),
             onnx.helper.make_node("DequantizeLinear", ["t", *pair], ["d"]),
             onnx.helper.make_node("Exp", ["d"], ["y"])],
            [models.tensor("scale", 0.02), models.tensor("zero", 3, np.uint8)]), str(path))
        return path

    def rules_of(self, files):
        return {entry["rule"] for entry in json.loads(files["report.json"])["ledger"]}

    def test_with_a_quantize_that_sinks(self):
        files = self.assert_all_same(self.quantized_movement(), "--no-quantize",
                                     "--sink-quantize")
        self.assertIn("move-quantize/sink-quantize", self.rules_of(files))

    def test_with_integers_left(self):
        files = self.assert_all_same(self.quantized_movement(), "--no-quantize",
                                     "--sink-quantize", "--leave-integers")
        self.assertIn("absorb-rescales/cancel-quantize-dequantize", self.rules_of(files))
        left = onnx.load_from_string(files["out.onnx"])
        self.assertEqual(["Exp", "Transpose", "Exp"], [node.op_type for node in left.graph.node])

    def test_shards_of_a_profile_merge_to_the_whole(self):
        arrays = np.load(DIGITS / "calibration.npz")
        (name,) = arrays.files
        parts = []
        for i, part in enumerate(np.array_split(arrays[name], 3)):
            data, profile = self.folder / f"{i}.npz", self.folder / f"{i}.json"
            np.savez(data, **{name: part})
            parts.append(profile)
            octavo("profile", DIGITS / "model.onnx", "--data", data, "-o", profile)
        merged, whole = self.folder / "merged.json", self.folder / "whole.json"
        octavo("merge-profiles", *parts, "-o", merged)
        octavo("profile", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz", "-o", whole)
        self.assertEqual(merged.read_text(), whole.read_text())


if __name__ == "__main__":
    unittest.main()
