"""Outlines and points are projected so that every region is in the picture, at its place and in proportion."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.dashboards.outline_file import packed
from search_insights.dashboards.shapes import project_points, project_shapes, us_topology
from search_insights.dashboards.site import dashboard
from search_insights.spec.geography import Geography, load_country
from tests.support.command_line import Run
from tests.support.dashboards import QAZARIA, US, data_folder, read_json, read_outlines, unpacked_outlines


def test_every_state_and_county_has_an_outline_within_the_picture(us: Geography) -> None:
    """All of them are drawn on the grid, with Alaska and Hawaii below the south-west."""
    shapes = project_shapes(us_topology(), {region.place_id: region.parent for region in us.regions})
    assert shapes is not None
    assert set(shapes.outlines) == {r.place_id for r in us.regions if r.level in ("state", "county")}
    lines = [np.cumsum(np.array(arc).reshape(-1, 2), axis=0) for arc in shapes.arcs]
    every = np.vstack(lines)
    assert every.min() >= 0
    assert (every.max(axis=0) <= (shapes.width, shapes.height)).all()
    for place, left, top in (("geoId/02", 0.0, 0.7), ("geoId/15", 0.2, 0.8)):
        points = np.vstack([lines[a if a >= 0 else ~a] for ring in shapes.outlines[place] for a in ring])
        middle = points.mean(axis=0) / (shapes.width, shapes.height)
        assert left < middle[0] < 0.45
        assert top < middle[1] < 1


def test_the_projection_keeps_areas(us: Geography) -> None:
    """Equal areas look equal: Colorado has 269,601 km2 and West Virginia 62,755 km2."""
    shapes = project_shapes(us_topology(), {region.place_id: region.parent for region in us.regions})
    assert shapes is not None
    ratio = area(shapes.outlines["geoId/08"], shapes.arcs) / area(shapes.outlines["geoId/54"], shapes.arcs)
    assert ratio == pytest.approx(269_601 / 62_755, rel=0.02)


def area(rings: list[list[int]], arcs: list[list[int]]) -> float:
    total = 0.0
    for ring in rings:
        lines = [
            np.cumsum(np.array(arcs[a if a >= 0 else ~a]).reshape(-1, 2), axis=0)[:: 1 if a >= 0 else -1] for a in ring
        ]
        x, y = np.vstack(lines).T
        total += float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2
    return abs(total)


def test_postal_codes_lie_in_or_near_their_county(us_site: Path) -> None:
    """A postal code is drawn with the projection of its state: 94103 is inside San Francisco's bounding box."""
    data = data_folder(us_site, US)
    finer, core = read_json(data / "finer.json.gz"), read_json(data / "regions.json.gz")
    outlines = read_outlines(data / "outlines.bin.gz")
    for zip_id, county in (("zip/94103", "geoId/06075"), ("zip/99501", "geoId/02020"), ("zip/96813", "geoId/15003")):
        rings = outlines["rings"][core["id"].index(county)]
        points = np.vstack([outlines["lines"][a if a >= 0 else ~a] for ring in rings for a in ring])
        point = np.array(finer["point"][finer["id"].index(zip_id)])
        assert (points.min(axis=0) <= point).all()
        assert (point <= points.max(axis=0)).all()


POINT = st.integers(-20_000, 20_000)
LINE = st.lists(POINT, min_size=4, max_size=12).filter(lambda line: len(line) % 2 == 0)


@given(st.lists(LINE, min_size=1, max_size=6), st.data())
def test_packed_outlines_unpack_to_the_same(lines: list[list[int]], data: st.DataObject) -> None:
    """Points, and the rings of every region, with lines in either direction; a region without an outline has none."""
    number = st.integers(-len(lines), len(lines) - 1)
    rings = st.lists(st.lists(number, min_size=1, max_size=4), min_size=1, max_size=3)
    outlines = data.draw(st.lists(st.none() | rings, max_size=5))
    found = unpacked_outlines(packed(16_000, 9_356, lines, outlines))
    assert (found["width"], found["height"]) == (16_000, 9_356)
    expected = [np.cumsum(np.array(line).reshape(-1, 2), axis=0).tolist() for line in lines]
    assert [line.tolist() for line in found["lines"]] == expected
    assert found["rings"] == [rings or [] for rings in outlines]


