"""The steps that GJK and EPA took, in world axes, each with the sentence that says why it was taken.

`gjk3d.viz.telling` fills them in from the trace that the compiled kernels wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gjk3d.typing import Array, Ints
from gjk3d.wording import number

_NO_POINTS, _NO_FACES, _NO_EDGES = np.empty((0, 3)), np.empty((0, 3), np.int64), np.empty((0, 2), np.int64)
_CORNERS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
_PARTS = ("", "corner", "edge", "triangle", "tetrahedron")


class Step(NamedTuple):
    """One step: what was known, what was asked, what came of it, and why.

    Points of A - B and directions are in world axes about A - B's own origin; ``support_a``, ``support_b`` and the
    witness points are where they are in the world. A point of A - B has the same name in every step.
    """

    number: int  #: from 0
    phase: str  #: "GJK", "EPA" or "answer"
    title: str
    sentence: str  #: why it was taken
    lower: float  #: bounds of the distance that the steps so far prove, radii taken off
    upper: float
    simplex: Array = _NO_POINTS  #: (k, 3) GJK's simplex before the step
    names: tuple[str, ...] = ()  #: of its corners; of EPA's ``vertices``
    nearest: Array | None = None  #: (3,) its point nearest to the origin; EPA's, of the closest face
    direction: Array | None = None  #: (3,) unit, in which the farthest point was asked for
    point: Array | None = None  #: (3,) the answer, a point of A - B
    point_name: str = ""
    joins: bool = False  #: whether it becomes a corner
    dropped: tuple[str, ...] = ()  #: corners of the simplex that are given up
    support_a: Array | None = None  #: (3,) the points that the new one is made of
    support_b: Array | None = None
    witness_a: Array | None = None  #: (3,) the points that ``nearest`` is made of
    witness_b: Array | None = None
    vertices: Array = _NO_POINTS  #: (n, 3) of EPA's polytope
    faces: Ints = _NO_FACES  #: (m, 3) before the step
    closest: Ints = np.empty(0, np.int64)  #: (3,) the face nearest to the origin
    removed: Ints = _NO_FACES  #: (r, 3) faces that the new point sees
    horizon: Ints = _NO_EDGES  #: (h, 2) the edges round them


class Names:
    """Numbers the points of A - B in the order they were found."""

    def __init__(self, tolerance: float) -> None:
        self._cells: dict[tuple[int, ...], list[tuple[Array, str]]] = {}
        self._tolerance = tolerance
        self._count = 0

    def __call__(self, w: Array) -> str:
        """Return the name of a point, a new one unless it has been seen."""
        name = self._found(w)
        if not name:
            self._count += 1
            name = f"w{self._count}"
            self._cells.setdefault(self._cell(w), []).append((np.array(w), name))
        return name

    def _cell(self, w: Array) -> tuple[int, ...]:
        """Return the cell of a grid, whose cells are far larger than the tolerance, that a point is in."""
        x, y, z = (w / (1e3 * self._tolerance)).round().astype(np.int64).tolist()
        return x, y, z

    def _found(self, w: Array) -> str:
        near = {self._cell(w + self._tolerance * corner) for corner in _CORNERS}
        for cell in near:
            for known, name in self._cells.get(cell, ()):
                if float(np.abs(known - w).max()) <= self._tolerance:
                    return name
        return ""

    def of(self, points: Array) -> tuple[str, ...]:
        """Name several."""
        return tuple(self(w) for w in points)

    def knows(self, w: Array) -> bool:
        """Tell whether a point has a name."""
        return bool(self._found(w))


def listed(names: Sequence[str]) -> str:
    """Write names as people list them."""
    if not names:
        return "nothing"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def part(names: Sequence[str]) -> str:
    """Name a corner, an edge, a triangle or a tetrahedron by its corners."""
    return f"{_PARTS[len(names)]} {' '.join(names)}"


def short(x: float) -> str:
    """Write a length in a sentence."""
    return number(x, 4)
