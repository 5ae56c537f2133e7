#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The disk of the state folder is full, broken or unreadable, or descriptors run out, and later all
is well again: jobs get their bytes meanwhile, readiness says what is wrong, and all goes on without
a restart."""

import concurrent.futures
import json
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import crash
import disturb
import http2
from server import Server, children, cpu_seconds, programs

PATIENCE = 30
WORDS = {"done", "STORAGE", "NOT_SERVING"}


def readiness(server):
    try:
        with urllib.request.urlopen(f"http://{server.metrics}/readyz", timeout=5) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def seconds_until(what, holds):
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > PATIENCE:
            raise AssertionError(f"not within {PATIENCE} s: {what}")
        time.sleep(0.05)
    return time.monotonic() - began


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.expected = crash.expected_bytes(cls.folder)

    def prepare(self, name):
        """A folder for the fault `name`, and who disturbs the disk of the state folder in it."""
        folder = self.folder / name
        state = folder / "state"
        state.mkdir(parents=True)
        return folder, disturb.Disturbance(folder, state)

    def serve(self, folder, disturbance):
        server = Server("--state-dir", folder / "state", **disturbance.environment)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    def job(self, folder, server, seed):
        """"executed", "joined" or "cache"; fails unless the job gives the right bytes."""
        result, output = crash.optimize(folder, f"job{seed}", seed, server.address,
                                        "--retry-for", "0", "--json")
        self.assertEqual(result.returncode, 0, f"{result.stderr}\n{server.read_log()[-2000:]}")
        self.assertEqual(output.read_bytes(), self.expected[seed])
        return json.loads(result.stdout)["source"]


class Disk(Case):
    def survive(self, name, **fault):
        folder, disturbance = self.prepare(name)
        server = self.serve(folder, disturbance)
        self.assertEqual(self.job(folder, server, 0), "executed")
        self.assertEqual(self.job(folder, server, 0), "cache")
        disturbance.disk(**fault)
        for seed in (0, 1, 2):  # one that was kept and two that were not
            self.job(folder, server, seed)
        fell = 0
        if "on_write" in fault:
            fell = seconds_until("readiness falls", lambda: readiness(server) == 503)
        self.job(folder, server, 1)
        failed = disturbance.failed()
        self.assertGreater(failed, 0)
        disturbance.disk()
        rose = seconds_until("readiness comes back", lambda: readiness(server) == 200)
        self.assertEqual(self.job(folder, server, 0), "cache")
        for seed in (1, 2, 3):
            self.job(folder, server, seed)
            self.assertEqual(self.job(folder, server, seed), "cache")
        server.__exit__()
        # What the fault has left behind is no trouble for the next server.
        server = self.serve(folder, disturbance)
        self.assertEqual(self.job(folder, server, 3), "cache")
        server.__exit__()
        return (f"{name}: {failed} calls failed; readiness fell after {fell:.1f} s, "
                f"rose after {rose:.1f} s")

    def test_faults_of_the_disk(self):
        faults = {"full": disturb.FULL, "broken": disturb.BROKEN, "unreadable": disturb.UNREADABLE}
        with concurrent.futures.ThreadPoolExecutor() as pool:
            running = [pool.submit(self.survive, name, **fault) for name, fault in faults.items()]
        for each in running:
            print(each.result(), flush=True)

    def test_a_server_does_not_start_on_a_disk_that_fails(self):
        for name, fault in (("full", disturb.FULL), ("broken", disturb.BROKEN)):
            folder, disturbance = self.prepare(f"start-{name}")
            disturbance.disk(**fault)
            result = subprocess.run(
                [programs.OCTAVOD, "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0",
                 "--state-dir", str(folder / "state")], capture_output=True, text=True,
                timeout=PATIENCE, env=programs.clean_environment(**disturbance.environment))
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("--state-dir", result.stderr)


class Descriptors(Case):
    """RLIMIT_NOFILE of the running server is lowered, and later raised again."""

    def limit(self, server, spare):
        """Leaves the server `spare` descriptors."""
        used = [int(fd) for fd in os.listdir(f"/proc/{server.process.pid}/fd")]
        free = sorted(set(range(max(used) + 2 + spare)) - set(used))
        _, hard = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (free[spare], hard))
        return hard

    def unlimit(self, server, hard):
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (hard, hard))

    def test_descriptors_run_out(self):
        folder, disturbance = self.prepare("descriptors")
        server = self.serve(folder, disturbance)
        self.job(folder, server, 0)
        time.sleep(0.5)  # spare workers start
        before = server.descriptors()
        hard = self.limit(server, 0)
        waiting = threading.Thread(target=self.job, args=(folder, server, 1))
        used = cpu_seconds(server.process.pid)
        waiting.start()
        time.sleep(2)
        used = cpu_seconds(server.process.pid) - used
        self.unlimit(server, hard)
        waiting.join(PATIENCE)
        self.assertLess(used, 0.5, "the server spins")
        reasons = [self.job_with(server, folder, spare) for spare in (1, 1, 3, 3, 5, 7, 9, 13)]
        self.assertLessEqual(set(reasons), WORDS)
        self.job(folder, server, 3)
        http2.check_health(server.address)
        seconds_until("descriptors are given back", lambda: server.descriptors() <= before + 2)
        print(f"descriptors: {used:.2f} s of processor time in 2 s without one; then with a few: "
              f"{', '.join(reasons)}", flush=True)

    def job_with(self, server, folder, spare):
        """"done", or the reason of the failure of a job while `spare` descriptors are left."""
        for worker in children(server.process.pid):
            os.kill(worker, signal.SIGKILL)  # a new one needs descriptors
        hard = self.limit(server, spare)
        result, output = crash.optimize(folder, "few", 0, server.address, "--no-cache",
                                        "--retry-for", "0", "--json", "--timeout", "3")
        self.unlimit(server, hard)
        if result.returncode == 0:
            self.assertEqual(output.read_bytes(), self.expected[0])
            return "done"
        self.assertEqual(result.returncode, 6, result.stderr)
        return json.loads(result.stderr.splitlines()[-1])["reason"]


if __name__ == "__main__":
    unittest.main()
