"""Which regions straddle others: a ZIP has one parent, the county with most of its addresses, and may extend into more.

A straddling table says which share of a region's addresses lies in each other region of its parent's level. It is a
public fact beside the geography and not a part of it: no cell, count or fingerprint depends on it. It tells how far
off the counts above are if a log names the finer level only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from search_insights.errors import GeographyError
from search_insights.spec.geography import PACKAGED_GEOGRAPHY, Geography, Region
from search_insights.spec.table_file import read_table_file
from search_insights.support.sql import public_reader

_COLUMNS = ("place_id", "also_in", "share")
_ROUNDING = 1e-6  # shares are rounded, so those of one region may add up to a little more than 1
_USUAL_PEOPLE = 10_000.0  # in a region, where the table has no population at all


class Straddle(NamedTuple):
    """One row: a region, another region of its parent's level, and the share of its addresses there."""

    place_id: str
    also_in: str
    share: float


class Exchange(NamedTuple):
    """How far off a region's counts are if each finer region counts in its parent alone, as shares of people.

    from_elsewhere     of what is counted in the region: made in others
    counted_elsewhere  of what is made in the region: counted in others
    """

    from_elsewhere: float
    counted_elsewhere: float


@dataclass(frozen=True)
class Straddling:
    """The checked rows of a straddling table; none if the geography has no such table."""

    geography: Geography
    rows: tuple[Straddle, ...] = ()

    @property
    def level(self) -> str | None:
        """The level of the regions that straddle; None without rows."""
        return self.geography.by_place_id[self.rows[0].place_id].level if self.rows else None

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the rows."""
        return sha256(repr(self.rows).encode()).hexdigest()

    @cached_property
    def also_in(self) -> Mapping[str, Mapping[str, float]]:
        """For each region that straddles: the other regions, and the share of its addresses in each."""
        found: dict[str, dict[str, float]] = {}
        for row in self.rows:
            found.setdefault(row.place_id, {})[row.also_in] = row.share
        return found

    @cached_property
    def people(self) -> Mapping[str, float]:
        """The population of each region of the level; an unknown one counts as the average of the others."""
        regions = [region for region in self.geography.regions if region.level == self.level]
        known = [region.population for region in regions if region.population is not None]
        average = sum(known) / len(known) if known else _USUAL_PEOPLE
        return {r.place_id: average if r.population is None else float(r.population) for r in regions}

    @property
    def people_elsewhere(self) -> float:
        """The people who live outside the parent of their region."""
        return sum(self.people[row.place_id] * row.share for row in self.rows)

    @cached_property
    def exchanges(self) -> Mapping[str, Exchange]:
        """The exchange of every region above the level that has one."""
        by_id = self.geography.by_place_id
        counted: dict[str, float] = {}
        received: dict[str, float] = {}
        given: dict[str, float] = {}
        for place_id, people in self.people.items():
            for above in list(self.geography.lineage(by_id[place_id]))[1:]:
                counted[above.place_id] = counted.get(above.place_id, 0.0) + people
        for row in self.rows:
            moved = self.people[row.place_id] * row.share
            for here, there in self._apart(row):
                received[here.place_id] = received.get(here.place_id, 0.0) + moved
                given[there.place_id] = given.get(there.place_id, 0.0) + moved
        return {
            place: _exchange(counted.get(place, 0.0), received.get(place, 0.0), given.get(place, 0.0))
            for place in (region.place_id for region in self.geography.regions)
            if place in received or place in given
        }

    def _apart(self, row: Straddle) -> Iterator[tuple[Region, Region]]:
        """Yield the regions above a place that counts and a place that is meant, up to where they are one."""
        by_id, lineage = self.geography.by_place_id, self.geography.lineage
        pairs = zip(list(lineage(by_id[row.place_id]))[1:], lineage(by_id[row.also_in]), strict=True)
        return takewhile(lambda pair: pair[0] is not pair[1], pairs)


def _exchange(counted: float, received: float, given: float) -> Exchange:
    own = counted - received + given
    return Exchange(received / counted if counted else 0.0, given / own if own > 0 else 0.0)


def load_straddling(geography: Geography, source: str | Path | None = None) -> Straddling:
    """Read and check the straddling table of a geography: a Parquet or CSV file, or the packaged one where it fits."""
    if source is None or str(source) == PACKAGED_GEOGRAPHY:
        packaged = Straddling(geography, _packaged_rows(geography))
        if source is not None and not packaged.rows:
            raise GeographyError(
                f"`straddling` {source}: is about the packaged geography, not {geography.source}; give a file"
            )
        return packaged
    rows = read_table_file(Path(source), _COLUMNS, _COLUMNS, "a Parquet or CSV file")
    straddles = [_straddle(row, geography, f"{source}, row {number}") for number, row in enumerate(rows, start=1)]
    _require_consistent(straddles, geography, str(source))
    return Straddling(geography, tuple(sorted(straddles)))


def is_packaged_us(geography: Geography) -> bool:
    """Return whether a geography is the packaged United States: the packaged straddling table names its fingerprint."""
    return _packaged_fingerprint() == [(geography.fingerprint,)]


@cache
def _packaged_fingerprint() -> list[tuple[str]]:
    query = "SELECT decode(value) FROM parquet_kv_metadata(?) WHERE decode(key) = 'geography'"
    with resources.as_file(_packaged()) as path, public_reader() as connection:
        return connection.execute(query, [str(path)]).fetchall()


def _packaged() -> Traversable:
    return resources.files("search_insights.spec") / "packaged" / "us_straddling.parquet"


def _packaged_rows(geography: Geography) -> tuple[Straddle, ...]:
    """Return the packaged rows, which are about the packaged geography and no other."""
    if not is_packaged_us(geography):
        return ()
    with resources.as_file(_packaged()) as path, public_reader() as connection:
        return tuple(
            Straddle(*row) for row in connection.read_parquet(str(path)).project(", ".join(_COLUMNS)).fetchall()
        )


def _straddle(row: Mapping[str, Any], geography: Geography, where: str) -> Straddle:
    """Return a row whose regions are known and of levels that fit."""
    place, other = (_known(row, column, geography, where) for column in _COLUMNS[:2])
    parent = geography.by_place_id.get(place.parent or "")
    if parent is None or other.level != parent.level or other is parent:
        raise GeographyError(
            f"{where}: {place.place_id!r} cannot also be in {other.place_id!r}; expected another region of the level "
            "of its parent"
        )
    return Straddle(place.place_id, other.place_id, _share(row["share"], where))


def _known(row: Mapping[str, Any], column: str, geography: Geography, where: str) -> Region:
    region = geography.by_place_id.get(str(row[column] or "").strip())
    if region is None:
        raise GeographyError(f"{where}: column {column!r}: expected a place_id of the geography {geography.source}")
    return region


def _share(value: object, where: str) -> float:
    try:
        share = float(value)  # type: ignore[arg-type]  # what is not a number is refused below
    except (TypeError, ValueError):
        share = 0.0
    if not 0 < share <= 1:
        raise GeographyError(f"{where}: column 'share': expected a number above 0 and up to 1")
    return share


def _require_consistent(rows: list[Straddle], geography: Geography, source: str) -> None:
    """Refuse regions of several levels, a pair that is there twice, and shares that are more than the whole."""
    levels = sorted({geography.by_place_id[row.place_id].level for row in rows})
    if len(levels) > 1:
        raise GeographyError(f"{source}: regions of the levels {' and '.join(levels)}; expected regions of one level")
    if len({row[:2] for row in rows}) < len(rows):
        raise GeographyError(f"{source}: a region and another that it extends into are there twice; keep one row")
    total: dict[str, float] = {}
    for row in rows:
        total[row.place_id] = total.get(row.place_id, 0.0) + row.share
    if over := [place for place, share in total.items() if share > 1 + _ROUNDING]:
        raise GeographyError(f"{source}: the shares of {over[0]!r} add up to more than 1")
