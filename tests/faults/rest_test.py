#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A thousand jobs that are cancelled, each of which would run for more than a minute: afterwards the
service does nothing and holds nothing."""

import concurrent.futures
import os
import pathlib
import random
import tempfile
import time
import unittest

import calls
from server import MIB, Server, children, metric, tree_cpu_seconds

JOBS = int(os.environ.get("OCTAVO_FAULT_CANCELS", "1000"))
CALLERS = 8
SAMPLES = 1_000_000
MOST_WORK = 1.0  # seconds of processor time after the last job was cancelled
PATIENCE = 30
TICK = 1 / os.sysconf("SC_CLK_TCK")


def files(folder):
    return {path: path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file()}


class Rest(unittest.TestCase):
    def cancel_many(self, server, jobs, first, detached):
        """From several addresses; at once, while the job waits, and while it runs."""
        def cancel(caller, job, pause):
            if not detached:
                return caller.cancel(job, pause)
            job_id = caller.detach(job)
            time.sleep(pause)
            self.assertEqual(caller.cancel_job(job_id), 0)

        def run(number):
            choice = random.Random(number)
            caller = calls.Caller(server.address, f"127.0.1.{1 + number}")
            for i in range(number, jobs, CALLERS):
                cancel(caller, calls.job(first + i, SAMPLES), choice.uniform(0, 0.04))
            return caller

        with concurrent.futures.ThreadPoolExecutor(CALLERS) as pool:
            callers = list(pool.map(run, range(CALLERS)))
        ended = time.monotonic()
        return callers, ended

    def come_to_rest(self, server, since):
        """(when the processor time of the server and its workers grew last, how much it grew)"""
        before = used = tree_cpu_seconds(server.process.pid)
        last = since
        while time.monotonic() < last + 1.5:
            self.assertLess(time.monotonic(), since + PATIENCE, "at rest")
            now = tree_cpu_seconds(server.process.pid)
            if now > used + TICK / 2:
                used, last = now, time.monotonic()
            time.sleep(0.01)
        return last - since, used - before

    def wait_for(self, what, holds):
        end = time.monotonic() + PATIENCE
        while not holds():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.05)

    def leaves_nothing(self, isolation, detached=False):
        with tempfile.TemporaryDirectory() as folder:
            state, temporary = pathlib.Path(folder) / "state", pathlib.Path(folder) / "tmp"
            state.mkdir()
            temporary.mkdir()
            with Server("--state-dir", state, "--isolation", isolation,
                        TMPDIR=str(temporary)) as server:
                pid = server.process.pid
                server.honest_job(folder)
                for caller in self.cancel_many(server, 50, 10**6, detached)[0]:
                    caller.close()
                time.sleep(2)
                memory, descriptors = server.resident(), server.descriptors()
                processes, kept = len(children(pid)), files(state)
                callers, ended = self.cancel_many(server, JOBS, 0, detached)
                rest, work = self.come_to_rest(server, ended)
                cancelled = metric(server, 'octavo_jobs_total{outcome="cancelled",source="executed"}')
                for caller in callers:
                    caller.close()
                for gauge in ("octavo_jobs_running", "octavo_queue_depth",
                              "octavo_memory_reserved_bytes", "octavo_uploads_open"):
                    self.wait_for(gauge, lambda: metric(server, gauge) == 0)
                self.wait_for("descriptors", lambda: server.descriptors() <= descriptors)
                self.assertLessEqual(len(children(pid)), processes)
                after = files(state)
                self.assertEqual({path: size for path, size in after.items() if "octavo.db" not in
                                  path.name}, {path: size for path, size in kept.items()
                                               if "octavo.db" not in path.name})
                self.assertEqual(list(temporary.iterdir()), [])
                growth = server.resident() - memory
                seconds = server.honest_job(folder)
                print(f"{isolation}: {JOBS} {'detached ' if detached else ''}jobs, {cancelled:.0f} cancelled after they were admitted, "
                      f"at rest {rest:.2f} s after the last ({work:.2f} s of work), {descriptors} "
                      f"descriptors, {processes} processes, memory {growth / MIB:+.1f} MiB; then a job in {seconds:.2f} s",
                      flush=True)
                self.assertLess(growth, 20 * MIB)
                self.assertLessEqual(work, MOST_WORK)
                self.assertGreater(cancelled, JOBS // 4)

    def test_in_processes(self):
        self.leaves_nothing("process")

    def test_detached_in_processes(self):
        self.leaves_nothing("process", detached=True)

    def test_in_threads(self):
        self.leaves_nothing("thread")


if __name__ == "__main__":
    unittest.main()
