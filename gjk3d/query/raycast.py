"""Intersections of rays with a shape: `raycast` and its result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d.convex.batch import in_chunks
from gjk3d.convex.checks import check_workers, three, unchecked_vectors, vectors
from gjk3d.convex.solve import planes_of, ray_core
from gjk3d.engine.dispatch import Collider, find_single, kind_of
from gjk3d.errors import ShapeError, UnsupportedPair
from gjk3d.narrow import ray as narrow
from gjk3d.poses import GREATEST, STANDING, WIDTH, is_plain, parts, pose_rows
from gjk3d.query.time_of_impact import ImpactStatus, Motion, static_motion, time_of_impact
from gjk3d.results import Answer, compared
from gjk3d.shapes import layout
from gjk3d.shapes.base import Kind, Shape
from gjk3d.shapes.polytopes import Point
from gjk3d.typing import Array, Bools, Ints, N, Pose, PoseLike, Row, Rows, Unclear, UnclearPose
from gjk3d.wording import count, format_vector
from gjk3d.wording import kind_of as name_of

if TYPE_CHECKING:
    from gjk3d.results import Each
    from gjk3d.typing import Bools


ROW_WIDTH = WIDTH  #: width of the rows of `gjk3d.narrow.ray.ray_once`, which hold a result and a pose
_ROW = 2, ROW_WIDTH


#: functions that read the fields of one ray's result from its row
_UNPACK: dict[str, Callable[[Array, int], Any]] = {
    "hit": lambda row, code: code != narrow.MISS,
    "inside": lambda row, code: code == narrow.INSIDE,
    "distance": lambda row, code: row.item(0),
    "normal": lambda row, code: row[0, 1:4],
    "point": lambda row, code: row[0, 4:7],
    "direction": lambda row, code: row[0, 7:10],
    "origin": lambda row, code: row[0, 10:13],
}

FIELDS = tuple(_UNPACK)
Limits = float | Array  #: one greatest distance for all rays, or one for each


@compared(*FIELDS)
class RayHit(Answer[N]):
    """Result of `raycast`, for one ray or for n.

    Attributes
    ----------
    hit : bool or (n,) bool
        Whether the ray intersects the shape.
    distance : float or (n,) float
        Distance from the origin to the hit, in the caller's unit for a direction of any length. It is infinite if the
        ray misses.
    point : (3,) float or (n, 3) float
        The hit point in world axes. NaN if the ray misses.
    normal : (3,) float or (n, 3) float
        Unit outward normal of the surface at the hit. It is opposite to the ray if the origin is inside. NaN if the ray
        misses.
    inside : bool or (n,) bool
        Whether the origin is in the shape or on its surface. Then the distance is 0.
    origin, direction : (3,) float or (n, 3) float
        The ray. The direction is a unit vector.

    Examples
    --------
    >>> import gjk3d as gk
    >>> rays = gk.raycast(gk.Sphere(1), (0, 0, 3), [(0, 0, -1), (0, 0, 1)])
    >>> rays, rays[0]
    (RayHit of 2 rays: 1 hit, RayHit: at 2, on a face towards (0, 0, 1))
    >>> rays.hit.tolist(), rays.distance.tolist()
    ([True, False], [2.0, inf])
    """

    if TYPE_CHECKING:
        hit: Each[bool, Bools] = Each()
        inside: Each[bool, Bools] = Each()
    else:  # a slot would not be a descriptor to type checkers
        __slots__ = ("_row", "direction", "distance", "hit", "inside", "normal", "origin", "point")
    distance: N
    point: Array
    normal: Array
    origin: Array
    direction: Array
    _row: tuple[Array, int]  #: for one ray: the kernel's row and code

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Unpack a field of one ray's result at the first access."""
            unpack = _UNPACK.get(name)
            if unpack is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = unpack(*self._row)
            setattr(self, name, value)
            return value

    def __len__(self) -> int:
        if self.point.ndim == 1:
            raise TypeError("this RayHit is of one ray, and len() needs a stack. Pass stacks of rays, (n, 3)")
        return len(self.point)

    def __bool__(self) -> bool:
        raise TypeError("the truth value of a RayHit is ambiguous. Use .hit")

    def __getitem__(self: RayHit[Any], index: SupportsIndex) -> RayHit[float]:
        """Return the hit of one ray of a stack."""
        if self.point.ndim == 1:
            raise TypeError("this RayHit is of one ray and cannot be indexed. Use its fields, for example hit.distance")
        row: RayHit[float] = object.__new__(RayHit)
        row.hit, row.inside = bool(self.hit[index]), bool(self.inside[index])
        row.distance, row.point, row.normal = float(self.distance[index]), self.point[index], self.normal[index]
        row.origin, row.direction = self.origin[index], self.direction[index]
        return row

    def __repr__(self) -> str:
        if self.point.ndim == 2:
            return f"RayHit of {count(len(self.point), 'ray')}: {int(self.hit.sum())} hit"
        if not self.hit:
            return "RayHit: none"
        if self.inside:
            return "RayHit: at 0, from inside"
        return f"RayHit: at {self.distance:.9g}, on a face towards {format_vector(self.normal, 4)}"


