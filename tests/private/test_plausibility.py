"""Promises about counts next to those of the week before: what is beyond noise and beyond people is told."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.private.plausibility import (
    NOISE_SIGMAS,
    Change,
    described_changes,
    empty_regions,
    implausible_changes,
)
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.support.arrays import Counts

STATES = ("geoId/01", "geoId/06", "geoId/35")
DRAWS = 20_000


def counts_of(cells: CellList, **changed: tuple[int, ...]) -> Counts:
    """Return counts of 100,000 searches in each region, except where given by the name of a state."""
    usual = (100_000, 3_000, 2_000, 1_000)
    return np.array([changed.get(region.name.split()[0], usual) for region in cells.regions], dtype=np.int64).ravel()


def kinds(cells: CellList, now: Counts, before: Counts) -> list[tuple[str, str]]:
    return [(change.kind, change.place_id) for change in implausible_changes(cells, now, before)]


@given(count=st.integers(0, 10_000))
def test_noise_alone_gives_no_warning(coverage: Coverage, count: int) -> None:
    """Equal counts and any noise below six sigmas: nothing is implausible, however small the counts are."""
    cells = CellList(coverage)
    exact = np.full(len(cells.cells), count, dtype=np.int64)
    rng = np.random.default_rng(count)
    for _ in range(DRAWS // 1_000):
        noise = np.clip(rng.normal(0, cells.sigmas), -NOISE_SIGMAS * cells.sigmas, NOISE_SIGMAS * cells.sigmas)
        assert kinds(cells, exact, exact + np.trunc(noise).astype(np.int64)) == []


@pytest.mark.parametrize(("now", "kind"), [(0, "collapsed-region"), (49_000, "collapsed-region"), (51_000, None)])
def test_a_state_that_lost_more_than_half_has_collapsed(coverage: Coverage, now: int, kind: str | None) -> None:
    """Half is the limit where the noise is small; the other states and the country are not named."""
    cells = CellList(coverage)
    found = kinds(cells, counts_of(cells, Alabama=(now, 0, 0, 0)), counts_of(cells))
    assert found == ([(kind, "geoId/01")] if kind else [])


@pytest.mark.parametrize(("now", "kind"), [(201_000, "jumped-region"), (199_000, None)])
def test_a_state_that_more_than_doubled_has_jumped(coverage: Coverage, now: int, kind: str | None) -> None:
    """The check is two-sided: a region that takes another's searches is as wrong as the one that lost them."""
    cells = CellList(coverage)
    found = kinds(cells, counts_of(cells, Alabama=(now, 3_000, 2_000, 1_000)), counts_of(cells))
    assert found == ([(kind, "geoId/01")] if kind else [])


@pytest.mark.parametrize(("sigmas", "told"), [(NOISE_SIGMAS - 0.01, False), (NOISE_SIGMAS + 0.01, True)])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_change_is_told_from_six_sigmas(coverage: Coverage, sigmas: float, told: bool, sign: int) -> None:
    """A count that vanished or came from nothing is told as soon as the noise cannot be the reason."""
    cells = CellList(coverage)
    there, gone = cells.zeros(), cells.zeros()
    alabama = [region.place_id for region in cells.regions].index("geoId/01") * 4
    there[alabama] = round(sigmas * cells.sigmas[alabama])
    found = kinds(cells, *((there, gone) if sign > 0 else (gone, there)))
    assert found == ([(f"{'jumped' if sign > 0 else 'collapsed'}-region", "geoId/01")] if told else [])


def test_the_country_is_told_by_itself(coverage: Coverage) -> None:
    """A log of a tenth of the searches: the country comes first, then every state."""
    cells = CellList(coverage)
    found = kinds(cells, counts_of(cells) // 10, counts_of(cells) * 10)
    assert found[0] == ("collapsed-total", "country/USA")
    assert [place for kind, place in found if kind == "collapsed-region"] == list(STATES)


def test_interest_in_a_topic_may_rise_by_any_factor_but_not_vanish(coverage: Coverage) -> None:
    """News makes a topic ten times as frequent overnight; a lost column makes it vanish from the whole country."""
    cells = CellList(coverage)
    before, lost, news = counts_of(cells) * 10, counts_of(cells) * 10, counts_of(cells) * 10
    lost[1::4], news[1::4] = 0, before[1::4] * 10
    assert kinds(cells, news, before) == []
    changes = implausible_changes(cells, lost, before)
    assert [(change.kind, change.category) for change in changes] == [("collapsed-topic", "A1")]


def test_a_region_without_any_search_is_found(coverage: Coverage) -> None:
    """A state may be missing from the first week on, with no week to compare it with."""
    cells = CellList(coverage)
    assert [region.name for region in empty_regions(cells, counts_of(cells, Alabama=(0, 0, 0, 0)))] == ["Alabama"]


def test_the_words_hold_no_count() -> None:
    """A refusal names public regions, at most three, and no number of searches."""
    changes = [Change("collapsed-region", f"p/{n}", n, "A0", 123_456, 654_321, 77.0) for n in "abcd"]
    text = described_changes("collapsed-region", changes)
    assert text == "searches collapsed in a (p/a), b (p/b), c (p/c) and 1 more"
    assert described_changes("collapsed-topic", changes[:1]) == "category A0 collapsed in the whole country"
