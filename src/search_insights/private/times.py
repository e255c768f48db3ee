"""How a log's times are read, the same way by every engine.

Some logs give instants. Others give clock times without a zone, which mean an instant only in a zone that the publisher
names. The reading decides which day an event belongs to. If it changed between two weeks, one user-day could count in
both. So it is settled once, when the log is opened, the ledger records it, and a change has to be stated.

Text may be either, row by row. The form of most rows is the log's form; rows of the other form are not read. One user
cannot turn it: a log in which both forms are frequent has too many rows that cannot be used, and is refused.

Whole numbers, also those that are text, count seconds, milliseconds, microseconds or nanoseconds since 1970. Between
1990 and 2100 a number is a time in at most one of these units, so the numbers themselves tell the unit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, get_args

from search_insights.errors import InputError, LogError
from search_insights.spec.zones import expected_zone, is_zone, zone

Kind = Literal["instant", "int96", "offset", "clock", "epoch_s", "epoch_ms", "epoch_us", "epoch_ns"]
Unit = Literal["s", "ms", "us", "ns"]

_NAMES: dict[Kind, str] = {
    "epoch_s": "seconds",
    "epoch_ms": "milliseconds",
    "epoch_us": "microseconds",
    "epoch_ns": "nanoseconds",
}
_PER_SECOND: dict[Kind, int] = {kind: 1000**power for power, kind in enumerate(_NAMES)}
# The forms of a time whose column has no type for times; 0 is none.
NUMBERS: dict[Kind, int] = {kind: number for number, kind in enumerate(("clock", "offset", *_NAMES), start=1)}
_FIRST_YEAR, _END_YEAR = 1990, 2100

# For engines with different escapes in their literals. A zone's name or its abbreviation is not an offset: what it
# means depends on the engine's own zone data.
_TEXT_FORMS: dict[Kind, str] = {
    "offset": ":[0-9][0-9]([.][0-9]+)? *(Z|UTC|[+-][0-9][0-9](:?[0-9][0-9])?)$",
    "clock": "^[0-9]+[-/][0-9]+[-/][0-9]+([T ]+[0-9:.]+)?$",
}
_DIGITS = "^[0-9]{9,19}$"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How an engine writes times: how text matches, its types, an instant from microseconds, whole division."""

    matches: str
    clock: str
    instant: str
    of_microseconds: str
    divided_by: str


DUCKDB = Dialect("regexp_matches", "TIMESTAMP", "TIMESTAMPTZ", "make_timestamptz", "//")
SPARK = Dialect("regexp_like", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "timestamp_micros", "div")


@dataclass(frozen=True, slots=True)
class TimeReading:
    """How the column `timestamp` is read, and the zone for times without a zone.

    instant    the column's type fixes the instant; the zone plays no part
    int96      Parquet's old type: clock times in UTC, so their instant is fixed too
    offset     text, with an offset from UTC in every row
    clock      clock times without a zone, read in `zone`; they may be text
    epoch_s    whole numbers, or text of digits: seconds since 1970 in UTC; epoch_ms, epoch_us, epoch_ns likewise
    """

    zone: str
    kind: Kind

    @property
    def naive_zone(self) -> str:
        """The zone for times without a zone; empty if the times have their own."""
        return self.zone if self.kind == "clock" else ""

    @property
    def unit(self) -> str:
        """The unit of times that are whole numbers; empty if they are something else."""
        return self.kind.removeprefix("epoch_") if self.kind in _NAMES else ""

    @property
    def recorded(self) -> str:
        """The word for it in the ledger, where it does not matter in which type an instant is stored.

        The unit of numbers does matter: a clock that rounds to seconds puts an event at another instant.
        """
        return "instant" if self.kind == "int96" else self.kind

    def between(self, begin: datetime, end: datetime, dialect: Dialect) -> str:
        """Return the SQL condition that an event lies between two instants, the first included, the second not.

        The literals have the engine's type for clock times or for instants, so that no timestamp needs converting.
        """
        first, last = (self._literal(moment, dialect) for moment in (begin, end))
        return f"(timestamp >= {first} AND timestamp < {last})"

    def may_be_between(self, begin: datetime, end: datetime, dialect: Dialect) -> str:
        """Return the SQL condition that some of the times from `lowest` to `highest` may lie between two instants."""
        first, last = (self._literal(moment, dialect) for moment in (begin, end))
        return f"(lowest IS NULL OR highest IS NULL OR (highest >= {first} AND lowest < {last}))"

    def are_between(self, begin: datetime, end: datetime, dialect: Dialect) -> str:
        """Return the SQL condition that all times from `lowest` to `highest` lie between two instants."""
        first, last = (self._literal(moment, dialect) for moment in (begin, end))
        return f"coalesce(lowest >= {first} AND highest < {last}, false)"

    def _literal(self, moment: datetime, dialect: Dialect) -> str:
        if self.kind in ("clock", "int96"):
            return f"{dialect.clock} '{moment.astimezone(zone(self.zone)).replace(tzinfo=None)}'"
        return f"{dialect.instant} '{moment.astimezone(UTC)}'"


