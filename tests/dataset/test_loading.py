"""`load` reads one level and one trend at a time, and what is missing stays missing."""

import json
import re
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from search_insights.dataset.loading import Frame, load
from search_insights.dataset.publication import publish
from search_insights.errors import InputError
from search_insights.spec.coverage import Coverage
from tests.support.quick_accounting import patch_accounting
from tests.support.stores import CITY, NO_SAFETY, NOTHING, TOWN, add_weeks, short_window_coverage

PAGE = Path(__file__).resolve().parents[2] / "docs" / "analysis.md"
COLUMNS = ["date", "place_id", "code", "name", "value", "low", "high"]
FRAMES: tuple[Frame, ...] = ("polars", "pandas", "arrow")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three weeks; in the second a postal code has no value and another lacks a trend; a county has only the first."""
    folder = tmp_path_factory.mktemp("published")
    second = {CITY: NOTHING, TOWN: NO_SAFETY, "geoId/06003": NOTHING}
    store = add_weeks(folder / "store.db", short_window_coverage(folder), {}, second, {"geoId/06003": NOTHING})
    with pytest.MonkeyPatch.context() as patch:
        patch_accounting(patch.setattr)
        publish(store, folder / "dataset")
    return folder / "dataset"


def rows(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of a frame of any kind, with plain dates."""
    if hasattr(frame, "to_pylist"):
        found: list[dict[str, Any]] = frame.to_pylist()
    else:
        found = frame.to_dicts() if hasattr(frame, "to_dicts") else frame.to_dict("records")
    return [row | {"date": row["date"].date() if hasattr(row["date"], "date") else row["date"]} for row in found]


@pytest.mark.parametrize("kind", FRAMES)
def test_each_frame_has_the_same_rows(dataset: Path, kind: Frame) -> None:
    """Polars, pandas and Arrow frames have the same columns and values, sorted by place and date."""
    frame = load(dataset, "county", "vaccination_intent", kind)
    assert type(frame).__module__.split(".")[0] == {"arrow": "pyarrow"}.get(kind, kind)
    found = rows(frame)
    assert list(found[0]) == COLUMNS
    assert found == rows(load(dataset, "county", "vaccination_intent", "polars"))
    keys = [(row["place_id"], row["date"]) for row in found]
    assert keys == sorted(keys)
    assert all(row["low"] <= row["value"] == 50.0 <= row["high"] for row in found)


def test_dates_are_dates(dataset: Path) -> None:
    """Polars and Arrow frames have a date type; pandas has timestamps at midnight."""
    import polars
    import pyarrow

    assert load(dataset, "state", "covid19_vaccination", "polars").schema["date"] == polars.Date
    assert load(dataset, "state", "covid19_vaccination", "arrow").schema.field("date").type == pyarrow.date32()
    pandas_dates = load(dataset, "state", "covid19_vaccination", "pandas")["date"]
    assert str(pandas_dates.dtype).startswith("datetime64")
    assert list(pandas_dates.dt.date.unique()) == [date(2021, 1, 4), date(2021, 1, 11), date(2021, 1, 18)]


@pytest.mark.parametrize(
    ("level", "places", "name"),
    [
        ("country", {"country/USA"}, "United States"),
        ("state", {"geoId/01", "geoId/06", "geoId/35"}, "Alabama"),
        ("county", {"geoId/01009", "geoId/06003", "geoId/06017", "geoId/06075", "geoId/35013"}, "Blount"),
        ("postal_code", {CITY, TOWN}, "postal_code"),
    ],
)
def test_levels_are_never_mixed(dataset: Path, level: str, places: set[str], name: str) -> None:
    """A frame has the regions of one level only."""
    found = rows(load(dataset, level, "covid19_vaccination"))
    assert {row["place_id"] for row in found} == places
    assert found[0]["name"] == name


def test_the_level_is_required() -> None:
    """There is no default level, and no frame of all levels."""
    with pytest.raises(TypeError, match="level"):
        load("dataset", trend="vaccination_intent")  # type: ignore[call-arg]


def test_an_unknown_level_lists_the_levels(dataset: Path) -> None:
    """The error lists the dataset's levels from coarse to fine."""
    with pytest.raises(InputError, match="no level 'city'; this dataset has country, state, county, postal_code"):
        load(dataset, "city", "vaccination_intent")


