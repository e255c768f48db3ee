"""The geography: a public table of regions, and the tree that they form.

A table is a Parquet or CSV file with one row per region. `place_id` identifies a region permanently; `parent` is the
place_id of the region that contains it, and is empty for one region only, the country. Codes are unique only within a
level: the county 06075 and the postal code 06075 are different places.
"""

import difflib
import glob
import hashlib
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import resources
from itertools import dropwhile
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

from search_insights.errors import GeographyError
from search_insights.support.sql import identifier, public_reader

PACKAGED_GEOGRAPHY = "us"


@dataclass(frozen=True, slots=True)
class Region:
    """One place, described by public facts. Nothing here comes from a search log."""

    code: str
    name: str
    level: str
    parent: str | None
    population: int | None
    land_area_km2: float | None
    latitude: float | None
    longitude: float | None
    place_id: str


_MOST_REGIONS = 1 << 20  # more than any country has, and all that the bounding can tell apart
_LONGEST = 4_096  # bytes of a value
_COLUMNS = tuple(field.name for field in fields(Region))
_JOINERS = {0x200C: None, 0x200D: None}  # not printable by themselves, but many scripts need them
_SHOWN = 80  # characters of a value in a message
_FORMULA_STARTS = ("=", "+", "-", "@")
# What may stand unseen before a sign: the categories of joiners, marks and spaces, and letters without a shape.
_UNSEEN_KINDS = ("Cf", "Mn", "Me", "Zs")
_FILLERS = "\u115f\u1160\u2800"
_COUNTRY_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")  # names files and addresses
_REQUIRED = ("code", "name", "level", "parent")
_RANGES = {
    "population": (0.0, 1e12),
    "land_area_km2": (0.0, 1e9),
    "latitude": (-90.0, 90.0),
    "longitude": (-180.0, 180.0),
}


