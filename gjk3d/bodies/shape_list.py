"""Convex shapes that a body is tested against, so that one call of the kernels solves the pairs with all of them.

In the kernels each shape is a body of one part, a slice of arrays for all shapes (`part_tree.nth_shape`). The list of a
single object is that object itself, which may be a body.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gjk3d.bodies.base import Parts
from gjk3d.bodies.facets import GivenSolids, solids_of
from gjk3d.bodies.manifolds import Faces, faces_in, part_faces
from gjk3d.bodies.part_tree import PLACED, GivenShapes, PartTree, Thing
from gjk3d.bodies.parts import given, parts_of
from gjk3d.convex.rows import join_packed
from gjk3d.convex.solve import planes_of
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Ints

_NO_PLANES = np.empty((0, 4))


class ShapeList:
    """A list of objects. A list of several objects must not contain half-spaces or functions of users."""

    def __init__(self, things: Sequence[Thing]) -> None:
        self.things = tuple(things)
        self.plans: dict[Parts, Any] = {}  #: of contacts with bodies, see `gjk3d.bodies.contact`

    def __len__(self) -> int:
        return len(self.things)

    @cached_property
    def parts(self) -> list[Parts]:
        """The parts of each object."""
        return [parts_of(thing) for thing in self.things]

    @cached_property
    def reaches(self) -> Array:
        """The greatest coordinate of each object, (n,)."""
        return np.array([parts.reach for parts in self.parts])

    @cached_property
    def given(self) -> GivenShapes:
        """All objects in the format of the kernels."""
        every = [parts.given for parts in self.parts]
        return (every[0] if len(every) == 1 else _concatenated(every)), np.array([tree[-2:] for tree in every])

    @cached_property
    def hulls(self) -> GivenShapes | None:
        """The convex hulls of all objects, or None if a hull is too expensive or does not exist."""
        if len(self) > 1:
            return self.given
        hull = self.parts[0].hull()
        return None if hull is None else ShapeList([hull]).given

    @cached_property
    def faces(self) -> tuple[Faces, int]:
        """The faces of all objects, and the most corners of a feature; see `gjk3d.bodies.manifolds.faces_in`."""
        if len(self) == 1:
            return faces_in(self.parts[0])
        return part_faces(self.things, slice(None))

    @cached_property
    def planes(self) -> tuple[Array, Ints]:
        """The planes of all objects (`gjk3d.convex.solve.planes_of`), and the index at which each object begins."""
        every = [planes_of(thing) if isinstance(thing, Shape) else _NO_PLANES for thing in self.things]
        return np.concatenate(every), np.cumsum([0, *map(len, every)])

    @cached_property
    def solids(self) -> GivenSolids:
        """The polytopes of `gjk3d.bodies.facets.solids_of`, to which `facets.with_scratch` adds scratch."""
        return solids_of(self.parts)


def _concatenated(every: Sequence[PartTree]) -> PartTree:
    """Return shapes at the identity one after another, each with a node, a row of the table and a point."""
    boxes, links, places, tables, ints, floats = (list(column) for column in list(zip(*every, strict=True))[:6])
    q, f, starts = join_packed(list(zip(ints, floats, strict=True)))
    table = np.concatenate(tables)
    table[:, :2] += starts
    points = np.concatenate([tree.points for tree in every])
    return given(PLACED, np.concatenate(boxes), np.concatenate(links), places[0], table, q, f, points=points, reach=0.0)
