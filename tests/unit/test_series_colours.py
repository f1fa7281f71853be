"""Colours of series can be told apart, by whichever eyes see them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from resources.luminance import channels
from resources.theme import contrast_ratio, faded
from resources.tokens import DARK, LIGHT, Palette

# Machado, Oliveira and Fernandes 2009, severity 1, for linear light.
_EYES: dict[str, list[list[float]]] = {
    "usual": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
_TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
_WHITE = np.array([0.9505, 1.0, 1.089])
# Two that stand beside each other without a line between them; 2.3 is just noticed. Of the two
# oranges that KV and prompt caches once were, 7 were left to some.
_LEAST_DIFFERENCE = 11.5


def _lab(colour: str, eyes: str) -> NDArray[np.float64]:
    """CIE 1976 L*a*b* of ``#RRGGBB`` as those eyes see it."""
    part = np.array(channels(colour)) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(_EYES[eyes]) @ linear, 0, 1)
    scaled = np.array(_TO_XYZ) @ seen / _WHITE
    root = np.where(scaled > (6 / 29) ** 3, np.cbrt(scaled), scaled / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def _stack(palette: Palette) -> dict[str, str]:
    """What the memory bar is made of."""
    names = ("others", "weights", "kv", "compute", "draft", "caches")
    mapped = faded(palette.weights, palette.raised, 0.45, palette.panel)
    return {"mapped": mapped, **{name: getattr(palette, name) for name in names}}


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda palette: palette.name)
@pytest.mark.parametrize("eyes", _EYES)
def test_that_no_two_parts_of_the_memory_bar_look_alike(palette: Palette, eyes: str) -> None:
    alike = {
        f"{one}, {other}": round(float(difference), 1)
        for (one, colour), (other, second) in itertools.combinations(_stack(palette).items(), 2)
        if (difference := np.linalg.norm(_lab(colour, eyes) - _lab(second, eyes)))
        < _LEAST_DIFFERENCE
    }
    assert alike == {}


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda palette: palette.name)
def test_that_each_part_can_be_told_from_the_panel_and_caches_from_kv(palette: Palette) -> None:
    for name, colour in _stack(palette).items():
        assert contrast_ratio(colour, palette.panel) >= 3.0, name
    # They are of one hue, so brightness must tell them apart.
    assert contrast_ratio(palette.caches, palette.kv) >= 2.0
