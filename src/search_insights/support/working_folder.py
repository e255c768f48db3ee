"""A folder for work in progress that is removed when the work ends, however it ends.

A killed process cannot clean up. So a process locks its working folder, and the next process removes the folders that
are no longer locked.
"""

import fcntl
import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, get_args

# Not a name that people give to folders of their own, such as search-insights-releases: what has it may be removed.
_TEMPORARY = "search-insights-temporary-"
Kind = Literal["", "audit-", "categories-", "spark-"]


@contextmanager
def temporary_folder(kind: Kind = "") -> Iterator[Path]:
    """Create a working folder in the system's temporary folder, for data that may be private."""
    with working_folder(Path(tempfile.gettempdir()), _TEMPORARY + kind) as folder:
        yield folder


def remove_abandoned_temporary_folders() -> None:
    """Remove what killed runs left in the system's temporary folder: it may hold parts of a search log."""
    for kind in get_args(Kind):
        remove_abandoned(Path(tempfile.gettempdir()), _TEMPORARY + kind)


@contextmanager
def working_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Yield a new folder that only this user can enter (mode 0700), and remove it at the end."""
    remove_abandoned(parent, prefix)
    folder, lock = _make(parent, prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _make(parent: Path, prefix: str) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        with suppress(FileNotFoundError):  # removed as abandoned before it was locked: make another
            lock = _open(folder)
            with suppress(OSError):  # a file system without locks: then no folder is removed as abandoned
                fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)


def remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove what killed processes of this user left; folders that are in use, or of other users, stay."""
    for folder in parent.glob(f"{glob.escape(prefix)}????????"):  # as mkdtemp names them
        with suppress(OSError):
            lock = _open(folder)
            try:
                if os.fstat(lock).st_uid == os.geteuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _open(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
