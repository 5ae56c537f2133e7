# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 by hand: calls that gRPC's own clients would not make, and a health check with its time."""

import socket
import struct
import time

import h2.config
import h2.connection
import h2.events
import h2.settings
import hpack
import hyperframe.frame as frames

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
OPTIMIZE = "/octavo.v1.Optimizer/Optimize"
WINDOW = 4  # INITIAL_WINDOW_SIZE of RFC 9113, 6.5.2
HEALTH = "/grpc.health.v1.Health/Check"
SERVING = bytes([0x08, 1])  # HealthCheckResponse{status: SERVING}


def headers(path):
    return [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "octavo"),
            ("te", "trailers"), ("content-type", "application/grpc")]


def message(payload):
    """A message of gRPC: not compressed, its length, its bytes."""
    return struct.pack(">BI", 0, len(payload)) + payload


def connect(address, source=None, patience=20):
    """A TCP connection to HOST:PORT, from the address `source` if one is given."""
    host, port = address.rsplit(":", 1)
    made = socket.create_connection((host, int(port)), timeout=patience,
                                    source_address=(source, 0) if source else None)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


class Client:
    """A connection that speaks HTTP/2 properly; its peer may read or send as slowly as it likes."""

    def __init__(self, address, source=None, window=65535):
        self.socket = connect(address, source)
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.http.local_settings = h2.settings.Settings(initial_values={WINDOW: window})
        self.http.initiate_connection()
        self.flush()

    def flush(self):
        self.socket.sendall(self.http.data_to_send())

    def call(self, path):
        stream = self.http.get_next_available_stream_id()
        self.http.send_headers(stream, headers(path))
        self.flush()
        return stream

    def send(self, stream, data, end=False):
        self.http.send_data(stream, data, end_stream=end)
        self.flush()

    def receive(self):
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("the server closed the connection")
        events = self.http.receive_data(data)
        self.flush()
        return events

    def close(self):
        self.socket.close()


def check_health(address, patience=20):
    """Seconds from no connection at all to the answer SERVING."""
    began = time.monotonic()
    client = Client(address)
    try:
        client.send(client.call(HEALTH), message(b""), end=True)
        body = b""
        while not body.endswith(SERVING):
            if time.monotonic() - began > patience:
                raise TimeoutError(f"no health after {patience} s")
            for event in client.receive():
                if isinstance(event, h2.events.DataReceived):
                    body += event.data
                elif isinstance(event, (h2.events.StreamEnded, h2.events.StreamReset)):
                    if not body.endswith(SERVING):
                        raise ConnectionError(f"health ended with {event}")
    finally:
        client.close()
    return time.monotonic() - began


def opening():
    """What a client says first: the preface and its settings."""
    return PREFACE + frames.SettingsFrame(0).serialize()


def pings(count):
    return b"".join(frames.PingFrame(0, i.to_bytes(8, "big")).serialize() for i in range(count))


def many_settings(count):
    return frames.SettingsFrame(0, settings={WINDOW: 65535}).serialize() * count


def resets(count, first=1):
    """`count` calls, each cancelled as soon as it is begun, on streams from `first` on."""
    encoder = hpack.Encoder()
    block = encoder.encode(headers(HEALTH))
    said = b""
    for i in range(count):
        stream = first + 2 * i
        said += frames.HeadersFrame(stream, block, flags=["END_HEADERS"]).serialize()
        said += frames.RstStreamFrame(stream, error_code=8).serialize()
        block = encoder.encode(headers(HEALTH)) if i == 0 else block
    return said


def endless_headers(count):
    """The head of a call that `count` frames do not end."""
    begin = frames.HeadersFrame(1, hpack.Encoder().encode(headers(HEALTH))).serialize()
    literal = b"\x00\x04xoct" + bytes([100]) + b"a" * 100
    return begin, frames.ContinuationFrame(1, literal * 100).serialize() * count
