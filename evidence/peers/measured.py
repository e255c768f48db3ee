"""What the scripts of the peers share: which counts are released, and how they are reported."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

CATEGORIES = (0, 1, 2, 3)  # 0 is any search


@dataclass(frozen=True)
class Group:
    """Public regions of one level and size class (0 where the level has none), with a sigma for each category."""

    level: str
    size_class: int
    regions: list[int]
    sigmas: list[float]

    @property
    def rho(self) -> float:
        """The zCDP cost of its counts, if a user-day changes the count of each category by at most one."""
        return sum(rho_of(sigma) for sigma in self.sigmas)


def rho_of(sigma: float) -> float:
    """Return the zCDP cost of Gaussian noise on a count that changes by one."""
    return 1 / (2 * sigma**2)


def groups_of(folder: str) -> list[Group]:
    """List the groups of cells to release, states first."""
    return [Group(**group) for group in json.loads(Path(folder, "cells.json").read_text(encoding="utf-8"))]


def report(cells: int, state_totals: list[float], state_sigmas: list[float]) -> None:
    """Print the number of cells released, and each category's noisy total of the states and sigma of a state."""
    found = {"cells": cells, "state_totals": [round(float(total)) for total in state_totals]}
    sys.stdout.write(json.dumps(found | {"state_sigmas": [float(sigma) for sigma in state_sigmas]}) + "\n")
    sys.stdout.flush()
