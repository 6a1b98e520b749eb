"""The questions about two shapes: check, pack, call the kernels, wrap the answer."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf, isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d.errors import Gjk3dError, ShapeError, UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.epa import workspace
from gjk3d.narrow.facets import axis_rows, overlap_rows
from gjk3d.narrow.pairs import collide_rows, solve_rows
from gjk3d.narrow.plane import plane_rows
from gjk3d.narrow.trace import read_log
from gjk3d.poses import IDENTITY, pose_rows
from gjk3d.results import Axis, AxisKind, Distance, Status
from gjk3d.shapes import base, layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.point import Point

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

FACETS = 3  #: beside the modes of `gjk3d.narrow.solve`
_NO_LOG = np.empty(0)
_FIRST_POINTS = 64  #: vertices of EPA's polytope that the first workspace has room for
_MOST_POINTS = {True: 65536, False: 1024}  #: by whether both are polytopes, where EPA is finite
_local = threading.local()


class _Rows(NamedTuple):
    """A checked question: poses as kernel rows, how many, and whether the caller passed a stack."""

    a: Array
    b: Array
    total: int
    stacked: bool


class Family(NamedTuple):
    """How pairs of one kind are answered; the first family that matches is taken."""

    matches: Callable[[Any, Any], bool]
    solve: Callable[..., None]  # (a, b, rows, mode, max_distance, tol, out, flags)
    collide: Callable[..., NDArray[np.bool_]]  # (a, b, rows, margin)


# --- public
# -------------------------------------------------------------------------------------------------------------


def collide(a: Shape, b: Shape, pose_a: Any = None, pose_b: Any = None, *, margin: float = 0.0) -> Any:
    """Tell whether two shapes touch or overlap, or come within a margin.

    Parameters
    ----------
    a, b : Shape
        Convex shapes; of two half-spaces nothing can be asked.
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        World from local; None is the identity. A stack on either side, or stacks of one length on both, asks n pairs
        at once.
    margin : float
        In the caller's unit. Positive: also True where they are closer than this. Negative: overlap shallower than
        this is let pass.

    Returns
    -------
    bool or (n,) bool
        False exactly where ``signed distance > margin`` is proven; so touching is True, and so is one inside the other.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        Naming what is wrong with the input; valid input never raises.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[0, 3] = 1.5
    >>> gk.collide(gk.Box((1, 1, 1)), gk.Sphere(1), None, pose)
    True
    """
    if isnan(margin) or not -inf < margin < inf:
        raise ShapeError(f"collide: margin is {margin}, expected a finite number")
    family, rows = _question(a, b, pose_a, pose_b)
    with _first_call("collide"):
        answer = family.collide(a, b, rows, float(margin))
    return answer if rows.stacked else bool(answer[0])


def distance(
    a: Shape,
    b: Shape,
    pose_a: Any = None,
    pose_b: Any = None,
    *,
    max_distance: float = inf,
    tol: float | None = None,
    trace: bool = False,
) -> Distance:
    """Return how far apart two shapes are, with the nearest points; 0 and one common point where they overlap.

    Never runs EPA on shapes that overlap, so it is the cheaper question where depth does not matter.

    Parameters
    ----------
    a, b : Shape
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        As in `collide`.
    max_distance : float
        Stop once the distance provably exceeds this; the status is then BEYOND, the bounds hold, the points are not
        the nearest.
    tol : float, optional
        Width of the interval that is enough, relative to the pair's size; None is the promised width.
    trace : bool
        Keep every step in ``result.trace``; for one pair.

    Returns
    -------
    Distance
        ``lower <= max(0, true signed distance) <= upper``.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        Naming what is wrong with the input; valid input never raises.

    References
    ----------
    Gilbert, Johnson, Keerthi: A fast procedure for computing the distance between complex objects, 1988.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[2, 3] = 4
    >>> gk.distance(gk.Sphere(1), gk.Box((2, 2, 2)), None, pose).distance
    2.0
    """
    return _distance(narrow.UNSIGNED, a, b, pose_a, pose_b, max_distance, tol, trace)


def signed_distance(
    a: Shape,
    b: Shape,
    pose_a: Any = None,
    pose_b: Any = None,
    *,
    depth: str = "auto",
    max_distance: float = inf,
    tol: float | None = None,
    trace: bool = False,
) -> Distance:
    """Return how far apart two shapes are, or how deep they overlap, with the points and the direction that part them.

    Parameters
    ----------
    a, b : Shape
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        As in `collide`.
    depth : {"auto", "epa", "facets"}
        What measures overlap. "epa" runs EPA on every pair, apart or not. "facets" tries every facet of the Minkowski
        difference, which is the separating axis test in 3D: polytopes only, flat or rounded ones too.
    max_distance, tol, trace
        As in `distance`; a trace always runs EPA where the cores overlap.

    Returns
    -------
    Distance
        Negative where they overlap: the least translation that parts them is ``separation_vector``. Two flat shapes
        in one plane have depth 0, since a shift across the plane parts them.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        Naming what is wrong with the input; valid input never raises.

    References
    ----------
    van den Bergen: Collision Detection in Interactive 3D Environments, 2003, ch. 4.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[0, 3] = 0.75
    >>> result = gk.signed_distance(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, pose)
    >>> result.distance, result.normal.tolist()
    (-0.25, [1.0, 0.0, 0.0])
    """
    modes = {"auto": narrow.SIGNED, "epa": narrow.EPA_ALWAYS, "facets": FACETS}
    if depth not in modes:
        raise ShapeError(f"signed_distance: depth is {depth!r}, expected 'auto', 'epa' or 'facets'")
    mode = modes[depth]
    return _distance(mode, a, b, pose_a, pose_b, max_distance, tol, trace)


def separating_axis(a: Shape, b: Shape, pose_a: Any = None, pose_b: Any = None) -> Axis:
    """Return the best axis of the separating axis test, and which face or pair of edges it comes from.

    Tries the normal of every face of both, and the cross product of every pair of edges that makes a facet of the
    Minkowski difference. The gap along the axis is positive exactly where the two are apart; it is then a lower bound
    of their distance, and the distance itself where a face or two edges are nearest. In overlap its negative is the
    exact depth, and the axis the direction of the least translation that parts them.

    Parameters
    ----------
    a, b : Shape
        Polytopes, flat ones too; not rounded ones, whose nearest features need not be flat.
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        As in `collide`.

    Raises
    ------
    UnsupportedPair
        For curved and rounded shapes and half-spaces.
    PoseError, ShapeError
        Naming what is wrong with the input.

    References
    ----------
    Gottschalk, Lin, Manocha: OBBTree, 1996; Gregorius: The separating axis test between convex polyhedra, GDC 2013.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[0, 3] = 0.75
    >>> gk.separating_axis(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, pose)
    Axis: overlapping, gap -0.25 along (1, 0, 0), a face of A
    """
    family, rows = _question(a, b, pose_a, pose_b)
    if family is families[-2]:
        raise UnsupportedPair("separating_axis takes polytopes: the axis of a Halfspace is its normal")
    with _first_call("axes"):
        first, second, order, exchanged = _canonical(a, b, rows)
        axes, kinds = _axes(first, second, order, "separating_axis", False)
    sign = np.where(np.broadcast_to(exchanged, rows.total), -1.0, 1.0)
    kinds[sign < 0] = kinds[sign < 0][:, [0, 2, 1, 3]]
    kind = np.where((sign < 0) & (kinds[:, 0] < 2), 1 - kinds[:, 0], kinds[:, 0])
    normals = sign[:, None] * axes[:, 5:8] + 0.0
    gap, error = axes[:, 0], axes[:, 1]
    status = np.where(gap > error, Status.SEPARATED, np.where(gap < -error, Status.OVERLAPPING, Status.TOUCHING))
    if rows.stacked:
        return Axis(normals, gap, error, kind, status)
    return Axis(normals[0], float(gap[0]), float(error[0]), AxisKind(int(kind[0])), Status(int(status[0])))


def warmup(report: Callable[[str, float], None] | None = None) -> list[tuple[str, float]]:
    """Compile every kernel that a first query needs, and return what took how many seconds."""
    box, far = Point((0.0, 0.0, 0.0)), np.eye(4)
    far[0, 3] = 3.0
    steps: list[tuple[str, Callable[[], Any]]] = [
        ("poses", lambda: pose_rows(far)),
        ("support", lambda: box.support((1.0, 0.0, 0.0))),
        ("distance, signed distance", lambda: signed_distance(box, box, None, far)),
        ("collide", lambda: collide(box, box, None, far)),
        ("half-spaces", lambda: signed_distance(Halfspace((0, 0, 1), 0), box, None, far)),
    ]
    times = []
    for name, step in steps:
        start = time.perf_counter()
        step()
        times.append((name, time.perf_counter() - start))
        if report is not None:
            report(*times[-1])
    return times


# --- checking
# ------------------------------------------------------------------------------------------------------------


def _question(a: Any, b: Any, pose_a: Any, pose_b: Any) -> tuple[Family, _Rows]:
    for name, shape in (("a", a), ("b", b)):
        if not isinstance(shape, Shape):
            raise _no_shape(name, shape)
    for family in families:
        if family.matches(a, b):
            break
    else:
        raise UnsupportedPair(
            f"{type(a).__name__} against {type(b).__name__}: two half-spaces overlap without end; "
            "use a large Box for one of them"
        )
    rows_a, stacked_a = (IDENTITY, False) if pose_a is None else pose_rows(pose_a, "pose_a")
    rows_b, stacked_b = (IDENTITY, False) if pose_b is None else pose_rows(pose_b, "pose_b")
    count_a, count_b = len(rows_a), len(rows_b)
    if stacked_a and stacked_b and count_a != count_b and 1 not in (count_a, count_b):
        raise ShapeError(
            f"pose_a has {count_a} rows and pose_b {count_b}: stacks must have one length, or be a single pose"
        )
    count = min(count_a, count_b) if 0 in (count_a, count_b) else max(count_a, count_b)
    return family, _Rows(rows_a, rows_b, count, stacked_a or stacked_b)


def _no_shape(name: str, value: Any) -> Gjk3dError:
    if callable(getattr(value, "hull", None)):
        return UnsupportedPair(
            f"{name} is a {type(value).__name__}, and these queries take convex shapes: "
            f"pass {name}.hull() to ask about its convex hull"
        )
    if hasattr(value, "vertices") and hasattr(value, "faces"):
        return UnsupportedPair(
            f"{name} is a {type(value).__module__}.{type(value).__name__}: pass gjk3d.ConvexHull(mesh.vertices)"
        )
    return UnsupportedPair(
        f"{name} is a {type(value).__name__}, expected a shape such as gjk3d.Box or gjk3d.ConvexHull"
    )


def _distance(
    mode: int, a: Any, b: Any, pose_a: Any, pose_b: Any, max_distance: float, tol: float | None, trace: bool
) -> Distance:
    if isnan(max_distance) or max_distance < 0:
        raise ShapeError(f"max_distance is {max_distance}, expected at least 0")
    if tol is not None and not 0 <= tol < inf:
        raise ShapeError(f"tol is {tol}, expected at least 0, relative to the pair's size")
    family, rows = _question(a, b, pose_a, pose_b)
    if trace and rows.stacked:
        raise ShapeError("trace=True is for one pair: pass single poses")
    out = np.empty((rows.total, narrow.FLOATS))
    flags = np.zeros((rows.total, narrow.INTS), dtype=np.int64)
    log = [_NO_LOG]
    with _first_call("distance"):
        family.solve(
            a,
            b,
            rows,
            mode,
            float(max_distance),
            0.0 if tol is None else float(tol),
            out,
            flags,
            log if trace else None,
        )
    result: Distance = object.__new__(Distance)
    result.shape_a, result.shape_b, result.pose_a, result.pose_b = a, b, pose_a, pose_b
    result.trace = read_log(log[0]) if trace else None
    if rows.stacked:
        result.distance, result.lower, result.upper = out[:, 0], out[:, 1], out[:, 2]
        result.normal, result.point_a, result.point_b = out[:, 3:6], out[:, 6:9], out[:, 9:12]
        result.status, result.iterations, result.tight = flags[:, 0], flags[:, 1], flags[:, 2].astype(bool)
        return result
    row = out[0]
    result.distance, result.lower, result.upper = row[:3].tolist()
    result.normal, result.point_a, result.point_b = row[3:6], row[6:9], row[9:12]
    status, result.iterations, tight, _ = flags[0].tolist()
    result.status, result.tight = Status(status), bool(tight)
    return result


# --- calling
# ------------------------------------------------------------------------------------------------------------


def _workspace(room: int) -> tuple[Array, Ints, Array]:
    """Return this thread's scratch for polytopes of that many vertices, and for a simplex; large ones are not kept."""
    kept: dict[int, tuple[Array, Ints, Array]] = _local.__dict__.setdefault("scratch", {})
    if room not in kept:
        floats, ints = workspace(room)
        scratch = (np.empty(floats), np.empty(ints, np.int64), np.empty((6, 10)))
        if room > 1024:
            return scratch
        kept[room] = scratch
    return kept[room]


