"""Two shapes, prepared once and asked pose by pose."""

from __future__ import annotations

import threading
from math import inf
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d.convex.checks import FACETS, check_limits, depth_mode
from gjk3d.convex.rows import FIRST_POINTS, NO_LOG, arena, pair_row
from gjk3d.convex.solve import is_mapped
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.pairs import collide_many, solve_many
from gjk3d.narrow.room import SIMPLEX, workspace
from gjk3d.poses import WIDTH
from gjk3d.query.ask import ask_collide, ask_distance
from gjk3d.query.dispatch import Collider, way_of
from gjk3d.results import Distance
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Pose, PoseLike, UnclearPose

Depth = Literal["auto", "epa", "facets"]

_FLOAT = np.dtype(np.float64)
_POSE = (4, 4)
_STANDING = np.eye(4)
_KEPT = 64  #: pairs that the plain functions keep prepared, a thread
_new = object.__new__
_ANSWER = 1, narrow.FLOATS
_local = threading.local()


def _first_collide(*args: Any) -> int:
    """Compile, saying so; the next call goes straight to the kernel."""
    global _collide
    code: int = collide_many(*args)
    _collide = collide_many
    return code


def _first_solve(*args: Any) -> int:
    global _solve
    code: int = solve_many(*args)
    _solve = solve_many
    return code


_collide: Any = _first_collide
_solve: Any = _first_solve


def _is_pose(pose: Any) -> bool:
    """Whether a pose can go to the kernel as it is."""
    return type(pose) is np.ndarray and pose.dtype is _FLOAT and pose.shape == _POSE and pose.flags.carray


