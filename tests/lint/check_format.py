#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that C++ files look as clang-format 14 would write them.  Exits 77 where it is absent."""

import shutil
import subprocess
import sys

import sources

SKIPPED = 77


def formatter():
    """The path of clang-format 14, or None; other versions lay out some code differently."""
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path and " 14." in subprocess.run([path, "--version"], capture_output=True,
                                             text=True).stdout:
            return path
    return None


def check_files(tool, root, paths):
    """The formatter's complaints, one line each."""
    result = subprocess.run([tool, "--dry-run", "-Werror", "--style=file", *paths], cwd=root,
                            capture_output=True, text=True)
    complaints = [line for line in result.stderr.splitlines() if ": error: " in line]
    if result.returncode != 0 and not complaints:
        complaints = [result.stderr.strip()]
    return complaints


def main():
    tool = formatter()
    if tool is None:
        print("clang-format 14 is not installed (Debian: clang-format-14)")
        return SKIPPED
    paths = sources.cpp_files()
    complaints = check_files(tool, sources.ROOT, paths)
    print("\n".join(complaints + [f"{len(paths)} files, {len(complaints)} complaints"]))
    if complaints:
        print("to mend: clang-format-14 -i FILE...")
    return 1 if complaints or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
