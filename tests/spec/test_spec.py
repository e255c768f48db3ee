"""Promises about specs: the packaged one is the paper, a wrong one is refused by name, any other one works."""

import dataclasses
import re
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.errors import InputError, SpecError
from search_insights.spec.spec import Promise, Sigma, SizeClass, Spec
from search_insights.spec.spec_file import DEFAULT_SPEC, load_spec, parse_spec
from tests.support.other_country import other_spec, other_spec_file, plain_spec, specs

PACKAGED = (resources.files("search_insights.spec") / "packaged" / f"{DEFAULT_SPEC}.toml").read_text(encoding="utf-8")

# Table 3 of the paper: size class, level, then the standard deviation of A0 and that of A1, A2 and A3.
STANDARD_DEVIATIONS = [
    ("large", "postal_code", 35.0, 3.25),
    ("large", "county", 180.0, 20.0),
    ("medium", "postal_code", 40.0, 3.5),
    ("medium", "county", 100.0, 8.0),
    ("small", "county", 28.0, 3.21),
    (None, "state", 450.0, 35.0),
]


def edited(old: str, new: str) -> str:
    """Change the packaged spec in one place."""
    assert PACKAGED.count(old) == 1, f"{old!r} stands {PACKAGED.count(old)} times in the packaged spec"
    return PACKAGED.replace(old, new)


# The packaged spec is the paper


@pytest.mark.parametrize(("size_class", "level", "any_search", "topic"), STANDARD_DEVIATIONS)
def test_every_standard_deviation_is_the_papers(
    paper: Spec, size_class: str | None, level: str, any_search: float, topic: float
) -> None:
    """Section 3.2: the noise of each level and size class, A0 apart from A1, A2 and A3."""
    of_group = {category: paper.sigma(level, size_class, category) for category in ("A0", "A1", "A2", "A3")}
    assert of_group == {"A0": any_search, "A1": topic, "A2": topic, "A3": topic}


def test_there_is_no_standard_deviation_that_the_paper_does_not_give(paper: Spec) -> None:
    """Section 3.2 lists 6 groups of 4 categories, none of them a small postal code (X3)."""
    groups = {(size_class, level) for size_class, level, *_ in STANDARD_DEVIATIONS}
    assert {(s.size_class, s.level) for s in paper.sigmas} == groups
    assert len(paper.sigmas) == 24


PAPER_NUMBERS: dict[str, Any] = {
    "promise.epsilon": 2.19,
    "promise.delta": 1e-5,
    "min_area_km2": 3.0,
    "reliability.confidence": 0.80,
    "reliability.max_relative_error": 0.15,
    "sparsity.max_points": 3,
    "sparsity.first_week": date(2021, 1, 4),
    "sparsity.last_week": date(2021, 5, 31),
    "scaling.trend": "C3",
    "scaling.maximum": 100.0,
    "time_zone": "America/Los_Angeles",
    "first_day_of_week": "monday",
    "class_level": "county",
    "class_names": ("small", "medium", "large"),
    "level_names": ("state", "county", "postal_code"),
    "total.level": "country",
    "total.sum_of": "state",
    "any_category": "A0",
    "topics": ("A1", "A2", "A3"),
    "open_levels": ("state",),
    "classed_levels": ("county", "postal_code"),
}


@pytest.mark.parametrize(("path", "value"), PAPER_NUMBERS.items())
def test_every_other_number_is_the_papers(paper: Spec, path: str, value: object) -> None:
    """The promise, the levels, the area, reliability, sparsity and scaling are those of Sections 2 to 4."""
    here: Any = paper
    for name in path.split("."):
        here = getattr(here, name)
    assert here == value


