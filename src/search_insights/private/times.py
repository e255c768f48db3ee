"""How a log's times are read, the same way by every engine.

Some logs give instants. Others give clock times without a zone, which mean an instant only in a zone that the publisher
names. The reading decides which day an event belongs to. If it changed between two weeks, one user-day could count in
both. So it is settled once, when the log is opened, the ledger records it, and a change has to be stated.

Text may be either, row by row. The form of most rows is the log's form; rows of the other form are not read. One user
cannot turn it: a log in which both forms are frequent has too many rows that cannot be used, and is refused.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from search_insights.errors import InputError
from search_insights.spec.zones import expected_zone, is_zone, zone

Kind = Literal["instant", "int96", "offset", "clock"]

# The two forms of a time that is text, for engines with different escapes in their literals. A zone's name or its
# abbreviation is not an offset: what it means depends on the engine's own zone data.
_TEXT_FORMS: dict[Kind, str] = {
    "offset": ":[0-9][0-9]([.][0-9]+)? *(Z|UTC|[+-][0-9][0-9](:?[0-9][0-9])?)$",
    "clock": "^[0-9]+[-/][0-9]+[-/][0-9]+([T ]+[0-9:.]+)?$",
}


@dataclass(frozen=True, slots=True)
class TimeReading:
    """How the column `timestamp` is read, and the zone for times without a zone.

    instant    the column's type fixes the instant; the zone plays no part
    int96      Parquet's old type: clock times in UTC, so their instant is fixed too
    offset     text, with an offset from UTC in every row
    clock      clock times without a zone, read in `zone`; they may be text
    """

    zone: str
    kind: Kind

    @property
    def naive_zone(self) -> str:
        """The zone for times without a zone; empty if the times have their own."""
        return self.zone if self.kind == "clock" else ""

    @property
    def recorded(self) -> str:
        """The word for it in the ledger, where it does not matter in which type an instant is stored."""
        return "instant" if self.kind == "int96" else self.kind

    def between(self, begin: datetime, end: datetime, clock_type: str, instant_type: str) -> str:
        """Return the SQL condition that an event lies between two instants, the first included, the second not.

        The literals have the engine's type for clock times or for instants, so that no timestamp needs converting.
        """
        first, last = (self._literal(moment, clock_type, instant_type) for moment in (begin, end))
        return f"(timestamp >= {first} AND timestamp < {last})"

    def _literal(self, moment: datetime, clock_type: str, instant_type: str) -> str:
        if self.kind in ("clock", "int96"):
            return f"{clock_type} '{moment.astimezone(zone(self.zone)).replace(tzinfo=None)}'"
        return f"{instant_type} '{moment.astimezone(UTC)}'"


def text_forms(column: str, matches: str) -> list[str]:
    """Return the SQL that counts the rows of each form; `matches` is the engine's function for regular expressions."""
    return [f"count(*) FILTER (WHERE {matches}({column}, '{form}'))" for form in _TEXT_FORMS.values()]


def form_of_most(offset: int, clock: int) -> Kind:
    """Return the form of a log's text times, given how many rows have each."""
    return "offset" if offset > clock else "clock"


def text_as_time(column: str, matches: str, kind: Kind, clock_type: str, instant_type: str) -> str:
    """Return the SQL that reads times of one form; text of the other form, or of none, is no time."""
    type_ = clock_type if kind == "clock" else instant_type
    return f"CASE WHEN {matches}({column}, '{_TEXT_FORMS[kind]}') THEN TRY_CAST({column} AS {type_}) END"


def require_zone(name: str) -> None:
    """Refuse a zone for times without a zone that does not exist, or not by this name."""
    if not is_zone(name):
        raise InputError(f"`naive_zone` {name}: expected {expected_zone(name)}")
