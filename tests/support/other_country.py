"""A release that shares nothing with the packaged one, and helpers to write specs and geographies for tests.

Qazaria has four counted levels, two size classes on the second of them, other topics, a time zone 5:45 ahead of UTC and
weeks that begin on Sunday. Some of its names would harm a careless program or page.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import duckdb
from hypothesis import strategies as st

from search_insights.spec.publication_rules import Reliability, Scaling, Sparsity
from search_insights.spec.size_classes import SizeClass
from search_insights.spec.spec import (
    WEEKDAYS,
    Category,
    Level,
    Promise,
    Sigma,
    Spec,
    Total,
    Trend,
)
from search_insights.spec.spec_file import parse_spec

Value = str | float | None
Row = tuple[Value, ...]

OTHER_SPEC = """
name = "heating-v2"
title = "What Qazaria asks about keeping warm"
dataset = "heating_search_trends"
time_zone = "Asia/Kathmandu"
first_day_of_week = "sunday"

[promise]
epsilon = 3.0
delta = 1e-6

[[category]]
id = "H0"
name = "everything"
[[category]]
id = "H1"
name = "heating"
[[category]]
id = "H2"
name = "firewood"
[[category]]
id = "H3"
name = "stove_repair"

[[trend]]
id = "wood"
name = "firewood"
title = "Firewood"
sum_of = ["H2"]
column = "index_firewood"
[[trend]]
id = "warmth"
name = "keeping_warm"
title = "Keeping warm"
sum_of = ["H1", "H3"]
column = "index_keeping_warm"

[[level]]
name = "province"
[[level]]
name = "canton"
[[level]]
name = "commune"
[[level]]
name = "parish"
unreported_classes = ["rural"]

[total]
level = "nation"
sum_of = "province"

[size_classes]
level = "canton"
[[size_classes.class]]
name = "rural"
max_population = 9_999
[[size_classes.class]]
name = "urban"
min_population = 10_000

[sigma]
province = { H0 = 60, H1 = 20, H2 = 20, H3 = 25 }
canton.rural = { H0 = 12, H1 = 4, H2 = 4, H3 = 4 }
canton.urban = { H0 = 40, H1 = 12, H2 = 12, H3 = 12 }
commune.rural = { H0 = 14, H1 = 4, H2 = 4, H3 = 4 }
commune.urban = { H0 = 20, H1 = 6, H2 = 6, H3 = 6 }
parish.urban = { H0 = 10, H1 = 3.3, H2 = 3.3, H3 = 3.3 }

[reporting]
min_area_km2 = 0.5

[reliability]
confidence = 0.9
max_relative_error = 0.25

[sparsity]
max_points = 1
first_week = 2023-10-01
last_week = 2023-12-31

[scaling]
trend = "warmth"
maximum = 1000
"""

# Two levels of the same country, no size classes, no minimum area; cantons lie between them and are not counted.
PLAIN_SPEC = """
name = "drinks"
title = "Tea and coffee"
dataset = "drinks"
time_zone = "UTC"
first_day_of_week = "saturday"
promise = { epsilon = 1.0, delta = 1e-7 }
category = [{ id = "any", name = "any" }, { id = "tea", name = "tea" }, { id = "coffee", name = "coffee" }]
level = [{ name = "province" }, { name = "commune" }]
total = { level = "nation", sum_of = "province" }
reporting = { min_area_km2 = 0 }
reliability = { confidence = 0.5, max_relative_error = 0.5 }
sparsity = { max_points = 0, first_week = 2024-01-06, last_week = 2024-01-06 }
scaling = { trend = "tea", maximum = 1 }

[[trend]]
id = "tea"
name = "tea"
title = "Tea"
sum_of = ["tea"]
column = "tea"