@pytest.mark.parametrize("trend", ["intent", "", "sni_", "C1", "vaccination_intent_low"])
def test_an_unknown_trend_lists_the_trends(dataset: Path, trend: str) -> None:
    """The error lists the dataset's trends; part of a name is not enough."""
    names = "covid19_vaccination, vaccination_intent, safety_side_effects"
    with pytest.raises(InputError, match=f"no trend '{trend}'; this dataset has {names}"):
        load(dataset, "county", trend)


def test_a_trend_may_be_named_by_its_column(dataset: Path) -> None:
    """A trend can be given by its name in the spec or by its column in the table."""
    by_name, by_column = (load(dataset, "county", t) for t in ("safety_side_effects", "sni_safety_side_effects"))
    assert rows(by_name) == rows(by_column)


def test_weeks_without_a_value_are_absent(dataset: Path) -> None:
    """A missing value has no row, neither 0 nor empty; other trends of the same week keep theirs."""
    both = {"covid19_vaccination": 3, "safety_side_effects": 2}
    for trend, weeks in both.items():
        found = rows(load(dataset, "postal_code", trend))
        assert [row["place_id"] for row in found] == [CITY] * 2 + [TOWN] * weeks
        assert all(row["value"] > 0 for row in found)


def test_a_level_without_any_value_gives_an_empty_frame(tmp_path: Path, short_coverage: Coverage) -> None:
    """A level of the dataset without values is not an error, so a loop over the levels does not stop there."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {CITY: NOTHING, TOWN: NOTHING})
    publish(store, tmp_path / "dataset")
    for kind in FRAMES:
        assert rows(load(tmp_path / "dataset", "postal_code", "vaccination_intent", kind)) == []


def test_a_folder_without_a_dataset_is_refused(tmp_path: Path) -> None:
    """A missing folder, an empty one, and one with other JSON are refused in one line."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "datapackage.json").write_text(json.dumps(["not", "ours"]))
    for folder in (tmp_path / "missing", tmp_path, tmp_path / "other"):
        with pytest.raises(InputError, match="not a dataset folder of 'search-insights publish'"):
            load(folder, "county", "vaccination_intent")


def test_an_unknown_frame_lists_the_frames(dataset: Path) -> None:
    """The error lists the kinds of frames."""
    with pytest.raises(InputError, match="no frame 'numpy'; the frames are polars, pandas, arrow"):
        load(dataset, "county", "vaccination_intent", "numpy")  # type: ignore[arg-type]


def _examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_example_for_counties_that_straddle_works(dataset: Path, tmp_path: Path) -> None:
    """The code of docs/analysis.md leaves out the counties of which more than a quarter is counted elsewhere."""
    shutil.copytree(dataset, tmp_path / "dataset")
    every = set(load(dataset, level="county", trend="vaccination_intent")["place_id"])
    affected = min(every)
    shares = {place: {"from_elsewhere": 0.1, "counted_elsewhere": 0.3 * (place == affected)} for place in every}
    (tmp_path / "dataset" / "straddling.json").write_text(json.dumps({"regions": shares}))
    (block,) = [block for block in _examples() if "straddling" in block]
    show = 'print(json.dumps(sorted(set(counties["place_id"]))))'
    done = subprocess.run([sys.executable, "-c", f"{block}\n{show}"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) == every - {affected}


def test_the_example_for_analysts_works(dataset: Path) -> None:
    """The code of docs/analysis.md runs unchanged in a program of its own and gives the expected numbers."""
    blocks = [block for block in _examples() if "straddling" not in block]
    assert len(blocks) == 4
    show = "import json\ncodes = sorted(regions['code'])[:1], len(comparable) == len(counties)"
    show += "\nprint(json.dumps([by_week.rows(), same_counties.rows(), spread, *codes], default=str))"
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([*blocks, show])], cwd=dataset.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    by_week, same_counties, spread, first_codes, all_comparable = json.loads(done.stdout)
    assert (first_codes, all_comparable) == (["01009"], True)
    assert by_week == [["2021-01-04", 50.0, 5], ["2021-01-11", 50.0, 4], ["2021-01-18", 50.0, 4]]
    assert [week for week, _ in same_counties] == ["2021-01-04", "2021-01-11", "2021-01-18"]
    assert 0 < spread <= 0.15
