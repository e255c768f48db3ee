"""Putting a folder in place whole or not at all."""

import ctypes
import glob
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from search_insights.errors import InputError
from search_insights.support.files import flush
from search_insights.support.working_folder import working_folder

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to fill; at the end it takes the place of `folder`, which stays as it is until then."""
    folder = folder.resolve()  # where a link points to, so that the link stays
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give a folder")
    if not folder.parent.is_dir():
        raise InputError(f"{folder}: no folder {folder.parent}; make it first")
    _undo_half_swap(folder)
    with working_folder(folder.parent, f".{folder.name}.draft-") as draft:
        yield draft
        draft.chmod(0o755)  # unlike a store, what is made here is meant to be read by others
        _flush_all(draft)
        _swap_in(draft, folder)


def _flush_all(folder: Path) -> None:
    """Have the files on disk before the folder gets its name, so that a power cut leaves no empty ones."""
    for path in [*folder.rglob("*"), folder]:
        flush(path)


def _swap_in(draft: Path, folder: Path) -> None:
    """Swap the two folders in one step where the system can; the old one is then in the draft's place."""
    if not folder.exists():
        draft.rename(folder)
    elif not _exchange(draft, folder):
        aside = draft.with_name(draft.name + ".old")
        folder.rename(aside)
        try:
            draft.rename(folder)
        except OSError:
            aside.rename(folder)
            raise
        shutil.rmtree(aside, ignore_errors=True)
    flush(folder.parent)


def _undo_half_swap(folder: Path) -> None:
    """Undo what a process left that was killed between the two renames; where names are exchanged there is none."""
    for aside in folder.parent.glob(f".{glob.escape(folder.name)}.draft-????????.old"):
        if folder.exists():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            aside.rename(folder)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names at once (Linux); say whether it worked."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    code: int = rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return code == 0
