#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds #include lines of whose header a file uses no name.

    check_includes.py              the whole tree

clang-tidy 14 has no misc-include-cleaner, and parsing every file takes an hour, so this check reads
text: a header of this project provides the names that it declares at namespace scope and its
macros; the standard headers in STANDARD provide the listed names.  An include is a finding if none
of these names occurs in the file.  A header whose names cannot be told (none found) is not judged,
and neither is a source's own header, which it includes to be checked against.
"""

import pathlib
import re
import sys

import sources

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"([^"]+)"|<([^>]+)>)(.*)$', re.MULTILINE)
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'',
                     re.DOTALL)
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$', re.MULTILINE)
MACRO = re.compile(r'^[ \t]*#[ \t]*define[ \t]+(\w+)', re.MULTILINE)
KEYWORDS = set("if for while switch return sizeof static_assert decltype noexcept requires explicit "
               "operator alignas const constexpr inline static extern template typename auto void "
               "default delete override final int bool char float double unsigned signed".split())

# Names by which a file uses a standard header; only headers whose use a name can tell.
STANDARD = {
    "algorithm": r"all_of|any_of|none_of|find\w*|count\w*|copy\w*|fill\w*|transform|generate\w*|"
                 r"remove\w*|replace\w*|reverse\w*|rotate\w*|unique\w*|sort\w*|stable_\w+|partial_\w+|"
                 r"nth_element|lower_bound|upper_bound|equal\w*|binary_search|merge|inplace_merge|min|"
                 r"max|minmax\w*|min_element|max_element|clamp|is_sorted\w*|mismatch|search\w*|"
                 r"swap_ranges|shuffle|for_each\w*|includes|set_\w+|push_heap|pop_heap|make_heap|"
                 r"lexicographical_compare\w*|next_permutation|prev_permutation|is_permutation|move|"
                 r"partition\w*|adjacent_find|contains|ranges",
    "array": r"array|to_array",
    "atomic": r"atomic\w*|memory_order\w*",
    "bit": r"bit_cast|bit_ceil|bit_width|bit_floor|countl_\w+|countr_\w+|popcount|endian|"
           r"has_single_bit|rot[lr]",
    "cassert": r"assert",
    "cctype": r"is\w+|to(?:lower|upper)",
    "cerrno": r"errno|E[A-Z0-9]+",
    "charconv": r"from_chars\w*|to_chars\w*|chars_format",
    "chrono": r"chrono|\d+(?:ms|us|ns|min|h|s)",
    "cmath": r"f?abs|l?l?round\w*|floor|ceil|trunc\w*|sqrt|cbrt|exp\w*|log\w*|pow|a?sinh?|a?cosh?|"
             r"a?tanh?|atan2|fma|fmod|f?min|f?max|is(?:nan|inf|finite|normal)|signbit|copysign|"
             r"nextafter|ldexp|frexp|scalbn?|ilogb|erfc?|lgamma|tgamma|hypot|remainder|nearbyint|l?l?rint|"
             r"modf|nan|NAN|INFINITY|fdim|HUGE_VAL\w*|M_\w+",
    "compare": r"strong_ordering|weak_ordering|partial_ordering|operator<=>|three_way\w*",
    "condition_variable": r"condition_variable\w*|cv_status",
    "csignal": r"SIG\w+|signal|raise|sigaction|kill|sig_atomic_t",
    "cstddef": r"size_t|ptrdiff_t|byte|nullptr_t|max_align_t|offsetof",
    "cstdint": r"u?int(?:8|16|32|64|max|ptr|_\w+)_t|U?INT\w+",
    "cstdio": r"f?printf|snprintf|FILE|std(?:out|err|in)|f(?:open|close|read|write|flush|puts|putc|gets|"
              r"seek|tell)|puts|putchar|remove|rename|perror|fileno|EOF|popen|pclose|tmpfile",
    "cstdlib": r"abs|exit|_exit|abort|getenv|malloc|free|calloc|realloc|aligned_alloc|posix_memalign|"
               r"ato[ifl]l?|strto\w+|system|setenv|unsetenv|mkdtemp|mkstemp\w*|atexit|div|EXIT_\w+|rand|"
               r"srand|l?labs|realpath|quick_exit",
    "cstring": r"mem(?:cpy|set|cmp|move|chr)|str(?:len|cmp|ncmp|cpy|ncpy|cat|chr|rchr|str|error|signal|"
               r"dup|tok)\w*",
    "deque": r"deque",
    "exception": r"exception\w*|current_exception|rethrow_exception|terminate|uncaught_exceptions",
    "filesystem": r"filesystem|fs",
    "fmt/format.h": r"fmt|formatter",
    "fmt/ranges.h": r"join|fmt",
    "fstream": r"[io]?fstream|filebuf",
    "functional": r"function|hash|plus|minus|multiplies|divides|greater\w*|less\w*|equal_to|ref|cref|"
                  r"bind\w*|invoke\w*|identity|mem_fn|reference_wrapper|not_fn|logical_\w+|bit_\w+|"
                  r"negate|modulus|not_equal_to",
    "future": r"future\w*|promise|async|packaged_task|shared_future|launch",
    "gmock/gmock.h": r"EXPECT_THAT|ASSERT_THAT|MOCK_METHOD|testing",
    "gtest/gtest.h": r"TEST\w*|EXPECT_\w+|ASSERT_\w+|testing|RUN_ALL_TESTS|INSTANTIATE_\w+|ADD_FAILURE\w*|"
                     r"GTEST_\w+|SCOPED_TRACE|FAIL|SUCCEED|TYPED_TEST\w*",
    "initializer_list": r"initializer_list",
    "iostream": r"cout|cerr|cin|clog|ios\w*",
    "iterator": r"\w*_iterator\w*|inserter|back_inserter|front_inserter|distance|advance|next|prev|begin|"
                r"end|r?c?begin|r?c?end|ssize|iter_\w+",
    "limits": r"numeric_limits",
    "map": r"map|multimap",
    "memory": r"unique_ptr|shared_ptr|weak_ptr|make_unique\w*|make_shared\w*|allocator\w*|addressof|"
              r"enable_shared_from_this|destroy\w*|uninitialized_\w+|construct_at|align|"
              r"pointer_traits|assume_aligned|static_pointer_cast|to_address",
    "mutex": r"mutex|lock_guard|unique_lock|scoped_lock|once_flag|call_once|recursive_mutex|lock|"
             r"try_lock|defer_lock|adopt_lock",
    "new": r"bad_alloc|nothrow|align_val_t|launder|new|set_new_handler|bad_array_new_length",
    "numbers": r"numbers",
    "numeric": r"accumulate|iota|inner_product|partial_sum|reduce|gcd|lcm|midpoint|transform_reduce|"
               r"adjacent_difference|inclusive_scan|exclusive_scan|\w+_scan",
    "optional": r"optional|nullopt|make_optional|in_place",
    "ostream": r"ostream|endl|flush",
    "queue": r"queue|priority_queue",
    "random": r"mt19937\w*|\w+_distribution|random_device|\w*_engine|seed_seq|minstd_rand0?",
    "regex": r"regex\w*|smatch|cmatch|sregex_\w+",
    "set": r"set|multiset",
    "span": r"span|as_bytes|as_writable_bytes|dynamic_extent",
    "sstream": r"[io]?stringstream|stringbuf",
    "string": r"string|to_string|sto[iluf]\w*|getline|char_traits|basic_string|u?string_literals|npos",
    "string_view": r"string_view|basic_string_view|sv",
    "system_error": r"error_code|system_error|errc|generic_category|make_error_code|error_category|"
                    r"system_category",
    "thread": r"thread|jthread|this_thread|stop_token|stop_source",
    "tuple": r"tuple|tie|make_tuple|get|apply|ignore|tuple_\w+|forward_as_tuple",
    "type_traits": r"is_\w+|remove_\w+|add_\w+|conditional\w*|enable_if\w*|decay\w*|underlying_type\w*|"
                   r"make_(?:un)?signed\w*|invoke_result\w*|common_type\w*|true_type|false_type|void_t|"
                   r"integral_constant|type_identity\w*|conjunction\w*|disjunction\w*|negation\w*|"
                   r"has_unique_object_representations\w*",
    "unordered_map": r"unordered_map|unordered_multimap",
    "unordered_set": r"unordered_set|unordered_multiset",
    "utility": r"move|pair|swap|forward\w*|exchange|make_pair|in_place\w*|index_sequence\w*|"
               r"make_index_sequence|integer_sequence|as_const|cmp_\w+|in_range|declval|"
               r"piecewise_construct|to_underlying|unreachable|get",
    "variant": r"variant\w*|visit|get_if|holds_alternative|monostate|get",
    "vector": r"vector",
}


def plain(text):
    """`text` without comments and literals; lines stay."""
    return COMMENT.sub(lambda match: re.sub(r"[^\n]+", " ", match.group()), text)


def scope_text(code):
    """What stands at namespace scope: bodies of functions and classes become `{}`."""
    kept = []
    depth = []          # for each open brace: does it open a namespace?
    begin = 0           # of the current statement in `kept`
    for token in re.findall(r"[{};]|[^{};]+", DIRECTIVE.sub("", code)):
        outside = all(depth)
        if token == "{":
            statement = "".join(kept[begin:])
            space = outside and re.search(r"\bnamespace\b[\w:\s]*$|\bextern\s*$|\benum\b[^;(]*$", statement)
            depth.append(bool(space))
            if outside:
                kept.append("{")
                if space:
                    begin = len(kept)
        elif token == "}":
            if depth:
                depth.pop()
            if all(depth):
                kept.append("};")
                begin = len(kept)
        elif outside:
            kept.append(token)
            if token == ";":
                begin = len(kept)
    return "".join(kept)


def provided(text):
    """Names that the header `text` declares at namespace scope, and its macros."""
    code = plain(text)
    scope = scope_text(code)
    names = set(MACRO.findall(code))
    names |= set(re.findall(r"\b(?:class|struct|union|using|enum|concept)\s+(?:class\s+)?(\w+)", scope))
    names |= set(re.findall(r"\b(\w+)\s*\(", scope))
    names |= set(re.findall(r"\b(\w+)\s*(?:=|\[|,|\{|\})", scope))
    names |= set(re.findall(r"[\w>&*]\s+(\w+)\s*;", scope))
    # A specialization or an overload is used without being named again.
    if re.search(r"\btemplate\s*<\s*>|\boperator\b", scope):
        return set()
    return {name for name in names if name not in KEYWORDS and not name.isdigit()}


def own_header(path, header):
    stem = pathlib.PurePath(path).with_suffix("").name
    return pathlib.PurePath(header).with_suffix("").name in (stem, re.sub(r"_test$", "", stem))


class Tree:
    """The headers below `root`, each read once."""

    def __init__(self, root):
        self.root = root
        self._names = {}

    def names(self, header):
        """A pattern of the names of `header`, or None where it is not judged."""
        if header not in self._names:
            self._names[header] = self._pattern(header)
        return self._names[header]

    def _pattern(self, header):
        if header in STANDARD:
            return re.compile(r"(?<!\w)(?:" + STANDARD[header] + r")(?!\w)")
        path = self.root / header
        if not header.endswith(".h") or not path.is_file():
            return None
        names = provided(path.read_text(encoding="utf-8"))
        if not names:
            return None
        return re.compile(r"\b(?:" + "|".join(sorted(names)) + r")\b")


def check(tree, path):
    """Findings of one file, as lines to print."""
    text = (tree.root / path).read_text(encoding="utf-8")
    code = plain(INCLUDE.sub("", text))
    for match in INCLUDE.finditer(text):
        table = tree.root / (match[1] or match[2])
        if table.suffix == ".def" and table.is_file():
            code += plain(table.read_text(encoding="utf-8"))
    found = []
    for match in INCLUDE.finditer(text):
        header = match[1] or match[2]
        if "IWYU pragma" in match[3] or own_header(path, header):
            continue
        pattern = tree.names(header)
        if pattern and not pattern.search(code):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{path}:{line}: no name of {header} is used")
    return found


def main():
    tree = Tree(sources.ROOT)
    files = sources.cpp_files()
    found = [line for path in files for line in check(tree, path)]
    print("\n".join(found + [f"{len(files)} files, {len(found)} findings"]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
