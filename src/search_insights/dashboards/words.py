"""The texts of the dashboard about a dataset: what its own statements say, in plain words."""

from collections.abc import Mapping
from typing import Any

from search_insights.dashboards.regions import Places, level_label
from search_insights.dataset.folder import Dataset
from search_insights.dataset.pages import how_texts_are_protected, model_changes, run_words, setting_weeks


def about(dataset: Dataset, places: Places) -> list[dict[str, Any]]:
    """Return the sections that explain the numbers."""
    return [
        {"title": "What a value means", "text": _meaning(dataset)},
        *([{"title": "What the topics are", "text": topics}] if (topics := _topics(dataset)) else []),
        *([{"title": "Where the series has breaks", "text": found}] if (found := _breaks(dataset)) else []),
        {"title": "Why some values are missing", "text": _missing(dataset, places)},
        *([{"title": "What people ask", "text": lists}] if (lists := _lists(dataset)) else []),
        {"title": "What privacy is promised", "text": _privacy(dataset)},
        {"title": "When it was last updated", "text": _updated(dataset)},
        *([{"title": "Where the regions come from", "text": found}] if (found := _sources(dataset)) else []),
    ]


def _sources(dataset: Dataset) -> list[str]:
    """Name the sources of the regions' names, areas and outlines, with their licences."""
    return [str(source["title"]) for source in dataset.package.get("sources", [])]


_KINDS = {"edition": "new edition", "model": "another model", "note": "note on this week"}


def breaks(dataset: Dataset) -> list[dict[str, Any]]:
    """Return the breaks of the series: the number of the week, a label, and what readers should know.

    `alone` marks a note: it concerns one week alone, and the series goes on.
    """
    week_of = {week.isoformat(): number for number, week in enumerate(dataset.weeks)}
    return [
        {
            "week": week_of[b["week"]],
            "alone": b["kind"] == "note",
            "label": _KINDS.get(b["kind"], b["kind"]),
            "text": _break_text(b),
        }
        for b in dataset.package.get("breaks", [])
        if b["week"] in week_of
    ]


def _break_text(found: Mapping[str, Any]) -> str:
    """Return the reason of a break and what differs, as sentences."""
    differs = [] if found["kind"] == "note" else found["differs"]
    parts = (part.strip().rstrip(".") for part in (found["reason"], "; ".join(differs)))
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in parts if part)


def _breaks(dataset: Dataset) -> list[str]:
    """Say where the series has breaks, and what a break means."""
    found = breaks(dataset)
    if not found:
        return []
    return [
        "From some weeks on, searches were counted or assigned to topics in another way. A dashed line marks them in "
        "the charts, and no line is drawn across. Values before and after may differ although nobody searched "
        "differently. A note is about one week alone.",
        *(f"{dataset.weeks[b['week']]}, {b['label']}: {b['text']}" for b in found),
    ]


def _topics(dataset: Dataset) -> list[str]:
    """Say what each topic is, which model assigned searches to it, how good that model is, and where it changed."""
    found = dataset.package.get("classification")
    if not found:
        return []
    texts = [
        f"{t['name'].replace('_', ' ').capitalize()}: {t['definition']}" for t in found["topics"] if "definition" in t
    ]
    texts += [f"Assigned to topics: {line}." for line in run_words(found)]
    texts += [line for model in found["models"] if (line := _measured(model))]
    if changes := model_changes(found):
        texts.append(
            f"The model changed with the week of {', '.join(changes)}: values may jump there although nobody searched "
            "differently."
        )
    return texts


def _measured(model: Mapping[str, Any]) -> str:
    """Say how many of a model's answers were right on its labels; empty if its file does not tell."""
    shares = [f"{c['category']} {c['precision']:.0%}" for c in model.get("categories", []) if "precision" in c]
    if not shares:
        return ""
    return (
        f"Of the answers of model {model['fingerprint'][:12]} to labelled queries that it had not learnt from, so many "
        f"were right: {', '.join(shares)}. Among all searches it is fewer."
    )


def peak(dataset: Dataset, places: Places) -> str:
    """Explain the maximum of the scale in a phrase; empty if the dataset does not state it."""
    scaling = dataset.package.get("scaling")
    if not scaling:
        return ""
    of, country = _scaled_trend(dataset), places.geography.country.name
    if "set_by" in scaling:
        return f"{scaling['maximum']:g} = the peak of {of} in {scaling['set_by']}, whose scale this is"
    return f"{scaling['maximum']:g} = the peak of {of} in {country} as a whole, {setting_weeks(scaling)}"


def _scaled_trend(dataset: Dataset) -> str:
    """Say whose peak defines the scale: that of one trend, or of each."""
    if _has_own_scales(dataset):
        return "each topic"
    name = dataset.package["scaling"].get("trend")
    return "“" + next((trend.title for trend in dataset.trends if trend.name == name), str(name)) + "”"


