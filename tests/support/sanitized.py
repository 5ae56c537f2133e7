#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a test of sanitized programs and fails also if one of its processes wrote a report.

    sanitized.py PROGRAM [ARGUMENT...]

A test alone may not notice: it kills octavod, it does not read the exit code after SIGTERM, where
leaks are found, or it expects that the call fails which the report ended.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def environment(reports):
    """Every process writes its report to the folder `reports`."""
    made = dict(os.environ)
    for name, options in (("ASAN_OPTIONS", "detect_leaks=1"),
                          ("UBSAN_OPTIONS", "print_stacktrace=1")):
        given = made.get(name)
        made[name] = ":".join([*([given] if given else []), options, f"log_path={reports}/report"])
    # Debian's name, by which the runtime does not look for it.
    symbolizer = shutil.which("llvm-symbolizer-14")
    if symbolizer:
        made.setdefault("ASAN_SYMBOLIZER_PATH", symbolizer)
    return made


def main(command):
    with tempfile.TemporaryDirectory() as folder:
        code = subprocess.run(command, env=environment(folder), check=False).returncode
        reports = sorted(pathlib.Path(folder).iterdir())
        for report in reports:
            print(f"\n{report.name} of a sanitizer:\n{report.read_text(errors='replace')}",
                  file=sys.stderr)
        return 1 if reports else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
