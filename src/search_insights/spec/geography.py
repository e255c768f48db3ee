"""The geography: a public table of regions, and the tree that they form.

A table is a Parquet or CSV file with one row per region. `place_id` identifies a region permanently; `parent` is the
place_id of the region that contains it, and is empty for one region only, the country. Codes are unique only within a
level: the county 06075 and the postal code 06075 are different places.
"""

import csv
import hashlib
import json
import math
import re
import shutil
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from itertools import dropwhile
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from search_insights.errors import GeographyError, RowProblem
from search_insights.spec import deeper, world
from search_insights.spec.table_file import Row, is_parquet, read_table_file, text_form
from search_insights.support.sql import public_reader

PACKAGED_GEOGRAPHY = "us"


class Region(NamedTuple):
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


_COLUMNS = Region._fields
_JOINERS = {0x200C: None, 0x200D: None}  # not printable by themselves, but many scripts need them
_SHOWN = 80  # characters of a value in a message
_FORMULA_STARTS = ("=", "+", "-", "@")
# What may stand unseen before a sign: the categories of joiners, marks and spaces, and letters without a shape.
_UNSEEN_KINDS = ("Cf", "Mn", "Me", "Zs")
_FILLERS = "\u115f\u1160\u2800"
_COUNTRY_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")  # names files and addresses
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
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
        code, name, level, parent, population, *numbers, place_id = zip(*self.regions, strict=True)
        texts = list(zip(place_id, code, name, level, parent, population, strict=True))
        floats = ([None if number is None else float(number) for number in column] for column in numbers)
        rows = json.dumps([texts, list(zip(*floats, strict=True))], check_circular=False)  # a third faster
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
    """Read and check a table of regions: that of a file, Parquet or CSV, or a packaged one.

    `us` is the packaged United States, with counties and postal codes. The ISO 3166 code of another country, such as
    IE, stands for its packaged regions, one level below the country, and GB-authority or CA-fsa for a deeper table.
    """
    if str(source) == PACKAGED_GEOGRAPHY:
        return _packaged()
    if world.is_country_code(str(source)) or deeper.deeper_name(str(source)):
        return load_country(str(source))
    return build_geography(_read(Path(source)), str(source))


def load_country(code: str) -> Geography:
    """Read the packaged regions of a country by its ISO 3166 code, such as IE, or the name of a deeper table."""
    if name := deeper.deeper_name(code):
        return build_geography([Region(*row) for row in deeper.deeper_rows(name, _COLUMNS)], name)
    return build_geography([Region(*row) for row in world.country_rows(code, _COLUMNS)], code.upper())


@cache
def _packaged() -> Geography:
    """Read the packaged table once; its values were checked when it was built, and nothing changes a geography."""
    with resources.as_file(resources.files("search_insights.spec") / "packaged" / "us_regions.parquet") as path:
        columns = public_reader().read_parquet(str(path)).project(", ".join(_COLUMNS)).fetchnumpy()
    # Column by column, which is quicker than row by row.
    return build_geography(list(map(Region, *(columns[name].tolist() for name in _COLUMNS))), PACKAGED_GEOGRAPHY)


def _read(path: Path) -> list[Region]:
    """Read the regions; all rows that are wrong are told at once."""
    regions: list[Region] = []
    problems: list[RowProblem] = []
    rows = read_table_file(
        path,
        _COLUMNS,
        _REQUIRED,
        f"a Parquet or CSV file, or {PACKAGED_GEOGRAPHY!r}, or the code of a packaged country such as 'IE'",
    )
    for number, row in enumerate(rows, start=1):
        found = [RowProblem(f"row {number}", what) for what in _wrong_values(row)]
        problems += found
        if not found:
            regions.append(_region(row))
    if problems:
        raise GeographyError.of(str(path), problems)
    if not regions:
        raise GeographyError(f"{path}: has no regions")
    return regions


def _wrong_values(row: Row) -> Iterator[str]:
    """Yield what is wrong with a row, column by column."""
    for column in ("code", "name", "level", "place_id"):
        text = _clean(row.get(column))
        what = _why_not_publishable(text)
        if what and (text or column != "place_id"):
            yield f"column {column!r}: {what}"
    for column, limits in _RANGES.items():
        if what := _why_no_number(row.get(column), column, limits):
            yield f"column {column!r}: {what}"
    code = _clean(row["code"])
    if code and not _clean(row["parent"]) and not _COUNTRY_CODE.fullmatch(code):
        yield (
            f"column 'code': the country's code names the dataset's files; expected at most 32 letters, "
            f"digits, _ and -, got {_short(code)}"
        )


def _region(row: Row) -> Region:
    """Return the region of a row whose values were checked."""
    number = {column: None if row.get(column) in (None, "") else float(row[column]) for column in _RANGES}
    population = number.pop("population")
    code = _clean(row["code"])
    return Region(
        code=code,
        name=_clean(row["name"]),
        level=_clean(row["level"]),
        parent=_clean(row["parent"]) or None,
        population=None if population is None else int(population),
        place_id=_clean(row.get("place_id")) or code,
        **number,
    )


def _clean(value: object) -> str:
    return value.strip() if isinstance(value, str) else "" if value is None else str(value).strip()


def require_publishable(text: str, column: str, where: object) -> None:
    """Refuse a text of a region that is empty, not on one line, or a formula to a spreadsheet."""
    if what := _why_not_publishable(text):
        raise GeographyError(f"{where}: column {column!r}: {what}")


