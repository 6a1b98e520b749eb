"""The Minkowski difference of two shapes, on which GJK and EPA run: all points of A minus all points of B."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.exact.convex_sets import body_of
from gjk3d.narrow.cores import relative_pose, support_once
from gjk3d.query.batch import prepare_query
from gjk3d.results import Distance
from gjk3d.shapes import layout, surfaces
from gjk3d.shapes.base import Shape
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.typing import Array, Ints

#: most differences of vertices that are all used; larger sets are sampled by support points along `_DIRECTIONS`
MOST = 50_000
_DIRECTIONS = surfaces.sphere(1.0, 54).vertices
_support: Any = support_once  # a kernel, called from Python


class Difference:
    """The Minkowski difference A - B of the cores, which are the shapes without their radii, in world axes."""

    def __init__(self, result: Distance) -> None:
        a, b = result.shape_a, result.shape_b
        _, rows = prepare_query("solve", a, b, result.pose_a, result.pose_b)
        (_, fa), (_, fb) = self._packed = a._packed, b._packed
        self._m = relative_pose(rows.a[0], fa, rows.b[0], fb)
        self.turn: Array = rows.a[0, :9].reshape(3, 3).copy()  #: world from A's axes, in which a trace is written
        self.center: Array = self.turn @ fa[layout.CENTER : layout.CENTER + 3] + rows.a[0, 9:12]
        self.radii = float(fa[layout.RADIUS]), float(fb[layout.RADIUS])
        self.size = float(fa[layout.RHO] + fb[layout.RHO] + sum(self.radii) + np.linalg.norm(self._m[9:]))
        #: rotation of each core's frame to world axes, and its centre relative to A's
        self.frames = (
            (self.turn, np.zeros(3)),
            (self.turn @ np.reshape(self._m[:9], (3, 3)), self.axes(np.array(self._m[9:]))),
        )
        #: vertices of each core in these frames; None for curved cores and sums
        self.corners = _corners(a, *self.frames[0]), _corners(b, *self.frames[1])
        first, second = self.corners
        #: whether `core` returns a sampled surface, as for curved shapes
        self.sampled = first is None or second is None or len(first) * len(second) > MOST

    def axes(self, vectors: Array) -> Array:
        """Return directions, or points of A - B, rotated from the axes of a trace (A's axes) to world axes."""
        return np.asarray(vectors, dtype=np.float64) @ self.turn.T

    def place(self, points: Array) -> Array:
        """Return points of A or of B transformed from the frame of a trace to the world."""
        return self.axes(points) + self.center

    def support(self, direction: Array) -> Array:
        """Return the support point of A - B along a direction in world axes."""
        (qa, fa), (qb, fb) = self._packed
        return self.axes(_support(qa, fa, qb, fb, self._m, tuple((self.turn.T @ direction).tolist()))[0])

    def between(self) -> tuple[Array, str]:
        """Return the first support direction of GJK, in the axes of a trace, and its description."""
        shift = np.array(self._m[9:])
        if not shift.any():
            return np.array([1.0, 0.0, 0.0]), "A's x axis because both frames have one origin"
        return shift / np.linalg.norm(shift), "the line from the origin of A's frame to that of B's"

    def core(self) -> tuple[Array, Ints]:
        """Return the difference of the cores as triangles, as the end points of a segment, or as one point."""
        first, second = self.corners
        if not self.sampled and first is not None and second is not None:
            return _hull((first[:, None] - second[None]).reshape(-1, 3))
        return _hull(np.array([self.support(d) for d in _DIRECTIONS]))

    def whole(self) -> tuple[Array, Ints]:
        """Return the sampled difference of the shapes with their radii; `core` if both radii are 0."""
        if sum(self.radii) == 0.0:
            return self.core()
        return _hull(np.array([self.support(d) + sum(self.radii) * d for d in _DIRECTIONS]))


def _corners(shape: Shape, turn: Array, center: Array) -> Array | None:
    """Return the transformed vertices whose hull is the core; None for curved cores and sums."""
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
