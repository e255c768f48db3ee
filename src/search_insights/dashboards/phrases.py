"""The phrases that this program writes into a published dataset, in English, as facts that the page words anew.

A phrase that is not known here, such as a publisher's own reason, is shown as it is.
"""

import re
from collections.abc import Callable, Mapping

from search_insights.dashboards.facts import Fact, Message, items, level, number, say, sentences

Found = re.Match[str]

# By the message of the page. A test compares them with what `dataset.breaks` and `dataset.statement` write.
_MESSAGES = {
    "differs_sigmas": "counts have another amount of noise, so more or fewer values are published",
    "differs_promise": "the privacy promise is another",
    "differs_categories": "other topics are counted",
    "differs_given_measures": "user-days are counted in other measures",
    "differs_counting": "another rule says where a user-day counts",
    "differs_levels": "other levels of regions are counted",
    "differs_total": "the country is the sum of other regions",
    "differs_class_level": "size classes belong to another level",
    "differs_size_classes": "size classes have other limits",
    "differs_min_area_km2": "another minimum area decides which regions are reported",
    "differs_time_zone": "days begin at midnight of another time zone",
    "differs_first_day_of_week": "weeks begin on another day",
    "differs_trends": "trends are defined in another way",
    "differs_reliability": "another rule decides which values are reliable",
    "differs_sparsity": "another rule decides which regions are sparse",
    "differs_scaling": "the scale follows another rule",
    "differs_new_scale": "a new scale begins: values before and after cannot be compared",
    "differs_model": "searches were assigned to topics by another model",
    "differs_no_model": "searches came with their topics; how they were assigned is not known here",
    "differs_words": "names or descriptions differ",
    "differs_regions": "some regions differ in parent, level, code, size class or reporting",
    "privacy_unit": "user-day: everything that one user searched on one calendar day",
    "why_no_area": "its land area is not known",
    "why_parent": "the region above it is not reported",
}
_PHRASES = {words: key for key, words in _MESSAGES.items()}


def fact_of(phrase: str) -> Fact:
    """Return a phrase of a published file as a fact; one that is not known as it is."""
    if key := _PHRASES.get(phrase):
        return say(key)
    for pattern, make in _PATTERNS.items():
        if found := re.fullmatch(pattern, phrase):
            return make(found)
    return phrase


def break_sentences(found: Mapping[str, object]) -> Message | Fact:
    """Return the reason of a break and what differs, as sentences."""
    reason = str(found["reason"]).strip()
    differs = [] if found["kind"] == "note" else [str(phrase) for phrase in _texts(found["differs"])]
    return sentences([*([fact_of(reason)] if reason else []), *([items(map(fact_of, differs))] if differs else [])])


def _texts(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _regions(found: Found) -> Fact:
    """Some regions begin or end: how many, and the names of a few."""
    key = "differs_end" if found["what"].startswith("end") else "differs_begin"
    names = say("and_more", names=found["names"], count=_whole(found["more"])) if found["more"] else found["names"]
    return say(key, count=_whole(found["count"]), names=names)


def _model(found: Found) -> Fact:
    return say(f"model_{found['when']}", model=model_name(found["print"] or "", found["name"] or "", found["labels"]))


def model_name(fingerprint: str, name: str, labels: str | None = None) -> Fact:
    """Name a model by its name, if it has one, and its fingerprint."""
    if not fingerprint:
        return say("model_none")
    model = say("model_named", name=name, print=fingerprint) if name else say("model", print=fingerprint)
    return say("model_labels", model=model, count=_whole(labels)) if labels else model


def _whole(text: str) -> int:
    return int(text.replace(",", ""))


_COUNT = r"\d{1,3}(?:,\d{3})*"
_PATTERNS: dict[str, Callable[[Found], Fact]] = {
    rf"(?P<count>{_COUNT}) regions? (?P<what>ends?|begins?): (?P<names>.+?)(?: and (?P<more>{_COUNT}) more)?": _regions,
    rf"(?P<when>before|now): (?:no model|model(?: (?P<name>.+?))?, fingerprint (?P<print>[0-9a-f]+)"
    rf"(?:, trained on (?P<labels>{_COUNT}) labels)?)": _model,
    r"its land area is under (?P<area>\d+(?:\.\d+)?) km[2²]": lambda found: say(
        "why_area", area=number(float(found["area"]))
    ),
    r"level (?P<level>[\w-]+) is not counted; its searches count at the levels above": lambda found: say(
        "why_level", level=level(found["level"])
    ),
    r"X3: (?P<level>[\w-]+) regions of size class (?P<size>[\w-]+) are not reported": lambda found: say(
        "why_class", level=level(found["level"]), size=found["size"]
    ),
}
