"""What `check` finds wrong with a week's log, asked before anything is spent."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from search_insights.routine.due import store_of
from search_insights.routine.location import WeekLog
from search_insights.routine.settings import Settings
from search_insights.spec.coverage import Coverage

if TYPE_CHECKING:
    from search_insights.anonymization import LogSource, OpenEngine, Tolerance

# Warnings that another setting answers than the list of accepted kinds.
_ANSWERED_BY = {
    "naive-times": "log.naive_zone",
    "unused-rows": "log.max_unused",
    "unknown-regions": "log.max_unused",
    "ambiguous-codes": "log.code_level",
    "missing-days": "log.missing_days",
}


def answers(kinds: Sequence[str]) -> str:
    """Say what can be done about warnings of these kinds: not every kind can be accepted."""
    from search_insights.anonymization import ACCEPTABLE

    settings = [_ANSWERED_BY[kind] for kind in kinds if kind in _ANSWERED_BY]
    ways = [f"set '{setting}'" for setting in dict.fromkeys(settings)]
    if acceptable := [kind for kind in kinds if kind in ACCEPTABLE]:
        ways.append(f"accept {', '.join(acceptable)} in 'log.accept'")
    return "fix the log" + (f", or {' and '.join(ways)}" if ways else "")


def open_warnings(
    settings: Settings,
    source: "LogSource",
    log: WeekLog,
    coverage: Coverage,
    tolerance: "Tolerance",
    open_engine: "OpenEngine",
    progress: Callable[[str], None],
) -> Sequence[str]:
    """Return the kinds of warnings that stand: those that the settings do not accept.

    Only the kinds: the texts of a check are private, and what `run` says ends up in the log of a scheduler. Of a log
    whose names tell no week, one without any row of the week is not there yet, which counting it says.
    """
    from search_insights.checking import check

    found = check(
        source,
        [log.week],
        coverage,
        store_path=store_of(settings),
        tolerance=tolerance,
        open_engine=open_engine,
        progress=progress,
    )
    if not log.listed and not any(day.rows for week in found.weeks for day in week.days):
        return ()
    return list(dict.fromkeys(warning.kind for warning in found.warnings))
