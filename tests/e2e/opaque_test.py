#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nodes that Octavo does not support stay float: with their bodies, in process and on a service."""

import json
import os
import pathlib
import re
import subprocess
import unittest

import numpy as np
import onnx
from onnx import helper

import models
import opaque_models
from programs import OCTAVO, ROOT, Case, Server, clean_environment, octavo

PAGE = ROOT / "docs" / "unsupported.md"


def by_op(model, op):
    return [node for node in model.graph.node if node.op_type == op]


class Opaque(Case):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "x.npz"
        np.savez(self.data, x=opaque_models.samples())

    def save(self, model, name="m.onnx"):
        onnx.save(model, self.folder / name)
        return self.folder / name

    def optimize(self, path, *flags, out="out.onnx", server=None, code=0):
        report = self.folder / "report.json"
        result = octavo("optimize", path, "--data", self.data, "-o", self.folder / out, "--report",
                        report, "--deterministic", *flags, server=server)
        self.assertEqual(result.returncode, code, result.stderr)
        made = onnx.load(self.folder / out) if code in (0, 5) else None
        return made, json.loads(report.read_text()) if made else None, result

    def check(self, model):
        """A model that ONNX's checker accepts, with nodes in order."""
        onnx.checker.check_model(model)

    def reasons(self, report):
        return {node["node"]: node["reason"] for node in report["float_nodes"]}

    def warned(self, report):
        return [warning["code"] for warning in report["warnings"]]

    # ------------------------------------------------------------ what stays, what is quantized

    def test_custom_domains_stay_float_and_what_precedes_is_quantized(self):
        before = opaque_models.custom()
        model, report, result = self.optimize(self.save(before))
        self.check(model)
        gate = by_op(model, "Gate")[0]
        self.assertEqual(gate, by_op(before, "Gate")[0])
        self.assertEqual(len(by_op(model, "QuantizeLinear")), 1)  # x, not f, which the gate reads
        self.assertEqual(self.warned(report).count("unsupported_op"), 1)
        self.assertEqual(self.warned(report).count("not_calibrated"), 1)
        reasons = self.reasons(report)
        self.assertIn("com.example", reasons["gate"])
        self.assertIn("follows 'gate'", reasons["y"])
        self.assertIn("[unsupported_op]", result.stderr)
        # What follows has its weights as they were.
        weight = {w.name: w for w in model.graph.initializer}["w2"]
        self.assertEqual(weight, {w.name: w for w in before.graph.initializer}["w2"])
        self.assertEqual([v.name for v in model.graph.input], ["x"])
        self.assertEqual([v.name for v in model.graph.output], ["y"])
        self.assertEqual([o["name"] for o in report["numerics"]["outputs"]], ["f"])

    def test_local_functions_stay_and_their_calls_are_not_inlined(self):
        before = opaque_models.with_functions()
        self.check(before)
        model, report, _ = self.optimize(self.save(before))
        self.check(model)
        self.assertEqual(list(model.functions), list(before.functions))
        self.assertEqual(list(model.opset_import), list(before.opset_import))
        self.assertEqual(by_op(model, "Gate"), by_op(before, "Gate"))
        self.assertEqual(len(by_op(model, "QuantizeLinear")), 1)  # x, not f, which the gate reads
        # A function's node is no node of the graph.
        self.assertEqual(set(self.reasons(report)), {"f", "gate", "y"})
        self.assertIn("not rounded", self.reasons(report)["f"])
        self.assertIn("'Gate' of domain 'com.example'", self.reasons(report)["gate"])
        again, _, _ = self.optimize(self.folder / "out.onnx", out="again.onnx")
        self.assertEqual(list(again.functions), list(before.functions))
        rounded, report, _ = self.optimize(self.folder / "m.onnx", "--no-float-outputs")
        self.assertEqual(len(by_op(rounded, "QuantizeLinear")), 2)  # x and f
        self.assertEqual(set(self.reasons(report)), {"gate", "y"})

    def test_a_function_of_an_older_opset_is_not_mixed_with_a_newer_one(self):
        path = self.save(opaque_models.with_an_old_function())
        result = octavo("optimize", path, "--data", "random:1:4", "-o", self.folder / "o.onnx")
        self.assert_fails(result, 4, "function 'Gate' has Unsqueeze as opset 11 has it",
                          "--per-tensor")
        model, _, _ = self.optimize(path, "--per-tensor")
        self.check(model)

    def test_control_flow_stays_with_its_bodies_and_what_they_capture(self):
        for make in (opaque_models.branch, opaque_models.loop):
            before = make()
            model, report, _ = self.optimize(self.save(before))
            self.check(model)
            op = "If" if make is opaque_models.branch else "Loop"
            self.assertEqual(by_op(model, op), by_op(before, op))
            written = [name for node in model.graph.node for name in node.output]
            written += [w.name for w in model.graph.initializer]
            self.assertIn("f", written)
            if op == "If":
                self.assertIn("w3", written)
            self.assertTrue(by_op(model, "QuantizeLinear"))

    def test_non_max_suppression_with_symbolic_outputs(self):
        before = opaque_models.detection()
        model, report, _ = self.optimize(self.save(before))
        self.check(model)
        self.assertEqual(by_op(model, "NonMaxSuppression"), by_op(before, "NonMaxSuppression"))
        outputs = {v.name: v for v in model.graph.output}
        self.assertEqual(outputs["picked"], {v.name: v for v in before.graph.output}["picked"])
        measured = {o["name"] for o in report["numerics"]["outputs"]}
        self.assertEqual(measured, {"boxes", "scores", "all_boxes"})

    def test_many_nodes_of_one_operator_give_one_warning(self):
        _, report, _ = self.optimize(self.save(opaque_models.many_custom()))
        self.assertEqual(self.warned(report).count("unsupported_op"), 1)
        text = next(w for w in report["warnings"] if w["code"] == "unsupported_op")["message"]
        self.assertIn("500 Gate", text)
        self.assertEqual(sum(n["op"] == "Gate" for n in report["float_nodes"]), 500)

    def test_symbolic_dimensions_stay_symbolic_around_such_nodes(self):
        before = opaque_models.open_branch()
        path = self.save(before)
        model, report, _ = self.optimize(path)
        self.check(model)
        self.assertTrue(by_op(model, "QuantizeLinear"))
        self.assertEqual(list(model.graph.input), list(before.graph.input))
        self.assertEqual(list(model.graph.output), list(before.graph.output))
        self.assertNotIn("fixed_dimension", self.warned(report))
        model, report, _ = self.optimize(path, "--values-from", self.write_values("picked"))
        self.assertEqual([d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim],
                         [1, 3, 8, 8])
        fixed = [w["message"] for w in report["warnings"] if w["code"] == "fixed_dimension"]
        self.assertTrue(fixed)
        for message in fixed:
            self.assertIn("the values of 'picked' are given at this size", message)

    # ------------------------------------------------------------ values

    def write_values(self, name="g", shape=(16, 4, 8, 8)):
        folder = self.folder / "values"
        folder.mkdir(exist_ok=True)
        values = np.random.default_rng(3).random(shape).astype(np.float32)
        np.save(folder / f"{name}.npy", values)
        return folder

    def test_what_follows_is_calibrated_by_values_from(self):
        folder = self.write_values()
        for declared in (True, False):
            model, report, _ = self.optimize(self.save(opaque_models.custom(declared)),
                                             "--values-from", folder)
            self.check(model)
            self.assertNotIn("not_calibrated", self.warned(report))
            self.assertIn("unsupported_op", self.warned(report))
            self.assertEqual({o["name"] for o in report["numerics"]["outputs"]}, {"f", "y"})
            self.assertNotIn("y", self.reasons(report))
            self.assertEqual([v.name for v in model.graph.input], ["x"])
            self.assertEqual(len(by_op(model, "Gate")), 1)

    def test_values_that_do_not_fit_are_named(self):
        folder = self.write_values(shape=(15, 4, 8, 8))
        _, _, result = self.optimize(self.save(opaque_models.custom()), "--values-from", folder,
                                     code=3)
        self.assertIn("'g'", result.stderr)
        result = octavo("optimize", self.folder / "m.onnx", "--data", "random:1", "--values-from",
                        folder, "-o", self.folder / "o.onnx")
        self.assert_fails(result, 2, "--values-from", "random:1")

    def test_shape_gives_the_type_of_a_result(self):
        path = self.save(opaque_models.detection())
        model, _, _ = self.optimize(path, "--shape", "selected=5,3")
        types = {v.name: v.type.tensor_type for v in model.graph.value_info}
        self.assertEqual([d.dim_value for d in types["selected"].shape.dim], [5, 3])
        self.assertEqual(types["selected"].elem_type, onnx.TensorProto.INT64)
        _, _, result = self.optimize(path, "--shape", "selecte=5,3", code=2)
        self.assertIn("did you mean 'selected'", result.stderr)

    # ------------------------------------------------------------ strictness, gates, forms

    def test_strict_ops_restores_exit_4(self):
        for make, word in ((opaque_models.custom, "Gate"), (opaque_models.branch, "If"),
                           (opaque_models.detection, "nms")):
            _, _, result = self.optimize(self.save(make()), "--strict-ops", code=4)
            self.assertIn(word, result.stderr)

    def test_gates_judge_what_can_be_compared(self):
        path = self.save(opaque_models.custom())
        self.optimize(path, "--require-sqnr", "20")
        self.optimize(path, "--require-sqnr", "90", code=5)
        nothing = models.model([helper.make_node("Odd", ["x"], ["t"], name="odd", domain="d"),
                                helper.make_node("Relu", ["t"], ["y"])],
                               inputs=(("x", opaque_models.IMAGE),))
        nothing.opset_import.add(domain="d", version=1)
        _, _, result = self.optimize(self.save(nothing), "--require-sqnr", "20", code=2)
        self.assertIn("nothing to judge", result.stderr)
        model, _, _ = self.optimize(self.save(nothing))
        self.assertEqual([n.op_type for n in model.graph.node], ["Odd", "Relu"])

    def test_other_forms_cannot_hold_the_nodes(self):
        path = self.save(opaque_models.custom())
        for out in ("o.octavo", "o.graph"):
            result = octavo("optimize", path, "--data", self.data, "-o", self.folder / out)
            self.assert_fails(result, 4, "gate", "only an ONNX model")

    def test_an_opset_that_changes_a_form_is_exit_4_naming_the_node(self):
        before = opaque_models.build(
            opaque_models.backbone() + [
                opaque_models.node("Odd", ["f"], ["y"], name="odd")],
            [opaque_models.normal("w1", 4, 3, 3, 3)], [opaque_models.info("x", opaque_models.IMAGE)],
            [opaque_models.info("y", None)], opset=11)
        _, _, result = self.optimize(self.save(before), code=4)
        self.assertIn("'odd'", result.stderr)
        self.optimize(self.save(before), "--per-tensor")
        # Other domains have versions of their own.
        self.optimize(self.save(opaque_models.custom(opset=11)))

    # ------------------------------------------------------------ sameness

    def test_a_service_gives_the_same_bytes(self):
        folder = self.write_values()
        with Server() as server:
            for make, flags in ((opaque_models.custom, []), (opaque_models.branch, []),
                                (opaque_models.detection, []),
                                (opaque_models.custom, ["--values-from", folder])):
                path = self.save(make())
                for out, address in (("here.onnx", None), ("there.onnx", server.address)):
                    self.optimize(path, *flags, out=out, server=address)
                self.assertEqual((self.folder / "here.onnx").read_bytes(),
                                 (self.folder / "there.onnx").read_bytes(), make.__name__)
                strict = octavo("optimize", path, "--data", self.data, "-o", self.folder / "s.onnx",
                                "--strict-ops", server=server.address)
                self.assertEqual(strict.returncode, 4)

    def test_a_job_on_its_own_result_changes_no_byte(self):
        folder = self.write_values()
        for make, flags in ((opaque_models.custom, []), (opaque_models.branch, []),
                            (opaque_models.loop, []), (opaque_models.detection, []),
                            (opaque_models.custom, ["--values-from", folder])):
            self.optimize(self.save(make()), *flags, out="one.onnx")
            self.optimize(self.folder / "one.onnx", *flags, out="two.onnx")
            self.assertEqual((self.folder / "one.onnx").read_bytes(),
                             (self.folder / "two.onnx").read_bytes(), make.__name__)

    def test_the_certificate_of_such_a_job_is_verified(self):
        path = self.save(opaque_models.branch())
        # What samples choose cannot be proved.
        self.optimize(path, "--certificate", self.folder / "c.json", "--rounding", "nearest")
        result = octavo("verify", path, self.folder / "out.onnx", self.folder / "c.json")
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        _, _, result = self.optimize(self.save(opaque_models.custom()), "--certificate",
                                     self.folder / "c.json", "--values-from", self.write_values(),
                                     code=4)
        self.assertIn("certificate", result.stderr)

    # ------------------------------------------------------------ other commands

    def test_inspect_lists_every_unsupported_node_and_symbolic_dimensions(self):
        model = opaque_models.detection()
        model.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "height"
        path = self.save(opaque_models.many_custom(3))
        listed = json.loads(octavo("inspect", path, "--json").stdout)["opaque"]
        self.assertEqual([row["node"] for row in listed], ["g0", "g1", "g2"])
        symbolic = models.conv(inputs=(("x", ["N", 2, "H", "W"]),))
        result = octavo("inspect", self.save(symbolic))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Nx2xHxW", result.stdout)
        result = octavo("inspect", self.save(opaque_models.detection()))
        self.assertIn("found", result.stdout)
        self.assertIn("NonMaxSuppression", result.stdout)

    def test_inspect_tells_nodes_that_follow_an_unsupported_one_from_it(self):
        path = self.save(models.relu_of("Odd", "com.example"))
        found = json.loads(octavo("inspect", path, "--json").stdout)
        self.assertEqual([row["op"] for row in found["opaque"]], ["Odd"])
        self.assertEqual([row["op"] for row in found["not_calibrated"]], ["Relu"])
        text = octavo("inspect", path).stdout
        unsupported, follows = text.split("Not supported")[1].split("Float because they follow")
        self.assertIn("Odd", unsupported)
        self.assertNotIn("Relu", unsupported)
        self.assertIn("Relu", follows)

    def test_other_commands_do_what_can_be_done(self):
        path = self.save(opaque_models.detection())
        result = octavo("run", path, "--data", self.data, "-o", self.folder / "values")
        self.assertEqual(result.returncode, 0, result.stderr)
        index = json.loads((self.folder / "values" / "index.json").read_text())
        self.assertEqual([row["name"] for row in index], ["scores"])
        self.assertIn("[unsupported_op]", result.stderr)
        result = octavo("run", self.save(opaque_models.custom(), "c.onnx"), "--data", self.data, "-o",
                        self.folder / "none")
        self.assert_fails(result, 4, "gate")
        for command in (["bench", path, "--runs", "1"],
                        ["profile", path, "--data", self.data, "-o", self.folder / "p.json"]):
            result = octavo(*command)
            self.assertEqual(result.returncode, 0, result.stderr)
        self.optimize(path)
        result = octavo("diff", path, self.folder / "out.onnx", "--data", self.data, "--report",
                        self.folder / "d.json")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_reproduce_finds_the_values(self):
        folder = self.write_values()
        self.optimize(self.save(opaque_models.custom()), "--values-from", folder)
        result = octavo("reproduce", self.folder / "report.json", "--from", folder)
        self.assertEqual(result.returncode, 0, result.stderr)

    # ------------------------------------------------------------ hostile

    def test_deep_bodies_are_refused(self):
        self.optimize(self.save(opaque_models.deep(20)))
        _, _, result = self.optimize(self.save(opaque_models.deep(60)), code=3)
        self.assertIn("'choice'", result.stderr)

    def test_a_body_that_reads_what_no_node_defines(self):
        model = opaque_models.branch()
        by_op(model, "If")[0].attribute[0].g.node[0].input[0] = "nowhere"
        _, _, result = self.optimize(self.save(model), code=3)
        self.assertIn("'nowhere'", result.stderr)

    def test_a_body_of_wrong_bytes(self):
        data = opaque_models.branch().SerializeToString()
        at = data.index(b"Mul_out")
        path = self.folder / "broken.onnx"
        path.write_bytes(data[:at - 1] + b"\xff" + data[at:])
        result = octavo("optimize", path, "--data", self.data, "-o", self.folder / "o.onnx")
        self.assertEqual(result.returncode, 3, result.stderr)

    # ------------------------------------------------------------ documentation

    def test_the_blocks_of_the_page_run(self):
        onnx.save(opaque_models.custom(), self.folder / "model.onnx")
        np.savez(self.folder / "samples.npz", x=opaque_models.samples())
        self.write_values()
        blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
        self.assertEqual(len(blocks), 2)
        path = f"{pathlib.Path(OCTAVO).resolve().parent}:{os.environ['PATH']}"
        subprocess.run(["sh", "-eu", "-c", "\n".join(blocks)], cwd=self.folder, check=True,
                       env=clean_environment(PATH=path))


if __name__ == "__main__":
    unittest.main()
