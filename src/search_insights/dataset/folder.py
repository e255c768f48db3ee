"""The only reader of a published folder: how its files describe themselves, and which noise of which week is in it.

All that need to know what was published use it: `load`, the dashboard, the next publication, a restored store. Nothing
here needs a store.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any

from search_insights.errors import InputError
from search_insights.store.ledger import FinalWeek
from search_insights.support.sql import literal

# The files beside the tables in a published folder.
STATEMENTS = ("datapackage.json", "privacy.json", "PRIVACY.md", "summary.json", "summary.svg")

# What a published ledger tells about a week besides its first day; earlier versions published the checksum only.
_RECORDED = ("checksum", "begins_at", "ends_at", "times", "naive_zone")


@dataclass(frozen=True, slots=True)
class TrendColumn:
    """A trend as the dataset describes it."""

    column: str
    name: str
    title: str


@dataclass(frozen=True, slots=True)
class Description:
    """What `datapackage.json` says: where the tables are, and what their columns mean."""

    folder: Path
    package: Mapping[str, Any]
    csv: Path
    parquet: Path
    fields: tuple[str, ...]
    trends: tuple[TrendColumn, ...]
    levels: tuple[str, ...]

    @property
    def table(self) -> str:
        """The SQL that reads the Parquet table."""
        return f"read_parquet({literal(str(self.parquet))})"


@dataclass(frozen=True, slots=True)
class Dataset(Description):
    """A complete published folder: its description, and what `privacy.json` says about its weeks."""

    privacy: Mapping[str, Any]
    weeks: tuple[date, ...]

    @property
    def stem(self) -> str:
        """The name that its tables share."""
        return self.csv.stem

    @property
    def statements(self) -> list[Path]:
        """The files beside its tables that exist."""
        return [path for name in STATEMENTS if (path := self.folder / name).is_file()]


def read_description(folder: Path) -> Description:
    """Read the description of a dataset; refuse a folder that has none."""
    try:
        package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
        tables = {resource["format"]: resource for resource in package["resources"]}
        columns = {field["name"]: field for field in tables["parquet"]["schema"]["fields"]}
        return Description(
            folder=folder,
            package=package,
            csv=folder / Path(tables["csv"]["path"]).name,
            parquet=folder / Path(tables["parquet"]["path"]).name,
            fields=tuple(columns),
            trends=tuple(TrendColumn(n, f["trend"], f["title"]) for n, f in columns.items() if "trend" in f),
            levels=tuple(columns["level"]["constraints"]["enum"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise _not_a_dataset(folder) from None


def read_dataset(folder: Path) -> Dataset:
    """Read a complete published folder; refuse one that lacks a table, a trend or a week."""
    described = read_description(folder)
    parts = {field.name: getattr(described, field.name) for field in fields(described)}
    dataset = Dataset(**parts, privacy=_read_privacy(folder), weeks=tuple(sorted(published_weeks(folder))))
    for path in (dataset.csv, dataset.parquet):
        if not path.is_file():
            raise InputError(f"{folder}: {path.name} is missing; publish the dataset again")
    if not dataset.trends or not dataset.weeks:
        raise InputError(f"{folder}: its datapackage.json or privacy.json names no trend or no week")
    return dataset


def published_weeks(folder: Path, spec: str | None = None) -> dict[date, FinalWeek]:
    """Return the weeks that a published folder shows; refuse a dataset of another spec, if a fingerprint is given."""
    try:
        privacy = _read_privacy(folder)
        if spec not in (None, privacy["spec"]["fingerprint"]):
            raise InputError(f"{folder}: the dataset of another spec")
        weeks = [
            FinalWeek(date.fromisoformat(row["week"]), **{name: str(row[name]) for name in _RECORDED if name in row})
            for row in privacy["ledger"]
        ]
        return {week.week: week for week in weeks}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _not_a_dataset(folder) from None


def csv_table(path: Path) -> str:
    """Write the SQL that reads a published CSV file as text, with no guess about its form."""
    return (
        f"read_csv({literal(str(path))}, all_varchar = true, header = true, delim = ',', quote = '\"', escape = '\"')"
    )


def _read_privacy(folder: Path) -> Mapping[str, Any]:
    try:
        privacy: Mapping[str, Any] = json.loads((folder / "privacy.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise _not_a_dataset(folder) from None
    return privacy


def _not_a_dataset(folder: Path) -> InputError:
    return InputError(f"{folder}: not a dataset folder of 'search-insights publish'")
