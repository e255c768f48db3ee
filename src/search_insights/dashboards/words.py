"""What the dashboard says about a dataset: what its own statements say, as facts that the page words for readers."""

from collections.abc import Mapping
from typing import Any

from search_insights.dashboards.facts import (
    Fact,
    Message,
    Value,
    as_json,
    day,
    items,
    level,
    listed,
    number,
    percent,
    say,
)
from search_insights.dashboards.phrases import break_sentences, fact_of, model_name
from search_insights.dashboards.regions import Places
from search_insights.dataset.folder import Dataset
from search_insights.dataset.pages import model_changes

_KINDS = ("edition", "model", "note")
_SHORT = 12  # letters of a fingerprint that are shown


def about(dataset: Dataset, places: Places) -> list[dict[str, Any]]:
    """Return the sections that explain the numbers, each with the key of its title."""
    sections = {
        "about_meaning": _meaning(dataset, places),
        "about_topics": _topics(dataset),
        "about_breaks": _breaks(dataset),
        "about_missing": _missing(dataset, places),
        "about_asked": _lists(dataset),
        "about_privacy": _privacy(dataset),
        "about_updated": _updated(dataset),
        "about_sources": _sources(dataset),
    }
    return [{"title": title, "text": [as_json(fact) for fact in facts]} for title, facts in sections.items() if facts]


def _sources(dataset: Dataset) -> list[Fact]:
    """Name the sources of the regions' names, areas and outlines, with their licences."""
    return [str(source["title"]) for source in dataset.package.get("sources", [])]


def breaks(dataset: Dataset) -> list[dict[str, Any]]:
    """Return the breaks of the series: the number of the week, a label, and what readers should know.

    `alone` marks a note: it concerns one week alone, and the series goes on.
    """
    week_of = {week.isoformat(): number for number, week in enumerate(dataset.weeks)}
    return [
        {
            "week": week_of[b["week"]],
            "alone": b["kind"] == "note",
            "label": as_json(_label(b)),
            "text": as_json(break_sentences(b)),
            "newScale": bool(b.get("new_scale")),
        }
        for b in _found(dataset)
    ]


def _found(dataset: Dataset) -> list[Mapping[str, Any]]:
    weeks = {week.isoformat() for week in dataset.weeks}
    return [b for b in dataset.package.get("breaks", []) if b["week"] in weeks]


def _label(found: Mapping[str, Any]) -> Fact:
    return say(f"break_{found['kind']}") if found["kind"] in _KINDS else str(found["kind"])


def _breaks(dataset: Dataset) -> list[Fact]:
    """Say where the series has breaks, and what a break means."""
    lines = [say("break_line", date=day(b["week"]), label=_label(b), text=break_sentences(b)) for b in _found(dataset)]
    return [say("breaks_mean"), *lines] if lines else []


def _topics(dataset: Dataset) -> list[Fact]:
    """Say what each topic is, which model assigned searches to it, how good that model is, and where it changed."""
    found = dataset.package.get("classification")
    if not found:
        return []
    texts: list[Fact] = [
        say("topic_defined", topic=Value("topic", t["id"]), definition=Value("definition", t["id"]))
        for t in found["topics"]
        if "definition" in t
    ]
    names = {model["fingerprint"]: model.get("name", "") for model in found.get("models", [])}
    texts += [_run(run, names) for run in found.get("weeks", [])]
    texts += [line for model in found["models"] if (line := _measured(model))]
    if changes := model_changes(found):
        texts.append(say("model_changed", dates=listed(map(day, changes))))
    return texts


def _run(run: Mapping[str, Any], names: Mapping[str, str]) -> Fact:
    """Say which weeks one model assigned to topics."""
    fingerprint = run["model"][:_SHORT]
    model = model_name(fingerprint, names.get(run["model"], "")) if fingerprint else say("model_of_log")
    if run["first"] == run["last"]:
        return say("assigned_week", date=day(run["first"]), model=model)
    return say("assigned_weeks", first=day(run["first"]), last=day(run["last"]), model=model)


def _measured(model: Mapping[str, Any]) -> Fact | None:
    """Say how many of a model's answers were right on its labels; nothing if its file does not tell."""
    shares = [
        say("measured_share", category=c["category"], share=percent(c["precision"]))
        for c in model.get("categories", [])
        if "precision" in c
    ]
    return say("measured", print=model["fingerprint"][:_SHORT], shares=listed(shares)) if shares else None


