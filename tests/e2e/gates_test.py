#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of gates (gate_models.py): SiLU, HardSwish, HardSigmoid and squeeze-and-excite blocks in
the forms of four exporters, each handled as one."""

import collections
import json
import unittest

import gate_models
import numpy as np
from programs import Case, octavo

SCALE, IMAGE = 0.25, 64


class Gates(Case):
    def setUp(self):
        super().setUp()
        gate_models.write(self.folder, SCALE, IMAGE)

    def optimize(self, name, *flags):
        out, report = self.folder / "out.onnx", self.folder / "report.json"
        result = octavo("optimize", self.folder / f"{name}.onnx", "--data",
                        self.folder / f"{name}.npz", "-o", out, "--report", report, "--quiet",
                        *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(report.read_text())

    def rules(self, report):
        return collections.Counter(entry["rule"] for entry in report["ledger"])

    def test_every_form_is_one_operator_and_every_block_runs_in_integers(self):
        blocks = {"mobilenetv3": 9, "efficientnet_b0": 16}
        for name, count in blocks.items():
            # The few samples are unlike each other: ranges of six of them do not fit the others.
            report = self.optimize(name, "--holdout", "none")
            self.assertEqual(report["float_nodes"], [], name)
            self.assertEqual(self.rules(report)["quantize/squeeze-excite"], count, name)
            left = {entry["op"] for entry in report["model"].get("ops", [])}
            self.assertFalse(left & {"Div"}, name)
            self.assertGreater(report["numerics"]["outputs"][0]["sqnr_db"], 20, name)

    def test_the_ledger_names_a_block_by_its_values_from_the_pool_on(self):
        report = self.optimize("efficientnet_b0")
        first = next(e for e in report["ledger"] if e["rule"] == "quantize/squeeze-excite")
        # torchvision's: GlobalAveragePool, Conv, Swish, Conv, Sigmoid, Mul
        self.assertEqual(len(first["values"]), 6)
        self.assertEqual(first["pass"], "quantize")

    def test_what_is_exported_computes_as_what_is_kept(self):
        for name in gate_models.NETWORKS:
            self.optimize(name)
            native, data = self.folder / "out.octavo", self.folder / f"{name}.npz"
            octavo("optimize", self.folder / f"{name}.onnx", "--data", data, "-o", native, "--quiet")
            results = []
            for model in (self.folder / "out.onnx", native):
                folder = self.folder / f"results-{model.suffix[1:]}"
                result = octavo("run", model, "--data", data, "-o", folder, "--quiet")
                self.assertEqual(result.returncode, 0, result.stderr)
                results.append(np.load(next(folder.glob("*.npy"))))
            np.testing.assert_array_equal(*results, err_msg=name)

    def test_a_gate_in_float_keeps_its_block_with_the_reason(self):
        whole = self.optimize("mobilenetv3")
        block = next(e for e in whole["ledger"] if e["rule"] == "quantize/squeeze-excite")
        for kept in (block["values"][-2], block["node"]):
            report = self.optimize("mobilenetv3", "--keep-float", kept)
            self.assertEqual(len(report["float_nodes"]), len(block["values"]))
            self.assertEqual(self.rules(report)["quantize/squeeze-excite"], 8)
            reasons = {entry["reason"].split(":")[0] for entry in report["float_nodes"]}
            self.assertEqual(len(reasons), 2)
            self.assertTrue(any("squeeze-and-excite block" in reason for reason in reasons))

    def test_a_node_that_a_form_took_in_is_kept_by_its_own_name(self):
        model = gate_models.efficientnet_b0(SCALE, IMAGE)
        sigmoid = next(node for node in model.graph.node if node.op_type == "Sigmoid")
        report = self.optimize("efficientnet_b0", "--keep-float", sigmoid.name)
        self.assertEqual([entry["op"] for entry in report["float_nodes"]], ["Swish"])
        self.assertFalse([w for w in report["warnings"] if w["code"] == "unknown_name"])

    def test_targets_without_such_operators_get_what_they_have(self):
        for target in ("tflite", "glow-interpreter", "pow2-npu"):
            report = self.optimize("efficientnet_b0", "--target", target)
            self.assertEqual(report["float_nodes"], [], target)
            self.assertEqual(self.rules(report)["lower/reduce-mean-to-global-average-pool"], 8, target)


if __name__ == "__main__":
    unittest.main()
