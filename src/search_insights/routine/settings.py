"""The settings file, `search-insights.toml`: where a publisher's files are, and how the log is read.

It holds paths and names, and nothing that is run or expanded: no command, no variable, no `~`. Relative paths are
relative to the folder of the file, so that they mean the same wherever the program is started.
"""

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from search_insights.errors import InputError
from search_insights.routine.file_name import FILE_NAME
from search_insights.routine.location import beside, require_placeholders
from search_insights.spec.zones import expected_zone, is_zone
from search_insights.store.identity import is_identity
from search_insights.support.files import read_text_at_most
from search_insights.support.toml import MAX_BYTES, parse_toml

Engine = Literal["duckdb", "spark"]
TimeUnit = Literal["s", "ms", "us", "ns"]


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Where the log is and how to read it."""

    location: tuple[str, ...] = ()
    file_zone: str | None = None
    first_week: date | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    code_level: str | None = None
    naive_zone: str | None = None
    time_unit: TimeUnit | None = None
    max_unused: float = 0.05
    missing_days: tuple[date, ...] = ()
    accept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BackupSettings:
    """Where backups of the store go, and how many are kept."""

    folder: Path | None = None
    keep: int = 8


@dataclass(frozen=True, slots=True)
class Settings:
    """What a settings file says. `given` names the keys that are in the file, the others have their defaults."""

    file: Path = Path(FILE_NAME)
    store: Path | None = None
    identity: str | None = None
    spec: str | None = None
    geography: str | None = None
    dataset: Path | None = None
    site: Path | None = None
    shapes: tuple[Path, ...] = ()
    shape_id: str | None = None
    site_address: str | None = None
    blocklist: Path | None = None
    model: str | None = None
    engine: Engine = "duckdb"
    memory: str | None = None
    master: str | None = None
    log: LogSettings = field(default_factory=LogSettings)
    backups: BackupSettings = field(default_factory=BackupSettings)
    given: tuple[str, ...] = ()

    def beside(self, ending: str) -> Path:
        """Return the path of a file of the routine's own, beside the settings file."""
        return self.file.with_suffix(ending)

    def value(self, key: str) -> Any:
        """Return the value of a key, such as `log.columns`."""
        table, _, name = key.rpartition(".")
        return getattr(getattr(self, table) if table else self, name)


class _Wrong(ValueError):
    """A value that a key cannot have. The text says what was expected."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of the file: how its value is read (given the folder of the file), an example and what it means."""

    name: str
    read: Callable[[Any, Path], object]
    example: str
    meaning: str


def _text(value: Any, folder: Path) -> str:
    if not isinstance(value, str) or not value or not value.isprintable():
        raise _Wrong("expected a text on one line, in quotes")
    return value


def _path(value: Any, folder: Path) -> Path:
    if not isinstance(value, str) or not value or not value.isprintable():
        raise _Wrong("expected a path, in quotes")
    if value.startswith("~"):
        raise _Wrong("~ does not stand for a home folder here: write the path in full, or relative to this file")
    return folder / value


def _named(value: Any, folder: Path) -> str:
    """Read the path of a file, or the name of a packaged one: that has no dot and no slash."""
    path = _path(value, folder)
    return str(path) if "." in value or "/" in value else value


def _list(read: Callable[[Any, Path], Any], value: Any, folder: Path) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _Wrong("expected a list in square brackets")
    return tuple(read(one, folder) for one in value)


def _one_or_more(read: Callable[[Any, Path], Any], value: Any, folder: Path) -> tuple[Any, ...]:
    if isinstance(value, list) and not value:
        raise _Wrong("expected at least one")
    return _list(read, value if isinstance(value, list) else [value], folder)


def _location(value: Any, folder: Path) -> str:
    text = _text(value, folder)
    if text.startswith("~"):
        _path(text, folder)
    try:
        require_placeholders(text)
    except ValueError as error:
        raise _Wrong(str(error)) from None
    return beside(text, folder)


def _day(value: Any, folder: Path) -> date:
    try:
        if isinstance(value, date) and not isinstance(value, datetime):
            return value
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise _Wrong("expected a day such as 2021-03-08") from None


def _zone(value: Any, folder: Path) -> str:
    if not isinstance(value, str) or not is_zone(value):
        raise _Wrong(f"expected {expected_zone(str(value))}")
    return value


