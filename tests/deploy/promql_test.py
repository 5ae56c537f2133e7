#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""promql.py tells what the other tests here believe it tells."""

import unittest

import promql


class WithoutComparison(unittest.TestCase):
    def test_takes_the_left_side(self):
        self.assertEqual(promql.without_comparison('up{job="a"} < 1'), 'up{job="a"}')

    def test_sees_no_comparison_in_brackets_matchers_or_strings(self):
        self.assertEqual(promql.without_comparison('sum(a{x!="1", y=~"<"} > 2) / b >= 3'),
                         'sum(a{x!="1", y=~"<"} > 2) / b')

    def test_leaves_bool_alone(self):
        self.assertEqual(promql.without_comparison("a * (b > bool 0) >= 1"), "a * (b > bool 0)")
        self.assertIsNone(promql.without_comparison("b > bool 0"))

    def test_finds_none_where_there_is_none(self):
        self.assertIsNone(promql.without_comparison("rate(a[5m]) / b"))


class Metrics(unittest.TestCase):
    def test_are_neither_functions_labels_nor_durations(self):
        expression = ('histogram_quantile(0.9, sum by (instance, le) (rate(a_bucket{x="y"}[30m])))'
                      " / on (host) group_left (z) b > bool 2 or vector(1)")
        self.assertEqual(promql.metrics(expression), {"a_bucket", "b"})


if __name__ == "__main__":
    unittest.main()
