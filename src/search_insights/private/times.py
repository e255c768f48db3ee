"""How a log's times are read, the same way by every engine.

Some logs give instants. Others give clock times without a zone, which mean an instant only in a zone that the publisher
names. Text may be either, row by row. The reading decides which day an event belongs to, so it is settled once, when
the log is opened, and the ledger records it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from zoneinfo import ZoneInfo

from search_insights.errors import InputError


@dataclass(frozen=True, slots=True)
class TimeReading:
    """How the column `timestamp` is read, and the zone for times without a zone.

    instant    the column's type fixes the instant; the zone plays no part
    clock      clock times without a zone, read in `zone`
    int96      Parquet's old type: clock times in UTC, so their instant is fixed too
    text       each row may have an offset; a row without one is read in `zone`
    """

    zone: str
    kind: Literal["instant", "clock", "int96", "text"]

    @property
    def naive_zone(self) -> str:
        """The zone for times without a zone; empty if the column's type fixes the instant."""
        return "" if self.kind in ("instant", "int96") else self.zone

    def between(self, begin: datetime, end: datetime, clock_type: str, instant_type: str) -> str:
        """Return the SQL condition that an event lies between two instants, the first included, the second not.

        The literals have the engine's type for clock times or for instants, so that no timestamp needs converting.
        """
        first, last = (self._literal(moment, clock_type, instant_type) for moment in (begin, end))
        return f"(timestamp >= {first} AND timestamp < {last})"

    def _literal(self, moment: datetime, clock_type: str, instant_type: str) -> str:
        if self.kind in ("clock", "int96"):
            return f"{clock_type} '{moment.astimezone(ZoneInfo(self.zone)).replace(tzinfo=None)}'"
        return f"{instant_type} '{moment.astimezone(UTC)}'"


def require_zone(zone: str) -> None:
    """Refuse a zone that does not exist."""
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        raise unknown_zone(zone) from None


def unknown_zone(zone: str) -> InputError:
    """Return the error for a zone that does not exist."""
    return InputError(f"`naive_zone` {zone}: expected an IANA time zone such as UTC or Europe/Dublin")
