"""`Pairs`: many different pairs of shapes, convex or not, answered in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gjk3d.convex import pairs as convex
from gjk3d.query.dispatch import Collider, Kind, kind_of, way_of
from gjk3d.shapes.base import Shape
from gjk3d.shapes.polytopes import Point


class Pairs(convex.Pairs):
    """Shapes, packed once, any pairs of which are asked about in one call.

    Pairs of convex shapes are answered by one call of the kernels. Those of half-spaces, and of what is not convex, are
    answered two shapes at a time, all poses of these two in one call.

    Parameters
    ----------
    shapes : sequence of Shape, Mesh or the like
        One may be there many times, once for each place it is at.

    Raises
    ------
    ShapeError, UnsupportedPair
        Where this is no sequence, or has what cannot be asked about.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pairs = gk.Pairs([gk.Box((1, 1, 1)), gk.Sphere(0.5), gk.Sphere(0.25)])
    >>> poses = np.tile(np.eye(4), (3, 1, 1)); poses[:, 0, 3] = (0, 0.75, 2)
    >>> pairs.signed_distance([(0, 1), (0, 2), (1, 2)], poses).distance.tolist()
    [-0.25, 1.25, 0.5]
    >>> pairs.collide([(0, 1), (0, 2)], poses).tolist()
    [True, False]
    """

    __slots__ = ()
    _way = staticmethod(way_of)

    def __init__(self, shapes: Sequence[Collider]) -> None:
        super().__init__(shapes)  # type: ignore[arg-type]

    # named here, so that the pages have them
    memory = convex.Pairs.memory
    collide = convex.Pairs.collide
    distance = convex.Pairs.distance
    signed_distance = convex.Pairs.signed_distance

    def _stand_in(self, name: str, shape: Any) -> Shape:
        """See `gjk3d.convex.pairs.Pairs`."""
        return Point() if kind_of(shape) is Kind.BODY else super()._stand_in(name, shape)
