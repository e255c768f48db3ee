"""The noise of the stored counts is a discrete Gaussian with the sigmas of the spec."""

import math
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from search_insights.anonymization import anonymize
from search_insights.dp.noise import Noise, add_noise, drawing_noise
from search_insights.private.log import LogSource
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Region, build_geography
from search_insights.spec.spec import Spec
from search_insights.spec.weeks import Week
from search_insights.store.opening import open_store

Residues = dict[tuple[str, str | None, str], npt.NDArray[np.float64]]

# Enough cells of each kind to detect a sigma that is 10 % off: one that is not detected is rarer than 1e-7.
REGIONS = 3500
WEEKS = (date(2021, 3, 8), date(2021, 3, 15))
# Two-sided, for each of 24 kinds of cell: false alarms of the whole test stay under 1e-6.
FALSE_ALARM = 1e-6 / 24


def wide_country(spec: Spec) -> Coverage:
    """Return a country with REGIONS states, and as many counties and postal codes of each class."""
    regions = [Region("W", "Wide", "country", None, None, 1e9, None, None, "W")]
    for i in range(REGIONS):
        regions.append(Region(f"S{i}", "State", "state", "W", None, 1e3, None, None, f"S{i}"))
        for size_class, people in (("small", 10), ("medium", 200_000), ("large", 900_000)):
            county = Region(
                f"C{size_class}{i}", "County", "county", f"S{i}", people, 1e3, None, None, f"C{size_class}{i}"
            )
            regions += [
                county,
                Region(f"Z{county.code}", "Zip", "postal_code", county.code, None, 9, None, None, f"Z{county.code}"),
            ]
    return Coverage(spec, build_geography(regions, "wide country"))


@pytest.fixture(scope="module")
def residues(paper: Spec, tmp_path_factory: pytest.TempPathFactory) -> Residues:
    """The stored minus the exact counts of two weeks in which one user searches once a day."""
    folder = tmp_path_factory.mktemp("noise")
    with duckdb.connect() as connection:
        connection.execute(f"""
            COPY (SELECT 1 AS user_id, TIMESTAMPTZ '2021-03-08 20:00:00Z' + to_days(d::INTEGER) AS timestamp,
                         'S0' AS region, 'A1' AS category FROM range(14) t(d))
            TO '{folder}/log.parquet'""")
    coverage = wide_country(paper)
    weeks = [Week(day, paper.time_zone) for day in WEEKS]
    anonymize(LogSource((f"{folder}/log.parquet",)), folder / "store.db", weeks, coverage)
    cells = CellList(coverage).cells
    exact = np.array([7 * (c.region.code == "S0" and c.category in ("A0", "A1")) for c in cells])
    kinds = [(c.region.level, coverage.standings[c.region.place_id].size_class, c.category) for c in cells]
    with open_store(Path(folder / "store.db")) as store:
        noise = np.stack([store.noisy_counts(week) - exact for week in weeks])
    order = {kind: i for i, kind in enumerate(dict.fromkeys(kinds))}
    numbers = np.array([order[kind] for kind in kinds])
    return {kind: noise[:, numbers == i].astype(float) for kind, i in order.items()}


def accepted(sample: npt.NDArray[np.float64], sigma: float) -> bool:
    """Return whether a two-sided test accepts that a sample has mean 0 and this sigma."""
    low, high = stats.chi2.interval(1 - FALSE_ALARM, df=sample.size)
    return bool(low < np.square(sample).sum() / sigma**2 < high)


def test_each_kind_of_cell_gets_the_sigma_of_the_spec(residues: Residues, paper: Spec) -> None:
    """For each level, class and category the noise has the spec's sigma; 10 % less or more is rejected."""
    assert set(residues) == {(s.level, s.size_class, s.category) for s in paper.sigmas}
    for (level, size_class, category), sample in residues.items():
        sigma = paper.sigma(level, size_class, category)
        assert accepted(sample, sigma), (level, size_class, category)
        assert not accepted(sample, 0.9 * sigma), (level, size_class, category)
        assert not accepted(sample, 1.1 * sigma), (level, size_class, category)


def test_noise_is_centred_and_independent_across_weeks_and_cells(residues: Residues) -> None:
    """The mean is 0, and the noise of the two weeks and of neighbouring cells is uncorrelated (each at 1e-7)."""
    limit = float(stats.norm.isf(1e-8))
    for kind, sample in residues.items():
        spread = sample.std()
        assert abs(sample.mean()) < limit * spread / math.sqrt(sample.size), kind
        for one, other in ((sample[0], sample[1]), (sample[0][1:], sample[0][:-1])):
            assert abs(np.corrcoef(one, other)[0, 1]) < limit / math.sqrt(one.size), kind


def test_the_shape_is_the_discrete_gaussian() -> None:
    """At a small sigma each integer is drawn as often as it should be (chi-square, 1e-7)."""
    sigma, n = 0.7, 40_000
    sample = add_noise(np.zeros(n, dtype=np.int64), np.full(n, sigma))
    support = np.arange(-2, 3)
    weights = np.exp(-np.square(np.arange(-40, 41)) / (2 * sigma**2))
    shares = np.exp(-np.square(support) / (2 * sigma**2)) / weights.sum()
    seen = np.array([(sample == k).sum() for k in support])
    rest_seen, rest_share = n - seen.sum(), 1 - shares.sum()
    observed, expected = [*seen, rest_seen], [*(n * shares), n * rest_share]
    assert stats.chisquare(observed, expected).pvalue > 1e-7
    rounded = np.array([stats.norm.cdf((k + 0.5) / sigma) - stats.norm.cdf((k - 0.5) / sigma) for k in support])
    rounded_expected = [*(n * rounded), n * (1 - rounded.sum())]
    assert stats.chisquare(observed, rounded_expected).pvalue < 1e-7, "a rounded continuous Gaussian is rejected"