def _most_points(a: Shape, b: Shape) -> int:
    return _MOST_POINTS[bool(a.packed[0][layout.POLYTOPE] and b.packed[0][layout.POLYTOPE])]


def _canonical(a: Shape, b: Shape, rows: _Rows) -> tuple[Shape, Shape, _Rows, Any]:
    """Put a pair into the order the kernels see it in, so that f(b, a) mirrors f(a, b) to the last bit.

    Returns which rows were exchanged: True, False, or a mask where equal shapes leave it to their poses.
    """
    key_a, key_b = a.order, b.order
    if key_a < key_b:
        return a, b, rows, False
    if key_a > key_b:
        return b, a, rows._replace(a=rows.b, b=rows.a), True
    if rows.total == 1:
        if rows.a[0].tolist() <= rows.b[0].tolist():
            return a, b, rows, False
        return b, a, rows._replace(a=rows.b, b=rows.a), True
    first, second = np.broadcast_arrays(rows.a, rows.b)
    differ = first != second
    column = differ.argmax(axis=1)
    each = np.arange(rows.total)
    mask = differ.any(axis=1) & (first[each, column] > second[each, column])
    low, high = np.where(mask[:, None], second, first), np.where(mask[:, None], first, second)
    return a, b, rows._replace(a=low, b=high), mask