@compared()
class RayHits(NamedTuple):
    """All hits of rays with a mesh, sorted by ray and distance.

    Attributes
    ----------
    ray : (k,) int
        Index of the ray.
    distance : (k,) float
        Distance from the origin of the ray, in the caller's unit.
    point : (k, 3) float
        The hit point in world axes.
    normal : (k, 3) float
        Unit outward normal of the face in world axes, after `Mesh.repairs`. A face that is not in `Mesh.skin` has the
        normal of its winding.
    face : (k,) int
        Index of the face of the mesh. Copies of a triangle that `Mesh.repairs` counts once give one hit. A hit on an
        edge or a corner is one hit. Its face is the one with the smallest computed distance, in a tie the one with the
        lowest index. A ray along a face has one hit, where the ray first touches the face.
    entering : (k,) bool
        Whether the ray enters the mesh at the hit, which means that it runs against the normal.
    starts : (n + 1,) int
        The hits of ray ``i`` are the rows ``starts[i]`` to ``starts[i + 1] - 1``.

    Examples
    --------
    >>> import gjk3d as gk
    >>> mesh = gk.Mesh(*gk.Box((2, 2, 2)).surface())
    >>> hits = gk.raycast(mesh, [(0.2, 0.1, 5), (3, 0, 5)], (0, 0, -1), hits="all")
    >>> hits
    RayHits of 2 rays: 2 hits
    >>> hits.ray.tolist(), hits.distance.tolist(), hits.entering.tolist(), hits.starts.tolist()
    ([0, 0], [4.0, 6.0], [True, False], [0, 2, 2])
    """

    ray: Ints
    distance: Array
    point: Array
    normal: Array
    face: Ints
    entering: Bools
    starts: Ints

    def __bool__(self) -> bool:
        raise TypeError("the truth value of RayHits is ambiguous. Use len(hits.ray)")

    def __repr__(self) -> str:
        return f"RayHits of {count(len(self.starts) - 1, 'ray')}: {count(len(self.ray), 'hit')}"


