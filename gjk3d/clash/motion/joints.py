"""Joints between the parts of an assembly, and what moves when some of them are driven.

A body is what a pattern of names fits. The first joint that a body is the child of places it; any other closes a loop,
and what is not driven is solved for, from time to time, by scipy's least squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sin, sqrt
from typing import Any

import numpy as np

from gjk3d.errors import ShapeError
from gjk3d.typing import Array, VectorLike
from gjk3d.units import reading
from gjk3d.wording import number, with_unit

#: The coordinates of each kind: angles about the axis, and ways along it, or in the plane across it.
KINDS = {"revolute": ("turn",), "prismatic": ("slide",), "cylindrical": ("turn", "slide"), "planar": ("x", "y", "turn")}
_CLOSED = 1e-9  #: of the size of the whole: how far a loop may stay open
_TURNS = 1000  #: the most of a joint, as of a `gjk3d.Motion`
_AT_ONCE = np.pi / 8  #: the most that a driven joint turns between two times that are solved first
_SAME = 1e-7  #: singular values below this part of the greatest are of no joint's doing


@dataclass(frozen=True, slots=True)
class Joint:
    """How one body is held by another. Places are those of the assembly as it was drawn, where every joint is at 0.

    Attributes
    ----------
    name : str
        By which couplings know it.
    kind : {"revolute", "prismatic", "cylindrical", "planar"}
        It turns about the axis, slides along it, does both, or slides across it in x and y and turns.
    child, parent : str
        Patterns of the names of parts. The parent is one body that joints move, or parts that stand still; "" is the
        ground.
    axis, point : (3,) float
        Its direction, of any length, and a place that it goes through.
    drive : (k,) or (k, m) float, or None
        Where its m coordinates are at k times, the first and the last being those of the movement; in radians and the
        unit of the assembly. None leaves it to couplings and loops.

    Raises
    ------
    ShapeError
        An argument is of another kind or form.

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
            raise ShapeError(f"joint {self.name!r} is of kind {self.kind!r}; there are {', '.join(KINDS)}")
        if not self.child or self.child == self.parent:
            raise ShapeError(f"joint {self.name!r} needs a child that is not its parent {self.parent!r}")
        for name in ("axis", "point"):
            value = _floats(getattr(self, name), f"joint {self.name!r}: {name}")
            if value.shape != (3,) or (name == "axis" and not 0.0 < np.linalg.norm(value) < np.inf):
                wanted = "three numbers" + (", a direction" if name == "axis" else "")
                raise ShapeError(f"joint {self.name!r}: {name} is {value.tolist()}, expected {wanted}")
        if self.drive is not None:
            given = _floats(self.drive, f"joint {self.name!r}: drive")
            if given.reshape(len(given), -1).shape[1:] != (len(KINDS[self.kind]),) or len(given) < 2:
                raise ShapeError(
                    f"joint {self.name!r}: drive is of shape {given.shape}, expected 2 or more rows of"
                    f" {len(KINDS[self.kind])}: {', '.join(KINDS[self.kind])}"
                )

    def pose(self, values: VectorLike) -> Array:
        """Return the displacement of the child against the parent.

        Parameters
        ----------
        values : (k,) float
            Where the joint is: as many numbers as its kind has coordinates, in radians and the unit of the assembly.

        Returns
        -------
        (4, 4) float
        """
        given = dict(zip(KINDS[self.kind], np.asarray(values, dtype=np.float64).tolist(), strict=True))
        along = np.asarray(self.axis, dtype=np.float64) / np.linalg.norm(np.asarray(self.axis, dtype=np.float64))
        point, result = np.asarray(self.point, dtype=np.float64), np.eye(4)
        if "turn" in given:
            result[:3, :3] = _turn(along, given["turn"])
        result[:3, 3] = point - result[:3, :3] @ point + along * given.get("slide", 0.0)
        if self.kind == "planar":
            first = np.eye(3)[int(np.argmin(np.abs(along)))]
            first -= along * (first @ along)
            first /= np.linalg.norm(first)
            result[:3, 3] += given["x"] * first + given["y"] * np.cross(along, first)
        return result