def _mirror(out: Array, which: Any) -> None:
    """Turn answers of (b, a) into answers of (a, b) in the rows exchanged."""
    if which is False:
        return
    chosen = slice(None) if which is True else which
    out[chosen, 3:6] = 0.0 - out[chosen, 3:6]
    points = out[chosen, 6:12].copy()
    out[chosen, 6:9], out[chosen, 9:12] = points[:, 3:], points[:, :3]


def _solve_cores(
    a: Shape,
    b: Shape,
    rows: _Rows,
    mode: int,
    max_distance: float,
    tol: float,
    out: Array,
    flags: Ints,
    log: list[Array] | None,
) -> None:
    if mode == FACETS:
        _solve_facets(a, b, rows, max_distance, tol, out, flags, log)
        return
    exchanged: Any = False
    if log is None:  # a trace shows A on the left, as asked
        a, b, rows, exchanged = _canonical(a, b, rows)
    qa, fa = a.packed
    qb, fb = b.packed
    points, most, again = _FIRST_POINTS, _most_points(a, b), False
    while True:
        work, table, _ = _workspace(points)
        room = np.empty(4096) if log is not None else _NO_LOG
        while True:
            used = solve_rows(
                qa,
                fa,
                qb,
                fb,
                rows.a,
                rows.b,
                mode,
                max_distance,
                tol,
                0,
                rows.total,
                again,
                work,
                table,
                points,
                out,
                flags,
                room,
            )
            if log is None or used <= len(room):
                break
            room = np.empty(used)
        if log is not None:
            log[0] = room[:used]
        if points >= most or not flags[:, 3].any():
            _mirror(out, exchanged)
            return
        points, again = 4 * points, True


