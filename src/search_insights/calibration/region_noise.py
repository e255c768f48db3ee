"""The noise of every region's counts for any table of sigmas, found as `trends/derive.py` finds it for a release.

Where counts are reconciled, a region's variance depends on its place in the tree: on how many children it has, and on
those of its parent. Two regions are of one *kind* if these are alike, so that their variances are equal for every
table. Without reconciliation a level and class is one kind. Only public facts are used here.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

import numpy as np

from search_insights.spec.cells import CellList
from search_insights.spec.spec import MAX_SIGMA, MIN_SIGMA, Spec
from search_insights.support.arrays import Floats, Numbers
from search_insights.trends.derive import estimates, reaches_of, trend_variances

Group = tuple[str, str | None]

# The number of a group that has no sigmas of its own: the rests of open levels take those of a class (cells.py).
_ANY_CLASS = -1
_STEP = 1e-5  # by which variances are moved to find slopes


def table_of(spec: Spec) -> Floats:
    """Return the sigmas of a spec: a row for each reported level and class, a column for each measure."""
    return np.array([[spec.sigma(*group, m.id) for m in spec.measures] for group in spec.reported_groups])


def with_table(spec: Spec, table: Floats) -> Spec:
    """Return the spec with the sigmas of a table, as far as they are within the limits."""
    values = {
        (*group, measure.id): float(np.clip(sigma, MIN_SIGMA, MAX_SIGMA))
        for group, row in zip(spec.reported_groups, table, strict=True)
        for measure, sigma in zip(spec.measures, row, strict=True)
    }
    return replace(spec, sigmas=tuple(replace(s, value=values[s.level, s.size_class, s.category]) for s in spec.sigmas))


@dataclass(frozen=True)
class Noise:
    """The noise of one region of each kind: variances by measure, and by trend the sigma and the reach of X."""

    variances: Floats
    sigma_x: Floats
    reach_x: Floats | None

    @property
    def sigma_y(self) -> Floats:
        """The sigma of the count of any search."""
        sigma: Floats = np.sqrt(self.variances[:, :1])
        return sigma


@dataclass(frozen=True)
class RegionNoise:
    """The kinds of the total and of all reported regions, and their noise for a table of sigmas."""

    cells: CellList

    @property
    def spec(self) -> Spec:
        """The spec, whose sigmas need not be those of the table."""
        return self.cells.coverage.spec

    @cached_property
    def kinds(self) -> Numbers:
        """The number of the kind of the total, and then of each region."""
        of_nodes = self._groups.tolist()
        if self.spec.counting.reconcile:
            of_nodes = _kinds_of_trees(self.cells, of_nodes)
        return np.unique([-1, *of_nodes[: len(self.cells.regions)]], return_inverse=True)[1]

    @cached_property
    def examples(self) -> Numbers:
        """The first region of each kind; the total is number 0."""
        return np.unique(self.kinds, return_index=True)[1]

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The level and class of each kind."""
        reported = self.spec.reported_groups
        return tuple(reported[self._groups[i - 1]] if i else (self.spec.total.level, None) for i in self.examples)

    @cached_property
    def _groups(self) -> Numbers:
        """The number of the level and class of each node, regions first."""
        numbers = {group: i for i, group in enumerate(self.spec.reported_groups)}
        measures, rests = len(self.spec.measures), len(self.cells.regions)
        found = [numbers[c.region.level, c.size_class] for c in self.cells.cells[::measures]]
        of_any = [self.spec.class_level == node.level for node in self.cells.rests]
        return np.array([*found[:rests], *np.where(of_any, _ANY_CLASS, found[rests:])], dtype=np.int64)

    def rest_of(self, table: Floats) -> int:
        """Return the number of the level and class whose sigmas the rests of open levels take."""
        spec = with_table(self.spec, table)
        group = (self.spec.class_level, spec.rest_class)
        return self.spec.reported_groups.index(group) if spec.rest_class else _ANY_CLASS

    def of(self, table: Floats) -> Noise:
        """Return the noise of each kind for a table of sigmas."""
        own = self._own(table, self.rest_of(table))
        variances = self._estimated(own)
        of_examples = np.concatenate([np.full_like(own[:1], np.inf), own])[self.examples]
        sigma_x = np.sqrt(trend_variances(self.spec, variances))
        return Noise(variances, sigma_x, reaches_of(self.spec, variances, of_examples))

    def slopes(self, table: Floats, variances: Floats) -> Floats:
        """Return the slope of each kind's variances by the logarithm of each variance of the table.

        The axes are (level and class of the table, kind, measure): the noise of measures is independent.
        """
        rest, step = self.rest_of(table), np.sqrt(1 + _STEP)
        moved = [self._estimated(self._own(_with_row(table, i, table[i] * step), rest)) for i in range(len(table))]
        return np.stack([(each - variances) / _STEP for each in moved])

    def _own(self, table: Floats, rest: int) -> Floats:
        """Return the variances of the noise of each node's own cells."""
        own: Floats = np.square(table)[np.where(self._groups == _ANY_CLASS, rest, self._groups)]
        return own

    def _estimated(self, own: Floats) -> Floats:
        return estimates(self.cells, np.zeros((1, own.size)), own)[1][self.examples]


def _with_row(table: Floats, number: int, row: Floats) -> Floats:
    new = table.copy()
    new[number] = row
    return new


def _kinds_of_trees(cells: CellList, groups: Sequence[int]) -> list[int]:
    """Return the kind of each node: its level and class, what is below it, and the kind of the node above it."""
    number = count()
    shape_numbers: defaultdict[object, int] = defaultdict(lambda: next(number))
    kind_numbers: defaultdict[object, int] = defaultdict(lambda: next(number))
    levels, parents = cells.coverage.spec.level_names, cells.parents.tolist()
    order = sorted(range(len(groups)), key=lambda node: levels.index(cells.nodes[node].level))
    below: defaultdict[int, Counter[int]] = defaultdict(Counter)
    shapes: dict[int, int] = {}
    for node in reversed(order):  # children come before their parents
        shapes[node] = shape_numbers[groups[node], frozenset(below[node].items())]
        below[parents[node]][shapes[node]] += 1
    kinds = {-1: -1}
    for node in order:
        kinds[node] = kind_numbers[kinds[parents[node]], shapes[node]]
    return [kinds[node] for node in range(len(groups))]
