"""Time of impact of two moving shapes: `time_of_impact`, `shapecast` and their result."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from math import inf
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from gjk3d.convex.batch import Rows as PoseRows
from gjk3d.convex.checks import check_workers, is_finite, three, vectors
from gjk3d.convex.contacts import UP
from gjk3d.engine.dispatch import Collider, find
from gjk3d.errors import ShapeError
from gjk3d.narrow import toi as narrow
from gjk3d.poses import GREATEST
from gjk3d.query.distance import signed_distance
from gjk3d.query.motion import Motion, as_motion
from gjk3d.query.pair import prepared
from gjk3d.query.single import thread_scratch
from gjk3d.results import Answer, Distance, Status, compared
from gjk3d.typing import Array, N, PoseLike, Rows
from gjk3d.wording import below, count, format_time, format_vector

if TYPE_CHECKING:
    from gjk3d.results import Each
    from gjk3d.typing import Ints


class ImpactStatus(IntEnum):
    """Proven outcome of a motion: FREE, HIT, UNRESOLVED, or OVERLAPPING at the start.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.time_of_impact(gk.Sphere(1), gk.Sphere(1)).status
    <ImpactStatus.OVERLAPPING: 3>
    """

    FREE = 0  #: never closer than the clearance, proven for the whole motion
    HIT = 1  #: the first contact is in the bracket ``time``
    UNRESOLVED = 2  #: proven free up to ``free_until``; after that the shapes are too close to decide
    OVERLAPPING = 3  #: closer than the clearance at the start already

    def __str__(self) -> str:
        return self.name


_ANSWER = 1, 3
#: by the kernel's code; a pair that is too close at the start counts as HIT until its depth is known
_STATUSES = (ImpactStatus.FREE, ImpactStatus.HIT, ImpactStatus.UNRESOLVED, ImpactStatus.HIT)


#: functions that read the fields of one result from its row
_UNPACK: dict[str, Callable[[Any], Any]] = {
    "status": lambda row: _STATUSES[row[1] & 3],
    "free_until": lambda row: row[0].item(0),
    "time": lambda row: row[0][0, 1:],
    "iterations": lambda row: row[1] >> 2,
    "shape_a": lambda row: row[2],
    "shape_b": lambda row: row[3],
    "motion_a": lambda row: row[4],
    "motion_b": lambda row: row[5],
}


@compared("status", "free_until", "time", "iterations", "shape_a", "shape_b", "motion_a", "motion_b")
class Impact(Answer[N]):
    """Result of `time_of_impact`, for one pair of motions or for n. Times are from 0, the start, to 1, the end.

    Attributes
    ----------
    status : ImpactStatus or (n,) int
        The proven outcome.
    free_until : float or (n,) float
        The distance of the pair is proven to exceed the clearance at every time before this. It is 1 for a free motion.
    time : (2,) float or (n, 2) float
        Bracket of the first contact: no contact before the first number, and a contact at the second. Both are
        infinite for a free motion. The second is infinite for an unresolved motion.
    closest : Distance
        The signed distance at ``free_until``, just before a contact or at the end of the motion. ``normal``,
        ``point_a`` and ``point_b`` are those of this distance.
    shape_a, shape_b, motion_a, motion_b
        The arguments of the query.
    iterations : int or (n,) int
        Steps of conservative advancement.

    Examples
    --------
    >>> import gjk3d as gk
    >>> impact = gk.shapecast(gk.Sphere(1), gk.Point((5, 0, 0)), (8, 0, 0))
    >>> impact.status, impact.time.round(6).tolist()
    (<ImpactStatus.HIT: 1>, [0.5, 0.5])
    >>> round(impact.closest.distance, 9), impact.normal.tolist()
    (0.0, [1.0, 0.0, 0.0])
    >>> (impact.point_b - impact.point_a).round(9).tolist()
    [0.0, 0.0, 0.0]
    """

    if TYPE_CHECKING:
        status: Each[ImpactStatus, Ints] = Each()
        iterations: Each[int, Ints] = Each()
    else:  # a slot would not be a descriptor to type checkers
        __slots__ = (
            "_closest", "_row", "free_until", "iterations", "motion_a", "motion_b", "shape_a", "shape_b", "status",
            "time",
        )  # fmt: skip
    free_until: N
    time: Array
    shape_a: Collider
    shape_b: Collider
    motion_a: Motion
    motion_b: Motion
    _closest: Distance[N]
    #: for one pair of motions: the kernel's row and marks, and the arguments of the query
    _row: tuple[Array, int, Collider, Collider, Motion, Motion]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Unpack a field of the result of one pair of motions at the first access."""
            unpack = _UNPACK.get(name)
            if unpack is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = unpack(self._row)
            setattr(self, name, value)
            return value

    @property
    def closest(self) -> Distance[N]:
        """The signed distance at ``free_until``, computed at the first access."""
        try:
            return self._closest
        except AttributeError:
            until: Any = self.free_until
            poses = [motion.at(until) for motion in (self.motion_a, self.motion_b)]
            self._closest = signed_distance(self.shape_a, self.shape_b, *poses)
            return self._closest

    @property
    def normal(self) -> Array:
        """Unit vector from A to B at ``free_until``, in world axes, (3,) float or (n, 3) float."""
        return self.closest.normal

    @property
    def point_a(self) -> Array:
        """A's witness point at ``free_until``, (3,) float or (n, 3) float."""
        return self.closest.point_a

    @property
    def point_b(self) -> Array:
        """B's witness point at ``free_until``, (3,) float or (n, 3) float."""
        return self.closest.point_b

    def __len__(self) -> int:
        if self.time.ndim == 1:
            raise TypeError("this Impact is of one pair of motions, and len() needs a stack. Pass stacks of motions")
        return len(self.time)

    def __bool__(self) -> bool:
        raise TypeError("the truth value of an Impact is ambiguous. Compare .status with gjk3d.ImpactStatus.FREE")

    def __getitem__(self: Impact[Any], index: SupportsIndex) -> Impact[float]:
        """Return the result of one row of a stack."""
        if self.time.ndim == 1:
            raise TypeError(
                "this Impact is of one pair of motions and cannot be indexed. Use its fields, for example impact.time"
            )
        row: Impact[float] = object.__new__(Impact)
        row.status, row.free_until = ImpactStatus(int(self.status[index])), float(self.free_until[index])
        row.time, row.iterations = self.time[index], int(self.iterations[index])
        row.shape_a, row.shape_b = self.shape_a, self.shape_b
        row.motion_a, row.motion_b = (m[index] if m.stacked else m for m in (self.motion_a, self.motion_b))
        return row

    def __repr__(self) -> str:
        if self.time.ndim == 2:
            names, counts = np.unique(self.status, return_counts=True)
            parts = ", ".join(f"{n} {ImpactStatus(int(s)).name.lower()}" for s, n in zip(names, counts, strict=True))
            return f"Impact of {count(len(self), 'motion')}: {parts or 'none'}"
        if self.status == ImpactStatus.HIT:
            start, end = self.time
            return f"Impact: hit {format_time(start, end, 9)}, along {format_vector(self.normal, 4)}"
        return f"Impact: {self.status.name.lower()}, free until {below(self.free_until, 9)}"


