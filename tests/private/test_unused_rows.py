"""Every engine reports the same unused rows, and used and unused rows add up to all rows."""

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.errors import LogError
from search_insights.private.bounding import EVENTS_VIEW, UNKNOWN_CATEGORY, row_counts_query
from search_insights.private.counting import add_contributions
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.engine import Engine, Unplaced, combined
from search_insights.private.log import LogSource
from search_insights.private.region_names import CLASS_BITS, region_names
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec_file import PACKAGED_SPECS, load_spec
from search_insights.support.arrays import Counts
from search_insights.support.sql import public_tables
from tests.support.logs import MONDAY, NOON, ROWS, WEEK, Publisher, on_spark, searches, write_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPAN = (WEEK.begin, WEEK.end)
COUNTRY = ("US", "country/USA")


@contextmanager
def on_duckdb(coverage: Coverage, log: Path, country: tuple[str, ...] = COUNTRY) -> Iterator[Engine]:
    """Return an engine for a log on DuckDB, in which the country has these names."""
    names = dataclasses.replace(region_names(coverage), country=country)
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, names) as engine:
        yield engine


def bounded(engine: Engine, days: Sequence[date] = WEEK.days) -> tuple[int, Unplaced]:
    """Bound days of the week; returns how many rows were used, and which rows with a user were not."""
    found = combined([engine.bound(day, *WEEK.day_bounds(day)) for day in days])
    return found.events, found.unplaced


CATEGORIES = st.sampled_from([0, 1, 3, -1, -2, -3, -4, UNKNOWN_CATEGORY, None])


@given(st.lists(st.tuples(CATEGORIES, st.one_of(st.none(), st.integers(0, 20)))))
def test_rows_are_counted_the_same_whether_all_are_looked_at_or_not(
    coverage: Coverage, rows: list[tuple[int | None, int | None]]
) -> None:
    """Both queries give the same numbers; an event is a row that the view of the events has, and no other.

    The place of a draw is the number of a region of the little country, or the one that means no region.
    """
    names = region_names(coverage)
    draws = [None if place is None else place << CLASS_BITS for _, place in rows]
    with public_tables() as connection:
        connection.execute("CREATE TEMP TABLE rows_of_day (category INTEGER, draw BIGINT)")
        given_rows = [[category for category, _ in rows], draws]
        connection.execute("INSERT INTO rows_of_day SELECT unnest(?::INTEGER[]), unnest(?::BIGINT[])", given_rows)
        quick, whole = (connection.execute(row_counts_query(names, knows_size=way)).fetchone() for way in (True, False))
        connection.execute(EVENTS_VIEW)
        events = connection.execute("SELECT count(*) FROM events").fetchone()
    assert quick == whole
    assert quick is not None
    assert events == (quick[0] - quick[1],)


@pytest.fixture
def imperfect(tmp_path: Path) -> Path:
    """A log with rows without a user, region or time, of the country, of unknown regions and of other weeks."""
    for name, days in (("of this week", 0), ("of next week", 7), ("of no week", 700)):
        query = searches(
            user_id="CASE WHEN i % 20 > 0 THEN i END",
            region="CASE i % 11 WHEN 1 THEN NULL WHEN 2 THEN 'Atlantis' WHEN 3 THEN 'US' WHEN 4 THEN 'country/USA' "
            "ELSE '94103' END",
            timestamp=f"CASE WHEN i % 13 > 0 THEN TIMESTAMPTZ '{MONDAY} 20:00:00+00' + to_days({days} + i::INTEGER % 9)"
            " END",
        )
        write_log(tmp_path / "log" / f"{name}.parquet", query)
    return tmp_path / "log"


def test_engines_report_the_same_unused_rows(session: "SparkSession", coverage: Coverage, imperfect: Path) -> None:
    """Both engines use the same number of events and report the same number of unused rows for each reason."""
    asked = (WEEK.begin - timedelta(days=1), WEEK.end + timedelta(days=1))
    by_spark = on_spark(session, coverage, imperfect)
    with on_duckdb(coverage, imperfect) as by_duckdb:
        for day in (WEEK.days[0], WEEK.days[-1]):  # that all days add up is checked below, by Spark itself
            one, other = (bounded(engine, [day]) for engine in (by_spark, by_duckdb))
            assert one == other
            assert one[0] > 0
        of_week = bounded(by_duckdb)
        found = by_spark.unused_rows(*SPAN, asked, *of_week)
        assert found == by_duckdb.unused_rows(*SPAN, asked, *of_week)
    assert min(found.no_user, found.no_region, found.country_only, found.unknown_region, found.outside) > 0


def test_searches_known_to_the_country_only_have_a_reason_of_their_own(publisher: Publisher) -> None:
    """The operator sees them apart from unknown regions, whether the log has the country's code or its place_id."""
    region = "CASE i WHEN 0 THEN 'US' WHEN 1 THEN 'country/USA' WHEN 2 THEN 'Atlantis' WHEN 3 THEN '' ELSE '94103' END"
    code, _, err = publisher.anonymize(publisher.log(searches(region=region)))
    assert code == 0
    assert "rows not used: 2 known to the country only, 2 with an unknown region (private" in err