def test_the_tails_are_as_heavy_as_they_should_be() -> None:
    """Delta depends on the tails: of 100,000 draws about 45 are beyond 3.5 sigma, and clipped noise is rejected."""
    sigma, n = 3.5, 100_000
    numbers = np.arange(-60, 61)
    law = np.exp(-np.square(numbers) / (2 * sigma**2))
    share = law[np.abs(numbers) > 3.5 * sigma].sum() / law.sum()
    beyond = int((np.abs(add_noise(np.zeros(n, dtype=np.int64), np.full(n, sigma))) > 3.5 * sigma).sum())
    low, high = stats.binom.interval(1 - FALSE_ALARM, n, share)
    assert 0 < low <= beyond <= high


def test_noise_is_whole_numbers_added_to_the_count() -> None:
    """Noisy counts are integers, in the order of the counts, and may be negative."""
    counts = np.array([0, 10**12, -(10**12)], dtype=np.int64)
    noisy = add_noise(counts, np.array([1.0, 2.0, 3.0]))
    assert noisy.dtype == np.int64
    assert np.abs(noisy - counts).max() < 100
    many = add_noise(np.zeros(500, dtype=np.int64), np.full(500, 20.0))
    assert many.min() < 0 < many.max()


def test_no_two_draws_are_alike() -> None:
    """There is no seed: the same counts get different noise each time, even after seeding every generator."""
    counts, sigmas = np.zeros(200, dtype=np.int64), np.full(200, 50.0)
    draws = []
    for _ in range(2):
        random.seed(7)
        np.random.seed(7)
        draws.append(add_noise(counts, sigmas))
    assert (draws[0] != draws[1]).any()


def test_every_count_needs_a_sigma() -> None:
    """Counts and sigmas of different lengths are refused, not broadcast."""
    with pytest.raises(ValueError, match="2 counts, but 1 sigmas"):
        add_noise(np.zeros(2, dtype=np.int64), np.ones(1))


def test_noise_that_was_drawn_ahead_is_added_once() -> None:
    """Noise added to two lists of counts would show their exact difference, so it is refused a second time."""
    counts, sigmas = np.zeros(9_000, dtype=np.int64), np.resize([3.21, 60.0], 9_000)
    with drawing_noise(sigmas) as noise:
        noisy = add_noise(counts, sigmas, noise)
        with pytest.raises(RuntimeError, match="added already"):
            add_noise(counts + 1, sigmas, noise)
    assert (np.abs(noisy) > 30).mean() > 0.2  # half of them have a sigma of 60


def test_noise_that_no_thread_has_begun_is_drawn_by_the_caller() -> None:
    """Who needs the noise does not wait for threads that are busy: every number is drawn, once, with its own sigma."""
    gate, sigmas = threading.Event(), np.repeat([100.0, 10_000.0], 5_000)
    with ThreadPoolExecutor(1) as busy, ThreadPoolExecutor(1) as caller:
        try:
            busy.submit(gate.wait)
            drawn = caller.submit(Noise(sigmas, busy).take).result(timeout=60)
        finally:
            gate.set()
    # The standard deviation of 5,000 draws is off by a tenth in one of 10^22 runs.
    assert drawn[:5_000].std() == pytest.approx(100.0, rel=0.1)
    assert drawn[5_000:].std() == pytest.approx(10_000.0, rel=0.1)


@pytest.mark.parametrize("by_caller", [False, True], ids=["by a thread", "by the caller"])
def test_a_draw_that_fails_is_told_whoever_makes_it(by_caller: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """No week gets noise of which a part was not drawn."""

    def fail(values: list[int]) -> list[int]:
        raise OSError("no entropy")

    monkeypatch.setattr("search_insights.dp.noise._measurement", lambda sigma: fail)
    gate = threading.Event()
    with ThreadPoolExecutor(1) as threads:
        try:
            if by_caller:
                threads.submit(gate.wait)
            drawn = Noise(np.ones(10), threads)
            if not by_caller:
                threads.submit(lambda: None).result()  # by now the thread has failed
            with pytest.raises(OSError, match="no entropy"):
                drawn.take()
        finally:
            gate.set()


def test_noise_that_was_drawn_for_other_sigmas_is_refused() -> None:
    """Each count gets noise of its own sigma, whoever drew it and when."""
    sigmas = np.array([3.21, 60.0])
    with drawing_noise(sigmas[::-1]) as noise, pytest.raises(ValueError, match="other sigmas"):
        add_noise(np.zeros(2, dtype=np.int64), sigmas, noise)


def test_a_week_that_is_refused_leaves_nothing_being_drawn() -> None:
    """If counting fails, the error is told, and no thread goes on drawing."""
    with pytest.raises(KeyError), drawing_noise(np.full(100_000, 3.21)):
        raise KeyError
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPoolExecutor")]
