"""What bounding volumes have in common: one or a stack, immutable, asked about in pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from gjk3d.convex.rows import FIRST_POINTS, NO_CACHE, NO_LOG, NO_POSE, in_chunks, scratch
from gjk3d.errors import ShapeError
from gjk3d.frozen import Frozen
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.pairs import PAIR, collide_many, solve_many
from gjk3d.poses import UNIT_ROUNDOFF, pose_rows
from gjk3d.shapes import layout
from gjk3d.shapes.arguments import points_of
from gjk3d.typing import Array, Bools, Ints, PoseLike, Rows
from gjk3d.wording import kind_of

_new, _put = object.__new__, object.__setattr__
_BLOCK = 200_000  #: pairs answered at a time: so many rows for the kernels are kept


class Volume(Frozen):
    """The root of bounding volumes: one, or a stack of n."""

    __slots__ = ("_single",)
    _single: bool
    _names: ClassVar[tuple[str, ...]] = ()  #: of the fields

    def _fill(self, single: bool, **values: Array) -> Self:
        """Set the fields, of one volume from stacks of one."""
        fields = {name: value[0] if single else value for name, value in values.items()}
        return self._set(
            _single=single,
            **{name: np.ascontiguousarray(x) if isinstance(x, np.ndarray) else float(x) for name, x in fields.items()},
        )

    @classmethod
    def _of(cls, *rows: Array) -> Self:
        """Return one volume of what a kernel filled: its fields are made when they are first read."""
        volume = _new(cls)
        _put(volume, "_single", True)
        _put(volume, "_cache", {"filled": rows})
        return volume

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Make the fields of a volume that a kernel filled."""
            if name not in self._names or "filled" not in self._cache:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            for each, value in zip(self._names, self._read(*self._cache["filled"]), strict=True):
                if isinstance(value, np.ndarray):
                    value.setflags(write=False)
                _put(self, each, value)
            return object.__getattribute__(self, name)

    def _stacked(self) -> tuple[Array, ...]:
        """Return the fields as arrays of n rows, also of a single volume."""
        rows: tuple[Array, ...] | None = self._cache.get("rows")
        if rows is None:
            fields = (np.asarray(getattr(self, name)) for name in self._names)
            rows = self._cache["rows"] = tuple(field[None] if self._single else field for field in fields)
        return rows

    def __len__(self) -> int:
        if self._single:
            raise TypeError(f"this {type(self).__name__} is one volume and has no length")
        return len(self._stacked()[0])

    def __getitem__(self, index: Any) -> Self:
        """Return one volume of a stack, or by a slice, a mask or an array of indices a smaller stack."""
        if self._single:
            raise TypeError(f"this {type(self).__name__} is one volume and cannot be indexed")
        volume: Self = object.__new__(type(self))
        taken = [field[index] for field in self._stacked()]
        single = np.ndim(taken[0]) < self._stacked()[0].ndim
        fields = zip(self._names, taken, strict=True)
        return volume._fill(single, **{name: np.asarray(field)[None] if single else field for name, field in fields})

    def __repr__(self) -> str:
        if not self._single:
            return f"{type(self).__name__} of {len(self)}"
        parts = [f"{name}={np.array2string(np.asarray(getattr(self, name)), precision=6, separator=', ')}"
                 for name in self._names]  # fmt: skip
        return f"{type(self).__name__}({', '.join(parts)})".replace("\n", "")

    # --- what a class says of itself ---------------------------------------------------------------------------------

    def _cores(self) -> tuple[int, Array, Array, Array]:
        """Return the kind of the core, half extents (n, 3), radii (n,) and pose rows."""
        raise AttributeError(type(self).__name__)

    def _inside(self, which: Ints, points: Array) -> Bools:
        raise AttributeError(type(self).__name__)

    def _placed(self, at: Array, single: bool) -> Self:
        """Return the volumes moved by pose rows, one each."""
        raise AttributeError(type(self).__name__)

    @staticmethod
    def _read(*rows: Array) -> tuple[Any, ...]:
        """Return the fields of one volume from the rows that a kernel filled."""
        raise AttributeError

    def _quick(self, other: Any, i: Ints, j: Ints) -> tuple[Bools, Array] | None:
        """Answer pairs of one kind in numpy: whether they may meet, and how far apart they are at least."""
        return None

    # --- what every volume can do ------------------------------------------------------------------------------------

    def overlaps(self, other: Volume, *, all_pairs: bool = False) -> Any:
        """Tell which volumes may meet; False only where it is proven that they do not.

        Parameters
        ----------
        other : BoundingSphere, AABB or OBB
            Of the same kind or another; one, or a stack.
        all_pairs : bool
            Every volume of one stack against every one of the other, instead of row by row.

        Returns
        -------
        bool or (n,) bool, or (n, m) bool for all pairs
            Touching counts.

        Raises
        ------
        ShapeError
            Where ``other`` is no bounding volume, or the stacks do not pair up.
        """
        return self._answer(other, all_pairs, distances=False)

    def distance(self, other: Volume, *, all_pairs: bool = False) -> Any:
        """Return how far apart volumes are: rounded down, 0 where they meet; see `overlaps` for the arguments."""
        return self._answer(other, all_pairs, distances=True)

    def placed(self, pose: PoseLike) -> Self:
        """Return the volume moved by a rigid pose, grown by what rounding needs.

        Parameters
        ----------
        pose : (4, 4) float or (n, 4, 4) float
            For a stack of n volumes one pose for all, or one each; a box along the axes grows round the turned one.

        Raises
        ------
        PoseError, ShapeError
            Where a pose is not rigid, or the poses are not as many as the volumes.

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
            raise ShapeError(f"placed: {len(at)} poses for {count} volumes, expected one, or one each")
        if len(at) == 1 and count != 1:
            at = np.repeat(at, count, axis=0)
        return self._placed(at, self._single and not stacked)

    def _one(self) -> Self:
        if not self._single:
            raise TypeError(f"this {type(self).__name__} is a stack of {len(self)}: take one, volumes[i]")
        return self

    def contains(self, points: Rows, *, all_pairs: bool = False) -> Any:
        """Tell which points lie in the volume; points on its surface do, and those within rounding of it may.

        Parameters
        ----------
        points : (3,) float or (m, 3) float
            In the axes of the volume's center or corners.
        all_pairs : bool
            Every volume of a stack against every point, (n, m), instead of row by row.

        Returns
        -------
        bool or (n,) bool, or (n, m) bool for all pairs

        Raises
        ------
        ShapeError
            Where the points are not finite rows of three, or do not pair up with the volumes.

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

    def _answer(self, other: Volume, all_pairs: bool, *, distances: bool) -> Any:
        if not isinstance(other, Volume):
            raise ShapeError(
                f"other is {kind_of(other)}, expected a bounding volume: of a shape take gjk3d.aabb(shape, pose)"
            )
        n, m = (1 if volume._single else len(volume) for volume in (self, other))
        i, j, shape = _paired(n, m, self._single, other._single, all_pairs, "volumes")
        out: NDArray[Any] = np.empty(len(i), dtype=np.float64 if distances else np.bool_)
        for start in range(0, len(i), _BLOCK):
            part = slice(start, start + _BLOCK)
            quick = self._quick(other, i[part], j[part])
            if quick is None:
                quick = _by_cores(self, other, i[part], j[part], distances=distances)
            out[part] = quick[1] if distances else quick[0]
        return out[0].item() if shape == () else out.reshape(shape)


