"""The settings file: every key has a meaning, and nothing else is accepted."""

from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from search_insights.errors import InputError
from search_insights.routine.settings import KEYS, Settings, read_settings, settings_table

ROOT = Path(__file__).resolve().parents[2]
RUNNING = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")


def read(folder: Path, text: str) -> Settings:
    file = folder / "search-insights.toml"
    file.write_text(text, encoding="utf-8")
    return read_settings(file)


def refused(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as error:
        read(folder, text)
    message = str(error.value)
    assert "\n" not in message
    assert message.startswith(str(folder / "search-insights.toml"))
    return message.removeprefix(str(folder / "search-insights.toml")).removeprefix(": ")


def test_the_example_of_the_docs_is_read_as_it_says(tmp_path: Path) -> None:
    """Paths are those of the file's folder; names without dot and slash are packaged ones."""
    example = RUNNING.split("```toml\n")[1].split("```")[0]
    settings = read(tmp_path, example)
    assert settings.store == tmp_path / "releases.db"
    assert settings.spec == str(tmp_path / "spec.toml")
    assert settings.log.location == (f"{tmp_path}/logs/{{date}}.parquet",)
    assert settings.log.columns == {"user_id": "uid"}
    assert (settings.backups.folder, settings.backups.keep) == (tmp_path / "backups", 8)
    assert read(tmp_path, 'spec = "vaccination-v1"\ngeography = "us"\nmodel = "./topics"').spec == "vaccination-v1"
    assert read(tmp_path, 'model = "./topics"').model == str(tmp_path / "topics")


def test_the_reference_has_every_key() -> None:
    """docs/running.md has the table that `settings_table` makes; every example in it is a value of its key."""
    assert settings_table() in RUNNING


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_every_example_is_a_value_of_its_key(tmp_path: Path, key: Any) -> None:
    """What the reference shows can be copied, and is told as given."""
    table, _, name = key.name.rpartition(".")
    settings = read(tmp_path, f"{f'[{table}]' if table else ''}\n{name} = {key.example}\n")
    assert settings.given == (key.name,)
    assert settings.value(key.name) is not None


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_a_misspelt_key_is_refused_with_the_nearest_right_one(tmp_path: Path, key: Any) -> None:
    """Also where the key is of another table."""
    table, _, name = key.name.rpartition(".")
    wrong = f"{name[:-1]}_{name[-1]}"
    assert refused(tmp_path, f"{wrong} = 1\n") == f"no key {wrong!r}; did you mean {key.name!r}?"
    if table:
        assert refused(tmp_path, f"{name} = 1\n") == f"no key {name!r}; did you mean {key.name!r}?"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("store = 7", "key 'store': expected a path, in quotes"),
        ('store = ""', "key 'store': expected a path"),
        ('store = "a\\u0000b"', "key 'store': expected a path"),
        ('store = "~/releases.db"', "key 'store': ~ does not stand for a home folder here"),
        ('engine = "polars"', 'key \'engine\': expected "duckdb" or "spark"'),
        ("log = 7", "key 'log': expected a table, [log]"),
        ("[log]\nlocation = []", "key 'log.location': expected at least one"),
        ('[log]\nlocation = ["a", 7]', "key 'log.location': expected a text"),
        ('[log]\nlocation = "~/{date}"', "key 'log.location': ~ does not stand"),
        ('[log]\nlocation = "{day}.csv"', "key 'log.location': no placeholder {day}; did you mean {date}?"),
        ("[log]\nmax_unused = 5", "key 'log.max_unused': expected a share between 0 and 1"),
        ("[log]\nmax_unused = true", "key 'log.max_unused': expected a share"),
        ('[log]\nmissing_days = "2021-03-08"', "key 'log.missing_days': expected a list"),
        ('[log]\nmissing_days = ["monday"]', "key 'log.missing_days': expected a day such as 2021-03-08"),
        ("[log]\nfirst_week = 2021-03-08T00:00:00", "key 'log.first_week': expected a day"),
        ('[log]\nnaive_zone = "MEZ"', "key 'log.naive_zone': expected an IANA time zone"),
        ('[log]\nfile_zone = "US/Pacific"', "key 'log.file_zone': expected the canonical name America/Los_Angeles"),
        ("[log]\ncolumns = 7", "key 'log.columns': expected a table of roles"),
        ("[log.columns]\nuser_id = 7", "key 'log.columns': expected a text"),
        ("[backups]\nkeep = 0", "key 'backups.keep': expected a whole number from 1 up"),
        ("[store]\npath = 'x'", "key 'store': expected a path"),
        ("store = ", "not valid TOML"),
        ("zzzzz = 1", "no key 'zzzzz'; the keys are store, identity, spec,"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_the_key(tmp_path: Path, text: str, words: str) -> None:
    """The file, the key and what was expected."""
    assert refused(tmp_path, text).startswith(words)


def test_days_may_be_dates_or_text(tmp_path: Path) -> None:
    """TOML has dates; a date in quotes is meant as one."""
    read_days = read(tmp_path, '[log]\nmissing_days = [2021-03-08, "2021-03-09"]').log.missing_days
    assert read_days == (date(2021, 3, 8), date(2021, 3, 9))


def test_nothing_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A settings file that somebody else wrote cannot read the environment or run anything."""
    monkeypatch.setenv("SECRET", "hushhush")
    for text in ("$SECRET", "${SECRET}", "$(id)", "`id`", "%SECRET%"):
        assert read(tmp_path, f"store = '{text}'").store == tmp_path / text


@limits(max_examples=20)
@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")))
def test_any_text_is_read_or_refused_in_one_line(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """No text makes the program fail in another way."""
    file = tmp_path_factory.getbasetemp() / "any.toml"
    file.write_text(text, encoding="utf-8", errors="replace")
    with suppress(InputError):
        read_settings(file)


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    """Missing, a folder, too large, or not text."""
    file = tmp_path / "search-insights.toml"
    with pytest.raises(InputError, match="cannot read the settings"):
        read_settings(file)
    with pytest.raises(InputError, match="cannot read the settings"):
        read_settings(tmp_path)
    file.write_bytes(b"\xff")
    with pytest.raises(InputError, match="not text in UTF-8"):
        read_settings(file)
    file.write_text("#" * 2_000_000)
    with pytest.raises(InputError, match="more than"):
        read_settings(file)
