"""`demo` runs everything end to end, for each packaged spec, in a folder of its own."""

import json
from pathlib import Path

import duckdb
import pytest

from search_insights.spec.geography import load_geography
from tests.support.command_line import Run
from tests.support.dashboards import read_json
from tests.support.logs import little_geography


@pytest.fixture
def little_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A demonstration of the little country instead of the United States; returns its folder."""
    geography = load_geography(little_geography(tmp_path))
    monkeypatch.setattr("search_insights.commands.demonstration.load_geography", lambda: geography)
    return tmp_path / "demo"


def typed_in(log: Path) -> str:
    """Return all distinct texts of a log, in lower case."""
    with duckdb.connect() as connection:
        rows = connection.execute(f"SELECT DISTINCT lower(query) FROM '{log}/*.parquet'").fetchall()
    return "\n".join(text for (text,) in rows)


def shown_in(demo: Path) -> str:
    """Return every text that the dataset and the dashboard show."""
    tables = (demo / "dataset").glob("*.csv")
    files = (demo / "site").glob("data/*/*/*.json.gz"), (demo / "site").glob("data/*/*.json.gz")
    pages = [json.dumps(read_json(path)) for found in files for path in found]
    return "\n".join([*pages, *(path.read_text(encoding="utf-8") for path in tables)])


def test_a_demo_of_vaccination_v2_runs_end_to_end_and_keeps_its_folder(little_demo: Path, run: Run) -> None:
    """Log, store, dataset, dashboard and accuracy are there; a demo of the other spec is refused in that folder.

    Its spec has top searches, so the log has texts, and the dashboard has lists; no planted personal text is in them.
    """
    options = ("demo", "--out", little_demo, "--weeks", "1", "--events-per-week", "400000")
    code, out, err = run(*options, "--spec", "vaccination-v2")
    assert code == 0, err
    assert "search-insights privacy --spec vaccination-v2" in out
    names = {"log", "releases.db", "dataset", "site", "truth.parquet", "accuracy.svg"}
    assert names <= {path.name for path in little_demo.iterdir()}
    assert "What people asked in the newest week" in out
    [lists] = (little_demo / "site").glob("data/*/asked/0-0.json.gz")
    assert read_json(lists), "the country has lists"
    typed, shown = typed_in(little_demo / "log"), shown_in(little_demo)
    for name in ("applewhite", "wexley"):
        assert name in typed
        assert name not in shown
    code, _, err = run(*options)
    assert code == 2
    assert err.endswith(
        f"{little_demo / 'log'}: holds another simulation (spec, queries differ); give an empty folder\n"
    )


def test_a_demo_of_an_unknown_spec_is_refused(run: Run) -> None:
    """Only packaged specs have a demonstration."""
    code, _, err = run("demo", "--spec", "vaccination-v3")
    assert code == 2
    assert "vaccination-v1" in err
    assert "vaccination-v2" in err


def test_a_demo_of_a_packaged_country_runs_end_to_end(tmp_path: Path, run: Run) -> None:
    """Its spec and regions are in the folder, and the commands that it proposes name them."""
    code, out, err = run(
        "demo", "--country", "LI", "--out", tmp_path / "li", "--weeks", "1", "--events-per-week", "40000"
    )
    assert code == 0, err
    spec, regions = (tmp_path / "li" / name for name in ("spec.toml", "regions.csv"))
    assert f"--spec {spec} --geography {regions}" in out
    assert run("regions", "Vaduz", "--spec", spec, "--geography", regions)[0] == 0
    assert "Public domain" in (tmp_path / "li" / "dataset" / "datapackage.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--country", "FR"), "--country FR: France is not packaged"),
        (("--country", "IE", "--spec", "vaccination-v2"), "--spec vaccination-v2: has the levels of the United States"),
    ],
)
def test_a_demo_of_what_is_not_packaged_is_refused(
    tmp_path: Path, run: Run, options: tuple[str, ...], says: str
) -> None:
    """In one line, and nothing is written."""
    code, _, err = run("demo", "--out", tmp_path / "demo", *options)
    assert (code, says in err, err.count("\n")) == (2, True, 1)
    assert not (tmp_path / "demo").exists()
