"""Triangles that form one flat, convex face, compared with a search over all pairs of triangles in plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from gjk3d.bodies.depth.inside import flat_neighbours
from gjk3d.bodies.topology import merged_places

Array = NDArray[np.float64]


def reference_neighbours(corners: Array) -> Array:
    """Return the exact `flat_neighbours` of triangles with integer corners and at most two triangles at an edge."""
    flat = np.full((len(corners), 3), -1)
    for f, mine in enumerate(corners.reshape(-1, 3, 3)):
        for i in range(3):
            edge = {tuple(mine[i]), tuple(mine[(i + 1) % 3])}
            for g, theirs in enumerate(corners.reshape(-1, 3, 3)):
                rest = [point for point in theirs if tuple(point) not in edge]
                if g != f and len(rest) == 1 and makes_a_face(mine[i], rest[0], mine[(i + 1) % 3], mine[(i + 2) % 3]):
                    flat[f, i] = g
    return flat


def makes_a_face(*around: Array) -> bool:
    """Return whether four points, in this order, bound a flat quadrilateral without a reflex corner."""
    sides = [around[(k + 1) % 4] - around[k] for k in range(4)]
    turns = np.array([np.cross(sides[k], sides[(k + 1) % 4]) for k in range(4)])
    axis = turns.sum(axis=0)
    level = all(turn @ turn * (axis @ axis) == (turn @ axis) ** 2 for turn in turns)
    return bool(level and axis.any() and (turns @ axis >= 0.0).all())


def some_surface(rng: np.random.Generator) -> Array:
    """Return a sheet of cells with bent and moved integer corners; each cell is cut along one of its diagonals."""
    x, y = np.meshgrid(np.arange(5), np.arange(5), indexing="ij")
    places = np.stack([3 * x, 3 * y, np.where(rng.random((5, 5)) < 0.8, 0, 1)], axis=-1)
    places[..., :2] += rng.integers(-1, 2, (5, 5, 2)) * (rng.random((5, 5, 1)) < 0.4)
    turned = places @ np.array([[2, -1, 2], [2, 2, -1], [-1, 2, 2]]) + rng.integers(-9, 10, 3)  # three times a rotation
    out = []
    for i in range(4):
        for j in range(4):
            a, b, c, d = (turned[k] for k in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)))
            out += [(a, b, c), (a, c, d)] if rng.random() < 0.5 else [(b, c, d), (b, d, a)]
    out = [corners for corners in out if np.cross(corners[1] - corners[0], corners[2] - corners[0]).any()]
    order = rng.permutation(len(out))
    return np.array([np.roll(out[k], rng.integers(3), axis=0) for k in order], dtype=float).reshape(-1, 9)


@pytest.mark.parametrize("seed", range(20))
def test_flat_neighbours_match_the_reference(seed: int) -> None:
    corners = some_surface(np.random.default_rng(seed))
    expected = reference_neighbours(corners)
    places = merged_places(corners.reshape(-1, 3)).reshape(-1, 3)
    np.testing.assert_array_equal(flat_neighbours(corners, places), expected)
    assert 0.0 < (expected >= 0).mean() < 1.0  # some triangles are joined and some are not
