# SPDX-License-Identifier: Apache-2.0
"""A disk that fails and a clock that jumps, by libdisturb.so, while the server runs."""

import errno
import mmap
import os
import pathlib
import struct

LIBRARY = os.environ["DISTURB"]
DAY = 86400


class Disturbance:
    """`environment` is for the process; `state` is the folder whose disk fails."""

    def __init__(self, folder, state):
        control = pathlib.Path(folder) / "control"
        control.write_bytes(bytes(40))
        with open(control, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 40)
        self.environment = {"LD_PRELOAD": LIBRARY, "DISTURB_CONTROL": str(control),
                            "DISTURB_FOLDER": str(pathlib.Path(state).resolve())}

    def disk(self, on_write=0, on_read=0):
        """The errno of each call on the folder that writes or reads; 0 lets it succeed."""
        struct.pack_into("<ii", self.memory, 0, on_write, on_read)

    def clock(self, seconds):
        """How far the wall clock is ahead."""
        struct.pack_into("<q", self.memory, 8, seconds * 10**9)

    def failed(self):
        """How many calls have failed so far."""
        return struct.unpack_from("<q", self.memory, 16)[0]

    def leak(self, size):
        """How many bytes of memory the process loses for each process that it starts."""
        struct.pack_into("<q", self.memory, 24, size)

    def allocated(self):
        """How many bytes the process had from its allocator when it started a process last."""
        return struct.unpack_from("<q", self.memory, 32)[0]


FULL = {"on_write": errno.ENOSPC}
BROKEN = {"on_write": errno.EIO, "on_read": errno.EIO}
UNREADABLE = {"on_read": errno.EIO}
