#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports that run again: --options-from, octavo reproduce, and the command in the report."""

import json
import os
import shlex
import shutil
import subprocess
import unittest

import numpy as np
from images import jpeg
from programs import DIGITS, OCTAVO, PATIENCE, Case, Server, clean_environment, octavo


class Reproduce(Case):
    def setUp(self):
        super().setUp()
        for name in ("model.onnx", "calibration.npz", "labels.npy"):
            shutil.copy(DIGITS / name, self.folder)
        self.model, self.data = self.folder / "model.onnx", self.folder / "calibration.npz"
        self.out, self.report = self.folder / "int8.onnx", self.folder / "report.json"

    def run_octavo(self, *arguments, code=0, **more):
        result = subprocess.run([OCTAVO, *map(str, arguments)], capture_output=True, text=True,
                                timeout=PATIENCE, cwd=self.folder, env=clean_environment(), **more)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def optimize(self, *arguments, data=("--data", "calibration.npz"), **more):
        self.run_octavo("optimize", *data, "-o", "int8.onnx", "--report", "report.json", *arguments,
                        "model.onnx", **more)
        return json.loads(self.report.read_text())

    def test_options_from_a_report_give_the_same_bytes(self):
        self.optimize("--keep-float", "Gemm", "--per-tensor", "--calibration", "mse")
        first = self.out.read_bytes()
        self.run_octavo("optimize", self.model, "--data", self.data, "-o", self.out,
                        "--options-from", self.report)
        self.assertEqual(self.out.read_bytes(), first)

    def test_reproduce_runs_the_job_of_a_report_again(self):
        report = self.optimize("--keep-float", "Gemm", "--per-tensor", "--require-sqnr", "5")
        self.assertEqual([(f["role"], f["name"]) for f in report["inputs"]],
                         [("model", "model.onnx"), ("samples", "calibration.npz")])
        self.assertEqual(report["outputs"][0]["name"], "int8.onnx")
        first = self.out.read_bytes()
        self.out.unlink()
        self.assertIn("int8.onnx is reproduced: sha256:",
                      self.run_octavo("reproduce", "report.json").stdout)
        answer = json.loads(self.run_octavo("reproduce", "report.json", "--json").stdout)
        self.assertTrue(answer["reproduced"])
        self.assertFalse(self.out.exists())
        # The command in the report gives the same bytes, too.
        words = shlex.split(report["command"])
        self.run_octavo(*words[1:])
        self.assertEqual(self.out.read_bytes(), first)

    def test_reproduce_of_other_bytes_is_exit_1(self):
        report = self.optimize()
        report["outputs"][0]["sha256"] = "0" * 64
        self.report.write_text(json.dumps(report))
        error = self.run_octavo("reproduce", "report.json", code=1).stderr
        self.assertIn("'int8.onnx' has sha256:", error)

    def test_reproduce_names_an_input_that_changed_or_is_missing(self):
        self.optimize()
        shutil.copy(DIGITS / "heldout.npz", self.data)
        error = self.run_octavo("reproduce", "report.json", code=3).stderr
        self.assertIn("calibration.npz' has sha256:", error)
        other = self.folder / "other"
        other.mkdir()
        shutil.copy(DIGITS / "calibration.npz", other)
        self.run_octavo("reproduce", "report.json", "--from", other)
        self.data.unlink()
        shutil.rmtree(other)
        self.assertIn("--from", self.run_octavo("reproduce", "report.json", code=2).stderr)

    def test_a_report_of_a_service_is_reproduced_too(self):
        with Server() as server:
            result = octavo("optimize", self.model, "--data", self.data, "-o", self.out,
                            "--report", self.report, "--quiet", server=server.address)
            self.assertEqual(result.returncode, 0, result.stderr)
        self.run_octavo("reproduce", "report.json")

    # The forms of --data.

    def write_forms(self):
        images = np.load(self.data)["image"]
        np.save(self.folder / "first.npy", images[:20])
        np.save(self.folder / "rest.npy", images[20:40])
        np.save(self.folder / "classes.npy", np.load(self.folder / "labels.npy").reshape(-1)[:40])
        for folder in ("flat", "photos/a", "photos/b"):
            (self.folder / folder).mkdir(parents=True)
        for i, image in enumerate(images[:20]):
            np.save(self.folder / f"flat/{i:02}.npy", image)
            (self.folder / f"photos/{'ab'[i % 2]}/{i}.jpg").write_bytes(
                jpeg(np.rint(image[0] * 255)))

    def test_reproduce_finds_the_files_of_every_form_of_data(self):
        self.write_forms()
        forms = {
            ("--data", "image=first.npy"): (),
            ("--data", "first.npy", "--data", "rest.npy"): (),
            ("--data", "first.npy", "--data", "rest.npy", "--labels", "classes.npy"): (),
            ("--data", "flat"): ("--from", "flat"),
            ("--data", "image=flat"): ("--from", "flat"),
            ("--data", "flat/*.npy"): (),
            ("--data", "photos", "--image", "size=28"): ("--from", "photos"),
            ("--data", "random:7:20"): (),
        }
        for form, found in forms.items():
            with self.subTest(form):
                report = self.optimize(data=form)
                self.run_octavo("reproduce", "report.json", *found)
                if "*" in form[1]:
                    continue  # the report's command names a folder
                # The command of the report, with the folder that it cannot know.
                folder = form[1].removeprefix("image=")
                words = [w.replace("FOLDER", folder) for w in shlex.split(report["command"])]
                made = self.out.read_bytes()
                self.out.unlink()
                self.run_octavo(*words[1:])
                self.assertEqual(self.out.read_bytes(), made, words)

    def test_reproduce_takes_the_samples_as_the_job_had_them(self):
        self.write_forms()
        piped = (self.folder / "first.npy").read_bytes()
        forms = [
            (["--data", "photos"], ["--image", "size=28"], None),
            (["--data", f"{self.folder}/flat/*.npy"], [], None),
            (["--data", "first.npy", "--data", "rest.npy", "--labels", "classes.npy"], [], None),
            (["--data", "-"], [], piped),
        ]
        for data, more, sent in forms:
            with self.subTest(data):
                for command in (["optimize", *data, *more, "-o", "int8.onnx", "--report",
                                 "report.json", "model.onnx"],
                                ["reproduce", "report.json", *data]):
                    result = subprocess.run([OCTAVO, *command], cwd=self.folder, input=sent,
                                            capture_output=True, env=clean_environment(),
                                            timeout=PATIENCE, check=False)
                    self.assertEqual(result.returncode, 0, result.stderr)

    def test_reproduce_refuses_other_samples(self):
        self.write_forms()
        self.optimize(data=("--data", "flat"))
        error = self.run_octavo("reproduce", "report.json", "--data", "first.npy", code=3).stderr
        self.assertIn("'first.npy' is not in it", error)
        np.save(self.folder / "flat/00.npy", np.ones((1, 28, 28), np.float32))
        error = self.run_octavo("reproduce", "report.json", "--data", "flat", code=3).stderr
        self.assertIn("'00.npy' has other bytes in it", error)
        (self.folder / "flat/00.npy").unlink()
        error = self.run_octavo("reproduce", "report.json", "--data", "flat", code=3).stderr
        self.assertIn("'00.npy' is missing", error)

    def test_a_job_of_many_files_on_a_service_is_reproduced(self):
        images = np.load(self.data)["image"]
        (self.folder / "many").mkdir()
        for i in range(300):
            np.save(self.folder / f"many/{i:03}.npy", images[i % 64])
        with Server() as server:
            self.optimize("--server", server.address, data=("--data", "many"))
        self.run_octavo("reproduce", "report.json", "--data", "many")


if __name__ == "__main__":
    unittest.main()
