# SPDX-License-Identifier: Apache-2.0
"""--version of both programs, and where the revision in it comes from."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = (ROOT / "VERSION").read_text().strip()


def printed(program):
    environment = {**os.environ, "OCTAVO_ISA": "portable"}
    return subprocess.run([os.environ[program], "--version"], capture_output=True, check=True,
                          env=environment, text=True).stdout


class Programs(unittest.TestCase):
    def test_both_name_version_revision_build_type_and_instruction_set(self):
        pattern = re.compile(r"(octavod?) " + re.escape(VERSION) +
                             r" \(revision ([-0-9a-z._]+), (\w+), portable\)\n")
        octavo, octavod = (pattern.fullmatch(printed(name)) for name in ("OCTAVO", "OCTAVOD"))
        self.assertTrue(octavo, printed("OCTAVO"))
        self.assertTrue(octavod, printed("OCTAVOD"))
        self.assertEqual(("octavo", "octavod"), (octavo[1], octavod[1]))


class Revision(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = pathlib.Path(folder.name, "source")
        (self.source / "cmake").mkdir(parents=True)
        self.archive("$Format:%H$")
        self.out = pathlib.Path(folder.name, "revision.cc")

    def archive(self, text):
        (self.source / "cmake/archive_revision.txt").write_text(text + "\n")

    def git(self, *arguments):
        return subprocess.run(["git", "-C", self.source, "-c", "user.name=a", "-c", "user.email=a",
                               *arguments], capture_output=True, check=True, text=True).stdout

    def written(self, *settings):
        subprocess.run([os.environ["CMAKE"], f"-DSOURCE={self.source}", f"-DOUT={self.out}",
                        *settings, "-P", ROOT / "cmake/revision.cmake"], check=True)
        return re.search(r'return "(.*)";', self.out.read_text())[1]

    def test_a_folder_without_git_has_an_unknown_one(self):
        self.assertEqual("unknown", self.written())

    def test_an_archive_has_that_of_its_commit(self):
        self.archive("0123456789abcdef0123456789abcdef01234567")
        self.assertEqual("0123456789ab", self.written())

    def test_a_checkout_has_its_commit_and_says_when_it_was_changed(self):
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "first")
        commit = self.git("rev-parse", "HEAD")[:12]
        self.assertEqual(commit, self.written())
        self.archive("changed")
        self.assertEqual(commit + "-dirty", self.written())

    def test_a_given_one_goes_before_all(self):
        self.archive("0123456789abcdef0123456789abcdef01234567")
        self.assertEqual("image-test", self.written("-DREVISION=image-test"))

    def test_an_unchanged_one_leaves_the_file_untouched(self):
        self.written()
        os.utime(self.out, (1, 1))
        self.written()
        self.assertEqual(1, self.out.stat().st_mtime)
        self.written("-DREVISION=other")
        self.assertNotEqual(1, self.out.stat().st_mtime)

    def test_quotes_do_not_reach_the_source(self):
        self.assertEqual("unknown", self.written('-DREVISION=a"b'))


if __name__ == "__main__":
    unittest.main()
