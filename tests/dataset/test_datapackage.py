"""datapackage.json describes every file and column of a dataset."""

import hashlib
from pathlib import Path

from tests.support.datasets import HEADER, dataset_of, json_of, parquet_rows


def test_the_datapackage_describes_every_file_and_column(store: Path) -> None:
    """Each table has its size and checksum, and its fields in order, each with a type and a description."""
    dataset = dataset_of(store)
    package = json_of(dataset, "datapackage.json")
    assert package["name"] == "us-vaccination-search-insights"
    by_form = {resource["format"]: resource for resource in package["resources"][:2]}
    for form, columns in (("csv", HEADER.split(",")), ("parquet", list(parquet_rows(dataset)[0]))):
        resource = by_form[form]
        content = (dataset / resource["path"]).read_bytes()
        # The validator of Frictionless refuses a Parquet file that states its `bytes`, because it never counts them.
        assert resource["bytes" if resource["format"] == "csv" else "size"] == len(content)
        assert ("bytes" in resource) == (resource["format"] == "csv")
        assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
        fields = resource["schema"]["fields"]
        assert [field["name"] for field in fields] == columns
        assert all(field["description"] and field["type"] for field in fields)
        assert resource["schema"]["missingValues"] == [""]


def test_the_datapackage_names_levels_and_trends(store: Path) -> None:
    """A program can read which levels there are and which column holds which trend."""
    package = json_of(dataset_of(store), "datapackage.json")
    fields = {field["name"]: field for field in package["resources"][1]["schema"]["fields"]}
    assert fields["level"]["constraints"]["enum"] == ["country", "state", "county", "postal_code"]
    assert fields["sni_vaccination_intent"]["trend"] == "vaccination_intent"
