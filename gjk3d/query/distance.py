"""Distances of two shapes: `collide`, `distance`, `signed_distance`, `separating_axis` and `penetration`.

`penetration` is the greatest depth of one surface inside another body. `signed_distances` returns the signed distances
of many points from one shape.
"""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels.calls import install as builtins
from gjk3d.convex.batch import NO_POSE, Rows, in_chunks
from gjk3d.convex.checks import check_limits, check_polytopes, check_workers, depth_mode, is_finite
from gjk3d.convex.solve import core_row, edge_scratch
from gjk3d.engine.dispatch import Collider, find_single
from gjk3d.errors import ShapeError, UnsupportedPair
from gjk3d.geometry.points import morton_order
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.sat import GaussMap, axis_many
from gjk3d.narrow.solve import PairRows
from gjk3d.poses import STANDING, is_plain, matrices, pose_rows
from gjk3d.query import single
from gjk3d.query.pair import (
    Depth,
    collide_prepared,
    distance_prepared,
    prepare_query,
    prepared,
    prepared_for_builtins,
    query_collide,
    query_distance,
)
from gjk3d.query.single import Prepared, thread_scratch
from gjk3d.results import Axis, AxisKind, Distance, Status, compared
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape, points_of
from gjk3d.shapes.polytopes import Point
from gjk3d.typing import Array, Bools, Device, Ints, OnePose, Pose, PoseLike, UnclearPose
from gjk3d.wording import count, cure_of_poses, format_bounds, format_vector, with_cure

if TYPE_CHECKING:
    from gjk3d.bodies.mesh_points import PointAnswers

# --- collision and distance ------------------------------------------------------------------------------------------


_AXIS_FLOATS, _ONE_ROW = 5, (1, 5)  #: number of floats in a row of the output of `gjk3d.narrow.sat.axis_many`
_KINDS, _STATUSES = tuple(AxisKind), tuple(Status)


@overload
def collide(
    a: Collider, b: Collider, pose_a: UnclearPose, pose_b: PoseLike | None = None, *, margin: float = 0.0,
    workers: int = 1, device: Device = "cpu",
) -> Any: ...  # fmt: skip
@overload
def collide(
    a: Collider, b: Collider, pose_a: PoseLike | None, pose_b: UnclearPose, *, margin: float = 0.0, workers: int = 1,
    device: Device = "cpu",
) -> Any: ...  # fmt: skip
@overload
def collide(
    a: Collider, b: Collider, pose_a: Pose | None = None, pose_b: Pose | None = None, *, margin: float = 0.0,
    workers: int = 1, device: Device = "cpu",
) -> bool: ...  # fmt: skip
@overload
def collide(
    a: Collider, b: Collider, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *, margin: float = 0.0,
    workers: int = 1, device: Device = "cpu",
) -> NDArray[np.bool_]: ...  # fmt: skip
@builtins.function(single.shapes_collide, single.collide_words)
@with_cure(cure_of_poses)
def collide(
    a: Collider,
    b: Collider,
    pose_a: PoseLike | None = None,
    pose_b: PoseLike | None = None,
    *,
    margin: float = 0.0,
    workers: int = 1,
    device: Device = "cpu",
) -> Any:
    """Return whether two shapes touch or overlap, or are closer than a margin.

    Parameters
    ----------
    a, b : Shape or Mesh
        Two half-spaces or planes are rejected, because their overlap is unbounded.
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        World from local; None is the identity. A stack for either shape, or stacks of equal length for both, gives n
        queries in one call.
    margin : float
        In the caller's unit. With a positive margin the result is also True for shapes that are closer than the margin.
        With a negative margin it is False for an overlap that is shallower than ``-margin``.
    workers : int
        Number of threads for a stack. The results have the same bits for any number.
    device : {"cpu", "cuda"}
        "cuda" runs a stack of two convex shapes on an NVIDIA GPU. It needs the extra ``gpu``. The CPU repeats the
        queries that the GPU cannot decide, so the booleans are the same.

    Returns
    -------
    bool or (n,) bool
        False if ``signed distance > margin`` is proven, else True. Shapes that touch and a shape inside the other one
        give True.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        For invalid input; the message names the fault. Valid input never raises.
    DeviceUnavailableError
        If ``device`` is not available; the message names the missing part and its installation.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[0, 3] = 1.5
    >>> gk.collide(gk.Box((1, 1, 1)), gk.Sphere(1), None, pose)
    True
    """
    if device != "cpu":
        return query_collide(a, b, pose_a, pose_b, margin, workers, device)
    return collide_prepared(prepared_for_builtins(a, b), a, b, pose_a, pose_b, margin, workers)


