#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that objects compiled for one instruction set define nothing that others could link.

A function with weak linkage (an inline function or a template of a shared header) that one of them
emits may replace the same function of every other file, which then runs on processors without the
instructions.  So these objects define local symbols and their own table of functions only.

    check_vector_objects.py BUILD    exits 77 where no such object has been built
"""

import pathlib
import re
import subprocess
import sys

# What octavo_vector_loops builds for AVX2 and AVX-512, and the int8 tiles.
OBJECTS = (r"_(avx2|avx512)\.dir/", r"tiles_(avx2|vnni)\.cc\.o$")
# As nm lists functions with weak linkage; shared data (V, u) hold no instructions.
WEAK = "Ww"
HARMLESS = "tdrbVu"
# Reads: octavo::...::avx2::kLoops, or a table of core/runtime/int8.
TABLE = re.compile(r"(::(avx2|avx512)::k\w+|::k(Avx2|Vnni)Tiles)$")


def complaints(path, listing):
    """What is wrong with the symbols that `nm -C --defined-only` lists of one object."""
    found = []
    for line in listing.splitlines():
        match = re.match(r"[0-9a-f]+ (\w) (.*)$", line)
        if not match or match[1] in HARMLESS:
            continue
        if match[1] in WEAK:
            found.append(f"{path}: defines {match[2]}, which other files may share")
        elif not TABLE.search(match[2]):
            found.append(f"{path}: {match[2]} must have internal linkage")
    return found


def is_vector_object(path):
    return any(re.search(pattern, path) for pattern in OBJECTS)


def main():
    build = pathlib.Path(sys.argv[1])
    paths = [path for path in (build / "core").rglob("*.o") if is_vector_object(str(path))]
    found = []
    for path in sorted(paths):
        done = subprocess.run(["nm", "-C", "--defined-only", path], capture_output=True, text=True,
                              check=True)
        found += complaints(path.relative_to(build), done.stdout)
    print("\n".join(found + [f"{len(paths)} objects, {len(found)} complaints"]))
    if not paths:
        return 77
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
