"""Several countries in one folder: their datasets, unchanged, and a table of the countries like the original's.

Nothing is derived anew and nothing is spent: each dataset was checked when it was published, and its statements stay
with it. Whether the countries can be compared depends on their scales, and the description says so.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from search_insights.dataset.folder import STATEMENTS, Dataset, read_dataset
from search_insights.dataset.several import (
    COMBINED_KIND,
    country_of,
    factor_of,
    read_combined,
    share_scale,
    shared_trends,
)
from search_insights.errors import InputError
from search_insights.support.files import read_plain
from search_insights.support.replace_folder import replacing
from search_insights.support.sql import identifier, literal, public_tables

_FEWEST = 2
_LEVELS = 3  # below the country, as in the original
_PAGE = "PRIVACY.md"


@dataclass(frozen=True, slots=True)
class Combined:
    """What was combined and where: the table of countries, and whether they are on one scale."""

    csv: Path
    countries: tuple[str, ...]
    rows: int
    one_scale: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """A dataset and its country."""

    dataset: Dataset
    code: str
    name: str

    @property
    def stem(self) -> str:
        return self.dataset.stem


def combine(datasets: Sequence[Path], out: Path) -> Combined:
    """Put published datasets of several countries into one folder, as a whole or not at all."""
    parts = [_Part(dataset, *country_of(dataset)) for dataset in map(read_dataset, datasets)]
    stem = _stem(parts)
    _refuse_to_lose_files(out)
    try:
        with replacing(out) as draft:
            for part in parts:
                _copy(part.dataset, draft / part.stem)
            rows = _write_countries(parts, draft / stem)
            package = _package(parts, draft, stem)
            text = json.dumps(package, indent=2, ensure_ascii=False) + "\n"
            (draft / "datapackage.json").write_text(text, encoding="utf-8")
            (draft / _PAGE).write_text(_page(parts), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error}); it is unchanged") from None
    one = share_scale([part.dataset for part in parts])
    return Combined(out / f"{stem}.csv", tuple(part.name for part in parts), rows, one)


def _stem(parts: Sequence[_Part]) -> str:
    """Return the name of the table of countries; refuse datasets that do not belong together."""
    if len(parts) < _FEWEST:
        raise InputError("one dataset is not several: give the folders of at least two countries")
    for what, values in (("country", [p.code for p in parts]), ("name", [p.stem.lower() for p in parts])):
        twice = [part for part, value in zip(parts, values, strict=True) if values.count(value) > 1]
        if twice:
            raise InputError(f"{twice[-1].dataset.folder}: another dataset has the same {what}; give each only once")
    names = {part.stem.removeprefix(f"{part.code}_") for part in parts}
    if len(names) > 1:
        raise InputError(f"the datasets are not of one kind: {', '.join(sorted(names))}; combine those of one name")
    if not shared_trends([part.dataset for part in parts]):
        raise InputError("the datasets have no trend in common; combine releases of the same topics")
    return f"Global_l0_{names.pop()}"


def _refuse_to_lose_files(out: Path) -> None:
    if out.is_dir() and any(out.iterdir()) and read_combined(out) is None:
        raise InputError(f"{out}: holds files that are not of 'search-insights combine' and would be lost")


def _copy(dataset: Dataset, folder: Path) -> None:
    """Copy a dataset as it is, file by known file."""
    folder.mkdir()
    for table in (dataset.csv, dataset.parquet, dataset.regions, dataset.counts, *(dataset.top_searches or ())):
        if table is not None:
            table.copy_to(folder)
    for name in STATEMENTS:
        if (dataset.folder / name).exists():
            (folder / name).write_bytes(read_plain(dataset.folder / name))


def _write_countries(parts: Sequence[_Part], stem: Path) -> int:
    """Write the weeks of each country as a CSV file like the original's, and with intervals as a Parquet file."""
    columns = [trend.column for trend in shared_trends([part.dataset for part in parts])]
    ends = [c + end for c in columns for end in ("", "_low", "_high")]
    below = ", ".join(f"NULL AS sub_region_{i}, NULL AS sub_region_{i}_code" for i in range(1, _LEVELS + 1))
    where = "date, country_region, country_region_code"
    chosen = ", ".join(map(identifier, ends))
    each = " UNION ALL ".join(
        f"SELECT {i} AS position, {where}, {below}, place_id, {chosen} FROM {part.dataset.table} "
        f"WHERE level = {literal(part.dataset.levels[0])}"
        for i, part in enumerate(parts)
    )
    values = ", ".join(f"CAST({c} AS DECIMAL(18, 3)) AS {c}" for c in map(identifier, columns))
    with public_tables() as connection:
        connection.execute(f"CREATE TEMP TABLE rows AS {each}")
        ordered = "FROM rows ORDER BY position, date"
        in_csv = f"SELECT * EXCLUDE (position, {chosen}), {values} {ordered}"
        connection.execute(f"COPY ({in_csv}) TO {literal(f'{stem}.csv')} (HEADER)")
        connection.execute(
            f"COPY (SELECT {where}, place_id, {chosen} {ordered}) TO {literal(f'{stem}.parquet')} "
            "(FORMAT parquet, COMPRESSION zstd)"
        )
        found = connection.execute("SELECT count(*) FROM rows").fetchone()
    return int(found[0]) if found else 0


