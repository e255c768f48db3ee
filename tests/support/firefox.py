"""A real Firefox for the tests of the page, driven over WebDriver BiDi.

Debian's Firefox speaks the protocol itself (`--remote-debugging-port`), so neither a driver program nor a package is
needed. As in Chromium, the page may only reach the site, and any error on it fails the test.
"""

import base64
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.skips import skip_or_fail
from tests.support.websocket import WebSocket

TIMEOUT = 60  # seconds: until an answer comes, or a condition holds

# No animation; and Firefox contacts no host of its own.
PREFERENCES: dict[str, bool | int | str] = {
    "ui.prefersReducedMotion": 1,
    "ui.systemUsesDarkTheme": 0,
    "remote.active-protocols": 1,
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.contentblocking.category": "custom",
    "browser.newtabpage.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "browser.startup.page": 0,
    "browser.warnOnQuit": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.prefetch-next": False,
    "privacy.trackingprotection.enabled": False,
    "services.settings.server": "data:,",
    "startup.homepage_welcome_url": "",
    "toolkit.telemetry.server": "data:,",
}

KEYS = {
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Tab": "\ue004",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
}


def firefox() -> str:
    """Return the path of Firefox; without it the test is skipped, or fails in CI, where everything must be there."""
    found = shutil.which("firefox-esr") or shutil.which("firefox")
    if found is None:
        skip_or_fail("no Firefox", "apt-get install firefox-esr")
    return str(found)


class Firefox:
    """A running Firefox: sends commands, and keeps the errors and the requests that it tells of."""

    def __init__(self, address: str) -> None:
        """Begin a session."""
        self._socket = WebSocket(f"{address}/session", TIMEOUT)
        self._number = 0
        self.events: list[dict[str, Any]] = []
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent", "network.fetchError"])

    def send(self, command: str, **parameters: Any) -> dict[str, Any]:
        """Send a command; return its result."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": command, "params": parameters}))
        while True:
            message = json.loads(self._socket.receive())
            if message["type"] == "event":
                self.events.append(message)
            elif message.get("id") == self._number:
                if message["type"] == "error":
                    raise AssertionError(f"{command}: {message['error']}: {message['message']}")
                result: dict[str, Any] = message["result"]
                return result

    def close(self) -> None:
        """End Firefox."""
        self.send("browser.close")
        self._socket.close()


@contextmanager
def running_firefox() -> Iterator[Firefox]:
    """Start Firefox with an empty profile."""
    path = firefox()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
        Path(folder, "user.js").write_text("\n".join(lines), encoding="utf-8")
        command = [path, "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", folder]
        log = Path(folder, "log.txt")
        with log.open("w") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
            try:
                started = Firefox(_address(log, process))
                yield started
                started.close()
                process.wait(TIMEOUT)
            finally:
                process.kill()


def _address(log: Path, process: "subprocess.Popen[bytes]") -> str:
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end and process.poll() is None:
        if found := re.search(r"WebDriver BiDi listening on (ws://\S+)\n", log.read_text(errors="replace")):
            return found[1]
        time.sleep(0.05)
    raise AssertionError("Firefox did not start:\n" + log.read_text(errors="replace"))


class FirefoxPage:
    """A tab with storage of its own, on a site."""

    def __init__(self, browser: Firefox, site: str) -> None:
        """Open an empty tab."""
        self._browser = browser
        self._site = site
        self._user = browser.send("browser.createUserContext")["userContext"]
        self._context = browser.send("browsingContext.create", type="tab", userContext=self._user)["context"]
        browser.events.clear()
        self.resize(1280, 900)

    def _send(self, command: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.send(command, context=self._context, **parameters)

    def resize(self, width: int, height: int) -> None:
        """Give the page a size, in CSS pixels."""
        self._send("browsingContext.setViewport", viewport={"width": width, "height": height})

    def open(self, query: str = "") -> None:
        """Go to an address of the site and wait until the view is shown."""
        self._send("browsingContext.navigate", url=self._site + query, wait="complete")
        self.wait_for("document.body.dataset.shown")

    def reload(self) -> None:
        """Load the page again and wait until the view is shown."""
        self._send("browsingContext.reload", wait="complete")
        self.wait_for("document.body.dataset.shown")

    def value(self, expression: str) -> Any:
        """Evaluate a JavaScript expression, or wait for a promise; return its value."""
        code = f"(async () => JSON.stringify(await ({expression})))()"
        target = {"context": self._context}
        answer = self._browser.send("script.evaluate", expression=code, target=target, awaitPromise=True)
        if answer["type"] == "exception":
            raise AssertionError(f"{expression}: {answer['exceptionDetails']['text']}")
        return json.loads(answer["result"].get("value") or "null")

    def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript condition holds."""
        waited = f"""(async () => {{ const end = performance.now() + {TIMEOUT * 500};
            while (!({condition})) {{
                if (performance.now() > end) return false;
                await new Promise(done => setTimeout(done, 20)); }} return true; }})()"""
        assert self.value(waited), f"{condition} does not hold; {self.errors()}"

    def text(self, selector: str) -> str:
        """Return the text of an element."""
        return str(self.value(f"document.querySelector({json.dumps(selector)}).textContent"))

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        actions = [
            {"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")
        ]  # a letter is its own name
        self._send("input.performActions", actions=[{"type": "key", "id": "keyboard", "actions": actions}])

    def click(self, selector: str) -> None:
        """Click in the middle of an element."""
        self.point([self.middle(selector)])

    def middle(self, selector: str) -> tuple[int, int]:
        """Scroll to an element; return the position of its middle."""
        x, y = self.value(f"""(e => {{ e.scrollIntoView({{ block: 'nearest' }}); const b = e.getBoundingClientRect();
            return [b.x + b.width / 2, b.y + b.height / 2]; }})(document.querySelector({json.dumps(selector)}))""")
        return round(x), round(y)

    def point(self, path: list[tuple[int, int]], kind: str = "mouse") -> None:
        """Press the mouse or a finger at the first position, move along the others, and release."""
        moves = [{"type": "pointerMove", "x": x, "y": y} for x, y in path]
        actions = [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0}]
        source = {"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": actions}
        self._send("input.performActions", actions=[source])

    def picture(self) -> bytes:
        """Return what the page looks like, as PNG."""
        return base64.b64decode(self._send("browsingContext.captureScreenshot")["data"])

    def errors(self) -> list[str]:
        """Return the errors on the page so far, and the requests to other hosts."""
        return [text for event in self._browser.events if (text := self._error(event["method"], event["params"]))]

    def forget_errors(self) -> None:
        """Forget the errors so far, which the test caused."""
        self._browser.events.clear()

    def _error(self, event: str, details: dict[str, Any]) -> str | None:
        if event == "log.entryAdded":
            return f"{details['type']}: {details['text']}" if details["level"] in ("error", "warn") else None
        url = details["request"]["url"]
        if event == "network.fetchError" and details["errorText"] != "NS_BINDING_ABORTED":
            return f"failed: {url}: {details['errorText']}"
        return None if url.startswith((self._site, "blob:", "data:", "about:")) else f"another host: {url}"

    def close(self) -> None:
        """Close the tab and forget what it stored."""
        self._browser.send("browser.removeUserContext", userContext=self._user)


@contextmanager
def firefox_visit(browser: Firefox, site: str) -> Iterator[FirefoxPage]:
    """Open a fresh page; at the end, fail if there were errors on it."""
    page = FirefoxPage(browser, site)
    yield page
    errors = page.errors()
    page.close()
    assert errors == [], errors
