"""What the page is to say, as facts: the key of a message and its values, worded by the page for the reader.

A text is data, such as a publisher's reason, and is shown as it is. A value that readers write in their own way has a
kind: a date, a number, a share, a list, or something that a dataset may name in several languages.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

Kind = Literal[
    "date", "number", "percent", "country", "level", "trend", "topic", "definition", "list", "items", "sentences"
]


@dataclass(frozen=True, slots=True)
class Value:
    """A value and its kind: of a topic and of its definition the id of the topic, of a list its facts."""

    kind: Kind
    value: Any


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the page's message files, with the values of its placeholders."""

    key: str
    values: tuple[tuple[str, "Fact"], ...] = ()


Fact = str | int | Value | Message


def say(key: str, **values: Fact) -> Message:
    """Return the message of a key."""
    return Message(key, tuple(values.items()))


def day(week: date | str) -> Value:
    """Return a date, given as such or as text that may be none."""
    return Value("date", str(week))


def number(value: float) -> Value:
    """Return a number of any size, which is shown with all its digits."""
    return Value("number", value)


def percent(share: float) -> Value:
    """Return a share of 1, which is shown in percent."""
    return Value("percent", share)


def level(name: str) -> Value:
    """Return a level by its name."""
    return Value("level", name)


def listed(facts: Iterable[Fact]) -> Value:
    """Return facts that are shown as one enumeration: A, B and C."""
    return Value("list", tuple(facts))


def items(facts: Iterable[Fact]) -> Value:
    """Return facts that are shown as phrases with a semicolon between them."""
    return Value("items", tuple(facts))


def sentences(facts: Iterable[Fact]) -> Value:
    """Return phrases or sentences that are shown one after the other, each with a capital and a full stop."""
    return Value("sentences", tuple(facts))


def as_json(fact: Fact) -> Any:
    """Return a fact as the page reads it: {"say": key, placeholder: value}, {kind: value}, or data as it is."""
    if isinstance(fact, Message):
        return {"say": fact.key} | {name: as_json(value) for name, value in fact.values}
    if isinstance(fact, Value):
        return {fact.kind: [as_json(each) for each in fact.value] if isinstance(fact.value, tuple) else fact.value}
    return fact
