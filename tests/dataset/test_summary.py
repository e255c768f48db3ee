"""The summary of a dataset says how many values were published and why others were not."""

from pathlib import Path
from xml.etree import ElementTree

from search_insights.spec.coverage import Coverage
from tests.support.datasets import COLUMNS, dataset_of, json_of, parquet_rows
from tests.support.stores import CITY, NOTHING, TOWN, add_weeks


def test_the_summary_adds_up_and_agrees_with_the_tables(store: Path, short_coverage: Coverage) -> None:
    """For each level and trend, published and dropped values add up to weeks x regions, and match the table."""
    add_weeks(store, short_coverage, {CITY: NOTHING, TOWN: (100, 1, 1, 1)}, {CITY: NOTHING}, start=2)
    dataset = dataset_of(store)
    summary = json_of(dataset, "summary.json")
    regions = {"country": 1, "state": 3, "county": 5, "postal_code": 2}
    assert [(row["level"], row["trend"]) for row in summary] == [
        (level, trend.name) for level in regions for trend in short_coverage.spec.trends
    ]
    table = parquet_rows(dataset)
    for row, column in zip(summary, COLUMNS * 4, strict=True):
        outcomes = [row[reason] for reason in ("published", "sparse region", "not positive", "too uncertain")]
        assert sum(outcomes) == 4 * regions[row["level"]]
        shown = [r for r in table if r["level"] == row["level"] and r[column] is not None]
        assert row["published"] == len(shown)
        assert row["regions_with_a_value"] == len({r["place_id"] for r in shown})
    assert [row["sparse region"] for row in summary] == [0] * 9 + [4] * 3
    assert summary[11]["not positive"] == 1, "no search about safety in the town's second week"
    assert summary[9]["too uncertain"] == 1, "hardly any search in its third"


def test_the_picture_is_an_svg_that_loads_nothing(store: Path) -> None:
    """summary.svg is well-formed SVG that names the levels and loads nothing from elsewhere."""
    text = (dataset_of(store) / "summary.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert "postal_code" in text
    assert "<script" not in text
    assert "<image" not in text
