"""Publishing: the dataset is made from the store alone, replaced as a whole, and never contradicts itself."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from search_insights.dataset.comparison import Comparison, compare, table_in, table_of, unreadable
from search_insights.dataset.counts import counts_name, write_counts
from search_insights.dataset.datapackage import datapackage
from search_insights.dataset.folder import (
    REGIONS,
    STATEMENTS,
    TOP_SEARCHES,
    csv_table,
    published_changes,
    published_counts,
    published_table,
    published_weeks,
)
from search_insights.dataset.pages import privacy_page
from search_insights.dataset.regions import write_regions
from search_insights.dataset.registry import registry_yaml
from search_insights.dataset.removals import sparsity_json
from search_insights.dataset.same_release import refuse_other_release
from search_insights.dataset.statement import not_promised, privacy_json
from search_insights.dataset.straddling import straddling_json
from search_insights.dataset.summary import save_summary_chart, summarize
from search_insights.dataset.tables import file_stem, write_tables
from search_insights.dataset.top_searches import require_blocklist, write_top_searches
from search_insights.dp.accounting import Accounting, account
from search_insights.errors import CheckFailed, InputError, StoreError
from search_insights.spec.straddling import Straddling, load_straddling
from search_insights.spec.weeks import Week
from search_insights.store.journal import remember_place
from search_insights.store.ledger import FinalWeek, checked_reason
from search_insights.support.replace_folder import replacing
from search_insights.support.sql import public_tables
from search_insights.trends.blocklist import read_blocklist
from search_insights.trends.release import Release, corrected, make_release, record_decisions, withdrawing


@dataclass(frozen=True, slots=True)
class Published:
    """What was published and where."""

    release: Release
    csv: Path
    rows: int
    summary: list[dict[str, Any]]
    counts: Path | None


def publish(
    store_path: Path,
    out: Path,
    *,
    correction: str | None = None,
    straddling: Path | None = None,
    counts: bool | None = None,
    blocklist: Path | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> Published:
    """Derive the dataset from a store and put it in place, as a whole or not at all.

    A value that is already published in `out` must not change, unless the publisher gives the reason for a correction,
    which is recorded in the store and published with the dataset. `straddling` is the straddling table of a geography
    that is not the packaged one. `blocklist` is a file of words that no text of top searches may have. `counts` says
    whether every noisy count of the trends is published too, which costs no privacy but tells how much is searched
    where; by default, if the dataset that is in `out` has them.
    """
    import duckdb

    require_reason(correction)

    progress("deriving the trends")
    release = make_release(store_path, blocklist=read_blocklist(blocklist) if blocklist else None)
    table = load_straddling(release.coverage.geography, straddling)
    refuse_to_lose_files(release, out)
    refuse_second_noise(release, out)
    require_blocklist(release, out)
    try:
        with replacing(out) as draft, ThreadPoolExecutor(1) as pool:
            progress("writing the tables")
            beside = pool.submit(_write_beside, release, draft, table)
            write_tables(release, draft)
            write_top_searches(release, draft)
            if publishes_counts(out, counts):
                write_counts(store_path, release, draft)
            with public_tables() as connection:
                written = table_of(release, draft)
                found = compare(release, out, csv_table(written), connection, written)
            rows = int(release.published.any(axis=2).sum())
            release = with_correction(withdrawing(release, found.shown), found, out, correction)
            progress("writing the statements")
            made = beside.result()
            _write_statements(release, draft, table, made)
            refuse_second_noise(release, out)  # again: another process may have published there in the meantime
            record_decisions(store_path, release)
    except (OSError, duckdb.IOException) as error:
        raise InputError(f"{out}: cannot be written ({error}); it is unchanged") from None
    with suppress(StoreError):  # a store that cannot be written can be published all the same
        remember_place(store_path, "published", out)
    return Published(release, table_of(release, out), rows, made.summary, published_counts(out))


def publishes_counts(out: Path, counts: bool | None) -> bool:
    """Return whether counts are published: as asked, and else as the folder has it, so that no table disappears."""
    return published_counts(out) is not None if counts is None else counts


def require_reason(correction: str | None) -> None:
    """Refuse a correction without a reason that can be published."""
    if correction is not None:
        checked_reason(correction, "correction", "published values change")


def refuse_to_lose_files(release: Release, out: Path) -> None:
    """Refuse a folder that holds anything but this dataset: it is replaced as a whole, and the store could be in it."""
    stem = file_stem(release)
    named = published_table(out)  # the dataset may have had another name
    stems = {stem, *([named.stem] if named else [])}
    before = published_counts(out)
    counts = {counts_name(release), *([before.name] if before else [])}
    tables = [f"{each}{end}" for each in stems for end in ("", TOP_SEARCHES)]
    own = {*STATEMENTS, REGIONS, *counts, *(f"{each}.{form}" for each in tables for form in ("csv", "parquet"))}
    others = sorted(path.name for path in out.iterdir() if path.name not in own) if out.is_dir() else []
    if others:
        raise InputError(
            f"{out}: holds {others[0]}, which is not part of this dataset and would be lost; give a folder of its own"
        )


def refuse_second_noise(release: Release, out: Path) -> None:
    """Refuse new noise for published searches: the two releases together would promise less than one.

    Another process may replace the folder between two reads of it; then it is looked at again.
    """
    looked_at = _file_number(out)
    try:
        _refuse_second_noise(release, out)
    except CheckFailed:
        if _file_number(out) == looked_at:
            raise
        refuse_second_noise(release, out)


def _file_number(folder: Path) -> int | None:
    return folder.stat().st_ino if folder.exists() else None


def _refuse_second_noise(release: Release, out: Path) -> None:
    if not out.is_dir() or not any(out.iterdir()):
        return  # nothing was published here
    try:
        before = published_weeks(out)
    except InputError:
        before = {}
    if not before or not _dates(table_in(release, out)) <= {str(week) for week in before}:
        raise CheckFailed(
            f"{out}: holds a dataset whose privacy.json is missing, damaged or lacks weeks, so it cannot be seen "
            "whether they have the same noise; restore that file, or give a new folder"
        )
    now = {entry.week: entry.checksum for entry in release.entries}
    own = [Week(week, span.coverage.spec.time_zone) for span in release.spans for week in span.weeks]
    known = [final for week, final in sorted(before.items()) if now.get(week) != final.checksum]
    other = [final.week for final in known if final.week in now or _overlaps(final, own)]
    if other:
        raise CheckFailed(
            f"{out}: week {other[0]} was published with other noise, so this is not the store that it was made from; "
            "publishing it again would be a second release of the same searches"
        )
    refuse_other_release(release, out, before)


def _dates(csv: Path) -> set[str]:
    """Return the weeks of a published table; none if there is no such file.

    It is read again only if it is another file, or was written to: nobody can set the time of its last change back.
    """
    if not csv.exists():
        return set()
    found = csv.stat()
    return _dates_of(csv, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))


@lru_cache(maxsize=1)
def _dates_of(csv: Path, version: tuple[int, ...]) -> set[str]:
    import duckdb

    with public_tables() as connection:
        try:
            return {str(row[0]) for row in connection.execute(f"SELECT DISTINCT date FROM {csv_table(csv)}").fetchall()}
        except duckdb.Error:
            raise unreadable(csv) from None


def _overlaps(final: FinalWeek, weeks: list[Week]) -> bool:
    """Return whether a published week, whose instants are known, has an instant of one of these."""
    return bool(final.begins_at) and any(final.overlaps(week) for week in weeks)


def with_correction(release: Release, found: Comparison, out: Path, correction: str | None) -> Release:
    """Refuse a release that changes published values, or add its correction to it.

    A recorded change of spec or geography that was not published yet has a reason of its own.
    """
    moved = found.corrected
    reasons = [correction] if correction is not None else []
    if recorded := unpublished_reasons(release, out):
        moved, reasons = found.moved(release.judges_again), [*recorded, *reasons]
    if not moved:
        return release
    if not reasons:
        raise CheckFailed(
            f"{out}: {found.corrected:,} published values would change or disappear; nothing was written. Is this the "
            "store that it was made from? A correction is made with `correction` REASON, which is published"
        )
    return corrected(release, moved, "; ".join(reasons))


def unpublished_reasons(release: Release, out: Path) -> list[str]:
    """Return the reasons of the recorded changes of derivation that a published folder does not know yet."""
    known = published_changes(out)
    if known is None:
        return []
    later = [step for step in release.steps if step.change.number not in known]
    return [step.change.reason for step in later if any(d.kind == "derivation" for d in step.differences)]


@dataclass(frozen=True, slots=True)
class _Beside:
    """What is made while the tables are written: it depends on none of them, and no correction changes it."""

    summary: list[dict[str, Any]]
    straddling: dict[str, Any]
    accountings: list[Accounting]
    beyond: dict[str, Any]


def _write_beside(release: Release, draft: Path, straddling: Straddling) -> _Beside:
    """Write the table of regions and the chart of what is published, and make what other files take from here."""
    summary = summarize(release)
    save_summary_chart(release, summary, draft / "summary.svg")
    write_regions(release, draft / REGIONS)
    exchanged = straddling_json(straddling, release.coverage) if straddling.rows else {}
    return _Beside(summary, exchanged, [account(span.coverage.spec) for span in release.spans], not_promised(release))


def _write_statements(release: Release, draft: Path, straddling: Straddling, made: _Beside) -> None:
    counts = (draft / counts_name(release)).exists()
    statement = privacy_json(release, made.accountings, made.beyond, counts=counts)
    contents: dict[str, Any] = {
        "datapackage.json": datapackage(release, draft, straddling),
        "privacy.json": statement,
        "summary.json": made.summary,
        "sparsity.json": sparsity_json(release),
    }
    if made.straddling:
        contents["straddling.json"] = made.straddling
    for name, content in contents.items():
        (draft / name).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    (draft / "PRIVACY.md").write_text(privacy_page(statement), encoding="utf-8")
    if entry := registry_yaml(contents["datapackage.json"], statement):
        (draft / "registry.yaml").write_text(entry, encoding="utf-8")
