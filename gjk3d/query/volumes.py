"""The three bounding volumes: a ball, a box along the axes, an oriented box."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from gjk3d.convex.rows import NO_POSE
from gjk3d.errors import ShapeError
from gjk3d.poses import UNIT_ROUNDOFF as _U
from gjk3d.poses import as_matrices, matrices, parts, pose_rows, translations
from gjk3d.query.placing import balls_at, boxes_at
from gjk3d.query.volume_base import Volume
from gjk3d.shapes import layout
from gjk3d.shapes.arguments import rows
from gjk3d.shapes.base import Shape
from gjk3d.shapes.curved import Sphere
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.typing import Array, Bools, Ints, Number, PoseLike, Rows, VectorLike

_SIGNS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def _norm(vectors: Array) -> Array:
    lengths: Array = np.sqrt((vectors * vectors).sum(axis=1))
    return lengths


def _grown(lengths: Array) -> Array:
    return lengths * (1.0 + 4.0 * _U)


def _fields(kind: str, *named: tuple[str, int, Any]) -> tuple[Any, ...]:
    """Check fields of one volume or of n; return whether it is one, and the fields in rows."""
    single: bool | None = None
    out: list[Array] = []
    for name, columns, value in named:
        one = np.ndim(value) == (1 if columns else 0)
        what = f"{kind}: {name}"
        table = rows([value] if one else value, what) if columns else rows(np.reshape(value, (-1, 1)), what, 1)[:, 0]
        if single not in (None, one) or (out and len(table) != len(out[0])):
            raise ShapeError(f"{what} is of {len(table)} volumes, {named[0][0]} of {len(out[0])}: expected as many")
        single = one
        out.append(table)
    return single, *out


def _not_below(values: Array, what: str) -> None:
    if (values < 0.0).any():
        raise ShapeError(f"{what} is {values.min():g}, expected at least 0")


class BoundingSphere(Volume):
    """A ball, or n of them.

    Parameters
    ----------
    center : (3,) float or (n, 3) float
        In world axes.
    radius : float or (n,) float
        At least 0.

    Raises
    ------
    ShapeError
        Where a number is not finite, a radius is negative, or there are not as many radii as centers.

    Examples
    --------
    >>> import gjk3d as gk
    >>> ball = gk.BoundingSphere((0, 0, 0), 1)
    >>> ball.shape
    Sphere(radius=1.0)
    >>> ball.distance(gk.BoundingSphere([(3, 0, 0), (1, 1, 0)], [1, 1])).round(9).tolist()
    [1.0, 0.0]
    """

    __slots__ = ("center", "radius")
    _names = ("center", "radius")
    center: Array
    radius: Any

    def __init__(self, center: Rows, radius: Number | VectorLike) -> None:
        single, centers, radii = _fields("BoundingSphere", ("center", 3, center), ("radius", 0, radius))
        _not_below(radii, "BoundingSphere: radius")
        self._fill(single, center=centers, radius=radii)

    @property
    def volume(self) -> Any:
        """Volume of the ball."""
        return 4.0 / 3.0 * pi * self.radius**3

    @property
    def shape(self) -> Shape:
        """The ball as a convex shape in its place; a stack has none (TypeError)."""
        pose = np.eye(4)
        pose[:3, 3] = self._one().center
        return Sphere(self.radius).placed(pose)

    def _placed(self, at: Array, single: bool) -> BoundingSphere:
        moved = self._moved(NO_POSE, at, single)
        assert moved is not None
        return moved

    def _moved(self, matrix: Array, at: Array, single: bool) -> BoundingSphere | None:
        """Return the balls moved by a matrix or by rows; None where the matrix is no pose."""
        center, radius = self._stacked()
        out = np.empty((len(at), 4))
        wrong = balls_at(center, radius, matrix, at, out)
        if wrong == 0 and single:
            return BoundingSphere._of(out)
        return None if wrong > 0 else BoundingSphere(out[:, :3], out[:, 3])[0 if single else slice(None)]

    @staticmethod
    def _read(out: Array) -> tuple[Any, ...]:  # type: ignore[override]
        return out[0, :3], out.item(3)

    def _cores(self) -> tuple[int, Array, Array, Array]:
        center, radius = self._stacked()
        return layout.POINT, np.zeros((len(center), 3)), radius, translations(center)

    def _inside(self, which: Ints, points: Array) -> Bools:
        center, radius = self._stacked()
        inside: Bools = _norm(points - center[which]) * (1.0 - 8.0 * _U) <= radius[which]
        return inside

    def _quick(self, other: Any, i: Ints, j: Ints) -> tuple[Bools, Array] | None:
        if not isinstance(other, BoundingSphere):
            return None
        (center, radius), (others, radii) = self._stacked(), other._stacked()
        # with the products: 4.5 roundings of the length, 2 of the sum of the radii, 2 of the difference
        apart = _norm(others[j] - center[i]) * (1.0 - 8.0 * _U) - (radius[i] + radii[j]) * (1.0 + 2.0 * _U)
        return apart <= 0.0, np.maximum(apart * (1.0 - 4.0 * _U), 0.0)


class AABB(Volume):
    """A box along the axes, or n of them.

    Parameters
    ----------
    low, high : (3,) float or (n, 3) float
        Least and greatest corner.

    Raises
    ------
    ShapeError
        Where a number is not finite, or ``low`` is above ``high``.

    Examples
    --------
    >>> import gjk3d as gk
    >>> box = gk.AABB((0, 0, 0), (1, 1, 1))
    >>> box.extents.tolist(), box.corners.shape, box.shape
    ([1.0, 1.0, 1.0], (8, 3), ConvexHull(<8 vertices>))
    >>> box.overlaps(gk.AABB([(1, 1, 1), (1, 0, 1.5)], [(2, 2, 2), (2, 2, 2)])).tolist()
    [True, False]
    """

    __slots__ = ("high", "low")
    _names = ("low", "high")
    low: Array
    high: Array

    def __init__(self, low: Rows, high: Rows) -> None:
        single, lows, highs = _fields("AABB", ("low", 3, low), ("high", 3, high))
        if (lows > highs).any():
            k = int(np.argmax((lows > highs).any(axis=1)))
            raise ShapeError(f"AABB: low is {lows[k].tolist()} and high {highs[k].tolist()}: low may nowhere be above")
        self._fill(single, low=lows, high=highs)

    @property
    def extents(self) -> Array:
        """Full lengths, (3,) float or (n, 3) float."""
        return self.high - self.low

    @property
    def volume(self) -> Any:
        """Product of the extents."""
        return self.extents.prod(axis=-1) if self.extents.ndim == 2 else float(self.extents.prod())

    @property
    def corners(self) -> Array:
        """The eight corners, (8, 3) float or (n, 8, 3) float."""
        return np.where(_SIGNS > 0, self.high[..., None, :], self.low[..., None, :])

    @property
    def shape(self) -> Shape:
        """The box as a `ConvexHull`; a stack has none (TypeError)."""
        return ConvexHull(self._one().corners)

    def _placed(self, at: Array, single: bool) -> AABB:
        _, halves, _, where = self._cores()
        center = where[:, 9:12]
        rotation, shift = parts(at)
        moved = np.einsum("nij,nj->ni", rotation, np.broadcast_to(center, shift.shape)) + shift
        reach = np.einsum("nij,nj->ni", np.abs(rotation), np.broadcast_to(halves, shift.shape))
        # roundings of the largest numbers in three products, their sums and the ends; `_cores` covers most for halves
        reach = reach + 16.0 * _U * (_norm(center) + _norm(halves) + _norm(shift))[:, None]
        return AABB(moved - reach, moved + reach)[0 if single else slice(None)]

    @staticmethod
    def _read(out: Array) -> tuple[Any, ...]:  # type: ignore[override]
        return out[0, :3], out[0, 3:]

    def _cores(self) -> tuple[int, Array, Array, Array]:
        low, high = self._stacked()
        center = low + 0.5 * (high - low)
        return layout.BOX, _grown(np.maximum(high - center, center - low)), np.zeros(len(low)), translations(center)

    def _inside(self, which: Ints, points: Array) -> Bools:
        low, high = self._stacked()
        inside: Bools = np.all((low[which] <= points) & (points <= high[which]), axis=1)
        return inside

    def _quick(self, other: Any, i: Ints, j: Ints) -> tuple[Bools, Array] | None:
        if not isinstance(other, AABB):
            return None
        (low, high), (lows, highs) = self._stacked(), other._stacked()
        gaps = np.maximum(np.maximum(lows[j] - high[i], low[i] - highs[j]), 0.0)
        meet: Bools = np.all(gaps <= 0.0, axis=1)
        return meet, _norm(gaps) * (1.0 - 8.0 * _U)


class OBB(Volume):
    """A box along axes of its own, or n of them.

    Parameters
    ----------
    pose : (4, 4) float or (n, 4, 4) float
        Its middle and its axes.
    extents : (3,) float or (n, 3) float
        Full lengths along its axes.

    Raises
    ------
    PoseError, ShapeError
        Where a pose is not rigid, a length is negative or not finite, or there are not as many of both.

    Examples
    --------
    >>> import gjk3d as gk
    >>> box = gk.obb(gk.Box((2, 2, 2)))
    >>> box.extents.tolist(), box.corners.shape, box.shape
    ([2.0, 2.0, 2.0], (8, 3), ConvexHull(<8 vertices>))
    >>> box.overlaps(gk.aabb(gk.Box((1, 1, 1)))), box.volume
    (True, 8.0)
    """

    __slots__ = ("extents", "pose")
    _names = ("pose", "extents")
    pose: Array
    extents: Array

    def __init__(self, pose: PoseLike, extents: Rows) -> None:
        at, stacked = pose_rows(pose, "OBB: pose")
        single, lengths = _fields("OBB", ("extents", 3, extents))
        if single == stacked or len(lengths) != len(at):
            raise ShapeError(f"OBB: {len(at)} poses and {len(lengths)} rows of extents, expected one each")
        _not_below(lengths, "OBB: extents")
        # as given: a rotation made more orthonormal once more is another one in its last bits
        given = matrices(at) if pose is None else as_matrices(pose).reshape(-1, 4, 4).copy()
        self._fill(single, pose=given, extents=lengths)

    @property
    def volume(self) -> Any:
        """Product of the extents."""
        return self.extents.prod(axis=-1) if self.extents.ndim == 2 else float(self.extents.prod())

    @property
    def corners(self) -> Array:
        """The eight corners, (8, 3) float or (n, 8, 3) float."""
        local = 0.5 * _SIGNS * self.extents[..., None, :]
        corners: Array = local @ np.swapaxes(self.pose[..., :3, :3], -1, -2) + self.pose[..., None, :3, 3]
        return corners

    @property
    def shape(self) -> Shape:
        """The box as a `ConvexHull`; a stack has none (TypeError)."""
        return ConvexHull(self._one().corners)

    def _placed(self, at: Array, single: bool) -> OBB:
        moved = self._moved(NO_POSE, at, single)
        assert moved is not None
        return moved

    def _moved(self, matrix: Array, at: Array, single: bool) -> OBB | None:
        """Return the boxes moved by a matrix or by rows; None where the matrix is no pose."""
        pose, extents = self._stacked()
        out, lengths = np.empty((len(at), 4, 4)), np.empty((len(at), 3))
        wrong = boxes_at(pose, extents, matrix, at, out, lengths)
        if wrong == 0 and single:
            return OBB._of(out, lengths)
        return None if wrong > 0 else OBB(out, lengths)[0 if single else slice(None)]

    @staticmethod
    def _read(out: Array, lengths: Array) -> tuple[Any, ...]:  # type: ignore[override]
        return out[0], lengths[0]

    def _cores(self) -> tuple[int, Array, Array, Array]:
        pose, extents = self._stacked()
        return layout.BOX, 0.5 * extents, np.zeros(len(pose)), pose_rows(pose)[0]

    def _inside(self, which: Ints, points: Array) -> Bools:
        pose, extents = self._stacked()
        offset = points - pose[which, :3, 3]
        along = np.einsum("nij,ni->nj", pose[which, :3, :3], offset)
        slack = 32.0 * _U * (_norm(offset) + _norm(points))
        inside: Bools = np.all(np.abs(along) <= 0.5 * extents[which] + slack[:, None], axis=1)
        return inside
