"""Motions of rigid bodies: a start, a velocity and a rotation about a point, and the volume that a motion sweeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, SupportsIndex, overload

import numpy as np

from gjk3d.convex.checks import three, vectors
from gjk3d.engine.dispatch import find_single, is_collider
from gjk3d.errors import PoseError, ShapeError
from gjk3d.frozen import Frozen
from gjk3d.narrow import toi as narrow
from gjk3d.poses import GREATEST, IDENTITY, STANDING, UNIT_ROUNDOFF, WIDTH, is_plain, parts, pose_rows
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape, vector
from gjk3d.shapes.composed import Composed, bounded, flattened
from gjk3d.shapes.layout import Term, moved_terms
from gjk3d.shapes.polytopes import Segment
from gjk3d.typing import Array, Number, PoseLike, Rows, VectorLike
from gjk3d.wording import count

_KINDS = "linear", "screw"
_ORIGIN = 0.0, 0.0, 0.0
_ROW, _MATRIX, _TWO_ROWS = (1, narrow.MOTION), (4, 4), (2, WIDTH)
_LATE = 1e300  #: smaller times cannot overflow
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
    stacked: bool  #: whether it is n motions

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
            lengths = ", ".join(f"{name} has {count} rows" for name, count in counts.items())
            raise ShapeError(f"Motion: {lengths}, expected equal numbers of rows")
        rows = np.empty((next(iter(counts.values()), 1), narrow.MOTION))
        middle = arguments["center" if "center" in arguments else "linear"][0]
        narrow.motion_rows(poses, arguments["linear"][0], arguments["angular"][0], middle, "center" in arguments, rows)
        self._set_rows(rows, bool(counts))

    def _set_rows(self, rows: Array, stacked: bool) -> None:
        """Set the fields, as `_set` does. The kernels get writable rows, and the visible array is read-only."""
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
            "linear": the origin of the body moves straight while the body rotates. "screw": the body rotates about one
            axis and moves along it, as a joint moves it.

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
            counts = f"first has {len(first_rows)} rows and last {len(last_rows)}"
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
        times = np.asarray(time, dtype=np.float64)
        if times.ndim > 1 or not np.isfinite(times).all():
            raise ShapeError(f"Motion.at: time is {time!r}, expected a finite number, or a list of finite numbers")
        many = self.stacked or times.ndim == 1
        count = len(self._rows) if self.stacked else times.size
        if times.ndim == 1 and self.stacked and times.size != count:
            raise ShapeError(f"Motion.at: {times.size} times for {count} motions, expected one for each, or one")
        out = np.empty((count, *_MATRIX))
        narrow.matrices_at(self._rows, np.ascontiguousarray(np.broadcast_to(times.ravel(), count)), out)
        return out if many else out[0]

    def _bend(self, center: Array, rho: Array) -> Array:
        """Return a bound of the acceleration of a body's points: the squared rotation times the distance to the axis.

        ``center`` and ``rho`` are a bounding ball of the body. Stacks of balls, (n, 3) and (n,), have a bound each.
        """
        turn, arm = self._rows[:, 15:18], center[..., None, :] - self._rows[:, 18:21]
        arm = np.einsum("kij,...kj->...ki", parts(self._rows)[0], arm)
        speed = np.linalg.norm(turn, axis=1)
        bend = speed * (np.linalg.norm(np.cross(turn, arm), axis=-1) + speed * rho[..., None])
        return np.asarray(bend[..., 0] * (1.0 + 1e-14))

    def _error(self, center: Array, rho: Array) -> Array:
        """Return a bound of the rounding error of a body's points at the poses of `at`; arguments as in `_bend`.

        The rotation has an error of a few units of rounding, and the angle has a relative error. Both errors move a
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
    """Return the argument as a motion; a pose or None gives the motion of a static body."""
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
        raise PoseError(f"{reason}. Pass a gjk3d.Motion as {name}, or a pose for a static body") from None
    return static_motion(rows, stacked)


def static_motion(rows: Array, stacked: bool) -> Motion:
    """Return the motion of a static body at pose rows."""
    at_rest = np.zeros((len(rows), narrow.MOTION))
    at_rest[:, :12] = rows[:, :12]
    return Motion._made(_numbers=at_rest, stacked=stacked)


_STATIC = static_motion(IDENTITY, False)


# --- swept shapes ----------------------------------------------------------------------------------------------------

#: (terms of a shape or of many alike, centres and radii of their bounding balls) -> the terms of the swept shape, and
#: the radius that is added to it
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
    If a body rotates by w in a motion at constant velocity, a point at distance rho from the axis accelerates by at
    most |w|^2 rho. Between two positions at times 1 / k apart, the point is within |w|^2 rho / (8 k^2) of the straight
    line.

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
    """Return the function that converts the terms of a shape to the terms of its swept shape."""
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
