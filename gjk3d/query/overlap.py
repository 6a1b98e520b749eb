"""What two polytopes have in common, as a polytope."""

from __future__ import annotations

from math import ceil, log2
from typing import Any, overload

import numpy as np

from gjk3d.convex.checks import check_convex
from gjk3d.errors import UnsupportedPair
from gjk3d.geometry.hulls import FACE_ANGLE
from gjk3d.geometry.intersection import Walls, bevels, corners
from gjk3d.geometry.points import farthest
from gjk3d.geometry.vec3 import Vec3
from gjk3d.narrow import manifold
from gjk3d.narrow import solve as narrow
from gjk3d.query.ask import question
from gjk3d.query.pair import ask_prepared, collide_prepared, prepared_for_builtins
from gjk3d.results import Distance
from gjk3d.shapes import layout
from gjk3d.shapes.base import Polytope, Shape
from gjk3d.shapes.composed import Composed, Rounded
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.typing import Array, Pose, PoseLike, UnclearPose
from gjk3d.wording import kind_of


@overload
def overlap(a: Shape, b: Shape, pose_a: UnclearPose, pose_b: PoseLike | None = None) -> Any: ...
@overload
def overlap(a: Shape, b: Shape, pose_a: PoseLike | None, pose_b: UnclearPose) -> Any: ...
@overload
def overlap(a: Shape, b: Shape, pose_a: Pose | None = None, pose_b: Pose | None = None) -> ConvexHull | None: ...
@overload
def overlap(
    a: Shape, b: Shape, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None
) -> list[ConvexHull | None]: ...
def overlap(a: Shape, b: Shape, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None) -> Any:
    """Return what two polytopes have in common.

    Parameters
    ----------
    a, b : Shape
        Boxes, hulls, tetrahedra, triangles, segments, points, and sums, unions and sweeps of such; not rounded, not
        curved.
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        As in `collide`.

    Returns
    -------
    ConvexHull or None, or a list of such for a stack
        In world axes, its corners to about 1e-12 of the pair's size; its ``volume``, ``centroid`` and ``polygons`` say
        the rest. None exactly where the two are proven to be apart, so that it agrees with `collide`. Two that touch
        have a flat one, a segment or a point in common, and so have two that overlap by less than rounding can tell.

    Raises
    ------
    UnsupportedPair
        For curved and rounded shapes and half-spaces.
    PoseError, ShapeError
        Naming what is wrong with the input.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[:3, 3] = (0.5, 0.5, 0.75)
    >>> both = gk.overlap(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, pose)
    >>> round(both.volume, 12), both.centroid.tolist()
    (0.0625, [0.25, 0.25, 0.375])
    """
    check_convex(a, b)
    _, rows = question(a, b, pose_a, pose_b)
    first, second = _sharp(a, "a"), _sharp(b, "b")
    by = prepared_for_builtins(a, b)
    if not rows.stacked and not collide_prepared(by, a, b, pose_a, pose_b, 0.0):
        return None
    result = ask_prepared(by, a, b, narrow.SIGNED, pose_a, pose_b, 0.0)
    walls = _walls(first), _walls(second)
    if not rows.stacked:
        return _common(*walls, rows.behind_each_other(), _middle(result)) if result.lower <= 0.0 else None
    found: list[ConvexHull | None] = []
    for k in range(rows.total):
        both = np.array((rows.a[k % len(rows.a)], rows.b[k % len(rows.b)]))
        found.append(_common(*walls, both, _middle(result[k])) if result.lower[k] <= 0.0 else None)
    return found


def _middle(result: Distance[float]) -> Vec3:
    """Return the place between the witness points of one pair."""
    x, y, z = (0.5 * (result.point_a + result.point_b)).tolist()
    return x, y, z


def _sharp(shape: Shape, name: str) -> Polytope:
    """Return the polytope that a shape is, by the vertices of its terms where it is composed."""
    found: Any = shape
    while isinstance(found, Rounded) and found.radius == 0.0:
        found = found.core
    if isinstance(found, Composed) and found._rounding() == 0.0:
        found = found._polytope()
    if not isinstance(found, Polytope):
        many = isinstance(shape, Composed) and shape._packed[0][layout.POLYTOPE] and shape._rounding() == 0.0
        raise UnsupportedPair(
            f"overlap takes polytopes{', of fewer vertices' if many else ''}, and {name} is {kind_of(shape)}"
            f"{'' if many else ', which is none'}: "
            "pass the ConvexHull of its surface().vertices for an approximation from inside"
        )
    return found


def _walls(shape: Polytope) -> Walls:
    """Return the edges and half-spaces of a polytope in its own frame."""
    if "walls" not in shape._cache:
        vertices, hull = np.ascontiguousarray(shape.vertices), shape._hull()
        normals = bevels(hull.vertices, *shape._gauss_map())
        # an edge inside a face leaves the intersection where an edge round the face does
        ends = hull.edges[hull.angles > FACE_ANGLE] if hull.dimension else np.zeros((1, 2), dtype=np.int64)
        edges = hull.vertices[ends]
        planes = np.ascontiguousarray(np.column_stack([normals, farthest(vertices, normals)[0]]).T)
        shape._cache["walls"] = Walls(edges.reshape(-1, 6), planes, float(np.ptp(edges)))
    walls: Walls = shape._cache["walls"]
    return walls


def _common(a: Walls, b: Walls, rows: Array, middle: Vec3) -> ConvexHull:
    """Return the intersection of two placed polytopes that touch or overlap; at the middle where they touch."""
    if max(a.span, b.span) == 0.0:  # two points have no directions, which `corners` divides by
        return ConvexHull._later(np.array([middle]))
    # about a round place near by, where numbers are small and simple ones stay so
    unit = 2.0 ** ceil(log2(max(a.span, b.span, 1e-300)))
    x, y, z = (round(number / unit) * unit for number in middle)
    points = corners(a, b, rows, (x, y, z), manifold.SAME)
    return ConvexHull._later(points if len(points) else np.array([middle]))
