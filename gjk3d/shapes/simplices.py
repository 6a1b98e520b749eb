"""Simplices: a point, a segment, a triangle, a tetrahedron."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d._kernels.decorators import inlined
from gjk3d.errors import ShapeError
from gjk3d.geometry.vec3 import Vec3
from gjk3d.shapes import layout
from gjk3d.shapes.base import Polytope, Shape, rows, vector
from gjk3d.shapes.convex_hull import vertex_core
from gjk3d.typing import Array, RowsLike, VectorLike


class Point(Polytope):
    """One point.

    Parameters
    ----------
    p : (3,) float
        Where it is, in the shape's own frame.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.distance(gk.Point((0, 0, 3)), gk.Sphere(1)).distance
    2.0
    """

    __slots__ = ("p",)
    p: Array

    def __init__(self, p: VectorLike = (0.0, 0.0, 0.0)) -> None:
        self._set(p=vector(p, "Point: p"))

    @property
    def vertices(self) -> Array:
        """The point as an array, (1, 3) float."""
        return self.p.reshape(1, 3)

    def _core(self) -> tuple[int, Any, Any]:
        return layout.POINT, self.p, np.empty(0)

    def _with_vertices(self, vertices: Array) -> Shape:
        return Point(vertices[0])


@inlined
def support_segment(f: Array, d: Vec3) -> Vec3:
    """Return the end of the half vector f[:3] that lies along d."""
    x, y, z = f[0], f[1], f[2]
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


class Triangle(Polytope):
    """The triangle with these three vertices; they may coincide or lie on a line.

    Parameters
    ----------
    vertices : (3, 3) float

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.distance(gk.Triangle([(0, 0, 0), (1, 0, 0), (0, 1, 0)]), gk.Point((0.2, 0.2, 1))).distance
    1.0
    """

    __slots__ = ("_vertices",)
    _vertices: Array

    def __init__(self, vertices: RowsLike) -> None:
        v = rows(vertices, "Triangle: vertices")
        if len(v) != 3:
            raise ShapeError(f"Triangle: vertices has {len(v)} rows, expected 3; gk.ConvexHull takes any number")
        self._set(_vertices=np.ascontiguousarray(v))

    @property
    def vertices(self) -> Array:
        """The three vertices, (3, 3) float."""
        return self._vertices

    def __repr__(self) -> str:
        return f"Triangle(vertices={self._vertices.tolist()})"

    def _core(self) -> tuple[int, Any, Any]:
        return vertex_core(self._vertices)

    def _with_vertices(self, vertices: Array) -> Shape:
        return Triangle(vertices)


class Tetrahedron(Polytope):
    """The tetrahedron with these four vertices, in any order; it may be flat.

    Parameters
    ----------
    vertices : (4, 3) float

    Examples
    --------
    >>> import gjk3d as gk
    >>> round(gk.Tetrahedron([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]).volume, 12)
    0.166666666667
    """

    __slots__ = ("_vertices",)
    _vertices: Array

    def __init__(self, vertices: RowsLike) -> None:
        v = rows(vertices, "Tetrahedron: vertices")
        if len(v) != 4:
            raise ShapeError(f"Tetrahedron: vertices has {len(v)} rows, expected 4; gk.ConvexHull takes any number")
        self._set(_vertices=np.ascontiguousarray(v))

    @property
    def vertices(self) -> Array:
        """The four vertices, (4, 3) float."""
        return self._vertices

    def __repr__(self) -> str:
        return f"Tetrahedron(vertices={self._vertices.tolist()})"

    def _core(self) -> tuple[int, Any, Any]:
        return vertex_core(self._vertices)

    def _with_vertices(self, vertices: Array) -> Shape:
        return Tetrahedron(vertices)
