"""What a publication would do, without doing it: what it would fix for good, and what would appear, change and vanish.

Nothing is written: no file, nothing in the store, no line of the journal. What a publication would refuse is refused
here in the same words.
"""

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from search_insights.dataset.comparison import Comparison, compare
from search_insights.dataset.folder import published_weeks
from search_insights.dataset.publication import (
    refuse_second_noise,
    refuse_to_lose_files,
    require_reason,
    with_correction,
)
from search_insights.dataset.tables import csv_rows, open_tables
from search_insights.dataset.top_searches import require_blocklist, texts_not_yet_published
from search_insights.errors import CheckFailed, InputError
from search_insights.spec.straddling import load_straddling
from search_insights.store.ledger import ScalingRecord, SparsityRecord
from search_insights.store.opening import require_one_name
from search_insights.support.replace_folder import require_replaceable
from search_insights.trends.blocklist import read_blocklist
from search_insights.trends.release import Release, make_release, withdrawing
from search_insights.trends.sparsity import Judgement


@dataclass(frozen=True, slots=True)
class Preview:
    """A release as it would be published, beside the folder that is there.

    `refusal` is the error with which a publication would end: published values would change without a correction.
    `new_texts` are those that the lists of top searches would show, and the folder does not show yet.
    """

    release: Release
    rows: int
    found: Comparison
    weeks_added: tuple[date, ...]
    weeks_gone: tuple[date, ...]
    refusal: CheckFailed | None
    new_texts: tuple[str, ...] = ()

    def would_fix(self, record: ScalingRecord | SparsityRecord) -> bool:
        """Return whether this release would fix what is recorded; else an earlier one did."""
        return record in self.release.decisions

    def sparse_by_level(self, judgement: Judgement) -> dict[str, int]:
        """Return how many regions of each level a judgement removes."""
        record = self.release.record_of(judgement)
        removed = set(record.removed if record else ())
        return dict(Counter(region.level for region in self.release.trends.regions if region.place_id in removed))

    @property
    def gone_by_level(self) -> dict[str, int]:
        """How many regions of each level the published table has and the release has not."""
        return dict(Counter(level for level, _ in self.found.gone))


def preview(
    store_path: Path,
    out: Path,
    *,
    correction: str | None = None,
    straddling: Path | None = None,
    blocklist: Path | None = None,
) -> Preview:
    """Look at what `publish` would do with the same arguments; refuse what it would refuse."""
    require_reason(correction)
    release = make_release(store_path, only_look=True, blocklist=read_blocklist(blocklist) if blocklist else None)
    load_straddling(release.coverage.geography, straddling)
    refuse_to_lose_files(release, out)
    refuse_second_noise(release, out)
    require_blocklist(release, out)
    require_replaceable(out)
    with open_tables(release) as connection:
        found = compare(release, out, _as_published(release), connection)
    release = withdrawing(release, found.shown)
    refusal = None
    try:
        release = with_correction(release, found, out, correction)
    except CheckFailed as error:
        refusal = error
    if release.decisions and not refusal:
        require_one_name(store_path)  # as for writing
    before, now = _weeks_in(out), set(release.trends.weeks)
    rows = int(release.published.any(axis=2).sum())
    new_texts = tuple(texts_not_yet_published(release, out))
    return Preview(release, rows, found, tuple(sorted(now - before)), tuple(sorted(before - now)), refusal, new_texts)


def _as_published(release: Release) -> str:
    """Write the SQL of the release's rows as the text that a CSV file would have."""
    return f"(SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({csv_rows(release)}))"


def _weeks_in(out: Path) -> set[date]:
    with suppress(InputError):
        return set(published_weeks(out))
    return set()  # nothing was published here
