#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""octavod with --state-dir: samples of 315 MiB stay in files."""

import contextlib
import os
import pathlib
import subprocess
import time
import unittest

import models
import numpy as np
import onnx
from onnx import helper
from programs import OCTAVO, PATIENCE, Case, Server, clean_environment

FILES, ROWS, SIDE = 6, 70, 256  # of 3 channels each: 6 files of 52 MiB
MOST = 100 << 20  # bytes that the samples may add to the most that a process held
LIMIT = 250  # seconds of a job, however busy the machine


class Memory(Case):
    def setUp(self):
        super().setUp()
        nodes = [helper.make_node("Conv", ["x", "w"], ["c"], strides=[32, 32]),
                 helper.make_node("Relu", ["c"], ["y"])]
        weight = models.tensor("w", np.random.default_rng(0).normal(size=(1, 3, 1, 1)))
        self.model = self.folder / "m.onnx"
        onnx.save(models.model(nodes, [weight], inputs=(("x", [1, 3, SIDE, SIDE]),)), self.model)

    def write(self, name, files, rows):
        folder = self.folder / name
        folder.mkdir()
        random = np.random.default_rng(1)
        for i in range(files):
            np.save(folder / f"{i}.npy",
                    random.normal(size=(rows, 3, SIDE, SIDE)).astype(np.float32))
        return folder

    def unnamed_of(self, server):
        """Bytes of octavod's files in memory, which count as memory of no process."""
        size = 0
        for descriptor in pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                if os.readlink(descriptor).startswith("/memfd:"):
                    size += descriptor.stat().st_size
        return size

    def peak_of(self, server):
        """The most bytes that octavod itself held at once."""
        status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
        return next(int(line.split()[1]) << 10 for line in status.splitlines()
                    if line.startswith("VmHWM:"))

    def job(self, server, data):
        """The most bytes that the job's worker, and files in memory, held at once."""
        before = self.metric(server, "octavo_worker_peak_rss_bytes_sum")
        process = subprocess.Popen(
            [OCTAVO, "optimize", self.model, "--data", data, "-o", self.folder / "o.onnx",
             "--rounding", "nearest", "--quiet", "--server", server.address],
            env=clean_environment())
        unnamed, end = 0, time.monotonic() + LIMIT
        while process.poll() is None and time.monotonic() < end:
            unnamed = max(unnamed, self.unnamed_of(server))
            time.sleep(0.02)
        self.assertEqual(process.wait(PATIENCE), 0)
        return int(self.metric(server, "octavo_worker_peak_rss_bytes_sum") - before), unnamed

    def test_a_service_holds_no_set_of_samples_whole(self):
        few, many = self.write("few", 1, 2), self.write("many", FILES, ROWS)
        size = sum(path.stat().st_size for path in many.iterdir())
        self.assertGreater(size, 3 * MOST)
        with Server("--state-dir", self.folder / "state") as server:
            worker_few, _ = self.job(server, few)
            service_few = self.peak_of(server)
            worker_many, unnamed = self.job(server, many)
            service_many = self.peak_of(server)
        print(f"{size >> 20} MiB of samples: octavod {service_few >> 20} to {service_many >> 20} "
              f"MiB, worker {worker_few >> 20} to {worker_many >> 20} MiB, files in memory "
              f"{unnamed >> 20} MiB")
        self.assertLess(unnamed, MOST)
        self.assertLess(service_many - service_few, MOST)
        self.assertLess(worker_many - worker_few, MOST)


if __name__ == "__main__":
    unittest.main()
