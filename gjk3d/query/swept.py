"""`Swept`: what a moving shape sweeps, convex or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np

from gjk3d.errors import ShapeError
from gjk3d.query.dispatch import Kind, kind_of
from gjk3d.query.motion import Motion
from gjk3d.shapes import layout
from gjk3d.shapes.arguments import vector
from gjk3d.shapes.base import Shape
from gjk3d.shapes.composed import Composed, bounded, flattened
from gjk3d.shapes.polytopes import Segment
from gjk3d.shapes.terms import Term, moved_terms
from gjk3d.typing import Array

#: makes of the terms of a shape, or of many alike, and of a ball round each those of what it sweeps, and by how much
#: this is to grow
Way = Callable[[list[Term], Array, Array], tuple[list[Term], Array]]
#: stretches of a curved way; the shape grows by what is bent off their straight lines
PIECES = 16


class Swept(Composed):
    """What a shape sweeps: the convex hull of everywhere it is on its way; of what is not convex, of each of its parts.

    Along a straight line it is exact. On a way with a turn it is conservative: the hull of the shape at a few places,
    grown by how far any of its points can bend off the straight lines between them, which shrinks with the square of
    their number.

    Parameters
    ----------
    shape : Shape, Mesh or the like
        A bounded one.
    motion : (3,) float or Motion
        The way from where the shape is in its own frame, or a `gjk3d.Motion` in whose world the swept shape then is.
    pieces : int
        Straight stretches of a way with a turn.

    Returns
    -------
    Composed or Compound
        Flattened: nothing is nested in it. Of what is not convex a compound of what its parts sweep, as many as there
        are triangles, and of a closed mesh itself where it starts.

    Raises
    ------
    ShapeError
        Where the shape is none or is unbounded, or the motion is neither a vector nor a single motion.

    Notes
    -----
    A body that turns by w while it moves steadily accelerates by no more than |w|^2 rho at distance rho from the axis,
    so between two places 1 / k apart it is within |w|^2 rho / (8 k^2) of the straight line.

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
        """Return the flattened hull."""
        if kind_of(shape) is Kind.BODY:
            from gjk3d.bodies.sweep import swept  # loaded where there is a mesh or the like

            way = _way(motion, pieces)
            return swept(shape, way, motion.at(0.0) if isinstance(motion, Motion) else None)
        body = bounded(shape, "Swept", "shape")
        floats = body._packed[1]
        center, rho = floats[layout.CENTER : layout.CENTER + 3], floats[layout.RHO] + floats[layout.RADIUS]
        terms, more = _way(motion, pieces)(body._terms(), center, rho)
        return flattened(terms, body._rounding() + float(more), "Swept")


def _way(motion: Any, pieces: Any) -> Way:
    """Return what makes the terms of a swept shape of its own."""
    if not isinstance(motion, Motion):
        line = Segment((0.0, 0.0, 0.0), vector(motion, "Swept: motion"))._terms()[0]
        return lambda terms, _, rho: ([[*term, *line] for term in terms], np.zeros(rho.shape))
    if isinstance(pieces, bool) or not isinstance(pieces, int) or pieces < 1:
        raise ShapeError(f"Swept: pieces is {pieces!r}, expected a whole number of at least 1")
    if motion.stacked:
        raise ShapeError(f"Swept: motion is {len(motion)} motions, expected one: motion[0]")

    def turning(terms: list[Term], center: Array, rho: Array) -> tuple[list[Term], Array]:
        bend = motion._bend(center, rho)
        curved = bend.max() > 0.0
        places = motion.at(np.linspace(0.0, 1.0, pieces + 1 if curved else 2))
        moved = [t for p in places for t in moved_terms(terms, p[:3, :3], p[:3, 3])]
        return moved, (bend / (8.0 * pieces**2) + motion._error(center, rho) if curved else bend)

    return turning
