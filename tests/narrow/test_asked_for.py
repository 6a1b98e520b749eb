"""What is asked for at the edge of what numbers hold: common points of huge boxes far away, widths on a shared axis."""

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
def test_common_point_of_huge_boxes_that_barely_overlap_is_proven(size: float, searched: bool) -> None:
    """Far from the origin too, the overlap a few rounding errors deep: the judge places the point in both boxes."""
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
def test_width_asked_for_is_kept_where_an_axis_is_shared(question, tol: float) -> None:  # type: ignore[no-untyped-def]
    """Of a cone and a segment, capsule or point on its axis a circle of directions ties."""
    rng = np.random.default_rng(7)
    for other in ("segment", "capsule", "point"):
        for _ in range(12):
            radius, height, half = rng.uniform(0.2, 2.0, 3)
            cone = gk.Cone(radius, height)
            on_axis = {
                "segment": gk.Segment((0, 0, -half), (0, 0, half)),
                "capsule": gk.Capsule(0.3 * half, 2 * half),
                "point": gk.Point((0, 0, 0)),
            }[other]
            pose = placed(np.eye(3), np.array([0.0, 0.0, rng.uniform(-1, 1) * (0.5 * height + half)]))
            answer = question(cone, on_axis, None, pose, tol=tol)
            reach = np.hypot(radius, 0.5 * height) + 2.0 * half + abs(pose[2, 3])
            assert answer.upper - answer.lower <= tol * reach
