#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--opset on a transformer: operators that a lower opset lacks are written out again."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

import onnx
from programs import ROOT, Case, octavo

SHARED = pathlib.Path(os.environ.get("OCTAVO_SHARED", ROOT.parent / "shared"))


class Opset(Case):
    def test_a_transformer_at_opset_13_and_17(self):
        generator = SHARED / "bench" / "genmodels.py"
        if not generator.exists():
            self.skipTest(f"{generator} does not exist")
        subprocess.run([sys.executable, generator, self.folder, "--models", "bert4x384"], check=True,
                       capture_output=True)
        model, written = self.folder / "bert4x384.onnx", {}
        for opset in (13, 17):
            out, report = self.folder / f"{opset}.onnx", self.folder / f"{opset}.json"
            result = octavo("optimize", model, "--data", "random:1:1", "--opset", opset, "-o", out,
                            "--report", report)
            self.assertEqual(result.returncode, 0, result.stderr)
            onnx.checker.check_model(str(out), full_check=True)
            exported = onnx.load(out)
            self.assertEqual([each.version for each in exported.opset_import if not each.domain],
                             [opset])
            written[opset] = {node.op_type for node in exported.graph.node}
            self.assertNotIn("Gelu", written[opset])
            outputs = json.loads(report.read_text())["numerics"]["outputs"]
            self.assertGreater(min(value["sqnr_db"] for value in outputs), 15)
        self.assertIn("LayerNormalization", written[17])
        self.assertNotIn("LayerNormalization", written[13])


if __name__ == "__main__":
    unittest.main()
