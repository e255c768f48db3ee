"""Settings stand in for options: which, where they come from, and what the operator is told."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from search_insights.commands.cli import COMMANDS, command_parsers
from search_insights.commands.run import _words
from search_insights.commands.settings import STANDINS, with_settings
from search_insights.routine.file_name import FILE_NAME
from search_insights.routine.run import WeekRun
from search_insights.routine.settings import KEYS
from search_insights.spec.coverage import Coverage
from tests.support.command_line import Run, assert_one_line
from tests.support.stores import add_weeks
from tests.support.weekly import BY_WEEK, WEEKS, Weekly, new_weekly


@pytest.fixture
def weekly(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, quick_accounting: None) -> Weekly:
    """A publisher of Qazaria in the current folder."""
    monkeypatch.chdir(tmp_path)
    return new_weekly(tmp_path, run)


def parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """List the parsers of all commands and jobs by name."""
    for name, parser in command_parsers().items():
        yield name, parser
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                yield from ((f"{name} {job}", sub) for job, sub in action.choices.items())


def test_every_stand_in_is_a_key_and_an_option() -> None:
    """The table names keys of the file and options of the command; `file_zone` has no option."""
    keys, found = {key.name for key in KEYS}, dict(parsers())
    for command, standins in STANDINS.items():
        options = {action.dest for action in found[command]._actions}
        for standin in standins:
            assert standin.setting in keys
            assert standin.option in options | {"file_zone"}, (command, standin)


def test_a_message_of_run_names_the_setting_that_a_parameter_has() -> None:
    """Where there is none it stays, and becomes an option; the option then goes with `anonymize --week`."""
    said = with_settings("use `columns` or `naive_zone`, `accepted` kind, or say `times_changed`")
    assert said == "use setting log.columns or setting log.naive_zone, setting log.accept kind, or say `times_changed`"
    assert _words(WeekRun(WEEKS[0], "refused", "say `times_changed`")) == "refused: say --times-changed"


def test_every_option_that_has_a_setting_takes_it() -> None:
    """An option of that name in any command is in the table, so that no command is left out by mistake."""
    same = {
        "store",
        "spec",
        "geography",
        "dataset",
        "site",
        "shapes",
        "shape_id",
        "blocklist",
        "model",
        "engine",
        "memory",
    }
    same |= {
        "shape_id",
        "master",
        "column",
        "code_level",
        "naive_zone",
        "time_unit",
        "max_left_out",
        "allow_missing_day",
        "accept",
        "log",
    }
    for command, parser in parsers():
        if command in ("init", "combine"):  # one begins a release with its settings, one is about several releases
            continue
        taken = {standin.option for standin in STANDINS.get(command, ())}
        assert {action.dest for action in parser._actions} & same <= taken, command


def test_a_command_takes_its_options_from_the_settings_and_says_which(weekly: Weekly) -> None:
    """`anonymize --week` alone reads the week's files; an option on the command line wins and is not told."""
    weekly.log(WEEKS[0])
    weekly.settings(f'{BY_WEEK}max_unused = 0.2\n[log.columns]\ncategory = "category"\n', top='memory = "1GB"\n')
    code, out, err = weekly.command("anonymize", "--week", str(WEEKS[0]))
    assert (code, out) == (0, f"week {WEEKS[0]}: committed to store.db\n")
    assert err == ("settings: search-insights.toml (store, spec, geography, location, columns, max_unused, memory)\n")
    code, out, err = weekly.command("ledger", "--store", "absent.db")
    assert_one_line(err)
    code, out, err = weekly.command("ledger", "--json")
    assert (code, err) == (0, "")
    assert out.startswith("{")
    assert weekly.command("ledger")[2] == "settings: search-insights.toml (store)\n"


