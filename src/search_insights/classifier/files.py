"""Files of queries: labels to learn from, pools, and files to be given a column of categories. All may be private.

Nothing here puts a query into a message: a row is named by its number.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from search_insights.classifier.model import Classifier
from search_insights.errors import InputError
from search_insights.spec.spec import Spec
from search_insights.support.database import connect
from search_insights.support.files import private_files
from search_insights.support.quoting import literal
from search_insights.support.working_folder import working_folder

if TYPE_CHECKING:
    import duckdb

Labels = npt.NDArray[np.int64]

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PACKED = (".gz", ".zst")
_TEXTS_AT_ONCE = 1 << 16


def read_labels(path: Path, spec: Spec) -> tuple[list[str], Labels]:
    """Read labelled queries: columns `query` and `category`, an id or name of the spec, or nothing for none."""
    words = {"": 0} | {word: i for i, c in enumerate(spec.categories) for word in (c.id, c.name)}
    with _opened(path, ("query", "category")) as connection:
        rows = connection.execute("SELECT coalesce(query, ''), coalesce(category, '') FROM given ORDER BY rowid")
        found: dict[str, int] = {}
        for number, (text, word) in enumerate(rows.fetchall(), start=1):
            if word not in words:
                known = ", ".join(c.id for c in spec.categories[1:])
                raise InputError(f"{path}: row {number}: an unknown category; expected {known}, or nothing for none")
            if found.setdefault(text, words[word]) != words[word]:
                raise InputError(f"{path}: row {number}: the same query has another category in a row above; mend one")
    if not found:
        raise InputError(f"{path}: no labelled queries")
    return list(found), np.array(list(found.values()))


def read_texts(path: Path) -> list[str]:
    """Read unlabelled queries: a column `query`."""
    with _opened(path, ("query",)) as connection:
        rows = connection.execute("SELECT query FROM given WHERE query IS NOT NULL ORDER BY rowid").fetchall()
    return list(dict.fromkeys(text for (text,) in rows))


def write_texts(path: Path, texts: Sequence[str]) -> None:
    """Write queries as a file with a column `query`, whole or not at all."""
    with connect() as connection:
        connection.register("given", {"query": np.array(texts, dtype=object)})
        _write(connection, "SELECT query FROM given", path)


def apply(classifier: Classifier, source: Path, out: Path) -> dict[str, int]:
    """Write a file with a column `category` added; gives how many rows have which, "" for none.

    All columns and the order of rows are kept. Each distinct text is classified once.
    """
    _format(out)
    with _opened(source, ("query",)) as connection:
        if "category" in _columns(connection):
            raise InputError(f"{source}: has a column 'category' already; rename it, or leave it out")
        _name(connection, classifier)
        columns = "given.*, topics.category AS category"
        query = f"SELECT {columns} FROM given LEFT JOIN topics ON topics.query = given.query ORDER BY given.rowid"
        _write(connection, query, out)
        counts = "SELECT coalesce(category, ''), count(*) FROM given LEFT JOIN topics USING (query) GROUP BY ALL"
        return dict(connection.execute(counts).fetchall())


def _name(connection: "duckdb.DuckDBPyConnection", classifier: Classifier) -> None:
    """Make the table of texts that have a category."""
    texts: list[str] = []
    ids: list[str] = []
    rows = connection.execute("SELECT DISTINCT query FROM given WHERE query IS NOT NULL")
    while batch := [text for (text,) in rows.fetchmany(_TEXTS_AT_ONCE)]:
        named = classifier.classify(batch)
        for i in np.flatnonzero(named).tolist():
            texts.append(batch[i])
            ids.append(classifier.categories[named[i] - 1][0])
    connection.register("named", {"query": np.array(texts, dtype=object), "category": np.array(ids, dtype=object)})
    cast = "CAST(query AS VARCHAR) AS query, CAST(category AS VARCHAR) AS category"
    connection.execute(f"CREATE TABLE topics AS SELECT {cast} FROM named")


@contextmanager
def _opened(path: Path, wanted: Sequence[str]) -> Iterator["duckdb.DuckDBPyConnection"]:
    """Read a file into the table `given` of a private database that is gone at the end."""
    import duckdb

    with (
        working_folder(Path(tempfile.gettempdir()), "search-insights-") as spill,
        connect(temp_directory=str(spill)) as connection,
    ):
        reader = _reader(path, spill)
        try:
            connection.execute(f"CREATE TABLE given AS SELECT * FROM {reader}")
        except duckdb.Error:
            # Not DuckDB's own words: they quote the file's.
            raise InputError(f"{path}: cannot be read as {_format(path)}; is the file whole?") from None
        for column in wanted:
            if column not in _columns(connection):
                raise InputError(f"{path}: no column {column!r}; the first line of a CSV file must name the columns")
            connection.execute(f"ALTER TABLE given ALTER {column} TYPE VARCHAR")
        yield connection


def _columns(connection: "duckdb.DuckDBPyConnection") -> list[str]:
    return [name for name, *_ in connection.execute("DESCRIBE given").fetchall()]


def _format(path: Path) -> str:
    """Tell a file's format by its name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes and suffixes[-1] in _PACKED
    kind = suffixes[-2] if packed and len(suffixes) > 1 else suffixes[-1] if suffixes else ""
    if kind in (".parquet", ".pq") and not packed:
        return "Parquet"
    if kind in _DELIMITERS:
        return "CSV"
    raise InputError(f"{path}: expected a name that ends in .csv, .tsv or .parquet")


def _reader(path: Path, folder: Path) -> str:
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if _format(path) == "Parquet":
        return f"read_parquet({literal(str(path))})"
    if not set(path.suffixes) & set(_PACKED):
        path = _as_text(path, folder)
    dialect = (
        f"""header = true, skip = 0, delim = {literal(_delimiter(path))}, quote = '"', escape = '"', comment = ''"""
    )
    return f"read_csv({literal(str(path))}, all_varchar = true, max_line_size = 16777216, {dialect})"


def _as_text(path: Path, folder: Path) -> Path:
    """Give the file itself if it is UTF-8, else a private copy in which bytes that are no text are replaced."""
    data = path.read_bytes()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        copy = folder / f"given{path.suffix}"
        copy.write_bytes(data.decode("utf-8", "replace").encode())
        return copy
    return path


def _delimiter(path: Path) -> str:
    return next(_DELIMITERS[suffix.lower()] for suffix in path.suffixes if suffix.lower() in _DELIMITERS)


def _write(connection: "duckdb.DuckDBPyConnection", query: str, path: Path) -> None:
    """Write a query's rows, whole or not at all, for their owner only."""
    import duckdb

    draft = path.with_name(f".{path.name}.draft")
    options: Any = "FORMAT parquet"
    if _format(path) == "CSV":
        packed = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix, "none")
        options = f"FORMAT csv, HEADER, DELIMITER {literal(_delimiter(path))}, COMPRESSION {packed}"
    try:
        with private_files():
            connection.execute(f"COPY ({query}) TO {literal(str(draft))} ({options})")
        draft.replace(path)
    except (duckdb.Error, OSError):
        raise InputError(f"{path}: cannot be written; is the folder there, and yours to write?") from None
    finally:
        draft.unlink(missing_ok=True)