@dataclass(frozen=True)
class Geography:
    """A checked tree of regions: the country first, then level by level, sorted by code."""

    source: str
    regions: tuple[Region, ...]
    levels: tuple[str, ...]

    @cached_property
    def by_place_id(self) -> Mapping[str, Region]:
        """Every region by its place_id."""
        return MappingProxyType({region.place_id: region for region in self.regions})

    @property
    def country(self) -> Region:
        """The region that contains all others."""
        return self.regions[0]

    def lineage(self, region: Region) -> Iterator[Region]:
        """Yield a region and its ancestors, up to the country."""
        here: Region | None = region
        while here is not None:
            yield here
            here = self.by_place_id[here.parent] if here.parent else None

    def find(self, text: str) -> list[Region]:
        """Return the regions that match a code, place_id or name, the best matches first."""
        wanted = _folded(text)
        if not wanted:
            return []
        ranked = [(rank, region) for region in self.regions if (rank := _match_rank(region, wanted)) is not None]
        return [region for _, region in sorted(ranked, key=lambda pair: pair[0])]

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the rows, whatever file they came from."""
        numbers = ("land_area_km2", "latitude", "longitude")
        texts = [[r.place_id, r.code, r.name, r.level, r.parent, r.population] for r in self.regions]
        floats = [[None if v is None else float(v) for v in attrgetter(*numbers)(r)] for r in self.regions]
        rows = json.dumps([texts, floats])
        return hashlib.sha256(rows.encode()).hexdigest()


def _folded(text: str) -> str:
    """Return text without case and accents, so that Dona Ana finds Doña Ana."""
    parts = unicodedata.normalize("NFKD", text.strip().casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))


def _match_rank(region: Region, wanted: str) -> int | None:
    """Return the rank of a match: 0 the code or id itself, 1 the name, 2 its beginning, 3 all words somewhere in it."""
    if wanted in (region.code.casefold(), region.place_id.casefold()):
        return 0
    name = _folded(region.name)
    if name == wanted:
        return 1
    if name.startswith(wanted):
        return 2
    return 3 if all(word in name for word in wanted.split()) else None


def load_geography(source: str | Path = PACKAGED_GEOGRAPHY) -> Geography:
    """Read and check a table of regions: `us` for the packaged one, or the path of a Parquet or CSV file."""
    if str(source) == PACKAGED_GEOGRAPHY:
        return build_geography(_read_packaged(), PACKAGED_GEOGRAPHY)
    return build_geography(_read(Path(source)), str(source))


def _read_packaged() -> list[Region]:
    """Read the packaged table, whose values were checked when it was built."""
    with resources.as_file(resources.files("search_insights.spec") / "packaged" / "us_regions.parquet") as path:
        rows = public_reader().read_parquet(str(path)).project(", ".join(_COLUMNS)).fetchall()
    return [Region(*row) for row in rows]


def _read(path: Path) -> list[Region]:
    regions = [_region(row, f"{path}, row {number}") for number, row in enumerate(_rows(path), start=1)]
    if not regions:
        raise GeographyError(f"{path}: has no regions")
    return regions


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    import duckdb

    if not path.is_file():
        raise GeographyError(f"{path}: no such file; give a Parquet or CSV file, or {PACKAGED_GEOGRAPHY!r}")
    connection = public_reader()
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            table = connection.read_parquet(glob.escape(str(path)))
        else:
            # Nothing is left to DuckDB's detection: it might skip lines, or choose other quotes.
            table = connection.read_csv(
                glob.escape(str(path)),
                all_varchar=True,
                header=True,
                skiprows=0,
                sep=",",
                quotechar='"',
                escapechar='"',
            )
        columns = table.columns
        wanted = [identifier(column) for column in _COLUMNS if column in columns]
        # A small file can stand for very many rows, or very long texts: look before they are read into memory.
        longest = "greatest(0, " + ", ".join(f"strlen(CAST({column} AS VARCHAR))" for column in wanted) + ")"
        ((rows, length),) = table.aggregate(f"count(*), coalesce(max({longest}), 0)").fetchall()
        if rows > _MOST_REGIONS or length > _LONGEST:
            raise GeographyError(
                f"{path}: {rows:,} rows, the longest value {length:,} bytes; expected at most {_MOST_REGIONS:,} "
                f"regions and {_LONGEST:,} bytes"
            )
        values = table.project(", ".join(wanted)).fetchall() if wanted else []
    except duckdb.Error:
        raise GeographyError(f"{path}: cannot be read as Parquet or as comma-separated text in UTF-8") from None
    missing = [column for column in _REQUIRED if column not in columns]
    if missing:
        raise GeographyError(
            f"{path}: no column {missing[0]!r}; expected {', '.join(_COLUMNS)}; got {', '.join(columns)}"
        )
    _refuse_misspelled_columns(columns, path)
    known = [column for column in _COLUMNS if column in columns]
    return (dict(zip(known, row, strict=True)) for row in values)


def _refuse_misspelled_columns(columns: list[str], path: Path) -> None:
    """Refuse a column that looks like a misspelling of a missing one; other extra columns are fine."""
    for column in _COLUMNS:
        near = difflib.get_close_matches(column, [c for c in columns if c not in _COLUMNS], n=1, cutoff=0.7)
        if column not in columns and near:
            raise GeographyError(f"{path}: column {near[0]!r}: did you mean {column!r}? Rename one of them")


def _region(row: dict[str, Any], where: str) -> Region:
    code = _text(row, "code", where)
    place_id = _text(row, "place_id", where) if _clean(row.get("place_id")) else code
    number = {column: _number(row.get(column), column, where) for column in _RANGES}
    population = number.pop("population")
    if population is not None and population != int(population):
        raise GeographyError(f"{where}: column 'population': expected a whole number, got {population}")
    parent = _clean(row["parent"]) or None
    if parent is None and not _COUNTRY_CODE.fullmatch(code):
        raise GeographyError(
            f"{where}: column 'code': the country's code names the dataset's files; expected at most 32 letters, "
            f"digits, _ and -, got {_short(code)}"
        )
    return Region(
        code=code,
        name=_text(row, "name", where),
        level=_text(row, "level", where),
        parent=parent,
        population=None if population is None else int(population),
        place_id=place_id,
        **number,
    )


def _clean(value: object) -> str:
    return value.strip() if isinstance(value, str) else "" if value is None else str(value).strip()


def _text(row: dict[str, Any], column: str, where: str) -> str:
    text = _clean(row[column])
    require_publishable(text, column, where)
    return text


def require_publishable(text: str, column: str, where: str) -> None:
    """Refuse a text of a region that is empty, not on one line, or a formula to a spreadsheet."""
    if not text or not (text.isprintable() or text.translate(_JOINERS).isprintable()):
        raise GeographyError(f"{where}: column {column!r}: expected text on one line, got {_short(text)}")
    if _is_formula(text):
        raise GeographyError(
            f"{where}: column {column!r}: got {_short(text)}; it is published, and a spreadsheet would take "
            f"what begins with {' '.join(_FORMULA_STARTS)} for a formula"
        )


def _is_formula(text: str) -> bool:
    """Return whether a spreadsheet could take a text, or what follows a semicolon in it, for a formula.

    Some begin a formula with a full-width sign too, skip what cannot be seen before it, or divide rows at semicolons.
    """
    if text.isalnum():
        return False
    cells = unicodedata.normalize("NFKC", text).split(";")
    return any(next(dropwhile(_is_unseen, cell), "") in _FORMULA_STARTS for cell in cells)


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in _UNSEEN_KINDS or character in _FILLERS


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")


def _number(value: object, column: str, where: str) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(value)  # type: ignore[arg-type]  # what is not a number is refused below
    except (TypeError, ValueError):
        number = math.nan
    lowest, highest = _RANGES[column]
    if not lowest <= number <= highest:
        words = f"from {lowest:,.0f} to {highest:,.0f}"
        raise GeographyError(f"{where}: column {column!r}: expected a number {words}, got {_short(str(value))}")
    return number


def build_geography(regions: list[Region], source: str) -> Geography:
    """Check that the regions form one tree whose levels nest, and sort them."""
    by_place_id = {region.place_id: region for region in regions}
    _refuse_duplicates(regions, source)
    for region in regions:
        if region.parent is not None and region.parent not in by_place_id:
            raise GeographyError(
                f"{source}: region {region.place_id!r} is an orphan: its parent {region.parent!r} is not in the table"
            )
    _refuse_cycles(by_place_id, source)
    roots = [region.place_id for region in regions if region.parent is None]
    if len(roots) != 1:
        raise GeographyError(f"{source}: expected one region without a parent, the country; got {', '.join(roots[:5])}")
    levels = _levels(by_place_id, source)
    order = {level: i for i, level in enumerate(levels)}
    ordered = sorted(regions, key=lambda region: (order[region.level], region.code, region.place_id))
    return Geography(source, tuple(ordered), levels)


def _refuse_duplicates(regions: list[Region], source: str) -> None:
    (place_id, times), *_ = Counter(region.place_id for region in regions).most_common(1)
    if times > 1:
        hint = "codes that are not unique need a column place_id that is"
        raise GeographyError(f"{source}: duplicate place_id {place_id!r} ({times} rows); {hint}")
    ((level, code), times), *_ = Counter((region.level, region.code) for region in regions).most_common(1)
    if times > 1:
        raise GeographyError(f"{source}: duplicate code {code!r} at level {level!r} ({times} rows); keep one of them")


def _refuse_cycles(by_place_id: dict[str, Region], source: str) -> None:
    safe: set[str] = set()
    for start in by_place_id:
        path: dict[str, None] = {}
        here: str | None = start
        while here is not None and here not in safe:
            if here in path:
                loop = [*list(path)[list(path).index(here) :], here]
                raise GeographyError(f"{source}: a cycle of parents: {' -> '.join(loop[:6])}")
            path[here] = None
            here = by_place_id[here].parent
        safe.update(path)


def _levels(by_place_id: dict[str, Region], source: str) -> tuple[str, ...]:
    """Return the levels from the top down; all regions of a level must have parents of one other level."""
    above: dict[str, str | None] = {}
    for region in by_place_id.values():
        parent_level = by_place_id[region.parent].level if region.parent else None
        known = above.setdefault(region.level, parent_level)
        if known != parent_level:
            raise GeographyError(
                f"{source}: region {region.place_id!r} of level {region.level!r} has a parent of level "
                f"{parent_level!r}; the others of its level have parents of level {known!r}"
            )
    chain: list[str] = []
    below = {parent: level for level, parent in above.items()}
    if len(below) < len(above):
        raise GeographyError(f"{source}: the levels {', '.join(above)} do not nest")
    here = below.get(None)
    while here is not None:
        chain.append(here)
        here = below.get(here)
    return tuple(chain)
