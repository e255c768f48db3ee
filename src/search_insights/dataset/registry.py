"""`registry.yaml`: an entry for the OpenDP registry of differential privacy deployments, made from a dataset's own
statements. A dashboard makes it anew, as it does `PRIVACY.md`.

The fields are those of the registry's schema (`schemas/deployments-schema.yaml` of its repository
`opendp/deployments-registry-data`), which allows no others. One that it asks for is left out: the number of privacy
units would tell how large the log is. So the entry is of tier 2.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

_TIER = 2


def registry_yaml(package: Mapping[str, Any], privacy: Mapping[str, Any]) -> str | None:
    """Return the entry, from the contents of `datapackage.json` and `privacy.json`; None if nobody publishes it."""
    publisher = package.get("publisher")
    if not publisher:
        return None
    entry = {
        "url_slug": _slug(f"{_title(package)} {publisher['name']} {_published(privacy)[:4]}"),
        "deployment": {
            "basic": _basic(package, publisher, privacy),
            "dp_variant": _variant(),
            "privacy_loss": _privacy_loss(privacy),
            "deployment_model": _model(publisher, privacy),
            "implementation": _implementation(package, publisher, privacy),
            "administrative": _administrative(package, publisher, privacy),
        },
    }
    return "".join(f"{line}\n" for line in _lines(entry))


def _title(package: Mapping[str, Any]) -> str:
    return str(package.get("title", "Search trends"))


def _published(privacy: Mapping[str, Any]) -> str:
    """Return the day on which the first week was committed; the registry wants the date of first publication."""
    return min((str(week.get("committed_on", "")) for week in privacy["ledger"]), default="")


def _basic(package: Mapping[str, Any], publisher: Mapping[str, Any], privacy: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": _title(package),
        "data_curators": [{"data_curator_name": publisher["name"], "data_curator_type": publisher["kind"]}],
        "description": package.get("description", _title(package)),
        "intended_use": publisher["intended_use"],
        "data_product_type": "Summary statistics",
        "data_product_region": package.get("country", "Not stated"),
        **({"data_product_sector": publisher["sector"]} if "sector" in publisher else {}),
        "publication_date": _published(privacy),
    }


def _variant() -> dict[str, Any]:
    return {
        "variant_name": "Approximate DP",
        "data_domain": "Search logs of any size: each row has a user, an instant, a place, and a text or its topic.",
        "unprotected_quantities": "No count is published without noise. Public from the start are the regions, the "
        "topics, the weeks, and which days of a week were declared empty.",
    }


def _privacy_loss(privacy: Mapping[str, Any]) -> dict[str, Any]:
    flavor, loss = privacy["flavor"], privacy["privacy_loss"]
    cases = "; ".join(f"{case['name']}: epsilon {case['epsilon']:.4g}" for case in loss["cases"])
    week = privacy["not_promised"]["user_active_on_7_days"]
    return {
        "privacy_unit": "User-day",
        "privacy_unit_details": _sentences(
            flavor["privacy_unit"], f"Neighbouring: {flavor['neighbouring_relation']}", *flavor["bounds"]
        ),
        "privacy_parameters": {"epsilon": float(loss["epsilon"]), "delta": float(loss["delta"])},
        "privacy_parameters_details": _sentences(
            f"The promise {'holds' if loss['holds'] else 'DOES NOT HOLD'}. Case by case, at delta {loss['delta']:g}: "
            f"{cases}",
            f"Not promised: a user who searched on all 7 days of a week has epsilon {week['epsilon']:g} at delta "
            f"{week['delta']:g} for that week",
        ),
    }


def _model(publisher: Mapping[str, Any], privacy: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "model_name": "Central",
        "model_name_details": "The curator holds the log, bounds what each user-day contributes, and adds the noise.",
        "trust_assumptions": "Whoever can read the log or the memory of the program sees searches; they must be "
        "trusted. Readers of the data product need not be trusted, whatever else they know.",
        "actors": f"{publisher['name']} holds the log and publishes; anyone may read what is published.",
        "release_type": "Many releases",
        "release_type_details": _sentences(
            "A week is noised once and then final", privacy["accounting"].get("across_weeks", "")
        ),
        "data_source_type": "Dynamic",
        "data_source_type_details": "Each week has the searches of its own seven days.",
        "access_type": "Non-interactive",
    }


def _implementation(
    package: Mapping[str, Any], publisher: Mapping[str, Any], privacy: Mapping[str, Any]
) -> dict[str, Any]:
    made, accounting = privacy["implementation"], privacy["accounting"]
    rule = package.get("reliability")
    utility = rule and (
        f"A value is published if it is within {rule['max_relative_error']:.0%} of its value before noise with a "
        f"probability of at least {rule['confidence']:.0%}; every value has its interval."
    )
    return {
        **_renamed(publisher, {"preparation": "preprocessing_and_hyperparameter_tuning"}),
        "mechanisms": _sentences(
            f"{made['mechanism']}, sensitivity {made['sensitivity']}",
            "Exact sampling on integers by the OpenDP library, so no floating-point error reaches the noise",
            f"Randomness: {made.get('entropy', 'not stated')}",
            f"Program: {made.get('program', 'search-insights')}",
        ),
        "composition": _sentences(f"{accounting['composition']}, with the library {accounting['library']}"),
        **({"post_processing": _sentences(accounting["post_processing"])} if "post_processing" in accounting else {}),
        **_renamed(publisher, {"justification": "justification"}),
        **({"utility": utility} if utility else {}),
        "additional_information": "The number of privacy units is not stated: it would tell how large the log is. "
        "privacy.json, beside the published tables, has the accounting case by case and what is not covered.",
    }


def _renamed(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {new: values[old] for old, new in names.items() if old in values}


def _administrative(
    package: Mapping[str, Any], publisher: Mapping[str, Any], privacy: Mapping[str, Any]
) -> dict[str, Any]:
    reference = {
        "title": _title(package),
        "author": publisher["name"],
        "year": _published(privacy)[:4],
        "note": f"Version {package.get('version', 'not stated')}. Contact: {publisher['contact']}",
    }
    evidence = {
        "evidence_source_type": "Authorized organizational attestation",
        "misc": reference | ({"url": publisher["address"]} if "address" in publisher else {}),
    }
    return {
        "evidence_sources": {"published_dataset": evidence},
        "status": "Draft",
        "registry_authors": list(publisher.get("authors", [publisher["name"]])),
        "tier": _TIER,
    }


def _sentences(*parts: str) -> str:
    """Return parts as sentences, each with a capital and a full stop."""
    trimmed = (part.strip().rstrip(".") for part in parts)
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in trimmed if part)


def _slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def _lines(value: Any, indent: str = "") -> Iterator[str]:
    """Yield the lines of a table of YAML: nested tables, lists of texts or of tables, texts and numbers."""
    for key, inner in value.items():
        if isinstance(inner, Mapping):
            yield f"{indent}{key}:"
            yield from _lines(inner, f"{indent}  ")
        elif isinstance(inner, list):
            yield f"{indent}{key}:"
            for item in inner:
                yield from _item(item, f"{indent}  ")
        else:
            yield f"{indent}{key}: {_scalar(inner)}"


def _item(item: Any, indent: str) -> Iterator[str]:
    if not isinstance(item, Mapping):
        yield f"{indent}- {_scalar(item)}"
        return
    first, *others = _lines(item, f"{indent}  ")
    yield from (f"{indent}- {first.strip()}", *others)


def _scalar(value: str | float) -> str:
    """Write a text in double quotes, which is the same in JSON; and a number so that YAML takes it for one."""
    if isinstance(value, str):
        shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(value.split()))
        return json.dumps(shown, ensure_ascii=False)
    text = repr(value)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text
