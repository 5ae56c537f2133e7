# SPDX-License-Identifier: Apache-2.0
"""Memory and bytes of large models: weights go to int8 in at most 1.3 times the model's bytes, and the
moments of layers, by which weights are rounded, take at most 256 MiB more.

Continuous integration runs 64 MiB; OCTAVO_MEBIBYTES=3072 is the benchmark, with one file past the
2 GiB that libprotobuf takes and one with external weights (it needs 8 GiB of disk in TMPDIR).
Measured so: 3097 MiB with external weights and 3099 in one file, 1.01 times.
"""

import os
import subprocess
import unittest

import numpy as np
from onnx import helper

import large_model
import models
import programs

MEBIBYTES = int(os.environ.get("OCTAVO_MEBIBYTES", "64"))
MOST_OF_MODEL = 1.3
PROGRAM = 64 * 2 ** 20  # what the program takes for itself, libraries included
MOMENTS = 256 * 2 ** 20
PATIENCE = 60 + MEBIBYTES  # seconds

# Prints the most bytes of resident memory that the command had.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
sys.exit(code)
"""


class Size(programs.Case):
    def peak(self, *arguments):
        command = ["/usr/bin/python3", "-c", MEASURE, programs.OCTAVO, *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE,
                                env=programs.clean_environment(TMPDIR=str(self.folder)))
        self.assertEqual(result.returncode, 0, result.stderr)
        return int(result.stdout.splitlines()[-1])

    def check_peak(self, external):
        model, out = self.folder / "large.onnx", self.folder / "out.onnx"
        size = large_model.write(model, MEBIBYTES, external)
        for rounding, more in (("nearest", 0), ("descent", MOMENTS)):
            peak = self.peak("optimize", model, "--data", "random:0:1", "-o", out, "--quiet",
                             "--rounding", rounding)
            print(f"{size / 2**20:.0f} MiB {'external weights' if external else 'in one file'}, "
                  f"{rounding}: at most {peak / 2**20:.0f} MiB resident, {peak / size:.2f} times")
            self.assertLess(peak, MOST_OF_MODEL * size + PROGRAM + more)
            self.assertLess(out.stat().st_size, 0.26 * size)

    def test_one_file_is_folded_within_its_bytes(self):
        self.check_peak(external=False)

    def test_external_weights_are_folded_within_their_bytes(self):
        self.check_peak(external=True)

    def test_equal_weights_are_stored_once(self):
        values = np.random.default_rng(3).normal(size=(256, 256))
        chain = models.model(
            [helper.make_node("MatMul", ["x", "w1"], ["h"], name="one"),
             helper.make_node("Tanh", ["h"], ["t"], name="between"),
             helper.make_node("MatMul", ["t", "w2"], ["y"], name="two")],
            [models.tensor("w1", values), models.tensor("w2", values)], inputs=(("x", [1, 256]),))
        path, out = self.folder / "twice.onnx", self.folder / "out.onnx"
        path.write_bytes(chain.SerializeToString())
        for kept, bytes_each in (((), 1), (("--keep-float", "MatMul"), 4)):
            result = programs.octavo("optimize", path, "--data", "random:0:2", "-o", out, "--quiet",
                                     "--rounding", "nearest", *kept)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertLess(out.stat().st_size, 1.5 * bytes_each * values.size)


if __name__ == "__main__":
    unittest.main()
