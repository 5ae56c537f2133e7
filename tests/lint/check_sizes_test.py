# SPDX-License-Identifier: Apache-2.0
"""The size check sees what it must see, and takes nothing else for a function."""

import unittest

import check_sizes
import cpp_text


def body(lines):
    return "{\n" + "  Step();\n" * (lines - 2) + "}\n"


def names(text):
    return [name for name, _, _ in cpp_text.functions(text)]


class Files(unittest.TestCase):
    def test_the_limit_itself_is_too_long(self):
        self.assertEqual([], check_sizes.check_text("core/a.cc", "int x;\n" * 399))
        self.assertEqual(["core/a.cc: 400 lines, must stay under 400"],
                         check_sizes.check_text("core/a.cc", "int x;\n" * 400))

    def test_the_licence_line_is_not_counted(self):
        text = check_sizes.LICENSE + "Apache-2.0\n" + "int x;\n" * 399
        self.assertEqual([], check_sizes.check_text("core/a.cc", text))


class Lengths(unittest.TestCase):
    def test_the_limit_itself_is_too_long(self):
        self.assertEqual([], check_sizes.check_text("a.cc", "void Run() " + body(59)))
        self.assertEqual(["a.cc:3: Run has 60 lines, must stay under 60"],
                         check_sizes.check_text("a.cc", "int x;\n\nvoid Run() " + body(60)))

    def test_inside_namespace_and_class(self):
        text = "namespace a {\nclass B {\n public:\n  B() : c_(1), d_{2} " + body(70) + "};\n}\n"
        self.assertEqual(["a.cc:4: B has 70 lines, must stay under 60"],
                         check_sizes.check_text("a.cc", text))

    def test_tests_are_functions_too(self):
        found = check_sizes.check_text("a.cc", "TEST(Job, StopsWhenTold) " + body(61))
        self.assertEqual(["a.cc:1: TEST(Job, StopsWhenTold) has 61 lines, must stay under 60"],
                         found)

    def test_a_long_table_is_not_a_function(self):
        table = "constexpr Row kRows[] = {\n" + '    {"a", F(1)},\n' * 80 + "};\n"
        self.assertEqual([], check_sizes.check_text("a.cc", table))


class Finding(unittest.TestCase):
    def test_every_way_to_end_a_header(self):
        headers = ["int A::F() const", "auto G() -> std::vector<int>", "H() noexcept",
                   "void I() override", "bool operator()(int x) const",
                   "template <class T>\nT J(T x)\n  requires std::integral<T>",
                   'extern "C" int K(const char* data)']
        for header in headers:
            self.assertEqual(1, len(names(header + " {\n}\n")), header)

    def test_scopes_and_values_are_not_functions(self):
        headers = ["namespace a", "struct alignas(16) B", "enum class C : int", 'extern "C"',
                   "class D : public Base<int>", "constexpr Row kRow", "Row r ="]
        for header in headers:
            self.assertEqual([], names(header + " {\n}\n"), header)

    def test_members_set_with_braces_belong_to_the_header(self):
        text = "A::A(int x) : a_{x}, b_{1, {2}} {\n  Run();\n}\nvoid Next() {}\n"
        self.assertEqual(2, len(names(text)))
        self.assertEqual("A::A", names(text)[0])

    def test_braces_in_literals_and_comments_do_not_count(self):
        text = ("void F() {\n  Print(\"{{{\");\n  char c = '{';  // {\n  /* { */\n"
                '  auto r = R"x({ ")" )x";\n  int n = 1\'000\'000;\n}\nvoid G() {}\n')
        self.assertEqual(["F", "G"], names(text))

    def test_a_lambda_in_a_table_is_a_function(self):
        text = "const Row kRows[] = {{1, [](int x) {\n" + "  Step();\n" * 80 + "}}};\n"
        self.assertEqual(1, len(check_sizes.check_text("a.cc", text)))

    def test_a_folder_counts_code_and_nothing_else(self):
        line = "int x;\n// why\n\n"
        self.assertEqual([], check_sizes.check_folders({"core/verify/a.cc": line * 1999}))
        found = check_sizes.check_folders({"core/verify/a.cc": line * 1000,
                                           "core/verify/b.h": line * 1000,
                                           "core/verifying/c.cc": line * 9})
        self.assertEqual(["core/verify: 2000 lines of code, must stay under 2000"], found)


if __name__ == "__main__":
    unittest.main()
