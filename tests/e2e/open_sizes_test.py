#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exported models run in ONNX Runtime at two batch sizes and two image sizes, with outputs equal to
the exports made with fixed shapes.  ONNX Runtime is the npm package of tests/peers; without it, the
test says so and compares with `octavo run` alone."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import numpy as np
import onnx
import sized_models
from programs import OCTAVO, ROOT, Case, Server, clean_environment, octavo

PAGE = ROOT / "docs" / "sizes.md"
PEERS = ROOT / "tests" / "peers"
NODE = shutil.which("node")


def dims_of(value):
    return [d.dim_value if d.HasField("dim_value") else d.dim_param or "?"
            for d in value.type.tensor_type.shape.dim]


def noise(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


class OpenSizes(Case):
    def make(self, name):
        path = self.folder / f"{name}.onnx"
        onnx.save(getattr(sized_models, name)(), path)
        return path

    def samples(self, array, name="x.npz"):
        path = self.folder / name
        np.savez(path, x=array)
        return path

    def optimize(self, model, *arguments, out="open.onnx", server=None):
        """The result's path and its warnings of fixed dimensions."""
        path = self.folder / out
        report = self.folder / (out + ".json")
        result = octavo("optimize", model, *arguments, "-o", path, "--report", report,
                        server=server)
        self.assertEqual(result.returncode, 0, result.stderr)
        warnings = json.loads(report.read_text())["warnings"]
        return path, [each for each in warnings if each["code"] == "fixed_dimension"]

    def onnx_runtime(self, model, x):
        samples = self.samples(x, "run.npz")
        out = self.folder / "values"
        shutil.rmtree(out, ignore_errors=True)
        run = subprocess.run([NODE, PEERS / "run_model.mjs", model, samples, "--out", out,
                              "--batch", str(len(x))], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        return np.load(out / "y.npy")

    def octavo_run(self, model, x):
        out = self.folder / "run"
        shutil.rmtree(out, ignore_errors=True)
        result = octavo("run", model, "--data", self.samples(x, "run.npz"), "--batch", len(x),
                        "-o", out)
        self.assertEqual(result.returncode, 0, result.stderr)
        index = json.loads((out / "index.json").read_text())
        return np.load(out / next(each["file"] for each in index if each["name"] == "y"))

    def run_and_compare(self, name, base, sizes):
        model = self.make(name)
        data = self.samples(noise(16, *base))
        profile = self.folder / "profile.json"
        result = octavo("profile", model, "--data", data, "-o", profile)
        self.assertEqual(result.returncode, 0, result.stderr)
        exported, fixed = self.optimize(model, "--profile", profile, "--data", data)
        self.assertEqual(fixed, [])
        self.assertEqual(dims_of(onnx.load(exported).graph.input[0]), dims_of(
            onnx.load(model).graph.input[0]))
        for batch, size in ((2, sizes[0]), (3, sizes[0]), (2, sizes[1]), (3, sizes[1])):
            x = noise(batch, *size, seed=batch)
            shape = "x=" + ",".join(map(str, x.shape))
            of_size, _ = self.optimize(model, "--profile", profile, "--shape", shape,
                                       out="fixed.onnx")
            self.assertEqual(dims_of(onnx.load(of_size).graph.input[0]), list(x.shape))
            run = self.onnx_runtime if self.runtime() else self.octavo_run
            np.testing.assert_array_equal(run(exported, x), run(of_size, x), f"{name} at {shape}")

    def runtime(self):
        if NODE and (PEERS / "node_modules" / "onnxruntime-node").exists():
            return True
        print("onnxruntime-node is not installed in tests/peers: compared by octavo run instead")
        return False

    def test_classifier_at_two_batch_sizes_and_two_image_sizes(self):
        self.run_and_compare("classifier", (3, 16, 16), [(3, 24, 40), (3, 17, 33)])

    def test_segmenter_at_two_batch_sizes_and_two_image_sizes(self):
        self.run_and_compare("segmenter", (3, 16, 16), [(3, 24, 40), (3, 17, 33)])

    def test_detector_at_two_batch_sizes_and_two_image_sizes(self):
        self.run_and_compare("detector", (3, 16, 16), [(3, 24, 40), (3, 17, 33)])

    def test_windows_at_two_batch_sizes_and_two_image_sizes(self):
        self.run_and_compare("windows", (3, 16, 16), [(3, 24, 40), (3, 20, 12)])

    def test_attention_at_two_batch_sizes_and_two_lengths(self):
        self.run_and_compare("attention", (12, 32), [(7, 32), (31, 32)])

    # ------------------------------------------------------------ what binds

    def bound(self, name, node, dims):
        exported, fixed = self.optimize(self.make(name), "--data", self.samples(noise(16, 3, 16, 16)))
        self.assertEqual({each["node"] for each in fixed}, {node}, fixed)
        self.assertEqual(dims_of(onnx.load(exported).graph.input[0]), dims)

    def test_a_slice_that_is_none_at_this_size_is_named(self):
        self.bound("slice_of_16", "node.slice", ["batch", 3, 16, "width"])

    def test_a_constant_that_follows_from_the_size_is_named(self):
        self.bound("divided_by_area", "node.y", ["batch", 3, "height", 16])

    def test_an_operator_that_takes_one_size_is_named(self):
        self.bound("linear_of_image", "node.linear", ["batch", 3, 16, 16])

    def test_the_page_runs_as_it_is(self):
        self.make("classifier").rename(self.folder / "model.onnx")
        self.samples(noise(16, 3, 16, 16), "samples.npz")
        (self.folder / "mixed").mkdir()
        for i, shape in enumerate([(3, 16, 16), (4, 3, 16, 16), (3, 20, 31), (2, 3, 40, 24)]):
            np.save(self.folder / "mixed" / f"{i}.npy", noise(*shape, seed=i))
        blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
        self.assertEqual(len(blocks), 1)
        path = f"{pathlib.Path(OCTAVO).resolve().parent}:{os.environ['PATH']}"
        subprocess.run(["sh", "-eu", "-c", blocks[0]], cwd=self.folder, check=True,
                       env=clean_environment(PATH=path))
        for name, dims in (("open", ["batch", 3, "height", "width"]),
                           ("mixed", ["batch", 3, "height", "width"]),
                           ("four", [4, 3, "height", "width"]), ("fixed", [4, 3, 32, 48])):
            model = onnx.load(self.folder / f"{name}.onnx")
            self.assertEqual(dims_of(model.graph.input[0]), dims)

    def test_gives_the_same_bytes_in_process_and_in_a_service(self):
        model, data = self.make("segmenter"), self.samples(noise(16, 3, 16, 16))
        here, _ = self.optimize(model, "--data", data)
        with Server() as server:
            there, _ = self.optimize(model, "--data", data, out="there.onnx",
                                     server=server.address)
        self.assertEqual(here.read_bytes(), there.read_bytes())


if __name__ == "__main__":
    unittest.main()
