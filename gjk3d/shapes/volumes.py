"""Bounding volumes of any bounded shape: sphere, axis-aligned box, oriented box."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.shapes.base import Array, Shape, rigid


def bounding_sphere(shape: Shape) -> tuple[Array, float]:
    """Return centre and radius of a ball round the shape: the least one for primitives and hulls.

    Examples
    --------
    >>> import gjk3d as gk
    >>> center, radius = gk.bounding_sphere(gk.Box((2, 2, 1)))
    >>> center.tolist(), radius
    ([0.0, 0.0, 0.0], 1.5)
    """
    return shape._ball()


def aabb(shape: Shape, pose: Any = None) -> Array:
    """Return the axis-aligned box round the shape at a pose: least and greatest corner, (2, 3) float, world axes.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.aabb(gk.Sphere(1)).tolist()
    [[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]]
    """
    if pose is None:
        return shape.bounds
    rotation, translation = rigid(pose)
    reach = np.einsum(
        "ij,ij->i", shape.support(rotation), rotation
    )  # row i of R is the world axis i in the shape's frame
    back = np.einsum("ij,ij->i", shape.support(-rotation), rotation)
    return np.array([back, reach]) + translation


def obb(shape: Shape) -> tuple[Array, Array]:
    """Return pose (4, 4) and full extents (3,) of an oriented box round the shape, in the shape's frame.

    For hulls the smallest of the boxes that lie flush with one of its faces, for composed shapes the best of a few; the
    true smallest may be a little smaller.

    Examples
    --------
    >>> import gjk3d as gk
    >>> pose, extents = gk.obb(gk.Cylinder(1, 3))
    >>> extents.tolist()
    [2.0, 2.0, 3.0]
    """
    return shape._box()
