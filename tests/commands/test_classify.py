"""Promises about `search-insights classify`: files keep their columns and rows, bad input is explained in one line."""

import csv
import json
from pathlib import Path

import duckdb
import pytest

from search_insights.classifier.model import load_classifier
from search_insights.spec.geography import Region
from tests.support.command_line import Run
from tests.support.heat_labels import HEAT_SPEC, heat_labels, ordinary_queries, swiss_places
from tests.support.other_country import OTHER_SPEC, other_geography, write_csv
from tests.support.training import toy_labels

QUERIES = (
    ("1", "Covid vaccine near me", 'a "b", c'),
    ("2", "weather", ""),
    ("3", "", "x"),
    ("4", "pfizer vaccine side effects", "line\nbreak"),
    ("5", "covid vaccine", "ü 💉"),
    ("6", "weather", "again"),
)
_REGION_HEADER = list(Region._fields)
CATEGORIES = ["A1", "", "", "A2", "A3", ""]


def write_queries(path: Path) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("id", "query", "note"), *QUERIES])
    return path


def rows_of(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def labels_file(path: Path) -> Path:
    texts, labels = toy_labels()
    ids = ["", "H1", "firewood", "H3"]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("query", "category"), *zip(texts, [ids[i] for i in labels], strict=True)])
    return path


def refused(result: tuple[int, str, str], *words: str) -> None:
    code, out, err = result
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    for word in words:
        assert word in err


def test_apply_adds_a_column_and_keeps_the_rest(run: Run, tmp_path: Path) -> None:
    """All columns, all rows and their order are kept; the category is an id of the spec, empty for none."""
    code, out, _ = run("classify", "apply", write_queries(tmp_path / "in.csv"), "--out", tmp_path / "out.csv")
    assert code == 0
    assert "6 queries: 1 A1, 1 A2, 1 A3, 3 none" in out
    expected = [["id", "query", "note", "category"]]
    expected += [[*row, category] for row, category in zip(QUERIES, CATEGORIES, strict=True)]
    assert rows_of(tmp_path / "out.csv") == expected


def test_apply_reads_and_writes_parquet(run: Run, tmp_path: Path) -> None:
    """Parquet columns keep their types; no category is NULL."""
    query = "SELECT i::INTEGER AS n, CASE i WHEN 1 THEN 'covid vaccine near me' WHEN 2 THEN NULL ELSE 'x' END AS query"
    duckdb.execute(f"COPY ({query} FROM range(3) r(i)) TO '{tmp_path}/in.parquet' (FORMAT parquet)")
    assert run("classify", "apply", tmp_path / "in.parquet", "--out", tmp_path / "out.parquet")[0] == 0
    rows = duckdb.execute(f"SELECT * FROM '{tmp_path}/out.parquet'").fetchall()
    assert rows == [(0, "x", None), (1, "covid vaccine near me", "A1"), (2, None, None)]


