"""Keeping files private, forcing them to disk, putting them in place whole, and reading those of others."""

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from search_insights.errors import InputError
from search_insights.support.working_folder import remove_abandoned, working_folder

MOST_OF_A_STATEMENT = 1 << 26  # bytes of a JSON file or page that describes a dataset; real ones have some kB

_DRAFT_PREFIX = ".search-insights-draft-"


@contextmanager
def private_files() -> Iterator[None]:
    """Create files for their owner only, including those of DuckDB; what others may read is published."""
    mask = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(mask)


def is_text(name: object) -> bool:
    """Return whether a name is text in UTF-8. A file system allows any bytes, but DuckDB does not."""
    try:
        str(name).encode()
    except UnicodeEncodeError:
        return False
    return True


def read_at_most(path: Path, most: int) -> bytes:
    """Read a file that is read into memory as a whole; refuse one of more than `most` bytes, also one without end."""
    with path.open("rb") as file:
        return _at_most(file, most, path)


def _at_most(file: BinaryIO, most: int, path: Path) -> bytes:
    data = file.read(most + 1)
    if len(data) > most:
        raise InputError(f"{path}: more than {most // 1024:,} kB; a file of this kind is much smaller")
    return data


def read_text_at_most(path: Path, most: int) -> str:
    """Read a text in UTF-8 in the same way; any line end becomes a line feed."""
    return io.TextIOWrapper(io.BytesIO(read_at_most(path, most)), encoding="utf-8").read()


def flush(path: Path) -> None:
    """Force a file, or the names in a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def put_in_place(draft: Path, path: Path) -> None:
    """Give a finished file its name, replacing any file of that name, and force both to disk."""
    flush(draft)
    draft.replace(path)
    flush(path.parent)


def put_if_absent(draft: Path, path: Path) -> None:
    """Give a finished file its name, unless another process was faster: then that file is kept."""
    flush(draft)
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        draft.rename(path)
    flush(path.parent)


def remove_drafts(folder: Path) -> None:
    """Remove drafts of files that killed processes left in a folder."""
    remove_abandoned(folder, _DRAFT_PREFIX)


@contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """Yield a path to write to; at the end that file takes the place of `path`, which stays unchanged until then.

    The draft is in a working folder of its own, so that nothing of it stays, even after a kill.
    """
    with working_folder(path.parent, _DRAFT_PREFIX) as folder:
        draft = folder / path.name
        yield draft
        put_in_place(draft, path)


def read_plain(path: Path) -> bytes:
    """Return the content of a statement; an error says if it is a link, a folder, a pipe, or larger than any is."""
    with open_plain(path) as file:
        return _at_most(file, MOST_OF_A_STATEMENT, path)


def open_plain(path: Path) -> BinaryIO:
    """Open a file for reading; refuse a link, which may lead anywhere, and a pipe, which may never end."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        reason = "is a link; put the file itself in its place" if error.errno == errno.ELOOP else error.strerror
        raise InputError(f"{path}: {reason}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InputError(f"{path}: not a regular file")
    return os.fdopen(descriptor, "rb")
