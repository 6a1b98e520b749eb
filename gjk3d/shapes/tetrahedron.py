"""A tetrahedron."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.errors import ShapeError
from gjk3d.shapes.base import Array, Polytope, Shape, rows
from gjk3d.shapes.convex_hull import vertex_core
from gjk3d.typing import RowsLike


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
