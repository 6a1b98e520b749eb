"""Prepared queries, and the general path of queries on two shapes.

The general path checks the arguments, packs the poses, calls the handlers and wraps the results.

It accepts stacks of poses, all kinds of shapes, and everything that the fast path for single poses in `Pair` and
`single` does not support.

`Pair` is prepared for two shapes at many poses. `gjk3d.engine.pairs` has `Pairs`, for many pairs of shapes in one call.
"""

from __future__ import annotations

from functools import partial
from math import inf
from typing import Any, Literal, cast, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels.calls import install as builtins
from gjk3d.convex.batch import Rows, Wanted, canonical, empty_answers
from gjk3d.convex.checks import (
    FACETS,
    FAST,
    check_device,
    check_limits,
    check_margin,
    check_workers,
    convex_mode,
    depth_mode,
)
from gjk3d.engine.dispatch import Collider, find
from gjk3d.errors import ShapeError, UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.solve import PairRows, Request, collide_many, solve_many
from gjk3d.narrow.workspace import NO_LOG, read_log
from gjk3d.poses import STANDING, WIDTH, as_matrices, fill_rows, plainly
from gjk3d.query import single
from gjk3d.query.single import Plan, Prepared, PreparedPairs, thread_scratch
from gjk3d.results import Distance, pack_marks
from gjk3d.shapes.base import Kind, Shape
from gjk3d.typing import Array, Device, Pose, PoseLike, UnclearPose

# --- the general path ------------------------------------------------------------------------------------------------


def prepare_query(query: str, a: Any, b: Any, pose_a: Any, pose_b: Any) -> tuple[Any, Rows]:
    """Check the arguments. Return the handler of the query (`dispatch.find`), and the poses as rows for the kernels."""
    handler = find(query, a, b)
    matrices_a = None if pose_a is None else as_matrices(pose_a, "pose_a")
    matrices_b = None if pose_b is None else as_matrices(pose_b, "pose_b")
    stacked_a, stacked_b = (m is not None and m.ndim == 3 for m in (matrices_a, matrices_b))
    count_a, count_b = (len(m) if m is not None and m.ndim == 3 else 1 for m in (matrices_a, matrices_b))
    joined = np.empty((count_a + count_b, WIDTH))
    rows_a, rows_b = joined[:count_a], joined[count_a:]
    fill_rows(matrices_a, "pose_a", rows_a)
    fill_rows(matrices_b, "pose_b", rows_b)
    if stacked_a and stacked_b and count_a != count_b and 1 not in (count_a, count_b):
        raise ShapeError(f"pose_a has {count_a} rows and pose_b has {count_b}, expected equal numbers or one pose")
    count = min(count_a, count_b) if 0 in (count_a, count_b) else max(count_a, count_b)
    return handler, Rows(rows_a, rows_b, count, stacked_a or stacked_b, joined=joined)


def query_collide(
    a: Any, b: Any, pose_a: Any, pose_b: Any, margin: float, workers: int = 1, device: Device = "cpu"
) -> Any:
    """Return the result of `gjk3d.collide` for arguments of any kind."""
    check_margin(margin)
    check_workers(workers)
    collide, rows = prepare_query("collide", a, b, pose_a, pose_b)
    answer = collide(a, b, rows._replace(workers=workers, on_gpu=_uses_gpu(device, a, b)), float(margin))
    return answer if rows.stacked else bool(answer[0])


def _uses_gpu(device: Device, a: Any, b: Any) -> bool:
    """Return whether the GPU is requested; raise if it does not support the two shapes."""
    if not check_device(device):
        return False
    if a._kind | b._kind != Kind.CONVEX:
        raise UnsupportedPair(
            f"device='cuda' supports bounded convex shapes except Support, not {type(a).__name__} against "
            f"{type(b).__name__}. Leave device out"
        )
    return True


