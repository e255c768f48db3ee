"""Datasets and sites, each made once, and a site in a real browser."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from search_insights.dashboards.site import dashboard
from tests.support.browser import OpenPage, Visit, running_browser, served, visit
from tests.support.dashboards import other_dataset, us_dataset, with_a_zero
from tests.support.quick_accounting import patch_accounting

# Datasets and sites


@pytest.fixture(scope="session")
def us_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of the real United States."""
    return _published(us_dataset, tmp_path_factory.mktemp("us"))


@pytest.fixture(scope="session")
def other_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of Qazaria."""
    return _published(other_dataset, tmp_path_factory.mktemp("qazaria"))


def _published(make: Callable[[Path], Path], folder: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch_accounting(patch.setattr)
        return make(folder)


@pytest.fixture(scope="session")
def us_site(us_data: Path, other_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of both countries, the United States first."""
    return dashboard([us_data, other_data], tmp_path_factory.mktemp("both") / "site").folder


@pytest.fixture(scope="session")
def other_site(other_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of Qazaria alone, made from nothing but its dataset."""
    return dashboard([other_data], tmp_path_factory.mktemp("other") / "site").folder


@pytest.fixture(scope="session")
def zero_site(other_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Qazaria with a published value of 0: one canton, the first trend, the second week."""
    folder = tmp_path_factory.mktemp("zero")
    return dashboard([with_a_zero(other_data, folder / "dataset")], folder / "site").folder


# The browser


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this folder: each visit has a context of its own, and a start takes a second."""
    with running_browser() as started:
        yield started


@pytest.fixture(scope="package")
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
