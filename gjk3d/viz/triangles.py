"""Triangles: surfaces of solids, balls, rods and arrows, and the normals and edges for shading.

pyvista's solids are inexact at the scales 1e-9 and 1e6, since they are float32 and skip small translations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array

from gjk3d.bodies.cloud import PointCloud
from gjk3d.bodies.compound import Compound
from gjk3d.bodies.topology import edges_of, merged_places
from gjk3d.errors import Gjk3dError
from gjk3d.geometry.polygon import connected
from gjk3d.shapes import measure
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.typing import Array, Ints
from gjk3d.wording import kind_of

#: Segments of a full turn of curved shapes.
RESOLUTION = 96
#: Greatest number of faces of a hull that is drawn exactly. Others are drawn by support points in some directions.
MAX_FACES = 150_000
#: Greatest number of balls of a point cloud that are drawn as balls. Larger clouds are drawn as dots.
MOST_BALLS = 1500
#: Segments of each of many balls: the fewest for which neighbouring faces are shaded smoothly, without edges.
_SMALL = 22
_MANY_PARTS = 50  #: greatest number of parts of a compound with fine curved surfaces
#: Corners of a box, with the last axis fastest, and its faces.
CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
BOX_FACES = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6],
                   [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]])  # fmt: skip


class Solid(NamedTuple):
    """Triangles. Without faces, the vertices are the ends of a segment, or a point."""

    vertices: Array
    faces: Ints


def surface_of(x: Any, resolution: int = RESOLUTION) -> tuple[Array, Ints]:
    """Return the surface of a solid in its local frame as triangles. An object without a surface is a TypeError."""
    if isinstance(x, PointCloud):
        points = np.asarray(x.points)
        if x.radius <= 0.0:
            return points, np.zeros((0, 3), dtype=np.int64)
        return ball(points, x.radius, _SMALL if len(points) > 200 else 32)
    if not hasattr(x, "surface"):
        if hasattr(x, "regular_faces"):  # PolyData
            surface = x.triangulate()
            return np.asarray(surface.points, dtype=np.float64), np.asarray(surface.regular_faces, dtype=np.int64)
        if hasattr(x, "vertices") and hasattr(x, "faces"):
            return np.asarray(x.vertices, dtype=np.float64), np.asarray(x.faces, dtype=np.int64)
        raise TypeError(f"the object is {kind_of(x)}, expected a shape, a Mesh, a Surface or PolyData")
    if isinstance(x, Compound) and len(x.parts) > _MANY_PARTS:
        resolution = min(resolution, _SMALL)
    try:
        surface = x.surface(resolution)
        if len(surface.faces) > MAX_FACES and hasattr(x, "support"):
            surface = ConvexHull(x.support(measure.sphere(1.0, RESOLUTION).vertices)).surface()
    except Gjk3dError as error:
        raise TypeError(f"{x!r} cannot be drawn: {error}") from error
    return surface.vertices, surface.faces


def solid_surface(x: Any) -> tuple[Array, Ints]:
    """Return the surface of a body in a result. A cloud that is drawn as dots becomes small octahedra with faces."""
    if not is_dots(x):
        return surface_of(x)
    points = np.asarray(x.points)
    radius = x.radius or 0.004 * float(np.linalg.norm(np.ptp(points, axis=0)))
    return ball(points, radius, 4) if radius > 0.0 else (points[:1], surface_of(x)[1])


def is_dots(x: Any) -> bool:
    """Return whether an object is a point cloud without a radius, or of more points than are drawn as balls."""
    return isinstance(x, PointCloud) and (x.radius <= 0.0 or len(x.points) > MOST_BALLS)


def repeated(faces: Ints, copies: int, vertices: int) -> Ints:
    """Return the faces of several equal bodies whose vertices are stored body by body."""
    every: Ints = (faces + vertices * np.arange(copies)[:, None, None]).reshape(-1, 3)
    return every


def ball(center: Array, radius: float, resolution: int = 40) -> Solid:
    """Return a ball, or balls at (k, 3) points."""
    unit, points = measure.sphere(radius, resolution), np.reshape(center, (-1, 3))
    vertices = (points[:, None] + unit.vertices).reshape(-1, 3)
    return Solid(vertices, repeated(unit.faces, len(points), len(unit.vertices)))


def slab(point: Array, normal: Array, center: Array, half: float, thick: float) -> Solid:
    """Return a square slab near ``center`` whose top is on a plane. The thickness is relative to the half width."""
    axes = np.array([*across(normal), normal])
    top = center + float(normal @ (point - center)) * normal
    return Solid(top + half * (CORNERS * (1.0, 1.0, thick / 2) - (0.0, 0.0, thick / 2)) @ axes, BOX_FACES)


def rod(start: Array, end: Array, radius: float, resolution: int = 32) -> Solid:
    """Return a round bar between two points, or k bars between (k, 3) points."""
    return turned(measure.cylinder(1.0, 1.0, resolution), start, end, radius)


def arrow(start: Array, direction: Array, length: float, thickness: float) -> list[Solid]:
    """Return the shaft and the head of an arrow, or of arrows from (k, 3) points.

    The direction is a unit vector. The thickness is the radius of the shaft.
    """
    end = start + length * direction
    neck = end - min(6.0 * thickness, 0.5 * length) * direction
    return [rod(start, neck, thickness), turned(measure.cone(1.0, 1.0, 40), neck, end, 2.3 * thickness)]


def box_lines(corners: Array) -> Array:
    """Return the edges of boxes as segments, (12 n, 2, 3). In the order of a box's corners, z changes first, then y."""
    pairs = [(i, i | 1 << bit) for bit in range(3) for i in range(8) if not i >> bit & 1]
    return np.asarray(corners).reshape(-1, 8, 3)[:, np.array(pairs)].reshape(-1, 2, 3)


