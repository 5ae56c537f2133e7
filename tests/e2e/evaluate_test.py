#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples that evaluate: --evaluate in every form of --data, and --holdout, here and on a service."""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import unittest

import models
import numpy as np
from programs import DIGITS, OCTAVO, PATIENCE, ROOT, Case, Server, clean_environment, octavo

MODEL, DATA, OTHER = (DIGITS / name for name in ("model.onnx", "calibration.npz", "heldout.npz"))
SHARED = pathlib.Path(os.environ.get("OCTAVO_SHARED", ROOT.parent / "shared")) / "models"


class Evaluate(Case):
    def setUp(self):
        super().setUp()
        self.out, self.report = self.folder / "int8.onnx", self.folder / "report.json"
        np.savez(self.folder / "few.npz", image=np.load(OTHER)["image"][:40])
        self.few = self.folder / "few.npz"

    def run_octavo(self, *arguments, code=0, **more):
        result = subprocess.run([OCTAVO, *map(str, arguments)], capture_output=True, text=True,
                                timeout=PATIENCE, cwd=self.folder, env=clean_environment(), **more)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def numerics(self):
        return json.loads(self.report.read_text())["numerics"]

    def optimize(self, *arguments, model=MODEL, data=DATA, **more):
        self.run_octavo("optimize", model, "--data", data, "-o", self.out, "--report", self.report,
                        "--quiet", *arguments, **more)
        return self.numerics()

    def test_a_quarter_of_the_samples_is_held_back(self):
        numerics = self.optimize()
        self.assertEqual((numerics["samples_role"], numerics["samples"],
                          numerics["calibration_samples"]), ("held-out", 16, 48))
        held = models.without_stamp(self.out.read_bytes())
        images = np.load(DATA)["image"]
        kept = np.arange(len(images)) % 4 != 3
        for name, part in (("calibrate", kept), ("evaluate", ~kept)):
            np.savez(self.folder / f"{name}.npz", image=images[part])
        apart = self.optimize("--evaluate", self.folder / "evaluate.npz",
                              data=self.folder / "calibrate.npz")
        self.assertEqual(models.without_stamp(self.out.read_bytes()), held)
        self.assertEqual(apart["samples_role"], "evaluation")
        self.assertEqual(apart["outputs"], numerics["outputs"])

    def test_octavo_diff_of_the_samples_gives_the_figures_of_evaluate(self):
        numerics = self.optimize("--evaluate", self.few, "--labels", self.labels(40))
        diff = json.loads(self.run_octavo("diff", MODEL, self.out, "--data", self.few, "--labels",
                                          self.labels(40)).stdout)["numerics"]
        self.assertEqual(diff["samples_role"], "evaluation")
        self.assertEqual(diff["calibration_samples"], 0)
        self.assertIsNone(diff["outputs"][0]["calibration_sqnr_db"])
        self.assertIsNotNone(numerics["outputs"][0]["calibration_sqnr_db"])
        self.assertAlmostEqual(diff["outputs"][0]["sqnr_db"], numerics["outputs"][0]["sqnr_db"], 1)
        self.assertEqual(diff["accuracy"], numerics["accuracy"])

    def labels(self, count):
        np.save(self.folder / "labels.npy", np.load(DIGITS / "labels.npy").reshape(-1)[:count])
        return self.folder / "labels.npy"

    def test_every_form_of_data_is_one_of_evaluate(self):
        images = np.load(self.few)["image"]
        np.save(self.folder / "all.npy", images)
        (self.folder / "flat").mkdir()
        for i, image in enumerate(images):
            np.save(self.folder / f"flat/{i:02}.npy", image)
        np.save(self.folder / "first.npy", images[:20])
        np.save(self.folder / "rest.npy", images[20:])
        want = self.optimize("--evaluate", self.few)["outputs"]
        for form in (["all.npy"], ["flat"], ["flat/*.npy"], ["image=all.npy"],
                     ["first.npy", "rest.npy"]):
            with self.subTest(form):
                flags = [word for each in form for word in ("--evaluate", each)]
                self.assertEqual(self.optimize(*flags)["outputs"], want)
        piped = subprocess.run([OCTAVO, "optimize", MODEL, "--data", DATA, "--evaluate", "-", "-o",
                                self.out, "--report", self.report], input=self.few.read_bytes(),
                               capture_output=True, env=clean_environment(), timeout=PATIENCE)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        self.assertEqual(self.numerics()["outputs"], want)
        random = self.optimize("--evaluate", "random:7:12")
        self.assertEqual((random["samples"], random["samples_source"]), (12, "random"))
        self.assertEqual(self.optimize("--evaluate", self.few, "--samples", 10)["samples"], 10)

    def test_what_is_wrong_is_named(self):
        def fails(code, *words, flags=(), data=("--data", DATA)):
            self.assert_fails(octavo("optimize", MODEL, *data, "-o", self.out, *flags), code, *words)

        fails(2, "--evaluate 'nothing.npz'", "cannot be found", flags=["--evaluate", "nothing.npz"])
        np.savez(self.folder / "small.npz", image=np.zeros((9, 1, 14, 14), np.float32))
        fails(3, "small.npz", "shape", flags=["--evaluate", self.folder / "small.npz"])
        fails(2, "--holdout 3", "--evaluate", flags=["--holdout", 3, "--evaluate", self.few])
        fails(2, "auto, none or a whole number", flags=["--holdout", 1])
        fails(2, "needs --data or --profile", data=["--evaluate", self.few])

    def test_local_and_remote_jobs_are_equal(self):
        (self.folder / "many").mkdir()
        for i in range(300):
            np.save(self.folder / f"many/{i:03}.npy", np.load(self.few)["image"][i % 40])
        files = {}
        with Server() as server:
            for name, evaluate in (("one", self.few), ("many", self.folder / "many")):
                for address in (None, server.address):
                    result = octavo("optimize", MODEL, "--data", DATA, "--evaluate", evaluate, "-o",
                                    self.out, "--report", self.report, "--deterministic", "--quiet",
                                    server=address)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    files[name, address] = (self.out.read_bytes(), self.report.read_bytes())
            self.assertEqual(files["one", None], files["one", server.address])
            remote = json.loads(files["many", server.address][1])
            self.assertEqual(remote["numerics"], json.loads(files["many", None][1])["numerics"])
            self.assertEqual([entry["name"] for entry in remote["inputs"]],
                             ["model.onnx", "samples0.zip", "evaluate:samples1.zip"])
        self.run_octavo("reproduce", self.report, "--data", DATA, "--evaluate", "many", "--from",
                        DIGITS)

    def test_it_is_reproduced(self):
        for source in (MODEL, DATA):
            shutil.copy(source, self.folder)
        made = {}
        for evaluate in ("few.npz", "image=few.npz", "random:3:9"):
            self.run_octavo("optimize", "model.onnx", "--data", "calibration.npz", "--evaluate",
                            evaluate, "-o", "int8.onnx", "--report", "report.json")
            report, made[evaluate] = json.loads(self.report.read_text()), self.out.read_bytes()
            self.assertEqual([entry["role"] for entry in report["inputs"]],
                             ["model", "samples", "samples"])
            self.run_octavo("reproduce", "report.json")
            self.run_octavo("reproduce", "report.json", "--data", "calibration.npz", "--evaluate",
                            evaluate)
            self.run_octavo(*shlex.split(report["command"])[1:])
            self.assertEqual(self.out.read_bytes(), made[evaluate])
        self.run_octavo("optimize", "model.onnx", "--data", "calibration.npz", "--evaluate",
                        "few.npz", "-o", "int8.onnx", "--report", "report.json")
        error = self.run_octavo("reproduce", "report.json", "--data", "calibration.npz", code=3)
        self.assertIn("'evaluate:few.npz' is missing", error.stderr)
        shutil.copy(DATA, self.few)
        error = self.run_octavo("reproduce", "report.json", code=3)
        self.assertIn("few.npz' has sha256:", error.stderr)

    def test_options_from_a_report_hold_back_as_its_job_did(self):
        self.optimize("--holdout", "2", "--per-tensor")
        first, numerics = self.out.read_bytes(), self.numerics()
        kept = self.report.rename(self.folder / "first.json")
        self.optimize("--options-from", kept)
        self.assertEqual(self.out.read_bytes(), first)
        self.assertEqual(self.numerics()["samples"], numerics["samples"])

    def test_the_other_ways_to_name_them(self):
        config = self.folder / "job.toml"
        config.write_text(f"[optimize]\ndata = \"{DATA}\"\nevaluate = \"few.npz\"\n")
        self.run_octavo("optimize", MODEL, "--config", config, "-o", self.out, "--report",
                        self.report, "--depfile", "int8.d")
        self.assertEqual(self.numerics()["samples"], 40)
        self.assertIn("few.npz", (self.folder / "int8.d").read_text())

    def test_by_rule_calibrates_as_the_job_did(self):
        for flags in ((), ("--evaluate", self.few), ("--holdout", "none")):
            self.optimize(*flags)
            self.run_octavo("diff", MODEL, self.out, "--data", DATA, "--by-rule", "--options-from",
                            self.report, "--quiet")

    def test_gates_judge_by_them(self):
        self.optimize("--evaluate", self.few, "--require-sqnr", "20", data="random:1:16")
        self.assert_fails(octavo("optimize", MODEL, "--data", DATA, "--evaluate", "random:1:16",
                                 "-o", self.out, "--require-sqnr", 20), 2, "--allow-random")

    def test_an_unseen_sample_of_mnist_is_farther_from_the_float_model(self):
        folder = SHARED / "mnist_cntk"
        if not folder.is_dir():
            self.skipTest(f"{folder} is not there")
        # More samples would cover the range of those that are held back.
        numerics = self.optimize("--no-float-outputs", "--samples", 12, model=folder / "model.onnx",
                                 data=folder / "samples.npz")
        output = numerics["outputs"][0]
        self.assertEqual(numerics["samples_role"], "held-out")
        self.assertLess(output["sqnr_db"], 33)
        self.assertGreater(output["calibration_sqnr_db"], output["sqnr_db"])


if __name__ == "__main__":
    unittest.main()
