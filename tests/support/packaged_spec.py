"""The texts of the packaged specs, to be edited by tests."""

from importlib import resources

from search_insights.spec.spec_file import DEFAULT_SPEC

_FOLDER = resources.files("search_insights.spec") / "packaged"
PACKAGED_V2 = (_FOLDER / "vaccination-v2.toml").read_text(encoding="utf-8")
PACKAGED = (_FOLDER / f"{DEFAULT_SPEC}.toml").read_text(encoding="utf-8")


def edited(old: str, new: str) -> str:
    """Return the packaged spec with a text replaced, which must occur once."""
    assert PACKAGED.count(old) == 1, f"{old!r} occurs {PACKAGED.count(old)} times in the packaged spec"
    return PACKAGED.replace(old, new)
