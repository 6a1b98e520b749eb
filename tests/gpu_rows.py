"""Compare queries on a graphics card with those on the processor: ``python -m tests.gpu_rows NAME ROWS``.

Each comparison is a separate process, since numba reads ``NUMBA_ENABLE_CUDASIM`` when it is imported. ROWS is the
number of poses of each pair of shapes, or of configurations. Use a million with a real card.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.errors import ShapeError, UnsupportedPair
from gjk3d.results import Status
from tests.message_checks import assert_names

ARM = Path(__file__).parents[1] / "data" / "arm"
_RNG = np.random.default_rng(18)
SHAPES = [
    gk.Sphere(0.5),
    gk.Box((1, 0.6, 0.4)),
    gk.Capsule(0.2, 0.8),
    gk.Cylinder(0.4, 0.7),
    gk.Cone(0.4, 0.9),
    gk.Ellipsoid((0.5, 0.3, 0.2)),
    gk.ConvexHull(_RNG.normal(size=(20, 3)) * 0.4),
    gk.ConvexHull(_RNG.normal(size=(400, 3)) * 0.2),
    gk.Box((0.6, 0.5, 0.4)).inflated(0.1),
    gk.Triangle([(0, 0, 0), (1, 0, 0), (0, 1, 0)]),
]


def poses(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Return random poses, some of which are parallel to the axes, touch or coincide."""
    made = np.tile(np.eye(4), (rows, 1, 1))
    made[:, :3, :3] = Rotation.random(rows, rng).as_matrix()
    made[:, :3, 3] = rng.normal(size=(rows, 3)) * 0.7
    plain = rng.random(rows) < 0.3
    made[plain, :3, :3] = np.eye(3)
    made[plain, :3, 3] = rng.integers(-4, 5, (int(plain.sum()), 3)) * 0.25
    return made


def same(ours: gk.Distance, theirs: gk.Distance) -> None:
    """Check that two results have overlapping intervals, equal flags, and distances within their widths."""
    assert (ours.lower <= theirs.upper).all()
    assert (theirs.lower <= ours.upper).all()
    assert (ours.lower <= ours.distance).all()
    assert (ours.distance <= ours.upper).all()
    assert (ours.tight == theirs.tight).all()
    far = (ours.status == Status.BEYOND) & (theirs.status == Status.BEYOND)
    widths = (ours.upper - ours.lower) + (theirs.upper - theirs.lower)
    assert (far | (np.abs(ours.distance - theirs.distance) <= widths)).all()


def stacks(rng: np.random.Generator, rows: int) -> None:
    """Compare queries of two shapes at a stack of poses."""
    for k, a in enumerate(SHAPES):
        for b in SHAPES[k::3]:
            poses_a, poses_b = poses(rng, rows), poses(rng, rows)
            for margin in (0.0, 0.1, -0.05):
                ours = gk.collide(a, b, poses_a, poses_b, margin=margin, device="cuda")
                assert ours.tolist() == gk.collide(a, b, poses_a, poses_b, margin=margin).tolist()
            same(gk.distance(a, b, None, poses_b, device="cuda"), gk.distance(a, b, None, poses_b))
            same(
                gk.signed_distance(a, b, poses_a, poses_b, max_distance=0.5, device="cuda"),
                gk.signed_distance(a, b, poses_a, poses_b, max_distance=0.5),
            )
    # touching boxes, an empty stack, and a single pose
    x = np.tile(np.eye(4), (5, 1, 1))
    x[:, 0, 3] = 1.0 + np.array([-1e-9, -1e-16, 0.0, 2.5e-16, 1e-9])
    box = gk.Box((1, 1, 1))
    assert gk.collide(box, box, None, x, device="cuda").tolist() == gk.collide(box, box, None, x).tolist()
    assert gk.collide(box, box, None, x[:0], device="cuda").tolist() == []
    assert gk.collide(box, box, None, x[0], device="cuda") is True
    assert gk.distance(box, box, device="cuda").distance == 0.0


