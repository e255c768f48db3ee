"""The expected number of values is that of the release: its noise, reconciled where the spec reconciles."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_insights.calibration.expectation import Outlook, expect
from search_insights.calibration.profile import Profile, profile_of_regions
from search_insights.calibration.region_noise import RegionNoise, table_of, with_table
from search_insights.calibration.slopes import Forecast
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import load_spec
from search_insights.support.arrays import Floats
from search_insights.trends.derive import estimates, trend_reaches, trends_of
from tests.support.logs import little_geography
from tests.support.one_place import one_place_specs
from tests.support.other_country import specs
from tests.support.small_worlds import small_world


@pytest.fixture(scope="module")
def v2() -> Coverage:
    """The packaged release that reconciles, of the United States."""
    return Coverage(load_spec("vaccination-v2"), load_geography())


@pytest.fixture(scope="module")
def counts(v2: Coverage) -> Floats:
    """Made-up exact counts of every node of a week; a region is the sum of its children."""
    cells = CellList(v2)
    rng = np.random.default_rng(4)
    searches = rng.lognormal(6.0, 1.2, len(cells.nodes))
    found = searches[:, None] * np.array([1.0, 0.06, -0.02, -0.045])
    levels = np.array([node.level for node in cells.nodes])
    for level in reversed(v2.spec.level_names[1:]):
        children = np.flatnonzero(levels == level)
        found[np.unique(cells.parents[children])] = 0
        np.add.at(found, cells.parents[children], found[children])
    rounded: Floats = np.rint(found)
    return rounded


def profile_of(coverage: Coverage, counts: Floats) -> Profile:
    """Return the profile of one week with these counts of the nodes."""
    cells = CellList(coverage)
    states = [i for i, region in enumerate(cells.regions) if region.level == coverage.spec.total.sum_of]
    rows = np.concatenate([counts[states].sum(axis=0, keepdims=True), counts[: len(cells.regions)]])
    return profile_of_regions(coverage, (coverage.geography.country, *cells.regions), rows, 1.0)


@settings(max_examples=40)
@given(one_place_specs() | specs(), st.integers(0, 2**32))
def test_regions_of_one_kind_have_the_noise_of_the_release(spec: Spec, seed: int) -> None:
    """For any spec and any other sigmas, each region's variances and reaches are those that `derive` finds."""
    noise = RegionNoise(CellList(small_world(spec)))
    if not noise.cells.regions:
        return
    table = np.exp(np.random.default_rng(seed).uniform(0, 5, table_of(spec).shape))
    found = noise.of(table)
    cells = CellList(small_world(with_table(spec, table)))
    _, variances = estimates(cells, np.zeros((1, len(cells.cells))))
    np.testing.assert_allclose(found.variances[noise.kinds], variances, rtol=1e-9)
    reaches = trend_reaches(cells, variances)
    assert (reaches is None) == (found.reach_x is None)
    if reaches is not None and found.reach_x is not None:
        np.testing.assert_allclose(found.reach_x[noise.kinds], reaches, rtol=1e-6)


def test_regions_without_reconciliation_are_of_one_kind_a_group(us_coverage: Coverage) -> None:
    """Then nothing but the level and class matters."""
    noise = RegionNoise(CellList(us_coverage))
    assert len(noise.examples) == 1 + len(us_coverage.spec.reported_groups)


def test_the_expected_values_are_those_that_are_published(v2: Coverage, counts: Floats) -> None:
    """Of a week of vaccination-v2, each level and trend publishes the expected number, within 6 deviations."""
    cells = CellList(v2)
    expected = expect(v2.spec, v2, profile_of(v2, counts))
    noise = np.random.default_rng(8).normal(0, cells.sigmas)
    noisy = np.rint(counts.ravel() + noise).astype(np.int64)[None]
    trends = trends_of(cells, [v2.spec.sparsity.first_week], noisy)
    levels = np.array([region.level for region in trends.regions])
    for (level, trend), wanted in expected.of_levels.items():
        number = [t.id for t in v2.spec.trends].index(trend)
        published = trends.ratios.kept[0, levels == level, number].sum()
        assert abs(published - wanted) < 6 * math.sqrt(wanted) + 0.01 * wanted + 1, (level, trend, published, wanted)
    assert expected.of_levels["postal_code", "C3"] > 1000


def test_reconciliation_is_worth_values(v2: Coverage, counts: Floats) -> None:
    """An expectation that judged each region by its own noise would be too low by more than the test above allows."""
    from dataclasses import replace

    from search_insights.spec.measures import Counting

    alone = replace(v2.spec, counting=Counting("one", rest_cells=True, reconcile=False))
    profile = profile_of(v2, counts)
    assert (
        expect(alone, v2, profile).of_levels["county", "C1"]
        < 0.97 * expect(v2.spec, v2, profile).of_levels["county", "C1"]
    )


def test_a_profile_without_regions_means_every_region_alike(tmp_path: Path) -> None:
    """A row of a level and class stands for its regions in equal parts, whatever their noise."""
    coverage = Coverage(load_spec("vaccination-v2"), load_geography(little_geography(tmp_path)))
    row = np.array([[4_000.0, 100.0, 20.0, -30.0]])
    groups = (("country", None), *coverage.spec.reported_groups)
    profile = Profile(dict.fromkeys(groups, row), dict.fromkeys(groups, np.array([6.0])))
    outlook = Outlook.of(coverage.spec, coverage, profile)
    kinds = [i for i, group in enumerate(outlook.noise.groups) if group == ("county", "medium")]
    assert len(kinds) == 2, "El Dorado has a postal code, Doña Ana has none"
    assert [outlook.weight[outlook.kind == kind].sum() for kind in kinds] == [3.0, 3.0]


def test_the_trends_of_a_spec_with_other_measures_have_the_same_counts(v2: Coverage, counts: Floats) -> None:
    """The paper's spec on a profile of vaccination-v2: C1 is half of U + Q1, not the measure of the same number."""
    paper = load_spec()
    profile = profile_of(v2, counts)
    rows = profile.counts["state", None]
    outlook = Outlook.of(paper, v2, Profile({("state", None): rows}, {("state", None): np.ones(len(rows))}))
    np.testing.assert_allclose(outlook.x[:, 1] @ outlook.weight, (rows[:, 1] + rows[:, 2]).sum() / 2)


def test_the_slopes_are_those_of_the_expected_values(v2: Coverage, counts: Floats) -> None:
    """Moving any sigma a little changes the values of every level and trend as the slopes say; coarse is near fine."""
    table = table_of(v2.spec)
    outlook = Outlook.of(v2.spec, v2, profile_of(v2, counts))
    coarse = outlook.coarse(table)
    assert coarse.expect(table).total == pytest.approx(outlook.expect(table).total, rel=0.01)
    forecast, step = Forecast(coarse), 1e-3
    slopes = forecast.slopes(table)
    for group, measure in ((0, 0), (1, 1), (3, 2), (5, 0)):
        moved = [table.copy(), table.copy()]
        for each, sign in zip(moved, (1, -1), strict=True):
            each[group, measure] *= math.exp(sign * step / 2)
        change = (forecast.points(moved[0]) - forecast.points(moved[1])) / (2 * step)
        np.testing.assert_allclose(slopes[:, :, group, measure], change, rtol=1e-3, atol=1e-2)
