"""Top searches: which texts are shown, with noise on every count, and the chance that one is shown which should not be.

The public list V holds the texts that were shown before. Each of them gets noise in the total and in every region of
the coarsest level, also where nobody searched for it. Any other text is shown if its noisy count reaches the threshold,
and then gets noise in every region too. The floor of users is kept where the texts are counted, and required here.

A text that is not public has no public cell, so that it is shown at all tells something. Take two logs that differ by
one user-day, and a text with n users in one log and n + 1 in the other. The floor is m users.

    n + 1 < m   the text is shown in neither log
    n + 1 = m   it is shown in one log only, with the chance P(m + Z >= threshold): Z is the noise of the total
    n >= m      what is shown, or not, is computed from the noisy count of the total, which changes by 1, and from
                the noisy counts of the regions, one of which changes by 1

So the second line alone needs a delta, and the third is the case of a public text.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from search_insights.dp.noise import add_noise
from search_insights.spec.top_searches import TopSearches
from search_insights.support.arrays import Bools, Counts, Numbers

# Noise beyond this many sigmas has a probability under 1e-40, which no delta of a spec can tell from 0.
_REACH = 14.0
# Raises a computed probability by more than the error of floating-point numbers.
_UP = 1 + 1e-12


def chance_of_showing(top: TopSearches) -> float:
    """Return the chance that a new text of the least number of users, `min_users`, is shown."""
    return tail(top.total_sigma, top.total_threshold - top.min_users)


def tail(sigma: float, least: int) -> float:
    """Return P(Z >= least), for least >= 0 and the discrete Gaussian Z with this sigma."""
    # Its weights are exp(-z^2 / 2 sigma^2); both sums are of all that is not negligible.
    end = math.ceil(_REACH * sigma) + 2
    if least > end:
        return 1e-40
    weights = np.exp(-np.square(np.arange(end + 1) / sigma) / 2)
    whole = 2 * math.fsum(weights[1:]) + 1
    return min(1.0, math.fsum(weights[least:]) / whole * _UP + 1e-40)


class ExactTexts(Protocol):
    """The exact numbers of users of texts, which are private: in all, and for each text and region with users."""

    @property
    def texts(self) -> Sequence[str]:
        """The texts: all of the public list, and others that have as many users as the floor demands."""

    @property
    def categories(self) -> Numbers:
        """The number of each text's topic."""

    @property
    def users(self) -> Counts:
        """The users of each text."""

    @property
    def text(self) -> Numbers:
        """For each text and region with users, the index of the text."""

    @property
    def region(self) -> Numbers:
        """The index of the region."""

    @property
    def users_there(self) -> Counts:
        """The users of the text there."""


@dataclass(frozen=True)
class TopSearchCounts:
    """The texts of a week that are shown, with noisy counts: public. No other text, and no exact count.

    `users` has a count for each text, `by_region` a row for each text with a count for each region of the coarsest
    level. `is_new` says which texts were not shown before.
    """

    texts: tuple[str, ...]
    categories: Numbers
    is_new: Bools
    users: Counts
    by_region: Counts


def noisy_top_searches(top: TopSearches, exact: ExactTexts, known: Collection[str], regions: int) -> TopSearchCounts:
    """Add noise, and keep the texts that are shown. `known` is the public list V, `regions` the number of regions."""
    public = frozenset(known)
    is_known = np.array([text in public for text in exact.texts], dtype=np.bool_)
    _require_floor_and_list(top, exact, is_known, len(public))
    noisy = add_noise(exact.users, np.full(exact.users.shape, top.total_sigma))
    shown = np.flatnonzero(is_known | (noisy >= top.total_threshold))
    there = _by_region(exact, shown, regions)
    return TopSearchCounts(
        tuple(exact.texts[i] for i in shown.tolist()),
        exact.categories[shown],
        ~is_known[shown],
        noisy[shown],
        add_noise(there, np.full(there.shape, top.region_sigma)).reshape(shown.size, regions),
    )


def _require_floor_and_list(top: TopSearches, exact: ExactTexts, is_known: Bools, public: int) -> None:
    """Stop if counting broke a rule: new texts have as many users as the floor, and no public text is missing."""
    if (exact.users[~is_known] < top.min_users).any():
        raise RuntimeError("a new text has fewer users than the floor")
    if int(is_known.sum()) != public:
        raise RuntimeError("a text of the public list was not counted")


def _by_region(exact: ExactTexts, shown: Numbers, regions: int) -> Counts:
    """Return the exact counts of the texts that are shown, region by region, one text after the other; 0 where none."""
    row = np.full(len(exact.texts), -1, dtype=np.int64)
    row[shown] = np.arange(shown.size)
    counts = np.zeros(shown.size * regions, dtype=np.int64)
    of_shown = row[exact.text] >= 0
    np.add.at(counts, row[exact.text[of_shown]] * regions + exact.region[of_shown], exact.users_there[of_shown])
    return counts
