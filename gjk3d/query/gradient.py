"""Derivatives of distance and signed distance with respect to the poses of the two shapes.

By the envelope theorem the optimal normal and points count as constant in the derivative if they are unique. A
translation of B along the normal increases the signed distance at the rate 1. The rate of a rotation of B is the lever
arm of the normal at B's point. If the normal or the points are not unique, the distance has a kink, and the result is
one of its one-sided slopes.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.addresses import raise_pending
from gjk3d.convex.batch import MOST_POINTS, answers_of, empty_answers, in_chunks
from gjk3d.convex.checks import no_shape
from gjk3d.convex.solve import core_row
from gjk3d.engine.dispatch import is_collider
from gjk3d.errors import ShapeError
from gjk3d.frozen import shown
from gjk3d.narrow import unique as narrow
from gjk3d.narrow.solve import FLOATS, INTS, UNSIGNED, PairRows
from gjk3d.narrow.workspace import FIRST_POINTS, workspace_of
from gjk3d.poses import IDENTITY, STANDING, WIDTH, pose_rows
from gjk3d.query.pair import prepared
from gjk3d.query.single import thread_scratch
from gjk3d.results import Distance, Status, compared, row_of
from gjk3d.shapes.base import Kind, Shape
from gjk3d.typing import Array, Ints, PoseLike
from gjk3d.wording import count
from gjk3d.wording import kind_of as name_of

_ROWS = 2, FLOATS  #: shape of the output of `gjk3d.narrow.unique.gradient_once`


@compared()
class Gradient(NamedTuple):
    """Result of `gradient`, for one pair or for n.

    Attributes
    ----------
    a, b : (6,) float or (n, 6) float
        Derivative of the distance with respect to the pose of A and of B: three numbers for a translation, and three
        numbers per radian for a rotation vector, both in world axes. The rotation is about the origin of the pose.
    unique : bool or (n,) bool
        True if the normal and the points are unique. Then ``a`` and ``b`` are the derivative. False for ties and for
        pairs that are too close to a tie, for example coplanar faces, parallel edges that touch, or equal depths along
        two normals.

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

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return shown(self)

    def __repr__(self) -> str:
        if self.a.ndim == 2:
            return f"Gradient of {count(len(self.a), 'pair')}: {int(np.sum(self.unique))} unique"
        rows = (np.array2string(row, precision=4, suppress_small=True, separator=", ") for row in (self.a, self.b))
        return "Gradient: a={}, b={}, {}".format(*rows, "unique" if self.unique else "not unique")


