"""Bound from below, by experiment, what the noise gives away. The bound holds with a stated confidence.

The attacker sees noisy counts and guesses which of two logs they came from. The best test for Gaussian noise is the
likelihood ratio: a weighted sum of the counts that differ, compared with the midpoint. A test's advantage is how much
better than chance it is: how often it answers "with" for the log with the user-day, minus how often it does so for the
log without. For any mechanism, no test has a larger advantage than delta at epsilon 0. Observed frequencies are bounded
exactly (Clopper and Pearson, 1934).

Two bounds are computed from the same draws, each at half of the risk, and the larger one counts:

- Joint: how often does the same noise make the test answer "with" for one log and "without" for the other? That is its
  advantage, and it is rare, so few draws estimate it well. It assumes that noise is added to the counts and does not
  depend on them.
- Separate: the error rates on each log. It assumes nothing, so it detects noise that depends on the counts.

Converting an advantage into an epsilon assumes more: that the noise has the shape that was accounted for, at another
scale. The shape is tested separately (tests/dp/test_noise.py).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from search_insights.dp.noise import add_noise
from search_insights.support.arrays import Counts, Floats

_BATCH = 400_000  # values drawn at a time, to limit memory

Noise = Callable[[Counts, int], Counts]  # takes counts and how often, and returns what was added to each
# Moves the threshold off exact ties, which rounding would otherwise put on either side.
_TIE_BREAK = 1 + 1e-9


@dataclass(frozen=True, slots=True)
class Tally:
    """How often the test was wrong on each log, and how often the same noise gave a different answer for each log."""

    draws: int = 0
    false_alarms: int = 0
    misses: int = 0
    flips: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.draws + other.draws,
            self.false_alarms + other.false_alarms,
            self.misses + other.misses,
            self.flips + other.flips,
        )


@dataclass(frozen=True)
class Difference:
    """The exact counts in which two neighbouring logs differ, and the sigmas of their noise."""

    without: Counts
    with_it: Counts
    sigmas: Floats

    @property
    def size(self) -> int:
        """The number of counts that differ."""
        return int(self.without.size)


def draws_needed(advantage: float, confidence: float, shortfall: float) -> int:
    """Return the draws per log for which the bound falls short of the advantage by this share, on average."""
    from scipy import stats

    z = stats.norm.isf((1 - confidence) / 2)
    return int((z / shortfall) ** 2 * (1 - advantage) / advantage / 2) + 1


def lower_advantage(
    difference: Difference,
    draws: int,
    confidence: float,
    progress: Callable[[str], None] = lambda text: None,
    noise: Noise | None = None,
) -> float:
    """Draw the program's noise `draws` times for each log, attack, and bound the advantage from below.

    `noise` draws it for some counts, so many times, if not each cell gets noise of its own.
    """
    if not difference.size:
        return 0.0
    tally = Tally()
    batch = max(1, _BATCH // difference.size)
    while tally.draws < draws:
        tally += attack(difference, min(draws - tally.draws, batch), noise)
        progress(f"{tally.draws:,} of {draws:,} draws")
    return bound(tally, confidence)


def attack(difference: Difference, draws: int, noise: Noise | None = None) -> Tally:
    """Guess from noisy counts which log they came from. The test sees each count's distance from `without`."""
    gap = difference.with_it - difference.without
    weights = gap / difference.sigmas**2
    threshold = float(weights @ gap) / 2 * _TIE_BREAK

    def answers_with(distance: Counts) -> npt.NDArray[np.bool_]:
        answer: npt.NDArray[np.bool_] = distance @ weights > threshold
        return answer

    draw = noise or partial(_noise, sigmas=difference.sigmas)
    noises = [draw(counts, draws) for counts in (difference.without, difference.with_it)]
    (alarms, _), (_, hits) = answers = [(answers_with(drawn), answers_with(drawn + gap)) for drawn in noises]
    return Tally(
        draws,
        false_alarms=int(alarms.sum()),
        misses=draws - int(hits.sum()),
        flips=sum(int((on_with & ~on_without).sum()) for on_without, on_with in answers),
    )


def _noise(counts: Counts, draws: int, sigmas: Floats) -> Counts:
    """Add noise to the counts `draws` times as the program does, and return what was added."""
    tiled = np.tile(counts, draws)
    return (add_noise(tiled, np.tile(sigmas, draws)) - tiled).reshape(draws, -1)


def bound(tally: Tally, confidence: float) -> float:
    """Bound the advantage from below by the observed frequencies."""
    from scipy import stats

    risk = (1 - confidence) / 2
    pairs, flips = 2 * tally.draws, tally.flips
    joint = float(stats.beta.ppf(risk, flips, pairs - flips + 1)) if flips else 0.0
    separate = 1 - sum(_upper_rate(errors, tally.draws, risk / 2) for errors in (tally.false_alarms, tally.misses))
    return max(0.0, joint, separate)


def _upper_rate(errors: int, draws: int, risk: float) -> float:
    """Return Clopper and Pearson's upper bound on an error rate."""
    from scipy import stats

    return float(stats.beta.isf(risk, errors + 1, draws - errors)) if errors < draws else 1.0
