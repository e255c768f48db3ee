"""A real Chromium for the tests of the page: it goes nowhere but to the site, and any error in it fails the test."""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

from search_insights.dashboards.server import make_server

# Without the flags about the background, Chromium looks for hosts of its own, which is not what is tested.
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
]
PATIENCE = 20_000  # milliseconds


def chromium() -> str:
    """Find Chromium; without it a test is skipped, but fails where everything has to be there (CI)."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("needs Chromium: apt-get install chromium")
    return str(found)


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Start Chromium with an empty profile."""
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve a site as `search-insights serve` does; gives its address."""
    with make_server(site, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


@dataclass
class Visit:
    """One visitor of the site: a page, and everything that went wrong on it."""

    page: Page
    address: str
    faults: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.faults.append(f"page error: {error}"))
        self.page.on("request", self._request)
        self.page.on("requestfailed", self._failed)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)
        if not request.url.startswith((self.address, "blob:", "data:")):
            self.faults.append(f"another host: {request.url}")

    def _failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # what is still on its way when the visitor leaves the page
            self.faults.append(f"failed: {request.url}: {request.failure}")

    def open(self, query: str = "") -> Page:
        """Go to an address of the site and wait until it is shown."""
        self.page.goto(self.address + query)
        self.page.wait_for_selector("body[data-shown]")
        return self.page

    def shown(self, region: str | None = None, trend: str | None = None, week: str | None = None) -> None:
        """Wait until this region, trend or week is what the page shows."""
        for part, value in (("^=", f"{region} "), ("*=", f" {trend} "), ("$=", f" {week}")):
            if value.strip() != "None":
                self.page.wait_for_selector(f'body[data-shown{part}"{value}"]')


@contextmanager
def visit(browser: Browser, address: str, **options: Any) -> Iterator[Visit]:
    """Open a fresh page; at its end nothing may have gone wrong on it."""
    settings: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
    with browser.new_context(**(settings | options)) as context:
        visitor = Visit(context.new_page(), address)
        yield visitor
        assert visitor.faults == [], visitor.faults
