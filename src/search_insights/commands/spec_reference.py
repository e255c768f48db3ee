"""The reference page of spec files, docs/spec.md, made from the table of all keys.

python -m search_insights.commands.spec_reference > docs/spec.md
"""

from collections.abc import Iterator

from search_insights.commands.console import out
from search_insights.spec.keys import SECTIONS, WHAT_A_WORD_IS, Key, Section

_HEAD = """\
# The spec file

A spec describes a release: what is counted, with how much noise, what is promised and what is published. It is a TOML
file in UTF-8. `search-insights init` writes one with comments ([getting started](getting-started.md)); the packaged one
is [the paper's](../src/search_insights/spec/packaged/vaccination-v1.toml). This page is made from the table that the
program itself uses; a test keeps it up to date. Section numbers and X1 to X4 are the paper's.

All keys without a default are required. Unknown keys are refused, so that a misspelled one never becomes a silent
default. All problems of a file are told at once, one on a line. A word is {word}.

Finish the spec before the first week. A later change of what is counted is recorded as a new
[edition](editions.md), which readers see as a break.
"""

_TAIL = """\
## A spec without sigmas

Without the table `[sigma]` a spec is a draft. `calibrate` completes it, every other command refuses it:

    search-insights calibrate --spec draft.toml --geography regions.csv --out spec.toml

[How the sigmas are found](privacy.md#sigmas-from-nothing). After a change of levels, classes or topics, add `--start`:
it finds all sigmas anew instead of keeping the proportions of the old ones.
"""


def spec_page() -> str:
    """Return the page: a section for each table of the file, with a row for each key."""
    return "\n".join(
        [_HEAD.format(word=WHAT_A_WORD_IS), *(line for section in SECTIONS for line in _section(section)), _TAIL]
    )


def _section(section: Section) -> Iterator[str]:
    yield f"## {f'`{section.header}`' if section.header else 'Keys outside all tables'}"
    yield from ("", f"{section.meaning[0].upper()}{section.meaning[1:]}.", "")
    yield from ("| key | type | default | meaning | checked |", "| --- | --- | --- | --- | --- |")
    yield from (_row(key) for key in section.keys)
    yield ""


def _row(key: Key) -> str:
    default = f"`{key.default}`" if key.example and key.default in ("[]", "0", "false") else key.default
    return f"| `{key.name}` | {key.kind} | {default or 'required'} | {key.meaning} | {key.checked or 'the type'} |"


if __name__ == "__main__":
    out(spec_page().rstrip("\n"))
