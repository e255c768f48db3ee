"""`run`: do all that is due. Weeks of the log, oldest first, then dataset, dashboard and backup.

Nothing remembers how far a run got. What is due follows from what is there: the store lacks a week, the dataset lacks a
week of the store, the site shows another dataset, the newest backup lacks something. So a run that was killed at any
moment is completed by the next, and a run with nothing to do changes nothing.
"""

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from search_insights.errors import InputError, MissingDays, SearchInsightsError
from search_insights.routine.checks import answers, open_warnings
from search_insights.routine.due import Calendar, calendar_of, read_held, store_of
from search_insights.routine.location import WeekLog
from search_insights.routine.logs_since import LogsSince
from search_insights.routine.settings import Settings, read_settings
from search_insights.routine.steps import remove_all_leftovers, steps_of
from search_insights.routine.witnesses import refuse_forgotten_weeks
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import PACKAGED_GEOGRAPHY, load_geography
from search_insights.spec.spec_file import DEFAULT_SPEC, load_spec
from search_insights.spec.weeks import DAYS_OF_WEEK
from search_insights.support.files import private_files

if TYPE_CHECKING:
    from search_insights.anonymization import LogSource, OpenEngine, Tolerance

_NO_FILE = "no file of the log"

Outcome = Literal["committed", "due", "refused", "waiting", "no log", "changed"]


@dataclass(frozen=True, slots=True)
class WeekRun:
    """What a run did about a week, and why.

    committed  it is now in the store
    due        a dry run: it would be anonymized
    refused    its log cannot be used, and nothing was spent
    waiting    its log is not complete, or is missing although later weeks have one
    no log     its log is not there yet
    changed    it is in the store, and its log is no longer the one that was counted
    """

    week: date
    outcome: Outcome
    reason: str = ""


def run(
    settings: Path | Settings,
    *,
    dry_run: bool = False,
    accept_changes: bool = False,
    progress: Callable[[str], None] = lambda text: None,
    report: Callable[[WeekRun], None] = lambda week: None,
    tell: Callable[[str], None] = lambda text: None,
) -> list[WeekRun]:
    """Check and anonymize every week that is due, then publish, build the dashboard and back up if that is due.

    Weeks that are in the store and need no word are not in the answer. Each week is reported as soon as it is known;
    `tell` is told about everything else. A step that fails after the weeks raises its error at the end; the other steps
    are done. Only one run at a time works with a settings file: a second one says so and does nothing. With
    `accept_changes`, changed logs of weeks in the store are remembered as they are now. A dry run writes nothing. A
    store that lacks a week which the dataset or the newest backup has is refused, and nothing is done.
    """
    settings = settings if isinstance(settings, Settings) else read_settings(settings)
    store_of(settings)
    if dry_run:
        return _Run(settings, dry_run, accept_changes, progress, report, tell).all()
    with _alone(settings.beside(".lock")) as alone:
        if not alone:
            tell(f"another run with {settings.file} is under way; nothing was done")
            return []
        remove_all_leftovers(settings)
        return _Run(settings, dry_run, accept_changes, progress, report, tell).all()


@contextmanager
def _alone(path: Path) -> Iterator[bool]:
    """Lock a file as long as this run lasts; yield whether no other run has it. The system unlocks it after a kill."""
    try:
        with private_files():
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise InputError(f"{path}: cannot be used as the lock of this run ({error.strerror})") from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError:  # a file system without locks: the store's own lock still keeps weeks from being noised twice
            pass
        yield True
    finally:
        os.close(lock)


