"""Example results to draw: every kind of shape, and pairs of every status."""

import numpy as np
from scipy.spatial.transform import Rotation

import gjk3d as gk


def pose(x, y, z, turn=(0.0, 0.0, 0.0)):
    out = np.eye(4)
    out[:3, :3] = Rotation.from_rotvec(turn).as_matrix()
    out[:3, 3] = x, y, z
    return out


def separated(size=1.0, shift=0.0):
    a, b = gk.Box(np.array([2.0, 2.0, 2.0]) * size), gk.Sphere(0.8 * size)
    return gk.signed_distance(a, b, pose(shift, shift, shift), pose(shift + 2.8 * size, shift, shift + 0.3 * size))


def overlapping():
    return gk.signed_distance(gk.Cylinder(0.8, 2.0), gk.Box((1, 1, 1)), None, pose(1.0, 0.1, 0.2, (0.3, 0.2, 0.1)))


SHAPES = {
    "point": gk.Point((0.1, 0.2, 0.3)),
    "segment": gk.Segment((0, 0, 0), (1, 0.5, 0.2)),
    "triangle": gk.Triangle([(0, 0, 0), (1, 0, 0), (0, 1, 0.2)]),
    "tetrahedron": gk.Tetrahedron([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]),
    "sphere": gk.Sphere(0.6),
    "box": gk.Box((1, 0.7, 0.5)),
    "capsule": gk.Capsule(0.3, 0.9),
    "cylinder": gk.Cylinder(0.4, 1.0),
    "cone": gk.Cone(0.5, 1.0),
    "ellipsoid": gk.Ellipsoid((0.3, 0.5, 0.8)),
    "halfspace": gk.Halfspace((1, 0.2, 0.1), 0.3),
    "hull": gk.ConvexHull(np.random.default_rng(3).normal(size=(30, 3)) * 0.4),
    "flat hull": gk.ConvexHull([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 1.5, 0)]),
    "rounded": gk.Box((1, 0.7, 0.5)).inflated(0.15),
    "composed": gk.Cylinder(0.4, 1.0).scaled((1, 2, 1)),
}
