#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads llvm-cov's JSON summary on standard input, prints the page docs/coverage.md.

    coverage_page.py REVISION
"""

import collections
import json
import sys

FOLDERS = ("core/", "server/", "client/")


def lines_by_folder(summary):
    """{folder: [lines that ran, lines]} of the product's own files; tests are left out."""
    found = collections.defaultdict(lambda: [0, 0])
    for file in summary["data"][0]["files"]:
        # -ffile-prefix-map makes the paths relative to the repository, and llvm-cov puts the build
        # folder in front: ./build/coverage/./core/..
        name = file["filename"].rsplit("./", 1)[-1]
        if not name.startswith(FOLDERS):
            continue
        folder = "/".join(name.split("/")[:2]) if name.count("/") > 1 else name.split("/")[0]
        lines = file["summary"]["lines"]
        found[folder][0] += lines["covered"]
        found[folder][1] += lines["count"]
    return dict(found)


def page(folders, revision):
    total = [sum(each[k] for each in folders.values()) for k in (0, 1)]
    rows = [f"| {name} | {count} | {100 * covered / count:.1f} % |"
            for name, (covered, count) in sorted(folders.items()) if count]
    return "\n".join([
        "# Test coverage", "",
        f"Written by `sh tests/coverage.sh` at revision {revision}: clang's source-based coverage "
        "of all ctest tests but those that check text or measure time. Lines of code that ran at "
        "least once:", "",
        "| folder | lines | ran |", "|---|--:|--:|", *rows,
        f"| **all** | {total[1]} | **{100 * total[0] / total[1]:.1f} %** |", ""])


if __name__ == "__main__":
    print(page(lines_by_folder(json.load(sys.stdin)), sys.argv[1]), end="")
