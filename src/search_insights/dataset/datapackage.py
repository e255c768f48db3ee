"""`datapackage.json` (Frictionless Data): describes every file and field of the dataset for programs."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from search_insights.dataset.breaks import breaks, changes
from search_insights.dataset.classification import classification
from search_insights.dataset.counts import counts_fields, counts_name, counts_of_trends
from search_insights.dataset.credits import credits_of, topics_of
from search_insights.dataset.folder import REGIONS
from search_insights.dataset.regions import region_fields
from search_insights.dataset.scale import scale_phrase, scaling_rule
from search_insights.dataset.statement import lost_weeks
from search_insights.dataset.straddling import straddling_summary
from search_insights.dataset.tables import file_stem, region_columns, value_columns
from search_insights.dataset.top_searches import KEY, line_fields, stem_of
from search_insights.dataset.translations import translations
from search_insights.spec.attribution import attribution
from search_insights.spec.spec import Spec, Trend
from search_insights.spec.straddling import Straddling
from search_insights.trends.release import Release


def datapackage(release: Release, folder: Path, straddling: Straddling) -> dict[str, Any]:
    """Return the description of the dataset whose tables are in a folder."""
    spec, stem = release.coverage.spec, file_stem(release)
    first, last, rule = release.trends.weeks[0], release.trends.weeks[-1], scaling_rule(spec)
    return {
        "name": stem.lower().replace("_", "-"),
        "id": release.identity,
        "title": spec.title,
        "description": (
            f"Weekly search trends by region, {first} to {last}. Values are the share of searches about a topic, "
            f"scaled so that {scale_phrase(rule, spec.total.level, f'trend {spec.scaling.trend}')}. Missing values "
            "were not reliable enough to be published; they are not 0. Rows of several levels stand in one table: "
            "choose a level before averaging or adding."
        ),
        "created": release.created,
        "profile": "data-package",
        **credits_of(release),
        "spec": {"name": spec.name, "fingerprint": release.spans[-1].edition.counted.spec.fingerprint},
        "scaling": rule,
        "reliability": {
            "confidence": spec.reliability.confidence,
            "max_relative_error": spec.reliability.max_relative_error,
        },
        "breaks": breaks(release),
        "changes": changes(release),
        "lost_weeks": lost_weeks(release),
        "classification": classification(release),
        **({"translations": words} if (words := translations(spec)) else {}),
        "removed_regions": {"path": "sparsity.json", "regions": int(release.removed.sum())},
        **({"straddling": straddling_summary(straddling)} if straddling.rows else {}),
        **(
            {"sources": [{"title": line} for line in lines]}
            if (lines := attribution(release.coverage.geography))
            else {}
        ),
        "resources": _with_contents(
            folder,
            [
                _referring(_resource(f"{stem}.csv", "csv", _csv_fields(release), _KEY), "place_id", "regions-csv"),
                _resource(f"{stem}.parquet", "parquet", _parquet_fields(release), _KEY),
                _referring(_resource(REGIONS, "csv", region_fields(), _KEY[1:]), "parent", ""),
                *_counts(release, folder / counts_name(release)),
                *_top_searches(release),
            ],
        ),
    }


_KEY = ["date", "place_id"]


def _counts(release: Release, path: Path) -> list[dict[str, Any]]:
    """Describe the table of noisy counts, if there is one, and how values are made of them."""
    if not path.exists():
        return []
    return [
        _resource(path.name, "parquet", counts_fields(), [*_KEY, "measure"]) | {"counts": counts_of_trends(release)}
    ]


def _top_searches(release: Release) -> list[dict[str, Any]]:
    """Return the descriptions of the tables of top searches; none if the release has none."""
    if release.top_searches is None:
        return []
    spec, stem = release.coverage.spec, stem_of(release)
    where = _csv_fields(release)[: 1 + len(region_columns(release))]
    return [
        _resource(f"{stem}.csv", "csv", where + line_fields(release, in_parquet=False), KEY),
        _resource(
            f"{stem}.parquet",
            "parquet",
            [
                *where,
                _field("level", "string", f"The region's level: {spec.total.level} or {spec.total.sum_of}."),
                _field("code", "string", "The region's code within its level."),
                *line_fields(release, in_parquet=True),
            ],
            KEY,
        ),
    ]


# The validator of Frictionless never counts the bytes of a Parquet file, and refuses one that states them.
_SIZE = {"csv": "bytes", "parquet": "size"}


def _resource(name: str, form: str, fields: list[dict[str, Any]], key: list[str]) -> dict[str, Any]:
    """Describe a table; what its file says of its contents is still to come."""
    return {
        "name": f"{Path(name).stem.lower().replace('_', '-')}-{form}",
        "path": name,
        "profile": "tabular-data-resource" if form == "csv" else "data-resource",
        "format": form,
        "mediatype": "text/csv" if form == "csv" else "application/vnd.apache.parquet",
        "encoding": "utf-8",
        _SIZE[form]: None,
        "hash": None,
        "schema": {"fields": fields, "missingValues": [""], "primaryKey": key},
    }


def _with_contents(folder: Path, resources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the size and the hash of each file; several are read at once."""

    def with_contents(resource: dict[str, Any]) -> dict[str, Any]:
        with (folder / resource["path"]).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return resource | {_SIZE[resource["format"]]: file.tell(), "hash": f"sha256:{digest}"}

    with ThreadPoolExecutor() as pool:
        return list(pool.map(with_contents, resources))


