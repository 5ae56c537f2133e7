#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""octavo compare: what differs between two reports, and --fail-below."""

import copy
import json
import re
import unittest

from programs import DIGITS, Case, octavo


def value(name, sqnr, **more):
    return {"name": name, "sqnr_db": sqnr, "exact": False, "cosine": 0.99, "local_sqnr_db": None,
            "dtype": "u8", **more}


def file(role, name, digest):
    return {"role": role, "name": name, "bytes": 9, "sha256": digest * 64}


REPORT = {
    "octavo_version": "0.1.0", "action_digest": "sha256:1", "target": "cpu-int8",
    "options": {"calibration": "minmax", "keep_float": [], "fold_budget": 4194304, "batch": 0,
                "output_name": "a.onnx"},
    "inputs": [file("model", "m.onnx", "1"), file("samples", "data.npz", "2"),
               file("samples", "evaluate:more.npz", "3")],
    "model": {"nodes_after": 15, "bytes_after": 4000},
    "rescales": {"after": 1},
    "float_nodes": [],
    "numerics": {
        "samples": 40, "samples_source": "data", "samples_role": "evaluation", "accuracy": None,
        "outputs": [value("boxes", 30.0), value("scores", 25.0, top1_agreement=0.975)],
        "values": [value("conv", 33.0, local_sqnr_db=40.0),
                   value("relu", 32.0, local_sqnr_db=50.0),
                   value("head", 31.0, local_sqnr_db=45.0)]},
    "warnings": [{"code": "few_samples", "message": "9 samples calibrate", "node": ""},
                 {"code": "range_drift", "message": "by 0.10 %", "node": "conv"}],
}


