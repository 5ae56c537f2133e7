#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the top-1 accuracy of LOGITS.npy (one row per sample) for LABELS.npy.

Uses only the standard library, so that the quickstart runs on a base system.
"""

import array
import ast
import math
import struct
import sys

# numpy's type names -> array's type codes of the same width.
ARRAY_TYPES = {"<f4": "f", "<f8": "d", "|i1": "b", "|u1": "B", "<i4": "i", "<i8": "q"}


def read_npy(path):
    """Returns the shape and the elements of a little-endian .npy file in C order."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:6] != b"\x93NUMPY" or len(data) < 12:
        raise ValueError(f"{path}: not a .npy file")
    wide = data[6] >= 2
    start = 12 if wide else 10
    (length,) = struct.unpack_from("<I" if wide else "<H", data, 8)
    header = ast.literal_eval(data[start:start + length].decode("latin-1"))
    if header["descr"] not in ARRAY_TYPES or header["fortran_order"]:
        raise ValueError(f"{path}: unsupported element type or order: {header}")
    elements = array.array(ARRAY_TYPES[header["descr"]])
    elements.frombytes(data[start + length:])
    if sys.byteorder == "big":
        elements.byteswap()
    if len(elements) != math.prod(header["shape"]):
        raise ValueError(f"{path}: {len(elements)} elements do not fill shape {header['shape']}")
    return header["shape"], elements


def count_top1(shape, logits, labels):
    """Counts the rows whose first largest element is at the index of the label."""
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
            raise ValueError(f"logits of shape {shape} do not match labels of shape {label_shape}")
    except (OSError, ValueError) as error:
        sys.exit(f"top1.py: {error}")
    hits = count_top1(shape, logits, labels)
    print(f"{100 * hits / len(labels):.2f} %  ({hits} of {len(labels)})")


if __name__ == "__main__":
    main()
