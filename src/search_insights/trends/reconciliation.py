"""Making noisy counts agree with the hierarchy: a region is the sum of its children (rest included), by least squares.

Each measure is a tree of its own: nodes are the reported regions and the rests, the root is the total. Every node has a
noisy count of its own with a known variance, except the root. Two passes give the least-squares estimates of all nodes,
which are unbiased and have the least variance, and their exact variances (Hay and others, 2010, for trees whose
variances differ):

up    z = the weighted mean of the own count and of the children's sum; b = its variance, 1 / (1/v + 1/B)
down  f = z + (b/B) (f of the parent - sum of z);  Var f = b - (b/B)^2 (B - Var f of the parent)

where v is the variance of the own count, B the sum of the b of all children of one parent, and the sum of z theirs too.
Nothing is clipped: estimates below 0 stay, because raising them would bias every sum and break the intervals. Only
counts of one week are used, so a week's values never change because of later weeks.
"""

import numpy as np

from search_insights.spec.cells import CellList
from search_insights.support.arrays import Floats, Numbers


def reconciled(cells: CellList, counts: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Return reconciled counts and their variances, of the total and then of the regions.

    `counts` has the axes (week, node, measure), `variances` (node, measure).
    """
    steps = _steps(cells)
    root = len(cells.nodes)
    z = np.concatenate([counts.swapaxes(0, 1), np.zeros_like(counts[:, :1]).swapaxes(0, 1)])  # nodes first
    own = np.concatenate([variances, np.full_like(variances[:1], np.inf)])[:, None]
    b, sums, spread = own.copy(), np.zeros_like(z), np.zeros_like(own)
    for nodes, parents in reversed(steps):
        np.add.at(sums, parents, z[nodes])
        np.add.at(spread, parents, b[nodes])
        above = np.unique(parents)
        b[above] = 1 / (1 / own[above] + 1 / spread[above])
        z[above] = b[above] * (z[above] / own[above] + sums[above] / spread[above])
    for nodes, parents in steps:
        share = b[nodes] / spread[parents]
        z[nodes] += share * (z[parents] - sums[parents])
        b[nodes] -= share**2 * (spread[parents] - b[parents])
    order = np.concatenate([[root], np.arange(len(cells.regions))])
    return z[order].swapaxes(0, 1), b[order, 0]


def _steps(cells: CellList) -> list[tuple[Numbers, Numbers]]:
    """Return, from the coarsest level down, the nodes of a level and the node above each; the root is the last node."""
    levels = np.array([node.level for node in cells.nodes])
    parents = np.where(cells.parents >= 0, cells.parents, len(cells.nodes))
    of_levels = [np.flatnonzero(levels == level) for level in cells.coverage.spec.level_names]
    return [(nodes, parents[nodes]) for nodes in of_levels if nodes.size]
