"""Promises about logs with queries instead of categories: they are classified in private, and the model is recorded."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from search_insights.classifier.features import MAX_CHARACTERS
from search_insights.classifier.model import CategoryNumbers, Classifier, load_classifier
from search_insights.classifier.train.training import save
from search_insights.store.opening import open_store
from tests.support.command_line import Run
from tests.support.logs import Publisher, by_cell, count, searches, write_log
from tests.support.other_country import OTHER_SPEC, other_geography
from tests.support.training import train_toy

TEXTS = {"A1": "covid vaccine near me", "A2": "is the covid vaccine safe", "A3": "covid vaccine news"}
QUERY = (
    "CASE i % 5 WHEN 0 THEN 'Covid vaccine near me' WHEN 1 THEN 'is the covid vaccine safe' "
    "WHEN 2 THEN 'covid vaccine news' WHEN 3 THEN 'weather ' || i END AS query"
)


def queries(more: str = QUERY, user_id: str = "i") -> str:
    """Return the SQL of a log that has texts in place of the categories of `searches`."""
    return searches(user_id=user_id, category="", more=more)


def other_model(folder: Path) -> Path:
    """Write another model for the packaged spec than the packaged one."""
    packaged = load_classifier()
    save(replace(packaged, bias=packaged.bias + 1), folder / "other.model")
    return folder / "other.model"


@pytest.mark.parametrize("name", ["log.parquet", "log.csv"])
def test_queries_count_as_their_categories(publisher: Publisher, name: str) -> None:
    """A log of texts gives exactly the counts of the same log with the categories of the texts."""
    with_category = write_log(publisher.folder / "named" / name)
    with_query = write_log(publisher.folder / "texts" / name, queries())
    expected = by_cell(publisher.coverage, count(publisher.coverage, with_category).counts)
    assert by_cell(publisher.coverage, count(publisher.coverage, with_query).counts) == expected
    assert any(category == "A2" for _, category in expected)


def test_a_log_with_categories_is_not_classified(publisher: Publisher) -> None:
    """A log that has both is counted by its categories, and the ledger names no model."""
    assert publisher.anonymize(publisher.log(searches(more="'covid vaccine near me' AS query")))[0] == 0
    assert [entry.classifier for entry in publisher.ledger()] == [""]


def test_the_models_fingerprint_goes_into_the_ledger(publisher: Publisher) -> None:
    """The ledger records which model classified the queries of a week."""
    assert publisher.anonymize(publisher.log(queries()))[0] == 0
    assert [entry.classifier for entry in publisher.ledger()] == [load_classifier().fingerprint]
    shown = json.loads(publisher.run("ledger", "--store", publisher.store, "--json")[1])
    assert shown["weeks"][0]["classifier"] == load_classifier().fingerprint


def test_the_store_keeps_the_models_public_facts_and_no_more(publisher: Publisher) -> None:
    """With the week, the store records the model's name, labels and measured shares, from the model's file alone."""
    assert publisher.anonymize(publisher.log(queries()))[0] == 0
    with open_store(publisher.store) as store:
        (model,) = store.models()
    assert model.fingerprint == load_classifier().fingerprint
    facts = json.loads(model.facts)
    assert facts == load_classifier().public_facts
    assert (facts["name"], facts["labels"]) == ("vaccination", 5909)
    assert [entry["category"] for entry in facts["categories"]] == ["A1", "A2", "A3"]
    assert all(0.85 < entry["precision_low"] <= entry["precision"] for entry in facts["categories"])


def test_a_change_of_model_must_be_confirmed(publisher: Publisher, tmp_path: Path) -> None:
    """A later week classified by another model is refused unless the publisher confirms it; the ledger has both."""
    model = other_model(tmp_path)
    first = publisher.log(queries())
    later = f"SELECT * REPLACE (timestamp + INTERVAL 7 DAY AS timestamp) FROM ({queries()})"
    second = publisher.log(later, "second.parquet")
    assert publisher.anonymize(first)[0] == 0
    code, _, err = publisher.anonymize(second, "--model", model, week="2021-03-15")
    assert (code, len(publisher.ledger())) == (2, 1)
    assert "another model" in err
    assert publisher.anonymize(second, "--model", model, "--model-changed", week="2021-03-15")[0] == 0
    assert len({entry.classifier for entry in publisher.ledger()}) == 2


def test_each_text_is_classified_once_a_day_and_alone(publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    """The classifier gets the distinct texts of a day and nothing else: no user, no count."""
    seen: list[list[str | None]] = []
    classify = Classifier.classify

    def watched(self: Classifier, texts: Sequence[str | None]) -> CategoryNumbers:
        seen.append(list(texts))
        return classify(self, texts)

    monkeypatch.setattr(Classifier, "classify", watched)
    count(publisher.coverage, publisher.log(queries("'covid vaccine near me' AS query", user_id="'secret ' || i")))
    assert seen == [["covid vaccine near me"]] * 7


def test_of_a_long_text_the_classifier_gets_the_part_that_it_reads(
    publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts that are the same as far as they are read come to the classifier once, and no further."""
    seen: list[str | None] = []
    classify = Classifier.classify

    def watched(self: Classifier, texts: Sequence[str | None]) -> CategoryNumbers:
        seen.extend(texts)
        return classify(self, texts)

    monkeypatch.setattr(Classifier, "classify", watched)
    count(publisher.coverage, publisher.log(queries(f"repeat('💉', {MAX_CHARACTERS}) || ' text ' || i AS query")))
    assert seen == ["💉" * MAX_CHARACTERS] * 7


