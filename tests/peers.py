"""Queries of coal and python-fcl on shapes built from the specs of the tests."""

from __future__ import annotations

from typing import Any

import coal
import fcl
import numpy as np
from naive import Spec
from scipy.spatial import ConvexHull


def coal_shape(spec: Spec) -> Any:
    kind, *numbers = spec
    if kind == "inflated":
        shape = coal_shape(numbers[0])
        shape.setSweptSphereRadius(float(numbers[1]))
        return shape
    if kind in ("hull", "tetrahedron"):
        points = coal.StdVec_Vec3s()
        for p in np.asarray(numbers[0], dtype=float):
            points.append(p)
        return coal.Convex.convexHull(points, False, None)
    if kind in ("box", "ellipsoid"):
        return {"box": coal.Box, "ellipsoid": coal.Ellipsoid}[kind](*(float(x) for x in numbers[0]))
    makers = {"sphere": coal.Sphere, "capsule": coal.Capsule, "cylinder": coal.Cylinder, "cone": coal.Cone}
    return makers[kind](*(float(x) for x in numbers))


def coal_signed_distance(a: Any, pose_a: Any, b: Any, pose_b: Any) -> tuple[float, Any, Any, Any]:
    """Return signed distance, normal, witness point on A and witness point on B of two coal shapes."""
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-12
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    result = coal.DistanceResult()
    value = coal.distance(a, _coal_pose(pose_a), b, _coal_pose(pose_b), request, result)
    return value, np.array(result.normal), np.array(result.getNearestPoint1()), np.array(result.getNearestPoint2())


def _coal_pose(pose: Any) -> Any:
    return coal.Transform3s(np.array(pose[:3, :3]), np.array(pose[:3, 3]))


def fcl_shape(spec: Spec) -> Any:
    kind, *numbers = spec
    if kind == "box":
        return fcl.Box(*(float(x) for x in numbers[0]))
    if kind == "hull":
        hull = ConvexHull(np.asarray(numbers[0], dtype=float))
        triangles = hull.simplices.copy()
        corners = hull.points[triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        inward = (normals * hull.equations[:, :3]).sum(axis=1) < 0
        # scipy orients triangles either way, fcl requires counterclockwise order
        triangles[inward] = triangles[inward][:, ::-1]
        counted = np.insert(triangles, 0, 3, axis=1)
        return fcl.Convex(hull.points, len(triangles), counted.ravel())
    makers = {"sphere": fcl.Sphere, "capsule": fcl.Capsule, "cylinder": fcl.Cylinder}
    return makers[kind](*(float(x) for x in numbers))


def fcl_distance(a: Any, pose_a: Any, b: Any, pose_b: Any) -> tuple[float, Any, Any]:
    """Return the distance and the witness points of two separated fcl shapes."""
    objects = [
        fcl.CollisionObject(shape, fcl.Transform(np.array(pose[:3, :3]), np.array(pose[:3, 3])))
        for shape, pose in ((a, pose_a), (b, pose_b))
    ]
    request, result = fcl.DistanceRequest(enable_nearest_points=True), fcl.DistanceResult()
    value = fcl.distance(*objects, request, result)
    return value, *result.nearest_points


def fcl_collide(a: Any, pose_a: Any, b: Any, pose_b: Any) -> bool:
    objects = [
        fcl.CollisionObject(shape, fcl.Transform(np.array(pose[:3, :3]), np.array(pose[:3, 3])))
        for shape, pose in ((a, pose_a), (b, pose_b))
    ]
    return bool(fcl.collide(*objects, fcl.CollisionRequest(), fcl.CollisionResult()))
