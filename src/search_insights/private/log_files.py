"""The files of a search log, by their names; and whether they are still the files that were opened."""

import glob
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from search_insights.errors import LogError
from search_insights.support.files import is_text

_PARQUET = (".parquet", ".pq")
_CSV = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz")
_JSON_LINES = tuple(f".{name}{packed}" for name in ("jsonl", "ndjson") for packed in ("", ".gz", ".zst"))
_JSON = (".json", ".json.gz", ".json.zst")  # in a folder, often something else
Format = Literal["parquet", "csv", "json"]
_NAMES: dict[Format, str] = {"parquet": "Parquet", "csv": "CSV", "json": "JSON lines"}


_GIVE = f"give {', '.join(_NAMES.values())} files, folders of them, or globs"


def find_files(patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the log files that files, folders and globs stand for, sorted and of one format."""
    found: set[str] = set()
    for pattern in patterns:
        matches = _expand(pattern)
        if not matches:
            what = "a folder without log files" if pattern and Path(pattern).is_dir() else "no such file"
            raise LogError(f"{pattern or repr(pattern)}: {what}; {_GIVE}")
        found.update(matches)
    formats = {format_of(file) for file in found}
    for file in sorted(found):
        if not is_text(file):
            raise LogError(f"{file}: its name is not text in UTF-8; rename it")
        if not Path(file).is_file():  # a pipe can be read only once, and the log is read day by day
            raise LogError(f"{file}: not a regular file, and the log is read more than once; write it to a file")
    if len(formats) > 1:
        mixed = " and ".join(name for format_, name in _NAMES.items() if format_ in formats)
        raise LogError(f"{', '.join(patterns)}: mixes {mixed} files; give files of one format")
    return tuple(sorted(found))


def _expand(pattern: str) -> list[str]:
    """Return what a pattern names, and the log files in the folders that it names."""
    there = bool(pattern) and Path(pattern).exists()
    names = [pattern] if there else glob.glob(pattern, recursive=True)  # noqa: PTH207 - a pattern may be absolute
    named = [name for name in names if not Path(name).is_dir()]
    inside = [str(p) for name in names if Path(name).is_dir() for p in Path(name).rglob("*") if p.is_file()]
    logs = named + [file for file in inside if file.lower().endswith(_PARQUET + _CSV + _JSON_LINES)]
    # Beside a log, .json is what describes it, such as the tools that manage tables write.
    return logs or [file for file in inside if file.lower().endswith(_JSON)]


def state_of(file: str) -> tuple[int, int, int]:
    """Return what changes when a file does: which file it is, its size, when it was written."""
    try:
        found = Path(file).stat()
    except OSError:
        raise file_disappeared(file) from None
    return found.st_ino, found.st_size, found.st_mtime_ns


def format_of(file: str) -> Format:
    """Return the format of a log file, by its name."""
    name = file.lower()
    if name.endswith(_PARQUET):
        return "parquet"
    if name.endswith(_CSV):
        return "csv"
    if name.endswith(_JSON_LINES + _JSON):
        return "json"
    endings = ", ".join((*_PARQUET, *_CSV, *_JSON_LINES, *_JSON))
    raise LogError(f"{file}: not a log file; expected a name that ends in {endings}")


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
    """Refuse text for an engine that reads only Parquet: it would not notice files with different columns."""
    if file.lower().endswith(_CSV + _JSON_LINES + _JSON):
        raise LogError(f"{file}: on Spark a log is Parquet files or a table; use the duckdb engine, or convert it")
