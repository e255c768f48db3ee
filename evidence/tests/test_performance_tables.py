"""The measured numbers of docs/performance.md are those of the records in evidence/results."""

from typing import Any

import pytest

from evidence.pages import filled
from evidence.peer_rates import OURS, off_by, rates
from evidence.performance_tables import PAGE, blocks, further_lines, growth_lines


def run(who: str, events: int, seconds: float) -> dict[str, Any]:
    return {"who": who, "events": events, "seconds": seconds, "cpu": seconds}


def test_the_page_has_the_numbers_of_the_records() -> None:
    """No measured number is pasted by hand: `python -m evidence.performance_tables` would change nothing."""
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page, blocks()) == page


def test_a_page_without_a_place_for_a_table_is_refused() -> None:
    """A table is not dropped silently."""
    with pytest.raises(ValueError, match="growth table"):
        filled("<!-- growth table -->\nno end", {"growth table": ["| a |"]})


def test_only_what_stands_between_the_markers_is_written() -> None:
    """The text around a table stays."""
    page = "a\n<!-- x -->\nold\n<!-- end -->\nb\n<!-- y -->\nkept\n<!-- end -->\n"
    assert filled(page, {"x": ["new"]}) == page.replace("old", "\nnew\n")


def test_unknown_fields_of_growth_do_not_matter() -> None:
    """An entry may say more than the table shows."""
    entry = {"engine": "duckdb", "events": 5_000_000, "users": 300_000, "seconds": 4.0, "cpu_seconds": 5.0}
    entry |= {"peak_gb": 0.5, "rounds": 3, "shuffle_bytes": None}
    assert growth_lines([entry])[2:] == [
        "| duckdb | 5 million | 0.3 million | 4.0 s | 5.0 s | 1.00 us | 0.50 GB |  |  |"
    ]


def grown(engine: str, events: int, cpu: float, shuffled: int | None = None) -> dict[str, Any]:
    return {"engine": engine, "events": events, "cpu_seconds": cpu, "shuffle_bytes": shuffled}


def test_a_further_search_is_compared_between_the_engines() -> None:
    """What does not grow with the log, such as starting Java, is no part of the cost of a further search."""
    runs = [grown("duckdb", 5_000_000, 3.0), grown("duckdb", 505_000_000, 103.0)]
    runs += [grown("spark", 5_000_000, 60.0, 50), grown("spark", 505_000_000, 410.0, 8_000_000_050)]
    (_, said) = further_lines(runs)
    assert "takes 0.20 us of CPU on DuckDB and 0.70 us on Spark, 3.5 times as much" in said
    assert "Spark shuffles 16.0 bytes for it" in said


def test_engines_measured_at_other_sizes_are_not_compared() -> None:
    """A ratio of costs at different sizes would say nothing."""
    duckdb = [grown("duckdb", 5_000_000, 3.0), grown("duckdb", 20_000_000, 6.0)]
    assert further_lines([*duckdb, grown("spark", 5_000_000, 60.0, 50)]) == []
    assert further_lines(duckdb) == []
    other = [grown("spark", 5_000_000, 60.0, 50), grown("spark", 50_000_000, 90.0, 500)]
    assert further_lines([*duckdb, *other]) == []


def test_rates_come_from_the_least_times() -> None:
    """The whole-run rate is that of the largest log, the marginal rate the slope; of several runs the least counts."""
    runs = [run("peer", 100, 9.0), run("peer", 100, 2.0), run("peer", 400, 5.0), run(OURS, 100, 1.0)]
    ours, peer = rates(runs)
    assert (ours.who, ours.whole, ours.marginal) == (OURS, 100.0, None)
    assert (peer.events, peer.whole, peer.marginal) == (400, 80.0, 100.0)


def test_no_slope_is_no_rate() -> None:
    """A larger log that took no longer says nothing about further searches."""
    assert rates([run("peer", 100, 3.0), run("peer", 400, 2.9)])[0].marginal is None


def test_a_total_is_judged_by_its_noise() -> None:
    """The noise of a sum of states is that of one state times the root of their number."""
    assert off_by(1_060, 1_000, 10.0, 4) == 3.0
