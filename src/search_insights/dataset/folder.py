"""The only reader of a published folder: how its files describe themselves, and which noise of which week is in it.

All that need to know what was published use it: `load`, the dashboard, the next publication, a restored store. Nothing
here needs a store. The folder may come from anyone: its files are known by their names, none may be a link, and each
has the form that `publish` gives it.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any, BinaryIO

from search_insights.dataset.form import LEDGER, PACKAGE, PRIVACY, SPARSITY, STRADDLING, SUMMARY, require_form
from search_insights.errors import InputError
from search_insights.store.identity import Known
from search_insights.store.ledger import FinalWeek, final_week
from search_insights.support.files import MOST_OF_A_STATEMENT, open_plain, read_at_most, read_plain
from search_insights.support.sql import file_literal
from search_insights.support.strict_json import parse_json

# The files beside the tables in a published folder.
STATEMENTS = (
    *("datapackage.json", "privacy.json", "PRIVACY.md", "summary.json", "summary.svg", "sparsity.json"),
    *("straddling.json", "registry.yaml"),
)
REGIONS = "regions.csv"
TOP_SEARCHES = "_top_searches"  # how the names of the tables of top searches end, after that of the main tables
SPARSE = "too few data points"  # why a region that was removed for sparsity is not reported

_REGION_COLUMNS = ("date", "place_id", "level", "code", "country_region", "country_region_code")
# A name of a file in the folder: no path, no address of elsewhere, no pattern of several files, nothing hidden.
_FILE_NAME = re.compile(r"[\w-][\w.-]*")
_MOST_WEEKS = 5_200  # a century; every week takes memory for every region
_CHUNK = 1 << 20
# What a published ledger tells about a week; earlier versions published the first day and the checksum only.
_RECORDED = ("week", "checksum", "begins_at", "ends_at", "times", "naive_zone")


@dataclass(frozen=True, slots=True)
class TrendColumn:
    """A trend as the dataset describes it."""

    column: str
    name: str
    title: str
    id: str = ""  # a dataset of an earlier version does not tell


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table as the dataset describes it."""

    path: Path
    bytes: int
    hash: str

    def copy_to(self, folder: Path) -> Path:
        """Copy the table; refuse one that is not the file that was published."""
        digest, size = hashlib.sha256(), 0
        with open_plain(self.path) as source, (folder / self.path.name).open("wb") as target:
            for part in _parts(source):
                digest.update(part)
                size += target.write(part)
        if (size, f"sha256:{digest.hexdigest()}") != (self.bytes, self.hash):
            raise InputError(
                f"{self.path}: is not the file that datapackage.json describes: its size or checksum differs; "
                "publish the dataset again"
            )
        return folder / self.path.name


def _parts(file: BinaryIO) -> Iterator[bytes]:
    return iter(lambda: file.read(_CHUNK), b"")


@dataclass(frozen=True, slots=True)
class Description:
    """What `datapackage.json` says: where the tables are, and what their columns mean."""

    folder: Path
    package: Mapping[str, Any]
    csv: TableFile
    parquet: TableFile
    fields: tuple[str, ...]
    trends: tuple[TrendColumn, ...]
    levels: tuple[str, ...]
    regions: TableFile | None  # a dataset of an earlier version has none
    counts: TableFile | None  # noisy counts, if the publisher wants them published
    top_searches: tuple[TableFile, TableFile] | None  # CSV and Parquet; None if the release has no texts

    @property
    def table(self) -> str:
        """The SQL that reads the Parquet table."""
        return f"read_parquet({file_literal(self.parquet.path)})"


@dataclass(frozen=True, slots=True)
class Dataset(Description):
    """A complete published folder: its description, and what its other statements say.

    `statements` has the JSON files as a site offers them: as they are, byte for byte, but without the table of counts.
    """

    privacy: Mapping[str, Any]
    summary: list[dict[str, Any]] | None
    weeks: tuple[date, ...]
    statements: Mapping[str, bytes]

    @property
    def stem(self) -> str:
        """The name that its tables share."""
        return self.csv.path.stem

    @property
    def title(self) -> str:
        """The title of the dataset."""
        return str(self.package.get("title", self.stem))


def read_description(folder: Path) -> Description:
    """Read the description of a dataset; refuse a folder that has none."""
    return _description(folder, _read_package(folder))


def _read_package(folder: Path) -> bytes:
    path = folder / "datapackage.json"
    if not path.exists() and not path.is_symlink():
        raise _not_a_dataset(folder)
    return read_plain(path)


