#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--keep-float OP on the trained models: one job for each of their operator types."""

import concurrent.futures
import json
import os
import pathlib
import re
import unittest

import onnx
from programs import ROOT, Case, octavo

MODELS = pathlib.Path(os.environ.get("OCTAVO_SHARED", ROOT.parent / "shared")) / "models"


def name_of(node):
    """Octavo names a node without a name after its first result."""
    return node.name or node.output[0]


def value_names(model):
    names = {name for node in model.graph.node for name in node.output if name}
    return names | {tensor.name for tensor in model.graph.initializer}


def nodes_of(model, op):
    return [node for node in model.graph.node if node.op_type == op]


def nodes_of_integers(model):
    """The nodes that compute no real number of the samples: integers, constants and shapes, which
    import folds for fixed inputs.  There is nothing to keep in float."""
    integers = {info.name for info in onnx.shape_inference.infer_shapes(model).graph.value_info
                if info.type.tensor_type.elem_type != onnx.TensorProto.FLOAT}
    known = {tensor.name for tensor in model.graph.initializer} | {""}
    nodes = set()
    for node in model.graph.node:
        if node.op_type in ("Constant", "Shape") or known.issuperset(node.input):
            known.update(node.output)
            nodes.add(name_of(node))
        if integers.issuperset(node.output):
            nodes.add(name_of(node))
    return nodes


class Fused:
    """What the warnings of a job say of the nodes of an operator that became part of others."""

    def __init__(self, report, op):
        said = [warning for warning in report["warnings"]
                if warning["code"] == "keep_float_fused" and f"--keep-float '{op}': " in
                warning["message"]]
        message = said[0]["message"] if said else ""
        self.warnings = len(said)
        self.named = set(re.findall(rf"(?:^|[:;] ){op} '([^']+)' (?:is now|was)", message))
        more = re.search(r"; and (\d+) more$", message)
        self.more = int(more[1]) if more else 0


class KeepFloat(Case):
    def job(self, model, name, *flags):
        """The exported model and the report."""
        out, report = self.folder / f"{name}.onnx", self.folder / f"{name}.json"
        result = octavo("optimize", model, "--data", "random:1:1", "--rounding", "nearest",
                        "--deterministic", "--threads", "1", "-o", out, "--report", report,
                        "--quiet", *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        return onnx.load(out), json.loads(report.read_text())

    def check_kept(self, original, exported, report, op):
        """Nodes of the type that the export still has compute in float."""
        own = {name_of(node) for node in nodes_of(original, op)}
        float_nodes = {entry["node"] for entry in report["float_nodes"]}
        producers = {name: node.op_type for node in exported.graph.node for name in node.output}
        for node in nodes_of(exported, op):
            # Others are parts of an operator that is written out.
            if node.name not in own or node.name in float_nodes:
                continue
            self.assertNotIn("DequantizeLinear", {producers.get(name) for name in node.input},
                             node.name)

    def check_missing(self, original, exported, report, op):
        """Each node of the type that the export lacks is named, or counted by `and N more`."""
        kept = {node.name for node in nodes_of(exported, op)}
        float_nodes = {entry["node"] for entry in report["float_nodes"] if entry["op"] == op}
        own = {name_of(node) for node in nodes_of(original, op)}
        missing = own - kept - float_nodes - nodes_of_integers(original)
        if f"'{op}' names nothing that could be quantized" in json.dumps(report["warnings"]):
            return  # said of all nodes of the type
        fused = Fused(report, op)
        self.assertLessEqual(fused.named, own)
        self.assertLessEqual(fused.warnings, 1)
        if fused.more == 0:
            self.assertLessEqual(missing, fused.named)
        self.assertLessEqual(len(missing), len(fused.named) + fused.more, missing)

    def check_said(self, report, op):
        """The option has an effect, or a warning says why not."""
        float_ops = {entry["op"] for entry in report["float_nodes"]}
        said = {warning["code"] for warning in report["warnings"]
                if f"--keep-float '{op}'" in warning["message"]}
        self.assertLessEqual(said, {"keep_float_fused", "keep_float_no_effect"})
        if op not in float_ops:
            self.assertTrue(said)

    def check_model(self, name):
        path = MODELS / name / "model.onnx"
        if not path.exists():
            self.skipTest(f"{path} is not there")
        original = onnx.load(path)
        ops = sorted({node.op_type for node in original.graph.node})
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            usual = pool.submit(self.job, path, "usual")
            jobs = {op: pool.submit(self.job, path, op, "--keep-float", op) for op in ops}
        names = value_names(original) & value_names(usual.result()[0])
        self.assertTrue(names)
        for op, job in jobs.items():
            exported, report = job.result()
            with self.subTest(op):
                self.check_kept(original, exported, report, op)
                self.check_missing(original, exported, report, op)
                self.check_said(report, op)
                lost = names - value_names(exported)
                self.assertEqual(lost, set())

    def test_fastestdet(self):
        self.check_model("fastestdet")

    def test_magika(self):
        self.check_model("magika_v3_3")

    def test_mnist_of_pytorch(self):
        self.check_model("mnist_cnn_pytorch")

    def test_mnist_of_cntk(self):
        self.check_model("mnist_cntk")

    def test_squeezenet(self):
        self.check_model("squeezenet_products")

    def test_superres(self):
        self.check_model("superres_224")

    def test_ultraface(self):
        self.check_model("ultraface_rfb320")


if __name__ == "__main__":
    unittest.main()
