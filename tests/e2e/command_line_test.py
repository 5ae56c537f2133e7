#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a user types: help, names, files of flags."""

import json
import os
import pathlib
import pty
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
import zipfile

import numpy as np
from images import jpeg
from programs import DIGITS, OCTAVO, OCTAVOD, PATIENCE, ROOT, Server, clean_environment, octavo


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

    def test_a_pattern_skips_all_passes_that_it_matches(self):
        passes = {run["name"] for run in self.optimize("--skip", "fold-?onstants,*-rescales")["passes"]}
        self.assertFalse(passes & {"fold-constants", "absorb-rescales", "place-rescales"}, passes)
        self.assertIn("fold-batchnorm", passes)
        self.assertIn("'merge-constants' cannot be skipped", self.optimize("--skip", "mer*", code=2))
        self.assertIn("unknown pass 'nothing-*'", self.optimize("--skip", "nothing-*", code=2))

    def test_an_address_without_a_port_is_an_error_at_once(self):
        for address in ("badaddr", "badaddr:", "badaddr:port", ":50051", "badaddr:99999"):
            self.assertIn("must be HOST:PORT", self.optimize("--server", address, code=2))
            for command in (("optimize", self.model, "--data", self.data, "-o", self.out),
                            ("health",), ("jobs",)):
                result = self.run_octavo(*command, code=2, OCTAVO_SERVER=address)
                self.assertIn(f"OCTAVO_SERVER: '{address}' must be HOST:PORT", result.stderr)
        # Neither where the flag overrides it, nor of a command that runs locally only.
        result = self.run_octavo("health", "--server", "127.0.0.1:1", code=6,
                                 OCTAVO_SERVER="badaddr")
        self.assertNotIn("badaddr", result.stderr)
        self.run_octavo("inspect", self.model, OCTAVO_SERVER="badaddr")

    def test_an_interrupt_before_main_is_heard(self):
        self.run_octavo("optimize", self.model, "--data", self.data, "-o", self.out, code=8,
                        LD_PRELOAD=os.environ["EARLY_SIGNAL"])
        self.assertFalse(self.out.exists())

    def test_a_misspelt_target_pass_or_input_gets_the_name_that_was_meant(self):
        for flags, meant in ((("--target", "cpu-int9"), "cpu-int8"),
                             (("--skip", "recognise"), "recognize"),
                             (("--emit", "qdp"), "qdq"), (("--numerics", "tflit"), "tflite"),
                             (("--calibration", "minmx"), "minmax"),
                             (("--calibration", "percentil:99"), "percentile:99"),
                             (("--shape", "imag=1,1,8,8"), self.inspect()["inputs"][0]["name"])):
            self.assertIn(f"did you mean '{meant}'?", self.optimize(*flags, code=2))

    def test_a_calibration_with_a_wrong_number_gets_no_other_name(self):
        self.assertNotIn("did you mean", self.optimize("--calibration", "percentile:30", code=2))

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

    def examples(self):
        """The lines of examples in the help, by command."""
        commands = [line.split()[0] for line in self.run_octavo("--help").stdout.splitlines()
                    if line.startswith("  ") and line[2:3].islower()]
        examples = {}
        for command in dict.fromkeys(c for c in commands if c != "octavo"):
            lines = self.run_octavo(command, "--help").stdout.splitlines()
            start = lines.index("Examples:") + 1
            examples[command] = [line.strip() for line in lines[start:lines.index("", start)]]
        self.assertGreaterEqual(len(examples), 17)
        return examples

    def run_examples(self, *flags):
        """Each example with what it prints; `*flags` are added."""
        (self.folder / "images").mkdir()
        for i, image in enumerate(np.load(self.data)["image"][:16, 0]):
            (self.folder / "images" / f"{i}.jpg").write_bytes(jpeg(np.rint(image * 255)))
        with Server("--state-dir", self.folder / "state") as server:
            job = octavo("optimize", self.model, "--data", self.data, "-o", self.out, "--detach",
                         "--quiet", server=server.address).stdout.strip()
            octavo("watch", job, "--quiet", server=server.address)
            for command, lines in self.examples().items():
                self.assertTrue(lines, command)
                for line in lines:
                    words = [job if word == "ID" else word for word in shlex.split(
                        line.replace("127.0.0.1:50051", server.address))]
                    self.assertEqual(words[0], "octavo")
                    # The job has ended by then.
                    ended = "must be queued or running" if command == "cancel" else ""
                    result = self.run_octavo(*words[1:], *flags, code=2 if ended else 0)
                    self.assertIn(ended, result.stderr)
                    yield line, result

    def test_the_examples_of_the_help_run(self):
        self.assertGreaterEqual(len(list(self.run_examples())), 17)

    def test_every_command_answers_in_json(self):
        for line, result in self.run_examples("--json"):
            text = result.stdout or result.stderr  # an error is an object, too
            if line.startswith("octavo jobs") and not text:
                continue  # none is running
            with self.subTest(line):
                self.assertTrue(text)
                try:
                    json.loads(text)
                except ValueError:  # a line for each
                    for row in text.splitlines():
                        self.assertIsInstance(json.loads(row), dict)

    def test_the_blocks_of_the_page_run(self):
        page = (ROOT / "docs" / "command-line.md").read_text()
        programs = [str(pathlib.Path(each).resolve().parent) for each in (OCTAVO, OCTAVOD)]
        path = os.pathsep.join([*programs, os.environ["PATH"]])
        blocks = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
        self.assertGreaterEqual(len(blocks), 6)
        result = subprocess.run(["sh", "-eu", "-c", "\n".join(blocks)], cwd=self.folder, text=True,
                                capture_output=True, timeout=PATIENCE,
                                env=clean_environment(PATH=path), check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        for said in ("did you mean 'optimize'?", "did you mean '--keep-float'?",
                     "did you mean 'cpu-int8'?", "did you mean 'Gemm'?",
                     "did you mean '--listen'?", "did you mean 'lower'?",
                     "127.0.0.1:1 is unreachable", "3 nodes in float (2 MaxPool, 1 Gemm)",
                     "cannot be written at opset 12; it needs 13", "opset 99 is outside of"):
            self.assertIn(said, result.stderr)

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


if __name__ == "__main__":
    unittest.main()
