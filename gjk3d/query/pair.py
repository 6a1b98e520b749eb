"""Prepared queries: `Pair` for two shapes at many poses, `Pairs` for many pairs of shapes in one call."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import Any, Literal, cast, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels.calls import install as builtins
from gjk3d.convex.checks import FACETS, FAST, check_limits, convex_mode, depth_mode
from gjk3d.engine.dispatch import Collider
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.pairs import PairRows, Request, collide_many, solve_many
from gjk3d.poses import STANDING, plainly
from gjk3d.query import single
from gjk3d.query.batch import query_collide, query_distance
from gjk3d.query.single import Plan, Prepared, PreparedPairs, thread_scratch
from gjk3d.results import Distance
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Pose, PoseLike, UnclearPose

Depth = Literal["auto", "epa", "facets", "tight", "fast"]

_new = object.__new__
new_tuple = tuple.__new__  #: of a NamedTuple, in half the time
_ANSWER = 1, narrow.FLOATS
_cache = PreparedPairs()
#: the prepared data of two shapes, cold; it is cached for as long as both live
prepared = _cache.get
#: the same for the plain functions; the next query of the same two shapes runs in a builtin
prepared_for_builtins = _cache.get_for_builtins


class Pair:
    """Two shapes, prepared once for queries at many poses.

    The methods compute the results of `gjk3d.collide`, `gjk3d.distance` and `gjk3d.signed_distance`. A call costs less,
    because nothing is looked up or packed again. A pair of convex shapes is also warm: a query first tests the last
    separating axis, and GJK starts from the last simplex. Booleans are equal to those of `gjk3d.collide`. Distances may
    differ from a cold result by rounding, and their bounds are always valid.

    One pair serves one thread at a time.

    Parameters
    ----------
    a, b : Shape, Mesh or other body
        Shapes that `gjk3d.collide` accepts.
    warm : bool
        False starts every query cold. Then the results have the same bits as those of the plain functions.

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
        self._words = self._prepared.known

    def __repr__(self) -> str:
        return f"Pair({self.a!r}, {self.b!r})"

    def __reduce__(self) -> Any:
        plan = self._prepared.plan
        return partial(Pair, warm=plan is None or len(plan.memory) > 0), (self.a, self.b)

    def forget(self) -> None:
        """Clear the last axis and simplex; the next query starts cold.

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
        """Return whether the shapes touch or overlap, or are closer than a margin; see `gjk3d.collide`."""
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
        """Return the distance of the shapes; see `gjk3d.distance`."""
        return distance_prepared(
            self._prepared, self.a, self.b, narrow.UNSIGNED, pose_a, pose_b, max_distance, tol, trace
        )

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
        """Return the signed distance of the shapes; see `gjk3d.signed_distance`."""
        return distance_prepared(
            self._prepared, self.a, self.b, depth_mode(depth), pose_a, pose_b, max_distance, tol, trace
        )


def collide_prepared(
    pair: Prepared, a: Any, b: Any, pose_a: Any, pose_b: Any, margin: float, workers: int = 1
) -> Any:  # fmt: skip
    """Return the result of `gjk3d.collide` for a pair of shapes with their prepared data.

    Poses that are not plain matrices go to `query_collide`.
    """
    ma = STANDING if pose_a is None else plainly(pose_a)
    mb = STANDING if pose_b is None else plainly(pose_b)
    if ma is None or mb is None or workers != 1:
        return query_collide(a, b, pose_a, pose_b, margin, workers)
    if pair.words is not None:
        if isinstance(margin, float) and -inf < margin < inf:
            plan, scratch = cast("Plan", pair.plan), thread_scratch()
            pairs = new_tuple(PairRows, (*plan.packed, scratch.poses))
            simplex = scratch.workspace.simplex
            code = collide_many(pairs, ma, mb, float(margin), 0, 1, simplex, scratch.answer, plan.memory)
            if code == 0:
                return False
            if code == 1:
                return True
            if code == 2:  # undecided: compare the cold distance, so that the boolean does not depend on the memory
                cold = pair if not len(plan.memory) else prepared(a, b)
                return not distance_prepared(cold, a, b, narrow.SIGNED, ma, mb).lower > margin
    elif pair.quick is not None and type(margin) is float and 0.0 <= margin < inf:
        answer = pair.quick.collide(ma, mb, margin)
        if answer is not None:
            return answer
    return query_collide(a, b, pose_a, pose_b, margin, workers)


def distance_prepared(
    pair: Prepared, a: Any, b: Any, mode: int, pose_a: Any, pose_b: Any, max_distance: float = inf,
    tol: float | None = None, trace: bool = False, workers: int = 1, certificate: bool = False,
) -> Distance[Any]:  # fmt: skip
    """Return the distance of prepared shapes, in a mode of `gjk3d.narrow.solve`; see `collide_prepared`."""
    ma = STANDING if pose_a is None else plainly(pose_a)
    mb = STANDING if pose_b is None else plainly(pose_b)
    quick = pair.quick
    if mode == FAST and isinstance(a, Shape) and isinstance(b, Shape):
        mode = convex_mode(mode)
    if (
        ma is not None
        and mb is not None
        and (quick is not None or pair.words is not None)
        and workers == 1
        and not (trace or certificate)
        and mode != FACETS
    ):
        width = 0.0
        if tol is not None or type(max_distance) is not float or not max_distance >= 0.0:
            check_limits(max_distance, tol)
            width = 0.0 if tol is None else float(tol)
        out = np.empty(_ANSWER)
        if pair.words is not None:
            plan, scratch = cast("Plan", pair.plan), thread_scratch()
            pairs = new_tuple(PairRows, (*plan.packed, scratch.poses))
            request = new_tuple(Request, (mode, float(max_distance), width, False))
            code = solve_many(pairs, ma, mb, request, 0, 1, scratch.workspace, out, scratch.flags, plan.memory)
            # the general path solves what is wider than promised, unless a tolerance or max_distance allows it
            solved = code >= 0 and code & 16 == 0 and (code & 8 or width > 0.0 or code & 7 == narrow.BEYOND)
        else:
            assert quick is not None
            code = quick.measure(ma, mb, mode, float(max_distance), out)
            solved = code >= 0
        if solved:
            result: Distance[Any] = _new(Distance)
            result._row = (
                out, code, a, b, (mode, max_distance, tol, False),
                None if pose_a is None else ma.tobytes(), None if pose_b is None else mb.tobytes(),
            )  # fmt: skip
            return result
    return query_distance(mode, a, b, pose_a, pose_b, max_distance, tol, trace, workers, certificate)


builtins.methods(Pair, single.methods_of(Pair))
