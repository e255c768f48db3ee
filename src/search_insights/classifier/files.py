"""Read and write files of queries: labels, pools, and files that get a column of categories. All may be private.

No message quotes a query: rows are identified by number.
"""

import codecs
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from search_insights.classifier.model import Classifier
from search_insights.classifier.topics import create_topics_table, part_read
from search_insights.errors import InputError
from search_insights.spec.spec import Spec
from search_insights.support.arrays import Counts, Numbers
from search_insights.support.files import private_files, replacing_file
from search_insights.support.sql import connect, identifier, literal
from search_insights.support.working_folder import temporary_folder

if TYPE_CHECKING:
    import duckdb


_BATCH = 1 << 14  # rows
_PART_BYTES = 1 << 20
_MEMORY = "2GB"  # of a table; the rest goes to the temporary folder
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_COMPRESSED = (".gz", ".zst")
_LINES = ".txt"  # a query on each line; only read
_JSON_LINES = (".jsonl", ".ndjson", ".json")  # as logs; only read


def read_labels(path: Path, spec: Spec) -> tuple[list[str], Numbers]:
    """Read labelled queries from the columns `query` and `category`: an id or name of the spec, or empty for none.

    Return each text once, as far as it is read, with its category number.
    """
    numbers = {"": 0} | spec.category_numbers
    found: dict[str, int] = {}
    with _open_table(path, ("query", "category")) as connection:
        known = ", ".join(literal(category) for category in numbers)
        distinct = f"""
            SELECT min(rowid) + 1 AS row, coalesce({part_read("query")}, '') AS text,
                   CASE WHEN coalesce(category, '') IN ({known}) THEN coalesce(category, '') END AS category
            FROM given GROUP BY ALL ORDER BY row"""
        for row, text, category in _each(connection, distinct):
            if category is None:
                expected = ", ".join(spec.topics)
                raise InputError(f"{path}: row {row}: unknown category; expected {expected}, or nothing for none")
            if found.setdefault(text, numbers[category]) != numbers[category]:
                raise InputError(f"{path}: row {row}: an earlier row gives this query another category; fix one")
    if not found:
        raise InputError(f"{path}: no labelled queries")
    return list(found), np.array(list(found.values()))


def read_texts(path: Path) -> list[str]:
    """Read unlabelled queries from the column `query`: each text once, as far as it is read."""
    with _open_table(path, ("query",)) as connection:
        part = part_read("query")
        distinct = f"SELECT {part} AS text FROM given WHERE query IS NOT NULL GROUP BY text ORDER BY min(rowid)"
        return [text for (text,) in _each(connection, distinct)]


@contextmanager
def counted_texts(paths: Sequence[Path], column: str = "query") -> Iterator[Iterator[tuple[list[str], Counts]]]:
    """Open files of queries, or logs that have them: batches of distinct texts, and how many rows have each.

    A `.txt` file has a query on each line, JSON lines an object with the key `column`.
    """
    with _database() as (connection, folder):
        connection.execute("CREATE TABLE all_given (query VARCHAR)")
        for path in paths:
            _load(connection, folder, path, (column,), only=(column,))
            connection.execute(f"INSERT INTO all_given SELECT {identifier(column)} FROM given; DROP TABLE given")
        yield _batches(connection)


def _batches(connection: "duckdb.DuckDBPyConnection") -> Iterator[tuple[list[str], Counts]]:
    part = part_read("query")
    rows = connection.execute(
        f"SELECT {part} AS text, count(*) FROM all_given WHERE trim(query) <> '' GROUP BY text ORDER BY min(rowid)"
    )
    while batch := rows.fetchmany(_BATCH):
        yield [text for text, _ in batch], np.array([count for _, count in batch], dtype=np.int64)


def read_counted(path: Path) -> tuple[list[str], list[int]]:
    """Read ordinary queries: each text once, and how often it is there."""
    with counted_texts([path]) as batches:
        read = list(batches)
    if not read:
        raise InputError(f"{path}: no queries")
    return [text for texts, _ in read for text in texts], [int(n) for _, counts in read for n in counts]