def pairs(rng: np.random.Generator, rows: int) -> None:
    """Compare queries of many different pairs, some of which only the processor supports."""
    mesh = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
    some = gk.Pairs([*SHAPES, gk.Halfspace((0, 0, 1), 0.0), mesh])
    which = rng.integers(0, len(some), (rows, 2))
    which = which[(which != len(SHAPES)).any(axis=1)]
    where = poses(rng, 2 * len(which)).reshape(-1, 2, 4, 4)
    for margin in (0.0, 0.1):
        ours = some.collide(which, where, margin=margin, device="cuda")
        assert ours.tolist() == some.collide(which, where, margin=margin).tolist()
    same(some.distance(which, where, device="cuda"), some.distance(which, where))
    same(some.signed_distance(which, where, device="cuda"), some.signed_distance(which, where))
    same(
        some.signed_distance(which, where, depth="epa", tol=1e-3, device="cuda"),
        some.signed_distance(which, where, depth="epa", tol=1e-3),
    )


def robots(rng: np.random.Generator, rows: int) -> None:
    """Compare queries of an arm among shapes, a floor and a mesh, some with angles too large for our own sine."""
    robot = gk.robot.Robot.from_urdf(ARM / "arm.urdf", ARM / "arm.srdf")
    near = np.eye(4)
    near[:3, 3] = (0.4, 0.2, 0.4)
    far = np.eye(4)
    far[:3, 3] = (-0.4, -0.3, 0.5)
    checker = gk.robot.Checker(
        robot,
        {"ball": (gk.Sphere(0.1), near), "box": (gk.Box((0.2, 0.1, 0.3)), far), "floor": gk.Halfspace((0, 0, 1), -0.5)},
        margin=0.01,
    )
    q = rng.uniform(-2.5, 2.5, (rows, robot.dof))
    q[:2] *= 1e7
    free = checker.free(q)
    assert rows < 10 or 0 < free.sum() < rows
    assert checker.free(q, device="cuda").tolist() == free.tolist()
    assert checker.free(q[2], device="cuda") is bool(free[2])
    mesh = gk.Mesh([(0, 0, 0), (0.2, 0, 0), (0, 0.2, 0), (0, 0, 0.2)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
    checker.add("mesh", mesh, near)
    assert checker.free(q, device="cuda").tolist() == checker.free(q).tolist()


def refusals(rng: np.random.Generator, rows: int) -> None:
    """Check the errors of queries that a card does not support."""
    box, ball = gk.Box((1, 1, 1)), gk.Sphere(1)
    many = poses(rng, max(rows, 2))
    mesh = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    two_shapes = gk.Pairs([box, ball])
    refused = [
        (UnsupportedPair, ("device='cuda'", "Mesh", "Box"), lambda: gk.collide(mesh, box, device="cuda")),
        (
            UnsupportedPair,
            ("device='cuda'", "Box", "Plane"),
            lambda: gk.distance(box, gk.Plane((0, 0, 1), 0), device="cuda"),
        ),
        (ShapeError, ("device='cuda'", "trace"), lambda: gk.distance(box, ball, trace=True, device="cuda")),
        (
            ShapeError,
            ("device='cuda'", "depth='facets'"),
            lambda: gk.signed_distance(box, box, None, many, depth="facets", device="cuda"),
        ),
        (ShapeError, ("'gpu'", "'cpu'", "'cuda'"), lambda: gk.collide(box, ball, device="gpu")),
        (
            ShapeError,
            ("device='cuda'", "memory"),
            lambda: two_shapes.collide([(0, 1)], many[:2], memory=two_shapes.memory([(0, 1)]), device="cuda"),
        ),
    ]
    for kind, fragments, query in refused:
        with pytest.raises(kind) as caught:
            query()
        assert_names(caught.value, *fragments)


if __name__ == "__main__":
    comparisons = {function.__name__: function for function in (stacks, pairs, robots, refusals)}
    comparisons[sys.argv[1]](np.random.default_rng(19), int(sys.argv[2]))
