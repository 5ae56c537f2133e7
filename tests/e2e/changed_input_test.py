#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inputs that change while octavo reads them: the job waits in its middle, the file is changed, and
the job goes on."""

import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

import numpy as np
import onnx

import models
from programs import DIGITS, OCTAVO, PATIENCE, Case, Server, clean_environment

SAMPLES = 100
F_SETPIPE_SZ = 1031  # of Linux; Python 3.10 names it


def truncate(path):
    os.truncate(path, 0)


def halve(path):
    os.truncate(path, path.stat().st_size // 2)


def rewrite(path):
    """Another byte in the middle, in place."""
    with open(path, "r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))


def replace(path):
    """As an editor or a download does it."""
    other = path.with_name("other")
    shutil.copyfile(path, other)
    other.rename(path)


def append(path):
    with open(path, "ab") as file:
        file.write(b"more")


class ChangedInput(Case):
    def setUp(self):
        super().setUp()
        self.inputs, self.outputs = self.folder / "in", self.folder / "out"
        self.inputs.mkdir()
        self.outputs.mkdir()
        self.model = self.inputs / "m.onnx"
        shutil.copy(DIGITS / "model.onnx", self.model)
        self.data = self.inputs / "d.npy"
        self.write_samples(SAMPLES)

    def write_samples(self, count):
        images = next(iter(np.load(DIGITS / "heldout.npz").values()))
        np.save(self.data, np.resize(images, (count, *images.shape[1:])))

    def job(self, *flags):
        return ("optimize", self.model, "--data", self.data, "-o", self.outputs / "m.onnx",
                "--report", self.outputs / "r.json", *flags)

    def change_during(self, stage, change, path, arguments, server=None):
        """Runs the command, and calls `change` with the path once it has said that a stage begins.
        The pipe of its messages holds one of them, so that it waits with the next."""
        command = [OCTAVO, *map(str, arguments), *(["--server", server] if server else [])]
        reader, writer = os.pipe2(os.O_CLOEXEC | os.O_DIRECT)
        fcntl.fcntl(writer, F_SETPIPE_SZ, 4096)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=writer,
                              env=clean_environment()) as process, open(reader, "rb", 0) as pipe:
            os.close(writer)
            said = b""
            while f"octavo: {stage}" not in said.decode():
                message = pipe.read(4096)
                self.assertTrue(message, f"no stage '{stage}': {said}")
                said += message
            time.sleep(0.02)  # the clock of file times is coarse
            change(path)
            while message := pipe.read(4096):
                said += message
            code = process.wait(PATIENCE)
        return subprocess.CompletedProcess(command, code, "", said.decode())

    def assert_changed(self, result, path, what=""):
        """Exit 3 with one line that names the file, and nothing is written."""
        self.assert_fails(result, 3, f"'{path}' changed during the job: {what}")
        self.assertEqual(list(self.outputs.iterdir()), [])

    def test_a_model_that_is_truncated_during_the_job_is_exit_3(self):
        for change in (truncate, halve):
            shutil.copy(DIGITS / "model.onnx", self.model)
            result = self.change_during("profile", change, self.model, self.job())
            self.assert_changed(result, self.model, "it was truncated")

    def test_a_model_that_is_rewritten_during_the_job_is_exit_3(self):
        for change, what in ((rewrite, "it was written to"), (replace, "it is another file now"),
                             (append, "it has grown"), (os.remove, "it is gone")):
            shutil.copy(DIGITS / "model.onnx", self.model)
            result = self.change_during("profile", change, self.model, self.job())
            self.assert_changed(result, self.model, what)

    def test_samples_that_change_during_the_job_are_exit_3(self):
        samples = self.data.read_bytes()
        for change, what in ((truncate, "it was truncated"), (rewrite, "it was written to")):
            self.data.write_bytes(samples)
            result = self.change_during("profile", change, self.data, self.job())
            self.assert_changed(result, self.data, what)

    def test_external_data_that_changes_during_the_job_is_exit_3(self):
        external = self.inputs / "weights.bin"
        for change, what in ((truncate, "it was truncated"), (rewrite, "it was written to")):
            onnx.save(onnx.load(DIGITS / "model.onnx"), str(self.model), save_as_external_data=True,
                      location=external.name, size_threshold=0)
            result = self.change_during("profile", change, external, self.job())
            self.assert_changed(result, external, what)
            external.unlink()

    def test_one_file_of_a_folder_of_samples_is_named(self):
        folder, images = self.inputs / "samples", np.load(self.data)
        for i, image in enumerate(images):
            (folder / str(i)).mkdir(parents=True)
            np.save(folder / str(i) / "input_0.npy", image[None])
        self.data = folder
        victim = folder / "70" / "input_0.npy"
        result = self.change_during("profile", truncate, victim, self.job())
        self.assert_changed(result, victim, "it was truncated")

    def test_the_error_is_an_object_with_json(self):
        # With --json there is no progress: a job of a second is stopped once it has mapped the file.
        self.write_samples(20 * SAMPLES)
        odd = self.inputs / 'a "quoted"\n name.npy'
        self.data.rename(odd)
        self.data, saved = odd, odd.read_bytes()
        for change in (truncate, rewrite):
            odd.write_bytes(saved)
            with subprocess.Popen([OCTAVO, *map(str, self.job("--json"))], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=clean_environment()) as process:
                end = time.monotonic() + PATIENCE
                while 'a "quoted"' not in pathlib.Path(f"/proc/{process.pid}/maps").read_text():
                    self.assertLess(time.monotonic(), end)
                process.send_signal(signal.SIGSTOP)
                time.sleep(0.02)
                change(odd)
                process.send_signal(signal.SIGCONT)
                out, err = process.communicate(timeout=PATIENCE)
            self.assertEqual((process.returncode, out), (3, ""), err)
            error = self.error_object(subprocess.CompletedProcess([], 3, out, err))
            self.assertEqual((error["code"], error["reason"], error["field"]),
                             ("INVALID_ARGUMENT", "INPUT_CHANGED", str(odd)))
            self.assertEqual(list(self.outputs.iterdir()), [])

    def test_no_model_is_written_if_an_input_changes_while_the_other_outputs_are(self):
        fifo = self.inputs / "certificate"
        os.mkfifo(fifo)
        command = [OCTAVO, *map(str, self.job("--certificate", fifo))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=clean_environment()) as process:
            with open(fifo, "rb") as reader:  # it is written after the report, before the model
                rewrite(self.data)
                reader.read()
            out, err = process.communicate(timeout=PATIENCE)
        self.assert_fails(subprocess.CompletedProcess(command, process.returncode, out, err), 3,
                          f"'{self.data}' changed during the job")
        self.assertEqual([path.name for path in self.outputs.iterdir()], ["r.json"])

    def test_other_commands_say_so_too(self):
        commands = {"profile": ("profile", self.model, "--data", self.data, "-o",
                                self.outputs / "p.json"),
                    "run": ("run", self.model, "--data", self.data, "-o", self.outputs / "run"),
                    "diff": ("diff", self.model, self.model, "--data", self.data, "--report",
                             self.outputs / "r.json")}
        samples = self.data.read_bytes()
        for name, command in commands.items():
            for change in (truncate, rewrite):
                self.data.write_bytes(samples)
                result = self.change_during("", change, self.data, command)
                with self.subTest(command=name, change=change.__name__):
                    self.assert_changed(result, self.data)

    def test_a_model_that_changes_while_it_is_sent_to_a_service_is_exit_3(self):
        big = models.conv(models.tensor("w", np.random.default_rng(0).normal(size=[4096, 2, 32, 32])),
                          inputs=(("x", [1, 2, 32, 32]),))
        with Server() as server:
            for change in (truncate, rewrite):
                self.model.write_bytes(big.SerializeToString())
                result = self.change_during("upload", change, self.model,
                                            ("optimize", self.model, "--data", "random:1:1", "-o",
                                             self.outputs / "m.onnx"), server.address)
                self.assert_changed(result, self.model)
            self.assertTrue(server.alive())


if __name__ == "__main__":
    unittest.main()
