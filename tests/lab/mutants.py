"""Broken variants of the program, each with one rule of privacy left out, and the tests that must catch it.

`tests/test_mutants.py` runs those tests against each variant and requires that they fail; docs/privacy.md lists them.
A variant is put in place in a process of its own, named by the environment variable SEARCH_INSIGHTS_MUTANT.
"""

import inspect
import sys
import textwrap
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from search_insights import anonymization
from search_insights.dp import noise
from search_insights.dp.top_searches import noisy_top_searches
from search_insights.private import bounding, counting, duckdb_engine
from search_insights.private import top_searches as texts
from search_insights.private.counting import WeekCounts, add_contributions, count_week
from search_insights.private.duckdb_engine import DuckDbEngine
from search_insights.private.engine import Contributions
from search_insights.spec.measures import measure_values
from search_insights.spec.spec import WEEKDAYS, Spec
from search_insights.spec.spec_file import load_spec
from search_insights.spec.weeks import Week
from search_insights.store.store import Store
from search_insights.support.arrays import Counts, Floats
from search_insights.trends import derive
from search_insights.trends.reconciliation import reconciled
from tests.support.other_country import audited_spec, other_spec, plain_spec

Patch = pytest.MonkeyPatch
VARIABLE = "SEARCH_INSIGHTS_MUTANT"


@dataclass(frozen=True)
class Mutant:
    """A way to break the program, and what catches it."""

    words: str
    put_in: Callable[[Patch], None]
    caught_by: tuple[str, ...]


def everywhere(monkeypatch: Patch, function: Callable[..., Any], instead: Callable[..., Any]) -> None:
    """Replace a function in every module that has taken it by name: of the program, and of tests that call it."""
    name = function.__name__
    tests = ("support.bounded", "dp.test_noise", "dp.test_top_searches", "trends.test_reconciliation")
    callers = ("search_insights", *(f"tests.{module}" for module in tests))
    for module in [module for path, module in sys.modules.items() if path.startswith(callers)]:
        if getattr(module, name, None) is function:
            monkeypatch.setattr(module, name, instead)


def _sql(monkeypatch: Patch, rule: str, instead: str, spec: str = "vaccination-v1") -> None:
    """Change a rule in the file by which a spec and all of its kind are bounded."""
    given, changed = bounding.bounding_statements, load_spec(spec)
    if not any(rule in statement for statement in given(changed)):
        raise ValueError(f"the bounding of {spec} no longer says {rule!r}")

    def statements(spec: Spec) -> list[str]:
        same_kind = spec.has_one_place == changed.has_one_place
        return [s.replace(rule, instead) if same_kind else s for s in given(spec)]

    everywhere(monkeypatch, given, statements)


def _code(function: Callable[..., Any], *changes: tuple[str, str]) -> Callable[..., Any]:
    """Return a function with rules in its source changed."""
    source = textwrap.dedent(inspect.getsource(function))
    for rule, instead in changes:
        if rule not in source:
            raise ValueError(f"{function.__name__} no longer says {rule!r}")
        source = source.replace(rule, instead)
    defined: dict[str, Any] = {}
    exec(source, function.__globals__, defined)
    changed: Callable[..., Any] = defined[function.__name__]
    return changed


def _place_per_level(monkeypatch: Patch) -> None:
    """The open levels count in the place of the largest draw, the others in that of the smallest."""
    _sql(monkeypatch, "min(draw) AS draw", "min(draw) AS draw, max(draw) AS open_draw", "vaccination-v2")
    both = (
        ("topics, draw & {bits} AS bits", "topics, open_draw & {bits} AS bits, draw & {bits} AS classed_bits"),
        ("-1 AS classed", "classed_bits >> {CLASS_BITS} AS classed"),
    )
    everywhere(monkeypatch, bounding.sums_query, _code(bounding.sums_query, *both))
    one = "cells.first_cells(_regions(spec.level_names, names, found.open_places)).values()"
    places = "found.open_places if level in spec.open_levels else found.classed_places"
    several = f"[cells.first_cells(_regions(spec.level_names, names, {places}))[level] for level in spec.level_names]"
    monkeypatch.setattr(counting, "_add_in_one_place", _code(counting._add_in_one_place, (one, several)))


def _sign_of_2(monkeypatch: Patch) -> None:
    rule, instead = "positive - (1 - positive) * has_any(measure.against)", "2 * positive - has_any(measure.against)"
    everywhere(monkeypatch, measure_values, _code(measure_values, (rule, instead)))


