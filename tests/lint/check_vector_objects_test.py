# SPDX-License-Identifier: Apache-2.0
"""The check of vector objects accepts tables and local functions and reports shared ones."""

import unittest

import check_vector_objects

LOCAL = "0000000000000000 t octavo::report::(anonymous namespace)::Clean(long)\n"
TABLE = "0000000000000000 R octavo::report::avx2::kPairLoops\n"


class Symbols(unittest.TestCase):
    def test_a_table_and_local_functions_are_accepted(self):
        self.assertEqual([], check_vector_objects.complaints("a.o", LOCAL + TABLE))

    def test_an_inline_function_of_a_shared_header_is_reported(self):
        listing = TABLE + "0000000000000000 W float const& std::min<float>(float const&)\n"
        self.assertEqual(["a.o: defines float const& std::min<float>(float const&), "
                          "which other files may share"],
                         check_vector_objects.complaints("a.o", listing))

    def test_an_external_function_is_reported(self):
        listing = "0000000000000000 T octavo::report::Clean(long)\n"
        self.assertEqual(["a.o: octavo::report::Clean(long) must have internal linkage"],
                         check_vector_objects.complaints("a.o", listing))

    def test_only_objects_for_one_instruction_set_are_examined(self):
        folder = "core/report/CMakeFiles/octavo_report_pair_loops_"
        self.assertTrue(check_vector_objects.is_vector_object(folder + "avx2.dir/pair_loops.cc.o"))
        self.assertFalse(
            check_vector_objects.is_vector_object(folder + "portable.dir/pair_loops.cc.o"))
        self.assertTrue(check_vector_objects.is_vector_object("core/int8.dir/tiles_vnni.cc.o"))


if __name__ == "__main__":
    unittest.main()
