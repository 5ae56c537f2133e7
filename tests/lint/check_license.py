#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every source file names its licence in an SPDX line at the top."""

import sys

import sources

TAG = "SPDX-License-Identifier: Apache-2.0"
SUFFIXES = (".cc", ".h", ".proto", ".mjs", ".py", ".sh", ".cmake", ".yaml", ".yml",
           "CMakeLists.txt", "Dockerfile")
# Parts of other projects' contracts; NOTICE names their licence.
FOREIGN = ("proto/google/", "proto/grpc/")


def complaints(path, text):
    """A list with one line if `text` has no SPDX line, or none if it has."""
    # A script's first line names its interpreter.
    head = text.split("\n", 2)[:2]
    if any(line.strip("/# ") == TAG for line in head):
        return []
    return [f"{path}: the first line must be a comment with '{TAG}'"]


def is_source(path):
    return path.endswith(SUFFIXES) and not path.startswith(FOREIGN)


def main():
    paths = [path for path in sources.all_files() if is_source(path)]
    found = [line for path in paths
             for line in complaints(path, (sources.ROOT / path).read_text())]
    print("\n".join(found + [f"{len(paths)} files, {len(found)} complaints"]))
    return 1 if found or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
