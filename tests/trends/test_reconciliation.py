"""Reconciled counts are the least-squares estimates of the tree, with their exact variances."""

from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import load_spec
from search_insights.support.arrays import Floats
from search_insights.trends.reconciliation import reconciled
from tests.support.logs import little_geography
from tests.support.one_place import one_place_specs
from tests.support.small_worlds import small_world


def dense_least_squares(cells: CellList, counts: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Return the estimates by the textbook formula, for one measure: every node is a sum of leaves."""
    nodes = len(cells.nodes)
    children = {node: np.flatnonzero(cells.parents == node) for node in range(nodes)}
    leaves = [node for node in range(nodes) if not children[node].size]
    design = np.zeros((nodes + 1, len(leaves)))
    for column, leaf in enumerate(leaves):
        node = leaf
        while node >= 0:
            design[node, column] = 1
            node = int(cells.parents[node])
        design[nodes, column] = 1
    weights = 1 / variances
    covariance = np.linalg.inv(design[:nodes].T @ (weights[:, None] * design[:nodes]))
    leaf_estimates = covariance @ design[:nodes].T @ (weights * counts)
    order = [nodes, *range(len(cells.regions))]
    spread = design @ covariance @ design.T
    return (design @ leaf_estimates)[order], np.diag(spread)[order]


@settings(max_examples=40, deadline=None)
@given(one_place_specs().filter(lambda spec: spec.counting.rest_cells), st.integers(0, 2**32))
def test_the_two_passes_are_least_squares(spec: Spec, seed: int) -> None:
    """For any tree and variances, both passes give what the textbook formula gives, for each week and measure."""
    cells = CellList(small_world(spec))
    if not cells.regions:
        return
    rng = np.random.default_rng(seed)
    counts = rng.normal(100, 50, (2, len(cells.nodes), len(spec.measures)))
    variances = rng.uniform(0.5, 400, counts.shape[1:])
    found, spread = reconciled(cells, counts, variances)
    for week in range(2):
        for measure in range(len(spec.measures)):
            wanted = dense_least_squares(cells, counts[week, :, measure], variances[:, measure])
            np.testing.assert_allclose(found[week, :, measure], wanted[0], rtol=1e-8, atol=1e-6)
            np.testing.assert_allclose(spread[:, measure], wanted[1], rtol=1e-8)


def test_a_variance_takes_the_region_above_into_account(tmp_path: Path) -> None:
    """In the little country every variance of vaccination-v2 is that of the textbook formula."""
    cells = CellList(Coverage(load_spec("vaccination-v2"), load_geography(little_geography(tmp_path))))
    variances = np.square(cells.sigmas).reshape(len(cells.nodes), 4)
    counts = np.arange(variances.size, dtype=np.float64).reshape(1, *variances.shape)
    found, spread = reconciled(cells, counts, variances)
    for measure in range(4):
        wanted = dense_least_squares(cells, counts[0, :, measure], variances[:, measure])
        np.testing.assert_allclose(found[0, :, measure], wanted[0], atol=1e-9)
        np.testing.assert_allclose(spread[:, measure], wanted[1])


@settings(max_examples=20, deadline=None)
@given(one_place_specs().filter(lambda spec: spec.counting.rest_cells), st.integers(0, 2**32))
def test_reconciling_keeps_what_agrees_and_adds_no_variance(spec: Spec, seed: int) -> None:
    """Counts that add up stay as they are, and no variance grows."""
    cells = CellList(small_world(spec))
    if not cells.regions:
        return
    rng = np.random.default_rng(seed)
    counts = np.zeros((1, len(cells.nodes), len(spec.measures)))
    has_children = np.isin(np.arange(len(cells.nodes)), cells.parents)
    counts[0, ~has_children] = rng.integers(-5, 500, (int((~has_children).sum()), len(spec.measures)))
    for level in reversed(spec.level_names[:-1]):
        for node in np.flatnonzero([n.level == level for n in cells.nodes]):
            if has_children[node]:
                counts[0, node] = counts[0, cells.parents == node].sum(axis=0)
    variances = rng.uniform(0.5, 400, counts.shape[1:])
    found, spread = reconciled(cells, counts, variances)
    np.testing.assert_allclose(found[0, 1:], counts[0, : len(cells.regions)], atol=1e-6)
    assert (spread[1:] <= variances[: len(cells.regions)] * (1 + 1e-9)).all()
