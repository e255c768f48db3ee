"""The regions of a dataset, by `regions.csv`: the level of each, and what it lies in."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from search_insights.dataset.folder import Description, csv_table, require_plain_table
from search_insights.errors import InputError
from search_insights.support.sql import public_tables


@dataclass(frozen=True, slots=True)
class Places:
    """The regions of a dataset."""

    levels: Mapping[str, str]
    parents: Mapping[str, str]

    def above(self, place: str) -> Iterator[str]:
        """Yield the regions that a region lies in, the nearest first."""
        for _ in range(len(self.parents)):  # a table of anyone may go round in circles
            place = self.parents.get(place, "")
            if not place:
                return
            yield place

    def contains(self, outer: str, inner: str) -> bool:
        """Return whether a region lies in another."""
        return outer in self.above(inner)


def read_places(dataset: Description, needed: Iterable[str]) -> Places:
    """Read the regions of a dataset; refuse it if it lacks one of those that are needed."""
    import duckdb

    if dataset.regions is None:
        raise InputError(f"{dataset.folder}: has no regions.csv; publish the dataset again")
    require_plain_table(dataset.regions)
    sql = f"SELECT place_id, level, coalesce(parent, '') FROM {csv_table(dataset.regions.path)}"
    try:
        with public_tables() as connection:
            rows = connection.execute(sql).fetchall()
    except (duckdb.Error, UnicodeError):
        raise InputError(
            f"{dataset.regions.path}: cannot be read as the table that datapackage.json describes"
        ) from None
    places = Places({place: level for place, level, _ in rows}, {place: parent for place, _, parent in rows})
    for place in needed:
        if place not in places.levels:
            raise InputError(f"{dataset.regions.path}: no region {place[:80]!r}; regions are named by their place_id")
    return places
