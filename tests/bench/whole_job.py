#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The time of a whole job relative to its unavoidable parts.

    whole_job.py MODEL.onnx [--samples 16] [--rounds 3] [--threads N] [--octavo PROGRAM]

Times `octavo optimize` with samples and a report, and in turns with it `octavo bench` of the model
and of the folded one: a job's unavoidable parts are one float inference per sample for the profile,
one for the report, and one integer inference.  With one thread the same by processor time, which a
busy machine disturbs less.  Memory is compared with the model's bytes and those of all values of
one batch.  Medians of the rounds.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

MOST_TIME = 1.5  # of the unavoidable parts
MOST_MEMORY = 1.3  # of the model's bytes plus one batch of values
MEGABYTE = 1e6


def run(command):
    """Wall seconds, processor seconds, peak bytes."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ends with {process.returncode}")
    used = usage.ru_utime + usage.ru_stime
    return time.monotonic() - start, used, usage.ru_maxrss * 1024


def inference(octavo, model, runs, threads):
    """Median seconds of one inference, and its processor seconds."""
    command = [octavo, "bench", model, "--json", "--quiet", *threads, "--runs"]
    done = subprocess.run([*command, str(runs)], check=True, capture_output=True)
    _, few, _ = run([*command, "1"])
    _, many, _ = run([*command, str(runs + 1)])
    return json.loads(done.stdout)["median_ms"] / 1e3, (many - few) / runs


def medians(rows):
    return [statistics.median(column) for column in zip(*rows)]


def value_bytes(octavo, model, folder):
    """Of all values of one batch."""
    command = [octavo, "run", model, "--data", "random:0:1", "--values", "all", "-o", folder]
    subprocess.run([*command, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    return sum(path.stat().st_size for path in pathlib.Path(folder).glob("*.npy"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0, help="one per core by default")
    parser.add_argument("--octavo", default="build/release/client/octavo")
    arguments = parser.parse_args()
    octavo, model, samples = arguments.octavo, arguments.model, arguments.samples
    threads = ["--threads", str(arguments.threads)] if arguments.threads else []

    with tempfile.TemporaryDirectory() as folder:
        folded, report = f"{folder}/folded.onnx", f"{folder}/report.json"
        job = [octavo, "optimize", model, "--data", f"random:0:{samples}", "-o", folded]
        job += ["--report", report, "--quiet", *threads]
        jobs, floats, integers = [], [], []
        for _ in range(arguments.rounds):
            jobs.append(run(job))
            floats.append(inference(octavo, model, samples, threads))
            integers.append(inference(octavo, folded, samples, threads))
        with open(report, encoding="utf-8") as file:
            passes = sum(row["seconds"] for row in json.load(file)["passes"])
        values = value_bytes(octavo, model, f"{folder}/values")

    seconds, used, peak = medians(jobs)
    real, real_used = medians(floats)
    integer, integer_used = medians(integers)
    parts = samples * (2 * real + integer)
    allowed = MOST_MEMORY * os.path.getsize(model) + values
    print(f"job          {seconds:8.2f} s, {used:.2f} s of processors, passes {passes:.2f} s")
    print(f"inference    {real * 1e3:8.2f} ms float, {integer * 1e3:.2f} ms integer")
    print(f"unavoidable  {parts:8.2f} s ({samples} samples)")
    print(f"ratio        {seconds / parts:8.2f}, at most {MOST_TIME}")
    if arguments.threads == 1:
        parts_used = samples * (2 * real_used + integer_used)
        print(f"  processors {used / parts_used:8.2f}, of {used:.2f} s and {parts_used:.2f} s")
    print(f"peak         {peak / MEGABYTE:8.0f} MB, at most {allowed / MEGABYTE:.0f} MB")


if __name__ == "__main__":
    main()
