"""What a question is asked of: the values of one level and trend in some weeks, as arrays by region and week."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from search_insights.analysis.intervals import Estimates, estimates
from search_insights.dataset.fetching import local_folder
from search_insights.dataset.folder import Description, published_weeks, read_description
from search_insights.dataset.loading import confidence_of, read_columns
from search_insights.errors import InputError

# Weeks: one, by its first day; a month or year, as in "2021-03"; or from a day to a day.
Period = date | str | tuple[date | str, date | str]

DEFAULT_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Values:
    """The values of some weeks. Estimates have the axes (region, week); NaN where there is no value."""

    regions: Mapping[str, Any]  # place_id, code, name and parent, an array each
    weeks: tuple[date, ...]
    estimates: Estimates

    def of_week(self, number: int) -> Estimates:
        """Return the estimates of one week, still with an axis of weeks."""
        of = self.estimates
        return Estimates(*(part[:, [number]] for part in (of.value, of.of_x, of.of_y)))


def read_values(path: str | Path, level: str, trend: str, period: Period) -> Values:
    """Read the values of a period; refuse one without a week of the dataset, or with two scales."""
    with local_folder(path) as folder:
        dataset = read_description(folder)
        weeks = weeks_of(period, dataset)
        refuse_two_scales(dataset, weeks)
        columns = read_columns(dataset, level, trend)
    return _arranged(columns, weeks, confidence_of(dataset))


def weeks_of(period: Period, dataset: Description) -> tuple[date, ...]:
    """Return the weeks of a dataset that begin in a period."""
    first, last = _bounds(period)
    known = sorted(published_weeks(dataset.folder))
    weeks = tuple(week for week in known if first <= week <= last)
    if not weeks:
        raise InputError(
            f"{dataset.folder}: has no week that begins from {first} to {last}; its weeks are {known[0]} to {known[-1]}"
            if known
            else f"{dataset.folder}: has no week"
        )
    return weeks


def _bounds(period: Period) -> tuple[date, date]:
    """Return the first and the last day of a period."""
    try:
        if isinstance(period, tuple):
            first, last = period
            return _bounds(first)[0], _bounds(last)[1]
        if isinstance(period, date):
            return period, period
        if len(period) == len("2021"):
            return date(int(period), 1, 1), date(int(period), 12, 31)
        if len(period) == len("2021-03"):
            first_day = date.fromisoformat(f"{period}-01")
            return first_day, (first_day + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        return date.fromisoformat(period), date.fromisoformat(period)
    except (TypeError, ValueError):
        raise InputError(
            f"period {str(period)[:80]!r}: expected a week such as '2021-03-01', a month such as '2021-03', a year, or "
            "two of them, from and to"
        ) from None


def refuse_two_scales(dataset: Description, weeks: tuple[date, ...]) -> None:
    """Refuse weeks between which a new scale begins: their values cannot be compared."""
    for found in dataset.package.get("breaks", []):
        if found.get("new_scale") and str(weeks[0]) < found["week"] <= str(weeks[-1]):
            raise InputError(
                f"{dataset.folder}: a new scale begins with week {found['week']}, so values before and after it cannot "
                "be compared; choose weeks of one scale"
            )


def _arranged(columns: Mapping[str, Any], weeks: tuple[date, ...], confidence: float) -> Values:
    """Arrange rows by region and week."""
    days = np.array(weeks, dtype="datetime64[D]")
    dates = columns["date"].astype("datetime64[D]")
    rows = {name: column[np.isin(dates, days)] for name, column in columns.items()}
    places, firsts, region = np.unique(rows["place_id"].astype(str), return_index=True, return_inverse=True)
    week = np.searchsorted(days, rows["date"].astype("datetime64[D]"))
    value, low, high = (
        _table(rows[name], region, week, (len(places), len(weeks))) for name in ("value", "low", "high")
    )
    regions = {name: rows[name][firsts] for name in ("place_id", "code", "name", "parent")}
    return Values(regions, weeks, estimates(value, low, high, confidence))


def _table(values: Any, region: Any, week: Any, shape: tuple[int, int]) -> Any:
    table = np.full(shape, np.nan)
    table[region, week] = values
    return table


def checked_confidence(confidence: float) -> float:
    """Refuse what is not a confidence."""
    if not 0 < confidence < 1:
        raise InputError(f"confidence {confidence}: expected a number between 0 and 1, such as 0.95")
    return confidence
