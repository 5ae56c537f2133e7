#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Debian's Prometheus scrapes a working server: every panel and every alert finds data.

    scrape_test.py OCTAVOD OCTAVO
"""

import json
import math
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import yaml

import promql
import shipped

DIGITS = shipped.ROOT / "tests" / "data" / "digits"
SKIPPED = 77
PATIENCE = 60  # seconds that anything here may take


def wait_for(what, ready):
    """The first true result of `ready`."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        result = ready()
        if result:
            return result
        time.sleep(0.2)
    raise TimeoutError(f"gave up waiting for {what}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Program:
    """A server that runs while the `with` lasts, its log in `folder`."""

    def __init__(self, folder, *command):
        self.command, self.log = command, folder / (pathlib.Path(command[0]).name + ".log")

    def __enter__(self):
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        return self

    def __exit__(self, kind, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if kind:
            print(f"--- {self.log.name}\n{self.log.read_text(errors='replace')[-4000:]}")

    def check_alive(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.command[0]} ended with {self.process.returncode}")
        return True


class Prometheus:
    """The shipped configuration, with the scraped address and interval of this test."""

    def __init__(self, folder, target):
        config = shipped.load_yaml(shipped.PROMETHEUS)
        config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        config["rule_files"] = [str(shipped.RULES)]
        config["scrape_configs"][0]["static_configs"] = [{"targets": [target]}]
        path = folder / "prometheus.yml"
        path.write_text(yaml.safe_dump(config))
        self.address = f"127.0.0.1:{free_port()}"
        self.program = Program(folder, "prometheus", f"--config.file={path}",
                               f"--storage.tsdb.path={folder / 'tsdb'}",
                               f"--web.listen-address={self.address}")

    def get(self, path, **parameters):
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"http://{self.address}/api/v1/{path}?{query}",
                                    timeout=10) as answer:
            return json.load(answer)["data"]

    def ask(self, expression):
        """Values of the series that `expression` yields now."""
        result = self.get("query", query=expression)["result"]
        return [float(series["value"][1]) for series in result]

    def scrapes(self):
        """How often the server was scraped with success."""
        try:
            counts = self.ask('count_over_time((up{job="octavo"} == 1)[10m:1s])')
        except OSError:
            return 0
        return counts[0] if counts else 0


def run_jobs(octavo, server, folder):
    """One job that succeeds and one whose model is none."""
    def optimize(model, *more):
        return subprocess.run(
            [octavo, "optimize", str(model), "-o", str(folder / "out.onnx"), "--data",
             str(DIGITS / "calibration.npz"), "--server", server, "--quiet", *more],
            capture_output=True, text=True, timeout=PATIENCE, check=False)

    good = optimize(DIGITS / "model.onnx")
    if good.returncode:
        raise RuntimeError(f"the job ended with {good.returncode}: {good.stderr}")
    broken = folder / "broken.onnx"
    broken.write_bytes((DIGITS / "model.onnx").read_bytes()[:5000])
    bad = optimize(broken)
    if bad.returncode != 3:
        raise RuntimeError(f"a truncated model ended with {bad.returncode}: {bad.stderr}")


def exposition(metrics_address):
    with urllib.request.urlopen(f"http://{metrics_address}/metrics", timeout=10) as answer:
        return answer.read()


def cancel_job(octavo, server, metrics_address, folder):
    """A job that runs for long is interrupted.

    Asks the server itself: the latest scrape may be of an earlier job.
    """
    with subprocess.Popen(
            [octavo, "optimize", str(DIGITS / "model.onnx"), "-o", str(folder / "out.onnx"), "--data",
             "random:1:200000", "--server", server, "--quiet"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
        wait_for("a running job",
                 lambda: b"\noctavo_jobs_running 1\n" in exposition(metrics_address))
        client.send_signal(signal.SIGINT)
        client.wait(PATIENCE)
    # The job ends after its client.
    wait_for("its end",
             lambda: b"\noctavo_job_cancel_seconds_count 1\n" in exposition(metrics_address))


def questions():
    """Pairs of a name and an expression that must yield data."""
    for title, expression in shipped.expressions():
        yield f"panel '{title}'", expression
    for alert in shipped.alerts():
        yield f"alert {alert['alert']}", promql.without_comparison(alert["expr"])


def complaints(prometheus):
    known = set(prometheus.get("label/__name__/values"))
    found = []
    for name, expression in questions():
        missing = promql.metrics(expression) - known
        if missing:
            found.append(f"{name}: the server has no {', '.join(sorted(missing))}")
            continue
        values = prometheus.ask(expression)
        if not any(not math.isnan(value) for value in values):
            found.append(f"{name}: no data from {expression}" +
                         (f", only {len(values)} NaN" if values else ""))
    for group in prometheus.get("rules")["groups"]:
        for rule in group["rules"]:
            if rule["health"] != "ok":
                found.append(f"alert {rule['name']}: {rule.get('lastError', rule['health'])}")
    return found


def check_exposition(metrics_address):
    """`promtool check metrics` has nothing to say about what the server exposes."""
    result = subprocess.run(["promtool", "check", "metrics"], input=exposition(metrics_address),
                            capture_output=True, check=False)
    return [f"promtool check metrics: {line}"
            for line in (result.stdout + result.stderr).decode().splitlines()]


def check(octavod, octavo, folder):
    port_file, state = folder / "port", folder / "state"
    state.mkdir()
    with Program(folder, octavod, "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0",
                 "--port-file", str(port_file), "--isolation", "process", "--state-dir",
                 str(state)) as server:
        wait_for("octavod", lambda: server.check_alive() and port_file.exists() and
                 len(port_file.read_text().split()) == 2)
        address, metrics_address = port_file.read_text().split()
        prometheus = Prometheus(folder, metrics_address)
        with prometheus.program as program:
            # Rates need counts from before and after the jobs.
            before = wait_for("the first scrapes",
                              lambda: program.check_alive() and prometheus.scrapes() >= 2 and
                              prometheus.scrapes())
            run_jobs(octavo, address, folder)
            cancel_job(octavo, address, metrics_address, folder)
            seen = prometheus.scrapes()
            wait_for("scrapes after the jobs",
                     lambda: prometheus.scrapes() >= max(seen + 2, before + 3))
            return complaints(prometheus) + check_exposition(metrics_address)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    octavod, octavo = sys.argv[1:]
    absent = [name for name in (octavod, octavo, "prometheus", "promtool")
              if not shutil.which(name)]
    if absent:
        print(f"skipped: no {', '.join(absent)}")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        found = check(octavod, octavo, pathlib.Path(folder))
    asked = len(list(questions()))
    print("\n".join([*found, f"{asked} expressions, {len(found)} complaints"]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
