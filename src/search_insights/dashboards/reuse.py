"""What readers need to cite and reuse a dataset: its version and publisher, its licence, what each topic is, and one
table for programs that read no Parquet."""

from pathlib import Path
from typing import Any

from search_insights.dataset.folder import Dataset
from search_insights.spec.publisher import is_address
from search_insights.support.gzip_file import write_gzip
from search_insights.support.sql import identifier, literal, public_tables

_ENDING = "_with_intervals.csv.gz"
_LEVEL = 4  # of gzip: 6 takes twice as long for 5 % less


def credits_of(dataset: Dataset) -> dict[str, Any]:
    """Return whom to cite: a folder may come from anyone, so only what is an address of the web becomes one."""
    package = dataset.package
    publisher = package.get("publisher", {})
    licences = package.get("licenses", [])
    return {
        "version": package.get("version", ""),
        "id": package.get("id", ""),
        "publisher": publisher.get("name", ""),
        "contact": contact if _is_contact(contact := publisher.get("contact", "")) else "",
        "licence": _licence(licences[0]) if licences else None,
    }


def _is_contact(text: str) -> bool:
    return is_address(text) or ("@" in text and ":" not in text and text.isprintable())


def _licence(licence: dict[str, str]) -> dict[str, str]:
    path = licence.get("path", "")
    return {"name": licence["name"], **({"path": path} if is_address(path) else {})}


def topics_of(dataset: Dataset, trend: str) -> list[dict[str, Any]]:
    """Return the definition and the examples of each topic of a trend, as far as the dataset has them."""
    fields = [field for resource in dataset.package["resources"] for field in resource["schema"]["fields"]]
    ids: list[str] = next((field.get("topics", []) for field in fields if field.get("trend") == trend), [])
    known = {topic["id"]: topic for topic in dataset.package.get("classification", {}).get("topics", [])}
    return [
        {"id": each, "definition": known[each]["definition"], "examples": list(known[each].get("examples", []))}
        for each in ids
        if known.get(each, {}).get("definition")
    ]


def write_with_intervals(dataset: Dataset, key: str, folder: Path) -> Path:
    """Write the rows and columns of the Parquet file, intervals too, as compressed CSV; return the file."""
    path, plain = folder / f"{key}{_ENDING}", folder / f"{key}.tmp"
    ends = {trend.column + end for trend in dataset.trends for end in ("", "_low", "_high")}
    columns = ", ".join(
        f"CAST({identifier(c)} AS DECIMAL(18, 3)) AS {identifier(c)}" if c in ends else identifier(c)
        for c in dataset.fields
    )
    with public_tables() as connection:
        connection.execute(
            f"COPY (SELECT {columns} FROM {dataset.table}) TO {literal(str(plain))} (FORMAT csv, HEADER)"
        )
    write_gzip(plain, path, _LEVEL)
    plain.unlink()
    return path
