"""A page whose messages are marked: what a visitor sees or hears that is neither marked nor data is a stray word."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route

from tests.support.dashboards import read_json

OPEN, CLOSE = "⟦", "⟧"
_PLACEHOLDER = re.compile(r"(\{\w+\})")
_MARKED = re.compile(f"{OPEN}[^{CLOSE}]*{CLOSE}")
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\S*")  # of the view itself
_WORD = re.compile(r"[^\W\d_]{2,}")
_WORDS = re.compile(r"\w+")
# Of Intl, not of the page: months, units, enumerations. The languages have their own names in every language.
_MONTHS = "January February March April May June July August September October November December"
_OTHERS = "Jan Feb Mar Apr Jun Jul Aug Sept Sep Oct Nov Dec kB MB byte and English Français Español Deutsch"

# All that can be read or heard, also in closed menus and for screen readers only. The code to embed is data.
_COLLECT = """() => {
  const texts = [document.title];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    if (!walker.currentNode.parentElement.closest('script, style, textarea, code')) texts.push(walker.currentNode.data);
  }
  for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'aria-roledescription', 'aria-valuetext', 'label']) {
    for (const element of document.querySelectorAll(`[${name}]`)) texts.push(element.getAttribute(name));
  }
  return texts;
}"""


def mark_messages(page: Page) -> None:
    """Mark every message that the page loads; values of placeholders stay unmarked."""

    def fulfil(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=json.dumps(_marked(response.json())))

    page.route("**/messages_*.json", fulfil)


def _marked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _marked(inner) for key, inner in value.items()}
    pieces = _PLACEHOLDER.split(value)
    return "".join(piece if i % 2 or not piece else f"{OPEN}{piece}{CLOSE}" for i, piece in enumerate(pieces))


def stray_words(texts: Iterable[str], data: Iterable[str]) -> set[str]:
    """Return what remains of texts without messages, data, numbers and dates, if it has a word in it."""
    unmarked = {text: _ADDRESS.sub(" ", _MARKED.sub(" ", text)) for text in texts}
    pattern = _any_of([*_MONTHS.split(), *_OTHERS.split(), *data], unmarked.values())
    rest = {text: pattern.sub(" ", words) for text, words in unmarked.items()}
    return {f"{left.strip()} (in {text.strip()!r})" for text, left in rest.items() if _WORD.search(left)}


def _any_of(names: Iterable[str], texts: Iterable[str]) -> re.Pattern[str]:
    """Match any of these names, of which a country has 100,000: only those whose every word is in the texts."""
    there = {word for text in texts for word in _WORDS.findall(text)}
    possible = [name for name in names if name and there.issuperset(_WORDS.findall(name))]
    longest_first = "|".join(map(re.escape, sorted(possible, key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)")


def strays_on(page: Page, data: Iterable[str]) -> set[str]:
    """Return the stray words of a page as it is now."""
    return stray_words(page.evaluate(_COLLECT), data)


def words_of(site: Path) -> list[str]:
    """Return the data that a site may show as it is: names and codes of regions, titles, files, publishers' words."""
    words: list[str] = []
    for entry in json.loads((site / "site.json").read_text(encoding="utf-8"))["datasets"]:
        data = site / entry["data"]
        index = read_json(data / "index.json.gz")
        words += [entry["key"], index["title"], index["country"], *index["topics"].values()]
        words += [text for trend in index["trends"] for text in (trend["title"], trend["name"])]
        words += [text for trend in index["trends"] for topic in trend.get("topics", []) for text in topic["examples"]]
        words += [str(index["credits"][key]) for key in ("version", "id", "publisher", "contact")]
        words += [file["name"] for file in index["files"]] + list(index["definitions"].values())
        words += [text for part in index["about"] for text in part["text"] if isinstance(text, str)]
        words += [reason["size"] for reason in index["reasons"] if isinstance(reason, dict) and "size" in reason]
        for name in ("regions", "finer"):
            columns = read_json(data / f"{name}.json.gz")
            words += [*columns["name"], *columns["code"], *columns["id"]]
    return sorted(set(words))
