"""Making or replacing a folder, as a whole or not at all."""

import ctypes
import glob
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from search_insights.errors import InputError
from search_insights.support.files import flush
from search_insights.support.working_folder import remove_abandoned, working_folder

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to fill; at the end it replaces `folder`, which is not touched until then."""
    folder = folder.resolve()  # the target of a link, so that the link stays
    require_replaceable(folder)
    _clean_up_half_swap(folder)
    with working_folder(folder.parent, _draft_prefix(folder)) as draft:
        yield draft
        draft.chmod(0o755)  # unlike a store, this is meant to be read by others
        _flush_all(draft)
        _swap_in(draft, folder)


@contextmanager
def making(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to fill; at the end it becomes `folder`, unless by then something is there."""
    folder = folder.resolve()
    require_free(folder)
    with working_folder(folder.parent, _draft_prefix(folder)) as draft:
        yield draft
        draft.chmod(0o755)
        _flush_all(draft)
        try:
            draft.rename(folder)  # in one step, and only onto an empty folder
        except OSError as error:
            raise InputError(f"{folder}: cannot be made ({error.strerror})") from None
        flush(folder.parent)


def require_free(folder: Path) -> None:
    """Refuse a folder that has anything in it, and one that cannot be made."""
    require_replaceable(folder)
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: is not empty; give a new folder, so that nothing is overwritten")


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed process left beside a folder that it was replacing; the next `replacing` would, too."""
    folder = folder.resolve()
    _clean_up_half_swap(folder)
    remove_abandoned(folder.parent, _draft_prefix(folder))


def _draft_prefix(folder: Path) -> str:
    return f".{folder.name}.draft-"


def require_replaceable(folder: Path) -> None:
    """Refuse a file, and a folder in a folder that there is not."""
    folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give a folder")
    if not folder.parent.is_dir():
        raise InputError(f"{folder}: no folder {folder.parent}; make it first")


def _flush_all(folder: Path) -> None:
    """Force the files to disk before the folder gets its name, so that a power cut leaves no empty files."""
    for path in [*folder.rglob("*"), folder]:
        flush(path)


def _swap_in(draft: Path, folder: Path) -> None:
    """Swap the two folders, in one step if the system can; the old one then has the draft's name."""
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


def _clean_up_half_swap(folder: Path) -> None:
    """Clean up after a process that was killed between the two renames; a swap in one step leaves nothing."""
    for aside in folder.parent.glob(f".{glob.escape(folder.name)}.draft-????????.old"):
        if folder.exists():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            aside.rename(folder)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step (Linux); return whether it worked."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    code: int = rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return code == 0
