"""The attack of `random-specs`: random specs, geographies and user-days through the real bounding and the accounting.

For each spec a log is counted with and without one user's day, several times, by the engine that the program uses. The
difference of the exact counts must be what one case of the accounting allows for (X1 to X4): each (level, class,
category) of that case at most once, by 1. For every so many specs, epsilons are compared too: the noise of the cells
that changed must give no more than the accounting claims for a day, and that of all these days together no more than it
claims for so many days. This side of the comparison does not use the program's accounting: it composes the discrete
Gaussians of the cells with dp-accounting alone, rounded down, so what it finds is never above the true epsilon.

An attack that cannot succeed shows nothing, so the same attack is run on broken variants of the program, and must find
violations there.
"""

import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from tests.lab.mutants import MUTANTS
from tests.support.bounded import Bench, Event, bench
from tests.support.other_country import plain_spec

from search_insights.dp.accounting import account, cases, epsilon_of_weeks
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Region, build_geography
from search_insights.spec.measures import ONE_PLACE, Counting, Measure
from search_insights.spec.size_classes import SizeClass
from search_insights.spec.spec import Category, Level, Promise, Sigma, Spec, Total, Trend
from search_insights.support.arrays import Counts, Floats

USER = 1  # whose day is in one log and not in the other
OTHERS = range(2, 6)
USER_DAYS = 3  # of each spec
COMPARED = 16  # of so many specs, the epsilons of one are compared; they take most of the time
VARIANTS = ("x1_dropped", "x4_dropped", "sensitivity_2")
STEP = 1e-3  # of the grid on which losses are rounded down
HOUR = 3600


@dataclass
class Attack:
    """What was tried, and what did not hold."""

    seed: int
    specs: int = 0
    user_days: int = 0
    changed: int = 0
    compared: int = 0
    reached: float = 0.0
    violations: list[str] = field(default_factory=list)


def attack(seed: int, seconds: float, most_specs: int = 10**9) -> Attack:
    """Attack one random spec after another until the time is over."""
    found, end = Attack(seed), time.monotonic() + seconds
    while time.monotonic() < end and found.specs < most_specs:
        _attack_spec(random.Random(f"{seed}/{found.specs}"), found)  # so that each spec can be made again alone
        found.specs += 1
    return found


def attack_variants(seed: int, seconds: float, most_specs: int = 10**9) -> dict[str, Attack]:
    """Attack broken variants of the program in the same way, each for so long."""
    found = {}
    for name in VARIANTS:
        with pytest.MonkeyPatch.context() as monkeypatch:
            MUTANTS[name].put_in(monkeypatch)
            found[name] = attack(seed, seconds, most_specs)
    return found


def _attack_spec(rng: random.Random, found: Attack) -> None:
    coverage = random_coverage(rng)
    spec, where = coverage.spec, f"seed {found.seed}, spec {found.specs}"
    days = []
    with bench(coverage) as table:
        table.table.rows("SET threads = 1")  # a few hundred events: more threads would only wait for each other
        others = [event for user in OTHERS for event in random_day(rng, coverage, user)]
        without = table.count(others)
        for _ in range(USER_DAYS):
            events = [*others, *random_day(rng, coverage, USER)]
            days.append(table.count(rng.sample(events, len(events))) - without)
            found.violations += [f"{where}: {words}" for words in bound_problems(table, days[-1])]
        sigmas = table.cells.sigmas
    found.user_days += len(days)
    found.changed += sum(int(np.count_nonzero(day)) for day in days)
    if found.specs % COMPARED == 0:
        found.compared += 1
        _compare_epsilons(found, where, spec, days, sigmas)


def _compare_epsilons(found: Attack, where: str, spec: Spec, days: list[Counts], sigmas: Floats) -> None:
    most = max(days, key=lambda day: float(((day / sigmas) ** 2).sum()))
    for words, some, claimed in (
        ("a day", [most], account(spec).epsilon),
        # The days of a week share its noise.
        (f"{len(days)} days", [np.sum(days, axis=0)], epsilon_of_weeks(spec, 1, days=len(days))),
    ):
        epsilon = least_epsilon(some, sigmas, spec.promise.delta)
        found.reached = max(found.reached, epsilon / claimed if claimed else 0.0)
        if epsilon > claimed:
            found.violations.append(f"{where}: {words}: epsilon {epsilon:.4f}, claimed {claimed:.4f}")


def bound_problems(table: Bench, difference: Counts) -> Iterator[str]:
    """Yield what no case of the accounting allows for in the difference of two counts."""
    coverage = table.cells.coverage
    changed: Counter[tuple[str, str | None, str]] = Counter()
    for number in np.flatnonzero(difference):
        cell = table.cells.cells[number]
        changed[cell.region.level, cell.size_class, cell.category] += 1
        if abs(difference[number]) != 1 or (difference[number] < 0 and not coverage.spec.given_measures):
            yield f"X2: a count changed by {difference[number]}"
    if any(times > 1 for times in changed.values()):
        yield "X1: several counts of one level and category changed"
    allowed = [{(s.level, s.size_class, s.category) for s in case.sigmas} for case in cases(coverage.spec)]
    if not any(set(changed) <= case for case in allowed):
        yield "X3, X4: the counts that changed are those of no case"


