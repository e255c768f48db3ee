"""Trying to break the promise by experiment, on the program's own path.

For each case of the accounting two neighbouring logs are written. They differ by one user-day that does the worst it
can: thousands of events in regions of every class, every category, repeated, at midnight and late in the day. Both
logs go through the program's own reading, bounding and counting; what differs between their exact counts is what an
attacker would look for. Then the program's own noise is drawn many times for each log, and the best test there is for
Gaussian noise (the likelihood ratio) guesses which log it came from. How often it is right bounds epsilon from below:
an algorithm that keeps a promise of mu-Gaussian privacy leaves errors of at least Phi(-z - mu), whatever the test, so
observed errors give a mu that the program does not beat, with a stated confidence (Clopper-Pearson), and mu gives
epsilon at the promised delta.
"""

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np

from search_insights.accounting import Case, account
from search_insights.cells import CellList
from search_insights.counting import Tolerance, count_week
from search_insights.coverage import Coverage
from search_insights.database import connect
from search_insights.duckdb_engine import open_duckdb_engine
from search_insights.errors import CheckFailed
from search_insights.geography import Region
from search_insights.log import LogSource
from search_insights.noise import Counts, Sigmas, add_noise
from search_insights.quoting import literal
from search_insights.region_names import region_names
from search_insights.weeks import Week, week_of

CONFIDENCE = 0.999
SAMPLES = 150_000
_EVENTS = 3_000  # of the user-day that tries its worst
_CHUNK = 50_000  # samples drawn at a time, to keep memory small


@dataclass(frozen=True, slots=True)
class AuditedCase:
    """What an attack on one case reached, next to what the accounting allows."""

    name: str
    cells_changed: int
    epsilon_lower: float
    epsilon_upper: float
    confidence: float

    @property
    def broken(self) -> bool:
        """Whether the experiment shows more than the accounting allows."""
        return self.epsilon_lower > self.epsilon_upper


@dataclass(frozen=True, slots=True)
class Attack:
    """The searches of the user-day that the neighbouring logs differ by: place, second of the day, category."""

    places: Sequence[str]
    seconds: Sequence[int]
    categories: Sequence[str | None]


def audit(
    coverage: Coverage,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    progress: Callable[[str], None] = lambda text: None,
) -> list[AuditedCase]:
    """Attack every case of the accounting."""
    cells = CellList(coverage)
    audited = []
    for upper in account(coverage.spec).cases:
        progress(f"attacking case {upper.case.name}")
        without, with_it = neighbouring_counts(coverage, cells, worst_user_day(coverage, upper.case))
        changed = np.flatnonzero(with_it != without)
        mu = lower_mu(without[changed], with_it[changed], cells.sigmas[changed], samples, confidence, progress)
        lower = epsilon_of_mu(mu, coverage.spec.promise.delta)
        audited.append(AuditedCase(upper.case.name, changed.size, lower, upper.epsilon, confidence))
    return audited


