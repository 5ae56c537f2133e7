#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the generated pages of docs/ and the generated parts of README.md.

    docs/generate.py [--octavo PATH] [--octavod PATH]      writes what differs
    docs/generate.py --check ...                           exit 1 where a page differs

A page is its template in docs/templates/ with every line `@NAME ARGUMENTS` replaced: by what the
programs print (help, options, passes, ops, targets, warnings), or by the figures that docs/measure.py keeps
in docs/figures/.  In README.md, the text between `<!-- NAME -->` and `<!-- /NAME -->` is replaced:
the table `summary`, and `job`, a session of commands with its output.
"""

import argparse
import difflib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

DOCS = pathlib.Path(__file__).resolve().parent
ROOT = DOCS.parent
NOTE = "<!-- Written by docs/generate.py from docs/templates/{}; edit that file. -->\n"
# The README's rows: a model of the table `models`, found in the table `speed` too.
SUMMARY = ("digits", "mnist_cntk", "fastestdet", "ultraface_rfb320", "superres_224")
# The README's session.
JOB = (
    "octavo optimize model.onnx --data calibration.npz -o int8.onnx --report report.json "
    "--html report.html --quiet",
    "summary.py report.json",
    "octavo diff model.onnx int8.onnx --data heldout.npz --labels labels.npy --report heldout.json "
    "--quiet",
    "summary.py heldout.json",
)

# The session of docs/command-line.md that shows `octavo compare`.
COMPARISON = (
    "octavo optimize model.onnx --data calibration.npz -o before.onnx --report before.json --quiet",
    "octavo optimize model.onnx --data calibration.npz --calibration mse -o after.onnx "
    "--report after.json --quiet",
    "octavo compare before.json after.json",
)


class Program:
    def __init__(self, path):
        self.path = path

    def print(self, *arguments):
        # The width is fixed, as help texts are broken to fit the terminal's.
        result = subprocess.run([self.path, *arguments], capture_output=True, text=True,
                                env={"COLUMNS": "100", "OCTAVO_ISA": "portable"}, check=False)
        if result.returncode != 0:
            sys.exit(f"{self.path} {' '.join(arguments)}: exit {result.returncode}: "
                     f"{result.stderr}")
        return result.stdout

    def rows(self, *arguments):
        return [json.loads(line) for line in self.print(*arguments, "--json").splitlines()]


def cell(value):
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, list):
        return ", ".join(cell(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {cell(item)}" for key, item in value.items())
    return str(value).replace("|", "\\|")


def condition(rule):
    """The condition of a row of `octavo passes`, and the other passes that apply the rule."""
    also = f"also applied by {cell(rule['also_applied_by'])}" if rule["also_applied_by"] else ""
    return "; ".join(filter(None, (cell(rule["condition"]), also)))


def code(text):
    return f"`{cell(text)}`" if text else ""


def table(headings, rows):
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def objects_table(rows):
    """A table of JSON objects: a column for each key, the first one as code."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return table([key.replace("_", " ") for key in keys],
                 [[code(row[keys[0]]), *(cell(row.get(key, "")) for key in keys[1:])]
                  for row in rows])


def read_figures(name):
    """(head, body) of docs/figures/NAME.md: lines `key: value` up to an empty one, the text."""
    head, _, body = (DOCS / "figures" / f"{name}.md").read_text().partition("\n\n")
    return dict(line.split(": ", 1) for line in head.splitlines()), body


