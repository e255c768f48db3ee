"""From experiments to a bound on what the noise gives away, which holds with a stated confidence.

The attacker sees noisy counts and guesses which of two logs they came from, by the best test there is for Gaussian
noise: the likelihood ratio, here a weighted sum of the counts that differ, compared with the middle. How much better
than guessing a test does is its advantage: how often it says "with" of the log with the user-day, less how often it
says so of the log without. No test has more of it than delta at epsilon 0, whatever the mechanism; seen frequencies
are bounded exactly (Clopper and Pearson, 1934).

Two bounds are taken from the same draws, each at half of the risk, and the larger one counts:

- From the noise drawn for both logs together: how often would the same noise make the test say "with" of one log and
  "without" of the other? That is its advantage, and it is rare, so few draws tell it well. It supposes that
  noise is added to the counts and does not depend on them.
- From each log's draws apart, which supposes nothing: noise that depends on the counts is found out by this one.

Turning an advantage into an epsilon supposes more: that the noise has the shape that was accounted for, of another
size. Its shape is tested apart (tests/dp/test_noise.py).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from search_insights.dp.noise import add_noise
from search_insights.support.arrays import Counts, Floats

_BATCH = 400_000  # values drawn at a time, to keep memory small
# Sums that lie on the threshold to the last bit must fall on the same side every time.
_OFF_THE_TIE = 1 + 1e-9


@dataclass(frozen=True, slots=True)
class Tally:
    """How often the test was wrong on each log, and how often its answer hung on the difference between them."""

    draws: int = 0
    false_alarms: int = 0
    misses: int = 0
    decided: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.draws + other.draws,
            self.false_alarms + other.false_alarms,
            self.misses + other.misses,
            self.decided + other.decided,
        )


@dataclass(frozen=True)
class Difference:
    """The exact counts in which two neighbouring logs differ, and the sigmas of the noise that hides it."""

    without: Counts
    with_it: Counts
    sigmas: Floats

    @property
    def size(self) -> int:
        """How many counts differ."""
        return int(self.without.size)


def draws_needed(advantage: float, confidence: float, shortfall: float) -> int:
    """Say how many draws for each log let the bound on an advantage come this near to it, on average."""
    from scipy import stats

    z = stats.norm.isf((1 - confidence) / 2)
    return int((z / shortfall) ** 2 * (1 - advantage) / advantage / 2) + 1


def lower_advantage(
    difference: Difference, draws: int, confidence: float, progress: Callable[[str], None] = lambda text: None
) -> float:
    """Draw the program's noise for both logs so many times, attack, and bound the advantage from below."""
    if not difference.size:
        return 0.0
    tally = Tally()
    batch = max(1, _BATCH // difference.size)
    while tally.draws < draws:
        tally += attack(difference, min(draws - tally.draws, batch))
        progress(f"{tally.draws:,} of {draws:,} draws")
    return bound(tally, confidence)


def attack(difference: Difference, draws: int) -> Tally:
    """Guess from noisy counts which log they came from; the test sees each count's distance from `without`."""
    gap = difference.with_it - difference.without
    weights = gap / difference.sigmas**2
    threshold = float(weights @ gap) / 2 * _OFF_THE_TIE

    def says_with(distance: Counts) -> npt.NDArray[np.bool_]:
        answer: npt.NDArray[np.bool_] = distance @ weights > threshold
        return answer

    noises = [_noise(counts, difference.sigmas, draws) for counts in (difference.without, difference.with_it)]
    (alarms, _), (_, hits) = answers = [(says_with(noise), says_with(noise + gap)) for noise in noises]
    return Tally(
        draws,
        false_alarms=int(alarms.sum()),
        misses=draws - int(hits.sum()),
        decided=sum(int((on_with & ~on_without).sum()) for on_without, on_with in answers),
    )


def _noise(counts: Counts, sigmas: Floats, draws: int) -> Counts:
    """Noise the counts so many times as the program does, and look at what was added."""
    tiled = np.tile(counts, draws)
    return (add_noise(tiled, np.tile(sigmas, draws)) - tiled).reshape(draws, -1)


def bound(tally: Tally, confidence: float) -> float:
    """Bound the advantage from below by what was seen."""
    from scipy import stats

    risk = (1 - confidence) / 2
    drawn, seen = 2 * tally.draws, tally.decided
    together = float(stats.beta.ppf(risk, seen, drawn - seen + 1)) if seen else 0.0
    apart = 1 - sum(_at_most(errors, tally.draws, risk / 2) for errors in (tally.false_alarms, tally.misses))
    return max(0.0, together, apart)


def _at_most(seen: int, draws: int, risk: float) -> float:
    from scipy import stats

    return float(stats.beta.isf(risk, seen + 1, draws - seen)) if seen < draws else 1.0