def joined(solids: Sequence[tuple[Array, Ints]]) -> Solid:
    """Return the triangles of several solids as one solid."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in solids)])
    faces = [faces + start for (_, faces), start in zip(solids, starts, strict=False)]
    points = np.concatenate([np.zeros((0, 3)), *(vertices for vertices, _ in solids)])
    return Solid(points, np.concatenate([np.zeros((0, 3), dtype=np.int64), *faces]))


def turned(surface: measure.Surface, start: Array, end: Array, radius: float) -> Solid:
    """Return a solid of revolution of height 1 and radius 1 that is stretched between two points, or (k, 3) points."""
    start, end = np.reshape(start, (-1, 3)), np.reshape(end, (-1, 3))
    length = np.linalg.norm(end - start, axis=1, keepdims=True)
    first, second = across((end - start) / np.where(length > 0.0, length, 1.0))
    frames = np.stack([radius * first, radius * second, end - start], axis=1)
    vertices = ((start + end) / 2)[:, None] + surface.vertices @ frames
    return Solid(vertices.reshape(-1, 3), repeated(surface.faces, len(start), len(surface.vertices)))


def across(axis: Array) -> tuple[Array, Array]:
    """Return two unit vectors that are orthogonal to a unit vector, or to (k, 3) vectors, and to each other."""
    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis), axis=-1)])
    side /= np.linalg.norm(side, axis=-1, keepdims=True)
    return side, np.cross(axis, side)


def is_sheet(vertices: Array, faces: Ints) -> bool:
    """Return whether a surface does not enclose a volume, like the coincident two sides of a flat body."""
    a, b, c = (vertices[faces[:, k]] - vertices[0] for k in range(3))
    areas = np.cross(b - a, c - a)
    most = 1e-9 * float(np.abs(areas).sum())
    return bool(0.0 < most >= np.abs(areas.sum(axis=0)).max() and abs(np.vdot(a, areas)) <= most * np.abs(a).max())


#: Faces with a smaller angle between their normals, in degrees, belong to one smooth patch.
CREASE = 18.0


class Shaded(NamedTuple):
    """A mesh whose vertices are duplicated along its sharp edges."""

    vertices: Array
    normals: Array
    faces: Ints
    edges: Array  #: (k, 2, 3), sharp and open edges


def shade(vertices: Array, faces: Ints, copies: int = 1) -> Shaded:
    """Return a mesh split into smooth patches, each with separate normals.

    The mesh consists of ``copies`` equal bodies, one after another. The largest body is split, and the others in the
    same way.
    """
    every = np.reshape(vertices, (copies, -1, 3)).astype(np.float64, copy=False)
    sizes = np.ptp(every, axis=1).max(axis=1) if every.size else np.ones(copies)
    chief = int(np.argmax(sizes))
    mesh = edges_of(merged_places(every[chief]), faces[: len(faces) // copies])
    corners = mesh.corners
    points = np.empty((copies, mesh.places.max() + 1 if len(mesh.places) else 0, 3))
    points[:, mesh.places] = every
    unit = (points - points[:, :1]) / np.where(sizes > 0.0, sizes, 1.0)[:, None, None]  # no underflow at any scale
    a, b, c = (unit[:, corners[:, k]] for k in range(3))
    areas = np.cross(b - a, c - a)
    lengths = np.linalg.norm(areas[chief], axis=1)
    normals = areas[chief] / np.where(lengths > 0.0, lengths, 1.0)[:, None]

    owner = np.argsort(mesh.numbers, axis=None, kind="stable") // 3  # the triangles at each edge, sorted by edges
    count = np.bincount(mesh.numbers.ravel(), minlength=len(mesh.ends))
    begin = np.cumsum(count) - count
    first, second = owner[begin], owner[begin + count - 1]
    smooth = (count == 2) & (np.einsum("ij,ij->i", normals[first], normals[second]) > np.cos(np.radians(CREASE)))
    shown = (count <= 2) & ~smooth
    # an edge of more than two triangles, as on a flat body with two sides, is shown unless all are in one plane
    for k in np.flatnonzero(count > 2):
        fan = normals[owner[begin[k] : begin[k] + count[k]]]
        shown[k] = np.ptp(np.abs(fan @ fan[0])) > 1e-3
    patch = connected(first[smooth], second[smooth], len(corners))
    keys, split = np.unique(corners.ravel() * (len(corners) + 1) + np.repeat(patch, 3), return_inverse=True)
    around = coo_array((np.ones(split.size), (split.ravel(), np.repeat(np.arange(len(corners)), 3))),
                       shape=(len(keys), len(corners))).tocsr()  # fmt: skip
    sums = (around @ np.moveaxis(areas, 0, 1).reshape(len(corners), 3 * copies)).reshape(len(keys), copies, 3)
    sums = np.moveaxis(sums, 1, 0).reshape(-1, 3)
    norm = np.linalg.norm(sums, axis=1)
    sums[norm == 0.0] = (0.0, 0.0, 1.0)
    sums /= np.where(norm > 0.0, norm, 1.0)[:, None]
    doubled, sharp = points[:, keys // (len(corners) + 1)].reshape(-1, 3), points[:, mesh.ends[shown]].reshape(-1, 2, 3)
    return Shaded(doubled, sums, repeated(split.reshape(-1, 3), copies, len(keys)), sharp)
