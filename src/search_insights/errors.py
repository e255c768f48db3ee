"""All errors of the program, in one small tree.

    SearchInsightsError
    ├── InputError          the input cannot be used: exit code 2, nothing was written
    │   ├── UsageError      the command line itself
    │   ├── SpecError       a release spec
    │   ├── GeographyError  a table of regions
    │   ├── LogError        a search log
    │   │   └── MissingDays     days without an event
    │   └── StoreError      a store that is locked, damaged, or belongs to another release
    │       └── ScaleIncomplete a store that lacks weeks which set the scale
    └── CheckFailed         a check ran and failed: exit code 1

Every message is one line that says what is wrong, where, and what to do. Only what is wrong with a spec or a table of
regions is told all at once: a line with the file and the number of problems, then a line for each. No message contains
a value from the search log: no user, no query, no region of an event, no exact count of events in a cell.

The library does not know the options of the command line. A message names a parameter in backquotes (`naive_zone`), and
`commands/options.py` replaces it with the name of the option.
"""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

_MOST_SHOWN = 20  # problems of one file


class SearchInsightsError(Exception):
    """Any failure that the program can explain in one line."""

    exit_code = 2

    @property
    def lines(self) -> tuple[str, ...]:
        """The message: one line, or one for the file and one for each of its problems."""
        return (str(self),)


class InputError(SearchInsightsError):
    """The input cannot be used."""


class UsageError(InputError):
    """The command line is not well formed."""


class Problem(NamedTuple):
    """One thing that is wrong with a spec: the key, what was expected and what was found."""

    key: str
    expected: str
    got: object

    def __str__(self) -> str:
        """Return it as a line of a message."""
        return f"key {self.key!r}: expected {self.expected}, got {self.got}"


class SpecError(InputError):
    """A release spec is not valid. The message names the key, what was expected and what was found.

    If more is wrong, the attributes are those of the first problem; the list of problems has all of them.
    """

    def __init__(
        self, key: str, expected: str, got: object, source: str = "spec", others: Sequence[Problem] = ()
    ) -> None:
        """Build the message from its parts, which stay available as attributes."""
        self.key, self.expected, self.got, self.source = key, expected, got, source
        self.problems = (Problem(key, expected, got), *others)
        self._lines = _lines(source, [(f"{source}: {problem}", str(problem)) for problem in self.problems])
        super().__init__("\n".join(self._lines))

    @property
    def lines(self) -> tuple[str, ...]:
        """One line for one problem; else one for the file and one for each problem."""
        return self._lines


class GeographyError(InputError):
    """A table of regions is not valid."""

    def __init__(self, message: str, lines: Sequence[str] = ()) -> None:
        """Keep the lines of a message that has several."""
        self._lines = tuple(lines) or (message,)
        super().__init__(message)

    @property
    def lines(self) -> tuple[str, ...]:
        """One line for one problem; else one for the file and one for each problem."""
        return self._lines

    @classmethod
    def of(cls, source: str, problems: "Sequence[RowProblem]") -> "GeographyError":
        """Return the error that tells all problems of a table."""
        lines = _lines(source, [(problem.alone(source), problem.listed) for problem in problems])
        return cls("\n".join(lines), lines)


class RowProblem(NamedTuple):
    """One thing that is wrong with a table of regions; `where` is a row, or empty for the table as a whole."""

    where: str
    what: str

    @property
    def listed(self) -> str:
        """The problem below a line that names the table."""
        return f"{self.where}: {self.what}" if self.where else self.what

    def alone(self, source: str) -> str:
        """Return the problem with the name of the table."""
        return f"{source}, {self.listed}" if self.where else f"{source}: {self.what}"


def _lines(source: str, problems: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return the lines of a message, given each problem as it is told alone and in a list."""
    if len(problems) == 1:
        return (problems[0][0],)
    listed = [f"  {line}" for _, line in problems[:_MOST_SHOWN]]
    rest = len(problems) - len(listed)
    return (f"{source}: {len(problems):,} problems", *listed, *([f"  and {rest:,} more"] if rest else []))


class LogError(InputError):
    """A search log cannot be used."""


class MissingDays(LogError):
    """Days of a week have no usable event: the log may be incomplete."""

    def __init__(self, message: str, days: Sequence[date]) -> None:
        """Keep the days, so that the caller can name or allow them."""
        self.days = tuple(days)
        super().__init__(message)


class StoreError(InputError):
    """A store cannot be used."""


class ScaleIncomplete(StoreError):
    """Weeks that set the scale are not in the store yet, so nothing can be published."""


class CheckFailed(SearchInsightsError):
    """A check ran and failed."""

    exit_code = 1
