# SPDX-License-Identifier: Apache-2.0
"""The licence check accepts every kind of comment and reports a file without the line."""

import unittest

import check_license


class Files(unittest.TestCase):
    def test_each_kind_of_comment_is_accepted(self):
        for text in ("// SPDX-License-Identifier: Apache-2.0\n#pragma once\n",
                     "# SPDX-License-Identifier: Apache-2.0\nadd_library(a)\n",
                     "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\nset -eu\n"):
            self.assertEqual([], check_license.complaints("a", text))

    def test_a_file_without_it_or_with_it_further_down_is_reported(self):
        for text in ("", "#pragma once\n", "// MIT\n",
                     "int x;\nint y;\n// SPDX-License-Identifier: Apache-2.0\n"):
            self.assertEqual(1, len(check_license.complaints("core/a.h", text)), text)

    def test_copies_of_other_projects_are_left_out(self):
        self.assertFalse(check_license.is_source("proto/google/rpc/status.proto"))
        self.assertTrue(check_license.is_source("proto/octavo/v1/options.proto"))
        self.assertFalse(check_license.is_source("README.md"))


if __name__ == "__main__":
    unittest.main()
