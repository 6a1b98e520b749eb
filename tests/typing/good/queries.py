"""Types of results for single_pose pose, for many_poses poses and for poses of unknown shape."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import gjk3d as gk

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
box, ball, pose = gk.Box((1, 1, 1)), gk.Sphere(0.5), np.eye(4)
stack = np.zeros((3, 4, 4))


def single_pose() -> None:
    assert_type(gk.collide(box, ball), bool)
    assert_type(gk.collide(box, ball, None, pose, margin=0.1, workers=2), bool)
    near = gk.distance(box, ball, pose)
    assert_type(near, gk.Distance[float])
    assert_type(near.distance, float)
    assert_type(near.depth, float)
    assert_type(near.tight, bool)
    assert_type(near.point_a, Array)
    assert_type(near.certificate, gk.Certificate | gk.PartsCertificate | None)
    assert_type(near.status, gk.Status)
    assert_type(near.iterations, int)
    rows = [[1.0, 0, 0, 0.5], [0.0, 1, 0, 0], [0.0, 0, 1, 0], [0.0, 0, 0, 1]]
    assert_type(gk.signed_distance(box, ball, rows, depth="facets").upper, float)
    assert_type(gk.collide(box, ball, [[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]), bool)
    assert_type(gk.signed_distance(box, ball, pose.astype(np.float32)).lower, float)
    touch = gk.contact(box, ball, None, pose)
    assert_type(touch.count, int)
    assert_type(touch.result, gk.Distance[float])
    assert_type(gk.overlap(box, box), gk.ConvexHull | None)
    assert_type(gk.penetration(box, ball), gk.Penetration)
    assert_type(gk.separating_axis(box, box).gap, float)
    assert_type(box.contains((0, 0, 0)), bool)
    gk.Box(pose[0]).scaled(2).inflated(0.1).placed(pose)


def many_poses(seen: list[Array]) -> None:
    assert_type(gk.collide(box, ball, None, stack), Bools)
    assert_type(gk.collide(box, ball, [pose, pose]), Bools)
    far = gk.distance(box, ball, pose, stack)
    assert_type(far, gk.Distance[Array])
    assert_type(far.lower, Array)
    assert_type(far.tight, Bools)
    assert_type(far[0].status, gk.Status)
    assert_type(far[1:].distance, Array)
    assert_type(gk.contact(box, ball, None, stack)[0].count, int)
    assert_type(box.contains([(0, 0, 0), (1, 2, 3)]), Bools)


def unknown_shape(poses: Array, anything: Any) -> None:
    """An array of unknown shape gives fields of type Any, and the names of fields are still checked."""
    assert_type(gk.collide(box, ball, None, poses), Any)
    result = gk.distance(box, ball, None, poses)
    assert_type(result, gk.Distance[Any])
    assert_type(result.distance, Any)
    assert_type(result[0].distance, float)
    assert_type(gk.distance(box, ball, None, [poses, poses]), gk.Distance[Any])
    assert_type(gk.distance(box, ball, anything), gk.Distance[Any])


def print_result(result: gk.Distance, exact: gk.Distance[float]) -> float:
    print(result.status, f"{result.distance:.3f}")
    return exact.distance


def prepared() -> None:
    pair = gk.Pair(box, ball)
    assert_type(pair.collide(None, pose), bool)
    assert_type(pair.collide(None, stack), Bools)
    assert_type(pair.distance(pose).distance, float)
    assert_type(pair.signed_distance(None, stack).distance, Array)
    pairs = gk.Pairs([box, ball])
    assert_type(pairs.collide([(0, 1)], stack), Bools)
    assert_type(pairs.distance(np.array([(0, 1)]), stack).status, NDArray[np.int64])
    assert_type(pairs.signed_distance([(0, 1)], [pose, pose])[0], gk.Distance[float])


def rays(points: Array) -> None:
    hit = gk.raycast(box, (5, 0, 0), (-1, 0, 0))
    assert_type(hit.hit, bool)
    assert_type(hit.distance, float)
    assert_type(gk.raycast(box, [(5, 0, 0)], (-1, 0, 0)).hit, Bools)
    assert_type(gk.raycast(box, points, (-1, 0, 0)), gk.RayHit[Any])


def moving() -> None:
    impact = gk.time_of_impact(box, ball, gk.Motion.translation(None, (1, 0, 0)), pose)
    assert_type(impact, gk.Impact[Any])
    assert_type(impact[0].status, gk.ImpactStatus)
    assert_type(impact.time, Array)
    gk.shapecast(box, ball, (0, 0, 1), pose)
    gk.Motion.between(None, pose, kind="screw").at([0.0, 0.5])


def meshes() -> None:
    mesh = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    assert_type(gk.collide(mesh, box), bool)
    assert_type(gk.signed_distance(mesh, gk.Compound([(box, None)])).distance, float)
    assert_type(mesh.contains((0, 0, 0)), bool)
    assert_type(gk.intersection_curve(mesh, mesh), Array)
    gk.PointCloud([(0, 0, 0)], 0.1)
    gk.aabb(box, pose).overlaps(gk.AABB((0, 0, 0), (1, 1, 1)))
