"""Coverages of the little country that differ as those of a long series do: in words, derivation and counting."""

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Region, build_geography
from search_insights.spec.publication_rules import Reliability
from search_insights.spec.spec import Category, Trend
from tests.support.stores import FIRST, WeekCounts, add_weeks, changed

FORMER, WEST, EAST = "geoId/06017", "geoId/06901", "geoId/06902"
CROSSWALK = {FORMER: [WEST, EAST]}
BREAK = FIRST + timedelta(weeks=2)  # the first week of the second edition


def week(number: int) -> date:
    """Return a week, counted from the first, which is 0."""
    return FIRST + timedelta(weeks=number)


def split(coverage: Coverage) -> Coverage:
    """Return the release after El Dorado was divided into two counties."""
    old = coverage.geography.by_place_id[FORMER]
    new = [
        Region("06901", "El Dorado West", "county", old.parent, 150_000, 2_000.0, None, None, WEST),
        Region("06902", "El Dorado East", "county", old.parent, 140_000, 2_422.0, None, None, EAST),
    ]
    kept = [r._replace(parent=WEST) if r.parent == FORMER else r for r in coverage.geography.regions if r != old]
    return Coverage(coverage.spec, build_geography([*kept, *new], "after the split"))


def with_topic(coverage: Coverage) -> Coverage:
    """Return the release with one more topic, and a trend of it."""
    spec = coverage.spec
    sigmas = [replace(sigma, category="A4") for sigma in spec.sigmas if sigma.category == "A3"]
    return Coverage(
        replace(
            spec,
            categories=(*spec.categories, Category("A4", "boosters")),
            trends=(*spec.trends, Trend("C4", "boosters", "Boosters", ("A4",), "sni_boosters")),
            sigmas=(*spec.sigmas, *(replace(sigma, value=sigma.value * 2) for sigma in sigmas)),
        ),
        coverage.geography,
    )


def stricter(coverage: Coverage, error: float = 0.05) -> Coverage:
    """Return the release with another rule of reliability: derivation."""
    rule = Reliability(coverage.spec.reliability.confidence, error)
    return Coverage(replace(coverage.spec, reliability=rule), coverage.geography)


def split_store(path: Path, coverage: Coverage, *weeks: WeekCounts) -> Path:
    """Make a store of two weeks, then a county is divided, then more weeks."""
    add_weeks(path, coverage, {}, {})
    changed(path, split(coverage), "El Dorado was divided", BREAK, CROSSWALK)
    return add_weeks(path, split(coverage), *weeks, start=2)
