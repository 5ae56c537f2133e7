#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that names and prose use the terms of docs/glossary.md and none of the retired words.

    check_language.py              the whole tree; folders in PENDING are counted, not refused
    check_language.py FOLDER..     every finding below these folders or in these files

A finding is a retired word that none of its word's exceptions explains.  Add an exception to the
word's row in language_words.py, with its reason, only where the word is the right one.
"""

import pathlib
import sys

import language_text
import language_words
import sources

# Folders and files that are being cleaned: their findings are counted and not refused.  One leaves
# the list when its findings are mended.
PENDING = (
    "core/report", "core/runtime", "core/target", "tests/core",
    "tests/golden/plan",
)

# Files that must hold retired words, or that are not ours to word.
EXEMPT = (
    "LICENSE",                                # the licence's own text
    "docs/glossary.md",                       # maps retired words to terms
    "CHANGELOG.md",                           # maps old rule names to new ones
    "tests/lint/check_language_test.py",      # feeds the check what it must refuse
    "tests/lint/language_words.py",           # the table of retired words
    "proto/google/", "proto/grpc/",           # parts of other projects' contracts
    "tests/peers/package-lock.json",          # written by npm
)
SUFFIXES = (".cc", ".h", ".proto", ".mjs", ".py", ".sh", ".cmake", ".md", ".txt", ".json", ".yaml",
           ".yml", ".graph", "Dockerfile", "NOTICE", ".ci/run", ".html")


def check_text(path, text):
    """All findings in one file, as lines to print."""
    found = []
    views = language_text.Views(path, text)
    for word in language_words.WORDS:
        for line, shown in word.find(path, views):
            found.append((line, f"{path}:{line}: '{shown}' is retired; write {word.write}"))
    return [line for _, line in sorted(found)]


def inside(path, places):
    return any(path == place or path.startswith(place.rstrip("/") + "/") for place in places)


def checked(path):
    return path.endswith(SUFFIXES) and not inside(path, EXEMPT)


def check_files(root, paths):
    return {path: check_text(path, (root / path).read_text(errors="replace")) for path in paths}


def show_folders(folders):
    """Findings below `folders`, which PENDING does not excuse."""
    wanted = [str(pathlib.Path(folder).resolve().relative_to(sources.ROOT))
              if pathlib.Path(folder).exists() else folder.rstrip("/") for folder in folders]
    paths = [path for path in sources.all_files()
             if checked(path) and ("." in wanted or inside(path, wanted))]
    if not paths:
        print(f"no file of this project lies in: {' '.join(folders)}")
        return 2
    found = [line for lines in check_files(sources.ROOT, paths).values() for line in lines]
    print("\n".join(found + [f"{len(paths)} files, {len(found)} findings"]))
    return 1 if found else 0


def main(arguments):
    if arguments:
        return show_folders(arguments)
    findings = check_files(sources.ROOT, [p for p in sources.all_files() if checked(p)])
    for place in PENDING:
        count = sum(len(lines) for path, lines in findings.items() if inside(path, [place]))
        print(f"{place}: {count} findings, not refused yet (PENDING)"
              if count else f"{place}: no findings; take it out of PENDING")
    found = [line for path, lines in findings.items() if not inside(path, PENDING)
             for line in lines]
    print("\n".join(found + [f"{len(findings)} files, {len(found)} findings outside PENDING"]))
    return 1 if found or not findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
