"""The site in a real browser."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.support.browser import OpenPage, Visit, running_browser, served, visit


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a module."""
    with running_browser() as started:
        yield started


@pytest.fixture(scope="module")
def site_address(us_site: Path) -> Iterator[str]:
    """The address of the site of both countries."""
    with served(us_site) as address:
        yield address


@pytest.fixture
def open_page(browser: Browser, site_address: str) -> Iterator[OpenPage]:
    """Open the site; any page error, console error or request to another host fails the test."""
    with ExitStack() as stack:

        def opened(query: str = "", **options: Any) -> Visit:
            visitor = stack.enter_context(visit(browser, site_address, **options))
            visitor.open(query)
            return visitor

        yield opened
