"""Look-ups in a table of directions return the same points as a scan of all points, to the last bit."""

from __future__ import annotations

import naive
import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import gjk3d as gk
from gjk3d.geometry.points import COUNT_BITS, cell_directions, direction_table
from gjk3d.shapes import layout
from gjk3d.shapes.polytopes import look_up

_RNG = np.random.default_rng(11)


def disc(count):
    turn = np.linspace(0, 2 * np.pi, count, endpoint=False)
    return np.column_stack([np.cos(turn), np.sin(turn), np.zeros(count)])


CLOUDS = {
    "sphere": naive.unit_vectors(_RNG, 1000),
    "icosphere": trimesh.creation.icosphere(3).vertices,
    "latitudes": trimesh.creation.uv_sphere(count=[32, 32]).vertices,
    "egg": naive.unit_vectors(_RNG, 500) * (1, 2, 5),
    "far off": naive.unit_vectors(_RNG, 300) + 1e4,
    "drum": trimesh.creation.cylinder(1, 3, sections=60).vertices,
    "rounded box": np.vstack([naive.unit_vectors(_RNG, 400) * 0.2 + 0.3 * np.sign(naive.unit_vectors(_RNG, 400))]),
    "disc": disc(1000),
    "large drum": np.vstack([disc(1000), disc(1000) + (0, 0, 1)]),
    "needle": naive.unit_vectors(_RNG, 400) * (1, 1e-4, 1e-4),
    "dish": naive.unit_vectors(_RNG, 400) * (1, 1, 1e-3),
    "tiny": naive.unit_vectors(_RNG, 200) * 1e-40,
    "huge": naive.unit_vectors(_RNG, 200) * 1e40,
}


def directions(rng, hull, count):
    """Return random directions, and face normals, edges, axes and borders of cells with and without small errors."""
    corners = hull.vertices[hull.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    edges = (corners - np.roll(corners, 1, axis=1)).reshape(-1, 3)
    edges /= np.linalg.norm(edges, axis=1, keepdims=True)
    pairs = normals + np.roll(normals, 1, axis=0)
    sides = rng.integers(-16, 17, size=(500, 3)) / 16.0
    axes = np.vstack([np.eye(3), -np.eye(3), np.sign(rng.normal(size=(8, 3))), sides[sides.any(axis=1)]])
    special = np.vstack([normals, -normals, edges, pairs, axes])
    nudged = special + rng.normal(size=special.shape) * 10.0 ** rng.uniform(-17, -1, size=(len(special), 1))
    every = np.vstack([special, nudged, rng.normal(size=(count, 3))])
    return every[every.any(axis=1)]


def scanned(points, d):
    """Return the first of the farthest points along each direction. The order of summation is x, y, z."""
    return points[[(points[:, 0] * x + points[:, 1] * y + points[:, 2] * z).argmax() for x, y, z in d]]


def looked_up(points, d):
    table = direction_table(points)
    f = np.concatenate([points.T.ravel(), points[table.entries].ravel()])
    return np.array([look_up(table.nodes, f, len(points), table.grid, tuple(row)) for row in d.tolist()]), table


@pytest.mark.many
@pytest.mark.parametrize("name", CLOUDS)
def test_lookup_equals_scan(name, rng):
    hull = gk.ConvexHull(CLOUDS[name])
    ints, floats = hull._packed
    assert ints[layout.PARTS] > 0, "has a table"
    assert floats[layout.SLACK] == hull._hull().defect, "which adds no error"
    count, center = ints[layout.VERTICES], floats[layout.CENTER : layout.CENTER + 3]
    points = floats[layout.FLOAT_HEAD :][: 3 * count].reshape(3, -1).T
    d = directions(rng, hull, 20_000 // len(CLOUDS))
    d /= np.abs(d).max(axis=1, keepdims=True)
    assert np.array_equal(hull.support(d), center + scanned(points, d))


@given(
    arrays.arrays(float, st.tuples(st.integers(1, 60), st.just(3)), elements=st.floats(-4, 4, width=16)),
    arrays.arrays(float, (20, 3), elements=st.floats(-1, 1, width=16)),
)
def test_lookup_equals_scan_for_any_points(points, d):
    result, _ = looked_up(points, d)
    assert np.array_equal(result, scanned(points, d))


def test_invalid_directions_are_scanned():
    d = np.array([[0, 0, 0], [np.nan, 1, 0], [1, np.nan, np.nan], [5e-324, 0, 0], [1e300, 2e300, -1e299]])
    with np.errstate(all="ignore"):
        result, _ = looked_up(CLOUDS["egg"], d)
    assert np.array_equal(result[[0, 3, 4]], scanned(CLOUDS["egg"], d[[0, 3, 4]]))
    assert np.isin(result, CLOUDS["egg"]).all()


@pytest.mark.parametrize("name", CLOUDS)
def test_table_size_is_bounded(name):
    points = np.asarray(CLOUDS[name])
    table = direction_table(points - points.mean(axis=0))
    codes = ~table.nodes[table.nodes < 0]
    first, count = codes >> COUNT_BITS, codes & ((1 << COUNT_BITS) - 1)
    assert count.min() >= 1
    order = np.argsort(first)
    assert np.array_equal(first[order], np.cumsum(count[order]) - count[order]), "one behind the other"
    assert count.sum() == len(table.entries) <= 40 * (len(points) + 256)
    if name in ("sphere", "icosphere", "egg", "dish"):
        assert count.mean() < 10
        assert len(table.entries) < 8 * (len(points) + 256)
    upwards = np.ones(len(table.entries), dtype=bool)
    upwards[first] = False
    assert (np.diff(table.entries, prepend=-1)[upwards] > 0).all(), "of equals the first is taken"


def test_small_hulls_are_scanned(rng):
    assert gk.ConvexHull(naive.unit_vectors(rng, 40))._packed[0][layout.PARTS] == 0


def test_cell_directions_are_on_a_cube():
    middles = cell_directions(7)
    assert middles.shape == (294, 3)
    assert (np.abs(middles).max(axis=1) == 1.0).all()
    assert len(np.unique(middles, axis=0)) == 294