def test_the_output_of_apply_is_readable_by_its_owner_only(run: Run, tmp_path: Path) -> None:
    """Queries are private, so the file is too, and no other file is left."""
    run("classify", "apply", write_queries(tmp_path / "in.csv"), "--out", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").stat().st_mode & 0o077 == 0
    assert {path.name for path in tmp_path.iterdir()} == {"in.csv", "out.csv"}


def test_apply_classifies_bytes_that_are_not_text(run: Run, tmp_path: Path) -> None:
    """NUL and bytes that are not UTF-8 are accepted, and the rows around them are classified."""
    (tmp_path / "in.csv").write_bytes(b"query\ncovid vaccine near me\n\xff\xfe\x00 vaccine \x80\nweather\n")
    assert run("classify", "apply", tmp_path / "in.csv", "--out", tmp_path / "out.csv")[0] == 0
    categories = [row[-1] for row in rows_of(tmp_path / "out.csv")[1:]]
    assert len(categories) == 3
    assert (categories[0], categories[2]) == ("A1", "")


def test_apply_refuses_what_it_cannot_use(run: Run, tmp_path: Path) -> None:
    """No file, no column, another format, an existing column: one line, and nothing is written."""
    good, out = write_queries(tmp_path / "in.csv"), tmp_path / "out.csv"
    refused(run("classify", "apply", tmp_path / "none.csv", "--out", out), "none.csv: no such file")
    (tmp_path / "no.csv").write_text("text\nsecret\n", encoding="utf-8")
    refused(run("classify", "apply", tmp_path / "no.csv", "--out", out), "no column 'query'")
    (tmp_path / "two.csv").write_text("query,category\nx,y\n", encoding="utf-8")
    refused(run("classify", "apply", tmp_path / "two.csv", "--out", out), "already has a column 'category'")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 junk")
    refused(run("classify", "apply", tmp_path / "bad.parquet", "--out", out), "cannot be read as Parquet")
    refused(run("classify", "apply", good, "--out", tmp_path / "out.xlsx"), "expected a name that ends in")
    refused(run("classify", "apply", good, "--out", tmp_path / "no" / "out.csv"), "cannot be written")
    refused(run("classify", "apply", good, "--out", out, "--model", good), "not a model")
    refused(run("classify", "apply", good, "--out", out, "--model", tmp_path / "m"), "cannot be read")
    refused(run("classify"), "JOB")
    refused(run("classify", "aply"), "invalid choice")
    assert not out.exists()


def test_evaluate_prints_scores_with_intervals_confusion_and_mistakes(run: Run, tmp_path: Path) -> None:
    """Precision, recall and F1 of each category, the confusion matrix, and the most confident mistakes."""
    path = tmp_path / "labels.csv"
    lines = ["covid vaccine near me,A1", "is the covid vaccine safe,A2", "covid vaccine,other_vaccination", "weather,"]
    path.write_text("\n".join(["query,category", *lines, "flu shot,A3"]), encoding="utf-8")
    code, out, _ = run("classify", "evaluate", "--labels", path)
    assert code == 0
    for words in ("precision", "recall", "F1", "Macro-F1 over 5 queries", "labelled as \\ named", "flu shot"):
        assert words in out
    found = json.loads(run("classify", "evaluate", "--labels", path, "--json")[1])
    assert found["confusion"] == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1]]
    assert found["mistakes"][0]["query"] == "flu shot"
    assert found["model"] == load_classifier().fingerprint
    assert 0 < found["macro_f1"]["low"] <= found["macro_f1"]["value"] <= found["macro_f1"]["high"] <= 1


def test_labels_that_contradict_are_refused_without_quoting_them(run: Run, tmp_path: Path) -> None:
    """Labels may be private, so a row is identified by its number."""
    path = tmp_path / "labels.csv"
    path.write_text("query,category\nsecret,A1\nsecret,A2\n", encoding="utf-8")
    refused(run("classify", "evaluate", "--labels", path), "row 2", "another category")
    path.write_text("query,category\nsecret,B7\n", encoding="utf-8")
    result = run("classify", "evaluate", "--labels", path)
    refused(result, "row 1", "A1, A2, A3")
    assert "secret" not in result[2]
    assert "B7" not in result[2]


def test_a_publisher_can_train_a_model_for_another_release(run: Run, tmp_path: Path) -> None:
    """Labels, a pool and a spec give a model of that spec's categories; each model is refused for another spec."""
    (tmp_path / "spec.toml").write_text(OTHER_SPEC, encoding="utf-8")
    labels, model, pool = labels_file(tmp_path / "labels.csv"), tmp_path / "heat.model", tmp_path / "pool.parquet"
    where = ("--spec", tmp_path / "spec.toml", "--geography", other_geography(tmp_path))
    code, out, _ = run("classify", "pool", "--labels", labels, "--texts", "50", "--out", pool, *where)
    assert code == 0
    assert "50 unlabelled queries" in out
    code, out, _ = run("classify", "train", "--labels", labels, "--pool", pool, "--out", model, *where)
    assert code == 0
    assert load_classifier(model).fingerprint[:12] in out
    found = run(
        "classify", "evaluate", "--labels", labels, "--model", model, "--spec", tmp_path / "spec.toml", "--json"
    )
    assert json.loads(found[1])["macro_f1"]["value"] > 0.95
    refused(run("classify", "evaluate", "--labels", labels, "--spec", tmp_path / "spec.toml"), "give a --model that")
    refused(run("classify", "train", "--labels", labels, "--out", model), "row 97", "unknown category")


