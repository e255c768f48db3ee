"""What all parts of the evidence share: how a result is printed, and small helpers for measuring."""

import argparse
import json
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from search_insights.commands.console import out_json
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "evidence" / "results"
PROGRAM = str(Path(sysconfig.get_path("scripts")) / "search-insights")


@dataclass(frozen=True)
class Result:
    """What a part found.

    `showed` is one sentence with the key numbers, `numbers` is all of them, `details` are lines of Markdown for the
    report, and `broken` lists what did not hold.
    """

    showed: str
    numbers: Any
    details: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


def print_result(result: Result) -> int:
    """Print a result as JSON and return the exit code: 1 if anything is broken."""
    out_json(asdict(result))
    return int(bool(result.broken))


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    """Make a parser whose help is the module's docstring."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def read_record(name: str) -> Any:
    """Read a record of evidence/results."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Write a record, and make its folder if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def united_states() -> Coverage:
    """Load the packaged spec and geography."""
    return Coverage(load_spec(), load_geography())


def least_cpu(work: Callable[[], object], times: int) -> float:
    """Return the least CPU seconds of this thread over several runs, because other work only ever adds time."""
    seconds = []
    for _ in range(times):
        begin = time.thread_time()
        work()
        seconds.append(time.thread_time() - begin)
    return min(seconds)


def in_own_process(function: Callable[..., Any], *arguments: Path) -> Any:
    """Call a function of a module in a fresh process, so that no measurement inherits the memory of another."""
    code = (
        "import importlib, json, pathlib, sys\n"
        f"function = importlib.import_module({_module_of(function)!r}).{function.__name__}\n"
        "print(json.dumps(function(*map(pathlib.Path, sys.argv[1:]))))"
    )
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout)


def _module_of(function: Callable[..., Any]) -> str:
    """Return the name to import a function's module by, also if that module is the one being run."""
    if function.__module__ != "__main__":
        return function.__module__
    return Path(function.__code__.co_filename).resolve().relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
