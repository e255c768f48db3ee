"""The whole way through the command line, for releases that share nothing with the packaged one."""

import csv
import json
import shutil
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from search_insights.dataset.loading import load
from tests.dataset.test_publication import quick_accounting
from tests.support.logs import Run
from tests.support.other_country import OTHER_SPEC, PLAIN_SPEC, other_geography


@dataclass(frozen=True)
class Way:
    """A release to go the whole way with, and what has to come out."""

    spec: str
    weeks: tuple[str, str]
    stem: str
    levels: tuple[str, ...]
    trends: tuple[str, ...]
    columns: tuple[str, ...]
    depth: int
    cases: tuple[str, ...]


HEATING = Way(
    OTHER_SPEC,
    ("2023-10-01", "2023-10-08"),  # Sundays
    "QZ_heating_search_trends",
    ("nation", "province", "canton", "commune", "parish"),
    ("firewood", "keeping_warm"),
    ("index_firewood", "index_keeping_warm"),
    4,
    ("rural", "urban", "province_only"),
)
DRINKS = Way(
    PLAIN_SPEC,
    ("2023-12-30", "2024-01-06"),  # Saturdays
    "QZ_drinks",
    ("nation", "province", "commune"),
    ("tea",),
    ("tea",),
    3,
    ("province_commune_only",),
)


@pytest.fixture(params=[HEATING, DRINKS], ids=["heating", "drinks"])
def way(request: pytest.FixtureRequest) -> Way:
    """Four levels with two size classes, Sunday weeks, Kathmandu; and two levels without classes, Saturday weeks."""
    given: Way = request.param
    return given


def test_any_release_goes_the_whole_way(way: Way, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate, anonymize, lose the log, publish, evaluate, load: nothing of the packaged release is needed."""
    quick_accounting(monkeypatch)
    spec = tmp_path / "spec.toml"
    spec.write_text(way.spec, encoding="utf-8")
    country = ("--spec", spec, "--geography", other_geography(tmp_path))
    log, store, truth, dataset = (tmp_path / name for name in ("log", "store.db", "truth.parquet", "dataset"))
    first, last = way.weeks

    def ok(*arguments: str | Path) -> str:
        code, out, err = run(*arguments)
        assert code == 0, err
        return out

    what = ("--from", first, "--weeks", "2", "--events-per-week", "150000", "--seed", "5", "--peak-share", "0.3")
    ok("simulate", "--out", log, *what, "--truth", truth, *country)
    said = ok("anonymize", log, "--store", store, "--from", first, "--to", last, *country)
    assert [line.split(" to ")[0] for line in said.splitlines()] == [f"week {week}: committed" for week in way.weeks]
    shutil.rmtree(log)
    spec.unlink()

    assert f"{way.stem}.csv" in ok("publish", "--store", store, "--out", dataset)
    check_table(way, dataset)
    check_statement(way, dataset)
    check_ledger(way, json.loads(ok("ledger", "--store", store, "--json")))
    check_accuracy(way, json.loads(ok("evaluate", "--store", store, "--truth", truth, "--json")))
    check_frames(way, dataset)


def check_table(way: Way, dataset: Path) -> None:
    """The file has the release's name, levels and columns, and the highest national value is its maximum."""
    assert {path.name for path in dataset.iterdir()} >= {f"{way.stem}.csv", f"{way.stem}.parquet", "PRIVACY.md"}
    with (dataset / f"{way.stem}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sub_regions = [f"sub_region_{i}{end}" for i in range(1, way.depth + 1) for end in ("", "_code")]
    assert list(rows[0]) == [
        *("date", "country_region", "country_region_code"),
        *sub_regions,
        "place_id",
        *way.columns,
    ]
    assert {row["date"] for row in rows} == set(way.weeks)
    assert {row["country_region_code"] for row in rows} == {"QZ"}
    nation = [float(row[way.columns[-1]]) for row in rows if row["place_id"] == "qz"]
    assert max(nation) == (1000.0 if way is HEATING else 1.0)


def check_statement(way: Way, dataset: Path) -> None:
    """The statement is of this release: its cases, its bounds, its weeks."""
    statement: dict[str, Any] = json.loads((dataset / "privacy.json").read_text(encoding="utf-8"))
    assert tuple(case["name"] for case in statement["privacy_loss"]["cases"]) == way.cases
    bounds = [bound[:2] for bound in statement["flavor"]["bounds"]]
    assert bounds == (["X1", "X2", "X3", "X4"] if way is HEATING else ["X1", "X2"])
    assert tuple(row["week"] for row in statement["ledger"]) == way.weeks


def check_ledger(way: Way, ledger: dict[str, Any]) -> None:
    """The ledger holds the weeks and what was promised for them."""
    assert tuple(week["week"] for week in ledger["weeks"]) == way.weeks
    promised = (3.0, 1e-6) if way is HEATING else (1.0, 1e-7)
    assert {(week["epsilon"], week["delta"]) for week in ledger["weeks"]} == {promised}


def check_accuracy(way: Way, rows: list[dict[str, Any]]) -> None:
    """Every level and trend is judged; the nation is published and close to the truth."""
    assert [(row["level"], row["trend"]) for row in rows] == [(level, t) for level in way.levels for t in way.trends]
    nation = [row for row in rows if row["level"] == "nation"]
    assert all(row["published"] == 1.0 for row in nation)
    assert all(row["median"] < 0.1 for row in nation)


def check_frames(way: Way, dataset: Path) -> None:
    """Each level of the release can be read on its own, by the trends' own names."""
    for level in way.levels:
        for trend in way.trends:
            frame = load(dataset, level, trend, "polars")
            assert set(frame["date"].to_list()) <= {date.fromisoformat(week) for week in way.weeks}
            assert (level != "nation") or frame["name"].to_list() == ["Qazaria", "Qazaria"]
    provinces = load(dataset, "province", way.trends[0], "polars")
    assert set(provinces["name"].to_list()) <= {'North, "Upper" Province', "<b>Midland</b>", "A1=SUM(A1)"}
