"""The house: what may import what, read from the source itself, and what the package folder shows."""

import ast
import re
from pathlib import Path

import pytest

import search_insights
from tests.support.house import CLOSED, ENTRANCES, EVERYWHERE, RULES, cycle, imports_of, room_of, violations

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path(search_insights.__file__).parent
# A row of the table of packages in docs/architecture.md: the package, its role, what it may import.
ROW = re.compile(r"^\| `([a-z_/.]+)` \|[^|]+\| ([^|]+) \|$", re.MULTILINE)


def little_house(folder: Path, **modules: str) -> Path:
    """Write a package of a few modules, given by name with `__` for a dot."""
    for name, text in modules.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def dotted(path: str) -> str:
    """Write a package or a file as a module."""
    return path.removesuffix(".py").rstrip("/").replace("/", ".")


def test_every_import_follows_the_rules_of_the_house() -> None:
    """Each package imports only what its rule names; a package without a rule is found out."""
    assert violations(SOURCE) == []


def test_no_packages_import_each_other_in_a_circle() -> None:
    """Data flows one way, and so do imports."""
    assert cycle(SOURCE) == []


def test_only_the_bridge_the_check_the_audit_and_the_evaluation_import_private_code() -> None:
    """Left of the noise everything is private: commands and the Python API go through the bridge and the check."""
    importers = {room_of(found.by) for found in imports_of(SOURCE) if room_of(found.of) == "private"} - {"private"}
    assert importers == {"anonymization", "audit", "checking", "evaluation"}


def test_the_dashboard_knows_nothing_but_the_published_folder() -> None:
    """Of what makes a dataset, the dashboard imports the reader of the folder, and the pages made from what it read."""
    known = {found.of for found in imports_of(SOURCE) if room_of(found.by) == "dashboards"}
    assert {module for module in known if room_of(module) not in ("dashboards", "spec", *EVERYWHERE)} == {
        "dataset.folder",
        "dataset.pages",
        "dataset.several",
    }


@pytest.mark.parametrize(
    ("modules", "broken"),
    [
        (
            {"dashboards__site": "from search_insights.store.store import open_store\n", "store__store": ""},
            "dashboards.site, line 1: imports store.store",
        ),
        (
            {"trends__derive": "def f():\n    import search_insights.private.log\n", "private__log": ""},
            "trends.derive, line 2: imports private.log",
        ),
        (
            {
                "store__store": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
                "    from search_insights.private import counting\n",
                "private__counting": "",
            },
            "store.store, line 3: imports private.counting",
        ),
        (
            {"private__engine": "from search_insights.classifier.train.pool import f\n", "classifier__train__pool": ""},
            "private.engine, line 1: imports classifier.train.pool",
        ),
        (
            {"dashboards__site": "from search_insights.dataset import folder, tables\n"}
            | {"dataset__folder": "", "dataset__tables": ""},
            "dashboards.site, line 1: imports dataset.tables",
        ),
        (
            {"commands__check": "import search_insights.private.log\n", "private__log": ""},
            "commands.check, line 1: imports private.log",
        ),
        (
            {"dp__noise": "from search_insights.commands.options import OPTIONS\n", "commands__options": ""},
            "dp.noise, line 1: imports commands.options",
        ),
        ({"dp__noise": "from . import accounting\n"}, "dp.noise, line 1: imports (relative)"),
        ({"annexe__room": "import search_insights.spec\n", "spec__spec": ""}, "annexe.room, line 1: imports spec"),
    ],
)
def test_an_import_that_breaks_a_rule_is_found(tmp_path: Path, modules: dict[str, str], broken: str) -> None:
    """However it is written: inside a function, for type checkers only, of a whole module, or relative."""
    assert violations(little_house(tmp_path, **modules)) == [broken]


def test_a_circle_is_found(tmp_path: Path) -> None:
    """Two packages that import each other are reported, although each import might seem harmless."""
    house = little_house(
        tmp_path,
        store__store="from search_insights.trends.derive import derive\n",
        trends__derive="from search_insights.store.store import Store\n",
    )
    assert set(cycle(house)) == {"store", "trends"}


def test_the_rules_have_no_circle_and_no_unknown_package() -> None:
    """The table itself flows one way, and names packages that exist."""
    for room, allowed in RULES.items():
        for part in (room, *allowed):
            path = SOURCE.joinpath(*part.split("."))
            assert path.is_dir() or path.with_suffix(".py").is_file(), part
            assert room not in RULES.get(part, ()) or room == part or part in CLOSED


def test_the_docs_show_the_same_rules() -> None:
    """The table of packages in docs/architecture.md allows what the rules allow, package by package."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("## The packages")[1].split("##")[0]
    shown = {
        dotted(room): {dotted(part) for part in re.findall(r"`([a-z_/.]+)`", cell)}
        for room, cell in ROW.findall(text)
        if dotted(room) not in ENTRANCES
    }
    assert shown == {room: set(allowed) for room, allowed in RULES.items()}


def test_the_folder_shows_the_architecture_at_a_glance() -> None:
    """At most 23 entries at the top of the package, each with a rule or an entrance of the program."""
    entries = {path.stem for path in SOURCE.iterdir() if path.name != "__pycache__"} - {"py"}
    assert len(entries) < 23  # and py.typed
    assert entries == {room for room in RULES if "." not in room} | set(ENTRANCES)


def test_every_package_says_what_it_is_for() -> None:
    """`__init__.py` of each package opens with its role."""
    packages = [path.parent for path in SOURCE.rglob("__init__.py")]
    silent = [p.name for p in packages if not ast.get_docstring(ast.parse((p / "__init__.py").read_text("utf-8")))]
    assert silent == []


def test_the_library_knows_no_command_line() -> None:
    """Options are named in `commands/` alone; elsewhere a message names the parameter, which the command translates."""
    named = []
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] not in ENTRANCES:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            texts = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
            named += [f"{path.name}, line {n.lineno}" for n in texts if re.search(r"(?<![\w-])--[a-z]", str(n.value))]
    assert named == []


def test_tests_do_not_depend_on_evidence_or_tools() -> None:
    """evidence/ may use tests/lab and tests/support; nothing points the other way."""
    wrong = re.compile(r"^\s*(?:from|import) (?:evidence|tools)\b", re.MULTILINE)
    pages = [*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    assert [str(page.relative_to(ROOT)) for page in pages if wrong.search(page.read_text(encoding="utf-8"))] == []
