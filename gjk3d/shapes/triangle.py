"""A triangle, flat in space."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.errors import ShapeError
from gjk3d.shapes.base import Array, Polytope, Shape, rows
from gjk3d.shapes.convex_hull import vertex_core
from gjk3d.typing import RowsLike


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