[sigma]
province = { any = 90, tea = 30, coffee = 30 }
commune = { any = 30, tea = 8, coffee = 8 }
"""

HEADER = ("code", "name", "level", "parent", "population", "land_area_km2", "latitude", "longitude", "place_id")

OTHER_REGIONS: tuple[Row, ...] = (
    ("QZ", "Qazaria", "nation", None, 130_000, 700.0, 28.0, 84.0, "qz"),
    ("01", 'North, "Upper" Province', "province", "qz", 35_000, 300.0, 28.5, 84.0, "qz/p/01"),
    ("02", "<b>Midland</b>", "province", "qz", None, 200.0, None, None, "qz/p/02"),
    ("03", "A1=SUM(A1)", "province", "qz", None, 200.0, 27.0, -84.25, "qz/p/03"),
    ("011", "नमस्ते नगर", "canton", "qz/p/01", 25_000, 150.0, None, None, "qz/c/011"),
    ("012", "O'Hara'; DROP TABLE regions; /*", "canton", "qz/p/01", 9_999, 150.0, None, None, "qz/c/012"),
    ("021", "東町", "canton", "qz/p/02", 10_000, 200.0, None, None, "qz/c/021"),
    ("031", "مدينة الشمال", "canton", "qz/p/03", 0, 120.0, None, None, "qz/c/031"),
    ("032", "Ω & Σ", "canton", "qz/p/03", 80_000, 80.0, None, None, "qz/c/032"),
    ("011", "नमस्ते", "commune", "qz/c/011", None, 100.0, None, None, "qz/m/011"),
    ("0112", "a\\b", "commune", "qz/c/011", None, 50.0, None, None, "qz/m/0112"),
    ("0121", "NULL", "commune", "qz/c/012", None, 100.0, None, None, "qz/m/0121"),
    ("0122", "100 %", "commune", "qz/c/012", None, 50.0, None, None, "qz/m/0122"),
    ("0211", "Least Area", "commune", "qz/c/021", None, 0.5, None, None, "qz/m/0211"),
    ("0311", "{{7*7}}", "commune", "qz/c/031", None, 60.0, None, None, "qz/m/0311"),
    ("0312", "${HOME}", "commune", "qz/c/031", None, 60.0, None, None, "qz/m/0312"),
    ("0321", "'Eua'", "commune", "qz/c/032", None, 80.0, None, None, "qz/m/0321"),
    ("p01", "me@cmd", "parish", "qz/m/011", None, 40.0, None, None, "qz/s/p01"),
    ("p02", "1-1+2", "parish", "qz/m/011", None, 60.0, None, None, "qz/s/p02"),
    ("p03", "Saint-Étienne", "parish", "qz/m/0112", 900, 25.0, None, None, "qz/s/p03"),
    ("p04", "saint-étienne", "parish", "qz/m/0112", 800, 25.0, None, None, "qz/s/p04"),
    ("p05", "Quiet", "parish", "qz/m/0121", None, 90.0, None, None, "qz/s/p05"),
    ("p06", "Quieter", "parish", "qz/m/0122", None, 45.0, None, None, "qz/s/p06"),
    ("p07", "Tiny", "parish", "qz/m/0211", None, 0.4999, None, None, "qz/s/p07"),
    ("p08", "Unmeasured", "parish", "qz/m/0211", None, None, None, None, "qz/s/p08"),
    ("p09", "#REF!", "parish", "qz/m/0311", None, 55.0, None, None, "qz/s/p09"),
    ("p10", "क्‍ष", "parish", "qz/m/0312", None, 55.0, None, None, "qz/s/p10"),
    ("p11", "Šiauliai", "parish", "qz/m/0321", None, 30.0, None, None, "qz/s/p11"),
    ("p12", "east of 東町", "parish", "qz/m/0321", None, 25.0, None, None, "qz/s/p12"),
    ("031", "shares a code", "parish", "qz/m/0321", None, 25.0, None, None, "qz/s/031"),
)


def other_spec() -> Spec:
    """Return the release of Qazaria: four levels, two size classes."""
    return parse_spec(OTHER_SPEC, "heating-v2")


def plain_spec() -> Spec:
    """Return another release of Qazaria: two levels, no size classes."""
    return parse_spec(PLAIN_SPEC, "drinks")


def audited_spec() -> Spec:
    """Return the plain release with a larger promise and less noise: what a user-day shows is found in fewer draws."""
    sigmas = {
        "province": {"any": 45.0, "tea": 15.0, "coffee": 15.0},
        "commune": {"any": 10.0, "tea": 2.5, "coffee": 2.5},
    }
    plain = plain_spec()
    return replace(
        plain,
        promise=replace(plain.promise, epsilon=3.0),
        sigmas=tuple(replace(sigma, value=sigmas[sigma.level][sigma.category]) for sigma in plain.sigmas),
    )


def other_spec_file(folder: Path) -> Path:
    """Write the spec of Qazaria as a file for commands."""
    path = folder / "heating-v2.toml"
    path.write_text(OTHER_SPEC, encoding="utf-8")
    return path


def other_geography(folder: Path) -> Path:
    """Write the regions of Qazaria as CSV."""
    return write_csv(folder / "qazaria.csv", OTHER_REGIONS)


def write_csv(path: Path, rows: Iterable[Sequence[Value]], header: Sequence[str] = HEADER) -> Path:
    """Write a table of regions as CSV, missing values empty."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    return path


