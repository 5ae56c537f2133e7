# SPDX-License-Identifier: Apache-2.0
"""A power cut by libpower_cut.so: what a folder holds when only what was synced is left."""

import os
import pathlib
import shutil
import subprocess

LIBRARY = os.environ["POWER_CUT"]


def identity(path):
    return subprocess.check_output(["stat", "--format=%i-%.9W", path], text=True).strip()


class PowerCut:
    """Watches `folder`; `environment` is for the process that writes to it."""

    def __init__(self, folder, durable):
        self.folder = pathlib.Path(folder).resolve()
        self.durable = pathlib.Path(durable).resolve()
        self.durable.mkdir(parents=True)
        self.environment = {"LD_PRELOAD": LIBRARY, "POWER_CUT_FOLDER": str(self.folder),
                            "POWER_CUT_DURABLE": str(self.durable)}

    def cut(self):
        """Replaces the folder by what was durable; returns (files kept, files lost or emptied)."""
        before = {p for p in self.folder.rglob("*") if p.is_file()}
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        root = self.durable / "root"
        if root.exists():
            self.restore(root.read_text(), self.folder)
        # What the next cut finds again without another sync.
        shutil.rmtree(self.durable)
        self.durable.mkdir()
        self.keep(self.folder)
        root.write_text(identity(self.folder))
        after = {p for p in self.folder.rglob("*") if p.is_file() and p.stat().st_size > 0}
        return len(after), len(before - after)

    def keep(self, folder):
        """Copies the folder as the library does when all in it is synced."""
        lines = []
        for path in sorted(folder.iterdir()):
            if path.is_dir():
                self.keep(path)
            else:
                shutil.copyfile(path, self.durable / identity(path))
            lines.append(f"{'d' if path.is_dir() else 'f'} {identity(path)} {path.name}\n")
        (self.durable / identity(folder)).write_text("".join(lines))

    def restore(self, identity, target):
        names = self.durable / identity
        if not names.exists():
            return
        for line in names.read_text().splitlines():
            kind, of, name = line.split(" ", 2)
            if kind == "d":
                (target / name).mkdir()
                self.restore(of, target / name)
            elif (self.durable / of).exists():
                shutil.copyfile(self.durable / of, target / name)
            else:
                (target / name).touch()