def _collide_cores(a: Shape, b: Shape, rows: _Rows, margin: float) -> NDArray[np.bool_]:
    a, b, rows, _ = _canonical(a, b, rows)
    qa, fa = a.packed
    qb, fb = b.packed
    answer = np.empty(rows.total, dtype=np.int64)
    simplex = _workspace(_FIRST_POINTS)[2]
    if collide_rows(qa, fa, qb, fb, rows.a, rows.b, margin, 0, rows.total, simplex, answer, _NO_LOG):
        left = np.flatnonzero(answer == 2)
        few = _Rows(_take(rows.a, left), _take(rows.b, left), len(left), True)
        out, flags = np.empty((len(left), narrow.FLOATS)), np.zeros((len(left), narrow.INTS), dtype=np.int64)
        _solve_cores(a, b, few, narrow.SIGNED, inf, 0.0, out, flags, None)
        answer[left] = ~(out[:, 1] > margin)
    apart: NDArray[np.bool_] = answer == 0
    return ~apart


def _take(rows: Array, which: Ints) -> Array:
    return rows[which] if len(rows) > 1 else rows


def _axes(a: Shape, b: Shape, rows: _Rows, what: str, rounded: bool) -> tuple[Array, Ints]:
    """Run the separating axis test on polytopes."""
    for name, shape in (("a", a), ("b", b)):
        sharp = rounded or shape.packed[1][layout.RADIUS] == 0.0
        if not (shape.packed[0][layout.POLYTOPE] and sharp):
            raise UnsupportedPair(
                f"{what} takes polytopes{', rounded ones too' if rounded else ''}, and {name} is a "
                f"{type(shape).__name__}: use signed_distance, whose normal is the best axis of any pair"
            )
    axes, kinds = np.empty((rows.total, 8)), np.empty((rows.total, 4), dtype=np.int64)
    gauss_a, gauss_b = a.gauss_map(), b.gauss_map()
    turned = np.empty((len(gauss_b[1]), 9))
    axis_rows(*a.packed, *b.packed, rows.a, rows.b, *gauss_a, *gauss_b, turned, 0, rows.total, axes, kinds)
    return axes, kinds


