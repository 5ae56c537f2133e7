# SPDX-License-Identifier: Apache-2.0
"""Calls of Optimize by hand: a small job with as many samples as one likes, read to its end or
cancelled on the way."""

import time

import h2.events

import http2
from floods import recorded_messages

CANCEL = 8  # RST_STREAM's error code
CANCEL_JOB = "/octavo.v1.Jobs/CancelJob"
DETACH = (3, 0, 1)  # Spec.detach


def varint(number):
    data = b""
    while number > 127:
        data += bytes([number & 127 | 128])
        number >>= 7
    return data + bytes([number])


def fields(data):
    """(number, wire type, value) of each field of a message that has varints and bytes alone."""
    def take():
        nonlocal data
        number = shift = 0
        while True:
            byte, data = data[0], data[1:]
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
    while data:
        key = take()
        value = take()
        if key & 7 == 2:
            value, data = data[:value], data[value:]
        yield key >> 3, key & 7, value


def encode(all_fields):
    said = b""
    for number, kind, value in all_fields:
        said += varint(number << 3 | kind)
        said += varint(len(value)) + value if kind == 2 else varint(value)
    return said


def job(seed, samples):
    """The messages of a call for the recorded job with other random samples."""
    spec, chunk = recorded_messages()
    name = f"random:{seed}:{samples}".encode()

    def renamed(blob):
        return encode((n, k, name if n == 2 else v) for n, k, v in fields(blob))

    def is_samples(value):
        return b"random:" in value

    [(_, _, body)] = fields(spec)
    body = encode((n, k, renamed(v) if n == 2 and is_samples(v) else v) for n, k, v in fields(body))
    return [encode([(1, 2, body)]), chunk]


class Caller:
    """One connection after another, and one call at a time."""

    def __init__(self, address, source):
        self.address, self.source = address, source
        self.client = None

    def begin(self, messages):
        if self.client is None:
            self.client = http2.Client(self.address, self.source, window=1 << 20)
        stream = self.client.call(http2.OPTIMIZE)
        for i, each in enumerate(messages):
            self.client.send(stream, http2.message(each), end=i + 1 == len(messages))
        return stream

    def answer(self, stream):
        """(gRPC's status code, the bytes of all messages) of a call that has been sent."""
        found, data = None, b""
        while True:
            for event in self.client.receive():
                if isinstance(event, h2.events.DataReceived) and event.flow_controlled_length:
                    data += event.data
                    self.client.http.acknowledge_received_data(event.flow_controlled_length,
                                                               event.stream_id)
                headers = (h2.events.TrailersReceived, h2.events.ResponseReceived)
                if isinstance(event, headers):
                    found = dict(event.headers).get("grpc-status", found)
                if getattr(event, "stream_id", None) == stream and isinstance(
                        event, (h2.events.StreamEnded, h2.events.StreamReset)):
                    self.client.flush()
                    return None if found is None else int(found), data
            self.client.flush()

    def status(self, messages):
        """gRPC's status code of the whole call."""
        return self.answer(self.begin(messages))[0]

    def detach(self, messages):
        """Submits the job without waiting for it; returns its id."""
        spec, *chunks = messages
        [(number, kind, body)] = fields(spec)
        body = encode([*fields(body), DETACH])
        status, data = self.answer(self.begin([encode([(number, kind, body)]), *chunks]))
        if status != 0:
            raise RuntimeError(f"the job was refused: {status}")
        size = int.from_bytes(data[1:5], "big")
        [(_, _, accepted)] = fields(data[5:5 + size])
        return next(value for number, _, value in fields(accepted) if number == 1)

    def cancel_job(self, job_id):
        stream = self.client.call(CANCEL_JOB)
        self.client.send(stream, http2.message(encode([(1, 2, job_id)])), end=True)
        return self.answer(stream)[0]

    def cancel(self, messages, after):
        """Begins a call and cancels it `after` seconds later."""
        stream = self.begin(messages)
        time.sleep(after)
        self.client.http.reset_stream(stream, error_code=CANCEL)
        self.client.flush()

    def close(self):
        if self.client:
            self.client.close()
        self.client = None
