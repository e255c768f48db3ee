"""The report of a check as the operator reads it."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from search_insights.commands.console import shown, table
from search_insights.commands.options import with_options

if TYPE_CHECKING:
    from search_insights.checking import (
        CategoryRows,
        Check,
        CheckWarning,
        Comparison,
        Frequent,
        Texts,
        Times,
        WeekCheck,
    )

_KINDS = {"instant": "instants", "offset": "text with an offset in each row", "clock": "clock times without a zone"}
_WIDTH = 60  # of a value from the log


def report_text(found: "Check") -> str:
    """Return the report; what must be answered comes last, where it is seen."""
    from search_insights.checking import PRIVATE

    parts = [PRIVATE, "", f"{found.files:,} files, {found.rows:,} rows (read by {found.engine})", *_times(found.times)]
    for week in found.weeks:
        parts += ["", *_week(week)]
    parts += ["", *_warnings(found.warnings, "warnings that must be answered"), *_warnings(found.accepted, "accepted")]
    if not found.warnings:
        parts.append("no warning stands")
    return "\n".join(parts)


def _warnings(warnings: Sequence["CheckWarning"], title: str) -> Iterator[str]:
    if warnings:
        yield f"{title}:"
    for warning in warnings:
        yield f"  {warning.kind}: {with_options(warning.text)}"


def _times(times: "Times") -> Iterator[str]:
    zone = f"read in {times.zone}" if times.zone else "in UTC below"
    yield f"times: column {shown(times.column)}, {_KINDS.get(times.kind, times.kind)}, {zone}"
    yield f"  first {times.first or '-'}, last {times.last or '-'}"
    yield (
        f"  rows in the weeks: {times.inside:,}; of the day before, ignored: {times.day_before:,}; of the day after, "
        f"ignored: {times.day_after:,}; of other times: {times.elsewhere:,}; no readable time: {times.unreadable:,}"
    )


def _week(week: "WeekCheck") -> Iterator[str]:
    yield f"week {week.week}" + (" (is in the store already)" if week.in_store else "")
    days = [(f"{d.day:%a} {d.day}", f"{d.rows:,}", f"{d.used:,}", f"{d.user_days:,}") for d in week.days]
    yield _indented(table(("day", "rows", "used", "user-days"), days, right=range(1, 4)))
    yield f"  rows not used: {week.unused.describe()}"
    for level, rows in week.unknown_rows.items():
        yield f"  {rows:,} rows are used but name no known {level}"
    for unknown in week.unknown_codes:
        yield f"  most frequent unknown names in column {unknown.column}: {_values(unknown.codes)}"
    codes = [(c.column, c.level, f"{c.rows:,}", f"{c.regions:,} of {c.known:,}") for c in week.codes]
    yield _indented(table(("column", "codes of level", "rows", "regions"), codes, right=range(2, 4)))
    yield from _categories(week.categories, week.texts)
    yield from _comparison(week.comparison)


def _categories(categories: Sequence["CategoryRows"], texts: "Texts | None") -> Iterator[str]:
    rows = [(c.category, f"{c.rows:,}", f"{c.per_100_000:,.1f}") for c in categories]
    yield _indented(table(("category", "rows", "per 100,000 rows"), rows, right=range(1, 3)))
    written = "most frequent texts" if texts else "written as"
    for category in categories:
        if category.frequent:
            yield f"  {category.category}, {written}: {_values(category.frequent)}"
    if texts:
        yield f"  looked at {texts.distinct:,} distinct texts, of {texts.rows:,} of {texts.all_rows:,} rows with a text"
        for topic in texts.doubtful:
            of = f"of {topic.named:,} rows about {topic.wrong:,.0f}"
            yield f"  {topic.category}: {of} may be wrong, by the model's own confidence"
        yield "  texts nearest to the decision boundary (above 0 they count):"
        near = [(f"{t.margin:+.2f}", t.category, t.nearest, f"{t.rows:,}", _cut(t.text)) for t in texts.near]
        yield _indented(table(("margin", "answer", "nearest", "rows", "text"), near, right=(0, 3)))


def _comparison(comparison: "Comparison | None") -> Iterator[str]:
    if comparison is None:
        yield "  no week to compare with"
        return
    noisy = "noisy counts of the store" if comparison.noisy else "checked here"
    yield f"  next to week {comparison.week} ({noisy}), user-days in the whole country:"
    totals = [(t.category, f"{t.before:,}", f"{t.count:,}") for t in comparison.totals]
    yield _indented(table(("category", "then", "now"), totals, right=range(1, 3)))
    if comparison.changes:
        changes = [
            (c.kind, f"{c.name} ({c.place_id})", c.category, f"{c.before:,}", f"{c.count:,}", f"{c.sigma:,.0f}")
            for c in comparison.changes
        ]
        header = ("beyond noise", "region", "category", "then", "now", "sigma of then")
        yield _indented(table(header, changes, right=range(3, 6)))


def _values(values: Sequence["Frequent"]) -> str:
    return ", ".join(f"{_cut(v.value) or '(empty)'} ({v.rows:,})" for v in values)


def _cut(text: str) -> str:
    """Return a value of the log for one line: it must not be able to forge another."""
    text = shown(text)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
