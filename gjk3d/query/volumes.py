"""Bounding volumes: immutable spheres and boxes, one volume or a stack, with overlap and distance queries on pairs."""

from __future__ import annotations

from math import pi, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels.decorators import inlined, kernel, plain, single_entry
from gjk3d.convex.batch import NO_CACHE, NO_POSE, in_chunks
from gjk3d.errors import ShapeError
from gjk3d.frozen import Frozen
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.solve import PAIR, PairRows, Request, collide_many, solve_many
from gjk3d.narrow.workspace import FIRST_POINTS, workspace_of
from gjk3d.poses import UNIT_ROUNDOFF, as_matrices, check_row, matrices, parts, pose_rows, translations
from gjk3d.poses import UNIT_ROUNDOFF as _U
from gjk3d.shapes import base, layout
from gjk3d.shapes.base import Shape, points_of
from gjk3d.shapes.curved import Sphere
from gjk3d.shapes.layout import Core
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.shapes.table import farthest_point
from gjk3d.typing import Array, Array1, Array2, Array3, Bools, Ints, Ints1, Number, PoseLike, Rows, VectorLike
from gjk3d.wording import count, kind_of

_new, _set_attribute = object.__new__, object.__setattr__
_BLOCK = 200_000  #: greatest number of pairs in a block, which limits the memory for kernel rows