def _why_not_publishable(text: str) -> str | None:
    if text.isascii() and text.isprintable() and text[:1].isalnum() and ";" not in text:
        return None  # most texts: neither of several lines nor a formula
    if not text or not (text.isprintable() or text.translate(_JOINERS).isprintable()):
        return f"expected text on one line, got {_short(text)}"
    if _is_formula(text):
        return (
            f"got {_short(text)}; it is published, and a spreadsheet would take what begins with "
            f"{' '.join(_FORMULA_STARTS)} for a formula"
        )
    return None


def _is_formula(text: str) -> bool:
    """Return whether a spreadsheet could take a text, or what follows a semicolon in it, for a formula.

    Some begin a formula with a full-width sign too, skip what cannot be seen before it, or divide rows at semicolons.
    """
    if text.isalnum() or (text.isascii() and text[0].isalnum() and ";" not in text):
        return False
    cells = unicodedata.normalize("NFKC", text).split(";")
    return any(next(dropwhile(_is_unseen, cell), "") in _FORMULA_STARTS for cell in cells)


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in _UNSEEN_KINDS or character in _FILLERS


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")


def _why_no_number(value: object, column: str, limits: tuple[float, float]) -> str | None:
    if value is None or value == "":
        return None
    try:
        number = float(value)  # type: ignore[arg-type]  # what is not a number is refused below
    except (TypeError, ValueError):
        number = math.nan
    lowest, highest = limits
    if not lowest <= number <= highest:
        hint = "; write a decimal point" if _DECIMAL_COMMA.fullmatch(str(value)) and column != "population" else ""
        return f"expected a number from {lowest:,.0f} to {highest:,.0f}, got {_short(str(value))}{hint}"
    if column == "population" and number != int(number):
        return f"expected a whole number, got {number}"
    return None


def build_geography(regions: list[Region], source: str) -> Geography:
    """Check that the regions form one tree whose levels nest, and sort them; all that is wrong is told at once."""
    by_place_id = {region.place_id: region for region in regions}
    _refuse(source, [*_duplicates(regions, by_place_id), *_orphans(regions, by_place_id)])
    roots = [region.place_id for region in regions if region.parent is None]
    expected = f"expected one region without a parent, the country; got {', '.join(roots[:5])}"
    _refuse(source, [*_cycles(by_place_id), *([expected] if len(roots) > 1 else [])])
    levels = _levels(by_place_id, source)
    order = {level: i for i, level in enumerate(levels)}
    ordered = sorted(regions, key=lambda region: (order[region.level], region.code, region.place_id))
    return Geography(source, tuple(ordered), levels)


def _refuse(source: str, problems: Iterable[str]) -> None:
    found = [RowProblem("", what) for what in problems]
    if found:
        raise GeographyError.of(source, found)


def _duplicates(regions: list[Region], by_place_id: Mapping[str, Region]) -> Iterator[str]:
    if len(by_place_id) == len(regions) == len({(region.level, region.code) for region in regions}):
        return
    times = Counter(region.place_id for region in regions)
    hint = "codes that are not unique need a column place_id that is"
    yield from (f"duplicate place_id {p!r} ({n} rows); {hint}" for p, n in times.items() if n > 1)
    codes = Counter((region.level, region.code) for region in regions if times[region.place_id] == 1)
    for (level, code), n in codes.items():
        if n > 1:
            yield f"duplicate code {code!r} at level {level!r} ({n} rows); keep one of them"


def _orphans(regions: list[Region], by_place_id: Mapping[str, Region]) -> Iterator[str]:
    """Yield the regions without their parent; not if that may be because one place_id stands for another."""
    for region in regions if len(regions) == len(by_place_id) else ():
        if region.parent is not None and region.parent not in by_place_id:
            yield f"region {region.place_id!r} is an orphan: its parent {region.parent!r} is not in the table"


def _cycles(by_place_id: Mapping[str, Region]) -> Iterator[str]:
    safe: set[str | None] = {None}
    for start, region in by_place_id.items():
        if region.parent in safe:  # nearly always, in a table that begins with the country
            safe.add(start)
            continue
        path: dict[str, None] = {}
        here: str | None = start
        while here is not None and here not in safe:
            if here in path:
                loop = [*list(path)[list(path).index(here) :], here]
                yield f"a cycle of parents: {' -> '.join(loop[:6])}"
                break
            path[here] = None
            here = by_place_id[here].parent
        safe.update(path)


def _levels(by_place_id: Mapping[str, Region], source: str) -> tuple[str, ...]:
    """Return the levels from the top down; all regions of a level must have parents of one other level."""
    above: dict[str, str | None] = {}
    problems: list[str] = []
    for region in by_place_id.values():
        parent_level = by_place_id[region.parent].level if region.parent else None
        known = above.setdefault(region.level, parent_level)
        if known != parent_level:
            problems.append(
                f"region {region.place_id!r} of level {region.level!r} has a parent of level "
                f"{parent_level!r}; the others of its level have parents of level {known!r}"
            )
    _refuse(source, problems)
    chain: list[str] = []
    below = {parent: level for level, parent in above.items()}
    if len(below) < len(above):
        raise GeographyError(f"{source}: the levels {', '.join(above)} do not nest")
    here = below.get(None)
    while here is not None:
        chain.append(here)
        here = below.get(here)
    return tuple(chain)


def copy_regions(source: Path, target: Path, regions: Iterable[Region]) -> None:
    """Copy the file of a table of regions; text of another form is written anew, so that nothing is left to guess."""
    if is_parquet(source) or text_form(source, _COLUMNS).is_plain:
        shutil.copyfile(source, target)
    else:
        write_regions(target, regions)


def write_regions(target: Path, regions: Iterable[Region]) -> None:
    """Write a table of regions as CSV."""
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        writer.writerows(regions)