def gradient(result: Distance[Any], pose_a: PoseLike | None = None, pose_b: PoseLike | None = None) -> Gradient:
    """Return the derivative of the distance with respect to the poses of the two shapes.

    Parameters
    ----------
    result : Distance
        Result of `signed_distance` or `distance`, one pair or n.
    pose_a, pose_b : (4, 4) float or (n, 4, 4) float, optional
        Poses whose origins are the centers of rotation. The default is the poses of the query.

    Returns
    -------
    Gradient

    Raises
    ------
    ShapeError, PoseError
        If the result is not a `Distance`, or the poses do not match it.

    Notes
    -----
    With normal n, points p and origins c: ``b = (n, (p_b - c_b) x n)`` and ``a = -(n, (p_a - c_a) x n)``. The normal of
    an overlap is tested for uniqueness by a second query with B moved a little deeper, see `gjk3d.narrow.unique`.
    `distance` is 0 in any overlap, and its gradient is 0 as well. Use `signed_distance` to follow the gradient out of
    an overlap.

    For non-convex bodies the nearest parts give the derivative. In overlap these are the parts that touch after B has
    moved by ``separation_vector``, see `gjk3d.bodies.distance`. If the depth is only bounded from both sides, the
    result is the slope of the separating translation that the search returned, and ``unique`` is False.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[:3, 3] = 0.5, 0.25, 1.25
    >>> gk.gradient(gk.signed_distance(gk.Box((2, 2, 2)), gk.Sphere(0.5), None, pose))
    Gradient: a=[ 0.  ,  0.  , -1.  , -0.25,  0.5 ,  0.  ], b=[0., 0., 1., 0., 0., 0.], unique
    """
    at_once = _quick_gradient(result) if pose_a is None and pose_b is None and isinstance(result, Distance) else None
    if at_once is not None:
        return at_once
    if not isinstance(result, Distance):
        raise ShapeError(f"gradient: result is {name_of(result)}, expected a Distance. Use gjk3d.signed_distance(a, b)")
    for which, shape in (("shape_a", result.shape_a), ("shape_b", result.shape_b)):
        if shape is not None and not is_collider(shape):
            raise no_shape(f"the result's {which}", shape)
    single = result.normal.ndim == 1
    count = 1 if single else len(result)
    answers, marks = answers_of(result, count), np.zeros((count, INTS), dtype=np.int64)
    marks[:, 0], marks[:, 2] = result.status, result.tight
    about = np.zeros((2, count, WIDTH))
    unique, slopes = np.empty(count, dtype=np.int64), np.empty((count, 12))
    of_bodies = np.zeros(count, dtype=bool)
    # rows that share their shapes are packed once; only the test of uniqueness needs the shapes
    for which, shapes, poses in _groups(result, count):
        rows = []
        for side, center, pose, name in zip(about, (pose_a, pose_b), poses, ("pose_a", "pose_b"), strict=True):
            table, query_rows = (pose_rows(p, name)[0] for p in (pose if center is None else center, pose))
            total = len(which) if center is None else count
            if len(table) not in (1, total):
                rows_text = f"{name} has {len(table)} rows, expected {total} as in the result"
                raise ShapeError(f"gradient: {rows_text}. Pass the poses of the query")
            side[which] = table if len(table) == 1 or center is None else table[which]
            rows.append(query_rows)
        convex = _as_convex(shapes)
        if convex is not None:
            unique[which] = _unique(convex, rows, answers[which], marks[which])
            continue
        of_bodies[which] = True
        for n, k in enumerate(which.tolist()):
            row_a, row_b = (table[n % len(table)] for table in rows)
            slopes[k], unique[k] = _body_slopes(shapes, (row_a, row_b), answers[k], bool(marks[k, 2]), about[:, k])
    convex_rows = np.flatnonzero(~of_bodies)
    convex_slopes = np.empty((len(convex_rows), 12))
    narrow.slope_rows(answers[convex_rows], about[0, convex_rows], about[1, convex_rows], convex_slopes)
    slopes[convex_rows], is_unique = convex_slopes, unique == narrow.YES
    if result.asked[0] == UNSIGNED:  # the unsigned distance is 0 in an overlap, and has a kink where the shapes touch
        inside = answers[:, 0] <= 0.0
        slopes[inside] = 0.0
        is_unique &= ~inside
    if single:
        return Gradient(slopes[0, :6], slopes[0, 6:], bool(is_unique[0]))
    return Gradient(slopes[:, :6], slopes[:, 6:], is_unique)


def _quick_gradient(result: Distance[Any]) -> Gradient | None:
    """Return the gradient of the result of two convex shapes; None if the general path has to compute it."""
    row = row_of(result)
    a, b = result.shape_a, result.shape_b
    if row is None or getattr(a, "_kind", 0) | getattr(b, "_kind", 0) != Kind.CONVEX:
        return None
    pair, scratch = prepared(a, b), thread_scratch()
    if pair.words is None:
        return None
    answer, marks, pose_a, pose_b = row
    out = np.empty(_ROWS)
    unique = narrow.gradient_once(
        PairRows(*pair.packed, scratch.poses), STANDING if pose_a is None else pose_a,
        STANDING if pose_b is None else pose_b, answer, marks, result.asked[0] == UNSIGNED, scratch.workspace,
        scratch.flags, out,
    )  # fmt: skip
    if unique < 0 or unique == narrow.FULL:
        return None
    return Gradient(out[1, :6], out[1, 6:], unique == narrow.YES)


