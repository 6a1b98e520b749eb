"""The Minkowski difference of a pair, as far as a picture needs it: its points, and the frame of its trace."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.errors import UnsupportedPair
from gjk3d.exact.bodies import body_of
from gjk3d.narrow.cores import relative_pose, support_pair
from gjk3d.query.ask import question
from gjk3d.results import Distance
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.convex_hull import ConvexHull
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Ints

#: differences of vertices that are all taken; of more, those farthest in SAMPLES directions
MOST = 50_000
SAMPLES = 1500
_support: Any = support_pair  # a kernel, called from Python


class Difference:
    """A - B of the cores that GJK and EPA see, in world axes."""

    def __init__(self, result: Distance) -> None:
        a, b = result.shape_a, result.shape_b
        for name, shape in (("A", a), ("B", b)):
            if not isinstance(shape, Shape):
                raise UnsupportedPair(
                    f"{name} is a {type(shape).__name__}, and explain shows GJK and EPA, which take convex shapes: "
                    "ask about its hull() or its parts"
                )
            if isinstance(shape, Halfspace):
                raise UnsupportedPair(
                    f"{name} is a Halfspace, whose answer takes one support point and neither GJK nor EPA: "
                    "there are no steps to explain; viz.show draws the answer"
                )
        _, rows = question(a, b, result.pose_a, result.pose_b)
        (_, fa), (_, fb) = self._packed = a._packed, b._packed
        self._m = relative_pose(rows.a, 0, fa, 0, rows.b, 0, fb, 0)
        self.turn: Array = rows.a[0, :9].reshape(3, 3).copy()  #: world from A's axes, in which a trace is written
        self.center: Array = self.turn @ fa[layout.CENTER : layout.CENTER + 3] + rows.a[0, 9:12]
        self.radii = float(fa[layout.RADIUS]), float(fb[layout.RADIUS])
        self.size = float(fa[layout.RHO] + fb[layout.RHO] + sum(self.radii) + np.linalg.norm(self._m[9:]))
        self._corners = _corners(a), _corners(b)
        first, second = self._corners
        #: whether what is drawn of the cores' difference is sampled, as that of curved shapes
        self.sampled = first is None or second is None or len(first) * len(second) > MOST

    def axes(self, vectors: Array) -> Array:
        """Turn directions, or points of A - B, of the trace into world axes."""
        return np.asarray(vectors, dtype=np.float64) @ self.turn.T

    def place(self, points: Array) -> Array:
        """Turn points of A or of B, as the trace has them, into points of the world."""
        return self.axes(points) + self.center

    def support(self, direction: Array) -> tuple[Array, Array, Array]:
        """Return the farthest point along a direction of the world, and the two points of the world it is made of."""
        d = self.turn.T @ direction
        (qa, fa), (qb, fb) = self._packed
        w, p, q = _support(qa, 0, fa, 0, qb, 0, fb, 0, self._m, (float(d[0]), float(d[1]), float(d[2])))
        return self.axes(np.array(w)), self.place(np.array(p)), self.place(np.array(q))

    def between(self) -> tuple[Array, str]:
        """Return the direction that GJK asks first, and what it is."""
        shift = np.array(self._m[9:])
        if not shift.any():
            return self.axes(np.array([1.0, 0.0, 0.0])), "A's x axis, as the two have one reference point"
        return self.axes(shift / np.linalg.norm(shift)), "the line from A's reference point to B's"

    def core(self) -> tuple[Array, Ints]:
        """Return the cores' difference as triangles, or as the end points of a segment, or as one point."""
        first, second = self._corners
        if not self.sampled and first is not None and second is not None:
            (_, fa), (_, fb) = self._packed
            turn, shift = np.array(self._m[:9]).reshape(3, 3), np.array(self._m[9:])
            p = first - fa[layout.CENTER : layout.CENTER + 3]
            q = (second - fb[layout.CENTER : layout.CENTER + 3]) @ turn.T + shift
            points = self.axes((p[:, None] - q[None]).reshape(-1, 3))
        else:
            points = np.array([self.support(d)[0] for d in _directions(SAMPLES)])
        return _hull(points)

    def whole(self) -> tuple[Array, Ints]:
        """Return the difference of the shapes with their radii, by samples; the core's where there are none."""
        if sum(self.radii) == 0.0:
            return self.core()
        directions = _directions(SAMPLES)
        return _hull(np.array([self.support(d)[0] for d in directions]) + sum(self.radii) * directions)


def _corners(shape: Shape) -> Array | None:
    """Return the vertices whose hull a core is, None where it is curved or has far too many."""
    ints, floats = shape._packed
    if not ints[layout.POLYTOPE]:
        return None
    vertices = getattr(shape, "vertices", None)
    if vertices is not None and floats[layout.RADIUS] == 0.0:
        return np.asarray(vertices, dtype=np.float64)
    body = body_of(shape)
    if body is None or len(body.terms) != 1 or len(body.terms[0].sets) != 1 or body.terms[0].balls:
        return None
    return np.array([[float(x / body.scale) for x in p] for p in body.terms[0].sets[0]])


def _hull(points: Array) -> tuple[Array, Ints]:
    middle = points.mean(axis=0)
    hull = ConvexHull(points - middle)
    surface = hull.surface()
    return np.asarray(surface.vertices) + middle, np.asarray(surface.faces, dtype=np.int64)


def _directions(count: int) -> Array:
    """Spread unit vectors evenly: a spiral of the golden angle, after the six along the axes."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    spiral = np.column_stack([np.sqrt(1.0 - z * z) * np.cos(turn), np.sqrt(1.0 - z * z) * np.sin(turn), z])
    return np.concatenate([np.eye(3), -np.eye(3), spiral])
