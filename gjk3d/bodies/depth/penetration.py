"""Greatest depth of a point of either surface inside the other object, with bounds.

Each object is represented by closed meshes: the surface of a mesh, voxel grid or height field with a bottom, the faces
of a polytope, and the surfaces of the parts of a compound. The union of overlapping bodies replaces the bodies, since a
face inside another body is not part of the surface. An inscribed polytope replaces a curved shape, and the bounds are
wider by the distance between their surfaces. The crevice between two inscribed polytopes may be deeper than that
between the curved shapes. If parts overlap and some are curved, the union of circumscribed polytopes therefore bounds
the depth from above.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.base import in_order
from gjk3d.bodies.body_pair import MeshPair
from gjk3d.bodies.compound import Compound
from gjk3d.bodies.depth.depth import depth, skin_of
from gjk3d.bodies.depth.inside import Inner, inner, thinned
from gjk3d.bodies.grids import HeightField, VoxelGrid
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_points import nearest_points
from gjk3d.bodies.mesh_rays import holds
from gjk3d.bodies.parts import turned
from gjk3d.bodies.solids import ERROR, any_overlap, arrays_of, available, joined, placed, union_of
from gjk3d.errors import UnsupportedPair
from gjk3d.poses import IDENTITY, ROUNDING, composed, inverse, moved, moved_back, relative
from gjk3d.shapes.base import Kind, Polytope, Shape
from gjk3d.typing import Array, Bools

_WORK = 164.0  #: greatest number of points of each surface that are tested, times the tolerance
_FINE = 64  #: segments of a full turn, for curved shapes
_FLAT = 1e-12  #: greatest area of a face without a normal, relative to the largest face
_MORE = 1.0 + 1e-6  #: covers rounding
_OUTWARD = np.repeat([-1.0, 1.0], 3)  #: outward directions of the coordinates of a box, (6,)


class Skin(NamedTuple):
    """A closed surface at a pose, and a bound of the distance from it to the true surface."""

    mesh: Mesh
    row: Array  #: the pose, (13,)
    slack: float
    decided: bool = True  #: False if the surface may be partly inside another body of the same object
    curved: bool = False  #: whether the surface replaces that of a curved shape
    outer: Mesh | None = None  #: for a union of curved parts: a mesh around it, since ``mesh`` may have deep crevices
    parts: tuple[Skin, ...] = ()  #: the parts of a union of curved parts

    @property
    def host(self) -> Mesh:
        """The mesh that is used as a host. Depths in it exceed those in the true surface by at most ``slack``."""
        return self.outer or self.mesh


class Deepest(NamedTuple):
    """Bounds of the depth, and the deepest known pair of points in the world frame."""

    lower: float  #: distance of the two points
    upper: float
    points: tuple[Array, Array] | None  #: a point of a and one of b, or None if no point is inside
    slack: float  #: bound of the difference by which the true depth may be less than ``lower``
    decided: bool = True  #: False if bodies of one object overlap, so that the bounds may be wrong


def of_mesh(mesh: Mesh) -> list[Skin]:
    """Return the closed surface of a mesh in its own frame. Bodies that overlap are united (`union_of`)."""
    union = union_of(mesh)
    return [Skin(union.mesh, IDENTITY[0], union.slack, union.decided)]


def of_voxels(grid: VoxelGrid) -> list[Skin]:
    """Return the closed surface of a voxel grid."""
    return [Skin(grid._cached("skin", lambda: Mesh(*grid.surface())), IDENTITY[0], 0.0)]


def of_ground(field: HeightField) -> list[Skin]:
    """Return the closed surface of a height field with a bottom."""
    return [Skin(field._skin, IDENTITY[0], 0.0)]


def of_shape(shape: Shape) -> list[Skin]:
    """Return the surface of a bounded convex shape."""
    return [Skin(skin_of(shape), IDENTITY[0], 0.0) if isinstance(shape, Polytope) else _of_curved(shape)]


def of_compound(compound: Compound) -> list[Skin]:
    """Return the closed surfaces of a compound. Surfaces that overlap are united (`_united`)."""
    return compound._cached("united skins", lambda: _united(_skins_of_parts(compound)))


def _skins_of_parts(compound: Compound) -> list[Skin]:
    parts: list[tuple[Any, Array]] = list(compound._parts)
    return [
        piece._replace(row=composed(row, piece.row[None])[0])
        for part, row in parts
        for skin in (of_mesh(part) if part._kind == Kind.MESH else of_shape(part))
        for piece in skin.parts or (skin,)
    ]


def _united(parts: list[Skin]) -> list[Skin]:
    """Return the union of surfaces if any of them may overlap, otherwise the surfaces.

    If the union fails, the surfaces are returned, and their field ``decided`` is False.
    """
    boxes = [turned(skin.mesh.bounds.reshape(1, 6) + skin.slack * _OUTWARD, skin.row) for skin in parts]
    if not any_overlap(np.concatenate(boxes)):
        return parts
    # without manifold3d, or with an open part, overlapping parts cannot be united
    exact = available() and all(skin.mesh.is_solid and skin.decided for skin in parts)
    union = _union([skin.mesh for skin in parts], parts) if exact else None
    curved = any(skin.curved for skin in parts)
    around = _union([_around(skin) for skin in parts], parts) if union is not None and curved else union
    if union is None or around is None:
        return [skin._replace(decided=False) for skin in parts]
    slack = max(skin.slack for skin in parts) + max(union[1], around[1])
    if not curved:
        return [Skin(union[0], IDENTITY[0], slack)]
    return [Skin(union[0], IDENTITY[0], slack, curved=True, outer=around[0], parts=tuple(parts))]


def _union(meshes: list[Mesh | None], parts: list[Skin]) -> tuple[Mesh, float] | None:
    """Return the union of closed meshes at the poses of parts, and a bound of its error, or None if it fails."""
    bodies = [mesh and placed(mesh, skin.row) for mesh, skin in zip(meshes, parts, strict=True)]
    manifold: Any = None if None in bodies else joined(bodies)
    if manifold is None or not (union := Mesh(*arrays_of(manifold))).is_solid:
        return None
    return union, ERROR * manifold.get_tolerance()


def _around(skin: Skin) -> Mesh | None:
    """Return an enlarged inscribed polytope that contains a shape, or None for a flat polytope.

    A polytope that contains a ball of radius r about a point contains its own offset by d after scaling by 1 + d / r
    about that point (Schneider, Convex Bodies, 2014, section 3.1).
    """
    if not skin.curved:
        return skin.mesh
    vertices = skin.mesh.vertices
    corners, center = vertices[skin.mesh.faces], vertices.mean(axis=0)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1)
    away = np.abs(np.einsum("ij,ij->i", corners[:, 0] - center, normals)) / np.maximum(length, 1e-300)
    radius = float(away[length > _FLAT * length.max()].min())
    if not radius > skin.slack:
        return None
    return Mesh(center + (1.0 + _MORE * skin.slack / radius) * (vertices - center), skin.mesh.faces)


def _of_curved(shape: Shape) -> Skin:
    if "skin within" not in shape._cache:
        surface = shape.surface(_FINE)
        if not len(surface.faces):
            raise UnsupportedPair(
                f"penetration: {shape!r} has no surface, expected a shape with a volume. Use signed_distance"
            )
        mesh = Mesh(surface.vertices, surface.faces)
        shape._cache["skin within"] = Skin(mesh, IDENTITY[0], _reach_beyond(shape, mesh), curved=True)
    skin: Skin = shape._cache["skin within"]
    return skin


def _reach_beyond(shape: Shape, mesh: Mesh) -> float:
    """Return a bound of the distance from an inscribed polytope to the surface of a convex shape.

    Beyond a face, the support point gives the distance. A direction between the normals n of the faces at a corner is a
    weighted sum of these normals. Along this direction, the shape exceeds the corner by at most the weighted sum of its
    distances along the normals. For any unit vector w the weights sum to at most 1 / min(w n).
    """
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0.0)
    reach = np.einsum("ij,ij->i", np.asarray(shape.support(normals)) - corners[:, 0], normals).clip(0.0)
    at = mesh.faces.ravel()
    along = np.zeros_like(mesh.vertices)
    np.add.at(along, at, np.repeat(normals, 3, axis=0))
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    least, most = np.full(len(along), np.inf), np.zeros(len(along))
    np.minimum.at(least, at, np.einsum("ij,ij->i", along[at], np.repeat(normals, 3, axis=0)))
    np.maximum.at(most, at, np.repeat(reach, 3))
    return float((most / least).max(initial=0.0)) + 4.0 * ROUNDING * float(np.abs(mesh.vertices).max())


Surfaces = tuple[list[Skin], list[Skin]]


def deepest(a: Any, b: Any, surfaces: Surfaces, row_a: Array, row_b: Array, tolerance: float) -> Deepest:
    """Return bounds of how deep the surface of either object reaches into the other, with the deepest points."""
    first, second = surfaces
    if not in_order(a, b, row_a, row_b):
        best = deepest(b, a, (second, first), row_b, row_a, tolerance)
        return best._replace(points=best.points and best.points[::-1])
    if not all(skin.decided for skin in (*first, *second)):
        return _of_vertices(_bodies(first, row_a), _bodies(second, row_b))
    best = Deepest(0.0, 0.0, None, 0.0)
    for skin_a in first:
        for skin_b in second:
            at_a, at_b = composed(row_a, skin_a.row[None])[0], composed(row_b, skin_b.row[None])[0]
            best = _deeper(best, skin_a, skin_b, at_a, at_b, tolerance)
    # a crevice of a union of curved parts may hide the deepest point, so vertices of single parts may be deeper
    if any(skin.parts for skin in (*first, *second)) and best.upper > (1.0 + tolerance) * best.lower:
        vertices = _of_vertices(_bodies(first, row_a), _bodies(second, row_b))
        if vertices.lower - vertices.slack > best.lower - best.slack:
            return vertices._replace(upper=best.upper, decided=True)
    return best


def _deeper(so_far: Deepest, a: Skin, b: Skin, row_a: Array, row_b: Array, tolerance: float) -> Deepest:
    """Return the bounds so far, extended by the depth of a pair of surfaces."""
    m = relative(row_a, row_b)
    pair = MeshPair.of(a.host, b.host, m)
    slack = a.slack + b.slack + pair.error
    lower, upper, points = so_far.lower, 0.0, so_far.points
    # the depth is that of either surface inside the other, so both directions count
    for host, guest, pose, by_a in ((a, b, m, True), (b, a, inverse(m), False)):
        if not host.mesh.is_solid:
            continue
        inside = inner(host.host, guest.mesh, pose, pair.error, tolerance, int(_WORK / tolerance), lower)
        upper = max(upper, inside.upper)
        if (host.parts or guest.parts) and len(inside.points):
            inside = _of_surfaces(inside, host, guest, pose)
        if inside.lower > lower:
            lower, points = inside.lower, _placed(inside, row_a if by_a else row_b, by_a)
    loose = upper > lower * (1.0 + tolerance) + pair.error
    if loose and not (a.curved or b.curved) and pair.meet():
        upper = max(lower, min(upper, depth(pair).most))  # a separating translation moves every point out
    return Deepest(lower, max(so_far.upper, upper + slack), points, max(so_far.slack, slack))


def _of_surfaces(inside: Inner, host: Skin, guest: Skin, pose: Array) -> Inner:
    """Return ``inside`` with depths that are also lower bounds for the true curved surfaces, the deepest point first.

    The surfaces are those of unions of inscribed polytopes. If a guest point is outside all parts of the guest but its
    own, the true surface is at most ``guest.slack`` from it. Such a point is at least as deep in the true host as in
    the union of the inscribed polytopes. All other points get the depth 0.
    """
    local = moved_back(pose, inside.points)
    distances = [_distances_to(part, local) for part in guest.parts]
    on = sum(np.asarray(within | (away <= 4.0 * guest.slack), dtype=int) for away, within, _ in distances)
    away, is_inside, feet = _distances_to(host._replace(row=IDENTITY[0]), inside.points)
    depths = np.where(is_inside & (np.asarray(on) <= 1), away, 0.0)
    order = np.argsort(-depths, kind="stable")
    return Inner(float(depths.max(initial=0.0)), inside.upper, depths[order], inside.points[order], feet[order])


def _bodies(parts: list[Skin], row: Array) -> list[Skin]:
    """Return surfaces at a pose. A surface whose connected bodies may overlap is split into these bodies."""
    return [
        piece._replace(mesh=body, row=composed(row, piece.row[None])[0])
        for skin in parts
        for piece in skin.parts or (skin,)
        for body in ([piece.mesh] if piece.decided else piece.mesh.bodies())
    ]


def _of_vertices(first: list[Skin], second: list[Skin]) -> Deepest:
    """Return the deepest vertex for objects whose own bodies overlap, without an upper bound.

    A vertex counts if it is clearly outside the other bodies of its own object. Its depth in the union of the other
    object is at least its distance from all surfaces of that object, inner walls included.
    """
    best = Deepest(0.0, inf, None, 0.0, decided=False)
    for guests, hosts, by_a in ((second, first, True), (first, second, False)):
        for guest in guests:
            points = moved(guest.row, thinned(guest.mesh._used))
            for neighbour in guests:
                if neighbour is not guest and neighbour.mesh.is_solid:
                    away, inside, _ = _distances_to(neighbour, points)
                    error = neighbour.slack + 8.0 * ROUNDING * float(np.abs(points).max(initial=0.0))
                    points = points[~inside & (away > error)]
            if not len(points):
                continue
            distances = [_distances_to(host, points) for host in hosts]
            away = np.array([entry[0] for entry in distances])
            is_inside = np.any([entry[1] for entry in distances], axis=0)
            k = int(np.argmax(np.where(is_inside, away.min(axis=0), -1.0)))
            depth_of = float(away[:, k].min())
            if is_inside[k] and depth_of > best.lower:
                foot = distances[int(np.argmin(away[:, k]))][2][k]
                slack = 8.0 * ROUNDING * float(np.abs(points).max())
                best = Deepest(depth_of, inf, (foot, points[k]) if by_a else (points[k], foot), slack, decided=False)
    return best


def _distances_to(body: Skin, points: Array) -> tuple[Array, Bools, Array]:
    """Return the distances of points from a surface, whether they are inside it, and the nearest points on it."""
    local = np.ascontiguousarray(moved_back(body.row, points))
    away, places = nearest_points(body.mesh, local)[:2]
    return away, holds(body.mesh, local) & body.mesh.is_solid, moved(body.row, places)


def _placed(inside: Inner, row: Array, by_a: bool) -> tuple[Array, Array]:
    """Return the deepest point of the guest and the nearest point of the host in the world frame, the point of a first.

    ``by_a`` is whether a is the host.
    """
    foot, point = moved(row, inside.feet[:1])[0], moved(row, inside.points[:1])[0]
    return (foot, point) if by_a else (point, foot)
