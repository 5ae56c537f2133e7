# SPDX-License-Identifier: Apache-2.0
"""Which files the checks look at."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _from_git(root):
    """Tracked files and new ones that are not ignored; None outside a git checkout."""
    command = ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z", "--cached",
               "--others", "--exclude-standard"]
    try:
        result = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return [name.decode() for name in result.stdout.split(b"\0") if name]


def _from_walk(root):
    names = []
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith((".", "build")) and
                      f != "node_modules"]
        names += [str(pathlib.Path(folder, f).relative_to(root)) for f in files]
    return names


def all_files(root=ROOT):
    """Paths of all files of the project, relative to `root`, sorted."""
    names = _from_git(root)
    if names is None:
        names = _from_walk(root)
    return sorted(n for n in set(names) if (root / n).is_file())


def cpp_files(root=ROOT, folders=("core", "server", "client", "tests")):
    """Paths of the C++ files below `folders`, relative to `root`, sorted."""
    prefixes = tuple(folder + "/" for folder in folders)
    return [n for n in all_files(root) if n.startswith(prefixes) and n.endswith((".cc", ".h"))]
