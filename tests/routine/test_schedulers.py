"""The examples of docs/running.md for schedulers do what the page says."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import search_insights
from search_insights.routine.settings import LogSettings
from tests.support.weekly import WEEKS, Weekly

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "running.md").read_text(encoding="utf-8")
SOURCE = Path(search_insights.__file__).parents[1]


def blocks(language: str) -> list[str]:
    """Return the examples of a language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_line_for_cron_works_without_an_environment(tmp_path: Path) -> None:
    """As cron runs it: by a shell, in another folder, without variables. It prints something only on failure."""
    fields = blocks("cron")[0].splitlines()[-1].split(maxsplit=5)
    assert len(fields[:5]) == 5
    line = fields[5].replace("/srv/trends", str(tmp_path))
    line = line.replace("search-insights run", f"{sys.executable} -m search_insights run", 1)
    environment = {"PYTHONPATH": str(SOURCE)}  # where the package is not installed

    def cron() -> str:
        return subprocess.run(["/bin/sh", "-c", line], cwd="/", env=environment, capture_output=True, text=True).stdout

    assert cron() == f"search-insights: see {tmp_path}/run.log\n"
    settings = f'store = "{tmp_path}/releases.db"\n[log]\nlocation = "logs/{{date}}.parquet"\n'
    (tmp_path / "search-insights.toml").write_text(settings)
    assert cron() == ""
    assert (tmp_path / "run.log").read_text().endswith("no week is due\n")


def test_the_units_for_systemd_are_valid(tmp_path: Path) -> None:
    """systemd itself says so, where it is installed; the timer starts the service of its name."""
    service, timer = blocks("ini")
    assert "ExecStart=/usr/local/bin/search-insights run --settings /srv/trends/search-insights.toml\n" in service
    assert "OnCalendar=" in timer
    service = service.replace("/usr/local/bin/search-insights", sys.executable).replace("User=trends", "User=root")
    for name, text in (("search-insights.service", service), ("search-insights.timer", timer)):
        (tmp_path / name).write_text(text)
    if program := shutil.which("systemd-analyze"):
        units = [str(tmp_path / f"search-insights.{kind}") for kind in ("service", "timer")]
        words = [program, "verify", "--man=no", *units]
        ended = subprocess.run(words, capture_output=True, text=True, env={"SYSTEMD_LOG_LEVEL": "warning"})
        assert "search-insights" not in ended.stderr, ended.stderr


def test_the_function_for_a_scheduler_that_calls_python_works(weekly: Weekly, monkeypatch: pytest.MonkeyPatch) -> None:
    """It returns the weeks that were committed, from any folder, and fails the task if a week was refused."""
    weekly.log(WEEKS[0])
    file = weekly.settings()
    monkeypatch.chdir("/")
    names: dict[str, Any] = {}
    exec(blocks("python")[0], names)
    assert names["publish_trends"](str(file)) == [str(WEEKS[0])]
    assert names["publish_trends"](str(file)) == []
    weekly.log(WEEKS[1], query="SELECT 1 AS user_id")
    with pytest.raises(RuntimeError, match=str(WEEKS[1])):
        names["publish_trends"](str(file))


def test_settings_can_be_made_in_python(weekly: Weekly) -> None:
    """Without a file: the lock and the memory are beside where it would be."""
    weekly.log(WEEKS[0])
    settings = search_insights.Settings(
        file=weekly.folder / "search-insights.toml",
        store=weekly.folder / "store.db",
        spec=str(weekly.folder / "heating-v2.toml"),
        geography=str(weekly.folder / "qazaria.csv"),
        log=LogSettings((f"{weekly.folder}/log/{{week}}.parquet",)),
    )
    done, *later = search_insights.run(settings, dry_run=True)
    assert (done.week, done.outcome) == (WEEKS[0], "due")
    assert {week.outcome for week in later} == {"no log"}
