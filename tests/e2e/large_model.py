# SPDX-License-Identifier: Apache-2.0
"""Writes models of any size without holding them: a chain of MatMuls, each weight a block of its own
bytes, in one file (past the 2 GiB that libprotobuf writes) or with external weights.

    large_model.py OUT.onnx MEBIBYTES [--external]
"""

import pathlib
import sys

import numpy as np

WIDTH = 2048  # a weight is 16 MiB


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def opening(field, length):
    """A field of bytes or of a message, whose content follows."""
    return varint(field << 3 | 2) + varint(length)


def text(field, value):
    data = value if isinstance(value, bytes) else value.encode()
    return opening(field, len(data)) + data


def value_info(name):
    shape = b"".join(text(1, number(1, extent)) for extent in (1, WIDTH))
    tensor = number(1, 1) + text(2, shape)
    return text(1, name) + text(2, text(1, tensor))


def node(i, last):
    result = "y" if last else f"h{i + 1}"
    source = f"h{i}" if i else "x"
    return text(1, source) + text(1, f"w{i}") + text(2, result) + text(3, f"n{i}") + \
        text(4, "MatMul")


class Weights:
    """The elements of weight i, of which no two are equal."""

    def __init__(self):
        random = np.random.default_rng(1)
        self.base = random.normal(0, WIDTH ** -0.5, (WIDTH, WIDTH)).astype(np.float32)

    def bytes(self, i):
        block = self.base * np.float32(1 + i / 1024)
        block[0, :4] = i
        return block.tobytes()


def head_of_tensor(i):
    return number(1, WIDTH) + number(1, WIDTH) + number(2, 1) + text(8, f"w{i}")


def external_tensor(i, size, file):
    entries = {"location": file, "offset": str(i * size), "length": str(size)}
    data = b"".join(text(13, text(1, key) + text(2, value)) for key, value in entries.items())
    return head_of_tensor(i) + data + number(14, 1)


def write(path, mebibytes, external):
    """Returns the bytes written."""
    path = pathlib.Path(path)
    size = WIDTH * WIDTH * 4
    count = max(2, mebibytes * 2 ** 20 // size)
    nodes = b"".join(text(1, node(i, i + 1 == count)) for i in range(count))
    ends = text(2, "large") + text(11, value_info("x")) + text(12, value_info("y"))
    weights = Weights()
    head = number(1, 8) + text(8, number(2, 17))  # IR version, opset
    with open(path, "wb") as file:
        file.write(head)
        if external:
            tensors = [external_tensor(i, size, path.name + ".data") for i in range(count)]
            graph = nodes + ends + b"".join(text(5, tensor) for tensor in tensors)
            file.write(text(7, graph))
            with open(f"{path}.data", "wb") as data:
                for i in range(count):
                    data.write(weights.bytes(i))
            return path.stat().st_size + size * count
        heads = [head_of_tensor(i) + opening(9, size) for i in range(count)]
        fields = [opening(5, len(tensor) + size) + tensor for tensor in heads]
        file.write(opening(7, len(nodes) + len(ends) + sum(map(len, fields)) + size * count))
        file.write(nodes + ends)
        for i, field in enumerate(fields):
            file.write(field)
            file.write(weights.bytes(i))
    return path.stat().st_size


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--external"]):
        sys.exit(__doc__)
    write(sys.argv[1], int(sys.argv[2]), len(sys.argv) == 4)
