"""How a country with far islands fits a map: the main land around its own centre, and each far group in an inset.

Without insets the Azores would leave Portugal a strip at the edge of an ocean. Outlines that share lines belong
together, so a piece of land is never cut. A country of islands, where none is the main land, is drawn as it lies.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from search_insights.dashboards.projections import Points, Projection, azimuthal, bounds, inset

# What is farther from the rest than this share of the main land's diagonal may be an inset.
_FAR = 0.3
# The main land has at least this share of the whole area, and without insets the map would be so many times as large.
_MAIN_SHARE, _WORTH = 0.85, 2.0
# The largest and smallest size of an inset, and the space around it, as shares of the main land's longer side.
_LARGEST, _SMALLEST, _SPACE = 0.3, 0.04, 0.05
_LARGEST_SCALE = 8.0
_TALL = 1.2  # height by width, from which on insets stand beside the main land, not below

Outlines = Mapping[str, list[list[int]]]
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Part:
    """Lines that are drawn together: their numbers, their bounds in degrees, and about how much land they enclose."""

    lines: frozenset[int]
    box: Box
    area: float


@dataclass(frozen=True)
class Layout:
    """The parts of a map: the one of each line that is not in the main part, the first; and their projections."""

    part_of: Mapping[int, int]
    boxes: tuple[Box, ...]
    projections: tuple[Projection, ...]

    def project(self, points: Points) -> Points:
        """Project points with the part that each is nearest to."""
        distances = np.column_stack([_distance(points, box) for box in self.boxes])
        nearest = distances.argmin(axis=1)
        found: Points = np.zeros_like(points)
        for number, projection in enumerate(self.projections):
            found[nearest == number] = projection(points[nearest == number])
        return found


def lay_out(outlines: Outlines, arcs: Sequence[Points]) -> Layout:
    """Divide a country into the main land and far islands, and find a place for each."""
    pieces = _pieces(outlines, arcs)
    main, *far = _grouped(pieces)
    whole = _joined(pieces)
    if not far or main.area < _MAIN_SHARE * whole.area or _size(whole.box) < _WORTH * _size(main.box):
        return Layout({}, (whole.box,), (azimuthal(_middle(whole.box)),))
    projections = [azimuthal(_middle(part.box)) for part in (main, *far)]
    flat = [
        bounds(p(np.vstack([arcs[i] for i in sorted(part.lines)])))
        for p, part in zip(projections, (main, *far), strict=True)
    ]
    placed = _placed(flat[0], flat[1:])
    part_of = {line: number for number, part in enumerate(far, start=1) for line in part.lines}
    insets = [inset(p, *place) for p, place in zip(projections[1:], placed, strict=True)]
    return Layout(part_of, tuple(part.box for part in (main, *far)), (projections[0], *insets))


def _pieces(outlines: Outlines, arcs: Sequence[Points]) -> list[Part]:
    """Return the pieces of land: the rings that are connected by common lines."""
    rings = [[~arc if arc < 0 else arc for arc in ring] for found in outlines.values() for ring in found]
    leader: dict[int, int] = {}

    def find(line: int) -> int:
        while leader.setdefault(line, line) != line:
            line = leader[line]
        return line

    for ring in rings:
        for line in ring[1:]:
            leader[find(line)] = find(ring[0])
    lines: dict[int, set[int]] = {}
    for line in sorted(leader | {ring[0]: 0 for ring in rings}):
        lines.setdefault(find(line), set()).add(line)
    return [_part(frozenset(found), arcs) for found in lines.values()]


def _part(lines: frozenset[int], arcs: Sequence[Points]) -> Part:
    box = bounds(np.vstack([arcs[i] for i in sorted(lines)]))
    return Part(lines, box, _size(box))


def _size(box: Box) -> float:
    """Return about how large a box is, in square degrees at the equator."""
    x0, y0, x1, y1 = box
    return (x1 - x0) * (y1 - y0) * math.cos(math.radians((y0 + y1) / 2))


def _middle(box: Box) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def _joined(parts: Sequence[Part]) -> Part:
    boxes = np.array([part.box for part in parts])
    x0, y0 = boxes[:, :2].min(axis=0)
    x1, y1 = boxes[:, 2:].max(axis=0)
    lines = frozenset().union(*(part.lines for part in parts))
    return Part(lines, (float(x0), float(y0), float(x1), float(y1)), sum(part.area for part in parts))


def _grouped(pieces: Sequence[Part]) -> list[Part]:
    """Group pieces that are near each other, the largest group first."""
    left = sorted(pieces, key=lambda piece: -piece.area)
    groups: list[Part] = []
    limit = 0.0
    while left:
        group, left = left[0], left[1:]
        while True:
            limit = limit if groups else _FAR * math.hypot(*_sides(group.box))
            near = [piece for piece in left if _gap(group.box, piece.box) <= limit]
            if not near:
                break
            group = _joined([group, *near])
            left = [piece for piece in left if piece not in near]
        groups.append(group)
    return groups


def _sides(box: Box) -> tuple[float, float]:
    """Return width and height in degrees of a great circle."""
    x0, y0, x1, y1 = box
    return (x1 - x0) * math.cos(math.radians((y0 + y1) / 2)), y1 - y0


def _gap(one: Box, other: Box) -> float:
    """Return about how far two boxes are apart, in degrees of a great circle."""
    shrunk = math.cos(math.radians((one[1] + one[3] + other[1] + other[3]) / 4))
    x = max(0.0, other[0] - one[2], one[0] - other[2]) * shrunk
    y = max(0.0, other[1] - one[3], one[1] - other[3])
    return math.hypot(x, y)


def _placed(main: Box, insets: Sequence[Box]) -> list[tuple[float, tuple[float, float]]]:
    """Return the scale and the place of each inset: side by side below the main land, or beside it if that is tall."""
    x0, y0, x1, y1 = main
    longest = max(x1 - x0, y1 - y0)
    space, tall = _SPACE * longest, y1 - y0 > _TALL * (x1 - x0)
    scales = [_scale(max(box[2] - box[0], box[3] - box[1]), longest) for box in insets]
    widest = max(scale * (box[2] - box[0]) for scale, box in zip(scales, insets, strict=True))
    x, y = (x0 - space - widest, y0) if tall else (x0, y1 + space)
    found = []
    for scale, box in zip(scales, insets, strict=True):
        found.append((scale, (x - scale * box[0], y - scale * box[1])))
        x, y = (x, y + scale * (box[3] - box[1]) + space) if tall else (x + scale * (box[2] - box[0]) + space, y)
    return found


def _scale(size: float, longest: float) -> float:
    """Return the scale of an inset: that of the main land, if it is then neither too large nor too small to see."""
    least = min(_LARGEST_SCALE, _SMALLEST * longest / max(size, 1e-9))
    return min(max(1.0, least), _LARGEST * longest / max(size, 1e-9))


def _distance(points: Points, box: Box) -> Points:
    """Return how far points are from a box, in degrees, whichever way longitudes are counted."""
    x, _ = _middle(box)
    east = np.abs((points[:, 0] - x + 180) % 360 - 180) - (box[2] - box[0]) / 2
    north = np.maximum(box[1] - points[:, 1], points[:, 1] - box[3])
    found: Points = np.hypot(np.maximum(0, east), np.maximum(0, north))
    return found
