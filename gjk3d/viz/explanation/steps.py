"""What a step of GJK or EPA holds, and the Minkowski difference of the pair that it is about."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any, NamedTuple

import numpy as np

from gjk3d.errors import UnsupportedPair
from gjk3d.exact.convex_sets import body_of
from gjk3d.narrow.cores import relative_pose, support_once
from gjk3d.query.ask import question
from gjk3d.results import Distance
from gjk3d.shapes import layout, surfaces
from gjk3d.shapes.base import Shape
from gjk3d.shapes.convex_hull import ConvexHull
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Ints
from gjk3d.viz.layout import kind
from gjk3d.wording import kind_of, number, told

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
        self._tolerance = tolerance
        self._known, self._count = np.empty((64, 3)), 0

    def __call__(self, w: Array) -> str:
        """Return the name of a point, a new one unless it has been seen."""
        found = self._found(w)
        if found == self._count:
            if found == len(self._known):
                self._known = np.concatenate([self._known, np.empty_like(self._known)])
            self._known[found] = w
            self._count += 1
        return f"w{found + 1}"

    def _found(self, w: Array) -> int:
        """Return the place of a point among those that have names, their number if it has none."""
        near = np.abs(self._known[: self._count] - w).max(axis=1) <= self._tolerance
        return int(near.argmax()) if near.any() else self._count

    def of(self, points: Array) -> tuple[str, ...]:
        """Name several."""
        return tuple(self(w) for w in points)

    def knows(self, w: Array) -> bool:
        """Tell whether a point has a name."""
        return self._found(w) < self._count


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


#: differences of vertices that are all taken; of more, those farthest in the directions of a sphere's vertices
MOST = 50_000
_DIRECTIONS = surfaces.sphere(1.0, 54).vertices
#: of a shape that a page runs GJK on: it asks all of them for each farthest point
MOST_CORNERS = 20_000
#: curved cores whose support mappings a page has, and how many numbers each takes
_CURVED = {layout.CYLINDER: ("cylinder", 2), layout.CONE: ("cone", 2), layout.ELLIPSOID: ("ellipsoid", 3)}
_support: Any = support_once  # a kernel, called from Python


class Difference:
    """A - B of the cores that GJK and EPA see, in world axes."""

    def __init__(self, result: Distance) -> None:
        a, b = result.shape_a, result.shape_b
        for name, shape in (("A", a), ("B", b)):
            if not isinstance(shape, Shape):
                raise UnsupportedPair(
                    f"{name} is {kind_of(shape)}, and explain shows GJK and EPA, which take convex shapes: "
                    "ask about its hull() or its parts"
                )
            if isinstance(shape, Halfspace):
                raise UnsupportedPair(
                    f"{name} is {kind_of(shape)}, whose answer takes support points and neither GJK nor EPA: "
                    "there are no steps to explain; viz.show draws the answer"
                )
        _, rows = question(a, b, result.pose_a, result.pose_b)
        (_, fa), (_, fb) = self._packed = a._packed, b._packed
        self._m = relative_pose(rows.a[0], fa, rows.b[0], fb)
        self.turn: Array = rows.a[0, :9].reshape(3, 3).copy()  #: world from A's axes, in which a trace is written
        self.center: Array = self.turn @ fa[layout.CENTER : layout.CENTER + 3] + rows.a[0, 9:12]
        self.radii = float(fa[layout.RADIUS]), float(fb[layout.RADIUS])
        self.size = float(fa[layout.RHO] + fb[layout.RHO] + sum(self.radii) + np.linalg.norm(self._m[9:]))
        self._kinds = kind(a), kind(b)
        #: how each core's own axes lie in the world, and where its centre is, from A's
        self._frames = (
            (self.turn, np.zeros(3)),
            (self.turn @ np.reshape(self._m[:9], (3, 3)), self.axes(np.array(self._m[9:]))),
        )
        self._corners = _corners(a, *self._frames[0]), _corners(b, *self._frames[1])
        first, second = self._corners
        #: whether what is drawn of the cores' difference is sampled, as that of curved shapes
        self.sampled = first is None or second is None or len(first) * len(second) > MOST

    def axes(self, vectors: Array) -> Array:
        """Turn directions, or points of A - B, of the trace into world axes."""
        return np.asarray(vectors, dtype=np.float64) @ self.turn.T

    def place(self, points: Array) -> Array:
        """Turn points of A or of B, as the trace has them, into points of the world."""
        return self.axes(points) + self.center

    def support(self, direction: Array) -> Array:
        """Return the point of A - B farthest along a direction of the world."""
        (qa, fa), (qb, fb) = self._packed
        return self.axes(_support(qa, fa, qb, fb, self._m, tuple((self.turn.T @ direction).tolist()))[0])

    def between(self) -> tuple[Array, str]:
        """Return the direction that GJK asks first, in the axes of a trace, and what it is."""
        shift = np.array(self._m[9:])
        if not shift.any():
            return np.array([1.0, 0.0, 0.0]), "A's x axis, as the two have one reference point"
        return shift / np.linalg.norm(shift), "the line from A's reference point to B's"

    def given(self) -> list[dict[str, Any]] | None:
        """Return both shapes as a page runs GJK on them, about A's centre; None where it has no support mapping."""
        sides = []
        for k, (ints, floats) in enumerate(self._packed):
            turn, center = self._frames[k]
            side: dict[str, Any] = {"name": self._kinds[k], "radius": self.radii[k], "middle": center.tolist()}
            corners = self._corners[k]
            if corners is not None and len(corners) <= MOST_CORNERS:
                side["points"] = corners.tolist()
            elif ints[layout.KIND] in _CURVED:
                name, count = _CURVED[ints[layout.KIND]]
                sizes = floats[layout.FLOAT_HEAD : layout.FLOAT_HEAD + count].tolist()
                side |= {"kind": name, "sizes": sizes, "turn": turn.ravel().tolist(), "at": side["middle"]}
            else:
                return None
            sides.append(side)
        return sides

    def core(self) -> tuple[Array, Ints]:
        """Return the cores' difference as triangles, or as the end points of a segment, or as one point."""
        first, second = self._corners
        if not self.sampled and first is not None and second is not None:
            return _hull((first[:, None] - second[None]).reshape(-1, 3))
        return _hull(np.array([self.support(d) for d in _DIRECTIONS]))

    def whole(self) -> tuple[Array, Ints]:
        """Return the difference of the shapes with their radii, by samples; the core's where there are none."""
        if sum(self.radii) == 0.0:
            return self.core()
        return _hull(np.array([self.support(d) + sum(self.radii) * d for d in _DIRECTIONS]))


def _corners(shape: Shape, turn: Array, center: Array) -> Array | None:
    """Return the vertices, placed, whose hull a core is; None where it is curved or a sum."""
    ints, floats = shape._packed
    if not ints[layout.POLYTOPE]:
        return None
    vertices = getattr(shape, "vertices", None)
    if vertices is None or floats[layout.RADIUS] > 0.0:
        body = body_of(shape)
        if body is None or body.curved or len(body.terms) != 1 or len(body.terms[0].sets) != 1:
            return None
        vertices = [[float(x / body.scale) for x in p] for p in body.terms[0].sets[0]]
    return np.asarray((np.asarray(vertices) - floats[layout.CENTER : layout.CENTER + 3]) @ turn.T + center)


def _hull(points: Array) -> tuple[Array, Ints]:
    middle = points.mean(axis=0)
    hull = ConvexHull(points - middle)
    surface = hull.surface()
    return np.asarray(surface.vertices) + middle, np.asarray(surface.faces, dtype=np.int64)
