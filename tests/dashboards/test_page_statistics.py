"""The page computes averages, differences and ranks as the Python package does, on the same numbers."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

import search_insights
from search_insights.analysis.differences import difference_interval, p_values, q_values
from search_insights.analysis.intervals import Estimates, Means, estimates, quantile
from search_insights.analysis.ranks import rank_intervals
from tests.support.browser import OpenPage, download, wait_for_map
from tests.support.dashboards import CALIFORNIA, LAST_WEEK

INTENT = "vaccination_intent"
PUBLISHED = 0.8  # the confidence of the published intervals
CASES, WEEKS = 400, 3


def made_up_cells() -> tuple[Any, Any, Any]:
    """Return values with intervals of all kinds: 0, wide, narrow, symmetric, shifted, and some that are missing."""
    random = np.random.default_rng(11)
    value = np.round(random.gamma(1.0, 20.0, (CASES, WEEKS)), 3)
    value[:8] = 0.0
    value[100:120] = value[120:140]  # ties
    down = value * random.uniform(0.0, 0.3, value.shape)
    up = np.where(random.random(value.shape) < 0.3, down, down * random.uniform(1.0, 1.4, value.shape)) + 0.001
    value[random.random(value.shape) < 0.2] = np.nan
    return value, np.round(value - down, 3), np.round(value + up, 3)


def in_the_browser(page: Page, low: Any, value: Any, high: Any) -> dict[str, Any]:
    """Compute with the page's own modules."""
    script = """async ([value, low, high, published]) => {
        const { mean, interval, quantile } = await import('./intervals.js');
        const { difference, qValues, rankOf } = await import('./differences.js');
        const z = quantile(published);
        const cell = (v, i, j) => v === null ? null : { value: v, low: low[i][j], high: high[i][j] };
        const cells = value.map((row, i) => row.map((v, j) => cell(v, i, j)));
        const means = cells.map((row) => mean(row, z));
        const known = means.filter(Boolean);
        const pairs = cells.map(([a, b]) => a && b && difference(mean([a], z), mean([b], z)));
        return {
            means: means.map((m) => m && { value: m.value, weeks: m.weeks, ...interval(m, z) }),
            pairs, q: qValues(pairs.filter(Boolean).map(({ p }) => p)),
            ranks: known.map((m) => rankOf(m, known)),
            quantiles: [0.5, 0.8, 0.95, 0.999999].map(quantile),
        };
    }"""
    as_json = [[[None if np.isnan(x) else x for x in row] for row in part.tolist()] for part in (value, low, high)]
    found: dict[str, Any] = page.evaluate(script, [*as_json, PUBLISHED])
    return found


def column(rows: list[Any], name: str) -> Any:
    """Return one field of all rows that there are."""
    return np.array([row[name] for row in rows if row], dtype=float)


def test_the_pages_statistics_are_those_of_the_package(open_page: OpenPage) -> None:
    """Means, their intervals, differences with p- and q-values, ranks with their ranges: equal for the same cells."""
    value, low, high = made_up_cells()
    found = in_the_browser(open_page("?by=state").page, low, value, high)
    assert found["quantiles"] == pytest.approx([quantile(c) for c in (0.5, 0.8, 0.95, 0.999999)], rel=1e-6)
    parts = estimates(value, low, high, PUBLISHED)
    means = Means.of(parts)
    known = means.weeks > 0
    ends = means.interval(PUBLISHED)
    for name, expected in (("value", means.value), ("weeks", means.weeks), ("low", ends[0]), ("high", ends[1])):
        np.testing.assert_allclose(column(found["means"], name), expected[known], rtol=1e-6, atol=1e-9, err_msg=name)
    ranked = means.rows(known)
    best, worst = rank_intervals(ranked, 0.95)
    assert [(r["best"], r["worst"]) for r in found["ranks"]] == list(zip(best, worst, strict=True))
    a, b = (Means.of(Estimates(*(p[:, [i]] for p in (parts.value, parts.of_x, parts.of_y)))) for i in (0, 1))
    both = (a.weeks > 0) & (b.weeks > 0)
    a, b = a.rows(both), b.rows(both)
    ends = difference_interval(a.value, a.arms, b.value, b.arms, 0.95)
    p = p_values(a.value, a.arms, b.value, b.arms)
    bounded = [np.where(np.isinf(end), np.nan, end) for end in ends]  # JSON has no infinity
    for name, expected in (("value", a.value - b.value), ("low", bounded[0]), ("high", bounded[1])):
        np.testing.assert_allclose(column(found["pairs"], name), expected, rtol=1e-5, atol=1e-6, err_msg=name)
    np.testing.assert_allclose(column(found["pairs"], "p"), p, rtol=1e-4, atol=1e-300)
    np.testing.assert_allclose(found["q"], q_values(p), rtol=1e-4, atol=1e-300)


def map_rows(page: Page) -> dict[str, dict[str, str]]:
    """Download the values of the map; return the rows by place_id."""
    _, content = download(page, "#map-downloads", "Values (CSV)")
    return {row["place_id"]: row for row in csv.DictReader(io.StringIO(content.decode()))}


def assert_equal(rows: dict[str, dict[str, str]], expected: dict[str, Any], names: tuple[str, ...]) -> None:
    """The download has the same regions and numbers as a result of the package."""
    assert sorted(rows) == sorted(expected["place_id"])
    for name in names:
        found = [float(rows[place][name]) for place in expected["place_id"]]
        np.testing.assert_allclose(found, expected[name], rtol=2e-4, atol=2e-3, err_msg=name)


def test_the_map_shows_what_change_average_and_rank_return(open_page: OpenPage, us_data: Path) -> None:
    """End to end, on one dataset: all counties, the same weeks, the same numbers; the answer has the same ranks."""
    visitor = open_page(f"?trend={INTENT}&since=4")
    page = visitor.page
    wait_for_map(page, INTENT, 9)
    change = search_insights.change(us_data, "county", INTENT, 4, frame="columns")
    assert len(change["place_id"]) > 500
    names = ("before", "value", "difference", "low", "high", "p_value", "q_value")
    assert_equal(map_rows(page), change, names)
    judged = page.locator("#legend .peak").inner_text()
    clear = (change["p_value"] <= 0.05) & (change["q_value"] <= 0.1)
    assert judged.startswith(f"{clear.sum():,} of {len(clear):,} regions")
    visitor.open(f"?trend={INTENT}&from=2021-02-01&to=2021-02-22")
    wait_for_map(page, INTENT, 9)
    average = search_insights.average(
        us_data, "county", INTENT, ("2021-02-01", "2021-02-22"), confidence=PUBLISHED, frame="columns"
    )
    assert_equal(map_rows(page), average, ("value", "low", "high", "weeks", "of_weeks"))
    ranks = search_insights.rank(us_data, "state", INTENT, LAST_WEEK, frame="columns")
    [own] = np.flatnonzero(ranks["place_id"] == CALIFORNIA)
    rank, low, high = (ranks[name][own] for name in ("rank", "rank_low", "rank_high"))
    visitor.open(f"?trend={INTENT}&region={CALIFORNIA}")
    text = f"Rank {rank} of {len(ranks['rank'])} by state in United States"
    between = "." if low == high else f"; with the noise, between {low} and {high}."
    assert text + between in page.locator("#answer").inner_text()
