"""Breaks: weeks from which on values may differ although nobody searched differently, in words for readers.

A new edition counts in another way; another model assigns searches to topics in another way; of a single week there may
be a note, because its log was wrong. Each break has its week,
its kind, the reason that the publisher gave, and what differs. Everything here is public.
"""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise
from typing import Any

from search_insights.spec.changes import Difference
from search_insights.spec.geography import Geography
from search_insights.trends.release import Release
from search_insights.trends.spans import Step

# What a difference in counting means to readers, by the beginning of its key. The dashboard
# knows these phrases and words them in other languages (dashboards/phrases.py).
DIFFERENCES = (
    ("sigmas", "counts have another amount of noise, so more or fewer values are published"),
    ("promise", "the privacy promise is another"),
    ("categories", "other topics are counted"),
    ("given_measures", "user-days are counted in other measures"),
    ("counting", "another rule says where a user-day counts"),
    ("levels", "other levels of regions are counted"),
    ("total", "the country is the sum of other regions"),
    ("class_level", "size classes belong to another level"),
    ("size_classes", "size classes have other limits"),
    ("min_area_km2", "another minimum area decides which regions are reported"),
    ("time_zone", "days begin at midnight of another time zone"),
    ("first_day_of_week", "weeks begin on another day"),
    ("trends", "trends are defined in another way"),
    ("reliability", "another rule decides which values are reliable"),
    ("sparsity", "another rule decides which regions are sparse"),
    ("scaling", "the scale follows another rule"),
)
_REGIONS = re.compile(r"regions that (begin|end)")
_EXAMPLES = 3  # regions that are named
NEW_SCALE = "a new scale begins: values before and after cannot be compared"
OTHER_WORDS = "names or descriptions differ"
SOME_REGIONS = "some regions differ in parent, level, code, size class or reporting"
OTHER_MODEL = "searches were assigned to topics by another model"
TOPICS_OF_LOG = "searches came with their topics; how they were assigned is not known here"


def breaks(release: Release) -> list[dict[str, Any]]:
    """Return the breaks of a release, the oldest first, as `datapackage.json` lists them."""
    found = [*_of_editions(release), *_of_models(release), *_of_notes(release)]
    return sorted(found, key=lambda found_break: str(found_break["week"]))


def changes(release: Release) -> list[dict[str, Any]]:
    """Return the recorded changes of spec or geography after the first, as `datapackage.json` lists them.

    An edition that has no week yet may still be withdrawn, with all changes since, so they are not listed.
    """
    last = release.spans[-1].edition.changes[-1].number
    return [
        {
            "number": step.change.number,
            "kind": step.change.kind,
            "from_week": step.change.from_week.isoformat() if step.change.from_week else None,
            "recorded_on": step.change.recorded_at[:10],
            "reason": step.change.reason,
            "differs": differs(before, step),
        }
        for before, step in pairwise(release.steps)
        if step.change.number <= last
    ]


def differs(before: Step, step: Step) -> list[str]:
    """Return phrases that say what a change changed, each once."""
    old, new = before.coverage.geography, step.coverage.geography
    regions = [*_named(old, new, "ends", "end"), *_named(new, old, "begins", "begin")]
    others = (_words(found) for found in step.differences if not _REGIONS.fullmatch(found.key))
    return [*regions, *dict.fromkeys(others), *([] if step.change.keeps_scale else [NEW_SCALE])]


def _named(geography: Geography, other: Geography, one: str, several: str) -> Iterator[str]:
    """Yield which regions a geography has and another has not, by name."""
    own = [region.name for region in geography.regions if region.place_id not in other.by_place_id]
    if own:
        more = f" and {len(own) - _EXAMPLES:,} more" if len(own) > _EXAMPLES else ""
        words = f"1 region {one}" if len(own) == 1 else f"{len(own):,} regions {several}"
        yield f"{words}: {', '.join(own[:_EXAMPLES])}{more}"


def _words(difference: Difference) -> str:
    if difference.kind == "words":
        return OTHER_WORDS
    found = (words for key, words in DIFFERENCES if difference.key.split(".")[0] == key)
    return next(found, SOME_REGIONS)


def _of_editions(release: Release) -> Iterator[dict[str, Any]]:
    """Yield a break for each edition after the first, at the first week that the release has of it.

    It has the reasons of all editions that began since the week before, also of one that has no week.
    """
    for before, span in pairwise(release.spans):
        first, last = before.begun_by.number, span.begun_by.number
        begun = [
            (earlier, step)
            for earlier, step in pairwise(release.steps)
            if step.change.kind == "counting" and first < step.change.number <= last
        ]
        what = dict.fromkeys(words for earlier, step in begun for words in differs(earlier, step))
        kind: dict[str, Any] = {"kind": "edition", "edition": span.edition.number}
        kind |= {"new_scale": True} if NEW_SCALE in what else {}  # for programs
        yield _break(span.weeks[0], kind, "; ".join(step.change.reason for _, step in begun), list(what))


def _of_models(release: Release) -> Iterator[dict[str, Any]]:
    """Yield a break for each week whose searches another model classified than those of the week before."""
    facts = {model.fingerprint: json.loads(model.facts) for model in release.models}
    for before, entry in pairwise(release.entries):
        if before.classifier != entry.classifier:
            kind = {"kind": "model", "model_before": before.classifier, "model": entry.classifier}
            models = (("before", before.classifier), ("now", entry.classifier))
            what = [f"{when}: {_model(model, facts.get(model, {}))}" for when, model in models]
            yield _break(entry.week, kind, OTHER_MODEL if entry.classifier else TOPICS_OF_LOG, what)


def _of_notes(release: Release) -> Iterator[dict[str, Any]]:
    """Yield each note on a week: it concerns that week alone."""
    for note in release.notes:
        yield _break(note.week, {"kind": "note"}, note.reason, ["this week alone"])


def _break(week: date, kind: dict[str, Any], reason: str, what: Sequence[str]) -> dict[str, Any]:
    return {"week": week.isoformat(), **kind, "reason": reason, "differs": list(what)}


def _model(fingerprint: str, facts: dict[str, Any]) -> str:
    """Return the public facts of a model in a phrase."""
    if not fingerprint:
        return "no model"
    name = f" {facts['name']}" if facts.get("name") else ""
    labels = f", trained on {facts['labels']:,} labels" if facts.get("labels") else ""
    return f"model{name}, fingerprint {fingerprint[:12]}{labels}"
