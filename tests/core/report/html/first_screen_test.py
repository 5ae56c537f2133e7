#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""first_screen_test.py RENDER [FOLDER]: what the report's page shows without scrolling, and that it
sorts and filters with the keyboard.  RENDER renders a report on its standard input; FOLDER gets
pictures."""

import copy
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import devtools
import sample_report

SKIPPED = 77
WIDTH, HEIGHT = 1400, 900
# Times that of a page with a few values: absolute times differ by machine.
MOST_TIMES = 12
MOST_BYTES = 3_000_000

SEEN = """(() => {
  const box = e => { const b = e.getBoundingClientRect(); return [b.top, b.bottom, b.right]; };
  const first = s => { const e = document.querySelector(s); return { text: e.textContent,
                       box: box(e), shown: e.checkVisibility() }; };
  return { sentence: first("h1"), advice: first(".advice li p"), command: first(".advice pre"),
           plot: first("#sqnr svg"), errors: window.errors, width: document.documentElement.scrollWidth,
           back: getComputedStyle(document.body).backgroundColor,
           ink: getComputedStyle(document.querySelector("h1")).color,
           copies: [...document.querySelectorAll("button.copy")].filter(e => e.checkVisibility()).length };
})()"""
ROWS = """[...document.querySelectorAll("#values details.row")].filter(e => e.checkVisibility())
    .map(e => [e.querySelector("code").textContent, e.dataset.share, e.dataset.local])"""


def check(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


def render(program, report, path):
    with path.open("wb") as file:
        subprocess.run([program], check=True, stdout=file, input=json.dumps(report).encode())
    return path


def check_first_screen(page, path, picture, scheme):
    page.scheme(scheme)
    page.open(path.as_uri())
    seen = page.run(SEEN)
    for part in ("sentence", "advice", "command", "plot"):
        top, bottom, right = seen[part]["box"]
        check(seen[part]["shown"] and top >= 0 and bottom <= HEIGHT and right <= WIDTH,
              f"{part} is not on the first screen: {seen[part]}")
    sentence = "held-out samples; 52 % of the error is weights, 15 % block4/depthwise."
    check(seen["sentence"]["text"].endswith(sentence), seen["sentence"]["text"])
    check(seen["advice"]["text"].startswith("+1.6 dB"), seen["advice"]["text"])
    check(seen["command"]["text"].startswith("octavo optimize"), seen["command"]["text"])
    check(seen["width"] <= WIDTH, f"the page is {seen['width']} wide")
    check(seen["copies"] > 0, "commands have a button that copies them")
    if picture:
        page.picture(picture / f"first_{scheme}.png")
    return seen["back"], seen["ink"]


def check_keyboard(page, path):
    page.open(path.as_uri())
    rows = page.run(ROWS)
    shares = [float(row[1]) for row in rows if row[1]]
    check(len(shares) > 5 and shares == sorted(shares, reverse=True), f"by share: {shares}")
    page.tab_to("#filter")
    page.type("DEPTHWISE block4")
    names = [row[0] for row in page.run(ROWS)]
    check(names == ["block4/depthwise"], f"the filter leaves {names}")
    check(page.run("found.textContent") == f"1 of {len(rows)}", page.run("found.textContent"))
    page.run("filter.select()")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Delete", windowsVirtualKeyCode=46)
    check(len(page.run(ROWS)) == len(rows), "an empty filter shows all rows")
    page.tab_to("button[data-sort=local]")
    for key, reverse in (("Enter", False), (" ", True)):
        page.press(key)
        found = [row[2] for row in page.run(ROWS)]
        local = [float(each) for each in found if each]
        check(len(local) > 5 and local == sorted(local, reverse=reverse), f"{key!r}: {local}")
        check(found[-1] is None, "an undefined figure is last")
    check(page.run("document.activeElement.getAttribute('aria-pressed')") == "true", "pressed")
    page.tab_to("details.row summary")
    page.press("Enter")
    check(page.run("document.activeElement.parentElement.open"), "Enter opens a row")


def check_link(page, path):
    """A link to a value opens the row of its group."""
    page.open("about:blank")  # else the browser only scrolls
    page.open(path.as_uri() + "#value-4")
    check(page.run("document.getElementById('value-4').closest('details').open"), "it opens")


def check_without_script(page, path):
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.open(path.as_uri(), scripts=False)
    # Evaluate still works; the page's own script has not run.
    check(page.run("document.querySelectorAll('#values details.row').length") > 5, "rows are there")
    check(not page.run("document.querySelector('.tools').checkVisibility()"), "no dead filter")
    check(page.run("document.querySelector('button[data-sort]').disabled"), "no dead buttons")
    page.call("Emulation.setScriptExecutionDisabled", value=False)


def large_report():
    report = sample_report.sample_report()
    values = report["numerics"]["values"]
    many = []
    for i in range(1000):
        value = copy.deepcopy(values[i % len(values)])
        value.update(name=f"onnx::block{i}/a/value/of/a/large/model", group=i,
                     error_share=1 / (i + 2) ** 2)
        many.append(value)
    report["numerics"]["values"] = many
    return report


def check_hostile(page, program, folder):
    text = json.dumps(sample_report.sample_report()).replace(
        "block4/depthwise", "</script><script>document.title='hacked'</script><img src=x "
        "onerror=document.title='hacked'>")
    path = render(program, json.loads(text), folder / "hostile.html")
    page.open(path.as_uri())
    check(page.run("document.title") == "Octavo report", "a name ran as a script")
    check(page.run("document.images.length") == 0, "a name became an element")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        print("skipped: no chromium")
        sys.exit(SKIPPED)
    program = sys.argv[1]
    picture = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) == 3 else None
    with tempfile.TemporaryDirectory() as scratch, \
            devtools.Page(browser, WIDTH, HEIGHT) as page:
        folder = pathlib.Path(scratch)
        path = render(program, sample_report.sample_report(), folder / "report.html")
        light, dark = (check_first_screen(page, path, picture, scheme)
                       for scheme in ("light", "dark"))
        check(light[0] != dark[0] and light[1] != dark[1], f"dark differs from light: {light}")
        check_keyboard(page, path)
        check_link(page, path)
        check_without_script(page, path)
        check_hostile(page, program, folder)
        large = render(program, large_report(), folder / "large.html")
        check(large.stat().st_size < MOST_BYTES, f"{large.stat().st_size} bytes of 1,000 values")
        # The best of three: other programs may run.
        small_seconds, seconds = (min(page.open(each.as_uri()) for _ in range(3))
                                  for each in (path, large))
        check(seconds < MOST_TIMES * small_seconds,
              f"1,000 values open in {seconds:.1f} s, a few in {small_seconds:.2f} s")
        print(f"1,000 values: {large.stat().st_size} bytes, {seconds:.2f} s; "
              f"a few: {small_seconds:.2f} s")


if __name__ == "__main__":
    main()
