"""Which files of tests run on which worker of pytest-xdist, and in which order."""

from pathlib import Path
from typing import Any

from xdist.scheduler import LoadFileScheduling

_ROOT = Path(__file__).parents[2]

# What takes longest begins first, so that no worker is left with it at the end. CPU seconds, roughly.
_LONG = {
    "site": 300,
    "spark": 220,
    "tests/test_kills.py": 50,
    "tests/audit/test_audit.py": 45,
    "tests/test_ten_years.py": 45,
    "tests/calibration/test_calibration.py": 45,
    "tests/commands/test_bad_input.py": 40,
    "tests/test_mutants.py": 40,
    "tests/test_faults.py": 30,
    "tests/private/test_classified_log.py": 25,
    "tests/test_examples.py": 25,
    "tests/test_instants.py": 20,
    "tests/store/test_older_copy.py": 20,
    "tests/test_project.py": 20,
}


def files_with_spark() -> set[str]:
    """Return the files of tests that need Spark."""
    files = (_ROOT / "tests").rglob("test_*.py")
    return {file.relative_to(_ROOT).as_posix() for file in files if "SparkSession" in file.read_text(encoding="utf-8")}


def files_with_site() -> set[str]:
    """Return the files of tests that need the site of the United States, which takes long to make."""
    files = (_ROOT / "tests" / "dashboards").glob("test_*.py")
    names = ("us_site", "us_data", "site_address", "open_page")
    return {
        file.relative_to(_ROOT).as_posix()
        for file in files
        if any(name in file.read_text(encoding="utf-8") for name in names)
    }


class Schedule(LoadFileScheduling):  # type: ignore[misc]
    """A file's tests run on one worker; those with Spark all on one, and those with the site all on one.

    A Spark is slow to start and to warm up, and the site is slow to make: each worker would do it again.
    """

    def __init__(self, config: Any, log: Any = None) -> None:
        super().__init__(config, log)
        self._shared = dict.fromkeys(files_with_spark(), "spark") | dict.fromkeys(files_with_site(), "site")

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", 1)[0]
        return self._shared.get(file, file)

    def _assign_work_unit(self, node: Any) -> None:
        longest = max(self.workqueue, key=lambda scope: _LONG.get(scope, 0))
        self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)