def _rests_without_noise(monkeypatch: Patch) -> None:
    bare = "noisy[len(self.cells.regions) * len(self.cells.coverage.spec.measures):]"
    commit = "self.store.commit_week("
    left = f"{bare} = {bare.replace('noisy', 'found.counts')}; {commit}"
    monkeypatch.setattr(anonymization._Run, "week", _code(anonymization._Run.week, (commit, left)))


def _variance_without_parent(monkeypatch: Patch) -> None:
    everywhere(monkeypatch, reconciled, _code(reconciled, ("(spread[parents] - b[parents])", "spread[parents]")))


def _texts_sql(rule: str, instead: str) -> Callable[[Patch], None]:
    """Change a rule of how texts are counted."""

    def put_in(monkeypatch: Patch) -> None:
        given = texts._sql()
        if rule not in given:
            raise ValueError(f"top_searches.sql no longer says {rule!r}")
        monkeypatch.setattr(texts, "_sql", lambda: given.replace(rule, instead))

    return put_in


def _shown_texts(rule: str, instead: str) -> Callable[[Patch], None]:
    """Change a rule of which texts are shown, with which noise."""
    return lambda monkeypatch: everywhere(monkeypatch, noisy_top_searches, _code(noisy_top_searches, (rule, instead)))


def _x4_dropped(monkeypatch: Patch) -> None:
    _sql(
        monkeypatch,
        "min(t.draw) FILTER (WHERE t.class = c.class) AS classed_draw",
        "min(t.draw) FILTER (WHERE t.class > 0) AS classed_draw",
    )


def _x4_dropped_at_the_finest_level(monkeypatch: Patch) -> None:
    _sql(monkeypatch, "(draw & 15) > 0 AND (draw & 15) = (finest_draw & 15)", "(draw & 15) > 0")


def _x1_dropped(monkeypatch: Patch) -> None:
    _sql(monkeypatch, "FROM events\nGROUP BY user_id", "FROM events\nGROUP BY user_id, draw")


def _x3_dropped(monkeypatch: Patch) -> None:
    def groups(spec: Spec) -> tuple[tuple[str, str | None], ...]:
        classed = spec.classed_levels
        return tuple(
            (level, c) for level in spec.level_names for c in (spec.class_names if level in classed else (None,))
        )

    def sigma(spec: Spec, level: str, size_class: str | None, category: str) -> float:
        here = [s.value for s in spec.sigmas if s.level == level and s.category == category]
        exact = [s.value for s in spec.sigmas if (s.level, s.size_class, s.category) == (level, size_class, category)]
        return (exact or here)[0]

    monkeypatch.setattr(Spec, "_wrong_sigmas", lambda spec: iter(()))
    monkeypatch.setattr(Spec, "reported_groups", property(groups))
    monkeypatch.setattr(Spec, "sigma", sigma)


def _x1_per_week(monkeypatch: Patch) -> None:
    bound = DuckDbEngine.bound

    def whole_week(engine: DuckDbEngine, day: Any, begin: Any, end: Any, vocabulary: Any = None) -> Contributions:
        week = Week(day, engine.spec.time_zone)
        found = bound(
            engine,
            day,
            *((begin, week.end) if WEEKDAYS[day.weekday()] == engine.spec.first_day_of_week else (begin, begin)),
        )
        return replace(found, events=max(1, found.events))

    monkeypatch.setattr(DuckDbEngine, "bound", whole_week)


def _unused_rows_bounded(monkeypatch: Patch) -> None:
    view, rule = bounding.EVENTS_VIEW, "WHERE category >= 0"
    if rule not in view:
        raise ValueError(f"the view of events does not say: {rule}")
    monkeypatch.setattr(duckdb_engine, "EVENTS_VIEW", view.replace(rule, "WHERE true"))


def other_noise(instead: Callable[[Counts, Floats], Counts]) -> Callable[[Patch], None]:
    """Return what replaces the noise, also where it would be drawn before the counts are known: there it is not."""

    def put_in(monkeypatch: Patch) -> None:
        everywhere(monkeypatch, noise.add_noise, lambda counts, sigmas, drawn=None: instead(counts, sigmas))
        monkeypatch.setattr(anonymization, "drawing_noise", lambda sigmas: nullcontext())

    return put_in


_add_noise = noise.add_noise


# The sigmas of the coarsest level of every release that the tests speak of.
_SPECS = (load_spec(), plain_spec(), audited_spec(), other_spec())
_COARSEST = [s.value for spec in _SPECS for s in spec.sigmas if s.level == spec.level_names[0]]


