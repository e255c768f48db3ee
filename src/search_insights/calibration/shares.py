"""What each mechanism may spend, 1 / sigma^2, as a function of free numbers: whatever these are, no case spends more.

The open levels are part of every case, so they are divided first, with one more share for what they leave; what is left
of each size class is then divided among its own levels and measures. Shares are the softmax of the free numbers, so
they are positive and add up to the budget.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from search_insights.calibration.region_noise import Group
from search_insights.support.arrays import Floats, Numbers


@dataclass(frozen=True)
class Shares:
    """Divides what a known table of sigmas spends in each case; the free numbers of a table are flat, plus one."""

    groups: tuple[Group, ...]
    table: Floats

    @cached_property
    def _spent(self) -> Floats:
        spent: Floats = self.table.ravel() ** -2.0
        return spent

    @cached_property
    def _blocks(self) -> dict[str | None, Numbers]:
        """The mechanisms of the open levels (None), and of each size class."""
        classes = [size_class for _, size_class in self.groups for _ in range(self.table.shape[1])]
        names = dict.fromkeys((None, *classes))
        return {name: np.flatnonzero([c == name for c in classes]) for name in names}

    @cached_property
    def _budgets(self) -> dict[str | None, float]:
        """What each size class spends together with the open levels; None: the least of them, or the open levels."""
        shared = float(self._spent[self._blocks[None]].sum())
        budgets = {c: shared + float(self._spent[own].sum()) for c, own in self._blocks.items() if c is not None}
        least: dict[str | None, float] = {None: min(budgets.values(), default=shared)}
        return least | budgets

    @property
    def _has_classes(self) -> bool:
        return len(self._blocks) > 1

    def begin(self) -> Floats:
        """Return the free numbers of the known table."""
        left = self._budgets[None] - self._spent[self._blocks[None]].sum()
        return np.log([*self._spent, left if self._has_classes else 1.0])

    def spent(self, free: Floats) -> Floats:
        """Return what each mechanism spends, flat."""
        spent = np.zeros(self.table.size)
        open_shares = self._open_shares(free)
        spent[self._blocks[None]] = self._budgets[None] * open_shares[:-1]
        left = self._budgets[None] * open_shares[:-1].sum()
        for name, own in self._blocks.items():
            if name is not None:
                spent[own] = (self._budgets[name] - left) * _softmax(free[own])
        return spent

    def sigmas(self, free: Floats) -> Floats:
        """Return the table of sigmas."""
        sigmas: Floats = self.spent(free).reshape(self.table.shape) ** -0.5
        return sigmas

    def slopes(self, free: Floats) -> Floats:
        """Return the slopes of the logarithm of what each mechanism spends by each free number."""
        slopes = np.zeros((self.table.size, free.size))
        numbers = np.append(self._blocks[None], free.size - 1)
        shares = self._open_shares(free)
        slopes[np.ix_(numbers[:-1], numbers)] = np.eye(len(numbers))[:-1] - shares
        of_open = self._budgets[None] * (np.append(shares[:-1], 0.0) - shares * shares[:-1].sum())
        left = self._budgets[None] * shares[:-1].sum()
        for name, own in self._blocks.items():
            if name is not None:
                slopes[np.ix_(own, own)] = np.eye(len(own)) - _softmax(free[own])
                slopes[np.ix_(own, numbers)] = -of_open / (self._budgets[name] - left)
        return slopes

    def _open_shares(self, free: Floats) -> Floats:
        """Return the shares of the open levels, and last of what they leave: nothing, if there are no classes."""
        own = free[self._blocks[None]]
        return _softmax(np.append(own, free[-1])) if self._has_classes else np.append(_softmax(own), 0.0)


def _softmax(free: Floats) -> Floats:
    weights = np.exp(free - free.max())
    shares: Floats = weights / weights.sum()
    return shares
