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
    from search_insights.spec.spec import Spec
    from search_insights.store.ledger import LedgerEntry, LostWeek
    from search_insights.store.opening import StoredLedger

_NO_REASON = "no reason was given; give one with 'search-insights store lose'"
EXAMPLE = "search-insights ledger --store releases.db\nsearch-insights ledger --store releases.db --verify --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("--store", metavar="FILE", type=Path, required=True, help="the store")
    parser.add_argument("--verify", action="store_true", help="check the whole store; exit code 1 if anything is wrong")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the ledger, and what its weeks add up to for a user who was active on every day."""
    from search_insights.dp.accounting import delta_of_weeks, epsilon_of_weeks
    from search_insights.store.opening import read_ledger

    ledger = read_ledger(args.store)
    entries, lost = ledger.entries, _lost(args.store, ledger)
    spec, *others = _specs(ledger)
    wrong = _problems(args.store) if args.verify else []
    days = DAYS_OF_WEEK * len(entries)
    all_days, delta = epsilon_of_weeks(spec, len(entries), others), delta_of_weeks(spec, len(entries), others)
    if args.json:
        weeks = [asdict(entry) | {"week": entry.week.isoformat()} for entry in entries]
        summary = {"days": days, "epsilon": all_days, "delta": delta}
        answer = {"spec": spec.name, "weeks": weeks, "not_promised": {"user_active_on_all_days": summary}}
        answer["lost"] = [asdict(week) | {"week": week.week.isoformat()} for week in lost]
        out_json(answer | ({"verified": not wrong, "problems": wrong} if args.verify else {}))
        return int(bool(wrong))
    _print(ledger)
    for week in lost:
        when = f" (declared on {week.recorded_at})" if week.recorded_at else ""
        out(f"week {week.week} is lost{when}: {week.reason or _NO_REASON}")
    out(f"\nNot promised: a user active on all {days} days has epsilon {all_days:.2f} at delta {delta:.4g}.")
    if args.verify:
        _show_verification(len(entries), wrong)
    return int(bool(wrong))


def _specs(ledger: "StoredLedger") -> "list[Spec]":
    """Return the specs that weeks were counted under, the present one first; --verify tells if an entry has another."""
    used = dict.fromkeys(entry.spec for entry in reversed(ledger.entries))
    return [ledger.specs[name] for name in used if name in ledger.specs] or list(ledger.specs.values())[-1:]


def _lost(path: Path, ledger: "StoredLedger") -> "list[LostWeek]":
    """Return the weeks that were declared lost, and those that only the journal has as lost: a restore found them."""
    from search_insights.store.journal import read_journal

    declared, held = {week.week: week for week in ledger.lost}, {entry.week for entry in ledger.entries}
    found: dict[date, LostWeek] = {}
    with suppress(StoreError):  # a journal that cannot be read is a matter of --verify
        found = {day: week for day, week in read_journal(path).lost.items() if day not in held}
    return sorted({**found, **declared}.values(), key=lambda week: week.week)


def _print(ledger: "StoredLedger") -> None:
    entries = ledger.entries
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
    out(_counted_under(ledger))
    mechanisms = ", ".join(dict.fromkeys(e.mechanism for e in entries))
    out(f"Noise: {mechanisms}. Epsilon and delta hold for each user-day; weeks share no user-day.\n")
    out(table(header, rows, right=(1, 2, 4)))
    for entry in entries:
        if entry.missing_days:
            out(f"week {entry.week}: declared to have no events on {entry.missing_days.replace(' ', ', ')}")
    _print_spans(entries, lambda e: f"queries classified by model {e.classifier[:12]}" if e.classifier else "")
    _print_spans(entries, lambda e: f"times read as {e.reading}; zone data {e.zone_data or 'of an unknown version'}")


def _counted_under(ledger: "StoredLedger") -> str:
    """Return which spec and geography the weeks were counted under: a sentence, or one for each that differs."""
    groups: dict[tuple[str, str], list[str]] = {}
    for entry in ledger.entries:
        groups.setdefault((entry.spec, entry.geography), []).append(entry.week.isoformat())
    sentences = []
    for (spec, geography), weeks in groups.items():
        from_week = f"From week {weeks[0]}: spec" if len(groups) > 1 else "Spec"
        name = ledger.specs[spec].name if spec in ledger.specs else "unknown"
        source = ledger.sources.get(geography, "unknown")
        sentences.append(f"{from_week} {name} ({spec[:12]}), geography {source}.")
    return "\n".join(sentences)


def _print_spans(entries: "list[LedgerEntry]", words: "Callable[[LedgerEntry], str]") -> None:
    """Print what is said of weeks, once for all weeks of which it is said."""
    for line in dict.fromkeys(filter(None, map(words, entries))):
        named = [e.week.isoformat() for e in entries if words(e) == line]
        span = named[0] if len(named) == 1 else f"{named[0]} to {named[-1]} ({len(named)} weeks)"
        out(f"{line}: {span}")


def _problems(path: Path) -> list[str]:
    from search_insights.store.opening import open_store
    from search_insights.store.verification import problems
    from search_insights.trends.scaling import scale_problems

    with open_store(path) as store:
        return problems(store, scale_problems)


def _show_verification(weeks: int, wrong: list[str]) -> None:
    if not wrong:
        out(f"\nVerified: the counts of all {weeks} weeks are those that were committed, and every record agrees.")
        return
    out("\nNOT INTACT; restore a backup with 'search-insights store restore':")
    for line in wrong:
        out(f"  {line}")
