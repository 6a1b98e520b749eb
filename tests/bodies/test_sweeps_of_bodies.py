"""`Swept` of bodies contains every position of every point on the way, and is exact along a line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from message_checks import assert_names

import gjk3d as gk
from gjk3d.bodies.base import packed_parts
from gjk3d.errors import ShapeError, UnboundedShapeError
from gjk3d.poses import matrices
from tests.bodies import every_kind
from tests.bodies.every_kind import BOUNDED
from tests.bodies.random_shapes import anywhere, at


def points_of(known: Any, rng: Any, count: int) -> Any:
    """Return random points of the parts."""
    points = []
    for corners in (known.parts[k] for k in rng.integers(len(known.parts), size=count)):
        weights = rng.dirichlet(np.ones(len(corners)))
        way = rng.normal(size=3)
        points.append(weights @ corners + 0.999 * known.radius * way / np.linalg.norm(way))
    return np.array(points)


def contains_points(body: Any, points: Any, margin: float = 0.0) -> Any:
    poses = np.tile(np.eye(4), (len(points), 1, 1))
    poses[:, :3, 3] = points
    return gk.collide(body, gk.Point(), None, poses, margin=margin)


@pytest.mark.parametrize("name", BOUNDED)
@pytest.mark.parametrize("turning", [False, True])
def test_sweep_contains_every_position_on_the_way(name: str, turning: bool) -> None:
    known, rng = BOUNDED[name](), np.random.default_rng(3)
    points = points_of(known, rng, 40)
    if turning:
        motion = gk.Motion(anywhere(rng, 1.0), rng.normal(size=3), rng.normal(size=3), center=(0.5, 0, 0))
        swept = gk.Swept(known.body, motion, 4)
        places = [motion.at(t) for t in rng.random(40)]
        positions = np.array([pose[:3, :3] @ p + pose[:3, 3] for pose, p in zip(places, points, strict=True)])
    else:
        way = 3.0 * rng.normal(size=3)
        swept = gk.Swept(known.body, way)
        positions = points + rng.random((40, 1)) * way
    assert isinstance(swept, gk.Compound)
    assert contains_points(swept, positions, 1e-12).all()


@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(["solid", "voxels", "cloud", "compound"]))
def test_straight_sweep_collides_where_the_moving_body_does(seed: int, name: str) -> None:
    """A ball at rest collides with the sweep exactly if the moving body hits the ball."""
    rng = np.random.default_rng(seed)
    known = BOUNDED[name]() if name == "solid" else BOUNDED[name](seed)
    way = 4.0 * rng.normal(size=3)
    swept = gk.Swept(known.body, way)
    for _ in range(6):
        pose = at(*(rng.uniform(-2, 2, 3) + rng.random() * way))
        ball = gk.Sphere(0.2)
        impact = gk.shapecast(known.body, ball, way, None, pose)
        if abs(gk.distance(swept, ball, None, pose).distance) > 1e-9 or impact.status != gk.ImpactStatus.FREE:
            assert gk.collide(swept, ball, None, pose, margin=1e-9) == (impact.status != gk.ImpactStatus.FREE)


def test_sweep_of_a_closed_mesh_contains_its_inside() -> None:
    solid = every_kind.closed(10.0).body
    swept = gk.Swept(solid, gk.Motion(at(100, 0, 0), (1.0, 0, 0)))
    assert contains_points(swept, np.array([(105.0, 5, 5), (100.5, 2, 2), (112.0, 12, 5)])).tolist() == [
        True,
        True,
        False,
    ]
    shell = gk.Mesh(solid.vertices, solid.faces, solid=False)
    assert not contains_points(gk.Swept(shell, (1, 0, 0)), np.array([(5.0, 5, 5)]))[0]


def test_invalid_sweeps_raise() -> None:
    with pytest.raises(UnboundedShapeError, match=r"HeightField.*gjk3d\.Mesh\(\*field\.surface\(\)\)"):
        gk.Swept(every_kind.ground().body, (1, 0, 0))
    solid = every_kind.closed().body
    with pytest.raises(ShapeError) as caught:
        gk.Swept(solid, (1, 2))
    assert_names(caught.value, "motion", "(1, 2)")
    with pytest.raises(ShapeError) as caught:
        gk.Swept(solid, gk.Motion(None, angular=(0, 0, 1.0)), 5000)
    assert_names(caught.value, "4096", "gjk3d.ConvexHull")
    with pytest.raises(ShapeError) as caught:
        gk.Swept(solid, gk.Motion([np.eye(4)] * 3))
    assert_names(caught.value, "3 rows", "motion[0]")
    with pytest.raises(ShapeError, match=r"shape\b.*\bstr\b"):
        gk.Swept("box", (1, 0, 0))


def _varied() -> gk.Compound:
    """Return a compound of rotated parts: hulls of equal counts, curved and composed shapes, copies and a mesh."""
    rng = np.random.default_rng(5)
    hulls = [gk.ConvexHull(rng.normal(size=(4, 3)) + 5.0 * rng.normal(size=3)) for _ in range(3)]
    ball, wedge = gk.Sphere(0.3), gk.Triangle(rng.normal(size=(3, 3)))
    shapes = [*hulls, hulls[0], wedge, wedge, ball, ball, gk.Cylinder(0.2, 1), gk.Capsule(0.1, 1), gk.Point((1, 2, 3))]
    shapes += [gk.Box((1, 2, 3)).inflated(0.25), gk.Cone(0.2, 1).scaled((1, 2, 3)), every_kind.mesh(1).body]
    return gk.Compound([(shape, None if k % 3 else anywhere(rng, 2.0)) for k, shape in enumerate(shapes)])


EVERY = {
    **{name: make().body for name, make in BOUNDED.items()},
    "columns": gk.HeightField(every_kind.ground().body.heights, 0.5, (-1.0, -1.0), bottom=-0.5),
    "shell": gk.Shell(every_kind.mesh(2).body, 0.1),
    "far": every_kind.mesh(4, 1e-3, 1e6).body,
    "varied": _varied(),
}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("turning", [False, True])
def test_each_part_sweeps_as_a_single_shape(name: str, turning: bool) -> None:
    rng = np.random.default_rng(6)
    body = EVERY[name]
    motion: Any = rng.normal(size=3)
    if turning:
        motion = gk.Motion(anywhere(rng, 1.0), motion, rng.normal(size=3), center=(0.5, 0, 0))
    swept, parts = gk.Swept(body, motion), body._as_parts()
    made = [shape for shape, _ in swept.parts if isinstance(shape, gk.Shape)]
    assert len(made) == parts.count
    ways = rng.normal(size=(20, 3))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    size = float(np.abs(swept.bounds).max())
    for k in rng.permutation(parts.count)[:20].tolist():
        single = gk.Swept(parts.shape(k).placed(matrices(packed_parts(parts.given, np.array([k])).rows)[0]), motion)
        actual, expected = (shape.support(ways) - shape._radius * ways for shape in (made[k], single))
        assert np.abs(actual - expected).max() <= 1e-14 * size
        # the bulge of a rotation is bounded by a ball around the part, and several balls are valid
        assert made[k]._radius <= 2.0 * single._radius
        assert made[k] == type(made[k])._from_terms(made[k]._terms(), made[k]._radius)
        for mine, packed in zip(made[k]._packed, made[k]._pack(), strict=True):
            assert mine.tolist() == packed.tolist()