def write_parquet(path: Path, rows: Iterable[Sequence[Value]]) -> Path:
    """Write a table of regions as Parquet, each column with its own type."""
    kinds = ("varchar",) * 4 + ("bigint",) + ("double",) * 3 + ("varchar",)
    with duckdb.connect() as connection:
        columns = ", ".join(f"{name} {kind}" for name, kind in zip(HEADER, kinds, strict=True))
        connection.execute(f"create table regions ({columns})")
        connection.executemany(f"insert into regions values ({', '.join('?' * len(HEADER))})", list(rows))
        connection.table("regions").write_parquet(str(path))
    return path


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    """Draw any valid spec: 1 to 4 levels, 0 to 4 size classes at any of them, any classes not reported."""
    levels = [f"level{i}" for i in range(draw(st.integers(1, 4)))]
    categories = tuple(Category(f"T{i}", f"topic{i}") for i in range(draw(st.integers(2, 5))))
    bounds = draw(st.none() | st.lists(st.integers(0, 10**8), max_size=3, unique=True).map(sorted))
    classes = () if bounds is None else _classes(bounds)
    class_level = draw(st.sampled_from(levels)) if classes else None
    counted = []
    for i, level in enumerate(levels):
        classed = class_level is not None and i >= levels.index(class_level)
        unreported = draw(st.lists(st.sampled_from([c.name for c in classes]), unique=True)) if classed else []
        counted.append(Level(level, tuple(unreported)))
    first_day = draw(st.sampled_from(WEEKDAYS))
    monday = date(2021, 1, 4) + timedelta(weeks=draw(st.integers(0, 300)))
    first_week = monday + timedelta(days=WEEKDAYS.index(first_day))
    topics = draw(st.lists(st.sampled_from([c.id for c in categories[1:]]), min_size=1, unique=True))
    return Spec(
        name=draw(st.sampled_from(["heating", "Allergies-2", "a"])),
        title=draw(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=20)),
        dataset="trends",
        time_zone=draw(st.sampled_from(["UTC", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati"])),
        first_day_of_week=first_day,
        promise=Promise(draw(st.floats(0.01, 20)), draw(st.floats(1e-10, 0.1))),
        categories=categories,
        trends=(Trend("t", "trend", "A trend", tuple(topics), "value"),),
        levels=tuple(counted),
        total=Total("whole", levels[0]),
        class_level=class_level,
        size_classes=classes,
        sigmas=tuple(
            Sigma(level.name, size_class, category.id, draw(st.floats(0.1, 1000)))
            for i, level in enumerate(counted)
            for size_class in _reported(level, i, levels, class_level, classes)
            for category in categories
        ),
        min_area_km2=draw(st.floats(0, 100)),
        reliability=Reliability(draw(st.floats(0.01, 0.99)), draw(st.floats(0.01, 2))),
        sparsity=Sparsity(draw(st.integers(0, 9)), first_week, first_week + timedelta(weeks=draw(st.integers(0, 60)))),
        scaling=Scaling(draw(st.floats(0.1, 1e6)), "t"),
    )


def _classes(bounds: list[int]) -> tuple[SizeClass, ...]:
    starts, ends = [0, *(b + 1 for b in bounds)], [*bounds, None]
    return tuple(SizeClass(f"size{i}", *ends_) for i, ends_ in enumerate(zip(starts, ends, strict=True)))


def _reported(
    level: Level, index: int, levels: list[str], class_level: str | None, classes: tuple[SizeClass, ...]
) -> list[str | None]:
    if class_level is None or index < levels.index(class_level):
        return [None]
    return [c.name for c in classes if c.name not in level.unreported_classes]
