"""Two shapes, prepared once and asked pose by pose."""

from __future__ import annotations

from math import inf
from typing import Any, Literal, cast, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels.calls import install as builtins
from gjk3d.convex.checks import FACETS, check_limits, depth_mode
from gjk3d.convex.rows import FIRST_POINTS, NO_LOG
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.pairs import collide_many, solve_many
from gjk3d.poses import STANDING, plainly
from gjk3d.query import single
from gjk3d.query.ask import ask_collide, ask_distance
from gjk3d.query.dispatch import Collider
from gjk3d.query.plan import Plan, Prepared, PreparedPairs, desk
from gjk3d.results import Distance
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Pose, PoseLike, UnclearPose

Depth = Literal["auto", "epa", "facets"]

_new = object.__new__
_ANSWER = 1, narrow.FLOATS
_kept = PreparedPairs()
#: what is prepared for two shapes, cold; it is made once as long as both live
prepared = _kept.get
#: the same for the plain functions, whose next question of the two a builtin answers
prepared_for_builtins = _kept.get_for_builtins


class Pair:
    """Two shapes, prepared once and asked pose by pose.

    Answers are those of `gjk3d.collide`, `gjk3d.distance` and `gjk3d.signed_distance`, at less cost a call, since
    nothing is looked up or packed again. A pair also remembers where it was: the axis that parted the shapes the last
    time is asked first, and GJK starts from its last simplex. Booleans are those of `gjk3d.collide`; distances may
    differ from a cold answer by rounding, within bounds that hold as ever.

    One pair is for one thread at a time.

    Parameters
    ----------
    a, b : Shape, Mesh or other body
        What `gjk3d.collide` takes; of convex shapes the last simplex is remembered.
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

    __slots__ = ("_prepared", "_words", "a", "b")
    a: Any
    b: Any

    def __init__(self, a: Collider, b: Collider, *, warm: bool = True) -> None:
        self.a, self.b, self._prepared = a, b, Prepared(a, b, warm)
        self._words = self._prepared.words

    def __repr__(self) -> str:
        return f"Pair({self.a!r}, {self.b!r})"

    def __reduce__(self) -> Any:
        plan = self._prepared.plan
        return _again, (self.a, self.b, plan is None or len(plan.memory) > 0)

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
        if self._prepared.plan is not None:
            self._prepared.plan.memory[:, 0] = 0.0

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
        return collide_prepared(self._prepared, self.a, self.b, pose_a, pose_b, margin)

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
        return ask_prepared(self._prepared, self.a, self.b, narrow.UNSIGNED, pose_a, pose_b, max_distance, tol, trace)

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
        return ask_prepared(self._prepared, self.a, self.b, depth_mode(depth), pose_a, pose_b, max_distance, tol, trace)


def collide_prepared(
    by: Prepared, a: Any, b: Any, pose_a: Any, pose_b: Any, margin: float, workers: int = 1
) -> Any:  # fmt: skip
    """Answer at once what is one question of two plain matrices; all else is checked and answered by rows."""
    ma = STANDING if pose_a is None else plainly(pose_a)
    mb = STANDING if pose_b is None else plainly(pose_b)
    if ma is None or mb is None or workers != 1:
        return ask_collide(a, b, pose_a, pose_b, margin, workers)
    if by.words is not None:
        if isinstance(margin, float) and -inf < margin < inf:
            plan, here = cast("Plan", by.plan), desk()
            code = collide_many(
                plan.ints, plan.floats, plan.row, ma, mb, here.poses, float(margin), 0, 1, here.simplex, here.answer,
                plan.memory,
            )  # fmt: skip
            if code == 0:
                return False
            if code == 1:
                return True
            if code == 2:  # too close to tell so: by the distance, cold, as every boolean is
                cold = by if not len(plan.memory) else prepared(a, b)
                return not ask_prepared(cold, a, b, narrow.SIGNED, ma, mb).lower > margin
    elif by.quick is not None and type(margin) is float and 0.0 <= margin < inf:
        told = by.quick.collide(a, b, ma, mb, margin)
        if told is not None:
            return told
    return ask_collide(a, b, pose_a, pose_b, margin, workers)


def ask_prepared(
    by: Prepared, a: Any, b: Any, mode: int, pose_a: Any, pose_b: Any, max_distance: float = inf,
    tol: float | None = None, trace: bool = False, workers: int = 1, certificate: bool = False,
) -> Distance[Any]:  # fmt: skip
    """Answer distances in a mode of `gjk3d.narrow.solve`, as `collide_prepared` does."""
    ma = STANDING if pose_a is None else plainly(pose_a)
    mb = STANDING if pose_b is None else plainly(pose_b)
    quick = by.quick
    if (
        ma is not None
        and mb is not None
        and (quick is not None or by.words is not None)
        and workers == 1
        and not (trace or certificate)
        and mode != FACETS
    ):
        width = 0.0
        if tol is not None or type(max_distance) is not float or not max_distance >= 0.0:
            check_limits(max_distance, tol)
            width = 0.0 if tol is None else float(tol)
        out = np.empty(_ANSWER)
        if by.words is not None:
            plan, here = cast("Plan", by.plan), desk()
            code = solve_many(
                plan.ints, plan.floats, plan.row, ma, mb, here.poses, mode, float(max_distance), width, 0, 1, False,
                here.work, here.table, FIRST_POINTS, out, here.flags, plan.memory, NO_LOG,
            )  # fmt: skip
            # what is wider than promised goes the long way, unless that was asked for, or only that they are far
            done = code >= 0 and code & 16 == 0 and (code & 8 or width > 0.0 or code & 7 == narrow.BEYOND)
        else:
            assert quick is not None
            code = quick.measure(ma, mb, mode, float(max_distance), out)
            done = code >= 0
        if done:
            result: Distance[Any] = _new(Distance)
            result._row = (
                out, code, a, b, (mode, max_distance, tol, False),
                None if pose_a is None else ma.tobytes(), None if pose_b is None else mb.tobytes(),
            )  # fmt: skip
            return result
    return ask_distance(mode, a, b, pose_a, pose_b, max_distance, tol, trace, workers, certificate)


def _again(a: Shape, b: Shape, warm: bool) -> Pair:
    return Pair(a, b, warm=warm)


builtins.methods(Pair, single.methods_of(Pair))