def _referring(resource: dict[str, Any], field: str, table: str) -> dict[str, Any]:
    """Say that a field names regions: those of the table of regions, which is "" in that table itself."""
    keys = [{"fields": [field], "reference": {"resource": table, "fields": ["place_id"]}}]
    return resource | {"schema": resource["schema"] | {"foreignKeys": keys}}


def _csv_fields(release: Release) -> list[dict[str, Any]]:
    spec = release.coverage.spec
    return [
        _field("date", "date", f"The first day of the week ({spec.first_day_of_week}), in {spec.time_zone}."),
        *(_field(name, "string", _region_description(name, spec)) for name in region_columns(release)),
        *(_value_field(trend, spec) for trend in release.columns),
    ]


def _parquet_fields(release: Release) -> list[dict[str, Any]]:
    spec = release.coverage.spec
    percent = f"{spec.reliability.confidence:.0%}"
    fields = [field for field in _csv_fields(release) if field["name"] not in value_columns(release)]
    levels = {"constraints": {"enum": list(release.levels)}}
    fields.append(_field("level", "string", "The region's level.") | levels)
    fields.append(_field("code", "string", "The region's code within its level."))
    for trend in release.columns:
        fields.append(_value_field(trend, spec))
        for end, words in (("low", "lower"), ("high", "upper")):
            text = f"The {words} end of the {percent} interval of {trend.column} for the noise."
            fields.append(_field(f"{trend.column}_{end}", "number", text))
    return fields


def _field(name: str, kind: str, description: str) -> dict[str, Any]:
    return {"name": name, "type": kind, "description": description}


def _value_field(trend: Trend, spec: Spec) -> dict[str, Any]:
    return _field(trend.column, "number", _value_description(trend.title, spec)) | {
        "title": trend.title,
        "trend": trend.name,
        "id": trend.id,
        "topics": topics_of(trend, spec),
    }


def _region_description(column: str, spec: Spec) -> str:
    if column == "place_id":
        return "A stable public identifier of the region."
    if column.startswith("country_region"):
        return f"The {'code' if column.endswith('_code') else 'name'} of the {spec.total.level}."
    depth = int(column.removeprefix("sub_region_").removesuffix("_code"))
    if depth > len(spec.levels):
        return "Not used in this dataset; empty."
    level = spec.levels[depth - 1]
    if column.endswith("_code"):
        hiding = [below.name for below in spec.levels[depth : depth + 1] if below.hide_parent_code]
        return f"The code of the {level.name}." + "".join(f" Empty in rows of level {name}." for name in hiding)
    if level.published_name:
        return f"The word {level.published_name!r} in rows of level {level.name}; its code stands beside it."
    return f"The name of the {level.name}."


def _value_description(title: str, spec: Spec) -> str:
    return (
        f"{title}: scaled share of searches; empty if it has less than {spec.reliability.confidence:.0%} chance to be "
        f"within {spec.reliability.max_relative_error:.0%} of its value before noise, or the region has too few values."
    )