def test_the_categories_and_trends_are_the_papers(paper: Spec) -> None:
    """Section 2 names A0 to A3; Section 4 derives C1 = A1, C2 = A2, C3 = A1 + A2 + A3."""
    assert {c.id: c.name for c in paper.categories} == {
        "A0": "any",
        "A1": "vaccination_intent",
        "A2": "safety_side_effects",
        "A3": "other_vaccination",
    }
    assert {t.id: t.sum_of for t in paper.trends} == {"C1": ("A1",), "C2": ("A2",), "C3": ("A1", "A2", "A3")}


def test_the_published_columns_are_the_originals_in_their_order(paper: Spec) -> None:
    """Readers of the original dataset find the same columns in the same order."""
    assert [t.column for t in paper.trends] == [
        "sni_covid19_vaccination",
        "sni_vaccination_intent",
        "sni_safety_side_effects",
    ]


def test_only_small_postal_codes_are_unreported(paper: Spec) -> None:
    """X3 leaves out postal codes of small counties and nothing else."""
    assert {level.name: level.unreported_classes for level in paper.levels} == {
        "state": (),
        "county": (),
        "postal_code": ("small",),
    }


def test_the_window_of_sparsity_is_the_weeks_that_begin_in_january_to_may_2021(paper: Spec) -> None:
    """Section 4.3: 3 points or fewer out of these weeks is over 85 % missing."""
    window = paper.sparsity
    weeks = (window.last_week - window.first_week).days // 7 + 1
    assert weeks == 22
    assert 1 - window.max_points / weeks > 0.85


@pytest.mark.parametrize(
    ("population", "size_class"),
    [
        (0, "small"),
        (99_999, "small"),
        (100_000, "medium"),
        (500_000, "medium"),
        (500_001, "large"),
        (10_105_518, "large"),
    ],
)
def test_class_boundaries_are_the_papers(paper: Spec, population: int, size_class: str) -> None:
    """Section 2: small is fewer than 100,000, large is greater than 500,000, medium is what lies between."""
    assert paper.class_of(population) == size_class


# Value objects


def test_a_spec_cannot_be_changed(paper: Spec) -> None:
    """What was validated stays what it was."""
    for thing, field in ((paper, "name"), (paper.promise, "epsilon"), (paper.sigmas[0], "value")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, field, getattr(thing, field))


@pytest.mark.parametrize(
    ("make", "key"),
    [
        (lambda: Promise(0.0, 1e-5), "promise.epsilon"),
        (lambda: Promise(float("nan"), 1e-5), "promise.epsilon"),
        (lambda: Promise(float("inf"), 1e-5), "promise.epsilon"),
        (lambda: Promise(1.0, 0.0), "promise.delta"),
        (lambda: Promise(1.0, 1.0), "promise.delta"),
        (lambda: Sigma("state", None, "A0", float("inf")), "sigma.state.A0"),
        (lambda: Sigma("county", "small", "A1", -1.0), "sigma.county.small.A1"),
        (lambda: SizeClass("tiny", -1, 5), "size_classes.class 'tiny'"),
        (lambda: SizeClass("tiny", 6, 5), "size_classes.class 'tiny'"),
    ],
)
def test_a_wrong_value_object_cannot_be_made(make: Any, key: str) -> None:
    """Each value is checked where it is made, so that code is held to the same rules as files."""
    with pytest.raises(SpecError) as refused:
        make()
    assert refused.value.key == key


def test_classes_need_a_level_that_carries_them(paper: Spec) -> None:
    """Size classes of no level would bind nothing."""
    with pytest.raises(SpecError, match="key 'size_classes': expected a level that carries the classes"):
        dataclasses.replace(paper, class_level=None, levels=paper.levels[:2], total=paper.total)


def test_a_sigma_given_twice_is_refused(paper: Spec) -> None:
    """Two values for one noise would leave open which is drawn."""
    with pytest.raises(SpecError, match=r"key 'sigma': expected each .* only once"):
        dataclasses.replace(paper, sigmas=(*paper.sigmas, paper.sigmas[0]))


# The fingerprint


