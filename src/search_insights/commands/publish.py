"""Make the public dataset from a store: derive, write, and put it in place all at once."""

import argparse
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from search_insights.commands.console import Steps, note, out, span, table
from search_insights.commands.options import add_straddling
from search_insights.spec.weeks import DAYS_OF_WEEK

if TYPE_CHECKING:
    from search_insights.dataset.preview import Preview
    from search_insights.trends.release import Release
    from search_insights.trends.sparsity import Judgement

EXAMPLE = (
    "search-insights publish --store releases.db --out dataset --dry-run\n"
    "search-insights publish --store releases.db --out dataset"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("--store", metavar="FILE", type=Path, required=True, help="the store")
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="the dataset's folder")
    parser.add_argument("--correction", metavar="REASON", help="allow published values to change, and publish why")
    add_straddling(parser)
    parser.add_argument(
        "--blocklist", metavar="FILE", type=Path, help="words that no text of top searches may have, one entry a line"
    )
    counts = parser.add_mutually_exclusive_group()
    counts.add_argument(
        "--counts",
        action="store_const",
        const=True,
        help="publish every noisy count of the trends with its sigma too; costs no privacy, but shows how much is "
        "searched where, which may be your secret (default: as the folder has it, and not in a new one)",
    )
    counts.add_argument(
        "--no-counts", dest="counts", action="store_const", const=False, help="publish them there no longer"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="write nothing; show what would be fixed for good, and what would appear, change and vanish",
    )


def run(args: argparse.Namespace) -> int:
    """Publish, and say what was published and what was dropped."""
    if args.dry_run:
        return _dry_run(args)
    from search_insights.dataset.publication import publish
    from search_insights.trends.outcomes import OUTCOMES

    with Steps() as steps:
        published = publish(
            args.store,
            args.out,
            correction=args.correction,
            straddling=args.straddling,
            counts=args.counts,
            blocklist=args.blocklist,
            progress=steps.show,
        )
    outcomes = OUTCOMES if len(published.release.spans) > 1 else OUTCOMES[:-1]
    rows = [
        (row["level"], row["trend"], f"{row['regions_with_a_value']:,}", *(f"{row[outcome]:,}" for outcome in outcomes))
        for row in published.summary
    ]
    out(table(("level", "trend", "regions", *outcomes), rows, right=range(2, 3 + len(outcomes))))
    out(f"\n{published.csv}: {published.rows:,} rows, {span(published.release.trends.weeks)}")
    if published.release.top_searches is not None:
        out(f"{args.out}: top searches, {published.release.top_searches.rank.size:,} lines")
    out(f"{args.out}: datapackage.json, PRIVACY.md, privacy.json, regions.csv, sparsity.json, summary.svg describe it")
    if published.counts:
        out(f"{published.counts}: every noisy count with its sigma")
    _note_missing_weeks(published.release, args.store)
    _note_few_weeks(published.release)
    return 0


def _note_missing_weeks(release: "Release", store: Path) -> None:
    """Tell the operator if sparse regions stay because of weeks that the series has left out."""
    for judgement in release.judgements:
        window, weeks = judgement.window, judgement.window.weeks
        if release.record_of(judgement) is not None:
            continue
        span = f"{weeks[0]} to {weeks[-1]}"
        if any(week < release.trends.weeks[-1] for week in window.missing):
            note(
                f"sparse regions are not removed before all weeks from {span} are in the store; missing: "
                f"{_spans(window.missing)}. Anonymize them, or declare a week that will never come lost: "
                f"search-insights store lose --store {quote(str(store))} --week {window.missing[0]} --reason TEXT"
            )
        elif window.lost and not window.missing:
            note(
                f"sparse regions are not removed: {len(window.judged)} of the weeks from {span} are not lost, and a "
                f"region can be judged only by more than {release.coverage.spec.sparsity.max_points}"
            )


def _spans(weeks: Sequence[date]) -> str:
    """List weeks, those that follow each other as from and to."""
    runs: list[list[date]] = []
    for week in weeks:
        if runs and week - runs[-1][-1] == timedelta(days=DAYS_OF_WEEK):
            runs[-1].append(week)
        else:
            runs.append([week])
    return ", ".join(f"{r[0]} to {r[-1]} ({len(r)} weeks)" if len(r) > 1 else str(r[0]) for r in runs)


