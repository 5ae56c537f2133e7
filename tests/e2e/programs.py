# SPDX-License-Identifier: Apache-2.0
"""Runs the built octavo and octavod, named by the environment's OCTAVO and OCTAVOD."""

import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request

OCTAVO = os.environ["OCTAVO"]
OCTAVOD = os.environ["OCTAVOD"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "tests" / "data" / "digits"
PATIENCE = 60  # seconds that anything here may take


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def clean_environment(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("OCTAVO_")}
    return {**kept, **more}


def octavo(*arguments, server=None, **environment):
    command = [OCTAVO, *map(str, arguments)]
    if server:
        command += ["--server", server]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE,
                          env=clean_environment(**environment))


def children(pid):
    """The processes that `pid` started and that still run."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


def signal_all(pids, number):
    """Sends the signal to those that still run."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class Server:
    """octavod on ports of its own while the `with` lasts."""

    def __init__(self, *flags, listen="127.0.0.1:0", **environment):
        self.flags = ["--listen", listen, *flags]
        self.environment = environment

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        port_file = pathlib.Path(self.folder.name) / "port"
        self.log = open(pathlib.Path(self.folder.name) / "log", "w+b")
        self.process = subprocess.Popen(
            [OCTAVOD, "--metrics", "127.0.0.1:0",
             "--port-file", str(port_file), *map(str, self.flags)],
            stdout=self.log, stderr=self.log, env=clean_environment(**self.environment))
        end = time.monotonic() + PATIENCE
        while not (port_file.exists() and port_file.read_text().count("\n") >= 2):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"octavod did not start:\n{self.read_log()}")
            time.sleep(0.02)
        self.address, self.metrics = port_file.read_text().split()[:2]
        return self

    def read_log(self):
        self.log.flush()
        return pathlib.Path(self.log.name).read_text(errors="replace")

    def wait_for_log(self, text, times=1):
        end = time.monotonic() + PATIENCE
        while self.read_log().count(text) < times:
            if time.monotonic() > end:
                raise TimeoutError(f"'{text}' not {times} times in the log:\n{self.read_log()}")
            time.sleep(0.02)

    def metric(self, name):
        url = f"http://{self.metrics}/metrics"
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            text = answer.read().decode()
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
        if not found:
            raise KeyError(f"no metric {name}:\n{text}")
        return float(found.group(1))

    def wait_for_metric(self, name, value):
        end = time.monotonic() + PATIENCE
        while self.metric(name) != value:
            if time.monotonic() > end:
                raise TimeoutError(f"{name} is {self.metric(name)}, not {value}")
            time.sleep(0.02)

    @contextlib.contextmanager
    def one_job_held(self):
        """Waits until one job runs, and stops its process while the `with` lasts: the job cannot
        end, however slow everything else is."""
        self.wait_for_metric("octavo_jobs_running", 1)
        stopped = children(self.process.pid)
        signal_all(stopped, signal.SIGSTOP)
        try:
            if not stopped or self.metric("octavo_jobs_running") != 1:
                raise RuntimeError(f"the job ended before it was held:\n{self.read_log()}")
            yield
        finally:
            signal_all(stopped, signal.SIGCONT)

    def alive(self):
        return self.process.poll() is None and octavo("health", server=self.address).returncode == 0

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()
        self.folder.cleanup()


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def assert_fails(self, result, code, *words):
        """Exit code, one line of error, and what it must say."""
        self.assertEqual(result.returncode, code, result.stderr)
        errors = [line for line in result.stderr.splitlines() if line.startswith("octavo: error:")]
        self.assertEqual(len(errors), 1, result.stderr)
        for word in words:
            self.assertIn(word, errors[0])

    def metric(self, server, name):
        return server.metric(name)

    def error_object(self, result):
        error = json.loads(result.stderr.splitlines()[-1])
        self.assertEqual(set(error), {"code", "reason", "message", "node", "field"})
        return error
