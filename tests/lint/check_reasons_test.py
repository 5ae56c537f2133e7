# SPDX-License-Identifier: Apache-2.0
"""The check of reasons knows the values of the enum and reports any other."""

import unittest

import check_reasons


class Reasons(unittest.TestCase):
    def test_values_of_the_enum_are_known_without_their_prefix(self):
        proto = "enum ErrorReason {\n  ERROR_REASON_CYCLE = 4;\n  // ERROR_REASON_NONE\n}\n"
        self.assertEqual({"CYCLE"}, check_reasons.known(proto))

    def test_another_reason_is_reported_in_each_form(self):
        for text in ('Fail(code, "x").Reason("LOOP");', 'Error{.reason = "LOOP"};'):
            self.assertEqual(1, len(check_reasons.complaints("core/a.cc", text, {"CYCLE"})), text)
            self.assertEqual([], check_reasons.complaints("core/a.cc", text, {"LOOP"}), text)


if __name__ == "__main__":
    unittest.main()
