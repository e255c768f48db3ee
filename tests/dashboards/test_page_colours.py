"""The colours of the map can be told apart: in the dark, and by people who see some colours alike."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import search_insights
from search_insights.support.arrays import Floats

THEME = Path(search_insights.__file__).parent / "dashboards" / "page" / "theme.js"
# What remains of linear red, green and blue without one kind of cone (Machado, Oliveira and Fernandes, 2009).
VISION = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
# From linear red, green and blue to the coordinates of CIE XYZ, relative to white.
TO_XYZ = np.array([[0.4339, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0178, 0.1095, 0.8727]])


def ramps(name: str) -> list[list[str]]:
    """Return a ramp of the light and of the dark theme."""
    found = re.findall(rf"\b{name}: (\[[^\]]+\]|\"[^\"]+\")", THEME.read_text(encoding="utf-8"))
    assert len(found) == 2
    return [re.findall(r"#[0-9a-f]{6}", ramp) for ramp in found]


def lab(colour: str, vision: str) -> Floats:
    """Return a colour in CIE Lab, as someone sees it."""
    encoded = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(np.maximum(TO_XYZ @ np.clip(VISION[vision] @ linear, 0, 1), 0.001))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("name", ["ramp", "diverging"])
def test_neighbouring_colours_differ_for_everyone(name: str, vision: str) -> None:
    """By at least 7 in CIE Lab; and an increase never looks like a decrease of any size, by at least 20."""
    for colours in ramps(name):
        seen = [lab(colour, vision) for colour in colours]
        assert min(float(np.linalg.norm(a - b)) for a, b in pairwise(seen)) >= 7
        if name == "diverging":
            middle = len(seen) // 2
            sides = [np.linalg.norm(a - b) for a in seen[: middle - 1] for b in seen[middle + 2 :]]
            assert min(float(side) for side in sides) >= 20


@pytest.mark.parametrize("vision", VISION)
def test_values_are_ordered_by_lightness(vision: str) -> None:
    """The ramp runs one way; a change is the stronger the farther its lightness is from that of no change."""
    for colours in ramps("ramp"):
        steps = np.diff([lab(colour, vision)[0] for colour in colours])
        assert (steps > 0).all() or (steps < 0).all()
    for colours in ramps("diverging"):
        lightness = np.array([lab(colour, vision)[0] for colour in colours])
        distance = np.abs(lightness - lightness[4])
        assert (np.diff(distance[:5]) < 0).all()
        assert (np.diff(distance[4:]) > 0).all()


def test_the_lowest_values_stand_out_from_the_page() -> None:
    """In the dark, too: no colour of a value is lost in the background, which the lowest once nearly was."""
    for name in ("ramp", "diverging"):
        for colours, (surface,) in zip(ramps(name), ramps("surface"), strict=True):
            distances = [np.linalg.norm(lab(c, "all cones") - lab(surface, "all cones")) for c in colours]
            assert min(float(distance) for distance in distances) >= 8
    dark = ramps("ramp")[1][0], ramps("surface")[1][0]
    assert np.linalg.norm(lab(dark[0], "all cones") - lab(dark[1], "all cones")) >= 30
