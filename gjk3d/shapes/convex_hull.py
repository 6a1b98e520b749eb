"""The convex hull of points, by scipy; its support is a scan of the extreme vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d._numba import kernel
from gjk3d.errors import ShapeError
from gjk3d.geometry.hulls import build_hull
from gjk3d.geometry.vec3 import Vec3
from gjk3d.shapes import layout
from gjk3d.shapes.base import Array, Ints, Polytope, Shape, rows


@kernel
def support_hull(f: Array, o: int, n: int, d: Vec3) -> Vec3:
    """Return the vertex farthest along d of the n vertices at f[o:].

    All x, then all y, then all z; the lowest index wins ties.
    """
    dx, dy, dz = d
    best = 0
    most = f[o] * dx + f[o + n] * dy + f[o + 2 * n] * dz
    for i in range(1, n):
        s = f[o + i] * dx + f[o + n + i] * dy + f[o + 2 * n + i] * dz
        if s > most:
            most = s
            best = i
    return (f[o + best], f[o + n + best], f[o + 2 * n + best])


def vertex_core(vertices: Array) -> tuple[int, Any, Any]:
    """Return kind, centre and numbers of a core with these vertices.

    Far from the origin of its frame a shape is stored about its own middle, where floats are finer; else as given,
    bit for bit.
    """
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    center = low + (high - low) / 2
    if np.linalg.norm(center) <= 2.0 * np.linalg.norm(high - low):
        center = np.zeros(3)
    return layout.HULL, center, (vertices - center).T.ravel()


class ConvexHull(Polytope):
    """The convex hull of points.

    Only the strictly extreme points are kept. Flat, collinear, single and duplicate points give flat, thin and single
    hulls.

    Parameters
    ----------
    points : (n, 3) float
        At least one.

    Attributes
    ----------
    vertices : (k, 3) float
        The extreme points, as given, in the order given.
    faces : (m, 3) int
        Triangles wound outward, indices into ``vertices``; both sides of a flat hull, none where it is a segment or a
        point.
    dimension : int
        3 for a solid, 2 flat, 1 a segment, 0 a point.

    Raises
    ------
    ShapeError
        Where ``points`` is empty, not (n, 3), or not finite.

    References
    ----------
    Barber, Dobkin, Huhdanpaa: The Quickhull algorithm for convex hulls, 1996 (scipy.spatial.ConvexHull).

    Examples
    --------
    >>> import gjk3d as gk
    >>> square = gk.ConvexHull([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 0)])
    >>> square.dimension, len(square.vertices)
    (2, 4)
    """

    __slots__ = ("_vertices",)
    _vertices: Array

    def __init__(self, points: Any) -> None:
        p = rows(points, "ConvexHull: points")
        if len(p) == 0:
            raise ShapeError("ConvexHull: points is empty, expected at least one row")
        hull = build_hull(p)
        self._set(_vertices=hull.vertices)
        self._cache["hull"] = hull

    def __reduce__(self) -> Any:
        return _restore, (self._vertices, self._hull())

    @property
    def vertices(self) -> Array:
        """The extreme points, (k, 3) float."""
        return self._vertices

    @property
    def points(self) -> Array:
        """The same as ``vertices``."""
        return self._vertices

    @property
    def faces(self) -> Ints:
        """Triangles wound outward, (m, 3) int."""
        faces: Ints = self._hull().faces
        return faces

    @property
    def dimension(self) -> int:
        """3 for a solid, 2 flat, 1 a segment, 0 a point."""
        return int(self._hull().dimension)

    def __repr__(self) -> str:
        if len(self._vertices) <= 4:
            return f"ConvexHull(points={self._vertices.tolist()})"
        return f"ConvexHull(<{len(self._vertices)} vertices>)"

    def _core(self) -> tuple[int, Any, Any]:
        return vertex_core(self._vertices)

    def _slack(self) -> float:
        return float(self._hull().defect)

    def _with_vertices(self, vertices: Array) -> Shape:
        return ConvexHull(vertices)


def _restore(vertices: Array, hull: Any) -> ConvexHull:
    shape: ConvexHull = object.__new__(ConvexHull)
    shape._set(_vertices=vertices)
    shape._cache["hull"] = hull
    return shape
