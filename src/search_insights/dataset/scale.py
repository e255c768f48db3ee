"""The scale of a dataset, for readers: what its maximum is, and which values can be compared."""

from collections.abc import Mapping
from typing import Any

from search_insights.dataset.pages import setting_weeks
from search_insights.spec.spec import Spec
from search_insights.store.ledger import ScalingRecord
from search_insights.trends.release import Release
from search_insights.trends.scales import Scale


def scaling_rule(spec: Spec) -> dict[str, Any]:
    """Return the rule of the scale, as `datapackage.json` has it."""
    rule, names = spec.scaling, {trend.id: trend.name for trend in spec.trends}
    weeks = {"first_week": rule.window[0].isoformat(), "last_week": rule.window[1].isoformat()} if rule.window else {}
    return {
        "scope": rule.scope,
        **({"trend": names[rule.trend]} if rule.trend else {}),
        "maximum": rule.maximum,
        **weeks,
        **({"factor": rule.factor, "set_by": rule.set_by} if rule.factor else {}),
    }


def scale_phrase(scaling: Mapping[str, Any], level: str, trend: str) -> str:
    """Say what the maximum of the scale is; `trend` is how the trend that sets the scale of all is called."""
    of = "of each trend" if scaling.get("scope") == "each" else f"of {trend}"
    if "set_by" in scaling:
        return (
            f"they are on the scale of {scaling['set_by']}, whose highest weekly value {of} is {scaling['maximum']:g}"
        )
    return f"the highest weekly {level} value {of} {setting_weeks(scaling)} is {scaling['maximum']:g}"


def scaling_facts(release: Release) -> dict[str, Any]:
    """Return the factors and the weeks that set them, as `privacy.json` has them.

    A dataset with one factor tells it at the top; one with several lists them by weeks and trends.
    """
    records = [record for scale in release.scales for record in scale.records]
    one = {"factor": records[0].factor, "fixed_by_weeks": _weeks(records[0])} if len(records) == 1 else {}
    return one or {"scales": [_scale(release, scale) for scale in release.scales]}


def _scale(release: Release, scale: Scale) -> dict[str, Any]:
    names = {trend.id: trend.name for trend in release.columns}
    return {
        "weeks": [str(scale.weeks[0]), str(scale.weeks[-1])],
        "factors": {names.get(record.trend, "all"): record.factor for record in scale.records},
        "fixed_by_weeks": {names.get(record.trend, "all"): _weeks(record) for record in scale.records},
    }


def _weeks(record: ScalingRecord) -> list[str]:
    return [str(record.first_week), str(record.last_week)]
