"""The privacy statement of a release: what is promised, to whom, by which means, and what is not promised.

`privacy.json` is for programs, with the fields that the registry of differential privacy deployments asks for
(flavour, privacy loss, model, accounting, implementation); `PRIVACY.md`, which `pages` writes, says the same to people.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from search_insights.dataset.classification import classification
from search_insights.dataset.scale import scaling_facts
from search_insights.dataset.top_searches import top_searches_json
from search_insights.dp.accounting import Accounting, delta_of_weeks, epsilon_of_weeks
from search_insights.spec.spec import Spec
from search_insights.spec.weeks import DAYS_OF_WEEK
from search_insights.store.ledger import LedgerEntry
from search_insights.trends.release import Release
from search_insights.trends.spans import Span

UNIT = "user-day: everything that one user searched on one calendar day"
NEIGHBOURS = "two search logs that differ by adding or removing one user's searches of one day"

NOT_COVERED = (
    "A user's searches over several days together: epsilon grows with the number of days (see not_promised).",
    "Groups of users: what is true of very many people at once may be learnt, and is what the dataset is for.",
    "A person behind several user ids, or several persons behind one: the unit is the user id of the log.",
    "How queries were assigned to categories: a classifier that was trained on the log itself is outside the promise.",
    "User ids that the log writes in several ways (other case, spaces, another type) are several users.",
    "Whether and when a week is released, and which days are declared empty, is decided by the publisher, who knows "
    "the log.",
    "A second store for the same log, or a restored backup that noises a week again: that is a second release.",
    "Whoever can read the log or this program's working memory, and how long the program takes.",
)


def privacy_json(
    release: Release, accountings: Sequence[Accounting], beyond: Mapping[str, Any], *, counts: bool = False
) -> dict[str, Any]:
    """Return the statement for programs, given the accounting of each edition, and whether counts are published.

    `beyond` is what is `not_promised`.
    """
    spec = release.coverage.spec
    return {
        "name": spec.title,
        "dataset": spec.dataset,
        "identity": release.identity,
        "spec": {"name": spec.name, "fingerprint": release.spans[-1].edition.counted.spec.fingerprint},
        "flavor": {
            "name": "approximate differential privacy",
            "privacy_unit": UNIT,
            "neighbouring_relation": NEIGHBOURS,
            "bounds": bounds(spec),
        },
        "privacy_loss": _privacy_loss(release, accountings),
        "editions": [_edition(s, a) for s, a in zip(release.spans, accountings, strict=True)],
        "model": {
            "name": "central",
            "release": "weekly tables, each week noised once",
            "access": "public",
        },
        "accounting": {
            "composition": "privacy loss distributions of all mechanisms that one user-day can reach, for each case",
            "library": "dp-accounting",
            "across_weeks": "weeks share no user-day, so the promise for a user-day holds for all weeks together",
            "post_processing": "ratios, reliability, sparsity and scaling use noisy counts and public facts only",
        },
        "implementation": {
            "mechanism": release.entries[-1].mechanism,
            "sensitivity": "1 for each count",
            "entropy": "operating system, no seed",
            "program": f"search-insights {release.entries[-1].program}",
        },
        "not_promised": beyond,
        "not_covered": list(NOT_COVERED),
        "ledger": [_ledger_row(entry) for entry in release.entries],
        "scaling": scaling_facts(release),
        "sparsity": {"decided": release.sparsity is not None, "regions_removed": int(release.removed.sum())},
        "corrections": [{"changed_values": c.changed_values, "reason": c.reason} for c in release.corrections],
        "lost_weeks": lost_weeks(release),
        "notes": notes(release),
        "noisy_counts_published": counts,
        "classification": classification(release),
        **({"top_searches": texts} if (texts := top_searches_json(release)) else {}),
    }


def lost_weeks(release: Release) -> list[dict[str, str]]:
    """Return the weeks that were declared lost: on which day, and why."""
    return [
        {"week": lost.week.isoformat(), "declared_on": lost.recorded_at, "reason": lost.reason} for lost in release.lost
    ]


def notes(release: Release) -> list[dict[str, str]]:
    """Return what readers should know of single weeks: the day on which it was recorded, and the words."""
    return [{"week": n.week.isoformat(), "recorded_on": n.recorded_at, "reason": n.reason} for n in release.notes]


def _privacy_loss(release: Release, accountings: Sequence[Accounting]) -> dict[str, Any]:
    """Return the promise of the whole: a user-day is in one week, so in one edition, and the worst of them holds."""
    several = len(accountings) > 1
    cases = [
        {
            "name": f"edition {span.edition.number}, {c.case.name}" if several else c.case.name,
            "epsilon": round(c.epsilon, 6),
            "delta": accounting.promise.delta,
            "sigmas": [s.value for s in c.case.sigmas],
        }
        for span, accounting in zip(release.spans, accountings, strict=True)
        for c in accounting.cases
    ]
    return {
        "epsilon": max(accounting.promise.epsilon for accounting in accountings),
        "delta": max(accounting.promise.delta for accounting in accountings),
        "holds": all(accounting.holds for accounting in accountings),
        "cases": cases,
    }


def _edition(span: Span, accounting: Accounting) -> dict[str, Any]:
    """Return the promise of one edition, and what it was counted under."""
    counted, spec = span.edition.counted, span.coverage.spec
    return {
        "edition": span.edition.number,
        "first_week": span.weeks[0].isoformat(),
        "last_week": span.weeks[-1].isoformat(),
        "weeks": len(span.weeks),
        "reason": span.begun_by.reason,
        "epsilon": accounting.promise.epsilon,
        "delta": accounting.promise.delta,
        "holds": accounting.holds,
        "spec": counted.spec.fingerprint,
        "geography": counted.geography.fingerprint,
        "time_zone": spec.time_zone,
        "bounds": bounds(spec),
        "cells": len(span.edition.cells.cells),
    }


def not_promised(release: Release) -> dict[str, Any]:
    """Return what the same noise gives users who searched every day, of a week and of the whole release."""
    weeks = len(release.entries)
    spec, *others = [span.coverage.spec for span in reversed(release.spans)]
    return {
        "user_active_on_7_days": _of_weeks(spec, 1, others),
        "user_active_on_all_days": {"days": DAYS_OF_WEEK * weeks, **_of_weeks(spec, weeks, others)},
    }


def _of_weeks(spec: Spec, weeks: int, others: Sequence[Spec]) -> dict[str, float]:
    return {
        "epsilon": math.ceil(epsilon_of_weeks(spec, weeks, others) * 1e4) / 1e4,  # a bound is rounded up
        "delta": delta_of_weeks(spec, weeks, others),
    }


def bounds(spec: Spec) -> list[str]:
    """Return sentences that say how much one user-day can contribute."""
    words = ["X1: at most one count for each geographic level and category", "X2: each count by at most 1"]
    words += [
        f"X3: no {level.name} counts of size class {', '.join(level.unreported_classes)}"
        for level in spec.levels
        if level.unreported_classes
    ]
    if spec.classed_levels:
        words.append(f"X4: all {' and '.join(spec.classed_levels)} counts of a user-day are of one size class")
    if spec.top_searches is not None:
        words.append("top searches: at most one text, and in each text a user counts once a week")
    return words


def _ledger_row(entry: LedgerEntry) -> dict[str, Any]:
    return {
        "week": entry.week.isoformat(),
        "epsilon": entry.epsilon,
        "delta": entry.delta,
        "committed_on": entry.committed_at[:10],  # the day only, see Release.created
        "cells": entry.cells,
        "engine": entry.engine,
        "program": entry.program,
        "missing_days": entry.missing_days.split(),
        "checksum": entry.checksum,
        "begins_at": entry.begins_at,
        "ends_at": entry.ends_at,
        "times": entry.times,
        "naive_zone": entry.naive_zone,
        "zone_data": entry.zone_data,
        "classifier": entry.classifier,
        **({"top_searches": entry.top_searches, "vocabulary": entry.vocabulary} if entry.top_searches else {}),
    }
