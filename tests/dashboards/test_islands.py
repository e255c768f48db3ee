"""A country is drawn around its own centre, in proportion, and far islands do not make it small."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.dashboards.islands import Layout, lay_out
from search_insights.dashboards.projections import Points, azimuthal, bounds
from search_insights.dashboards.shapes import packaged_topologies, project_shapes
from search_insights.spec.geography import load_country

Box = tuple[float, float, float, float]


def square(x: float, y: float, size: float) -> Points:
    return np.array([[x, y], [x + size, y], [x + size, y + size], [x, y + size], [x, y]], dtype=np.float64)


def layout_of(*squares: Points) -> Layout:
    return lay_out({f"r{i}": [[i]] for i in range(len(squares))}, squares)


def flat_box(layout: Layout, line: int, points: Points) -> Box:
    return bounds(layout.projections[layout.part_of.get(line, 0)](points))


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def test_near_islands_stay_where_they_are() -> None:
    """An island off the coast is no inset."""
    assert layout_of(square(0, 40, 5), square(6, 41, 0.5)).part_of == {}


def test_a_far_island_is_an_inset_that_nothing_overlaps() -> None:
    """It is drawn below the main land, or beside it if that is tall."""
    squares = (square(0, 40, 5), square(-30, 30, 0.5), square(40, 10, 0.3))
    layout = layout_of(*squares)
    assert layout.part_of == {1: 1, 2: 2}
    boxes = [flat_box(layout, i, points) for i, points in enumerate(squares)]
    assert not any(overlap(a, b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert bounds(np.array(boxes).reshape(-1, 2))[2] < 3 * boxes[0][2]


def test_a_country_of_islands_is_drawn_as_it_lies() -> None:
    """Where no island is the main land, none is put elsewhere."""
    assert layout_of(square(0, 0, 1), square(20, 0, 1), square(0, 20, 1)).part_of == {}


def test_outlines_with_a_common_border_are_never_parted() -> None:
    """Lines that rings share keep them together, whatever their size."""
    arcs = [np.array([[0, 40], [0, 45]]), square(0, 40, 5)[1:4], np.array([[0, 45], [-60, 42], [0, 40]])]
    layout = lay_out({"a": [[0, 1]], "b": [[0, 2]], "c": [[1, 2]]}, [a.astype(np.float64) for a in arcs])
    assert layout.part_of == {}


@given(st.floats(-180, 180), st.floats(-80, 80), st.floats(-60, 60), st.floats(-5, 5))
def test_the_projection_keeps_areas_wherever_a_square_lies(x: float, y: float, east: float, north: float) -> None:
    """A small square has the area that it has on the sphere, also across the date line."""
    latitude = min(84.0, max(-84.0, y + north))
    there, zero = np.linspace(0, 1, 5), np.zeros(5)
    sides = ((there, zero), (zero + 1, there), (1 - there, zero + 1), (zero, 1 - there))
    edge = np.vstack([np.column_stack(side) for side in sides])
    flat = azimuthal((x, y))(np.add(edge, (x + east, latitude)))
    area = abs(float(np.dot(flat[:, 0], np.roll(flat[:, 1], -1)) - np.dot(flat[:, 1], np.roll(flat[:, 0], -1)))) / 2
    band = np.sin(np.radians(latitude + 1)) - np.sin(np.radians(latitude))
    assert area == pytest.approx(np.radians(1) * band, rel=0.01)


@pytest.mark.parametrize("code", ["PT", "NZ", "RU", "LI", "FJ"])
def test_packaged_countries_fit_the_picture(code: str) -> None:
    """Every region is on the map, and its centre within the outline's bounds, also across the date line."""
    geography = load_country(code)
    topology = packaged_topologies(geography.country.place_id)[0]
    shapes = project_shapes(topology, {r.place_id: r.parent for r in geography.regions})
    assert shapes is not None
    assert set(shapes.outlines) == {r.place_id for r in geography.regions[1:]}
    lines = [np.cumsum(np.array(arc).reshape(-1, 2), axis=0) for arc in shapes.arcs]
    for region in geography.regions[1:]:
        own = bounds(np.vstack([lines[a if a >= 0 else ~a] for ring in shapes.outlines[region.place_id] for a in ring]))
        x, y = shapes.project([region.place_id], np.array([[region.longitude, region.latitude]], dtype=np.float64))[0]
        assert own[0] - 8 <= x <= own[2] + 8, region
        assert own[1] - 8 <= y <= own[3] + 8, region
    assert shapes.height < 4 * shapes.width


def test_portugal_is_larger_than_the_ocean() -> None:
    """The Azores and Madeira stand beside the mainland, which has most of the picture."""
    geography = load_country("PT")
    shapes = project_shapes(packaged_topologies("iso/PT")[0], {r.place_id: r.parent for r in geography.regions})
    assert shapes is not None
    lines = [np.cumsum(np.array(arc).reshape(-1, 2), axis=0) for arc in shapes.arcs]
    inland = [
        ring for place, rings in shapes.outlines.items() if place not in ("iso/PT-20", "iso/PT-30") for ring in rings
    ]
    x0, y0, x1, y1 = bounds(np.vstack([lines[a if a >= 0 else ~a] for ring in inland for a in ring]))
    assert (x1 - x0) * (y1 - y0) > 0.4 * shapes.width * shapes.height
