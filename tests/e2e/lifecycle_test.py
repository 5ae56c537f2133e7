#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cancelling, deadlines, and how a service goes down."""

import json
import signal
import subprocess
import time
import unittest
import urllib.request

import numpy as np
import onnx

import models
from programs import DIGITS, OCTAVO, PATIENCE, Case, Server, clean_environment, octavo


def slow_model():
    """Seconds of work: many convolutions of a large image."""
    size = 96
    weights = np.random.default_rng(3).normal(size=(64, 64, 3, 3)).astype(np.float32) / 24
    names = ["x", *(f"t{i}" for i in range(7)), "y"]
    nodes = [onnx.helper.make_node("Conv", [a, "w"], [b], pads=[1, 1, 1, 1])
             for a, b in zip(names, names[1:])]
    return models.model(nodes, [models.tensor("w", weights)], inputs=[("x", [1, 64, size, size])])


class Lifecycle(Case):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "slow.onnx"
        self.model.write_bytes(slow_model().SerializeToString())
        self.arguments = [self.model, "-o", self.folder / "o.onnx", "--data", "random:1:300"]
        self.once = ["--retry-for", "0"]

    def start(self, server=None, *flags):
        command = [OCTAVO, "optimize", *map(str, self.arguments), *flags]
        if server:
            command += ["--server", server.address, *self.once]
        return subprocess.Popen(command, stderr=subprocess.PIPE, text=True,
                                env=clean_environment())

    def running(self, server):
        with urllib.request.urlopen(f"http://{server.metrics}/metrics", timeout=5) as answer:
            for line in answer.read().decode().splitlines():
                if line.startswith("octavo_jobs_running "):
                    return float(line.split()[1])
        raise KeyError("octavo_jobs_running")

    def wait_until_running(self, server, count=1):
        end = time.monotonic() + PATIENCE
        while self.running(server) != count:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def test_interrupted_client_cancels_its_job(self):
        with Server() as server:
            client = self.start(server)
            self.wait_until_running(server)
            client.send_signal(signal.SIGINT)
            _, errors = client.communicate(timeout=PATIENCE)
            self.assertEqual(client.returncode, 8, errors)
            self.wait_until_running(server, 0)
            self.assertTrue(server.alive())
        self.assertFalse((self.folder / "o.onnx").exists())

    def test_log_says_whose_job_ended_how(self):
        model = self.folder / "m\x1b[2J\u009b.onnx"
        model.write_bytes((DIGITS / "model.onnx").read_bytes().replace(b"Conv", b"Conx"))
        with Server("--isolation", "thread") as server:
            result = octavo("optimize", model, "-o", self.folder / "o.onnx", "--strict-ops",
                            server=server.address)
            self.assertIn("Conx", result.stderr)
            server.wait_for_log("job ended")
            lines = server.read_log()
            self.assertRegex(lines, r"\A[\n -~]*\Z")
            jobs = [json.loads(line) for line in lines.splitlines() if '"job ' in line]
        self.assertEqual([job["event"] for job in jobs], ["job admitted", "job ended"])
        for job in jobs:
            self.assertEqual(job["job_id"], jobs[0]["job_id"])
            self.assertRegex(job["action_digest"], "^sha256:[0-9a-f]{64}$")
            self.assertTrue(job["client"])
            self.assertEqual(job["model"], model.name)
            self.assertRegex(job["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual(jobs[1]["outcome"], "invalid")

    def test_interrupted_local_job_ends_at_once(self):
        client = self.start()
        time.sleep(0.5)
        began = time.monotonic()
        client.send_signal(signal.SIGINT)
        _, errors = client.communicate(timeout=PATIENCE)
        self.assertEqual(client.returncode, 8, errors)
        self.assertLess(time.monotonic() - began, 5)

    def test_deadline_passes(self):
        with Server() as server:
            result = octavo("optimize", *self.arguments, "--timeout", "0.5", server=server.address)
            self.assert_fails(result, 6, "deadline")
            self.wait_until_running(server, 0)

    def test_terminated_server_finishes_the_job(self):
        self.arguments[-1] = "random:1:30"
        with Server() as server:
            client = self.start(server)
            self.wait_until_running(server)
            server.process.send_signal(signal.SIGTERM)
            _, errors = client.communicate(timeout=PATIENCE)
            self.assertEqual(client.returncode, 0, errors)
            self.assertEqual(server.process.wait(PATIENCE), 0)

    def test_second_signal_stops_at_once(self):
        with Server() as server:
            client = self.start(server)
            self.wait_until_running(server)
            server.process.send_signal(signal.SIGTERM)
            server.wait_for_log("draining")
            server.process.send_signal(signal.SIGTERM)
            server.process.wait(PATIENCE)
            _, errors = client.communicate(timeout=PATIENCE)
            self.assertIn(client.returncode, (6, 8), errors)

    def test_killed_server_is_said(self):
        with Server() as server:
            client = self.start(server)
            self.wait_until_running(server)
            server.process.kill()
            _, errors = client.communicate(timeout=PATIENCE)
            self.assertEqual(client.returncode, 6, errors)
            self.assertIn("octavo: error:", errors)


if __name__ == "__main__":
    unittest.main()
