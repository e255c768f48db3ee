"""Links, anchors, paths and names in the project's pages exist, and the README has its form."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "search_insights"
FOLDERS = ("docs", "evidence", "examples", "src", "tests", "tools")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))])

MOST_README_LINES = 120

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(
    r"""\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)|<(?:img|a)\b[^>]*?\b(?:src|href)="([^"]+)"|^\[[^]]+\]:\s*(\S+)""", re.M
)
_PATH = re.compile(rf"(?<![\w./-])(?:{'|'.join(FOLDERS)})/[\w./-]*\w")
_MODULE = re.compile(r"python -m ((?:evidence|tools)[.\w]*)")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
_NAMED = re.compile(r"\]\(([^)\s#]+\.(?:py|sql|js))\)\s+`(\w+)`")


def page_id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives a page's headings; a repeated heading gets a number."""
    seen: Counter[str] = Counter()
    found: set[str] = set()
    for heading in _HEADING.findall(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        shown = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def problems(page: Path, root: Path) -> Iterator[str]:
    """Report links, images, anchors, paths, modules and names in linked files that do not exist."""
    text = page.read_text(encoding="utf-8")
    prose = _FENCE.sub("", text)
    for match in _LINK.finditer(_CODE.sub("", prose)):
        yield from _link_problems(page, next(target for target in match.groups() if target))
    for code in [*_CODE.findall(prose), *_FENCE.findall(text)]:
        for path in _PATH.findall(code):
            if not (root / path).exists():
                yield f"no file {path}"
        for module in _MODULE.findall(code):
            place = root / module.replace(".", "/")
            if not place.with_suffix(".py").is_file() and not (place / "__main__.py").is_file():
                yield f"no module {module}"
    for target, name in _NAMED.findall(prose):
        file = page.parent / target
        if file.is_file() and not re.search(rf"\b{name}\b", file.read_text(encoding="utf-8")):
            yield f"no {name} in {target}"


def _link_problems(page: Path, target: str) -> Iterator[str]:
    if re.match(r"[a-z][a-z0-9+.-]*:", target, re.IGNORECASE):
        return  # another site
    path, _, anchor = target.partition("#")
    linked = page.parent / path if path else page
    if not linked.exists():
        yield f"broken link {target}"
    elif anchor and (linked.suffix != ".md" or anchor not in anchors(linked)):
        yield f"no heading for {target}"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_everything_that_a_page_points_at_exists(page: Path) -> None:
    """Every relative link, image, anchor, path in backticks and name beside a linked file exists."""
    assert list(problems(page, ROOT)) == []


def test_a_broken_page_is_reported(tmp_path: Path) -> None:
    """The check itself works: it reports everything that is missing, and nothing that exists."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "there.py").write_text("def kept() -> None: ...\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        """# A page: with `code` & [a link](docs/there.py)
## Twice
## Twice
[whole](docs/there.py) [self](#a-page-with-code--a-link) [second](page.md#twice-1) [site](https://example.org/none)
`docs/there.py` `docs/` `build/docs/none.py` `[no](link.md)` [code](docs/there.py) `kept`

```
cat docs/there.py # [no](link.md)
```

[gone](docs/gone.md) ![picture](gone.png) <img alt="x" src="gone.svg" width="9">
[anchor](#thrice) [deep](docs/there.py#L1)
`docs/gone.py` and `run docs/lost.py --fast` and `python -m evidence.gone` and [code](docs/there.py) `lost`

[by name]: elsewhere.md
""",
        encoding="utf-8",
    )
    assert sorted(problems(page, tmp_path)) == [
        "broken link docs/gone.md",
        "broken link elsewhere.md",
        "broken link gone.png",
        "broken link gone.svg",
        "no file docs/gone.py",
        "no file docs/lost.py",
        "no heading for #thrice",
        "no heading for docs/there.py#L1",
        "no lost in docs/there.py",
        "no module evidence.gone",
    ]


def test_every_test_that_a_page_names_exists() -> None:
    """Every test function that a page names is in a test module."""
    defined = {
        name
        for folder in ("tests", "evidence/tests")
        for path in (ROOT / folder).rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    named = {name for page in PAGES for name in re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8"))}
    assert named - defined == set()


# The README and the architecture page


def test_the_readme_is_short_and_begins_with_what_to_run() -> None:
    """The README has at most 120 lines, and its first commands are `make demo` and `make test`."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_README_LINES
    commands = [line.split("#")[0].strip() for line in lines[:12] if line.startswith("    ")]
    assert commands[:2] == ["make demo", "make test"]


def test_the_architecture_page_has_every_package_and_top_level_module() -> None:
    """Every entry of the package's folder is named on the page."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    entries = [path for path in PACKAGE.iterdir() if not path.name.startswith("__pycache__")]
    names = [f"{path.name}/" if path.is_dir() else path.name for path in entries]
    assert [name for name in names if f"`{name}`" not in page] == []


def test_the_index_leads_to_every_page_of_docs() -> None:
    """docs/README.md links to every other page of docs."""
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    others = [page.name for page in PAGES if page.parent == ROOT / "docs" and page.name != "README.md"]
    assert [name for name in others if f"({name}" not in index] == []
