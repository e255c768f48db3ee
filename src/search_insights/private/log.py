"""The search log: where it is, its columns, and the checks that every engine makes. All of it is private.

No value of the log ever gets into a message. Engines' own errors quote values, so they are never passed on.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from search_insights.errors import LogError
from search_insights.private.times import Unit
from search_insights.support.sql import identifier

TOPIC_COLUMNS = ("category", "query")
ROLES = ("user_id", "timestamp", "region", *TOPIC_COLUMNS)  # a log may give columns of levels instead of `region`
_NULL_TYPE = '"NULL"'  # the type of a column without values: how pandas writes the categories of a day without topics


class ArrowStream(Protocol):
    """A table in memory that speaks Arrow: of pandas, Polars or Arrow, or a reader of record batches."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the stream, as Arrow's PyCapsule interface defines it."""


class ArrowDataset(Protocol):
    """A dataset of Arrow, which is scanned."""

    def scanner(self) -> Any:
        """Return the scanner, which has a reader of record batches."""


@dataclass(frozen=True, slots=True)
class LogSource:
    """Where a log is and how to read it.

    patterns    files, folders of them, or globs; with the engine for Spark also addresses, or table:NAME
    columns     the column of a role (user_id, timestamp, region, category, query) or of a level, where it has another
                name
    naive_zone  the zone of times without one; such times need it, unless an earlier week of the store names it
    code_level  the level of bare region codes, where levels share codes
    time_unit   the unit of times that are whole numbers: s, ms, us or ns; found from the numbers if it is not given
    data        instead of files: a DataFrame of pandas or Polars, or a table, reader or dataset of Arrow
    """

    patterns: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    naive_zone: str | None = None
    code_level: str | None = None
    time_unit: Unit | None = None
    # Neither compared nor shown: it is private, and may be large.
    data: ArrowStream | ArrowDataset | None = field(default=None, compare=False, repr=False)

    def column(self, role: str) -> str:
        """Return the name of the column for a role."""
        return self.columns.get(role, role)

    @property
    def level_columns(self) -> tuple[str, ...]:
        """The levels that have a column; none if the column `region` names regions of any level."""
        levels = [role for role in self.columns if role not in ROLES]
        # A level may be called region, too.
        return (*levels, *(role for role in self.columns if role == "region")) if levels else ()

    @property
    def places(self) -> dict[str, str]:
        """The roles that name regions, and what their columns are called in the view `log`."""
        levels = self.level_columns
        return {level: f"region_{i}" for i, level in enumerate(levels)} if levels else {"region": "region"}

    @property
    def required(self) -> tuple[str, ...]:
        """The roles that must have a column."""
        return ("user_id", "timestamp", *self.places)


def require_columns(source: LogSource, types: Mapping[str, str], hint: str = "") -> None:
    """Refuse a log that lacks a required column; `hint` replaces the list of its columns in the message.

    A column has one role: with its times taken for users, each search would be a user of its own, which breaks X1.
    """
    role_of: dict[str, str] = {}
    for role in source.required:
        other = role_of.setdefault(source.column(role), role)
        if other != role:
            raise LogError(
                f"{described(source)}: column {source.column(role)!r} is given for {other} and for {role}; name "
                f"another one with `columns` {role}=NAME"
            )
        if source.column(role) not in types:
            raise LogError(
                f"{described(source)}: no column {source.column(role)!r} for {role}; "
                f"{hint or 'the columns are ' + ', '.join(types)}; map one with `columns` {role}=NAME"
            )


def require_same_columns(source: LogSource, topic: str, files: Iterable[tuple[str, Mapping[str, str]]]) -> None:
    """Refuse files whose columns differ; each file comes with the types of its columns.

    A file without a column that others have would pass for one whose searches have no category. Users of another type
    would not be recognised: 123 and '123.0' are one user to the publisher and two to the bounding, which breaks X1. The
    region 6075 in one file is 06075 in the others.
    """
    first: dict[str, str] = {}
    for file, types in files:
        columns = [source.column(role) for role in (*source.required, topic)]
        if missing := set(columns) - set(types):
            raise LogError(
                f"{file}: no column {min(missing)!r}, which other files of the log have; fix it, or leave it out"
            )
        for column in columns:
            if types[column] == _NULL_TYPE:
                continue
            if first.setdefault(column, types[column]) != types[column]:
                raise LogError(
                    f"{file}: column {column!r}: its type is {_kind(types[column])}, in other files "
                    f"{_kind(first[column])}; write one type in all files"
                )


def topic_role(source: LogSource, types: Mapping[str, str]) -> str:
    """Return which column gives a search's topic: its category, or else its text, which is then classified."""
    for role in TOPIC_COLUMNS:
        if source.column(role) in types:
            return role
    raise LogError(
        f"{described(source)}: no column {source.column('category')!r} or {source.column('query')!r}; "
        "map one with `columns` category=NAME, or query=NAME to have texts classified"
    )


def place_columns(source: LogSource) -> list[str]:
    """Return the columns that name regions, as the view `log` calls them."""
    return [f"{identifier(source.column(role))} AS {name}" for role, name in source.places.items()]


def topic_columns(source: LogSource, topic: str, text: str) -> list[str]:
    """Return the columns category and query in the engine's type for text; the one that is not used is empty."""
    columns = dict.fromkeys(TOPIC_COLUMNS, "NULL") | {topic: identifier(source.column(topic))}
    return [f"CAST({column} AS {text}) AS {role}" for role, column in columns.items()]


def check_types(source: LogSource, types: Mapping[str, str], allowed: Mapping[str, Sequence[str]]) -> None:
    """Refuse columns whose type is not allowed for their role."""
    expected = {"user_id": "a whole number, text or UUID", "timestamp": "a timestamp, a whole number or text"}
    for role in source.required:
        words = expected.get(role, "text, because codes have leading zeros")
        kind = types[source.column(role)]
        if kind not in allowed.get(role, allowed["region"]):
            column = source.column(role)
            raise LogError(f"{described(source)}: column {column!r}: expected {words}; its type is {_kind(kind)}")


def _kind(type_: str) -> str:
    """Return the name of a type without the fields of a structure, whose names may be values."""
    return re.split(r"[(<]", type_)[0]


def described(source: LogSource) -> str:
    """Return the name of a log for messages."""
    if source.data is not None:
        return f"the {type(source.data).__name__} given as data"
    if not source.patterns:
        raise LogError("no log is given; name its files (patterns), or give data")
    more = f" and {len(source.patterns) - 1} more" if len(source.patterns) > 1 else ""
    return f"{source.patterns[0]}{more}"
