"""The attack on top searches: logs that differ by one user-day, and the program's own noise and threshold.

One user-day searches for public texts, in every region, as often as it can: the users of one text may change by 1, and
those of one region. Another makes a text reach the floor of users that nobody else would bring it to: the text may
leave the engine in one log only. Others search for these texts on all days, which must not count as more users, and the
attacking user for a text of its own, which must never leave. Then the mechanism itself shows many copies of a text.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search_insights.audit.attack import ATTACKED_DAY, past_week
from search_insights.audit.bound import Difference, Noise
from search_insights.audit.store_attack import RISK, Finding
from search_insights.dp.top_searches import TopSearchCounts, chance_of_showing, noisy_top_searches, tail
from search_insights.errors import InputError
from search_insights.private.counting import Tolerance, count_week
from search_insights.private.duckdb_engine import DuckDbEngine, open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.private.top_searches import TextCounts, vocabulary_for
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.top_searches import TopSearches
from search_insights.spec.weeks import Week
from search_insights.support.arrays import Counts
from search_insights.support.sql import connect, literal
from search_insights.support.working_folder import temporary_folder

_OTHER_USERS = 5  # who search for the public texts
_TIMES = 40  # that the attacking user-day searches in each region
_DRAWS = 60_000  # of a text at the edge of the floor or the threshold
_CANDIDATES = 50_000  # words among which texts with a topic are looked for

Row = tuple[int, int, int, str, str]  # user, day, second, place, text


@dataclass(frozen=True)
class TextNeighbours:
    """The exact counts of two logs that differ by one user-day: of public texts, and of a text at the floor."""

    public: tuple[str, str]
    own: str
    at_floor: str
    of_public: tuple[TextCounts, TextCounts]
    of_new: tuple[TextCounts, TextCounts]

    def difference(self, coverage: Coverage) -> Difference:
        """Return the counts of public texts that differ: first those of all regions together, then those of each."""
        top, regions = _top(coverage), CellList(coverage).coarsest.size
        (users, there), (users_with, there_with) = (_dense(counts, self.public, regions) for counts in self.of_public)
        without, with_it = np.concatenate((users, there)), np.concatenate((users_with, there_with))
        sigmas = np.where(np.arange(without.size) < users.size, top.total_sigma, top.region_sigma)
        changed = without != with_it
        return Difference(without[changed], with_it[changed], sigmas[changed])

    def findings(self, top: TopSearches) -> Iterator[Finding]:
        """Yield what must be true of the texts that left the engine."""
        left = [dict(zip(c.texts, c.users.tolist(), strict=True)) for c in (*self.of_public, *self.of_new)]
        unique = top.min_users <= 1 or not any(self.own in texts for texts in left)
        yield Finding("a text of one user stays in the engine", unique, "searched on all days of the week")
        without, with_it = left[2].get(self.at_floor), left[3].get(self.at_floor)
        kept = without is None and with_it == top.min_users
        seen = f"it leaves with {top.min_users:,} users, not with one less" if kept else "it does not"
        yield Finding("the floor counts users, each once", kept, seen)


def text_neighbours(coverage: Coverage) -> TextNeighbours:
    """Write logs that differ by one user-day, and count them as the program does; remove them at the end."""
    week = past_week(coverage.spec)
    with temporary_folder("audit-") as folder:
        _write(folder / "log.parquet", week, [(0, day, 0, _states(coverage)[0], "") for day in range(7)])
        with _opened(coverage, folder / "log.parquet") as engine:
            one, other, own, at_floor = _texts_with_topic(engine, _top(coverage), 4)
        common, for_public, for_new = _searches(coverage, (one, other), own, at_floor)

        def counted(rows: Sequence[Row], known: Sequence[str]) -> TextCounts:
            _write(folder / "log.parquet", week, rows)
            return _counted(coverage, folder / "log.parquet", week, known)

        public = counted(common, (one, other)), counted([*common, *for_public], (one, other))
        new = counted(common, ()), counted([*common, *for_new], ())
    return TextNeighbours((one, other), own, at_floor, public, new)


def _searches(
    coverage: Coverage, public: tuple[str, str], own: str, at_floor: str
) -> tuple[list[Row], list[Row], list[Row]]:
    """Return what both logs hold, and two attacking user-days: for public texts, and for a text at the floor."""
    states = _states(coverage)
    common = [
        (user, day, user, states[user % len(states)], text)
        for user in range(1, _OTHER_USERS + 1)
        for day in range(7)
        for text in public
    ]
    floor = range(1, _top(coverage).min_users)  # one user less than the floor demands, each on every day
    common += [
        (_OTHER_USERS + user, day, 0, states[user % len(states)], at_floor) for user in floor for day in range(7)
    ]
    common += [(0, day, 0, states[0], own) for day in range(7) if day != ATTACKED_DAY]
    attacks = [
        [(0, ATTACKED_DAY, i, state, texts[i % len(texts)]) for state in states for i in range(_TIMES)]
        for texts in (public, (at_floor,))
    ]
    return common, attacks[0], attacks[1]


def text_noise(coverage: Coverage) -> Noise:
    """Return what draws the noise of a public text's two counts: the mechanism itself, on many copies of the text."""
    top = _top(coverage)

    def noise(counts: Counts, draws: int) -> Counts:
        names = tuple(f"{i:09}" for i in range(draws))
        found = noisy_top_searches(top, _copies(names, *counts.tolist()), names, 1)
        return np.stack([found.users, found.by_region[:, 0]], axis=-1) - counts

    return noise


