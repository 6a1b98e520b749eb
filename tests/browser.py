"""Headless Chromium without network access, controlled through a pair of pipes."""

import base64
import contextlib
import io
import json
import os
import select
import shutil
import subprocess
import sys
import time

import numpy as np
from PIL import Image

KEYS = {
    "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "PageDown": 34,
    "PageUp": 33, "Escape": 27, "Enter": 13,
}  # fmt: skip

#: Chromium reads from descriptor 3 and writes to 4: move our pipe ends there, then replace the process by the browser.
_BECOME = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""


def program():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One browser with one page; `complaints` collects messages of its console, its content policy and its network."""

    def __init__(self, profile, size=(1200, 800), options=()):
        to_read, self._out = os.pipe()
        self._in, to_write = os.pipe()
        command = [
            sys.executable,
            "-c",
            _BECOME,
            str(to_read),
            str(to_write),
            program(),
            "--headless=new",
            "--no-sandbox",
            "--use-gl=angle",
            "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
            f"--window-size={size[0]},{size[1]}",
            *options,
            "about:blank",
        ]
        self._process = subprocess.Popen(
            command, pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_read)
        os.close(to_write)
        self._buffer, self._count, self._session = b"", 0, None
        self.complaints, self.requests = [], []
        target = self._ask("Target.getTargets")["targetInfos"]
        page = next(item["targetId"] for item in target if item["type"] == "page")
        self._session = self._ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable")
        self.resize(*size)

    def close(self):
        with contextlib.suppress(Exception):
            self._session = None
            self._ask("Browser.close")
        with contextlib.suppress(OSError):
            os.close(self._out)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)

    def _receive(self, limit):
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], max(0.0, limit - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._in, 1 << 20)
            if not data:
                raise ConnectionError("the browser has ended")
            self._buffer += data
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def _ask(self, method, **parameters):
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        limit = time.monotonic() + 60
        while True:
            answer = self._receive(limit)
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _note(self, event):
        method, details = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(str(details["exceptionDetails"].get("exception", {}).get("description")))
        elif method == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning", "assert"):
            self.complaints.append(str([item.get("value") for item in details["args"]]))
        elif method == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
            if "GPU stall due to ReadPixels" not in details["entry"]["text"]:  # the screenshot causes it, not the page
                self.complaints.append(details["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {details['message']}")
            self._ask("Page.handleJavaScriptDialog", accept=True)
        elif method == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])

    def resize(self, width, height):
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, **features):
        emulated = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self._ask("Emulation.setEmulatedMedia", features=emulated)

    def before_scripts(self, script):
        """Run a script in every page opened from now on, before the scripts of the page."""
        self._ask("Page.addScriptToEvaluateOnNewDocument", source=script)

    def open(self, path, hash=""):
        self.open_plainly(path, hash)
        self.settle()

    def open_anew(self, path, hash=""):
        """Open a page in a fresh state, also when only the hash of the address differs."""
        self.complaints.clear()
        self._ask("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank' && document.readyState === 'complete'")
        self.open(path, hash)

    def open_plainly(self, path, hash=""):
        """Open a page without waiting for its camera; it may have none."""
        self._ask("Page.navigate", url=path.as_uri() + hash)
        self.wait("document.readyState === 'complete' && document.documentElement.dataset.state")

    def evaluate(self, expression):
        answer = self._ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "error"))
        return answer["result"].get("value")

    def wait(self, expression, seconds=30):
        limit = time.monotonic() + seconds
        while not (value := self.evaluate(expression)):
            if time.monotonic() > limit:
                raise TimeoutError(f"never came: {expression}")
            time.sleep(0.03)
        return value

    def settle(self):
        """Wait until the camera has stopped and its view is drawn."""
        self.wait("(({state, flight}) => state === 'no-webgl' || flight === 'done')(document.documentElement.dataset)")
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def click(self, selector):
        x, y = self.evaluate(
            f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        self.click_at(x, y)

    def click_at(self, x, y):
        self._mouse("mousePressed", (x, y), buttons=1)
        self.release(x, y)

    def hover(self, x, y):
        self._mouse("mouseMoved", (x, y), buttons=0)

    def drag(self, *places):
        """Press at the first place, move through the others and release at the last one."""
        self.hold(*places)
        self.release(*places[-1])
        self.settle()

    def hold(self, *places):
        """Press at the first place and move through the others."""
        self.hover(*places[0])
        self._mouse("mousePressed", places[0], buttons=1)
        for place in places[1:]:
            self._mouse("mouseMoved", place, buttons=1)

    def release(self, x, y):
        self._mouse("mouseReleased", (x, y), buttons=0)

    def _mouse(self, kind, place, buttons):
        (x, y), button = map(float, place), "none" if kind == "mouseMoved" and not buttons else "left"
        self._ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1, buttons=buttons)

    def middle_of_body(self, body):
        """Return a place in the first view of a lesson where this body is in front, in the middle of all such places.

        A place on the outline is unsuitable: rounding decides whether the pointer hits the body there.
        """
        self.settle()
        places = self.evaluate(
            f"(() => {{ const p = gjk3dSight.panels()[0], box = p.canvas.getBoundingClientRect(), body = {body};"
            " const met = [];"
            " for (let v = 0.1; v < 0.9; v += 0.02) for (let u = 0.1; u < 0.9; u += 0.02) {"
            " const at = { clientX: box.x + u * box.width, clientY: box.y + v * box.height };"
            " const hit = p.ray(at).intersectObjects(p.bodies.slice(0, 2), true).find((one) => one.object.isMesh);"
            " if (hit && hit.object.parent === p.bodies[body]) met.push([at.clientX, at.clientY]); } return met; })()"
        )
        distances = np.linalg.norm(np.subtract(places, np.mean(places, axis=0)), axis=1)
        return places[int(np.argmin(distances))]

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self._ask("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=KEYS[name])

    def type(self, text):
        self._ask("Input.insertText", text=text)

    def screenshot(self):
        data = self._ask("Page.captureScreenshot", format="png")["data"]
        return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")

    def picture(self, selector="#view"):
        """Return the pixels of one element."""
        box = self.evaluate(
            f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            " return [b.left, b.top, b.right, b.bottom]; })()"
        )
        return np.asarray(self.screenshot().crop([round(x) for x in box])).astype(int)

    def state(self, name):
        return self.evaluate(f"document.documentElement.dataset.{name}")
