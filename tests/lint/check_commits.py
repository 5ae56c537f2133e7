#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks commit messages: `area: imperative` of at most 72 characters, then a body that says why.

Looks at the commits since BASE, the last one before this check existed.  Exits 77 where git or
that commit is not there (a tarball, a shallow clone).
"""

import re
import subprocess
import sys

import sources

BASE = "5ca992532ee92711b744d56e9aede4eda2df221f"
SUBJECT_LIMIT = 72
SUBJECT = re.compile(r"[a-z0-9][\w./, -]*: (\S+)")
# What an imperative does not end in, and imperatives that do.
NOT_IMPERATIVE = re.compile(r"(ed|ing|[^s]s)$", re.IGNORECASE)
IMPERATIVES = {"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "bring",
               "string", "ring", "bias", "focus", "canvas", "alias"}


def complaints(name, message):
    """What is wrong with one commit's message, as lines to print."""
    lines = message.rstrip("\n").split("\n")
    subject = lines[0]
    found = []
    if len(subject) > SUBJECT_LIMIT:
        found.append(f"{name}: the subject has {len(subject)} characters, at most "
                     f"{SUBJECT_LIMIT} are allowed: {subject}")
    match = SUBJECT.match(subject)
    if not match:
        found.append(f"{name}: the subject must be 'area: imperative': {subject}")
    elif NOT_IMPERATIVE.search(match[1]) and match[1].lower() not in IMPERATIVES:
        found.append(f"{name}: '{match[1]}' is no imperative: {subject}")
    if len(lines) > 1 and lines[1]:
        found.append(f"{name}: a blank line must follow the subject: {subject}")
    if not any(line.strip() for line in lines[1:]):
        found.append(f"{name}: the body must say why: {subject}")
    return found


def git(*arguments):
    command = ["git", "-c", "safe.directory=*", "-C", str(sources.ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def main():
    try:
        log = git("log", "-z", "--no-merges", "--format=%h%n%B", f"{BASE}..HEAD")
    except OSError as error:
        print(f"skipped: {error}")
        return 77
    if log.returncode != 0:
        print(f"skipped: {log.stderr.strip().splitlines()[0]}")
        return 77
    commits = [entry.split("\n", 1) for entry in log.stdout.split("\0") if entry.strip()]
    found = [line for name, message in commits for line in complaints(name, message)]
    print("\n".join(found + [f"{len(commits)} commits, {len(found)} complaints"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
