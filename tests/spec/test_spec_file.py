"""Spec files: which cannot be read, and which are the packaged release."""

from pathlib import Path

import pytest

from search_insights.errors import InputError
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import load_spec, parse_spec
from tests.support.packaged_spec import PACKAGED


@pytest.mark.parametrize(
    "text",
    ["name = ", "a = 1\na = 2", "[[[", "x = " + "1" * 5000, "x = " + "[" * 5000, "first = 2021-02-30"],
    ids=["no value", "key twice", "brackets", "endless number", "endless nesting", "no such day"],
)
def test_a_file_that_is_not_toml_is_refused(text: str) -> None:
    """Invalid TOML is refused in one line that names the file."""
    with pytest.raises(InputError, match=r"^release\.toml: not valid TOML: .+$"):
        parse_spec(text, "release.toml")


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    """TOML is UTF-8; another encoding is not guessed, because that could change a name."""
    path = tmp_path / "latin.toml"
    path.write_bytes("title = 'é'".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.toml: a spec is TOML in UTF-8"):
        load_spec(path)


def test_a_missing_file_is_refused_with_the_packaged_name_as_hint(tmp_path: Path) -> None:
    """The error names the file, the reason, and the packaged spec that could be given instead."""
    with pytest.raises(InputError, match=r"absent\.toml: cannot read the spec \(No such file.*'vaccination-v1'"):
        load_spec(tmp_path / "absent.toml")


def test_a_directory_is_refused(tmp_path: Path) -> None:
    """A directory is refused with the reason."""
    with pytest.raises(InputError, match=r"cannot read the spec \(Is a directory\)"):
        load_spec(tmp_path)


def test_a_copy_of_the_packaged_file_is_the_same_release(tmp_path: Path, paper: Spec) -> None:
    """A copy of the packaged file is the same release, also with Windows line ends."""
    path = tmp_path / "copy.toml"
    path.write_bytes(PACKAGED.replace("\n", "\r\n").encode())
    assert load_spec(path) == paper