def _package(parts: Sequence[_Part], folder: Path, stem: str) -> dict[str, Any]:
    """Describe the folder: its tables, its datasets, and which values can be compared."""
    datasets = [part.dataset for part in parts]
    one = share_scale(datasets)
    titles = list(dict.fromkeys(source["title"] for d in datasets for source in d.package.get("sources", ())))
    return {
        "name": stem.lower().replace("_", "-"),
        "title": "Search trends of several countries",
        "description": (
            f"Weekly search trends of {len(parts)} countries, each as a whole: {', '.join(p.name for p in parts)}. "
            f"{scale_words(one)} The folder of each country has its regions, and its own privacy statement."
        ),
        "created": max(str(d.package.get("created", "")) for d in datasets),
        "profile": "data-package",
        "program": COMBINED_KIND,
        "scaling": {"one_for_all": one, **({"factor": factor_of(datasets[0])} if one else {})},
        "datasets": [_described(part) for part in parts],
        **({"sources": [{"title": title} for title in titles]} if titles else {}),
        "resources": [_resource(folder / f"{stem}.{form}", form, datasets) for form in ("csv", "parquet")],
    }


def scale_words(one: bool) -> str:
    """Say whether the values of several countries can be compared."""
    if one:
        return "One factor scales the values of all countries, so they can be compared with each other."
    return "Each country has a scale of its own, so values of one country cannot be compared with those of another."


def _described(part: _Part) -> dict[str, Any]:
    dataset = part.dataset
    loss = dataset.privacy["privacy_loss"]
    return {
        "path": part.stem,
        "country_region": part.name,
        "country_region_code": part.code,
        "title": dataset.title,
        "identity": dataset.privacy.get("identity", ""),
        "first_week": dataset.weeks[0].isoformat(),
        "last_week": dataset.weeks[-1].isoformat(),
        "scaling": dict(dataset.package.get("scaling", {})) | {"factor": factor_of(dataset)},
        "privacy_loss": {"epsilon": loss["epsilon"], "delta": loss["delta"]},
    }


def _resource(path: Path, form: str, datasets: Sequence[Dataset]) -> dict[str, Any]:
    content = path.read_bytes()
    trends = {trend.column: trend for trend in shared_trends(datasets)}
    ends = ("",) if form == "csv" else ("", "_low", "_high")
    below = [f"sub_region_{i}{end}" for i in range(1, _LEVELS + 1) for end in ("", "_code")] if form == "csv" else []
    where = ["country_region", "country_region_code", *below, "place_id"]
    fields: list[dict[str, Any]] = [{"name": "date", "type": "date"}]
    fields += [{"name": name, "type": "string"} for name in where]
    fields += [
        {"name": column + end, "type": "number", **({"title": t.title, "trend": t.name} if not end else {})}
        for column, t in trends.items()
        for end in ends
    ]
    return {
        "name": f"{path.stem.lower().replace('_', '-')}-{form}",
        "path": path.name,
        "format": form,
        "encoding": "utf-8",
        # The validator of Frictionless never counts the bytes of a Parquet file, and refuses one that states them.
        "bytes" if form == "csv" else "size": len(content),
        "hash": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "schema": {"fields": fields, "missingValues": [""], "primaryKey": ["date", "country_region_code"]},
    }


def _page(parts: Sequence[_Part]) -> str:
    """Return the statement for people: whose promise is where, and what several releases mean for one person."""
    rows = "\n".join(
        f"| {p.name} | {p.dataset.privacy['privacy_loss']['epsilon']:g} "
        f"| {p.dataset.privacy['privacy_loss']['delta']:g} | [{p.stem}/{_PAGE}]({p.stem}/{_PAGE}) |"
        for p in parts
    )
    return f"""# Privacy of several countries

Each country is a release of its own, with noise, ledger and promise of its own. Putting them into one folder, and onto
one scale, is post-processing: it uses published values only, and costs nothing.

| country | epsilon | delta | statement |
| --- | ---: | ---: | --- |
{rows}

The promise of a country is about one user's searches of one day in that country's log. If the searches of one user and
day are in the logs of several countries, each release depends on them, and their epsilons and deltas add up.
"""
