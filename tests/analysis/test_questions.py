"""The questions that analysts ask of a published folder: averages, changes, comparisons and ranks."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import search_insights
from search_insights.analysis.reading import Period
from search_insights.errors import InputError
from tests.support.many_counties import Truth, many_counties, publish_counties
from tests.support.quick_accounting import patch_accounting

TREND = "vaccination_intent"
COUNTIES, LOUD, QUIET = 30, "geoId/06029", "geoId/06010"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five weeks of March 2021. The largest county is loudest; the smallest has a value in the third week only."""
    folder = tmp_path_factory.mktemp("counties")
    populations = [int(people) for people in np.geomspace(20_000, 2_000_000, COUNTIES)]
    cells = many_counties(folder, populations)
    shares = np.linspace(0.01, 0.02, COUNTIES) * np.ones((5, 1))
    shares[4, 10] *= 2
    truth = Truth(np.rint(0.2 * np.array(populations)), shares)
    noisy = truth.noisy(cells, np.random.default_rng(5))
    by_node = noisy.reshape(5, len(cells.nodes), -1)
    by_node[:, 1, 1] = 0
    by_node[2, 1, 1] = 400  # ten times the truth, and a value: noise would need luck
    with pytest.MonkeyPatch.context() as patch:
        patch_accounting(patch.setattr)
        return publish_counties(folder, cells, noisy)


def columns(found: Any) -> dict[str, Any]:
    """Return the columns of a result that was asked for as such."""
    assert isinstance(found, dict)
    return found


def test_an_average_says_how_many_weeks_are_behind_it(dataset: Path) -> None:
    """The mean of the weeks that have a value, and the number of these weeks and of all weeks of the period."""
    found = columns(search_insights.average(dataset, "county", TREND, "2021-03", frame="columns"))
    loaded = search_insights.load(dataset, "county", TREND, "columns")
    last = found["place_id"] == LOUD
    assert found["value"][last] == pytest.approx([loaded["value"][loaded["place_id"] == LOUD].mean()])
    assert list(found["weeks"][[0, -1]]) == [1, 5]
    assert set(found["of_weeks"]) == {5}
    assert ((found["low"] < found["value"]) & (found["value"] < found["high"])).all()


def test_a_region_of_one_lucky_week_is_not_ranked(dataset: Path) -> None:
    """Plain means put a region first that has one value; the ranking has only regions with all weeks."""
    means = columns(search_insights.average(dataset, "county", TREND, "2021-03", frame="columns"))
    assert means["name"][np.argmax(means["value"])] == "County 0"
    found = columns(search_insights.rank(dataset, "county", TREND, "2021-03", frame="columns"))
    assert "County 0" not in found["name"]
    assert set(found["weeks"]) == {5}
    assert list(found["rank"]) == sorted(found["rank"])
    assert (found["rank_low"] <= found["rank"]).all()
    assert (found["rank"] <= found["rank_high"]).all()
    assert found["rank_low"][found["place_id"] == LOUD] == [1]
    loose = columns(search_insights.rank(dataset, "county", TREND, "2021-03", min_weeks=1, frame="columns"))
    assert loose["name"][0] == "County 0"


def test_a_change_is_found_where_there_was_one(dataset: Path) -> None:
    """The county that doubled has the smallest q-value; the interval of its difference does not contain 0."""
    found = columns(search_insights.change(dataset, "county", TREND, weeks=1, frame="columns"))
    first = np.argmin(found["q_value"])
    assert found["place_id"][first] == QUIET
    assert found["low"][first] > 0
    assert (found["q_value"] <= 0.1).sum() < 5
    assert found["difference"] == pytest.approx(found["value"] - found["before"])
    earlier = columns(search_insights.change(dataset, "county", TREND, 2, week="2021-03-15", frame="columns"))
    assert earlier["q_value"][earlier["place_id"] == QUIET] > 0.1


def test_two_regions_are_compared_over_the_weeks_of_both(dataset: Path) -> None:
    """The largest county is above a smaller one; a part and its whole are told as such."""
    found = search_insights.compare(dataset, LOUD, QUIET, TREND, ("2021-03-01", "2021-03-22"))
    assert found.low > 0
    assert found.p_value < 1e-6
    assert (found.weeks, found.inside) == (4, False)
    assert found.difference == pytest.approx(found.value_a - found.value_b)
    whole = search_insights.compare(dataset, LOUD, "country/USA", TREND, "2021-03")
    assert whole.inside
    once = search_insights.compare(dataset, "geoId/06000", LOUD, TREND, "2021")
    assert once.weeks == 1