@overload
def raycast(
    shape: Collider, origins: Rows, directions: Rows, pose: PoseLike | None = None, *, max_distance: Limits = inf,
    hits: Literal["all"], workers: int = 1,
) -> RayHits: ...  # fmt: skip
@overload
def raycast(
    shape: Collider, origins: Rows, directions: Rows, pose: PoseLike | None = None, *, max_distance: Limits = inf,
    hits: Literal["any"], workers: int = 1,
) -> Any: ...  # fmt: skip
@overload
def raycast(
    shape: Collider, origins: Unclear, directions: Rows, pose: PoseLike | None = None, *, max_distance: Limits = inf,
    hits: Literal["first"] = "first", workers: int = 1,
) -> RayHit[Any]: ...  # fmt: skip
@overload
def raycast(
    shape: Collider, origins: Rows, directions: Unclear, pose: PoseLike | None = None, *, max_distance: Limits = inf,
    hits: Literal["first"] = "first", workers: int = 1,
) -> RayHit[Any]: ...  # fmt: skip
@overload
def raycast(
    shape: Collider, origins: Rows, directions: Rows, pose: UnclearPose, *, max_distance: Limits = inf,
    hits: Literal["first"] = "first", workers: int = 1,
) -> RayHit[Any]: ...  # fmt: skip
@overload
def raycast(  # type: ignore[overload-overlap]
    shape: Collider, origins: Row, directions: Row, pose: Pose | None = None, *, max_distance: Limits = inf,
    hits: Literal["first"] = "first", workers: int = 1,
) -> RayHit[float]: ...  # fmt: skip
@overload
def raycast(
    shape: Collider, origins: Rows, directions: Rows, pose: PoseLike | None = None, *, max_distance: Limits = inf,
    hits: Literal["first"] = "first", workers: int = 1,
) -> RayHit[Array]: ...  # fmt: skip
def raycast(
    shape: Collider, origins: Rows, directions: Rows, pose: PoseLike | None = None, *, max_distance: Limits = inf,
    hits: Literal["first", "any", "all"] = "first", workers: int = 1,
) -> Any:  # fmt: skip
    """Return the first intersection of each ray with a shape, or all intersections with a mesh.

    Parameters
    ----------
    shape : Shape, Mesh, Shell, Compound, VoxelGrid, PointCloud or HeightField
    origins, directions : (3,) float or (n, 3) float
        In world axes. Coordinates of origins are at most 1e50. A direction has any length except zero. One origin may
        have many directions, and one direction many origins.
    pose : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        World from local; None is the identity.
    max_distance : float or (n,) float
        In the caller's unit. A hit at a greater distance counts as a miss.
    hits : "first", "any" or "all"
        "any" returns only whether each ray hits. "all" returns all hits with the triangles of a mesh. With "all" the
        mesh is a surface: a ray that starts inside a closed mesh hits where it leaves.
    workers : int
        Number of threads. The result does not depend on this number.

    Returns
    -------
    RayHit, or bool or (n,) bool for "any", or RayHits for "all"
        The surface belongs to the shape. A ray that grazes the surface to within rounding is a hit, and an origin on
        the surface is inside.

    Raises
    ------
    ShapeError, PoseError, UnsupportedPair
        For invalid input; the message names the ray, the value and the cure.

    Notes
    -----
    Spheres, capsules, boxes, cylinders, cones, ellipsoids, half-spaces and hulls have closed forms. For other convex
    shapes the result is the time of impact of a point, see `gjk3d.time_of_impact`. Rays hit the triangles of a mesh
    from both sides. If a ray starts in a closed mesh, its distance is 0. For other bodies the result is the first hit
    of their parts.

    The relative error of the distance is about 1e-14, relative to the sum of the distance and the size of the shape.
    For a mesh this error is divided by the sine of the angle between the ray and the triangle, so that the point is on
    the triangle within rounding. If a ray grazes a curved surface, the relative error is the square root of 1e-14.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.raycast(gk.Box((2, 2, 2)), (5, 0.5, 0), (-10, 0, 0))
    RayHit: at 4, on a face towards (1, 0, 0)
    """
    common = hits == "first" and workers == 1
    if common and type(max_distance) is float and max_distance >= 0.0 and (pose is None or is_plain(pose)):
        at_once = _quick_hit(shape, three(origins), three(directions), STANDING if pose is None else pose, max_distance)
        if at_once is not None:
            return at_once
    triangles = find_single("rays at triangles", shape)
    if hits not in ("first", "any", "all"):
        raise ShapeError(f"raycast: hits is {hits!r:.80}, expected 'first', 'any' or 'all'")
    check_workers(workers)
    rays = _Rays.of(origins, directions, pose, max_distance)
    if hits == "all":
        if triangles is None:
            cure = "Use hits='first'" if kind_of(shape) & Kind.PLANES else "Use gjk3d.Mesh(*shape.surface())"
            raise UnsupportedPair(f"raycast: hits='all' takes a Mesh, not {name_of(shape)}. {cure}")
        return _all_at_triangles(triangles, shape, rays, workers)
    if triangles is None:
        result = _cast(shape, rays.checked(), workers)
    else:
        result = _at_triangles(triangles, shape, rays, workers)
    return result if hits == "first" else result.hit


class _Rays(NamedTuple):
    """The arguments of `raycast` as arrays. An array with a single row applies to all rays."""

    starts: Array
    directions: Array  #: of any length
    poses: Array
    limits: Array
    total: int
    stacked: tuple[bool, bool, bool]  #: whether origins, directions and poses were stacks

    @classmethod
    def of(cls, origins: Any, directions: Any, pose: Any, max_distance: Any) -> _Rays:
        """Return the rays without a check for infinite numbers and NaN."""
        starts, many_origins = unchecked_vectors(origins, "raycast: origins")
        rows, many_directions = unchecked_vectors(directions, "raycast: directions", copy=False)
        poses, many_poses = pose_rows(pose, "pose")
        limits = _limits(max_distance)
        stacked = many_origins, many_directions, many_poses
        stacks = {"origins": starts, "directions": rows, "pose": poses, "max_distance": limits}
        counts = {name: len(each) for name, each in stacks.items() if len(each) != 1}
        if len(set(counts.values())) > 1:
            lengths = " and ".join(f"{name} has {count} rows" for name, count in counts.items())
            raise ShapeError(f"raycast: {lengths}, expected equal numbers")
        return cls(starts, rows, poses, limits, next(iter(counts.values()), 1), stacked)

    def checked(self) -> _Rays:
        """Return the rays with unit directions. Raise ShapeError if a number is not finite or a direction is zero."""
        starts = vectors(self.starts if self.stacked[0] else self.starts[0], "raycast: origins", GREATEST)[0]
        rows = vectors(self.directions if self.stacked[1] else self.directions[0], "raycast: directions")[0]
        return self._replace(starts=starts, directions=_units(rows, self.stacked[1]))


