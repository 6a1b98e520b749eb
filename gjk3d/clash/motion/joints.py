"""Joints between the parts of an assembly, and couplings of these."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from gjk3d.errors import ShapeError
from gjk3d.poses import GREATEST
from gjk3d.typing import Array, VectorLike

#: The coordinates of each kind: angles about the axis, and ways along it, or in the plane across it.
KINDS = {"revolute": ("turn",), "prismatic": ("slide",), "cylindrical": ("turn", "slide"), "planar": ("x", "y", "turn")}

_SHOWN = 80  #: characters of a value that is refused


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
        if not isinstance(self.child, str) or not self.child:
            raise ShapeError(f"joint {self.name!r} needs a child, a pattern of names; it is {self.child!r}")
        if self.child == self.parent:
            raise ShapeError(f"joint {self.name!r} needs a child that is not its parent {self.parent!r}")
        axis = _floats(self.axis, f"joint {self.name!r}: axis")
        if axis.shape != (3,) or not axis.any():
            raise ShapeError(
                f"joint {self.name!r}: axis is {axis.tolist()}, expected three numbers, a direction: not all are 0"
            )
        point = _floats(self.point, f"joint {self.name!r}: point", GREATEST)
        if point.shape != (3,):
            raise ShapeError(f"joint {self.name!r}: point is {point.tolist()}, expected three numbers")
        if self.drive is not None:
            given = _floats(self.drive, f"joint {self.name!r}: drive")
            if len(given) < 2 or given.reshape(len(given), -1).shape[1:] != (len(KINDS[self.kind]),):
                raise ShapeError(
                    f"joint {self.name!r}: drive is of shape {given.shape}, expected 2 or more rows of"
                    f" {len(KINDS[self.kind])}: {', '.join(KINDS[self.kind])}"
                )
            for name, way in zip(KINDS[self.kind], given.reshape(len(given), -1).T, strict=True):
                if name != "turn":
                    _floats(way, f"joint {self.name!r}: the {name} of its drive", GREATEST)

    def pose(self, values: VectorLike) -> Array:
        """Return the displacement of the child against the parent.

        Parameters
        ----------
        values : (k,) float
            Where the joint is: as many numbers as its kind has coordinates, in radians and the unit of the assembly.

        Returns
        -------
        (4, 4) float

        Raises
        ------
        ShapeError
            They are not as many, or not finite.
        """
        given, names = _floats(values, f"joint {self.name!r}: values", GREATEST), KINDS[self.kind]
        if given.shape != (len(names),):
            raise ShapeError(
                f"joint {self.name!r}: values is of shape {given.shape}, expected {len(names)}: {', '.join(names)}"
            )
        pose: Array = self._poses(given[None])[0]
        return pose

    def _poses(self, values: Array) -> Array:
        """Return the displacements, (n, 4, 4), of n rows of values."""
        given = dict(zip(KINDS[self.kind], values.T, strict=True))
        along = np.asarray(self.axis, dtype=np.float64)
        along = np.ldexp(along, -np.frexp(np.abs(along).max())[1])  # its square neither overflows nor vanishes
        along /= np.linalg.norm(along)
        point, result = np.asarray(self.point, dtype=np.float64), np.tile(np.eye(4), (len(values), 1, 1))
        if "turn" in given:
            result[:, :3, :3] = _turns(along, given["turn"])
            result[:, :3, 3] = point - result[:, :3, :3] @ point
        if "slide" in given:
            result[:, :3, 3] += given["slide"][:, None] * along
        if self.kind == "planar":
            first = np.eye(3)[int(np.argmin(np.abs(along)))]
            first -= along * (first @ along)
            first /= np.linalg.norm(first)
            result[:, :3, 3] += given["x"][:, None] * first + given["y"][:, None] * np.cross(along, first)
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
        if not isinstance(self.ratio, Real) or not np.isfinite(float(self.ratio)):
            raise ShapeError(
                f"the coupling of {self.joint!r} to {self.to!r} has the ratio {self.ratio!r}, expected a finite number"
            )


def _floats(values: Any, what: str, most: float = np.inf) -> Array:
    said = " ".join(repr(values.tolist() if isinstance(values, np.ndarray) else values).split())
    said = said if len(said) <= _SHOWN else f"{said[:_SHOWN]}..."
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"{what} is {said}, expected numbers") from None
    if array.ndim == 0 or not np.isfinite(array).all() or not (np.abs(array) <= most).all():
        limit = f" of at most {most:g}" if most < np.inf else ""
        raise ShapeError(f"{what} is {said}, expected a list of finite numbers{limit}")
    return array


def _turns(along: Array, angles: Array) -> Array:
    """Return the rotations by angles about a unit vector (Rodrigues), (n, 3, 3)."""
    x, y, z = along.tolist()
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    half = np.sin(0.5 * angles)[:, None, None]
    turns: Array = np.eye(3) + np.sin(angles)[:, None, None] * cross + 2.0 * half * half * (cross @ cross)
    return turns
