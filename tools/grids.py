"""National grids in metres, turned into longitude and latitude (transverse Mercator; Karney 2011, to the third order).

Good to a few metres, which is more than enough: points of districts are means, outlines of maps are simplified.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Grid:
    """A transverse Mercator grid: the ellipsoid (axis in metres, flattening), the origin, scale and false origin."""

    axis: float
    flattening: float
    longitude: float
    latitude: float
    scale: float
    easting: float
    northing: float


# New Zealand Transverse Mercator 2000, whose datum is that of WGS 84 to about a metre.
NEW_ZEALAND = Grid(6_378_137.0, 1 / 298.257222101, 173.0, 0.0, 0.9996, 1_600_000.0, 10_000_000.0)
# The British National Grid, on the ellipsoid of Airy.
BRITAIN = Grid(6_377_563.396, 1 / 299.3249646, -2.0, 49.0, 0.9996012717, 400_000.0, -100_000.0)
_AIRY_TO_WGS84 = (446.448, -125.157, 542.060), (0.1502, 0.2470, 0.8421), -20.4894e-6  # metres, seconds, scale


def degrees(grid: Grid, points: Any) -> Any:
    """Return longitudes and latitudes of points (easting, northing), on the grid's own ellipsoid."""
    n = grid.flattening / (2 - grid.flattening)
    radius = grid.scale * grid.axis / (1 + n) * (1 + n**2 / 4 + n**4 / 64)
    there = (1 / 2, -2 / 3, 5 / 16), (0, 13 / 48, -3 / 5), (0, 0, 61 / 240)  # from latitudes to the grid
    back = (1 / 2, -2 / 3, 37 / 96), (0, 1 / 48, 1 / 15), (0, 0, 17 / 480)
    alpha, beta = ([sum(c * n ** (i + 1) for i, c in enumerate(row)) for row in rows] for rows in (there, back))
    origin = _conformal(np.radians(grid.latitude), n)
    start = origin + sum(a * np.sin(2 * j * origin) for j, a in enumerate(alpha, start=1))
    xi = (points[:, 1] - grid.northing) / radius + start
    eta = (points[:, 0] - grid.easting) / radius
    for_xi = sum(b * np.sin(2 * j * xi) * np.cosh(2 * j * eta) for j, b in enumerate(beta, start=1))
    for_eta = sum(b * np.cos(2 * j * xi) * np.sinh(2 * j * eta) for j, b in enumerate(beta, start=1))
    xi, eta = xi - for_xi, eta - for_eta
    chi = np.arcsin(np.sin(xi) / np.cosh(eta))
    delta = (2 * n - 2 / 3 * n**2 - 2 * n**3, 7 / 3 * n**2 - 8 / 5 * n**3, 56 / 15 * n**3)
    latitude = chi + sum(d * np.sin(2 * j * chi) for j, d in enumerate(delta, start=1))
    longitude = np.arctan2(np.sinh(eta), np.cos(xi))
    return np.column_stack((grid.longitude + np.degrees(longitude), np.degrees(latitude)))


def _conformal(latitude: float, n: float) -> float:
    k = 2 * np.sqrt(n) / (1 + n)
    sine = np.sin(latitude)
    return float(np.arctan(np.sinh(np.arctanh(sine) - k * np.arctanh(k * sine))))


def british_degrees(points: Any) -> Any:
    """Return WGS 84 longitudes and latitudes of points of the British grid (the Ordnance Survey's transform)."""
    flat = degrees(BRITAIN, points)
    longitude, latitude = np.radians(flat[:, 0]), np.radians(flat[:, 1])
    square = BRITAIN.flattening * (2 - BRITAIN.flattening)
    normal = BRITAIN.axis / np.sqrt(1 - square * np.sin(latitude) ** 2)
    x, y = (normal * np.cos(latitude) * f(longitude) for f in (np.cos, np.sin))
    z = normal * (1 - square) * np.sin(latitude)
    shift, seconds, scale = _AIRY_TO_WGS84
    rx, ry, rz = (np.radians(s / 3600) for s in seconds)
    new = (
        shift[0] + (1 + scale) * x - rz * y + ry * z,
        shift[1] + rz * x + (1 + scale) * y - rx * z,
        shift[2] - ry * x + rx * y + (1 + scale) * z,
    )
    return _geodetic(*new)


def _geodetic(x: Any, y: Any, z: Any) -> Any:
    """Return longitudes and latitudes on WGS 84 of points around the centre of the earth."""
    axis, flattening = 6_378_137.0, 1 / 298.257223563
    square, from_axis = flattening * (2 - flattening), np.hypot(x, y)
    latitude = np.arctan2(z, from_axis * (1 - square))
    for _ in range(6):
        normal = axis / np.sqrt(1 - square * np.sin(latitude) ** 2)
        latitude = np.arctan2(z + square * normal * np.sin(latitude), from_axis)
    return np.column_stack((np.degrees(np.arctan2(y, x)), np.degrees(latitude)))
