"""A real Chromium for the tests of the page: it may only reach the site, and any error on the page fails the test."""

import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, sync_playwright

from search_insights.dashboards.server import make_server
from tests.support.skips import skip_or_fail

# Without the flags about background activity, Chromium contacts hosts of its own.
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
]
TIMEOUT_MS = 20_000


def chromium() -> str:
    """Return the path of Chromium; without it the test is skipped, or fails in CI, where everything must be there.

    The one without windows is the same browser, and the tests take about a quarter less time in it.
    """
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        skip_or_fail("no Chromium", "apt-get install chromium")
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
def running_server(site: Path) -> Iterator[ThreadingHTTPServer]:
    """Serve a site on a free port, as `search-insights serve` does."""
    with make_server(site, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve a site; yields its address."""
    with running_server(site) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}/"


@dataclass
class Visit:
    """A visit to the site: a page, its requests and its errors."""

    page: Page
    address: str
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(TIMEOUT_MS)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(f"page error: {error}"))
        self.page.on("request", self._request)
        self.page.on("requestfailed", self._failed)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)
        if not request.url.startswith((self.address, "blob:", "data:")):
            self.errors.append(f"another host: {request.url}")

    def _failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # requests that are still running when the page is closed
            self.errors.append(f"failed: {request.url}: {request.failure}")

    def open(self, query: str = "") -> Page:
        """Go to an address of the site and wait until the view is shown."""
        self.page.goto(self.address + query)
        self.page.wait_for_selector("body[data-shown]")
        return self.page

    def wait_for(self, region: str | None = None, trend: str | None = None, week: str | None = None) -> None:
        """Wait until the page shows this region, trend or week."""
        for operator, value in (("^=", f"{region} "), ("*=", f" {trend} "), ("$=", f" {week}")):
            if value.strip() != "None":
                self.page.wait_for_selector(f'body[data-shown{operator}"{value}"]')


OpenPage = Callable[..., Visit]


@contextmanager
def visit(browser: Browser, address: str, **options: Any) -> Iterator[Visit]:
    """Open a fresh page; at the end, fail if there were errors on it."""
    settings: dict[str, Any] = {
        "locale": "en-GB",
        "viewport": {"width": 1280, "height": 900},
        "reduced_motion": "reduce",
    }
    with browser.new_context(**(settings | options)) as context:
        visitor = Visit(context.new_page(), address)
        yield visitor
        assert visitor.errors == [], visitor.errors


# The parts of the page


def heading(page: Page) -> str:
    """Return the name of the region that the page shows."""
    return page.locator("#region").inner_text()


def search_results(page: Page) -> Locator:
    """Return the results below the search box."""
    return page.locator("#search-results [role=option]")


def show_all(page: Page) -> None:
    """Show all rows of the table."""
    page.get_by_role("button", name=re.compile("^Show all")).click()


def download(page: Page, menu: str, choice: str) -> tuple[str, bytes]:
    """Choose an item of a download menu; return the name and content of the file."""
    page.locator(f"{menu} summary").click()
    with page.expect_download() as waiting:
        page.locator(menu).get_by_role("button", name=choice).click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def wait_for_map(page: Page, trend: str, week: int) -> None:
    """Wait until the map shows this trend and week."""
    page.wait_for_selector(f'#map[data-painted="{trend} {week}"]')


def on_map(page: Page, place: tuple[float, float]) -> tuple[float, float]:
    """Return the screen position of a place that is given in shares of the map's width and height."""
    page.locator("#map").scroll_into_view_if_needed()
    box = page.locator("#map").bounding_box()
    assert box is not None
    return box["x"] + place[0] * box["width"], box["y"] + place[1] * box["height"]


def map_image(page: Page) -> str:
    """Return the map as it is painted."""
    found: str = page.evaluate("document.getElementById('canvas').toDataURL()")
    return found


def changed_map_image(page: Page, before: str) -> str:
    """Wait until the map is painted differently and does not change for two frames; return it."""
    found: str = page.evaluate(
        """async before => { const c = document.getElementById('canvas'); let last = before, now = before;
        while (now === before || now !== last) {
            last = now; await new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)));
            now = c.toDataURL();
        } return now; }""",
        before,
    )
    return found
