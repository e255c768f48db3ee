"""What may import what: the rules of docs/architecture.md, and how the source is checked against them."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = "search_insights"

# What every module may import.
EVERYWHERE = ("errors", "support")

# The rest, by package, or by a part of one that has rules of its own. A rule may name a package or a module of one.
RULES: dict[str, tuple[str, ...]] = {
    "errors": (),
    "support": (),
    "spec": (),
    "classifier": ("spec",),
    "classifier.train": ("classifier", "spec", "simulation"),
    "private": ("spec", "classifier"),
    "dp": ("spec",),
    "store": ("spec",),
    "trends": ("spec", "store"),
    "dataset": ("spec", "dp", "store", "trends"),
    "dashboards": ("spec", "dataset.folder", "dataset.pages", "dataset.several"),
    "analysis": ("dataset.fetching", "dataset.folder", "dataset.loading"),
    "simulation": ("spec",),
    "evaluation": ("spec", "private", "store", "trends", "simulation"),
    "calibration": ("spec", "dp", "store", "trends", "simulation"),
    "audit": ("spec", "dp", "private", "store", "anonymization"),
    "us": ("spec",),
    "checking": ("spec", "private", "store", "anonymization"),
    "anonymization": ("spec", "classifier", "private", "dp", "store", "dataset.folder"),
    "routine": ("spec", "classifier", "store", "trends", "dataset", "dashboards", "anonymization", "checking"),
}

# They start the program, and may import anything on this side of the wall.
ENTRANCES = ("__init__", "__main__", "commands")

# Parts of a package that only the part itself and the entrances may import.
CLOSED = ("classifier.train",)

# What no entrance may import: it goes through the bridge, `anonymization`.
WALLED = "private"


@dataclass(frozen=True)
class Import:
    """One import: the module that stands in the source, and the module of the program that it imports."""

    by: str
    of: str
    line: int


def imports_of(root: Path) -> list[Import]:
    """Find every import of the program's own modules, also those inside functions and for type checkers only."""
    found: list[Import] = []
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        by = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found += [Import(by, of, node.lineno) for of in _modules(node, root)]  # type: ignore[attr-defined]
    return found


def _modules(node: ast.AST, root: Path) -> Iterator[str]:
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        # `from package import module` imports the module; `from module import name` does not.
        whole = [f"{node.module}.{alias.name}" for alias in node.names]
        names = [name if _is_module(name, root) else node.module for name in whole]
    elif isinstance(node, ast.ImportFrom) and node.level:
        names = [f"{PACKAGE}.(relative)"]  # would hide what is imported
    yield from dict.fromkeys(n.removeprefix(f"{PACKAGE}.") for n in names if n.startswith(f"{PACKAGE}."))


def _is_module(name: str, root: Path) -> bool:
    path = root.joinpath(*name.split(".")[1:])
    return name.startswith(f"{PACKAGE}.") and (path.with_suffix(".py").is_file() or path.is_dir())


def room_of(module: str) -> str:
    """Return the package that a module belongs to, or the part of one that has rules of its own."""
    closed = next((part for part in CLOSED if _within(module, part)), None)
    return closed or module.partition(".")[0]


def _within(module: str, part: str) -> bool:
    return module == part or module.startswith(f"{part}.")


def violations(root: Path) -> list[str]:
    """List the imports that break a rule, one line each."""
    return [
        f"{found.by}, line {found.line}: imports {found.of}" for found in imports_of(root) if not _is_allowed(found)
    ]


def _is_allowed(found: Import) -> bool:
    room = room_of(found.by)
    if room == room_of(found.of):
        return True
    if room in ENTRANCES:
        return not _within(found.of, WALLED)
    if room not in RULES or found.of.partition(".")[0] in ENTRANCES:
        return False
    closed = any(_within(found.of, part) for part in CLOSED)
    return not closed and any(_within(found.of, part) for part in (*RULES[room], *EVERYWHERE))


def cycle(root: Path) -> list[str]:
    """Return a cycle between packages; empty if there is none."""
    graph: dict[str, set[str]] = {}
    for found in imports_of(root):
        by, of = (module.partition(".")[0] for module in (found.by, found.of))
        if by != of and by not in ENTRANCES:
            graph.setdefault(by, set()).add(of)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
