"""What a spec says about top searches: the texts that people search for most.

Texts are not a public list, so a new one is shown only if enough people searched for it: there is an exact floor, and a
threshold that its noisy count must reach. What is shown joins a public list. Every text of that list then has a noisy
count every week, in the total and in each region of the coarsest level.
"""

import re
from dataclasses import dataclass

from search_insights.errors import Problem
from search_insights.spec.checks import SIGMAS, refuse, require, require_line, require_one_of, require_within

USERS = "users"

# More people than there are; a limit keeps the sums of the accounting within whole numbers.
_MOST = 10_000_000_000
_FINGERPRINT = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class TopSearches:
    """The numbers of the mechanism.

    A user-day counts in at most `texts_per_user_day` texts, and a user in each of them at most once a week. A text that
    is not yet public is shown if at least `min_users` users searched for it in the week and its noisy count in the
    total is at least `total_threshold`. A region lists a public text from a noisy count of `region_shown_from` on: that
    is post-processing.
    """

    texts_per_user_day: int
    unit: str
    min_users: int
    total_sigma: float
    total_threshold: int
    region_sigma: float
    region_shown_from: int
    vocabulary: str
    vocabulary_fingerprint: str | None = None

    def __post_init__(self) -> None:
        floor, threshold = self.min_users, self.total_threshold
        one = require(self.texts_per_user_day == 1, _key("texts_per_user_day"), "1", self.texts_per_user_day)
        unit = require_one_of(self.unit, (USERS,), _key("unit"))
        users = require(1 <= floor <= _MOST, _key("min_users"), "1 or more", floor)
        expected = f"at least min_users ({floor})"
        shown = require(floor <= threshold <= _MOST, _key("total_threshold"), expected, threshold)
        sigmas = [*require_within(self.total_sigma, SIGMAS, _key("total_sigma"))]
        sigmas += require_within(self.region_sigma, SIGMAS, _key("region_sigma"))
        region = require(self.region_shown_from >= 0, _key("region_shown_from"), "0 or more", self.region_shown_from)
        refuse([*one, *unit, *users, *sigmas, *shown, *region, *self._wrong_vocabulary()])

    def _wrong_vocabulary(self) -> list[Problem]:
        known = self.vocabulary_fingerprint
        fits = known is None or _FINGERPRINT.fullmatch(known) is not None
        wrong = require(fits, _key("vocabulary_fingerprint"), "a SHA-256: 64 digits from 0 to f", repr(known))
        return require_line(self.vocabulary, _key("vocabulary")) + wrong


def _key(name: str) -> str:
    return f"top_searches.{name}"