@overload
def distance(
    a: Collider, b: Collider, pose_a: UnclearPose, pose_b: PoseLike | None = None, *, max_distance: float = inf,
    tol: float | None = None, trace: bool = False, certificate: bool = False, workers: int = 1, device: Device = "cpu",
) -> Distance[Any]: ...  # fmt: skip
@overload
def distance(
    a: Collider, b: Collider, pose_a: PoseLike | None, pose_b: UnclearPose, *, max_distance: float = inf,
    tol: float | None = None, trace: bool = False, certificate: bool = False, workers: int = 1, device: Device = "cpu",
) -> Distance[Any]: ...  # fmt: skip
@overload
def distance(
    a: Collider, b: Collider, pose_a: Pose | None = None, pose_b: Pose | None = None, *, max_distance: float = inf,
    tol: float | None = None, trace: bool = False, certificate: bool = False, workers: int = 1, device: Device = "cpu",
) -> Distance[float]: ...  # fmt: skip
@overload
def distance(
    a: Collider, b: Collider, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *,
    max_distance: float = inf, tol: float | None = None, trace: bool = False, certificate: bool = False,
    workers: int = 1, device: Device = "cpu",
) -> Distance[Array]: ...  # fmt: skip
@builtins.function(single.shapes_distance, single.distance_words(narrow.UNSIGNED))
@with_cure(cure_of_poses)
def distance(
    a: Collider,
    b: Collider,
    pose_a: PoseLike | None = None,
    pose_b: PoseLike | None = None,
    *,
    max_distance: float = inf,
    tol: float | None = None,
    trace: bool = False,
    certificate: bool = False,
    workers: int = 1,
    device: Device = "cpu",
) -> Distance[Any]:
    """Return the distance of two shapes and the nearest points. Shapes that overlap have distance 0 and a common point.

    `distance` does not run EPA on shapes that overlap, so it is faster than `signed_distance` if the depth is not
    needed.

    Parameters
    ----------
    a, b : Shape
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        As in `collide`.
    max_distance : float
        The query stops as soon as the distance provably exceeds this value, in the caller's unit. Then the status is
        BEYOND, the bounds are valid, and the points are not the nearest points.
    tol : float, optional
        The query stops when ``upper - lower`` is at most ``tol`` times the pair's size. The size is the extent of both
        shapes from their origins, or from their middles if these are far from the origins, plus the distance. None
        selects the width that ``Distance.tight`` promises.
    trace : bool
        Store every step in ``result.trace``, for one pair only.
    certificate : bool
        Store the proof of the bounds in ``result.certificate``, for one pair only. The other fields of the result do
        not change. The proof for non-convex bodies takes up to seconds. The proof for a HeightField covers the part of
        the field that the other shape can reach.
    workers, device
        As in `collide`. The bounds hold on both devices.

    Returns
    -------
    Distance
        ``lower <= max(0, true signed distance) <= upper``.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair, DeviceUnavailableError
        As in `collide`.

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
    if device != "cpu":
        return query_distance(
            narrow.UNSIGNED, a, b, pose_a, pose_b, max_distance, tol, trace, workers, certificate, device
        )
    pair = prepared_for_builtins(a, b)
    mode = narrow.UNSIGNED
    return distance_prepared(pair, a, b, mode, pose_a, pose_b, max_distance, tol, trace, workers, certificate)


@overload
def signed_distance(
    a: Collider, b: Collider, pose_a: UnclearPose, pose_b: PoseLike | None = None, *, depth: Depth = "auto",
    max_distance: float = inf, tol: float | None = None, trace: bool = False, certificate: bool = False,
    workers: int = 1, device: Device = "cpu",
) -> Distance[Any]: ...  # fmt: skip
@overload
def signed_distance(
    a: Collider, b: Collider, pose_a: PoseLike | None, pose_b: UnclearPose, *, depth: Depth = "auto",
    max_distance: float = inf, tol: float | None = None, trace: bool = False, certificate: bool = False,
    workers: int = 1, device: Device = "cpu",
) -> Distance[Any]: ...  # fmt: skip
@overload
def signed_distance(
    a: Collider, b: Collider, pose_a: Pose | None = None, pose_b: Pose | None = None, *, depth: Depth = "auto",
    max_distance: float = inf, tol: float | None = None, trace: bool = False, certificate: bool = False,
    workers: int = 1, device: Device = "cpu",
) -> Distance[float]: ...  # fmt: skip
@overload
def signed_distance(
    a: Collider, b: Collider, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *,
    depth: Depth = "auto", max_distance: float = inf, tol: float | None = None, trace: bool = False,
    certificate: bool = False, workers: int = 1, device: Device = "cpu",
) -> Distance[Array]: ...  # fmt: skip
@builtins.function(single.shapes_signed_distance, single.distance_words(narrow.SIGNED))
@with_cure(cure_of_poses)
def signed_distance(
    a: Collider,
    b: Collider,
    pose_a: PoseLike | None = None,
    pose_b: PoseLike | None = None,
    *,
    depth: Depth = "auto",
    max_distance: float = inf,
    tol: float | None = None,
    trace: bool = False,
    certificate: bool = False,
    workers: int = 1,
    device: Device = "cpu",
) -> Distance[Any]:
    """Return the signed distance of two shapes with witness points and a normal; it is negative if they overlap.

    Parameters
    ----------
    a, b : Shape
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        As in `collide`.
    depth : {"auto", "epa", "facets", "tight", "fast"}
        The algorithm for overlap. "epa" runs EPA on every pair, even on separated shapes. "facets" tests every facet
        of the Minkowski difference, which is the separating axis test in 3D. It supports polytopes only, including
        flat and rounded ones. For meshes and other non-convex bodies, "tight" searches for the least translation and
        takes milliseconds. "fast" takes up to 13 times as long as `collide`, and its bounds are wider. Both give a
        translation that is proven to separate the bodies. "auto" is "tight" for these bodies. For two convex shapes,
        and for a half-space, "tight" and "fast" are "auto".
    max_distance, tol, trace, certificate, workers, device
        As in `distance`. A trace always runs EPA if the cores overlap.

    Returns
    -------
    Distance
        The distance is negative if the shapes overlap, and ``separation_vector`` is the minimum translation that
        separates them. Two flat shapes in one plane have depth 0, because any translation across the plane separates
        them. For non-convex bodies the depth is bounded from both sides. `penetration` is a different quantity: how
        far one surface is inside the other body. If a point or the centre of a ball is in a closed mesh, the depth is
        its distance from the surface plus the radius. It is greater if a translation by this length ends in another
        part of the body.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair, DeviceUnavailableError
        As in `collide`.

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
    >>> table = gk.Compound([(gk.Box((2, 2, 0.1)), None), (gk.Box((0.1, 0.1, 1)), np.eye(4))])
    >>> pose[:3, 3] = 0.5, 0, 0.1
    >>> result = gk.signed_distance(table, gk.Sphere(0.1), None, pose, depth="fast")
    >>> round(result.depth, 3), bool(result.lower <= result.distance <= result.upper)
    (0.05, True)
    """
    mode = depth_mode(depth)
    if device != "cpu":
        return query_distance(mode, a, b, pose_a, pose_b, max_distance, tol, trace, workers, certificate, device)
    pair = prepared_for_builtins(a, b)
    return distance_prepared(pair, a, b, mode, pose_a, pose_b, max_distance, tol, trace, workers, certificate)


@overload
def separating_axis(
    a: Collider, b: Collider, pose_a: UnclearPose, pose_b: PoseLike | None = None, *, workers: int = 1
) -> Axis[Any]: ...
@overload
def separating_axis(
    a: Collider, b: Collider, pose_a: PoseLike | None, pose_b: UnclearPose, *, workers: int = 1
) -> Axis[Any]: ...
@overload
def separating_axis(
    a: Collider, b: Collider, pose_a: Pose | None = None, pose_b: Pose | None = None, *, workers: int = 1
) -> Axis[float]: ...
@overload
def separating_axis(
    a: Collider, b: Collider, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *, workers: int = 1
) -> Axis[Array]: ...
def separating_axis(
    a: Collider, b: Collider, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *, workers: int = 1
) -> Axis[Any]:
    """Return the best axis of the separating axis test, and the face or the pair of edges of that axis.

    The axes are the normals of all faces, and the cross products of all pairs of edges that form a facet of the
    Minkowski difference. The gap along the axis is positive exactly if the shapes are separated. Then the gap is a
    lower bound of the distance. It is the distance itself if a face or two edges are nearest. If the shapes overlap,
    the negative gap is the exact depth, and the axis is the direction of the minimum translation that separates them.

    Parameters
    ----------
    a, b : Shape, Mesh or the like
        Polytopes, including flat ones. Rounded polytopes are rejected, because their nearest features need not be
        flat. For non-convex bodies the axis separates the convex hulls, and the features are those of the hulls.
    pose_a, pose_b, workers
        As in `collide`.

    Raises
    ------
    UnsupportedPair
        For curved shapes, rounded shapes and half-spaces, and for non-convex bodies that no plane separates.
    PoseError, ShapeError
        For invalid input; the message names the fault.

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
    if workers == 1 and (pose_a is None or is_plain(pose_a)) and (pose_b is None or is_plain(pose_b)):
        ma, mb = STANDING if pose_a is None else pose_a, STANDING if pose_b is None else pose_b
        at_once = _best_axis(a, b, ma, mb)
        if at_once is not None:
            return at_once
    check_workers(workers)
    sharp_hulls, rows = prepare_query("axis", a, b, pose_a, pose_b)
    rows = rows._replace(workers=workers)
    first: Any
    second: Any
    first, second, error = (a, b, 0.0) if sharp_hulls is None else sharp_hulls(a, b)
    check_polytopes(first, second, "separating_axis", False)
    out, kinds = _axes(first, second, rows)
    if sharp_hulls is not None:
        out[:, 4] += error
        _check_separated(out, a, b)
    if rows.stacked:
        return Axis(out[:, :3], out[:, 3], out[:, 4], kinds[:, 0], kinds[:, 1])
    return _axis(out, kinds)


