"""What a user-day adds to the counts: measures, and the place in which they count.

In the paper each category is a measure, and each may count in another place. A spec may instead count a user-day in one
place, and then measure more than categories: a union of topics, or one topic against the others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from search_insights.errors import Problem
from search_insights.spec.checks import require, require_distinct, require_one_of, require_word

if TYPE_CHECKING:
    from search_insights.support.arrays import Counts, Numbers

BY_CATEGORY, ONE_PLACE = "by_category", "one"

# The topics of a user-day that counts in one place are the bits of a number.
MAX_TOPICS_OF_ONE_PLACE = 30


@dataclass(frozen=True, slots=True)
class Measure:
    """What a user-day adds to a count: 1 if it has a search in one of the categories `any_of`, otherwise -1 if it has
    one in `against`, otherwise 0. So it never changes a measure by more than 1 (X2).
    """

    id: str
    any_of: tuple[str, ...]
    against: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Counting:
    """Where a user-day counts.

    by_category  each category in its own place, and all classed levels in one size class (the paper, X4)
    one          everything in one place, at every level that the place has

    With `rest_cells`, every region whose children are reported has one more, unpublished child at their level: for
    searches of its unreported children, and for those known no finer. Then a region is the sum of its children, and
    with `reconcile` the noisy counts are made to agree with that.
    """

    place: str = BY_CATEGORY
    rest_cells: bool = False
    reconcile: bool = False


PAPER_COUNTING = Counting()


def wrong_counting(counting: Counting, given: Sequence[Measure], topics: int) -> Iterator[Problem]:
    """Yield what is wrong with how a spec counts."""
    yield from require_one_of(counting.place, (BY_CATEGORY, ONE_PLACE), "counting.place")
    one = counting.place == ONE_PLACE
    fits = not one or topics <= MAX_TOPICS_OF_ONE_PLACE
    yield from require(fits, "category", f"at most {MAX_TOPICS_OF_ONE_PLACE} topics in one place", topics)
    only_one = f"only with counting.place {ONE_PLACE!r}"
    yield from require(one or not given, "measure", only_one, repr(counting.place))
    yield from require(one or not counting.rest_cells, "counting.rest_cells", f"true {only_one}", "true")
    enough = counting.rest_cells or not counting.reconcile
    yield from require(enough, "counting.reconcile", "true only with counting.rest_cells", "true")


def wrong_measures(given: Sequence[Measure], categories: Sequence[str]) -> Iterator[Problem]:
    """Yield what is wrong with the measures of a spec; without any, its categories are its measures."""
    if not given:
        return
    yield from require_distinct((measure.id for measure in given), "measure.id")
    first = given[0]
    every = first.any_of == (categories[0],) and not first.against
    yield from require(every, f"measure {first.id!r}", f"every search first: any_of = [{categories[0]!r}]", "others")
    for i, measure in enumerate(given):
        yield from require_word(measure.id, "measure.id")
        key = f"measure {measure.id!r}"
        yield from require(len(measure.any_of) >= 1, f"{key}.any_of", "at least one category", "none")
        yield from require_distinct((*measure.any_of, *measure.against), key)
        for category in (*measure.any_of, *measure.against) if i else ():
            yield from require_one_of(category, categories[1:], key)


def measure_values(measures: Sequence[Measure], topics: Sequence[str], searched: "Numbers") -> "Counts":
    """Return what user-days add to each measure, one row a user-day, from the bits of the topics that they searched."""
    import numpy as np

    bits = {topic: 1 << i for i, topic in enumerate(topics)}

    def has_any(categories: Sequence[str]) -> "Numbers":
        mask = sum(bits.get(category, 0) for category in categories)
        every = any(category not in bits for category in categories)
        return np.asarray(np.ones_like(searched) if every else (searched & mask) > 0, dtype=np.int64)

    columns = []
    for measure in measures:
        positive = has_any(measure.any_of)
        columns.append(positive - (1 - positive) * has_any(measure.against) if measure.against else positive)
    return np.stack(columns, axis=-1).astype(np.int64)
