"""The commands that are killed in tests and in evidence, each with the folder in which it starts.

They publish Qazaria, a country small enough for hundreds of runs. Add a `Case` for each new command that writes.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import duckdb

from search_insights.spec.spec_file import load_spec, spec_toml
from tests.lab.kills import Case, run_process
from tests.support.dashboards import described_again
from tests.support.logs import little_geography, write_log
from tests.support.other_country import other_geography, other_spec_file
from tests.support.top_searches import SMALL

FIRST = date(2023, 10, 1)  # a Sunday
WEEKS = tuple(FIRST + timedelta(weeks=i) for i in range(3))
PLACES = ("qz/s/p01", "qz/s/p03", "qz/m/0211", "qz/s/p11", "qz/s/p12", "qz/s/p09", "qz/c/012", "qz/p/02")


def week_query(week: date, rows: int) -> str:
    """Return the SQL query for a week's log: `rows` users with one search each."""
    places = ", ".join(f"'{place}'" for place in PLACES)
    return f"""
        SELECT i AS user_id, TIMESTAMPTZ '{week} 06:00:00+00' + to_days((i % 7)::INTEGER) AS timestamp,
               [{places}][1 + (i // 7) % {len(PLACES)}] AS region,
               ['H1', 'H2', 'H3', NULL][1 + (i // 3) % 4] AS category
        FROM range({rows}) AS r(i)"""


def week_log(folder: Path, week: date, rows: int = 20_000) -> Path:
    """Write the log of a week, with enough searches for values to be published."""
    return write_log(folder / "log" / f"{week}.parquet", week_query(week, rows))


def anonymize_words(*weeks: date) -> tuple[str, ...]:
    """Return the arguments that anonymize these weeks."""
    named = [word for week in weeks for word in ("--week", str(week))]
    return (
        "anonymize",
        "log",
        "--store",
        "store.db",
        "--spec",
        "heating-v2.toml",
        "--geography",
        "qazaria.csv",
        *named,
    )


RUN_FILES = ("search-insights.lock", "search-insights.memory.json")
BACKUP = ("store", "backup", "--store", "store.db", "--out", "backup.db")
COMBINE = ("combine", "dataset", "neighbour", "--out", "world")
DASHBOARD = ("dashboard", "dataset", "--out", "site")
SETTINGS = """
store = "store.db"
spec = "heating-v2.toml"
geography = "qazaria.csv"
dataset = "dataset"
[log]
location = "log/{week}.parquet"
[backups]
folder = "backups"
keep = 1
"""  # without a site: its building is killed by itself
PUBLISH = ("publish", "--store", "store.db", "--out", "dataset")
LATER = str(WEEKS[-1] + timedelta(weeks=1))
FILES = ("store.db", "store.db.journal")
INIT = ("init", "--out", "new", "--geography", "qazaria.csv", "--time-zone", "UTC", "--topic", "heating")
SECOND_BACKUP = (*BACKUP[:-1], "second.db")
RESTORE = ("store", "restore", "backup.db", "--store", "store.db", "--dataset", "dataset", "--replace")
LOSE = ("store", "lose", "--store", "store.db", "--week", LATER, "--reason", "no log")
NOTE = ("store", "note", "--store", "store.db", "--week", str(WEEKS[0]), "--reason", "a server was down")
EDITION = ("store", "edition", "--store", "store.db", "--spec", "louder.toml", "--from", LATER, "--reason", "why")
ONCE = frozenset({0, 2})  # a command that was done already is refused


def new_folder(folder: Path, *weeks: date) -> Path:
    """Make the folder of a publisher of Qazaria, with the logs of some weeks."""
    folder.mkdir()
    other_spec_file(folder)
    other_geography(folder)
    for week in weeks:
        week_log(folder, week)
    return folder


TEXT_WEEKS = (date(2021, 3, 8), date(2021, 3, 15))
TEXTS = ("covid vaccine near me", "is the covid vaccine safe", "covid vaccine news", "weather")


def text_log(folder: Path) -> Path:
    """Write a log of two weeks of the little country, with queries: each text by 35 users a week."""
    queries, days = ", ".join(f"'{text}'" for text in TEXTS), "to_days((i % 7)::INTEGER)"
    return write_log(
        folder / "log" / "texts.parquet",
        f"""SELECT i AS user_id,
            TIMESTAMPTZ '{TEXT_WEEKS[0]} 20:00:00+00' + {days} + to_days(7 * w::INTEGER) AS timestamp,
            ['94103', '95667', 'geoId/35'][1 + i % 3] AS region, [{queries}][1 + (i // 7) % {len(TEXTS)}] AS query
            FROM range(140) AS r(i), range(2) AS s(w)""",
    )


def text_folder(folder: Path) -> Path:
    """Make the folder of a publisher of the little country, whose spec has top searches and whose log has texts."""
    text_log(folder)
    little_geography(folder)
    spec = load_spec("vaccination-v2")
    top = replace(SMALL, total_threshold=16)
    spec = replace(spec, top_searches=top, promise=replace(spec.promise, epsilon=9.0))
    (folder / "texts.toml").write_text(spec_toml(spec), encoding="utf-8")
    return folder


def text_words(*weeks: date) -> tuple[str, ...]:
    """Return the arguments that anonymize weeks of that log."""
    named = [word for week in weeks for word in ("--week", str(week))]
    spec = ("--spec", "texts.toml", "--geography", "little.csv", "--code-level", "postal_code", "--other-weeks")
    return ("anonymize", "log", "--store", "store.db", *spec, *named)