@pytest.fixture
def heat_files(tmp_path: Path) -> Path:
    """A folder with a spec, a geography, labels and ordinary queries of heat waves."""
    texts, labels = heat_labels()
    with (tmp_path / "labels.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [("query", "category"), *zip(texts, ["B1" if n else "" for n in labels], strict=True)]
        )
    (tmp_path / "spec.toml").write_text(HEAT_SPEC, encoding="utf-8")
    write_csv(tmp_path / "places.csv", list(swiss_places().regions), _REGION_HEADER)
    (tmp_path / "ordinary.txt").write_text("\n".join(ordinary_queries() * 2), encoding="utf-8")
    return tmp_path


def heat_train(folder: Path, *words: str) -> list[object]:
    where = ("--spec", folder / "spec.toml", "--geography", folder / "places.csv", "--labels", folder / "labels.csv")
    return ["classify", "train", *where, "--out", folder / "heat.model", *words]


def test_train_prints_what_was_measured(run: Run, heat_files: Path) -> None:
    """Precision and recall of each topic, wrong answers among ordinary queries, the assumption; also as JSON."""
    ordinary = ("--ordinary", str(heat_files / "ordinary.txt"))
    code, out, _ = run(*heat_train(heat_files, *ordinary))
    assert code == 0
    for words in ("precision", "recall", "wrong answers in 100,000", "at most", "assumes that none of them is"):
        assert words in out
    found = json.loads(run(*heat_train(heat_files, *ordinary, "--json", "--min-precision", "heat_wave=0.9"))[1])
    assert found["fingerprint"] == load_classifier(heat_files / "heat.model").fingerprint
    (category,) = found["categories"]
    assert (category["category"], category["min_precision"]) == ("B1", 0.9)
    assert category["precision"]["value"] >= 0.9
    assert found["ordinary"]["queries"] == len(set(ordinary_queries()) - set(heat_labels()[0]))
    assert load_classifier(heat_files / "heat.model").public_facts["name"] == "heat"


def test_train_refuses_what_it_cannot_reach_and_writes_nothing(run: Run, heat_files: Path) -> None:
    """One line: an unknown topic, no share, or a precision that no threshold reaches."""
    refused(run(*heat_train(heat_files, "--min-precision", "B7=0.9")), "--min-precision B7=0.9", "B1")
    refused(run(*heat_train(heat_files, "--min-precision", "much")), "--min-precision much", "such as 0.95")
    refused(run(*heat_train(heat_files, "--min-precision", "2")), "--min-precision: 2", "between 0 and 1")
    refused(run(*heat_train(heat_files, "--name", "two\nlines")), "--name")
    (heat_files / "ordinary.txt").write_text("hitze draussen\n" * 3 + "hitze drinnen\n", encoding="utf-8")
    unreachable = run(
        *heat_train(heat_files, "--min-precision", "0.99", "--ordinary", str(heat_files / "ordinary.txt"))
    )
    assert unreachable[0] == 2
    assert "--min-precision B1=0.99 cannot be reached" in unreachable[2]
    assert "hitze" not in unreachable[2]
    assert not (heat_files / "heat.model").exists()


