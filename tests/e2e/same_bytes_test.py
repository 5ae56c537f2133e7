#!/usr/bin/env python3
"""The same job gives the same bytes: any number of threads, any instruction set, here or on a
service."""

import unittest

import numpy as np
import onnx

import models
from programs import DIGITS, Case, Server, octavo


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

    def test_of_a_profile_alone(self):
        profile = self.folder / "p.json"
        result = octavo("profile", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz",
                        "-o", profile)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_all_same(DIGITS / "model.onnx", "--profile", profile)

    def test_of_a_profile_beside_data_and_options(self):
        profile = self.folder / "p.json"
        octavo("profile", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz", "-o",
               profile)
        self.assert_all_same(DIGITS / "model.onnx", "--profile", profile, "--data",
                             DIGITS / "calibration.npz", "--emit", "qlinear", "--calibration", "mse",
                             "--per-tensor", "--activations", "i8")

    def test_with_external_data_and_a_bound_shape(self):
        model = models.model(
            [onnx.helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])],
            [models.weight()], inputs=[("x", [1, 2, "height", "width"])])
        path = self.folder / "m.onnx"
        onnx.save(model, str(path), save_as_external_data=True, size_threshold=0, location="w.bin")
        self.assertTrue((self.folder / "w.bin").exists())
        data = models.samples(self.folder / "x.npz", shape=[1, 2, 6, 5])
        self.assert_all_same(path, "--data", data, "--shape", "x=1,2,6,5")

    def test_of_a_native_graph_that_stopped_on_the_way(self):
        data = ["--data", DIGITS / "calibration.npz"]
        whole = self.files_of("whole", DIGITS / "model.onnx", *data)["out.onnx"]
        half = self.folder / "half.octavo"
        for stop in ("lower", "quantize", "absorb-rescales", "specialize-bias", "merge-constants"):
            result = octavo("optimize", DIGITS / "model.onnx", *data, "-o", half, "--stop-before",
                            stop)
            self.assertEqual(result.returncode, 0, result.stderr)
            rest = data if stop in ("lower", "quantize") else ["--no-quantize"]
            self.assertEqual(whole, self.files_of(stop, half, *rest)["out.onnx"], stop)
            self.assertEqual(whole, self.files_of(f"{stop}-remote", half, *rest,
                                                  server=self.server.address)["out.onnx"], stop)

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