def _groups(result: Any, count: int) -> list[tuple[Any, tuple[Shape, Shape], tuple[Any, Any]]]:
    """Return groups of result rows that share two shapes: the indices of the rows, the shapes, and their poses."""
    if result.shape_a is not None:
        return [(np.arange(count), (result.shape_a, result.shape_b), (result.pose_a, result.pose_b))]
    pairs = result._pairs  # a result of many different pairs
    poses = result._poses if result._poses.ndim == 4 else result._poses[pairs]
    kinds, group = np.unique(pairs, axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(group.ravel(), minlength=len(kinds)))[:-1])
    shapes = result._shapes
    return [
        (which, (shapes[i], shapes[j]), (poses[which, 0], poses[which, 1]))
        for (i, j), which in zip(kinds.tolist(), parts, strict=True)
    ]


def _as_convex(shapes: tuple[Any, Any]) -> tuple[Shape, Shape] | None:
    """Return two convex shapes with the same distance as ``shapes``; None if it depends on the parts of bodies."""
    a, b = shapes
    kinds = a._kind | b._kind
    if not kinds & Kind.BODIES:
        return a, b
    if not kinds & Kind.HALFSPACE:
        return None
    from gjk3d.bodies.planes import standing_in  # loaded only for non-convex bodies

    x: Any = standing_in(a, b, IDENTITY, IDENTITY)
    return x.a, x.b


def _body_slopes(
    shapes: tuple[Any, Any], rows: tuple[Array, Array], answer: Array, tight: bool, about: Array
) -> tuple[Array, int]:
    """Return the slopes (12,) of one pair with a non-convex body, and YES or NO for their uniqueness.

    ``rows`` are the poses of the query, and ``answer`` is the row of its result. ``about`` are two pose rows whose
    origins are the centers of rotation. ``tight`` is the field of the result.
    """
    from gjk3d.bodies.distance import levers  # loaded only for non-convex bodies

    if (shapes[0]._kind | shapes[1]._kind) & Kind.PLANE:
        from gjk3d.bodies.planes import standing_in

        x = standing_in(*shapes, rows[0][None], rows[1][None])
        shapes, rows = (x.a, x.b), (x.rows_a[0], x.rows_b[0])
    contacts = levers(*shapes, *rows, answer, tight)
    count = len(contacts.rows)
    poses = np.repeat(about[:, None], count, axis=1)
    poses[1, :, 9:12] += contacts.shift
    slopes = np.empty((count, 12))
    narrow.slope_rows(contacts.rows, poses[0], poses[1], slopes)
    sure = contacts.sure
    marks = np.array([[Status.SEPARATED, 0, 1, 0]], dtype=np.int64)
    for row, (a, row_a, b, row_b) in zip(contacts.rows, contacts.parts, strict=False):
        sure = sure and _unique((a, b), [row_a[None], row_b[None]], row[None].copy(), marks)[0] == narrow.YES
    return contacts.weights @ slopes, narrow.YES if sure else narrow.NO


def _unique(shapes: tuple[Shape, Shape], rows: list[Array], answers: Array, marks: Ints) -> Ints:
    """Return YES for each row whose normal and pair of points are unique, otherwise NO."""
    ints, floats, row, plane = core_row(*shapes, *map(len, rows))
    pairs, (out, flags) = PairRows(ints, floats, row, np.concatenate(rows)), empty_answers(1)
    unique = np.full(len(answers), narrow.FULL)

    def run(start: int, stop: int, points: int) -> None:
        narrow.unique_rows(pairs, answers, marks, plane, start, stop, workspace_of(points), out, flags, unique)

    points = FIRST_POINTS
    while points <= MOST_POINTS and (unique == narrow.FULL).any():
        in_chunks(len(answers), 1, partial(run, points=points))
        points *= 4
    raise_pending()
    return unique