def least_epsilon(days: Sequence[Counts], sigmas: Floats, delta: float) -> float:
    """Return an epsilon that the noise of these differences has at least, computed apart from the program."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    differences = Counter((abs(int(day[i])), float(sigmas[i])) for day in days for i in np.flatnonzero(day))
    composed: Any = pld.identity(STEP, pessimistic_estimate=False)
    for (difference, sigma), times in sorted(differences.items()):
        one = pld.from_discrete_gaussian_mechanism(
            sigma,
            sensitivity=difference,
            truncation_bound=math.ceil(12 * sigma) + difference,
            pessimistic_estimate=False,
            value_discretization_interval=STEP,
        )
        composed = composed.compose(one.self_compose(times))
    return float(composed.get_epsilon_for_delta(delta))


# Random specs, geographies and user-days


def random_coverage(rng: random.Random) -> Coverage:
    """Make a spec of 1 to 4 levels, 0 to 4 size classes and 2 to 5 categories, and a geography for it.

    Half of them count a user-day in one place, most of these with measures of their own and with rest cells.
    """
    spec = random_spec(rng)
    spec = with_one_place(rng, spec) if rng.random() < 0.5 else spec
    regions = [Region("W", "World", spec.total.level, None, None, 1e6, None, None, "W")]
    above = list(regions)
    for level in spec.level_names:
        above = [
            _region(rng, spec, level, parent, i)
            for parent in above
            for i in range(rng.randint(2 if parent.parent is None else 1, 3))
        ]
        regions += above
    return Coverage(spec, build_geography(regions, "random"))


def _region(rng: random.Random, spec: Spec, level: str, parent: Region, i: int) -> Region:
    sizes = [size_class.min_population for size_class in spec.size_classes] or [0]
    area = rng.choice([0.5 * spec.min_area_km2, spec.min_area_km2, 1e3])
    code = f"{parent.code}{i}"
    return Region(code, "Somewhere", level, parent.place_id, rng.choice(sizes), area, 0, 0, f"{parent.place_id}/{i}")


def random_spec(rng: random.Random) -> Spec:
    """Make a valid spec; sigmas are few and small, so that rounding and shape matter."""
    names = [f"level{i}" for i in range(rng.randint(1, 4))]
    categories = tuple(Category(f"T{i}", f"topic{i}") for i in range(rng.randint(2, 5)))
    starts = [0, *sorted(rng.sample(range(1, 10**6), rng.randint(0, 3)))] if rng.random() < 0.85 else []
    ends = [*(start - 1 for start in starts[1:]), None]
    classes = tuple(SizeClass(f"size{i}", *both) for i, both in enumerate(zip(starts, ends, strict=False)))
    class_level = rng.choice(names) if classes else None
    classed = names[names.index(class_level) :] if class_level else []
    levels = tuple(
        Level(n, tuple(c.name for c in classes if rng.random() < 0.25) if n in classed else ()) for n in names
    )
    values = [round(math.exp(rng.uniform(math.log(0.4), math.log(40))), 3) for _ in range(rng.randint(2, 5))]
    base = plain_spec()
    return replace(
        base,
        promise=Promise(100.0, 10 ** rng.uniform(-9, -1.5)),
        categories=categories,
        trends=(Trend("t", "trend", "A trend", ("T1",), "value"),),
        levels=levels,
        total=Total("whole", names[0]),
        class_level=class_level,
        size_classes=classes,
        min_area_km2=rng.choice([0.0, 3.0]),
        scaling=replace(base.scaling, trend="t"),
        sigmas=tuple(
            Sigma(level.name, size_class, category.id, rng.choice(values))
            for level in levels
            for size_class in ([c.name for c in classes] if level.name in classed else [None])
            if size_class not in level.unreported_classes
            for category in categories
        ),
    )


def with_one_place(rng: random.Random, spec: Spec) -> Spec:
    """Return the spec with one place a user-day, and with unions of topics and signed measures as its measures."""
    rest = rng.random() < 0.7
    measures = [Measure("every", (spec.categories[0].id,))]
    for i in range(rng.randint(1, 4)):
        topics = rng.sample(spec.topics, len(spec.topics))
        of = rng.randint(1, len(topics))
        measures.append(Measure(f"m{i}", tuple(topics[:of]), tuple(topics[of : rng.randint(of, len(topics))])))
    values = sorted({s.value for s in spec.sigmas}) or [1.0]
    return replace(
        spec,
        counting=Counting(ONE_PLACE, rest, rest and rng.random() < 0.5),
        given_measures=tuple(measures),
        trends=(replace(spec.trends[0], sum_of=("m0",)),),
        sigmas=tuple(Sigma(*group, m.id, rng.choice(values)) for group in spec.reported_groups for m in measures),
    )


def random_day(rng: random.Random, coverage: Coverage, user: int) -> list[Event]:
    """Make a user's day: a few searches, or very many everywhere about everything, often at the same second."""
    places = [r.place_id for r in coverage.geography.regions if r.level in coverage.spec.level_names]
    if rng.random() < 0.5:
        places = rng.sample(places, rng.randint(1, min(4, len(places))))
    topics = [None, *(c.id for c in coverage.spec.categories)]
    seconds = [rng.randint(-11 * HOUR, 11 * HOUR) for _ in range(rng.randint(1, 3))]
    number = rng.choice([1, 3, 20, 200])
    return [Event(user, rng.choice(seconds), rng.choice(places), rng.choice(topics)) for _ in range(number)]
