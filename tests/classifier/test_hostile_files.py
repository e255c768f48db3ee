"""A model, a lexicon or a file of labels may come from anyone: it is read in bounded memory, or refused in one line."""

import json
import os
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from search_insights.classifier.features import BUCKET_BITS, MAX_CHARACTERS
from search_insights.classifier.files import read_labels, read_texts
from search_insights.classifier.lexicon import load_lexicon
from search_insights.classifier.model import load_classifier
from search_insights.errors import InputError
from search_insights.spec.spec import Spec
from tests.support.command_line import Run, assert_one_line

MAGIC = b"search-insights classifier 1\n"
WEIGHTS = 1 << BUCKET_BITS
NUMBERS = bytes(8 + 8 + 2 * WEIGHTS + 4 + 4)  # of a model with one topic, one word and one cue


def model(edit: Callable[[dict[str, Any]], object] = lambda head: None, numbers: bytes = NUMBERS) -> bytes:
    """Return the file of a small model, whose head was edited."""
    shapes = {"keys": [1], "classes": [1], "weights": [1, WEIGHTS], "bias": [1], "cues": [1]}
    kinds = {"keys": "<u8", "classes": "<u8", "weights": "<i2", "bias": "<i4", "cues": "<u4"}
    head = {
        "categories": [["H1", "heating"]],
        "about": {},
        "arrays": [[name, kinds[name], shape] for name, shape in shapes.items()],
    }
    edit(head)
    return packed(json.dumps(head), numbers)


def packed(head: str, numbers: bytes = NUMBERS) -> bytes:
    """Return a file with this head."""
    return MAGIC + head.encode("utf-8", "surrogatepass") + b"\n" + zlib.compress(numbers, 1)


def array(which: str, **changes: Any) -> Callable[[dict[str, Any]], None]:
    """Return the edit that gives an array another name, type or shape."""

    def edit(head: dict[str, Any]) -> None:
        [entry] = [entry for entry in head["arrays"] if entry[0] == which]
        entry[:] = [changes.get("name", entry[0]), changes.get("kind", entry[1]), changes.get("shape", entry[2])]

    return edit


def category(identity: Any, name: Any = "heating") -> Callable[[dict[str, Any]], None]:
    """Return the edit that gives the model another category."""
    return lambda head: head.update(categories=[[identity, name]])


HOSTILE: dict[str, bytes] = {
    "nested without end": MAGIC + b'{"categories": ' + b"[" * 100_000,
    "nested and closed": packed("[" * 50_000 + "]" * 50_000),
    "a head without end": MAGIC + b'{"about": "' + b"x" * 2_000_000,
    "a head that is a list": packed("[]"),
    "a head that is not UTF-8": MAGIC + b'{"categories": "\xff\xfe"}\n',
    "NaN": model(lambda head: head["about"].update(x=float("nan"))),
    "infinity": packed('{"categories": Infinity, "about": {}, "arrays": []}'),
    "a number of many digits": packed(f'{{"categories": {"9" * 5000}, "about": {{}}, "arrays": []}}'),
    "a name twice": model().replace(b'"about": {}', b'"about": {}, "about": {}'),
    "a name too many": model(lambda head: head.update(more=1)),
    "about a text": model(lambda head: head.update(about="x")),
    "weights that are fractions": model(array("weights", kind="<f8"), np.full(WEIGHTS + 9, np.nan).tobytes()),
    "weights that are objects": model(array("weights", kind="|O")),
    "keys that grow eightfold": model(array("keys", kind="|u1", shape=[8])),
    "the other byte order": model(array("keys", kind=">u8")),
    "an array twice": model(array("classes", name="keys")),
    "an array too few": model(lambda head: head["arrays"].pop()),
    "weights of another shape": model(array("weights", shape=[WEIGHTS, 1])),
    "keys of two dimensions": model(array("keys", shape=[1, 1])),
    "more keys than classes": model(array("keys", shape=[2]), NUMBERS + bytes(8)),
    "no keys": model(lambda head: [array(n, shape=[0])(head) for n in ("keys", "classes")], NUMBERS[16:]),
    "a shape below 0": model(array("cues", shape=[-1])),
    "a shape beyond 64 bits": model(array("cues", shape=[10**30])),
    "shapes that multiply to 0 in 64 bits": model(array("cues", shape=[1 << 32, 1 << 32])),
    "a shape that is true": model(array("cues", shape=[True])),
    "a shape that is a fraction": model(array("cues", shape=[1.0])),
    "cues that are not sorted": model(array("cues", shape=[2]), NUMBERS + bytes(4)),
    "bytes too few": model(numbers=NUMBERS[:-1]),
    "bytes too many": model(numbers=NUMBERS + b"\0"),
    "bytes after the end": model() + b"more",
    "no categories": model(lambda head: head.update(categories=[])),
    "a category that is a number": model(category(1)),
    "a category of two lines": model(category("H1\nH2")),
    "a category that moves the cursor": model(category("H1", "\x1b[2J")),
    "a category of half a character": model(category("\ud800")),
    "a category without end": model(category("H1", "x" * 10_000)),
}
UNPACKED = 1 << 28
BOMBS: dict[str, Callable[[dict[str, Any]], object]] = {
    "a bomb": lambda head: None,
    "a bomb that says so": array("cues", shape=[1 + UNPACKED // 4]),
}


def test_the_small_model_is_one(tmp_path: Path) -> None:
    """What the hostile models change is otherwise a model."""
    (tmp_path / "small.model").write_bytes(model())
    assert load_classifier(tmp_path / "small.model").classify(["gas prices"]).tolist() == [0]


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_model_is_refused(tmp_path: Path, what: str) -> None:
    """One line says that it is no model."""
    (tmp_path / "hostile.model").write_bytes(HOSTILE[what])
    with pytest.raises(
        InputError, match=r"hostile\.model: not a model of 'search-insights classify train', or damaged"
    ):
        load_classifier(tmp_path / "hostile.model")


@pytest.mark.parametrize("what", BOMBS)
def test_a_model_that_unpacks_to_much_is_refused_in_bounded_memory(tmp_path: Path, what: str) -> None:
    """It is refused before it has taken more memory than the largest model would."""
    (tmp_path / "bomb.model").write_bytes(model(BOMBS[what], bytes(len(NUMBERS) + UNPACKED)))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="not a model"):
            load_classifier(tmp_path / "bomb.model")
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()


def test_a_file_larger_than_any_model_is_not_read_to_its_end(tmp_path: Path) -> None:
    """It is refused by its size. Like the files of this kind that have no end, it takes no room on the disk."""
    path = tmp_path / "large.model"
    path.touch()
    os.truncate(path, 10**9)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"large\.model: more than 65,536 kB"):
            load_classifier(path)
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()