def _axes(a: Shape, b: Shape, rows: Rows) -> tuple[Array, Ints]:
    """Return the best axes of two polytopes: (n, 5) axis, gap and error, and (n, 2) kind of axis and status."""
    pair = prepared(a, b)
    ints, floats, row, _ = core_row(a, b, len(rows.a), len(rows.b))
    out, kinds = np.empty((rows.total, _AXIS_FLOATS)), np.empty((rows.total, 2), dtype=np.int64)
    maps = _gauss_maps(a, b, pair)
    assert maps is not None
    gauss_a, gauss_b, edges = maps
    pairs = PairRows(ints, floats, row, rows.joined_poses())

    def run(start: int, stop: int) -> None:
        axis_many(pairs, NO_POSE, NO_POSE, gauss_a, gauss_b, edge_scratch(edges), start, stop, out, kinds)

    in_chunks(rows.total, rows.workers, run)
    return out, kinds


def _check_separated(out: Array, a: Collider, b: Collider) -> None:
    """Raise UnsupportedPair unless the axes separate the hulls of non-convex bodies, and thus the bodies."""
    for k in np.flatnonzero(~(out[:, 3] > out[:, 4]))[:1]:
        where = f"in row {k + 1} of {len(out)} " if len(out) > 1 else ""
        raise UnsupportedPair(
            f"separating_axis: {where}no plane separates a ({type(a).__name__}) from b ({type(b).__name__}), since "
            f"their hulls touch or overlap (gap {out[k, 3]:.6g}). Use distance or signed_distance, which use the parts"
        )


