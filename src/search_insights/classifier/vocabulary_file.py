"""The file of a public vocabulary: plain text, for anyone to read, compare and complain about.

The first line marks the format. Then come three lists, each after its heading: [words], [phrases] and [places]. An
entry has a line of its own, normalised, once, in sorted order, so that two files of one vocabulary are equal. A line
that begins with # is a comment.
"""

from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path

from search_insights.classifier.vocabulary import MAX_DIGITS, Vocabulary, normalised_texts
from search_insights.errors import InputError
from search_insights.support.files import read_text_at_most, replacing_file

PACKAGED_VOCABULARY = "vaccination"

_MAGIC = "search-insights vocabulary 1"
_HEADINGS = {"[words]": "words", "[phrases]": "phrases", "[places]": "places"}
_ABOUT = (
    "What searches that are shown may be made of: these words, these pairs of words, and at most one of these places.",
    "Made by 'search-insights classify vocabulary' from labelled queries with a topic, a lexicon and a geography.",
)
_MAX_BYTES = 1 << 25  # the packaged one has 0.3 MB


def packaged_vocabulary() -> Vocabulary:
    """Return the packaged vocabulary: English, of COVID-19 vaccination, with the places of the United States."""
    name = f"{PACKAGED_VOCABULARY}_vocabulary.txt"
    text = (resources.files("search_insights.classifier") / "packaged" / name).read_text(encoding="utf-8")
    return _parsed(text, name)


def read_vocabulary(path: str | Path = PACKAGED_VOCABULARY) -> Vocabulary:
    """Read the packaged vocabulary, or a file; an error says which line of it is wrong."""
    if path == PACKAGED_VOCABULARY:
        return packaged_vocabulary()
    try:
        text = read_text_at_most(Path(path), _MAX_BYTES)
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path}: cannot be read; expected a vocabulary, a text file in UTF-8") from None
    return _parsed(text, path)


def _parsed(text: str, source: str | Path) -> Vocabulary:
    lists: dict[str, list[str]] = {name: [] for name in _HEADINGS.values()}
    listed = ""
    entries = list(_entries(text, source))
    for (number, line), normal in zip(entries, normalised_texts([line for _, line in entries]), strict=True):
        where = f"{source}: line {number}"
        if line in _HEADINGS:
            listed = _next_list(line, listed, where)
        elif not listed:
            raise InputError(f"{where}: an entry before [words]")
        elif line != normal:
            raise InputError(f"{where}: not normalised; write small letters, single spaces and no punctuation")
        else:
            _require_entry(line, listed, lists[listed], where)
            lists[listed].append(line)
    if listed != "places":
        raise InputError(f"{source}: no line {'[words]' if not listed else '[places]'}; is the file complete?")
    words, phrases, places = (frozenset(entries) for entries in lists.values())
    _require_apart(words, places, source)
    return Vocabulary(words, phrases, places)


def _entries(text: str, source: str | Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that say something, with their numbers."""
    lines = text.split("\n")
    if lines[0] != _MAGIC:
        raise InputError(f"{source}: not a vocabulary of 'search-insights classify vocabulary'")
    for number, line in enumerate(lines[1:], start=2):
        if line and not line.startswith("#"):
            yield number, line


def _next_list(heading: str, before: str, where: str) -> str:
    """Return the list that a heading begins. All three come once, in order."""
    order = ["", *_HEADINGS.values()]
    name = _HEADINGS[heading]
    if order.index(name) != order.index(before) + 1:
        raise InputError(f"{where}: {heading} in the wrong place; expected {', '.join(_HEADINGS)}, each once")
    return name


def _require_entry(line: str, listed: str, before: Sequence[str], where: str) -> None:
    """Refuse an entry that no text could match, or that hides among the others."""
    words = line.split(" ")
    if (listed == "words" and len(words) != 1) or (listed == "phrases" and len(words) != 2):
        raise InputError(f"{where}: expected {'one word' if listed == 'words' else 'two words'}")
    if any(word.isnumeric() and len(word) > MAX_DIGITS for word in words):
        raise InputError(f"{where}: a number of more than {MAX_DIGITS} digits, which no text may have")
    if before and before[-1] >= line:
        raise InputError(f"{where}: not in sorted order, or repeated")


def _require_apart(words: frozenset[str], places: frozenset[str], source: str | Path) -> None:
    """Refuse a name of a place among the words: loose names of places make names of people."""
    both = words & places
    if both:
        raise InputError(f"{source}: {min(both)!r} is among the words and the places; keep one of them")


def write_vocabulary(vocabulary: Vocabulary, path: Path) -> None:
    """Write a vocabulary to a file that appears complete or not at all."""
    lines = [_MAGIC, *(f"# {line}" for line in _ABOUT)]
    for heading, name in _HEADINGS.items():
        lines += ["", heading, *sorted(getattr(vocabulary, name))]
    try:
        with replacing_file(path) as draft:
            draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