def test_a_hostile_model_writes_nothing(run: Run, tmp_path: Path) -> None:
    """`classify apply` ends with exit code 2 and one line, and no file appears."""
    (tmp_path / "hostile.model").write_bytes(HOSTILE["nested without end"])
    (tmp_path / "in.csv").write_text("query\ncovid vaccine\n", encoding="utf-8")
    what = ("apply", tmp_path / "in.csv", "--out", tmp_path / "out.csv", "--model", tmp_path / "hostile.model")
    code, out, err = run("classify", *what)
    assert (code, out) == (2, "")
    assert_one_line(err)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    "text",
    [
        f"cues = {'[' * 10_000}",
        f"cues = {'{a=' * 10_000}",
        f"{'.'.join('a' * 3000)} = 1",
        f"cues = {'9' * 5000}",
        "[[class]]\nname = 1\nwords = 2",
        "class = 1",
    ],
    ids=["lists", "tables", "a deep key", "digits", "numbers for texts", "no list"],
)
def test_a_hostile_lexicon_is_refused(tmp_path: Path, text: str) -> None:
    """One line says that it is no lexicon."""
    (tmp_path / "hostile.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"hostile\.toml: not a lexicon"):
        load_lexicon(tmp_path / "hostile.toml")


def test_a_lexicon_larger_than_any_is_refused(tmp_path: Path) -> None:
    """A lexicon is read into memory, so its size has a limit."""
    (tmp_path / "hostile.toml").write_text(f"# {'x' * 2_000_000}", encoding="utf-8")
    with pytest.raises(InputError, match=r"hostile\.toml: more than 1,024 kB"):
        load_lexicon(tmp_path / "hostile.toml")


# Labels and texts


def write(path: Path, query: str, rows: int) -> Path:
    """Write labels; what repeats is packed."""
    select = f"SELECT {query} AS query, 'A1' AS category FROM range({rows}) AS r(i)"
    duckdb.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
    return path


@pytest.mark.parametrize(
    ("query", "rows"), [("i || repeat('x', 1_000_000)", 100), ("'covid vaccine'", 1_000_000)], ids=["long", "many"]
)
def test_labels_that_unpack_to_much_are_read_in_bounded_memory(
    tmp_path: Path, paper: Spec, query: str, rows: int
) -> None:
    """Of texts, only what is read comes out of the database, and each text once."""
    path = write(tmp_path / "labels.parquet", query, rows)
    tracemalloc.start()
    try:
        texts, labels = read_labels(path, paper)
        again = read_texts(path)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
    assert texts == again
    assert len(texts) == len(labels) == (rows if "i ||" in query else 1)
    assert max(map(len, texts)) <= MAX_CHARACTERS


def test_labels_that_differ_only_where_they_are_not_read_contradict(tmp_path: Path, paper: Spec) -> None:
    """No classifier could learn both, so the row of the second is refused."""
    start = "covid " * 60
    (tmp_path / "labels.csv").write_text(f"query,category\n{start}one,A1\nx,\n{start}two,A2\n", encoding="utf-8")
    with pytest.raises(InputError, match="row 3: an earlier row gives this query another category"):
        read_labels(tmp_path / "labels.csv", paper)


def test_bytes_that_are_not_text_are_replaced_wherever_a_part_of_the_file_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is read in parts; a character that two parts share stays whole."""
    (tmp_path / "in.csv").write_bytes("query\nüü💉\n\n".encode() + b"\xff\n")
    for size in range(1, 8):
        monkeypatch.setattr("search_insights.classifier.files._PART_BYTES", size)
        assert read_texts(tmp_path / "in.csv")[0] == "üü💉"
        assert "\ufffd" in read_texts(tmp_path / "in.csv")
