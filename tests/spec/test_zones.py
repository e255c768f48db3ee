"""Time zones: canonical names only, and the same instants on every machine."""

import subprocess
import sys
from dataclasses import replace
from datetime import date, datetime
from importlib import resources
from pathlib import Path
from zoneinfo import available_timezones

import pytest

from search_insights.errors import SpecError
from search_insights.spec.spec_file import load_spec
from search_insights.spec.zones import expected_zone, is_zone, zone, zone_data_version

MACHINES = [
    "localtime",
    "posixrules",
    "Factory",
    "right/UTC",
    "posix/UTC",
    "leapseconds",
    "tzdata.zi",
    "",
    ".",
    "../UTC",
]


@pytest.mark.parametrize("name", MACHINES)
def test_a_spec_cannot_take_its_days_from_the_machine(name: str) -> None:
    """Names that mean what a machine is set to, or are no zones, are refused with the key and an example."""
    with pytest.raises(SpecError, match=r"'time_zone': expected an IANA time zone such as UTC or Europe/Dublin"):
        replace(load_spec(), time_zone=name)


@pytest.mark.parametrize(
    ("old", "now"),
    [("US/Pacific", "America/Los_Angeles"), ("Asia/Calcutta", "Asia/Kolkata"), ("Etc/UTC", "UTC"), ("Zulu", "UTC")],
)
def test_an_old_name_is_refused_with_the_canonical_one(old: str, now: str) -> None:
    """Two names of one zone would look like a change of zone; some machines do not have the old names."""
    assert not is_zone(old)
    assert expected_zone(old) == f"the canonical name {now}"


def test_every_canonical_zone_can_be_read() -> None:
    """Each is in the package, and gives an offset."""
    names = [name for name in available_timezones() if is_zone(name)]
    assert len(names) > 400
    assert all(datetime(2021, 1, 4, tzinfo=zone(name)).utcoffset() is not None for name in names)


def test_the_machines_own_zone_files_are_not_used(tmp_path: Path) -> None:
    """A machine whose files say that Dublin is Tokyo counts the same days."""
    (tmp_path / "Europe").mkdir()
    program = (
        "from datetime import date; from search_insights.spec.weeks import Week;"
        "print(Week(date(2021, 1, 4), 'Europe/Dublin').begin)"
    )
    tokyo = resources.files("tzdata") / "zoneinfo" / "Asia" / "Tokyo"
    (tmp_path / "Europe" / "Dublin").write_bytes(tokyo.read_bytes())
    for settings in ({}, {"PYTHONTZPATH": str(tmp_path), "TZ": "Asia/Tokyo", "TZDIR": str(tmp_path)}):
        done = subprocess.run([sys.executable, "-c", program], env=settings, capture_output=True, text=True, check=True)
        assert done.stdout == "2021-01-04 00:00:00+00:00\n"


def test_the_version_of_the_zone_data_is_known() -> None:
    """It is a year and a letter, as IANA counts."""
    version = zone_data_version()
    assert date(int(version[:4]), 1, 1) >= date(2025, 1, 1)
    assert version[4:].isalpha()