def peak(dataset: Dataset, places: Places) -> Any:
    """Explain the maximum of the scale in a phrase; None if the dataset does not state it."""
    if not dataset.package.get("scaling"):
        return None
    return as_json(say("peak", **_scale(dataset, places)))


def _scale(dataset: Dataset, places: Places) -> dict[str, Fact]:
    """Say what the maximum of the scale is: the peak of a topic, or of each, in some weeks."""
    scaling = dataset.package["scaling"]
    peak_of = {"maximum": number(scaling["maximum"]), "topic": _scaled_trend(dataset)}
    if "set_by" in scaling:  # the scale of another country's dataset
        return {**peak_of, "country": str(scaling["set_by"]), "when": say("scale_set_by")}
    country = Value("country", places.geography.country.place_id)
    return {**peak_of, "country": country, "when": _when(scaling)}


def _when(scaling: Mapping[str, Any]) -> Message:
    """Say which weeks set the scale."""
    if "first_week" in scaling and "last_week" in scaling:
        return say("scale_weeks", first=day(scaling["first_week"]), last=day(scaling["last_week"]))
    return say("scale_first_release")


def _scaled_trend(dataset: Dataset) -> Fact:
    """Say whose peak defines the scale: that of one trend, or of each."""
    if _has_own_scales(dataset):
        return say("each_topic")
    return say("quoted", text=Value("trend", str(dataset.package["scaling"].get("trend"))))


def _has_own_scales(dataset: Dataset) -> bool:
    return bool(dataset.package["scaling"].get("scope") == "each")


def _meaning(dataset: Dataset, places: Places) -> list[Fact]:
    if not dataset.package.get("scaling"):
        return [str(dataset.package["description"]) if "description" in dataset.package else say("value_is")]
    key = "value_is_on_own_scale" if _has_own_scales(dataset) else "value_is_on_scale"
    confidence = dataset.package.get("reliability", {}).get("confidence")
    return [
        say(key, **_scale(dataset, places)),
        say("value_is_no_count"),
        say("noise_leaves", confidence=percent(confidence)) if confidence else say("noise_leaves_some"),
    ]


def _missing(dataset: Dataset, places: Places) -> list[Fact]:
    rule = dataset.package.get("reliability")
    not_enough = (
        say("missing_rule", confidence=percent(rule["confidence"]), error=percent(rule["max_relative_error"]))
        if rule
        else say("missing_some_rule")
    )
    if places.not_reported is None:
        return [not_enough, say("unreported_unknown")]
    reasons = sorted(set(places.not_reported.values()), key=repr)
    return [not_enough, say("unreported_reasons", reasons=items(reasons)) if reasons else say("unreported_none")]


def _lists(dataset: Dataset) -> list[Fact]:
    """Say what the lists of searches show, and how the people who searched are protected."""
    found = dataset.privacy.get("top_searches")
    if dataset.top_searches is None or not found:
        return []
    return [
        say("lists_show"),
        say("lists_rising"),
        say(
            "lists_protect",
            users=found["min_users"],
            sigma=number(found["total_sigma"]),
            threshold=found["total_threshold"],
            chance=number(found["chance_of_showing"]),
        ),
        say(
            "lists_public",
            total=level(found["total_level"]),
            level=level(found["region_level"]),
            sigma=number(found["region_sigma"]),
            texts=found["texts"],
            weeks=found["weeks"],
        ),
        *([say("lists_without", count=left)] if (left := found["weeks_without"]) else []),
        *([say("lists_blocked", count=blocked)] if (blocked := found["blocklist"]["entries"]) else []),
    ]


def _privacy(dataset: Dataset) -> list[Fact]:
    loss = dataset.privacy["privacy_loss"]
    week = dataset.privacy["not_promised"]["user_active_on_7_days"]
    return [
        say("promise", epsilon=number(loss["epsilon"]), delta=number(loss["delta"])),
        say("unit_is", unit=fact_of(dataset.privacy["flavor"]["privacy_unit"])),
        say("not_promised", epsilon=number(round(week["epsilon"], 2))),
    ]


def _updated(dataset: Dataset) -> list[Fact]:
    texts: list[Fact] = [
        say("newest_added", date=day(str(dataset.package["created"])[:10])) if "created" in dataset.package else "",
        say("weeks_held", count=len(dataset.weeks), first=day(dataset.weeks[0]), last=day(dataset.weeks[-1])),
    ]
    corrections = dataset.privacy.get("corrections", [])
    texts += [say("correction", count=c["changed_values"], reason=c["reason"]) for c in corrections]
    return [text for text in texts if text]
