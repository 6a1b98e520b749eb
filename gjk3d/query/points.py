"""Signed distances of many points from one shape: `signed_distances` and its result."""

from __future__ import annotations

from math import inf, nan
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.mesh_points import OUTSIDE, PointAnswers, PointRows
from gjk3d.convex.checks import check_limits, check_workers
from gjk3d.engine.dispatch import Collider, find_single
from gjk3d.errors import ShapeError
from gjk3d.geometry.points import morton_order
from gjk3d.poses import matrices, pose_rows
from gjk3d.query.distance import signed_distance
from gjk3d.results import Status, compared
from gjk3d.shapes.base import points_of
from gjk3d.shapes.polytopes import Point
from gjk3d.typing import Array, Bools, Ints, PoseLike
from gjk3d.wording import count

SIGNS = ("auto", "winding", "none")


@compared()
class PointDistances(NamedTuple):
    """Result of `signed_distances`, with one row for each point.

    Attributes
    ----------
    distance : (n,) float
        Distance of each point from the surface, in the caller's unit, negative inside. It is infinite beyond
        ``max_distance``, and minus infinity if a point inside is farther from the surface than that.
    point : (n, 3) float
        The nearest point of the surface, in world axes. NaN beyond ``max_distance``.
    normal : (n, 3) float
        The gradient of the distance, a unit vector in world axes: away from the surface outside, and towards it inside.
        On the surface it is the outward normal of the face. NaN beyond ``max_distance``.
    face : (n,) int
        The face of the mesh with the nearest point; the least number if several faces tie. -1 for other shapes, and
        beyond ``max_distance``.
    inside : (n,) bool
        Whether the distance is negative. A point on the surface of a mesh is outside. For other shapes it is on either
        side, as rounding decides.
    lower, upper : (n,) float
        Bounds of the distance.

    Examples
    --------
    >>> import gjk3d as gk
    >>> near = gk.Box((2, 2, 2)).signed_distances([(3, 0, 0), (0.9, 0, 0)])
    >>> near
    PointDistances of 2 points: 1 inside
    >>> near.distance.round(12).tolist(), near.normal.round(12).tolist()
    ([2.0, -0.1], [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    """

    distance: Array
    point: Array
    normal: Array
    face: Ints
    inside: Bools
    lower: Array
    upper: Array

    def __bool__(self) -> bool:
        raise TypeError("the truth value of PointDistances is ambiguous. Use .inside or .distance")

    def __repr__(self) -> str:
        return f"PointDistances of {count(len(self.distance), 'point')}: {int(self.inside.sum())} inside"


def signed_distances(
    shape: Any, points: Any, pose: PoseLike | None, max_distance: float, sign: str, workers: int
) -> PointDistances:
    """Return the signed distances of points from a shape, see `gjk3d.Shape.signed_distances`."""
    handler = find_single("points", shape)
    check_limits(max_distance, None)
    check_workers(workers)
    if sign not in SIGNS:
        raise ShapeError(f"signed_distances: sign is {sign!r:.80}, expected one of {', '.join(map(repr, SIGNS))}")
    rows, _ = points_of(points, "signed_distances: points") if np.size(points) else (np.empty((0, 3)), 0)
    poses, stacked = pose_rows(pose, "pose")
    if stacked and len(poses) not in (1, len(rows)):
        raise ShapeError(f"signed_distances: pose has {len(poses)} rows and points {len(rows)}, expected equal numbers")
    if handler is None:
        answers = _of_any(shape, rows, pose, max_distance, workers)
    else:
        # neighbours share the nodes of the tree that they visit
        order = morton_order(rows) if len(poses) == 1 else np.arange(len(rows))
        answers = handler(shape, PointRows(rows, poses, order, float(max_distance), OUTSIDE), sign, workers)
        left = np.flatnonzero(np.isnan(answers.numbers[:, 0]))
        if len(left):  # of a cloud
            some = matrices(poses[left, :12] if len(poses) > 1 else poses[0, :12])
            for mine, theirs in zip(answers, _of_any(shape, rows[left], some, max_distance, workers), strict=True):
                mine[left] = theirs
    numbers, faces, inside = answers
    return PointDistances(
        numbers[:, 0], numbers[:, 3:6], numbers[:, 6:], faces, inside, numbers[:, 1], numbers[:, 2]
    )  # fmt: skip


def _of_any(shape: Collider, points: Array, pose: Any, most: float, workers: int) -> PointAnswers:
    """Return the distances of points from a shape without triangles."""
    poses = np.tile(np.eye(4), (len(points), 1, 1))
    poses[:, :3, 3] = points
    answer = signed_distance(shape, Point(), pose, poses, max_distance=most, workers=workers)
    inside, beyond = answer.distance < 0.0, np.asarray(answer.status) == Status.BEYOND
    nearest = answer.point_a.copy()
    # the witness points of bodies in overlap are not on surfaces, and the translation of the point ends there
    nearest[inside] = points[inside] - answer.distance[inside, None] * answer.normal[inside]
    numbers = np.column_stack([answer.distance + 0.0, answer.lower, answer.upper, nearest, answer.normal])
    numbers[beyond] = inf, most, inf, nan, nan, nan, nan, nan, nan
    deep = answer.distance < -most
    # the least depth of a body may be below the limit
    numbers[deep, 0], numbers[deep, 1], numbers[deep, 3:] = -inf, -inf, nan
    numbers[deep, 2] = np.maximum(numbers[deep, 2], -most)
    return PointAnswers(numbers, np.full(len(points), -1), inside)