def write_suggestions(path: Path, rows: Sequence[tuple[str, str, str, float, int]]) -> None:
    """Write suggested texts, to be labelled: the columns query, category (to be filled in), guess, margin, searches."""
    names = ("query", "category", "guess", "margin", "searches")
    with connect() as connection:
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
        connection.register(
            "given", {name: np.array(values, dtype=object) for name, values in zip(names, columns, strict=True)}
        )
        _write(connection, "SELECT * FROM given", path)


def _each(connection: "duckdb.DuckDBPyConnection", query: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query, of which a batch at a time is in memory."""
    rows = connection.execute(query)
    while batch := rows.fetchmany(_BATCH):
        yield from batch


def write_texts(path: Path, texts: Sequence[str]) -> None:
    """Write queries to a file with the column `query`, which appears complete or not at all."""
    with connect() as connection:
        connection.register("given", {"query": np.array(texts, dtype=object)})
        _write(connection, "SELECT query FROM given", path)


def apply(classifier: Classifier, source: Path, out: Path) -> dict[str, int]:
    """Copy a file with a column `category` added. Return the number of rows of each category, "" for none.

    All columns and the order of the rows are kept. Each distinct text is classified once.
    """
    _format(out)
    with _open_table(source, ("query",)) as connection:
        if "category" in _columns(connection):
            raise InputError(f"{source}: already has a column 'category'; rename or remove it")
        create_topics_table(connection, classifier, "SELECT query FROM given")
        ids = ", ".join(literal(identity) for identity, _ in classifier.categories)
        category = f"[{ids}][topics.category]"
        joined = f"FROM given LEFT JOIN topics ON topics.query = {part_read('given.query')}"
        _write(connection, f"SELECT given.*, {category} AS category {joined} ORDER BY given.rowid", out)
        counts = f"SELECT coalesce({category}, '') AS category, count(*) {joined} GROUP BY ALL"
        return dict(connection.execute(counts).fetchall())


@contextmanager
def _open_table(path: Path, wanted: Sequence[str]) -> Iterator["duckdb.DuckDBPyConnection"]:
    """Read a file into the table `given` of a private database, which is removed at the end."""
    with _database() as (connection, folder):
        _load(connection, folder, path, wanted)
        yield connection


@contextmanager
def _database() -> Iterator[tuple["duckdb.DuckDBPyConnection", Path]]:
    """Open a private database, and a private folder for its files; both are removed at the end."""
    with (
        temporary_folder() as folder,
        connect(temp_directory=str(folder), memory_limit=_MEMORY) as connection,
    ):
        yield connection, folder


def _load(
    connection: "duckdb.DuckDBPyConnection", folder: Path, path: Path, wanted: Sequence[str], only: Sequence[str] = ()
) -> None:
    """Read a file, or `only` some of its columns, into the table `given`."""
    import duckdb

    reader = _reader(path, folder, only)
    try:
        has = [name for name, *_ in connection.execute(f"DESCRIBE SELECT * FROM {reader}").fetchall()]
        columns = ", ".join(identifier(name) for name in only if name in has) or "*"
        connection.execute(f"CREATE TABLE given AS SELECT {columns} FROM {reader}")
    except duckdb.OutOfMemoryException:
        raise InputError(f"{path}: does not fit into {_MEMORY} of memory and the temporary folder") from None
    except duckdb.Error:
        # DuckDB's own message is not passed on, because it may quote the file.
        raise InputError(f"{path}: cannot be read as {_format(path, written=False)}; is the file complete?") from None
    for column in wanted:
        if column not in _columns(connection) or (only and _is_json(path) and not _has_value(connection, column)):
            raise InputError(f"{path}: no column {column!r}; {_where_columns_are(path)}")
        connection.execute(f"ALTER TABLE given ALTER {identifier(column)} TYPE VARCHAR")


def _columns(connection: "duckdb.DuckDBPyConnection") -> list[str]:
    return [name for name, *_ in connection.execute("DESCRIBE given").fetchall()]


def _has_value(connection: "duckdb.DuckDBPyConnection", column: str) -> bool:
    """Whether any row has the column: of JSON lines, only the rows can tell."""
    return bool(connection.execute(f"SELECT count({identifier(column)}) FROM given").fetchall()[0][0])


def _where_columns_are(path: Path) -> str:
    return "no line has this key" if _is_json(path) else "the first line of a CSV file must name the columns"


def _kind(path: Path) -> tuple[str, bool]:
    """Return the ending that names a file's format, and whether the file is compressed."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in _COMPRESSED
    return suffixes[-2] if compressed and len(suffixes) > 1 else suffixes[-1] if suffixes else "", compressed


def _is_json(path: Path) -> bool:
    return _kind(path)[0] in _JSON_LINES


def _format(path: Path, written: bool = True) -> str:
    """Return the format of a file to be `written`, or to be read, which follows from its name."""
    kind, compressed = _kind(path)
    if kind in (".parquet", ".pq") and not compressed:
        return "Parquet"
    if kind in _DELIMITERS:
        return "CSV"
    if kind == _LINES and not written:
        return "text"
    if kind in _JSON_LINES and not written:
        return "JSON lines"
    raise InputError(f"{path}: expected a name that ends in .csv, .tsv or .parquet")


def _reader(path: Path, folder: Path, only: Sequence[str] = ()) -> str:
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if path.suffix.lower() == _LINES:
        content = f"read_text({literal(str(_as_utf8(path, folder)))})"
        name = identifier(only[0] if only else "query")
        return f"(SELECT rtrim(unnest(string_split(content, chr(10))), chr(13)) AS {name} FROM {content})"
    if only and _is_json(path):
        columns = ", ".join(
            f"{literal(name)}: 'VARCHAR'" for name in only
        )  # a type that was guessed could change texts
        return f"read_json({literal(str(path))}, format = 'newline_delimited', columns = {{{columns}}})"
    if _format(path) == "Parquet":
        return f"read_parquet({literal(str(path))})"
    if not set(path.suffixes) & set(_COMPRESSED):
        path = _as_utf8(path, folder)
    dialect = (
        f"""header = true, skip = 0, delim = {literal(_delimiter(path))}, quote = '"', escape = '"', comment = ''"""
    )
    return f"read_csv({literal(str(path))}, all_varchar = true, max_line_size = 16777216, {dialect})"


def _as_utf8(path: Path, folder: Path) -> Path:
    """Return the file itself if it is UTF-8, else a private copy in which invalid bytes are replaced."""
    try:
        for _ in _decoded(path, "strict"):
            pass
    except UnicodeDecodeError:
        copy = folder / f"given{path.suffix}"
        with copy.open("wb") as file:
            file.writelines(text.encode() for text in _decoded(path, "replace"))
        return copy
    return path


def _decoded(path: Path, errors: str) -> Iterator[str]:
    """Yield the text of a file, a part at a time: the file may be larger than memory."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors)
    with path.open("rb") as file:
        while data := file.read(_PART_BYTES):
            yield decoder.decode(data)
    yield decoder.decode(b"", final=True)


def _delimiter(path: Path) -> str:
    return next(_DELIMITERS[suffix.lower()] for suffix in path.suffixes if suffix.lower() in _DELIMITERS)


def _write(connection: "duckdb.DuckDBPyConnection", query: str, path: Path) -> None:
    """Write a query's rows to a file that only its owner can read, and that appears complete or not at all."""
    import duckdb

    options = "FORMAT parquet"
    if _format(path) == "CSV":
        compression = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix, "none")
        options = f"FORMAT csv, HEADER, DELIMITER {literal(_delimiter(path))}, COMPRESSION {compression}"
    try:
        with replacing_file(path) as draft, private_files():
            connection.execute(f"COPY ({query}) TO {literal(str(draft))} ({options})")
    except (duckdb.Error, OSError):
        raise InputError(f"{path}: cannot be written; check that the folder exists and is writable") from None
