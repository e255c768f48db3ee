"""`sparsity.json`: which regions were removed for sparsity, by which weeks, and which of them had been published.

A reader who misses a region finds here why it is not in the tables. The file has no names and no values: place_ids are
public, and which of them are sparse follows from noisy counts.
"""

from typing import Any

from search_insights.trends.release import Release
from search_insights.trends.sparsity import Judgement


def sparsity_json(release: Release) -> dict[str, Any]:
    """Return the record of the decision, or which weeks it waits for."""
    rule, window, decided = release.coverage.spec.sparsity, release.window, release.sparsity
    records = [record for judgement in release.judgements if (record := release.record_of(judgement))]
    reasons = {lost.week: lost.reason for lost in release.lost}
    return {
        "rule": {
            "max_points": rule.max_points,
            "first_week": rule.first_week.isoformat(),
            "last_week": rule.last_week.isoformat(),
            "meaning": "regions with max_points data points or fewer in these weeks are removed, with all their rows; "
            "a data point is a week in which at least one trend of the region is published",
        },
        "decided": decided is not None,
        "decided_on": decided.fixed_at[:10] if decided else None,
        "decided_by_release_of": [str(decided.first_week), str(decided.last_week)] if decided else None,
        "judged_weeks": [str(week) for week in window.judged],
        "lost_weeks": [{"week": str(week), "reason": reasons[week]} for week in window.lost],
        "missing_weeks": [str(week) for week in window.missing],
        "removed": [place for record in records for place in record.removed],
        "removed_after_publication": [place for record in records for place in record.withdrawn],
        **({"editions": [_of_edition(release, j) for j in release.judgements]} if len(release.spans) > 1 else {}),
    }


def _of_edition(release: Release, judgement: Judgement) -> dict[str, Any]:
    """Return the decision on the regions that one edition is the first to report."""
    record, window = release.record_of(judgement), judgement.window
    return {
        "edition": judgement.edition,
        "regions": len(judgement.places),
        "first_week": window.weeks[0].isoformat(),
        "last_week": window.weeks[-1].isoformat(),
        "decided": record is not None,
        "decided_on": record.fixed_at[:10] if record else None,
        "missing_weeks": [str(week) for week in window.missing],
        "removed": record.removed if record else [],
    }
