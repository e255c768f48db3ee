"""What the runs of the benchmark `peers` show: least times, whole-run rates, marginal rates, and how they compare."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

OURS = "search-insights"


@dataclass(frozen=True)
class Rates:
    """The rates of one program: its least time on its largest log, and the rate of further searches.

    The whole-run rate includes the fixed cost: starting, the geography, noise for all cells. The marginal rate is the
    slope between the smallest and the largest log; None if there is one log only, or the larger one took no longer.
    """

    who: str
    events: int
    seconds: float
    cpu: float
    marginal: float | None

    @property
    def whole(self) -> float:
        """Searches a second, from process start to end."""
        return self.events / self.seconds


def least(runs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep the fastest run of each program and size, because other work on the machine only ever adds time."""
    best: dict[tuple[str, int], dict[str, Any]] = {}
    for run in runs:
        key = run["who"], run["events"]
        if key not in best or run["seconds"] < best[key]["seconds"]:
            best[key] = run
    return list(best.values())


def rates(runs: Iterable[dict[str, Any]]) -> list[Rates]:
    """Return the rates of each program: this one first, then the others from fast to slow."""
    by_who: dict[str, list[dict[str, Any]]] = {}
    for run in least(runs):
        by_who.setdefault(run["who"], []).append(run)
    found = [_rates(who, sorted(its, key=lambda run: run["events"])) for who, its in by_who.items()]
    return sorted(found, key=lambda each: (each.who != OURS, -each.whole))


def _rates(who: str, runs: list[dict[str, Any]]) -> Rates:
    small, large = runs[0], runs[-1]
    events, seconds = large["events"] - small["events"], large["seconds"] - small["seconds"]
    slope = events / seconds if events and seconds > 0 else None
    return Rates(who, large["events"], large["seconds"], large["cpu"], slope)


def ratio(ours: float | None, theirs: float | None) -> float | None:
    """Return how many times faster this program is; None unless both were measured."""
    return ours / theirs if ours and theirs else None


def off_by(total: float, truth: float, sigma: float, states: int) -> float:
    """Return by how many standard deviations of its noise a sum of the states' counts is off."""
    return abs(total - truth) / (sigma * math.sqrt(states))
