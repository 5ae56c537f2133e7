#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes pictures of written digits for the text models: DIR/line.npz and DIR/line_held.npz (lines
of text, 48 high), DIR/page.npz and DIR/page_held.npz (pages with lines), DIR/labels.json (the
digits of the held-out lines).

    ocr_samples.py DIR [WIDTH]      WIDTH of the lines, default 320
"""

import json
import pathlib
import sys

import numpy as np

DIGITS = pathlib.Path(__file__).resolve().parents[1] / "data" / "digits"
SIZE, HEIGHT, LINES = 44, 48, 8
PAGE, PAGES = (224, 320), 3


def enlarge(image, size):
    """A square image at another size, linear along both axes."""
    at = np.linspace(0, len(image) - 1, size)
    rows = np.stack([np.interp(at, range(len(image)), column) for column in image.T], 1)
    return np.stack([np.interp(at, range(len(image)), row) for row in rows])


def paint(page, images, top, left, size, step):
    for i, image in enumerate(images):
        x = left + i * step
        area = page[top:top + size, x:x + size]
        np.maximum(area, enlarge(image, size)[:, :area.shape[1]], out=area)


def as_input(pages):
    """Dark ink on light paper, as RGB from -1 to 1."""
    gray = 1 - 2 * np.stack(pages)
    return np.repeat(gray[:, None], 3, 1).astype(np.float32)


def lines_of(images, width):
    count = (width - 8) // 30
    pages = []
    for line in range(LINES):
        page = np.zeros((HEIGHT, width))
        paint(page, images[line * count:(line + 1) * count], 2, 4, SIZE, 30)
        pages.append(page)
    return as_input(pages), count


def pages_of(images):
    pages = []
    for number in range(PAGES):
        page = np.zeros(PAGE)
        for line in range(3):
            first = (number * 3 + line) * 8
            paint(page, images[first:first + 8], 20 + 66 * line, 16 + 10 * line, 40, 30)
        pages.append(page)
    return as_input(pages)


def main(arguments):
    if not 1 <= len(arguments) <= 2:
        sys.exit(__doc__)
    folder = pathlib.Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    width = int(arguments[1]) if len(arguments) > 1 else 320
    for source, suffix in (("calibration.npz", ""), ("heldout.npz", "_held")):
        images = np.load(DIGITS / source)["image"][:, 0]
        lines, count = lines_of(images, width)
        np.savez(folder / f"line{suffix}.npz", x=lines)
        np.savez(folder / f"page{suffix}.npz", x=pages_of(images))
    labels = np.load(DIGITS / "labels.npy")[:LINES * count].reshape(LINES, count)
    (folder / "labels.json").write_text(json.dumps(["".join(map(str, line)) for line in labels]))


if __name__ == "__main__":
    main(sys.argv[1:])
