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

HELP = "make the public dataset from the store"
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
        "--counts",
        action=argparse.BooleanOptionalAction,
        help="publish every noisy count with its sigma too, or no longer; costs no privacy, but shows how much is "
        "searched where, which may be your secret (default: as the folder has it, and not in a new one)",
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
    from search_insights.trends.release import OUTCOMES

    with Steps() as steps:
        published = publish(
            args.store,
            args.out,
            correction=args.correction,
            straddling=args.straddling,
            counts=args.counts,
            progress=steps.show,
        )
    outcomes = OUTCOMES if len(published.release.spans) > 1 else OUTCOMES[:-1]
    rows = [
        (row["level"], row["trend"], f"{row['regions_with_a_value']:,}", *(f"{row[outcome]:,}" for outcome in outcomes))
        for row in published.summary
    ]
    out(table(("level", "trend", "regions", *outcomes), rows, right=range(2, 3 + len(outcomes))))
    out(f"\n{published.csv}: {published.rows:,} rows, {span(published.release.trends.weeks)}")
    out(f"{args.out}: datapackage.json, PRIVACY.md, privacy.json, regions.csv, sparsity.json, summary.svg describe it")
    if published.counts:
        out(f"{published.counts}: every noisy count with its sigma")
    _note_missing_weeks(published.release, args.store)
    _note_few_weeks(published.release)
    return 0


def _note_missing_weeks(release: "Release", store: Path) -> None:
    """Tell the operator if sparse regions stay because of weeks that the series has left out."""
    window, rule = release.window, release.coverage.spec.sparsity
    if release.sparsity is not None:
        return
    if any(week < release.trends.weeks[-1] for week in window.missing):
        note(
            f"sparse regions are not removed before all weeks from {rule.first_week} to {rule.last_week} are in the "
            f"store; missing: {_spans(window.missing)}. Anonymize them, or declare a week that will never come lost: "
            f"search-insights store lose --store {quote(str(store))} --week {window.missing[0]} --reason TEXT"
        )
    elif window.lost and not window.missing:
        note(
            f"sparse regions are not removed: {len(window.judged)} of the weeks from {rule.first_week} to "
            f"{rule.last_week} are not lost, and a region can be judged only by more than {rule.max_points}"
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

    with Steps() as steps:
        steps.show("deriving the trends")
        seen = preview(args.store, args.out, correction=args.correction, straddling=args.straddling)
    release = seen.release
    out("Dry run: nothing was written.\n")
    for line in _scaling_lines(seen):
        out(line)
    out(_sparsity_line(seen))
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
    if seen.found.corrected and not seen.refusal:
        out(f"values corrected, with the reason that you give: {seen.found.corrected:,}")
    _note_missing_weeks(release, args.store)
    _note_few_weeks(release)
    if seen.refusal:
        raise seen.refusal
    return 0


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


def _sparsity_line(seen: "Preview") -> str:
    record, window = seen.release.sparsity, seen.release.window
    if record is None:
        why = f"missing: {_spans(window.missing)}" if window.missing else "too many weeks of the window are lost"
        return f"sparse regions: not decided, none removed; {why}"
    fixed = "would be fixed for good by" if seen.would_fix(record) else f"fixed on {record.fixed_at[:10]} by"
    lost = f", without the lost {_spans(window.lost)}" if window.lost else ""
    by = f"{_spans(window.judged)}{lost}"
    return (
        f"sparse regions: {len(record.removed):,} removed ({_by_level(seen.sparse_by_level)}), {fixed} {by}; "
        f"published until then: {len(record.withdrawn):,}"
    )


def _by_level(numbers: dict[str, int]) -> str:
    return ", ".join(f"{level} {number:,}" for level, number in numbers.items()) or "none"
