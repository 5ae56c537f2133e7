#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--advise: its commands, run as they are, give the gains that it reports."""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import unittest

from programs import DIGITS, OCTAVO, Case, clean_environment, octavo

MODELS = pathlib.Path(os.environ.get("OCTAVO_SHARED", "/nowhere")) / "models"
MOST_DIFFERENCE = 0.2  # dB
MOST_SECONDS = 250


def worst(report):
    return min(output["sqnr_db"] for output in report["numerics"]["outputs"])


class Advice(Case):
    def run_command(self, words):
        result = subprocess.run([OCTAVO, *words], cwd=self.folder, capture_output=True, text=True,
                                timeout=MOST_SECONDS, env=clean_environment())
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads((self.folder / "report.json").read_text())

    def check_first_three(self, model, data):
        for path, name in ((model, "model.onnx"), (data, "data.npz")):
            shutil.copyfile(path, self.folder / name)
        words = ["optimize", "model.onnx", "--data", "data.npz", "-o", "int8.onnx", "--report",
                 "report.json", "--quiet"]
        plain = self.run_command(words)
        bytes_before = (self.folder / "int8.onnx").read_bytes()
        report = self.run_command([*words, "--advise", "--html", "report.html"])
        self.assertEqual((self.folder / "int8.onnx").read_bytes(), bytes_before)
        self.assertEqual(worst(report), worst(plain))
        shares = report["numerics"]["error_shares"]
        self.assertAlmostEqual(sum(shares.values()), 1)
        advice = report["advice"]
        self.assertTrue(advice)
        page = (self.folder / "report.html").read_text()
        self.assertIn(f"+{advice[0]['gain_db']:.1f} dB</strong>", page)
        for each in advice[:3]:
            program, *rest = shlex.split(each["command"])
            self.assertEqual(program, "octavo")
            again = self.run_command([*rest, "--report", "report.json", "--quiet"])
            self.assertAlmostEqual(worst(again) - worst(plain), each["gain_db"],
                                   delta=MOST_DIFFERENCE, msg=each["command"])
            self.assertAlmostEqual(worst(again), each["sqnr_db"], delta=MOST_DIFFERENCE)

    def test_of_digits(self):
        self.check_first_three(DIGITS / "model.onnx", DIGITS / "calibration.npz")

    @unittest.skipUnless(MODELS.is_dir(), "needs the shared models")
    def test_of_larger_models(self):
        for name in ("fastestdet", "magika_v3_3"):
            with self.subTest(name):
                self.check_first_three(MODELS / name / "model.onnx", MODELS / name / "samples.npz")

    def test_the_same_bytes_from_any_number_of_threads(self):
        reports = []
        for threads in (1, 3):
            path = self.folder / f"{threads}.json"
            result = octavo("optimize", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz",
                            "-o", self.folder / "int8.onnx", "--report", path, "--advise",
                            "--deterministic", "--threads", threads)
            self.assertEqual(result.returncode, 0, result.stderr)
            reports.append(path.read_bytes())
        self.assertEqual(*reports)


if __name__ == "__main__":
    unittest.main()
