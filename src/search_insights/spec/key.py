"""A key and a table of a spec file, as the reference page describes them."""

from dataclasses import dataclass

REQUIRED = ""


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table; `default` is empty if the key must be given."""

    name: str
    kind: str
    meaning: str
    checked: str
    default: str = REQUIRED
    example: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A table of a spec file, as its header names it; `[[...]]` may stand in the file more than once."""

    header: str
    meaning: str
    keys: tuple[Key, ...]

    @property
    def name(self) -> str:
        """The name of the table, without brackets."""
        return self.header.strip("[]")
