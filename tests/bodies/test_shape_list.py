"""One call for a body and a list of shapes gives the same bits as a call for each shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.bodies.contact import Touching, contact_points, contact_points_beside
from gjk3d.bodies.contact_pairs import ShapeList
from gjk3d.bodies.distance import collide
from gjk3d.convex.batch import Rows, select_rows
from gjk3d.engine.pairs import ShapeStore
from gjk3d.narrow.solve import FLOATS
from gjk3d.poses import pose_rows
from gjk3d.typing import Array, Bools, Ints

_RNG = np.random.default_rng(0)
_RING = trimesh.creation.torus(0.5, 0.2, 12, 6)
BODIES = {
    "mesh": gk.Mesh(_RING.vertices, _RING.faces),
    "open mesh": gk.Mesh(_RING.vertices, _RING.faces[30:], solid=False),
    "compound": gk.Compound([(gk.Box((1, 0.2, 0.2)), None), (gk.Sphere(0.3), None)]),
    "voxels": gk.VoxelGrid(_RNG.random((4, 4, 4)) < 0.5, 0.2),
    "cloud": gk.PointCloud(_RNG.normal(size=(40, 3)) * 0.4, 0.05),
    "heights": gk.HeightField(_RNG.random((9, 9)) * 0.4, 0.3),
}
SHAPES = (
    gk.Box((0.6, 0.4, 0.5)),
    gk.Sphere(0.3),
    gk.ConvexHull(_RNG.normal(size=(24, 3)) * 0.3),
    gk.Capsule(0.1, 0.6),
    gk.Box((0.3, 0.4, 0.2)).inflated(0.1),
    gk.Point((0.1, 0.0, 0.0)),
    gk.Triangle(_RNG.normal(size=(3, 3)) * 0.4),
    gk.MinkowskiSum(gk.Box((0.3, 0.3, 0.3)), gk.Cylinder(0.1, 0.2)),
)
_ROWS_PER_SHAPE = 6


def scenario(kind: str) -> tuple[Any, ShapeList, Array, Rows]:
    """Return a body, a list of shapes, the shape of each row, and poses of both."""
    rng = np.random.default_rng(3)
    count = _ROWS_PER_SHAPE * len(SHAPES)
    poses = np.tile(np.eye(4), (2, count, 1, 1))
    poses[..., :3, :3] = Rotation.random(2 * count, rng=rng).as_matrix().reshape(2, count, 3, 3)
    poses[1, :, :3, 3] = poses[0, :, :3, 3] + rng.normal(size=(count, 3)) * 0.4
    first, second = (pose_rows(some, "poses")[0] for some in poses)
    return BODIES[kind], ShapeList(SHAPES), rng.permutation(count) % len(SHAPES), Rows(first, second, count, True)


def collide_each(body: Any, which: Ints, rows: Rows, margin: float) -> Bools:
    """Return in which rows a body and the shape of the row collide, by one call of the engine."""
    store = ShapeStore([body, *SHAPES])
    pairs = np.column_stack([np.zeros(rows.total, dtype=np.int64), which + 1])
    at = np.arange(2 * rows.total).reshape(2, -1).T
    return store.collide(pairs, store.table(pairs, at), np.concatenate([rows.a, rows.b]), margin)


def by_row(touchings: list[Touching]) -> dict[int, list[list[float]]]:
    result = {}
    for some in touchings:
        for which, points in zip(some.which, np.split(some.points, np.cumsum(some.counts)[:-1]), strict=True):
            result[int(which)] = points.tolist()
    return result


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_booleans_equal_single_calls(kind: str, margin: float) -> None:
    body, _, shape_index, rows = scenario(kind)
    hits = collide_each(body, shape_index, rows, margin)
    assert 0 < hits.sum() < len(hits)
    for k, shape in enumerate(SHAPES):
        which = np.flatnonzero(shape_index == k)
        single = Rows(select_rows(rows.a, which), select_rows(rows.b, which), len(which), True)
        np.testing.assert_array_equal(hits[which], collide(body, shape, single, margin))


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize(("within", "most"), [(0.0, 4), (0.05, None)])
@pytest.mark.parametrize("workers", [1, 2])
def test_points_equal_single_calls(kind: str, within: float, most: int | None, workers: int) -> None:
    body, shelf, shape_index, rows = scenario(kind)
    answers = np.zeros((rows.total, FLOATS))
    answers[~collide_each(body, shape_index, rows, within), 1] = np.inf
    turned = np.arange(rows.total) % 3 == 0
    rows = rows._replace(workers=workers)
    result = by_row(list(contact_points_beside(body, shelf, shape_index, rows, answers, turned, within, most)))
    assert len(result) > rows.total // 8
    for k, shape in enumerate(SHAPES):
        for back in (False, True):
            which = np.flatnonzero((shape_index == k) & (turned == back))
            p, q = select_rows(rows.a, which), select_rows(rows.b, which)
            arguments = (
                (shape, body, Rows(q, p, len(which), True)) if back else (body, shape, Rows(p, q, len(which), True))
            )
            single = by_row(list(contact_points(*arguments, answers[which], within, most)))
            assert {int(which[i]): points for i, points in single.items()} == {
                int(i): result[int(i)] for i in which if int(i) in result
            }
