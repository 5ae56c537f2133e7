#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Floods of connections, calls and frames: who is honest is still served, memory stays small, and
afterwards everything is given back.  Prints a row of tests/faults/README.md for each."""

import os
import resource
import tempfile
import time
import unittest

import floods
from server import MIB, Server, percentile

CHECKS = int(os.environ.get("OCTAVO_FAULT_CHECKS", "100"))
MOST_GROWTH = 150 * MIB
MOST_KEPT = 50 * MIB  # when the flood is over
JOB_SECONDS = 10
PATIENCE = 60


def raise_descriptor_limit():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16384), hard))


class Floods(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise_descriptor_limit()

    def wait_for(self, what, holds):
        end = time.monotonic() + PATIENCE
        while not holds():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.05)

    def survives(self, flood, connections):
        with Server() as server, tempfile.TemporaryDirectory() as folder:
            server.honest_job(folder)
            quiet = server.health(20)
            memory, descriptors = server.resident(), server.descriptors()
            server.forget_peak()
            with flood(server.address, connections) as crowd:
                taken = server.health(CHECKS)
                job = server.honest_job(folder)
                peak = server.peak()
            self.wait_for("descriptors are given back",
                          lambda: server.descriptors() <= descriptors + 8)
            self.wait_for("memory is given back",
                          lambda: server.resident() <= memory + MOST_KEPT)
            print(f"{flood.__name__}: {connections} connections, {crowd.refused} refused, "
                  f"{crowd.rounds} rounds; health p50 {1e3 * percentile(taken, 0.5):.1f} ms, "
                  f"p99 {1e3 * percentile(taken, 0.99):.1f} ms (quiet "
                  f"{1e3 * percentile(quiet, 0.5):.1f}); job {job:.2f} s; "
                  f"memory {(peak - memory) / MIB:+.1f} MiB; threads {server.threads()}",
                  flush=True)
            self.assertLess(peak - memory, MOST_GROWTH)
            self.assertLess(job, JOB_SECONDS)

    def test_connections_that_say_nothing(self):
        self.survives(floods.Silent, 2000)

    def test_connections_that_make_no_call(self):
        self.survives(floods.Idle, 2000)

    def test_callers_that_never_read(self):
        self.survives(floods.NeverRead, 100)

    def test_uploads_that_drip(self):
        self.survives(floods.Drip, 200)

    def test_pings(self):
        self.survives(floods.Pings, 4)

    def test_settings(self):
        self.survives(floods.Settings, 4)

    def test_calls_that_are_reset_at_once(self):
        self.survives(floods.Resets, 4)

    def test_heads_without_an_end(self):
        self.survives(floods.Headers, 4)

    def test_jobs_that_are_cancelled_at_once(self):
        self.survives(floods.SubmitAndCancel, 8)


if __name__ == "__main__":
    unittest.main()