@pytest.mark.parametrize("name", ["a'b", "a\\", "東", "x\\'y"])
def test_any_name_of_a_country_is_found(coverage: Coverage, tmp_path: Path, name: str) -> None:
    """Quotes, backslashes and other scripts in the country's place_id do not confuse the query."""
    text = name.replace("'", "''")
    log = write_log(tmp_path / "log.parquet", searches(region=f"CASE WHEN i < 3 THEN '{text}' ELSE '94103' END"))
    with on_duckdb(coverage, log, ("US", name)) as engine:
        found = engine.unused_rows(*SPAN, SPAN, *bounded(engine))
    assert (found.country_only, found.unknown_region) == (3, 0)


@pytest.mark.parametrize(("used", "unplaced"), [(-1, 0), (1, 0), (0, -1), (0, 1)])
def test_events_that_appear_or_disappear_during_the_run_are_noticed(
    coverage: Coverage, imperfect: Path, used: int, unplaced: int
) -> None:
    """If used and unused rows do not add up to all rows of the week, the log changed during the run."""
    with on_duckdb(coverage, imperfect) as engine:
        events, others = bounded(engine)
        engine.unused_rows(*SPAN, SPAN, events, others)
        with pytest.raises(LogError, match="changed while it was read; nothing was spent"):
            engine.unused_rows(*SPAN, SPAN, events + used, others + Unplaced(unknown_region=unplaced))


LEVELS = {"state": "state", "postal_code": "zip"}


def counts_with(spec: str, coverage: Coverage, log: Path, columns: dict[str, str]) -> Counts:
    """Count the week on DuckDB under a packaged spec."""
    coverage = Coverage(load_spec(spec), coverage.geography)
    source, cells = LogSource((str(log),), columns), CellList(coverage)
    names, counts = region_names(coverage, source), cells.zeros()
    with open_duckdb_engine(source, coverage.spec, names) as engine:
        for day in WEEK.days:
            add_contributions(counts, cells, names, engine.bound(day, *WEEK.day_bounds(day)))
    return counts


@pytest.mark.parametrize("spec", PACKAGED_SPECS)
@pytest.mark.parametrize("columns", [{}, LEVELS], ids=["region", "levels"])
def test_rows_that_are_not_used_change_no_count(
    coverage: Coverage, tmp_path: Path, spec: str, columns: dict[str, str]
) -> None:
    """Nothing of a row that names no known region counts, not even its topic, for a user who has other searches."""
    state, code = "['US-NM', NULL, NULL][(i % 3) + 1]", "[NULL, '94103', '95667'][(i % 3) + 1]"
    unknown = "[NULL, 'Atlantis', 'US', ''][(i % 4) + 1]"

    def rows(state: str, code: str, category: str, later: str = "") -> str:
        region, more = ("", f"{state} AS state, {code} AS zip") if columns else (f"coalesce({state}, {code})", "")
        return searches(region=region, category=category, more=more, timestamp=NOON + later)

    usable = rows(state, code, "['A1', NULL][(i % 2) + 1]")
    unusable = " UNION ALL ".join(
        rows("CAST(NULL AS VARCHAR)", unknown, f"'A{n}'", f" + to_seconds({n})") for n in (1, 2, 3)
    )
    alone = write_log(tmp_path / "alone.parquet", usable)
    mixed = write_log(tmp_path / "mixed.parquet", f"{usable} UNION ALL {unusable}")
    counts = counts_with(spec, coverage, alone, columns)
    assert counts.any()
    np.testing.assert_array_equal(counts_with(spec, coverage, mixed, columns), counts)


def test_a_table_that_grows_while_the_week_is_counted_is_refused(
    session: "SparkSession", coverage: Coverage, tmp_path: Path
) -> None:
    """A week is noised once, so it is not committed without the rows that were added during the run."""
    log = session.read.parquet(str(write_log(tmp_path / "log.parquet")))
    log.write.saveAsTable("growing")
    try:
        on_spark(session, coverage, "table:growing").unused_rows(
            *SPAN, SPAN, ROWS, Unplaced()
        )  # the week uses every row
        log.write.insertInto("growing")
        session.catalog.refreshTable("growing")
        with pytest.raises(LogError, match="changed while it was read"):
            on_spark(session, coverage, "table:growing").unused_rows(*SPAN, SPAN, ROWS, Unplaced())
    finally:
        session.sql("DROP TABLE growing")


def test_x4_holds_for_a_view_that_is_never_the_same(
    session: "SparkSession", coverage: Coverage, tmp_path: Path
) -> None:
    """A day's events are read once, so all draws of a user are from the same events even if the log changes."""
    places = "'94103', 'geoId/06003', 'geoId/06017', '95667'"
    log = session.read.parquet(str(write_log(tmp_path / "log.parquet", searches(rows=700))))
    log.createOrReplaceTempView("steady")
    chance = "CAST(reflect('java.lang.Math', 'random') AS DOUBLE)"  # rand() gives the same again within a query
    session.sql(f"""
        CREATE OR REPLACE TEMP VIEW fickle AS
        SELECT user_id, timestamp, array({places})[CAST(4 * {chance} AS INT)] AS region, 'A1' AS category
        FROM steady""")
    engine = on_spark(session, coverage, "table:fickle")
    found = engine.bound(WEEK.first_day, *WEEK.day_bounds(WEEK.first_day))
    by_category = [
        sorted(zip(found.open_places[chosen], found.classed_places[chosen], found.user_days[chosen], strict=True))
        for chosen in (found.categories == 0, found.categories == 1)
    ]
    assert by_category[0] == by_category[1] != []