def test_outlines_of_another_country_make_a_map(other_data: Path, tmp_path: Path) -> None:
    """All it needs is a TopoJSON file whose ids are place_ids."""
    square = {"type": "Polygon", "id": "qz/p/01", "arcs": [[0]]}
    topology = {"type": "Topology", "objects": {"p": {"geometries": [square]}}}
    arcs = [[[80, 27], [85, 27], [85, 30], [80, 30], [80, 27]]]
    (tmp_path / "shapes.json").write_text(json.dumps(topology | {"arcs": arcs}), encoding="utf-8")
    dashboard([other_data], tmp_path / "site", shapes=[tmp_path / "shapes.json"])
    outlines = read_outlines(data_folder(tmp_path / "site", QAZARIA) / "outlines.bin.gz")
    assert outlines["rings"][1] == [[0]]
    x, y = outlines["lines"][0][0]
    assert x == 0  # the south-west corner is at the lower left
    assert outlines["height"] - 1 <= y <= outlines["height"]  # the height is rounded up


def feature(region: object, west: float, name: str = "nr") -> dict[str, Any]:
    ring = [[west, 27], [west + 5, 27], [west + 5, 30], [west, 30], [west, 27]]
    return {"type": "Feature", "properties": {name: region}, "geometry": {"type": "Polygon", "coordinates": [ring]}}


def test_geojson_with_any_property_as_id_makes_a_map(other_data: Path, tmp_path: Path, run: Run) -> None:
    """The property may have place_ids or codes; outlines of other places are left out."""
    shapes = {"type": "FeatureCollection", "features": [feature("01", 80), feature("qz/p/02", 85), feature(7, 90)]}
    (tmp_path / "shapes.json").write_text(json.dumps(shapes), encoding="utf-8")
    words = ("dashboard", other_data, "--out", tmp_path / "site", "--shapes", tmp_path / "shapes.json")
    code, _, err = run(*words)
    assert (code, "could be given as --shape-id" in err, "'nr'" in err) == (2, True, True)
    assert run(*words, "--shape-id", "nr")[0] == 0
    data = data_folder(tmp_path / "site", QAZARIA)
    ids, rings = read_json(data / "regions.json.gz")["id"], read_outlines(data / "outlines.bin.gz")["rings"]
    assert {place for place, found in zip(ids, rings, strict=True) if found} == {"qz/p/01", "qz/p/02"}


def test_outlines_of_no_region_that_is_shown_are_refused(other_data: Path, tmp_path: Path, run: Run) -> None:
    """A wrong property would silently give no map; the error shows an id, and what else could be one."""
    shapes = {"type": "FeatureCollection", "features": [feature("Somewhere", 80)]}
    (tmp_path / "shapes.json").write_text(json.dumps(shapes), encoding="utf-8")
    words = ("--shapes", tmp_path / "shapes.json", "--shape-id", "nr")
    code, _, err = run("dashboard", other_data, "--out", tmp_path / "site", *words)
    assert (code, err.count("\n"), "such as 'Somewhere'" in err) == (2, 1, True)
    assert not (tmp_path / "site").exists()


def test_regions_of_which_only_centres_are_known_are_points_on_a_map() -> None:
    """All points lie within the picture, in proportion, also across the date line; two are needed."""
    regions = list(load_country("FJ").regions)
    shapes = project_points(regions)
    assert shapes is not None
    assert (shapes.arcs, shapes.outlines) == ([], {})
    placed = {r.code: shapes.project([r.place_id], np.array([[r.longitude, r.latitude]]))[0] for r in regions[1:]}
    assert all(0 < x < shapes.width and 0 < y < shapes.height for x, y in placed.values())
    assert placed["FJ-W"][0] < placed["FJ-N"][0]
    assert project_points(regions[:2]) is None


@pytest.mark.parametrize(
    ("geometry", "arcs"),
    [
        ({"type": "Polygon", "arcs": [[0]]}, [[[0, 0], [1, 1]]]),  # no id
        ({"type": "Polygon", "id": "qz/p/01", "arcs": [[5]]}, [[[0, 0], [1, 1]]]),  # no such line
        ({"type": "Polygon", "id": "qz/p/01", "arcs": [[0]]}, [[["a", "b"]]]),  # not numbers
        ({"type": "Point", "id": "qz/p/01", "coordinates": [0, 0]}, []),  # not an outline
    ],
)
def test_a_file_without_valid_outlines_is_refused(
    other_data: Path, tmp_path: Path, run: Run, geometry: dict[str, Any], arcs: list[Any]
) -> None:
    """Shapes that cannot be drawn or coloured give a one-line error and no site."""
    topology = {"type": "Topology", "objects": {"p": {"geometries": [geometry]}}, "arcs": arcs}
    (tmp_path / "shapes.json").write_text(json.dumps(topology), encoding="utf-8")
    for name in ("shapes.json", "nothing.json", "."):
        code, _, err = run("dashboard", other_data, "--out", tmp_path / "site", "--shapes", tmp_path / name)
        assert (code, err.count("\n"), "TopoJSON" in err) == (2, 1, True)
    assert not (tmp_path / "site").exists()
