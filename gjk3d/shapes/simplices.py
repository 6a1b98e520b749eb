"""Simplices: a point, a segment, a triangle, a tetrahedron."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gjk3d._kernels.decorators import inlined
from gjk3d.errors import ShapeError
from gjk3d.geometry.vec3 import Vec3
from gjk3d.shapes import layout
from gjk3d.shapes.arguments import rows, vector
from gjk3d.shapes.base import Polytope, Shape
from gjk3d.shapes.convex_hull import vertex_core
from gjk3d.typing import Array, RowsLike, VectorLike


class Point(Polytope):
    """One point.

    Parameters
    ----------
    p : (3,) float
        Where it is, in the shape's own frame.

    Raises
    ------
    ShapeError
        Where ``p`` is not three finite numbers.

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
        The two ends.

    Raises
    ------
    ShapeError
        Where an end is not three finite numbers.

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


class Simplex(Polytope):
    """A shape with a fixed number of vertices."""

    __slots__ = ("_vertices",)
    _vertices: Array
    _COUNT: ClassVar[int]

    def __init__(self, vertices: RowsLike) -> None:
        kind = type(self).__name__
        v = rows(vertices, f"{kind}: vertices")
        if len(v) != self._COUNT:
            raise ShapeError(
                f"{kind}: vertices has {len(v)} rows, expected {self._COUNT}; gk.ConvexHull takes any number"
            )
        self._set(_vertices=v)

    @property
    def vertices(self) -> Array:
        """The vertices as given, (3, 3) or (4, 3) float."""
        return self._vertices

    def __repr__(self) -> str:
        return f"{type(self).__name__}(vertices={self._vertices.tolist()})"

    def _core(self) -> tuple[int, Any, Any]:
        return vertex_core(self._vertices)


class Triangle(Simplex):
    """The triangle with these three vertices; they may coincide or lie on a line.

    Parameters
    ----------
    vertices : (3, 3) float
        One corner a row.

    Raises
    ------
    ShapeError
        Where the vertices are not three rows of three finite numbers.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.distance(gk.Triangle([(0, 0, 0), (1, 0, 0), (0, 1, 0)]), gk.Point((0.2, 0.2, 1))).distance
    1.0
    """

    __slots__ = ()
    _COUNT = 3

    def _with_vertices(self, vertices: Array) -> Shape:
        return Triangle(vertices)


class Tetrahedron(Simplex):
    """The tetrahedron with these four vertices, in any order; it may be flat.

    Parameters
    ----------
    vertices : (4, 3) float
        One corner a row.

    Raises
    ------
    ShapeError
        Where the vertices are not four rows of three finite numbers.

    Examples
    --------
    >>> import gjk3d as gk
    >>> round(gk.Tetrahedron([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]).volume, 12)
    0.166666666667
    """

    __slots__ = ()
    _COUNT = 4

    def _with_vertices(self, vertices: Array) -> Shape:
        return Tetrahedron(vertices)
