#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The server is killed, or the power is cut, under load, again and again: whoever calls gets the
right bytes all the same, and no file of the state folder is ever believed that is not sound."""

import contextlib
import os
import pathlib
import random
import re
import tempfile
import time
import unittest

import crash
from lifecycle_test import slow_model
from power_cut import PowerCut
from server import metric, percentile, programs

KILLS = int(os.environ.get("OCTAVO_FAULT_KILLS", "50"))
CUTS = int(os.environ.get("OCTAVO_FAULT_CUTS", "15"))
QUEUED = int(os.environ.get("OCTAVO_FAULT_QUEUED", "10000"))
FAILPOINTS = re.findall(r' X\(k\w+, "([a-z.]+)"', (
    programs.ROOT / "server" / "store" / "failpoint.h").read_text())


class Crashes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.state = self.folder / "state"
        self.state.mkdir()
        self.random = random.Random(13)
        self.expected = crash.expected_bytes(self.folder)

    def serve(self, **environment):
        service = crash.Service(self.state, **environment)
        self.addCleanup(service.close)
        service.start()
        return service

    def report(self, what, rounds, service, callers):
        ready = sorted(service.ready_after[1:])
        print(f"{what}: {rounds} times, {callers.done} jobs done, {len(callers.wrong)} wrong; ready "
              f"after p50 {percentile(ready, 0.5):.2f} s, most {ready[-1]:.2f} s", flush=True)

    def crash_under_load(self, what, rounds, service, after_kill):
        with crash.Callers(service, self.folder, self.expected) as callers, \
                crash.Detached(service, self.folder) as detached:
            for _ in range(rounds):
                time.sleep(self.random.uniform(0.05, 0.8))
                service.kill()
                after_kill()
                service.start()
        self.report(what, rounds, service, callers)
        right, given_up, wrong = detached.outcomes(self.expected)
        print(f"{what}: {len(detached.seeds)} detached jobs acknowledged, {right} right, {given_up} "
              f"with two attempts, {len(wrong)} lost or wrong", flush=True)
        self.assertEqual(wrong, [])
        self.assertGreater(right, 0)
        self.assertEqual(callers.wrong, [])
        self.assertGreater(callers.done, rounds // 5)

    def test_kill_at_random(self):
        service = self.serve()
        self.crash_under_load("kill -9", KILLS, service, lambda: None)

    def test_power_cut_at_random(self):
        cut = PowerCut(self.state, self.folder / "durable")
        service = self.serve(**cut.environment)
        self.crash_under_load("power cut", CUTS, service, cut.cut)

    def test_a_journal_of_many_jobs(self):
        """Queued jobs are there again after kill -9, soon, and are done."""
        service = self.serve()
        slow = self.folder / "slow.onnx"
        slow.write_bytes(slow_model().SerializeToString())
        blocker = self.detach(service, slow, "random:1:300")
        last = self.detach(service, programs.DIGITS / "model.onnx", f"random:{crash.SEEDS[0]}:4")
        service.kill()
        copied = crash.copy_job(self.state / "octavo.db", last, QUEUED)
        service.start()
        while programs.octavo("health", server=service.address).returncode != 0:
            time.sleep(0.01)
        print(f"{QUEUED} queued jobs: serving after {service.seconds():.2f} s", flush=True)
        recovered = metric(service.server, "octavo_jobs_recovered_total")
        self.assertEqual(recovered, QUEUED + 2)
        programs.octavo("cancel", blocker, server=service.address)
        for job_id in (last, copied[0], copied[-1]):
            output = self.folder / "copied.onnx"
            end = time.monotonic() + 300
            while (result := programs.octavo("result", job_id, "-o", output, "--quiet",
                                             server=service.address)).returncode != 0:
                self.assertLess(time.monotonic(), end, result.stderr)
                time.sleep(0.5)
            self.assertEqual(output.read_bytes(), self.expected[crash.SEEDS[0]])

    def detach(self, service, model, data):
        result = programs.octavo("optimize", model, "-o", self.folder / "detached.onnx", "--data",
                                 data, "--deterministic", "--detach", "--quiet",
                                 server=service.address)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.strip()

    def test_kill_at_each_durable_step(self):
        self.assertGreaterEqual(len(FAILPOINTS), 12)
        reached = [point for point in FAILPOINTS if self.kill_at(point)]
        print(f"died at {', '.join(reached)}", flush=True)
        self.assertEqual(FAILPOINTS, reached)

    def kill_at(self, point):
        """The server dies at the step, comes back without the failpoint, and does the same job."""
        state = self.state / point
        state.mkdir()
        seed = crash.SEEDS[0]
        if point == "store.read":  # of a result that an earlier server kept
            with contextlib.closing(crash.Service(state)) as before:
                before.start()
                crash.optimize(self.folder, "before", seed, before.address)
        service = crash.Service(state, OCTAVO_FAILPOINT=f"{point}:kill")
        self.addCleanup(service.close)
        detached = crash.Detached(service, self.folder)
        try:
            service.start()
        except RuntimeError:
            died = True  # the step is one of the start
        else:
            for number, name in enumerate(("first", "again")):
                detached.submit(number, "--retry-for", "0")
                crash.optimize(self.folder, name, seed, service.address, "--retry-for", "0")
            died = service.server.process.poll() is not None
        service.close()
        service.environment = {}
        service.start()
        result, output = crash.optimize(self.folder, "after", seed, service.address)
        *_, wrong = detached.outcomes(self.expected)
        self.assertEqual(wrong, [], point)
        service.close()
        self.assertEqual(result.returncode, 0, f"{point}: {result.stderr}")
        self.assertEqual(output.read_bytes(), self.expected[seed], point)
        return died


if __name__ == "__main__":
    unittest.main()
