#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that names and prose use the terms of docs/glossary.md and none of the retired words.

    check_language.py              checks the whole tree
    check_language.py FOLDER..     checks these folders and files only

A finding is a retired word that none of its word's exceptions explains.  Add an exception to the
word's row in language_words.py, with its reason, only where the word is the right one.
"""

import pathlib
import sys

import language_text
import language_words
import sources

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


def places_of(arguments, root):
    """Folders and files of the command line as paths from the root of the repository."""
    return [str(pathlib.Path(each).resolve().relative_to(root))
            if pathlib.Path(each).exists() else each.rstrip("/") for each in arguments]


def main(arguments, root=sources.ROOT):
    places = places_of(arguments, root)
    paths = [path for path in sources.all_files(root)
             if checked(path) and (not places or "." in places or inside(path, places))]
    if not paths:
        print(f"no file of this project is in: {' '.join(arguments)}")
        return 2
    found = [line for path in paths
             for line in check_text(path, (root / path).read_text(errors="replace"))]
    print("\n".join(found + [f"{len(paths)} files, {len(found)} findings"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
