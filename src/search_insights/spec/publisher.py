"""Who publishes a release: a name, a contact, a licence, and what the registry of deployments asks for.

Words only, of which the fingerprint knows nothing: a publisher may add or reword them at any time.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from search_insights.errors import Problem
from search_insights.spec.checks import refuse, require, require_line, require_one_of

# As the OpenDP registry of differential privacy deployments calls them.
KINDS = ("Government", "Industry", "Nonprofit")
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")

_ADDRESS = re.compile(r"https?://[^\s\"<>\\]+")
_MAIL = re.compile(r"[^\s@\"<>\\]+@[^\s@\"<>\\]+\.[^\s@\"<>\\]+")
_LICENSE = re.compile(r"[A-Za-z0-9._-]+")
_LINES = ("name", "intended_use", "preparation", "justification")


@dataclass(frozen=True, slots=True)
class Publisher:
    """Who answers for a dataset, under which licence it may be used, and what it is for."""

    name: str
    kind: str
    contact: str
    intended_use: str
    address: str | None = None
    license: str | None = None
    license_address: str | None = None
    sector: str | None = None
    preparation: str | None = None
    justification: str | None = None
    authors: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        refuse([*self._wrong_lines(), *self._wrong_choices(), *self._wrong_addresses()])

    def _wrong_lines(self) -> Iterator[Problem]:
        for key in _LINES:
            if (text := getattr(self, key)) is not None:
                yield from require_line(text, _key(key))
        if self.authors is not None:
            yield from require(len(self.authors) >= 1, _key("authors"), "at least one", "none")
        for author in self.authors or ():
            yield from require_line(author, _key("authors"))

    def _wrong_choices(self) -> Iterator[Problem]:
        yield from require_one_of(self.kind, KINDS, _key("kind"))
        if self.sector is not None:
            yield from require_one_of(self.sector, SECTORS, _key("sector"))
        if self.license is not None:
            fits = _LICENSE.fullmatch(self.license) is not None
            yield from require(fits, _key("license"), "an identifier such as CC-BY-4.0", repr(self.license))

    def _wrong_addresses(self) -> Iterator[Problem]:
        fits = is_address(self.contact) or _MAIL.fullmatch(self.contact) is not None
        yield from require(
            fits, _key("contact"), "a mail address, or one that begins with https://", repr(self.contact)
        )
        for key in ("address", "license_address"):
            text = getattr(self, key)
            expected = "an address that begins with https:// or http://"
            yield from require(text is None or is_address(text), _key(key), expected, repr(text))
        named = self.license is not None or self.license_address is None
        yield from require(named, _key("license"), "the licence that license_address is about", "nothing")


def is_address(text: str) -> bool:
    """Return whether a text is an address of the web."""
    return _ADDRESS.fullmatch(text) is not None and text.isprintable()


def _key(name: str) -> str:
    return f"publisher.{name}"
