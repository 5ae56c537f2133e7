#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files that octavo writes: what they may be, when they are checked, and in which order they
are written."""

import array
import fcntl
import gzip
import json
import os
import pathlib
import resource
import shutil
import stat
import subprocess
import tempfile
import termios
import threading
import time
import unittest

import models
import numpy as np

from programs import DIGITS, OCTAVO, PATIENCE, ROOT, Case, Server, clean_environment, octavo

MODEL, DATA = DIGITS / "model.onnx", DIGITS / "calibration.npz"
JOB = ("optimize", MODEL, "--data", DATA, "--deterministic")
OTHER_USER = 65534
F_SETPIPE_SZ = 1031  # of Linux; Python 3.10 names it


def binary(*arguments, stdout=subprocess.PIPE):
    """As octavo(), with the bytes of its output."""
    return subprocess.run([OCTAVO, *map(str, arguments)], stdout=stdout, stderr=subprocess.PIPE,
                          timeout=PATIENCE, env=clean_environment(), check=False)


class Outputs(Case):
    @classmethod
    def setUpClass(cls):
        """The bytes that every way of writing them must give."""
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        folder = pathlib.Path(temporary.name)
        result = octavo(*JOB, "-o", folder / "m.onnx", "--report", folder / "r.json", "--html",
                        folder / "r.html", "--certificate", folder / "c.txt")
        if result.returncode != 0:
            raise RuntimeError(result.stderr)
        cls.model, cls.report, cls.html, cls.certificate = (
            (folder / name).read_bytes() for name in ("m.onnx", "r.json", "r.html", "c.txt"))

    def device(self, name, minor):
        """A device like /dev/null (3) or /dev/full (7), in the folder where that is allowed.  The
        genuine one serves a user who could not replace it either."""
        if os.geteuid() != 0:
            return pathlib.Path({3: "/dev/null", 7: "/dev/full"}[minor])
        os.mknod(self.folder / name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        return self.folder / name

    def fifo(self, name):
        """A FIFO and a function that waits for what was written to it."""
        path = self.folder / name
        os.mkfifo(path)
        found = []
        reader = threading.Thread(target=lambda: found.append(path.read_bytes()), daemon=True)
        reader.start()

        def read():
            reader.join(PATIENCE)
            return found[0]
        return path, read

    def done(self, *arguments):
        result = octavo(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def refuse(self, arguments, code, *words):
        """Fails before the job, which would say `octavo: import`."""
        result = octavo(*arguments)
        self.assert_fails(result, code, *words)
        self.assertNotIn("octavo: import", result.stderr)
        self.assertNotIn("octavo: prepare", result.stderr)

    # What an output may be.

    def test_output_onto_a_device_does_not_replace_it(self):
        null = self.device("null", 3)
        self.done(*JOB, "-o", null, "--emit", "qdq", "--report", null, "--html", null,
                  "--certificate", null)
        self.done("profile", MODEL, "--data", DATA, "-o", null)
        self.done("diff", MODEL, MODEL, "--data", DATA, "--report", null, "--html", null)
        self.done("bench", MODEL, "--runs", "1", "--trace", null)
        self.assertTrue(stat.S_ISCHR(null.stat().st_mode))

    def test_output_onto_a_fifo_passes_through_it(self):
        out, read_model = self.fifo("m.onnx")
        report, read_report = self.fifo("report")
        self.done(*JOB, "-o", out, "--report", report)
        self.assertEqual(read_report(), self.report)
        self.assertEqual(read_model(), self.model)
        self.assertTrue(out.is_fifo() and report.is_fifo())

    def test_output_onto_a_symlink_keeps_the_link_and_replaces_its_target(self):
        (self.folder / "versions").mkdir()
        flags = {"-o": ("m.onnx", self.model), "--report": ("r.json", self.report),
                 "--html": ("r.html", self.html), "--certificate": ("c.txt", self.certificate),
                 "--depfile": ("m.d", None)}
        arguments = []
        for flag, (name, _) in flags.items():
            target = self.folder / "versions" / name
            if flag != "--html":  # a dangling link creates its target
                target.write_text("old")
            (self.folder / name).symlink_to(f"versions/{name}")
            arguments += [flag, self.folder / name]
        self.done(*JOB, *arguments)
        for name, expected in flags.values():
            self.assertTrue((self.folder / name).is_symlink(), name)
            text = (self.folder / "versions" / name).read_bytes()
            self.assertNotEqual(text, b"old", name)
            if expected is not None:
                self.assertEqual(text, expected, name)

    def test_files_of_a_folder_keep_links_too(self):
        out, elsewhere = self.folder / "out", self.folder / "elsewhere.npy"
        out.mkdir()
        (out / "logits.npy").symlink_to(elsewhere)
        self.done("run", MODEL, "--data", DATA, "-o", out)
        self.assertTrue((out / "logits.npy").is_symlink())
        self.assertEqual(elsewhere.read_bytes()[:6], b"\x93NUMPY")

    def test_a_dash_is_standard_output(self):
        model = binary(*JOB, "-o", "-", "--emit", "qdq")
        self.assertEqual(model.stdout, self.model)
        self.assertIn(b"octavo: import", model.stderr)
        report = binary(*JOB, "-o", self.folder / "m.onnx", "--report", "-")
        self.assertEqual(report.stdout, self.report)
        profile = binary("profile", MODEL, "--data", DATA, "-o", "-")
        self.assertIn("values", json.loads(profile.stdout))
        trace = binary("bench", MODEL, "--runs", "1", "--trace", "-")
        json.loads(trace.stdout)
        self.assertIn(b"median", trace.stderr)
        for name in ("/dev/stdout", "/dev/fd/1"):
            self.assertEqual(binary(*JOB, "-o", name, "--emit", "qdq").stdout, self.model, name)
        log = self.folder / "log"
        log.write_bytes(b"before ")
        with open(log, "ab") as appended:
            binary(*JOB, "-o", "-", "--emit", "qdq", stdout=appended)
        self.assertEqual(log.read_bytes(), b"before " + self.model)

    def test_at_most_one_output_is_standard_output_and_json_is_none(self):
        out = self.folder / "m.onnx"
        self.refuse([*JOB, "-o", "-", "--emit", "qdq", "--report", "-"], 2, "--report", "-o")
        self.refuse([*JOB, "-o", out, "--html", "/dev/stdout", "--report", "-"], 2, "--report")
        result = octavo(*JOB, "-o", out, "--report", "-", "--json")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(self.error_object(result)["field"], "--report")
        self.refuse([*JOB, "-o", out, "--snapshots", "-"], 2, "--snapshots", "folder")
        self.refuse(["run", MODEL, "--data", DATA, "-o", "-"], 2, "folder")

    def test_external_data_next_to_a_stream_is_refused(self):
        self.refuse([*JOB, "-o", "-", "--emit", "qdq", "--external-over", "0"], 2,
                    "--external-over")
        self.refuse([*JOB, "-o", "-", "--emit", "qdq", "--depfile", self.folder / "d"], 2,
                    "--depfile")
        # What a text graph holds itself is known after the job; nothing is written.
        result = octavo(*JOB, "-o", "-", "--emit", "text", "--report", self.folder / "r.json")
        self.assert_fails(result, 2, "external data", "-o")
        self.assertEqual((result.stdout, list(self.folder.iterdir())), ("", []))

    def test_mode_and_owner_of_what_is_replaced_are_kept(self):
        out = self.folder / "m.onnx"
        out.write_text("old")
        out.chmod(0o640)
        if os.geteuid() == 0:
            os.chown(out, 1234, 2345)
        before = out.stat()
        self.done(*JOB, "-o", out)
        after = out.stat()
        self.assertEqual(out.read_bytes(), self.model)
        self.assertEqual((after.st_mode, after.st_uid, after.st_gid),
                         (before.st_mode, before.st_uid, before.st_gid))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["m.onnx"])

    def test_file_and_folder_are_synced(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        trace, out = self.folder / "trace", self.folder / "new" / "m.onnx"
        result = subprocess.run(["strace", "-f", "-y", "-o", trace, "-e",
                                 "trace=fsync,rename,renameat,renameat2,mkdir", OCTAVO,
                                 *map(str, JOB), "-o", out], capture_output=True, text=True,
                                timeout=PATIENCE, env=clean_environment(), check=False)
        if "ptrace" in result.stderr:
            self.skipTest("strace may not trace here: " + result.stderr.splitlines()[-1])
        self.assertEqual(result.returncode, 0, result.stderr)
        calls = [line.split(maxsplit=1)[1] for line in trace.read_text().splitlines()
                 if str(self.folder) in line]
        names = [call.partition("(")[0] for call in calls]
        # The folder above for the new one; the file; then its name.
        self.assertEqual(names, ["mkdir", "fsync", "fsync", "rename", "fsync"], calls)
        self.assertIn(f"{self.folder}>", calls[1])
        self.assertIn(f"{out.parent}>", calls[4])

    # When outputs are checked.

    def test_output_folders_and_files_are_checked_before_the_job(self):
        file, folder = self.folder / "file", self.folder / "folder"
        file.write_text("")
        folder.mkdir()
        flags = ("-o", "--report", "--html", "--certificate", "--depfile")
        for flag in flags:
            rest = [] if flag == "-o" else ["-o", self.folder / "m.onnx"]
            for path, why in ((file / "x.onnx", "Not a directory"), (folder, "Is a directory"),
                              ("/proc/none/x.onnx", "No such file")):
                self.refuse([*JOB, *rest, "--emit", "qdq", flag, path], 1, f"'{path}'", why)
        self.refuse([*JOB, "-o", self.folder / "m.onnx", "--snapshots", file], 1, f"'{file}'")
        self.refuse(["run", MODEL, "--data", DATA, "-o", file], 1, f"'{file}'")
        self.refuse(["profile", MODEL, "--data", DATA, "-o", folder], 1, f"'{folder}'")
        self.refuse(["diff", MODEL, MODEL, "--data", DATA, "--report", folder], 1, f"'{folder}'")
        self.refuse(["bench", MODEL, "--trace", folder], 1, f"'{folder}'")
        self.refuse(["merge-profiles", MODEL, "-o", folder], 1, f"'{folder}'")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["file", "folder"])

    def test_what_may_not_be_written_is_found_before_the_job(self):
        self.folder.chmod(0o755)
        mine, other = self.folder / "mine", self.folder / "other.onnx"
        mine.mkdir(mode=0o755)
        other.write_text("old")
        other.chmod(0o644)
        command = [OCTAVO, *JOB, "--emit", "qdq", "--report"]
        drop = {}
        if os.geteuid() == 0:
            drop = {"user": OTHER_USER, "group": OTHER_USER, "extra_groups": []}
            if not os.access(OCTAVO, os.X_OK) or not self.reachable():
                self.skipTest("another user cannot reach the program or the model")
        else:
            mine.chmod(0o555)
            other.chmod(0o444)
        for path in (mine / "r.json", other):
            result = subprocess.run([*map(str, command), str(path), "-o", "/dev/null"], **drop,
                                    capture_output=True, text=True, timeout=PATIENCE,
                                    env=clean_environment(), check=False)
            self.assert_fails(result, 1, f"'{path}'", "Permission denied")
            self.assertNotIn("octavo: import", result.stderr)

    def reachable(self):
        """Whether each folder above the program and the model lets everybody through."""
        paths = [parent for path in (pathlib.Path(OCTAVO).resolve(), MODEL, self.folder / "x")
                 for parent in path.parents]
        return all(path.stat().st_mode & stat.S_IXOTH for path in paths)

    def test_a_folder_that_is_missing_is_made(self):
        out = self.folder / "a" / "b" / "m.onnx"
        self.done(*JOB, "-o", out, "--report", self.folder / "c" / "r.json")
        self.assertEqual(out.read_bytes(), self.model)
        self.assertEqual((self.folder / "c" / "r.json").read_bytes(), self.report)

    def test_no_two_outputs_are_one_file(self):
        out, link = self.folder / "m.onnx", self.folder / "link"
        link.symlink_to("m.onnx")
        for other in (out, link, self.folder / "." / "m.onnx"):
            self.refuse([*JOB, "-o", out, "--report", other], 2, "--report", "-o", "m.onnx")
        snapshot = self.folder / "snapshots" / "01-fold-qdq.graph"
        snapshot.parent.mkdir()
        result = octavo(*JOB, "-o", out, "--snapshots", snapshot.parent, "--report", snapshot)
        self.assert_fails(result, 2, "--snapshots", "--report")
        self.assertFalse(out.exists() or snapshot.exists())

    def test_an_output_that_is_an_input_is_an_error(self):
        model, data = self.folder / "m.onnx", self.folder / "d.npz"
        shutil.copy(MODEL, model)
        shutil.copy(DATA, data)
        (self.folder / "same.onnx").hardlink_to(model)
        job = ["optimize", model, "--data", data]
        self.refuse([*job, "-o", model], 2, "-o", "input")
        self.refuse([*job, "-o", self.folder / "same.onnx"], 2, "-o", "input", "m.onnx")
        self.refuse([*job, "-o", self.folder / "n.onnx", "--report", data], 2, "--report", "d.npz")
        self.refuse(["profile", model, "--data", data, "-o", data], 2, "d.npz")
        # The names of what `run` writes are known after it.
        sample = self.folder / "samples" / "logits.npy"
        sample.parent.mkdir()
        np.save(sample, next(iter(np.load(DATA).values())))
        before = sample.read_bytes()
        result = octavo("run", model, "--data", sample, "-o", sample.parent)
        self.assert_fails(result, 2, "-o", "logits.npy")
        self.assertEqual(sample.read_bytes(), before)
        self.assertEqual(len(list(sample.parent.iterdir())), 1)
        self.assertEqual(model.read_bytes(), MODEL.read_bytes())

    # How they are written.

    def test_the_model_is_written_last(self):
        out, report = self.folder / "m.onnx", self.folder / "r.json"
        full = self.device("full", 7)
        result = octavo(*JOB, "-o", out, "--report", report, "--html", full)
        self.assert_fails(result, 1, f"'{full}'", "No space left on device")
        self.assertFalse(out.exists())
        # The model is not there before the last of the others is written.
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        with subprocess.Popen([OCTAVO, *map(str, JOB), "-o", out, "--certificate", fifo],
                              stderr=subprocess.DEVNULL, env=clean_environment()) as job:
            with open(fifo, "rb") as reader:
                first = reader.read(1)
                self.assertFalse(out.exists())
                self.assertEqual(first + reader.read(), self.certificate)
            self.assertEqual(job.wait(PATIENCE), 0)
        self.assertEqual(out.read_bytes(), self.model)

    def test_io_errors_are_exit_1_with_the_path(self):
        full = self.device("full", 7)
        for flags in (["-o", full, "--emit", "qdq"],
                      ["-o", self.folder / "m.onnx", "--report", full]):
            self.assert_fails(octavo(*JOB, *flags), 1, f"'{full}'", "No space left on device")
            error = self.error_object(octavo(*JOB, *flags, "--json"))
            self.assertEqual((error["reason"], error["field"]), ("IO", str(full)))
        self.assert_fails(octavo("profile", MODEL, "--data", DATA, "-o", full), 1, f"'{full}'")
        for arguments in (["inspect", MODEL], [*JOB, "-o", "-", "--emit", "qdq"]):
            with open("/dev/full", "wb") as stdout:
                result = binary(*arguments, stdout=stdout)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn(b"standard output", result.stderr)

    def test_a_limit_on_the_size_of_files_is_an_error_with_the_path(self):
        out = self.folder / "m.onnx"
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        result = subprocess.run([OCTAVO, *map(str, JOB), "-o", out], capture_output=True, text=True,
                                timeout=PATIENCE, env=clean_environment(), check=False,
                                preexec_fn=limit)
        self.assert_fails(result, 1, f"'{out}'", "File too large")
        self.assertFalse(out.exists())

    def test_a_reader_that_leaves_is_an_error_that_names_the_fifo(self):
        fifo = self.folder / "m.onnx"
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDWR)
        fcntl.fcntl(reader, F_SETPIPE_SZ, 4096)
        with subprocess.Popen([OCTAVO, *map(str, JOB), "-o", fifo], stderr=subprocess.PIPE,
                              text=True, env=clean_environment()) as job:
            waiting = array.array("i", [0])
            while waiting[0] < 4096:  # until it is full
                fcntl.ioctl(reader, termios.FIONREAD, waiting)
                self.assertIsNone(job.poll())
                time.sleep(0.01)
            os.close(reader)
            _, said = job.communicate(timeout=PATIENCE)
        self.assert_fails(subprocess.CompletedProcess([], job.returncode, "", said), 1,
                          f"'{fifo}'", "Broken pipe")

    def test_the_commands_of_the_page(self):
        section = (ROOT / "docs" / "command-line.md").read_text().split("## Outputs\n")[1]
        script = section.split("```sh\n")[1].split("```")[0]
        for name in ("model.onnx", "calibration.npz"):
            shutil.copy(DIGITS / name, self.folder)
        path = f"{pathlib.Path(OCTAVO).parent}:{os.environ['PATH']}"
        done = subprocess.run(["sh", "-e", "-c", script], cwd=self.folder, capture_output=True,
                              text=True, timeout=PATIENCE, env=clean_environment(PATH=path),
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        model = gzip.decompress((self.folder / "int8.onnx.gz").read_bytes())
        self.assertEqual(models.without_stamp(model), models.without_stamp(self.model))
        json.loads(gzip.decompress((self.folder / "profile.json.gz").read_bytes()))

    def test_a_result_of_a_service_is_written_alike(self):
        out, read_model = self.fifo("m.onnx")
        link, report = self.folder / "link", self.folder / "r.json"
        link.symlink_to("r.json")
        with Server() as server:
            result = octavo(*JOB, "-o", out, "--report", link, server=server.address)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.refuse([*JOB, "-o", self.folder, "--emit", "qdq", "--server", server.address], 1,
                        f"'{self.folder}'")
        self.assertEqual(read_model(), self.model)
        self.assertTrue(out.is_fifo() and link.is_symlink())
        self.assertEqual(report.read_bytes(), self.report)


if __name__ == "__main__":
    unittest.main()