def _best_axis(a: Any, b: Any, pose_a: Array, pose_b: Array) -> Axis[float] | None:
    """Return the best axis of two polytopes at two plain matrices; None if the general path has to compute it."""
    pair = prepared(a, b)
    if pair.words is None:
        return None
    maps = _gauss_maps(a, b, pair)
    if maps is None:
        return None
    gauss_a, gauss_b, edges = maps
    out, scratch = np.empty(_ONE_ROW), thread_scratch()
    pairs, rotated = PairRows(*pair.packed, scratch.poses), edge_scratch(edges)
    if axis_many(pairs, pose_a, pose_b, gauss_a, gauss_b, rotated, 0, 1, out, scratch.flags) < 0:
        return None
    return _axis(out, scratch.flags)


def _axis(out: Array, kinds: Ints) -> Axis[float]:
    """Return the `Axis` of one pair from the output of the kernel."""
    return Axis(out[0, :3], out.item(3), out.item(4), _KINDS[kinds.item(0)], _STATUSES[kinds.item(1)])


def _gauss_maps(a: Any, b: Any, pair: Prepared) -> tuple[GaussMap, GaussMap, int] | None:
    """Return the Gauss maps of A and of B, and the greater of their numbers of edges.

    Returns None unless both shapes are polytopes without rounding.
    """
    cache = pair.extras
    if "axes" not in cache:
        sharp = all(s._packed[0][layout.POLYTOPE] and s._packed[1][layout.RADIUS] == 0.0 for s in (a, b))
        if not sharp:
            return None
        gauss_a, gauss_b = GaussMap(*a._gauss_map()), GaussMap(*b._gauss_map())
        cache["axes"] = gauss_a, gauss_b, max(len(gauss_a.edges), len(gauss_b.edges))
    maps_and_edges: tuple[GaussMap, GaussMap, int] = cache["axes"]
    return maps_and_edges


