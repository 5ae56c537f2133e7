#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wall clock jumps by a day, forth and back, while the service works: jobs, kept results,
partial uploads, the list of jobs that crashed and the drain go on as if nothing had happened."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

import numpy as np
from onnx import helper

import crash
import disturb
import http2
import models
from disturb import DAY
from server import MIB, Server, children, metric, programs

PATIENCE = 30
SIDE = 1024  # the weight has 4 MiB
SWEEP = 5.5  # a little more than the period of the store's sweep


class Clock(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.state = self.folder / "state"
        self.state.mkdir()
        self.disturbance = disturb.Disturbance(self.folder, self.state)

    def serve(self, *flags, **more):
        server = Server("--state-dir", self.state, *flags, **self.disturbance.environment, **more)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    def job(self, server, seed, *flags):
        result, output = crash.optimize(self.folder, f"job{seed}", seed, server.address,
                                        "--retry-for", "0", "--json", *flags)
        self.assertEqual(result.returncode, 0, f"{result.stderr}\n{server.read_log()[-2000:]}")
        return json.loads(result.stdout)["source"], output.read_bytes()

    def start(self, *arguments):
        process = subprocess.Popen([programs.OCTAVO, *map(str, arguments)], text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env=programs.clean_environment())
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def long_job(self, server, samples, *flags):
        process = self.start("optimize", programs.DIGITS / "model.onnx", "--data",
                             f"random:1:{samples}", "-o", self.folder / "long.onnx", "--server",
                             server.address, *flags)
        end = time.monotonic() + PATIENCE
        while metric(server, "octavo_jobs_running") == 0 and process.poll() is None:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        return process

    def test_jobs_and_kept_results(self):
        server = self.serve()
        _, expected = self.job(server, 0)
        for days in (1, -1, 0):
            running = self.long_job(server, 3000, "--timeout", "60", "--no-cache")
            self.disturbance.clock(days * DAY)
            source, output = self.job(server, 0, "--timeout", "20")
            self.assertEqual((source, output), ("cache", expected))
            self.assertEqual(self.job(server, 0, "--no-cache"), ("executed", expected))
            http2.check_health(server.address, patience=5)
            _, errors = running.communicate(timeout=PATIENCE)
            self.assertEqual(running.returncode, 0, errors)
        lines = [json.loads(line) for line in server.read_log().splitlines()]
        days = {line["time"][:len("2026-01-31")] for line in lines}
        self.assertGreaterEqual(len(days), 3)  # the clock did jump
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(PATIENCE)
        self.assertEqual(server.process.returncode, 0)
        self.assertLess(time.monotonic() - began, 10)

    def test_partial_uploads(self):
        """An upload that broke a moment ago goes on after a jump, also in another server."""
        weight = np.random.default_rng(1).normal(size=(SIDE, SIDE))
        model = models.model([helper.make_node("MatMul", ["x", "w"], ["y"], name="m")],
                             [models.tensor("w", weight)], inputs=(("x", [1, SIDE]),))
        file = self.folder / "m.onnx"
        file.write_bytes(model.SerializeToString())
        server = self.serve(OCTAVO_FAILPOINT="store.write:kill@4")
        client = self.start("optimize", file, "--data", "random:1", "-o", self.folder / "o.onnx",
                            "--server", server.address, "--retry-for", "0")
        server.process.wait(PATIENCE)
        client.communicate(timeout=PATIENCE)
        # Ahead by a day at the start; then a day behind at the start, and a jump forward.
        for at_start, later in ((1, 1), (-1, 0)):
            self.disturbance.clock(at_start * DAY)
            server = self.serve()
            self.disturbance.clock(later * DAY)
            time.sleep(SWEEP)
            kept = sum(each.stat().st_size for each in (self.state / "partial").iterdir())
            self.assertGreaterEqual(kept, 2 * MIB, f"from {at_start} to {later} days")
            server.__exit__()
        server = self.serve()
        client = self.start("optimize", file, "--data", "random:1", "-o", self.folder / "o.onnx",
                            "--server", server.address)
        _, errors = client.communicate(timeout=PATIENCE)
        self.assertEqual(client.returncode, 0, errors)
        self.assertEqual(metric(server, "octavo_upload_resumed_total"), 1)

    def test_a_job_that_crashed_twice_stays_refused(self):
        server = self.serve()
        flags = ("--retry-for", "0", "--no-cache")
        for _ in range(2):
            process = self.long_job(server, 300000, *flags)
            time.sleep(0.5)
            for worker in children(server.process.pid):
                os.kill(worker, signal.SIGKILL)
            self.assertEqual(process.wait(PATIENCE), 9, process.stderr.read())
        self.disturbance.clock(-DAY)
        process = self.long_job(server, 300000, *flags)
        self.assertEqual(process.wait(PATIENCE), 9)
        # Not for longer than a day, as the clock that the crash saw may have been wrong.
        self.disturbance.clock(0)
        process = self.long_job(server, 300000, *flags)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 8)


if __name__ == "__main__":
    unittest.main()
