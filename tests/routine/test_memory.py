"""What is remembered of released logs: enough to notice a change, and nothing that helps anybody else."""

import json
from datetime import date
from pathlib import Path

import pytest

from search_insights.errors import InputError
from search_insights.routine.memory import Memory, read_memory, write_memory

WEEK = date(2023, 10, 1)


def test_a_memory_is_read_as_it_was_written(tmp_path: Path) -> None:
    """With its key, so that hashes stay comparable; names are relative to the folder of the settings."""
    file = tmp_path / "log" / "day.csv"
    file.parent.mkdir()
    file.write_text("a search")
    memory = Memory()
    memory = memory.with_week(WEEK, memory.look(WEEK, [str(file)], tmp_path))
    write_memory(tmp_path / "memory.json", memory)
    assert read_memory(tmp_path / "memory.json") == memory
    assert list(memory.weeks[WEEK]) == ["log/day.csv"]
    assert (tmp_path / "memory.json").stat().st_mode & 0o777 == 0o600


def test_only_new_files_and_other_content_are_changes(tmp_path: Path) -> None:
    """A file that is gone was deleted by rule; one with another time and the same content is the same."""
    one, two = (tmp_path / name for name in ("one.csv", "two.csv"))
    one.write_text("a search")
    two.write_text("a search")
    memory = Memory()
    memory = memory.with_week(WEEK, memory.look(WEEK, [str(one), str(two)], tmp_path))
    two.unlink()
    one.touch()
    assert memory.changed(WEEK, memory.look(WEEK, [str(one)], tmp_path)) == []
    one.write_text("b search")
    (tmp_path / "three.csv").write_text("")
    names = [str(one), str(tmp_path / "three.csv")]
    assert memory.changed(WEEK, memory.look(WEEK, names, tmp_path)) == ["one.csv", "three.csv"]


def test_hashes_have_a_key_of_their_own(tmp_path: Path) -> None:
    """Two memories of the same file have other hashes, so that nobody can look one up; the key is never shown."""
    file = tmp_path / "day.csv"
    file.write_text("a search")
    one, other = (memory.look(WEEK, [str(file)], tmp_path)["day.csv"] for memory in (Memory(), Memory()))
    assert one.hash != other.hash
    assert Memory().key.hex() not in repr(Memory())


GOOD = {"version": 1, "key": "00" * 32, "weeks": {"2023-10-01": {"a": {"size": 1, "modified": 1, "hash": "0"}}}}


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"key": "00"},
        {"key": 7},
        {"key": "zz" * 32},
        {"weeks": 7},
        {"weeks": {"monday": {}}},
        {"weeks": {"2023-10-01": 7}},
        {"weeks": {"2023-10-01": {"a": {"size": 1}}}},
        {"weeks": {"2023-10-01": {"a": {"size": "x", "modified": 1, "hash": "0"}}}},
    ],
)
def test_a_damaged_memory_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    """Whatever is in it; `run` then starts anew."""
    path = tmp_path / "memory.json"
    path.write_text(json.dumps(GOOD))
    assert read_memory(path).weeks[WEEK]["a"].size == 1
    path.write_text(json.dumps(GOOD | change))
    with pytest.raises(InputError, match="not a memory of this program, or damaged"):
        read_memory(path)
