"""Joints between the parts of an assembly, couplings, and the linkage that they form.

A body is the set of parts that match a pattern. The first joint with a body as its child places the body, and further
joints with this child close loops. The coordinates without a drive or a coupling are unknowns. They are computed by
least squares (scipy) at a few times in ascending order, and then by Newton's method at all other times at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gjk3d.errors import ShapeError
from gjk3d.poses import GREATEST
from gjk3d.typing import Array, VectorLike
from gjk3d.units import reading
from gjk3d.wording import expected_names, number, with_unit

#: The coordinates of each kind of joint: "turn" is an angle about the axis, "slide" a translation along the axis, and
#: "x" and "y" are translations across the axis.
KINDS = {"revolute": ("turn",), "prismatic": ("slide",), "cylindrical": ("turn", "slide"), "planar": ("x", "y", "turn")}

_SHOWN = 80  #: the largest number of characters of a value in an error


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint between two bodies. All its coordinates are 0 in the drawn poses of the assembly.

    Attributes
    ----------
    name : str
        The name of the joint for couplings.
    kind : {"revolute", "prismatic", "cylindrical", "planar"}
        A revolute joint rotates about its axis, and a prismatic joint slides along its axis. A cylindrical joint
        rotates and slides. A planar joint slides in two directions x and y across its axis, and rotates about the axis.
    child, parent : str
        Patterns of names of parts. The parent is a body that joints move, or static parts. An empty parent is the
        ground.
    axis, point : (3,) float
        The direction of the axis, of any length, and a point on it in the frame of the assembly.
    drive : (k,) or (k, m) float, or None
        The values of the m coordinates at k times at equal intervals, from the begin to the end of the movement. Angles
        are in radians, and translations in the unit of the assembly. None means that couplings and loops determine the
        coordinates.

    Raises
    ------
    ShapeError
        If an argument is invalid.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> hinge = gk.clash.Joint("hinge", "revolute", "door*", axis=(0, 0, 1), point=(0, 30, 0), drive=(0, np.pi / 2))
    >>> hinge.pose((np.pi / 2,)).round(6) + 0.0
    array([[ 0., -1.,  0., 30.],
           [ 1.,  0.,  0., 30.],
           [ 0.,  0.,  1.,  0.],
           [ 0.,  0.,  0.,  1.]])
    """

    name: str
    kind: str
    child: str
    parent: str = ""
    axis: VectorLike = (0.0, 0.0, 1.0)
    point: VectorLike = (0.0, 0.0, 0.0)
    drive: Any = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ShapeError(f"joint {self.name!r} has the kind {self.kind!r}, {expected_names(self.kind, KINDS)}")
        if not isinstance(self.child, str) or not self.child:
            raise ShapeError(f"joint {self.name!r} has the child {self.child!r}, expected a pattern of names")
        if self.child == self.parent:
            raise ShapeError(f"joint {self.name!r} has the child and parent {self.parent!r}, expected different bodies")
        axis = _floats(self.axis, f"joint {self.name!r}: axis")
        if axis.shape != (3,) or not axis.any():
            raise ShapeError(f"joint {self.name!r}: axis is {axis.tolist()}, expected three numbers that are not all 0")
        point = _floats(self.point, f"joint {self.name!r}: point", GREATEST)
        if point.shape != (3,):
            raise ShapeError(f"joint {self.name!r}: point is {point.tolist()}, expected three numbers")
        if self.drive is not None:
            drive = _floats(self.drive, f"joint {self.name!r}: drive")
            if len(drive) < 2 or drive.reshape(len(drive), -1).shape[1:] != (len(KINDS[self.kind]),):
                raise ShapeError(
                    f"joint {self.name!r}: drive has the shape {drive.shape}, expected 2 or more rows of"
                    f" {len(KINDS[self.kind])}: {', '.join(KINDS[self.kind])}"
                )
            for name, column in zip(KINDS[self.kind], drive.reshape(len(drive), -1).T, strict=True):
                if name != "turn":
                    _floats(column, f"joint {self.name!r}: the {name} of its drive", GREATEST)

    def pose(self, values: VectorLike) -> Array:
        """Return the pose of the child relative to its drawn pose, in the frame of the assembly, for a parent at rest.

        Parameters
        ----------
        values : (k,) float
            The coordinates of the joint. Angles are in radians, and translations in the unit of the assembly.

        Returns
        -------
        (4, 4) float

        Raises
        ------
        ShapeError
            If the number of values is wrong, or a value is not finite.
        """
        row, names = _floats(values, f"joint {self.name!r}: values", GREATEST), KINDS[self.kind]
        if row.shape != (len(names),):
            raise ShapeError(
                f"joint {self.name!r}: values has the shape {row.shape}, expected {len(names)}: {', '.join(names)}"
            )
        pose: Array = self._poses(row[None])[0]
        return pose

    @property
    def _drive_rows(self) -> Array:
        return np.asarray(self.drive, dtype=np.float64).reshape(len(self.drive), -1)

    def _poses(self, values: Array) -> Array:
        coordinates = dict(zip(KINDS[self.kind], values.T, strict=True))
        along = np.asarray(self.axis, dtype=np.float64)
        along = np.ldexp(along, -np.frexp(np.abs(along).max())[1])  # avoids overflow and underflow of its square
        along /= np.linalg.norm(along)
        point, result = np.asarray(self.point, dtype=np.float64), np.tile(np.eye(4), (len(values), 1, 1))
        if "turn" in coordinates:
            # the rotations by angles about a unit vector, by the formula of Rodrigues
            (x, y, z), angles = along.tolist(), coordinates["turn"][:, None, None]
            cross, half = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]), np.sin(0.5 * angles)
            result[:, :3, :3] = np.eye(3) + np.sin(angles) * cross + 2.0 * half * half * (cross @ cross)
            result[:, :3, 3] = point - result[:, :3, :3] @ point
        if "slide" in coordinates:
            result[:, :3, 3] += coordinates["slide"][:, None] * along
        if self.kind == "planar":
            first = np.eye(3)[int(np.argmin(np.abs(along)))]  # the direction of x
            first -= along * (first @ along)
            first /= np.linalg.norm(first)
            result[:, :3, 3] += coordinates["x"][:, None] * first + coordinates["y"][:, None] * np.cross(along, first)
        return result