def _share(value: Any, folder: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _Wrong("expected a share between 0 and 1")
    return float(value)


def _number(value: Any, folder: Path) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _Wrong("expected a whole number from 1 up")
    return value


def _one_of(choices: Any, value: Any, folder: Path) -> str:
    if value not in get_args(choices):
        raise _Wrong("expected " + " or ".join(f'"{choice}"' for choice in get_args(choices)))
    return str(value)


def _identity(value: Any, folder: Path) -> str:
    if not is_identity(value):
        raise _Wrong("expected an identity as 'search-insights init' writes it, such as " + _AN_IDENTITY)
    return str(value)


def _columns(value: Any, folder: Path) -> dict[str, str]:
    if not isinstance(value, dict):
        raise _Wrong('expected a table of roles, such as user_id = "uid"')
    return {role: _text(name, folder) for role, name in value.items()}


_AN_IDENTITY = '"6f1c1f0e-5d0a-4b7e-9a53-0d6f1b1f3c11"'
_DAYS, _TEXTS = partial(_list, _day), partial(_list, _text)

# Every key of the file, in the order of the reference in docs/running.md. A name with a dot is in the table before it.
KEYS = (
    Key("store", _path, '"releases.db"', "the store; made by the first week"),
    Key("identity", _identity, _AN_IDENTITY, "the identity of the release; a new store gets it, another is refused"),
    Key("spec", _named, '"spec.toml"', "the release spec; a name without dot and slash is a packaged one"),
    Key("geography", _named, '"regions.csv"', "the table of regions; a name without dot and slash is a packaged one"),
    Key("dataset", _path, '"dataset"', "the folder of the published dataset"),
    Key("site", _path, '"site"', "the folder of the dashboard"),
    Key("shapes", partial(_one_or_more, _path), '"shapes.json"', "outlines for the dashboard's map; one, or a list"),
    Key("shape_id", _text, '"ISO_CODE"', "the property of the outlines that has the ids of their regions"),
    Key("site_address", _text, '"https://example.org/trends/"', "where the dashboard will be, for previews of links"),
    Key("blocklist", _path, '"blocklist.txt"', "words that no text of top searches may have, one entry a line"),
    Key("model", _named, '"topics.model"', "the classifier of a log with queries and no category"),
    Key("engine", partial(_one_of, Engine), '"duckdb"', 'where the log is counted: "duckdb" (the default) or "spark"'),
    Key("memory", _text, '"2.5GB"', "memory of a run with DuckDB; what does not fit goes to disk"),
    Key("master", _text, '"spark://host:7077"', "Spark's master, where the engine is Spark"),
    Key(
        "log.location",
        partial(_one_or_more, _location),
        '"logs/{date}.parquet"',
        "files, folders or globs; one, or a list. `{date}` stands for each day, `{week}` for the week's first day",
    ),
    Key(
        "log.file_zone",
        _zone,
        '"UTC"',
        "the zone at whose midnight the files of `{date}` and `{week}` are cut (default: the release's)",
    ),
    Key("log.first_week", _day, "2021-01-04", "`run` leaves out weeks before this one, given by its first day"),
    Key("log.columns", _columns, '{ user_id = "uid" }', "the column of each role, where it has another name"),
    Key("log.code_level", _text, '"postal_code"', "the level of all bare region codes"),
    Key("log.naive_zone", _zone, '"Europe/Zurich"', "the zone of times without one; such times need it"),
    Key(
        "log.time_unit",
        partial(_one_of, TimeUnit),
        '"ms"',
        "the unit of times that are whole numbers since 1970 (default: found from the numbers)",
    ),
    Key("log.max_unused", _share, "0.05", "the largest share of rows that cannot be used (default: 0.05)"),
    Key("log.missing_days", _DAYS, "[2021-03-10]", "days that may have no file and no event"),
    Key("log.accept", _TEXTS, "[]", "the kinds of warnings of `check` that do not keep `run` from a week"),
    Key("backups.folder", _path, '"backups"', "where `run` and `store backup` put dated backups of the store"),
    Key("backups.keep", _number, "8", "how many of those backups `run` keeps (default: 8)"),
)
_BY_NAME = {key.name: key for key in KEYS}
_TABLES = {key.name.partition(".")[0] for key in KEYS if "." in key.name}


def read_settings(file: Path) -> Settings:
    """Read a settings file; refuse one with an unknown key or a value that the key cannot have."""
    values: dict[str, dict[str, Any]] = {table: {} for table in ("", *_TABLES)}
    given = []
    for name, value in _flat(_parsed(file), file):
        table, _, short = name.rpartition(".")
        try:
            values[table][short] = _BY_NAME[name].read(value, file.parent)
        except _Wrong as error:
            raise InputError(f"{file}: key {name!r}: {error}") from None
        given.append(name)
    return Settings(
        file=file,
        log=LogSettings(**values["log"]),
        backups=BackupSettings(**values["backups"]),
        given=tuple(key.name for key in KEYS if key.name in given),
        **values[""],
    )


def _parsed(file: Path) -> dict[str, Any]:
    try:
        return parse_toml(read_text_at_most(file, MAX_BYTES))
    except OSError as error:
        raise InputError(f"{file}: cannot read the settings ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: settings are TOML in UTF-8; this file is not text in UTF-8") from None
    except ValueError as error:
        raise InputError(f"{file}: not valid TOML: {error}") from None


def _flat(values: Mapping[str, Any], file: Path, table: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each key with its table; refuse one that there is not."""
    for short, value in values.items():
        name = f"{table}.{short}" if table else short
        if name in _TABLES:
            if not isinstance(value, dict):
                raise InputError(f"{file}: key {name!r}: expected a table, [{name}], with keys of its own")
            yield from _flat(value, file, name)
        elif name in _BY_NAME:
            yield name, value
        else:
            raise InputError(f"{file}: no key {name[:80]!r}; {_nearest(name)}")


def _nearest(name: str) -> str:
    """Name the key that was probably meant; it may be of another table."""
    by_short = {key.rpartition(".")[2]: key for key in _BY_NAME}
    close = difflib.get_close_matches(name.rpartition(".")[2], by_short, n=1)
    return f"did you mean {by_short[close[0]]!r}?" if close else f"the keys are {', '.join(_BY_NAME)}"


def settings_table() -> str:
    """Return the reference of all keys, as a table for docs/running.md."""
    rows = [f"| `{key.name}` | `{key.example}` | {key.meaning} |" for key in KEYS]
    return "\n".join(["| key | example | meaning |", "| --- | --- | --- |", *rows])
