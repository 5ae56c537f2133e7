# SPDX-License-Identifier: Apache-2.0
"""The check of links sees what is missing, and takes nothing else for a path."""

import unittest

import check_links

FILES = {"core", "core/ir", "core/ir/graph.h", "core/ir/README.md", "docs/a.md", "README.md"}


def found(text, name="README.md"):
    return check_links.complaints(name, text, lambda path: path.rstrip("/") in FILES,
                                  {"core", "docs"})


class Links(unittest.TestCase):
    def test_a_link_to_nothing_is_reported_with_its_line(self):
        self.assertEqual(["README.md:2: there is no docs/b.md"], found("\n[b](docs/b.md)\n"))
        self.assertEqual(1, len(found("![picture](docs/b.png)\n")))

    def test_links_are_relative_to_their_file(self):
        self.assertEqual([], found("[graph](graph.h)\n", "core/ir/README.md"))
        self.assertEqual(1, len(found("[graph](graph.h)\n")))

    def test_anchors_and_other_sites_are_not_looked_at(self):
        self.assertEqual([], found("[a](docs/a.md#x) [b](#here) [c](https://example.org/x)\n"))


class Paths(unittest.TestCase):
    def test_a_path_in_code_must_exist(self):
        self.assertEqual([], found("`core/ir/graph.h`, `core/ir/`\n"))
        self.assertEqual(["README.md:1: there is no core/ir/op_map"], found("`core/ir/op_map`\n"))
        self.assertEqual(1, len(found("```\nless core/ir/op_map.h\n```\n")))

    def test_it_may_lack_the_suffix_or_be_relative_to_its_file(self):
        self.assertEqual([], found("`core/ir/graph`\n"))
        self.assertEqual([], found("`core/ir/`\n", "docs/a.md"))
        self.assertEqual([], check_links.complaints("tests/README.md", "`core/x/`\n",
                                                    lambda path: path == "tests/core/x",
                                                    {"core"}))

    def test_placeholders_and_other_words_with_slashes_are_not_paths(self):
        self.assertEqual([], found("`core/PASS/a.cc` `core/ir/NAME_test.cc`\n"))
        self.assertEqual([], found("`octavo/v1` `input/output`\n"))
        self.assertEqual([], found("core/prose is not code\n"))


if __name__ == "__main__":
    unittest.main()