def _description(folder: Path, content: bytes) -> Description:
    path = folder / "datapackage.json"
    package = parse_json(content, path)
    if not isinstance(package, Mapping) or "resources" not in package:
        raise _not_a_dataset(folder)
    require_form(package, PACKAGE, path)
    tables: dict[str, Any] = {}
    for resource in package["resources"]:
        name = _role(resource)
        tables.setdefault(f"{TOP_SEARCHES}.{name}" if name in tables else name, resource)
    if not {"csv", "parquet"} <= tables.keys():
        raise _not_a_dataset(folder)
    columns = {field["name"]: field for field in tables["parquet"]["schema"]["fields"]}
    levels = tuple(columns.get("level", {}).get("constraints", {}).get("enum", ()))
    _require_columns(columns, levels, path)
    return Description(
        folder=folder,
        package=package,
        csv=_table_file(tables["csv"], folder),
        parquet=_table_file(tables["parquet"], folder),
        fields=tuple(columns),
        trends=tuple(_trend_column(name, field) for name, field in columns.items() if "trend" in field),
        levels=levels,
        regions=_table_file(tables[REGIONS], folder) if REGIONS in tables else None,
        counts=_table_file(tables["counts"], folder) if "counts" in tables else None,
        top_searches=_top_searches(tables, folder),
    )


def _role(resource: Mapping[str, Any]) -> str:
    """Return what a table is: that of the regions, that of the counts, or values in some format."""
    if resource["path"] == REGIONS:
        return REGIONS
    return "counts" if "counts" in resource else str(resource["format"])


def _without_counts(package: bytes, described: Description) -> bytes:
    """Return the description as a site offers it: without the table of counts, which it does not offer."""
    if described.counts is None:
        return package
    resources = [resource for resource in described.package["resources"] if "counts" not in resource]
    offered = {**described.package, "resources": resources}
    return (json.dumps(offered, indent=2, ensure_ascii=False) + "\n").encode()


def _top_searches(tables: Mapping[str, Any], folder: Path) -> tuple[TableFile, TableFile] | None:
    """Return the tables of top searches, which are named after the main ones; None if there are none."""
    found = [
        _table_file(tables[name], folder)
        for form in ("csv", "parquet")
        for name in (f"{TOP_SEARCHES}.{form}",)
        if name in tables and tables[name]["path"] == f"{Path(tables[form]['path']).stem}{TOP_SEARCHES}.{form}"
    ]
    return (found[0], found[1]) if len(found) == 2 else None


def _trend_column(name: str, field: Mapping[str, Any]) -> TrendColumn:
    return TrendColumn(name, field["trend"], field.get("title", name), field.get("id", ""))


def _require_columns(columns: Mapping[str, Any], levels: tuple[str, ...], path: Path) -> None:
    if not levels:
        raise InputError(f"{path}: names no level; was it made by 'search-insights publish'?")
    below = [f"sub_region_{depth}" for depth in range(1, len(levels))]
    trends = [name + end for name, field in columns.items() if "trend" in field for end in ("_low", "_high")]
    for name in (*_REGION_COLUMNS, *below, *trends):
        if name not in columns:
            raise InputError(f"{path}: describes no column {name!r}; was it made by 'search-insights publish'?")


def _table_file(resource: Mapping[str, Any], folder: Path) -> TableFile:
    name, suffix = resource["path"], f".{resource['format']}"
    if not _FILE_NAME.fullmatch(name) or not name.endswith(suffix):
        raise InputError(
            f"{folder / 'datapackage.json'}: path {name[:80]!r}: expected the name of a {suffix} file in the folder"
        )
    size = resource.get("bytes", resource.get("size"))  # of Parquet files the latter; earlier versions wrote `bytes`
    if size is None:
        raise InputError(f"{folder / 'datapackage.json'}: no key 'bytes' of {name}; publish the dataset again")
    return TableFile(folder / name, size, resource["hash"])


def read_dataset(folder: Path) -> Dataset:
    """Read a complete published folder; refuse one that lacks a table, a trend or a week."""
    statements = {"datapackage.json": _read_package(folder)}
    described = _description(folder, statements["datapackage.json"])
    for name in STATEMENTS[1:]:
        path = folder / name
        if path.is_symlink() or path.exists() or name == "privacy.json":
            statements[name] = read_plain(path)
    privacy = parse_json(statements["privacy.json"], folder / "privacy.json")
    require_form(privacy, PRIVACY, folder / "privacy.json")
    for name, form in (("sparsity.json", SPARSITY), ("straddling.json", STRADDLING)):
        if content := statements.get(name):
            require_form(parse_json(content, folder / name), form, folder / name)
    parts = {field.name: getattr(described, field.name) for field in fields(described)}
    dataset = Dataset(
        **parts,
        privacy=privacy,
        summary=_summary(statements.get("summary.json"), described),
        weeks=tuple(sorted(_weeks(privacy, folder / "privacy.json"))),
        statements={name: content for name, content in statements.items() if name.endswith(".json")}
        | {"datapackage.json": _without_counts(statements["datapackage.json"], described)},
    )
    for table in (dataset.csv, dataset.parquet, dataset.regions, dataset.counts, *(dataset.top_searches or ())):
        if table is not None:
            require_plain_table(table)
    if not dataset.trends or not dataset.weeks:
        raise InputError(f"{folder}: its datapackage.json or privacy.json names no trend or no week")
    return dataset


def require_plain_table(table: TableFile) -> None:
    """Refuse a table that is missing, or a link to elsewhere."""
    if not table.path.exists() and not table.path.is_symlink():
        raise InputError(f"{table.path.parent}: {table.path.name} is missing; publish the dataset again")
    open_plain(table.path).close()


