"""A difference between two releases is words, derivation or counting; what is not known to be harmless is counting."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from search_insights.errors import GeographyError
from search_insights.spec.changes import (
    _kind_of_key,
    derived_coverage,
    derived_spec,
    differences,
    flat,
    keyed,
    kind_of,
)
from search_insights.spec.coverage import Coverage
from search_insights.spec.crosswalk import read_crosswalk
from search_insights.spec.geography import load_geography
from search_insights.spec.publication_rules import Reliability
from search_insights.spec.spec import Category, Sigma, Spec, Trend
from search_insights.spec.spec_file import load_spec
from tests.support.logs import LITTLE_REGIONS
from tests.support.other_country import write_csv

CHANGED = -2  # Placerville


def with_topic(spec: Spec) -> Spec:
    """Return a spec with one more topic, which the trend of all topics sums up too."""
    sigmas = tuple(replace(s, category="A4") for s in spec.sigmas if s.category == "A3")
    all_topics = spec.trends[0]
    wider = replace(all_topics, sum_of=(*all_topics.sum_of, "A4"))
    trends = (wider, *spec.trends[1:], Trend("C4", "new", "New", ("A4",), "sni_new"))
    weaker = tuple(Sigma(s.level, s.size_class, s.category, s.value * 1.2) for s in (*spec.sigmas, *sigmas))
    return replace(spec, categories=(*spec.categories, Category("A4", "new_topic")), trends=trends, sigmas=weaker)


def with_rows(coverage: Coverage, folder: Path, **changed: str) -> Coverage:
    """Return the release of the little country in which Placerville has other values."""
    names = ("code", "name", "level", "parent", "population", "land_area_km2", "latitude", "longitude", "place_id")
    rows = [list(row) for row in LITTLE_REGIONS]
    for column, value in changed.items():
        rows[CHANGED][names.index(column)] = value
    return Coverage(coverage.spec, load_geography(write_csv(folder / "changed.csv", rows)))


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda s: replace(s, title="Another title"), "words"),
        (lambda s: replace(s, trends=(replace(s.trends[0], title="Intent"), *s.trends[1:])), "words"),
        (lambda s: replace(s, trends=s.trends[::-1]), "words"),
        (lambda s: replace(s, reliability=Reliability(0.9, 0.1)), "derivation"),
        (lambda s: replace(s, sparsity=replace(s.sparsity, max_points=9)), "derivation"),
        (lambda s: replace(s, trends=s.trends[:-1], scaling=replace(s.scaling, trend=s.trends[0].id)), "derivation"),
        (lambda s: replace(s, scaling=replace(s.scaling, maximum=50.0)), "derivation"),
        (lambda s: replace(s, min_area_km2=2.0), "counting"),
        (lambda s: replace(s, time_zone="UTC"), "counting"),
        (lambda s: replace(s, sigmas=(replace(s.sigmas[0], value=900.0), *s.sigmas[1:])), "counting"),
        (lambda s: replace(s, categories=(*s.categories[:-1], replace(s.categories[-1], name="x"))), "counting"),
        (with_topic, "counting"),
        (lambda s: load_spec("vaccination-v2"), "counting"),
    ],
)
def test_a_change_of_the_spec_has_the_kind_of_its_weightiest_difference(
    short_coverage: Coverage, change: Callable[[Spec], Spec], kind: str
) -> None:
    """The kind follows from the keys that differ, whatever else differs too."""
    new = Coverage(change(short_coverage.spec), short_coverage.geography)
    assert kind_of(differences(short_coverage, new)) == kind


def test_every_key_of_a_spec_has_a_kind_and_most_are_counting() -> None:
    """A key that nobody thought of is counting: then earlier weeks keep theirs, and nothing is derived wrongly."""
    keys = flat(keyed(json.loads(load_spec("vaccination-v2").canonical())))
    kinds = {key: _kind_of_key(key) for key in keys}
    assert {key.split(".")[0] for key, kind in kinds.items() if kind != "counting"} == {
        "name", "title", "dataset", "trends", "levels", "reliability", "sparsity", "scaling",
    }  # fmt: skip
    for key in ("promise.epsilon", "time_zone", "first_day_of_week", "counting.place", "min_area_km2", "class_level"):
        assert kinds[key] == "counting"
    assert _kind_of_key("something_new") == "counting"


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"name": "Renamed"}, "words"),
        ({"latitude": "10.5"}, "words"),
        ({"code": "99999"}, "counting"),
        ({"place_id": "zip/99999"}, "counting"),
        ({"land_area_km2": "0.5"}, "counting"),  # no longer reported
    ],
)
def test_a_change_of_the_regions_has_the_kind_of_what_it_does(
    tmp_path: Path, short_coverage: Coverage, changed: dict[str, str], kind: str
) -> None:
    """A name is words; whatever moves a search to another cell, or a region out of the list, is counting."""
    new = with_rows(short_coverage, tmp_path, **changed)
    assert kind_of(differences(short_coverage, new)) == kind


def test_the_same_release_has_no_difference(short_coverage: Coverage) -> None:
    """Nothing differs from itself."""
    assert differences(short_coverage, short_coverage) == []


def test_earlier_weeks_are_derived_by_present_rules_from_what_they_counted() -> None:
    """A trend of measures that both have is the present one; one that needs a new measure keeps its own definition."""
    old = load_spec()
    new = replace(with_topic(old), reliability=Reliability(0.9, 0.2), title="New")
    derived = derived_spec(old, new)
    assert (derived.reliability, derived.title, derived.sigmas) == (new.reliability, "New", old.sigmas)
    assert [trend.id for trend in derived.trends] == [trend.id for trend in old.trends]  # C4 did not exist
    assert derived.trends[0].sum_of == ("A1", "A2", "A3")


def test_other_measures_of_the_same_name_are_not_mixed_up() -> None:
    """From v1 to v2 the trends keep their ids and columns; v1's weeks are still sums of v1's categories."""
    old, new = load_spec(), load_spec("vaccination-v2")
    derived = derived_spec(old, new)
    assert {t.id: t.sum_of for t in derived.trends} == {t.id: t.sum_of for t in old.trends}


def test_a_trend_that_ended_stays_for_its_weeks_unless_it_was_left_out() -> None:
    """Without its measure it cannot be meant; with its measure still counted, it was removed for all weeks."""
    with_one_more = with_topic(load_spec())
    ended = derived_spec(with_one_more, load_spec())
    assert "C4" in [trend.id for trend in ended.trends]
    left_out = replace(with_one_more, trends=with_one_more.trends[:-1])
    assert "C4" not in [trend.id for trend in derived_spec(with_one_more, left_out).trends]


def test_regions_have_their_present_names_in_all_weeks(tmp_path: Path, short_coverage: Coverage) -> None:
    """A name is words; the rest of an earlier geography stays."""
    renamed = with_rows(short_coverage, tmp_path, name="Renamed")
    present = Coverage(with_topic(renamed.spec), renamed.geography)
    derived = derived_coverage(short_coverage, present)
    place_id = str(LITTLE_REGIONS[CHANGED][-1])
    assert derived.geography.by_place_id[place_id].name == "Renamed"
    assert {r.place_id for r in derived.geography.regions} == {r.place_id for r in short_coverage.geography.regions}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("nowhere", "zip/99999")], "row 1: column 'place_id': 'nowhere' is no region of the store's geography"),
        ([("zip/94103", "zip/99999")], "'zip/94103' does not end"),
        ([("{ended}", "zip/1")], "column 'succeeded_by': 'zip/1' is no region of the new geography"),
        ([("{ended}", "zip/99999"), ("{ended}", "zip/99999")], "row 2: .* in an earlier row too"),
    ],
)
def test_a_crosswalk_names_regions_that_end_and_their_successors(
    tmp_path: Path, short_coverage: Coverage, rows: list[tuple[str, str]], words: str
) -> None:
    """Each wrong row is told with its number, its column and what is wrong."""
    new = with_rows(short_coverage, tmp_path, place_id="zip/99999", code="99999")
    ended = str(LITTLE_REGIONS[CHANGED][-1])
    text = "\n".join(["place_id,succeeded_by", *(",".join(row).format(ended=ended) for row in rows)])
    path = tmp_path / "crosswalk.csv"
    path.write_text(text + "\n")
    with pytest.raises(GeographyError, match=words):
        read_crosswalk(path, short_coverage, new)
    path.write_text(f"place_id,succeeded_by\n{ended},zip/99999\n")
    assert read_crosswalk(path, short_coverage, new) == {ended: ["zip/99999"]}
