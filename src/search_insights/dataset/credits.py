"""Whom to credit for a dataset, and which version of it: what a citation, a catalogue and a registry need."""

from dataclasses import asdict
from typing import Any

from search_insights.dataset.breaks import changes
from search_insights.spec.publisher import Publisher, is_address
from search_insights.spec.spec import Spec, Trend
from search_insights.trends.release import Release


def version_of(release: Release) -> str:
    """Return the version: the edition, the number of weeks, and how often something recorded changed what is shown.

    It follows from the store alone, so it is the same however often the release is made, and it grows.
    """
    recorded = (*release.corrections, *release.notes, *release.lost, *changes(release))
    return f"{release.spans[-1].edition.number}.{len(release.entries)}.{len(recorded)}"


def credits_of(release: Release) -> dict[str, Any]:
    """Return the keys of `datapackage.json` about version, publisher and licence."""
    publisher = release.coverage.spec.publisher
    country = release.coverage.geography.country.name
    return {"version": version_of(release), "country": country, **(_of_publisher(publisher) if publisher else {})}


def _of_publisher(publisher: Publisher) -> dict[str, Any]:
    contact = {"path" if is_address(publisher.contact) else "email": publisher.contact}
    licence = {"name": publisher.license, "path": publisher.license_address}
    return {
        **({"homepage": publisher.address} if publisher.address else {}),
        **({"licenses": [_given(licence)]} if publisher.license else {}),
        "contributors": [{"title": publisher.name, "role": "publisher", **contact}],
        "publisher": _given(asdict(publisher)),
    }


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def topics_of(trend: Trend, spec: Spec) -> list[str]:
    """Return the topics that a trend is about: those of which a search alone changes it.

    A measure may take away again what another one counts, as in `vaccination-v2`.
    """
    measures = {measure.id: measure for measure in spec.measures}
    weights = trend.weights or (1.0,) * len(trend.sum_of)

    def value(topic: str, measure_id: str) -> int:
        measure = measures[measure_id]
        return 1 if topic in measure.any_of else -1 if topic in measure.against else 0

    def of(topic: str) -> float:
        return sum(weight * value(topic, each) for weight, each in zip(weights, trend.sum_of, strict=True))

    known = set(trend.sum_of) <= measures.keys()  # a trend of an earlier edition may have measures of its own
    return [topic for topic in spec.topics if abs(of(topic)) > 1e-9] if known else []
