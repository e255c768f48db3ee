"""The files of a search log, by their names; and whether they are still the files that were opened."""

import glob
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote

from search_insights.errors import LogError
from search_insights.support.files import is_text

_PARQUET = (".parquet", ".pq")
_CSV = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz")


def find_files(patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the log files that files, folders and globs stand for, sorted and of one format."""
    found: set[str] = set()
    for pattern in patterns:
        matches = _expand(pattern)
        if not matches:
            what = "a folder without log files" if pattern and Path(pattern).is_dir() else "no such file"
            raise LogError(f"{pattern or repr(pattern)}: {what}; give Parquet or CSV files, folders of them, or globs")
        found.update(matches)
    formats = {format_of(file) for file in found}
    for file in sorted(found):
        if not is_text(file):
            raise LogError(f"{file}: its name is not text in UTF-8; rename it")
        if not Path(file).is_file():  # a pipe can be read only once, and the log is read day by day
            raise LogError(f"{file}: not a regular file, and the log is read more than once; write it to a file")
    if len(formats) > 1:
        raise LogError(f"{', '.join(patterns)}: mixes Parquet and CSV files; give files of one format")
    return tuple(sorted(found))


def _expand(pattern: str) -> list[str]:
    if pattern and Path(pattern).exists():
        return _files_at(pattern)
    matches = glob.glob(pattern, recursive=True)  # noqa: PTH207 - a pattern may be absolute
    return [file for name in matches for file in _files_at(name)]


def _files_at(name: str) -> list[str]:
    path = Path(name)
    if path.is_dir():
        return [str(p) for p in path.rglob("*") if p.is_file() and p.name.lower().endswith(_PARQUET + _CSV)]
    return [name]


def state_of(file: str) -> tuple[int, int, int]:
    """Return what changes when a file does: which file it is, its size, when it was written."""
    try:
        found = Path(file).stat()
    except OSError:
        raise file_disappeared(file) from None
    return found.st_ino, found.st_size, found.st_mtime_ns


def format_of(file: str) -> str:
    """Return the format of a log file, by its name."""
    name = file.lower()
    if name.endswith(_PARQUET):
        return "parquet"
    if name.endswith(_CSV):
        return "csv"
    raise LogError(f"{file}: not a log file; expected a name that ends in {', '.join(_PARQUET + _CSV)}")


def refuse_times_of_folders(files: Iterable[str], column: str) -> None:
    """Refuse files below a folder named like `timestamp=2021-03-08`.

    An engine takes that for the time of every row, in place of the column in the file. A file that is moved to such a
    folder would then count a second time, in another week.
    """
    for file in files:
        names = (unquote(folder).partition("=")[:2] for folder in file.split("/")[:-1])
        if any(name.lower() == column.lower() and equals for name, equals in names):
            raise LogError(
                f"{file}: is below a folder that gives a value for {column!r}; times are read from the rows only: "
                "rename the folder"
            )


def file_changed(file: str) -> LogError:
    """Return the error for a file that changed after the log was opened."""
    return LogError(f"{file}: changed while it was read; nothing was spent: run again when the log is complete")


def file_appeared(file: str) -> LogError:
    """Return the error for a file that was not there when the log was opened."""
    return LogError(f"{file}: appeared while the log was read; nothing was spent: run again when the log is complete")


def file_disappeared(file: str) -> LogError:
    """Return the error for a file that is no longer there."""
    return LogError(f"{file}: disappeared while the log was read; nothing was spent")


def require_parquet(file: str) -> None:
    """Refuse CSV for an engine that reads only Parquet: it would not notice CSV files with different columns."""
    if file.lower().endswith(_CSV):
        raise LogError(f"{file}: on Spark a log is Parquet files or a table; use the duckdb engine, or convert it")
