"""Random shapes and poses for the tests of bodies, and their slow reference implementation: every pair of parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import gjk3d as gk

Array = NDArray[np.float64]
Placed = Sequence[tuple[Any, Array]]


def at(*move: float, rotation: Rotation | None = None) -> Array:
    pose = np.eye(4)
    pose[:3, 3] = move
    if rotation is not None:
        pose[:3, :3] = rotation.as_matrix()
    return pose


def anywhere(rng: np.random.Generator, reach: float) -> Array:
    return at(*rng.uniform(-reach, reach, 3), rotation=Rotation.random(rng=rng))


def some_shape(rng: np.random.Generator) -> Any:
    return (
        gk.Box(rng.uniform(0.2, 1, 3)),
        gk.Sphere(rng.uniform(0.1, 0.5)),
        gk.Capsule(0.2, 0.5),
        gk.Cylinder(0.3, 0.6),
        gk.Ellipsoid(rng.uniform(0.2, 0.6, 3)),
        gk.ConvexHull(rng.normal(size=(12, 3)) * 0.3),
        gk.Box((0.5, 0.3, 0.2)).inflated(0.1),
    )[rng.integers(7)]


def some_compound(rng: np.random.Generator, count: int, reach: float = 1.0) -> gk.Compound:
    return gk.Compound([(some_shape(rng), anywhere(rng, reach)) for _ in range(count)])


def of_all_pairs(a: Placed, b: Placed, pose_a: Array, pose_b: Array) -> tuple[float, float]:
    """Return bounds of the signed distance of the nearest, or deepest, pair of parts."""
    rows = [gk.signed_distance(s, t, pose_a @ p, pose_b @ q) for s, p in a for t, q in b]
    return min(row.lower for row in rows), min(row.upper for row in rows)


def check_against_parts(a: Any, a_parts: Placed, b: Any, b_parts: Placed, pose_a: Array, pose_b: Array) -> bool:
    """Compare all results for two unions with those of their parts; return whether the unions overlap."""
    lower, upper = of_all_pairs(a_parts, b_parts, pose_a, pose_b)
    signed, swapped = gk.signed_distance(a, b, pose_a, pose_b), gk.signed_distance(b, a, pose_b, pose_a)
    gap = gk.distance(a, b, pose_a, pose_b)
    assert gk.collide(a, b, pose_a, pose_b) == gk.collide(b, a, pose_b, pose_a) == (lower <= 0)
    assert signed.status == swapped.status
    assert max(signed.lower, swapped.lower) <= min(signed.upper, swapped.upper)
    for answer in (signed, swapped, gap):
        assert answer.lower <= answer.distance <= answer.upper
        assert abs(np.linalg.norm(answer.normal) - 1.0) < 1e-12
        assert np.abs(answer.point_b - answer.point_a - answer.distance * answer.normal).max() < 1e-11
    if lower > 0:
        assert signed.status == gap.status == gk.Status.SEPARATED
        for answer in (signed, swapped, gap):
            assert max(answer.lower, lower) <= min(answer.upper, upper)
            assert answer.tight
            assert answer.upper - answer.lower < 1e-8
        assert not gk.collide(a, b, pose_a, pose_b, margin=0.99 * lower)
        assert gk.collide(a, b, pose_a, pose_b, margin=1.01 * upper)
        return False
    assert gap.distance == gap.lower == gap.upper == 0.0
    assert gap.status == gk.Status.OVERLAPPING
    # a translation that separates the bodies separates the deepest pair
    assert signed.upper <= upper + 1e-9
    moved = at(*(signed.separation_vector * (1 + 1e-9) + signed.normal * 1e-9)) @ pose_b
    assert not gk.collide(a, b, pose_a, moved)
    return True