def _limits(max_distance: Any) -> Array:

    given = np.asarray(max_distance)
    if given.dtype.kind not in "fiu" or given.ndim > 1 or not (given >= 0.0).all():
        raise ShapeError(
            f"raycast: max_distance is {max_distance!r:.80}, expected a number or (n,) numbers, each at least 0"
        )
    return np.array(given, dtype=np.float64).reshape(-1)


def _at_triangles(module: Any, mesh: Any, rays: _Rays, workers: int) -> RayHit[Any]:
    hits = module.hits_on_mesh(
        mesh, module.Rays(rays.starts, rays.directions, rays.poses, rays.limits), rays.total, workers
    )
    if isinstance(hits, int):
        rays.checked()  # which raises
    result: RayHit[Any] = object.__new__(RayHit)
    result.hit, result.inside, result.distance = hits.hit, hits.inside, hits.distances
    result.point, result.normal, result.direction = hits.points, hits.normals, hits.units
    result.origin = np.broadcast_to(rays.starts, hits.points.shape)
    return result if any(rays.stacked) or len(rays.limits) != 1 else result[0]


def _all_at_triangles(module: Any, mesh: Any, rays: _Rays, workers: int) -> RayHits:
    given = module.Rays(rays.starts, rays.directions, rays.poses, rays.limits)
    answer = module.all_on_mesh(mesh, given, rays.total, workers)
    if isinstance(answer, int):
        rays.checked()  # which raises
    counts, distance, face, units = answer
    ray = np.repeat(np.arange(rays.total), counts)
    starts = np.concatenate([[0], np.cumsum(counts)])
    directions = units[ray]
    normal = mesh._normals(face)
    turns = np.broadcast_to(parts(rays.poses)[0], (rays.total, 3, 3))[ray]
    normal = (turns @ normal[..., None])[..., 0]
    flat = (normal == 0.0).all(axis=1)  # a face without area
    normal[flat] = -directions[flat]
    entering = (normal * directions).sum(axis=1) < 0.0
    point = np.broadcast_to(rays.starts, (rays.total, 3))[ray] + distance[:, None] * directions
    return RayHits(ray, distance, point, normal, face, entering, starts)


def _quick_hit(shape: Any, origin: Any, direction: Any, pose: Array, most: float) -> RayHit[float] | None:
    """Return the hit of one ray on a shape with a closed form; None if the general path has to compute it."""
    if origin is None or direction is None:
        return None
    cast: Callable[..., int] | None
    try:
        cast = shape._cache["ray"]
    except (AttributeError, KeyError):
        cast = _single_cast(shape)
    if cast is None:
        return None
    out = np.empty(_ROW)
    code = cast(pose, origin, direction, most, out)
    if code < 0 or code == narrow.GENERAL:
        return None
    result: RayHit[float] = object.__new__(RayHit)
    result._row = out, code
    return result


def _single_cast(shape: Any) -> Callable[..., int] | None:
    """Return the compiled function that casts one ray at a convex shape or mesh; None for other shapes.

    The function is cached in the shape.
    """
    kind = kind_of(shape)
    if kind & Kind.SHAPES:
        cast: Callable[..., int] = partial(narrow.ray_once, *ray_core(shape), planes_of(shape).ravel())
    elif kind & Kind.MESH:
        cast = find_single("rays at triangles", shape).single_cast(shape)
    else:
        return None
    shape._cache["ray"] = cast
    return cast


def check_rays(origins: Any, directions: Any, max_distance: Any) -> tuple[Array, bool, Array, bool]:
    """Return the origins, whether they were a stack, the unit directions, and whether these were a stack."""
    if isinstance(max_distance, bool) or not isinstance(max_distance, Real) or not float(max_distance) >= 0.0:
        raise ShapeError(f"raycast: max_distance is {max_distance!r}, expected one number, at least 0")
    starts, origins_stacked = vectors(origins, "raycast: origins", GREATEST)
    directions_rows, directions_stacked = vectors(directions, "raycast: directions")
    return starts, origins_stacked, _units(directions_rows, directions_stacked), directions_stacked


