"""Telling when the log of a released week has changed since: the memory of a run, read once and kept up to date."""

from collections.abc import Callable
from datetime import date

from search_insights.errors import InputError, LogError
from search_insights.routine.due import Calendar
from search_insights.routine.location import WeekLog
from search_insights.routine.memory import Memory, WeekFiles, read_memory, write_memory
from search_insights.routine.settings import Settings


class LogsSince:
    """The memory of one run. A memory that cannot be read or written is told and never stops a run."""

    def __init__(self, settings: Settings, tell: Callable[[str], None], dry_run: bool) -> None:
        """Read the memory, or start anew."""
        self._path, self._folder = settings.beside(".memory.json"), settings.file.parent
        self._tell, self._dry_run = tell, dry_run
        self._memory = self._read()

    def _read(self) -> Memory:
        try:
            return read_memory(self._path)
        except FileNotFoundError:
            return Memory()
        except (InputError, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._tell(f"{self._path}: cannot be read ({reason}); changes of logs are noticed from now on")
            return Memory()

    def changed(self, calendar: Calendar, accept: bool) -> dict[date, list[str]]:
        """Return the weeks of the store whose log has changed, with the files; remember the logs not known yet."""
        changed: dict[date, list[str]] = {}
        memory, new = self._memory, 0
        for week in calendar.held.weeks:
            now = self._look(calendar.log_of(week))
            if not now:
                continue  # the log was deleted, or the names of its files do not tell the week
            files = memory.changed(week, now) if week in memory.weeks else []
            new += week not in memory.weeks
            if files and not accept:
                changed[week] = files
            else:
                memory = memory.with_week(week, {**memory.weeks.get(week, {}), **now})
        if new:
            self._tell(f"logs of weeks in the store that were not remembered: {new}; changes are noticed from now on")
        self._keep(memory)
        return changed

    def remember(self, log: WeekLog) -> None:
        """Remember the log that a week is about to be counted from."""
        if now := self._look(log):
            self._keep(self._memory.with_week(log.week.first_day, now))

    def forget(self, week: date) -> None:
        """Forget the log of a week that was refused: it may be fixed, and the week anonymized by hand."""
        self._keep(self._memory.without_week(week))

    def _look(self, log: WeekLog) -> WeekFiles:
        """Return the files of a log as they are; none where they cannot be listed."""
        from search_insights.anonymization import find_files

        if not log.listed or not log.files:
            return {}
        try:
            return self._memory.look(log.week.first_day, find_files(log.files), self._folder)
        except (LogError, OSError):
            return {}  # reading the log says what is wrong with it

    def _keep(self, memory: Memory) -> None:
        if memory == self._memory or self._dry_run:
            return
        self._memory = memory
        try:
            write_memory(self._path, memory)
        except OSError as error:
            self._tell(f"{self._path}: cannot be written ({error.strerror}); changes of logs may go unnoticed")