def test_suggest_lists_texts_to_label_in_private(run: Run, tmp_path: Path) -> None:
    """A file to fill in, which is no label file until it is; readable by its owner only. On a screen it says so."""
    (tmp_path / "log.txt").write_text("corona beer\n" * 5 + "covid arm\nweather\nshot\n", encoding="utf-8")
    code, out, err = run("classify", "suggest", tmp_path / "log.txt", "--n", "3")
    assert code == 0
    assert err.startswith("private:")
    assert "corona beer" in out
    assert "weather" not in out
    path = tmp_path / "to_label.csv"
    assert run("classify", "suggest", tmp_path / "log.txt", "--n", "2", "--out", path)[0] == 0
    assert rows_of(path)[0] == ["query", "category", "guess", "margin", "searches"]
    assert path.stat().st_mode & 0o077 == 0
    refused(run("classify", "evaluate", "--labels", path), "row 1", "unknown category")
    labelled = tmp_path / "labels.csv"
    labelled.write_text("query,category\ncorona beer,\n", encoding="utf-8")
    assert "corona" not in run("classify", "suggest", tmp_path / "log.txt", "--labels", labelled)[1]


def test_suggest_reads_a_log_as_the_settings_describe_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JSON lines with the publisher's own column need no option; a key that no line has is refused, unquoted."""
    lines = '{"ts": 1, "q": "corona beer"}\n{"q": "2021-03-08T20:00:00Z"}\n{"ts": 2}\n'
    (tmp_path / "log.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "search-insights.toml").write_text('[log.columns]\nquery = "q"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, out, err = run("classify", "suggest", "log.jsonl")
    assert (code, err.splitlines()[0]) == (0, "settings: search-insights.toml (columns)")
    assert "corona beer" in out
    (tmp_path / "texts.txt").write_text("corona beer\n", encoding="utf-8")
    assert "corona beer" in run("classify", "suggest", "texts.txt")[1]  # a text on each line is of any column
    suggest = ("classify", "suggest", "log.jsonl", "--no-settings", "--column")
    refused(run(*suggest, "query"), "no column 'query'", "no line has this key")
    (tmp_path / "log.jsonl").write_text('{"q": "covid arm"', encoding="utf-8")
    refused(run(*suggest, "q"), "cannot be read as JSON lines")


@pytest.mark.parametrize(
    "beside", ["dataset/privacy.json", "dataset/datapackage.json", "site/site.json", "x.db.journal"]
)
def test_suggestions_are_not_written_where_they_might_be_published(run: Run, tmp_path: Path, beside: str) -> None:
    """Not in a dataset or a site, at any depth, and not beside one or beside a store."""
    published = tmp_path / beside
    published.parent.mkdir(exist_ok=True)
    (published.parent / "below").mkdir()
    published.touch()
    (tmp_path / "log.txt").write_text("covid arm\n", encoding="utf-8")
    places = [published.parent / "x.csv", tmp_path / "x.csv"]
    places += [published.parent / "below" / "x.csv"] if published.suffix == ".json" else []
    for place in places:
        refused(run("classify", "suggest", tmp_path / "log.txt", "--out", place), "private")
        assert not place.exists()


def test_the_pool_says_what_it_is_not(run: Run, heat_files: Path) -> None:
    """Without the publisher's own ordinary queries its ordinary texts are English, and one line says so."""
    where = ("--spec", heat_files / "spec.toml", "--geography", heat_files / "places.csv")
    words = ("classify", "pool", "--labels", heat_files / "labels.csv", *where, "--texts", "40", "--out")
    code, _, err = run(*words, heat_files / "pool.csv")
    assert code == 0
    assert err.count("\n") == 1
    assert "are English" in err
    code, out, err = run(*words, heat_files / "own.csv", "--ordinary", heat_files / "ordinary.txt")
    assert (code, err) == (0, "")
    assert "keep it private" in out
    known = set(ordinary_queries()) | set(heat_labels()[0])
    assert {query for (query,) in rows_of(heat_files / "own.csv")[1:]} <= known


@pytest.mark.parametrize("job", ["apply", "evaluate", "train", "pool", "suggest"])
def test_every_job_has_help(run: Run, job: str) -> None:
    """`--help` lists the options."""
    code, out, _ = run("classify", job, "--help")
    assert code == 0
    assert "--" in out
