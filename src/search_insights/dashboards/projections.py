"""Map projections that keep areas in proportion. Points are longitudes and latitudes; y points downwards."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]
Projection = Callable[[Points], Points]


def albers(meridian: float, parallels: tuple[float, float], centre: tuple[float, float]) -> Projection:
    """Return the Albers equal-area conic projection (Snyder 1987, page 100), the centre at (0, 0)."""
    s1, s2 = (math.sin(math.radians(parallel)) for parallel in parallels)
    n, c = (s1 + s2) / 2, 1 + s1 * s2

    def cone(points: Points) -> Points:
        longitude = (points[:, 0] - meridian + 180) % 360 - 180
        rho = np.sqrt(np.maximum(0, c - 2 * n * np.sin(np.radians(points[:, 1])))) / n
        theta = n * np.radians(longitude)
        return np.column_stack((rho * np.sin(theta), rho * np.cos(theta)))

    origin = cone(np.array([centre]))
    # The tip of the cone is at the top, so a point farther from it is farther south, and lower.
    return lambda points: cone(points) - origin


def azimuthal(centre: tuple[float, float]) -> Projection:
    """Return the Lambert azimuthal equal-area projection (Snyder 1987, page 185), the centre at (0, 0).

    It suits a country of any shape and place, also one across the date line: only differences of longitude count.
    """
    middle, latitude = (math.radians(degrees) for degrees in centre)
    s0, c0 = math.sin(latitude), math.cos(latitude)

    def plane(points: Points) -> Points:
        east, north = np.radians(points[:, 0]) - middle, np.radians(points[:, 1])
        along = np.cos(north) * np.cos(east)
        k = np.sqrt(2 / np.maximum(1e-9, 1 + s0 * np.sin(north) + c0 * along))
        return np.column_stack((k * np.cos(north) * np.sin(east), k * (s0 * along - c0 * np.sin(north))))

    return plane


def equal_earth(points: Points) -> Points:
    """Project the world onto the Equal Earth map (Savric and others 2018), the meridian of 0 in the middle."""
    a1, a2, a3, a4, m = 1.340264, -0.081106, 0.000893, 0.003796, math.sqrt(3) / 2
    theta = np.arcsin(m * np.sin(np.radians(points[:, 1])))
    square = theta * theta
    sixth = square**3
    x = np.radians(points[:, 0]) * np.cos(theta) / (m * (a1 + 3 * a2 * square + sixth * (7 * a3 + 9 * a4 * square)))
    return np.column_stack((x, -theta * (a1 + a2 * square + sixth * (a3 + a4 * square))))


def inset(projection: Projection, scale: float, at: tuple[float, float]) -> Projection:
    """Return a projection at another scale and place."""
    return lambda points: projection(points) * scale + at


def bounds(points: Points) -> tuple[float, float, float, float]:
    """Return the least x and y, and the largest."""
    (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
    return float(x0), float(y0), float(x1), float(y1)
