"""Recording a change of spec or geography: what it means is worked out first, then it is written, whole or not at all.

Weeks that are in the store stay what they are. So a new counting begins after the last of them. In another time zone,
or from another weekday on, its first week may share hours with the last one before; that week can then never be
counted, because no instant belongs to two weeks, and has to be declared lost.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from search_insights.errors import InputError, SearchInsightsError, StoreError
from search_insights.spec.changes import Difference, differences, kind_of
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Spec
from search_insights.spec.weeks import week_of
from search_insights.store.coverages import add_change, fingerprints_of
from search_insights.store.editions import Change, editions_of
from search_insights.store.file_errors import explained
from search_insights.store.identity import mark_of
from search_insights.store.journal import behind, journal_path, read_journal, remember
from search_insights.store.ledger import checked_reason
from search_insights.store.opening import open_store
from search_insights.store.store import Store, transaction


@dataclass(frozen=True, slots=True)
class Plan:
    """A change that can be recorded: what differs, and the number of its edition.

    `ended` are regions that the new geography no longer has and that no other succeeds. `shared` is the counted week
    with which the first week of the edition shares instants, if any.
    """

    change: Change
    coverage: Coverage
    found: tuple[Difference, ...]
    edition: int
    ended: tuple[str, ...]
    shared: date | None = None


def plan_change(
    store: Store,
    coverage: Coverage,
    reason: str,
    *,
    from_week: date | None = None,
    crosswalk: Mapping[str, Sequence[str]] | None = None,
    new_scale: bool = False,
) -> Plan:
    """Work out what a change would be; refuse one that cannot be recorded. Nothing is written."""
    present, changes = store.editions[-1], store.changes()
    found = differences(present.counted, coverage)
    if not found:
        raise InputError(f"{store.path}: its spec and geography are these already; there is nothing to record")
    _require_same_country(store, coverage)
    kind = kind_of(found)
    if kind == "counting":
        _require_free(store, coverage, from_week)
    elif from_week or crosswalk or new_scale:
        which = "`from_week`" if from_week else "`crosswalk`" if crosswalk else "`new_scale`"
        raise InputError(
            f"{which}: what differs is {kind} ({found[0].key}), which applies to all weeks, so leave it out"
        )
    change = Change(
        number=changes[-1].number + 1,
        kind=kind,
        from_week=from_week,
        spec=coverage.spec.fingerprint,
        geography=coverage.geography.fingerprint,
        reason=checked_reason(reason, "reason", "the spec or geography changes"),
        recorded_at=datetime.now(UTC).date().isoformat(),
        crosswalk=json.dumps(crosswalk or {}, sort_keys=True),
        keeps_scale=not new_scale,
    )
    _require_fit(store, [*changes, change], coverage)
    after = coverage.geography.by_place_id
    ended = [p for p in present.counted.geography.by_place_id if p not in after and p not in (crosswalk or {})]
    edition = len(store.editions) + (kind == "counting")
    return Plan(change, coverage, tuple(found), edition, tuple(ended), _shared(store, coverage, from_week))


def record_change(store_path: Path, plan: Plan) -> None:
    """Record a planned change in one transaction; refuse it if the store has moved on since it was planned."""
    with open_store(store_path, writable=True) as store, explained(store_path), transaction(store.connection):
        if store.changes()[-1].number + 1 != plan.change.number:
            raise StoreError(f"{store_path}: another change was recorded meanwhile; run again to see it")
        if plan.change.from_week is not None:
            _require_free(store, plan.coverage, plan.change.from_week)
        add_change(store.connection, plan.change, plan.coverage, plan.edition)
    # The journal knows the release by all its names, so that a second store is recognised by any.
    remember(store_path, (), mark=mark_of(store.identity, plan.coverage))


def withdraw_edition(store_path: Path) -> tuple[Change, ...]:
    """Remove the last edition, which must have no week, and the changes of words and derivation since; return them."""
    with open_store(store_path, writable=True) as store:
        edition = store.editions[-1]
        begins = edition.first_week
        if begins is None:
            raise InputError(f"{store_path}: has one edition, the first; it cannot be withdrawn")
        later = [entry.week for entry in store.entries() if entry.week >= begins]
        known = [week for week in read_journal(store.path).weeks if week >= begins]
        for week in later or known:
            raise InputError(
                f"{store_path}: week {week} was counted under edition {edition.number}, so it stays; record another "
                "edition from a later week on"
            )
        with explained(store_path), transaction(store.connection):
            run = store.connection.execute
            run("DELETE FROM changes WHERE number >= ?", [edition.changes[0].number])
            run("DELETE FROM cells WHERE edition = ?", [edition.number])
            run("DELETE FROM scaling WHERE change >= ?", [edition.changes[0].number])
            run("DELETE FROM sparsity WHERE change >= ?", [edition.changes[0].number])
            run("DELETE FROM specs WHERE fingerprint NOT IN (SELECT spec FROM changes)")
            run("DELETE FROM geographies WHERE fingerprint NOT IN (SELECT geography FROM changes)")
            run("DELETE FROM regions WHERE geography NOT IN (SELECT geography FROM changes)")
        return edition.changes


def _require_same_country(store: Store, coverage: Coverage) -> None:
    """Refuse another country: its dataset is another one."""
    old, new = store.coverage.geography.country, coverage.geography.country
    if old.place_id != new.place_id:
        raise InputError(
            f"{store.path}: is of {old.name} ({old.place_id}), the new geography of {new.name} ({new.place_id}); make "
            "a new store for it"
        )


def _require_free(store: Store, coverage: Coverage, from_week: date | None) -> None:
    """Refuse a first week from which on something is counted or published already, or that shares instants with it."""
    if from_week is None:
        raise InputError("`from_week`: what is counted differs, so say from which week on: its first day")
    try:
        week_of(coverage.spec, from_week)
    except InputError as error:
        raise InputError(f"`from_week`: {error}") from None
    present = store.editions[-1]
    if present.first_week is not None and from_week <= present.first_week:
        raise InputError(
            f"`from_week`: edition {present.number} begins with week {present.first_week}; begin after it, or withdraw "
            "that edition"
        )
    finals = {entry.week: entry.final for entry in store.entries()}
    for week, final in read_journal(store.path).weeks.items():
        if week not in finals and week not in read_journal(store.path).lost:
            raise behind(store.path, week, journal_path(store.path))
        finals.setdefault(week, final)
    for lost in store.lost():
        if lost.week >= from_week:
            raise InputError(f"`from_week`: week {lost.week} was declared lost already; begin after it")
    for week in sorted(finals, reverse=True):
        if week >= from_week:
            raise InputError(f"`from_week`: week {week} was counted already, and stays as it is; begin after it")


def _shared(store: Store, coverage: Coverage, from_week: date | None) -> date | None:
    """Return the week of the store that shares instants with the first week of a new edition."""
    if from_week is None:
        return None
    begins = week_of(coverage.spec, from_week)
    return next((entry.week for entry in store.entries() if entry.final.overlaps(begins)), None)


def _require_fit(store: Store, changes: Sequence[Change], coverage: Coverage) -> None:
    """Refuse a change whose words or rules cannot be applied to the weeks of earlier editions."""
    known = {fingerprints: edition.counted for edition in store.editions for fingerprints in edition.fingerprints}
    known[fingerprints_of(coverage)] = coverage
    try:
        editions = editions_of(changes, lambda spec, geography: known[spec, geography])
    except SearchInsightsError as error:
        raise InputError(f"{store.path}: cannot be applied to earlier weeks: {error}") from None
    _require_own_names([edition.coverage.spec for edition in (*store.editions, *editions)])


def _require_own_names(specs: Sequence[Spec]) -> None:
    """Refuse a trend with the name or the column that another one has or had: readers would mix them up."""
    for field in ("name", "column"):
        owners: dict[str, str] = {}
        for spec in specs:
            for trend in spec.trends:
                word = str(getattr(trend, field))
                if owners.setdefault(word, trend.id) != trend.id:
                    raise InputError(
                        f"`spec`: trend {trend.id!r} has the {field} {word!r} of trend {owners[word]!r}, which is or "
                        f"was in the dataset; give it a {field} of its own"
                    )
