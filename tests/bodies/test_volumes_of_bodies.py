"""`aabb`, `obb` and `bounding_sphere` of non-convex bodies, compared with all their points in rational numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gjk3d as gk
from gjk3d.errors import UnboundedShapeError
from tests.bodies import every_kind
from tests.bodies.every_kind import BOUNDED, Known
from tests.bodies.random_shapes import anywhere, at

STILL = np.eye(4)


def exactly(points: Any) -> Any:
    """Return numbers as fractions."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(points))


def check_contained(known: Known, pose: Any) -> None:
    """Check that the three volumes of a body at a pose contain each of its points, without rounding."""
    where = STILL if pose is None else pose
    points = exactly(known.points) @ exactly(where[:3, :3].T) + exactly(where[:3, 3])
    radius = Fraction(known.radius)
    box = gk.aabb(known.body, pose)
    assert (points - radius >= exactly(box.low)).all()
    assert (points + radius <= exactly(box.high)).all()
    ball = gk.bounding_sphere(known.body, pose)
    offsets = points - exactly(ball.center)
    assert ball.radius >= radius
    assert ((offsets**2).sum(axis=1) <= (Fraction(ball.radius) - radius) ** 2).all()
    turned = gk.obb(known.body, pose)
    axes = exactly(turned.pose[:3, :3])
    along = (points - exactly(turned.pose[:3, 3])) @ axes
    # the axes are unit vectors only to rounding
    slack = Fraction(2**-50) * max(exactly(turned.extents))
    assert (abs(along) + radius <= exactly(turned.extents) / 2 + slack).all()


def size_of(known: Known) -> float:
    return float(np.ptp(known.points, axis=0).max()) + known.radius


def check_tight(known: Known, pose: Any) -> None:
    """Check that the volumes are no larger than those of the hull of all points."""
    where = STILL if pose is None else pose
    points = known.points @ where[:3, :3].T + where[:3, 3]
    hull = gk.ConvexHull(points)
    shape = hull.inflated(known.radius) if known.radius > 0.0 else hull
    slack = 1e-12 * (size_of(known) + float(np.abs(points).max()))
    box = gk.aabb(known.body, pose)
    assert box.low == pytest.approx(points.min(axis=0) - known.radius, abs=slack)
    assert box.high == pytest.approx(points.max(axis=0) + known.radius, abs=slack)
    assert gk.bounding_sphere(known.body, pose).radius <= gk.bounding_sphere(shape).radius * (1.0 + 1e-9) + slack
    assert np.prod(gk.obb(known.body, pose).extents + slack) >= np.prod(gk.obb(shape).extents) * (1.0 - 1e-6)


@pytest.mark.parametrize("kind", BOUNDED)
@pytest.mark.parametrize("seed", range(3))
def test_bounding_volumes_contain_every_point(kind: str, seed: int) -> None:
    known = BOUNDED[kind]() if kind == "solid" else BOUNDED[kind](seed)
    pose = anywhere(np.random.default_rng(seed), 3.0)
    for where in (None, pose):
        check_contained(known, where)
        check_tight(known, where)


@pytest.mark.parametrize("kind", ["mesh", "compound", "voxels", "cloud"])
@pytest.mark.parametrize(
    ("size", "off"), [(1e-40, 0.0), (1e40, 0.0), (1e-6, 1.0), (1.0, 1e6), (1e-12, 1e-3), (1e-40, 1e-36)]
)
def test_tiny_huge_and_far_bodies(kind: str, size: float, off: float) -> None:
    known = BOUNDED[kind](1, size, off)
    check_contained(known, None)
    check_contained(known, at(3.0 * size, -2.0 * size, size))
    check_contained(known, anywhere(np.random.default_rng(4), 2.0 * size + off))


def test_flat_thin_and_single_point_bodies() -> None:
    for known in (
        every_kind.mesh(2, flat=True),
        Known(gk.Mesh([(0, 0, 0), (1, 0, 0), (3, 0, 0)], [(0, 1, 2)]), [np.array([(0, 0, 0), (1, 0, 0), (3.0, 0, 0)])]),
        Known(gk.PointCloud([(1, 2, 3)], 0.0), [np.array([(1.0, 2, 3)])]),
        Known(gk.PointCloud([(1, 2, 3), (1, 2, 3 + 1e-14)], 1e-3), [np.array([(1.0, 2, 3)])], 1e-3),
        every_kind.closed(np.array([1.0, 1e-9, 1.0])),
    ):
        check_contained(known, None)
        check_contained(known, anywhere(np.random.default_rng(8), 5.0))


@given(
    kind=st.sampled_from(["mesh", "compound", "voxels", "cloud"]), seed=st.integers(0, 2**32 - 1),
    exponent=st.integers(-45, 45), far=st.sampled_from([0.0, 1.0, 1e3, 1e8]),
)  # fmt: skip
def test_random_bodies_at_any_size_and_position(kind: str, seed: int, exponent: int, far: float) -> None:
    size = 10.0**exponent
    known = BOUNDED[kind](seed, size, size * far if exponent < 40 else 0.0)
    check_contained(known, None)
    check_contained(known, anywhere(np.random.default_rng(seed), size))


def test_stacks_lists_and_overlaps_of_volumes() -> None:
    solid, cloud = every_kind.closed(), every_kind.cloud(3)
    poses = np.stack([anywhere(np.random.default_rng(k), 2.0) for k in range(4)])
    many = gk.aabb(solid.body, poses)
    for k, pose in enumerate(poses):
        single = gk.aabb(solid.body, pose)
        assert (many[k].low == single.low).all()
        assert (many[k].high == single.high).all()
    spheres = gk.bounding_sphere([solid.body, gk.Sphere(2.0), cloud.body])
    assert len(spheres) == 3
    assert spheres.radius[0] == gk.bounding_sphere(solid.body).radius
    assert gk.obb([solid.body, cloud.body], poses[:2]).overlaps(gk.aabb(solid.body)).shape == (2,)


def test_more_curved_parts_than_a_hull_uses() -> None:
    rng = np.random.default_rng(5)
    middles = rng.uniform(-2, 2, (300, 3))
    body = gk.Compound([(gk.Sphere(0.1), at(*middle)) for middle in middles])
    known = Known(body, list(middles[:, None]), 0.1)
    check_contained(known, None)
    check_contained(known, anywhere(rng, 3.0))
    assert (gk.aabb(body).extents <= np.ptp(middles, axis=0) + 0.2 + 1e-6).all()


@pytest.mark.parametrize("fit", [gk.aabb, gk.obb, gk.bounding_sphere])
def test_unbounded_fields_and_invalid_shapes_raise(fit: Any) -> None:
    field = every_kind.ground().body
    with pytest.raises(UnboundedShapeError, match=r"Mesh\(\*field\.surface\(\)\)"):
        fit(field)
    surface = gk.Mesh(*field.surface())
    assert fit(surface) is not None
    with pytest.raises(gk.errors.UnsupportedPair, match=r"gjk3d\.Box"):
        fit("a box")
