#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All floods at once, on few connections, against an octavod of a sanitized build: its report of an
error or of a leak fails the test (tests/support/sanitized.py).  Memory, which a sanitizer multiplies,
and times are not looked at."""

import contextlib
import signal
import tempfile
import time
import unittest

import floods
import rubbish
from server import Server


def gentle(flood, **less):
    """The same flood with a pause: a sanitized server answers a tenth as fast."""
    return type(flood.__name__, (flood,), {"pause": 0.2, **less})


CROWDS = ((floods.Silent, 20), (floods.Idle, 20), (floods.NeverRead, 4), (floods.Drip, 8),
          (gentle(floods.Pings), 1), (gentle(floods.Settings), 1),
          (gentle(floods.Resets, calls=100), 1), (gentle(floods.Headers), 1),
          (gentle(floods.SubmitAndCancel), 4), (rubbish.RandomFrames, 4),
          (rubbish.RandomBytes, 4), (rubbish.DamagedMessages, 4))
CHECKS = 10
ROUNDS = 10
PATIENCE = 60


class Sanitized(unittest.TestCase):
    def wait_for_rounds(self, crowds):
        end = time.monotonic() + PATIENCE
        while any(crowd.rounds < ROUNDS for crowd in crowds if isinstance(crowd, rubbish.Rubbish)):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)

    def survives(self, *flags):
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            server = stack.enter_context(
                Server("--state-dir", folder, "--drain-timeout", "2", *flags))
            server.honest_job(folder)
            crowds = [stack.enter_context(flood(server.address, connections))
                      for flood, connections in CROWDS]
            crowds.append(stack.enter_context(rubbish.RandomBytes(server.metrics, 4)))
            server.health(CHECKS)
            server.honest_job(folder)
            self.wait_for_rounds(crowds)
            # In the midst of it.
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(PATIENCE), 0, server.read_log())

    def test_floods_while_jobs_run_in_processes(self):
        self.survives()

    def test_floods_while_jobs_run_in_threads(self):
        self.survives("--isolation", "thread")


if __name__ == "__main__":
    unittest.main()