def shuffled_text() -> str:
    """Write the packaged spec in another form: no comments, other order of keys and tables, other spelling."""
    text = re.sub(r"[ ]*#.*", "", PACKAGED)
    head, *blocks = re.split(r"\n(?=\[)", text)
    lists = [b for b in blocks if b.startswith("[[")]
    tables = [b for b in blocks if not b.startswith("[[")]
    reordered = ["\n".join([b.split("\n")[0], *reversed(b.split("\n")[1:])]) for b in reversed(tables)]
    body = "\n".join(["\n".join(reversed(head.split("\n"))), *lists, *reordered])
    return body.replace("450.0", "45e1").replace("99_999", "99999").replace(" = ", "=").replace("180.0", "180")


def test_the_fingerprint_does_not_depend_on_form(paper: Spec) -> None:
    """Comments, order of keys, spacing and the spelling of numbers are not part of a release."""
    assert shuffled_text().splitlines() != PACKAGED.splitlines()
    other_form = parse_spec(shuffled_text(), "elsewhere")
    assert other_form.fingerprint == paper.fingerprint
    assert re.fullmatch("[0-9a-f]{64}", paper.fingerprint)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "vaccination-v1"', 'name = "vaccination-v2"'),
        ('title = "COVID-19 Vaccination Search Insights"', 'title = "Insights"'),
        ('dataset = "vaccination_search_insights"', 'dataset = "insights"'),
        ("America/Los_Angeles", "America/New_York"),
        ("epsilon = 2.19", "epsilon = 2.2"),
        ("delta = 1e-5", "delta = 2e-5"),
        ('name = "other_vaccination"', 'name = "others"'),
        ('title = "Vaccination intent"', 'title = "Intent"'),
        ('sum_of = ["A1", "A2", "A3"]', 'sum_of = ["A1", "A2"]'),
        ('column = "sni_safety_side_effects"', 'column = "sni_safety"'),
        ('level = "country"', 'level = "land"'),
        ("max_population = 500_000\n", "max_population = 500_001\n#"),
        ("A0 = 450.0", "A0 = 450.00000000000006"),
        ("min_area_km2 = 3.0", "min_area_km2 = 2.9"),
        ("confidence = 0.80", "confidence = 0.81"),
        ("max_relative_error = 0.15", "max_relative_error = 0.16"),
        ("max_points = 3", "max_points = 4"),
        ("last_week = 2021-05-31", "last_week = 2021-06-07"),
        ('trend = "C3"', 'trend = "C1"'),
        ("maximum = 100.0", "maximum = 10"),
    ],
)
def test_the_fingerprint_changes_with_any_value(paper: Spec, old: str, new: str) -> None:
    """A store must notice whenever the release is not the one that it was made for."""
    text = edited(old, new)
    if "500_001" in new:
        text = text.replace("min_population = 500_001", "min_population = 500_002")
    assert parse_spec(text).fingerprint != paper.fingerprint


def test_the_order_of_trends_is_part_of_the_release(paper: Spec) -> None:
    """The order of columns is what readers rely on."""
    turned = dataclasses.replace(paper, trends=tuple(reversed(paper.trends)))
    assert turned.fingerprint != paper.fingerprint


# A wrong spec is refused with the key, what was expected and what came

SIGMA_SMALL = "[sigma.county.small]\nA0 = 28.0\nA1 = 3.21\nA2 = 3.21\nA3 = 3.21\n"