def markdown_rows(text, heading):
    """The rows of the first table in `text` whose first heading is `heading`, as lists of cells."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    rows = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        rows.append([part.strip() for part in line.strip().strip("|").split("|")])
    return [rows[0], *rows[2:]]


def figures(name):
    head, body = read_figures(name)
    return (f"Printed by `{head['command']}` on {head['date']}, revision {head['revision']}, on "
            f"{head['machine']}.\n\n{body.rstrip()}\n")


def summary():
    def by_model(name):
        head, body = read_figures(name)
        headings, *rows = markdown_rows(body, "model")
        # Of equal headings the first counts: `after` is of the bytes, then of the nodes.
        return head, {row[0]: dict(reversed(list(zip(headings, row)))) for row in rows}

    head, models = by_model("models")
    speed_head, speed = by_model("speed")
    rows = []
    for name in SUMMARY:
        model, times = models[name], speed[name]
        top1 = f"{model['top-1 float']} → {model['int8']} %" if model["int8"] else ""
        rows.append([name, f"{model['kB before']} → {model['after']}", f"{model['SQNR, dB']} dB",
                     top1, model["within 1 step"], f"{times['u8, 1 thread: ms']} ms",
                     f"{times['ratio']} times"])
    text = table(["model", "kB", "SQNR", "top-1", "within 1 LSB of ONNX Runtime",
                  "latency, 1 thread", "faster than ONNX Runtime"], rows)
    return (f"{text}\nAccuracy: `{head['command']}`, {head['date']}. Speed: "
            f"`{speed_head['command']}`, {speed_head['date']}, on\n{speed_head['machine']}.\n")


class Pages:
    def __init__(self, octavo, octavod):
        self._octavo, self._octavod = Program(octavo), Program(octavod)

    def help(self, command=""):
        arguments = [command, "--help"] if command else ["--help"]
        return f"```\n{self._octavo.print(*arguments).strip()}\n```\n"

    def settings(self):
        return f"```\n{self._octavod.print('--help').strip()}\n```\n"

    def options(self):
        """The table of a job's options."""
        def values(row):
            choices = ", ".join(map(code, row["choices"]))
            return choices or " ".join(filter(None, [row["type"], cell(row["bounds"])]))

        return table(["flag", "meaning", "values", "default", "changes the result"],
                     [[", ".join(map(code, row["flags"])) or f"field {code(row['name'])}",
                       cell(row["help"]), values(row),
                       cell(row["default"]), cell(row["changes_result"])]
                      for row in self._octavo.rows("options")])

    def passes(self):
        """For each pass its postcondition and the table of its rules."""
        rows = self._octavo.rows("passes")
        text = ""
        for name in dict.fromkeys(row["pass"] for row in rows):
            rules = [row for row in rows if row["pass"] == name]
            text += f"## {name}\n\nAfterwards {rules[0]['postcondition']}.\n\n"
            text += table(["rule", "pattern", "replacement", "effect", "condition"],
                          [[*(f"`{cell(row[key])}`" for key in
                              ("rule", "pattern", "replacement", "effect")), condition(row)]
                           for row in rules]) + "\n"
        return text.rstrip("\n") + "\n"

    def ops(self):
        """The legend of `octavo ops` and its table."""
        legend = self._octavo.print("ops").partition("\n\n")[2]
        return f"```\n{legend}```\n\n{objects_table(self._octavo.rows('ops'))}"

    def targets(self):
        return objects_table(self._octavo.rows("targets"))

    def warnings(self):
        return objects_table(self._octavo.rows("warnings"))

    def job(self):
        return self.session(JOB)

    def comparison(self):
        return self.session(COMPARISON)

    def session(self, commands):
        """The commands and what they print, in a folder with the files of tests/data/digits."""
        digits = ROOT / "tests/data/digits"
        programs = {"octavo": [str(pathlib.Path(self._octavo.path).resolve())],
                    "summary.py": [sys.executable, str(ROOT / "deploy/summary.py")]}
        lines = []
        with tempfile.TemporaryDirectory() as work:
            for name in ("model.onnx", "calibration.npz", "heldout.npz", "labels.npy"):
                shutil.copy(digits / name, work)
            for command in commands:
                name, *arguments = command.split()
                result = subprocess.run(programs[name] + arguments, cwd=work, check=True,
                                        capture_output=True, text=True)
                lines += [f"$ {command}", *map(str.rstrip, result.stdout.splitlines())]
        return "```\n" + "\n".join(lines) + "\n```\n"

    def fill(self, template):
        """`template` with each line `@NAME ARGUMENTS` replaced by what NAME gives."""
        own = {"help": self.help, "settings": self.settings, "options": self.options,
               "passes": self.passes, "ops": self.ops, "targets": self.targets,
               "warnings": self.warnings, "comparison": self.comparison,
               "figures": figures}
        return re.sub(r"^@(\w+)(?: (\S+))?\n", lambda match: own[match[1]](
            *([match[2]] if match[2] else [])), template, flags=re.MULTILINE)


def pages(programs):
    """Path and text of everything that is generated."""
    for template in sorted((DOCS / "templates").glob("*.md")):
        title, _, text = template.read_text().partition("\n")
        yield (DOCS / template.name,
               f"{title}\n\n{NOTE.format(template.name)}{programs.fill(text)}")
    text = (ROOT / "README.md").read_text()
    for name, made in (("summary", summary()), ("job", programs.job())):
        text = re.sub(rf"(<!-- {name} -->\n).*(?=<!-- /{name} -->)",
                      lambda match, made=made: match[1] + made, text, flags=re.DOTALL)
    yield ROOT / "README.md", text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    parser.add_argument("--octavo", default=ROOT / "build/release/client/octavo")
    parser.add_argument("--octavod", default=ROOT / "build/release/server/octavod")
    options = parser.parse_args()
    stale = []
    for path, text in pages(Pages(options.octavo, options.octavod)):
        before = path.read_text() if path.exists() else ""
        if before == text:
            continue
        stale.append(path.relative_to(ROOT))
        if options.check:
            sys.stdout.writelines(difflib.unified_diff(
                before.splitlines(True), text.splitlines(True), f"{path.relative_to(ROOT)}",
                "as the programs have it now", n=1))
        else:
            path.write_text(text)
            print(f"wrote {path.relative_to(ROOT)}")
    if options.check and stale:
        print("run docs/generate.py to write: " + " ".join(map(str, stale)))
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
