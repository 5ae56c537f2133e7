# SPDX-License-Identifier: Apache-2.0
"""A client of an earlier revision, by the messages that it sent, still gets its job done."""

import os
import subprocess
import unittest

import programs

RECORDED = programs.ROOT / "tests" / "data" / "recorded" / "optimize.bin"


class EarlierClient(unittest.TestCase):
    def test_its_messages_are_a_job_with_a_result(self):
        with programs.Server() as server:
            done = subprocess.run([os.environ["REPLAY_CALL"], server.address, RECORDED],
                                  capture_output=True, text=True, timeout=programs.PATIENCE)
        lines = done.stdout.splitlines()
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertEqual("accepted", lines[0])
        self.assertIn("result ROLE_OPTIMIZED_MODEL model.onnx", lines)
        self.assertEqual(["finished false", "status 0 "], lines[-2:])


if __name__ == "__main__":
    unittest.main()
