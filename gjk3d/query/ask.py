"""What every question about two shapes goes through: check, pack, call the kernels, wrap the answer."""

from __future__ import annotations

from importlib import import_module
from math import inf
from numbers import Real
from typing import Any

import numpy as np

from gjk3d._kernels.first_call import first_call
from gjk3d.errors import Gjk3dError, ShapeError, UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.trace import read_log
from gjk3d.poses import WIDTH, as_matrices, fill_rows
from gjk3d.query.certify import certify, check_certificate
from gjk3d.query.dispatch import NO_LOG, Family, Rows, canonical, families
from gjk3d.results import Distance, pack_marks
from gjk3d.shapes.base import Shape

MOST_WORKERS = 1024
MIXED: list[type] = []  #: what is no convex shape and has families all the same


def family_of(a: Any, b: Any) -> Family:
    """Return the family of a pair of shapes; raise where there is none."""
    for name, shape in (("a", a), ("b", b)):
        if not isinstance(shape, (Shape, *MIXED)):
            module = getattr(type(shape), "ANSWERED_BY", None)
            if not isinstance(module, str):
                raise no_shape(name, shape)
            import_module(module)  # adds its families and its type when it is first asked about
    for family in families:
        if family.matches(a, b):
            return family
    raise UnsupportedPair(
        f"{type(a).__name__} against {type(b).__name__}: two half-spaces overlap without end; "
        "use a large Box for one of them"
    )


def check_convex(a: Any, b: Any) -> None:
    """Raise unless both are convex shapes: not every question is answered for meshes."""
    for name, shape in (("a", a), ("b", b)):
        if not isinstance(shape, Shape):
            raise no_shape(name, shape)


def question(a: Any, b: Any, pose_a: Any, pose_b: Any) -> tuple[Family, Rows]:
    """Check shapes and poses; return how they are answered, and the poses as kernel rows."""
    family = family_of(a, b)
    first = None if pose_a is None else as_matrices(pose_a, "pose_a")
    second = None if pose_b is None else as_matrices(pose_b, "pose_b")
    stacked_a, stacked_b = (m is not None and m.ndim == 3 for m in (first, second))
    count_a, count_b = (len(m) if m is not None and m.ndim == 3 else 1 for m in (first, second))
    whole = np.empty((count_a + count_b, WIDTH))
    rows_a, rows_b = whole[:count_a], whole[count_a:]
    fill_rows(first, "pose_a", rows_a)
    fill_rows(second, "pose_b", rows_b)
    if stacked_a and stacked_b and count_a != count_b and 1 not in (count_a, count_b):
        raise ShapeError(
            f"pose_a has {count_a} rows and pose_b {count_b}: stacks must have one length, or be a single pose"
        )
    count = min(count_a, count_b) if 0 in (count_a, count_b) else max(count_a, count_b)
    return family, Rows(rows_a, rows_b, count, stacked_a or stacked_b)


def no_shape(name: str, value: Any) -> Gjk3dError:
    """Return the error for what is no convex shape."""
    if callable(getattr(value, "hull", None)):
        return UnsupportedPair(
            f"{name} is a {type(value).__name__}, and this takes convex shapes: "
            "pass its hull() to ask about its convex hull"
        )
    if hasattr(value, "vertices") and hasattr(value, "faces"):
        return UnsupportedPair(
            f"{name} is a {type(value).__module__}.{type(value).__name__}: pass gjk3d.Mesh(mesh.vertices, mesh.faces), "
            "or gjk3d.ConvexHull(mesh.vertices)"
        )
    return UnsupportedPair(
        f"{name} is a {type(value).__name__}, expected a shape such as gjk3d.Box or gjk3d.ConvexHull"
    )


def check_margin(margin: Any) -> None:
    """Raise unless it is what `collide` takes."""
    if not isinstance(margin, Real) or not -inf < float(margin) < inf:
        raise ShapeError(f"margin is {margin!r:.80}, expected one finite number, for all rows")


def check_workers(workers: Any) -> None:
    """Raise unless it is a number of threads."""
    if isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= MOST_WORKERS:
        raise ShapeError(f"workers is {workers!r}, expected a number of threads from 1 to {MOST_WORKERS}")


def ask_collide(a: Any, b: Any, pose_a: Any, pose_b: Any, margin: float, workers: int = 1) -> Any:
    """Answer `gjk3d.collide`."""
    check_margin(margin)
    check_workers(workers)
    family, rows = question(a, b, pose_a, pose_b)
    rows = rows._replace(workers=workers)
    with first_call("collide"):
        answer = family.collide(a, b, rows, float(margin))
    return answer if rows.stacked else bool(answer[0])


def check_limits(max_distance: Any, tol: Any) -> None:
    """Raise unless both are what a distance takes."""
    if not isinstance(max_distance, Real) or not float(max_distance) >= 0:
        raise ShapeError(f"max_distance is {max_distance}, expected one number, at least 0")
    if tol is not None and not (isinstance(tol, Real) and 0 <= float(tol) < inf):
        raise ShapeError(f"tol is {tol!r}, expected a number, at least 0, relative to the pair's size")


def ask_distance(
    mode: int, a: Any, b: Any, pose_a: Any, pose_b: Any, max_distance: float, tol: float | None, trace: bool,
    workers: int = 1, certificate: bool = False,
) -> Distance:  # fmt: skip
    """Answer `gjk3d.distance` and `gjk3d.signed_distance`."""
    check_limits(max_distance, tol)
    check_workers(workers)
    family, rows = question(a, b, pose_a, pose_b)
    rows = rows._replace(workers=workers)
    if trace and rows.stacked:
        raise ShapeError("trace=True is for one pair: pass single poses")
    first, second, placed, exchanged = a, b, rows, False
    if certificate:
        check_convex(a, b)
        check_certificate(mode, rows)
        if not trace and family is not families[-2]:  # its log has the order asked, an answer's bits the canonical one
            first, second, placed, exchanged = canonical(a, b, rows)
    out = np.empty((rows.total, narrow.FLOATS))
    flags = np.zeros((rows.total, narrow.INTS), dtype=np.int64)
    log = [NO_LOG]
    limits = float(max_distance), 0.0 if tol is None else float(tol)
    with first_call("distance"):
        if trace or certificate:
            family.solve(first, second, placed, mode, *limits, out, flags, log)
        if not trace:  # a log has every step of GJK and EPA, also where an answer has a closed form
            family.solve(a, b, rows, mode, *limits, out, flags, None)
    result: Distance = object.__new__(Distance)
    asked = mode, max_distance, tol, trace
    # copies: an answer says what was asked, also after the caller has moved on in the same array
    result.pose_a = None if pose_a is None else as_matrices(pose_a).copy()
    result.pose_b = None if pose_b is None else as_matrices(pose_b).copy()
    result.trace = read_log(log[0]) if trace else None
    if rows.stacked:
        result.shape_a, result.shape_b, result.asked = a, b, asked
        result.distance, result.lower, result.upper = out[:, 0], out[:, 1], out[:, 2]
        result.normal, result.point_a, result.point_b = out[:, 3:6], out[:, 6:9], out[:, 9:12]
        result.status, result.iterations, result.tight = flags[:, 0], flags[:, 1], flags[:, 2].astype(bool)
        return result
    status, steps, tight, _ = flags[0].tolist()
    result._row = out, pack_marks(status, steps, tight), a, b, asked, None, None
    if certificate:
        result.certificate = certify(result, rows, log[0], exchanged)
    return result
