#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what Markdown files link to or name as a path exists.

Checked are relative links and images, and paths in code that begin with a folder of the root, as
`core/ir/graph.h`, or `core/ir/graph` for its files.  They may also be relative to the file's
folder.  A component in capitals is a placeholder, as in `tests/golden/PASS/`.
"""

import pathlib
import re
import sys

import sources

LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
PATH = re.compile(r"(?<![\w./-])((?:\.\./)*(?:[\w.-]+/)+[\w.-]*)")
PLACEHOLDER = re.compile(r"(^|/)(?!README|AGREEMENT)[A-Z][A-Z_]+(?=[a-z./]|$)|\.\.$")
ELSEWHERE = ("http:", "https:", "mailto:")
EXEMPT = ("CHANGELOG.md",)  # names what was


def named_paths(text, folders):
    """Paths in code whose first component is one of `folders`."""
    for code in CODE.finditer(text):
        for path in PATH.findall(code.group()):
            if path.split("/")[0] in folders and not PLACEHOLDER.search(path):
                yield code.start(), path.rstrip(".")


def complaints(name, text, exists, folders):
    """Lines to print; `exists` tells of a path relative to the root, `folders` are the root's."""
    # A page is written from its template into the folder above.
    folder = pathlib.PurePosixPath(name.replace("docs/templates/", "docs/")).parent
    missing = []
    for match in LINK.finditer(CODE.sub(lambda code: re.sub(r"[^\n]", " ", code.group()), text)):
        if not match[1].startswith(ELSEWHERE) and not exists(str(folder / match[1])):
            missing.append((match.start(), match[1]))
    for position, path in named_paths(text, folders):
        forms = [path, f"{folder / path}", f"{path}.h", f"{path}.cc"]
        if not any(exists(form) for form in forms):
            missing.append((position, path))
    return [f"{name}:{text.count(chr(10), 0, position) + 1}: there is no {path}"
            for position, path in sorted(missing)]


def main():
    root = sources.ROOT
    names = [name for name in sources.all_files() if name.endswith(".md") and name not in EXEMPT]
    folders = {name.split("/")[0] for name in sources.all_files() if "/" in name}
    found = [line for name in names
             for line in complaints(name, (root / name).read_text(),
                                    lambda path: (root / path).exists(), folders)]
    print("\n".join(found + [f"{len(names)} files, {len(found)} complaints"]))
    return 1 if found or not names else 0


if __name__ == "__main__":
    sys.exit(main())
