# SPDX-License-Identifier: Apache-2.0
"""Quantized models as other tools write them: read, told about, made smaller without another
result, and compared with their float models."""

import json
import pathlib
import unittest

import numpy as np

import foreign_models
import programs

# Rules that change how a result is rounded at most; the outputs may then be a step apart.
ROUNDING = {"fewer-roundings", "fewer-clamps"}
LEAST_SQNR = 17  # dB of the outputs; five numbers each


def outputs(folder):
    index = json.loads((folder / "index.json").read_text())
    return [np.load(folder / entry["file"]) for entry in index]


class Foreign(programs.Case):
    def call(self, *arguments):
        result = programs.octavo(*arguments)
        self.assertEqual(result.returncode, 0, f"{arguments}: {result.stderr}")
        return result.stdout

    def run_model(self, folder, name):
        self.call("run", folder / f"{name}.onnx", "--data", folder / "samples.npz",
                  "-o", folder / name)
        return outputs(folder / name)[0]

    def check(self, folder):
        quantized, samples = folder / "quantized.onnx", folder / "samples.npz"
        seen = json.loads(self.call("inspect", quantized, "--json"))
        names = {value["name"] for value in seen["quantized"]}
        self.assertEqual(bool(names), "dynamic" not in folder.name, names)

        self.call("optimize", quantized, "--no-quantize", "-o", folder / "after.onnx",
                  "--report", folder / "report.json", "--quiet")
        report = json.loads((folder / "report.json").read_text())
        # A Concat of operands with scales of their own (ONNX Runtime's) is one with Rescales.
        nodes, rescales = report["model"]["nodes_after"], report["rescales"]["after"]
        self.assertLessEqual(nodes - rescales, report["model"]["nodes_before"])
        before, after = self.run_model(folder, "quantized"), self.run_model(folder, "after")
        effects = {entry["effect"] for entry in report["ledger"]}
        step = np.ptp(before) / 255 if effects & ROUNDING else 0
        np.testing.assert_allclose(after, before, rtol=0, atol=step)

        differences = json.loads(self.call("diff", folder / "float.onnx", quantized,
                                           "--data", samples, "--json"))
        for output in differences["numerics"]["outputs"]:
            self.assertGreater(output["sqnr_db"], LEAST_SQNR)
        return report

    def test_every_style(self):
        foreign_models.main([str(self.folder)])
        folders = sorted(path for path in self.folder.iterdir() if path.is_dir())
        self.assertGreater(len(folders), 20)
        reports = {}
        for folder in folders:
            with self.subTest(folder.name):
                reports[folder.name] = self.check(folder)
        for name in foreign_models.IN_INTEGERS:
            with self.subTest(f"{name} computes in integers"):
                self.assertEqual([], reports[name]["float_nodes"])


if __name__ == "__main__":
    unittest.main()