# --- penetration -----------------------------------------------------------------------------------------------------


_FINEST = 1e-4  #: least ``tol`` of `penetration`


@compared()
class Penetration(NamedTuple):
    """Result of `penetration`.

    Attributes
    ----------
    depth : float
        Depth of the deepest known point, in the caller's unit; 0 if no point is inside.
    lower, upper : float
        Proven bounds in the caller's unit. No point of either surface is deeper than ``upper``, and one point is at
        least ``lower`` deep.
    normal : (3,) float or None
        Unit vector in world axes, from A to B as in `Distance`. If B moves along ``normal``, the deepest point leaves
        the other body by the shortest translation. None if no point is inside.
    point_a, point_b : (3,) float or None
        The deepest point of one surface, and the nearest point of the other surface, in world axes. ``point_b - point_a
        == -depth * normal``.

    Notes
    -----
    If the bodies are proven to be separated, ``upper`` is 0.

    Overlapping components of one mesh, or overlapping parts of one compound, are one set of points. Their surface
    inside another component does not count. This union needs manifold3d. Without manifold3d the bounds are wider:
    ``upper`` is the depth that `signed_distance` proves.

    Examples
    --------
    >>> import gjk3d as gk
    >>> result = gk.penetration(gk.Box((2, 2, 2)), gk.Point((0.75, 0, 0)))
    >>> result
    Penetration: 0.25 along (1, 0, 0)
    >>> result.lower <= 0.25 <= result.upper, result.point_a.tolist(), result.point_b.tolist()
    (True, [1.0, 0.0, 0.0], [0.75, 0.0, 0.0])
    """

    depth: float
    lower: float
    upper: float
    normal: Array | None
    point_a: Array | None
    point_b: Array | None

    def __bool__(self) -> bool:
        raise TypeError("the truth value of a Penetration is ambiguous. Use gjk3d.collide or .depth")

    def __repr__(self) -> str:
        if self.normal is None:
            return f"Penetration: none, at most {self.upper:.3g}" if self.upper else "Penetration: none"
        return f"Penetration: {format_bounds(self.lower, self.upper, 9)} along {format_vector(self.normal, 4)}"


