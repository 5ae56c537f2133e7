#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients whose service is restarted under load."""

import random
import signal
import threading
import time
import unittest

from programs import DIGITS, PATIENCE, Case, Server, free_port, octavo

ROUNDS = 4
CLIENTS = 4


class Restart(Case):
    def test_client_that_came_first_finds_the_service_soon(self):
        address = f"127.0.0.1:{free_port()}"
        results = []
        client = threading.Thread(target=lambda: results.append(
            octavo("optimize", DIGITS / "model.onnx", "-o", self.folder / "o.onnx", "--data",
                   "random:1:5", server=address)))
        client.start()
        time.sleep(1)
        with Server(listen=address):
            began = time.monotonic()
            client.join(PATIENCE)
            self.assertLess(time.monotonic() - began, 6)
        self.assertEqual(results[0].returncode, 0, results[0].stderr)

    def test_clients_succeed_whenever_the_service_is_terminated(self):
        address = f"127.0.0.1:{free_port()}"
        ended = threading.Event()
        answers, retried = [], []

        def client(number):
            job = 0
            while not ended.is_set():
                job += 1
                result = octavo("optimize", DIGITS / "model.onnx", "-o",
                                self.folder / f"{number}.onnx", "--data",
                                f"random:{number * 1000 + job}:{job % 3 * 40 + 5}", "--retry-for",
                                "20", server=address)
                answers.append((result.returncode, result.stderr))
                if "retry" in result.stderr:
                    retried.append(result.stderr)

        state = self.folder / "state"
        state.mkdir()
        chance = random.Random(11)
        clients = [threading.Thread(target=client, args=(i,)) for i in range(CLIENTS)]
        for number in range(ROUNDS):
            with Server("--state-dir", state, "--shutdown-wait", "0.1", listen=address) as server:
                for each in clients if number == 0 else []:
                    each.start()
                server.wait_for_log("job admitted")
                time.sleep(chance.uniform(0, 0.4))
                server.process.send_signal(signal.SIGTERM)
                self.assertEqual(server.process.wait(PATIENCE), 0)
        with Server("--state-dir", state, listen=address):
            ended.set()
            for each in clients:
                each.join(PATIENCE)
        self.assertEqual([answer for answer in answers if answer[0] != 0], [])
        self.assertGreater(len(answers), CLIENTS)
        self.assertTrue(retried)


if __name__ == "__main__":
    unittest.main()
