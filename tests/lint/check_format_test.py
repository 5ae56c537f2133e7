# SPDX-License-Identifier: Apache-2.0
"""The format check refuses a badly laid out file and accepts a good one."""

import pathlib
import shutil
import sys
import tempfile
import unittest

import check_format
import sources

TOOL = check_format.formatter()


class Format(unittest.TestCase):
    def check(self, text):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            shutil.copy(sources.ROOT / ".clang-format", root)
            (root / "a.cc").write_text(text)
            return check_format.check_files(TOOL, root, ["a.cc"])

    def test_good_file(self):
        self.assertEqual([], self.check("int Twice(int x) { return 2 * x; }\n"))

    def test_bad_file(self):
        found = self.check("int Twice( int x ){\n\treturn 2*x ;}\n")
        self.assertTrue(found)
        self.assertTrue(all("a.cc" in line for line in found))

    def test_a_file_that_cannot_be_read_is_a_complaint(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertTrue(check_format.check_files(TOOL, pathlib.Path(folder), ["absent.cc"]))


if __name__ == "__main__":
    if TOOL is None:
        sys.exit(check_format.SKIPPED)
    unittest.main()