def _paired(n: int, m: int, one: bool, other: bool, all_pairs: bool, what: str) -> tuple[Ints, Ints, tuple[int, ...]]:
    """Return which of n meets which of m, and the shape of the answer."""
    if all_pairs:
        i, j = np.divmod(np.arange(n * m), max(m, 1))
        return i, j, (n, m)
    if n != m and not (one or other or n == 1 or m == 1):
        raise ShapeError(f"{n} volumes and {m} {what} do not pair up row by row; all_pairs=True asks each with each")
    count = m if n == 1 else n
    every = np.arange(count)
    return (
        every if n == count else np.zeros(count, dtype=np.int64),
        every if m == count else np.zeros(count, dtype=np.int64),
        () if one and other else (count,),
    )


def _by_cores(a: Volume, b: Volume, i: Ints, j: Ints, *, distances: bool) -> tuple[Bools, Array]:
    """Answer pairs by the kernels: fifteen axes first where both are boxes, GJK with its bounds for the rest."""
    ints, floats, table, poses = _arena(a, b, i, j)
    count = len(i)
    lower = np.zeros(count)
    meet = np.ones(count, dtype=np.bool_)

    def solve(which: Ints) -> None:
        out, flags = np.empty((len(which), narrow.FLOATS)), np.zeros((len(which), narrow.INTS), dtype=np.int64)
        asked = table[which]

        def run(start: int, stop: int) -> None:
            work, index, _ = scratch(FIRST_POINTS)
            solve_many(
                ints, floats, asked, NO_POSE, NO_POSE, poses, narrow.UNSIGNED, float(np.inf), 0.0, start, stop, False,
                work, index, FIRST_POINTS, out, flags, NO_CACHE, NO_LOG,
            )  # fmt: skip

        in_chunks(len(which), 1, run)
        lower[which] = np.maximum(out[:, 1], 0.0)
        meet[which] = lower[which] <= 0.0

    if distances:
        solve(np.arange(count))
        return meet, lower
    answer = np.empty(count, dtype=np.int64)

    def run(start: int, stop: int) -> None:
        simplex = scratch(FIRST_POINTS)[2]
        collide_many(
            ints, floats, table, NO_POSE, NO_POSE, poses, 0.0, start, stop, simplex, answer, NO_CACHE
        )  # fmt: skip

    in_chunks(count, 1, run)
    meet[:] = answer != 0
    unsure = np.flatnonzero(answer == 2)
    if len(unsure):
        solve(unsure)
    return meet, lower


def _arena(a: Volume, b: Volume, i: Ints, j: Ints) -> tuple[Ints, Array, Ints, Array]:
    """Lay out both stacks as the kernels take shapes, pairs and poses."""
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
