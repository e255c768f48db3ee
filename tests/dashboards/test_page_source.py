"""The page's own files keep the rules that make it safe, small and readable."""

import re
from pathlib import Path

import pytest

from tests.support.dashboards import PAGE


@pytest.mark.parametrize("script", sorted(PAGE.glob("*.js")), ids=lambda path: path.name)
def test_every_script_is_small_and_says_what_it_is_for(script: Path) -> None:
    """As in the modules of the package: one idea, stated in the first line, in at most 400 lines."""
    lines = script.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("// ")
    assert len(lines) <= 400


@pytest.mark.parametrize("word", ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http://"])
def test_no_script_can_turn_a_name_into_markup(word: str) -> None:
    """Text is only set as text. The only address in the scripts is the SVG namespace."""
    for script in PAGE.glob("*.js"):
        assert word not in script.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")


def test_the_page_has_nothing_inline_and_names_no_other_host() -> None:
    """So that the content security policy can forbid both."""
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in page
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)
    assert not re.search(r"(src|href)=\"(https?:)?//", page)


def test_the_page_requests_all_its_scripts_at_once() -> None:
    """Scripts that load one another in turn are slow on a slow network."""
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    assert sorted(re.findall(r'(?:modulepreload" href|module" src)="([^"]+)"', page)) == sorted(
        path.name for path in PAGE.glob("*.js")
    )
