"""The package is complete, dependencies are pinned, and code, tests and README keep the project's rules."""

import ast
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from search_insights.commands.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "search_insights"
TESTS = ROOT / "tests"
MODULES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES = 400


def name_of(module: Path) -> str:
    return module.relative_to(PACKAGE).as_posix()


def pip(*arguments: str | Path) -> None:
    """Run pip without the network."""
    environment = os.environ | {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run([sys.executable, "-m", "pip", "--quiet", *arguments], check=True, env=environment, cwd=ROOT)


# The built package


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that users install."""
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ".")
    [built] = folder.glob("*.whl")
    return built


def test_the_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    """The wheel has the code, specs, data and SQL, byte for byte."""
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {path.suffix for path in files} >= {".py", ".toml", ".parquet"}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist() if name.startswith("search_insights/")}
    assert packed == {path.relative_to(PACKAGE.parent).as_posix(): path.read_bytes() for path in files}


def test_the_wheel_says_that_it_is_typed(wheel: Path) -> None:
    """The wheel has the marker file by which type checkers find the types."""
    with zipfile.ZipFile(wheel) as archive:
        assert "search_insights/py.typed" in archive.namelist()


def test_the_wheel_works_where_it_is_installed(wheel: Path, tmp_path: Path) -> None:
    """An installed copy loads its default spec and geography without the repository."""
    site = tmp_path / "site"
    pip("install", "--no-deps", "--target", site, wheel)
    code = (
        "import search_insights, search_insights.spec.spec_file as s, search_insights.spec.geography as g\n"
        "print(search_insights.__file__)\nprint(s.load_spec().name)\nprint(len(g.load_geography().regions) > 30_000)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(site)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.splitlines() == [str(site / "search_insights" / "__init__.py"), "vaccination-v1", "True"]


# The dependencies


@pytest.mark.parametrize("name", ["core.txt", "dev.txt"])
def test_every_dependency_is_pinned_by_hash(name: str) -> None:
    """Every requirement has an exact version and the SHA-256 of its files."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    wanted = [part for part in text.replace("\\\n", " ").splitlines() if part and not part.lstrip().startswith("#")]
    assert len(wanted) > 10
    assert [line for line in wanted if "==" not in line or "--hash=sha256:" not in line] == []


# The code


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_no_check_is_an_assert(module: Path) -> None:
    """`python -O` removes asserts, so the program does not use them."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)] == []


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_every_module_says_what_it_is_for(module: Path) -> None:
    """Every module begins with a docstring."""
    assert ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_no_module_is_too_long(module: Path) -> None:
    """A module has at most 400 lines."""
    assert len(module.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


# The tests


def test_no_test_module_imports_another() -> None:
    """What test modules share is in tests/support, tests/lab or a conftest.py."""
    importing = re.compile(r"^\s*(?:from|import)\s+[\w.]*\b(?:test_\w+|conftest)\b", re.MULTILINE)
    modules = sorted(TESTS.rglob("*.py"))
    assert [path for path in modules if importing.search(path.read_text(encoding="utf-8"))] == []


def test_no_test_module_is_too_long() -> None:
    """A test module has at most 400 lines."""
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in TESTS.rglob("*.py")}
    assert {path: number for path, number in lines.items() if number > MOST_LINES} == {}


def test_every_test_states_its_rule() -> None:
    """Every test function has a docstring."""
    assert [
        f"{path.name}: {node.name}"
        for path in sorted(TESTS.rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not ast.get_docstring(node)
    ] == []


# The README


@pytest.mark.parametrize("command", COMMANDS)
def test_the_readme_mentions_every_command(command: str) -> None:
    """Every command is named in the README."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"search-insights {re.escape(command)}\b|`{re.escape(command)}\b", readme)