def cast_rays(shape: Collider, rows: Array, starts: Array, units: Array, max_distance: float) -> RayHit[Any]:
    """Return the result of `raycast` for n checked rays with unit directions ``units``, and n pose rows."""
    return _cast(shape, _Rays(starts, units, rows, np.full(1, max_distance), len(starts), (True, True, True)))


def _cast(shape: Any, rays: _Rays, workers: int = 1) -> RayHit[Any]:
    count, most = rays.total, float(rays.limits.max(initial=0.0))
    out, codes = np.empty((count, 4)), np.empty(count, dtype=np.int64)
    cast = find_single("raycast", shape)
    if cast is not None:
        cast(shape, rays.poses, rays.starts, rays.directions, most, out, codes, cast_rays)
    else:
        core = narrow.RayCore(*ray_core(shape), planes_of(shape))

        def run(start: int, stop: int) -> None:
            narrow.rays(core, rays.poses, rays.starts, rays.directions, most, start, stop, out, codes)

        in_chunks(count, workers, run)
        if (codes == narrow.GENERAL).any():
            _general(shape, rays.poses, rays.starts, rays.directions, most, out, codes)
    codes[(codes == narrow.HIT) & (out[:, 0] > rays.limits)] = narrow.MISS
    return _as_hits(out, codes, rays.starts, rays.directions, any(rays.stacked) or len(rays.limits) != 1)


def _units(vectors: Array, stacked: bool) -> Array:
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    zero = np.flatnonzero(largest == 0.0)
    if len(zero):
        where = f"directions[{zero[0]}]" if stacked else "directions"
        raise ShapeError(f"raycast: {where} is zero, expected a direction. Use shape.signed_distances for a point")
    scaled = vectors / largest[:, None] if len(vectors) else vectors
    units: Array = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return units


def _general(shape: Shape, poses: Array, starts: Array, units: Array, most: float, out: Array, codes: Any) -> None:
    """Write the results of rays at a shape without a closed form to the rows of ``out`` and ``codes``.

    The results come from the time of impact of a point that moves along the ray, up to the far end of the bounding ball
    of the shape.
    """
    floats = shape._packed[1]
    turns, shifts = parts(poses)
    centers = shifts + turns @ floats[layout.CENTER : layout.CENTER + 3]
    reach = np.linalg.norm(starts - centers, axis=1) + floats[layout.RHO] + floats[layout.RADIUS]
    reach = np.broadcast_to(np.minimum(reach * 1.001, most), len(out))
    flights, turned = np.tile(np.eye(4), (len(out), 1, 1)), poses.copy()
    # relative to the shape's origin, since coordinates far from the world's origin are rounded
    flights[:, :3, 3], turned[:, 9:12] = starts - shifts, 0.0
    impact = time_of_impact(
        Point(), shape, Motion(flights, units * reach[:, None]), static_motion(turned, len(poses) > 1)
    )
    closest = impact.closest
    inside = (impact.time[:, 1] == 0.0) | (impact.status == ImpactStatus.OVERLAPPING)
    # an unresolved impact is a ray that grazes the surface within rounding
    hit = np.isin(impact.status, (ImpactStatus.HIT, ImpactStatus.UNRESOLVED)) & ~inside
    when = np.where(np.isfinite(impact.time[:, 1]), impact.time[:, 1], impact.free_until)
    out[:, 0] = np.where(inside, 0.0, np.where(hit, when * reach, inf))
    out[:, 1:] = np.where(inside[:, None], -units, -closest.normal)
    codes[:] = np.where(inside, narrow.INSIDE, np.where(hit, narrow.HIT, narrow.MISS))


def _as_hits(out: Array, codes: NDArray[np.int64], starts: Array, units: Array, stacked: bool) -> RayHit[Any]:
    hit, inside = codes != narrow.MISS, codes == narrow.INSIDE
    distance = np.where(hit, out[:, 0], inf)
    with np.errstate(invalid="ignore"):
        point = starts + np.where(hit, distance, np.nan)[:, None] * units
    normal = np.where(hit[:, None], out[:, 1:], np.nan)
    result: RayHit[Any] = object.__new__(RayHit)
    result.origin, result.direction = (np.broadcast_to(rows, point.shape) for rows in (starts, units))
    if stacked:
        result.hit, result.distance, result.point, result.normal, result.inside = hit, distance, point, normal, inside
        return result
    result.hit, result.inside, result.distance = bool(hit[0]), bool(inside[0]), float(distance[0])
    result.point, result.normal = point[0], normal[0]
    result.origin, result.direction = result.origin[0], result.direction[0]
    return result
