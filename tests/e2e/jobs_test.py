#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that outlive their client and the service's process."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from lifecycle_test import slow_model
from programs import (DIGITS, OCTAVO, OCTAVOD, PATIENCE, ROOT, Case, Server, clean_environment,
                      free_port, octavo)


class Jobs(Case):
    def setUp(self):
        super().setUp()
        self.state = self.folder / "state"
        self.state.mkdir()
        self.slow = self.folder / "slow.onnx"
        self.slow.write_bytes(slow_model().SerializeToString())

    def serve(self, *flags):
        server = Server("--state-dir", self.state, *flags)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    def detach(self, server, *arguments, model=DIGITS / "model.onnx",
               data=DIGITS / "calibration.npz"):
        result = octavo("optimize", model, "--data", data, "-o", self.folder / "out.onnx",
                        "--detach", "--quiet", *arguments, server=server.address)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"^[0-9a-f-]{32,64}\n$")
        return result.stdout.strip()

    def job(self, server, job_id):
        for row in self.jobs(server):
            if row["job_id"] == job_id:
                return row
        self.fail(f"{job_id} is not listed")

    def jobs(self, server, *arguments):
        result = octavo("jobs", "--json", *arguments, server=server.address)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def wait_for_state(self, server, job_id, state):
        end = time.monotonic() + PATIENCE
        while self.job(server, job_id)["state"] != state:
            self.assertLess(time.monotonic(), end, self.job(server, job_id))
            time.sleep(0.05)

    def result(self, server, job_id, name="result.onnx"):
        out = self.folder / name
        result = octavo("result", job_id, "-o", out, "--quiet", server=server.address)
        self.assertEqual(result.returncode, 0, result.stderr)
        return out.read_bytes()

    def test_a_running_job_has_taken_some_time_and_never_less_than_none(self):
        server = self.serve()
        job_id = self.detach(server, model=self.slow, data="random:0")
        self.wait_for_state(server, job_id, "running")
        seconds = [self.job(server, job_id)["seconds"] for _ in range(10)]
        self.assertGreaterEqual(min(seconds), 0)
        self.assertEqual(seconds, sorted(seconds))
        self.assertGreater(len(set(seconds)), 2)
        octavo("cancel", job_id, server=server.address)

    def test_the_commands_of_the_readme(self):
        text = (ROOT / "README.md").read_text()
        section = text.split("## Jobs that outlive the client", 1)[1]
        block = re.search(r"```sh\n(.*?)```", section, re.DOTALL)[1]
        self.assertIn("octavod --state-dir state &", block)
        for name in ("model.onnx", "calibration.npz"):
            shutil.copy(DIGITS / name, self.folder)
        self.state.rmdir()  # octavod creates it
        address = f"127.0.0.1:{free_port()}"
        script = ("trap 'kill %1' EXIT\n" + block.replace("127.0.0.1:50051", address) +
                  "trap - EXIT\nkill %1\nwait %1\n")
        programs = os.pathsep.join(os.path.dirname(path) for path in (OCTAVO, OCTAVOD))
        environment = clean_environment(PATH=programs + os.pathsep + os.environ["PATH"],
                                        OCTAVO_LISTEN=address, OCTAVO_METRICS="127.0.0.1:0")
        result = subprocess.run(["bash", "-eu", "-c", script], cwd=self.folder, text=True,
                                env=environment, capture_output=True, timeout=PATIENCE)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("succeeded", result.stdout)
        self.assertGreater((self.folder / "int8.onnx").stat().st_size, 10000)
        self.assertIn("numerics", json.loads((self.folder / "report.json").read_text()))

    def test_a_detached_job_gives_the_bytes_of_a_local_one(self):
        server = self.serve()
        job_id = self.detach(server, "--deterministic")
        watched = octavo("watch", job_id, server=server.address)
        self.assertEqual(watched.returncode, 0, watched.stderr)
        self.assertIn("succeeded", watched.stdout)
        report = self.folder / "report.json"
        # The name of OUT is in the report's action digest.
        (self.folder / "local").mkdir()
        result = octavo("result", job_id, "-o", self.folder / "out.onnx", "--report", report,
                        server=server.address)
        self.assertEqual(result.returncode, 0, result.stderr)
        local = octavo("optimize", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz",
                       "--deterministic", "-o", self.folder / "local" / "out.onnx", "--report",
                       self.folder / "local.json")
        self.assertEqual(local.returncode, 0, local.stderr)
        self.assertEqual((self.folder / "out.onnx").read_bytes(),
                         (self.folder / "local" / "out.onnx").read_bytes())
        self.assertEqual(report.read_bytes(), (self.folder / "local.json").read_bytes())
        row = self.job(server, job_id)
        self.assertEqual(row["state"], "succeeded")
        self.assertEqual(row["model"], "model.onnx")
        self.assertEqual(set(row), {"job_id", "state", "stage", "pass", "done", "total", "model",
                                    "created", "seconds", "client", "action_digest",
                                    "queue_position"})
        by_digest = self.result(server, row["action_digest"], "by_digest.onnx")
        self.assertEqual(by_digest, (self.folder / "local" / "out.onnx").read_bytes())

    def test_the_readmes_commands(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        section = text.split("## Jobs that outlive the client")[1]
        lines = section.split("```sh\n")[1].split("```")[0].splitlines()
        self.assertEqual(lines[0], "octavod --state-dir state &")
        self.assertEqual(lines[1], "export OCTAVO_SERVER=127.0.0.1:50051")
        server = self.serve()
        for name in ("model.onnx", "calibration.npz"):
            (self.folder / name).symlink_to(DIGITS / name)
        bin_folder = self.folder / "bin"
        bin_folder.mkdir()
        (bin_folder / "octavo").symlink_to(os.environ["OCTAVO"])
        script = "\n".join(["set -eu", f"export OCTAVO_SERVER={server.address}", *lines[2:]])
        done = subprocess.run(["sh", "-c", script], cwd=self.folder, capture_output=True, text=True,
                              timeout=PATIENCE, check=False,
                              env={**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("model.onnx", done.stdout)
        self.assertIn("succeeded", done.stdout)
        self.assertGreater((self.folder / "int8.onnx").stat().st_size, 1000)
        json.loads((self.folder / "report.json").read_text(encoding="utf-8"))

    def test_a_call_that_waits_is_listed_and_can_be_cancelled(self):
        server = self.serve()
        call = subprocess.Popen(
            [os.environ["OCTAVO"], "optimize", self.slow, "--data", "random:1:400", "-o",
             self.folder / "o.onnx", "--quiet", "--server", server.address],
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(call.communicate)
        self.addCleanup(call.kill)
        end = time.monotonic() + PATIENCE
        while not self.jobs(server, "--state", "running"):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        [row] = self.jobs(server)
        self.assertEqual(row["model"], "slow.onnx")
        self.assertEqual(octavo("cancel", row["job_id"], server=server.address).returncode, 0)
        _, errors = call.communicate(timeout=PATIENCE)
        self.assertEqual(call.returncode, 8, errors)
        self.assertIn("cancelled", errors)
        self.assertEqual([job["job_id"] for job in self.jobs(server, "--state", "cancelled")],
                         [row["job_id"]])

    def test_a_result_survives_what_the_store_evicts(self):
        server = self.serve("--store-bytes", "1500000")
        job_id = self.detach(server)
        self.wait_for_state(server, job_id, "succeeded")
        for seed in range(16):
            result = octavo("optimize", DIGITS / "model.onnx", "--data", f"random:{seed}", "-o",
                            self.folder / "other.onnx", "--quiet", server=server.address)
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(self.metric(server, "octavo_store_evicted_bytes_total"), 0)
        self.assertGreater(len(self.result(server, job_id)), 1000)

    def test_acknowledged_jobs_survive_a_kill(self):
        server = self.serve("--workers", "1")
        running = self.detach(server, model=self.slow, data="random:1:30")
        queued = [self.detach(server, "--batch", str(batch)) for batch in (1, 2, 4)]
        self.wait_for_state(server, running, "running")
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(PATIENCE)
        server = self.serve("--workers", "1")
        for job_id in (*queued, running):
            self.wait_for_state(server, job_id, "succeeded")
            self.assertGreater(len(self.result(server, job_id)), 1000)

    def test_a_job_that_ends_the_service_twice_has_failed(self):
        server = self.serve()
        job_id = self.detach(server, model=self.slow, data="random:1:400")
        for _ in range(2):
            self.wait_for_state(server, job_id, "running")
            server.process.send_signal(signal.SIGKILL)
            server.process.wait(PATIENCE)
            server = self.serve()
        self.wait_for_state(server, job_id, "failed")
        result = octavo("result", job_id, "-o", self.folder / "o.onnx", server=server.address)
        self.assert_fails(result, 9, "ended 2 times")

    def test_a_drain_leaves_waiting_jobs_in_the_journal(self):
        server = self.serve("--workers", "1", "--drain-timeout", "30")
        running = self.detach(server, model=self.slow, data="random:1:30")
        waiting = self.detach(server)
        self.wait_for_state(server, running, "running")
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(PATIENCE), 0)
        server = self.serve()
        self.wait_for_state(server, running, "succeeded")
        self.wait_for_state(server, waiting, "succeeded")

    def test_cancel_ends_waiting_and_running_jobs(self):
        server = self.serve("--workers", "1")
        running = self.detach(server, model=self.slow, data="random:1:400")
        waiting = self.detach(server)
        self.wait_for_state(server, running, "running")
        for job_id in (waiting, running):
            result = octavo("cancel", job_id, server=server.address)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("cancelled", result.stdout)
        again = octavo("cancel", running, server=server.address)
        self.assert_fails(again, 2, "cancelled")
        watched = octavo("watch", running, "--quiet", server=server.address)
        self.assert_fails(watched, 8, "cancelled")
        self.assertEqual([row["job_id"] for row in self.jobs(server, "--state", "cancelled")],
                         [waiting, running])
        # The slot is free again.
        self.wait_for_state(server, self.detach(server), "succeeded")

    def test_a_job_that_fails_says_why_to_whoever_asks(self):
        server = self.serve()
        job_id = self.detach(server, data=DIGITS / "labels.npy")
        self.wait_for_state(server, job_id, "failed")
        for command in (["watch", job_id, "--quiet"],
                        ["result", job_id, "-o", self.folder / "o.onnx"]):
            result = octavo(*command, server=server.address)
            self.assertEqual(result.returncode, 3, result.stderr)

    def test_jobs_are_listed_newest_first(self):
        server = self.serve()
        ids = [self.detach(server, "--batch", str(batch)) for batch in (1, 2, 4)]
        self.assertEqual([row["job_id"] for row in self.jobs(server)], ids[::-1])
        self.assertEqual([row["job_id"] for row in self.jobs(server, "--limit", "2")],
                         ids[:0:-1])

    def test_detach_asks_again_as_long_as_it_is_told(self):
        server = self.serve()
        address = server.address
        server.process.kill()
        server.process.wait()
        began = time.monotonic()
        result = octavo("optimize", DIGITS / "model.onnx", "--data", "random:1", "--detach",
                        "--quiet", "--retry-for", "0", "-o", self.folder / "o.onnx", server=address)
        self.assert_fails(result, 6, address)
        self.assertLess(time.monotonic() - began, 30)

    def test_unknown_jobs_and_services_without_a_folder(self):
        server = self.serve()
        result = octavo("watch", "0" * 32, "--quiet", server=server.address)
        self.assert_fails(result, 2, "there is no job")
        with Server() as plain:
            self.assert_fails(octavo("jobs", server=plain.address), 4, "--state-dir")
            result = octavo("optimize", DIGITS / "model.onnx", "--data", "random:1", "--detach",
                            "--quiet", "-o", self.folder / "o.onnx", server=plain.address)
            self.assert_fails(result, 4, "--state-dir")
        self.assert_fails(octavo("jobs"), 2, "--server")
        report = octavo("optimize", DIGITS / "model.onnx", "--data", "random:1", "--detach", "-o",
                        self.folder / "o.onnx", "--report", self.folder / "report.json",
                        server=server.address)
        self.assert_fails(report, 2, "give it to `octavo result`")
        result = octavo("optimize", DIGITS / "model.onnx", "--data", "random:1", "--detach", "-o",
                        self.folder / "o.onnx")
        self.assert_fails(result, 2, "--server")


if __name__ == "__main__":
    unittest.main()