def test_the_file_is_found_named_or_ignored(weekly: Weekly, monkeypatch: pytest.MonkeyPatch) -> None:
    """--settings and --no-settings may stand anywhere; a file that is named has its own folder."""
    file = weekly.settings()
    for words in (["--no-settings", "ledger"], ["ledger", "--no-settings"]):
        code, _, err = weekly.command(*words)
        assert code == 2
        assert_one_line(err)
        assert "required: --store; see 'search-insights ledger --help'" in err
    (weekly.folder / "elsewhere").mkdir()
    monkeypatch.chdir(weekly.folder / "elsewhere")
    for words in (["--settings", str(file), "ledger"], ["ledger", f"--settings={file}"]):
        assert weekly.command(*words)[2] == (
            f"settings: {file} (store)\nsearch-insights: {weekly.folder}/store.db: no such store; "
            "'search-insights anonymize' makes one\n"
        )
    assert "give --settings or --no-settings" in weekly.command("ledger", "--no-settings", "--settings", str(file))[2]
    assert "absent.toml: cannot read the settings" in weekly.command("ledger", "--settings", "absent.toml")[2]


def test_a_file_that_others_can_write_is_not_taken_by_itself(weekly: Weekly) -> None:
    """In a folder of somebody else it could name a cluster, which gets the log; by --settings it is trusted."""
    file = weekly.settings()
    file.chmod(0o666)
    code, _, err = weekly.command("ledger")
    assert code == 2
    assert_one_line(err)
    assert "if you trust it, name it with --settings" in err
    assert "no such store" in weekly.command("ledger", "--settings", "search-insights.toml")[2]
    file.chmod(0o644)
    if os.geteuid() == 0:
        os.chown(file, 12345, 12345)
        assert "belongs to another user" in weekly.command("ledger")[2]


def test_a_setting_of_the_other_engine_is_not_meant(weekly: Weekly) -> None:
    """`memory` is DuckDB's: with --engine spark it is neither used nor refused."""
    weekly.settings(top='memory = "1GB"\nmaster = "local[1]"\n')
    words = ("anonymize", "--week", "no day")
    assert "memory" in weekly.command(*words)[2].splitlines()[0]
    told = weekly.command(*words, "--engine", "spark")[2].splitlines()[0]
    assert "master" in told
    assert "memory" not in told
    assert "master" not in weekly.command(*words, "--engine", "spark", "--remote", "sc://x")[2].splitlines()[0]


def test_backup_and_restore_need_no_option(weekly: Weekly) -> None:
    """`store backup` fills the folder of backups, `store restore` asks the dataset, unless it is told otherwise."""
    weekly.log(WEEKS[0])
    weekly.settings(BY_WEEK + '[backups]\nfolder = "backups"\n', top='dataset = "dataset"\n')
    assert weekly.command("anonymize", "--week", str(WEEKS[0]))[0] == 0
    code, _, err = weekly.command("store", "backup")
    assert (code, err) == (0, "settings: search-insights.toml (store, folder)\n")
    (backup,) = (weekly.folder / "backups").iterdir()
    assert "dataset: not a dataset folder" in weekly.command("store", "restore", str(backup))[2]
    code, _, err = weekly.command("store", "restore", str(backup), "--never-published")
    assert (code, err) == (0, "settings: search-insights.toml (store)\n")
    code, _, err = weekly.command("store", "restore", str(backup), "--store", "store.db", "--no-settings")
    assert code == 2
    assert "one of the arguments --dataset --never-published is required" in err


def test_commands_without_such_options_do_not_read_the_file(weekly: Weekly) -> None:
    """A damaged file does not keep `--help` or a command that needs none of it from working."""
    (weekly.folder / "search-insights.toml").write_text("nonsense")
    assert weekly.command("ledger", "--help")[0] == 0
    assert "not valid TOML" in weekly.command("ledger")[2]
    unread = set(COMMANDS) - {name.split()[0] for name in STANDINS} - {"run"}
    assert unread == {"combine", "demo", "import-us", "init"}


@pytest.mark.usefixtures("quick_accounting")
def test_the_spec_of_the_settings_is_a_change_only_with_a_reason(
    tmp_path: Path, short_coverage: Coverage, run: Run
) -> None:
    """`store edition` by itself lists the editions of the settings' store; with a reason it compares their spec."""
    add_weeks(tmp_path / "store.db", short_coverage, {})
    (tmp_path / FILE_NAME).write_text('store = "store.db"\nspec = "vaccination-v1"\n', encoding="utf-8")
    words = ("store", "edition", "--settings", tmp_path / FILE_NAME)
    code, listed, _ = run(*words)
    assert code == 0
    code, shown, _ = run(*words, "--reason", "the paper's window", "--dry-run")
    assert (code, "sparsity.last_week" in shown, "sparsity" in listed) == (0, True, False)
