"""The draft of a spec for a new release, from a geography and the names of topics.

The levels are those of the geography. Size classes are chosen as in the paper, from the populations. The sigmas are
stand-ins of most noise: `calibration` finds the right ones.
"""

import math
import statistics
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from search_insights.spec.geography import Geography
from search_insights.spec.publication_rules import Reliability, Scaling, Sparsity
from search_insights.spec.size_classes import SizeClass
from search_insights.spec.spec import (
    MAX_SIGMA,
    Category,
    Level,
    Promise,
    Sigma,
    Spec,
    Total,
    Trend,
    reported_groups,
)

ANY = "any"  # the category of every search
WINDOW_WEEKS = 22  # of sparsity, as in the paper

# The paper's classes of US counties end at 100,000 and 500,000 people: 81 % and 95.5 % of all counties are smaller.
_SHARES_BELOW = (80, 95)  # %
_CLASS_NAMES = {2: ("small", "large"), 3: ("small", "medium", "large")}
_FEWEST = 5  # regions of a class
_MIN_AREA_KM2 = 3.0  # the paper's


@dataclass(frozen=True, slots=True)
class Topic:
    """What a release is about: a word for the log, and a title for readers."""

    name: str
    title: str


def draft_spec(
    geography: Geography, topics: Sequence[Topic], promise: Promise, time_zone: str, first_week: date
) -> Spec:
    """Return the spec of a new release, with stand-ins for its sigmas."""
    country, names = geography.country, geography.levels[1:]
    class_level, classes = size_classes(geography)
    levels = tuple(Level(name, _unreported(name, names, class_level, classes)) for name in names)
    categories = (Category(ANY, ANY), *(Category(t.name, t.name) for t in topics))
    groups = reported_groups(levels, class_level, [c.name for c in classes])
    return Spec(
        name=f"search-trends-{country.code.lower()}",
        title=f"Search trends in {country.name}",
        dataset="search_trends",
        time_zone=time_zone,
        first_day_of_week="monday",
        promise=promise,
        categories=categories,
        trends=tuple(Trend(t.name, t.name, t.title, (t.name,), f"sni_{t.name}") for t in topics),
        levels=levels,
        total=Total(geography.levels[0], names[0] if names else ""),
        class_level=class_level,
        size_classes=classes,
        sigmas=tuple(Sigma(*group, c.id, MAX_SIGMA) for group in groups for c in categories),
        min_area_km2=_min_area(geography),
        reliability=Reliability(0.80, 0.15),
        sparsity=Sparsity(3, first_week, first_week + timedelta(weeks=WINDOW_WEEKS - 1)),
        scaling=Scaling(100.0, topics[0].name if topics else ""),
    )


def _unreported(
    name: str, names: Sequence[str], class_level: str | None, classes: Sequence[SizeClass]
) -> tuple[str, ...]:
    """Return the classes that X3 leaves out: below the level of the classes, the smallest."""
    below = class_level is not None and names.index(name) > names.index(class_level)
    return (classes[0].name,) if below else ()


def _min_area(geography: Geography) -> float:
    """Return the paper's minimum area; 0 if the table lacks areas, because a region without one would be left out."""
    return _MIN_AREA_KM2 if all(r.land_area_km2 is not None for r in geography.regions[1:]) else 0.0


def size_classes(geography: Geography) -> tuple[str | None, tuple[SizeClass, ...]]:
    """Choose the level of the size classes, and classes with the paper's shares of regions; (None, ()) if none fit.

    As in the paper it is the level above the finest, so that the finest regions of small ones can be left out. If that
    one lacks populations, it is one above it, or the finest itself; never the coarsest, whose sum is the country.
    """
    names = geography.levels[2:]
    for level in (*names[-2::-1], *names[-1:]):
        populations = [r.population for r in geography.regions if r.level == level]
        known = [p for p in populations if p is not None]
        classes = _classes(known) if len(known) == len(populations) else ()
        if classes:
            return level, classes
    return None, ()


def _classes(populations: Sequence[int]) -> tuple[SizeClass, ...]:
    """Return classes with round bounds and enough regions in each; none if the regions cannot be divided."""
    ordered = sorted(populations)
    bounds: list[int] = []
    for share in _SHARES_BELOW if len(ordered) > 2 * _FEWEST else ():
        bound = _round_number(statistics.quantiles(ordered, n=100, method="inclusive")[share - 1])
        first, end = (bisect_left(ordered, limit) for limit in (bounds[-1] if bounds else 0, bound))
        if end - first >= _FEWEST and len(ordered) - end >= _FEWEST:
            bounds.append(bound)
    if not bounds:
        return ()
    starts, ends = [0, *bounds], [*(bound - 1 for bound in bounds), None]
    names = _CLASS_NAMES[len(starts)]
    return tuple(SizeClass(name, start, end) for name, start, end in zip(names, starts, ends, strict=True))


def _round_number(value: float) -> int:
    """Return the nearest of 1, 2, 5, 10, 20, 50 and so on; near is meant as a ratio."""
    tens = 10 ** math.floor(math.log10(max(value, 1.0)))
    return int(min((digit * tens for digit in (1, 2, 5, 10)), key=lambda near: abs(math.log(near / max(value, 1.0)))))
