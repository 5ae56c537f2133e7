# SPDX-License-Identifier: Apache-2.0
"""A page in headless Chromium, driven over the DevTools protocol through a pipe."""

import base64
import json
import os
import select
import subprocess
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--hide-scrollbars", "--remote-debugging-pipe"]
KEYS = {"Tab": 9, "Enter": 13, " ": 32}
TIMEOUT = 30


class Page:
    """`with Page(browser) as page: page.open(url)`."""

    def __init__(self, browser, width, height):
        # Its children may write for a moment after the end of the browser.
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.to = os.pipe()
        self.source, from_write = os.pipe()
        # Chromium reads messages from descriptor 3 and writes to 4.
        def connect():
            reads, writes = os.dup(to_read), os.dup(from_write)  # neither is 3 or 4
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        words = [browser, *FLAGS, f"--user-data-dir={self.profile.name}", "about:blank"]
        self.process = subprocess.Popen(words, pass_fds=(3, 4), preexec_fn=connect,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.number, self.session, self.rest, self.events = 0, None, b"", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.source)
        self.profile.cleanup()

    def receive(self):
        while b"\0" not in self.rest:
            if not select.select([self.source], [], [], TIMEOUT)[0]:
                raise TimeoutError("chromium does not answer")
            part = os.read(self.source, 1 << 16)
            if not part:
                raise EOFError("chromium ended")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer.get("method"))

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, url, scripts=True):
        """Seconds until the page is loaded and, if scripts run, painted."""
        begin = time.monotonic()
        self.events = []
        self.call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self.events:
            self.events.append(self.receive().get("method"))
        if scripts:
            self.run("void (document.body.animate([], 1).onfinish = () => window.painted = 1)")
            while not self.run("window.painted"):
                pass
        return time.monotonic() - begin

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def press(self, key):
        text = {"Enter": "\r", " ": " "}.get(key)
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=KEYS[key],
                      **({"text": text} if text and kind == "keyDown" else {}))

    def tab_to(self, selector, most=400):
        for _ in range(most):
            self.press("Tab")
            if self.run(f"document.activeElement.matches({json.dumps(selector)})"):
                return
        raise AssertionError(f"Tab does not reach {selector}")

    def type(self, text):
        self.call("Input.insertText", text=text)

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
