#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The quickstart's accuracy is the accuracy, read from files as numpy writes them."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    print("skipped: no numpy")
    sys.exit(77)

TOP1 = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "top1.py"


def top1(logits, labels):
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, name) for name in ("logits.npy", "labels.npy")]
        for path, content in zip(paths, (logits, labels)):
            numpy.save(path, content)
        return subprocess.run([sys.executable, TOP1, *paths], capture_output=True, text=True,
                              check=False)


class Top1(unittest.TestCase):
    def test_is_what_numpy_says(self):
        generator = numpy.random.default_rng(3)
        labels = generator.integers(0, 10, 200)
        for kind in ("float32", "float64", "int8", "uint8"):
            logits = (generator.random((200, 10)) * 100).astype(kind)
            hits = int((logits.argmax(axis=1) == labels).sum())
            self.assertEqual(top1(logits, labels).stdout,
                             f"{hits / 2:.2f} %  ({hits} of 200)\n", kind)

    def test_refuses_files_that_do_not_go_together(self):
        result = top1(numpy.zeros((3, 10), "float32"), numpy.zeros(4, "int64"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("do not match labels", result.stderr)


if __name__ == "__main__":
    unittest.main()