@dataclass(frozen=True)
class _Run:
    """One run: its settings, and who hears of what it does."""

    settings: Settings
    dry_run: bool
    accept_changes: bool
    progress: Callable[[str], None]
    report: Callable[[WeekRun], None]
    tell: Callable[[str], None]

    def all(self) -> list[WeekRun]:
        """Do the weeks, then the steps after them."""
        settings = self.settings
        coverage = Coverage(
            load_spec(settings.spec or DEFAULT_SPEC), load_geography(settings.geography or PACKAGED_GEOGRAPHY)
        )
        held = read_held(settings)
        refuse_forgotten_weeks(settings, coverage, held)
        calendar = calendar_of(settings, coverage.spec, held, datetime.now(UTC))
        logs = LogsSince(settings, self.tell, self.dry_run)
        weeks = [*self._changed(calendar, logs), *self._lacking(calendar, coverage, logs)]
        if not any(week.outcome in ("committed", "due", "refused") for week in weeks):
            self.tell(_nothing_due(calendar))
        due = any(week.outcome == "due" for week in weeks)
        if self.dry_run and (due or calendar.held.entries):
            self._plan_steps(coverage, due)
        elif not self.dry_run and read_held(settings).entries:
            self._steps(coverage)
        return weeks

    def _changed(self, calendar: Calendar, logs: LogsSince) -> Iterator[WeekRun]:
        """Report the weeks of the store whose log is no longer the one that was counted."""
        changed = logs.changed(calendar, self.accept_changes)
        for week, files in changed.items():
            yield self._reported(
                WeekRun(
                    week,
                    "changed",
                    f"is in the store, but its log has changed since: {files[0]}"
                    f"{f' and {len(files) - 1} more' if len(files) > 1 else ''}. A week is noised once, so it stays as "
                    "it was counted",
                )
            )

    def _lacking(self, calendar: Calendar, coverage: Coverage, logs: LogsSince) -> Iterator[WeekRun]:
        """Anonymize the weeks that the store lacks, the oldest first."""
        for log in calendar.lacking():
            week, missing = log.week.first_day, calendar.missing(log)
            if not log.patterns:
                yield self._reported(WeekRun(week, "waiting" if week < calendar.last_known else "no log", _NO_FILE))
            elif missing:
                yield self._reported(WeekRun(week, "waiting", f"{_NO_FILE} for {_days(missing)}"))
            elif self.dry_run:
                yield self._reported(WeekRun(week, "due"))
            else:
                yield self._reported(self._anonymized(log, coverage, logs))

    def _reported(self, week: WeekRun) -> WeekRun:
        self.report(week)
        return week

    def _anonymized(self, log: WeekLog, coverage: Coverage, logs: LogsSince) -> WeekRun:
        """Check a week and anonymize it; a week that is refused does not keep others from being done."""
        week = log.week.first_day
        try:
            self._anonymize(log, coverage, logs)
        except SearchInsightsError as error:
            logs.forget(week)
            return self._not_anonymized(log, error)
        return WeekRun(week, "committed", f"committed to {self.settings.store}")

    def _not_anonymized(self, log: WeekLog, error: SearchInsightsError) -> WeekRun:
        """Say why a week was not anonymized, and what to do where the error does not."""
        week = log.week.first_day
        if isinstance(error, MissingDays):
            if not log.listed and len(error.days) == DAYS_OF_WEEK:
                return WeekRun(week, "no log", "the log has no event of this week")
            return _refused(week, f"{error} If there really were none, list them as 'log.missing_days'")
        return _refused(week, str(error))

    def _anonymize(self, log: WeekLog, coverage: Coverage, logs: LogsSince) -> None:
        from search_insights.anonymization import anonymize

        settings, source = self.settings, _source(self.settings, log)
        tolerance, engine = _tolerance(settings, log), _engine(settings)
        warnings = open_warnings(settings, source, log, coverage, tolerance, engine, self.progress)
        if warnings:
            raise InputError(
                f"'check' warns of {', '.join(warnings)}; look at the report of 'search-insights check', then "
                f"{answers(warnings)}"
            )
        # Before the week is final: a run that is killed after the commit remembers which log it was.
        logs.remember(log)
        anonymize(
            source,
            store_of(settings),
            [log.week],
            coverage,
            tolerance=tolerance,
            open_engine=engine,
            identity=settings.identity or "",
            progress=self.progress,
        )

    def _steps(self, coverage: Coverage) -> None:
        """Publish, build the dashboard and back up, each if it is due; raise what went wrong when all were tried."""
        wrong: list[SearchInsightsError] = []
        for step in steps_of(self.settings, coverage, self.progress):
            try:
                if step.is_due():
                    self.tell(f"{step.place}: {step.do()}")
            except SearchInsightsError as error:
                wrong.append(error)
        if len(wrong) == 1:
            raise wrong[0]
        if wrong:
            raise InputError("; ".join(str(error) for error in wrong))

    def _plan_steps(self, coverage: Coverage, due: bool) -> None:
        """Tell which steps would be done: from the first that is due, all, because each takes what the last made."""
        for step in steps_of(self.settings, coverage, self.progress):
            due = due or step.is_due()
            self.tell(f"{step.place}: {step.planned if due else 'is up to date'}")


def _source(settings: Settings, log: WeekLog) -> "LogSource":
    from search_insights.anonymization import LogSource

    how = settings.log
    return LogSource(log.patterns, how.columns, how.naive_zone, how.code_level, how.time_unit)


def _tolerance(settings: Settings, log: WeekLog) -> "Tolerance":
    from search_insights.anonymization import Tolerance

    return Tolerance(
        max_unused=settings.log.max_unused,
        missing_days=frozenset(settings.log.missing_days) & frozenset(log.week.days),
        other_weeks=log.other_weeks,
        accepted=frozenset(settings.log.accept),
    )


def _engine(settings: Settings) -> "OpenEngine":
    from search_insights.anonymization import DEFAULT_MEMORY, Cluster, open_duckdb_engine, open_spark_engine
    from search_insights.classifier.model import PACKAGED_MODEL

    model = settings.model or PACKAGED_MODEL
    if settings.engine == "spark":
        return partial(open_spark_engine, cluster=Cluster(settings.master or Cluster().master), model=model)
    return partial(open_duckdb_engine, memory=settings.memory or DEFAULT_MEMORY, model=model)


def _refused(week: date, reason: str) -> WeekRun:
    return WeekRun(week, "refused", reason.removeprefix(f"week {week}: "))


def _nothing_due(calendar: Calendar) -> str:
    weeks = calendar.held.weeks
    return f"no week is due; the store has {len(weeks)}, the last {weeks[-1]}" if weeks else "no week is due"


def _days(days: Sequence[date]) -> str:
    return ", ".join(day.isoformat() for day in days)
