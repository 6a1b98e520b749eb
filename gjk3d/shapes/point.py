"""A point: the core of a sphere."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.shapes import layout
from gjk3d.shapes.base import Array, Polytope, Shape, vector
from gjk3d.typing import VectorLike


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
