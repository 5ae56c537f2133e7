#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""octavod --state-dir: equal jobs are computed once, and what the service has is not sent again."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from lifecycle_test import slow_model
from programs import DIGITS, OCTAVO, OCTAVOD, PATIENCE, Case, Server, clean_environment, octavo


class KeptResults(Case):
    def setUp(self):
        super().setUp()
        self.state = self.folder / "state"
        self.state.mkdir()

    def serve(self, *flags):
        server = Server("--state-dir", self.state, *flags)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    def job(self, server, name, *arguments, model=DIGITS / "model.onnx"):
        """The bytes of the outputs and where the service had them from."""
        folder = self.folder / name
        folder.mkdir()
        result = octavo("optimize", model, "--data", DIGITS / "calibration.npz", "-o",
                        folder / "out.onnx", "--report", folder / "report.json", "--json",
                        *arguments, server=server.address)
        self.assertEqual(result.returncode, 0, result.stderr)
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        return files, json.loads(result.stdout)["source"]

    def stop(self, server, how=signal.SIGTERM):
        server.process.send_signal(how)
        server.process.wait(PATIENCE)

    def kept(self):
        """The files of blobs in the store."""
        return [path for path in (self.state / "blobs").glob("*/*") if path.is_file()]

    def test_an_equal_job_is_answered_from_the_store_also_after_a_kill(self):
        server = self.serve()
        first, source = self.job(server, "first")
        self.assertEqual(source, "executed")
        sent = self.metric(server, "octavo_upload_bytes_total")
        self.assertGreater(sent, 0)
        second, source = self.job(server, "second")
        self.assertEqual(source, "cache")
        self.assertEqual(second, first)
        self.assertEqual(self.metric(server, "octavo_upload_bytes_total"), sent)
        self.assertEqual(
            self.metric(server, 'octavo_jobs_total{outcome="succeeded",source="cache"}'), 1)
        self.stop(server, signal.SIGKILL)
        server = self.serve()
        third, source = self.job(server, "third")
        self.assertEqual(source, "cache")
        self.assertEqual(third, first)
        self.assertEqual(self.metric(server, "octavo_upload_bytes_total"), 0)

    def test_the_client_says_where_the_result_is_from(self):
        server = self.serve()
        arguments = ["optimize", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz", "-o",
                     self.folder / "o.onnx"]
        words = "the service has kept the result of an equal job"
        self.assertNotIn(words, octavo(*arguments, server=server.address).stderr)
        self.assertIn(words, octavo(*arguments, server=server.address).stderr)
        self.assertEqual(octavo(*arguments, "--quiet", server=server.address).stderr, "")

    def test_other_options_send_no_weight_and_give_other_bytes(self):
        server = self.serve()
        first, _ = self.job(server, "first")
        sent = self.metric(server, "octavo_upload_bytes_total")
        other, source = self.job(server, "other", "--per-tensor")
        self.assertEqual(source, "executed")
        self.assertNotEqual(other["out.onnx"], first["out.onnx"])
        self.assertEqual(self.metric(server, "octavo_upload_bytes_total"), sent)
        local = self.folder / "local.onnx"
        result = octavo("optimize", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz",
                        "--per-tensor", "--emit", "qdq", "-o", local)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(local.read_bytes(), other["out.onnx"])

    def test_worker_processes_read_the_kept_files(self):
        server = self.serve("--isolation", "process")
        first, _ = self.job(server, "first", "--deterministic")
        again, source = self.job(server, "again", "--deterministic", "--no-cache")
        self.assertEqual(source, "executed")
        self.assertEqual(again, first)

    def test_a_damaged_result_is_counted_and_computed_again(self):
        server = self.serve()
        first, _ = self.job(server, "first", "--deterministic")
        damaged = [path for path in self.kept() if path.read_bytes() == first["out.onnx"]]
        self.assertEqual(len(damaged), 1)
        damaged[0].write_bytes(first["out.onnx"][:-1] + b"\0")
        again, source = self.job(server, "again", "--deterministic")
        self.assertEqual(source, "executed")
        self.assertEqual(again, first)
        self.assertEqual(self.metric(server, 'octavo_result_cache_requests_total{result="corrupt"}'), 1)
        self.assertEqual(self.metric(server, "octavo_store_corruptions_total"), 1)
        self.assertEqual(self.job(server, "third", "--deterministic")[1], "cache")

    def test_no_cache_exits_with_1_if_the_bytes_differ(self):
        server = self.serve()
        first, _ = self.job(server, "first")
        self.assertEqual(self.job(server, "same", "--no-cache")[1], "executed")
        self.stop(server)
        # Another result under the same digest, as a bug or another machine would leave it.
        with contextlib.closing(sqlite3.connect(self.state / "octavo.db")) as database, database:
            changed = database.execute(
                "UPDATE result_blobs SET sha256 = ? WHERE name LIKE '%.onnx'", ("0" * 64,))
            self.assertGreater(changed.rowcount, 0)
        server = self.serve()
        result = octavo("optimize", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz",
                        "-o", self.folder / "first" / "out.onnx", "--no-cache",
                        server=server.address)
        self.assert_fails(result, 1, "differs from the one kept", "model.onnx")

    def test_no_cache_needs_a_service(self):
        result = octavo("optimize", DIGITS / "model.onnx", "--data", "random:1", "--no-cache", "-o",
                        self.folder / "o.onnx")
        self.assert_fails(result, 2, "--server")

    def start_slow_job(self, server, name):
        (self.folder / name).mkdir()
        command = [OCTAVO, "optimize", self.folder / "slow.onnx", "--data", "random:1:30", "--json",
                   "-o", self.folder / name / "o.onnx", "--server", server.address]
        client = subprocess.Popen([str(word) for word in command], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=clean_environment())
        self.addCleanup(client.communicate)
        self.addCleanup(client.kill)
        return client

    def test_equal_jobs_at_the_same_time_run_once(self):
        (self.folder / "slow.onnx").write_bytes(slow_model().SerializeToString())
        server = self.serve("--workers", "2")
        first = self.start_slow_job(server, "first")
        # Its job runs, so its client handles signals already.
        with server.one_job_held():
            others = {name: self.start_slow_job(server, name) for name in ("a", "b", "c")}
            server.wait_for_log("job joined", times=len(others))
            # The first who asked leaves; the others get the result.
            first.send_signal(signal.SIGINT)
            _, errors = first.communicate(timeout=PATIENCE)
            self.assertEqual(first.returncode, 8, errors)
        results = set()
        for name, client in others.items():
            out, errors = client.communicate(timeout=PATIENCE)
            self.assertEqual(client.returncode, 0, errors)
            self.assertEqual(json.loads(out)["source"], "joined")
            results.add((self.folder / name / "o.onnx").read_bytes())
        self.assertEqual(len(results), 1)
        self.assertFalse((self.folder / "first" / "o.onnx").exists())
        self.assertEqual(server.metric("octavo_job_queue_wait_seconds_count"), 1)

    def test_a_full_store_drops_the_least_recently_used(self):
        server = self.serve("--store-bytes", "300000")
        for batch in (1, 2, 4, 8):
            self.job(server, f"batch{batch}", "--batch", str(batch))
        self.assertLessEqual(self.metric(server, "octavo_store_bytes"), 300000)
        self.assertGreater(self.metric(server, "octavo_store_evicted_bytes_total"), 0)

    def test_a_folder_that_cannot_be_used_is_exit_2(self):
        file = self.folder / "file"
        file.write_text("")
        for folder in (file, self.folder / "missing" / "state"):
            result = subprocess.run([OCTAVOD, "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0",
                                     "--state-dir", str(folder)],
                                    capture_output=True, text=True, timeout=PATIENCE,
                                    env=clean_environment())
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("--state-dir", result.stderr)

    def test_two_servers_do_not_share_a_folder(self):
        self.serve()
        result = subprocess.run([OCTAVOD, "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0",
                                 "--state-dir", str(self.state)],
                                capture_output=True, text=True, timeout=PATIENCE,
                                env=clean_environment())
        self.assertEqual(result.returncode, 2, result.stderr)

    def readiness(self, server):
        try:
            with urllib.request.urlopen(f"http://{server.metrics}/readyz", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def wait_for(self, what, value):
        end = time.monotonic() + PATIENCE
        while (now := what()) != value:
            self.assertLess(time.monotonic(), end, f"{now} is not {value}")
            time.sleep(0.1)

    def test_readiness_falls_and_comes_back_with_the_folder(self):
        def health():
            return octavo("health", server=server.address).returncode

        server = self.serve()
        self.wait_for(lambda: self.readiness(server)[0], 200)
        away = self.folder / "away"
        os.rename(self.state, away)
        self.wait_for(lambda: self.readiness(server)[0], 503)
        self.assertIn("state folder", self.readiness(server)[1])
        # The gRPC service learns of it after the HTTP page.
        self.wait_for(health, 6)
        os.rename(away, self.state)
        self.wait_for(lambda: self.readiness(server)[0], 200)
        self.wait_for(health, 0)


if __name__ == "__main__":
    unittest.main()