def _summary(content: bytes | None, described: Description) -> list[dict[str, Any]] | None:
    if content is None:
        return None
    path = described.folder / "summary.json"
    rows: list[dict[str, Any]] = parse_json(content, path)
    require_form(rows, SUMMARY, path)
    names = {trend.name for trend in described.trends}
    for row in rows:
        if row["level"] not in described.levels or row["trend"] not in names:
            raise InputError(f"{path}: names a level or trend that datapackage.json does not have")
    return rows


def holds_dataset(folder: Path) -> bool:
    """Return whether a folder has a dataset in it, damaged or not."""
    return any((folder / name).exists() for name in ("privacy.json", "datapackage.json"))


def published_weeks_of(folder: Path, known: Known) -> dict[date, FinalWeek]:
    """Return the weeks of a release that a folder shows; refuse a dataset that is damaged.

    There are none if the dataset was moved away, or if another one is there now.
    """
    if not holds_dataset(folder):
        return {}
    is_own = known.is_same(published_as(folder))
    return published_weeks(folder) if is_own else {}


def published_as(folder: Path) -> Known:
    """Return by what the dataset in a folder is known; it has no identity if an earlier version published it."""
    privacy = _read_ledger(folder)
    spec = privacy.get("spec", {}).get("fingerprint")
    return Known(privacy.get("identity", ""), frozenset({spec} if spec else ()))


def published_changes(folder: Path) -> frozenset[int] | None:
    """Return the numbers of the recorded changes that a published folder knows; None if it cannot be told.

    The first, which began the store, is not listed; a dataset of an earlier version knows no other.
    """
    with suppress(InputError):
        return frozenset(change["number"] for change in read_description(folder).package.get("changes", []))
    return None


def published_table(folder: Path) -> Path | None:
    """Return the CSV file that a published folder describes; None if it does not tell."""
    with suppress(InputError):
        return read_description(folder).csv.path
    return None


def published_counts(folder: Path) -> Path | None:
    """Return the table of noisy counts that a published folder describes; None if it has none or does not tell."""
    with suppress(InputError):
        counts = read_description(folder).counts
        return counts.path if counts else None
    return None


def published_trends(folder: Path) -> dict[str, str]:
    """Return the name of each trend of a published folder, by the trend's id; none if it does not tell."""
    with suppress(InputError):
        return {trend.id: trend.name for trend in read_description(folder).trends if trend.id}
    return {}


def published_lines(folder: Path) -> Path | None:
    """Return the CSV file of top searches that a published folder describes; None if it describes none."""
    with suppress(InputError):
        tables = read_description(folder).top_searches
        return tables[0].path if tables else None
    return None


def published_top_searches(folder: Path) -> Mapping[str, Any]:
    """Return what the statement of a published folder says of top searches; nothing if it does not tell."""
    with suppress(InputError):
        found: Mapping[str, Any] = _read_ledger(folder).get("top_searches", {})
        return found
    return {}


def published_columns(folder: Path) -> dict[str, str]:
    """Return the column of each trend of a published folder, by the trend's id; none if it does not tell."""
    with suppress(InputError):
        return {trend.id: trend.column for trend in read_description(folder).trends if trend.id}
    return {}


def published_weeks(folder: Path) -> dict[date, FinalWeek]:
    """Return the weeks that a published folder shows."""
    return _weeks(_read_ledger(folder), folder / "privacy.json")


def _read_ledger(folder: Path) -> Mapping[str, Any]:
    path = folder / "privacy.json"
    if not path.is_file():
        raise _not_a_dataset(folder)
    # Through a link too: nothing is copied from here, and a week that was published must be found.
    privacy: Mapping[str, Any] = parse_json(read_at_most(path, MOST_OF_A_STATEMENT), path)
    require_form(privacy, LEDGER, path)
    return privacy


def _weeks(privacy: Mapping[str, Any], path: Path) -> dict[date, FinalWeek]:
    rows = privacy["ledger"]
    if len(rows) > _MOST_WEEKS:
        raise InputError(f"{path}: lists {len(rows):,} weeks; expected at most {_MOST_WEEKS:,}")
    try:
        listed = [final_week({name: row[name] for name in _RECORDED if name in row}) for row in rows]
    except ValueError:
        raise InputError(
            f"{path}: key 'ledger': expected weeks such as 2021-03-08, each with its checksum and its instants"
        ) from None
    weeks = {week.week: week for week in listed}
    if len(weeks) < len(listed):
        raise InputError(f"{path}: key 'ledger': lists a week twice; a week is noised once")
    return weeks


def csv_table(path: Path) -> str:
    """Write the SQL that reads a published CSV file as text, with no guess about its form."""
    return (
        f"read_csv({file_literal(path)}, all_varchar = true, header = true, delim = ',', quote = '\"', escape = '\"')"
    )


def _not_a_dataset(folder: Path) -> InputError:
    return InputError(f"{folder}: not a dataset folder of 'search-insights publish'")
