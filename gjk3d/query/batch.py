"""General path of queries on two shapes: check the arguments, pack the poses, call the handlers, wrap the results.

It solves stacks of poses, all kinds of shapes, and everything that the fast path for single poses in `pair` and
`single` does not support.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from gjk3d.convex.checks import FACETS, FAST, check_device, check_limits, check_margin, check_workers, convex_mode
from gjk3d.convex.rows import Rows, Wanted, canonical, empty_answers
from gjk3d.engine.dispatch import find
from gjk3d.errors import ShapeError, UnsupportedPair
from gjk3d.narrow.trace import read_log
from gjk3d.narrow.workspace import NO_LOG
from gjk3d.poses import WIDTH, as_matrices, fill_rows
from gjk3d.results import Distance, pack_marks
from gjk3d.shapes.base import Kind
from gjk3d.typing import Device


def prepare_query(query: str, a: Any, b: Any, pose_a: Any, pose_b: Any) -> tuple[Any, Rows]:
    """Return the handler of a query, see `dispatch`, and the poses as rows for kernels, from checked arguments."""
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
        raise ShapeError(f"pose_a has {count_a} rows and pose_b {count_b}, expected equal numbers, or a single pose")
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
    """Return the result of `gjk3d.distance` or `gjk3d.signed_distance`, by the mode, for arguments of any kind."""
    check_limits(max_distance, tol)
    check_workers(workers)
    solve, rows = prepare_query("solve", a, b, pose_a, pose_b)
    rows = rows._replace(workers=workers, on_gpu=_uses_gpu(device, a, b))
    kinds = a._kind | b._kind
    if mode == FAST and not kinds & Kind.BODIES:
        mode = convex_mode(mode)
    if rows.on_gpu and (mode == FACETS or trace or certificate):
        option = "trace=True" if trace else "certificate=True" if certificate else "depth='facets'"
        raise ShapeError(f"device='cuda' does not support {option}. Leave out one of them")
    if trace and rows.stacked:
        raise ShapeError(f"trace=True needs one pair of poses, but {rows.total} are given. Pass single poses")
    logged_a, logged_b, logged_rows, swapped = a, b, rows, False
    logged = trace
    if certificate and rows.stacked:
        raise ShapeError(f"certificate=True needs one pair of poses, but {rows.total} are given. Pass single poses")
    if certificate and mode == FACETS:
        raise ShapeError(
            "certificate=True stores the last state of GJK and EPA, not of depth='facets'. Use depth='auto' or 'epa'"
        )
    if certificate and not kinds & Kind.BODIES:
        logged = True
        # a trace has the caller's order of A and B, but the bits of a result come from the canonical order
        if not trace and not kinds & Kind.PLANES:
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