WRONG: dict[str, tuple[str, str, str, str, str]] = {
    "unknown key": (
        'name = "vaccination-v1"', 'name = "v1"\ncolour = 1', "colour", "name, title, dataset", "an unknown key",
    ),
    "unknown nested key": (
        "delta = 1e-5",
        "delta = 1e-5\ngamma = 1",
        "promise.gamma",
        "one of epsilon, delta",
        "an unknown key",
    ),
    "unknown table": ("[reporting]", "[extra]\n[reporting]", "extra", "name, title, dataset", "an unknown key"),
    "unknown key in a list": (
        'id = "A1"',
        'id = "A1"\nweight = 2',
        "category[1].weight",
        "one of id, name",
        "an unknown key",
    ),
    "unknown key of a class": (
        "max_population = 99_999",
        "max_population = 99_999\nmean = 1",
        "size_classes.class[0].mean",
        "one of name, min_population, max_population",
        "an unknown key",
    ),
    "unknown key of reporting": (
        "min_area_km2 = 3.0",
        "min_area_km2 = 3.0\nmin_area = 3",
        "reporting.min_area",
        "one of min_area_km2",
        "an unknown key",
    ),
    "missing key": ('time_zone = "America/Los_Angeles"', "", "time_zone", "a value", "nothing"),
    "missing nested key": ("confidence = 0.80", "", "reliability.confidence", "a value", "nothing"),
    "missing table": ('[scaling]                                 # Section 4.4\ntrend = "C3"\nmaximum = 100.0',
                      "", "scaling", "a value", "nothing"),
    "number for text": ('name = "vaccination-v1"', "name = 1", "name", "text", "1"),
    "text for number": ("epsilon = 2.19", 'epsilon = "2.19"', "promise.epsilon", "a number", "'2.19'"),
    "bool for number": ("epsilon = 2.19", "epsilon = true", "promise.epsilon", "a number", "True"),
    "bool for whole number": ("max_points = 3", "max_points = true", "sparsity.max_points", "a whole number", "True"),
    "fraction for whole number": ("max_points = 3", "max_points = 3.0", "sparsity.max_points", "a whole number", "3.0"),
    "value for table": ("[promise]", "promise = 1\n[unused]", "promise", "a table", "1"),
    "table for list": ("[[category]]\nid = \"A0\"\nname = \"any\"\n\n[[category]]\nid = \"A1\"\n"
                       "name = \"vaccination_intent\"\n\n[[category]]\nid = \"A2\"\nname = \"safety_side_effects\"\n\n"
                       "[[category]]", "[category]", "category", "a list of tables, [[category]]", "a table"),
    "text for list": ('sum_of = ["A2"]', 'sum_of = "A2"', "trend[2].sum_of", "a list of texts", "'A2'"),
    "numbers in list": ('sum_of = ["A2"]', "sum_of = [2]", "trend[2].sum_of", "a list of texts", "a list"),
    "nan epsilon": ("epsilon = 2.19", "epsilon = nan", "promise.epsilon", "a number above 0", "nan"),
    "infinite epsilon": ("epsilon = 2.19", "epsilon = inf", "promise.epsilon", "a number above 0", "inf"),
    "endless epsilon": ("epsilon = 2.19", "epsilon = 1" + "0" * 400, "promise.epsilon", "a number above 0", "inf"),
    "zero epsilon": ("epsilon = 2.19", "epsilon = 0", "promise.epsilon", "a number above 0", "0.0"),
    "delta of one": ("delta = 1e-5", "delta = 1", "promise.delta", "a number between 0 and 1", "1.0"),
    "nan sigma": ("A0 = 450.0", "A0 = nan", "sigma.state.A0", "a number above 0", "nan"),
    "zero sigma": ("A0 = 450.0", "A0 = 0", "sigma.state.A0", "a number above 0", "0.0"),
    "negative sigma": ("A0 = 180.0", "A0 = -180.0", "sigma.county.large.A0", "a number above 0", "-180.0"),
    "sigma as text": ("A0 = 180.0", 'A0 = "180"', "sigma.county.large.A0", "a number", "'180'"),
    "missing sigma": ("A0 = 180.0", "", "sigma.county.large.A0", "a standard deviation", "nothing"),
    "missing sigmas of a class": (SIGMA_SMALL, "", "sigma.county.small.A0", "a standard deviation", "nothing"),
    "sigma of an unreported group": (
        "[sigma.postal_code.medium]",
        "[sigma.postal_code.small]\nA0 = 1.0\n[sigma.postal_code.medium]",
        "sigma.postal_code.small.A0",
        "no such key",
        "a value",
    ),
    "sigma of an unknown category": (
        "A0 = 450.0", "A0 = 450.0\nA9 = 1.0", "sigma.state.A9", "no such key", "a value",
    ),
    "sigma of an unknown level": (
        "[sigma.state]", "[sigma.city]\nA0 = 1.0\n[sigma.state]", "sigma.city.A0", "no such key", "a value",
    ),
    "sigma of a class of an open level": (
        "[sigma.state]", "[sigma.state.small]\nA0 = 1.0\n[sigma.state]",
        "sigma.state.small.A0", "no such key", "a value",
    ),
    "sigma without class": (
        SIGMA_SMALL, "[sigma.county]\nA0 = 28.0\n", "sigma.county.small.A0", "a standard deviation", "nothing",
    ),
    "unknown time zone": ("America/Los_Angeles", "Mars/Olympus", "time_zone", "an IANA time zone", "'Mars/Olympus'"),
    "time zone outside": ("America/Los_Angeles", "../../etc/passwd", "time_zone", "an IANA time", "'../../etc/passwd'"),
    "empty time zone": ("America/Los_Angeles", "", "time_zone", "an IANA time zone", "''"),
    "time zone folder": ("America/Los_Angeles", "America", "time_zone", "an IANA time zone", "'America'"),
    "unknown weekday": ('"monday"', '"Monday"', "first_day_of_week", "one of monday, tuesday", "'Monday'"),
    "overlap": (
        "min_population = 100_000", "min_population = 99_999",
        "size_classes.class 'medium'.min_population", "100000", "99999, which leaves overlap",
    ),
    "gap": (
        "min_population = 100_000", "min_population = 100_001",
        "size_classes.class 'medium'.min_population", "100000", "100001, which leaves a gap",
    ),
    "gap before the first": (
        "max_population = 99_999", "min_population = 1\nmax_population = 99_999",
        "size_classes.class 'small'.min_population", "0", "1, which leaves a gap",
    ),
    "limited last class": (
        "min_population = 500_001", "min_population = 500_001\nmax_population = 9_000_000",
        "size_classes.class 'large'.max_population", "no upper limit", "9000000",
    ),
    "unlimited class in the middle": (
        "max_population = 99_999", "",
        "size_classes.class 'small'.max_population", "an upper limit", "none",
    ),
    "class upside down": (
        "max_population = 500_000\n", "max_population = 5\n",
        "size_classes.class 'medium'", "max_population of at least min_population", "5",
    ),
    "no classes": (
        PACKAGED[PACKAGED.index("[[size_classes.class]]") : PACKAGED.index("# Section 3.2")], "class = []\n",
        "size_classes.class", "at least one", "0",
    ),
    "class twice": ('name = "large"', 'name = "small"', "size_classes.class", "each only once", "'small' twice"),
    "classes of an unknown level": (
        '[size_classes]\nlevel = "county"', '[size_classes]\nlevel = "cuonty"',
        "size_classes.level", "one of state, county, postal_code", "'cuonty'",
    ),
    "unknown unreported class": (
        'unreported_classes = ["small"]', 'unreported_classes = ["tiny"]',
        "level 'postal_code'.unreported_classes", "one of small, medium, large", "'tiny'",
    ),
    "unreported class twice": (
        'unreported_classes = ["small"]', 'unreported_classes = ["small", "small"]',
        "level 'postal_code'.unreported_classes", "each only once", "'small' twice",
    ),
    "unreported class of an open level": (
        'name = "state"', 'name = "state"\nunreported_classes = ["small"]',
        "level 'state'.unreported_classes", "none: this level has no size classes", "some",
    ),
    "trend of an unknown category": (
        'sum_of = ["A2"]', 'sum_of = ["A9"]', "trend 'C2'.sum_of", "one of A1, A2, A3", "'A9'",
    ),
    "trend of any search": ('sum_of = ["A2"]', 'sum_of = ["A0"]', "trend 'C2'.sum_of", "one of A1, A2, A3", "'A0'"),
    "trend of a category twice": (
        'sum_of = ["A2"]', 'sum_of = ["A2", "A2"]', "trend 'C2'.sum_of", "each only once", "'A2' twice",
    ),
    "trend of nothing": ('sum_of = ["A2"]', "sum_of = []", "trend 'C2'.sum_of", "at least one category", "none"),
    "category ids that differ in case": ('id = "A2"', 'id = "a1"', "category", "each only once", "'a1' twice"),
    "columns that differ in case": (
        'column = "sni_safety_side_effects"', 'column = "SNI_vaccination_intent"',
        "trend.column", "each only once", "'SNI_vaccination_intent' twice",
    ),
    "category id twice": ('id = "A2"', 'id = "A1"', "category", "each only once", "'A1' twice"),
    "category name that is an id": ('name = "any"', 'name = "A3"', "category", "each only once", "'A3' twice"),
    "trend id twice": ('id = "C2"', 'id = "C1"', "trend.id", "each only once", "'C1' twice"),
    "trend column twice": (
        'column = "sni_safety_side_effects"', 'column = "sni_vaccination_intent"',
        "trend.column", "each only once", "'sni_vaccination_intent' twice",
    ),
    "level twice": ('name = "county"', 'name = "state"', "level", "each only once", "'state' twice"),
    "total is a counted level": ('level = "country"', 'level = "county"', "level", "each only once", "'county' twice"),
    "total of a finer level": (
        'sum_of = "state"', 'sum_of = "county"', "total.sum_of", "the coarsest level, 'state'", "'county'",
    ),
    "scaling by an unknown trend": ('trend = "C3"', 'trend = "A3"', "scaling.trend", "one of C3, C1, C2", "'A3'"),
    "scaling to zero": ("maximum = 100.0", "maximum = 0", "scaling.maximum", "a number above 0", "0.0"),
    "negative area": ("min_area_km2 = 3.0", "min_area_km2 = -3", "reporting.min_area_km2", "0 or more", "-3.0"),
    "certain confidence": (
        "confidence = 0.80", "confidence = 80", "reliability.confidence", "a number between 0 and 1", "80.0",
    ),
    "no error allowed": (
        "max_relative_error = 0.15", "max_relative_error = 0", "reliability.max_relative_error", "above 0", "0.0",
    ),
    "negative points": ("max_points = 3", "max_points = -1", "sparsity.max_points", "0 or more", "-1"),
    "window off the week": (
        "first_week = 2021-01-04", "first_week = 2021-01-01",
        "sparsity.first_week", "a monday", "2021-01-01 (Friday)",
    ),
    "window that ends off the week": (
        "last_week = 2021-05-31", "last_week = 2021-05-30",
        "sparsity.last_week", "a monday", "2021-05-30 (Sunday)",
    ),
    "window reversed": (
        "last_week = 2021-05-31", "last_week = 2020-12-28",
        "sparsity.last_week", "a week not before first_week (2021-01-04)", "2020-12-28",
    ),
    "datetime for date": (
        "first_week = 2021-01-04", "first_week = 2021-01-04T00:00:00",
        "sparsity.first_week", "a date such as 2021-01-04", "2021-01-04 00:00:00",
    ),
    "text for date": (
        "first_week = 2021-01-04", 'first_week = "2021-01-04"',
        "sparsity.first_week", "a date such as 2021-01-04", "'2021-01-04'",
    ),
    "title of two lines": (
        'title = "COVID-19 Vaccination Search Insights"', 'title = "a\\nb"', "title", "text on one line", r"'a\nb'",
    ),
    "empty title": (
        'title = "COVID-19 Vaccination Search Insights"', 'title = " "', "title", "text on one line", "' '",
    ),
    "trend title with a control": (
        'title = "Vaccination intent"', 'title = "a\\u001bb"', "trend 'C1'.title", "text on one line", r"'a\x1bb'",
    ),
    "name that leaves the folder": ('name = "vaccination-v1"', 'name = "../x"', "name", "a word of letters", "'../x'"),
    "name with a space": ('name = "vaccination-v1"', 'name = "a b"', "name", "a word of letters", "'a b'"),
    "empty name": ('name = "vaccination-v1"', 'name = ""', "name", "a word of letters", "''"),
    "dataset with a slash": (
        'dataset = "vaccination_search_insights"', 'dataset = "a/b"', "dataset", "a word of letters", "'a/b'",
    ),
    "column of two lines": (
        'column = "sni_vaccination_intent"', 'column = "a\\nb"', "trend 'C1'.column", "a word", r"'a\nb'",
    ),
    "category with a quote": ('id = "A3"', "id = \"A'3\"", "category.id", "a word of letters", "\"A'3\""),
    "category name with markup": (
        'name = "other_vaccination"', 'name = "<b>"', "category.name", "a word of letters", "'<b>'",
    ),
    "level with a dot": ('name = "state"', 'name = "st.ate"', "level.name", "a word of letters", "'st.ate'"),
    "total with a blank": ('level = "country"', 'level = " country"', "total.level", "a word of letters", "' country'"),
    "class that is too long": (
        'name = "medium"', f'name = "{"m" * 65}"', "size_classes.class.name", "a word of letters", "m" * 65,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "key", "expected", "got"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_spec_is_refused_by_name(old: str, new: str, key: str, expected: str, got: str) -> None:
    """The message names the file, the key, what was expected and what came."""
    with pytest.raises(SpecError) as refused:
        parse_spec(edited(old, new), "release.toml")
    message = str(refused.value)
    assert message.startswith(f"release.toml: key {key!r}: expected ")
    before, _, after = message.removeprefix(f"release.toml: key {key!r}: expected ").partition(", got ")
    assert expected in before
    assert got in after
    assert "\n" not in message


def test_a_spec_needs_a_topic_besides_any() -> None:
    """Without a topic there is nothing to publish."""
    begin, end = PACKAGED.index('[[category]]\nid = "A1"'), PACKAGED.index("# Section 4: what")
    with pytest.raises(SpecError, match="key 'category': expected any search and at least one topic, got 1"):
        parse_spec(PACKAGED[:begin] + PACKAGED[end:])


@pytest.mark.parametrize("name", ["level", "trend"])
def test_a_spec_needs_levels_and_trends(name: str) -> None:
    """An empty list is no release."""
    begin = PACKAGED.index(f"[[{name}]]")
    end = PACKAGED.index('# Section 2, "Geo' if name == "trend" else "[total]")
    text = f"{name} = []\n" + PACKAGED[:begin] + PACKAGED[end:]
    if name == "level":
        text = text[: text.index("[sigma.state]")] + "[sigma]\n" + text[text.index("[reporting]") :]
    with pytest.raises(SpecError, match=f"key '{name}': expected at least one, got 0"):
        parse_spec(text)


# Files


@pytest.mark.parametrize(
    "text",
    ["name = ", "a = 1\na = 2", "[[[", "x = " + "1" * 5000, "x = " + "[" * 5000, "first = 2021-02-30"],
    ids=["no value", "key twice", "brackets", "endless number", "endless nesting", "no such day"],
)
def test_a_file_that_is_not_toml_is_refused(text: str) -> None:
    """What TOML itself cannot read is said to be that, on one line that names the file."""
    with pytest.raises(InputError, match=r"^release\.toml: not valid TOML: .+$"):
        parse_spec(text, "release.toml")


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    """TOML is UTF-8; a guess at another encoding could change a name."""
    path = tmp_path / "latin.toml"
    path.write_bytes("title = 'é'".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.toml: a spec is TOML in UTF-8"):
        load_spec(path)


def test_a_missing_file_is_refused_with_the_packaged_name_as_hint(tmp_path: Path) -> None:
    """The message says which file, why, and what could be given instead."""
    with pytest.raises(InputError, match=r"absent\.toml: cannot read the spec \(No such file.*'vaccination-v1'"):
        load_spec(tmp_path / "absent.toml")


def test_a_directory_is_refused(tmp_path: Path) -> None:
    """A folder is not a spec."""
    with pytest.raises(InputError, match=r"cannot read the spec \(Is a directory\)"):
        load_spec(tmp_path)


def test_a_copy_of_the_packaged_file_is_the_same_release(tmp_path: Path, paper: Spec) -> None:
    """A publisher begins with a copy, whatever line ends an editor gave it."""
    path = tmp_path / "copy.toml"
    path.write_bytes(PACKAGED.replace("\n", "\r\n").encode())
    assert load_spec(path) == paper


# Any other release


def test_the_other_country_has_its_own_levels_and_classes(tmp_path: Path) -> None:
    """Four levels with classes on the second: one open level, three classed ones, X3 on the last."""
    spec = load_spec(other_spec_file(tmp_path))
    assert spec == other_spec()
    assert spec.open_levels == ("province",)
    assert spec.classed_levels == ("canton", "commune", "parish")
    assert spec.reported_groups == (
        ("province", None),
        ("canton", "rural"),
        ("canton", "urban"),
        ("commune", "rural"),
        ("commune", "urban"),
        ("parish", "urban"),
    )


def test_a_spec_without_size_classes_has_open_levels_only() -> None:
    """Classes are optional: then X4 binds nothing."""
    spec = plain_spec()
    assert (spec.open_levels, spec.classed_levels, spec.class_names) == (("province", "commune"), (), ())
    assert spec.sigma("commune", None, "tea") == 8.0


@given(specs())
def test_every_reported_group_has_a_sigma_for_every_category(spec: Spec) -> None:
    """No cell is without noise, and no noise without a cell."""
    wanted = {(level, size_class, c.id) for level, size_class in spec.reported_groups for c in spec.categories}
    assert {(s.level, s.size_class, s.category) for s in spec.sigmas} == wanted
    assert all(spec.sigma(*group) > 0 for group in wanted)


@given(specs())
def test_levels_are_open_or_classed(spec: Spec) -> None:
    """Every level is one or the other: open above the level of the classes, classed from there on."""
    assert spec.open_levels + spec.classed_levels == spec.level_names
    assert spec.class_level == (spec.classed_levels[0] if spec.classed_levels else None)


@given(specs(), st.data())
def test_every_population_is_of_exactly_one_class(spec: Spec, data: st.DataObject) -> None:
    """`class_of` is total and agrees with the bounds, above all at the bounds themselves."""
    if not spec.size_classes:
        return
    edges = [c.min_population for c in spec.size_classes]
    near = st.sampled_from(edges).flatmap(lambda edge: st.integers(max(edge - 1, 0), edge + 1))
    population = data.draw(near | st.integers(0, 10**10))
    holding = [c for c in spec.size_classes if c.holds(population)]
    assert [c.name for c in holding] == [spec.class_of(population)]
    assert sum(edge <= population for edge in edges) == spec.class_names.index(holding[0].name) + 1


@given(specs())
def test_equal_specs_have_equal_fingerprints_and_others_do_not(spec: Spec) -> None:
    """The order in which sigmas are listed means nothing; one sigma changed by a hair means another release."""
    turned = dataclasses.replace(spec, sigmas=tuple(reversed(spec.sigmas)))
    assert turned.fingerprint == spec.fingerprint
    if spec.sigmas:
        first, *rest = spec.sigmas
        nudged = dataclasses.replace(first, value=first.value * 1.001)
        assert dataclasses.replace(spec, sigmas=(nudged, *rest)).fingerprint != spec.fingerprint
