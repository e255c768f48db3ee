"""What the peers share: which cells there are, and how a measurement is told."""

import json
from pathlib import Path

LEVELS = ("state", "county", "postal_code")
CATEGORIES = (0, 1, 2, 3)  # 0 is any search


def cells_of(folder: str, level: str) -> list[int]:
    """List the regions of a level that are reported."""
    cells: dict[str, list[int]] = json.loads(Path(folder, "cells.json").read_text(encoding="utf-8"))
    return cells[level]


def report(cells: int, state_total: float) -> None:
    """Print how many cells were released, and the noisy total of the states."""
    print(json.dumps({"cells": cells, "state_total": round(float(state_total))}), flush=True)