class Pair:
    """Two shapes, prepared once and asked pose by pose.

    Answers are those of `gjk3d.collide`, `gjk3d.distance` and `gjk3d.signed_distance`, at less cost a call, since
    nothing is looked up or packed again. A pair also remembers where it was: the axis that parted the shapes the last
    time is asked first, and GJK starts from its last simplex. Booleans are those of `gjk3d.collide`; distances may
    differ from a cold answer by rounding, within bounds that hold as ever.

    One pair is for one thread at a time.

    Parameters
    ----------
    a, b : Shape
        Convex shapes.
    warm : bool
        False starts every question afresh: then the same bits as the plain functions give.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pair = gk.Pair(gk.Box((1, 1, 1)), gk.Sphere(0.5))
    >>> pose = np.eye(4)
    >>> for x in (0.5, 1.5):
    ...     pose[0, 3] = x
    ...     print(pair.collide(None, pose), pair.signed_distance(None, pose).distance)
    True -0.5
    False 0.5
    """

    __slots__ = (
        "_answer", "_arena", "_cache", "_fast", "_flags", "_kept", "_poses", "_quick", "_scratch", "_simplex", "a", "b",
    )  # fmt: skip
    a: Any
    b: Any

    def __init__(self, a: Collider, b: Collider, *, warm: bool = True) -> None:
        way = way_of(a, b)
        self.a, self.b = a, b
        self._kept: dict[str, Any] = {}  # what other questions pack for themselves
        self._quick = None if way.prepare is None else way.prepare(a, b)
        self._cache = np.zeros((int(warm), MEMORY))
        # half-spaces have no core, and what a user's function raises has to be looked for
        self._fast = all(
            isinstance(shape, Shape) and not isinstance(shape, Halfspace) and not is_mapped(shape) for shape in (a, b)
        )
        if isinstance(a, Halfspace) or isinstance(b, Halfspace):
            return
        if not (isinstance(a, Shape) and isinstance(b, Shape)):
            return
        ints, floats, starts = arena((a, b))
        self._arena = ints, floats, pair_row(a, b, starts, 1, 1)
        self._poses = np.empty((2, WIDTH))
        room, entries = workspace(FIRST_POINTS)
        self._scratch = np.empty(room), np.empty(entries, dtype=np.int64)
        self._simplex, self._answer = self._scratch[0][:SIMPLEX].reshape(6, 10), np.empty(1, dtype=np.int64)
        self._flags = np.empty((1, narrow.INTS), dtype=np.int64)

    def __repr__(self) -> str:
        return f"Pair({self.a!r}, {self.b!r})"

    def __reduce__(self) -> Any:
        return _again, (self.a, self.b, len(self._cache) > 0)

    @property
    def _cores(self) -> tuple[Any, Array, Any, Any]:
        """The two shapes for the kernels, behind each other: ints, floats, and where A and B begin in either."""
        ints, floats, row = self._arena
        return ints, floats, row[0, 0:2], row[0, 5:7]

    def forget(self) -> None:
        """Drop what is remembered: the next question is asked afresh.

        Examples
        --------
        >>> import gjk3d as gk
        >>> pair = gk.Pair(gk.Sphere(1), gk.Point((3, 0, 0)))
        >>> pair.distance().distance
        2.0
        >>> pair.forget()
        """
        self._cache[:, 0] = 0.0

    @overload
    def collide(self, pose_a: UnclearPose, pose_b: PoseLike | None = None, *, margin: float = 0.0) -> Any: ...
    @overload
    def collide(self, pose_a: PoseLike | None, pose_b: UnclearPose, *, margin: float = 0.0) -> Any: ...
    @overload
    def collide(self, pose_a: Pose | None = None, pose_b: Pose | None = None, *, margin: float = 0.0) -> bool: ...
    @overload
    def collide(
        self, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *, margin: float = 0.0
    ) -> NDArray[np.bool_]: ...
    def collide(self, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *, margin: float = 0.0) -> Any:
        """Tell whether the two touch or overlap, or come within a margin; see `gjk3d.collide`."""
        return self._collide(pose_a, pose_b, margin)

    def _collide(self, pose_a: Any, pose_b: Any, margin: float, workers: int = 1) -> Any:
        """Answer at once what is one question of two plain matrices; all else is checked and answered by rows."""
        if (
            self._fast
            and workers == 1
            and type(margin) is float
            and -inf < margin < inf
            and (pose_a is None or _is_pose(pose_a))
            and (pose_b is None or _is_pose(pose_b))
        ):
            ma = _STANDING if pose_a is None else pose_a
            mb = _STANDING if pose_b is None else pose_b
            code = _collide(*self._arena, ma, mb, self._poses, margin, 0, 1, self._simplex, self._answer, self._cache)
            if code == 0:
                return False
            if code == 1:
                return True
        elif self._quick is not None and workers == 1 and type(margin) is float and margin == 0.0:
            told = self._quick(pose_a, pose_b)
            if told is not None:
                return told
        return ask_collide(self.a, self.b, pose_a, pose_b, margin, workers)

    @overload
    def distance(
        self, pose_a: UnclearPose, pose_b: PoseLike | None = None, *, max_distance: float = inf,
        tol: float | None = None, trace: bool = False,
    ) -> Distance[Any]: ...  # fmt: skip
    @overload
    def distance(
        self, pose_a: PoseLike | None, pose_b: UnclearPose, *, max_distance: float = inf, tol: float | None = None,
        trace: bool = False,
    ) -> Distance[Any]: ...  # fmt: skip
    @overload
    def distance(
        self, pose_a: Pose | None = None, pose_b: Pose | None = None, *, max_distance: float = inf,
        tol: float | None = None, trace: bool = False,
    ) -> Distance[float]: ...  # fmt: skip
    @overload
    def distance(
        self, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *, max_distance: float = inf,
        tol: float | None = None, trace: bool = False,
    ) -> Distance[Array]: ...  # fmt: skip
    def distance(
        self,
        pose_a: PoseLike | None = None,
        pose_b: PoseLike | None = None,
        *,
        max_distance: float = inf,
        tol: float | None = None,
        trace: bool = False,
    ) -> Distance[Any]:
        """Return how far apart the two are; see `gjk3d.distance`."""
        return self._ask(narrow.UNSIGNED, pose_a, pose_b, max_distance, tol, trace)

    @overload
    def signed_distance(
        self, pose_a: UnclearPose, pose_b: PoseLike | None = None, *, depth: Depth = "auto", max_distance: float = inf,
        tol: float | None = None, trace: bool = False,
    ) -> Distance[Any]: ...  # fmt: skip
    @overload
    def signed_distance(
        self, pose_a: PoseLike | None, pose_b: UnclearPose, *, depth: Depth = "auto", max_distance: float = inf,
        tol: float | None = None, trace: bool = False,
    ) -> Distance[Any]: ...  # fmt: skip
    @overload
    def signed_distance(
        self, pose_a: Pose | None = None, pose_b: Pose | None = None, *, depth: Depth = "auto",
        max_distance: float = inf, tol: float | None = None, trace: bool = False,
    ) -> Distance[float]: ...  # fmt: skip
    @overload
    def signed_distance(
        self, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *, depth: Depth = "auto",
        max_distance: float = inf, tol: float | None = None, trace: bool = False,
    ) -> Distance[Array]: ...  # fmt: skip
    def signed_distance(
        self,
        pose_a: PoseLike | None = None,
        pose_b: PoseLike | None = None,
        *,
        depth: Depth = "auto",
        max_distance: float = inf,
        tol: float | None = None,
        trace: bool = False,
    ) -> Distance[Any]:
        """Return how far apart the two are, or how deep they overlap; see `gjk3d.signed_distance`."""
        return self._ask(depth_mode(depth), pose_a, pose_b, max_distance, tol, trace)

    def _ask(
        self, mode: int, pose_a: Any, pose_b: Any, max_distance: float, tol: float | None, trace: bool,
        workers: int = 1, certificate: bool = False,
    ) -> Distance[Any]:  # fmt: skip
        """Answer distances in a mode of `gjk3d.narrow.solve`, as `_collide` does."""
        ma = _STANDING if pose_a is None else pose_a
        mb = _STANDING if pose_b is None else pose_b
        if (
            self._fast
            and workers == 1
            and not (trace or certificate)
            and mode != FACETS
            and (ma is _STANDING or _is_pose(ma))
            and (mb is _STANDING or _is_pose(mb))
        ):
            width = 0.0
            if tol is not None or type(max_distance) is not float or not max_distance >= 0.0:
                check_limits(max_distance, tol)
                width = 0.0 if tol is None else float(tol)
            out = np.empty(_ANSWER)
            code = _solve(
                *self._arena, ma, mb, self._poses, mode, float(max_distance), width, 0, 1, False, *self._scratch,
                FIRST_POINTS, out, self._flags, self._cache, NO_LOG,
            )  # fmt: skip
            # what is wider than promised goes the long way, unless a wide answer was asked for
            if code & 24 == 8 or (width > 0.0 and code >= 0 and code & 16 == 0):
                result: Distance[Any] = _new(Distance)
                result._row = (
                    out, code, self.a, self.b, (mode, max_distance, tol, False),
                    None if pose_a is None else pose_a.tobytes(), None if pose_b is None else pose_b.tobytes(),
                )  # fmt: skip
                return result
        return ask_distance(mode, self.a, self.b, pose_a, pose_b, max_distance, tol, trace, workers, certificate)


def prepared(a: Any, b: Any) -> Pair:
    """Return this thread's cold pair of the two shapes, made when it is first asked for."""
    key = (id(a), id(b))
    try:
        pair: Pair = _local.pairs[key]
    except (AttributeError, KeyError):
        pairs = _local.__dict__.setdefault("pairs", {})
        if len(pairs) >= _KEPT:
            pairs.clear()
        pair = pairs[key] = Pair(a, b, warm=False)  # it holds the shapes, so that their ids stay theirs
    return pair


def _again(a: Shape, b: Shape, warm: bool) -> Pair:
    return Pair(a, b, warm=warm)
