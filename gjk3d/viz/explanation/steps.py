"""What a step of GJK or EPA holds, and how its points and numbers are called."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import NamedTuple

import numpy as np

from gjk3d.typing import Array, Ints
from gjk3d.wording import number, told

_NO_POINTS, _NO_FACES, _NO_EDGES = np.empty((0, 3)), np.empty((0, 3), np.int64), np.empty((0, 2), np.int64)
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
    lower: float = nan  #: bounds of the distance that the steps so far prove, radii taken off
    upper: float = nan
    simplex: Array = _NO_POINTS  #: (k, 3) GJK's simplex before the step
    names: tuple[str, ...] = ()  #: of its corners; of EPA's ``vertices``
    nearest: Array | None = None  #: (3,) its point nearest to the origin; EPA's, of the closest face
    direction: Array | None = None  #: (3,) unit, in which the farthest point was asked for
    point: Array | None = None  #: (3,) the answer, a point of A - B
    point_name: str = ""
    joins: bool = False  #: whether it becomes a corner
    dropped: tuple[str, ...] = ()  #: corners of the simplex that are given up
    after: tuple[str, ...] = ()  #: those that GJK goes on with, if it does
    support_a: Array | None = None  #: (3,) the points that the new one is made of
    support_b: Array | None = None
    witness_a: Array | None = None  #: (3,) the points that ``nearest`` is made of
    witness_b: Array | None = None
    vertices: Array = _NO_POINTS  #: (n, 3) of EPA's polytope
    faces: Ints = _NO_FACES  #: (m, 3) before the step
    closest: Ints = np.empty(0, np.int64)  #: (3,) the face nearest to the origin
    removed: Ints = _NO_FACES  #: (r, 3) faces that the new point sees
    horizon: Ints = _NO_EDGES  #: (h, 2) the edges round them


#: what of a step is a point of A - B or a direction, and what is a point of the world
WAYS = ("simplex", "nearest", "direction", "point", "vertices")
PLACES = ("support_a", "support_b", "witness_a", "witness_b")


def bounds(step: Step) -> str:
    """Write what is known of the distance after a step."""
    if not (np.isfinite(step.lower) and np.isfinite(step.upper)):
        return ""
    return f"distance {told(step.lower, step.upper, 5)}"


class Names:
    """Numbers the points of A - B in the order they were found."""

    def __init__(self, tolerance: float) -> None:
        self._tolerance, self._known = tolerance, _NO_POINTS

    def __call__(self, w: Array) -> str:
        """Return the name of a point, a new one unless it has been seen."""
        found = self._found(w)
        if found == len(self._known):
            self._known = np.vstack([self._known, w])
        return f"w{found + 1}"

    def _found(self, w: Array) -> int:
        """Return the place of a point among those that have names, their number if it has none."""
        near = np.abs(self._known - w).max(axis=1) <= self._tolerance
        return int(near.argmax()) if near.any() else len(self._known)

    def of(self, points: Array) -> tuple[str, ...]:
        """Name several."""
        return tuple(self(w) for w in points)

    def knows(self, w: Array) -> bool:
        """Tell whether a point has a name."""
        return self._found(w) < len(self._known)


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
