"""Intersections of rays with a shape: `raycast` and its result."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from numbers import Real
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d.convex.checks import three, vectors
from gjk3d.convex.solve import planes_of, ray_core
from gjk3d.engine.dispatch import Collider, find_single, kind_of
from gjk3d.errors import ShapeError
from gjk3d.narrow import ray as narrow
from gjk3d.poses import STANDING, WIDTH, is_plain, parts, pose_rows
from gjk3d.query.motion import Motion, static_motion
from gjk3d.query.time_of_impact import ImpactStatus, time_of_impact
from gjk3d.results import Answer, compared
from gjk3d.shapes import layout
from gjk3d.shapes.base import Kind, Shape
from gjk3d.shapes.polytopes import Point
from gjk3d.typing import Array, N, Pose, PoseLike, Row, Rows, Unclear, UnclearPose
from gjk3d.wording import count, format_vector

if TYPE_CHECKING:
    from gjk3d.results import Each
    from gjk3d.typing import Bools, Ints


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
        The hit in world axes. NaN if the ray misses.
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
            raise TypeError("this RayHit is of one ray, and len() needs a stack")
        return len(self.point)

    def __bool__(self) -> bool:
        raise TypeError("the truth value of a RayHit is ambiguous. Use .hit")

    def __getitem__(self: RayHit[Any], index: SupportsIndex) -> RayHit[float]:
        """Return one row of a stack."""
        if self.point.ndim == 1:
            raise TypeError("this RayHit is of one ray and cannot be indexed")
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


@overload
def raycast(
    shape: Collider, origins: Unclear, directions: Rows, pose: PoseLike | None = None, *, max_distance: float = inf
) -> RayHit[Any]: ...
@overload
def raycast(
    shape: Collider, origins: Rows, directions: Unclear, pose: PoseLike | None = None, *, max_distance: float = inf
) -> RayHit[Any]: ...
@overload
def raycast(
    shape: Collider, origins: Rows, directions: Rows, pose: UnclearPose, *, max_distance: float = inf
) -> RayHit[Any]: ...
@overload
def raycast(  # type: ignore[overload-overlap]
    shape: Collider, origins: Row, directions: Row, pose: Pose | None = None, *, max_distance: float = inf
) -> RayHit[float]: ...
@overload
def raycast(
    shape: Collider, origins: Rows, directions: Rows, pose: PoseLike | None = None, *, max_distance: float = inf
) -> RayHit[Array]: ...
def raycast(
    shape: Collider, origins: Rows, directions: Rows, pose: PoseLike | None = None, *, max_distance: float = inf
) -> RayHit[Any]:
    """Return the first intersection of each ray with a shape.

    Parameters
    ----------
    shape : Shape, Mesh, Compound, VoxelGrid, PointCloud or HeightField
    origins, directions : (3,) float or (n, 3) float
        In world axes. A direction has any length except zero. One origin may have many directions, and one direction
        many origins.
    pose : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        World from local; None is the identity.
    max_distance : float
        In the caller's unit. A hit at a greater distance counts as a miss.

    Returns
    -------
    RayHit
        The surface belongs to the shape. A ray that grazes it to within rounding is a hit, and an origin on it is
        inside.

    Raises
    ------
    ShapeError, PoseError, UnsupportedPair
        For invalid input; the message names the ray, the value and the cure.

    Notes
    -----
    Spheres, capsules, boxes, cylinders, cones, ellipsoids, half-spaces and hulls have closed forms. For other convex
    shapes the result is the time of impact of a point, see `gjk3d.time_of_impact`. Rays hit the triangles of a mesh
    from both sides. A ray that starts in a closed mesh is inside. For other bodies the result is the first hit of
    their parts. The error of the distance is about 1e-14 of the sum of the distance and the shape's size. If the ray
    grazes the surface, it is the square root of that.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.raycast(gk.Box((2, 2, 2)), (5, 0.5, 0), (-10, 0, 0))
    RayHit: at 4, on a face towards (1, 0, 0)
    """
    if type(max_distance) is float and max_distance >= 0.0 and (pose is None or is_plain(pose)):
        at_once = _quick_hit(shape, three(origins), three(directions), STANDING if pose is None else pose, max_distance)
        if at_once is not None:
            return at_once
    find_single("raycast", shape)
    starts, many_origins, units, many_directions = check_rays(origins, directions, max_distance)
    poses, many_poses = pose_rows(pose, "pose")
    stacks = ("origins", starts, many_origins), ("directions", units, many_directions), ("pose", poses, many_poses)
    counts = {name: len(rows) for name, rows, stacked in stacks if stacked and len(rows) != 1}
    if len(set(counts.values())) > 1:
        lengths = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise ShapeError(f"raycast: {lengths} rows, expected equal numbers")
    count = next(iter(counts.values()), 1)
    stacked = many_origins or many_directions or many_poses
    return _cast(shape, poses, starts, units, float(max_distance), count, stacked)


def _quick_hit(shape: Any, origin: Any, direction: Any, pose: Array, most: float) -> RayHit[float] | None:
    """Return the hit of one ray on a shape with a closed form; None if the general path has to compute it."""
    if origin is None or direction is None:
        return None
    core: tuple[Ints, Array, Array] | None
    try:
        core = shape._cache["ray"]
    except (AttributeError, KeyError):
        core = _core(shape)
    if core is None:
        return None
    out = np.empty(_ROW)
    code = narrow.ray_once(*core, pose, origin, direction, most, out)
    if code < 0 or code == narrow.GENERAL:
        return None
    result: RayHit[float] = object.__new__(RayHit)
    result._row = out, code
    return result


def _core(shape: Any) -> tuple[Ints, Array, Array] | None:
    """Return a packed shape with its planes, and cache both; None for anything but a convex shape."""
    if not kind_of(shape) & Kind.SHAPES:
        return None
    core = shape._cache["ray"] = (*ray_core(shape), planes_of(shape).ravel())
    return core


def check_rays(origins: Any, directions: Any, max_distance: Any) -> tuple[Array, bool, Array, bool]:
    """Check rays; return rows of origins and of unit directions, and for each whether it was a stack."""
    if isinstance(max_distance, bool) or not isinstance(max_distance, Real) or not float(max_distance) >= 0.0:
        raise ShapeError(f"raycast: max_distance is {max_distance!r}, expected one number, at least 0")
    starts, origins_stacked = vectors(origins, "raycast: origins")
    directions_rows, directions_stacked = vectors(directions, "raycast: directions")
    return starts, origins_stacked, _units(directions_rows, directions_stacked), directions_stacked


def cast_rays(shape: Collider, rows: Array, starts: Array, units: Array, max_distance: float) -> RayHit[Any]:
    """Return `raycast` for n checked rays and n pose rows."""
    return _cast(shape, rows, starts, units, max_distance, len(starts), True)


def _cast(
    shape: Any,
    poses: Array,
    starts: Array,
    units: Array,
    most: float,
    count: int,
    stacked: bool,
) -> RayHit[Any]:
    out, codes = np.empty((count, 4)), np.empty(count, dtype=np.int64)
    cast = find_single("raycast", shape)
    if cast is not None:
        cast(shape, poses, starts, units, most, out, codes, cast_rays)
    else:
        core = narrow.RayCore(*ray_core(shape), planes_of(shape))
        narrow.rays(core, poses, starts, units, most, 0, count, out, codes)
        left = np.flatnonzero(codes == narrow.GENERAL)
        if len(left):
            _general(shape, poses, starts, units, most, out, codes)
    return _as_hits(out, codes, starts, units, stacked)


def _units(vectors: Array, stacked: bool) -> Array:
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    zero = np.flatnonzero(largest == 0.0)
    if len(zero):
        where = f"directions[{zero[0]}]" if stacked else "directions"
        raise ShapeError(f"raycast: {where} is zero, expected a direction. Use shape.contains for a point")
    scaled = vectors / largest[:, None] if len(vectors) else vectors
    units: Array = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return units


def _general(shape: Shape, poses: Array, starts: Array, units: Array, most: float, out: Array, codes: Any) -> None:
    """Fill the results of rays without a closed form by the time of impact of a point that moves along the ray.

    The motion ends beyond the bounding ball of the shape.
    """
    floats = shape._packed[1]
    turns, shifts = parts(poses)
    centers = shifts + turns @ floats[layout.CENTER : layout.CENTER + 3]
    reach = np.linalg.norm(starts - centers, axis=1) + floats[layout.RHO] + floats[layout.RADIUS]
    reach = np.broadcast_to(np.minimum(reach * 1.001, most), len(out))
    flights = np.tile(np.eye(4), (len(out), 1, 1))
    flights[:, :3, 3] = starts
    impact = time_of_impact(
        Point(), shape, Motion(flights, units * reach[:, None]), static_motion(poses, len(poses) > 1)
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