def form_of(column: str, dialect: Dialect, unit: Unit | None, *, is_text: bool) -> str:
    """Return the SQL for the number of a time's form: 0 if it has none, nothing if there is no time."""
    conditions = [f"WHEN {condition} THEN {NUMBERS[kind]}" for kind, condition in _epochs(column, unit).items()]
    if is_text:
        texts = [
            f"WHEN {dialect.matches}({column}, '{form}') THEN {NUMBERS[kind]}" for kind, form in _TEXT_FORMS.items()
        ]
        conditions = [*texts, f"WHEN NOT {dialect.matches}({column}, '{_DIGITS}') THEN 0", *conditions]
    return f"CASE WHEN {column} IS NULL THEN NULL {' '.join(conditions)} ELSE 0 END"


def as_time(column: str, kind: Kind, dialect: Dialect, *, is_text: bool) -> str:
    """Return the SQL that reads times of one form; a time of another form, or of none, is no time."""
    if kind in _TEXT_FORMS:
        condition = f"{dialect.matches}({column}, '{_TEXT_FORMS[kind]}')"
    else:
        condition = _epochs(column)[kind]
        if is_text:
            condition = f"{dialect.matches}({column}, '{_DIGITS}') AND {condition}"
    return f"CASE WHEN {condition} THEN {read_as(column, kind, dialect)} END"


def read_as(column: str, kind: Kind, dialect: Dialect) -> str:
    """Return the SQL that reads a time of which it is known that it has this form."""
    if kind in _TEXT_FORMS:
        return f"TRY_CAST({column} AS {dialect.clock if kind == 'clock' else dialect.instant})"
    number, per_second = f"TRY_CAST({column} AS BIGINT)", _PER_SECOND[kind]
    if per_second > 1_000_000:
        return f"{dialect.of_microseconds}({number} {dialect.divided_by} {per_second // 1_000_000})"
    return f"{dialect.of_microseconds}({number} * {1_000_000 // per_second})"


def kind_of_most(rows: Mapping[int | None, int], unit: Unit | None, column: str, *, is_text: bool) -> Kind:
    """Return the form of a log's times, given how many rows have each form; `column` names it in messages.

    Numbers in two units are refused: no clock gives both, so one of the units would be a mistake.
    """
    counts = {kind: rows.get(number, 0) for kind, number in NUMBERS.items()}
    epochs = [kind for kind in _NAMES if counts[kind]]
    # Of equals, the first: text without any time is read as clock times, of which there are then none.
    most = max(counts, key=lambda kind: counts[kind])
    if is_text and most in _TEXT_FORMS and (counts[most] or not unit):
        require_no_unit(unit, f"{column}: most of its times are text")
        return most
    if len(epochs) > 1:
        units = " and in ".join(_NAMES[kind] for kind in epochs)
        raise LogError(f"{column}: its times are numbers in {units}; write one unit, or say which with `time_unit`")
    if not epochs and any(rows.values()):
        raise _no_times(column, unit)
    return epochs[0] if epochs else _epoch(unit or "s")


def _no_times(column: str, unit: Unit | None) -> LogError:
    units = ", ".join(_NAMES[kind] for kind in ([_epoch(unit)] if unit else _NAMES))
    return LogError(
        f"{column}: its numbers are no times from {_FIRST_YEAR} to {_END_YEAR - 1} in {units} since 1970; "
        + ("leave `time_unit` out to have the unit found" if unit else "write timestamps")
    )


def _epochs(column: str, unit: Unit | None = None) -> dict[Kind, str]:
    """Return, for each unit, the SQL condition that a number is a time in it."""
    first, end = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (_FIRST_YEAR, _END_YEAR))
    kinds = [_epoch(unit)] if unit else list(_NAMES)
    spans = {kind: f"{first * _PER_SECOND[kind]} AND {end * _PER_SECOND[kind] - 1}" for kind in kinds}
    return {kind: f"TRY_CAST({column} AS BIGINT) BETWEEN {span}" for kind, span in spans.items()}


def _epoch(unit: Unit) -> Kind:
    return next(kind for kind in _NAMES if kind == f"epoch_{unit}")


def require_no_unit(unit: Unit | None, what: str) -> None:
    """Refuse a unit for times that are not numbers."""
    if unit:
        raise LogError(f"{what}; `time_unit` {unit} is for times that are whole numbers: leave it out")


def require_unit(unit: str | None) -> None:
    """Refuse a unit that does not exist."""
    if unit is not None and unit not in get_args(Unit):
        raise InputError(f"`time_unit` {unit}: expected {', '.join(get_args(Unit)[:-1])} or {get_args(Unit)[-1]}")


def require_zone(name: str) -> None:
    """Refuse a zone for times without a zone that does not exist, or not by this name."""
    if not is_zone(name):
        raise InputError(f"`naive_zone` {name}: expected {expected_zone(name)}")
