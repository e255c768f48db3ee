"""A small geography for any spec, and logs of it."""

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Region, build_geography
from search_insights.spec.spec import Spec
from tests.support.bounded import Event

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def small_world(spec: Spec) -> Coverage:
    """Return a geography for a spec: two regions of all sizes in each region of the level above."""
    regions = [Region("W", "World", spec.total.level, None, None, 1e6, None, None, "W")]
    above = regions
    sizes = [size_class.min_population for size_class in spec.size_classes] or [0]
    for level in spec.level_names:
        below = [
            Region(
                f"{parent.code}{i}",
                "Somewhere",
                level,
                parent.place_id,
                sizes[(n + i) % len(sizes)],
                1e3,
                0,
                0,
                f"{parent.place_id}/{i}",
            )
            for n, parent in enumerate(above)
            for i in range(3 if parent.parent is None else 2)
        ]
        regions, above = regions + below, below
    return Coverage(spec, build_geography(regions, "small world"))


def events_of(coverage: Coverage, session: "SparkSession | None") -> st.SearchStrategy[list[Event]]:
    """Draw logs in which few users search in many places, often at the same instant; longer logs for Spark."""
    users, least = (4, 0) if session is None else (3, 25)
    counted = [r.place_id for r in coverage.geography.regions if r.level in coverage.spec.level_names]
    topics = st.none() | st.sampled_from([c.id for c in coverage.spec.categories])
    event = st.builds(Event, st.integers(1, users), st.integers(-9, 9), st.sampled_from(counted), topics)
    return st.lists(event, min_size=least, max_size=40)