@dataclass(frozen=True, slots=True)
class Coupling:
    """A joint that follows another: gears, racks and screws.

    Attributes
    ----------
    joint, to : str
        The names of two joints; their first coordinates are meant.
    ratio : float
        How far the first goes for each unit of the other: -30 / 18 for two spur gears of 30 and 18 teeth, the lead
        over 2 pi for a nut on a spindle.

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
        if not np.isfinite(self.ratio):
            raise ShapeError(f"the coupling of {self.joint!r} to {self.to!r} has the ratio {self.ratio!r}")


def _floats(values: Any, what: str) -> Array:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"{what} is {values!r}, expected numbers") from None
    if array.ndim == 0 or not np.isfinite(array).all():
        raise ShapeError(f"{what} is {values!r}, expected finite numbers")
    return array


def _turn(along: Array, angle: float) -> Array:
    """Return the rotation by an angle about a unit vector (Rodrigues)."""
    x, y, z = along.tolist()
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    half = sin(0.5 * angle)
    turn: Array = np.eye(3) + sin(angle) * cross + 2.0 * half * half * (cross @ cross)
    return turn


def _bent(turn: Array) -> Array:
    """Return a vector that is 0 of no turn: its axis times the sine of half its angle, and its sign."""
    half = 2.0 * sqrt(max(1e-16, 1.0 + float(np.trace(turn))))
    return np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / half


class Linkage:
    """Joints made ready: asked for the displacement of every body at a time.

    Parameters
    ----------
    joints, couplings : sequence of Joint, of Coupling
        As in `Movement`.
    times : (float, float)
        Of the first and the last row of every drive.
    size : float
        Of the whole.
    units : (str, str or None)
        Of time and of length, for messages.
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
            raise ShapeError(f"two joints are called {twice!r}: names must differ")
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
            raise ShapeError(f"joint {self.free[0][0]!r} is not driven, coupled, or part of a loop: give it a drive")
        self._solved: dict[float, Array] = {}

    def _ordered(self) -> list[str]:
        """Return the bodies, a parent before its children."""
        order: list[str] = []
        for body in self.tree:
            way: list[str] = []
            while body in self.tree and body not in order:
                if body in way:
                    raise ShapeError(f"the joints hold {body!r} by itself: one of them must be held by the ground")
                way.append(body)
                body = self.tree[body].parent
            order += reversed(way)
        return order

    def _couplings(self, couplings: Sequence[Coupling]) -> dict[str, tuple[str, float]]:
        follows: dict[str, tuple[str, float]] = {}
        for coupling in couplings:
            for name in (coupling.joint, coupling.to):
                if name not in self.by_name:
                    raise ShapeError(f"a coupling names the joint {name!r}; there are {', '.join(self.by_name)}")
            if coupling.joint in follows or self.by_name[coupling.joint].drive is not None:
                raise ShapeError(f"joint {coupling.joint!r} is driven or coupled twice")
            follows[coupling.joint] = coupling.to, float(coupling.ratio)
        for name in follows:
            seen = [name]
            while seen[-1] in follows:
                seen.append(follows[seen[-1]][0])
                if seen[-1] == name:
                    raise ShapeError(f"joint {name!r} is coupled to itself")
        return follows

    # --- at a time -------------------------------------------------------------------------------------------------

    def grid(self) -> Array:
        """Return times close enough to begin with: no driven joint turns far between two, and each drive's own."""
        begin, end = self.times
        knots, steps = {begin, end}, 8
        for joint in self.by_name.values():
            if joint.drive is None:
                continue
            rows = np.asarray(joint.drive, dtype=np.float64).reshape(len(joint.drive), -1)
            knots |= set(np.linspace(begin, end, len(rows)).tolist())
            turns = [k for k, name in enumerate(KINDS[joint.kind]) if name == "turn"]
            most = float(np.abs(np.diff(rows[:, turns], axis=0)).sum()) if turns else 0.0
            geared = max([1.0, *(abs(ratio) for _, ratio in self.follows.values())])
            times = geared * most / (2.0 * np.pi)
            if not times <= _TURNS:
                raise ShapeError(
                    f"joint {joint.name!r} drives what turns {times:.6g} times; at most {_TURNS} can be followed:"
                    " divide the motion"
                )
            steps = max(steps, int(np.ceil(geared * most / _AT_ONCE)))
        return np.unique(np.concatenate([np.linspace(begin, end, steps + 1), sorted(knots)]))

    def bodies(self, time: float) -> Mapping[str, Array]:
        """Return the displacement of every body, (4, 4) each, at a time."""
        return self._poses(self._values(time, self._unknown(time)))

    def _values(self, time: float, unknown: Array) -> dict[str, Array]:
        values: dict[str, Array] = {}
        share = (time - self.times[0]) / (self.times[1] - self.times[0])
        for name, joint in self.by_name.items():
            values[name] = np.zeros(len(KINDS[joint.kind]))
            if joint.drive is not None:
                rows = np.asarray(joint.drive, dtype=np.float64).reshape(len(joint.drive), -1)
                at = np.linspace(0.0, 1.0, len(rows))
                values[name] = np.array([np.interp(share, at, column) for column in rows.T])
        for (name, k), value in zip(self.free, unknown.tolist(), strict=True):
            values[name][k] = value
        for _ in self.follows:  # as often as a chain of couplings can be long
            for name, (to, ratio) in self.follows.items():
                values[name][0] = ratio * values[to][0]
        return values

    def _poses(self, values: Mapping[str, Array]) -> dict[str, Array]:
        poses: dict[str, Array] = {}
        for body in self.order:
            joint = self.tree[body]
            parent = poses.get(joint.parent)
            own = joint.pose(values[joint.name])
            poses[body] = own if parent is None else parent @ own
        return poses

    def _open(self, time: float, unknown: Array) -> Array:
        """Return by how much the loops are open: places, and turns times the size of the whole."""
        values = self._values(time, unknown)
        poses, out = self._poses(values), []
        for joint in self.closing:
            there = poses.get(joint.parent, np.eye(4)) @ joint.pose(values[joint.name])
            here, point = poses[joint.child], np.append(np.asarray(joint.point, dtype=np.float64), 1.0)
            out += [(there @ point - here @ point)[:3], self.size * _bent(here[:3, :3].T @ there[:3, :3])]
        return np.concatenate(out)

    def _unknown(self, time: float) -> Array:
        """Return what is not driven, from what it was at the times nearest to this."""
        if not self.closing:
            return np.zeros(0)
        if time in self._solved:
            return self._solved[time]
        from scipy.optimize import least_squares

        first = self._guess(time)
        if self.free:
            scale = np.array([1.0 if KINDS[self.by_name[n].kind][k] == "turn" else self.size for n, k in self.free])
            found = least_squares(
                lambda x: self._open(time, x), first, x_scale=scale, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=200
            )
            first = found.x
            sizes = np.linalg.svd(found.jac * scale, compute_uv=False)
            if len(sizes) < len(first) or sizes[-1] < _SAME * sizes[0]:
                raise ShapeError(
                    f"the joints leave a motion open at time {time:.6g}, of {', '.join(n for n, _ in self.free)}:"
                    " drive or couple one more, or this is a dead centre"
                )
        left = float(np.abs(self._open(time, first)).max())
        if left > _CLOSED * self.size:
            names = ", ".join(repr(joint.name) for joint in self.closing)
            shown, factor = reading(self._units[1], self.size)
            gap = with_unit(number(factor * left, 3), shown)
            when = with_unit(number(time), self._units[0])
            raise ShapeError(
                f"the loop of {names} cannot be closed at time {when}: it stays open by {gap}; mend the point and axis"
                " of its joints, or drive it less far"
            )
        self._solved[time] = first
        return first

    def _guess(self, time: float) -> Array:
        known = sorted(self._solved, key=lambda t: abs(t - time))[:2]
        if not known:
            return np.zeros(len(self.free))
        if len(known) == 1:
            return self._solved[known[0]]
        one, two = (self._solved[t] for t in known)
        line: Array = one + (two - one) * ((time - known[0]) / (known[1] - known[0]))
        return line
