"""A segment, and the core of a capsule: half a vector, about its middle."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d._numba import inlined
from gjk3d.geometry.vec3 import Vec3
from gjk3d.shapes.base import Array, Polytope, Shape, vector
from gjk3d.shapes.convex_hull import vertex_core
from gjk3d.typing import VectorLike


@inlined
def support_segment(f: Array, o: int, d: Vec3) -> Vec3:
    """Return the end of the half vector f[o:o+3] that lies along d."""
    x, y, z = f[o], f[o + 1], f[o + 2]
    if x * d[0] + y * d[1] + z * d[2] < 0.0:
        return (-x, -y, -z)
    return (x, y, z)


class Segment(Polytope):
    """The segment from a to b; a point where they coincide.

    Parameters
    ----------
    a, b : (3,) float

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.distance(gk.Segment((0, 0, 0), (1, 0, 0)), gk.Point((2, 0, 0))).distance
    1.0
    """

    __slots__ = ("a", "b")
    a: Array
    b: Array

    def __init__(self, a: VectorLike, b: VectorLike) -> None:
        self._set(a=vector(a, "Segment: a"), b=vector(b, "Segment: b"))

    @property
    def vertices(self) -> Array:
        """The two ends, (2, 3) float."""
        return np.array([self.a, self.b])

    def _core(self) -> tuple[int, Any, Any]:
        return vertex_core(self.vertices)  # a middle would be rounded, and move the ends

    def _with_vertices(self, vertices: Array) -> Shape:
        return Segment(vertices[0], vertices[1])
