"""Promises about the blocklist: words that no search which is shown may have."""

from pathlib import Path

import pytest

from search_insights.errors import InputError
from search_insights.trends.blocklist import Blocklist, read_blocklist


def written(folder: Path, text: str) -> Path:
    """Write a blocklist."""
    path = folder / "blocked.txt"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "blocked"),
    [
        ("vaccine hoax", True),
        ("is the vaccine a hoax", True),
        ("hoaxes", False),  # another word
        ("mark of the beast vaccine", True),
        ("mark beast vaccine", False),  # not in a row
        ("marks of the beast", False),
    ],
)
def test_a_line_blocks_every_text_that_has_its_words_in_a_row(tmp_path: Path, text: str, blocked: bool) -> None:
    """Whole words, in this order; case and punctuation of the file do not matter."""
    found = read_blocklist(written(tmp_path, "# reviewed in May\nHoax!\n\nMark-of the Beast\n"))
    assert found.entries == ("hoax", "mark of the beast")
    assert found.blocks([text]).tolist() == [blocked]


def test_without_entries_nothing_is_blocked(tmp_path: Path) -> None:
    """A file of comments is an empty list; so is no list."""
    assert read_blocklist(written(tmp_path, "# nothing yet\n")) == Blocklist()
    assert Blocklist().blocks(["covid vaccine", ""]).tolist() == [False, False]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hoax\n?!\n", "line 2: no word"),
        ("hoax\n# why\nHOAX\n", "line 3: the same words as line 1"),
    ],
)
def test_a_line_that_blocks_nothing_is_refused(tmp_path: Path, text: str, words: str) -> None:
    """The line and what is wrong with it: an entry that the operator relies on must not be without effect."""
    with pytest.raises(InputError, match=words):
        read_blocklist(written(tmp_path, text))


def test_a_blocklist_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A publication without the list that was asked for would show what it blocks."""
    (tmp_path / "latin.txt").write_bytes(b"\xe9\n")
    for path in (tmp_path / "none.txt", tmp_path, tmp_path / "latin.txt"):
        with pytest.raises(InputError, match="cannot be read; expected a blocklist"):
            read_blocklist(path)
