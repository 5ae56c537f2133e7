#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a job says when it is done: its summary, its warnings, and the gates they can fail."""

import json
import os
import re
import shutil
import subprocess
import unittest

import models
import numpy as np
import onnx
from programs import (DIGITS, OCTAVO, PATIENCE, ROOT, Case, Server, clean_environment, octavo)

MODEL, DATA = DIGITS / "model.onnx", DIGITS / "calibration.npz"
TOGETHER = ["--holdout", "none"]  # gives the warning evaluated_on_calibration


class Warnings(Case):
    def setUp(self):
        super().setUp()
        self.out, self.report = self.folder / "out.onnx", self.folder / "report.json"

    def optimize(self, *arguments, model=MODEL, data=DATA, server=None):
        return octavo("optimize", model, "--data", data, "-o", self.out, "--report", self.report,
                      *arguments, server=server)

    def summary(self, *arguments, code=0, **more):
        result = self.optimize("--json", *arguments, **more)
        self.assertEqual(result.returncode, code, result.stderr)
        return json.loads(result.stdout)

    def save(self, model, name="model.onnx"):
        path = self.folder / name
        onnx.save(model, str(path))
        return path

    def warning_codes(self, summary):
        return {warning["code"] for warning in summary["warnings"]}

    def samples(self, name="samples.npz", count=20, change=None):
        values = np.random.default_rng(1).normal(size=[count, *models.IMAGE[1:]])
        values = values.astype(np.float32)
        if change:
            change(values)
        np.savez(self.folder / name, x=values)
        return self.folder / name


class Gates(Warnings):
    def nan_samples(self):
        return self.samples("nan.npz", change=lambda values: values.fill(np.nan))

    def test_samples_that_are_all_nan_fail_the_gates(self):
        model = self.save(models.conv())
        for gate in (["--require-sqnr", "1"], ["--require-cosine", "0.1"]):
            result = self.optimize(*gate, "--allow-non-finite", model=model,
                                   data=self.nan_samples())
            self.assert_fails(result, 5, "gate failed", "output 'y' has no")

    def test_non_finite_samples_are_exit_3_naming_file_and_index(self):
        model = self.save(models.conv())
        self.assertEqual(self.optimize(model=model, data=self.samples()).returncode, 0)

        def change(values):
            values[13, 1, 2, 3] = np.inf
        data = self.samples("bad.npz", change=change)
        commands = {"optimize": ["optimize", model, "-o", self.folder / "bad.onnx"],
                    "profile": ["profile", model, "-o", self.folder / "p.json"],
                    "run": ["run", self.out, "-o", self.folder / "values"],
                    "diff": ["diff", model, self.out]}
        for name, command in commands.items():
            with self.subTest(name):
                result = octavo(*command, "--data", data)
                self.assert_fails(result, 3, "'bad.npz' is infinite at [13,1,2,3] in array 'x'",
                                  "--allow-non-finite")
                allowed = octavo(*command, "--data", data, "--allow-non-finite")
                self.assertEqual(allowed.returncode, 0, allowed.stderr)
                self.assertIn("[non_finite_samples]", allowed.stderr)
        result = octavo("run", model, "--data", data, "-o", self.folder / "float")
        self.assertEqual(result.returncode, 0, "a float model reads them as they are")

    def test_allow_non_finite_counts_them(self):
        def change(values):
            values[3, 0, 0, :2] = np.nan
            values[5, 1, 1, 1] = -np.inf
        summary = self.summary("--allow-non-finite", model=self.save(models.conv()),
                               data=self.samples(change=change))
        self.assertIn("non_finite_samples", self.warning_codes(summary))
        numerics = json.loads(self.report.read_text())["numerics"]
        self.assertEqual(numerics["non_finite_inputs"],
                         [{"name": "x", "nans": 2, "infinities": 1}])

    def test_exact_equality_is_exact_in_the_report_and_passes(self):
        summary = self.summary("--keep-float=Conv", "--require-sqnr", "500", "--require-cosine",
                               "1", model=self.save(models.conv()), data=self.samples())
        self.assertTrue(summary["worst_output"]["exact"])
        output = json.loads(self.report.read_text())["numerics"]["outputs"][0]
        self.assertIs(output["exact"], True)
        self.assertIsNone(output["sqnr_db"])

    def test_random_samples_are_named_in_report_and_page(self):
        page = self.folder / "report.html"
        summary = self.summary("--html", page, data="random:1:20")
        self.assertEqual(summary["samples_source"], "random")
        self.assertIn("random_samples", self.warning_codes(summary))
        self.assertEqual(json.loads(self.report.read_text())["numerics"]["samples_source"],
                         "random")
        self.assertIn("random data", page.read_text())
        self.assertIn("random_samples", page.read_text())

    def test_gates_refuse_random_samples_without_allow_random(self):
        with Server() as server:
            for address in (None, server.address):
                for gate in (["--require-sqnr", "1"], ["--require-cosine", "0.1"]):
                    result = self.optimize(*gate, data="random:1:20", server=address)
                    self.assert_fails(result, 2, gate[0], "--allow-random")
                    self.assertFalse(self.out.exists())
                allowed = self.optimize("--require-sqnr", "1", "--allow-random",
                                        data="random:1:20", server=address)
                self.assertEqual(allowed.returncode, 0, allowed.stderr)
                self.out.unlink()


