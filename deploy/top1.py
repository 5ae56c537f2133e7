#!/usr/bin/env python3
"""Prints the share of rows of LOGITS.npy whose largest element stands where LABELS.npy says.

Needs nothing but Python itself, so that the quickstart runs on a base system.
"""

import array
import ast
import math
import struct
import sys

# numpy's type words -> array's type codes of the same width.
CODES = {"<f4": "f", "<f8": "d", "|i1": "b", "|u1": "B", "<i4": "i", "<i8": "q"}


def read_npy(path):
    """Shape and flat elements of a little-endian .npy in C order."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:6] != b"\x93NUMPY" or len(data) < 12:
        raise ValueError(f"{path}: not a .npy file")
    wide = data[6] >= 2
    start = 12 if wide else 10
    (length,) = struct.unpack_from("<I" if wide else "<H", data, 8)
    header = ast.literal_eval(data[start:start + length].decode("latin-1"))
    if header["descr"] not in CODES or header["fortran_order"]:
        raise ValueError(f"{path}: cannot read {header}")
    elements = array.array(CODES[header["descr"]])
    elements.frombytes(data[start + length:])
    if sys.byteorder == "big":
        elements.byteswap()
    if len(elements) != math.prod(header["shape"]):
        raise ValueError(f"{path}: {len(elements)} elements, shape {header['shape']}")
    return header["shape"], elements


def count_top1(shape, logits, labels):
    """How many rows have their first largest element at the row's label."""
    rows, classes = shape[0], math.prod(shape[1:])
    hits = 0
    for row in range(rows):
        scores = logits[row * classes:(row + 1) * classes]
        hits += scores.index(max(scores)) == labels[row]
    return hits


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: top1.py LOGITS.npy LABELS.npy")
    try:
        shape, logits = read_npy(sys.argv[1])
        label_shape, labels = read_npy(sys.argv[2])
        if len(shape) < 2 or shape[0] != len(labels):
            raise ValueError(f"logits {shape} do not go with labels {label_shape}")
    except (OSError, ValueError) as error:
        sys.exit(f"top1.py: {error}")
    hits = count_top1(shape, logits, labels)
    print(f"{100 * hits / len(labels):.2f} %  ({hits} of {len(labels)})")


if __name__ == "__main__":
    main()
