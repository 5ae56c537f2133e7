#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that code stays small: files under 400 lines, function bodies under 60."""

import sys

import cpp_text
import sources

FILE_LIMIT = 400
FUNCTION_LIMIT = 60
LICENSE = "// SPDX-License-Identifier: "


def check_text(path, text):
    """All complaints about one file, as lines to print."""
    found = []
    # The licence line is the same everywhere and is not counted.
    length = text.count("\n") - text.startswith(LICENSE)
    if length >= FILE_LIMIT:
        found.append(f"{path}: {length} lines, must stay under {FILE_LIMIT}")
    for name, first, last in cpp_text.functions(text):
        if last - first + 1 >= FUNCTION_LIMIT:
            found.append(f"{path}:{first}: {name} has {last - first + 1} lines, must stay under "
                         f"{FUNCTION_LIMIT}")
    return found


def check_files(root, paths):
    return [line for path in paths for line in check_text(path, (root / path).read_text())]


def main():
    paths = sources.cpp_files()
    complaints = check_files(sources.ROOT, paths)
    print("\n".join(complaints + [f"{len(paths)} files, {len(complaints)} complaints"]))
    return 1 if complaints or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