@pytest.mark.parametrize("filler", [" ", "\u2019"], ids=["one byte", "three bytes"])
def test_the_part_of_a_text_that_is_read_decides_its_category(publisher: Publisher, filler: str) -> None:
    """What follows the last character that is read changes nothing; what ends there counts. Characters, not bytes."""
    start = f"covid vaccine near me {filler * 400}"[: MAX_CHARACTERS - len(" is it safe")]
    texts = [f"{start} is it safe", f"{start} is it safe, weather", f"{start} is it safe? covid vaccine near me" * 9]
    found = [
        by_cell(publisher.coverage, count(publisher.coverage, publisher.log(queries(f"'{text}' AS query"))).counts)
        for text in texts
    ]
    assert found[0] == found[1] == found[2]
    assert {category for _, category in found[0]} == {"A0", "A2"}


def test_queries_reach_neither_the_store_nor_a_message(publisher: Publisher) -> None:
    """No text of the log is in the store, in the output or in an error, also when the week is refused."""
    secret = "'covid vaccine near me sesame-' || i AS query"
    code, out, err = publisher.anonymize(publisher.log(queries(secret)))
    assert code == 0
    left = b"".join(path.read_bytes() for path in publisher.folder.glob("store.db*"))
    assert b"sesame" not in left + out.encode() + err.encode()
    bad = publisher.log(f"SELECT * REPLACE ('nowhere' AS region) FROM ({queries(secret)})", "bad.parquet")
    code, out, err = publisher.anonymize(bad, week="2021-03-15")
    assert code == 2
    assert "sesame" not in out + err


def test_any_text_of_a_log_can_be_classified(publisher: Publisher) -> None:
    """Empty, NUL, emoji, 10 kB and right-to-left texts of a log are counted."""
    texts = "['', 'a' || chr(0) || 'b', '💉 لقاح', repeat('covid ', 2000), NULL, 'İ'][(i % 6) + 1] AS query"
    found = count(publisher.coverage, publisher.log(queries(texts)))
    assert found.unused.total == 0
    assert {category for _, category in by_cell(publisher.coverage, found.counts)} == {"A0"}


def test_the_packaged_model_is_refused_for_another_release(run: Run, tmp_path: Path) -> None:
    """A spec with other topics needs its own model; with it, queries are counted."""
    (tmp_path / "spec.toml").write_text(OTHER_SPEC, encoding="utf-8")
    where = ("--spec", tmp_path / "spec.toml", "--geography", other_geography(tmp_path))
    span = ("--from", "2023-10-01", "--weeks", "1", "--events-per-week", "2000", "--seed", "3")
    assert run("simulate", "--out", tmp_path / "log", "--queries", *span, *where)[0] == 0
    go = ("anonymize", tmp_path / "log", "--store", tmp_path / "s.db", "--week", "2023-10-01", *where)
    code, _, err = run(*go)
    assert (code, err.count("\n")) == (2, 1)
    assert "the packaged model names A1 vaccination_intent" in err
    assert not (tmp_path / "s.db").exists()
    save(train_toy().classifier, tmp_path / "heat.model")
    assert run(*go, "--model", tmp_path / "heat.model")[0] == 0


def test_a_simulated_log_of_queries_is_evaluated_end_to_end(run: Run, tmp_path: Path) -> None:
    """Simulate texts, classify, add noise, and compare with the truth, which knows the categories of the texts."""
    log, truth, store = tmp_path / "log", tmp_path / "truth.parquet", tmp_path / "s.db"
    span = ("--from", "2021-03-08", "--weeks", "1", "--events-per-week", "900000", "--seed", "7")
    assert run("simulate", "--out", log, "--queries", "--truth", truth, *span)[0] == 0
    assert run("anonymize", log, "--store", store, "--week", "2021-03-08")[0] == 0
    code, out, _ = run("evaluate", "--store", store, "--truth", truth, "--json")
    assert code == 0
    country = {row["trend"]: row for row in json.loads(out) if row["level"] == "country"}
    assert country["covid19_vaccination"]["median"] < 0.05
