#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every reason of an error is a value of octavo.v1.ErrorReason (errors.proto)."""

import re
import sys

import sources

PROTO = "proto/octavo/v1/errors.proto"
FOLDERS = ("core/", "server/", "client/")
PREFIX = "ERROR_REASON_"
USES = re.compile(r'(?:\bReason\(|\breason = )"([^"]*)"')


def known(proto):
    return {name[len(PREFIX):] for name in re.findall(rf"^  ({PREFIX}\w+) = \d+;", proto, re.M)}


def complaints(path, text, reasons):
    """A line for each reason in `text` that is not in `reasons`."""
    return [f"{path}: '{reason}' is not in {PROTO}"
            for reason in USES.findall(text) if reason and reason not in reasons]


def main():
    reasons = known((sources.ROOT / PROTO).read_text())
    paths = [path for path in sources.all_files()
             if path.startswith(FOLDERS) and path.endswith((".cc", ".h"))]
    found = [line for path in paths
             for line in complaints(path, (sources.ROOT / path).read_text(), reasons)]
    print("\n".join(found + [f"{len(paths)} files, {len(reasons)} reasons, {len(found)} findings"]))
    return 1 if found or not paths or not reasons else 0


if __name__ == "__main__":
    sys.exit(main())
