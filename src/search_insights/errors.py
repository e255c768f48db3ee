"""All errors of the program, in one small tree.

    SearchInsightsError
    ├── InputError          the input cannot be used: exit code 2, nothing was written
    │   ├── UsageError      the command line itself
    │   ├── SpecError       a release spec
    │   ├── GeographyError  a table of regions
    │   ├── LogError        a search log
    │   │   └── MissingDays     days without an event
    │   └── StoreError      a store that is locked, damaged, or belongs to another release
    └── CheckFailed         a check ran and failed: exit code 1

Every message is one line that says what is wrong, where, and what to do. It never contains a value from
the search log: no user, no query, no region of an event, no exact count of events in a cell.

The library does not know the options of the command line. A message names a parameter in backquotes (`naive_zone`), and
`commands/options.py` replaces it with the name of the option.
"""

from collections.abc import Sequence
from datetime import date


class SearchInsightsError(Exception):
    """Any failure that the program can explain in one line."""

    exit_code = 2


class InputError(SearchInsightsError):
    """The input cannot be used."""


class UsageError(InputError):
    """The command line is not well formed."""


class SpecError(InputError):
    """A release spec is not valid. The message names the key, what was expected and what was found."""

    def __init__(self, key: str, expected: str, got: object, source: str = "spec") -> None:
        """Build the message from its parts, which stay available as attributes."""
        self.key, self.expected, self.got, self.source = key, expected, got, source
        super().__init__(f"{source}: key {key!r}: expected {expected}, got {got}")


class GeographyError(InputError):
    """A table of regions is not valid."""


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


class CheckFailed(SearchInsightsError):
    """A check ran and failed."""

    exit_code = 1
