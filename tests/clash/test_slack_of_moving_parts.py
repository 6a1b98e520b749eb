"""Moving parts whose vertices have a slack and whose facets deviate from curved faces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.clash import Assembly, Movement
from gjk3d.clash.detection.parts import Tolerances
from gjk3d.clash.motion.moving import Moving

SLACKS = ((1.0 / 64.0, 1.0 / 32.0), (1.0 / 16.0, 1.0 / 8.0))  #: slack and facet error of each part
SLACK = sum(map(sum, SLACKS))


def moving(x):
    """Return two unit cubes, the second of which starts at x and moves along y by only 1e-6."""
    place = np.eye(4)
    place[0, 3] = x
    surface = gk.Box((1.0, 1.0, 1.0)).surface()
    cube = gk.Mesh(surface.vertices, surface.faces)
    assembly = Assembly.of({"a": cube, "b": (cube, place)}, "mm")
    parts = [
        replace(part, slack=slack, facets=facets) for part, (slack, facets) in zip(assembly.parts, SLACKS, strict=True)
    ]
    return Moving(Movement({"b": gk.Motion.translation(None, (0.0, 1e-6, 0.0))}), parts, "mm")


@pytest.mark.parametrize(("share", "pairs"), [(0.99, [(0, 1)]), (1.01, [])])
def test_moving_parts_within_clearance_and_slack_are_close(share, pairs):
    none = Tolerances(np.zeros(2), np.zeros(2))
    assert list(moving(1.0 + 0.5 + share * SLACK).close(0.5, none)) == pairs


def test_least_gap_of_moving_parts_includes_slack():
    least, _ = moving(2.0).follow(0, 1, 1e-6).least
    assert 0.999 - SLACK - 1e-5 <= least <= 1.0 - SLACK
