"""Time zones, from one pinned source: the package `tzdata`, never the machine's own files.

A day's first and last instant depend on the zone's data. The machine's files may be of any age, and some of their names
(`localtime`, `posixrules`) mean whatever the machine is set to. With the package, all machines that have the same
version of it agree on every instant, and the ledger records which version it was.
"""

from functools import cache
from importlib import resources
from zoneinfo import ZoneInfo

_DATA = resources.files("tzdata") / "zoneinfo"

# IANA's zones of a fixed offset. The sign is the reverse of the usual: Etc/GMT+8 is 8 hours behind UTC.
_FIXED = {f"Etc/GMT{offset:+}" for offset in range(-14, 13) if offset} | {"UTC"}


@cache
def zone(name: str) -> ZoneInfo:
    """Return a time zone, by its canonical name."""
    if not is_zone(name):
        raise ValueError(f"{name}: expected {expected_zone(name)}")
    with _DATA.joinpath(*name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def is_zone(name: str) -> bool:
    """Return whether this is the canonical name of a time zone: one of a country, UTC, or one of a fixed offset."""
    return name in _FIXED or name in _names_of_countries()


def expected_zone(name: str) -> str:
    """Return what a message says was expected in place of a name: the canonical one, if it is an old name."""
    now = _names_by_old_name().get(name, "")
    return f"the canonical name {now}" if is_zone(now) else "an IANA time zone such as UTC or Europe/Dublin"


@cache
def zone_data_version() -> str:
    """Return the version of the zone data, such as 2026a."""
    with (_DATA / "tzdata.zi").open(encoding="utf-8") as file:
        return file.readline().removeprefix("# version").strip()


@cache
def _names_of_countries() -> frozenset[str]:
    """Return the names in IANA's table of the zones of each country."""
    rows = (_DATA / "zone.tab").read_text(encoding="utf-8").splitlines()
    return frozenset(row.split("\t")[2] for row in rows if not row.startswith("#"))


@cache
def _names_by_old_name() -> dict[str, str]:
    """Return what each link of IANA's own file links to: lines `L name old-name`."""
    lines = (_DATA / "tzdata.zi").read_text(encoding="utf-8").splitlines()
    links = (line.split() for line in lines if line.startswith("L "))
    return {old: now.replace("Etc/UTC", "UTC") for _, now, old in links} | {"Etc/UTC": "UTC"}
