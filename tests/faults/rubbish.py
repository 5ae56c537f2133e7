# SPDX-License-Identifier: Apache-2.0
"""Floods of what no client would say, drawn at random: frames, messages, requests of the metrics."""

import contextlib
import random
import struct

import http2
from floods import Flood, recorded_messages

SEED = 13


class Rubbish(Flood):
    """A new connection in each round, as the server closes it at the first fault that it finds."""

    pause = 0.02

    def __init__(self, address, connections):
        super().__init__(address, connections)
        self.chance = random.Random(SEED)

    def start(self, i):
        return self.source(i)

    def go_on(self, connection):
        with contextlib.suppress(OSError):  # also where the server is gone
            with contextlib.closing(http2.connect(self.address, connection)) as made:
                made.settimeout(0.1)
                made.sendall(self.said())
                while made.recv(1 << 16):
                    pass

    def said(self):
        raise NotImplementedError

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join(60)


class RandomFrames(Rubbish):
    """HTTP/2 up to its settings; then frames of any type, flags, stream and length."""

    def said(self):
        return http2.opening() + b"".join(self.frame() for _ in range(20))

    def frame(self):
        payload = self.chance.randbytes(self.chance.choice([0, 1, 4, 5, 8, 100]))
        length = len(payload) if self.chance.random() < 0.9 else self.chance.randrange(1 << 24)
        return (struct.pack(">I", length)[1:] +
                bytes([self.chance.randrange(12), self.chance.randrange(256)]) +
                struct.pack(">I", self.chance.randrange(6)) + payload)


class RandomBytes(Rubbish):
    """No HTTP at all, or the beginning of a request."""

    def said(self):
        return self.chance.choice([b"", b"GET /metrics HTTP/1.1\r\n", http2.PREFACE]) + (
            self.chance.randbytes(self.chance.choice([1, 24, 5000])))


class DamagedMessages(Rubbish):
    """The recorded call, with some bytes of its messages or of their lengths changed."""

    def said(self):
        made = http2.h2.connection.H2Connection()
        made.initiate_connection()
        stream = made.get_next_available_stream_id()
        made.send_headers(stream, http2.headers(http2.OPTIMIZE))
        for each in recorded_messages():
            data = bytearray(http2.message(each))
            for _ in range(self.chance.randrange(4)):
                at = min(self.chance.randrange(len(data)), self.chance.randrange(len(data)))
                data[at] = self.chance.randrange(256)
            made.send_data(stream, bytes(data[:16384]))
        if self.chance.random() < 0.5:
            made.end_stream(stream)
        return made.data_to_send()
