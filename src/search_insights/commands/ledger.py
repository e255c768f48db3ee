"""Show what was spent on which week, when, and under which spec."""

import argparse
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from search_insights.commands.console import out, out_json, table
from search_insights.commands.options import add_json
from search_insights.errors import StoreError
from search_insights.spec.weeks import DAYS_OF_WEEK

if TYPE_CHECKING:
    from search_insights.spec.coverage import Coverage
    from search_insights.store.ledger import LedgerEntry, LostWeek
    from search_insights.store.store import Store

HELP = "show what was spent on which week"
_NO_REASON = "no reason was given; give one with 'search-insights store lose'"
EXAMPLE = "search-insights ledger --store releases.db\nsearch-insights ledger --store releases.db --verify --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("--store", metavar="FILE", type=Path, required=True, help="the store")
    parser.add_argument("--verify", action="store_true", help="check the whole store; exit code 1 if anything is wrong")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the ledger, and what its weeks add up to for a user who was active on every day."""
    from search_insights.dp.accounting import delta_of_days, epsilon_of_days
    from search_insights.store.opening import open_store

    with open_store(args.store) as store:
        entries, lost, spec = store.entries(), _lost(store), store.coverage.spec
        wrong = _problems(store) if args.verify else []
    days = DAYS_OF_WEEK * len(entries)
    all_days, delta = epsilon_of_days(spec, days), delta_of_days(spec, days)
    if args.json:
        weeks = [asdict(entry) | {"week": entry.week.isoformat()} for entry in entries]
        summary = {"days": days, "epsilon": all_days, "delta": delta}
        answer = {"spec": spec.name, "weeks": weeks, "not_promised": {"user_active_on_all_days": summary}}
        answer["lost"] = [asdict(week) | {"week": week.week.isoformat()} for week in lost]
        out_json(answer | ({"verified": not wrong, "problems": wrong} if args.verify else {}))
        return int(bool(wrong))
    _print(store.coverage, entries)
    for week in lost:
        when = f" (declared on {week.recorded_at})" if week.recorded_at else ""
        out(f"week {week.week} is lost{when}: {week.reason or _NO_REASON}")
    out(f"\nNot promised: a user active on all {days} days has epsilon {all_days:.2f} at delta {delta:.4g}.")
    if args.verify:
        _show_verification(len(entries), wrong)
    return int(bool(wrong))


def _lost(store: "Store") -> "list[LostWeek]":
    """Return the weeks that were declared lost, and those that only the journal has as lost: a restore found them."""
    from search_insights.store.journal import read_journal

    declared, held = {week.week: week for week in store.lost()}, {entry.week for entry in store.entries()}
    found: dict[date, LostWeek] = {}
    with suppress(StoreError):  # a journal that cannot be read is a matter of --verify
        found = {day: week for day, week in read_journal(store.path).lost.items() if day not in held}
    return sorted({**found, **declared}.values(), key=lambda week: week.week)


def _print(coverage: "Coverage", entries: "list[LedgerEntry]") -> None:
    spec = coverage.spec
    rows = [
        (
            e.week.isoformat(),
            f"{e.epsilon:g}",
            f"{e.delta:g}",
            e.committed_at,
            f"{e.cells:,}",
            e.engine,
            e.program,
            e.checksum[:12],
        )
        for e in entries
    ]
    header = ("week", "epsilon", "delta", "committed", "cells", "engine", "program", "checksum")
    out(f"Spec {spec.name} ({spec.fingerprint[:12]}), geography {coverage.geography.source}.")
    mechanisms = ", ".join(dict.fromkeys(e.mechanism for e in entries))
    out(f"Noise: {mechanisms}. Epsilon and delta hold for each user-day; weeks share no user-day.\n")
    out(table(header, rows, right=(1, 2, 4)))
    for entry in entries:
        if entry.missing_days:
            out(f"week {entry.week}: declared to have no events on {entry.missing_days.replace(' ', ', ')}")
    _print_spans(entries, lambda e: f"queries classified by model {e.classifier[:12]}" if e.classifier else "")
    _print_spans(entries, lambda e: f"times read as {e.reading}; zone data {e.zone_data or 'of an unknown version'}")


def _print_spans(entries: "list[LedgerEntry]", words: "Callable[[LedgerEntry], str]") -> None:
    """Print what is said of weeks, once for all weeks of which it is said."""
    for line in dict.fromkeys(filter(None, map(words, entries))):
        named = [e.week.isoformat() for e in entries if words(e) == line]
        span = named[0] if len(named) == 1 else f"{named[0]} to {named[-1]} ({len(named)} weeks)"
        out(f"{line}: {span}")


def _problems(store: "Store") -> list[str]:
    from search_insights.store.verification import problems
    from search_insights.trends.scaling import scale_problems

    return problems(store, scale_problems)


def _show_verification(weeks: int, wrong: list[str]) -> None:
    if not wrong:
        out(f"\nVerified: the counts of all {weeks} weeks are those that were committed, and every record agrees.")
        return
    out("\nNOT INTACT; restore a backup with 'search-insights store restore':")
    for line in wrong:
        out(f"  {line}")
