"""Promises about the simulated log: who searches, when, from where, about what, and what a rerun does.

Statistical promises are tested with fixed seeds. Their bounds would fail a right program with a probability under
one in a million each, and each test also shows that the same bound refuses a log that is wrong by 10 %.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import numpy.typing as npt
import pytest

from search_insights.commands import simulate as command
from search_insights.errors import InputError, SearchInsightsError
from search_insights.simulation import simulation as simulate_module
from search_insights.simulation.day import make_world
from search_insights.simulation.files import written_names
from search_insights.simulation.interest import NationalCurve, published_trends
from search_insights.simulation.population import plant, rank_of, rates, settle
from search_insights.simulation.queries import query_texts
from search_insights.simulation.simulation import EVENTS_PER_USER, PEAK_SHARE, simulate
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec import Spec
from tests.support.other_country import other_geography, other_spec, other_spec_file, plain_spec

MONDAY = date(2021, 3, 8)  # the week of the national peak; summer time begins on its Sunday
SUNDAY = date(2023, 10, 1)  # a first day of the week in Qazaria
EVENTS = 1_000_000
ONE_IN_A_MILLION = 4.9  # standard deviations, both sides

Query = Callable[[str], list[tuple[Any, ...]]]


def chi_square_bounds(degrees: int) -> tuple[float, float]:
    """The values that chi-square stays between but once in a million (Wilson and Hilferty's approximation)."""
    spread = ONE_IN_A_MILLION * math.sqrt(2 / (9 * degrees))
    low, high = (degrees * (1 - 2 / (9 * degrees) + sign * spread) ** 3 for sign in (-1, 1))
    return low, high


def rows(path: Path) -> list[tuple[Any, ...]]:
    """Everything in a file, in its order; instants as microseconds."""
    with duckdb.connect() as connection:
        connection.read_parquet(str(path)).create_view("t")
        return connection.execute("SELECT * REPLACE (epoch_us(timestamp) AS timestamp) FROM t").fetchall()


def small(out: Path, coverage: Coverage, first_week: date = SUNDAY, **options: Any) -> dict[str, list[tuple[Any, ...]]]:
    """Simulate a little, and read it back by day."""
    given: dict[str, Any] = {"weeks": 1, "events_per_week": 7000, "seed": 3} | options
    simulate(out, coverage, first_week, **given)
    return {path.stem: rows(path) for path in sorted(out.iterdir())}


@pytest.fixture(scope="module")
def us_log(us_coverage: Coverage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
    """A week of the United States as the view `log`, with its `truth`, the `regions` and the state of each name."""
    folder = tmp_path_factory.mktemp("us")
    simulate(folder / "log", us_coverage, MONDAY, 1, EVENTS, 7, truth=folder / "truth.parquet")
    regions = us_coverage.geography.regions
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'America/Los_Angeles'")
        connection.read_parquet(str(folder / "log/*.parquet")).create("log")
        connection.read_parquet(str(folder / "truth.parquet")).create("truth")
        lines = [list(us_coverage.geography.lineage(r))[::-1] for r in regions]
        columns = {
            "region": written_names(us_coverage),
            "level": [r.level for r in regions],
            "state": [line[1].place_id if len(line) > 1 else "" for line in lines],
            "county": [line[2].place_id if len(line) > 2 else "" for line in lines],
        }
        connection.register("given", {k: np.array(v, dtype=object) for k, v in columns.items()})
        connection.execute("CREATE TABLE names AS FROM given WHERE level <> 'country'")
        yield lambda query: connection.execute(query).fetchall()


# The file


def test_a_log_is_one_file_a_day_with_the_columns_of_an_event(us_log: Query) -> None:
    """A day's file holds user_id, timestamp, region and category; times are instants; no topic is NULL."""
    types = [row[:2] for row in us_log("DESCRIBE log")]
    assert types == [
        ("user_id", "BIGINT"),
        ("timestamp", "TIMESTAMP WITH TIME ZONE"),
        ("region", "VARCHAR"),
        ("category", "VARCHAR"),
    ]
    found = us_log("SELECT DISTINCT category FROM log ORDER BY category NULLS FIRST")
    assert found == [(None,), ("A1",), ("A2",), ("A3",)]
    assert us_log("SELECT count(*), count(user_id), count(timestamp), count(region) FROM log") == [(EVENTS,) * 4]


def test_a_week_has_exactly_as_many_events_as_were_asked_for(tmp_path: Path, other_coverage: Coverage) -> None:
    """Rounding over the days loses none."""
    for events in (1, 6, 7001):
        days = small(tmp_path / str(events), other_coverage, events_per_week=events)
        assert len(days) == 7
        assert sum(len(day) for day in days.values()) == events


# The same seed, the same log


def test_the_same_seed_gives_the_same_log_and_another_seed_another(tmp_path: Path, us_coverage: Coverage) -> None:
    """Also row by row, and however the threads took turns."""
    options: dict[str, Any] = {"first_week": MONDAY, "events_per_week": 70_000}
    one, two, other = (
        small(tmp_path / name, us_coverage, seed=seed, **options) for name, seed in (("1", 3), ("2", 3), ("3", 4))
    )
    assert one == two
    assert all(one[day] != other[day] for day in one)


def test_the_same_command_again_rewrites_the_same(tmp_path: Path, other_coverage: Coverage) -> None:
    """A run over its own result is no error."""
    first = small(tmp_path / "log", other_coverage)
    assert small(tmp_path / "log", other_coverage) == first


def test_a_week_alone_is_the_same_as_in_sequence(tmp_path: Path, other_coverage: Coverage) -> None:
    """A day depends on no other day, so a log can be extended, or a lost day made again."""
    together = small(tmp_path / "both", other_coverage, weeks=2)
    alone = small(tmp_path / "second", other_coverage, SUNDAY + timedelta(weeks=1))
    assert alone == {day: together[day] for day in alone}
    assert len(together) == 14


def test_a_log_can_be_extended_week_by_week(tmp_path: Path, other_coverage: Coverage) -> None:
    """Further weeks of the same simulation go into the same folder."""
    small(tmp_path / "log", other_coverage)
    assert len(small(tmp_path / "log", other_coverage, SUNDAY + timedelta(weeks=1))) == 14


# When


@pytest.mark.parametrize(("week", "hours"), [(MONDAY, 23), (date(2021, 11, 1), 25), (date(2021, 1, 4), 24)])
def test_events_fall_within_their_local_day(tmp_path: Path, us_coverage: Coverage, week: date, hours: int) -> None:
    """From midnight to midnight in the spec's time zone, also where the clocks change; in the order of time."""
    zone = ZoneInfo("America/Los_Angeles")
    days = small(tmp_path / "log", us_coverage, week, events_per_week=70_000)
    for name, events in days.items():
        midnight = datetime.combine(date.fromisoformat(name), time(), zone)
        begin = midnight.timestamp() * 1e6
        end = datetime.combine(midnight.date() + timedelta(days=1), time(), zone).timestamp() * 1e6
        times = [row[1] for row in events]
        assert begin <= times[0] < begin + 600e6
        assert end - 600e6 < times[-1] < end
        assert times == sorted(times)
    assert (end - begin) / 3600e6 == hours


def test_people_search_by_day_more_than_by_night(us_log: Query) -> None:
    """The evening is busy and the small hours are quiet, as the clock of the release shows them."""
    hours: dict[int, int] = dict(us_log("SELECT hour(timestamp), count(*) FROM log GROUP BY 1"))
    assert len(hours) == 24
    assert hours[20] > 4 * hours[3]
    assert us_log(
        "SELECT count(*) FROM log WHERE date_trunc('day', timestamp) = '2021-03-14' AND hour(timestamp) = 2"
    ) == [(0,)]


# Where


def test_the_shares_of_regions_are_those_of_their_populations(us_coverage: Coverage) -> None:
    """Counties by their population; within a county ZIPs by theirs; a county without ZIPs is a place itself."""
    regions, tree = us_coverage.geography.regions, plant(us_coverage.geography)
    weight = {r.place_id: w for r, w in zip(regions, tree.weight, strict=True)}
    people = us_coverage.geography.country.population or 0
    for region in regions:
        if region.level == "county":
            assert weight[region.place_id] == pytest.approx((region.population or 0) / people)
    zips = [r for r in regions if r.parent == "geoId/06075"]
    total = sum(r.population or 0 for r in zips)
    for region in zips:
        share = weight[region.place_id] / weight["geoId/06075"]
        assert share == pytest.approx((region.population or 0) / total)
    leaves = {regions[i].place_id for i in tree.leaves}
    assert "geoId/51600" in leaves  # the City of Fairfax, which holds no ZIP
    assert sum(tree.weight[tree.leaves]) == pytest.approx(1)


def test_searches_come_from_the_states_in_proportion_to_population(us_log: Query, us_coverage: Coverage) -> None:
    """One search of each user, by state: chi-square with 50 degrees of freedom, neither too high nor too low."""
    found: dict[str, int] = dict(
        us_log("""SELECT state, count(*) FROM (SELECT user_id, min_by(region, timestamp) AS region FROM log GROUP BY 1)
                  JOIN names USING (region) GROUP BY 1""")
    )
    states = {r.place_id: r.population or 0 for r in us_coverage.geography.regions if r.level == "state"}
    counts = np.array([found[state] for state in states], dtype=np.float64)
    low, high = chi_square_bounds(50)
    assert low < chi_square(counts, np.array(list(states.values()))) < high
    for distortion in (0.9, 1.1):
        wrong = np.array([p * (distortion if s == "geoId/06" else 1) for s, p in states.items()])
        assert chi_square(counts, wrong) > high


def chi_square(counts: npt.NDArray[np.float64], weights: npt.NDArray[Any]) -> float:
    expected = counts.sum() * weights / weights.sum()
    return float(((counts - expected) ** 2 / expected).sum())


def test_every_population_unknown_or_zero_still_gives_everyone_a_place(other_coverage: Coverage) -> None:
    """What is not known is shared out evenly below what is known; nobody lives where the population is 0."""
    geography = other_coverage.geography
    tree = plant(geography)
    weight = {r.place_id: w for r, w in zip(geography.regions, tree.weight, strict=True)}
    assert sum(tree.weight[tree.leaves]) == pytest.approx(1)
    assert weight["qz/c/031"] == weight["qz/s/p09"] == 0
    assert weight["qz/s/p01"] == pytest.approx(weight["qz/s/p02"])
    assert weight["qz/s/p03"] / weight["qz/s/p04"] == pytest.approx(900 / 800)


def test_some_people_search_from_several_places_on_one_day(us_log: Query) -> None:
    """In another ZIP, another county, another state: most of it near home."""
    ((days, zips, counties, states),) = us_log("""
        SELECT count(*), count(*) FILTER (zips > 1), count(*) FILTER (counties > 1), count(*) FILTER (states > 1)
        FROM (SELECT count(DISTINCT region) AS zips, count(DISTINCT county) AS counties, count(DISTINCT state) AS states
              FROM log JOIN names USING (region) WHERE level = 'postal_code'
              GROUP BY user_id, date_trunc('day', timestamp) HAVING count(*) > 1)""")
    assert days > zips > counties > states > 100
    assert zips > 0.1 * days


def test_a_few_events_are_known_to_the_county_or_the_state_only(us_log: Query) -> None:
    """3 % and 1 %; a county is written by its place_id, because its bare code may be a ZIP elsewhere."""
    found: dict[str, int] = dict(us_log("SELECT level, count(*) FROM log JOIN names USING (region) GROUP BY 1"))
    assert sum(found.values()) == EVENTS
    for level, share in (("county", 0.03), ("state", 0.01)):
        error = found[level] - share * EVENTS
        slack = 500  # those who live in a county without ZIPs
        assert abs(error) < ONE_IN_A_MILLION * math.sqrt(share * EVENTS) + slack
        assert abs(error) + 0.1 * share * EVENTS > ONE_IN_A_MILLION * math.sqrt(share * EVENTS)
    assert us_log("SELECT count(*) FROM log WHERE region LIKE 'geoId/%'") == [(found["county"],)]
    assert us_log("SELECT count(*) FROM log WHERE region LIKE 'US-__'") == [(found["state"],)]


@pytest.mark.parametrize("coverage", ["us_coverage", "other_coverage"])
def test_a_written_name_means_one_region(coverage: str, request: pytest.FixtureRequest) -> None:
    """A reader takes a place_id for its region and a code for the finest region that has it."""
    given: Coverage = request.getfixturevalue(coverage)
    regions = given.geography.regions  # coarse before fine
    meant = {r.code: i for i, r in enumerate(regions)} | {r.place_id: i for i, r in enumerate(regions)}
    assert [meant[name] for name in written_names(given)] == list(range(len(regions)))


# Who


def test_most_people_search_a_little_and_some_a_lot(us_log: Query) -> None:
    """Of those who search on a day half do so once; the busiest hundreds of times; 1 % make over a tenth of all."""
    ((median, most),) = us_log("""
        SELECT median(n), max(n) FROM (SELECT count(*) AS n FROM log GROUP BY user_id, date_trunc('day', timestamp))""")
    assert median <= 2
    assert 200 < most < 2000
    ((top,),) = us_log("""
        SELECT sum(n) FROM (SELECT count(*) AS n FROM log GROUP BY user_id ORDER BY n DESC LIMIT 2500)""")
    assert top > EVENTS / 10


def test_the_rates_are_those_that_ranks_are_drawn_with() -> None:
    """The truth weighs people by what they search: the drawn ranks of 20 users fit the rates."""
    users, draws = 20, 200_000
    drawn = rank_of(np.random.default_rng(1).random(draws), users).astype(np.int64)
    counts = np.bincount(drawn, minlength=users).astype(np.float64)
    share = rates(users)
    assert share.sum() == pytest.approx(1)
    low, high = chi_square_bounds(users - 1)
    assert low < chi_square(counts, share) < high
    assert chi_square(counts, share * np.where(np.arange(users) < 5, 1.1, 1)) > high


def test_the_number_of_users_can_be_chosen(tmp_path: Path, other_coverage: Coverage) -> None:
    """No more users than there are people, each with a number of their own."""
    days = small(tmp_path / "log", other_coverage, users=50, events_per_week=7000)
    assert len({row[0] for events in days.values() for row in events}) == 50


# About what


def test_topics_follow_the_expected_shares_in_the_country_and_in_every_state(us_log: Query) -> None:
    """Given how much is searched, topics are binomial: chi-square over the states, and each national share."""
    found = us_log("""
        SELECT place_id, truth.category, expected_ratio, n, count(*) AS events
        FROM truth JOIN names ON place_id = state
        JOIN log USING (region)
        JOIN (SELECT state, count(*) AS n FROM log JOIN names USING (region) GROUP BY 1) USING (state)
        WHERE truth.level = 'state' AND truth.category = log.category GROUP BY ALL""")
    assert len(found) == 51 * 3
    share, n, events = (np.array([row[i] for row in found], dtype=np.float64) for i in (2, 3, 4))
    low, high = chi_square_bounds(len(found))
    assert low < distance(events, n, share) < high
    assert distance(events, n, share * 1.1) > high
    assert distance(events, n, share * 0.9) > high
    for category, expected in us_log(
        "SELECT category, expected_ratio FROM truth WHERE level = 'country' AND category <> 'A0'"
    ):
        ((events_of,),) = us_log(f"SELECT count(*) FROM log WHERE category = '{category}'")
        spread = ONE_IN_A_MILLION * math.sqrt(EVENTS * expected * (1 - expected))
        assert abs(events_of - EVENTS * expected) < spread < 0.1 * EVENTS * expected


def distance(events: npt.NDArray[Any], n: npt.NDArray[Any], share: npt.NDArray[Any]) -> float:
    return float(((events - n * share) ** 2 / (n * share * (1 - share))).sum())


def test_the_national_curve_is_the_published_one(paper: Spec) -> None:
    """161 weeks; A3 is what is left of all; the highest week has the peak share."""
    published = published_trends()
    assert len(published["date"]) == 161
    curve = NationalCurve(paper, 0.2)
    assert curve.shares(MONDAY).sum() == pytest.approx(0.2)
    weeks = [date.fromordinal(int(day)) for day in published["date"]]
    shares = np.array([curve.shares(week) for week in weeks]).T
    assert shares[0] == pytest.approx(0.2 * published["vaccination_intent"] / 100)
    assert shares[1] == pytest.approx(0.2 * published["safety_side_effects"] / 100)
    assert shares.sum(axis=0) == pytest.approx(0.2 * published["covid19_vaccination"] / 100)
    assert (shares > 0).all()


@pytest.mark.parametrize("spec", [other_spec(), plain_spec()])
def test_other_topics_have_smooth_curves_of_their_own(spec: Spec) -> None:
    """Every topic is searched for in every week, changes slowly, and the total stays at the peak share or below."""
    curve = NationalCurve(spec, 0.1)
    shares = np.array([curve.shares(SUNDAY + timedelta(weeks=i)) for i in range(120)])
    assert shares.shape[1] == len(spec.topics)
    assert (shares > 0).all()
    assert shares.sum(axis=1).max() <= 0.1 + 1e-9
    assert np.abs(np.diff(shares, axis=0) / shares[:-1]).max() < 0.3
    assert np.ptp(shares, axis=0).min() > 0.01


def test_weeks_outside_the_table_have_a_made_up_curve(paper: Spec) -> None:
    """Also before and after the original's weeks there is something to publish."""
    for week in (date(2019, 6, 3), date(2030, 6, 3)):
        shares = NationalCurve(paper, 0.1).shares(week)
        assert (shares > 0).all()
        assert shares.sum() <= 0.1


def test_a_map_shows_structure(us_log: Query) -> None:
    """Counties differ, and those of one state are more alike than those of the whole country."""
    ((everywhere, within),) = us_log("""
        WITH c AS (SELECT state, ln(expected_ratio) AS x FROM truth
                   JOIN (SELECT DISTINCT county, state FROM names) ON place_id = county WHERE category = 'A1'),
             s AS (SELECT state, var_samp(x) AS v FROM c GROUP BY 1)
        SELECT (SELECT stddev_samp(x) FROM c), sqrt((SELECT avg(v) FROM s))""")
    assert 0.15 < everywhere < 0.6
    assert within < 0.9 * everywhere


# The truth


def test_the_truth_has_every_reported_region_and_category(us_log: Query, us_coverage: Coverage) -> None:
    """One row for each; A0 is all searches; topics together are fewer; the country is at the peak share."""
    reported = {p for p, standing in us_coverage.standings.items() if standing.reported}
    assert us_log("SELECT count(*), count(DISTINCT place_id), count(DISTINCT week) FROM truth") == [
        (len(reported) * 4, len(reported), 1)
    ]
    assert us_log("SELECT DISTINCT week FROM truth") == [(MONDAY,)]
    assert us_log("SELECT DISTINCT expected_ratio FROM truth WHERE category = 'A0' AND expected_ratio IS NOT NULL") == [
        (1.0,)
    ]
    ((least, most),) = us_log("""
        SELECT min(x), max(x)
        FROM (SELECT sum(expected_ratio) AS x FROM truth WHERE category <> 'A0' GROUP BY place_id)""")
    assert 0.01 < least < PEAK_SHARE < most < 0.6
    ((peak,),) = us_log("SELECT sum(expected_ratio) FROM truth WHERE level = 'country' AND category <> 'A0'")
    assert peak == pytest.approx(PEAK_SHARE)


def test_the_truth_is_empty_only_where_nobody_lives(us_log: Query, us_coverage: Coverage) -> None:
    """A region without people has no share, rather than a share of 0."""
    empty = {row[0] for row in us_log("SELECT place_id FROM truth WHERE expected_ratio IS NULL")}
    reported = [r for r in us_coverage.geography.regions if us_coverage.standings[r.place_id].reported]
    assert empty == {r.place_id for r in reported if r.population == 0}


def test_a_share_of_a_region_is_the_mean_over_the_searches_below_it(other_coverage: Coverage) -> None:
    """The levels agree with each other."""
    world = make_world(other_coverage, 1, 1000, 500, 0.1, queries=False)
    expected, weights = world.interest.expected(SUNDAY), world.interest.search_weights
    assert weights.sum() == pytest.approx(1)
    places = world.interest.shares(SUNDAY)
    assert expected[:, 0] == pytest.approx(places @ weights)
    assert expected[:, 0] == pytest.approx(world.interest.curve.shares(SUNDAY))


def test_search_weights_are_where_people_search(us_log: Query, us_coverage: Coverage) -> None:
    """The truth weighs places by the people who live and travel there and how much each searches, not by heads."""
    tree = plant(us_coverage.geography)
    weights = tree.gather(settle(tree, EVENTS // EVENTS_PER_USER, 7).search_weights())
    assert weights[0] == pytest.approx(1)
    found: dict[str, int] = dict(us_log("SELECT state, count(*) FROM log JOIN names USING (region) GROUP BY 1"))
    states = np.flatnonzero(tree.depth == 1)
    counts = np.array([found[us_coverage.geography.regions[i].place_id] for i in states], dtype=np.float64)
    _, high = chi_square_bounds(50)
    assert chi_square(counts, weights[states]) < high
    assert chi_square(counts, tree.weight[states]) > high


# Queries


def test_queries_replace_categories(tmp_path: Path, us_coverage: Coverage) -> None:
    """Texts on anything, some of them local; no column that tells the topic."""
    simulate(tmp_path / "log", us_coverage, MONDAY, 1, 200_000, 7, queries=True)
    with duckdb.connect() as connection:
        connection.read_parquet(str(tmp_path / "log/*.parquet")).create_view("log")
        assert [row[0] for row in connection.execute("DESCRIBE log").fetchall()] == [
            "user_id",
            "timestamp",
            "region",
            "query",
        ]
        counts = connection.execute("""
            SELECT count(*), count(DISTINCT query), count(*) FILTER (query LIKE '%vaccin%'),
                   count(*) FILTER (query LIKE '%county%'),
                   count(*) FILTER (query SIMILAR TO '.*[{}<>].*' OR query = '')
            FROM log WHERE query IS NOT NULL""").fetchall()
    ((events, distinct, vaccine, local, broken),) = counts
    assert events == 200_000
    assert distinct > 20_000
    assert 0.05 * events < vaccine < 0.15 * events
    assert local > 1000
    assert broken == 0


@pytest.mark.parametrize("spec", ["paper", "other"])
def test_there_are_many_texts_for_every_topic(spec: str, paper: Spec) -> None:
    """Tens of thousands of ordinary ones and thousands for each topic; some misspelt; the same for the same seed."""
    given = paper if spec == "paper" else other_spec()
    texts = query_texts(given, 1)
    pools = [set(texts.texts[first : first + count]) for first, count in zip(texts.first, texts.count, strict=True)]
    assert len(pools) == len(given.categories)
    assert len(pools[0]) > 20_000
    assert all(len(pool) > 1000 for pool in pools[1:])
    assert query_texts(given, 1).texts == texts.texts != query_texts(given, 2).texts


def test_texts_of_topics_are_about_them(paper: Spec) -> None:
    """A classifier can learn from them: each topic has words of its own, and ordinary texts have none of them."""
    texts = query_texts(paper, 1)
    ordinary, intent, safety, _ = (
        texts.texts[first : first + count] for first, count in zip(texts.first, texts.count, strict=True)
    )
    assert "covid vaccine near me" in intent
    assert "covid vaccine side effects" in safety
    assert "flu shot near me" in ordinary
    assert not {"covid vaccine", "covid shot"} & set(ordinary)


# Another release, another country


@pytest.mark.parametrize("spec", [other_spec(), plain_spec()])
@pytest.mark.parametrize("queries", [False, True])
def test_any_spec_and_geography_can_be_simulated(tmp_path: Path, spec: Spec, queries: bool) -> None:
    """Other levels, topics, time zone and first day of the week; names that would harm a careless writer."""
    coverage = Coverage(spec, load_geography(other_geography(tmp_path)))
    first = SUNDAY if spec.first_day_of_week == "sunday" else date(2024, 1, 6)
    truth = tmp_path / "truth.parquet"
    days = small(tmp_path / "log", coverage, first, queries=queries, truth=truth)
    events = [row for day in days.values() for row in day]
    known = set(written_names(coverage)) - {"QZ"}
    assert {row[2] for row in events} <= known
    assert len({row[2] for row in events}) > 10
    if not queries:
        assert {row[3] for row in events} == {None, *spec.topics}
    with duckdb.connect() as connection:
        connection.read_parquet(str(truth)).create_view("t")
        levels = {row[0] for row in connection.execute("SELECT DISTINCT level FROM t").fetchall()}
    assert levels == {"nation", *spec.level_names}


# What is refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"first_week": SUNDAY + timedelta(days=1)}, "Monday; weeks begin on Sunday"),
        ({"weeks": 0}, "--weeks 0: expected"),
        ({"weeks": 10**7}, "--weeks 10000000: the calendar ends"),
        ({"events_per_week": 0}, "--events-per-week 0: expected"),
        ({"users": 0}, "--users 0: expected"),
        ({"seed": -1}, "--seed -1: expected"),
        ({"peak_share": 0.0}, "--peak-share 0.0: expected"),
        ({"peak_share": 0.6}, "--peak-share 0.6: expected"),
        ({"peak_share": math.nan}, "--peak-share nan: expected"),
    ],
)
def test_options_that_make_no_log_are_refused(
    tmp_path: Path, other_coverage: Coverage, options: dict[str, Any], words: str
) -> None:
    """One line that says what was expected; nothing is written."""
    with pytest.raises(InputError, match=words):
        small(tmp_path / "log", other_coverage, **options)
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": 4}, "another simulation .seed differs."),
        ({"events_per_week": 8000, "users": 1750}, "another simulation .events_per_week differs."),
        ({"queries": True}, "another simulation .queries differs."),
        ({"peak_share": 0.2, "users": 9}, "another simulation .users, peak_share differ."),
    ],
)
def test_a_folder_with_another_simulation_is_refused(
    tmp_path: Path, other_coverage: Coverage, options: dict[str, Any], words: str
) -> None:
    """Two simulations never mix in one log; what is there stays as it is."""
    before = small(tmp_path / "log", other_coverage)
    with pytest.raises(InputError, match=words):
        small(tmp_path / "log", other_coverage, **options)
    assert {path.stem: rows(path) for path in (tmp_path / "log").iterdir()} == before


