"""Derivatives of distance and signed distance with respect to the poses of the two shapes.

By the envelope theorem the optimal normal and points may be held fast: where they are unique, moving B along the normal
widens the gap at the rate 1, turning it at the rate of the lever arm of its point, in overlap as apart. Where they are
not, the distance has a kink, and what is given is one of its one-sided slopes.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from gjk3d.convex.checks import no_shape
from gjk3d.errors import ShapeError
from gjk3d.narrow import solve as narrow
from gjk3d.poses import matrices, parts, pose_rows
from gjk3d.query.ask import ask_distance
from gjk3d.results import Distance, Status
from gjk3d.shapes.base import Polytope, Shape
from gjk3d.shapes.combined import Rounded
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Bools, PoseLike

#: angle within which a second face, edge or normal counts as a tie; more where the normal itself is known less well
_ANGLE = 1e-6
#: how far B is moved, in units of the pair's size, to see whether another normal is as near
_PROBE = 1e-6
_AROUND = 12  #: directions round a normal in which a curved shape is asked for its support points
_BLOCK = 1 << 20  #: numbers held at a time


class Gradient(NamedTuple):
    """Answer of `gradient`, for one pair or for n.

    Attributes
    ----------
    a, b : (6,) float or (n, 6) float
        Derivative of the distance by the pose of A, and of B: three numbers for a translation, three for a rotation
        vector, both along the world's axes, turning about the pose's own origin.
    unique : bool or (n,) bool
        True where normal and points are unique, so that this is the derivative. False on ties, and where one is too
        near to be told from one: faces or edges that lie flat on each other, a depth reached along two normals.

    Examples
    --------
    >>> import gjk3d as gk
    >>> change = gk.gradient(gk.distance(gk.Sphere(1), gk.Point((3, 0, 0))))
    >>> change.a[:3].tolist(), change.unique
    ([-1.0, 0.0, 0.0], True)
    """

    a: Array
    b: Array
    unique: Any

    def __repr__(self) -> str:
        if self.a.ndim == 2:
            return f"Gradient of {len(self.a)} pairs: {int(np.sum(self.unique))} unique"
        rows = (np.array2string(row, precision=4, suppress_small=True, separator=", ") for row in (self.a, self.b))
        return "Gradient: a={}, b={}, {}".format(*rows, "unique" if self.unique else "not unique")


def gradient(result: Distance[Any], pose_a: PoseLike | None = None, pose_b: PoseLike | None = None) -> Gradient:
    """Return how the distance changes with the poses of the two shapes.

    Parameters
    ----------
    result : Distance
        Of `signed_distance` or `distance`, one pair or n.
    pose_a, pose_b : (4, 4) float or (n, 4, 4) float, optional
        Poses about whose origins the shapes turn, those of the question by default.

    Returns
    -------
    Gradient

    Raises
    ------
    ShapeError, PoseError
        The result is of something else, or poses do not fit it.

    Notes
    -----
    With normal n, points p and origins c: ``b = (n, (p_b - c_b) x n)`` and ``a = -(n, (p_a - c_a) x n)``. That the
    normal of an overlap is unique is found by asking again with B moved a little in fourteen directions, so overlaps
    cost several times as much. `distance` is 0 throughout an overlap, and so is its gradient: to climb out of one, ask
    `signed_distance`.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[:3, 3] = 0.5, 0.25, 1.25
    >>> gk.gradient(gk.signed_distance(gk.Box((2, 2, 2)), gk.Sphere(0.5), None, pose))
    Gradient: a=[ 0.  ,  0.  , -1.  , -0.25,  0.5 ,  0.  ], b=[0., 0., 1., 0., 0., 0.], unique
    """
    if not isinstance(result, Distance):
        raise ShapeError(
            f"result is a {type(result).__name__}, expected a Distance as gjk3d.signed_distance(a, b) gives it"
        )
    for which, shape in (("shape_a", result.shape_a), ("shape_b", result.shape_b)):
        if shape is not None and not isinstance(shape, Shape):
            raise no_shape(f"the result's {which}", shape)
    single = result.normal.ndim == 1
    count = 1 if single else len(result)
    normal, at_a, at_b = (np.reshape(x, (count, 3)) for x in (result.normal, result.point_a, result.point_b))
    groups = _groups(result, count)
    rows = [np.zeros((count, 13)), np.zeros((count, 13))]
    for which, _, poses in groups:
        for side, given, own, name in zip(rows, (pose_a, pose_b), poses, ("pose_a", "pose_b"), strict=True):
            table = pose_rows(own if given is None else given, name)[0]
            total = len(which) if given is None else count
            if len(table) not in (1, total):
                raise ShapeError(f"{name} has {len(table)} rows, and the result is of {count} pairs")
            side[which] = table if len(table) == 1 or given is None else table[which]
    lever_a, lever_b = (np.cross(p - side[:, 9:12], normal) for p, side in zip((at_a, at_b), rows, strict=True))
    a, b = -np.hstack([normal, lever_a]), np.hstack([normal, lever_b])
    unique = np.zeros(count, dtype=np.bool_)
    for which, shapes, poses in groups:
        unique[which] = _unique(result, which, shapes, poses)
    if result.asked[0] == narrow.UNSIGNED:
        inside = np.reshape(result.distance, count) <= 0.0
        a[inside] = b[inside] = 0.0
        unique &= ~inside
    return Gradient(a[0] + 0.0, b[0] + 0.0, bool(unique[0])) if single else Gradient(a + 0.0, b + 0.0, unique)


def _groups(result: Any, count: int) -> list[tuple[Any, tuple[Shape, Shape], tuple[Any, Any]]]:
    """Return rows that share two shapes: which they are, the shapes, their poses."""
    if result.shape_a is not None:
        return [(np.arange(count), (result.shape_a, result.shape_b), (result.pose_a, result.pose_b))]
    pairs = result._pairs  # an answer of many different pairs
    poses = result._poses if result._poses.ndim == 4 else result._poses[pairs]
    kinds, group = np.unique(pairs, axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(group.ravel(), minlength=len(kinds)))[:-1])
    shapes = result._shapes
    return [
        (which, (shapes[i], shapes[j]), (poses[which, 0], poses[which, 1]))
        for (i, j), which in zip(kinds.tolist(), parts, strict=True)
    ]


def _unique(result: Distance, which: Any, shapes: tuple[Shape, Shape], poses: tuple[Any, Any]) -> Bools:
    """Tell which rows have one normal and one pair of points."""

    def field(name: str) -> Any:
        return np.reshape(getattr(result, name), -1)[which]

    normal = np.reshape(result.normal, (-1, 3))[which]
    lower, upper, distance, status = (field(name) for name in ("lower", "upper", "distance", "status"))
    rows = [np.broadcast_to(pose_rows(pose)[0], (len(which), 13)) for pose in poses]
    size = sum(_size(shape) for shape in shapes)
    width = np.maximum(upper - lower, 0.0)
    apart = status == Status.SEPARATED
    # two unit vectors whose bounds differ by a width are within sqrt(2 width / radius) of each other
    known = np.maximum(np.where(apart, distance, size), 1e-300)
    angle = np.maximum(_ANGLE, 4.0 * np.sqrt(width / known))
    unique: Bools = field("tight").astype(bool) & (status <= Status.OVERLAPPING) & (angle <= 0.01)
    dims, axes = [], []
    for shape, row, sign in zip(shapes, rows, (1.0, -1.0), strict=True):
        turn = parts(row)[0]
        dim, axis = _patch(shape, sign * np.einsum("nji,nj->ni", turn, normal), np.minimum(angle, 0.01))
        dims.append(dim)
        axes.append(np.einsum("nij,nj->ni", turn, axis))
    sine = np.linalg.norm(np.cross(*axes), axis=1)
    crossing = (dims[0] == 1) & (dims[1] == 1) & (sine > 10.0 * angle)
    unique &= (dims[0] == 0) | (dims[1] == 0) | crossing
    asked = np.flatnonzero(unique & ~apart)
    if len(asked):
        unique[asked] = _one_normal(shapes, [row[asked] for row in rows], normal[asked], distance[asked], width[asked])
    return unique


def _size(shape: Shape) -> float:
    if isinstance(shape, Halfspace):
        return 0.0
    floats = shape._packed[1]
    return float(floats[0] + floats[4])  # radius and reach of the core


def _patch(shape: Shape, directions: Array, angle: Array) -> tuple[Any, Array]:
    """Return whether the farthest points along each direction are one (0), a line (1) or a face (2), and the line."""
    count = len(directions)
    if isinstance(shape, Halfspace):
        return np.full(count, 2), np.zeros((count, 3))
    core = shape.core if isinstance(shape, Rounded) else shape
    size = _size(shape)
    spread = np.zeros((count, 3, 3))
    if isinstance(core, Polytope):
        vertices = core.vertices
        step = max(1, _BLOCK // len(vertices))
        for start in range(0, count, step):
            heights = directions[start : start + step] @ vertices.T
            top = heights.argmax(axis=1)
            below = heights[np.arange(len(top)), top][:, None] - heights
            near = np.flatnonzero(below <= 2.0 * angle[start : start + step, None] * size)
            k, v = np.divmod(near, len(vertices))
            offset = vertices[v] - vertices[top[k]]
            tied = below.ravel()[near] <= angle[start + k] * np.linalg.norm(offset, axis=1) + 1e-12 * size
            np.add.at(spread, start + k[tied], offset[tied, :, None] * offset[tied, None, :])
        least = 1e-9 * size
    else:
        first = np.eye(3)[np.abs(directions).argmin(axis=1)]
        first = np.cross(directions, first)
        first /= np.linalg.norm(first, axis=1)[:, None]
        second = np.cross(directions, first)
        turns = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
        middle = shape.support(directions)
        for turn in turns:
            tilt = np.cos(turn) * first + np.sin(turn) * second
            offset = shape.support(directions + angle[:, None] * tilt) - middle
            spread += offset[:, :, None] * offset[:, None, :]
        # where the surface is round, points move by the angle times its radius
        least = 8.0 * angle * size * np.sqrt(_AROUND)
    squares, axes = np.linalg.eigh(spread)
    lengths = np.sqrt(np.maximum(squares, 0.0))
    line = lengths[:, 2] > least
    face = line & (lengths[:, 1] > np.maximum(least, 1e-7 * lengths[:, 2]))
    return line.astype(np.int64) + face, np.ascontiguousarray(axes[:, :, 2])


def _one_normal(shapes: tuple[Shape, Shape], rows: list[Array], normal: Array, distance: Array, width: Array) -> Bools:
    """Tell where the distance grows by the normal's share, whichever way B moves a little.

    In overlap it is the greatest of many linear functions of the movement, one for each normal; where another one is
    as great, some way it grows faster.
    """
    ways = np.array([way for way in product((-1.0, 0.0, 1.0), repeat=3) if np.count_nonzero(way) in (1, 3)])
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    step = np.maximum(_PROBE * sum(_size(shape) for shape in shapes), 1e4 * width)
    poses = [np.repeat(matrices(row)[:, None], len(ways), axis=1) for row in rows]
    poses[1][:, :, :3, 3] += step[:, None, None] * ways
    at_a, at_b = (pose.reshape(-1, 4, 4) for pose in poses)
    moved = ask_distance(narrow.SIGNED, *shapes, at_a, at_b, float("inf"), None, False)
    grown = np.reshape(moved.distance, (-1, len(ways))) - distance[:, None]
    beside = np.abs(grown - step[:, None] * (normal @ ways.T))
    steady: Bools = np.all(beside <= 2e-3 * step[:, None], axis=1) & (step > 0.0)
    return steady