def worst_user_day(coverage: Coverage, case: Case) -> Attack:
    """Search everywhere about anything, and about every topic where the case's counts are."""
    spec, regions = coverage.spec, coverage.geography.regions
    everywhere = [r for r in regions if r.level in spec.level_names]
    target = _target(coverage, case)
    rng = np.random.default_rng(0)  # which places the attacker names is not random noise: any choice will do
    topics = list(spec.topics)
    aimed = [(target.place_id, topics[i % len(topics)]) for i in range(_EVENTS // 2)]
    if case.name in spec.class_names:
        strewn = [(everywhere[i].place_id, None) for i in rng.integers(0, len(everywhere), _EVENTS - len(aimed))]
    else:
        strewn = [(target.place_id, None)] * (_EVENTS - len(aimed))
    searches = aimed + strewn
    last = 23 * 3600 - 1  # within every day, also one of 23 hours
    seconds = [(0, last, int(s))[i % 3] for i, s in enumerate(rng.integers(0, last, len(searches)))]
    return Attack([place for place, _ in searches], seconds, [category for _, category in searches])


def _target(coverage: Coverage, case: Case) -> Region:
    """Find a region that counts at every level of the case."""
    spec, geography = coverage.spec, coverage.geography
    wanted = {s.level for s in case.sigmas}
    for region in reversed(geography.regions):
        lineage = [r for r in geography.lineage(region) if r.level in spec.level_names]
        standings = {r.level: coverage.standings[r.place_id] for r in lineage}
        classed = [s.size_class for level, s in standings.items() if level in spec.classed_levels]
        if {level for level, s in standings.items() if s.reported} != wanted or len(lineage) < len(wanted):
            continue
        if all(c == case.name for c in classed) and bool(classed) == (case.name in spec.class_names):
            return region
    raise CheckFailed(
        f"{geography.source}: no region counts at the levels {', '.join(sorted(wanted))}; nothing to audit"
    )


def neighbouring_counts(coverage: Coverage, cells: CellList, attack: Attack) -> tuple[Counts, Counts]:
    """Count two logs that differ by the attack, as the program counts any log."""
    week = week_of(coverage.spec, _quiet_week(coverage))
    names = region_names(coverage)
    counted = []
    with tempfile.TemporaryDirectory(prefix="search-insights-audit-") as folder:
        for attacked in (False, True):
            log = Path(folder) / f"{attacked}.parquet"
            _write_log(log, coverage, week, attack if attacked else None)
            with open_duckdb_engine(LogSource((str(log),)), coverage.spec, names) as engine:
                span = (week.begin, week.end)
                counted.append(count_week(engine, cells, names, week, span, Tolerance(), lambda day: None).counts)
    return counted[0], counted[1]


def _quiet_week(coverage: Coverage) -> date:
    return coverage.spec.sparsity.first_week


def _write_log(path: Path, coverage: Coverage, week: Week, attack: Attack | None) -> None:
    """Write a log of a few dozen other users, and the attacker's day if there is one."""

    places = [r.place_id for r in coverage.geography.regions if r.level == coverage.spec.level_names[-1]]
    rows: list[tuple[int, datetime, str, str | None]] = []
    for n, day in enumerate(week.days):
        begin = week.day_bounds(day)[0]
        rows += [
            (user, begin + timedelta(hours=user % 23, seconds=n), places[(user * 97 + n) % len(places)], None)
            for user in range(1, 41)
        ]
    if attack is not None:
        begin = week.day_bounds(week.days[1])[0]
        searches = zip(attack.places, attack.seconds, attack.categories, strict=True)
        rows += [(0, begin + timedelta(seconds=second), place, category) for place, second, category in searches]
    users, times, regions, categories = zip(*rows, strict=True)
    micros = np.array([round(time.timestamp() * 1_000_000) for time in times], dtype=np.int64)
    given = {
        "user_id": np.array(users, dtype=np.int64),
        "micros": micros,
        "region": np.array(regions, dtype=object),
        "category": np.array(categories, dtype=object),
    }
    with connect() as connection:
        connection.register("given", given)
        connection.execute(f"""
            COPY (SELECT user_id, make_timestamptz(micros) AS timestamp, region, category FROM given)
            TO {literal(str(path))} (FORMAT parquet)""")


def lower_mu(
    without: Counts,
    with_it: Counts,
    sigmas: Sigmas,
    samples: int,
    confidence: float,
    progress: Callable[[str], None] = lambda text: None,
) -> float:
    """Guess from noisy counts which log they came from, and bound mu by how often that fails."""
    from scipy import stats

    weights = (with_it - without) / sigmas**2
    threshold = float(weights @ (with_it + without) / 2)
    false_alarms = misses = drawn = 0
    while drawn < samples:
        size = min(_CHUNK, samples - drawn)
        false_alarms += int((_scores(without, sigmas, weights, size) > threshold).sum())
        misses += int((_scores(with_it, sigmas, weights, size) <= threshold).sum())
        drawn += size
        progress(f"{drawn:,} of {samples:,} samples")
    risk = (1 - confidence) / 2  # for each of the two rates
    highest = [float(stats.beta.isf(risk, errors + 1, samples - errors)) for errors in (false_alarms, misses)]
    return max(0.0, float(-stats.norm.ppf(highest[0]) - stats.norm.ppf(highest[1])))


def _scores(counts: Counts, sigmas: Sigmas, weights: Sigmas, size: int) -> Sigmas:
    """Noise the counts so many times with the program's noise, and weigh each outcome."""
    noisy = add_noise(np.tile(counts, size), np.tile(sigmas, size)).reshape(size, -1)
    scores: Sigmas = noisy @ weights
    return scores


def epsilon_of_mu(mu: float, delta: float) -> float:
    """Turn mu-Gaussian privacy into epsilon at this delta (the closed form of the Gaussian mechanism)."""
    from scipy import optimize, stats

    def excess(epsilon: float) -> float:
        tail = stats.norm.logcdf(-mu / 2 - epsilon / mu) + epsilon
        return float(stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(tail) - delta)

    if mu <= 0 or excess(0.0) <= 0:
        return 0.0
    return float(optimize.brentq(excess, 0.0, mu * mu + 40 * mu + 1))