def audit_threshold(top: TopSearches, draws: int = _DRAWS) -> list[Finding]:
    """Show many copies of a new text with the program's own mechanism, and compare how often it is shown."""
    least, edge = (_shown(top, users, draws) for users in (top.min_users, top.total_threshold))
    threshold = np.concatenate((least.users, edge.users)).min(initial=top.total_threshold) >= top.total_threshold
    return [
        _often("a text of the floor's users is shown as accounted", len(least.texts), draws, chance_of_showing(top)),
        _often("a text at the threshold is shown as its noise says", len(edge.texts), draws, tail(top.total_sigma, 0)),
        Finding("no new text is shown below the threshold", bool(threshold), f"{top.total_threshold:,} or more"),
        _noise_of_empty(top),
    ]


def _noise_of_empty(top: TopSearches) -> Finding:
    """Check that a public text without any search has noise, in the total and in every region."""
    names, regions = tuple(f"{i:04}" for i in range(400)), 10
    found = noisy_top_searches(top, _copies(names, 0, 0), names, regions)
    bare = [int((counts == 0).sum()) for counts in (found.users, found.by_region)]
    chances = [tail(sigma, 0) * 2 - 1 for sigma in (top.total_sigma, top.region_sigma)]  # P(Z = 0)
    sizes = [len(names), len(names) * regions]
    holds = all(_fits(k, n, chance) for k, n, chance in zip(bare, sizes, chances, strict=True))
    return Finding("a public text that nobody searched for has noise", holds, f"{bare[0]} and {bare[1]} are 0")


def _often(name: str, times: int, draws: int, chance: float) -> Finding:
    return Finding(name, _fits(times, draws, chance), f"{times:,} of {draws:,}; expected {draws * chance:,.1f}")


def _fits(times: int, draws: int, chance: float) -> bool:
    """Return whether so many of the draws are plausible at this chance."""
    from scipy import stats

    return bool(min(stats.binom.cdf(times, draws, chance), stats.binom.sf(times - 1, draws, chance)) > RISK / 16)


def _shown(top: TopSearches, users: int, draws: int) -> TopSearchCounts:
    return noisy_top_searches(top, _copies(tuple(f"{i:09}" for i in range(draws)), users, 0), (), 1)


def _copies(names: tuple[str, ...], users: int, there: int) -> TextCounts:
    """Return texts that all have so many users, in all and in the first region."""
    n = len(names)
    index = np.arange(n)
    ones = np.ones(n, dtype=np.int64)
    return TextCounts(names, ones, users * ones, index, np.zeros(n, dtype=np.int64), there * ones)


def _dense(counts: TextCounts, texts: Sequence[str], regions: int) -> tuple[Counts, Counts]:
    """Return the users of these texts, and those of each region, one text after the other."""
    there = np.zeros((len(counts.texts), regions), dtype=np.int64)
    there[counts.text, counts.region] = counts.users_there
    rows = [counts.texts.index(text) for text in texts]
    return counts.users[rows], there[rows].ravel()


def _texts_with_topic(engine: DuckDbEngine, top: TopSearches, n: int) -> list[str]:
    """Return texts that are made of the vocabulary and have a topic."""
    vocabulary = vocabulary_for(top)
    texts = sorted(vocabulary.words | vocabulary.phrases)[:_CANDIDATES]
    texts = [text for text, fits in zip(texts, vocabulary.allows(texts), strict=True) if fits]
    numbers = engine.model.classify(texts) if engine.model else np.zeros(0)
    found = [texts[i] for i in np.flatnonzero(numbers)[:n]]
    if len(found) < n:
        raise InputError(f"{top.vocabulary}: the model gives a topic to fewer than {n} words of this vocabulary")
    return found


def _counted(coverage: Coverage, log: Path, week: Week, known: Sequence[str]) -> TextCounts:
    """Count a log exactly, in the way the program counts any log before it adds noise."""
    names, cells, asked = region_names(coverage), CellList(coverage), (week.begin, week.end)
    with _opened(coverage, log) as engine:
        found = count_week(engine, cells, names, week, asked, Tolerance(), lambda day: None, known).texts
    if found is None:
        raise RuntimeError("a log of queries was counted without its texts")
    return found


@contextmanager
def _opened(coverage: Coverage, log: Path) -> Iterator[DuckDbEngine]:
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, region_names(coverage)) as engine:
        yield engine


def _states(coverage: Coverage) -> list[str]:
    """Return the reported regions of the coarsest level."""
    cells = CellList(coverage)
    return [cells.regions[i].place_id for i in cells.coarsest]


def _top(coverage: Coverage) -> TopSearches:
    if coverage.spec.top_searches is None:
        raise InputError(f"spec {coverage.spec.name!r} has no top searches")
    return coverage.spec.top_searches


def _write(path: Path, week: Week, rows: Sequence[Row]) -> None:
    begins = [round(week.day_bounds(day)[0].timestamp()) for day in week.days]
    given = {
        "user_id": np.array([row[0] for row in rows], dtype=np.int64),
        "micros": np.array([(begins[row[1]] + row[2]) * 1_000_000 for row in rows], dtype=np.int64),
        "region": np.array([row[3] for row in rows], dtype=object),
        "query": np.array([row[4] for row in rows], dtype=object),
    }
    with connect() as connection:
        connection.register("given", given)
        connection.execute(f"""
            COPY (SELECT user_id, make_timestamptz(micros) AS timestamp, region, query FROM given)
            TO {literal(str(path))} (FORMAT parquet)""")
