"""What the broad phase sees of objects that are no convex shapes: the box of each stands in for it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gjk3d.convex.pairs import Pairs
from gjk3d.errors import UnboundedShapeError
from gjk3d.query.dispatch import Collider
from gjk3d.shapes.base import Shape
from gjk3d.shapes.convex_hull import ConvexHull
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.simplices import Point
from gjk3d.typing import Array

#: what a question adds to the box of a solid for rounding, in units of its greatest coordinate: more than the error of
#: a place in either of two solids that nearly touch, see `gjk3d.bodies.pair`
_ROUNDING = 256.0 * 2.0**-52


class SolidPairs(Pairs):
    """`Pairs` of convex shapes and of solids that are none, for which the kernels have their boxes.

    Only the convex ones may be asked about by way of the kernels.
    """

    __slots__ = ("mixed", "unbounded")
    mixed: NDArray[np.bool_]  #: which are no convex shapes
    unbounded: NDArray[np.bool_]  #: which have no box

    def __init__(self, shapes: Sequence[Collider]) -> None:
        super().__init__([stand_in(shape) for shape in shapes])
        self.shapes = tuple(shapes)  # type: ignore[arg-type]
        self.mixed = np.array([not isinstance(shape, Shape) for shape in shapes], dtype=bool)
        self.unbounded = np.array([len(planes_of(shape)) > 0 for shape in shapes], dtype=bool)

    def _joined(self, other: Pairs) -> SolidPairs:
        """See `Pairs`."""
        assert isinstance(other, SolidPairs)
        plain = super()._joined(other)
        both: SolidPairs = object.__new__(SolidPairs)
        for name in Pairs.__slots__:
            setattr(both, name, getattr(plain, name))
        both.mixed = np.concatenate([self.mixed, other.mixed])
        both.unbounded = np.concatenate([self.unbounded, other.unbounded])
        return both

    def __reduce__(self) -> Any:
        return SolidPairs, (self.shapes,)


def stand_in(solid: Collider) -> Shape:
    """Return a convex shape that holds a solid; a point where none does."""
    if isinstance(solid, Shape):
        return solid
    thing: Any = solid
    try:
        low, high = thing.bounds
    except UnboundedShapeError:
        return Point()
    more = _ROUNDING * float(np.abs((low, high)).max())
    return ConvexHull(np.array(list(product(*np.stack([low - more, high + more], axis=1)))))


def planes_of(solid: Any) -> list[tuple[Array, float]]:
    """Return half-spaces, normals and offsets, whose common part holds what has no box; of others none."""
    if isinstance(solid, Halfspace):
        above = solid.normal, solid.offset
        return [above] if solid._sides == 1.0 else [above, (-solid.normal, -solid.offset)]
    if isinstance(solid, Shape):
        return []
    try:
        _ = solid.bounds
    except UnboundedShapeError:
        limits: list[tuple[Array, float]] = solid._limits
        more = _ROUNDING * max(abs(d) for _, d in limits)
        return [(n, d + more) for n, d in limits]
    return []
