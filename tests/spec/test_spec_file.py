"""Spec files: which cannot be read, and which are the packaged release."""

import time
from pathlib import Path

import pytest

from search_insights.errors import InputError, SpecError
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


@pytest.mark.parametrize(
    "text",
    ["{} = 1", "[{}]", "[[{}]]", "x = {{ {} = 1 }}"],
    ids=["key", "header", "list", "inline"],
)
@pytest.mark.parametrize(
    "name",
    ["a", "'a.b'", '"a\\".b"', '""'],
    ids=["bare", "literal", "quoted", "empty"],
)
def test_a_key_of_many_names_is_refused_before_it_takes_memory(text: str, name: str) -> None:
    """Python's reader keeps every beginning of a key, so 200 kB of names would take gigabytes. The line is named."""
    key = text.format(" . ".join([name] * 3000))
    with pytest.raises(InputError, match=r"not valid TOML: line 2: more than 16 names joined with dots$"):
        parse_spec(f"# 1.2.3.4.5.6.7.8.9 {'.' * 99}\n{key}", "release.toml")


def test_looking_for_deep_keys_takes_no_longer_than_reading() -> None:
    """Texts that begin like a key and go on without end are passed in one go."""
    begin = time.monotonic()
    for text in ("x" * 10**6, "'" * 10**6, '"' * 999_999, "a." * 15 * 30_000, "\\" * 10**6, "a" + " " * 10**6):
        with pytest.raises(InputError):
            parse_spec(text, "release.toml")
    assert time.monotonic() - begin < 20


def test_a_file_larger_than_any_spec_is_refused(tmp_path: Path) -> None:
    """A spec is read into memory, so its size has a limit."""
    path = tmp_path / "large.toml"
    path.write_text(f"# {'x' * 2_000_000}", encoding="utf-8")
    with pytest.raises(InputError, match=r"large\.toml: more than 1,024 kB"):
        load_spec(path)


def test_a_message_shows_the_beginning_of_a_long_value() -> None:
    """The error names the key and stays a line that can be read."""
    text = PACKAGED.replace("epsilon = 2.19", f'epsilon = "{"y" * 100_000}"')
    with pytest.raises(SpecError, match=r"'promise\.epsilon': expected a number, got 'yyy.*\.\.\.$") as found:
        parse_spec(text, "release.toml")
    assert len(str(found.value)) < 400


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
