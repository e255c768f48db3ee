"""Reading a public table, such as that of regions: Parquet, or text as spreadsheet programs write it.

Text is UTF-8 if it can be, and separated by commas if its header says so. Any other encoding and separator is a guess,
and is told. Nothing else is guessed: a wrong guess would change names, which are published.
"""

import codecs
import csv
import difflib
import glob
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from search_insights.errors import GeographyError, RowProblem
from search_insights.support.sql import identifier, public_reader
from search_insights.support.working_folder import temporary_folder

if TYPE_CHECKING:
    import duckdb

_log = logging.getLogger(__name__)

Row = dict[str, Any]

MOST_REGIONS = 1 << 20  # more than any country has, and all that the bounding can tell apart
_LONGEST = 4_096  # bytes of a value
_LONGEST_HEADER = 1 << 16
_CHUNK = 1 << 20
_SEPARATORS = {",": ",", ";": ";", "\t": "tabs"}  # and how they are told
_ENCODINGS = {"utf-8": "UTF-8", "utf-16": "UTF-16", "latin-1": "Latin-1", "cp1252": "Windows-1252"}
# Latin-1 has control characters in the place of these; Windows-1252 has the euro sign, typographic quotes and the like.
_WINDOWS_ONLY = bytes(range(0x80, 0xA0))

# A character of UTF-8, and two that hardly ever follow each other in Latin-1: a damaged file is not taken for Latin-1.
_TWO_BYTES = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xf4][\x80-\xbf]{2}")


@dataclass(frozen=True, slots=True)
class TextForm:
    """How a text file is read: its encoding and its separator."""

    encoding: str = "utf-8"
    separator: str = ","

    @property
    def is_plain(self) -> bool:
        """Whether the file is what it is expected to be, so that nothing was guessed."""
        return self == TextForm()

    def __str__(self) -> str:
        """Return the form in words."""
        separated = f"separated by {_SEPARATORS[self.separator]}"
        named = [f"as {_ENCODINGS[self.encoding]}"] if self.encoding != "utf-8" else []
        return ", ".join([*named, *([separated] if self.separator != "," else [])])


def is_parquet(path: Path) -> bool:
    """Return whether a file is read as Parquet: its name says so."""
    return path.suffix.lower() in (".parquet", ".pq")


def read_table_file(path: Path, columns: Sequence[str], required: Sequence[str], expected: str) -> Iterator[Row]:
    """Return the rows of a table with those of the columns that it has; `expected` says what can be given instead."""
    if not path.is_file():
        raise GeographyError(f"{path}: no such file; give {expected}")
    form = TextForm() if is_parquet(path) else text_form(path, columns)
    found, values = _read(path, form, columns)
    problems = [*_missing_columns(found, columns, required), *_misspelled_columns(found, columns, required)]
    if problems:
        raise GeographyError.of(str(path), [RowProblem("", what) for what in problems])
    if not form.is_plain:
        _log.warning("%s: read %s%s", path, form, _example(form, values))
    known = [column for column in columns if column in found]
    return (dict(zip(known, row, strict=True)) for row in values)


