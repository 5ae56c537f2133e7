#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that code stays small: files under 400 lines, function bodies under 60, and folders whose
worth is that one can read them under a limit of their own."""

import sys

import cpp_text
import sources

FILE_LIMIT = 400
FUNCTION_LIMIT = 60
# Folder -> lines of code, without blank lines and comments.
FOLDER_LIMITS = {"core/verify": 2000}
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


def code_lines(text):
    """The lines that are neither blank nor a comment."""
    lines = [line.strip() for line in text.splitlines()]
    return sum(1 for line in lines if line and not line.startswith("//"))


def check_folders(texts):
    """Complaints about folders, of a mapping from path to text."""
    found = []
    for folder, limit in FOLDER_LIMITS.items():
        length = sum(code_lines(text) for path, text in texts.items()
                     if path.startswith(folder + "/"))
        if length >= limit:
            found.append(f"{folder}: {length} lines of code, must stay under {limit}")
    return found


def check_files(root, paths):
    texts = {str(path): (root / path).read_text() for path in paths}
    found = [line for path, text in texts.items() for line in check_text(path, text)]
    return found + check_folders(texts)


def main():
    paths = sources.cpp_files()
    complaints = check_files(sources.ROOT, paths)
    print("\n".join(complaints + [f"{len(paths)} files, {len(complaints)} complaints"]))
    return 1 if complaints or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