@dataclass(frozen=True, slots=True)
class Coupling:
    """A joint that is coupled to another joint by gears, a rack or a screw.

    Attributes
    ----------
    joint, to : str
        The names of the coupled joint and of the joint that drives it. The first coordinates of both are coupled.
    ratio : float
        The coordinate of ``joint`` divided by the coordinate of ``to``. For example, it is -30 / 18 if ``joint``
        turns a gear of 18 teeth and ``to`` turns a gear of 30 teeth. For a nut on a spindle, it is the lead divided by
        2 pi.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> gk.clash.Coupling("nut", "spindle", 5.0 / (2 * np.pi)).ratio.__round__(4)
    0.7958
    """

    joint: str
    to: str
    ratio: float

    def __post_init__(self) -> None:
        if not isinstance(self.ratio, Real) or not np.isfinite(float(self.ratio)):
            raise ShapeError(
                f"the coupling of {self.joint!r} to {self.to!r} has the ratio {self.ratio!r}, expected a finite number"
            )


def _floats(values: Any, what: str, most: float = np.inf) -> Array:
    excerpt = " ".join(repr(values.tolist() if isinstance(values, np.ndarray) else values).split())
    excerpt = excerpt if len(excerpt) <= _SHOWN else f"{excerpt[:_SHOWN]}..."
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"{what} is {excerpt}, expected numbers") from None
    if array.ndim == 0 or not np.isfinite(array).all() or not (np.abs(array) <= most).all():
        limit = f" from {-most:g} to {most:g}" if most < np.inf else ""
        raise ShapeError(f"{what} is {excerpt}, expected a list of finite numbers{limit}")
    return array