class Volume(Frozen):
    """Base class of bounding volumes: one volume, or a stack of n volumes."""

    __slots__ = ("_single",)
    _single: bool
    _names: ClassVar[tuple[str, ...]] = ()  #: the names of the fields

    def _fill(self, single: bool, **values: Array) -> Self:
        """Set the fields from stacks; a single volume takes stacks of length 1."""
        fields = {name: value[0] if single else value for name, value in values.items()}
        return self._set(
            _single=single,
            **{name: np.ascontiguousarray(x) if isinstance(x, np.ndarray) else float(x) for name, x in fields.items()},
        )

    @classmethod
    def _of(cls, *rows: Array) -> Self:
        """Return one volume from rows that a kernel wrote. The fields of the volume are created at the first access."""
        volume = _new(cls)
        _set_attribute(volume, "_single", True)
        _set_attribute(volume, "_cache", {"filled": rows})
        return volume

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Create the fields of a volume from rows that a kernel wrote."""
            if name not in self._names or "filled" not in self._cache:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            for field, value in zip(self._names, self._read(*self._cache["filled"]), strict=True):
                if isinstance(value, np.ndarray):
                    value.setflags(write=False)
                _set_attribute(self, field, value)
            return object.__getattribute__(self, name)

    def _stacked(self) -> tuple[Array, ...]:
        """Return the fields as arrays of n rows; a single volume has one row."""
        rows: tuple[Array, ...] | None = self._cache.get("rows")
        if rows is None:
            fields = (np.asarray(getattr(self, name)) for name in self._names)
            rows = self._cache["rows"] = tuple(field[None] if self._single else field for field in fields)
        return rows

    def __len__(self) -> int:
        if self._single:
            raise TypeError(
                f"this {type(self).__name__} is one volume, and len() needs a stack. Pass stacks to make one"
            )
        return len(self._stacked()[0])

    def __getitem__(self, index: Any) -> Self:
        """Return one volume of a stack, or a smaller stack for a slice, a mask or an array of indices."""
        if self._single:
            raise TypeError(
                f"this {type(self).__name__} is one volume and cannot be indexed. Use its fields, for example "
                f"volume.{self._names[0]}"
            )
        volume: Self = object.__new__(type(self))
        selected = [field[index] for field in self._stacked()]
        single = np.ndim(selected[0]) < self._stacked()[0].ndim
        fields = zip(self._names, selected, strict=True)
        return volume._fill(single, **{name: np.asarray(field)[None] if single else field for name, field in fields})

    def __repr__(self) -> str:
        if not self._single:
            return f"{type(self).__name__}: {count(len(self), 'volume')}"
        parts = [f"{name}={np.array2string(np.asarray(getattr(self, name)), precision=6, separator=', ')}"
                 for name in self._names]  # fmt: skip
        return f"{type(self).__name__}({', '.join(parts)})".replace("\n", "")

    # --- methods that subclasses implement ---------------------------------------------------------------------------

    def _cores(self) -> tuple[int, Array, Array, Array]:
        """Return the kind of the core, half extents (n, 3), radii (n,) and pose rows."""
        raise AttributeError(type(self).__name__)

    def _inside(self, which: Ints, points: Array) -> Bools:
        raise AttributeError(type(self).__name__)

    def _moved(self, matrix: Array, at: Array, single: bool) -> Self | None:
        """Return the volumes at the pose ``matrix``, or None if it is invalid.

        If ``matrix`` is empty, the poses are the pose rows ``at``.
        """
        raise AttributeError(type(self).__name__)

    def _placed(self, at: Array, single: bool) -> Self:
        moved = self._moved(NO_POSE, at, single)
        assert moved is not None
        return moved

    @staticmethod
    def _read(*rows: Array) -> tuple[Any, ...]:
        raise AttributeError

    def _quick(self, volume: Any, i: Ints, j: Ints) -> tuple[Bools, Array] | None:
        """Return whether the pairs (i, j) may touch, and lower bounds of distances; None if kernels must decide."""
        return None

    # --- public methods of every volume ------------------------------------------------------------------------------

    def overlaps(self, other: Volume, *, all_pairs: bool = False) -> Any:
        """Return which volumes may touch or overlap. False is a proof that they are separated.

        Parameters
        ----------
        other : BoundingSphere, AABB or OBB
            One volume or a stack, of any kind.
        all_pairs : bool
            Test every volume of one stack against every volume of the other, instead of row by row.

        Returns
        -------
        bool or (n,) bool, or (n, m) bool for all pairs
            True for volumes that may touch.

        Raises
        ------
        ShapeError
            If ``other`` is not a bounding volume, or the stacks differ in length.
        """
        return self._answer(other, all_pairs, distances=False)

    def distance(self, other: Volume, *, all_pairs: bool = False) -> Any:
        """Return the distance of volumes, rounded down; 0 if they overlap. See `overlaps` for the arguments."""
        return self._answer(other, all_pairs, distances=True)

    def placed(self, pose: PoseLike) -> Self:
        """Return the volume moved by a rigid pose. It grows by the rounding error.

        Parameters
        ----------
        pose : (4, 4) float or (n, 4, 4) float
            For a stack of n volumes one pose, or one for each volume. The result of an AABB is the AABB of the rotated
            box.

        Raises
        ------
        PoseError, ShapeError
            If a pose is not rigid, or the numbers of poses and volumes differ.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> quarter = np.array([[0, -1, 0, 5], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        >>> gk.AABB((0, 0, 0), (1, 2, 3)).placed(quarter).extents.round(9).tolist()
        [2.0, 1.0, 3.0]
        """
        at, stacked = pose_rows(pose)
        count = 1 if self._single else len(self)
        if stacked and not self._single and len(at) not in (1, count):
            raise ShapeError(f"placed: {len(at)} poses for {count} volumes, expected 1 or {count} poses")
        if len(at) == 1 and count != 1:
            at = np.repeat(at, count, axis=0)
        return self._placed(at, self._single and not stacked)

    def _require_single(self) -> Self:
        if not self._single:
            raise TypeError(
                f"this {type(self).__name__} is a stack of {count(len(self), 'volume')}, expected one. Use volumes[i]"
            )
        return self

    def contains(self, points: Rows, *, all_pairs: bool = False) -> Any:
        """Return which points are in the volume or on its surface.

        A point outside the volume may be included if it is within the rounding error of the surface.

        Parameters
        ----------
        points : (3,) float or (m, 3) float
            In the frame in which the volume is given.
        all_pairs : bool
            Test every volume of a stack against every point, (n, m), instead of row by row.

        Returns
        -------
        bool or (n,) bool, or (n, m) bool for all pairs

        Raises
        ------
        ShapeError
            If the points are not finite rows of three, or the numbers of points and volumes differ.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.AABB((0, 0, 0), (1, 1, 1)).contains([(0.5, 0.5, 1), (0.5, 0.5, 2)]).tolist()
        [True, False]
        """
        p, single = points_of(points, "contains: points")
        count = 1 if self._single else len(self)
        i, j, shape = _paired(count, len(p), self._single, single, all_pairs, "points")
        inside = self._inside(i, p[j])
        return bool(inside[0]) if shape == () else inside.reshape(shape)

    def _answer(self, volume: Volume, all_pairs: bool, *, distances: bool) -> Any:
        if not isinstance(volume, Volume):
            raise ShapeError(f"other is {kind_of(volume)}, expected a bounding volume, such as gjk3d.aabb(shape, pose)")
        n, m = (1 if v._single else len(v) for v in (self, volume))
        i, j, shape = _paired(n, m, self._single, volume._single, all_pairs, "volumes")
        out: NDArray[Any] = np.empty(len(i), dtype=np.float64 if distances else np.bool_)
        for start in range(0, len(i), _BLOCK):
            part = slice(start, start + _BLOCK)
            quick = self._quick(volume, i[part], j[part])
            if quick is None:
                quick = _by_cores(self, volume, i[part], j[part], distances=distances)
            out[part] = quick[1] if distances else quick[0]
        return out[0].item() if shape == () else out.reshape(shape)


def _paired(
    n: int, m: int, single_a: bool, single_b: bool, all_pairs: bool, what: str
) -> tuple[Ints, Ints, tuple[int, ...]]:
    """Return the indices of the two members of each pair, and the shape of the result.

    The first member is one of n volumes, and the second is one of m volumes or points.
    """
    if all_pairs:
        i, j = np.divmod(np.arange(n * m), max(m, 1))
        return i, j, (n, m)
    if n != m and not (single_a or single_b or n == 1 or m == 1):
        raise ShapeError(f"{n} volumes and {m} {what}, expected equal numbers. Use all_pairs=True for all pairs")
    count = m if n == 1 else n
    every = np.arange(count)
    return (
        every if n == count else np.zeros(count, dtype=np.int64),
        every if m == count else np.zeros(count, dtype=np.int64),
        () if single_a and single_b else (count,),
    )


def _by_cores(a: Volume, b: Volume, i: Ints, j: Ints, *, distances: bool) -> tuple[Bools, Array]:
    """Return whether pairs may touch, and lower bounds of their distances, by the kernels for convex shapes.

    The kernels test the 15 axes of two boxes first. GJK and its bounds decide the rest.
    """
    ints, floats, table, poses = _pack_pairs(a, b, i, j)
    count = len(i)
    lower = np.zeros(count)
    may_touch = np.ones(count, dtype=np.bool_)

    def solve(which: Ints) -> None:
        out, flags = np.empty((len(which), narrow.FLOATS)), np.zeros((len(which), narrow.INTS), dtype=np.int64)
        pairs, request = PairRows(ints, floats, table[which], poses), Request(narrow.UNSIGNED, float(np.inf), 0.0)

        def run(start: int, stop: int) -> None:
            workspace = workspace_of(FIRST_POINTS)
            solve_many(pairs, NO_POSE, NO_POSE, request, start, stop, workspace, out, flags, NO_CACHE)

        in_chunks(len(which), 1, run)
        lower[which] = np.maximum(out[:, 1], 0.0)
        may_touch[which] = lower[which] <= 0.0

    if distances:
        solve(np.arange(count))
        return may_touch, lower
    answer = np.empty(count, dtype=np.int64)

    def run(start: int, stop: int) -> None:
        simplex = workspace_of(FIRST_POINTS).simplex
        packed = PairRows(ints, floats, table, poses)
        collide_many(packed, NO_POSE, NO_POSE, 0.0, start, stop, simplex, answer, NO_CACHE)

    in_chunks(count, 1, run)
    may_touch[:] = answer != 0
    unsure = np.flatnonzero(answer == 2)  # too close to a touch for the fast test: the distance decides
    if len(unsure):
        solve(unsure)
    return may_touch, lower


def _pack_pairs(a: Volume, b: Volume, i: Ints, j: Ints) -> tuple[Ints, Array, Ints, Array]:
    """Return the volumes of both stacks as packed shapes (ints and floats), the pair rows and the pose rows."""
    kinds, floats, poses = [], [], []
    for volume in (a, b):
        kind, halves, radii, where = volume._cores()
        packed = np.zeros((len(halves), layout.FLOAT_HEAD + 3))
        packed[:, layout.RADIUS] = radii
        packed[:, layout.RHO] = np.linalg.norm(halves, axis=1) * (1.0 + 4.0 * UNIT_ROUNDOFF)
        packed[:, layout.FLOAT_HEAD :] = halves
        symmetry = layout.BALL if kind == layout.POINT else layout.NONE
        kinds += [kind, 0, 0, 1, symmetry]
        floats.append(packed)
        poses.append(where)
    table = np.zeros((len(i), PAIR), dtype=np.int64)
    wide = layout.FLOAT_HEAD + 3
    table[:, 1], table[:, 3] = wide * i, i
    table[:, 5], table[:, 6], table[:, 8] = layout.INT_HEAD, wide * (len(floats[0]) + j), len(floats[0]) + j
    return np.array(kinds, dtype=np.int64), np.concatenate(floats).ravel(), table, np.concatenate(poses)


_SIGNS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def _norm(vectors: Array) -> Array:
    lengths: Array = np.sqrt((vectors * vectors).sum(axis=1))
    return lengths


def _grown(lengths: Array) -> Array:
    return lengths * (1.0 + 4.0 * _U)


def _fields(kind: str, *named: tuple[str, int, Any]) -> tuple[Any, ...]:
    """Check the fields of a volume. Return whether they belong to a single volume, and each field as rows."""
    single: bool | None = None
    out: list[Array] = []
    for name, columns, value in named:
        is_single = np.ndim(value) == (1 if columns else 0)
        what = f"{kind}: {name}"
        table = (
            base.rows([value] if is_single else value, what)
            if columns
            else base.rows(np.reshape(value, (-1, 1)), what, 1)[:, 0]
        )
        if single not in (None, is_single) or (out and len(table) != len(out[0])):
            raise _unequal(what, is_single, table, named[0][0], bool(single), out[0])
        single = is_single
        out.append(table)
    return single, *out


def _unequal(a: str, single_a: bool, rows_a: Array, b: str, single_b: bool, rows_b: Array) -> ShapeError:
    a, b = (
        f"{name} is {'a single row' if single else f'a stack of {len(rows)}'}"
        for name, single, rows in ((a, single_a, rows_a), (b, single_b, rows_b))
    )
    return ShapeError(f"{a} and {b}, expected two single rows or two stacks of equal length")


def _not_below(values: Array, what: str) -> None:
    if (values < 0.0).any():
        raise ShapeError(f"{what} is {values.min():g}, expected at least 0")


class BoundingSphere(Volume):
    """A ball, or a stack of n balls.

    Parameters
    ----------
    center : (3,) float or (n, 3) float
        The center in world coordinates.
    radius : float or (n,) float
        At least 0.

    Raises
    ------
    ShapeError
        If a number is not finite, a radius is negative, or the numbers of radii and centers differ.

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
        """The ball as a convex shape at its center. A stack raises TypeError."""
        pose = np.eye(4)
        pose[:3, 3] = self._require_single().center
        return Sphere(self.radius).placed(pose)

    def _moved(self, matrix: Array, at: Array, single: bool) -> BoundingSphere | None:
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

    def _quick(self, volume: Any, i: Ints, j: Ints) -> tuple[Bools, Array] | None:
        if not isinstance(volume, BoundingSphere):
            return None
        (center, radius), (centers, radii) = self._stacked(), volume._stacked()
        # 4.5 roundings in the length with its products, 2 in the sum of the radii, 2 in the difference
        gap = _norm(centers[j] - center[i]) * (1.0 - 8.0 * _U) - (radius[i] + radii[j]) * (1.0 + 2.0 * _U)
        return gap <= 0.0, np.maximum(gap * (1.0 - 4.0 * _U), 0.0)


class AABB(Volume):
    """An axis-aligned box, or a stack of n boxes.

    Parameters
    ----------
    low, high : (3,) float or (n, 3) float
        Lower and upper corner in world coordinates.

    Raises
    ------
    ShapeError
        If a number is not finite, or ``low`` is above ``high``.

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
            raise ShapeError(f"AABB: low is {lows[k].tolist()} and high is {highs[k].tolist()}, expected low <= high")
        self._fill(single, low=lows, high=highs)

    @property
    def extents(self) -> Array:
        """Full lengths, (3,) float or (n, 3) float."""
        return self.high - self.low

    @property
    def volume(self) -> Any:
        """Volume, the product of the extents."""
        return self.extents.prod(axis=-1) if self.extents.ndim == 2 else float(self.extents.prod())

    @property
    def corners(self) -> Array:
        """The eight corners in world coordinates, (8, 3) float or (n, 8, 3) float."""
        return np.where(_SIGNS > 0, self.high[..., None, :], self.low[..., None, :])

    @property
    def shape(self) -> Shape:
        """The box as a `ConvexHull`. A stack raises TypeError."""
        return ConvexHull(self._require_single().corners)

    def _placed(self, at: Array, single: bool) -> AABB:
        _, halves, _, where = self._cores()
        center = where[:, 9:12]
        rotation, shift = parts(at)
        moved = np.einsum("nij,nj->ni", rotation, np.broadcast_to(center, shift.shape)) + shift
        reach = np.einsum("nij,nj->ni", np.abs(rotation), np.broadcast_to(halves, shift.shape))
        # covers the rounding of three products, their sums and the ends; `_cores` has rounded `halves` up
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

    def _quick(self, volume: Any, i: Ints, j: Ints) -> tuple[Bools, Array] | None:
        if not isinstance(volume, AABB):
            return None
        (low, high), (lows, highs) = self._stacked(), volume._stacked()
        gaps = np.maximum(np.maximum(lows[j] - high[i], low[i] - highs[j]), 0.0)
        may_touch: Bools = np.all(gaps <= 0.0, axis=1)
        return may_touch, _norm(gaps) * (1.0 - 8.0 * _U)


class OBB(Volume):
    """An oriented box, or a stack of n boxes.

    Parameters
    ----------
    pose : (4, 4) float or (n, 4, 4) float
        The center and the axes of the box, world from local.
    extents : (3,) float or (n, 3) float
        Full lengths along its axes.

    Raises
    ------
    PoseError, ShapeError
        If a pose is not rigid, a length is negative or not finite, or the numbers of poses and extents differ.

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
            raise _unequal("OBB: pose", not stacked, at, "extents", single, lengths)
        _not_below(lengths, "OBB: extents")
        # the caller's matrices, because another polar step would change the last bits of a rotation
        matrices_given = matrices(at) if pose is None else as_matrices(pose).reshape(-1, 4, 4).copy()
        self._fill(single, pose=matrices_given, extents=lengths)

    @property
    def volume(self) -> Any:
        """Volume, the product of the extents."""
        return self.extents.prod(axis=-1) if self.extents.ndim == 2 else float(self.extents.prod())

    @property
    def corners(self) -> Array:
        """The eight corners in world coordinates, (8, 3) float or (n, 8, 3) float."""
        local = 0.5 * _SIGNS * self.extents[..., None, :]
        corners: Array = local @ np.swapaxes(self.pose[..., :3, :3], -1, -2) + self.pose[..., None, :3, 3]
        return corners

    @property
    def shape(self) -> Shape:
        """The box as a `ConvexHull`. A stack raises TypeError."""
        return ConvexHull(self._require_single().corners)

    def _moved(self, matrix: Array, at: Array, single: bool) -> OBB | None:
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


ODD = -1  #: code for a volume with a number that is not finite, too large or too small
_RADIUS, _CENTER, _RHO, _SLACK = layout.RADIUS, layout.CENTER, layout.RHO, layout.SLACK
_LEAST, _GREATEST = layout.LEAST, layout.GREATEST


@inlined
def _length(x: float, y: float, z: float) -> float:
    return sqrt(x * x + y * y + z * z)


@kernel
def _is_odd(largest: float) -> bool:
    return not (largest == 0.0 or _LEAST <= largest <= _GREATEST)


@single_entry
def boxes_along_axes(q: Ints1, f: Array1, matrix: Array2, rows: Array2, out: Array2) -> int:
    """Fill out (n, 6) with the lower and upper corners of the axis-aligned boxes of a shape at pose rows.

    If ``matrix`` (4, 4) is not empty, its pose is written to ``rows`` first. Return 0, the positive code of an
    invalid matrix, or `ODD` if a coordinate is not finite, too large or too small.
    """
    if matrix.shape[0] > 0:
        wrong = check_row(matrix, rows, plain(0))
        if wrong != 0:
            return wrong
    core = Core(q, f)
    reach = _length(f[_CENTER], f[_CENTER + 1], f[_CENTER + 2]) + (f[_RHO] + f[_RADIUS])
    rounding = f[_SLACK] + 32.0 * _U * reach
    largest, total = 0.0, 0.0
    for k in range(rows.shape[0]):
        for i in range(3):
            # row i of the rotation is the world's axis i in the shape's frame
            x, y, z, shift = rows[k, 3 * i], rows[k, 3 * i + 1], rows[k, 3 * i + 2], rows[k, 9 + i]
            fuzz = rounding + 4.0 * _U * abs(shift)
            p = farthest_point(core, (-x, -y, -z))
            low = p[0] * x + p[1] * y + p[2] * z + shift - fuzz
            p = farthest_point(core, (x, y, z))
            high = p[0] * x + p[1] * y + p[2] * z + shift + fuzz
            out[k, i], out[k, 3 + i] = low + 0.0, high + 0.0  # no negative zero
            largest = max(largest, abs(low), abs(high))
            total += low + high
    return ODD if _is_odd(largest) or total - total != 0.0 else 0


@single_entry
def balls_at(centers: Array2, radii: Array1, matrix: Array2, rows: Array2, out: Array2) -> int:
    """Fill out (n, 4) with the centers and radii of one ball or n balls at n poses; see `boxes_along_axes`."""
    if matrix.shape[0] > 0:
        wrong = check_row(matrix, rows, plain(0))
        if wrong != 0:
            return wrong
    largest = 0.0
    for k in range(rows.shape[0]):
        j = k if centers.shape[0] > 1 else 0
        x, y, z, r = centers[j, 0], centers[j, 1], centers[j, 2], radii[j]
        for i in range(3):
            center = rows[k, 3 * i] * x + rows[k, 3 * i + 1] * y + rows[k, 3 * i + 2] * z + rows[k, 9 + i]
            out[k, i] = center + 0.0
            largest = max(largest, abs(out[k, i]))
        shift = _length(rows[k, 9], rows[k, 10], rows[k, 11])
        # the polar step makes each singular value s (3 - s s) / 2 <= 1, and the residual only widens the result
        fuzz = 8.0 * _U * (_length(x, y, z) + shift) + rows[k, 12] * r
        out[k, 3] = r * (1.0 + 4.0 * _U) + fuzz
        largest = max(largest, out[k, 3])
    return ODD if _is_odd(largest) else 0


@kernel
def _compose(row: Array, pose: Array, out: Array) -> None:
    """Write the product of a pose row and a pose (4, 4) into ``out``."""
    for i in range(3):
        a, b, c = row[3 * i], row[3 * i + 1], row[3 * i + 2]
        for j in range(4):
            out[i, j] = a * pose[0, j] + b * pose[1, j] + c * pose[2, j]
        out[i, 3] += row[9 + i]
        out[3, i] = 0.0
    out[3, 3] = 1.0


@single_entry
def boxes_at(poses: Array3, extents: Array2, matrix: Array2, rows: Array2, out: Array3, lengths: Array2) -> int:
    """Fill out (n, 4, 4) and lengths (n, 3) with one oriented box or n boxes at n poses; see `boxes_along_axes`."""
    if matrix.shape[0] > 0:
        wrong = check_row(matrix, rows, plain(0))
        if wrong != 0:
            return wrong
    largest = 0.0
    for k in range(rows.shape[0]):
        j = k if extents.shape[0] > 1 else 0
        _compose(rows[k], poses[j], out[k])
        reach = _length(extents[j, 0], extents[j, 1], extents[j, 2])
        reach += _length(poses[j, 0, 3], poses[j, 1, 3], poses[j, 2, 3]) + _length(rows[k, 9], rows[k, 10], rows[k, 11])
        for i in range(3):
            # `reach` contains the longest edge, and its rounding also covers the products of shorter edges
            lengths[k, i] = extents[j, i] * (1.0 + 4.0 * _U) + 64.0 * _U * reach
            largest = max(largest, lengths[k, i], abs(out[k, i, 3]))
    return ODD if _is_odd(largest) else 0