def penetration(
    a: Collider, b: Collider, pose_a: OnePose = None, pose_b: OnePose = None, *, tol: float = 1e-2
) -> Penetration:
    """Return the greatest depth of one surface inside the other body.

    Take all points of either surface that are inside the other body. The penetration is their greatest distance from
    the surface of that body. A bolt that cuts 0.1 into the wall of its hole has a penetration of 0.1, however far it
    must move to be free. The length of the minimum translation, ``signed_distance(a, b).depth``, is a different
    quantity and is never less than the penetration.

    Parameters
    ----------
    a, b : Shape or Mesh
        At least one of them closed. Parts of a `Compound` that touch or overlap are united, see `Penetration`.
    pose_a, pose_b : (4, 4) float, RigidTransform or None
        World from local; None is the identity.
    tol : float
        A number from 1e-4 to 1. The search stops when ``upper - lower`` is at most ``tol`` times the depth, or after
        at most 164 / tol points of each surface. In the second case the bounds may be wider, but they are valid.

    Returns
    -------
    Penetration
        ``lower <= true value <= upper``. A curved shape is replaced by an inscribed polytope of 64 segments per turn.
        The bounds hold for the shape itself. They are wider by the distance between the shape and the polytope.

    Raises
    ------
    UnsupportedPair
        For half-spaces, point clouds, shells and height fields without a bottom, which lack a closed surface, for
        shapes without a surface, and if neither body is closed.
    PoseError, ShapeError
        For invalid input, including stacks of poses.

    Notes
    -----
    The lower bound comes from points that are inside. The upper bound comes from branch and bound over the triangles.
    The depth of a point inside is at most its distance from any one face of the other body, and that distance is
    greatest at a corner of the triangle. The depth is also at most the length of any separating translation. Triangles
    are split along the faces that they cross and halfway between their two nearest faces. For a press fit, a few pieces
    then suffice.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[0, 3] = 0.75
    >>> gk.penetration(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, pose).depth
    0.25
    """
    from gjk3d.bodies.depth.penetration import deepest  # loaded at the first call

    collide, rows = prepare_query("collide", a, b, pose_a, pose_b)
    if rows.stacked:
        raise ShapeError(
            "penetration takes one pair of poses, but a stack is given. Pass single poses, for example pose_a[0]"
        )
    if not is_finite(tol) or not _FINEST <= tol <= 1.0:
        raise ShapeError(
            f"penetration: tol is {tol!r:.80}, expected the width of the bounds relative to the depth, {_FINEST} to 1"
        )
    surfaces = find_single("surfaces", a)(a), find_single("surfaces", b)(b)
    if not any(skin.mesh.is_solid for side in surfaces for skin in side):
        raise UnsupportedPair("penetration: neither body is closed, so no point is inside. Use signed_distance")
    if not collide(a, b, rows, 0.0)[0]:  # proven to be separated
        return Penetration(0.0, 0.0, 0.0, None, None, None)
    deepest_point = deepest(a, b, surfaces, rows.a[0], rows.b[0], float(tol))
    if not deepest_point.decided:  # no point is deeper than the length of a separating translation
        deepest_point = deepest_point._replace(upper=-float(signed_distance(a, b, pose_a, pose_b).lower))
    lower = max(0.0, deepest_point.lower - deepest_point.slack)
    if deepest_point.points is None:
        return Penetration(0.0, 0.0, deepest_point.upper, None, None, None)
    point_a, point_b = deepest_point.points
    between = point_a - point_b
    depth = float(np.linalg.norm(between))
    normal = between / depth if depth > 0.0 else np.array([1.0, 0.0, 0.0])
    return Penetration(depth, min(lower, depth), max(deepest_point.upper, depth), normal, point_a, point_b)


# --- many points -----------------------------------------------------------------------------------------------------


SIGNS = ("auto", "winding", "none")


