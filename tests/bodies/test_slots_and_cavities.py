"""Polytopes in slots, holes and cavities of meshes, where a separating translation must pass several walls."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from random_shapes import at
from scipy.spatial.transform import Rotation

import gjk3d as gk

Array = NDArray[np.float64]
CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
QUARTER = (-1.0, -0.5, 0.5, 1.0)


def cells(full: Array, *edges: tuple[float, ...]) -> gk.Mesh:
    """Return the surface of the occupied cells of a grid."""
    numbers: dict[tuple[int, ...], int] = {}
    faces = []
    for cell in np.argwhere(full):
        for axis in range(3):
            for side in range(2):
                beside = cell.copy()
                beside[axis] += 2 * side - 1
                if (beside >= 0).all() and (beside < full.shape).all() and full[tuple(beside)]:
                    continue
                corners = []
                for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)):
                    corner = cell.copy()
                    corner[[axis, (axis + 1) % 3, (axis + 2) % 3]] += (side, u, v)
                    corners.append(numbers.setdefault(tuple(corner.tolist()), len(numbers)))
                a, b, c, d = corners if side else corners[::-1]
                faces += [(a, b, c), (a, c, d)]
    return gk.Mesh([[edges[k][i] for k, i in enumerate(corner)] for corner in numbers], faces)


def blocks(*hollow: tuple[int, int, int]) -> Array:
    full = np.ones((3, 3, 3), dtype=bool)
    for cell in hollow:
        full[cell] = False
    return full


SLOT = cells(blocks((1, 2, 0))[:, 1:, :1], QUARTER, (-1.0, -0.5, 1.0), (-0.5, 0.5))
HOLE = cells(blocks((1, 1, 0))[:, :, :1], QUARTER, QUARTER, (-0.5, 0.5))
CAVITY = cells(blocks((1, 1, 1)), QUARTER, QUARTER, QUARTER)
FITS = [
    pytest.param(SLOT, (0.95, 0.68, 0.94), (-0.47, -0.34, 0.25), (0.445, 0.18, 0.0), id="slot"),
    pytest.param(HOLE, (0.47, 0.35, 0.7), (0.55, -0.34, 0.42), (-0.285, 0.015, 0.0), id="hole"),
    pytest.param(CAVITY, (0.51, 0.84, 0.53), (-0.34, 0.09, -0.54), (0.095, -0.01, 0.305), id="cavity"),
    pytest.param(HOLE, (0.83, 0.34, 0.63), (-0.1, 0.6, 0.26), (0.015, -0.27, 0.0), id="far wall of the hole"),
]


@pytest.mark.parametrize(("mesh", "extents", "place", "by"), FITS)
@pytest.mark.parametrize("turned", [False, True])
def test_depth_past_several_walls_is_at_most_the_reference(
    mesh: gk.Mesh, extents: Array, place: Array, by: Array, turned: bool
) -> None:
    """The depth is at most the length of a known separating translation, and its own translation separates."""
    frame = at(0.3, -0.2, 0.1)
    frame[:3, :3] = Rotation.random(random_state=3).as_matrix() if turned else np.eye(3)
    pose, by = frame @ at(*place), frame[:3, :3] @ np.array(by)
    for shape in (gk.Box(extents), gk.ConvexHull(CORNERS * extents)):
        result = gk.signed_distance(mesh, shape, frame, pose)
        assert -result.upper <= np.linalg.norm(by)
        assert result.depth <= np.linalg.norm(by) * (1.0 + 1e-6)
        for way in (by, -result.lower * result.normal):
            assert not gk.collide(mesh, shape, frame, at(*((1.0 + 1e-6) * way)) @ pose)


@pytest.mark.parametrize("seed", range(24))
def test_depth_in_a_cavity_equals_the_closed_form(seed: int) -> None:
    """The depth is the shorter of the translations past all crossed walls and out of the block."""
    rng = np.random.default_rng(seed)
    extents, place = rng.uniform(0.2, 0.9, 3), rng.uniform(-0.4, 0.4, 3)
    place[seed % 3] = 0.5 - extents[seed % 3] / 2 + rng.uniform(0.02, 0.2)
    past = np.maximum(0.0, np.abs(place) + extents / 2 - 0.5)
    inwards = float(np.linalg.norm(past))
    outwards = float((1.0 + extents / 2 - np.abs(place)).min())
    result = gk.signed_distance(CAVITY, gk.Box(extents), None, at(*place))
    least = min(inwards, outwards)
    assert -result.upper <= least * (1.0 + 1e-9)
    assert result.depth == pytest.approx(least, rel=1e-6)