class Cases(Mapping[str, Case]):
    """The cases by name. A case and the folders that it starts from are prepared when they are first asked for."""

    def __init__(self, home: Path) -> None:
        """Prepare nothing yet; the folders will be in `home`."""
        self._home = home
        self._prepared: dict[str, Case] = {}

    def __getitem__(self, name: str) -> Case:
        """Return a case; one that is asked for again is the same."""
        if name not in self._prepared:
            self._prepared[name] = self._CASES[name](self, name)
        return self._prepared[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._CASES)

    def __len__(self) -> int:
        return len(self._CASES)

    @cached_property
    def _nothing(self) -> Path:
        return new_folder(self._home / "nothing", *WEEKS)

    @cached_property
    def _one(self) -> Path:
        return _after(self._nothing, self._home / "one", anonymize_words(WEEKS[0]), PUBLISH)

    @cached_property
    def _three(self) -> Path:
        return _after(self._one, self._home / "three", BACKUP, anonymize_words(*WEEKS))

    @cached_property
    def _shown(self) -> Path:
        return _after(self._one, self._home / "shown", DASHBOARD, anonymize_words(*WEEKS), PUBLISH)

    _CASES: ClassVar[dict[str, Callable[["Cases", str], Case]]] = {
        "init": lambda at, name: Case(name, at._one, INIT, makes=("new",), again=ONCE),
        "anonymize, first": lambda at, name: Case(name, at._nothing, anonymize_words(*WEEKS[:2]), makes=FILES),
        "anonymize, later": lambda at, name: Case(name, at._one, anonymize_words(*WEEKS), makes=FILES),
        "anonymize, texts": lambda at, name: Case(
            name, text_folder(at._home / "texts"), text_words(*TEXT_WEEKS), makes=FILES
        ),
        "publish, first": lambda at, name: Case(
            name, _without_dataset(at._three, at._home / "unpublished"), PUBLISH, makes=("dataset",)
        ),
        "publish, again": lambda at, name: Case(name, at._three, (*PUBLISH, "--counts")),
        "store backup": lambda at, name: Case(name, at._three, SECOND_BACKUP, makes=("second.db",), again=ONCE),
        "dashboard": lambda at, name: Case(name, at._shown, DASHBOARD, folders=("dataset", "site")),
        "combine": lambda at, name: Case(
            name, _with_neighbour(at._three, at._home / "countries"), COMBINE, makes=("world",)
        ),
        "store restore": lambda at, name: Case(
            name, at._three, RESTORE, makes=("store.db.old", "store.db.old.wal"), may_lack=WEEKS[1:]
        ),
        "store lose": lambda at, name: Case(name, at._three, LOSE, again=ONCE),
        "store note": lambda at, name: Case(name, at._three, NOTE, again=ONCE),
        "store edition": lambda at, name: Case(
            name, _with_louder_spec(at._three, at._home / "edition"), EDITION, again=ONCE
        ),
        "run": lambda at, name: Case(
            name, _with_settings(at._one, at._home / "run"), ("run",), makes=(*FILES, "backups", *RUN_FILES)
        ),
    }


def _with_settings(before: Path, folder: Path) -> Path:
    """Copy a folder in which one week is due, and add a settings file and an older backup."""
    shutil.copytree(before, folder)
    (folder / "log" / f"{WEEKS[2]}.parquet").unlink()
    (folder / "search-insights.toml").write_text(SETTINGS, encoding="utf-8")
    (folder / "backups").mkdir()
    shutil.copy(folder / "store.db", folder / "backups" / "store-2023-10-08.db")
    return folder


def _with_neighbour(before: Path, folder: Path) -> Path:
    """Copy a folder, and add the dataset of a second country: the same regions under another code."""
    shutil.copytree(before, folder)
    shutil.copytree(folder / "dataset", folder / "neighbour")
    for path in sorted((folder / "neighbour").glob("QZ_*")):
        path.rename(path.with_name(path.name.replace("QZ_", "QY_")))
    package = folder / "neighbour" / "datapackage.json"
    package.write_text(package.read_text(encoding="utf-8").replace('"QZ_', '"QY_'), encoding="utf-8")
    (table,) = (folder / "neighbour").glob("*.parquet")
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * REPLACE ('QY' AS country_region_code) FROM '{table}'")
        connection.execute(f"COPY t TO '{table}' (FORMAT parquet)")
    described_again(folder / "neighbour")
    return folder


def _with_louder_spec(before: Path, folder: Path) -> Path:
    """Copy a folder, and add a spec with more noise."""
    shutil.copytree(before, folder)
    spec = load_spec(folder / "heating-v2.toml")
    sigmas = tuple(replace(sigma, value=sigma.value * 2) for sigma in spec.sigmas)
    (folder / "louder.toml").write_text(spec_toml(replace(spec, sigmas=sigmas)), encoding="utf-8")
    return folder


def _after(before: Path, folder: Path, *commands: tuple[str, ...]) -> Path:
    """Run commands in a copy of a folder."""
    shutil.copytree(before, folder)
    for words in commands:
        ended = run_process(words, folder)
        if ended.code:
            raise AssertionError(f"{words}: {ended}")
    return folder


def _without_dataset(before: Path, folder: Path) -> Path:
    shutil.copytree(before, folder)
    shutil.rmtree(folder / "dataset")
    return folder
