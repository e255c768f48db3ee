"""A publisher of Qazaria who has a settings file and runs the weekly routine."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from search_insights.store.ledger import LedgerEntry
from search_insights.store.opening import open_store
from tests.lab.kill_cases import WEEKS, week_query
from tests.support.command_line import Run
from tests.support.logs import write_log
from tests.support.other_country import other_geography, other_spec_file

BASE = 'store = "store.db"\nspec = "heating-v2.toml"\ngeography = "qazaria.csv"\n'
BY_WEEK = '[log]\nlocation = "log/{week}.parquet"\n'


@dataclass(frozen=True)
class Weekly:
    """A folder with a spec, a geography, logs and a settings file; commands run in it."""

    folder: Path
    command: Run

    @property
    def memory(self) -> Path:
        """What `run` remembers of logs."""
        return self.folder / "search-insights.memory.json"

    def settings(self, text: str = BY_WEEK, top: str = "") -> Path:
        """Write the settings file."""
        file = self.folder / "search-insights.toml"
        file.write_text(BASE + top + text, encoding="utf-8")
        return file

    def log(self, week: date, rows: int = 700, name: str = "", query: str = "") -> Path:
        """Write the log of a week; 700 rows are too few to publish anything, but enough to count."""
        return write_log(self.folder / "log" / (name or f"{week}.parquet"), query or week_query(week, rows))

    def day_logs(self, week: date, days: Sequence[date]) -> None:
        """Write a log with a file for each of some days of a week."""
        for day in days:
            query = f"SELECT * FROM ({week_query(week, 140)}) WHERE timestamp::DATE = DATE '{day}'"
            write_log(self.folder / "log" / f"{day}.parquet", query)

    def run(self, *options: str) -> tuple[int, list[str], str]:
        """Run `run`; returns the exit code, the lines of standard output and standard error."""
        code, out, err = self.command("run", *options)
        return code, out.splitlines(), err

    def ledger(self) -> list[LedgerEntry]:
        """Return the ledger; nothing if there is no store."""
        if not (self.folder / "store.db").exists():
            return []
        with open_store(self.folder / "store.db") as store:
            return store.entries()

    def weeks(self) -> list[date]:
        """Return the weeks of the store."""
        return [entry.week for entry in self.ledger()]


def new_weekly(folder: Path, command: Run) -> Weekly:
    """Make the folder; it becomes the current one."""
    other_spec_file(folder)
    other_geography(folder)
    (folder / "log").mkdir()
    os.chdir(folder)
    return Weekly(folder, command)


__all__ = ["BY_WEEK", "WEEKS", "Weekly", "new_weekly"]