def time_of_impact(
    a: Collider,
    b: Collider,
    motion_a: Motion | PoseLike | None = None,
    motion_b: Motion | PoseLike | None = None,
    *,
    clearance: float = 0.0,
    workers: int = 1,
) -> Impact[Any]:
    """Return the time at which two moving shapes first touch, with a proof that they do not touch earlier.

    Parameters
    ----------
    a, b : Shape, Mesh or the like
        A half-space may move but not rotate. The first contact of a non-convex body is that of its parts. If a closed
        mesh contains the other shape at time 0, the two overlap.
    motion_a, motion_b : Motion, (4, 4) float, (n, 4, 4) float, RigidTransform or None
        A pose is the motion of a static body, and None is a static body at the identity. A stack for either shape, or
        stacks of equal length for both, give n queries.
    clearance : float
        Greatest distance that counts as contact, in the caller's unit, at least 0.
    workers : int
        Number of threads for a stack. The results have the same bits for any number.

    Returns
    -------
    Impact
        HIT has a bracket of the first contact. At the end of the bracket the shapes touch to within the rounding of
        both motions. The bracket is as narrow as rounding allows unless the shapes graze. Shapes that touch at time 0
        give HIT at 0, for any motion. FREE is proven for the whole motion. OVERLAPPING means that the shapes are closer
        than the clearance at time 0.

        UNRESOLVED means that the shapes are proven free only up to ``free_until``. It has three causes. The shapes
        slide along each other at a distance below the precision of floats. Rotating edges pass each other within about
        a millionth of their size. In these two cases a small ``clearance`` gives HIT before the shapes are so near. In
        the third case the number of steps reaches its limit after about ten seconds, for example by motions of hundreds
        of turns, or by bodies that slide along each other with tens of thousands of faces. Then continue from
        ``free_until`` with a motion that starts there.

    Raises
    ------
    ShapeError, PoseError, UnsupportedPair
        For invalid input; the message names the fault.

    Notes
    -----
    The method is conservative advancement of second order with proven steps, see `gjk3d.narrow.toi`. For non-convex
    bodies, the boxes of both trees are advanced, then the parts in boxes that come near each other, see
    `gjk3d.bodies.impact`.

    Examples
    --------
    >>> import gjk3d as gk
    >>> bullet, plate = gk.Sphere(0.01), gk.Box((0.02, 1, 1))
    >>> hit = gk.time_of_impact(bullet, plate, gk.Motion.translation(None, (100, 0, 0)), [[1, 0, 0, 50],
    ...     [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    >>> hit
    Impact: hit at 0.4998, along (1, 0, 0)
    """
    # the fast path for single motions of prepared shapes skips the checks below, which these arguments pass anyway
    if workers == 1 and type(clearance) is float and 0.0 <= clearance < inf:
        pair = prepared(a, b)
        if pair.words is not None:
            first, second = as_motion(motion_a, "motion_a"), as_motion(motion_b, "motion_b")
            if not (first.stacked or second.stacked):
                motions = narrow.Motions(first._rows, second._rows)
                out, scratch = np.empty(_ANSWER), thread_scratch()
                marks = narrow.impact_many(
                    pair.packed, True, UP, motions, clearance, 0, 1, scratch.workspace.work, out, scratch.flags
                )
                return _single_impact(a, b, first, second, clearance, out, marks)
    advance = find("impact", a, b)
    if not is_finite(clearance) or clearance < 0.0:
        raise ShapeError(f"time_of_impact: clearance is {clearance!r:.80}, expected one number, at least 0")
    check_workers(workers)
    first, second = as_motion(motion_a, "motion_a"), as_motion(motion_b, "motion_b")
    stacked = first.stacked or second.stacked
    if first.stacked and second.stacked and len(first) != len(second):
        raise ShapeError(
            f"motion_a has {len(first)} rows and motion_b {len(second)}, expected equal numbers, or one motion"
        )
    count = len(second) if second.stacked else len(first._rows)
    out, flags = np.empty((count, 3)), np.empty((count, 2), dtype=np.int64)
    advance(a, b, PoseRows(first._rows, second._rows, count, stacked, workers), float(clearance), out, flags)
    if stacked:
        return _stacked_impacts(a, b, first, second, float(clearance), out, flags)
    code, steps = flags[0].tolist()
    return _single_impact(a, b, first, second, float(clearance), out, code + 4 * steps)


