# SPDX-License-Identifier: Apache-2.0
"""octavod under load: its memory, its descriptors, its health, an honest job during it."""

import contextlib
import os
import pathlib
import re
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import http2  # noqa: E402
import programs  # noqa: E402

MIB = 1 << 20


def status_bytes(pid, field):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


class Server(programs.Server):
    """octavod, with what an operator sees of it."""

    def resident(self):
        return status_bytes(self.process.pid, "VmRSS")

    def forget_peak(self):
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def peak(self):
        """The most memory since forget_peak."""
        return status_bytes(self.process.pid, "VmHWM")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def threads(self):
        return status_bytes(self.process.pid, "Threads") // 1024

    def health(self, checks, pause=0.02):
        """Sorted seconds of `checks` health checks, each on a connection of its own."""
        taken = []
        for _ in range(checks):
            taken.append(http2.check_health(self.address))
            time.sleep(pause)
        return sorted(taken)

    def honest_job(self, folder):
        """Seconds of a small job by the command line; raises if it fails."""
        began = time.monotonic()
        result = programs.octavo(
            "optimize", programs.DIGITS / "model.onnx", "-o", pathlib.Path(folder) / "o.onnx",
            "--data", "random:1:4", server=self.address)
        if result.returncode != 0:
            raise RuntimeError(f"the honest job failed: {result.stderr}")
        return time.monotonic() - began


def percentile(ordered, share):
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def cpu_seconds(pid):
    """Processor time that a process has used so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tree_cpu_seconds(pid):
    """The same of the process, of the children that it has and of those that it had."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    used = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    for child in children(pid):
        with contextlib.suppress(OSError):
            used += cpu_seconds(child)
    return used


def metric(server, name):
    text = urllib.request.urlopen(f"http://{server.metrics}/metrics", timeout=20).read().decode()
    return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE).group(1))


def children(pid):
    """The processes that `pid` started and that have not been waited for."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # a thread that has ended
            found += [int(child) for child in (task / "children").read_text().split()]
    return found
