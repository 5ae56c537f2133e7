#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A mixed load for OCTAVO_SOAK_MINUTES (a third of one by default): does memory grow?  The same load on a
server that loses memory on purpose must be found out by the same judgement."""

import os
import pathlib
import random
import tempfile
import threading
import time
import unittest

import calls
import disturb
from server import MIB, Server

MINUTES = float(os.environ.get("OCTAVO_SOAK_MINUTES", "0.3"))
CONTROL_MINUTES = min(MINUTES, 2)
CALLERS = 3
LEAK = 256 << 10  # bytes that the control loses for each worker
INVALID_ARGUMENT, OK = 3, 0


def bound(minutes):
    """MiB an hour that memory may grow: what is filled at first weighs more the shorter the run."""
    return 1 + 10 * 60 / minutes if minutes < 20 else 1


def slope(points):
    """The slope of the line of least squares."""
    n = len(points)
    mean_x, mean_y = (sum(values) / n for values in zip(*points))
    above = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return above / sum((x - mean_x) ** 2 for x, _ in points)


class Load:
    """Jobs that are computed, that the service has kept, that are cancelled and that are invalid."""

    def __init__(self, address):
        self.stop = threading.Event()
        self.done = {"job": 0, "cancel": 0, "invalid": 0}
        self.wrong = []
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(address, i))
                        for i in range(CALLERS)]

    def run(self, address, number):
        choice = random.Random(number)
        caller = calls.Caller(address, f"127.0.1.{1 + number}")
        while not self.stop.is_set():
            kind = choice.choice(("job", "job", "job", "cancel", "invalid"))
            try:
                self.ask(caller, kind, choice)
            except Exception as error:  # noqa: BLE001
                with self.lock:
                    self.wrong.append(f"{kind}: {error!r}")
            if choice.random() < 0.05 or kind == "cancel":
                caller.close()
            self.stop.wait(0.01)
        caller.close()

    def ask(self, caller, kind, choice):
        # Every second job is a new one, which a worker computes.
        seed = choice.choice((choice.randrange(20), choice.randrange(20, 10**6)))
        if kind == "cancel":
            caller.cancel(calls.job(seed, 10**6), choice.uniform(0, 0.03))
        else:
            messages = calls.job(seed, 2) if kind == "job" else [b"\xff" * 9]
            wanted = OK if kind == "job" else INVALID_ARGUMENT
            status = caller.status(messages)
            if status != wanted:
                raise AssertionError(f"status {status}, not {wanted}")
        with self.lock:
            self.done[kind] += 1

    def warm_up(self):
        end = time.monotonic() + 30
        while self.done["job"] < 150 and time.monotonic() < end:
            time.sleep(0.1)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join(60)


class Soak(unittest.TestCase):
    def growth(self, name, minutes, leak=0):
        """MiB an hour after the first third: of resident memory, and of what is allocated."""
        with tempfile.TemporaryDirectory() as folder:
            state = pathlib.Path(folder) / "state"
            state.mkdir()
            disturbance = disturb.Disturbance(folder, state)
            disturbance.leak(leak)
            # A store that is full after some seconds, so that its index does not grow either.  Without
            # jemalloc's caches of each thread, which fill and empty by chance.
            with Server("--state-dir", state, "--store-bytes", "500000",
                        **disturbance.environment, MALLOC_CONF="tcache:false") as server:
                with Load(server.address) as load:
                    load.warm_up()
                    began = time.monotonic()
                    points = []
                    while time.monotonic() - began < 60 * minutes:
                        time.sleep(0.1)
                        hours = (time.monotonic() - began) / 3600
                        points.append((hours, server.resident() / MIB,
                                       disturbance.allocated() / MIB))
                self.assertEqual(load.wrong[:5], [])
        self.assertGreater(min(load.done.values()), 0)
        self.assertGreater(points[0][2], 0)
        print(f"{name}: {minutes:g} min, {load.done}, bound {bound(minutes):.0f} MiB an hour")
        steady = [point for point in points if point[0] * 60 > minutes / 3]
        grown = []
        for index, memory in ((1, "resident"), (2, "allocated")):
            grown.append(slope([(point[0], point[index]) for point in steady]))
            print(f"{name}: {memory} {points[0][index]:.2f} to {points[-1][index]:.2f} MiB, "
                  f"{grown[-1]:+.2f} MiB an hour", flush=True)
        return grown

    def test_memory_does_not_grow(self):
        self.assertLess(max(self.growth("soak", MINUTES)), bound(MINUTES))

    def test_a_leak_is_found(self):
        grown = self.growth("control", CONTROL_MINUTES, LEAK)
        self.assertGreater(min(grown), bound(CONTROL_MINUTES))


if __name__ == "__main__":
    unittest.main()