def _read(path: Path, form: TextForm, columns: Sequence[str]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the columns of a file, and the values of those that are wanted."""
    import duckdb

    connection = public_reader()
    try:
        with _in_utf8(path, form.encoding) as file:
            escaped = glob.escape(str(file))
            table = connection.read_parquet(escaped) if is_parquet(path) else _csv(connection, escaped, form.separator)
            wanted = [identifier(column) for column in columns if column in table.columns]
            _refuse_too_large(table, wanted, path)
            return table.columns, table.project(", ".join(wanted)).fetchall() if wanted else []
    except (duckdb.Error, UnicodeDecodeError):
        raise GeographyError(f"{path}: cannot be read as Parquet or as comma-separated text in UTF-8") from None


def _csv(connection: "duckdb.DuckDBPyConnection", file: str, separator: str) -> "duckdb.DuckDBPyRelation":
    """Open a text file. Nothing is left to DuckDB's detection: it might skip lines, or choose other quotes."""
    return connection.read_csv(
        file, all_varchar=True, header=True, skiprows=0, sep=separator, quotechar='"', escapechar='"'
    )


def _refuse_too_large(table: "duckdb.DuckDBPyRelation", wanted: Sequence[str], path: Path) -> None:
    """A small file can stand for very many rows, or very long texts: look before they are read into memory."""
    longest = "greatest(0, " + ", ".join(f"strlen(CAST({column} AS VARCHAR))" for column in wanted) + ")"
    ((rows, length),) = table.aggregate(f"count(*), coalesce(max({longest}), 0)").fetchall()
    if rows > MOST_REGIONS or length > _LONGEST:
        raise GeographyError(
            f"{path}: {rows:,} rows, the longest value {length:,} bytes; expected at most {MOST_REGIONS:,} "
            f"regions and {_LONGEST:,} bytes"
        )


def text_form(path: Path, columns: Sequence[str]) -> TextForm:
    """Return how a text file is read: UTF-8 and commas, if it can be."""
    encoding = _encoding(path)
    with path.open("rb") as file:
        start = file.read(_LONGEST_HEADER)
    header, *_ = start.decode("utf-8-sig" if encoding == "utf-8" else encoding, "replace").splitlines() or [""]

    def known(separator: str) -> int:
        return len(set(columns) & set(next(csv.reader([header], delimiter=separator), [])))

    return TextForm(encoding, max(_SEPARATORS, key=known))  # the first, the comma, if none is better


def _encoding(path: Path) -> str:
    """Return the encoding: that of a byte order mark, else UTF-8 if every byte fits, else one of a byte a character."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_utf8, windows, some_utf8, last = True, False, False, b""
    with path.open("rb") as file:
        for number, chunk in enumerate(iter(partial(file.read, _CHUNK), b"")):
            if number == 0 and chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return "utf-16"
            windows = windows or len(chunk.translate(None, _WINDOWS_ONLY)) < len(chunk)
            some_utf8 = some_utf8 or _TWO_BYTES.search(last + chunk) is not None
            is_utf8, last = is_utf8 and _decodes(decoder, chunk), chunk[-1:]
    if is_utf8 and _decodes(decoder, b"", final=True):
        return "utf-8"
    if some_utf8:
        raise GeographyError(f"{path}: has characters of UTF-8 and bytes that are none; save the table as UTF-8 anew")
    return "cp1252" if windows else "latin-1"


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return False
    return True


@contextmanager
def _in_utf8(path: Path, encoding: str) -> Iterator[Path]:
    """Yield the file if it is in UTF-8, else a copy that is."""
    if encoding == "utf-8":
        yield path
        return
    with temporary_folder() as folder:
        copy = folder / "regions.csv"
        with path.open(encoding=encoding, newline="") as old, copy.open("w", encoding="utf-8", newline="") as new:
            for text in iter(partial(old.read, _CHUNK), ""):
                new.write(text)
        yield copy


def _example(form: TextForm, values: Sequence[tuple[Any, ...]]) -> str:
    """Return a name by which the reader can judge a guessed encoding."""
    if form.encoding not in ("latin-1", "cp1252"):
        return ""
    name = next((v for row in values for v in row if isinstance(v, str) and not v.isascii()), None)
    return "" if name is None else f" (if {name!r} looks wrong, save the table as UTF-8)"


def _missing_columns(found: Sequence[str], columns: Sequence[str], required: Sequence[str]) -> Iterator[str]:
    for column in required:
        if column not in found:
            yield f"no column {column!r}; expected {', '.join(columns)}; got {', '.join(found)}"


def _misspelled_columns(found: Sequence[str], columns: Sequence[str], required: Sequence[str]) -> Iterator[str]:
    """Yield what looks like a misspelling of a missing optional column; other extra columns are fine."""
    extra = [name for name in found if name not in columns]
    for column in columns:
        near = difflib.get_close_matches(column, extra, n=1, cutoff=0.7)
        if column not in found and column not in required and near:
            yield f"column {near[0]!r}: did you mean {column!r}? Rename one of them"
