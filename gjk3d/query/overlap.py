"""The intersection of two polytopes, as a polytope."""

from __future__ import annotations

from math import ceil, log2
from typing import Any, overload

import numpy as np

from gjk3d.errors import UnsupportedPair
from gjk3d.geometry.hulls import FACE_ANGLE
from gjk3d.geometry.intersection import Walls, bevels, corners
from gjk3d.geometry.points import farthest
from gjk3d.geometry.vec3 import Vec3
from gjk3d.narrow import manifold
from gjk3d.narrow import solve as narrow
from gjk3d.query.batch import prepare_query
from gjk3d.query.pair import collide_prepared, distance_prepared, prepared_for_builtins
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
    """Return the intersection of two polytopes.

    Parameters
    ----------
    a, b : Shape
        Boxes, hulls, tetrahedra, triangles, segments, points, and sums, unions and sweeps of these, but not rounded or
        curved shapes.
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        As in `collide`.

    Returns
    -------
    ConvexHull or None, or a list of these for a stack
        The intersection in world axes. The error of its corners is about 1e-12 of the pair's size. None exactly if the
        shapes are proven to be separated, as in `collide`. The intersection of shapes that touch, or overlap by less
        than the rounding error, is a flat polytope, a segment or a point.

    Raises
    ------
    UnsupportedPair
        For curved and rounded shapes and half-spaces.
    PoseError, ShapeError
        For invalid input; the message names the fault.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[:3, 3] = (0.5, 0.5, 0.75)
    >>> both = gk.overlap(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, pose)
    >>> round(both.volume, 12), both.centroid.tolist()
    (0.0625, [0.25, 0.25, 0.375])
    """
    _, rows = prepare_query("overlap", a, b, pose_a, pose_b)
    first, second = _as_polytope(a, "a"), _as_polytope(b, "b")
    pair = prepared_for_builtins(a, b)
    if not rows.stacked and not collide_prepared(pair, a, b, pose_a, pose_b, 0.0):
        return None
    result = distance_prepared(pair, a, b, narrow.SIGNED, pose_a, pose_b, 0.0)
    walls = _walls(first), _walls(second)
    if not rows.stacked:
        return _intersection(*walls, rows.joined_poses(), _middle(result)) if result.lower <= 0.0 else None
    intersections: list[ConvexHull | None] = []
    for k in range(rows.total):
        pose_pair = np.array((rows.a[k % len(rows.a)], rows.b[k % len(rows.b)]))
        intersections.append(_intersection(*walls, pose_pair, _middle(result[k])) if result.lower[k] <= 0.0 else None)
    return intersections


def _middle(result: Distance[float]) -> Vec3:
    """Return the point halfway between the witness points of one pair."""
    x, y, z = (0.5 * (result.point_a + result.point_b)).tolist()
    return x, y, z


def _as_polytope(shape: Shape, name: str) -> Polytope:
    """Return the shape as a polytope; a composed shape becomes the hull of the vertices of its terms."""
    polytope: Any = shape
    while isinstance(polytope, Rounded) and polytope.radius == 0.0:
        polytope = polytope.core
    if isinstance(polytope, Composed) and polytope._rounding() == 0.0:
        polytope = polytope._polytope()
    if not isinstance(polytope, Polytope):
        many = isinstance(shape, Composed) and shape._packed[0][layout.POLYTOPE] and shape._rounding() == 0.0
        raise UnsupportedPair(
            f"overlap takes polytopes{' with fewer vertices' if many else ''}, and {name} is {kind_of(shape)}. "
            f"Pass gjk3d.ConvexHull({name}.surface().vertices) for an approximation from inside"
        )
    return polytope


def _walls(shape: Polytope) -> Walls:
    """Return the edges and half-spaces of a polytope in its own frame."""
    if "walls" not in shape._cache:
        vertices, hull = np.ascontiguousarray(shape.vertices), shape._hull()
        normals = bevels(hull.vertices, *shape._gauss_map())
        # edges between coplanar faces are not needed: the edges of the whole face give the same corners
        ends = hull.edges[hull.angles > FACE_ANGLE] if hull.dimension else np.zeros((1, 2), dtype=np.int64)
        edges = hull.vertices[ends]
        planes = np.ascontiguousarray(np.column_stack([normals, farthest(vertices, normals)[0]]).T)
        shape._cache["walls"] = Walls(edges.reshape(-1, 6), planes, float(np.ptp(edges)))
    walls: Walls = shape._cache["walls"]
    return walls


def _intersection(a: Walls, b: Walls, rows: Array, middle: Vec3) -> ConvexHull:
    """Return the intersection of two polytopes that touch or overlap; the point ``middle`` if it is without corners."""
    if max(a.span, b.span) == 0.0:  # two points have no directions, which `corners` divides by
        return ConvexHull._later(np.array([middle]))
    # coordinates relative to a nearby round point are small, and simple numbers stay exact
    unit = 2.0 ** ceil(log2(max(a.span, b.span, 1e-300)))
    x, y, z = (round(number / unit) * unit for number in middle)
    points = corners(a, b, rows, (x, y, z), manifold.NEARLY_EQUAL)
    return ConvexHull._later(points if len(points) else np.array([middle]))