@compared()
class PointDistances(NamedTuple):
    """Result of `signed_distances`, with one row for each point.

    Attributes
    ----------
    distance : (n,) float
        Distance of each point from the surface, in the caller's unit, negative inside. It is infinite beyond
        ``max_distance``, and minus infinity for a point that is deeper inside than ``max_distance``.
    point : (n, 3) float
        The nearest point of the surface, in world axes. NaN beyond ``max_distance``.
    normal : (n, 3) float
        The gradient of the distance, a unit vector in world axes: away from the surface outside, and towards it inside.
        On the surface it is the outward normal of the face. NaN beyond ``max_distance``.
    face : (n,) int
        Index of the face of the mesh with the nearest point, the lowest if several faces tie. It is -1 for other
        shapes, and beyond ``max_distance``.
    inside : (n,) bool
        Whether the distance is negative. A point on the surface of a mesh is outside. On the surface of other shapes
        rounding decides.
    lower, upper : (n,) float
        Proven bounds of the distance.

    Examples
    --------
    >>> import gjk3d as gk
    >>> near = gk.Box((2, 2, 2)).signed_distances([(3, 0, 0), (0.9, 0, 0)])
    >>> near
    PointDistances of 2 points: 1 inside
    >>> near.distance.round(12).tolist(), near.normal.round(12).tolist()
    ([2.0, -0.1], [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    """

    distance: Array
    point: Array
    normal: Array
    face: Ints
    inside: Bools
    lower: Array
    upper: Array

    def __bool__(self) -> bool:
        raise TypeError("the truth value of PointDistances is ambiguous. Use .inside or .distance")

    def __repr__(self) -> str:
        return f"PointDistances of {count(len(self.distance), 'point')}: {int(self.inside.sum())} inside"


def signed_distances(
    shape: Any, points: Any, pose: PoseLike | None, max_distance: float, sign: str, workers: int
) -> PointDistances:
    """Return the signed distances of points from a shape, see `gjk3d.Shape.signed_distances`."""
    from gjk3d.bodies.mesh_points import OUTSIDE, PointRows  # queries of convex shapes load no bodies

    handler = find_single("points", shape)
    check_limits(max_distance, None)
    check_workers(workers)
    if sign not in SIGNS:
        raise ShapeError(f"signed_distances: sign is {sign!r:.80}, expected one of {', '.join(map(repr, SIGNS))}")
    rows, _ = points_of(points, "signed_distances: points") if np.size(points) else (np.empty((0, 3)), 0)
    poses, stacked = pose_rows(pose, "pose")
    if stacked and len(poses) not in (1, len(rows)):
        counts = f"pose has {len(poses)} rows and points has {len(rows)}"
        raise ShapeError(f"signed_distances: {counts}, expected equal numbers or one pose")
    if handler is None:
        answers = _of_any(shape, rows, pose, max_distance, workers)
    else:
        # neighbours share the nodes of the tree that they visit
        order = morton_order(rows) if len(poses) == 1 else np.arange(len(rows))
        answers = handler(shape, PointRows(rows, poses, order, float(max_distance), OUTSIDE), sign, workers)
        left = np.flatnonzero(np.isnan(answers.numbers[:, 0]))
        if len(left):  # the handler of point clouds leaves some rows undecided
            some = matrices(poses[left, :12] if len(poses) > 1 else poses[0, :12])
            for column, values in zip(answers, _of_any(shape, rows[left], some, max_distance, workers), strict=True):
                column[left] = values
    x, faces, inside = answers
    return PointDistances(x[:, 0], x[:, 3:6], x[:, 6:], faces, inside, x[:, 1], x[:, 2])


def _of_any(shape: Collider, points: Array, pose: Any, most: float, workers: int) -> PointAnswers:
    """Return the signed distances of points from a shape without triangles, up to the distance ``most``."""
    from gjk3d.bodies.mesh_points import PointAnswers

    poses = np.tile(np.eye(4), (len(points), 1, 1))
    poses[:, :3, 3] = points
    answer = signed_distance(shape, Point(), pose, poses, max_distance=most, workers=workers)
    inside, beyond = answer.distance < 0.0, np.asarray(answer.status) == Status.BEYOND
    nearest = answer.point_a.copy()
    # the witness points of bodies in overlap are not on surfaces, but the separating translation ends on the surface
    nearest[inside] = points[inside] - answer.distance[inside, None] * answer.normal[inside]
    numbers = np.column_stack([answer.distance + 0.0, answer.lower, answer.upper, nearest, answer.normal])
    numbers[beyond] = inf, most, inf, nan, nan, nan, nan, nan, nan
    deep = answer.distance < -most
    # the depth of a body has a lower bound, which may be below the limit
    numbers[deep, 0], numbers[deep, 1], numbers[deep, 3:] = -inf, -inf, nan
    numbers[deep, 2] = np.maximum(numbers[deep, 2], -most)
    return PointAnswers(numbers, np.full(len(points), -1), inside)
