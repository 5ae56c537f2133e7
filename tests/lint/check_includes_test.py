# SPDX-License-Identifier: Apache-2.0
"""The check of includes knows what a header provides and what a file uses."""

import pathlib
import tempfile
import unittest

import check_includes

HEADER = """#pragma once
#include <string>
#define OCTAVO_LIMIT 3
namespace octavo {
/* Comment: struct Hidden; */
struct Graph { void Method(); int member; };
enum class Mode { kA, kB };
using Names = int;
inline constexpr int kMany = 7;
std::string Print(const Graph& graph);
template <typename T> T Twice(T value) { return value + helper(value); }
}  // namespace octavo
"""


class Provided(unittest.TestCase):
    def test_names_at_namespace_scope_and_macros(self):
        names = check_includes.provided(HEADER)
        for name in ("OCTAVO_LIMIT", "Graph", "Mode", "Names", "kMany", "Print", "Twice"):
            self.assertIn(name, names)

    def test_members_locals_and_comments_are_not_provided(self):
        names = check_includes.provided(HEADER)
        for name in ("Method", "member", "helper", "Hidden"):
            self.assertNotIn(name, names)

    def test_headers_of_specializations_and_operators_are_not_judged(self):
        self.assertEqual(set(), check_includes.provided(
            "struct A {};\nbool operator==(A a, A b);\n"))
        self.assertEqual(set(), check_includes.provided("template <> struct hash<A> {};\n"))


class Findings(unittest.TestCase):
    def check(self, source, name="user.cc"):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "graph.h").write_text(HEADER)
            (root / "rows.def").write_text("ROW(Graph)\n")
            (root / name).write_text(source)
            return check_includes.check(check_includes.Tree(root), name)

    def test_an_unused_header_is_named_with_its_line(self):
        self.assertEqual(["user.cc:2: no name of graph.h is used"],
                         self.check('\n#include "graph.h"\nint main() {}\n'))
        self.assertEqual(["user.cc:1: no name of map is used"],
                         self.check("#include <map>\nint map_size;\n"))

    def test_a_used_header_is_no_finding(self):
        self.assertEqual([], self.check('#include "graph.h"\nGraph g;\n'))
        self.assertEqual([], self.check("#include <map>\nstd::map<int, int> m;\n"))

    def test_comments_and_literals_use_nothing(self):
        self.assertEqual(1, len(self.check('#include "graph.h"\n// Graph\n')))
        self.assertEqual(1, len(self.check('#include "graph.h"\nauto s = "Graph";\n')))

    def test_a_table_of_macros_uses_names(self):
        self.assertEqual([], self.check('#include "graph.h"\n#include "rows.def"\n'))

    def test_a_source_keeps_its_own_header(self):
        self.assertEqual([], self.check('#include "graph.h"\n', "graph.cc"))
        self.assertEqual([], self.check('#include "graph.h"\n', "graph_test.cc"))


if __name__ == "__main__":
    unittest.main()