@pytest.mark.parametrize(
    ("period", "weeks"),
    [(date(2021, 3, 8), 1), ("2021-03-08", 1), ("2021", 5), (("2021-03-02", "2021-03"), 4)],
)
def test_a_period_is_a_week_a_month_a_year_or_from_and_to(dataset: Path, period: Period, weeks: int) -> None:
    """Weeks belong to the period in which they begin."""
    found = columns(search_insights.average(dataset, "state", TREND, period, frame="columns"))
    assert list(found["of_weeks"]) == [weeks]


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (
            lambda d: search_insights.average(d, "county", TREND, "2020-03"),
            "has no week that begins from 2020-03-01",
        ),
        (lambda d: search_insights.average(d, "county", TREND, "March"), "period 'March': expected a week such as"),
        (lambda d: search_insights.average(d, "county", TREND, "2021", confidence=95), "confidence 95: expected"),
        (lambda d: search_insights.rank(d, "town", TREND, "2021"), "no level 'town'"),
        (lambda d: search_insights.change(d, "county", TREND, 9), "does not have both weeks"),
        (lambda d: search_insights.change(d, "county", TREND, 0), "does not have both weeks"),
        (lambda d: search_insights.compare(d, LOUD, "06010", TREND, "2021"), "no region '06010'"),
        (lambda d: search_insights.compare(d, LOUD, LOUD, TREND, "2021"), "choose two regions"),
        (lambda d: search_insights.compare(d, LOUD, "geoId/06000", TREND, "2021-03-01"), "in the same week"),
    ],
)
def test_a_question_without_an_answer_is_refused(dataset: Path, ask: Callable[[Path], Any], told: str) -> None:
    """One line says what is wrong and what is there."""
    with pytest.raises(InputError) as refused:
        ask(dataset)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_weeks_of_two_scales_are_not_compared(dataset: Path, tmp_path: Path) -> None:
    """Where a new scale begins, an average over both, a change and a comparison are refused; each side is not."""
    copy = tmp_path / "dataset"
    subprocess.run(["cp", "-r", dataset, copy], check=True)
    package = json.loads((copy / "datapackage.json").read_text(encoding="utf-8"))
    found = {"week": "2021-03-15", "kind": "edition", "reason": "r", "differs": [], "new_scale": True}
    (copy / "datapackage.json").write_text(json.dumps(package | {"breaks": [found]}), encoding="utf-8")
    with pytest.raises(InputError, match="a new scale begins with week 2021-03-15"):
        search_insights.rank(copy, "county", TREND, "2021-03")
    for period in (("2021-03-01", "2021-03-08"), ("2021-03-15", "2021-03-29")):
        assert len(columns(search_insights.rank(copy, "county", TREND, period, frame="columns"))["rank"]) > 20


def test_an_empty_level_gives_an_empty_answer(dataset: Path) -> None:
    """A level without values is not an error."""
    found = columns(search_insights.rank(dataset, "postal_code", TREND, "2021-03", frame="columns"))
    assert {len(column) for column in found.values()} == {0}


def test_answers_are_frames_as_those_of_load(dataset: Path) -> None:
    """They are of the kind that is asked for, or of the first that is installed."""
    asked, given = (search_insights.rank(dataset, "county", TREND, "2021-03", frame=kind) for kind in ("polars", None))
    assert asked.equals(given)
    assert asked.columns[:4] == ["rank", "rank_low", "rank_high", "place_id"]


def test_a_question_needs_no_frame_library(dataset: Path) -> None:
    """With columns of NumPy, neither Polars, pandas nor PyArrow is imported."""
    code = (
        "import sys, search_insights as si\n"
        f"si.rank({str(dataset)!r}, 'county', 'vaccination_intent', '2021-03', frame='columns')\n"
        "print([name for name in ('polars', 'pandas', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_regions_are_added_up_only_where_counts_are_published(dataset: Path) -> None:
    """Values cannot be added up: the error says what is missing."""
    with pytest.raises(InputError, match="has no table of noisy counts"):
        search_insights.aggregate(dataset, [LOUD, QUIET], TREND, "2021")
