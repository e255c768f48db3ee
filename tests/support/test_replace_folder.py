"""A folder is put in place whole or not at all, and the older one is there until then."""

import importlib
import os
from pathlib import Path

import pytest

from search_insights.errors import InputError
from search_insights.support.replace_folder import making, replacing

MODULE = importlib.import_module("search_insights.support.replace_folder")


def fill(folder: Path, text: str) -> None:
    """Put a file, and one in a folder of its own, into a folder."""
    (folder / "inner").mkdir(parents=True)
    for path in (folder / "a.txt", folder / "inner" / "b.txt"):
        path.write_text(text)


def texts(folder: Path) -> list[str]:
    return [path.read_text() for path in sorted(folder.rglob("*.txt"))]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_folder_appears_at_the_end(tmp_path: Path) -> None:
    """Until the work is done nothing has the name; then it is there with everything in it, for others to read."""
    out = tmp_path / "out"
    with replacing(out) as draft:
        fill(draft, "new")
        assert not out.exists()
    assert texts(out) == ["new", "new"]
    assert out.stat().st_mode & 0o777 == 0o755
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("at_once", [True, False])
def test_an_older_folder_is_replaced_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: bool) -> None:
    """Nothing of the old one is left, in it or beside it, also where names cannot be exchanged in one step."""
    if not at_once:
        monkeypatch.setattr(MODULE, "_exchange", lambda one, other: False)
    out = tmp_path / "out"
    fill(out, "old")
    (out / "old only.txt").write_text("old")
    with replacing(out) as draft:
        fill(draft, "new")
        assert texts(out) == ["old", "old", "old"]
    assert texts(out) == ["new", "new"]
    assert names(tmp_path) == ["out"]


def test_the_name_is_never_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system can, the folders are exchanged in one step: none is renamed away first."""

    def no_rename(self: Path, target: Path) -> Path:
        raise AssertionError(f"{self} was renamed")

    out = tmp_path / "out"
    fill(out, "old")
    monkeypatch.setattr(Path, "rename", no_rename)
    probe = [tmp_path / "one", tmp_path / "other"]
    for folder in probe:
        folder.mkdir()
    if not MODULE._exchange(*probe):
        pytest.skip("this system cannot exchange two names")
    with replacing(out) as draft:
        fill(draft, "new")
    assert texts(out) == ["new", "new"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_the_older_folder_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    """Also when the program is interrupted or told to end."""
    out = tmp_path / "out"
    fill(out, "old")

    def fail() -> None:
        with replacing(out) as draft:
            fill(draft, "new")
            raise error

    with pytest.raises(error):
        fail()
    assert texts(out) == ["old", "old"]
    assert names(tmp_path) == ["out"]


def test_a_failure_between_two_renames_brings_the_older_folder_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an exchange in one step there is a moment in between; a failure in it is undone."""
    out = tmp_path / "out"
    fill(out, "old")
    monkeypatch.setattr(MODULE, "_exchange", lambda one, other: False)
    rename, calls = Path.rename, iter([True, False, True])

    def second_fails(self: Path, target: Path) -> Path:
        if not next(calls):
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", second_fails)
    with pytest.raises(OSError), replacing(out) as draft:
        fill(draft, "new")
    assert texts(out) == ["old", "old"]
    assert names(tmp_path) == ["out"]


def test_everything_is_on_disk_before_the_folder_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file and folder is flushed while the older one still has the name."""
    out = tmp_path / "out"
    fill(out, "old")
    flushed: list[tuple[str, list[str]]] = []
    numbers = Path("/proc/self/fd")
    if not numbers.exists():
        pytest.skip("this system does not tell which file is flushed")

    def watch(number: int) -> None:
        flushed.append((str((numbers / str(number)).readlink()), texts(out)))

    monkeypatch.setattr(os, "fsync", watch)
    with replacing(out) as draft:
        fill(draft, "new")
        expected = {str(path) for path in (draft, *draft.rglob("*"))}
    assert {path for path, _ in flushed} >= expected
    assert all(old == ["old", "old"] for path, old in flushed if path in expected)


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    """What the link points to is replaced."""
    fill(tmp_path / "real", "old")
    link = tmp_path / "current"
    link.symlink_to("real")
    with replacing(link) as draft:
        fill(draft, "new")
    assert link.is_symlink()
    assert texts(tmp_path / "real") == ["new", "new"]
    assert names(tmp_path) == ["current", "real"]


def test_a_file_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    """A file is not replaced, and folders above are not made; the line says which."""
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="is a file; give a folder"), replacing(tmp_path / "file"):
        pass
    with (
        pytest.raises(InputError, match=r"no folder .*nowhere; make it first"),
        replacing(tmp_path / "nowhere" / "out"),
    ):
        pass
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_is_made_whole_or_not_at_all(tmp_path: Path) -> None:
    """An error in the middle leaves nothing; an empty folder is taken, with what is in it at the end."""
    out = tmp_path / "out"

    def fail() -> None:
        with making(out) as draft:
            fill(draft, "new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert names(tmp_path) == []
    out.mkdir()
    with making(out) as draft:
        fill(draft, "new")
        assert names(out) == []
    assert texts(out) == ["new", "new"]
    assert names(tmp_path) == ["out"]


def test_a_folder_that_is_filled_meanwhile_is_kept(tmp_path: Path) -> None:
    """What somebody else put there is not replaced."""
    out = tmp_path / "out"

    def be_late() -> None:
        with making(out) as draft:
            fill(draft, "new")
            fill(out, "theirs")

    with pytest.raises(InputError, match="out: cannot be made"):
        be_late()
    assert texts(out) == ["theirs", "theirs"]
    assert names(tmp_path) == ["out"]
