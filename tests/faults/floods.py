# SPDX-License-Identifier: Apache-2.0
"""What a crowd does to a server: each flood runs in a thread until it is told to stop.

The crowd has addresses of its own (127.0.1.x), so that a bound per address does not shut out who is
honest; `Flood.refused` counts what the server closed or did not accept, which is its right.
"""

import contextlib
import pathlib
import socket
import struct
import threading
import time

import http2

RECORDED = pathlib.Path(__file__).resolve().parents[1] / "data" / "recorded" / "optimize.bin"


def recorded_messages():
    """The messages of a whole call of Optimize."""
    data = RECORDED.read_bytes()
    messages = []
    while data:
        (size,) = struct.unpack_from("<I", data)
        messages.append(data[4:4 + size])
        data = data[4 + size:]
    return messages


class Flood:
    """`with` opens the connections and keeps on flooding until its end."""

    def __init__(self, address, connections):
        self.address = address
        self.connections = connections
        self.open = []
        self.refused = 0
        self.rounds = 0
        self.stop = threading.Event()

    def source(self, i):
        return f"127.0.1.{1 + i % 8}"

    def __enter__(self):
        for i in range(self.connections):
            try:
                self.open.append(self.start(i))
            except OSError:
                self.refused += 1
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join(60)
        for connection in self.open:
            with contextlib.suppress(OSError):
                connection.close()

    def run(self):
        while not self.stop.wait(self.pause):
            for i, connection in enumerate(self.open):
                if self.stop.is_set():
                    return
                try:
                    self.go_on(connection)
                except (OSError, ConnectionError):
                    self.refused += 1
                    with contextlib.suppress(OSError):
                        connection.close()
                        self.open[i] = self.start(i)
            self.rounds += 1

    pause = 0.2

    def start(self, i):
        """A connection of the flood."""
        return http2.connect(self.address, self.source(i))

    def go_on(self, connection):
        """What it does in each round."""


class Silent(Flood):
    """Connections that say nothing."""


class Idle(Flood):
    """Connections that speak HTTP/2 and make no call."""

    def start(self, i):
        connection = super().start(i)
        connection.sendall(http2.opening())
        return connection


class NeverRead(Flood):
    """Whole jobs whose callers open no window for an answer."""

    def start(self, i):
        client = http2.Client(self.address, self.source(i), window=0)
        stream = client.call(http2.OPTIMIZE)
        for each in recorded_messages():
            client.send(stream, http2.message(each))
        client.http.end_stream(stream)
        client.flush()
        return client


class Drip(Flood):
    """Uploads of a byte at a time."""

    pause = 0.5

    def start(self, i):
        client = http2.Client(self.address, self.source(i))
        spec, chunk, *_ = recorded_messages()
        client.stream = client.call(http2.OPTIMIZE)
        client.send(client.stream, http2.message(spec))
        client.rest = http2.message(chunk)
        return client

    def go_on(self, connection):
        if len(connection.rest) > 1:
            connection.send(connection.stream, connection.rest[:1])
            connection.rest = connection.rest[1:]


class Frames(Flood):
    """Frames without end, as fast as the server takes them; answers are thrown away."""

    pause = 0

    def start(self, i):
        connection = super().start(i)
        connection.sendall(http2.opening())
        connection.settimeout(1)
        return connection

    def drain(self, connection):
        with contextlib.suppress(BlockingIOError, TimeoutError):
            if not connection.recv(1 << 20, socket.MSG_DONTWAIT):
                raise ConnectionError("closed")

    def go_on(self, connection):
        with contextlib.suppress(TimeoutError):
            connection.sendall(self.said)
        self.drain(connection)


class Pings(Frames):
    said = http2.pings(4000)


class Settings(Frames):
    said = http2.many_settings(4000)


class Resets(Frames):
    """Calls that are cancelled at once (CVE-2023-44487), on ever new streams."""

    calls = 1000

    def start(self, i):
        connection = Frames.start(self, i)
        self.next = {**getattr(self, "next", {}), connection: 1}
        return connection

    def go_on(self, connection):
        first = self.next[connection]
        self.next[connection] = first + 2 * self.calls
        self.said = http2.resets(self.calls, first)
        super().go_on(connection)


class Headers(Frames):
    """A call whose head does not end (CVE-2024-27316)."""

    begin, said = http2.endless_headers(20)

    def start(self, i):
        connection = super().start(i)
        connection.sendall(self.begin)
        return connection


class SubmitAndCancel(Flood):
    """Jobs that are cancelled as soon as all of them was sent, one after another."""

    pause = 0

    def start(self, i):
        return NeverRead.start(self, i)

    def go_on(self, connection):
        connection.http.reset_stream(1, error_code=8)
        connection.flush()
        time.sleep(0.001)
        raise ConnectionError("the next one")
