#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uploads that break: a server that dies in the middle and a connection that does."""

import re
import socket
import subprocess
import threading
import unittest
import urllib.request

import numpy as np
from onnx import helper

import models
from programs import OCTAVO, PATIENCE, Case, Server, clean_environment, octavo

MIB = 1 << 20
SIDE = 2048  # the weight has 16 MiB: 16 chunks


class CuttingProxy:
    """Forwards connections to `target`; the first ends after `cut` bytes from the client."""

    def __init__(self, target, cut):
        host, port = target.rsplit(":", 1)
        self.target = (host, int(port))
        self.cut = cut
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        cut = self.cut
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(self.target)
            for source, sink, most in ((client, server, cut), (server, client, None)):
                threading.Thread(target=self.forward, args=(source, sink, most),
                                 daemon=True).start()
            cut = None

    @staticmethod
    def forward(source, sink, most):
        passed = 0
        try:
            while most is None or passed < most:
                data = source.recv(65536)
                if not data:
                    break
                sink.sendall(data)
                passed += len(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()


class Resume(Case):
    def setUp(self):
        super().setUp()
        self.state = self.folder / "state"
        self.state.mkdir()
        weight = np.random.default_rng(1).normal(size=(SIDE, SIDE))
        model = models.model([helper.make_node("MatMul", ["x", "w"], ["y"], name="m")],
                             [models.tensor("w", weight)], inputs=(("x", [1, SIDE]),))
        self.model = self.folder / "m.onnx"
        self.model.write_bytes(model.SerializeToString())
        self.size = self.model.stat().st_size

    def serve(self, **more):
        server = Server("--state-dir", self.state, **more)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    def start(self, address):
        command = [OCTAVO, "optimize", self.model, "--data", "random:1", "-o",
                   self.folder / "remote.onnx", "--server", address]
        client = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=clean_environment())
        self.addCleanup(client.kill)
        return client

    def metric(self, server, name):
        text = urllib.request.urlopen(f"http://{server.metrics}/metrics").read().decode()
        return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE).group(1))

    def partial_bytes(self):
        return sum(file.stat().st_size for file in (self.state / "partial").iterdir())

    def assert_done(self, client):
        _, errors = client.communicate(timeout=PATIENCE)
        self.assertEqual(client.returncode, 0, errors)
        local = octavo("optimize", self.model, "--data", "random:1", "-o",
                       self.folder / "local.onnx")
        self.assertEqual(local.returncode, 0, local.stderr)
        self.assertEqual((self.folder / "remote.onnx").read_bytes(),
                         (self.folder / "local.onnx").read_bytes())
        leftovers = [file.name for file in self.folder.iterdir() if file.name.startswith(".")]
        self.assertEqual(leftovers, [])

    def test_a_server_that_dies_twice_gets_each_byte_once(self):
        server = self.serve(OCTAVO_FAILPOINT="store.write:kill@6")
        client = self.start(server.address)
        had = 0
        for attempt in range(2):
            self.assertEqual(server.process.wait(PATIENCE), -9, server.read_log())
            now = self.partial_bytes()
            self.assertGreaterEqual(now - had, 3 * MIB)
            self.assertLess(now, self.size)
            had = now
            more = {"OCTAVO_FAILPOINT": "store.write:kill@6"} if attempt == 0 else {}
            server = self.serve(listen=server.address, **more)
        self.assert_done(client)
        self.assertEqual(self.metric(server, "octavo_upload_bytes_total"), self.size - had)
        self.assertEqual(self.metric(server, "octavo_upload_resumed_total"), 1)

    def test_a_broken_connection_continues(self):
        server = self.serve()
        proxy = CuttingProxy(server.address, cut=9 * MIB)
        self.addCleanup(proxy.close)
        self.assert_done(self.start(proxy.address))
        self.assertEqual(self.metric(server, "octavo_upload_bytes_total"), self.size)
        self.assertEqual(self.metric(server, "octavo_upload_resumed_total"), 1)

    def test_without_a_state_folder_the_upload_begins_again(self):
        server = Server()
        server.__enter__()
        self.addCleanup(server.__exit__)
        proxy = CuttingProxy(server.address, cut=9 * MIB)
        self.addCleanup(proxy.close)
        self.assert_done(self.start(proxy.address))
        self.assertGreater(self.metric(server, "octavo_upload_bytes_total"), self.size)


if __name__ == "__main__":
    unittest.main()
