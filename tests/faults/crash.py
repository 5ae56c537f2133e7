# SPDX-License-Identifier: Apache-2.0
"""octavod that ends at any moment and comes back, and callers who do not notice."""

import contextlib
import pathlib
import random
import socket
import sqlite3
import threading
import time

from server import Server, programs

SEEDS = range(6)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def optimize(folder, name, seed, server=None, *flags):
    """A small job; SEED makes it another one.  Returns the process's result and the output's path."""
    output = pathlib.Path(folder) / f"{name}.onnx"
    result = programs.octavo("optimize", programs.DIGITS / "model.onnx", "-o", output, "--data",
                             f"random:{seed}:4", "--deterministic", *flags, server=server)
    return result, output


class Service:
    """One address and one state folder, served by one octavod after another."""

    def __init__(self, state, **environment):
        self.address = f"127.0.0.1:{free_port()}"
        self.state = state
        self.environment = environment
        self.server = None
        self.ready_after = []
        self.began = time.monotonic()

    def start(self):
        self.began = time.monotonic()
        server = Server("--state-dir", self.state, listen=self.address,
                        **self.environment)
        self.server = server.__enter__()
        self.ready_after.append(self.seconds())

    def seconds(self):
        """Since the last start."""
        return time.monotonic() - self.began

    def kill(self):
        self.server.process.kill()
        self.server.process.wait()
        self.close()

    def close(self):
        if self.server:
            self.server.__exit__()
        self.server = None


class Callers:
    """Threads that ask for jobs without a pause; `wrong` has what they did not expect."""

    def __init__(self, service, folder, expected, count=3):
        self.service, self.folder, self.expected = service, folder, expected
        self.stop = threading.Event()
        self.done = 0
        self.wrong = []
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(count)]

    def run(self, number):
        choice = random.Random(number)
        while not self.stop.is_set():
            seed = choice.choice(SEEDS)
            result, output = optimize(self.folder, f"caller{number}", seed, self.service.address)
            if result.returncode != 0:
                self.wrong.append(f"exit {result.returncode}: {result.stderr.strip()[-300:]}")
            elif output.read_bytes() != self.expected[seed]:
                self.wrong.append(f"seed {seed}: other bytes")
            else:
                self.done += 1

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join(2 * programs.PATIENCE)


class Detached:
    """A thread that submits jobs without waiting for them; `seeds` has those that were acknowledged."""

    def __init__(self, service, folder, pause=0.2):
        self.service, self.folder, self.pause = service, folder, pause
        self.stop = threading.Event()
        self.seeds = {}
        self.thread = threading.Thread(target=self.run)

    def submit(self, number, *flags):
        """Each has another output name, and so must run."""
        seed = SEEDS[number % len(SEEDS)]
        result, _ = optimize(self.folder, f"detached{number}", seed, self.service.address,
                             "--detach", "--quiet", *flags)
        if result.returncode == 0:
            self.seeds[result.stdout.strip()] = seed

    def run(self):
        number = 0
        while not self.stop.wait(self.pause):
            self.submit(number)
            number += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join(2 * programs.PATIENCE)

    def outcomes(self, expected):
        """How many jobs gave the right bytes, how many had used their two attempts, what is wrong."""
        right, given_up, wrong = 0, 0, []
        output = pathlib.Path(self.folder) / "result.onnx"
        for job_id, seed in self.seeds.items():
            programs.octavo("watch", job_id, "--quiet", server=self.service.address)
            result = programs.octavo("result", job_id, "-o", output, "--quiet",
                                     server=self.service.address)
            if result.returncode == 0 and output.read_bytes() == expected[seed]:
                right += 1
            elif "the service ended 2 times" in result.stderr:
                given_up += 1
            else:
                wrong.append(f"{job_id}: exit {result.returncode}: {result.stderr.strip()[-300:]}")
        return right, given_up, wrong


def copy_job(database, job_id, count):
    """Adds as many queued jobs that equal this one; returns their ids."""
    with contextlib.closing(sqlite3.connect(database)) as journal, journal:
        (number,) = journal.execute("SELECT number FROM jobs WHERE job_id = ?", [job_id]).fetchone()
        columns = [row[1] for row in journal.execute("PRAGMA table_info(jobs)")]
        same = ", ".join(c for c in columns if c not in ("number", "job_id"))
        copies = [f"{i:032x}" for i in range(count)]
        for copy in copies:
            made = journal.execute(f"INSERT INTO jobs (job_id, {same}) SELECT ?, {same} FROM jobs "
                                   "WHERE number = ?", [copy, number]).lastrowid
            journal.execute("INSERT INTO job_blobs SELECT ?, position, role, name, size_bytes, "
                            "sha256 FROM job_blobs WHERE number = ?", [made, number])
    return copies


def expected_bytes(folder):
    """What each job gives in a process of its own."""
    expected = {}
    for seed in SEEDS:
        result, output = optimize(folder, f"expected{seed}", seed)
        if result.returncode != 0:
            raise RuntimeError(result.stderr)
        expected[seed] = output.read_bytes()
    return expected
