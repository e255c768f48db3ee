"""Several editions become one series: joined by region and trend, with no value where an edition has none."""

from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.errors import StoreError
from search_insights.spec.geography import Region
from search_insights.spec.spec import Spec, Trend
from search_insights.spec.spec_file import load_spec
from search_insights.trends.derive import Trends
from search_insights.trends.joining import joined
from search_insights.trends.reliability import Ratios

SPEC: Spec = load_spec()
FIRST = date(2021, 1, 4)


def region(name: str) -> Region:
    """Return a region that is known by its place_id."""
    return Region(name, name, "county", "W", None, None, None, None, name)


def trend(name: str, column: str | None = None) -> Trend:
    """Return a trend that is known by its id."""
    return Trend(name, name, name, ("A1",), column or f"sni_{name}")


def part(start: int, weeks: int, places: list[str], trends: list[str]) -> Trends:
    """Return an edition whose values tell where they come from."""
    shape = (weeks, len(places), len(trends))
    week, place, column = np.indices(shape)
    own = np.array([ord(p[0]) for p in places])[place] + np.array([ord(t[0]) for t in trends])[column] / 1000
    value = own * 1000 + start + week
    kept = (week + place + column) % 3 > 0
    ratios = Ratios(value, value - 1, value + 1, np.ones(shape, dtype=bool), kept)
    days = tuple(FIRST + timedelta(weeks=start + i) for i in range(weeks))
    return Trends(SPEC, days, tuple(map(region, places)), ratios, tuple(map(trend, trends)), np.ones(shape, dtype=bool))


names = st.lists(st.sampled_from("abcdef"), unique=True, max_size=6)


@given(st.lists(st.tuples(st.integers(1, 3), names, st.lists(st.sampled_from("xyz"), unique=True)), min_size=1))
def test_every_value_of_every_edition_is_found_under_its_week_region_and_trend(
    editions: list[tuple[int, list[str], list[str]]],
) -> None:
    """Whatever regions and trends the editions have: each value is in its place, and there is no other value."""
    parts, start = [], 0
    for weeks, places, trends in editions:
        parts.append(part(start, weeks, ["W", *places], ["t", *trends]))
        start += weeks
    whole = joined(parts)
    ids, columns = [r.place_id for r in whole.regions], [t.id for t in whole.columns]
    assert len(set(ids)) == len(ids)
    assert (ids[0], columns[0]) == ("W", "t")
    found = 0
    for each in parts:
        at = np.ix_(
            np.array([whole.weeks.index(week) for week in each.weeks]),
            np.array([ids.index(r.place_id) for r in each.regions]),
            np.array([columns.index(t.id) for t in each.columns]),
        )
        for name in ("value", "low", "high", "kept", "positive"):
            np.testing.assert_array_equal(getattr(whole.ratios, name)[at], getattr(each.ratios, name))
        assert whole.known[at].all()
        found += each.known.size
    assert whole.known.sum() == found
    assert not whole.ratios.kept[~whole.known].any()
    assert np.isnan(whole.ratios.value[~whole.known]).all(), "what an edition lacks is empty, not 0"


def test_what_is_present_comes_first_and_then_what_has_ended() -> None:
    """Columns and regions that readers know keep the order of the newest edition; former ones follow."""
    whole = joined([part(0, 2, ["W", "a", "b"], ["t", "x"]), part(2, 1, ["W", "c", "b"], ["y", "t"])])
    assert [r.place_id for r in whole.regions] == ["W", "c", "b", "a"]
    assert [t.id for t in whole.columns] == ["y", "t", "x"]


def test_two_trends_cannot_share_a_column() -> None:
    """A reader would take two trends under one column for one series, so they are refused."""
    one, other = part(0, 1, ["W"], ["t", "x"]), part(1, 1, ["W"], ["t"])
    shared = Trends(other.spec, other.weeks, other.regions, other.ratios, (trend("t", "sni_x"),), other.known)
    with pytest.raises(StoreError, match="another id with the column 'sni_x'"):
        joined([one, shared])
