"""Convex shapes that a body meets by turns, on one shelf: one call into the kernels answers pairs with any of them.

To the kernels each is a body of one part, cut out of arrays that hold all, see `part_tree.on_shelf`. A shelf of one
thing is that thing as it is, which may be a body.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from gjk3d.bodies.base import Parts
from gjk3d.bodies.facets import GivenSolids, solids_of
from gjk3d.bodies.manifolds import Faces, faces_in, most_corners_in
from gjk3d.bodies.part_tree import PLACED, GivenShelf, PartTree, Thing
from gjk3d.bodies.parts import given, parts_of
from gjk3d.convex.patches import faces_of
from gjk3d.convex.rows import join_packed
from gjk3d.convex.solve import planes_of
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Ints

_NO_PLANES = np.empty((0, 4))


class Shelf:
    """See the module; of several things none is a half-space or has a user's function."""

    def __init__(self, things: Sequence[Thing]) -> None:
        self.things = tuple(things)

    def __len__(self) -> int:
        return len(self.things)

    @cached_property
    def parts(self) -> list[Parts]:
        """Of each thing its parts."""
        return [parts_of(thing) for thing in self.things]

    @cached_property
    def reaches(self) -> Array:
        """Of each its greatest coordinate."""
        return np.array([parts.reach for parts in self.parts])

    @cached_property
    def given(self) -> GivenShelf:
        """All as the kernels take them."""
        every = [parts.given for parts in self.parts]
        return (every[0] if len(every) == 1 else _behind_each_other(every)), np.array([each[-2:] for each in every])

    @cached_property
    def hulls(self) -> GivenShelf | None:
        """The convex hulls of all; None where one costs too much or does not exist."""
        if len(self) > 1:
            return self.given
        hull = self.parts[0].hull()
        return None if hull is None else Shelf([hull]).given

    @cached_property
    def faces(self) -> tuple[Faces, int]:
        """See `gjk3d.bodies.manifolds.faces_in`."""
        if len(self) == 1:
            return faces_in(self.parts[0])
        found = faces_of(self.things)
        return (found.ints, found.floats, found.starts), most_corners_in(found)

    @cached_property
    def planes(self) -> tuple[Array, Ints]:
        """See `gjk3d.convex.solve.planes_of`, and where those of each begin, and the last end."""
        every = [planes_of(thing) if isinstance(thing, Shape) else _NO_PLANES for thing in self.things]
        return np.concatenate(every), np.cumsum([0, *map(len, every)])

    @cached_property
    def solids(self) -> GivenSolids:
        """See `gjk3d.bodies.facets.solids_of`; scratch is made anew by `facets.with_scratch`."""
        return solids_of(self.parts)


def _behind_each_other(every: Sequence[PartTree]) -> PartTree:
    """Return lone shapes, none of them moved, behind each other: a node, a row of the table and a point each."""
    boxes, links, places, tables, ints, floats = (list(column) for column in list(zip(*every, strict=True))[:6])
    q, f, starts = join_packed(list(zip(ints, floats, strict=True)))
    table = np.concatenate(tables)
    table[:, :2] += starts
    points = np.concatenate([each[10] for each in every])
    return given(PLACED, np.concatenate(boxes), np.concatenate(links), places[0], table, q, f, points=points, reach=0.0)
