"""`init` makes a folder with everything that a new publisher needs, or nothing."""

import re
import tomllib
from datetime import date
from pathlib import Path

import pytest

from search_insights.commands.cli import COMMANDS, command_parsers, main
from search_insights.dp.accounting import require_promise
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec import Promise
from search_insights.spec.spec_file import load_spec
from tests.support.command_line import Run, assert_one_line
from tests.support.switzerland import LEVELS, swiss_regions

TOPICS = ("--topic", "influenza=Grippe, grippe", "--topic", "heat_wave")
ZONE = ("--time-zone", "Europe/Zurich")
# The keys that `run` and the other commands read from a settings file.
SETTINGS = {"store", "identity", "spec", "geography", "dataset", "site", "model", "engine", "memory", "log", "backups"}
LOG_SETTINGS = {"location", "code_level", "naive_zone", "max_unused", "accept", "columns"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a new Swiss publisher, whose table is in Latin-1."""
    home = tmp_path_factory.mktemp("publisher")
    table = swiss_regions(home)
    table.write_bytes(table.read_text(encoding="utf-8").encode("latin-1"))
    words = ("--first-week", "2026-06-01", "--out", home / "swiss", "--geography", table, *ZONE, *TOPICS)
    assert main(["init", *map(str, words)]) == 0
    return home / "swiss"


def test_the_folder_has_what_a_publisher_needs(folder: Path) -> None:
    """And nothing else is left beside it."""
    assert sorted(p.name for p in folder.iterdir()) == ["README.md", "regions.csv", "search-insights.toml", "spec.toml"]
    assert sorted(p.name for p in folder.parent.iterdir()) == ["regionen.csv", "swiss"]


def test_the_spec_fits_its_regions_and_keeps_its_promise(folder: Path) -> None:
    """The paper's promise, unless another is asked for; nothing has to be changed before the first week."""
    spec = load_spec(folder / "spec.toml")
    Coverage(spec, load_geography(folder / "regions.csv"))
    assert spec.promise == Promise(2.19, 1e-5)
    assert require_promise(spec).epsilon > 2.18
    assert spec.level_names == LEVELS
    assert [(t.name, t.title) for t in spec.trends] == [("influenza", "Grippe, grippe"), ("heat_wave", "Heat wave")]
    assert (spec.time_zone, spec.sparsity.first_week) == ("Europe/Zurich", date(2026, 6, 1))


def test_the_table_is_copied_in_utf_8_and_is_the_same_geography(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """So that nothing has to be guessed again, and its fingerprint is that of the original."""
    original = load_geography(folder.parent / "regionen.csv")
    caplog.clear()
    assert load_geography(folder / "regions.csv").fingerprint == original.fingerprint
    assert caplog.records == []
    assert "Zürich" in (folder / "regions.csv").read_text(encoding="utf-8")


def test_the_settings_name_the_files_and_explain_every_other_key(folder: Path) -> None:
    """They are valid as they are, and valid with every comment that holds a setting made active."""
    text = (folder / "search-insights.toml").read_text(encoding="utf-8")
    settings = tomllib.loads(text)
    assert (settings["spec"], settings["geography"], settings["store"]) == ("spec.toml", "regions.csv", "releases.db")
    assert settings["log"] == {"location": "logs/{date}.parquet"}
    assert settings["backups"] == {"folder": "backups", "keep": 8}
    whole = tomllib.loads(re.sub(r"^# (?=\[|\w+ = )", "", text, flags=re.MULTILINE))
    assert set(whole) == SETTINGS
    assert set(whole["log"]) == LOG_SETTINGS
    assert (whole["log"]["code_level"], whole["log"]["naive_zone"]) == ("postal_code", "Europe/Zurich")


def test_the_readme_has_commands_with_the_publisher_s_names(folder: Path) -> None:
    """Every command of it is one of the program, with options that it has."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    lines = [
        line.partition("#")[0].split() for line in text.splitlines() if "  search-insights " in f"  {line.strip()}"
    ]
    commands = [words for words in lines if words and words[0] == "search-insights"]
    assert ["search-insights", "anonymize", "--week", "2026-06-01"] in commands
    assert "`influenza`, `heat_wave`" in text
    parsers = command_parsers()
    for _, name, *words in commands:
        if name in COMMANDS and name != "classify":  # `check` and `run` come with the settings file
            options = {word for word in words if word.startswith("--")}
            assert options <= set(parsers[name]._option_string_actions), name


def test_the_united_states_are_named_and_not_copied(run: Run, tmp_path: Path) -> None:
    """Their table is part of the program; the zone is the paper's, and the first week the next Monday."""
    words = ("--us", "--topic", "pollen", "--epsilon", "1", "--delta", "1e-6", "--out", tmp_path / "us")
    code, out, _ = run("init", *words)
    assert code == 0
    assert sorted(p.name for p in (tmp_path / "us").iterdir()) == ["README.md", "search-insights.toml", "spec.toml"]
    assert tomllib.loads((tmp_path / "us" / "search-insights.toml").read_text())["geography"] == "us"
    spec = load_spec(tmp_path / "us" / "spec.toml")
    assert (spec.promise, spec.time_zone) == (Promise(1.0, 1e-6), "America/Los_Angeles")
    assert 0 < (spec.sparsity.first_week - date.today()).days <= 7
    assert re.search(r"^postal_code +small +\S+ +none \(X3\)", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*TOPICS,), "--time-zone: say in which zone a day is midnight to midnight"),
        (("--time-zone", "Mars", *TOPICS), "--time-zone: expected an IANA time zone such as"),
        ((*ZONE, "--topic", "heat wave"), '--topic heat wave: expected NAME or NAME="Title"'),
        ((*ZONE, "--topic", "heat="), '--topic heat=: expected NAME or NAME="Title"'),
        ((*ZONE, "--topic", "Any"), "--topic Any: this is the category of every search"),
        ((*ZONE, "--topic", "heat", "--topic", "HEAT"), "--topic: expected each only once, got 'HEAT' twice"),
        ((*ZONE, "--topic", "tide_high"), "--topic: expected no other column of the dataset, got 'sni_tide_high'"),
        ((*ZONE, *TOPICS, "--epsilon", "0"), "--epsilon: expected a number from 0.001 to 100, got 0.0"),
        ((*ZONE, *TOPICS, "--first-week", "2026-06-02"), "weeks begin on Monday, such as 2026-06-01"),
        ((*ZONE, *TOPICS, "--first-week", "9999-12-27"), "is outside the calendar of searches"),
        (
            ("--time-zone", "Mars", *TOPICS, "--epsilon", "900", "--delta", "1"),
            "--epsilon: expected a number from 0.001 to 100, got 900.0; --delta: expected a number from 1e-10 to 0.1, "
            "got 1.0; --time-zone: expected an IANA time zone",
        ),
    ],
)
def test_a_wrong_option_is_refused_and_nothing_is_written(
    run: Run, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    """In one line that names the option."""
    table = swiss_regions(tmp_path)
    code, out, err = run("init", "--out", tmp_path / "new", "--geography", table, *words)
    assert (code, out) == (2, "")
    assert_one_line(err)
    assert said in err
    assert list(tmp_path.iterdir()) == [table]


def test_levels_that_are_no_words_are_refused_with_the_table(run: Run, tmp_path: Path) -> None:
    """A level becomes a key of the spec, so the table has to name it by a word."""
    table = tmp_path / "regions.csv"
    table.write_text("code,name,level,parent\nCH,Schweiz,Land,\nZH,Zürich,Kanton / canton,CH\n", encoding="utf-8")
    code, _, err = run("init", "--out", tmp_path / "new", "--geography", table, *ZONE, "--topic", "heat")
    assert code == 2
    assert "level.name" in err
    assert "'Kanton / canton'" in err


def test_a_folder_with_something_in_it_is_not_touched(run: Run, tmp_path: Path) -> None:
    """Not even if it is a hidden file; an empty folder is taken."""
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / ".keep").touch()
    code, _, err = run("init", "--out", tmp_path / "new", "--us", "--topic", "heat")
    assert code == 2
    assert_one_line(err)
    assert "new: is not empty; give a new folder" in err
    assert list((tmp_path / "new").iterdir()) == [tmp_path / "new" / ".keep"]


def test_regions_or_the_united_states_must_be_chosen(run: Run, tmp_path: Path) -> None:
    """One of the two, never silently one of them."""
    code, _, err = run("init", "--out", tmp_path / "new", "--topic", "heat")
    assert code == 2
    assert "--geography" in err
    assert "--us" in err


def test_a_spec_can_be_changed_and_its_sigmas_found_anew(run: Run, folder: Path, tmp_path: Path) -> None:
    """Without the size classes, for example: the sigmas of the file, which no longer fit, are not looked at."""
    text = (folder / "spec.toml").read_text(encoding="utf-8")
    begin, end = text.index("# Optional: classes"), text.index("# The standard deviation")
    path = tmp_path / "changed.toml"
    path.write_text((text[:begin] + text[end:]).replace('["small"]', "[]"), encoding="utf-8")
    words = ("--spec", path, "--geography", folder / "regions.csv", "--name", "other", "--out", tmp_path / "new.toml")
    assert run("calibrate", *words)[0] == 2
    assert run("calibrate", "--start", *words)[0] == 0
    new = load_spec(tmp_path / "new.toml")
    assert (new.name, new.class_level) == ("other", None)
    assert require_promise(new).epsilon > 2.18