def query_distance(
    mode: int, a: Any, b: Any, pose_a: Any, pose_b: Any, max_distance: float, tol: float | None, trace: bool,
    workers: int = 1, certificate: bool = False, device: Device = "cpu",
) -> Distance:  # fmt: skip
    """Return the result of `gjk3d.distance` or `gjk3d.signed_distance` for arguments of any kind.

    ``mode`` is a mode of `gjk3d.narrow.solve`.
    """
    check_limits(max_distance, tol)
    check_workers(workers)
    solve, rows = prepare_query("solve", a, b, pose_a, pose_b)
    rows = rows._replace(workers=workers, on_gpu=_uses_gpu(device, a, b))
    kinds = a._kind | b._kind
    if mode == FAST and not kinds & Kind.BODIES:
        mode = convex_mode(mode)
    if rows.on_gpu and (mode == FACETS or trace or certificate):
        option = "trace=True" if trace else "certificate=True" if certificate else "depth='facets'"
        raise ShapeError(f"device='cuda' does not support {option}. Leave out one of the two")
    if rows.stacked and (trace or certificate):
        option = "trace" if trace else "certificate"
        raise ShapeError(f"{option}=True needs one pair of poses, but {rows.total} are given. Pass single poses")
    logged_a, logged_b, logged_rows, swapped = a, b, rows, False
    if certificate and mode == FACETS:
        raise ShapeError(
            "certificate=True stores the last state of GJK and EPA, not of depth='facets'. Use depth='auto' or 'epa'"
        )
    logged = trace or (certificate and not kinds & Kind.BODIES)
    # a trace has the caller's order of A and B, but the bits of a result come from the canonical order
    if logged and not trace and not kinds & Kind.PLANES:
        logged_a, logged_b, logged_rows, swapped = canonical(a, b, rows)
    out, flags = empty_answers(rows.total)
    log = [NO_LOG]
    accuracy = Wanted(mode, float(max_distance), 0.0 if tol is None else float(tol))
    if logged:
        # the bounds of a certificate have to be as narrow as any result, even one in closed form
        narrowest = accuracy if trace else Wanted(mode, inf, 0.0)
        solve(logged_a, logged_b, logged_rows, narrowest._replace(log=log), out, flags)
    if not trace:  # with a log the kernels run GJK and EPA even for pairs with a closed form
        solve(a, b, rows, accuracy, out, flags)
    result: Distance = object.__new__(Distance)
    request = mode, max_distance, tol, trace
    # copies, because the caller may overwrite the arrays and the result has to keep the poses of the query
    result.pose_a = None if pose_a is None else as_matrices(pose_a).copy()
    result.pose_b = None if pose_b is None else as_matrices(pose_b).copy()
    result.trace = read_log(log[0]) if trace else None
    if rows.stacked:
        result.shape_a, result.shape_b, result.asked = a, b, request
        result.distance, result.lower, result.upper = out[:, 0], out[:, 1], out[:, 2]
        result.normal, result.point_a, result.point_b = out[:, 3:6], out[:, 6:9], out[:, 9:12]
        result.status, result.iterations, result.tight = flags[:, 0], flags[:, 1], flags[:, 2].astype(bool)
        return result
    status, steps, tight, _ = flags[0].tolist()
    result._row = out, pack_marks(status, steps, tight), a, b, request, None, None
    if certificate:
        from gjk3d.query.certify import certify  # loaded only for certificates

        result.certificate = certify(result, rows, log[0], swapped)
    return result


# --- prepared queries ------------------------------------------------------------------------------------------------


Depth = Literal["auto", "epa", "facets", "tight", "fast"]

_new = object.__new__
new_tuple = tuple.__new__  #: creates a NamedTuple in half the time of a call of its class
_ANSWER = 1, narrow.FLOATS
_cache = PreparedPairs()
#: returns the prepared data of two shapes, which are cached as long as both exist; every query starts cold
prepared = _cache.get
#: returns the same data, and lets a builtin solve the next query of the two shapes
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
        """Clear the last separating axis and the last simplex of GJK. The next query starts cold.

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
    """Return the result of `gjk3d.collide` from the prepared data of two shapes.

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
            if code == 2:  # undecided: the cold distance decides, and the boolean does not depend on earlier queries
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
    """Return the distance from the prepared data of two shapes. ``mode`` is a mode of `gjk3d.narrow.solve`."""
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
            # the general path solves pairs with bounds wider than promised, unless `tol` or `max_distance` allows them
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
