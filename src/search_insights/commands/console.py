"""What the operator sees: results on standard output, everything else on standard error."""

import json
import sys
import time
from collections.abc import Sequence
from datetime import date


def out(text: str = "") -> None:
    """Print a line of the result."""
    sys.stdout.write(text + "\n")


def out_json(value: object) -> None:
    """Print the result for a program to read."""
    out(json.dumps(value, indent=2))


def note(text: str) -> None:
    """Tell the operator something that is not the result."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Lay out rows under a header; the columns numbered in `right` are set flush right."""
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
        line = f"[{elapsed:5.0f} s] {text}"
        sys.stderr.write(f"\r\x1b[K{line}" if self._live else f"{line}\n")
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
