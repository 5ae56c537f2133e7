# SPDX-License-Identifier: Apache-2.0
"""The language check finds retired words in names and prose, and nothing else."""

import contextlib
import io
import pathlib
import re
import tempfile
import unittest

import check_language
import language_text
import language_words
import sources


def found(text, path="core/passes/a.cc"):
    """The words found, in the order of their lines."""
    return [re.search(r": '(.*)' is retired", line).group(1)
            for line in check_language.check_text(path, text)]


class Names(unittest.TestCase):
    def test_an_identifier_is_split_into_its_words(self):
        for name in ("RowLaws", "kLaws", "laws_", "row_laws", "HTMLLaws", "LAWS"):
            self.assertEqual(["laws"], found(f"int {name} = 0;\n"), name)

    def test_a_part_of_a_word_is_not_the_word(self):
        self.assertEqual([], found("int flaws, lawn, codec, encodes, quadrant, warehouse;\n"))

    def test_the_file_name_counts_as_line_0(self):
        self.assertEqual(
            ["core/passes/row_codes.cc:0: 'codes' is retired; write quantized values, stored "
             "integers"],
            [line for line in check_language.check_text("core/passes/row_codes.cc", "int x;\n")
             if "'codes'" in line])

    def test_the_line_is_that_of_the_word(self):
        self.assertIn("a.cc:3: ", check_language.check_text("a.cc", "\n\nint laws;\n")[0])


class Prose(unittest.TestCase):
    def test_a_phrase_may_run_over_a_line_break_of_a_comment(self):
        self.assertEqual(["brings near"], found("// a loop that brings\n// near what comes\n"))
        self.assertEqual(["in one type"], found("# kept in one\n# type\n", "a.py"))

    def test_words_of_prose_are_left_alone_in_names(self):
        self.assertEqual([], found("int payload_index = SetPayload(payload);\n"))
        self.assertEqual(["payload"], found("int x;  // the payload of a weight\n"))
        self.assertEqual(["payload"], found('Fail("the payload of {} is missing", name);\n'))
        self.assertEqual([], found('Read(json, "payload");\n'))

    def test_code_in_markdown_is_not_prose(self):
        self.assertEqual([], found("The field `payload_index`, `payload`.\n", "README.md"))
        self.assertEqual([], found("```\npayload ::= number\n```\n", "README.md"))
        self.assertEqual(["payload"], found("A constant's payload.\n", "README.md"))

    def test_every_kind_of_text_is_read(self):
        for path, text in (("a.py", '"""Nobody reads it."""\n'), ("a.sh", "# nobody\n"),
                           ("a.proto", "// nobody\n"), ("a.mjs", "/* nobody */\n"),
                           ("a.graph", "# nobody\n"), ("README.md", "Nobody.\n"),
                           ("a.yaml", "# nobody\n"), ("CMakeLists.txt", "# nobody\n")):
            self.assertEqual(1, len(found(text, path)), path)


class Exceptions(unittest.TestCase):
    def test_the_field_has_other_codes(self):
        for text in ("exit codes", "ErrorCodes", "status codes", "op codes", "warning codes",
                     "codes of the codebook"):
            self.assertEqual([], found(f"// {text}\n"), text)
        self.assertEqual(["codes"], found("// the exit codes of codes\n"))

    def test_an_exception_explains_the_place_and_not_the_line(self):
        self.assertEqual(["law"], found("std::promise<int> promise;\n// a law\n"))
        self.assertEqual(["promise"], found("// its promise\n"))

    def test_the_option_schema_keeps_its_name(self):
        self.assertEqual([], found('.add_option("--schema", options.schema)\n'))
        self.assertEqual([], found("const Job job({.schema = target::SchemeKind::kPow2});\n"))
        self.assertEqual([], found("wire.clear_schema();\n"))
        self.assertEqual([], found("// the attributes schema of an op\n"))
        self.assertEqual(["schema", "schema"], found("enum class Schema { kPow2 };  // a schema\n"))

    def test_a_reference_of_the_language_is_one(self):
        self.assertEqual([], found("// passed by reference\nstd::reference_wrapper<int> x;\n"))
        self.assertEqual([], found("// TFLite's reference kernels\n"))
        self.assertEqual(["reference"], found("// the float reference\n"))

    def test_every_exception_has_a_reason(self):
        for word in language_words.WORDS:
            self.assertTrue(word.write)
            for pattern, reason in word.right:
                re.compile(pattern)
                self.assertTrue(reason, pattern)


class RetiredWords(unittest.TestCase):
    SENTENCES = (
        "every law", "the pass's promise", "the codes of a row", "its reals", "modes beside onnx",
        "combined-up", "combined_down", "the hungriest job", "the House", "a shop", "quads of K",
        "brings it near", "that repay another thread", "nobody reads it", "what it alone reads",
        "the job's ending", "a kernel's tail", "a symmetric schema", "the payload of a constant",
        "the float reference", "every code of the type", "hands codes on", "kept in one type",
        "may stand for a Relu", "shows elements of", "too entangled", "runs on integers",
        "folds float models", "raises a Rescale", "packs ahead", "a joined part",
        "gives the type of its operand", "octavo_rows", "it is the user's word that",
    )

    def test_each_is_found(self):
        for text in self.SENTENCES:
            self.assertTrue(found(f"// {text}\n", "core/runtime/a.cc"), text)

    def test_each_row_finds_one_of_them(self):
        views = language_text.Views("core/runtime/a.cc",
                                    "".join(f"// {text}\n\n// .\n" for text in self.SENTENCES))
        for word in language_words.WORDS:
            self.assertTrue(list(word.find("core/runtime/a.cc", views)), word.pattern)


class Folders(unittest.TestCase):
    def test_an_unknown_folder_is_refused(self):
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(2, check_language.main(["core/no_such_folder"]))

    def test_a_finding_in_any_folder_fails_the_check(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            (root / "core/runtime").mkdir(parents=True)
            for text, status in (("A law.\n", 1), ("A rule.\n", 0)):
                (root / "core/runtime/README.md").write_text(text)
                with contextlib.redirect_stdout(io.StringIO()):
                    self.assertEqual(status, check_language.main([], root), text)

    def test_exempt_files_are_not_checked(self):
        self.assertFalse(check_language.checked("proto/google/rpc/status.proto"))
        self.assertTrue(check_language.checked("proto/octavo/v1/report.proto"))
        self.assertTrue(check_language.checked("core/ir/README.md"))


class Glossary(unittest.TestCase):
    TERMS = [line for line in (sources.ROOT / "docs/glossary.md").read_text().splitlines()
             if line.startswith("| ")][1:]

    def test_it_has_at_most_60_terms_in_order(self):
        terms = [line.split("|")[1].strip().lower() for line in self.TERMS]
        self.assertLessEqual(len(terms), 60)
        self.assertGreater(len(terms), 30)
        self.assertEqual(sorted(terms), terms)


if __name__ == "__main__":
    unittest.main()