def _floats(counts: Counts, sigmas: Floats) -> Counts:
    noisy: Counts = counts + np.random.default_rng().normal(0, sigmas)  # type: ignore[assignment]
    return noisy


def _seeded(counts: Counts, sigmas: Floats) -> Counts:
    return counts + np.rint(np.random.default_rng(1).normal(0, sigmas)).astype(np.int64)


def _renoised(monkeypatch: Patch) -> None:
    commit = Store.commit_week

    def commit_again(store: Store, week: Week, noisy: Counts, entry: Any, model: Any = None) -> None:
        for table in ("counts", "ledger"):
            store.connection.execute(f"DELETE FROM {table} WHERE week = ?", [week.first_day])
        commit(store, week, noisy, entry, model)

    monkeypatch.setattr(Store, "holds", lambda store, week: False)
    monkeypatch.setattr(Store, "_overlaps", lambda store, week: False)
    monkeypatch.setattr(Store, "commit_week", commit_again)


def _twice(monkeypatch: Patch) -> None:
    def add(counts: Counts, cells: Any, names: Any, found: Contributions) -> None:
        add_contributions(counts, cells, names, replace(found, user_days=2 * found.user_days))

    everywhere(monkeypatch, add_contributions, add)


def _total_of_raw_counts(monkeypatch: Patch) -> None:
    """The exact counts are kept, and the total is noised from them instead of being summed from noisy states."""
    raw: list[Counts] = []

    def count_and_keep(*arguments: Any) -> WeekCounts:
        found = count_week(*arguments)
        raw.append(found.counts)
        return found

    with_total = derive.with_total

    def from_raw(cells: Any, counts: Any, variances: Any) -> Any:
        sums, summed = with_total(cells, counts, variances)
        exact = with_total(cells, raw[-1].reshape(counts[:1].shape), variances)[0][0, 0]
        sums[-1, 0] = _add_noise(exact.astype(np.int64), np.sqrt(summed[0]))
        return sums, summed

    everywhere(monkeypatch, count_week, count_and_keep)
    everywhere(monkeypatch, derive.with_total, from_raw)


def _one_small_sigma(counts: Counts, sigmas: Floats) -> Counts:
    return _add_noise(counts, np.where(sigmas == 3.21, 0.9, 1.0) * sigmas)


def _clipped(counts: Counts, sigmas: Floats) -> Counts:
    reach = np.floor(3.5 * sigmas).astype(np.int64)
    return np.clip(_add_noise(counts, sigmas), counts - reach, counts + reach)


_AUDIT = "tests/audit/test_audit.py::test_the_promise_is_not_broken_and_nearly_reached"
_RESTS = "tests/audit/test_audit.py::test_rest_cells_have_noise_like_all_others"
_BOUNDS = "tests/private/test_bounding.py::test_a_user_everywhere_at_once_counts_like_anyone[duckdb]"
_EDGE = "tests/dp/test_top_searches.py::test_a_new_text_at_the_edge_shows_as_often_as_its_tail_says"
_FLOOR = "tests/private/test_top_searches.py::test_a_text_below_the_floor_never_leaves_the_engine[4]"
_ATTACKS_ON_TEXTS = "tests/audit/test_text_attack.py::test_top_searches_are_attacked_and_nothing_is_broken"
_UNUSED = "tests/private/test_unused_rows.py::test_rows_that_are_not_used_change_no_count"
_SIGMAS = "tests/dp/test_noise.py::test_each_kind_of_cell_gets_the_sigma_of_the_spec"