def _single_impact(
    a: Collider, b: Collider, first: Motion, second: Motion, clearance: float, out: Array, marks: int
) -> Impact[float]:
    """Return the result of one pair of motions."""
    result: Impact[float] = object.__new__(Impact)
    result._row = out, marks, a, b, first, second
    if marks & 3 == narrow.STARTED and _deep(result.closest, clearance):
        result.status = ImpactStatus.OVERLAPPING
    return result


def _deep(distance: Distance[Any], clearance: float) -> Any:
    """Return which pairs are proven to be closer than the clearance, or to overlap by more than a touch."""
    return (distance.upper < clearance) | (distance.status == Status.OVERLAPPING)


def _stacked_impacts(
    a: Collider, b: Collider, first: Motion, second: Motion, clearance: float, out: Array, flags: Any
) -> Impact[Array]:
    result: Impact[Array] = object.__new__(Impact)
    result.shape_a, result.shape_b, result.motion_a, result.motion_b = a, b, first, second
    code = flags[:, 0]
    result.free_until, result.time, result.iterations = out[:, 0], out[:, 1:], flags[:, 1]
    result.status = np.array(_STATUSES, dtype=np.int64)[code]
    started = np.flatnonzero(code == narrow.STARTED)
    if len(started):
        start_a, start_b = (m.at(0.0)[started] if m.stacked else m.at(0.0) for m in (first, second))
        deep = np.broadcast_to(_deep(signed_distance(a, b, start_a, start_b), clearance), len(started))
        result.status[started[deep]] = ImpactStatus.OVERLAPPING
    return result


def shapecast(
    a: Collider,
    b: Collider,
    translation: Rows,
    pose_a: PoseLike | None = None,
    pose_b: PoseLike | None = None,
    *,
    clearance: float = 0.0,
    workers: int = 1,
) -> Impact[Any]:
    """Return the time at which a shape that moves straight first touches a static shape; see `time_of_impact`.

    Parameters
    ----------
    a, b : Shape, Mesh or the like
        A moves, and B is static.
    translation : (3,) or (n, 3) float
        The translation of A from time 0 to time 1, in world axes. A stack gives n queries. Zero is an error.
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        World from local, at time 0.
    clearance : float
        Greatest distance that counts as contact, in the caller's unit, at least 0.
    workers : int
        Number of threads for a stack. The results have the same bits for any number.

    Returns
    -------
    Impact

    Raises
    ------
    ShapeError, PoseError, UnsupportedPair
        For invalid input; the message names the fault.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.shapecast(gk.Sphere(1), gk.Point((5, 0, 0)), (8, 0, 0))
    Impact: hit at 0.5, along (1, 0, 0)
    """
    step = three(translation)
    if step is not None and 0.0 < abs(step[0]) + abs(step[1]) + abs(step[2]) <= GREATEST:
        return time_of_impact(a, b, Motion(pose_a, step), pose_b, clearance=clearance, workers=workers)
    rows, many = vectors(translation, "shapecast: translation", GREATEST)
    zero = np.flatnonzero(~rows.any(axis=1))
    if len(zero):
        where = f"translation[{zero[0]}]" if many else "translation"
        raise ShapeError(f"shapecast: {where} is zero, expected a direction. Use gjk3d.collide for static bodies")
    return time_of_impact(a, b, Motion(pose_a, translation), pose_b, clearance=clearance, workers=workers)
