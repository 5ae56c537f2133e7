#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a user types: help, names, files of flags, reports that run again."""

import json
import os
import pathlib
import pty
import shlex
import shutil
import subprocess
import tempfile
import unittest
import zipfile

from programs import DIGITS, OCTAVO, PATIENCE, Server, clean_environment, octavo


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("model.onnx", "calibration.npz"):
            shutil.copy(DIGITS / name, self.folder)
        self.model, self.data = self.folder / "model.onnx", self.folder / "calibration.npz"
        self.out, self.report = self.folder / "int8.onnx", self.folder / "report.json"

    def run_octavo(self, *arguments, code=0, **environment):
        result = subprocess.run([OCTAVO, *map(str, arguments)], capture_output=True, text=True,
                                timeout=PATIENCE, cwd=self.folder,
                                env=clean_environment(**environment))
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def optimize(self, *arguments, code=0):
        result = self.run_octavo("optimize", "--data", self.data, "-o", self.out,
                                 "--report", self.report, *arguments, self.model, code=code)
        return json.loads(self.report.read_text()) if code == 0 else result.stderr

    def inspect(self, *arguments):
        return json.loads(self.run_octavo("inspect", self.model, "--json", *arguments).stdout)

    # Names.

    def test_a_misspelt_target_pass_or_input_gets_the_name_that_was_meant(self):
        for flags, meant in ((("--target", "cpu-int9"), "cpu-int8"),
                             (("--skip", "recognise"), "recognize"),
                             (("--shape", "imag=1,1,8,8"), self.inspect()["inputs"][0]["name"])):
            self.assertIn(f"did you mean '{meant}'?", self.optimize(*flags, code=2))

    def test_a_misspelt_value_gets_the_name_that_was_meant(self):
        report = self.optimize("--keep-float", "sofmax,Gem")
        warnings = [w["message"] for w in report["warnings"] if w["code"] == "unknown_name"]
        self.assertEqual(len(warnings), 2, report["warnings"])
        self.assertIn("did you mean 'Gemm'?", warnings[1])

    def test_a_misspelt_array_gets_the_name_that_was_meant(self):
        name = self.inspect()["inputs"][0]["name"]
        with zipfile.ZipFile(self.data) as arrays:
            array = arrays.read(name + ".npy")
        with zipfile.ZipFile(self.data, "w") as arrays:
            arrays.writestr(name + "s.npy", array)
        self.assertIn(f"did you mean '{name}s'?", self.optimize(code=3))

    def test_a_pattern_keeps_all_nodes_that_it_matches_in_float(self):
        every = self.optimize("--keep-float", "*")
        by_op = self.optimize("--keep-float", "Con?,G*m")
        floats = {node["op"] for node in by_op["float_nodes"]}
        self.assertLessEqual({"Conv", "Gemm"}, floats)
        self.assertGreaterEqual(len(every["float_nodes"]), len(by_op["float_nodes"]))
        self.assertFalse([w for w in by_op["warnings"] if w["code"] == "unknown_name"])

    def test_a_pattern_that_matches_nothing_is_a_warning(self):
        report = self.optimize("--keep-float", "/nowhere/*")
        self.assertIn("'/nowhere/*' matches no operator",
                      [w["message"] for w in report["warnings"] if w["code"] == "unknown_name"][0])

    # Help.

    def test_the_examples_of_the_help_run(self):
        commands = [line.split()[0] for line in self.run_octavo("--help").stdout.splitlines()
                    if line.startswith("  ") and line[2:3].islower()]
        examples = {}
        for command in dict.fromkeys(c for c in commands if c != "octavo"):
            lines = self.run_octavo(command, "--help").stdout.splitlines()
            start = lines.index("Examples:") + 1
            examples[command] = [line.strip() for line in lines[start:lines.index("", start)]]
        self.assertGreaterEqual(len(examples), 17)
        with Server("--state-dir", self.folder / "state") as server:
            job = octavo("optimize", self.model, "--data", self.data, "-o", self.out, "--detach",
                         "--quiet", server=server.address).stdout.strip()
            for command, lines in examples.items():
                self.assertTrue(lines, command)
                for line in lines:
                    words = [job if word == "ID" else word for word in shlex.split(
                        line.replace("127.0.0.1:50051", server.address))]
                    self.assertEqual(words[0], "octavo")
                    # The job has ended by then.
                    ended = "must be queued or running" if command == "cancel" else ""
                    result = self.run_octavo(*words[1:], code=2 if ended else 0)
                    self.assertIn(ended, result.stderr)

    # Progress.

    def terminal(self, *arguments, **environment):
        """What octavo writes to a terminal as stderr."""
        main, terminal = pty.openpty()
        process = subprocess.Popen([OCTAVO, *map(str, arguments)], stderr=terminal,
                                   stdout=subprocess.DEVNULL, env=clean_environment(**environment))
        os.close(terminal)
        written = b""
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:  # the end, on Linux
                break
            if not part:
                break
            written += part
        os.close(main)
        self.assertEqual(process.wait(timeout=PATIENCE), 0)
        return written.decode()

    def test_a_bar_is_drawn_on_a_terminal_unless_it_is_dumb(self):
        job = ("optimize", self.model, "--data", self.data, "-o", self.out)
        for environment in ({"TERM": "xterm"}, {"TERM": "xterm", "NO_COLOR": "1"}):
            text = self.terminal(*job, COLUMNS="90", **environment)
            self.assertIn("\r\033[K", text)
            bars = [part.split("\r\n")[0] for part in text.split("\r\033[K")]
            bars = [bar for bar in bars if " [" in bar]
            self.assertTrue(bars)
            self.assertLessEqual({len(bar) for bar in bars}, {89})
        self.assertNotIn("\033", self.terminal(*job, TERM="dumb"))

    # A file of flags.

    def test_a_config_file_gives_the_flags(self):
        (self.folder / "job.toml").write_text(
            'threads = 1\n[optimize]\ndata = "calibration.npz"\noutput = "int8.onnx"\n'
            'keep-float = ["Gemm", "soft*"]\nreport = "report.json"\n[bench]\nruns = 3\n')
        self.run_octavo("optimize", "--config", "job.toml", "model.onnx")
        options = json.loads(self.report.read_text())["options"]
        self.assertEqual(options["keep_float"], ["Gemm", "soft*"])
        bench = self.run_octavo("bench", "--config", "job.toml", "model.onnx", "--json")
        self.assertEqual(json.loads(bench.stdout)["runs"], 3)

    # Reports that run again.

    def test_options_from_a_report_give_the_same_bytes(self):
        self.optimize("--keep-float", "Gemm", "--per-tensor", "--calibration", "mse")
        first = self.out.read_bytes()
        self.run_octavo("optimize", self.model, "--data", self.data, "-o", self.out,
                        "--options-from", self.report)
        self.assertEqual(self.out.read_bytes(), first)

    def test_reproduce_runs_the_job_of_a_report_again(self):
        report = self.optimize("--keep-float", "Gemm", "--per-tensor", "--require-sqnr", "5")
        self.assertEqual([(f["role"], f["name"]) for f in report["inputs"]],
                         [("model", "model.onnx"), ("samples", "calibration.npz")])
        self.assertEqual(report["outputs"][0]["name"], "int8.onnx")
        first = self.out.read_bytes()
        self.out.unlink()
        self.assertIn("int8.onnx is reproduced: sha256:",
                      self.run_octavo("reproduce", "report.json").stdout)
        answer = json.loads(self.run_octavo("reproduce", "report.json", "--json").stdout)
        self.assertTrue(answer["reproduced"])
        self.assertFalse(self.out.exists())
        # The command in the report gives the same bytes, too.
        words = shlex.split(report["command"])
        self.run_octavo(*words[1:])
        self.assertEqual(self.out.read_bytes(), first)

    def test_reproduce_of_other_bytes_is_exit_1(self):
        report = self.optimize()
        report["outputs"][0]["sha256"] = "0" * 64
        self.report.write_text(json.dumps(report))
        error = self.run_octavo("reproduce", "report.json", code=1).stderr
        self.assertIn("'int8.onnx' has sha256:", error)

    def test_reproduce_names_an_input_that_changed_or_is_missing(self):
        self.optimize()
        shutil.copy(DIGITS / "heldout.npz", self.data)
        error = self.run_octavo("reproduce", "report.json", code=3).stderr
        self.assertIn("calibration.npz' has sha256:", error)
        other = self.folder / "other"
        other.mkdir()
        shutil.copy(DIGITS / "calibration.npz", other)
        self.run_octavo("reproduce", "report.json", "--from", other)
        self.data.unlink()
        shutil.rmtree(other)
        self.assertIn("--from", self.run_octavo("reproduce", "report.json", code=2).stderr)

    def test_a_report_of_a_service_is_reproduced_too(self):
        with Server() as server:
            result = octavo("optimize", self.model, "--data", self.data, "-o", self.out,
                            "--report", self.report, "--quiet", server=server.address)
            self.assertEqual(result.returncode, 0, result.stderr)
        self.run_octavo("reproduce", "report.json")


if __name__ == "__main__":
    unittest.main()
