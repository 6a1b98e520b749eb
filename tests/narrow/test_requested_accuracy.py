"""Requested accuracy at the limit of floats: common points of huge distant boxes, and widths on a shared axis."""

from __future__ import annotations

import naive
import numpy as np
import pytest

import gjk3d as gk


def placed(rotation: naive.Array, translation: naive.Array) -> naive.Array:
    """Return a pose."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, translation
    return pose


@pytest.mark.parametrize("searched", [False, True], ids=["by formula", "by search"])
@pytest.mark.parametrize("size", [1e6, 1e7, 1e8, 1e9])
def test_common_point_of_barely_overlapping_boxes_is_proven(size: float, searched: bool) -> None:
    """`verify` proves a common point for overlaps of a few rounding errors, also far from the origin."""
    rng = np.random.default_rng(int(size))
    deep = 0
    for overlap in (1e-12, 4e-11, 1e-9):
        for away in (0.0, 1e2, 1e5):
            a, b = (gk.Box(size * rng.uniform(0.3, 3.0, 3)) for _ in range(2))
            turned = naive.random_rotations(rng, 2)
            far = away * size * rng.normal(size=3)
            pose_a = placed(turned[0], far)
            pose_b = placed(turned[1], far + size * rng.normal(size=3))
            start = gk.signed_distance(a, b, pose_a, pose_b)
            pose_b[:3, 3] -= (start.distance + overlap * size) * start.normal
            answer = gk.distance(a, b, pose_a, pose_b, trace=searched)
            deep += answer.status == gk.Status.OVERLAPPING
            verdict = gk.verify(answer, a, b, pose_a, pose_b)
            assert verdict, (size, overlap, away, verdict)
    assert deep > 0


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("question", [gk.distance, gk.signed_distance], ids=["distance", "depth"])
def test_width_respects_tol_on_a_shared_axis(question, tol: float) -> None:  # type: ignore[no-untyped-def]
    """A cone and a segment, capsule or point on its axis have a circle of equally good directions."""
    rng = np.random.default_rng(7)
    for kind in ("segment", "capsule", "point"):
        for _ in range(12):
            radius, height, half = rng.uniform(0.2, 2.0, 3)
            cone = gk.Cone(radius, height)
            on_axis = {
                "segment": gk.Segment((0, 0, -half), (0, 0, half)),
                "capsule": gk.Capsule(0.3 * half, 2 * half),
                "point": gk.Point((0, 0, 0)),
            }[kind]
            pose = placed(np.eye(3), np.array([0.0, 0.0, rng.uniform(-1, 1) * (0.5 * height + half)]))
            answer = question(cone, on_axis, None, pose, tol=tol)
            reach = np.hypot(radius, 0.5 * height) + 2.0 * half + abs(pose[2, 3])
            assert answer.upper - answer.lower <= tol * reach
