"""Questions asked of a graphics card and of the processor, which have to agree: ``python -m tests.gpu_rows NAME ROWS``.

A process of its own for each, since numba reads ``NUMBA_ENABLE_CUDASIM`` when it is imported. Rows are so many of each
two shapes, or configurations; a person with a card asks a million.
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
from tests.words import assert_names

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
    """Return random poses, of which some lie along the axes, some touch and some coincide."""
    made = np.tile(np.eye(4), (rows, 1, 1))
    made[:, :3, :3] = Rotation.random(rows, rng).as_matrix()
    made[:, :3, 3] = rng.normal(size=(rows, 3)) * 0.7
    plain = rng.random(rows) < 0.3
    made[plain, :3, :3] = np.eye(3)
    made[plain, :3, 3] = rng.integers(-4, 5, (int(plain.sum()), 3)) * 0.25
    return made


def same(ours: gk.Distance, theirs: gk.Distance) -> None:
    """Demand that two answers enclose one truth, no wider than each other by much, and say the same of it."""
    assert (ours.lower <= theirs.upper).all()
    assert (theirs.lower <= ours.upper).all()
    assert (ours.lower <= ours.distance).all()
    assert (ours.distance <= ours.upper).all()
    assert (ours.tight == theirs.tight).all()
    far = (ours.status == Status.BEYOND) & (theirs.status == Status.BEYOND)
    widths = (ours.upper - ours.lower) + (theirs.upper - theirs.lower)
    assert (far | (np.abs(ours.distance - theirs.distance) <= widths)).all()


def stacks(rng: np.random.Generator, rows: int) -> None:
    """Two shapes at a stack of poses."""
    for k, a in enumerate(SHAPES):
        for b in SHAPES[k::3]:
            there, here = poses(rng, rows), poses(rng, rows)
            for margin in (0.0, 0.1, -0.05):
                ours = gk.collide(a, b, there, here, margin=margin, device="cuda")
                assert ours.tolist() == gk.collide(a, b, there, here, margin=margin).tolist()
            same(gk.distance(a, b, None, here, device="cuda"), gk.distance(a, b, None, here))
            same(
                gk.signed_distance(a, b, there, here, max_distance=0.5, device="cuda"),
                gk.signed_distance(a, b, there, here, max_distance=0.5),
            )
    # touching is an answer, and a stack of nothing is one
    x = np.tile(np.eye(4), (5, 1, 1))
    x[:, 0, 3] = 1.0 + np.array([-1e-9, -1e-16, 0.0, 2.5e-16, 1e-9])
    box = gk.Box((1, 1, 1))
    assert gk.collide(box, box, None, x, device="cuda").tolist() == gk.collide(box, box, None, x).tolist()
    assert gk.collide(box, box, None, x[:0], device="cuda").tolist() == []
    assert gk.collide(box, box, None, x[0], device="cuda") is True
    assert gk.distance(box, box, device="cuda").distance == 0.0


def pairs(rng: np.random.Generator, rows: int) -> None:
    """Many different pairs, of which some are the processor's."""
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
    """Configurations of an arm among shapes, a floor and a mesh; angles too large for our own sine."""
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
    """What no card answers is refused, with what would."""
    box, ball = gk.Box((1, 1, 1)), gk.Sphere(1)
    many = poses(rng, max(rows, 2))
    mesh = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    one = gk.Pairs([box, ball])
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
            lambda: one.collide([(0, 1)], many[:2], memory=one.memory([(0, 1)]), device="cuda"),
        ),
    ]
    for kind, fragments, ask in refused:
        with pytest.raises(kind) as caught:
            ask()
        assert_names(caught.value, *fragments)


if __name__ == "__main__":
    questions = {each.__name__: each for each in (stacks, pairs, robots, refusals)}
    questions[sys.argv[1]](np.random.default_rng(19), int(sys.argv[2]))