def _solve_facets(
    a: Shape,
    b: Shape,
    rows: _Rows,
    max_distance: float,
    tol: float,
    out: Array,
    flags: Ints,
    log: list[Array] | None,
) -> None:
    if log is not None:
        raise ShapeError("trace=True shows GJK and EPA: use depth='auto' or 'epa'")
    a, b, rows, exchanged = _canonical(a, b, rows)
    axes, kinds = _axes(a, b, rows, "depth='facets'", True)
    overlap_rows(
        *a.packed, *b.packed, rows.a, rows.b, axes, kinds, 0, rows.total, _workspace(_FIRST_POINTS)[2], out, flags
    )
    left = np.flatnonzero(flags[:, 3])
    if len(left):
        few = _Rows(_take(rows.a, left), _take(rows.b, left), len(left), True)
        rest, marks = np.empty((len(left), narrow.FLOATS)), np.zeros((len(left), narrow.INTS), dtype=np.int64)
        _solve_cores(a, b, few, narrow.SIGNED, max_distance, tol, rest, marks, None)
        out[left], flags[left] = rest, marks
    _mirror(out, exchanged)


def _plane_core(plane: Halfspace) -> tuple[Array, Ints, Array]:
    """Return the normal, and a point core centred on the plane."""
    if "core" not in plane._cache:
        center = plane.normal * plane.offset
        slack = 8.0 * layout.UNIT_ROUNDOFF * abs(plane.offset)
        floats = np.array([0.0, *center, 0.0, slack])
        plane._cache["core"] = (plane.normal.copy(), np.array([layout.POINT, 0, 0, 1], dtype=np.int64), floats)
    core: tuple[Array, Ints, Array] = plane._cache["core"]
    return core


def _solve_plane(
    a: Shape,
    b: Shape,
    rows: _Rows,
    mode: int,
    max_distance: float,
    tol: float,
    out: Array,
    flags: Ints,
    log: list[Array] | None,
) -> None:
    flip = isinstance(b, Halfspace)
    plane, shape = (b, a) if flip else (a, b)
    of_plane, of_shape = (rows.b, rows.a) if flip else (rows.a, rows.b)
    assert isinstance(plane, Halfspace)
    plane_rows(
        *_plane_core(plane), *shape.packed, of_plane, of_shape, flip, mode, max_distance, 0, rows.total, out, flags
    )


def _collide_plane(a: Shape, b: Shape, rows: _Rows, margin: float) -> NDArray[np.bool_]:
    out, flags = np.empty((rows.total, narrow.FLOATS)), np.empty((rows.total, narrow.INTS), dtype=np.int64)
    _solve_plane(a, b, rows, narrow.SIGNED, inf, 0.0, out, flags, None)
    answer: NDArray[np.bool_] = ~(out[:, 1] > margin)
    return answer


#: the registry of pair families; higher layers add theirs in front when they are first used
families: list[Family] = [
    Family(lambda a, b: isinstance(a, Halfspace) != isinstance(b, Halfspace), _solve_plane, _collide_plane),
    Family(lambda a, b: not isinstance(a, Halfspace) and not isinstance(b, Halfspace), _solve_cores, _collide_cores),
]


def _contains(shape: Shape, points: Array) -> NDArray[np.bool_]:
    poses = np.zeros((len(points), 13))
    poses[:, :9] = IDENTITY[0, :9]
    poses[:, 9:12] = points
    rows = _Rows(IDENTITY, poses, len(points), True)
    with _first_call("collide"):
        return _collide_cores(shape, Point(), rows, 0.0)


base.contains_hook.append(_contains)


# --- the first call compiles
# ---------------------------------------------------------------------------------------------

_called: set[str] = set()


@contextmanager
def _watch(name: str) -> Iterator[None]:
    def say() -> None:
        sys.stderr.write("gjk3d: compiling kernels, once on this machine (`gjk3d warmup` does it ahead) ...\n")
        sys.stderr.flush()

    timer = threading.Timer(3.0, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _called.add(name)


class _Nothing:
    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, *args: object) -> None:
        return None


_nothing = _Nothing()


def _first_call(name: str) -> Any:
    """Return a context that says so on stderr where a first call is slow, and costs nothing afterwards."""
    return _nothing if name in _called else _watch(name)