def _has_own_scales(dataset: Dataset) -> bool:
    return bool(dataset.package["scaling"].get("scope") == "each")


def _meaning(dataset: Dataset) -> list[str]:
    scaling = dataset.package.get("scaling")
    share = "Each value is the share of all searches of a region and week that were about the topic, on one scale."
    if not scaling:
        return [str(dataset.package.get("description", share))]
    comparable = "All regions, weeks and topics are on the same scale, so they can be compared: twice the value is "
    if _has_own_scales(dataset):
        share = "Each value is the share of all searches of a region and week that were about the topic, on its scale."
        comparable = (
            "All regions and weeks are on the same scale, so they can be compared, but each topic has its own: twice "
            "the value of the same topic is "
        )
    where = f"for the whole {level_label(dataset.levels[0])} {setting_weeks(scaling)}"
    if "set_by" in scaling:
        where = f"in {scaling['set_by']}, whose scale this is, so that values of both can be compared"
    return [
        f"{share} On that scale {scaling['maximum']:g} is the highest weekly share of {_scaled_trend(dataset)} "
        f"{where}, and 0 is no searches. {comparable}"
        "twice the share of searches.",
        "A value says nothing about how many people searched: a place with few searches can have a high share.",
        f"Random noise protects the people behind the searches. The band around a line, and the range beside a value, "
        f"is the {_confidence(dataset)} interval that this noise leaves: the value before noise lies in it with at "
        "least that probability.",
    ]


def _confidence(dataset: Dataset) -> str:
    confidence = dataset.package.get("reliability", {}).get("confidence")
    return f"{confidence:.0%}" if confidence else "published"


def _missing(dataset: Dataset, places: Places) -> list[str]:
    rule = dataset.package.get("reliability")
    uncertainty = (
        f" less than {rule['confidence']:.0%} sure to be within {rule['max_relative_error']:.0%} of what it was"
        if rule
        else " not sure enough to be close to what it was"
    )
    texts = [
        f"Not enough data: with the noise the value was{uncertainty}, so it is left out. A region with too few such "
        "weeks is left out altogether. On a map it is hatched, and in a line it is a gap; it is not a low value, and "
        "not 0.",
    ]
    if places.not_reported is not None:
        kinds = sorted(set(places.not_reported.values()))
        texts.append("Not reported: some regions are never reported, in any week. " + _reasons(kinds))
    else:
        texts.append("This dataset does not say which of the missing regions are never reported at all.")
    return texts


def _reasons(kinds: list[str]) -> str:
    return ("The reasons: " + "; ".join(kinds) + ".") if kinds else "In this dataset there is none of them."


def _lists(dataset: Dataset) -> list[str]:
    """Say what the lists of searches show, and how the people who searched are protected."""
    found = dataset.privacy.get("top_searches")
    if dataset.top_searches is None or not found:
        return []
    return [
        "The lists show texts that people typed, without case and punctuation. Texts that have the same words in "
        "another order or form are one line. A share is how many users searched for one of them in the week, in "
        "percent of the topic's user-days. It is shown with the interval that the noise leaves; where intervals "
        "overlap, noise may have changed the order.",
        "Rising are texts whose share grew since the week before by more than noise and chance explain. Where few "
        "texts are shown, that cannot be told. A text that is shown for the first time has only a least growth.",
        " ".join(how_texts_are_protected(found)),
    ]


def _privacy(dataset: Dataset) -> list[str]:
    loss = dataset.privacy.get("privacy_loss", {})
    flavor = dataset.privacy.get("flavor", {})
    week = dataset.privacy.get("not_promised", {}).get("user_active_on_7_days", {})
    texts = [
        f"What each user searched on each day is protected by ({loss.get('epsilon', 0):g}, {loss.get('delta', 0):g})-"
        "differential privacy: with or without one user's searches of one day, any outcome is about as likely, by a "
        f"factor of at most e^{loss.get('epsilon', 0):g}, up to a probability of {loss.get('delta', 0):g}. "
        "This page shows only what is published; nothing here comes from the search log itself.",
        f"The unit is the {flavor.get('privacy_unit', 'user-day')}.",
    ]
    if week:
        texts.append(
            f"Not promised: for a user who searched on all 7 days of a week the same noise gives epsilon "
            f"{week['epsilon']:.2f} for that week. The full statement is among the downloads."
        )
    return texts


def _updated(dataset: Dataset) -> list[str]:
    corrections = dataset.privacy.get("corrections", [])
    texts = [
        f"The newest week was added on {str(dataset.package.get('created', ''))[:10]}. The dataset holds "
        f"{len(dataset.weeks)} weeks, from {dataset.weeks[0]} to {dataset.weeks[-1]}; a week is named by its first day."
    ]
    return texts + [f"Correction: {c['changed_values']:,} values were changed: {c['reason']}" for c in corrections]
