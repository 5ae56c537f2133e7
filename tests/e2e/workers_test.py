#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""octavod: jobs in worker processes, with the bytes of a job in this process."""

import os
import pathlib
import signal
import subprocess
import time
import unittest

from programs import (DIGITS, OCTAVO, OCTAVOD, PATIENCE, Case, Server, children,
                      clean_environment, octavo)


def wait_until(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


class Workers(Case):
    def serve(self, *flags):
        server = Server(*flags)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    def job(self, name, *arguments, server=None):
        folder = self.folder / name
        folder.mkdir()
        result = octavo("optimize", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz",
                        "-o", folder / "out.onnx", "--report", folder / "report.json",
                        "--deterministic", *arguments, server=server and server.address)
        return result, {path.name: path.read_bytes() for path in folder.iterdir()}

    def test_give_the_same_bytes(self):
        state = self.folder / "state"
        state.mkdir()
        for flags in ([], ["--state-dir", state]):
            server = self.serve(*flags)
            for options in ([], ["--emit", "qlinear", "--per-tensor"], ["--external-over", "1"]):
                name = f"{len(flags)}{'-'.join(options)}".replace("/", "_")
                here, here_files = self.job(f"here{name}", *options)
                there, there_files = self.job(f"there{name}", *options, server=server)
                self.assertEqual((here.returncode, there.returncode), (0, 0), there.stderr)
                self.assertEqual(here_files, there_files)
        self.assertGreaterEqual(self.metric(server, "octavo_sandbox_level"), 1)
        self.assertGreaterEqual(
            self.metric(server, 'octavo_worker_exits_total{cause="finished"}'), 3)

    def long_job(self, server, wait=True):
        """A job that takes minutes, in a process of its own."""
        process = subprocess.Popen(
            [OCTAVO, "optimize", DIGITS / "model.onnx", "--data", "random:1:300000", "-o",
             self.folder / "long.onnx", "--server", server.address],
            stderr=subprocess.PIPE, text=True, env=clean_environment())
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        if wait:
            self.assertTrue(wait_until(lambda: children(server.process.pid)))
            self.assertTrue(
                wait_until(lambda: self.metric(server, "octavo_jobs_running") == 1))
        return process

    def test_a_killed_worker_fails_its_job_alone(self):
        server = self.serve()
        process = self.long_job(server)
        time.sleep(0.2)  # the worker receives its request
        for child in children(server.process.pid):
            os.kill(child, signal.SIGKILL)
        _, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 9, error)
        self.assertIn("SIGKILL", error)
        after, _ = self.job("after", server=server)
        self.assertEqual(after.returncode, 0, after.stderr)
        self.assertEqual(self.metric(server, 'octavo_worker_exits_total{cause="crashed"}'), 1)

    def test_a_job_that_crashed_twice_is_refused_also_after_a_restart(self):
        state = self.folder / "state"
        state.mkdir()
        for _ in range(2):
            server = self.serve("--state-dir", state)
            process = self.long_job(server)
            # In its run, in which a killed worker is a crash; a spare would be replaced.
            time.sleep(0.5)
            for child in children(server.process.pid):
                os.kill(child, signal.SIGKILL)
            self.assertEqual(process.wait(PATIENCE), 9, process.stderr.read())
            server.__exit__()
        server = self.serve("--state-dir", state)
        process = self.long_job(server, wait=False)
        _, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 9, error)
        self.assertIn("crashed 2 times", error)

    def test_a_killed_server_leaves_no_worker(self):
        server = self.serve()
        self.long_job(server)
        workers = children(server.process.pid)
        server.process.kill()
        server.process.wait()
        self.assertTrue(wait_until(
            lambda: not any(pathlib.Path(f"/proc/{worker}/exe").exists() for worker in workers)))

    def test_a_cancelled_job_leaves_no_worker_of_its_own(self):
        server = self.serve("--workers", "1")
        process = self.long_job(server)
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
        self.assertTrue(wait_until(
            lambda: self.metric(server, 'octavo_worker_exits_total{cause="cancelled"}') == 1))
        self.assertLessEqual(len(children(server.process.pid)), 2)  # spare ones

    def test_when_all_are_busy_the_client_shows_its_position_in_the_queue(self):
        server = self.serve("--workers", "1")
        long = self.long_job(server)
        waiting = []
        with server.one_job_held():
            for place in (1, 2):
                errors = self.folder / f"{place}.txt"
                with open(errors, "wb") as file:
                    waiting.append(subprocess.Popen(
                        [OCTAVO, "optimize", DIGITS / "model.onnx", "--data", f"random:{place}",
                         "-o", self.folder / f"{place}.onnx", "--server", server.address],
                        stderr=file, env=clean_environment()))
                self.addCleanup(waiting[-1].wait)
                self.addCleanup(waiting[-1].kill)
                self.assertTrue(wait_until(lambda: "octavo: queue\n" in errors.read_text()))
                self.assertRegex(errors.read_text(), rf"^octavo: job [0-9a-f-]{{32,64}}, "
                                                     rf"position {place} in the queue\n")
            long.send_signal(signal.SIGINT)
            self.assertEqual(long.wait(PATIENCE), 8)
        self.assertEqual([client.wait(PATIENCE) for client in waiting], [0, 0])
        # A worker is free now.
        result, _ = self.job("free", server=server)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("in the queue", result.stderr)

    def test_are_the_default_and_their_level_is_logged(self):
        server = self.serve()
        level = int(self.metric(server, "octavo_sandbox_level"))
        self.assertIn(f'"sandbox_level":{level}', server.read_log())
        self.assertEqual("isolates in part" in server.read_log(), level < 3)
        self.assertTrue(wait_until(lambda: children(server.process.pid)))

    def test_can_be_replaced_by_threads(self):
        server = self.serve("--isolation", "thread")
        self.assertIn("jobs run in threads", server.read_log())
        result, _ = self.job("thread", server=server)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(children(server.process.pid), [])
        self.assertEqual(self.metric(server, "octavo_sandbox_level"), 0)

    def test_a_worker_that_is_not_there_is_named(self):
        result = subprocess.run(
            [OCTAVOD, "--worker", "/nowhere/octavo-worker", "--listen",
             "127.0.0.1:0", "--metrics", "127.0.0.1:0"],
            capture_output=True, text=True, timeout=PATIENCE, env=clean_environment())
        self.assertEqual(result.returncode, 2)
        self.assertIn("/nowhere/octavo-worker", result.stderr)
        self.assertIn("--isolation thread", result.stderr)


if __name__ == "__main__":
    unittest.main()