_CLOSED = 1e-9  #: the largest gap of a closed loop relative to the size of the assembly
_TURNS = 1000  #: the largest number of turns of a joint, as in `gjk3d.Motion`
_AT_ONCE = np.pi / 8  #: the largest turn of a driven joint between two times that are solved in order
_NEWTON = 8  #: the largest number of Newton steps
_STEP = 1e-7  #: the step of difference quotients, in radians or relative to the size of the assembly
_SOLVED = 1e-12  #: a smaller step ends Newton's method, in radians or relative to the size of the assembly
_SINGULAR = 1e-7  #: smaller singular values, relative to the largest one, count as 0


def _bent(turns: Array) -> Array:
    """Return for each rotation (n, 3, 3) its axis times the sine of half its angle, (n, 3)."""
    half = 2.0 * np.sqrt(np.maximum(1e-16, 1.0 + np.trace(turns, axis1=1, axis2=2)))
    skew = turns - np.swapaxes(turns, 1, 2)
    bent: Array = np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1) / half[:, None]
    return bent


class Linkage:
    """Joints and couplings, which determine the displacement of every body from its drawn pose at any time.

    ``times`` are the times of the first and the last row of every drive, ``size`` is the size of the assembly, and
    ``units`` are the units of time and length in messages.
    """

    def __init__(
        self,
        joints: Sequence[Joint],
        couplings: Sequence[Coupling],
        times: tuple[float, float],
        size: float,
        units: tuple[str, str | None] = ("", None),
    ) -> None:
        self.times, self.size, self._units = times, size, units
        self.by_name = {joint.name: joint for joint in joints}
        if len(self.by_name) < len(joints):
            names = [joint.name for joint in joints]
            twice = next(name for name in names if names.count(name) > 1)
            raise ShapeError(f"two joints have the name {twice!r}, expected different names. Rename one of them.")
        self.tree: dict[str, Joint] = {}
        self.closing: list[Joint] = []
        for joint in joints:
            if joint.child in self.tree:
                self.closing.append(joint)
            else:
                self.tree[joint.child] = joint
        self.order = self._ordered()
        self.follows = self._couplings(couplings)
        self.free = [
            (joint.name, k)
            for joint in joints
            for k in range(len(KINDS[joint.kind]))
            if joint.drive is None and not (k == 0 and joint.name in self.follows)
        ]
        if self.free and not self.closing:
            raise ShapeError(
                f"joint {self.free[0][0]!r} is neither driven nor coupled nor in a loop, so it cannot be placed. Set "
                "its drive."
            )
        self._solved: dict[float, Array] = {}

    def _ordered(self) -> list[str]:
        """Return the names of the bodies that joints place, with each parent before its children."""
        order: list[str] = []
        for body in self.tree:
            chain: list[str] = []
            while body in self.tree and body not in order:
                if body in chain:
                    raise ShapeError(f"the joints of {body!r} form a cycle of parents. Fix one of them to the ground.")
                chain.append(body)
                body = self.tree[body].parent
            order += reversed(chain)
        return order

    def _couplings(self, couplings: Sequence[Coupling]) -> dict[str, tuple[str, float]]:
        follows: dict[str, tuple[str, float]] = {}
        for coupling in couplings:
            for name in (coupling.joint, coupling.to):
                if name not in self.by_name:
                    raise ShapeError(f"a coupling names the joint {name!r}, {expected_names(name, self.by_name)}")
            if coupling.joint in follows or self.by_name[coupling.joint].drive is not None:
                raise ShapeError(f"joint {coupling.joint!r} is driven or coupled twice. Remove a drive or a coupling.")
            follows[coupling.joint] = coupling.to, float(coupling.ratio)
        for name in follows:
            chain = [name]
            while chain[-1] in follows:
                chain.append(follows[chain[-1]][0])
                if chain[-1] == name:
                    raise ShapeError(
                        f"joint {name!r} is coupled to itself, expected couplings without a cycle. Remove one of them."
                    )
        return follows

    # --- at a time -------------------------------------------------------------------------------------------------

    def grid(self) -> Array:
        """Return the times at which the unknowns are computed in order, including the times of all rows of drives."""
        begin, end = self.times
        knots, steps = {begin, end}, 8
        for joint in self.by_name.values():
            if joint.drive is None:
                continue
            rows = joint._drive_rows
            knots |= set(np.linspace(begin, end, len(rows)).tolist())
            turns = [k for k, name in enumerate(KINDS[joint.kind]) if name == "turn"]
            most = float(np.abs(np.diff(rows[:, turns], axis=0)).sum()) if turns else 0.0
            geared = max([1.0, *(abs(ratio) for _, ratio in self.follows.values())])
            times = geared * most / (2.0 * np.pi)
            if not times <= _TURNS:
                raise ShapeError(
                    f"joint {joint.name!r} turns {most / (2.0 * np.pi):.6g} times, and with the greatest coupling ratio"
                    f" {geared:g} that is {times:.6g} turns, expected at most {_TURNS}. Divide the motion."
                )
            steps = max(steps, int(np.ceil(geared * most / _AT_ONCE)))
        return np.unique(np.concatenate([np.linspace(begin, end, steps + 1), sorted(knots)]))

    def bodies(self, times: Array) -> Mapping[str, Array]:
        """Return the displacements of each body from its drawn pose at n times, (n, 4, 4), by the body's pattern."""
        return self._poses(self._values(times, self._unknowns(times)))

    def _values(self, times: Array, unknown: Array) -> dict[str, Array]:
        values: dict[str, Array] = {}
        shares = (times - self.times[0]) / (self.times[1] - self.times[0])
        for name, joint in self.by_name.items():
            values[name] = np.zeros((len(times), len(KINDS[joint.kind])))
            if joint.drive is not None:
                at = np.linspace(0.0, 1.0, len(joint.drive))
                values[name] = np.stack([np.interp(shares, at, column) for column in joint._drive_rows.T], axis=1)
        for (name, k), column in zip(self.free, unknown.T, strict=True):
            values[name][:, k] = column
        for _ in self.follows:  # the length of the longest chain of couplings
            for name, (to, ratio) in self.follows.items():
                values[name][:, 0] = ratio * values[to][:, 0]
        return values

    def _poses(self, values: Mapping[str, Array]) -> dict[str, Array]:
        poses: dict[str, Array] = {}
        for body in self.order:
            joint = self.tree[body]
            parent = poses.get(joint.parent)
            displacement = joint._poses(values[joint.name])
            poses[body] = displacement if parent is None else parent @ displacement
        return poses

    def _open(self, times: Array, unknown: Array) -> Array:
        """Return the gaps of the loops at n times as lengths, (n, k), for the values ``unknown`` of the unknowns.

        A joint that closes a loop gives its child a second pose. Its six gaps are the translation between the two
        poses, and the rotation between them times the size of the assembly.
        """
        values = self._values(times, unknown)
        poses, out = self._poses(values), []
        for joint in self.closing:
            by_joint = poses.get(joint.parent, np.eye(4)) @ joint._poses(values[joint.name])
            by_tree, point = poses[joint.child], np.append(np.asarray(joint.point, dtype=np.float64), 1.0)
            turns = np.swapaxes(by_tree[:, :3, :3], 1, 2) @ by_joint[:, :3, :3]
            out += [((by_joint - by_tree) @ point)[:, :3], self.size * _bent(turns)]
        return np.concatenate(out, axis=1)

    # --- unknown coordinates ---------------------------------------------------------------------------------------

    @property
    def _scale(self) -> Array:
        """The unit of each unknown: 1 radian for a rotation, the size of the assembly for a translation."""
        return np.array([1.0 if KINDS[self.by_name[n].kind][k] == "turn" else self.size for n, k in self.free])

    def begin(self, grid: Array) -> None:
        """Compute the unknowns at the times of ``grid`` in order, with start values from the times before."""
        for time in grid.tolist():
            self._unknown(time)

    def _unknowns(self, times: Array) -> Array:
        if not self.closing:
            return np.zeros((len(times), 0))
        new = np.array([t for t in dict.fromkeys(times.tolist()) if t not in self._solved])
        if self.free and len(new) and len(self._solved) > 1:
            solutions, closed = self._newton(new, self._guesses(new))
            self._solved.update(zip(new[closed].tolist(), solutions[closed], strict=True))
        return np.stack([self._unknown(t) for t in times.tolist()])

    def _guesses(self, times: Array) -> Array:
        solved_times = sorted(self._solved)
        columns = np.array([self._solved[t] for t in solved_times]).T
        return np.stack([np.interp(times, solved_times, column) for column in columns], axis=1)

    def _newton(self, times: Array, unknown: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return the unknowns that close the loops at each time, and whether Newton's method converged.

        ``unknown`` has the start values.
        """
        scale, first, closed = self._scale, unknown, np.zeros(len(times), dtype=bool)
        for _ in range(_NEWTON):
            left = self._open(times, unknown)
            columns = [(self._open(times, unknown + _STEP * row) - left) / _STEP for row in np.diag(scale)]
            slopes = np.stack(columns, axis=2)
            sizes = np.linalg.svd(slopes, compute_uv=False)
            steps = (np.linalg.pinv(slopes, rcond=_SINGULAR) @ left[:, :, None])[:, :, 0]
            unknown = unknown - scale * steps
            closed = (np.abs(steps).max(axis=1) <= _SOLVED) & (sizes[:, -1] > _SINGULAR * sizes[:, 0])
            if closed.all():
                break
        closed &= slopes.shape[1] >= slopes.shape[2]
        closed &= np.abs(self._open(times, unknown)).max(axis=1) <= _CLOSED * self.size
        return unknown, closed & (np.abs((unknown - first) / scale).max(axis=1) <= _AT_ONCE)

    def _unknown(self, time: float) -> Array:
        """Return the unknowns at a time, by least squares.

        The start values are extrapolated from the unknowns at the two nearest computed times.
        """
        if not self.closing or time in self._solved:
            return self._solved.get(time, np.zeros(0))
        from scipy.optimize import least_squares

        first, at = self._guess(time), np.array([time])
        if self.free:
            scale, most = self._scale, 1e-15
            fit = least_squares(
                lambda x: self._open(at, x[None])[0], first, x_scale=scale, xtol=most, ftol=most, gtol=most,
                max_nfev=200,
            )  # fmt: skip
            first = fit.x
        self._check_closed(time, first)
        if self.free:
            sizes = np.linalg.svd(fit.jac * scale, compute_uv=False)
            if len(sizes) < len(first) or sizes[-1] < _SINGULAR * sizes[0]:
                raise ShapeError(
                    f"the motion of {', '.join(n for n, _ in self.free)} is undetermined at time {time:.6g}."
                    " Drive or couple one more joint, or avoid the dead centre."
                )
        self._solved[time] = first
        return first

    def _check_closed(self, time: float, unknown: Array) -> None:
        left = float(np.abs(self._open(np.array([time]), unknown[None])).max())
        if left > _CLOSED * self.size:
            names = ", ".join(repr(joint.name) for joint in self.closing)
            shown, factor = reading(self._units[1], self.size)
            gap = with_unit(number(factor * left, 3), shown)
            when = with_unit(number(time), self._units[0])
            raise ShapeError(
                f"the loop of {names} cannot be closed at time {when}, and its gap is {gap}. Correct the point and axis"
                " of its joints, or reduce the drive."
            )

    def _guess(self, time: float) -> Array:
        nearest = sorted(self._solved, key=lambda t: abs(t - time))[:2]
        if not nearest:
            return np.zeros(len(self.free))
        if len(nearest) == 1:
            return self._solved[nearest[0]]
        a, b = (self._solved[t] for t in nearest)
        line: Array = a + (b - a) * ((time - nearest[0]) / (nearest[1] - nearest[0]))
        return line
