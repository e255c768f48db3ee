"""What the operator sees: results on standard output, everything else on standard error.

Everything that a command prints goes through here. Names of files, columns and regions come from elsewhere, and a
terminal obeys some characters instead of showing them: they could hide or forge what the operator reads.
"""

import json
import logging
import sys
import time
from collections.abc import Sequence
from datetime import date
from typing import TextIO

_JOINERS = "\u200c\u200d"  # not printable by themselves, but many scripts need them
_DELETE = "\x7f"  # the one character below 128 that JSON does not escape and a terminal does not show


def shown(text: str, also: str = "") -> str:
    """Write every character that a terminal would not show as such in the way Python does: \\x1b for escape."""
    if text.isprintable():
        return text
    kept = _JOINERS + also
    return "".join(c if c.isprintable() or c in kept else c.encode("unicode_escape").decode() for c in text)


def out(text: str = "") -> None:
    """Print the result, or a line of it."""
    _write(sys.stdout, shown(text, also="\n") + "\n")


def out_json(value: object) -> None:
    """Print the result for a program to read."""
    out(json.dumps(value, indent=2).replace(_DELETE, "\\u007f"))


def note(text: str) -> None:
    """Tell the operator something that is not the result."""
    _write(sys.stderr, shown(text, also="\n") + "\n")
    sys.stderr.flush()


class Notes(logging.Handler):
    """Tells the operator what the library logs."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record."""
        note(one_line(record.getMessage()))


def one_line(text: str) -> str:
    """Put text on one line."""
    return " ".join(text.split())


def flush() -> None:
    """Hand what was printed to its reader; a closed pipe shows here."""
    sys.stdout.flush()


def _write(stream: TextIO, text: str) -> None:
    """Write text, with what the stream's encoding does not have in the same way as what cannot be shown."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Lay out rows under a header; the columns numbered in `right` are set flush right."""
    header, rows = [shown(cell) for cell in header], [[shown(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [
        "  ".join(
            cell.rjust(w) if i in right else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in [header, *rows]
    ]
    return "\n".join(line.rstrip() for line in lines)


def span(weeks: Sequence[date]) -> str:
    """Say how many weeks there are, and from when to when."""
    return f"{len(weeks)} weeks, {weeks[0]} to {weeks[-1]}" if len(weeks) > 1 else f"1 week, {weeks[0]}"


PATIENCE = 2.0  # seconds


class Steps:
    """Progress on work that takes long: one line that changes on a terminal, one line a step elsewhere.

    Nothing is shown in the first two seconds, so that quick work stays quiet.
    """

    def __init__(self) -> None:
        """Start the clock."""
        self._begin = time.monotonic()
        self._live = sys.stderr.isatty()

    def show(self, text: str) -> None:
        """Say which step is under way."""
        elapsed = time.monotonic() - self._begin
        if elapsed < PATIENCE:
            return
        line = f"[{elapsed:5.0f} s] {shown(text)}"
        _write(sys.stderr, f"\r\x1b[K{line}" if self._live else f"{line}\n")
        sys.stderr.flush()

    def clear(self) -> None:
        """Clear the line, so that something else can be printed."""
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __enter__(self) -> "Steps":
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
