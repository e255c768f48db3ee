"""The command line end to end, for releases that share nothing with the packaged one."""

import csv
import json
import shutil
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from search_insights.dataset.loading import load
from tests.support.command_line import Run
from tests.support.other_country import OTHER_SPEC, PLAIN_SPEC, other_geography


@dataclass(frozen=True)
class Expected:
    """A release, and what its dataset must contain."""

    spec: str
    weeks: tuple[str, str]
    stem: str
    levels: tuple[str, ...]
    trends: tuple[str, ...]
    columns: tuple[str, ...]
    depth: int
    cases: tuple[str, ...]


HEATING = Expected(
    OTHER_SPEC,
    ("2023-10-01", "2023-10-08"),  # Sundays
    "QZ_heating_search_trends",
    ("nation", "province", "canton", "commune", "parish"),
    ("firewood", "keeping_warm"),
    ("index_firewood", "index_keeping_warm"),
    4,
    ("rural", "urban", "province_only"),
)
DRINKS = Expected(
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
def expected(request: pytest.FixtureRequest) -> Expected:
    """Four levels with size classes and weeks from Sunday; two levels without classes and weeks from Saturday."""
    given: Expected = request.param
    return given


@pytest.mark.usefixtures("quick_accounting")
def test_any_release_works_end_to_end(expected: Expected, tmp_path: Path, run: Run) -> None:
    """Simulate, anonymize, delete the log, publish, evaluate and load without anything of the packaged release."""
    spec = tmp_path / "spec.toml"
    spec.write_text(expected.spec, encoding="utf-8")
    country = ("--spec", spec, "--geography", other_geography(tmp_path))
    log, store, truth, dataset = (tmp_path / name for name in ("log", "store.db", "truth.parquet", "dataset"))
    first, last = expected.weeks

    def ok(*arguments: str | Path) -> str:
        code, out, err = run(*arguments)
        assert code == 0, err
        return out

    what = ("--from", first, "--weeks", "2", "--events-per-week", "150000", "--seed", "5", "--peak-share", "0.3")
    ok("simulate", "--out", log, *what, "--truth", truth, *country)
    printed = ok("anonymize", log, "--store", store, "--from", first, "--to", last, *country)
    assert [line.split(" to ")[0] for line in printed.splitlines()] == [
        f"week {week}: committed" for week in expected.weeks
    ]
    shutil.rmtree(log)
    spec.unlink()

    assert f"{expected.stem}.csv" in ok("publish", "--store", store, "--out", dataset)
    check_table(expected, dataset)
    check_statement(expected, dataset)
    check_ledger(expected, json.loads(ok("ledger", "--store", store, "--json")))
    check_accuracy(expected, json.loads(ok("evaluate", "--store", store, "--truth", truth, "--json")))
    check_frames(expected, dataset)


def check_table(expected: Expected, dataset: Path) -> None:
    """Check the file's name, columns and weeks, and that the highest national value is the release's maximum."""
    assert {path.name for path in dataset.iterdir()} >= {
        f"{expected.stem}.csv",
        f"{expected.stem}.parquet",
        "PRIVACY.md",
    }
    with (dataset / f"{expected.stem}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sub_regions = [f"sub_region_{i}{end}" for i in range(1, expected.depth + 1) for end in ("", "_code")]
    assert list(rows[0]) == [
        *("date", "country_region", "country_region_code"),
        *sub_regions,
        "place_id",
        *expected.columns,
    ]
    assert {row["date"] for row in rows} == set(expected.weeks)
    assert {row["country_region_code"] for row in rows} == {"QZ"}
    nation = [float(row[expected.columns[-1]]) for row in rows if row["place_id"] == "qz"]
    assert max(nation) == (1000.0 if expected is HEATING else 1.0)


def check_statement(expected: Expected, dataset: Path) -> None:
    """Check that the statement has the cases, bounds and weeks of this release."""
    statement: dict[str, Any] = json.loads((dataset / "privacy.json").read_text(encoding="utf-8"))
    assert tuple(case["name"] for case in statement["privacy_loss"]["cases"]) == expected.cases
    bounds = [bound[:2] for bound in statement["flavor"]["bounds"]]
    assert bounds == (["X1", "X2", "X3", "X4"] if expected is HEATING else ["X1", "X2"])
    assert tuple(row["week"] for row in statement["ledger"]) == expected.weeks


def check_ledger(expected: Expected, ledger: dict[str, Any]) -> None:
    """Check that the ledger has the weeks and what was promised for them."""
    assert tuple(week["week"] for week in ledger["weeks"]) == expected.weeks
    promised = (3.0, 1e-6) if expected is HEATING else (1.0, 1e-7)
    assert {(week["epsilon"], week["delta"]) for week in ledger["weeks"]} == {promised}


def check_accuracy(expected: Expected, rows: list[dict[str, Any]]) -> None:
    """Check that every level and trend is evaluated, and that the nation is published and close to the truth."""
    assert [(row["level"], row["trend"]) for row in rows] == [
        (level, t) for level in expected.levels for t in expected.trends
    ]
    nation = [row for row in rows if row["level"] == "nation"]
    assert all(row["published"] == 1.0 for row in nation)
    assert all(row["median"] < 0.1 for row in nation)


def check_frames(expected: Expected, dataset: Path) -> None:
    """Check that each level of the release can be loaded, with the trends' own names."""
    for level in expected.levels:
        for trend in expected.trends:
            frame = load(dataset, level, trend, "polars")
            assert set(frame["date"].to_list()) <= {date.fromisoformat(week) for week in expected.weeks}
            assert (level != "nation") or frame["name"].to_list() == ["Qazaria", "Qazaria"]
    provinces = load(dataset, "province", expected.trends[0], "polars")
    assert set(provinces["name"].to_list()) <= {'North, "Upper" Province', "<b>Midland</b>", "A1=SUM(A1)"}
