"""One headless Chromium for the whole run, driven over its DevTools protocol.

Never talks to any host but the loopback address; what the browser's own services would ask for is switched off.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
from websockets.sync.client import ClientConnection, connect

from tools.browser import MISSING, chromium_path
from tools.processes import Child

START_S: Final = 60.0
ANSWER_S: Final = 240.0
WAIT_S: Final = 20.0
MESSAGE_BYTES_MAX: Final = 256 * 1024 * 1024
FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-first-run",
    "--no-default-browser-check",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    "--remote-debugging-port=0",
)


class PageError(AssertionError):
    """What ran in the page raised, or the browser refused."""


class Tab:
    """One page of the browser."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._sent = 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a DevTools method and return its answer; events that come before it are kept."""
        self._sent += 1
        self._socket.send(json.dumps({"id": self._sent, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=ANSWER_S))
            if message.get("id") != self._sent:
                self.events.append(message)
                continue
            if "error" in message:
                raise PageError(f"{method}: {message['error']['message']}")
            answer: dict[str, Any] = message["result"]
            return answer

    def run(self, script: str) -> Any:
        """Evaluate a script, wait where it gives a promise, and return its value as JSON would."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise PageError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def give(self, function: str, *values: Any) -> Any:
        """Call a function of the page with values that JSON can write."""
        return self.run(f"({function})(...JSON.parse({json.dumps(json.dumps(values))}))")

    def open(self, address: str) -> None:
        """Load a page and wait until it is ready."""
        self.call("Page.navigate", url="about:blank")  # Else another fragment alone would not load the page anew.
        self.until("location.href === 'about:blank' && document.readyState === 'complete'")
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete' && typeof sealdeck === 'object'")

    def until(self, script: str) -> None:
        """Wait until a script gives something true."""
        deadline = time.monotonic() + WAIT_S
        while not self.run(script):
            if time.monotonic() > deadline:
                said = self.run("document.body?.innerText.slice(0, 2000)")
                raise PageError(f"waited in vain for: {script}\nThe page at {self.run('location.href')} says: {said}")
            time.sleep(0.02)

    def key(self, name: str, *, shift: bool = False) -> None:
        """Press and release a key."""
        codes = {"Tab": 9, "Enter": 13, " ": 32}
        text = {"Enter": "\r", " ": " "}.get(name, "")
        facts = {"key": name, "windowsVirtualKeyCode": codes[name], "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **facts)
        self.call("Input.dispatchKeyEvent", type="keyUp", **facts)

    def width(self, pixels: int, *, dark: bool = False) -> None:
        """Set the width of the window and the colours that the reader prefers."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=pixels, height=900, deviceScaleFactor=1, mobile=pixels < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self) -> bytes:
        """Return a PNG of the whole page."""
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def asked(self) -> list[str]:
        """Return every address that the page asked for since it was opened."""
        self.run("0")
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]


@contextmanager
def browser(profile: Path) -> Iterator[Tab]:
    """Start the browser with an empty profile, give its page, and stop it.

    Raises:
        PageError: there is no browser, or it does not start.
    """
    program = chromium_path()
    if program is None:
        raise PageError(MISSING)
    command = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
    child = Child("Chromium", command, log=profile / "chromium.log")  # It ends with us, however we end.
    try:
        port = _port(profile / "DevToolsActivePort", child)
        with connect(_address(port), max_size=MESSAGE_BYTES_MAX, open_timeout=START_S, ping_interval=None) as socket:
            tab = Tab(socket)
            for domain in ("Page", "Runtime", "Network", "Log"):
                tab.call(f"{domain}.enable")
            yield tab
    finally:
        child.stop()


def _port(note: Path, child: Child) -> int:
    """Return the port that the browser wrote down when it was ready."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if not child.running():
            raise PageError(f"Chromium ended at once: {child.tail()}")
        lines = note.read_text().splitlines() if note.exists() else []
        if len(lines) == 2:
            return int(lines[0])
        time.sleep(0.05)
    raise PageError("Chromium did not start in time")


def _address(port: int) -> str:
    """Return the DevTools address of the one page."""
    pages = httpx.get(f"http://127.0.0.1:{port}/json/list", timeout=START_S, trust_env=False).json()
    return str(next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page"))
