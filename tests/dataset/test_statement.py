"""The privacy statement of a dataset says what is promised, what was spent, and what is not promised."""

from pathlib import Path

import duckdb
import pytest

from search_insights.dp.accounting import epsilon_of_weeks
from search_insights.spec.coverage import Coverage
from search_insights.store.opening import open_store
from tests.support.datasets import dataset_of, json_of
from tests.support.quick_accounting import account_once


def test_the_statement_has_the_accounting_case_by_case(store: Path, short_coverage: Coverage) -> None:
    """privacy.json and PRIVACY.md have the epsilon that the accounting computes for every case."""
    dataset = dataset_of(store)
    loss = json_of(dataset, "privacy.json")["privacy_loss"]
    expected = account_once(short_coverage.spec)
    assert (loss["epsilon"], loss["delta"], loss["holds"]) == (2.19, 1e-5, True)
    assert [case["name"] for case in loss["cases"]] == ["small", "medium", "large", "state_only"]
    page = (dataset / "PRIVACY.md").read_text(encoding="utf-8")
    for case, computed in zip(loss["cases"], expected.cases, strict=True):
        assert case["epsilon"] == pytest.approx(computed.epsilon, abs=1e-6)
        assert case["sigmas"] == [sigma.value for sigma in computed.case.sigmas]
        assert f"| {case['name']} | {computed.epsilon:.3f} | 1e-05 |" in page


def test_the_statement_says_unit_neighbours_and_bounds(store: Path) -> None:
    """privacy.json and PRIVACY.md say the privacy unit, the neighbouring relation, and the bounds X1 to X4."""
    dataset = dataset_of(store)
    flavor = json_of(dataset, "privacy.json")["flavor"]
    assert flavor["privacy_unit"].startswith("user-day")
    assert "adding or removing one user's searches of one day" in flavor["neighbouring_relation"]
    assert [bound[:3] for bound in flavor["bounds"]] == ["X1:", "X2:", "X3:", "X4:"]
    assert flavor["bounds"][2] == "X3: no postal_code counts of size class small"
    page = (dataset / "PRIVACY.md").read_text(encoding="utf-8")
    for words in (flavor["privacy_unit"], flavor["neighbouring_relation"], *flavor["bounds"]):
        assert words in page


def test_the_statement_has_the_ledger(store: Path) -> None:
    """The statement lists every week of the ledger with what was spent and the checksum of its counts."""
    statement = json_of(dataset_of(store), "privacy.json")
    with open_store(store) as opened:
        entries, scaling = opened.entries(), opened.scaling()
    assert [row["week"] for row in statement["ledger"]] == ["2021-01-04", "2021-01-11"]
    for row, entry in zip(statement["ledger"], entries, strict=True):
        assert row["missing_days"] == entry.missing_days.split()
        for key in ("epsilon", "delta", "cells", "engine", "program", "checksum"):
            assert row[key] == getattr(entry, key)
    assert scaling is not None
    assert statement["scaling"]["factor"] == scaling.factor
    assert statement["sparsity"] == {"decided": False, "regions_removed": 0}


def test_the_dataset_says_the_day_of_a_commit_and_no_time(store: Path) -> None:
    """The time at which a run ended would tell how large the log is, so only the day is published."""
    with duckdb.connect(store) as connection:
        connection.execute("UPDATE ledger SET committed_at = '2021-02-03T04:05:06+00:00'")
    dataset = dataset_of(store)
    assert json_of(dataset, "privacy.json")["ledger"][0]["committed_on"] == "2021-02-03"
    for path in dataset.rglob("*"):
        assert b"04:05" not in path.read_bytes(), path.name


def test_the_statement_says_what_is_not_promised(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Users active on all 7 days of a week have a larger epsilon than for one day, and in two weeks a still larger."""
    monkeypatch.setattr("search_insights.dataset.statement.epsilon_of_weeks", epsilon_of_weeks)
    statement = json_of(dataset_of(store), "privacy.json")
    week, all_days = statement["not_promised"].values()
    assert all_days["days"] == 14
    assert 7 * 2.19 < week["epsilon"] < all_days["epsilon"] < 2 * week["epsilon"]
    assert statement["not_covered"]
