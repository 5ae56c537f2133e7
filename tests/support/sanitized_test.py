#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A report fails a test that does not notice it; PLANTED is a program with an error of each kind."""

import os
import pathlib
import subprocess
import sys
import unittest

SANITIZED = pathlib.Path(__file__).with_name("sanitized.py")
PLANTED = os.environ["PLANTED"]


def sanitized(script):
    return subprocess.run([sys.executable, "-B", SANITIZED, "sh", "-c", script],
                          capture_output=True, text=True, timeout=60)


class Reports(unittest.TestCase):
    def test_each_kind_fails_whatever_the_exit_code_says(self):
        for kind, words in (("use-after-free", "heap-use-after-free"),
                            ("leak", "LeakSanitizer: detected memory leaks"),
                            ("overflow", "signed integer overflow")):
            with self.subTest(kind):
                result = sanitized(f"{PLANTED} {kind} || true")
                self.assertEqual(result.returncode, 1)
                self.assertIn(words, result.stderr)
                self.assertIn("planted.cc", result.stderr)

    def test_without_one_the_exit_code_is_the_programs(self):
        self.assertEqual(sanitized(f"{PLANTED} nothing").returncode, 0)
        self.assertEqual(sanitized("exit 3").returncode, 3)


if __name__ == "__main__":
    unittest.main()
