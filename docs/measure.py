#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures again what docs/benchmarks.md and README.md show, then writes both.

    docs/measure.py NAME..            models, placement, passes
    docs/measure.py speed DIR         DIR holds NAME.onnx, or NAME/model.onnx, of each model

docs/figures/NAME.md keeps what a command printed, with the date, the revision and the machine.
Figures are of an idle machine: `speed` and `passes` time, the others also count.
"""

import datetime
import os
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parent
ROOT = DOCS.parent

COMMANDS = {
    "models": ["node", "tests/peers/models_table.mjs"],
    "speed": ["node", "tests/peers/bench.mjs"],
    "placement": ["build/release/tests/bench/placement_bench"],
    "passes": ["build/release/tests/bench/passes_growth"],
}


def machine():
    model = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return f"{os.cpu_count()} cores of {model[1] if model else 'an unknown processor'}"


def revision():
    result = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--exclude=*"],
                            capture_output=True, text=True, check=False)
    return result.stdout.strip() or "unknown"


def one_row_per_model(text):
    """bench.mjs's table (a row per model, activations and threads) with one row per model."""
    times = {}
    for line in text.splitlines():
        cells = [part.strip() for part in line.strip().strip("|").split("|")]
        if len(cells) == 9 and cells[2].isdigit():
            times.setdefault(cells[0], {})[cells[1], cells[2]] = cells[3:6]
    headings = ["model", "u8, 1 thread: ms", "ONNX Runtime ms", "ratio", "2 threads: ms",
                "ONNX Runtime ms", "ratio", "s8, 1 thread: ratio", "2 threads: ratio"]
    rows = [headings, ["---"] + ["---:"] * 8]
    for model, of in times.items():
        rows.append([model, *of["u8", "1"], *of["u8", "2"], of["i8", "1"][2], of["i8", "2"][2]])
    means = [line for line in text.splitlines() if "geometric mean" in line]
    return ("\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n\n" +
            "\n".join(f"- {line}" for line in means) + "\n")


def models_in(folder):
    folder = pathlib.Path(folder)
    return sorted(map(str, [*folder.glob("*.onnx"), *folder.glob("*/model.onnx")]))


def measure(name, folder):
    command = COMMANDS[name] + (models_in(folder) if name == "speed" else [])
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {result.returncode}\n{result.stderr}")
    text = one_row_per_model(result.stdout) if name == "speed" else result.stdout
    shown = " ".join(COMMANDS[name] + (["MODEL.onnx.."] if name == "speed" else []))
    (DOCS / "figures" / f"{name}.md").write_text(
        f"command: {shown}\ndate: {datetime.date.today()}\nrevision: {revision()}\n"
        f"machine: {machine()}\n\n{text}")


def main(arguments):
    names = [name for name in arguments if name in COMMANDS]
    rest = [name for name in arguments if name not in COMMANDS]
    if not names or len(rest) != ("speed" in names):
        sys.exit(__doc__)
    for name in names:
        measure(name, rest[0] if rest else None)
    subprocess.run([sys.executable, DOCS / "generate.py"], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
