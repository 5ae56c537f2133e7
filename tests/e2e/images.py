# SPDX-License-Identifier: Apache-2.0
"""Writes PNG and baseline JPEG files, so that no test needs an imaging library."""

import struct
import zlib

import numpy as np

# The JPEG's own Huffman tables: words of 4 bits for the 12 DC symbols, and of 8 for AC.
AC_SYMBOLS = [0x00, 0xF0] + [run << 4 | size for run in range(16) for size in range(1, 11)]
AC_TABLE = {symbol: word for word, symbol in enumerate(AC_SYMBOLS)}


def png(pixels):
    """An 8-bit PNG of an array [height, width] (grey) or [height, width, 3]."""
    height, width = pixels.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(pixels))

    def chunk(kind, data):
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    head = struct.pack(">IIBBBBB", width, height, 8, 0 if pixels.ndim == 2 else 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
            chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def zigzag():
    """The positions of a block's 64 coefficients in the order of the file."""
    diagonals = [[(i, s - i) for i in range(8) if 0 <= s - i < 8] for s in range(15)]
    return [at for s, places in enumerate(diagonals) for at in (places if s % 2 else places[::-1])]


def cosines():
    k, n = np.mgrid[:8, :8]
    matrix = np.cos((2 * n + 1) * k * np.pi / 16) / 2
    matrix[0] /= np.sqrt(2)
    return matrix


def blocks_of(plane):
    """Quantized coefficients of each 8 x 8 block, in the order of the file."""
    height, width = plane.shape
    padded = np.pad(plane, ((0, -height % 8), (0, -width % 8)), "edge").astype(np.float64) - 128
    rows, columns = padded.shape[0] // 8, padded.shape[1] // 8
    blocks = padded.reshape(rows, 8, columns, 8).swapaxes(1, 2).reshape(-1, 8, 8)
    matrix, order = cosines(), tuple(np.array(zigzag()).T)
    return np.rint(matrix @ blocks @ matrix.T).astype(int)[:, order[0], order[1]]


def magnitude(value):
    """Its size in bits, and these bits."""
    size = abs(value).bit_length()
    return size, format(value if value > 0 else value + (1 << size) - 1, f"0{size}b") if size else ""


def bits_of(block, before):
    size, bits = magnitude(int(block[0]) - before)
    text = [format(size, "04b"), bits]
    run = 0
    last = max((i for i in range(1, 64) if block[i]), default=0)
    for value in map(int, block[1:last + 1]):
        if value == 0:
            run += 1
            continue
        text.append(format(AC_TABLE[0xF0], "08b") * (run // 16))
        size, bits = magnitude(value)
        text += [format(AC_TABLE[run % 16 << 4 | size], "08b"), bits]
        run = 0
    if last < 63:
        text.append(format(AC_TABLE[0], "08b"))
    return "".join(text)


def jpeg(pixels):
    """A baseline JPEG of an array [height, width] (grey) or [height, width, 3], with the finest
    quantization."""
    height, width = pixels.shape[:2]
    planes = [pixels] if pixels.ndim == 2 else [
        pixels @ np.array(weights) + offset for weights, offset in (
            ((0.299, 0.587, 0.114), 0), ((-0.168736, -0.331264, 0.5), 128),
            ((0.5, -0.418688, -0.081312), 128))]
    before, text = [0] * len(planes), []
    for blocks in zip(*map(blocks_of, planes)):
        for plane, block in enumerate(blocks):
            text.append(bits_of(block, before[plane]))
            before[plane] = int(block[0])
    bits = "".join(text)
    bits += "1" * (-len(bits) % 8)
    scan = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xFF", b"\xFF\0")

    def segment(marker, data):
        return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data

    def table(kind, length, symbols):
        return segment(0xC4, bytes([kind] + [len(symbols) * (i == length) for i in range(1, 17)]
                                   + list(symbols)))

    names = range(1, len(planes) + 1)
    frame = struct.pack(">BHHB", 8, height, width, len(planes))
    return (b"\xFF\xD8" + segment(0xDB, bytes([0] + [1] * 64)) +
            segment(0xC0, frame + b"".join(bytes([i, 0x11, 0]) for i in names)) +
            table(0x00, 4, range(12)) + table(0x10, 8, AC_SYMBOLS) +
            segment(0xDA, bytes([len(planes)]) + b"".join(bytes([i, 0]) for i in names)
                    + bytes([0, 63, 0])) + scan + b"\xFF\xD9")