MUTANTS = {
    "x1_dropped": Mutant("X1 dropped: a user-day counts for each of its searches", _x1_dropped, (_BOUNDS, _AUDIT)),
    "x1_per_week": Mutant("X1 applied per week instead of per day", _x1_per_week, (_AUDIT,)),
    "x3_dropped": Mutant(
        "X3 dropped: postal codes of small counties are counted",
        _x3_dropped,
        ("tests/spec/test_coverage.py::test_x3_postal_codes_of_small_counties_are_not_reported",),
    ),
    "x4_dropped": Mutant("X4 dropped: counts of several size classes", _x4_dropped, (_BOUNDS,)),
    "x4_dropped_at_the_finest_level": Mutant(
        "X4 dropped at the finest level: any search prefers a reported region of another size class",
        _x4_dropped_at_the_finest_level,
        (_BOUNDS,),
    ),
    "unused_rows_bounded": Mutant(
        "rows without a known region are bounded with the others",
        _unused_rows_bounded,
        tuple(f"{_UNUSED}[{case}]" for case in ("levels-vaccination-v1", "levels-vaccination-v2")),
    ),
    "sensitivity_2": Mutant("sensitivity 2: a user-day counts twice", _twice, (_BOUNDS, _AUDIT)),
    "small_sigma": Mutant(
        "a sigma 10 % too small, that of topics in small counties", other_noise(_one_small_sigma), (_SIGMAS,)
    ),
    "clipped_noise": Mutant(
        "noise without tails, clipped at 3.5 sigma",
        other_noise(_clipped),
        ("tests/dp/test_noise.py::test_the_tails_are_as_heavy_as_they_should_be",),
    ),
    "level_without_noise": Mutant(
        "one level without noise",
        other_noise(lambda counts, sigmas: np.where(np.isin(sigmas, _COARSEST), counts, _add_noise(counts, sigmas))),
        (_AUDIT,),
    ),
    "noise_on_non_empty": Mutant(
        "noise only on non-empty cells",
        other_noise(lambda counts, sigmas: np.where(counts == 0, 0, _add_noise(counts, sigmas))),
        (_AUDIT,),
    ),
    "seeded": Mutant(
        "a seeded generator", other_noise(_seeded), ("tests/dp/test_noise.py::test_no_two_draws_are_alike", _AUDIT)
    ),
    "float_noise": Mutant(
        "floating-point noise",
        other_noise(_floats),
        ("tests/dp/test_noise.py::test_noise_is_whole_numbers_added_to_the_count",),
    ),
    "renoised_week": Mutant(
        "a week that is run again gets new noise",
        _renoised,
        ("tests/test_anonymization.py::test_only_the_new_week_is_noised", _AUDIT),
    ),
    "raw_total": Mutant(
        "the country noised from raw counts instead of summed from noisy states",
        _total_of_raw_counts,
        ("tests/test_noninterference.py::test_the_dataset_depends_on_the_log_through_noisy_counts_only",),
    ),
    "place_per_level": Mutant(
        "a place for each level: open levels count in that of another search",
        _place_per_level,
        ("tests/private/test_one_place.py::test_a_topic_decides_the_place_and_every_level_follows_it",),
    ),
    "sign_of_2": Mutant(
        "a signed measure that can be 2",
        _sign_of_2,
        ("tests/spec/test_measures.py::test_a_user_day_adds_to_each_measure_what_the_table_says",),
    ),
    "rests_without_noise": Mutant("rest cells without noise", _rests_without_noise, (_RESTS,)),
    "threshold_off_by_one": Mutant(
        "top searches: a threshold off by one",
        _shown_texts("noisy >= top.total_threshold", "noisy >= top.total_threshold - 1"),
        (_EDGE,),
    ),
    "floor_ignored": Mutant(
        "top searches: the floor of users is ignored",
        _texts_sql("OR t.users >= (SELECT max(min_users) FROM text_floor)", "OR t.users >= 1"),
        (_FLOOR,),
    ),
    "user_days_of_texts": Mutant(
        "top searches: user-days are counted instead of users",
        _texts_sql("count(DISTINCT user_id) AS users", "count(user_id) AS users"),
        (_FLOOR, _ATTACKS_ON_TEXTS),
    ),
    "noise_on_non_empty_states": Mutant(
        "top searches: noise only where somebody searched for the text",
        _shown_texts(
            "add_noise(there, np.full(there.shape, top.region_sigma))",
            "np.where(there == 0, 0, add_noise(there, np.full(there.shape, top.region_sigma)))",
        ),
        ("tests/dp/test_top_searches.py::test_every_public_text_and_every_region_gets_noise", _ATTACKS_ON_TEXTS),
    ),
    "list_of_exact_counts": Mutant(
        "top searches: the public list is made from exact counts",
        _shown_texts("(noisy >= top.total_threshold)", "(exact.users >= top.total_threshold)"),
        (_EDGE,),
    ),
    "texts_of_every_search": Mutant(
        "top searches: a user-day counts in every text that it has",
        _texts_sql("GROUP BY user_id;", "GROUP BY user_id, text;"),
        ("tests/private/test_top_searches.py::test_a_user_day_counts_in_one_text",),
    ),
    "variance_without_parent": Mutant(
        "a reconciled variance that forgets the region above",
        _variance_without_parent,
        ("tests/trends/test_reconciliation.py::test_a_variance_takes_the_region_above_into_account",),
    ),
}
