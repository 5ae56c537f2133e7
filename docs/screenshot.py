#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/report.png, the README's picture: the top of the HTML report of the digits model.

    docs/screenshot.py [--octavo PATH]       needs chromium

The picture has at most 256 colours, which keeps it below 200 kB.
"""

import argparse
import collections
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
DIGITS = ROOT / "tests/data/digits"
WIDTH, HEIGHT = 1180, 860
# Headless Chromium shows less of the page than its window is high.
WINDOW_HEIGHT = HEIGHT + 200
MOST_BYTES = 200_000
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]


def pixels(png):
    """(width, height, rows of RGB bytes) of an 8-bit RGB or RGBA picture without interlacing."""
    position, data, head = 8, b"", None
    while position < len(png):
        length, kind = struct.unpack(">I4s", png[position:position + 8])
        body = png[position + 8:position + 8 + length]
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            data += body
        position += 12 + length
    width, height, bits, colour, _, _, interlaced = head
    if bits != 8 or colour not in (2, 6) or interlaced:
        sys.exit("chromium wrote a kind of PNG that is not read here")
    size = 3 if colour == 2 else 4
    raw, rows, before = zlib.decompress(data), [], bytearray(width * size)
    for y in range(height):
        start = y * (width * size + 1)
        row = unfilter(raw[start], bytearray(raw[start + 1:start + 1 + width * size]), before, size)
        rows.append([bytes(row[x:x + 3]) for x in range(0, len(row), size)])
        before = row
    return width, height, rows


def unfilter(kind, row, above, size):
    """A row of a PNG with its filter undone (PNG specification, 9.2)."""
    for i, value in enumerate(row):
        left = row[i - size] if i >= size else 0
        up, corner = above[i], above[i - size] if i >= size else 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = up
        elif kind == 3:
            guess = (left + up) // 2
        elif kind == 4:
            estimate = left + up - corner
            guess = min((left, up, corner), key=lambda v: abs(estimate - v))
        else:
            guess = 0
        row[i] = (value + guess) & 255
    return row


def palette_of(rows):
    """Each colour's index: the 256 most frequent ones, others are the nearest of these."""
    counts = collections.Counter(colour for row in rows for colour in row)
    kept = [colour for colour, _ in counts.most_common(256)]
    index = {colour: i for i, colour in enumerate(kept)}
    for colour in counts:
        if colour not in index:
            nearest = min(kept, key=lambda k: sum((a - b) ** 2 for a, b in zip(k, colour)))
            index[colour] = index[nearest]
    return kept, index


def chunk(kind, body):
    return (struct.pack(">I", len(body)) + kind + body +
            struct.pack(">I", zlib.crc32(kind + body)))


def with_palette(png):
    width, _, rows = pixels(png)
    rows = rows[:HEIGHT]
    kept, index = palette_of(rows)
    raw = b"".join(b"\0" + bytes(index[colour] for colour in row) for row in rows)
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, len(rows), 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", b"".join(kept)) + chunk(b"IDAT", zlib.compress(raw, 9)) +
            chunk(b"IEND", b""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--octavo", default=ROOT / "build/release/client/octavo")
    octavo = parser.parse_args().octavo
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("screenshot.py: needs chromium")
    with tempfile.TemporaryDirectory() as work:
        page, picture = pathlib.Path(work, "report.html"), pathlib.Path(work, "report.png")
        subprocess.run([octavo, "optimize", DIGITS / "model.onnx", "--data",
                        DIGITS / "calibration.npz", "-o", pathlib.Path(work, "model.int8.onnx"),
                        "--html", page, "--advise", "--deterministic", "--quiet"], check=True)
        subprocess.run([chromium, *FLAGS, f"--user-data-dir={work}/profile",
                        f"--window-size={WIDTH},{WINDOW_HEIGHT}", f"--screenshot={picture}",
                        page.as_uri()], check=True, capture_output=True)
        result = with_palette(picture.read_bytes())
    if len(result) > MOST_BYTES:
        sys.exit(f"screenshot.py: {len(result)} bytes, must be at most {MOST_BYTES}")
    (ROOT / "docs/report.png").write_bytes(result)
    print(f"wrote docs/report.png, {len(result)} bytes")


if __name__ == "__main__":
    main()