def test_a_folder_with_anything_else_is_refused(tmp_path: Path, other_coverage: Coverage) -> None:
    """A simulated log never goes beside a real one."""
    (tmp_path / "2023-10-01.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"holds 2023-10-01\.parquet, which is of no simulation"):
        simulate(tmp_path, other_coverage, SUNDAY, 1, 1000, 1)
    with pytest.raises(InputError, match="cannot be used as a folder"):
        simulate(tmp_path / "2023-10-01.parquet", other_coverage, SUNDAY, 1, 1000, 1)


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        ("truth.csv", r"a name that ends in \.parquet"),
        ("log/truth.parquet", "a file outside"),
        ("nowhere/truth.parquet", "no folder"),
    ],
)
def test_a_truth_in_the_wrong_place_is_refused(
    tmp_path: Path, other_coverage: Coverage, truth: str, words: str
) -> None:
    """The truth is Parquet, and it is never a part of the log; that is found out before the work."""
    with pytest.raises(InputError, match=words):
        small(tmp_path / "log", other_coverage, truth=tmp_path / truth)
    assert not (tmp_path / "log").exists()


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, other_coverage: Coverage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a file cannot be finished nothing of it is left, and the error is one line."""

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match="cannot be written"):
        small(tmp_path / "log", other_coverage)
    assert list((tmp_path / "log").iterdir()) == []


def test_what_an_interrupted_run_left_is_no_obstacle(tmp_path: Path, other_coverage: Coverage) -> None:
    """The next run goes over it."""
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / ".2023-10-01.parquet.part").write_bytes(b"half")
    simulate(tmp_path / "log", other_coverage, SUNDAY, 1, 1000, 1)
    assert sorted(path.name for path in (tmp_path / "log").iterdir())[0] == "2023-10-01.parquet"


# The command


def run_command(*arguments: str | Path) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args([str(argument) for argument in arguments]))


def test_the_command_writes_the_log_and_says_that_the_truth_is_private(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the log is, how large, and that the truth is for evaluation only."""
    where = ("--spec", other_spec_file(tmp_path), "--geography", other_geography(tmp_path))
    what = ("--from", "2023-10-01", "--weeks", "2", "--events-per-week", "7000", "--seed", "3")
    code = run_command("--out", tmp_path / "log", *what, *where, "--truth", tmp_path / "t.parquet")
    printed = capsys.readouterr()
    assert code == 0
    assert f"{tmp_path / 'log'}: 14 days, 14,000 events" in printed.out
    assert "private, for evaluation only" in printed.out
    assert len(list((tmp_path / "log").iterdir())) == 14
    assert printed.err == ""


def test_the_command_refuses_a_date_that_is_none(tmp_path: Path) -> None:
    """In one line."""
    with pytest.raises(SearchInsightsError, match="--from someday: expected a date"):
        run_command("--out", tmp_path / "log", "--from", "someday", "--seed", "3")


def test_progress_is_told_at_most_once_a_week(
    tmp_path: Path, other_coverage: Coverage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not at all for work that is soon done."""
    lines: list[str] = []
    small(tmp_path / "quick", other_coverage, progress=lines.append)
    assert lines == []
    clock = iter(range(0, 10**6, 10))
    monkeypatch.setattr(simulate_module, "monotonic", lambda: next(clock))
    small(tmp_path / "slow", other_coverage, weeks=3, progress=lines.append)
    assert len(lines) == 3
    assert "21,000 of 21,000 events" in lines[-1]
