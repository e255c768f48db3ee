"""Refusing to publish over the dataset of another release: its weeks would vanish, and its scale with them."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

from search_insights.dataset.folder import published_as
from search_insights.errors import CheckFailed
from search_insights.store.ledger import FinalWeek
from search_insights.trends.release import Release


def refuse_other_release(release: Release, out: Path, shown: Mapping[date, FinalWeek]) -> None:
    """Refuse a folder that shows another release, even for a correction.

    What an earlier version published has no identity; it is of this release if a week in it has the same noise.
    """
    identity = published_as(out).identity
    now = {entry.week: entry.checksum for entry in release.entries}
    shares_noise = any(now.get(week) == final.checksum for week, final in shown.items())
    if identity == release.identity or (not identity and shares_noise):
        return
    which = f"release {identity}" if identity else "another release: it has no week of this store"
    raise CheckFailed(
        f"{out}: holds the dataset of {which}; this store is of release {release.identity}, which does not replace it, "
        "whatever `correction` says. Publish from the store that it was made from, or give another folder"
    )
