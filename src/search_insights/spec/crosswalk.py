"""A crosswalk: which regions succeed which when a table of regions changes. Readers are shown it; nothing is counted by
it."""

from collections.abc import Mapping
from pathlib import Path

from search_insights.errors import GeographyError, RowProblem
from search_insights.spec.coverage import Coverage
from search_insights.spec.table_file import read_table_file

COLUMNS = ("place_id", "succeeded_by")


def read_crosswalk(path: Path, old: Coverage, new: Coverage) -> dict[str, list[str]]:
    """Read a table with a row for each region that ended and one that succeeds it; refuse what the tables do not have.

    A region may have several rows.
    """
    successors: dict[str, list[str]] = {}
    problems: list[RowProblem] = []
    for number, row in enumerate(read_table_file(path, COLUMNS, COLUMNS, "a Parquet or CSV file"), start=1):
        ended, successor = (str(row[column] or "").strip() for column in COLUMNS)
        what = _wrong(ended, successor, old, new, successors)
        if what:
            problems.append(RowProblem(f"row {number}", what))
        successors.setdefault(ended, []).append(successor)
    if problems:
        raise GeographyError.of(str(path), problems)
    return successors


def _wrong(ended: str, successor: str, old: Coverage, new: Coverage, known: Mapping[str, list[str]]) -> str | None:
    """Return what is wrong with a row; None if nothing is."""
    before, after = old.geography.by_place_id, new.geography.by_place_id
    if ended not in before:
        return f"column 'place_id': {ended[:80]!r} is no region of the store's geography"
    if ended in after:
        return f"column 'place_id': {ended!r} does not end; the new geography has it too"
    if successor not in after:
        return f"column 'succeeded_by': {successor[:80]!r} is no region of the new geography"
    if successor in known.get(ended, ()):
        return f"{ended!r} is succeeded by {successor!r} in an earlier row too; remove one"
    return None
