#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models of a few hundred bytes that ask for terabytes or for hours are refused by name, at once, in
little memory; what is merely odd is computed."""

import resource
import subprocess
import unittest

import numpy as np
from onnx import helper

import models
from programs import OCTAVO, Case, clean_environment

HUGE = 1 << 40
MOST_SECONDS = 10  # of processor time
MOST_BYTES = 1 << 30  # of address space


def longs(name, *values):
    return models.tensor(name, list(values), np.int64)


def reduced(node, *constants):
    """`node` makes `e` from constants, so that folding would compute it."""
    return models.model([node, helper.make_node("ReduceSum", ["e"], ["r"], keepdims=0),
                         helper.make_node("Add", ["x", "r"], ["y"])], constants)


WEIGHTS = {"Conv": [models.weight()],
           "ConvTranspose": [models.tensor("w", np.ones([2, 3, 3, 3]))]}


def attribute(op, **attributes):
    weights = WEIGHTS.get(op, [])
    node = helper.make_node(op, ["x", *(w.name for w in weights)], ["y"], name="odd", **attributes)
    return models.model([node], weights)


class Bombs(Case):
    def setUp(self):
        super().setUp()
        self.data = models.samples(self.folder / "x.npz")

    def run_bounded(self, model, *flags):
        path = self.folder / "m.onnx"
        path.write_bytes(model.SerializeToString())
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = subprocess.run(
            [OCTAVO, "optimize", path, "--data", self.data, "-o", self.folder / "out.onnx",
             "--threads", "1", *flags], capture_output=True, text=True, check=False,
            env=clean_environment(),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES,) * 2))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.assertLess(seconds, MOST_SECONDS)
        return result

    def refuse(self, model, code, *words):
        self.assert_fails(self.run_bounded(model), code, *words)

    def test_values_of_terabytes(self):
        node = helper.make_node
        for model in (
                reduced(node("ConstantOfShape", ["s"], ["e"], name="bomb"), longs("s", HUGE)),
                reduced(node("ConstantOfShape", ["s"], ["e"], name="bomb"), longs("s", 1 << 29)),
                reduced(node("Expand", ["k", "s"], ["e"], name="bomb"),
                        models.tensor("k", [1.0], np.float32), longs("s", HUGE)),
                reduced(node("Tile", ["k", "s"], ["e"], name="bomb"),
                        models.tensor("k", [1.0], np.float32), longs("s", HUGE)),
                models.model([node("Pad", ["x", "p"], ["y"], name="bomb")],
                             [longs("p", 0, 0, 0, HUGE, 0, 0, 0, 0)]),
                reduced(node("HannWindow", ["s"], ["e"], name="bomb"),
                        models.tensor("s", HUGE, np.int64))):
            model.opset_import[0].version = 17  # has windows
            with self.subTest(op=model.graph.node[0].op_type):
                self.refuse(model, 7, "'bomb'", "bytes", "max-value-bytes")

    def test_doubling(self):
        names = ["x"] + [f"v{i}" for i in range(60)]
        self.refuse(models.model([helper.make_node("Concat", [a, a], [b], axis=1)
                                  for a, b in zip(names, names[1:])], outputs=(names[-1],)),
                    3, "Concat", "too large")
        self.refuse(models.model([helper.make_node("Concat", [a, a], [b], axis=1)
                                  for a, b in zip(names[:40], names[1:])], outputs=(names[39],)),
                    7, "Concat", "max-value-bytes")

    def test_more_elements_than_can_be_counted(self):
        node = helper.make_node("ConstantOfShape", ["s"], ["e"], name="bomb")
        self.refuse(reduced(node, longs("s", 1 << 33, 1 << 33)), 3, "'bomb'", "too large")
        self.refuse(reduced(helper.make_node("Range", ["a", "b", "d"], ["e"], name="bomb"),
                            *(models.tensor(n, v, np.int64) for n, v in
                              (("a", 0), ("b", 1 << 60), ("d", 1)))), 3, "'bomb'", "limit")

    def test_attributes_out_of_all_bounds(self):
        for op in ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool"):
            kernel = {} if op.startswith("Conv") else {"kernel_shape": [2, 2]}
            for bad in ({"strides": [0, 1]}, {"strides": [HUGE, HUGE]}, {"strides": [-1, 1]},
                        {"pads": [HUGE] * 4}, {"pads": [(1 << 63) - 1] * 4}, {"pads": [1]},
                        {"kernel_shape": [(1 << 63) - 1] * 2}, {"kernel_shape": [-2, 2]}):
                with self.subTest(op=op, attribute=bad):
                    self.refuse(attribute(op, **{**kernel, **bad}), 3, "'odd'", *bad)
        for group in (0, -1, 3, HUGE):
            self.refuse(attribute("Conv", group=group), 3, "'odd'", "group")

    def test_too_many_nodes(self):
        self.refuse(models.deep(250_000), 7, "250000 nodes", "200000", "max-nodes")

    def test_the_limits_can_be_set(self):
        result = self.run_bounded(models.conv(), "--max-value-bytes", "100")
        self.assert_fails(result, 7, "Conv 'conv'", "at most 100")
        self.assertEqual(
            self.run_bounded(models.conv(), "--max-value-bytes", "0", "--max-nodes", "0").returncode,
            0)


if __name__ == "__main__":
    unittest.main()
