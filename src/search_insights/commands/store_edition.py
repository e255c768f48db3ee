"""Record a change of spec or geography in a store, or list the editions that it has."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from search_insights.commands.console import note, out, span
from search_insights.commands.options import parse_day
from search_insights.errors import UsageError

if TYPE_CHECKING:
    from search_insights.spec.coverage import Coverage
    from search_insights.store.editions import Edition
    from search_insights.store.recording import Plan
    from search_insights.store.store import Store

_CHANGING = ("from_week", "reason", "crosswalk", "new_scale", "dry_run")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `store edition`."""
    parser.add_argument("--store", metavar="FILE", type=Path, required=True, help="the store")
    parser.add_argument("--spec", metavar="FILE", help="the new spec (default: the store's own)")
    parser.add_argument("--geography", metavar="FILE", help="the new table of regions (default: the store's own)")
    parser.add_argument(
        "--from", metavar="DAY", dest="from_week", help="the first day of the first week that is counted so"
    )
    parser.add_argument("--reason", metavar="TEXT", help="why; the reason is published")
    parser.add_argument(
        "--crosswalk", metavar="FILE", type=Path, help="a table of place_id and succeeded_by, for regions that end"
    )
    parser.add_argument(
        "--new-scale", action="store_true", help="fix the scale anew from the new edition on (default: it goes on)"
    )
    parser.add_argument("--dry-run", action="store_true", help="show what differs and what it means; record nothing")
    parser.add_argument("--withdraw", action="store_true", help="withdraw the last edition, while it has no week")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """List the editions, withdraw the last, or record a change."""
    if args.withdraw:
        _refuse_with(args, "--withdraw", ("spec", "geography", *_CHANGING))
        return _withdraw(args)
    if args.spec is None and args.geography is None:
        _refuse_with(args, "without --spec or --geography nothing changes;", _CHANGING)
        return _list(args)
    return _record(args)


def _refuse_with(args: argparse.Namespace, why: str, names: tuple[str, ...]) -> None:
    options = {"from_week": "--from"}
    for name in names:
        if getattr(args, name):
            raise UsageError(f"{why} leave {options.get(name, '--' + name.replace('_', '-'))} out")


def _record(args: argparse.Namespace) -> int:
    from search_insights.dataset.folder import published_weeks_of
    from search_insights.dp.accounting import require_promise
    from search_insights.store.older_copy import refuse_older_copy
    from search_insights.store.opening import open_store
    from search_insights.store.recording import plan_change, record_change

    if not args.reason:
        raise UsageError("--reason: say briefly why the spec or geography changes; the reason is published")
    with open_store(args.store) as store:
        coverage = _coverage(args, store)
        require_promise(coverage.spec)
        refuse_older_copy(store, published_weeks_of)
        plan = plan_change(
            store,
            coverage,
            args.reason,
            from_week=parse_day(args.from_week, "--from") if args.from_week else None,
            crosswalk=_crosswalk(args, store, coverage),
            new_scale=args.new_scale,
        )
    if not args.dry_run:
        record_change(args.store, plan)
    _show(args, plan)
    return 0


def _coverage(args: argparse.Namespace, store: "Store") -> "Coverage":
    from search_insights.spec.coverage import Coverage
    from search_insights.spec.geography import load_geography
    from search_insights.spec.spec_file import load_spec

    present = store.editions[-1].counted
    spec = present.spec if args.spec is None else load_spec(args.spec)
    return Coverage(spec, present.geography if args.geography is None else load_geography(args.geography))


def _crosswalk(args: argparse.Namespace, store: "Store", coverage: "Coverage") -> dict[str, list[str]] | None:
    from search_insights.spec.crosswalk import read_crosswalk

    return read_crosswalk(args.crosswalk, store.editions[-1].counted, coverage) if args.crosswalk else None


def _show(args: argparse.Namespace, plan: "Plan") -> None:
    """Print what differs, of which kind, what it means for readers, and whether it was recorded."""
    from search_insights.spec.changes import MEANING

    if args.json:
        recorded = {"recorded": not args.dry_run, "edition": plan.edition, "change": asdict(plan.change)}
        shown = {**recorded, "differences": [asdict(d) for d in plan.found], "ended": plan.ended}
        out(json.dumps(shown, indent=2, default=str))
        return
    for difference in plan.found:
        change = f"{difference.old} -> {difference.new or 'nothing'}" if difference.old else difference.new
        out(f"{difference.kind:<11} {difference.key}: {change}")
    for kind in dict.fromkeys(difference.kind for difference in plan.found):
        out(f"{kind}: {MEANING[kind]}")
    if plan.ended:
        note(f"{len(plan.ended):,} regions end and nothing says which succeed them; give --crosswalk if others do")
    if plan.shared:
        note(
            f"week {plan.change.from_week} shares hours with week {plan.shared}, so it can never be counted; declare "
            "it lost with 'search-insights store lose', and go on with the week after it"
        )
    what = "a change of " + plan.change.kind
    if plan.change.kind == "counting":
        what = f"edition {plan.edition}, from week {plan.change.from_week} on"
        scale = "goes on" if plan.change.keeps_scale else "is fixed anew by the next release"
        out(f"the scale of published values {scale}")
    out(f"{args.store}: {what}, {'could be recorded (dry run: it was not)' if args.dry_run else 'is recorded'}")


def _withdraw(args: argparse.Namespace) -> int:
    from search_insights.store.recording import withdraw_edition

    first, *others = withdraw_edition(args.store)
    out(f"{args.store}: the edition from week {first.from_week} on is withdrawn ({first.reason})")
    for change in others:
        note(f"a change of {change.kind} since then is withdrawn too: {change.reason}")
    return 0


def _list(args: argparse.Namespace) -> int:
    from search_insights.store.opening import open_store

    with open_store(args.store) as store:
        editions, weeks = store.editions, [entry.week for entry in store.entries()]
        of_editions = [[w for w in weeks if store.edition_of(w) is edition] for edition in editions]
    if args.json:
        rows = [_as_json(edition, own) for edition, own in zip(editions, of_editions, strict=True)]
        out(json.dumps(rows, indent=2, default=str))
        return 0
    for edition, own in zip(editions, of_editions, strict=True):
        first = f"from week {edition.first_week} on" if edition.first_week else "from the beginning"
        held = span(own) if own else "no week yet"
        out(f"edition {edition.number}: {first}; {held}; spec {edition.counted.spec.name}")
        for change in edition.changes:
            if change.reason:
                out(f"  {change.recorded_at} {change.kind}: {change.reason}")
    return 0


def _as_json(edition: "Edition", weeks: Sequence[object]) -> dict[str, object]:
    return {
        "edition": edition.number,
        "first_week": edition.first_week,
        "spec": edition.counted.spec.name,
        "weeks": weeks,
        "changes": [asdict(change) for change in edition.changes],
    }
