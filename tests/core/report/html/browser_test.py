#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chromium renders the page without overlaps, in light and dark, with text and plots in place.

    browser_test.py RENDER_REPORT [FOLDER]       FOLDER keeps the page and the screenshots
"""

import html.parser
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import sample_report

SKIPPED = 77
SIZE = (1180, 1000)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--hide-scrollbars"]

# Measures the boxes of the page's parts and finds what exceeds the window.
PROBE = """
<script>
addEventListener("load", () => {
  const box = e => { const b = e.getBoundingClientRect();
                     return [b.left, b.top, b.width, b.height].map(Math.round); };
  const boxes = s => [...document.querySelectorAll(s)].map(box);
  const out = [...document.querySelectorAll("main *")].filter(e =>
      !e.closest("svg, .wide") && e.getBoundingClientRect().right > innerWidth + 1);
  document.querySelectorAll("#values details").forEach((d, i) => d.open = i == 3);
  const result = {
    width: innerWidth, scroll: document.documentElement.scrollWidth,
    cards: boxes(".card"), figures: boxes(".card .figure"),
    spills: [...document.querySelectorAll(".card .figure")].filter(
        e => e.scrollWidth > e.clientWidth).map(e => e.textContent),
    sections: boxes("main > section"), plot: boxes("#sqnr svg")[0],
    dots: boxes("#sqnr circle.dot-accumulated"),
    opened: boxes("#values details[open] svg"), seen: [...document.querySelectorAll("#values details:not([open]) svg")].filter(
        e => e.checkVisibility()).length,
    sticking_out: out.map(e => e.tagName + "." + e.className),
    unnamed: [...document.querySelectorAll("svg[role=img]")].filter(e =>
        e.getAttribute("aria-labelledby").split(" ").some(
            id => !document.getElementById(id)?.textContent)).length,
    ids: [...document.querySelectorAll("[id]")].map(e => e.id),
    dead: [...document.querySelectorAll("a[href^='#']")].map(e => e.getAttribute("href").slice(1))
        .filter(id => !document.getElementById(id)),
    back: getComputedStyle(document.body).backgroundColor,
  };
  const pre = document.createElement("pre");
  pre.id = "probe"; pre.textContent = JSON.stringify(result); document.body.append(pre);
});
</script>
"""


class Finder(html.parser.HTMLParser):
    """The text of the element with id `probe`."""

    def __init__(self):
        super().__init__()
        self.inside, self.text = False, ""

    def handle_starttag(self, tag, attrs):
        self.inside = self.inside or ("id", "probe") in attrs

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "pre"

    def handle_data(self, data):
        self.text += data if self.inside else ""


def browse(browser, page, folder, *flags, size=SIZE):
    """Standard output of the browser on `page`."""
    with tempfile.TemporaryDirectory(dir=folder) as profile:
        result = subprocess.run(
            [browser, *FLAGS, f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}",
             *flags, page.as_uri()],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=True)
    return result.stdout.decode()


def probe(browser, page, folder, *flags, size=SIZE):
    probed = folder / "probed.html"
    probed.write_text(page.read_text(encoding="utf-8").replace("</body>", PROBE + "</body>"),
                      encoding="utf-8")
    finder = Finder()
    finder.feed(browse(browser, probed, folder, "--dump-dom", *flags, size=size))
    return json.loads(finder.text)


def read_png(path):
    """Width, height and rows of RGB(A) pixels as bytes, and bytes per pixel."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    at, compressed, head = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        chunk = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", chunk)
        elif kind == b"IDAT":
            compressed += chunk
        at += 12 + length
    width, height, depth, color = head[:4]
    assert depth == 8 and color in (2, 6) and head[6] == 0, head
    size = 3 if color == 2 else 4
    return width, height, unfilter(zlib.decompress(compressed), width * size, size), size


def unfilter(data, stride, size):
    rows, above = [], bytearray(stride)
    for start in range(0, len(data), stride + 1):
        kind, row = data[start], bytearray(data[start + 1:start + 1 + stride])
        for i in range(stride) if kind else ():
            left = row[i - size] if i >= size else 0
            corner = above[i - size] if i >= size else 0
            row[i] = (row[i] + (0, left, above[i], (left + above[i]) // 2,
                                paeth(left, above[i], corner))[kind]) & 255
        rows.append(row)
        above = row
    return rows


