"""Trajectories: configurations over time, from waypoints with times or from splines of scipy.

Curves of configurations are polynomials in Bernstein form. A curve of degree n has control points c (n + 1, dof). Its
configuration at the parameter t, 0 to 1, is the sum of C(n, i) (1 - t)^(n - i) t^i c_i. A line has two control points.
The curve is in the hull of the control points. Its derivative is in the hull of n times their differences, and its
second derivative is in the hull of n (n - 1) times their second differences. These bounds of speed and acceleration get
tighter if the curve is halved (Farin, Curves and Surfaces for CAGD, 5th edition, 2002, chapters 5 and 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from math import comb, inf, nextafter
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, kernel
from gjk3d.errors import RobotError
from gjk3d.frozen import Frozen
from gjk3d.poses import UNIT_ROUNDOFF as _U
from gjk3d.robot.kinematics import LENGTHS, NUMBERS
from gjk3d.robot.mechanism import line_of_trajectory, listed
from gjk3d.robot.model import Robot
from gjk3d.typing import Array, Array1, Array2, Ints, Number, Rows, VectorLike
from gjk3d.wording import count


class Curves(NamedTuple):
    """Curves of configurations with the same degree, see the docstring of this module."""

    controls: Array  #: (n, points, dof)
    loose: Array  #: (n, dof), bounds of the error of the joint values on each curve

    def some(self, which: slice | Ints) -> Curves:
        """Return the selected curves. ``which`` is a slice or has their indices."""
        return Curves(self.controls[which], self.loose[which])


def lines(first: Array, second: Array) -> Curves:
    """Return the straight lines from ``first`` to ``second``, (n, dof) each."""
    return Curves(np.stack([first, second], axis=1), np.zeros(first.shape))


@kernel
def on_curve(controls: Array, t: float, q: Array) -> None:
    """Write the configuration at parameter t of a curve to q. Both ends are exact.

    A line from q0 to q1 is computed as (1 - t) q0 + t q1. The rounding error of each joint value is less than
    (4 n + 3) u max |c| for degree n, and less than 3 u (|q0| + |q1|) for a line. c are the control points, and u is
    the unit roundoff.
    """
    # Horner's scheme in Bernstein form, which multiplies by 1 - t n times
    n = controls.shape[0] - 1
    s = 1.0 - t
    for j in range(q.shape[0]):
        value, power = controls[0, j], 1.0
        for i in range(1, n):
            power *= t * ((n - i + 1) / i)
            value = value * s + power * controls[i, j]
        q[j] = value * s + power * t / n * controls[n, j]


@entry
def points_of_curve(controls: Array2, t: Array1, out: Array2) -> None:
    """Write the configurations of a curve at the parameters t (n,) to ``out`` (n, dof), see `on_curve`."""
    for k in range(t.shape[0]):
        on_curve(controls, t[k], out[k])


def points_on(controls: Array, t: Array) -> Array:
    """Return the configurations of a curve at the parameters t (n,), as (n, dof)."""
    out = np.empty((len(t), controls.shape[1]))
    points_of_curve(controls, t, out)
    return out


@kernel
def rates_on_curve(controls: Array, t: float, rates: Array) -> None:
    """Write the derivative of each joint value with respect to t, at parameter t, to ``rates`` (dof,)."""
    n = controls.shape[0] - 1
    s = 1.0 - t
    for j in range(rates.shape[0]):
        value, power = controls[1, j] - controls[0, j], 1.0
        for i in range(1, n):
            power *= t * ((n - i) / i)
            value = value * s + power * (controls[i + 1, j] - controls[i, j])
        rates[j] = n * value


@kernel
def bounds_on_curve(controls: Array, j: int) -> tuple[float, float, float]:
    """Return bounds of the absolute first and second derivatives of joint value j on a curve.

    The third result is the sum of the absolute values of joint value j in all control points.
    """
    n = controls.shape[0] - 1
    rate, bend, size = 0.0, 0.0, abs(controls[0, j])
    for i in range(n):
        rate = max(rate, abs(controls[i + 1, j] - controls[i, j]))
        size += abs(controls[i + 1, j])
        if i > 0:
            bend = max(bend, abs((controls[i + 1, j] - controls[i, j]) - (controls[i, j] - controls[i - 1, j])))
    if n > 1:  # 4 * _U * size covers the rounding of the second differences
        bend = n * (n - 1) * (bend + 4.0 * _U * size)
    return n * rate, bend, size


MOST_DEGREE = 9  #: greatest degree of a spline
_STEP = 1e-6  #: greatest jump at a knot, relative to 1 plus the absolute joint value at the knot
_TURN = 0.5  #: greatest angle of a joint on a curve, in radians; the bounds tighten with the square of this angle
_MOST_PARTS = 64  #: greatest number of curves for one piece of a spline


class Trajectory(Frozen):
    """Configurations over time, as a controller follows them.

    Angles are not wrapped: from 3 to -3 a joint turns by 6 radians. Joints that mimic others are not included.

    Parameters
    ----------
    path : spline of scipy, or (m, dof) float
        A `scipy.interpolate.CubicSpline`, `CubicHermiteSpline`, `PchipInterpolator`, `PPoly`, `BPoly` or `BSpline`
        whose values are configurations, used from its first knot to its last. With ``times``, at least two waypoints,
        which are joined by straight lines.
    times : (m,) float, optional
        Increasing times of the waypoints, in seconds or any other unit.

    Raises
    ------
    RobotError
        A number is not finite, times or knots do not increase, the degree of a spline is above 9, the values of a
        spline are not rows of numbers, or a spline jumps.

    Examples
    --------
    >>> import gjk3d as gk
    >>> path = gk.robot.Trajectory([[0.0, 0.0], [1.0, 0.5], [1.0, 1.0]], times=[0.0, 2.0, 3.0])
    >>> path.at(1.0).tolist(), path.start, path.end, path.dof
    ([0.5, 0.25], 0.0, 3.0, 2)
    >>> from scipy.interpolate import CubicSpline
    >>> smooth = gk.robot.Trajectory(CubicSpline([0.0, 2.0, 3.0], [[0.0, 0.0], [1.0, 0.5], [1.0, 1.0]]))
    >>> smooth
    <Trajectory of 2 dof: 2 polynomials of degree 3, from 0 to 3>
    """

    __slots__ = ("_controls", "_loose", "times")
    _controls: Array  #: (n, degree + 1, dof), the control points of each curve, as in `Curves`
    _loose: Array  #: (n, dof), bounds of the error of the control points
    times: Array  #: (n + 1,), the times of waypoints or knots

    def __init__(self, path: Any, times: VectorLike | None = None) -> None:
        if times is not None:
            knots, controls, loose = _straight(path, times)
        else:
            knots, controls, loose = _spline(path)
        for what, numbers in (("times", knots), ("path", controls)):
            if len(odd := numbers[~np.isfinite(numbers)]):
                raise RobotError(f"Trajectory: {what} contains {odd[0]}, expected finite numbers")
        late = np.flatnonzero(~(np.diff(knots) > 0.0))
        if len(late):
            a, b = knots[late[0] : late[0] + 2].tolist()
            raise RobotError(f"Trajectory: expected increasing times, but {a:g} is followed by {b:g}")
        jump = np.abs(controls[1:, 0] - controls[:-1, -1])
        far = np.argwhere(jump > _STEP * (1.0 + np.abs(controls[1:, 0])))
        if len(far):
            k, j = far[0].tolist()
            raise RobotError(
                f"Trajectory: joint value {j} jumps by {jump[k, j]:g} at the time {knots[k + 1]:g}, expected a "
                "continuous spline. If it is an angle, apply np.unwrap to the angles before you make the spline"
            )
        loose[1:] += jump  # a small jump at a knot is covered by the error of the next piece
        self._set(_controls=controls, _loose=loose, times=knots)

    @property
    def start(self) -> float:
        """The first time of the trajectory."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """The last time of the trajectory."""
        return float(self.times[-1])

    @property
    def dof(self) -> int:
        """The number of values of a configuration."""
        return int(self._controls.shape[2])

    def at(self, time: Number | VectorLike) -> Array:
        """Return the configuration at a time. It is constant before the start and after the end.

        Parameters
        ----------
        time : float or (n,) float
            Times of the trajectory.

        Returns
        -------
        (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.

        Raises
        ------
        RobotError
            A time is not finite.
        """
        times = np.asarray(time, dtype=np.float64)
        if times.ndim > 1 or not np.isfinite(times).all():
            raise RobotError(f"Trajectory.at: time is {time!r:.80}, expected a finite number or a list of them")
        when = np.clip(np.atleast_1d(times), self.start, self.end)
        k = np.clip(np.searchsorted(self.times, when, side="right") - 1, 0, len(self._controls) - 1)
        t = (when - self.times[k]) / (self.times[k + 1] - self.times[k])
        points = _blossom(self._controls[k], [t] * (self._controls.shape[1] - 1))
        return points if times.ndim else points[0]

    def __repr__(self) -> str:
        many, degree = len(self._controls), self._controls.shape[1] - 1
        what = count(many, "straight line") if degree == 1 else f"{count(many, 'polynomial')} of degree {degree}"
        return f"<Trajectory of {self.dof} dof: {what}, from {self.start:g} to {self.end:g}>"


def as_trajectory(path: Any, robot: Robot) -> Trajectory:
    """Return a trajectory of a robot.

    ``path`` is a trajectory or a spline. For a joined robot it is a mapping of these by the names of its parts.
    """
    if isinstance(path, Mapping):
        return _of_parts(path, robot)
    trajectory = path if isinstance(path, Trajectory) else Trajectory(path)
    _check_dof(trajectory, robot.dof, f"robot {robot.name!r}")
    return trajectory


def _check_dof(trajectory: Trajectory, dof: int, owner: str) -> None:
    if trajectory.dof != dof:
        raise RobotError(
            f"the trajectory has {count(trajectory.dof, 'joint value')} per configuration, but {owner} has {dof}. Pass "
            "a trajectory of this robot"
        )


def _of_parts(paths: Mapping[str, Any], robot: Robot) -> Trajectory:
    """Return the trajectory of a joined robot from the trajectories or splines of its parts, by name.

    A part rests before its first time and after its last time.
    """
    moved = {name: columns for name, columns in robot.parts.items() if columns.stop > columns.start}
    if set(paths) != set(moved):
        wrong = sorted(map(str, set(paths) ^ set(moved)))[0]
        fault = "is missing" if wrong in moved else "is not a part that moves"
        cure = f"Pass one for each part: {listed(list(moved))}"
        raise RobotError(
            f"trajectories by name: {wrong!r} {fault}. "
            + (cure if moved else f"Pass a single trajectory, since robot {robot.name!r} has no parts")
        )
    parts = {name: path if isinstance(path, Trajectory) else Trajectory(path) for name, path in paths.items()}
    knots = np.unique(np.concatenate([part.times for part in parts.values()]))
    degree = max(part._controls.shape[1] - 1 for part in parts.values())
    if any(len(part.times) < len(knots) for part in parts.values()):
        degree = max(degree, 2)  # `on_curve` treats a line as exact, but a part of a line has rounding errors
    controls, loose = np.zeros((len(knots) - 1, degree + 1, robot.dof)), np.zeros((len(knots) - 1, robot.dof))
    for name, columns in moved.items():
        _check_dof(parts[name], columns.stop - columns.start, f"part {name!r}")
        controls[:, :, columns], loose[:, columns] = _recut(parts[name], knots, degree)
    return Trajectory._made(_controls=controls, _loose=loose, times=knots)


def between(trajectory: Trajectory, times: Array) -> list[Trajectory]:
    """Return the pieces of a trajectory between successive ``times``. The times must increase."""
    knots = np.union1d(trajectory.times, times)
    knots = knots[(times[0] <= knots) & (knots <= times[-1])]
    controls, loose = _recut(trajectory, knots, max(2, trajectory._controls.shape[1] - 1))
    ends = np.searchsorted(knots, times)
    return [
        Trajectory._made(_controls=controls[i:j], _loose=loose[i:j], times=knots[i : j + 1])
        for i, j in pairwise(ends.tolist())
    ]


def _recut(trajectory: Trajectory, knots: Array, degree: int) -> tuple[Array, Array]:
    """Return the control points of a trajectory for the given knots and degree, and bounds of their errors.

    ``degree`` is not below that of the trajectory. ``knots`` contains all knots of the trajectory in its range. The
    trajectory is constant before its start and after its end.
    """
    own, least = trajectory.times, trajectory._controls.shape[1] - 1
    k = np.clip(np.searchsorted(own, knots[:-1], side="right") - 1, 0, len(own) - 2)
    pieces, loose, width = trajectory._controls[k], trajectory._loose[k], np.diff(own)[k]
    a, b = (np.clip((ends - own[k]) / width, 0.0, 1.0) for ends in (knots[:-1], knots[1:]))
    controls = np.stack([_blossom(pieces, [a] * (least - i) + [b] * i) for i in range(least + 1)], axis=1)
    size, rate = np.abs(pieces).max(axis=1), least * np.abs(np.diff(pieces, axis=1)).max(axis=1)
    off = 2.0 * _U * (np.abs(knots[:-1]) + np.abs(knots[1:]) + 2.0 * np.abs(own[k])) / width  # error of a and b
    is_cut = ((a > 0.0) | (b < 1.0))[:, None]
    loose = loose + np.where(is_cut, 6.0 * least * _U * size + off[:, None] * rate, 0.0)
    for n in range(least + 1, degree + 1):  # the degree is raised (Farin 2002, section 6.1)
        share = (np.arange(n + 1) / n)[:, None]
        padded = np.pad(controls, ((0, 0), (1, 1), (0, 0)))
        controls = share * padded[:, :-1] + (1.0 - share) * padded[:, 1:]
        loose = loose + 4.0 * _U * size
    return controls, loose


class Parts:
    """The curves of a trajectory, and the times of their ends.

    Long curves are divided, so that angles change little on each curve.
    """

    __slots__ = ("_off", "curves", "times")

    def __init__(self, trajectory: Trajectory, robot: Robot) -> None:
        controls, loose, knots = trajectory._controls.copy(), trajectory._loose.copy(), trajectory.times.copy()
        degree = controls.shape[1] - 1
        self._off = np.zeros(len(controls))  #: bound of the error of the times at the ends of each curve
        if degree > 1 and robot.dof:
            angles = controls[:, :, angle_columns(robot)]
            far = degree * np.abs(np.diff(angles, axis=1)).max(axis=(1, 2), initial=0.0)
            count = np.clip(np.ceil(far / _TURN), 1, _MOST_PARTS).astype(np.int64)
            which = np.repeat(np.arange(len(controls)), count)
            nth = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
            a, b = nth / count[which], (nth + 1) / count[which]
            pieces, width = controls[which], np.diff(knots)[which]
            knots = np.append(knots[:-1][which] + a * width, knots[-1])
            self._off = 2.0 * _U * (np.abs(knots[1:]) + np.abs(knots[:-1]) + 2.0 * width) * (count[which] > 1)
            controls = np.stack([_blossom(pieces, [a] * (degree - i) + [b] * i) for i in range(degree + 1)], axis=1)
            loose = loose[which] + 6.0 * degree * _U * np.abs(pieces).max(axis=1)
        self.curves = Curves(np.ascontiguousarray(controls), loose)
        self.times = knots

    def when(self, e: int, t: float) -> tuple[float, float]:
        """Return the time at parameter t of curve e, rounded down and rounded up."""
        # exact rational arithmetic, since a time that is reported as safe must not be rounded past the proof
        first, last = Fraction(float(self.times[e])), Fraction(float(self.times[e + 1]))
        exact = first + Fraction(t) * (last - first)
        lower = upper = float(exact)
        if lower > exact:
            lower = nextafter(lower, -inf)
        if upper < exact:
            upper = nextafter(upper, inf)
        off = float(self._off[e])
        return max(lower - off, float(self.times[0])), min(upper + off, float(self.times[-1]))

    def clocked(self, start: float) -> Parts:
        """Return the curves with the time since ``start`` appended to each configuration."""
        controls, loose = self.curves
        clock = np.linspace(self.times[:-1] - start, self.times[1:] - start, controls.shape[1], axis=1)
        off = 8.0 * _U * (np.abs(clock).max(axis=1) + np.abs(start))
        new = object.__new__(Parts)
        new.curves = Curves(np.concatenate([controls, clock[:, :, None]], axis=2), np.column_stack([loose, off]))
        new.times, new._off = self.times, self._off
        return new

    def steps(self, spacing: Array) -> Ints:
        """Return for each curve a number of equal steps that each change joint values by at most ``spacing`` (dof,)."""
        controls = self.curves.controls
        degree = controls.shape[1] - 1
        with np.errstate(over="ignore"):
            far = degree * np.abs(np.diff(controls, axis=1)).max(axis=1, initial=0.0)
            count = np.maximum(np.ceil((far / spacing).max(axis=1, initial=1.0)), 1.0)
        if not count.sum() < 1e8:
            raise RobotError(
                f"the trajectory would take {count.sum():.3g} samples, which is too many. Use a larger resolution"
            )
        return np.asarray(count, dtype=np.int64)


def angle_columns(robot: Robot) -> Ints:
    """Return the columns of q that are angles."""
    chain, columns = robot._chain, set[int]()
    for kind, source in zip(chain.kind.tolist(), chain.source.tolist(), strict=True):
        columns |= set(range(source + LENGTHS[kind], source + NUMBERS[kind]))
    return np.array(sorted(columns), dtype=np.int64)


def _blossom(controls: Array, at: list[Array]) -> Array:
    """Return the values of the blossoms, or polar forms (Farin 2002), of curves (n, degree + 1, dof), as (n, dof).

    A blossom of degree d has d arguments, and ``at`` contains them as d arrays (n,).
    """
    rows = controls
    for t in at:
        t = t[:, None, None]
        rows = (1.0 - t) * rows[:, :-1] + t * rows[:, 1:]
    return rows[:, 0]


def _straight(path: Rows, times: VectorLike) -> tuple[Array, Array, Array]:
    try:
        points, knots = np.array(path, dtype=np.float64), np.array(times, dtype=np.float64)
    except (TypeError, ValueError) as reason:
        raise RobotError(f"Trajectory: waypoints and times must be numbers: {reason}") from None
    if points.ndim != 2 or knots.shape != points.shape[:1] or len(knots) < 2:
        raise RobotError(
            f"Trajectory: waypoints have shape {points.shape} and times {knots.shape}, expected (m, dof) and (m,) with "
            "m at least 2"
        )
    return knots, np.stack([points[:-1], points[1:]], axis=1), np.zeros(points[1:].shape)


def _spline(spline: Any) -> tuple[Array, Array, Array]:
    """Return the knots and control points of a spline of scipy, and bounds of the errors of the control points."""
    from scipy.interpolate import BPoly, BSpline, PPoly

    if not isinstance(spline, (BPoly, BSpline, PPoly)):
        line = line_of_trajectory(spline)
        cure = (
            f"Convert it with scipy: {line}" if line else "For waypoints use gjk3d.robot.Trajectory(waypoints, times)"
        )
        raise RobotError(
            f"Trajectory: {type(spline).__name__} is not a spline of scipy.interpolate (CubicSpline, BSpline, PPoly, "
            f"...). {cure}"
        )
    rows = 2 if isinstance(spline, BSpline) else 3
    degree = spline.k if isinstance(spline, BSpline) else len(spline.c) - 1
    if np.iscomplexobj(spline.c) or spline.c.ndim != rows:
        raise RobotError(
            f"Trajectory: the coefficients of the spline have shape {spline.c.shape} and dtype {spline.c.dtype}, "
            f"expected real numbers of shape {'(m, dof)' if rows == 2 else '(k, m, dof)'}"
        )
    if degree > MOST_DEGREE:
        raise RobotError(f"Trajectory: the degree of the spline is {degree}, expected at most {MOST_DEGREE}")
    coefficients = np.array(spline.c, dtype=np.float64)
    if isinstance(spline, BSpline):
        return _of_basis(np.array(spline.t, dtype=np.float64), coefficients, degree)
    knots = np.array(spline.x, dtype=np.float64)
    wide = np.diff(knots) != 0.0  # a PPoly made from a B-spline has pieces of zero width
    knots, controls = np.append(knots[:-1][wide], knots[-1:]), np.moveaxis(coefficients, 0, 1)[wide]
    loose = np.zeros(controls.shape[::2])
    if isinstance(spline, PPoly):
        controls, loose = _of_powers(knots, controls[:, ::-1])
    if degree == 0:
        controls = np.repeat(controls, 2, axis=1)
    if degree == 1:  # raised to degree 2: `on_curve` treats a line as exact, but these control points have errors
        controls = np.stack([controls[:, 0], 0.5 * (controls[:, 0] + controls[:, 1]), controls[:, 1]], axis=1)
        loose = loose + 2.0 * _U * np.abs(controls).max(axis=1)
    return knots, np.ascontiguousarray(controls), loose


def _of_powers(knots: Array, powers: Array) -> tuple[Array, Array]:
    """Return the Bézier control points of polynomials, and bounds of their errors.

    ``powers`` (n, degree + 1, dof) contains the coefficients of the powers of (t - knot), the constant first.
    """
    degree, width = powers.shape[1] - 1, np.diff(knots)[:, None]
    scaled = np.stack([powers[:, m] * width**m for m in range(degree + 1)], axis=1)
    share = np.array([[comb(i, m) / comb(degree, m) for m in range(degree + 1)] for i in range(degree + 1)])
    controls: Array = np.einsum("im,kmj->kij", share, scaled)
    wrong = np.einsum("im,kmj->kij", share, np.abs(scaled)).max(axis=1)
    # The factor covers the rounding of each term: of the width, its powers, their product, the share, and the sum.
    return controls, (3.0 * degree + 8.0) * 2.0 * _U * wrong


def _of_basis(t: Array, c: Array, degree: int) -> tuple[Array, Array, Array]:
    """Return the distinct knots, control points and errors of a B-spline with knots t and coefficients c.

    The control points are values of the blossoms of the spline.
    """
    first, last = degree, len(c)
    at = np.array([r for r in range(first, last) if t[r] < t[r + 1]], dtype=np.int64)
    if not len(at):
        raise RobotError(f"Trajectory: the knots of the spline are all {t[first]:g}, expected increasing knots")
    knots = np.append(t[at], t[last])
    wanted = max(degree, 1)
    rows = []
    for i in range(wanted + 1):
        args = [t[at]] * (degree - i) + [t[at + 1]] * min(i, degree)
        local = np.stack([c[at - degree + m] for m in range(degree + 1)], axis=1)
        for level, x in enumerate(args, 1):  # a step of de Boor's algorithm for each parameter
            low = np.stack([t[at - degree + level + m] for m in range(degree + 1 - level)], axis=1)
            high = np.stack([t[at + 1 + m] for m in range(degree + 1 - level)], axis=1)
            share = ((x[:, None] - low) / (high - low))[:, :, None]
            local = (1.0 - share) * local[:, :-1] + share * local[:, 1:]
        rows.append(local[:, 0])
    controls = np.stack(rows, axis=1)
    local = np.stack([c[at - degree + m] for m in range(degree + 1)], axis=1)
    loose = 16.0 * wanted * _U * np.abs(local).max(axis=1)
    if wanted == 1:
        controls = np.stack([controls[:, 0], 0.5 * (controls[:, 0] + controls[:, 1]), controls[:, 1]], axis=1)
    return knots, controls, loose
