"""The shapes of a robot and of the objects around it, and their bounding volumes.

Primitives of the collision geometry are used unchanged. Meshes become hulls or triangles. An object in the world is an
obstacle, and others are attached to a link. The outline of an object is the convex shape that kernels test in its
place.

Bounding volumes are capsules and boxes. Kernels compute lower bounds of the distance of two capsules or two boxes.

A slot is a shape that is fixed to a link or to the world. ``rows[k]`` is the pose of slot k. The packed numbers of slot
k in the array f begin at starts[k, 1] for the shape, at starts[k, 2] for its capsule, and at starts[k, 3] for its box.

Links are longer than they are wide, so a capsule is a far better bound than a ball. The distance of two capsules costs
as little as the distance of two segments. Boxes separate flat shapes side by side, whose capsules overlap. Only the six
face axes of two boxes are tested, because they decide most cases without the nine cross products.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import inf, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import spatial

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.bodies.mesh import Mesh, as_mesh
from gjk3d.convex.checks import no_shape
from gjk3d.convex.solve import is_mapped
from gjk3d.engine.dispatch import is_collider
from gjk3d.errors import Gjk3dError, ParseError, RobotError, ShapeError
from gjk3d.geometry.points import principal_axes
from gjk3d.geometry.vec3 import Vec3, dot, place, sub, turn
from gjk3d.poses import pose_rows
from gjk3d.robot import files, urdf
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.curved import Capsule, Cylinder, Ellipsoid, Sphere
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.polytopes import Box, ConvexHull
from gjk3d.typing import Array, Ints, OnePose
from gjk3d.units import conversion, rescaling
from gjk3d.wording import kind_of

# --- shapes ----------------------------------------------------------------------------------------------------------


#: representations of a mesh
MESH_MODES = ("bodies", "hull", "parts", "mesh")
_CONVEX = 0.99  #: a body that fills this share of the volume of its hull is not divided into convex parts
_PRIMITIVES: dict[str, Callable[..., Shape]] = {
    "box": lambda *edges: Box(edges),
    "sphere": Sphere,
    "cylinder": Cylinder,
    "capsule": Capsule,
    "ellipsoid": lambda *radii: Ellipsoid(radii),
}


class Body(NamedTuple):
    """One shape that is fixed to a link: an item of `Robot.bodies`.

    Attributes
    ----------
    link : int
        Number of the link.
    pose : (4, 4) float
        Pose of the shape in the frame of the link.
    shape : Shape or Mesh
        The shape in its local frame.
    geometry : int
        Index in `Robot.geometries` of the geometry of the body.

    Examples
    --------
    >>> import gjk3d as gk
    >>> body = gk.robot.Robot.example().bodies[1]
    >>> body.link, body.pose[:3, 3].tolist(), body.shape
    (1, [0.5, 0.0, 0.0], Box(extents=[1.0, 0.1, 0.1]))
    """

    link: int
    pose: Array
    shape: Shape | Mesh
    geometry: int


class Geometry(NamedTuple):
    """One collision geometry of the URDF, and its bodies: an item of `Robot.geometries`.

    Attributes
    ----------
    link : int
        Number of the link.
    pose : (4, 4) float
        Pose of all bodies of the geometry in the frame of the link.
    hull : Shape
        A convex shape that contains all bodies of the geometry.
    first, last : int
        The bodies of the geometry are ``robot.bodies[first:last]``.
    way : str
        How the bodies represent the geometry: "exact", "bodies", "hull", "parts" or "mesh", see `Robot.from_urdf`.
    source : Path or None
        The file of a mesh. None for other geometries.
    error : float or None
        Greatest distance of the mesh from its convex parts in metres, see `gjk3d.Mesh.decompose`. None if ``way`` is
        not "parts".

    Examples
    --------
    >>> import gjk3d as gk
    >>> geometry = gk.robot.Robot.example().geometries[0]
    >>> geometry.way, geometry.hull
    ('exact', Cylinder(height=0.2, radius=0.1))
    """

    link: int
    pose: Array
    hull: Shape
    first: int
    last: int
    way: str
    source: Path | None
    error: float | None


_MeshShapes = tuple[Shape, list[Shape | Mesh], float | None]  # the hull, the shapes, and their error


def make_bodies(
    description: urdf.Description,
    order: Sequence[str],
    package_dirs: Sequence[str | os.PathLike[str]],
    mode: str,
) -> tuple[tuple[Body, ...], tuple[Geometry, ...]]:
    """Return the bodies and geometries of all links. ``order[k]`` names link k, and ``mode`` is one of `MESH_MODES`."""
    if mode not in MESH_MODES:
        raise ShapeError(f"geometry={mode!r}, expected one of {', '.join(map(repr, MESH_MODES))}")
    bodies: list[Body] = []
    geometries: list[Geometry] = []
    loaded: dict[tuple[Path, tuple[float, ...]], _MeshShapes] = {}
    links = {link.name: link for link in description.links}
    # A mesh that several links use at one scale, such as a finger, is read and divided only once.
    for number, name in enumerate(order):
        for geometry in links[name].geometries:
            file = None
            if geometry.mesh is not None:
                hull, shapes, error = of_mesh(Mesh(*geometry.mesh), geometry, mode)
            elif geometry.kind == "mesh":
                file = files.find(geometry.filename, description.file, package_dirs, geometry.where)
                if (file, geometry.scale) not in loaded:
                    loaded[file, geometry.scale] = of_mesh(file, geometry, mode)
                hull, shapes, error = loaded[file, geometry.scale]
            else:
                hull, error = _primitive(geometry), None
                shapes = [hull]
            first = len(bodies)
            pose = geometry.origin.copy()
            pose.setflags(write=False)
            bodies += [Body(number, pose, shape, len(geometries)) for shape in shapes]
            used = mode if geometry.kind == "mesh" else "exact"
            geometries.append(Geometry(number, pose, hull, first, len(bodies), used, file, error))
    return tuple(bodies), tuple(geometries)


def _primitive(geometry: urdf.Geometry) -> Shape:
    try:
        return _PRIMITIVES[geometry.kind](*geometry.sizes)
    except ShapeError as reason:
        raise ParseError(f"{geometry.where}: {reason}") from None


def of_mesh(file: Path | Mesh, geometry: urdf.Geometry, mode: str) -> _MeshShapes:
    """Return the hull of a mesh or mesh file, the shapes that represent the mesh, and their error.

    ``mode`` is one of `MESH_MODES` and selects the shapes. The error is the greatest distance of the mesh from its
    convex parts, or None for other modes than "parts".
    """
    from gjk3d.files.load import load  # loaded only for a robot with meshes

    try:
        mesh = file if isinstance(file, Mesh) else load(file, unit="meters")  # a unit that the file states is ignored
        if geometry.scale != (1.0, 1.0, 1.0):
            mesh = mesh._mapped(np.diag(geometry.scale), unit=None, source=mesh.source)
        hull = mesh.hull()
        if mode == "mesh":
            return hull, [mesh], None
        if mode == "hull" or mesh.is_convex:
            return hull, [hull], 0.0 if mode == "parts" else None
        if mode == "parts":
            return _parts(mesh)
        parts = [body.hull() for body in mesh.bodies()]
    except Gjk3dError as reason:
        raise type(reason)(f"{geometry.where}: {reason}") from None
    return hull, [hull] if len(parts) == 1 else list(_outer(parts)), None


def _parts(mesh: Mesh) -> _MeshShapes:
    """Return the hull of a mesh, the convex parts of its connected bodies, and the greatest error of the parts.

    Open or nearly convex bodies become their hulls.
    """
    hulls: list[ConvexHull] = []
    error = 0.0
    for body in mesh.bodies():
        if body.is_watertight and body.convexity < _CONVEX:
            cut: Any = body.decompose()
            hulls += [
                ConvexHull(np.asarray(shape.vertices) @ pose[:3, :3].T + pose[:3, 3]) for shape, pose in cut.parts
            ]
            error = max(error, float(cut.geometry_error))
        else:
            hulls.append(body.hull())
    hulls = _outer(hulls)
    # Parts may reach slightly outside the mesh. The hull must contain them, since kernels test the hull first.
    hull = ConvexHull(np.concatenate([np.asarray(part.vertices) for part in hulls]))
    return hull, list(hulls), error


def _outer(hulls: list[ConvexHull]) -> list[ConvexHull]:
    """Return the hulls that are not inside another hull. Their union equals the union of all hulls."""
    planes: list[tuple[Array, Array]] = []  # normals and offsets of the faces of each outer hull, the largest first
    outer: list[int] = []
    for k in sorted(range(len(hulls)), key=lambda k: -float(hulls[k].volume)):
        corners = np.asarray(hulls[k].vertices)
        if any(np.all(normals @ corners.T + offsets[:, None] <= 0.0) for normals, offsets in planes):
            continue
        outer.append(k)
        if hulls[k].volume > 0.0:
            try:
                equations = spatial.ConvexHull(corners).equations
            except spatial.QhullError:
                continue  # a flat hull contains no other one
            planes.append((equations[:, :3], equations[:, 3]))
    return [hulls[k] for k in sorted(outer)]


# --- bounding volumes ------------------------------------------------------------------------------------------------


NO_CAPSULE = -1  #: replaces the first index of a capsule for a half-space, which has no capsule
#: number of floats of a capsule: the two ends of its segment in the frame of the shape, and the radius
CAPSULE_SIZE = 7
_ROUNDS = 20  #: steps of the search for the smallest circle around the points projected along an axis
_ROUNDING = 1e-12  #: relative enlargement of a capsule that covers rounding
_NORMAL = layout.FLOAT_HEAD  #: first index of the normal of a half-space; its offset follows the normal


def with_bounds(
    shapes: list[Shape], bound: Callable[[Shape], Array], floats: Array, starts: Ints
) -> tuple[Array, Ints]:
    """Return ``floats`` followed by a bounding volume of each shape, and ``starts`` with a new column.

    The column contains the index in the floats where the volume of each shape begins, or `NO_CAPSULE` for a half-space,
    which is not bounded. ``bound`` is `bounding_capsule` or `bounding_box`.
    """
    rows = [None if isinstance(shape, Halfspace) else bound(shape) for shape in shapes]
    sizes = np.array([0 if row is None else len(row) for row in rows], dtype=np.int64)
    where = np.where(sizes > 0, len(floats) + np.cumsum(sizes) - sizes, NO_CAPSULE)
    more = [row for row in rows if row is not None]
    return np.concatenate([floats, *more]), np.column_stack([starts, where])


@lru_cache(maxsize=1024)
def bounding_capsule(shape: Shape) -> Array:
    """Return a capsule around a shape in its local frame, (7,): the two ends of its segment, and the radius.

    For a polytope the result is the capsule of least volume along a coordinate axis or a principal axis. For a cylinder
    or a capsule it has the same axis. For other shapes it is the bounding ball.
    """
    if isinstance(shape, (Box, ConvexHull)):
        return _round_points(shape.vertices)
    if isinstance(shape, (Cylinder, Capsule)):
        half = 0.5 * shape.height
        return np.array([0.0, 0.0, -half, 0.0, 0.0, half, shape.radius])  # contains the shape exactly, without rounding
    numbers = shape._packed[1]
    center = numbers[layout.CENTER : layout.CENTER + 3]
    radius = (numbers[layout.RHO] + numbers[layout.RADIUS]) * (1.0 + _ROUNDING)
    return np.array([*center, *center, radius])


def _round_points(points: Array) -> Array:
    middle = points.mean(axis=0)
    axes = np.concatenate([np.eye(3), np.linalg.svd(points - middle, full_matrices=False)[2]])
    best, least = np.zeros(CAPSULE_SIZE), np.inf
    for axis in axes:
        along = (points - middle) @ axis
        flat = points - middle - np.outer(along, axis)
        centre = np.zeros(3)
        for k in range(_ROUNDS):  # Badoiu and Clarkson: a step towards the farthest point, shorter each time
            farthest = np.argmax(((flat - centre) ** 2).sum(axis=1))
            centre += (flat[farthest] - centre) / (k + 2)
        # The radius is the distance of the farthest point from the axis. Each point limits the centres of the caps.
        square = ((flat - centre) ** 2).sum(axis=1)
        inside = np.sqrt(square.max() - square)
        top, bottom = (along - inside).max(), (along + inside).min()
        if top < bottom:
            top = bottom = 0.5 * (top + bottom)
        over = along - np.clip(along, bottom, top)
        radius = np.sqrt((square + over * over).max())
        volume = radius * radius * ((top - bottom) + 4.0 / 3.0 * radius)
        if volume < least:
            least = volume
            size = np.abs(points).max() + radius
            best = np.array([*(middle + centre + bottom * axis), *(middle + centre + top * axis),
                             radius + _ROUNDING * size])  # fmt: skip
    return best


@kernel
def end_of(rows: Array, k: int, f: Array, o: int) -> tuple[float, float, float]:
    """Return the point f[o : o + 3], given in the local frame of shape k, in world coordinates.

    rows[k] is the pose of the shape.
    """
    x, y, z = f[o], f[o + 1], f[o + 2]
    return (
        rows[k, 0] * x + rows[k, 1] * y + rows[k, 2] * z + rows[k, 9],
        rows[k, 3] * x + rows[k, 4] * y + rows[k, 5] * z + rows[k, 10],
        rows[k, 6] * x + rows[k, 7] * y + rows[k, 8] * z + rows[k, 11],
    )


@kernel
def _above(rows: Array, k: int, f: Array, o: int, p: Vec3, q: Vec3) -> float:
    """Return a lower bound of the lesser of the signed distances of p and q from the half-space of slot k.

    The points p and q are in world coordinates. The packed numbers of the half-space begin at f[o].
    """
    n = (f[o + _NORMAL], f[o + _NORMAL + 1], f[o + _NORMAL + 2])
    n = (
        rows[k, 0] * n[0] + rows[k, 1] * n[1] + rows[k, 2] * n[2],
        rows[k, 3] * n[0] + rows[k, 4] * n[1] + rows[k, 5] * n[2],
        rows[k, 6] * n[0] + rows[k, 7] * n[1] + rows[k, 8] * n[2],
    )
    far = dot(n, (rows[k, 9], rows[k, 10], rows[k, 11])) + f[o + _NORMAL + 3]
    size = abs(far) + abs(rows[k, 9]) + abs(rows[k, 10]) + abs(rows[k, 11])
    size += abs(p[0]) + abs(p[1]) + abs(p[2]) + abs(q[0]) + abs(q[1]) + abs(q[2])
    return float(min(dot(n, p), dot(n, q)) - far - (_ROUNDING + 8.0 * rows[k, 12]) * size)


@kernel
def between_capsules(rows: Array, f: Array, starts: Ints, a: int, b: int) -> float:
    """Return a lower bound of the distance of the capsules of slots a and b. Slot b may be a half-space.

    The nearest points of the segments (Ericson, Real-Time Collision Detection, 2005, sec. 5.1.9) only give a direction.
    The bound is the gap between the capsules' projections on this direction, so it is valid for inaccurate points too.
    """
    oa, ob = starts[a, 2], starts[b, 2]
    px, py, pz = end_of(rows, a, f, oa)
    ux, uy, uz = end_of(rows, a, f, oa + 3)
    if ob == NO_CAPSULE:
        return float(_above(rows, b, f, starts[b, 1], (px, py, pz), (ux, uy, uz)) - f[oa + 6] * (1.0 + 1e-9))
    qx, qy, qz = end_of(rows, b, f, ob)
    vx, vy, vz = end_of(rows, b, f, ob + 3)
    ux, uy, uz = ux - px, uy - py, uz - pz
    vx, vy, vz = vx - qx, vy - qy, vz - qz
    rx, ry, rz = px - qx, py - qy, pz - qz
    uu, vv = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz
    uv = ux * vx + uy * vy + uz * vz
    ur, vr = ux * rx + uy * ry + uz * rz, vx * rx + vy * ry + vz * rz
    s = 0.0  # for nearly parallel segments any s is valid, since t is computed from it
    cross = uu * vv - uv * uv
    if cross > 1e-12 * uu * vv:
        s = min(max((uv * vr - ur * vv) / cross, 0.0), 1.0)
    t = 0.0
    if vv > 0.0:
        t = min(max((uv * s + vr) / vv, 0.0), 1.0)
    if uu > 0.0:
        s = min(max((uv * t - ur) / uu, 0.0), 1.0)
    x, y, z = rx + s * ux - t * vx, ry + s * uy - t * vy, rz + s * uz - t * vz  # from b to a
    length = sqrt(x * x + y * y + z * z)
    radii = (f[oa + 6] + f[ob + 6]) * (1.0 + 1e-9)
    if not length > 0.0:
        return float(-radii)
    # along the direction from B to A: the least projection of the segment of A minus the greatest of the segment of B
    low = (x * rx + y * ry + z * rz) + min(x * ux + y * uy + z * uz, 0.0)
    gap = (low - max(x * vx + y * vy + z * vz, 0.0)) / length
    return float(gap - radii - 1e-9 * abs(gap))


#: number of floats of a box in the frame of the shape: the centre, three axes, three half widths, and twice the
#: greatest absolute coordinate of the shape
BOX_SIZE = 16
NO_BOX = -1  #: replaces the first index of a box for a half-space, which has no box
#: bound of the rounding errors, and of the residuals of rotations, relative to the positions and sizes of two boxes
_PLACED = 2e-13


@lru_cache(maxsize=1024)
def bounding_box(shape: Shape) -> Array:
    """Return the packed numbers of a box around a shape in its local frame, (16,), see `BOX_SIZE`.

    The axes of the box are the axes of the local frame, or the principal axes if their box is smaller.
    """
    frames = [np.eye(3)]
    if isinstance(shape, (Box, ConvexHull)):
        points = shape.vertices
        frames.append(principal_axes(points - points.mean(axis=0))[1])
    best, least = np.zeros(BOX_SIZE), np.inf
    for axes in frames:
        ends = np.asarray(shape.support(np.concatenate([axes, -axes])))
        high, low = (ends[:3] * axes).sum(axis=1), (ends[3:] * axes).sum(axis=1)
        reach = np.abs(ends).max() * 2.0
        half = 0.5 * (high - low) + _ROUNDING * reach
        if half.prod() < least:
            least = half.prod()
            center = 0.5 * (high + low) @ axes
            best = np.array([*center, *axes.ravel(), *half, reach])
    return best


@inlined
def _axes(m: Array, f: Array, o: int) -> tuple[Vec3, Vec3, Vec3]:
    """Return the three axes of a box in world coordinates. Its numbers begin at f[o], and ``m`` is its pose."""
    return (
        turn(m, (f[o + 3], f[o + 4], f[o + 5])),
        turn(m, (f[o + 6], f[o + 7], f[o + 8])),
        turn(m, (f[o + 9], f[o + 10], f[o + 11])),
    )


@inlined
def _reach(axis: Vec3, axes: tuple[Vec3, Vec3, Vec3], f: Array, o: int) -> float:
    """Return the half width along ``axis`` of a box with the given ``axes``, whose numbers begin at f[o]."""
    x, y, z = axes
    return float(f[o + 12] * abs(dot(axis, x)) + f[o + 13] * abs(dot(axis, y)) + f[o + 14] * abs(dot(axis, z)))


@kernel
def between_boxes(rows: Array, f: Array, starts: Ints, a: int, b: int) -> float:
    """Return a lower bound of the distance of the boxes of slots a and b, or -inf if slot b is a half-space."""
    oa, ob = starts[a, 3], starts[b, 3]
    if ob == NO_BOX:
        return -inf
    p, q = place(rows[a], (f[oa], f[oa + 1], f[oa + 2])), place(rows[b], (f[ob], f[ob + 1], f[ob + 2]))
    # Separating axes (Gottschalk, Lin, Manocha 1996): the gap along a unit axis is a lower bound of the distance.
    d = sub(q, p)
    x, y = _axes(rows[a], f, oa), _axes(rows[b], f, ob)
    gap = abs(dot(d, x[0])) - f[oa + 12] - _reach(x[0], y, f, ob)
    gap = max(gap, abs(dot(d, x[1])) - f[oa + 13] - _reach(x[1], y, f, ob))
    gap = max(gap, abs(dot(d, x[2])) - f[oa + 14] - _reach(x[2], y, f, ob))
    gap = max(gap, abs(dot(d, y[0])) - f[ob + 12] - _reach(y[0], x, f, oa))
    gap = max(gap, abs(dot(d, y[1])) - f[ob + 13] - _reach(y[1], x, f, oa))
    gap = max(gap, abs(dot(d, y[2])) - f[ob + 14] - _reach(y[2], x, f, oa))
    far = abs(p[0]) + abs(p[1]) + abs(p[2]) + abs(q[0]) + abs(q[1]) + abs(q[2])
    return float(gap - _PLACED * (far + f[oa + 15] + f[ob + 15]))


# --- objects around the robot ----------------------------------------------------------------------------------------


WORLD = -1  #: number that replaces the number of a link for shapes in the world


class CollisionObject(NamedTuple):
    """An obstacle in the world, or an object that is attached to a link."""

    name: str
    shape: Any
    pose: Array  #: (4, 4), in the frame of the link, or in the world
    link: int  #: number of the link to which the object is attached, or WORLD
    touch: frozenset[str]  #: names of links and objects that the object may touch


class Outline(NamedTuple):
    """The shape that kernels use for an object: its own shape, a convex shape around it, or a half-space."""

    shape: Shape
    exact: bool  #: whether the outline is the shape itself

    @property
    def unbounded(self) -> bool:
        """Whether the outline is a half-space or a plane."""
        return isinstance(self.shape, Halfspace)


def outline(shape: Any) -> Outline:
    """Return the outline of a shape, or of any other object that `gjk3d.collide` accepts."""
    if isinstance(shape, Mesh):
        return Outline(shape.hull(), False)
    if isinstance(shape, Shape) and not is_mapped(shape):
        return Outline(shape, True)
    if getattr(shape, "bottom", None) == -np.inf:  # a height field that is unbounded below
        top = float(np.max(shape.heights) + abs(np.max(shape.heights)) * 1e-12)
        return Outline(Halfspace((0.0, 0.0, 1.0), top), False)
    low, high = shape.bounds  # these may be rounded, so the box is padded by more than the rounding error
    pad = 1e-9 * float(np.abs([low, high]).max())
    ends = np.array([low - pad, high + pad])
    box = ConvexHull([[ends[i, 0], ends[j, 1], ends[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    return Outline(box, False)


def collision_object(name: Any, shape: Any, pose: Any, link: int = WORLD, touch: Iterable[str] = ()) -> CollisionObject:
    """Check a name, a shape and a pose, and return them as an object. The caller checks that the name is unused."""
    if type(name) is not str or not name:
        raise RobotError(f"the name of an object is {name!r}, expected a text that is not empty")
    shape = as_mesh(shape)
    if not is_collider(shape):
        raise RobotError(str(no_shape(f"the shape of {name!r}", shape)))
    shape = in_metres(shape, repr(name))
    if link != WORLD and outline(shape).unbounded:
        cure = "Attach a large Box" if isinstance(shape, Halfspace) else "Give it a finite bottom"
        raise RobotError(f"{name!r} is {kind_of(shape)}, which is unbounded and cannot be attached. {cure}")
    matrix = one_pose(pose, f"pose of {name!r}")
    return CollisionObject(name, shape, matrix, link, frozenset(names_in(touch, f"{name!r}: touch")))


def in_metres(shape: Any, what: str) -> Any:
    """Return a shape with its unit converted to metres. A shape without a unit is unchanged."""
    unit = getattr(shape, "unit", None)
    if unit is None or not (cure := rescaling(unit, "meters")):
        return shape
    factor = conversion(unit, "meters")
    if factor is None or not isinstance(shape, Mesh):
        raise RobotError(f"{what} is {kind_of(shape)} in {unit}, and robots are in metres. Convert its mesh: {cure}")
    return shape._cached("in metres", lambda: shape.scaled(factor, unit="meters"))


def names_in(value: Any, what: str) -> tuple[str, ...]:
    """Return the names in an iterable. A single text, or an item that is not a name, raises `RobotError`."""
    if isinstance(value, str):
        raise RobotError(f"{what} is the text {value!r}, expected names in a list, for example [{value!r}]")
    if not isinstance(value, Iterable):
        raise RobotError(f"{what} is {kind_of(value)}, expected names in a list")
    names = tuple(value)
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise RobotError(f"{what} has {wrong[0]!r:.80}, expected names")
    return names


def one_pose(pose: OnePose, name: str) -> Array:
    """Return a copy of a pose as a matrix. A stack of poses raises `RobotError`."""
    rows, stacked = pose_rows(pose, name, single=True)
    if stacked:
        raise RobotError(f"the {name} is a stack of poses, expected one (4, 4) pose")
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rows[0, :9].reshape(3, 3), rows[0, 9:12]
    return matrix


def taken_over(surroundings: Any) -> list[tuple[str, Any, Any]]:
    """Return (name, shape, pose) of each object of a `gjk3d.Scene`, or of each item of a mapping.

    A value of the mapping is a shape, for which the pose is None, or a tuple (shape, pose).
    """
    if surroundings is None:
        return []
    if isinstance(surroundings, Mapping):
        return [
            (name, *entry) if isinstance(entry, tuple) and len(entry) == 2 else (name, entry, None)
            for name, entry in surroundings.items()
        ]
    from gjk3d.scene import Scene

    if isinstance(surroundings, Scene):
        objects = [(name, surroundings.shape(name), surroundings.pose(name)) for name in surroundings.names]
        for name, shape, _ in objects:
            if (unit := getattr(shape, "unit", None)) and (cure := rescaling(unit, "meters")):
                raise RobotError(
                    f"the Scene is in {unit} ({name!r}), and robots are in metres. Convert its meshes, "
                    f"{cure}, and its poses, or pass a mapping with poses in metres"
                )
        return objects
    raise RobotError(
        f"surroundings is {kind_of(surroundings)}, expected a gjk3d.Scene, or a mapping of names to shapes or "
        "(shape, pose)"
    )
