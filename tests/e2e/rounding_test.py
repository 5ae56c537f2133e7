#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--rounding: what it does to a model, what the report says of it, and docs/accuracy.md."""

import json
import os
import pathlib
import re
import subprocess
import unittest

import numpy as np
import onnx
from onnx import numpy_helper
from programs import DIGITS, OCTAVO, ROOT, Case, clean_environment, octavo

PAGE = ROOT / "docs" / "accuracy.md"
MODEL, DATA, HELDOUT = (DIGITS / name for name in ("model.onnx", "calibration.npz", "heldout.npz"))
SETS = ("portable", "sse4", "avx2", "avx512", "avx512vnni")


class RoundingOfWeights(Case):
    def optimize(self, name, *arguments, model=MODEL, data=DATA, code=0, **environment):
        result = octavo("optimize", model, "--data", data, "-o", self.folder / f"{name}.onnx",
                        "--report", self.folder / f"{name}.json", "--deterministic", *arguments,
                        **environment)
        self.assertEqual(result.returncode, code, result.stderr)
        return json.loads((self.folder / f"{name}.json").read_text())

    def sqnr(self, name):
        report = self.folder / f"{name}.diff.json"
        result = octavo("diff", MODEL, self.folder / f"{name}.onnx", "--data", HELDOUT, "--report",
                        report, "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(report.read_text())["numerics"]["outputs"][0]["sqnr_db"]

    def test_other_samples_gain_by_descent(self):
        for rounding in ("nearest", "bias", "descent"):
            self.optimize(rounding, "--rounding", rounding)
        nearest, bias, descent = (self.sqnr(name) for name in ("nearest", "bias", "descent"))
        self.assertGreater(bias, nearest + 0.5)
        self.assertGreater(descent, nearest + 1)

    def test_descent_is_the_default_with_data_and_nearest_with_a_profile(self):
        self.assertEqual(self.optimize("default")["options"]["rounding"], "descent")
        self.optimize("descent", "--rounding", "descent")
        weights = [self.weights_of(name) for name in ("default", "descent")]
        self.assertEqual(*weights)
        profile = self.folder / "p.json"
        self.assertEqual(octavo("profile", MODEL, "--data", DATA, "-o", profile).returncode, 0)
        report = self.optimize("profiled", "--profile", profile)
        self.assertEqual((report["options"]["rounding"], report["weights"]), ("nearest", []))
        self.assertNotIn("weights_nearest", [w["code"] for w in report["warnings"]])
        report = self.optimize("asked", "--profile", profile, "--rounding", "descent")
        self.assertIn("weights_nearest", [w["code"] for w in report["warnings"]])
        self.assertEqual(self.weights_of("profiled"), self.weights_of("asked"))

    def weights_of(self, name):
        """Bytes of the initializers of an exported model, by name."""
        graph = onnx.load(self.folder / f"{name}.onnx").graph
        return {each.name: numpy_helper.to_array(each).tobytes() for each in graph.initializer}

    def test_scales_names_and_structure_stay(self):
        self.optimize("nearest", "--rounding", "nearest")
        self.optimize("descent")
        nearest, descent = (onnx.load(self.folder / f"{name}.onnx").graph
                            for name in ("nearest", "descent"))
        for of in (lambda graph: [(n.name, n.op_type, list(n.output)) for n in graph.node],
                   lambda graph: [(i.name, list(i.dims), i.data_type) for i in graph.initializer],
                   lambda graph: [numpy_helper.to_array(i).tobytes() for i in graph.initializer
                                  if i.name.endswith(("scale", "zero_point"))]):
            self.assertEqual(of(nearest), of(descent))
        apart = [np.abs(numpy_helper.to_array(a).astype(int) - numpy_helper.to_array(b)).max()
                 for a, b in zip(nearest.initializer, descent.initializer)
                 if a.data_type == onnx.TensorProto.INT8 and a.dims]
        self.assertTrue(apart)
        self.assertTrue(0 < max(apart) <= 2, apart)

    def test_the_report_has_every_layer(self):
        report = self.optimize("m")
        ops = [row["op"] for row in report["weights"]]
        self.assertEqual(sorted(ops), sorted(op for op, count in report["model"]["ops_after"].items()
                                             for _ in range(count) if op in ("Conv", "Gemm")))
        for row in report["weights"]:
            self.assertEqual((row["rounding"], row["reason"], row["skipped_columns"]),
                             ("descent", "", 0), row)
            self.assertLess(row["objective_after"], row["objective_before"], row)
            self.assertTrue(0 < row["changed"] < row["elements"], row)
            self.assertGreater(row["columns"], 0)
            self.assertGreater(row["max_bias_change"], 0)
        rules = {entry["rule"] for entry in report["ledger"]}
        self.assertLessEqual({"round-weights/descent", "round-weights/bias"}, rules)

    def test_the_pass_can_be_skipped(self):
        self.optimize("skipped", "--skip", "round-weights")
        self.optimize("nearest", "--rounding", "nearest")
        self.assertEqual(self.weights_of("skipped"), self.weights_of("nearest"))

    def test_every_instruction_set_and_any_threads_give_the_same_bytes(self):
        jobs = [("5", ["--threads", 5], {})] + [(name, [], {"OCTAVO_ISA": name}) for name in SETS]
        self.optimize("one", "--threads", 1)
        expected = (self.folder / "one.onnx").read_bytes()
        for name, flags, environment in jobs:
            (self.folder / name).mkdir()
            out = self.folder / name / "one.onnx"
            result = octavo("optimize", MODEL, "--data", DATA, "-o", out,
                            "--deterministic", *flags, **environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(out.read_bytes(), expected, name)

    def test_samples_that_are_not_finite_are_left_out_of_the_moments(self):
        images = np.load(DATA)["image"].copy()
        images[4] = np.nan  # one that calibrates: those held back have no part in the moments
        np.savez(self.folder / "nan.npz", image=images)
        report = self.optimize("m", "--allow-non-finite", data=self.folder / "nan.npz")
        self.assertGreater(report["weights"][0]["skipped_columns"], 0)
        images[:] = np.nan
        np.savez(self.folder / "nan.npz", image=images)
        report = self.optimize("none", "--allow-non-finite", data=self.folder / "nan.npz")
        self.assertIn("weights_nearest", [w["code"] for w in report["warnings"]])
        for row in report["weights"]:
            self.assertEqual((row["rounding"], row["columns"]), ("nearest", 0), row)
            self.assertIn("finite", row["reason"])

    def test_the_blocks_of_the_page_run(self):
        for path in (MODEL, DATA, HELDOUT):
            (self.folder / path.name).symlink_to(path)
        blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
        self.assertEqual(len(blocks), 11)
        path = f"{pathlib.Path(OCTAVO).resolve().parent}:{os.environ['PATH']}"
        subprocess.run(["sh", "-eu", "-c", "\n".join(blocks)], cwd=self.folder, check=True,
                       env=clean_environment(PATH=path))


if __name__ == "__main__":
    unittest.main()
