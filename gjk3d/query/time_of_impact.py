"""Motions, and the time of impact of two moving shapes.

A motion has a start, a velocity and a rotation about a point. `Swept` is the volume that a motion sweeps.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from math import inf
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

import numpy as np

from gjk3d.convex.batch import Rows as PoseRows
from gjk3d.convex.checks import check_workers, is_finite, three, vectors
from gjk3d.convex.contacts import UP
from gjk3d.engine.dispatch import Collider, find, find_single, is_collider
from gjk3d.errors import PoseError, ShapeError
from gjk3d.frozen import Frozen
from gjk3d.narrow import toi as narrow
from gjk3d.poses import GREATEST, IDENTITY, STANDING, UNIT_ROUNDOFF, WIDTH, is_plain, parts, pose_rows
from gjk3d.query.distance import signed_distance
from gjk3d.query.pair import prepared
from gjk3d.query.single import thread_scratch
from gjk3d.results import Answer, Distance, Status, compared
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape, vector
from gjk3d.shapes.composed import Composed, bounded, flattened
from gjk3d.shapes.layout import Term, moved_terms
from gjk3d.shapes.polytopes import Segment
from gjk3d.typing import Array, N, Number, PoseLike, Rows, VectorLike
from gjk3d.wording import below, count, format_time, format_vector

if TYPE_CHECKING:
    from gjk3d.results import Each
    from gjk3d.typing import Ints

# --- motions ---------------------------------------------------------------------------------------------------------


_KINDS = "linear", "screw"
_ORIGIN = 0.0, 0.0, 0.0
_ROW, _MATRIX, _TWO_ROWS = (1, narrow.MOTION), (4, 4), (2, WIDTH)
_LATE = 1e300  #: times below this limit cannot overflow
_new, _set_attribute = object.__new__, object.__setattr__


class Motion(Frozen):
    """Motion of a rigid body from time 0 to time 1: a point moves straight, and the body rotates about that point.

    Both velocities are constant.

    Parameters
    ----------
    start : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        The pose at time 0, world from local. A stack gives n motions.
    linear : (3,) or (n, 3) float
        The translation of the point from time 0 to time 1, in world axes.
    angular : (3,) or (n, 3) float
        The rotation about the point from time 0 to time 1: a rotation vector in world axes, in radians. It may exceed a
        full turn.
    center : (3,) or (n, 3) float or None
        The position of the point in the world at time 0. None is the origin of the body.

    Raises
    ------
    PoseError, ShapeError
        If an argument is not finite or has a wrong shape, or the stacks differ in length.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> quarter = gk.Motion(None, linear=(1, 0, 0), angular=(0, 0, np.pi / 2))
    >>> quarter.at(1.0).round(6) + 0.0
    array([[ 0., -1.,  0.,  1.],
           [ 1.,  0.,  0.,  0.],
           [ 0.,  0.,  1.,  0.],
           [ 0.,  0.,  0.,  1.]])

    A door with its hinge at x = 1 rotates about the hinge:

    >>> door = gk.Motion(None, angular=(0, 0, np.pi / 2), center=(1, 0, 0))
    >>> door.at(1.0)[:3, 3].round(6) + 0.0
    array([ 1., -1.,  0.])
    """

    __slots__ = ("_numbers", "stacked")
    _numbers: Array
    stacked: bool  #: whether the motion is a stack of n motions

    def __init__(
        self,
        start: PoseLike | None = None,
        linear: Rows = (0.0, 0.0, 0.0),
        angular: Rows = (0.0, 0.0, 0.0),
        *,
        center: Rows | None = None,
    ) -> None:
        if start is None or is_plain(start):  # the fast path; the kernel returns False for invalid numbers
            translation, turn, middle = three(linear), three(angular), _ORIGIN if center is None else three(center)
            if not (translation is None or turn is None or middle is None):
                row, pose = np.empty(_ROW), STANDING if start is None else start
                if narrow.motion_once(pose, translation, turn, middle, center is not None, row):
                    self._set_rows(row, False)
                    return
        poses, stacked = pose_rows(start, "start")
        named = {
            "linear": vectors(linear, "Motion: linear", GREATEST),
            "angular": vectors(angular, "Motion: angular", narrow.MOST_TURN),
            "center": None if center is None else vectors(center, "Motion: center", GREATEST),
        }
        arguments = {"start": (poses, stacked)} | {name: part for name, part in named.items() if part is not None}
        counts = {name: len(rows) for name, (rows, many) in arguments.items() if many}
        if len(set(counts.values())) > 1:
            lengths = " and ".join(f"{name} has {count} rows" for name, count in counts.items())
            raise ShapeError(f"Motion: {lengths}, expected equal numbers")
        rows = np.empty((next(iter(counts.values()), 1), narrow.MOTION))
        middle = arguments["center" if "center" in arguments else "linear"][0]
        narrow.motion_rows(poses, arguments["linear"][0], arguments["angular"][0], middle, "center" in arguments, rows)
        self._set_rows(rows, bool(counts))

    def _set_rows(self, rows: Array, stacked: bool) -> None:
        """Set the fields from motion rows. Kernels read the writable ``rows``, and ``_numbers`` is a read-only view."""
        numbers = rows.view()
        numbers.flags.writeable = False
        _set_attribute(self, "_numbers", numbers)
        _set_attribute(self, "stacked", stacked)
        _set_attribute(self, "_cache", {"rows": rows})

    @property
    def _rows(self) -> Array:
        """The motion rows (`gjk3d.narrow.toi`) as a writable array, as kernels require."""
        return self._cached("rows", self._numbers.copy)

    @classmethod
    def translation(cls, pose: PoseLike | None, vector: Rows) -> Motion:
        """Return the motion from a pose along a vector, without rotation.

        Parameters
        ----------
        pose : (4, 4) float, (n, 4, 4) float, RigidTransform or None
            The pose at time 0. None is the identity.
        vector : (3,) float or (n, 3) float
            The translation from time 0 to time 1, in world axes.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.Motion.translation(None, (0, 0, -2)).at(0.5)[:3, 3]
        array([ 0.,  0., -1.])
        """
        return cls(pose, vector)

    @classmethod
    def between(
        cls, first: PoseLike | None, last: PoseLike | None, *, kind: Literal["linear", "screw"] = "linear"
    ) -> Motion:
        """Return the motion from one pose to another, by the shorter rotation.

        For poses that differ by half a turn both directions are equally short, and rounding chooses one. Use two
        motions with a pose between them to choose the direction.

        Parameters
        ----------
        first, last : (4, 4) float, (n, 4, 4) float or RigidTransform
            The poses at time 0 and at time 1.
        kind : str
            "linear": the origin of the body moves straight while the body rotates. "screw": the body rotates about an
            axis and moves along this axis.

        Raises
        ------
        PoseError, ShapeError
            If a pose is not rigid, the stacks differ in length, or the kind is unknown.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> last = np.diag([-1.0, -1.0, 1.0, 1.0]); last[:3, 3] = 2, 0, 0
        >>> gk.Motion.between(np.eye(4), last, kind="screw").at(0.5)[:3, 3].round(6) + 0.0
        array([ 1., -1.,  0.])
        """
        motion = _new(cls)
        if kind in _KINDS and (first is None or is_plain(first)) and (last is None or is_plain(last)):
            row = np.empty(_ROW)
            ends = STANDING if first is None else first, STANDING if last is None else last
            if narrow.between_once(*ends, kind == "screw", np.empty(_TWO_ROWS), row):
                motion._set_rows(row, False)
                return motion
        if kind not in _KINDS:
            raise ShapeError(f"Motion.between: kind is {kind!r}, expected 'linear' or 'screw'")
        first_rows, first_stacked = pose_rows(first, "first")
        last_rows, last_stacked = pose_rows(last, "last")
        if first_stacked and last_stacked and len(first_rows) != len(last_rows):
            counts = f"first has {len(first_rows)} rows and last has {len(last_rows)}"
            raise ShapeError(f"Motion.between: {counts}, expected equal numbers")
        rows = np.empty((len(last_rows) if len(first_rows) == 1 else len(first_rows), narrow.MOTION))
        narrow.between_rows(first_rows, last_rows, kind == "screw", rows)
        motion._set_rows(rows, first_stacked or last_stacked)
        return motion

    def __len__(self) -> int:
        if not self.stacked:
            raise TypeError("this Motion is a single motion, and len() needs a stack. Pass stacks of poses to make one")
        return len(self._rows)

    def __getitem__(self, index: SupportsIndex | slice) -> Motion:
        """Return one motion of a stack, or a smaller stack for a slice."""
        if not self.stacked:
            raise TypeError("this Motion is a single motion and cannot be indexed. Use motion.at(time) for a pose")
        many = isinstance(index, slice)
        return Motion._made(_numbers=self._numbers[index].reshape(-1, narrow.MOTION), stacked=many)

    def at(self, time: Number | VectorLike) -> Array:
        """Return the pose at a time.

        Parameters
        ----------
        time : float or (n,) float
            0 is the start and 1 the end. Other times extrapolate with the same velocities.

        Returns
        -------
        (4, 4) float or (n, 4, 4) float
            A stack if the motion or the time is a stack.

        Raises
        ------
        ShapeError
            If a time is not finite, or the numbers of times and motions differ.
        """
        if (type(time) is float or type(time) is int) and -_LATE < time < _LATE and not self.stacked:
            matrix = np.empty(_MATRIX)
            narrow.matrix_at(self._rows, float(time), matrix)
            return matrix
        times = np.asarray(time)
        if times.dtype.kind not in "fiu" or times.ndim > 1 or not np.isfinite(times).all():
            raise ShapeError(f"Motion.at: time is {time!r}, expected a finite number, or a list of finite numbers")
        times, many = times.astype(np.float64), self.stacked or times.ndim == 1
        total = len(self._rows) if self.stacked else times.size
        if times.ndim == 1 and self.stacked and times.size != total:
            counts = f"{count(times.size, 'time')} for {count(total, 'motion')}"
            raise ShapeError(f"Motion.at: {counts}, expected one number, or a list with a time for each motion")
        out = np.empty((total, *_MATRIX))
        narrow.matrices_at(self._rows, np.ascontiguousarray(np.broadcast_to(times.ravel(), total)), out)
        return out if many else out[0]

    def _bend(self, center: Array, rho: Array) -> Array:
        """Return a bound of the acceleration of the points of a body.

        The bound is the squared angular velocity times the greatest distance from the axis. ``center`` and ``rho`` are
        a bounding ball of the body in its frame. Stacks of n balls, (n, 3) and (n,), give n bounds.
        """
        turn, arm = self._rows[:, 15:18], center[..., None, :] - self._rows[:, 18:21]
        arm = np.einsum("kij,...kj->...ki", parts(self._rows)[0], arm)
        speed = np.linalg.norm(turn, axis=1)
        bend = speed * (np.linalg.norm(np.cross(turn, arm), axis=-1) + speed * rho[..., None])
        return np.asarray(bend[..., 0] * (1.0 + 1e-14))

    def _error(self, center: Array, rho: Array) -> Array:
        """Return a bound of the rounding error of a body's points at the poses that `at` returns.

        ``center`` and ``rho`` are a bounding ball of the body in its frame, or stacks of n balls for n bounds. The
        rotation matrix has an error of a few units of rounding, and the angle has a relative error. Both errors move a
        point in proportion to its distance from the reference point.
        """
        places, turn, reference = self._rows[:, 9:15], self._rows[:, 15:18], self._rows[:, 18:21]
        arm = np.linalg.norm(center[..., None, :] - reference, axis=-1) + rho[..., None]
        size = np.linalg.norm(center, axis=-1)[..., None] + rho[..., None]
        size = size + np.abs(places).sum(axis=1) + np.abs(reference).sum(axis=1)
        error = 8.0 * UNIT_ROUNDOFF * ((2.0 + np.abs(turn).sum(axis=1)) * arm + 2.0 * size)
        return np.asarray(error[..., 0])

    def __repr__(self) -> str:
        if self.stacked:
            return f"Motion: {count(len(self._rows), 'motion')}"
        row = self._rows[0]
        linear, turn = (", ".join(f"{x:.4g}" for x in row[c : c + 3]) for c in (12, 15))
        return f"Motion: along ({linear}), turning by ({turn}) rad"


def as_motion(motion: Any, name: str) -> Motion:
    """Return an argument as a `Motion`. A pose or None becomes the motion of a static body."""
    if isinstance(motion, Motion):
        return motion
    if motion is None:
        return _STATIC
    if is_plain(motion):
        row = np.empty(_ROW)
        if narrow.motion_once(motion, _ORIGIN, _ORIGIN, _ORIGIN, False, row):
            at_rest = _new(Motion)
            at_rest._set_rows(row, False)
            return at_rest
    try:
        rows, stacked = pose_rows(motion, name)
    except PoseError as reason:
        raise PoseError(f"{name} is neither a gjk3d.Motion nor a pose of a static body: {reason}") from None
    return static_motion(rows, stacked)


def static_motion(rows: Array, stacked: bool) -> Motion:
    """Return the motion of a static body at pose rows, a stack of motions if ``stacked``."""
    at_rest = np.zeros((len(rows), narrow.MOTION))
    at_rest[:, :12] = rows[:, :12]
    return Motion._made(_numbers=at_rest, stacked=stacked)


_STATIC = static_motion(IDENTITY, False)


# --- swept shapes ----------------------------------------------------------------------------------------------------

#: function from the terms of one or more shapes and the centres and radii of their bounding balls to the terms of the
#: swept shapes and the radii that are added to these
Sweep = Callable[[list[Term], Array, Array], tuple[list[Term], Array]]
#: straight pieces of a motion with rotation; the shape grows by the deviation of the motion from the pieces
PIECES = 16


class Swept(Composed):
    """The swept volume of a shape: the convex hull of all its positions during a motion.

    A non-convex body is swept part by part. A straight sweep is exact. A sweep with rotation is conservative: it is the
    hull of the shape at a few positions, grown by the deviation of its points from the straight lines between the
    positions. The deviation decreases with the square of the number of pieces.

    Parameters
    ----------
    shape : Shape, Mesh or the like
        A bounded shape.
    motion : (3,) float or Motion
        A translation in the frame of the shape, or a `gjk3d.Motion`. With a motion the result is in the world frame.
    pieces : int
        Number of straight pieces of a motion with rotation.

    Returns
    -------
    Composed or Compound
        A `Composed` without nested shapes. For a non-convex body it is a compound of the swept parts, one for each
        triangle of a mesh. The compound also contains a closed mesh at its start.

    Raises
    ------
    ShapeError
        If the shape is unbounded or not a shape, or the motion is neither a vector nor a single motion.

    Notes
    -----
    If a body rotates with the constant angular velocity w, a point at distance rho from the axis accelerates by at most
    |w|^2 rho. Between two positions that are 1 / k apart in time, the point is within |w|^2 rho / (8 k^2) of the
    straight line.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> gk.Swept(gk.Sphere(1), (4, 0, 0)).volume / (4 / 3 * np.pi + 4 * np.pi) > 0.999
    True
    >>> turn = gk.Motion(None, angular=(0, 0, np.pi / 2), center=(3, 0, 0))
    >>> gk.Swept(gk.Point(), turn).contains([(0, 0, 0), (3, -3, 0), (3 - 3 * 0.5**0.5, -3 * 0.5**0.5, 0)]).all()
    np.True_
    """

    __slots__ = ()

    @overload
    def __new__(cls, shape: Shape, motion: Any, pieces: int = PIECES) -> Composed: ...  # type: ignore[misc]
    @overload
    def __new__(cls, shape: Any, motion: Any, pieces: int = PIECES) -> Any: ...
    def __new__(cls, shape: Any, motion: Any, pieces: int = PIECES) -> Any:
        """Return the swept shape as a `Composed` without nested shapes, or as a `Compound` for a non-convex body."""
        swept = find_single("sweep", shape, "Swept: shape") if is_collider(shape) else None
        if swept is not None:
            sweep = _sweep_along(motion, pieces)
            return swept(shape, sweep, motion.at(0.0) if isinstance(motion, Motion) else None)
        body = bounded(shape, "Swept", "shape")
        floats = body._packed[1]
        center, rho = floats[layout.CENTER : layout.CENTER + 3], floats[layout.RHO] + floats[layout.RADIUS]
        terms, more = _sweep_along(motion, pieces)(body._terms(), center, rho)
        return flattened(terms, body._rounding() + float(more), "Swept")


def _sweep_along(motion: Any, pieces: Any) -> Sweep:
    """Return a function that converts a shape to its swept shape and the radius by which to inflate it.

    Both shapes are lists of terms. A shape is the hull of its terms, and a term is a sum of convex parts.
    """
    if not isinstance(motion, Motion):
        line = Segment((0.0, 0.0, 0.0), vector(motion, "Swept: motion"))._terms()[0]
        return lambda terms, _, rho: ([[*term, *line] for term in terms], np.zeros(rho.shape))
    if isinstance(pieces, bool) or not isinstance(pieces, int) or pieces < 1:
        raise ShapeError(f"Swept: pieces is {pieces!r}, expected a whole number of at least 1")
    if motion.stacked:
        raise ShapeError(
            f"Swept: motion has {len(motion)} rows, expected one motion. Pass one row, for example motion[0]"
        )

    def turning(terms: list[Term], center: Array, rho: Array) -> tuple[list[Term], Array]:
        bend = motion._bend(center, rho)
        curved = bend.max() > 0.0
        places = motion.at(np.linspace(0.0, 1.0, pieces + 1 if curved else 2))
        moved = [t for p in places for t in moved_terms(terms, p[:3, :3], p[:3, 3])]
        return moved, (bend / (8.0 * pieces**2) + motion._error(center, rho) if curved else bend)

    return turning


# --- time of impact --------------------------------------------------------------------------------------------------


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
#: statuses by the code of the kernel. A pair that is too close at the start counts as HIT until its depth is known
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
        The distance of the pair is proven to exceed the clearance at every earlier time. It is 1 for a free motion.
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

        UNRESOLVED means that the shapes are proven free only up to ``free_until``. There are three causes. The shapes
        slide along each other at a distance below the precision of floats. Rotating edges pass each other within about
        a millionth of their size. In these two cases a small ``clearance`` gives HIT before the shapes are that near.
        In the third case the number of steps reaches its limit after about ten seconds, for example for motions of
        hundreds of turns, or for bodies that slide along each other with tens of thousands of faces. Then continue with
        a motion that starts at ``free_until``.

    Raises
    ------
    ShapeError, PoseError, UnsupportedPair
        For invalid input; the message names the fault.

    Notes
    -----
    The method is conservative advancement of second order with proven steps, see `gjk3d.narrow.toi`. For non-convex
    bodies, the boxes of both bounding box trees are advanced first, and then the parts in boxes that come near each
    other, see `gjk3d.bodies.impact`.

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
        counts = f"motion_a has {len(first)} rows and motion_b has {len(second)}"
        raise ShapeError(f"time_of_impact: {counts}, expected equal numbers or one motion")
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
    result: Impact[float] = object.__new__(Impact)
    result._row = out, marks, a, b, first, second
    if marks & 3 == narrow.STARTED and _deep(result.closest, clearance):
        result.status = ImpactStatus.OVERLAPPING
    return result


def _deep(distance: Distance[Any], clearance: float) -> Any:
    """Return whether a pair, or each pair of a stack, is proven to be closer than the clearance or to overlap."""
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
    clearance, workers
        As in `time_of_impact`.

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
        raise ShapeError(f"shapecast: {where} is zero, expected another vector. Use gjk3d.collide for static bodies")
    return time_of_impact(a, b, Motion(pose_a, translation), pose_b, clearance=clearance, workers=workers)
