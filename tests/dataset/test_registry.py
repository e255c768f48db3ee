"""registry.yaml: an entry for the OpenDP registry of deployments, with the registry's fields and no others."""

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from search_insights.dataset.registry import registry_yaml
from search_insights.spec.coverage import Coverage
from tests.support.datasets import dataset_of, json_of
from tests.support.publisher import OFFICE
from tests.support.stores import add_weeks

# The registry's schema, as of commit 057e5d81 of its repository opendp/deployments-registry-data: the fields of each
# part, with a star if required, and the words that some must be.
FIELDS = {
    "basic": "name* data_curators* description* intended_use* data_product_type* data_product_region* "
    "data_product_sector publication_date*",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details number_of_privacy_units privacy_parameters "
    "privacy_parameters_details",
    "deployment_model": "model_name model_name_details trust_assumptions actors release_type release_type_details "
    "data_source_type data_source_type_details access_type access_type_details",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms composition post_processing justification "
    "utility additional_information",
    "administrative": "evidence_sources status* registry_authors* tier*",
}
WORDS = {
    ("basic", "data_product_type"): ("Summary statistics", "Machine learning model", "Dataset", "Synthetic data"),
    ("basic", "data_product_sector"): ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance"),
    ("dp_variant", "variant_name"): ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"),
    ("deployment_model", "model_name"): ("Local", "Central", "Shuffle", "Federated", "Varies"),
    ("deployment_model", "release_type"): ("One release", "Many releases"),
    ("deployment_model", "data_source_type"): ("Static", "Dynamic"),
    ("deployment_model", "access_type"): ("Interactive", "Non-interactive"),
    ("administrative", "status"): ("Draft",),
    ("administrative", "tier"): (1, 2, 3),
}
EVIDENCE = (
    "Peer-reviewed publication", "Formal publication by the deploying organization",
    "Authorized organizational attestation", "Other public source",
)  # fmt: skip


def parsed(text: str) -> dict[str, Any]:
    """Read the YAML that is written here: nested tables, lists, and scalars that are JSON."""
    top: dict[str, Any] = {}
    stack: list[tuple[int, Any]] = [(-1, top)]
    for line in text.splitlines():
        depth, rest = len(line) - len(line.lstrip()), line.strip()
        while depth <= stack[-1][0]:
            stack.pop()
        holder = stack[-1][1]
        if rest.startswith("- "):
            holder.setdefault("", []).append(entry := {} if ": " in rest and rest[2] != '"' else json.loads(rest[2:]))
            if not isinstance(entry, dict):
                continue
            stack.append((depth, entry))
            holder, rest, depth = entry, rest[2:], depth + 2
        key, _, value = rest.partition(":")
        if value:
            holder[key] = json.loads(value)
        else:
            holder[key] = {}
            stack.append((depth, holder[key]))
    found: dict[str, Any] = _with_lists(top)
    return found


def _with_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return [*map(_with_lists, value[""])] if "" in value else {key: _with_lists(v) for key, v in value.items()}
    return value


@pytest.fixture
def dataset(tmp_path: Path, short_coverage: Coverage) -> Path:
    """A dataset of the office."""
    spec = replace(short_coverage.spec, publisher=OFFICE)
    return dataset_of(add_weeks(tmp_path / "store.db", Coverage(spec, short_coverage.geography), {}, {}))


def test_the_entry_has_the_fields_of_the_registry_and_no_others(dataset: Path) -> None:
    """Every required field is there, and where the registry has a list of words, it is one of them."""
    entry = parsed((dataset / "registry.yaml").read_text(encoding="utf-8"))
    assert list(entry) == ["url_slug", "deployment"]
    assert set(entry["deployment"]) == set(FIELDS)
    for part, names in FIELDS.items():
        known = {name.rstrip("*") for name in names.split()}
        required = {name.rstrip("*") for name in names.split() if name.endswith("*")}
        assert required <= set(entry["deployment"][part]) <= known, part
    for (part, name), words in WORDS.items():
        assert entry["deployment"][part][name] in words
    basic, administrative = entry["deployment"]["basic"], entry["deployment"]["administrative"]
    assert basic["data_curators"] == [{"data_curator_name": OFFICE.name, "data_curator_type": "Government"}]
    assert date.fromisoformat(basic["publication_date"])
    [source] = administrative["evidence_sources"].values()
    assert source["evidence_source_type"] in EVIDENCE
    assert source["misc"]["url"] == OFFICE.address
    assert administrative["registry_authors"] == ["Ada Example", "Bo Example"]


def test_the_entry_has_the_promise_of_the_statement(dataset: Path) -> None:
    """Epsilon, delta and the unit; a delta is a number for YAML 1.1 too, which wants a point in it."""
    text = (dataset / "registry.yaml").read_text(encoding="utf-8")
    loss = parsed(text)["deployment"]["privacy_loss"]
    promised = json_of(dataset, "privacy.json")["privacy_loss"]
    assert loss["privacy_parameters"] == {"epsilon": promised["epsilon"], "delta": promised["delta"]}
    assert loss["privacy_unit"] == "User-day"
    assert "delta: 1.0e-05" in text


def test_the_entry_does_not_tell_how_large_the_log_is(dataset: Path) -> None:
    """So it is not of the third tier, which asks for the number of privacy units."""
    deployment = parsed((dataset / "registry.yaml").read_text(encoding="utf-8"))["deployment"]
    assert "number_of_privacy_units" not in deployment["privacy_loss"]
    assert deployment["administrative"]["tier"] == 2


def test_without_a_publisher_there_is_no_entry(store: Path) -> None:
    """Nobody could be asked about it."""
    assert not (dataset_of(store) / "registry.yaml").exists()


def test_no_text_of_a_folder_can_add_a_field(dataset: Path) -> None:
    """A site makes the entry of a folder that may come from anyone."""
    package, privacy = json_of(dataset, "datapackage.json"), json_of(dataset, "privacy.json")
    package["publisher"]["name"] = 'x"\n  tier: 3\n\x00"'
    entry = parsed(registry_yaml(package, privacy) or "")
    assert entry["deployment"]["administrative"]["tier"] == 2
    assert (
        entry["deployment"]["basic"]["data_curators"][0]["data_curator_name"] == 'x" tier: 3 \N{REPLACEMENT CHARACTER}"'
    )