class Compare(Case):
    def setUp(self):
        super().setUp()
        self.paths = [self.folder / "a.json", self.folder / "b.json"]
        self.before, self.after = copy.deepcopy(REPORT), copy.deepcopy(REPORT)

    def run_compare(self, *flags, code=0):
        for path, report in zip(self.paths, (self.before, self.after)):
            path.write_text(report if isinstance(report, str) else json.dumps(report))
        result = octavo("compare", *self.paths, *flags)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def text(self, *flags, code=0):
        return self.run_compare(*flags, code=code).stdout.replace(f"{self.folder}/", "")

    def object(self, *flags, code=0):
        return json.loads(self.run_compare("--json", *flags, code=code).stdout)

    def gate(self, most, code=5):
        """What --fail-below says, which --json says as well."""
        result = self.run_compare("--fail-below", most, code=code)
        answer = self.object("--fail-below", most, code=code)
        self.assertEqual(answer["gate_failed"], code != 0)
        if code:
            self.assertEqual(result.stderr, f"octavo: error: gate failed: {answer['message']}\n")
        else:
            self.assertEqual((result.stderr, answer["message"]), ("", ""))
        return answer["message"]

    def output(self, place=0):
        return self.after["numerics"]["outputs"][place]

    def change_much(self):
        """One change of each kind."""
        outputs, values = (self.after["numerics"][key] for key in ("outputs", "values"))
        outputs[0].update(sqnr_db=28.5, cosine=0.98)
        values[0].update(local_sqnr_db=40.5, sqnr_db=34)
        values[1].update(local_sqnr_db=44, sqnr_db=29, dtype="u16")
        values[2].update(sqnr_db=31.05)
        self.before["numerics"]["values"].append(value("left", 20))
        self.after["model"]["bytes_after"] = 5024
        self.after["float_nodes"] = [{"node": "c", "op": "Conv", "reason": ""}]
        self.after["options"].update(calibration="mse", keep_float=["Conv", "a|b"],
                                     output_name="b.onnx")
        self.after["inputs"][1] = file("samples", "data.npz", "4")
        self.after["warnings"][0] = {"code": "no_effect", "message": "'a|b' has none",
                                     "node": ""}
        self.after["warnings"][1]["message"] = "by 0.20 %"  # the same one

    # Jobs.

    def optimize(self, report, *flags):
        result = octavo("optimize", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz",
                        "-o", self.folder / "int8.onnx", "--report", report, "--quiet", *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(report.read_text())

    def test_two_settings_of_a_job(self):
        reports = [self.optimize(self.paths[0]),
                   self.optimize(self.paths[1], "--calibration", "mse")]
        self.before, self.after = reports
        sqnr = [report["numerics"]["outputs"][0]["sqnr_db"] for report in reports]
        self.assertGreater(abs(sqnr[1] - sqnr[0]), 0.1)
        text = self.text()
        self.assertTrue(text.startswith(
            f"a.json -> b.json\n\nWorst output 'logits': SQNR in dB {sqnr[0]:.2f} -> {sqnr[1]:.2f} "
            f"({sqnr[1] - sqnr[0]:+.2f}), on 16 held-out samples.\n"), text)
        self.assertIn("\noption       before  after\ncalibration  minmax  mse\n", text)
        for unchanged in ("warning", "input  ", "result  ", "fold_budget", "Values only"):
            self.assertNotIn(unchanged, text)
        answer = self.object()
        self.assertEqual((answer["same_model"], answer["same_samples"]), (True, True))
        sizes = [report["model"]["bytes_after"] for report in reports]
        self.assertEqual(json.dumps(answer["model"]["bytes_after"]),
                         json.dumps({"before": sizes[0], "after": sizes[1],
                                     "change": sizes[1] - sizes[0]}))
        self.assertEqual(answer["options"],
                         [{"name": "calibration", "before": "minmax", "after": "mse"}])
        self.assertEqual(answer["outputs"][0]["sqnr_db"]["before"], sqnr[0])
        self.assertAlmostEqual(answer["outputs"][0]["sqnr_db"]["change"], sqnr[1] - sqnr[0])
        # By the change of the local SQNR.
        local = [{v["name"]: v["local_sqnr_db"] for v in report["numerics"]["values"]}
                 for report in reports]
        changes = [abs(local[1][v["name"]] - local[0][v["name"]]) for v in answer["values"]
                   if local[0][v["name"]] is not None]
        self.assertGreater(len(changes), 4)
        self.assertEqual(changes, sorted(changes, reverse=True))

    def test_a_job_compared_with_itself_differs_in_nothing(self):
        self.before = self.after = self.optimize(self.paths[0])
        self.assertRegex(self.text(), r"^a.json -> b.json\n\nWorst output 'logits': SQNR in dB "
                         r"\d+\.\d\d, unchanged, on 16 held-out samples\.\n\nNothing differs: .*\n$")
        self.gate(0, code=0)

    def test_other_evaluation_samples_are_a_warning(self):
        said = "warning: the figures are of different samples, 16 held-out samples and "
        self.before = self.optimize(self.paths[0])
        self.after = self.optimize(self.paths[1], "--evaluate", DIGITS / "heldout.npz")
        self.assertIn(f"{said}1000 evaluation samples: they do not compare\n", self.text())
        self.after = self.optimize(self.paths[1], "--holdout", "4")
        self.assertIn(f"{said}16 held-out samples: they do not compare\n", self.text())

    def test_a_report_of_diff_does_not_list_its_inputs(self):
        self.before = self.optimize(self.paths[0])
        result = octavo("diff", DIGITS / "model.onnx", self.folder / "int8.onnx", "--data",
                        DIGITS / "calibration.npz")
        self.after = result.stdout
        answer = self.object()
        self.assertIsNone(answer["same_model"])
        self.assertEqual(answer["inputs"], [])
        self.assertIn("warning: a report does not list its inputs", self.text())

    # What is printed.

    def test_the_text_of_every_kind_of_change(self):
        self.change_much()
        self.assertEqual(self.text(), """\
a.json -> b.json

Worst output 'scores': SQNR in dB 25.00, unchanged, on 40 evaluation samples.

output  SQNR, dB                cosine
boxes   30.00 -> 28.50 (-1.50)  0.990000 -> 0.980000 (-0.010000)

result          change
size, KiB       3.9 -> 4.9 (+1.0)
nodes in float  0 -> 1 (+1)

option       before  after
calibration  minmax  mse
keep_float   -       Conv, a|b

input    before                        after
samples  data.npz sha256:222222222222  data.npz sha256:444444444444

warning  code         message
new      no_effect    'a|b' has none
gone     few_samples  9 samples calibrate

value  type       local SQNR, dB          SQNR, dB
relu   u8 -> u16  50.00 -> 44.00 (-6.00)  32.00 -> 29.00 (-3.00)
conv   u8         40.00 -> 40.50 (+0.50)  33.00 -> 34.00 (+1.00)

Values only before: 1, only after: 0.
""")

    def test_the_markdown_of_every_kind_of_change(self):
        self.change_much()
        self.assertEqual(self.text("--markdown").replace(f"{self.folder}/", ""), """\
### Octavo: `a.json` → `b.json`

Worst output `scores`: SQNR in dB 25.00, unchanged, on 40 evaluation samples.

| output | SQNR, dB | cosine |
| --- | --- | --- |
| `boxes` | 30.00 → 28.50 (-1.50) | 0.990000 → 0.980000 (-0.010000) |

| result | change |
| --- | --- |
| size, KiB | 3.9 → 4.9 (+1.0) |
| nodes in float | 0 → 1 (+1) |

| option | before | after |
| --- | --- | --- |
| `calibration` | `minmax` | `mse` |
| `keep_float` | - | <code>Conv&#44; a&#124;b</code> |

| input | before | after |
| --- | --- | --- |
| `samples` | `data.npz` `sha256:222222222222` | `data.npz` `sha256:444444444444` |

| warning | code | message |
| --- | --- | --- |
| new | `no_effect` | <code>&#39;a&#124;b&#39; has none</code> |
| gone | `few_samples` | `9 samples calibrate` |

| value | type | local SQNR, dB | SQNR, dB |
| --- | --- | --- | --- |
| `relu` | `u8` → `u16` | 50.00 → 44.00 (-6.00) | 32.00 → 29.00 (-3.00) |
| `conv` | `u8` | 40.00 → 40.50 (+0.50) | 33.00 → 34.00 (+1.00) |

Values only before: 1, only after: 0.
""")

    def test_different_models_are_a_warning_that_comes_first(self):
        self.after["inputs"][0] = file("model", "other.onnx", "9")
        said = "the reports are of different models: their figures do not compare"
        self.assertIn(f"a.json -> b.json\n\nwarning: {said}\n\nWorst", self.text())
        self.assertIn(f"\n\n> [!WARNING]\n> {said}\n\n", self.text("--markdown"))
        self.assertIn("model  m.onnx sha256:111111111111  other.onnx sha256:999999999999",
                      self.text())
        self.assertIs(self.object()["same_model"], False)

    def test_a_renamed_file_of_the_same_bytes_is_the_same(self):
        self.after["inputs"] = [file("model", "renamed.onnx", "1"), *REPORT["inputs"][:0:-1]]
        answer = self.object()
        self.assertEqual((answer["same_model"], answer["same_samples"], answer["inputs"]),
                         (True, True, []))

    def test_random_samples_are_told_apart_by_their_names(self):
        for report, seed in ((self.before, 1), (self.after, 2)):
            report["inputs"][1:] = [file("samples", f"random:{seed}", "e")]
            report["numerics"]["samples_source"] = "random"
        self.assertIs(self.object()["same_samples"], False)

    def test_samples_that_are_read_in_another_way_are_others(self):
        self.after["options"]["batch"] = 2
        self.assertIs(self.object()["same_samples"], False)

    def test_long_tables_say_how_many_rows_they_leave_out(self):
        for report, sqnr in ((self.before, 30), (self.after, 31)):
            report["numerics"]["values"] = [value(f"v{i}", sqnr * (1 + i / 100), dtype="u8")
                                            for i in range(50)]
        text = self.text()
        self.assertEqual(re.findall(r"^v(\d+) ", text, re.MULTILINE),
                         [str(i) for i in range(49, 39, -1)])
        self.assertIn("\n40 more values.\n", text)
        self.assertEqual(len(self.object()["values"]), 50)

    def test_an_sqnr_above_60_db_is_as_good_as_any(self):
        for report, sqnr in ((self.before, 140), (self.after, 61)):
            report["numerics"]["values"][0].update(local_sqnr_db=sqnr, sqnr_db=sqnr)
        self.assertEqual(self.object()["values"], [])

    def test_accuracy_by_labels_is_compared(self):
        for report, top1 in ((self.before, 0.97), (self.after, 0.96)):
            report["numerics"]["accuracy"] = {"output": "scores", "samples": 100, "top1": top1,
                                              "top5": None}
        self.assertIn("top-1 of the labels, %  97.00 -> 96.00 (-1.00)\n", self.text())

    def test_top1_agreement_is_compared(self):
        self.output(1)["top1_agreement"] = 0.95
        self.assertIn("scores  97.50 -> 95.00 (-2.50)\n", self.text())

    # --fail-below.

    def test_an_output_that_lost_more_fails(self):
        self.output()["sqnr_db"] = 28.4
        self.assertEqual(self.gate(1.5), "output 'boxes' lost 1.60 dB, more than 1.5")
        self.gate(1.6, code=0)  # neither more nor less, in spite of rounding
        self.output(1)["sqnr_db"] = 20
        self.assertEqual(self.gate(0), "output 'scores' lost 5.00 dB, more than 0 (and 1 more)")

    def test_an_output_that_gained_or_is_new_does_not_fail(self):
        self.output()["sqnr_db"] = 60
        self.after["numerics"]["outputs"].append(value("new", None))
        self.gate(0, code=0)
        self.assertIn("new     none -> undefined        none -> 0.990000\n"
                      "boxes   30.00 -> 60.00 (+30.00)  0.990000\n", self.text())

    def test_an_output_that_vanished_fails(self):
        del self.after["numerics"]["outputs"][0]
        self.assertEqual(self.gate(1000), "output 'boxes' vanished")
        self.assertIn("boxes   30.00 -> none  0.990000 -> none\n", self.text())

    def test_a_report_that_lost_all_figures_fails(self):
        self.after["numerics"].update(outputs=[], samples=0, samples_role=None)
        self.assertIn("' vanished (and 1 more)", self.gate(1000))
        self.assertIn("Worst output, SQNR in dB: 'scores' 25.00 -> no figures, on 0 samples "
                      "(before: 40 evaluation samples).", self.text())

    def test_an_output_whose_figure_became_undefined_fails(self):
        self.output()["sqnr_db"] = None
        self.assertEqual(self.gate(1000), "the SQNR of output 'boxes' became undefined")
        self.assertIn("boxes   30.00 -> undefined\n", self.text())
        self.before["numerics"]["outputs"][0]["sqnr_db"] = None
        self.gate(0, code=0)

    def test_an_exact_output_is_the_best(self):
        self.output().update(sqnr_db=None, exact=True)
        self.gate(0, code=0)
        self.assertIn("boxes   30.00 -> exact\n", self.text())
        answer = self.object()["outputs"][0]
        self.assertEqual(answer["exact"], {"before": False, "after": True})
        self.assertEqual(answer["sqnr_db"], {"before": 30.0, "after": None, "change": None})
        self.before, self.after = self.after, self.before
        self.assertEqual(self.gate(1000), "output 'boxes' was exact and has an SQNR of 30.00 dB now")
        self.before = self.after
        self.gate(0, code=0)

    def test_a_report_without_figures_cannot_be_fallen_below(self):
        self.before["numerics"]["outputs"] = []
        self.assert_fails(self.run_compare("--fail-below", 1, code=3), 3,
                          "must have figures of outputs for --fail-below")
        self.run_compare()

    # What is refused.

    def test_wrong_usage_is_exit_2(self):
        for flags in (("--fail-below", "-1"), ("--fail-below", "nan"), ("--fail-below", "much"),
                      ("--fail-below",), ("--json", "--markdown"), ("--server", "127.0.0.1:1"),
                      ("third.json",)):
            self.run_compare(*flags, code=2)
        self.paths[1].unlink()
        result = octavo("compare", *self.paths)
        self.assert_fails(result, 2, "b.json")
        self.assertEqual(octavo("compare", self.paths[0]).returncode, 2)

    def test_what_is_no_report_is_exit_3_and_names_the_file(self):
        for text, said in (("", "must be a JSON object"), ("[1]", "must be a JSON object"),
                           (json.dumps(REPORT)[:-9], "must be a JSON object"),
                           ("{}", "it has no 'numerics'"),
                           ('{"numerics": {}}', "it has no 'octavo_version'"),
                           ('{"numerics": 7}', "'numerics' of the report must be an object"),
                           (json.dumps({**REPORT, "warnings": [7]}), "'warnings[0]'"),
                           (json.dumps(REPORT).replace("25.0", "1e999"), "must be a JSON object"),
                           ("[" * 1000000, "must be a JSON object"),
                           (f'{{"x": {"[" * 1000000}{"]" * 1000000}}}', "it has no 'numerics'"),
                           (json.dumps({**REPORT, "options": {"x": json.loads(
                               "[" * 99 + "]" * 99)}}), "must be nested less deeply")):
            self.after = text
            self.assert_fails(self.run_compare(code=3), 3, "b.json'", said)

    def test_a_report_that_is_too_large_is_exit_7(self):
        self.run_compare()
        with open(self.paths[1], "wb") as sparse:
            sparse.truncate((64 << 20) + 1)
        self.assert_fails(octavo("compare", *self.paths), 7, "b.json' has 67108865 bytes")

    def test_nothing_in_a_report_reaches_the_terminal_or_is_markup(self):
        for text in ("\x1b[31m", "a\nb", "`x` | <img> @you", "", "x" * 100000, "[l](http://x)"):
            self.before, self.after = copy.deepcopy(REPORT), copy.deepcopy(REPORT)
            self.output()["name"] = text
            self.after["numerics"]["samples_role"] = text
            self.after["options"][text] = [text]
            self.after["inputs"][0]["name"] = self.after["inputs"][0]["sha256"] = text
            self.after["warnings"].append({"code": text, "message": text, "node": text})
            self.after["octavo_version"] = text or "0"
            for flags in ((), ("--markdown",)):
                printed = self.text(*flags)
                self.assertLess(len(printed), 40000)
                self.assertNotIn("\x1b", printed)
                self.assertNotIn("<img>", printed if flags else "")
                plain = re.sub(r"`[^`\n]*`", "", printed)
                self.assertNotRegex(plain if flags else "", r"@|\]\(|a\nb")
            self.object()

    def test_figures_of_any_size_are_printed(self):
        self.output()["sqnr_db"] = 1e308
        self.before["numerics"]["outputs"][0]["sqnr_db"] = -1e308
        self.after["model"]["bytes_after"] = -2**63
        self.assertIn("-1.000e+308 -> 1.000e+308", self.text())
        self.assertIsNone(self.object()["outputs"][0]["sqnr_db"]["change"])

    def test_values_of_one_name_are_paired_in_order(self):
        for report, sqnr in ((self.before, 20), (self.after, 25)):
            report["numerics"]["outputs"] = [value("y", 30), value("y", sqnr), value("y", 40)]
        changes = [output["sqnr_db"]["change"] for output in self.object()["outputs"]]
        self.assertEqual(changes, [5, 0, 0])


if __name__ == "__main__":
    unittest.main()
