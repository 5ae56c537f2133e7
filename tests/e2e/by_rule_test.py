#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""octavo diff --by-rule as a user calls it: what each rule of a job did to the outputs."""

import json
import unittest

from programs import DIGITS, Case, octavo

CALIBRATION = DIGITS / "calibration.npz"

# Quantized, with Rescales that rules remove.
QUANTIZED = """graph(%x: tensor<1x3x8x8xf32>) -> (%y, %z) {
  const %w = random(1) : tensor<4x3x3x3xi8, scale=0.0078125, zp=0>
  const %b = splat(0) : tensor<4xi32, scale=0.000244140625, zp=0>
  %x.q = Quantize(%x) : tensor<1x3x8x8xi8, scale=0.03125, zp=-3>
  %c = Conv(%x.q, %w, %b) {pads=[1, 1, 1, 1]} : tensor<1x4x8x8xi8, scale=0.05, zp=0>
  %c.r = Rescale(%c) : tensor<1x4x8x8xi8, scale=0.04, zp=10>
  %p = MaxPool(%c.r) {kernel_shape=[2, 2], strides=[2, 2]} : tensor<1x4x4x4xi8, scale=0.04, zp=10>
  %p.r = Rescale(%p) : tensor<1x4x4x4xi8, scale=0.05, zp=0>
  %r = Relu(%p.r) : tensor<1x4x4x4xi8, scale=0.05, zp=0>
  %a = Add(%r, %r) : tensor<1x4x4x4xi8, scale=0.09, zp=-20>
  %y = Dequantize(%a) : tensor<1x4x4x4xf32>
  %z = Dequantize(%r) : tensor<1x4x4x4xf32>
}
"""


class ByRule(Case):
    def run_well(self, *arguments):
        result = octavo(*arguments, "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def optimize_digits(self, *flags):
        out, report = self.folder / "d.onnx", self.folder / "d.json"
        self.run_well("optimize", DIGITS / "model.onnx", "--data", CALIBRATION, "-o", out,
                      "--report", report, *flags)
        return out, report

    def test_the_digits_network_in_a_table(self):
        out, report = self.optimize_digits()
        diff = self.folder / "diff.json"
        table = self.run_well("diff", DIGITS / "model.onnx", out, "--data", CALIBRATION,
                              "--by-rule", "--report", diff).splitlines()
        self.assertEqual(table[0].split()[:4], ["times", "rule", "effect", "output"])
        ledger = json.loads(report.read_text())["ledger"]
        relus = [entry for entry in ledger if entry["rule"] == "fuse-activations/remove-identity"]
        row = next(line for line in table if "fuse-activations/remove-identity" in line).split()
        self.assertEqual(row[0], str(len(relus)))
        self.assertEqual(row[2:8], ["exact", "logits", "0", "of", "640", "0"])
        # Of all samples, as the table; the job's figures are of those that it held back.
        outputs = json.loads(diff.read_text())["numerics"]["outputs"]
        self.assertEqual(table[-1].split()[-5], f"{outputs[0]['sqnr_db']:.2f}")

    def test_json_has_every_application_in_the_order_of_the_ledger(self):
        out, report = self.optimize_digits()
        text = self.run_well("diff", DIGITS / "model.onnx", out, "--data", CALIBRATION,
                             "--by-rule", "--each", "--json")
        rows = [row for row in json.loads(text)["by_rule"] if row["measured"]]
        seen = [(a["rule"], a["node"]) for row in rows for a in row["applications"]]
        ledger = json.loads(report.read_text())["ledger"]
        wanted = [(e["rule"], e["node"]) for e in ledger
                  if e["pass"] in ("fuse-activations", "round-weights")]
        self.assertEqual(seen, wanted)
        self.assertEqual([row["count"] for row in rows], [1] * len(rows))

    def test_a_quantized_model_and_rules_that_move_its_results(self):
        given = self.folder / "q.graph"
        given.write_text(QUANTIZED)
        out, report = self.folder / "out.onnx", self.folder / "r.json"
        data = ["--data", "random:3:8"]
        self.run_well("optimize", given, "-o", out, "--no-quantize", "--numerics-limit",
                      "fewer-clamps", "--report", report, *data)
        text = self.run_well("diff", given, out, "--by-rule", "--options-from", report, "--json",
                             *data)
        combined, absorbed = json.loads(text)["by_rule"]
        self.assertEqual(combined["rules"], ["absorb-rescales/fold-into-producer"])
        self.assertEqual(combined["effect"], "fewer-roundings")
        self.assertEqual([o["name"] for o in combined["outputs"]], ["y", "z"])
        for before, after in zip(combined["outputs"], absorbed["outputs"]):
            self.assertGreater(before["changed"], 0)
            self.assertIn(before["max_steps"], (1, 2))
            self.assertEqual(after["changed"], 0)  # exact
            self.assertEqual(after["sqnr_db_before"], before["sqnr_db_after"])

    def test_other_samples_than_the_jobs_need_its_profile(self):
        # A profile has no moments to round weights by.
        out, report = self.optimize_digits("--schema", "symmetric", "--rounding", "nearest", "--holdout",
                                           "none")
        heldout = ["--data", DIGITS / "heldout.npz", "--by-rule", "--options-from", report]
        model = DIGITS / "model.onnx"
        result = octavo("diff", model, out, *heldout)
        self.assert_fails(result, 3, "--profile")
        profile = self.folder / "p.json"
        self.run_well("profile", model, "--data", CALIBRATION, "-o", profile)
        self.run_well("diff", model, out, *heldout, "--profile", profile)

    def test_a_target_file_must_be_named_again(self):
        target = self.folder / "mine.json"
        target.write_text('{"name": "mine", "activations": ["i8"]}')
        out, report = self.optimize_digits("--target", target)
        command = ["diff", DIGITS / "model.onnx", out, "--data", CALIBRATION, "--by-rule",
                   "--options-from", report]
        self.assert_fails(octavo(*command), 2, "mine", "--target")
        self.run_well(*command, "--target", target)


if __name__ == "__main__":
    unittest.main()
