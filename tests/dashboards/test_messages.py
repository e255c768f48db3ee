"""The message files hold all words of the page: the same messages in every language, each of them used."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import search_insights
from tests.support.marked_words import stray_words

DASHBOARDS = Path(search_insights.__file__).parent / "dashboards"
PAGE = DASHBOARDS / "page"
FILES = {path.stem.removeprefix("messages_"): path for path in sorted(PAGE.glob("messages_*.json"))}
LANGUAGES = {code: json.loads(path.read_text(encoding="utf-8")) for code, path in FILES.items()}
ENGLISH = LANGUAGES["en"]
OTHERS = sorted(LANGUAGES.keys() - {"en"})


def forms(message: Any) -> dict[str, str]:
    """Return the plural forms of a message; one that has none has one form."""
    return message if isinstance(message, dict) else {"": message}


def placeholders(text: str) -> list[str]:
    """Return the placeholders of a text, each as often as it is there."""
    return sorted(re.findall(r"\{(\w+)\}", text))


def texts_of(code: str) -> dict[str, str]:
    """Return all texts of a language by their keys."""
    return {f"{key} {form}": text for key, message in LANGUAGES[code].items() for form, text in forms(message).items()}


def test_the_page_offers_the_languages_that_have_a_file() -> None:
    """English, French, Spanish and German; each by its own name."""
    [offered] = re.findall(r"LANGUAGES = \{(.+)\}", (PAGE / "messages.js").read_text(encoding="utf-8"))
    assert sorted(re.findall(r"(\w+): ", offered)) == sorted(LANGUAGES) == ["de", "en", "es", "fr"]


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_message_file_is_complete(code: str) -> None:
    """It has the messages of the English one, in the same order, none of them empty."""
    assert list(LANGUAGES[code]) == sorted(ENGLISH)
    assert [key for key, text in texts_of(code).items() if not text] == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_message_has_the_forms_and_the_values_of_the_english_one(code: str) -> None:
    """All four languages have a form for one and one for others; a value is neither lost nor made up."""
    for key, message in ENGLISH.items():
        own = forms(LANGUAGES[code][key])
        assert own.keys() == forms(message).keys() <= {"", "one", "other"}, key
        for form, text in forms(message).items():
            assert set(placeholders(own[form])) == set(placeholders(text)), (key, form)


@pytest.mark.parametrize("code", OTHERS)
def test_a_message_is_translated(code: str) -> None:
    """A text with several words is nowhere the English one."""
    texts = texts_of("en")
    same = [key for key, text in texts_of(code).items() if text == texts[key]]
    assert [key for key in same if len(re.findall(r"[a-z]{3,}", re.sub(r"\{\w+\}", "", texts[key]))) > 1] == []


def test_french_german_and_spanish_are_set_as_their_readers_expect() -> None:
    """Quotation marks, apostrophes, and spaces that do not break before percent signs and French punctuation."""
    wrong = {
        "fr": r"['\"“”„]|[^\s\u00a0\u202f][;!?»]|[^\u00a0]:(?=\s|$)| [;:!?%»]|« |\bvotre?\b|\btu\b",
        "es": r"['\"“”„]|« | »| [;:!?%]",
        "de": r"['\"”«»]| [;:!?%]|\b[Dd]u\b",
    }
    for code, pattern in wrong.items():
        assert {key: text for key, text in texts_of(code).items() if re.search(pattern, text)} == {}


def sources() -> str:
    """Return all that may say a message: the scripts, the page and what hands facts to it."""
    files = [*PAGE.glob("*.js"), PAGE / "index.html", *DASHBOARDS.glob("*.py")]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def test_every_message_is_said_somewhere_and_every_key_has_a_message() -> None:
    """No word is translated for nothing, and no key is misspelled."""
    text = sources()
    literal = set(re.findall(r"[\"'](\w+)[\"']", text)) | set(re.findall(r'data-say[a-z-]*="(\w+)"', text))
    made = [f"{start}\\w+" for start in re.findall(r"[`\"](\w+_)(?:\$\{|\{)", text)]
    assert [key for key in ENGLISH if key not in literal and not any(re.match(m, key) for m in made)] == []
    said = set(re.findall(r"\b(?:say|parts|partsOf)\(\s*\"(\w+)\"", text)) | set(
        re.findall(r'data-say[a-z-]*="(\w+)"', text)
    )
    assert said - ENGLISH.keys() == set()


class Words(HTMLParser):
    """Collects the words of a page: what is shown, and what screen readers say."""

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the attributes that are shown or said."""
        self.found += [value or "" for name, value in attrs if name in ("aria-label", "title", "placeholder", "alt")]

    def handle_data(self, data: str) -> None:
        """Take text."""
        self.found.append(data)


def test_the_page_itself_has_no_words() -> None:
    """But for its name, and for what it says where no script runs and no message can be loaded."""
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    rest = re.sub(r"<title>.*?</title>|<p id=\"loading\".*?</p>", "", page, flags=re.DOTALL)
    assert len(rest) < len(page)
    words = Words()
    words.feed(rest)
    assert stray_words(words.found, ()) == set()