class Said(Warnings):
    def test_after_success_a_summary_and_every_warning_are_on_stderr(self):
        result = self.optimize(*TOGETHER)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "")
        report = json.loads(self.report.read_text())
        lines = result.stderr.splitlines()
        self.assertTrue(report["warnings"])
        for warning in report["warnings"]:
            self.assertIn(f"octavo: warning: {warning['message']} [{warning['code']}]", lines)
        self.assertRegex(result.stderr, rf"{MODEL} -> {self.out}: [\d.]+ KiB -> [\d.]+ KiB, "
                                        r"\d+ -> \d+ nodes, no node in float, \d+ Rescale")
        self.assertRegex(result.stderr, r"worst output 'logits': SQNR \d+\.\d\d dB, "
                                        r"top-1 agreement \d+\.\d\d % on \d+ calibration samples")
        self.assertRegex(result.stderr, rf"octavo: \d+\.\d\d s; also wrote {self.report}")

    def test_json_prints_the_same_object(self):
        summary = self.summary()
        report = json.loads(self.report.read_text())
        self.assertEqual(summary["warnings"], report["warnings"])
        for key in ("bytes_before", "bytes_after", "nodes_before", "nodes_after"):
            self.assertEqual(summary[key], report["model"][key])
        self.assertEqual(summary["rescales"], report["rescales"]["after"])
        self.assertEqual(summary["float_ops"], {})
        output = report["numerics"]["outputs"][0]
        self.assertEqual(summary["worst_output"]["sqnr_db"], output["sqnr_db"])
        self.assertEqual(summary["worst_output"]["top1_agreement"], output["top1_agreement"])
        self.assertEqual((summary["model"], summary["output"], summary["report"]),
                         (str(MODEL), str(self.out), str(self.report)))
        self.assertIsNone(summary["accuracy"])
        self.assertGreater(summary["seconds"], 0)
        self.assertIs(summary["gate_failed"], False)

    def test_with_labels_the_summary_has_top1_and_top5_of_both_models(self):
        summary = self.summary("--labels", DIGITS / "labels.npy", data=DIGITS / "heldout.npz")
        accuracy = json.loads(self.report.read_text())["numerics"]["accuracy"]
        self.assertEqual(summary["accuracy"], accuracy)
        result = self.optimize("--labels", DIGITS / "labels.npy", data=DIGITS / "heldout.npz")
        text = (f"octavo: top-1 {100 * accuracy['top1']:.2f} % (float model: "
                f"{100 * accuracy['top1_float']:.2f} %), top-5 ")
        self.assertIn(text, result.stderr)
        self.assertIn(" of 250 labels\n", result.stderr)  # those of the samples held back

    def test_diff_says_what_it_found_too(self):
        self.optimize("--quiet")
        command = ["diff", MODEL, self.out, "--data", DIGITS / "heldout.npz", "--labels",
                   DIGITS / "labels.npy", "--report", self.report]
        result = octavo(*command)
        self.assertRegex(result.stderr, r"octavo: worst output 'logits': SQNR \d+\.\d\d dB")
        self.assertRegex(result.stderr, r"octavo: top-1 \d+\.\d\d % \(float model: ")
        self.assertEqual(octavo(*command, "--quiet").stderr, "")

    def test_nodes_left_in_float_are_counted_by_op(self):
        summary = self.summary("--keep-float=Conv")
        self.assertEqual(set(summary["float_ops"]), {"Conv"})
        result = self.optimize("--keep-float=Conv")
        self.assertIn(f" in float ({summary['float_ops']['Conv']} Conv)", result.stderr)

    def test_local_and_remote_jobs_and_result_say_the_same(self):
        (self.folder / "state").mkdir()
        with Server("--state-dir", self.folder / "state") as server:
            said = [self.summary(*TOGETHER), self.summary(*TOGETHER, server=server.address)]
            detach = ["optimize", MODEL, "--data", DATA, *TOGETHER, "-o", self.out, "--detach",
                      "--quiet"]
            refused = octavo(*detach, "--fail-on-warning", "all", server=server.address)
            self.assert_fails(refused, 2, "--fail-on-warning", "octavo result")
            job = octavo(*detach, server=server.address)
            self.assertEqual(job.returncode, 0, job.stderr)
            name = job.stdout.strip()
            octavo("watch", name, "--quiet", server=server.address)
            result = octavo("result", name, "-o", self.out, "--report", self.report, "--json",
                            server=server.address)
            self.assertEqual(result.returncode, 0, result.stderr)
            said.append(json.loads(result.stdout))
            text = octavo("result", name, "-o", self.out, server=server.address)
            self.assertIn("[evaluated_on_calibration]", text.stderr)
        for summary in said:
            # Of the run, not of the result; a service knows a model by its file's name.
            for key in ("seconds", "source", "job_id"):
                del summary[key]
            summary["model"] = os.path.basename(summary["model"])
        self.assertEqual(said[0], said[1])
        self.assertEqual(said[0], said[2])

    def test_v_adds_passes_and_stage_times(self):
        result = self.optimize("-v")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"octavo: stage import: \d+\.\d+ s\n")
        self.assertRegex(result.stderr, r"octavo: pass quantize: changed, \d+ nodes, \d\.\d+ s\n")
        self.assertNotIn("octavo: stage", self.optimize().stderr)
        summary = self.summary("--verbose")
        report = json.loads(self.report.read_text())
        self.assertEqual(summary["passes"], report["passes"])
        self.assertIn("import", [entry["stage"] for entry in summary["stages"]])

    def test_q_leaves_errors_only(self):
        for flag in ("-q", "--quiet"):
            result = self.optimize(flag)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        result = self.optimize("-q", *TOGETHER, "--fail-on-warning", "evaluated_on_calibration")
        self.assert_fails(result, 5, "evaluated_on_calibration")
        self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_fail_on_warning_is_exit_5(self):
        def run(*flags):
            return self.optimize(*TOGETHER, *flags)

        self.assert_fails(run("--fail-on-warning", "all"), 5, "gate failed: warning ")
        self.assertTrue(self.out.exists() and self.report.exists())
        self.assert_fails(run("--fail-on-warning", "few_samples,evaluated_on_calibration"),
                          5, "warning evaluated_on_calibration")
        self.assert_fails(run("--fail-on-warning", "few_samples", "--fail-on-warning",
                              "evaluated_on_calibration"), 5, "evaluated_on_calibration")
        self.assertEqual(run("--fail-on-warning", "few_samples").returncode, 0)
        summary = self.summary(*TOGETHER, "--fail-on-warning", "all", code=5)
        self.assertIs(summary["gate_failed"], True)

    def test_fail_on_warning_is_exit_5_on_a_service_too(self):
        (self.folder / "state").mkdir()
        with Server("--state-dir", self.folder / "state") as server:
            for source in ("executed", "cache"):
                summary = self.summary(*TOGETHER, "--fail-on-warning", "all",
                                       server=server.address, code=5)
                self.assertIs(summary["gate_failed"], True)
                self.assertEqual(summary["source"], source)
                self.assertTrue(self.out.exists() and self.report.exists())
                self.out.unlink()
            result = self.optimize(*TOGETHER, "--fail-on-warning", "evaluated_on_calibration",
                                   server=server.address)
            self.assert_fails(result, 5, "gate failed: warning evaluated_on_calibration")
            self.assertEqual(self.optimize(*TOGETHER, "--fail-on-warning", "few_samples",
                                           server=server.address).returncode, 0)

    def test_fail_on_warning_is_exit_5_for_the_result_of_a_detached_job(self):
        (self.folder / "state").mkdir()
        with Server("--state-dir", self.folder / "state") as server:
            job = octavo("optimize", MODEL, "--data", DATA, *TOGETHER, "-o", self.out, "--detach",
                         "--quiet", server=server.address)
            self.assertEqual(job.returncode, 0, job.stderr)
            name = job.stdout.strip()
            watched = octavo("watch", name, "--quiet", server=server.address)
            self.assertEqual(watched.returncode, 0, watched.stderr)

            def result(*flags):
                self.out.unlink(missing_ok=True)
                got = octavo("result", name, "-o", self.out, *flags, server=server.address)
                self.assertTrue(self.out.exists(), got.stderr)
                return got
            for chosen in ("all", "few_samples,evaluated_on_calibration"):
                self.assert_fails(result("--fail-on-warning", chosen), 5,
                                  "gate failed: warning evaluated_on_calibration")
            summary = result("--fail-on-warning", "all", "--json")
            self.assertEqual(summary.returncode, 5, summary.stderr)
            self.assertIs(json.loads(summary.stdout)["gate_failed"], True)
            self.assertEqual(result("--fail-on-warning", "few_samples").returncode, 0)

    def test_fail_on_warning_takes_one_list_and_not_the_model(self):
        result = octavo("optimize", "--fail-on-warning", "few_samples", MODEL, "--data", DATA,
                        "-o", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_an_unknown_one_is_a_usage_error_with_the_list_of_warning_codes(self):
        listed = [json.loads(line)["code"]
                  for line in octavo("warnings", "--json").stdout.splitlines()]
        result = self.optimize("--fail-on-warning", "few_sample")
        self.assert_fails(result, 2, "few_sample'", ", ".join(listed),
                          "did you mean 'few_samples'?")
        self.assertFalse(self.out.exists())

    def test_warnings_lists_all_of_the_table_with_their_meaning(self):
        rows = [json.loads(line) for line in octavo("warnings", "--json").stdout.splitlines()]
        self.assertEqual({"code", "meaning"}, set().union(*rows))
        table = (ROOT / "core" / "ir" / "warnings.def").read_text()
        self.assertEqual([row["code"] for row in rows],
                         re.findall(r"^OCTAVO_WARNING\((\w+)", table, re.MULTILINE))
        text = octavo("warnings").stdout
        for row in rows:
            self.assertIn(row["code"], text)

    def test_the_commands_of_the_page_on_warnings(self):
        text = (ROOT / "docs" / "warnings.md").read_text()
        blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
        self.assertTrue(blocks)
        for name in ("model.onnx", "calibration.npz", "heldout.npz"):
            shutil.copy(DIGITS / name, self.folder)
        path = os.path.dirname(OCTAVO) + os.pathsep + os.environ["PATH"]
        for block in blocks:
            result = subprocess.run(["bash", "-eu", "-c", block], cwd=self.folder, text=True,
                                    env=clean_environment(PATH=path), capture_output=True,
                                    timeout=PATIENCE)
            self.assertEqual(result.returncode, 0, block + result.stderr)


class Causes(Warnings):
    """One warning after the other, from a model or data that has its cause."""

    def conv(self, code, *arguments, data=None, model=None):
        summary = self.summary(*arguments, model=self.save(model or models.conv()),
                               data=data or self.samples())
        self.assertIn(code, self.warning_codes(summary))
        return next(w["message"] for w in summary["warnings"] if w["code"] == code)

    def test_unknown_names(self):
        self.assertIn("'conv7'", self.conv("unknown_name", "--keep-float=conv7"))

    def test_nothing_to_quantize_in_a_model_of_fp16(self):
        model = models.model([onnx.helper.make_node("Relu", ["x"], ["y"])])
        for value in (*model.graph.input, *model.graph.output):
            value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT16
        data = models.samples(self.folder / "half.npz", dtype=np.float16, count=20)
        self.conv("nothing_to_quantize", data=data, model=model)

    def test_random_or_synthetic_samples(self):
        self.conv("random_samples", data="random:1:20")
        model, profile = self.save(models.conv()), self.folder / "profile.json"
        result = octavo("profile", model, "--data", self.samples(), "-o", profile)
        self.assertEqual(result.returncode, 0, result.stderr)
        result = octavo("optimize", model, "--profile", profile, "-o", self.out)
        self.assertIn("[synthetic_samples]", result.stderr)

    def test_constant_inputs(self):
        data = self.samples(change=lambda values: values.fill(0.5))
        self.assertIn("input 'x'", self.conv("constant_input", data=data))

    def test_saturated_inputs(self):
        model, profile = self.save(models.conv()), self.folder / "profile.json"
        octavo("profile", model, "--data", self.samples(), "-o", profile)

        def change(values):
            values *= 255
        message = self.conv("saturated_input", "--profile", profile,
                            data=self.samples("bright.npz", change=change))
        self.assertIn("input 'x'", message)

    def test_fewer_than_16_samples(self):
        self.assertIn("12 samples calibrate (3 are held back)",
                      self.conv("few_samples", data=self.samples(count=15)))
        self.assertIn("there are 7 samples",
                      self.conv("few_samples", data=self.samples(count=7)))
        summary = self.summary(model=self.save(models.conv()), data=self.samples(count=21))
        self.assertNotIn("few_samples", self.warning_codes(summary))

    def test_evaluation_on_calibration_samples(self):
        self.conv("evaluated_on_calibration", *TOGETHER)
        model, profile = self.save(models.conv()), self.folder / "profile.json"
        octavo("profile", model, "--data", self.samples(), "-o", profile)
        summary = self.summary("--profile", profile, model=model, data=self.samples())
        self.assertNotIn("evaluated_on_calibration", self.warning_codes(summary))

    def test_samples_that_leave_the_calibrated_ranges(self):
        def change(values):
            values *= 4
        data, other = self.samples(), self.samples("loud.npz", change=change)
        self.assertIn("leave the range", self.conv("range_drift", "--evaluate", other, data=data))
        summary = self.summary("--evaluate", data, model=self.save(models.conv()), data=data)
        self.assertNotIn("range_drift", self.warning_codes(summary))

    def test_raised_bias_scales(self):
        bias = models.tensor("b", [1e12, 0, 0])
        conv = onnx.helper.make_node("Conv", ["x", "w", "b"], ["y"], name="conv")
        model = models.model([conv], [models.weight(), bias])
        self.assertIn("Conv 'conv': channel 0 is constant: its weights are below the accumulator's "
                      "resolution", self.conv("bias_overflow", model=model))

    def test_changed_opset(self):
        model = models.model([onnx.helper.make_node("Relu", ["x"], ["y"])], opset=9)
        message = self.conv("opset_raised", "--no-float-outputs", model=model)
        self.assertIn("opset 9", message)

    def test_fixed_dimensions(self):
        model = models.conv()
        model.graph.node[0].output[0] = "c"
        model.graph.node.append(onnx.helper.make_node("Reshape", ["c", "shape"], ["y"], name="flat"))
        model.graph.initializer.append(models.tensor("shape", [1, 48], np.int64))
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
        message = self.conv("fixed_dimension", model=model)
        self.assertIn("dimension 0 ('batch') of input 'x'", message)
        self.assertIn("Reshape 'flat'", message)


if __name__ == "__main__":
    unittest.main()