def _dry_run(args: argparse.Namespace) -> int:
    """Show what a publication would do; end as it would."""
    from search_insights.dataset.preview import preview
    from search_insights.dataset.publication import publishes_counts
    from search_insights.store.ledger import CorrectionRecord

    with Steps() as steps:
        steps.show("deriving the trends")
        seen = preview(
            args.store, args.out, correction=args.correction, straddling=args.straddling, blocklist=args.blocklist
        )
    release = seen.release
    out("Dry run: nothing was written.\n")
    for line in (*_scaling_lines(seen), *_sparsity_lines(seen)):
        out(line)
    rows = [
        (c.level, c.trend, *(f"{number:,}" for number in (c.values, c.appear, c.change, c.vanish, c.sparse)))
        for c in seen.found.changes
    ]
    out("")
    out(table(("level", "trend", "values", "appear", "change", "vanish", "of them sparse"), rows, right=range(2, 7)))
    out(f"\n{args.out}: {seen.rows:,} rows, {span(release.trends.weeks)}")
    out(f"every noisy count with its sigma: {'published too' if publishes_counts(args.out, args.counts) else 'no'}")
    out(f"weeks added: {_spans(seen.weeks_added) or 'none'}")
    if seen.weeks_gone:
        out(f"weeks that vanish: {_spans(seen.weeks_gone)}")
    out(f"regions that vanish: {_by_level(seen.gone_by_level)}")
    _show_texts(seen)
    for record in release.decisions:
        if isinstance(record, CorrectionRecord):
            out(f"values corrected: {record.changed_values:,}, because: {record.reason}")
    _note_missing_weeks(release, args.store)
    _note_few_weeks(release)
    if seen.refusal:
        raise seen.refusal
    return 0


def _show_texts(seen: "Preview") -> None:
    """Show the operator every text that nobody has seen yet, so that it can be put on the blocklist in time."""
    lines = seen.release.top_searches
    if lines is None:
        return
    out(f"top searches: {lines.rank.size:,} lines; of published weeks, {seen.found.lines:,} change, appear or vanish")
    out(f"texts that were not shown before: {len(seen.new_texts):,}")
    for text in seen.new_texts:
        out(f"  {text}")


def _scaling_lines(seen: "Preview") -> Iterator[str]:
    """Yield a line for each factor: for which trend and weeks it is, and what fixed it or would fix it."""
    for scale in seen.release.scales:
        weeks = f" for {span(scale.weeks)}" if len(seen.release.scales) > 1 else ""
        for record in scale.records:
            by = f"{record.weeks} weeks, {record.first_week} to {record.last_week}"
            if record.weeks == 1:
                by = f"1 week, {record.first_week}"
            fixed = "would be fixed for good by" if seen.would_fix(record) else f"fixed on {record.fixed_at[:10]} by"
            trend = f" of {record.trend}" if record.trend else ""
            yield f"scaling factor{trend}{weeks}: {record.factor:.6g}, {fixed} {by}"


def _note_few_weeks(release: "Release") -> None:
    """Warn of a scale that so few weeks set that the first of them may happen to be its maximum."""
    from search_insights.store.ledger import ScalingRecord
    from search_insights.trends.scaling import few_weeks

    new = [record for record in release.decisions if isinstance(record, ScalingRecord)]
    if words := few_weeks(release.trends, new):
        note(words)


def _sparsity_lines(seen: "Preview") -> list[str]:
    """Return a line for each edition that brings regions of its own."""
    judgements = seen.release.judgements
    if len(judgements) == 1:
        return [f"sparse regions: {_judged(seen, judgements[0])}"]
    return [f"sparse regions of edition {judgement.edition}: {_judged(seen, judgement)}" for judgement in judgements]


def _judged(seen: "Preview", judgement: "Judgement") -> str:
    record, window = seen.release.record_of(judgement), judgement.window
    if record is None:
        why = f"missing: {_spans(window.missing)}" if window.missing else "too many weeks of the window are lost"
        return f"not decided, none removed; {why}"
    fixed = "would be fixed for good by" if seen.would_fix(record) else f"fixed on {record.fixed_at[:10]} by"
    lost = f", without the lost {_spans(window.lost)}" if window.lost else ""
    by = f"{_spans(window.judged)}{lost}"
    return (
        f"{len(record.removed):,} removed ({_by_level(seen.sparse_by_level(judgement))}), {fixed} {by}; "
        f"published until then: {len(record.withdrawn):,}"
    )


def _by_level(numbers: dict[str, int]) -> str:
    return ", ".join(f"{level} {number:,}" for level, number in numbers.items()) or "none"
