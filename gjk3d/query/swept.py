"""`Swept`: the volume that a moving shape sweeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np

from gjk3d.engine.dispatch import find_single, is_collider
from gjk3d.errors import ShapeError
from gjk3d.query.motion import Motion
from gjk3d.shapes import layout
from gjk3d.shapes.arguments import vector
from gjk3d.shapes.base import Shape
from gjk3d.shapes.composed import Composed, bounded, flattened
from gjk3d.shapes.polytopes import Segment
from gjk3d.shapes.terms import Term, moved_terms
from gjk3d.typing import Array

#: (terms of a shape or of many alike, centres and radii of their bounding balls) -> the terms of the swept shape, and
#: the radius that is added to it
Sweep = Callable[[list[Term], Array, Array], tuple[list[Term], Array]]
#: straight pieces of a motion with rotation; the shape grows by the deviation of the motion from the pieces
PIECES = 16


class Swept(Composed):
    """The swept volume of a shape: the convex hull of all its positions during a motion.

    A non-convex body is swept part by part. A straight sweep is exact. A sweep with rotation is conservative: it is the
    hull of the shape at a few positions, grown by the deviation of its points from the straight lines between the
    positions. The deviation decreases with the square of the number of pieces.

    Parameters
    ----------
    shape : Shape, Mesh or the like
        A bounded shape.
    motion : (3,) float or Motion
        A translation in the frame of the shape, or a `gjk3d.Motion`. With a motion the result is in the world frame.
    pieces : int
        Number of straight pieces of a motion with rotation.

    Returns
    -------
    Composed or Compound
        A `Composed` without nested shapes. For a non-convex body it is a compound of the swept parts, one for each
        triangle of a mesh. The compound also contains a closed mesh at its start.

    Raises
    ------
    ShapeError
        If the shape is unbounded or not a shape, or the motion is neither a vector nor a single motion.

    Notes
    -----
    If a body rotates by w in a motion at constant velocity, a point at distance rho from the axis accelerates by at
    most |w|^2 rho. Between two positions at times 1 / k apart, the point is within |w|^2 rho / (8 k^2) of the straight
    line.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> gk.Swept(gk.Sphere(1), (4, 0, 0)).volume / (4 / 3 * np.pi + 4 * np.pi) > 0.999
    True
    >>> turn = gk.Motion(None, angular=(0, 0, np.pi / 2), center=(3, 0, 0))
    >>> gk.Swept(gk.Point(), turn).contains([(0, 0, 0), (3, -3, 0), (3 - 3 * 0.5**0.5, -3 * 0.5**0.5, 0)]).all()
    np.True_
    """

    __slots__ = ()

    @overload
    def __new__(cls, shape: Shape, motion: Any, pieces: int = PIECES) -> Composed: ...  # type: ignore[misc]
    @overload
    def __new__(cls, shape: Any, motion: Any, pieces: int = PIECES) -> Any: ...
    def __new__(cls, shape: Any, motion: Any, pieces: int = PIECES) -> Any:
        """Return the swept shape as a `Composed` without nested shapes, or as a `Compound` for a non-convex body."""
        swept = find_single("sweep", shape, "Swept: shape") if is_collider(shape) else None
        if swept is not None:
            sweep = _sweep_along(motion, pieces)
            return swept(shape, sweep, motion.at(0.0) if isinstance(motion, Motion) else None)
        body = bounded(shape, "Swept", "shape")
        floats = body._packed[1]
        center, rho = floats[layout.CENTER : layout.CENTER + 3], floats[layout.RHO] + floats[layout.RADIUS]
        terms, more = _sweep_along(motion, pieces)(body._terms(), center, rho)
        return flattened(terms, body._rounding() + float(more), "Swept")


def _sweep_along(motion: Any, pieces: Any) -> Sweep:
    """Return the function that converts the terms of a shape to the terms of its swept shape."""
    if not isinstance(motion, Motion):
        line = Segment((0.0, 0.0, 0.0), vector(motion, "Swept: motion"))._terms()[0]
        return lambda terms, _, rho: ([[*term, *line] for term in terms], np.zeros(rho.shape))
    if isinstance(pieces, bool) or not isinstance(pieces, int) or pieces < 1:
        raise ShapeError(f"Swept: pieces is {pieces!r}, expected a whole number of at least 1")
    if motion.stacked:
        raise ShapeError(
            f"Swept: motion has {len(motion)} rows, expected one motion. Pass one row, for example motion[0]"
        )

    def turning(terms: list[Term], center: Array, rho: Array) -> tuple[list[Term], Array]:
        bend = motion._bend(center, rho)
        curved = bend.max() > 0.0
        places = motion.at(np.linspace(0.0, 1.0, pieces + 1 if curved else 2))
        moved = [t for p in places for t in moved_terms(terms, p[:3, :3], p[:3, 3])]
        return moved, (bend / (8.0 * pieces**2) + motion._error(center, rho) if curved else bend)

    return turning
