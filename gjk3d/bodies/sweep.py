"""What a moving body sweeps: the union of what its parts do, and what it holds where it starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gjk3d.bodies.base import Body, Parts
from gjk3d.bodies.compound import Compound
from gjk3d.errors import UnboundedShapeError
from gjk3d.poses import IDENTITY, composed, pose_rows
from gjk3d.shapes import layout
from gjk3d.shapes.composed import Composed, check_count
from gjk3d.shapes.terms import Term, moved_terms
from gjk3d.typing import Array, Ints


def swept(
    body: Body, way: Callable[[list[Term], Array, Array], tuple[list[Term], Array]], start: Array | None
) -> Compound:
    """Return the union of the sweeps of all parts, see `gjk3d.query.swept`; ``start`` is the pose the way begins at.

    A place that a closed surface holds at some time was passed by the surface, or has been inside from the start.
    """
    parts = body._as_parts()
    if parts.endless:
        raise UnboundedShapeError(
            "Swept: shape is a HeightField, which goes down without end; give it a bottom, or take "
            "gjk3d.Mesh(*field.surface())"
        )
    first, standing = pose_rows(start)[0][0], IDENTITY[0].copy()
    standing.setflags(False)
    made: list[tuple[Any, Array]] = []
    for mesh, row in parts.solids:
        placed = composed(first, row[None])[0]
        placed.setflags(False)
        made.append((mesh, placed))
    ends = len(made)
    made += [(None, standing)] * parts.count
    for which, terms, center, rho, radii in _alike(parts):
        on_the_way, more = way(terms, center, rho)
        check_count(on_the_way, "Swept")
        for k, shape in zip(which.tolist(), Composed._each_from_terms(on_the_way, radii + more), strict=True):
            made[ends + k] = shape, standing
    return Compound._made(_geometry_error=None, _parts=tuple(made))


def _alike(parts: Parts) -> Iterator[tuple[Ints, list[Term], Array, Array, Array]]:
    """Yield parts that differ in their places, or in as many vertices, alone.

    Which they are, their terms as stacks, in the body's frame, a ball round each, (n, 3) and (n,), and their radii.
    """
    every = np.arange(parts.count)
    (ints, floats, starts), rows = parts.pack(every), parts.rows(every)
    begins = starts[:, 0]
    corners = (ints[begins] == layout.HULL) & (ints[begins + layout.VERTICES] > 2)
    turns = np.unique(rows[:, :9], axis=0, return_inverse=True)[1].ravel()
    keys = np.column_stack([begins, np.where(corners, -1, starts[:, 1]), turns])
    groups = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(groups, kind="stable")
    for which in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        k, own, row = int(which[0]), floats[starts[which, 1][:, None] + np.arange(layout.FLOAT_HEAD)], rows[which]
        center, radii = own[:, layout.CENTER : layout.CENTER + 3], own[:, layout.RADIUS]
        terms = parts.shape(k)._terms()
        if corners[k]:
            numbers = layout.FLOAT_HEAD + np.arange(3 * int(ints[begins[k] + layout.VERTICES]))
            terms = [[terms[0][0]._replace(numbers=floats[starts[which, 1][:, None] + numbers], offset=center)]]
        turn, shift = row[0, :9].reshape(3, 3), row[:, 9:12]
        yield which, moved_terms(terms, turn, shift), center @ turn.T + shift, own[:, layout.RHO] + radii, radii
