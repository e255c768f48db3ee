"""The page and picture of a dataset show texts of a spec as text: no tag, link, emphasis or cell comes out of them."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.dataset.pages import as_text, privacy_page
from search_insights.spec.coverage import Coverage
from tests.support.datasets import dataset_of, json_of
from tests.support.stores import add_weeks

TITLES = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](https://example.org/pixel.png)",
    "<https://example.org>",
    "https://example.org",
    "**bold** _thin_ `code` ~~no~~",
    "a | b | c",
    "{{ site.github }} {% include x %}",
    "&lt;script&gt;",
    "# heading",
    "$x$",
    r"back\slash\*",
]


@pytest.fixture
def published(tmp_path: Path, short_coverage: Coverage, request: pytest.FixtureRequest) -> Path:
    """A dataset whose title is hostile."""
    coverage = Coverage(replace(short_coverage.spec, title=request.param), short_coverage.geography)
    return dataset_of(add_weeks(tmp_path / "store.db", coverage, {}))


@pytest.mark.parametrize("published", TITLES, indirect=True)
def test_a_title_is_text_on_the_page_and_in_the_picture(published: Path) -> None:
    """No character of the title means anything to Markdown, HTML or SVG; programs get it as it is."""
    title = json_of(published, "privacy.json")["name"]
    assert title in TITLES
    page = (published / "PRIVACY.md").read_text(encoding="utf-8")
    heading = page.splitlines()[0].removeprefix("# Privacy of this dataset: ")
    assert heading == as_text(title)
    for mark in ("<", ">", "://"):
        assert mark not in heading
    picture = (published / "summary.svg").read_text(encoding="utf-8")
    assert title in " ".join(ElementTree.fromstring(picture).itertext())
    assert {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(picture).iter()} <= {
        *("svg", "g", "path", "text", "line", "rect", "defs", "clipPath", "style"),
    }


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("COVID-19 (2021): what's next, 50 % & more?", "COVID-19 (2021): what's next, 50 % &amp; more?"),
        ("no postal_code counts", "no postal_code counts"),
        ("_thin_", r"\_thin\_"),
        ("[a](b)", r"\[a\](b)"),
        ("a\n\n# b\tc", r"a \# b c"),
        ("a\u202eb\x1b", "a\ufffdb\ufffd"),
        ("क्\u200dष", "क्\u200dष"),
    ],
)
def test_ordinary_text_stays_readable(text: str, written: str) -> None:
    """Only what Markdown would take for markup is escaped."""
    assert as_text(text) == written


@given(st.text())
def test_any_text_is_one_line_without_tags(text: str) -> None:
    """Whatever the text, it is on one line and has neither a tag nor a cell of its own."""
    written = as_text(text)
    assert len(written.splitlines()) <= 1
    assert not set("<>") & set(written)
    assert "|" not in written.replace(r"\|", "")


def test_every_text_of_a_statement_is_escaped(store: Path) -> None:
    """The page of a statement from elsewhere holds no tag, in whichever text it was."""
    dataset = dataset_of(store)

    def hostile(value: object) -> object:
        if isinstance(value, dict):
            return {key: hostile(below) for key, below in value.items()}
        if isinstance(value, list):
            return [hostile(item) for item in value]
        return "<script>" if isinstance(value, str) else value

    page = privacy_page(hostile(json_of(dataset, "privacy.json")))  # type: ignore[arg-type]
    assert "<" not in page
    assert "&lt;script&gt;" in page
