"""How searches were assigned to topics, for readers: what each topic is, and which model classified which weeks.

A change of model may move values although nobody searched differently, so every run of weeks names its model.
"""

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from search_insights.spec.spec import Category
from search_insights.store.ledger import LedgerEntry
from search_insights.trends.release import Release


def classification(release: Release) -> dict[str, Any]:
    """Return the topics with their definitions, the models, and the weeks that each model classified."""
    spec = release.coverage.spec
    topics = [{"id": c.id, "name": c.name, **_words(c)} for c in spec.categories[1:]]
    facts = {model.fingerprint: json.loads(model.facts) for model in release.models}
    used = dict.fromkeys(entry.classifier for entry in release.entries if entry.classifier)
    models = [{"fingerprint": fingerprint} | facts.get(fingerprint, {}) for fingerprint in used]
    return {"topics": topics, "models": models, "weeks": _runs(release.entries)}


def _words(category: Category) -> dict[str, Any]:
    words = {"definition": category.definition, "examples": list(category.examples or ())}
    return {key: value for key, value in words.items() if value}


def _runs(entries: Sequence[LedgerEntry]) -> list[dict[str, Any]]:
    """Return the runs of weeks of one model, the oldest first. No model: the log had categories."""
    runs = []
    for model, group in groupby(entries, key=lambda entry: entry.classifier):
        weeks = [entry.week.isoformat() for entry in group]
        runs.append({"model": model, "first": weeks[0], "last": weeks[-1], "weeks": len(weeks)})
    return runs