def paeth(left, above, corner):
    estimate = left + above - corner
    return min((left, above, corner), key=lambda side: abs(estimate - side))


def colors(rows, size, box):
    """Counts the pixels of each color in `box` = left, top, width, height."""
    counts = {}
    left, top, width, height = box
    for row in rows[top:top + height]:
        for x in range(left, left + width):
            color = bytes(row[x * size:x * size + 3])
            counts[color] = counts.get(color, 0) + 1
    return counts


def near(counts, wanted, tolerance=24):
    return sum(count for color, count in counts.items()
               if all(abs(a - b) <= tolerance for a, b in zip(color, wanted)))


def check(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


def check_layout(found, width):
    check(found["width"] == width, f"the window is {found['width']} wide")
    check(found["scroll"] <= width, f"at {width} the page is {found['scroll']} wide")
    check(not found["sticking_out"], f"at {width} these stick out: {found['sticking_out']}")
    check(not found["spills"], f"at {width} figures spill over their cards: {found['spills']}")
    check(len(found["cards"]) == 5, "five cards")
    for one in found["sections"]:
        check(one[2] > width * 0.4 and one[3] > 40, f"a section measures {one}")


def check_content(found):
    cards, plot, values = found["cards"], found["plot"], sample_report.sample_report()["numerics"]
    check(len({card[1] for card in cards}) == 1, f"the cards must be in one row: {cards}")
    defined = sum(value["sqnr_db"] is not None for value in values["values"])
    check(len(found["dots"]) == defined, f"{len(found['dots'])} dots for {defined} values")
    for left, top, width, height in found["dots"]:
        check(plot[0] <= left and left + width <= plot[0] + plot[2] and
              plot[1] <= top and top + height <= plot[1] + plot[3], "a dot is outside its plot")
    xs = [dot[0] for dot in found["dots"]]
    check(xs == sorted(xs) and len(set(xs)) == len(xs), "the dots go from left to right")
    check(len(found["opened"]) == 2 and all(box[3] > 60 for box in found["opened"]),
          f"an opened value shows two plots: {found['opened']}")
    check(found["seen"] == 0, "a closed value shows none")
    check(found["unnamed"] == 0, "each picture has a title and a description")
    check(len(found["ids"]) == len(set(found["ids"])), "ids are unique")
    check(not found["dead"], f"links lead nowhere: {found['dead']}")


def check_picture(path, found):
    """The plot is painted in the two colors of its lines, on the color of the page."""
    width, height, rows, size = read_png(path)
    check((width, height) == SIZE, f"the screenshot measures {width} x {height}")
    page = tuple(int(part) for part in found["back"][4:-1].split(","))
    check(near(colors(rows, size, (0, 0, 20, 400)), page, 1) == 8000, "the margin is the page's")
    plot = colors(rows, size, found["plot"])
    dark = page[0] < 100
    blue, orange = ((110, 168, 255), (242, 166, 90)) if dark else ((47, 111, 222), (194, 97, 12))
    for name, color in (("accumulated", blue), ("local", orange)):
        check(near(plot, color) > 300, f"{path.name}: {near(plot, color)} pixels of the {name} line")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        print("skipped: no chromium")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else scratch).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        page = folder / "report.html"
        with page.open("wb") as file:
            subprocess.run([sys.argv[1]], check=True, stdout=file,
                           input=json.dumps(sample_report.sample_report()).encode())
        dark = "--blink-settings=preferredColorScheme=0"
        backs = []
        for name, flags in (("light", ["--blink-settings=preferredColorScheme=1"]),
                            ("dark", [dark])):
            found = probe(browser, page, folder, *flags)
            check_layout(found, SIZE[0])
            check_content(found)
            picture = folder / f"{name}.png"
            browse(browser, page, folder, f"--screenshot={picture}", *flags)
            check_picture(picture, found)
            backs.append(found["back"])
        check(backs[0] != backs[1], "dark differs from light")
        narrow = probe(browser, page, folder, size=(600, 2000))
        check_layout(narrow, 600)
    print("the page renders in light, dark and narrow")


if __name__ == "__main__":
    main()
