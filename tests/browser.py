"""A headless Chromium, driven through its DevTools protocol on two pipes; no package is needed for that."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# WFACLI_CHROMIUM names another program.
NAMES = ("chromium", "chromium-browser", "google-chrome")
_SECONDS = 60


def chromium() -> str | None:
    """Return the path of the browser, or None."""
    named = os.environ.get("WFACLI_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of a browser.

    Attributes:
        events: what the browser reported, as (method, parameters), in order.
    """

    def __init__(self, reading: int, writing: int) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self._in, self._out = os.fdopen(reading, "rb"), os.fdopen(writing, "wb")
        self._count, self._session = 0, ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        for file in (self._in, self._out):
            file.close()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol, and return its result."""
        self._count += 1
        session = {"sessionId": self._session} if self._session else {}
        sent = {"id": self._count, "method": method, "params": parameters, **session}
        self._out.write(json.dumps(sent).encode() + b"\0")
        self._out.flush()
        while True:
            message = self._read()
            if message.get("id") == self._count:
                assert "error" not in message, message
                found: dict[str, Any] = message["result"]
                return found

    def _read(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self._in.read(1)) != b"\0":
            assert byte, "the browser has ended"
            text += byte
        message: dict[str, Any] = json.loads(text)
        if "method" in message:
            self.events.append((message["method"], message["params"]))
        return message

    def show(self, path: Path, width: int, scheme: str, height: int = 900) -> None:
        """Load a file in a window of a width, "light" or "dark", and wait until it is complete."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        seen = len(self.events)
        self.call("Page.navigate", url=path.absolute().as_uri())
        while not any(method == "Page.loadEventFired" for method, _ in self.events[seen:]):
            self._read()

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression on the page."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def picture(self, width: int, height: int) -> bytes:
        """Return the upper part of the window as PNG."""
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = self.call("Page.captureScreenshot", format="png", clip=clip)
        return base64.b64decode(shot["data"])

    def complaints(self) -> list[str]:
        """Return the errors and warnings of the page, and what it asked the network for."""
        found = []
        for method, event in self.events:
            if method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
                found.append(event["entry"]["text"])
            if method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                found.append(f"{method}: {event}")
            if method == "Network.requestWillBeSent" and not event["request"]["url"].startswith(("file:", "data:")):
                found.append(event["request"]["url"])
        return found


@contextlib.contextmanager
def opened(program: str, profile: Path) -> Iterator[Browser]:
    """Start a browser with a new profile for the block."""
    from_us, to_us = os.pipe(), os.pipe()

    def place() -> None:  # the protocol's pipes are descriptors 3 and 4
        reading, writing = os.dup(from_us[0]), os.dup(to_us[1])
        os.dup2(reading, 3)
        os.dup2(writing, 4)

    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe")
    process = subprocess.Popen(
        [program, *flags, f"--user-data-dir={profile}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=False,
        preexec_fn=place,
    )
    os.close(from_us[0])
    os.close(to_us[1])
    timer = threading.Timer(_SECONDS, process.kill)
    timer.start()
    try:
        browser = Browser(to_us[0], from_us[1])
        yield browser
        browser.close()
    finally:
        timer.cancel()
        process.kill()
        process.wait()
