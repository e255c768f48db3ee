"""The packaged spec is that of the paper, specs are checked and frozen, and any other release works."""

import dataclasses
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.errors import SpecError
from search_insights.spec.size_classes import SizeClass
from search_insights.spec.spec import Promise, Sigma, Spec
from search_insights.spec.spec_file import load_spec, parse_spec
from tests.support.other_country import other_spec, other_spec_file, plain_spec, specs
from tests.support.packaged_spec import PACKAGED, edited

# Table 3 of the paper: size class, level, then the standard deviation of A0 and that of A1, A2 and A3.
STANDARD_DEVIATIONS = [
    ("large", "postal_code", 35.0, 3.25),
    ("large", "county", 180.0, 20.0),
    ("medium", "postal_code", 40.0, 3.5),
    ("medium", "county", 100.0, 8.0),
    ("small", "county", 28.0, 3.21),
    (None, "state", 450.0, 35.0),
]


# The packaged spec is the paper's


@pytest.mark.parametrize(("size_class", "level", "any_search", "topic"), STANDARD_DEVIATIONS)
def test_every_standard_deviation_is_the_papers(
    paper: Spec, size_class: str | None, level: str, any_search: float, topic: float
) -> None:
    """Section 3.2 gives the noise of each level and size class, for A0 and for A1, A2 and A3."""
    of_group = {category: paper.sigma(level, size_class, category) for category in ("A0", "A1", "A2", "A3")}
    assert of_group == {"A0": any_search, "A1": topic, "A2": topic, "A3": topic}


def test_there_is_no_standard_deviation_that_the_paper_does_not_give(paper: Spec) -> None:
    """Section 3.2 lists 6 groups of 4 categories, without postal codes of small counties (X3)."""
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
    """The dataset has the original's columns in the original's order."""
    assert [t.column for t in paper.trends] == [
        "sni_covid19_vaccination",
        "sni_vaccination_intent",
        "sni_safety_side_effects",
    ]


def test_only_small_postal_codes_are_unreported(paper: Spec) -> None:
    """X3 excludes postal codes of small counties and nothing else."""
    assert {level.name: level.unreported_classes for level in paper.levels} == {
        "state": (),
        "county": (),
        "postal_code": ("small",),
    }


def test_the_sparsity_window_is_the_weeks_from_january_to_may_2021(paper: Spec) -> None:
    """Section 4.3: a region with at most 3 points in these weeks has more than 85 % missing."""
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
    """Section 2: small is fewer than 100,000, large is more than 500,000, medium is between."""
    assert paper.class_of(population) == size_class


# Value objects


def test_a_spec_cannot_be_changed(paper: Spec) -> None:
    """A spec and its parts are frozen."""
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
    """Each value is checked when it is made, so the rules hold for specs made in code as well as in files."""
    with pytest.raises(SpecError) as refused:
        make()
    assert refused.value.key == key


def test_size_classes_need_a_level(paper: Spec) -> None:
    """Size classes without a level that they belong to are refused."""
    with pytest.raises(SpecError, match="key 'size_classes': expected a level that carries the classes"):
        dataclasses.replace(paper, class_level=None, levels=paper.levels[:2], total=paper.total)


def test_a_sigma_given_twice_is_refused(paper: Spec) -> None:
    """Each level, class and category has one sigma."""
    with pytest.raises(SpecError, match=r"key 'sigma': expected each .* only once"):
        dataclasses.replace(paper, sigmas=(*paper.sigmas, paper.sigmas[0]))


# The fingerprint


def shuffled_text() -> str:
    """Return the packaged spec in another form: no comments, other order of keys and tables, other spelling."""
    text = re.sub(r"[ ]*#.*", "", PACKAGED)
    head, *blocks = re.split(r"\n(?=\[)", text)
    lists = [b for b in blocks if b.startswith("[[")]
    tables = [b for b in blocks if not b.startswith("[[")]
    reordered = ["\n".join([b.split("\n")[0], *reversed(b.split("\n")[1:])]) for b in reversed(tables)]
    body = "\n".join(["\n".join(reversed(head.split("\n"))), *lists, *reordered])
    return body.replace("450.0", "45e1").replace("99_999", "99999").replace(" = ", "=").replace("180.0", "180")


def test_the_fingerprint_does_not_depend_on_form(paper: Spec) -> None:
    """Comments, the order of keys, spaces and the spelling of numbers do not change the fingerprint."""
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
    """Any other value gives another fingerprint, so that a store notices another release."""
    text = edited(old, new)
    if "500_001" in new:
        text = text.replace("min_population = 500_001", "min_population = 500_002")
    assert parse_spec(text).fingerprint != paper.fingerprint


def test_the_order_of_trends_is_part_of_the_release(paper: Spec) -> None:
    """The order of trends is the order of columns, so it changes the fingerprint."""
    turned = dataclasses.replace(paper, trends=tuple(reversed(paper.trends)))
    assert turned.fingerprint != paper.fingerprint


# Any other release


def test_the_other_country_has_its_own_levels_and_classes(tmp_path: Path) -> None:
    """With classes on the second of four levels, one level is open, three are classed, and X3 holds for the last."""
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
    """Size classes are optional; without them no level is bound by X4."""
    spec = plain_spec()
    assert (spec.open_levels, spec.classed_levels, spec.class_names) == (("province", "commune"), (), ())
    assert spec.sigma("commune", None, "tea") == 8.0


@given(specs())
def test_every_reported_group_has_a_sigma_for_every_category(spec: Spec) -> None:
    """Every reported group and category has one sigma, and there are no other sigmas."""
    wanted = {(level, size_class, c.id) for level, size_class in spec.reported_groups for c in spec.categories}
    assert {(s.level, s.size_class, s.category) for s in spec.sigmas} == wanted
    assert all(spec.sigma(*group) > 0 for group in wanted)


@given(specs())
def test_levels_are_open_or_classed(spec: Spec) -> None:
    """Levels above the level of the size classes are open; that level and those below are classed."""
    assert spec.open_levels + spec.classed_levels == spec.level_names
    assert spec.class_level == (spec.classed_levels[0] if spec.classed_levels else None)


@given(specs(), st.data())
def test_every_population_is_of_exactly_one_class(spec: Spec, data: st.DataObject) -> None:
    """`class_of` gives every population the one class whose bounds contain it, also at the bounds."""
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
    """The order of the sigmas does not change the fingerprint; any change of one sigma does."""
    turned = dataclasses.replace(spec, sigmas=tuple(reversed(spec.sigmas)))
    assert turned.fingerprint == spec.fingerprint
    if spec.sigmas:
        first, *rest = spec.sigmas
        nudged = dataclasses.replace(first, value=first.value * 1.001)
        assert dataclasses.replace(spec, sigmas=(nudged, *rest)).fingerprint != spec.fingerprint
