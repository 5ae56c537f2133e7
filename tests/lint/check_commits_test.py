# SPDX-License-Identifier: Apache-2.0
"""The check of commit messages refuses what it must and accepts ordinary messages."""

import unittest

import check_commits


def found(message):
    return check_commits.complaints("abc", message)


class Messages(unittest.TestCase):
    def test_an_ordinary_message_is_accepted(self):
        for subject in ("job: pass options as enums", "core/onnx, tests: add folders",
                        "ops: need one row per operator", "build: process headers once"):
            self.assertEqual([], found(subject + "\n\nWhy.\n"), subject)

    def test_a_subject_is_at_most_72_characters(self):
        self.assertEqual([], found("job: " + "x" * 67 + "\n\nWhy.\n"))
        self.assertIn("73 characters", found("job: " + "x" * 68 + "\n\nWhy.\n")[0])

    def test_the_area_is_named(self):
        self.assertIn("area: imperative", found("Add options\n\nWhy.\n")[0])

    def test_the_first_word_is_an_imperative(self):
        for word in ("added", "adding", "adds", "options"):
            self.assertIn("no imperative", found(f"job: {word} a table\n\nWhy.\n")[0], word)

    def test_a_body_follows_a_blank_line(self):
        self.assertIn("body", found("job: add a table\n")[0])
        self.assertIn("blank line", found("job: add a table\nWhy.\n")[0])


if __name__ == "__main__":
    unittest.main()
