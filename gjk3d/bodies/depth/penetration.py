"""How far the surfaces of two things lie inside each other, enclosed: the greatest depth of a point of either.

Each is a few closed meshes: a mesh, a grid of cubes and ground with a bottom are their own surface, a polytope its
faces, a compound those of its parts. Bodies that overlap are one set of points, so their union takes their place: what
lies inside another body is no surface. A curved shape is stood in for by a polytope within it, and the bounds are wider
by how far it lies beyond that. The crevice between two of these polytopes may be deeper, so where parts overlap and
some are curved, the union of polytopes that hold the parts bounds the depth from above.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.base import Body
from gjk3d.bodies.bvh import from_points
from gjk3d.bodies.compound import Compound
from gjk3d.bodies.depth.depth import depth, skin_of
from gjk3d.bodies.depth.inside import Inner, inner, thinned
from gjk3d.bodies.heights import HeightField
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_pair import MeshPair
from gjk3d.bodies.part_tree import in_order
from gjk3d.bodies.parts import turned
from gjk3d.bodies.pieces import ERROR, any_overlap, arrays_of, available, joined, placed, union_of
from gjk3d.bodies.raycast import holds
from gjk3d.bodies.voxels import VoxelGrid
from gjk3d.errors import UnsupportedPair
from gjk3d.poses import IDENTITY, ROUNDING, composed, inverse, moved, moved_back, relative
from gjk3d.shapes.base import Polytope, Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Bools

_WORK = 164.0  #: points of each surface that are looked at in the other, at most, over the tolerance
_FINE = 64  #: segments of a full turn, for curved shapes
_FLAT = 1e-12  #: area of a face without a normal, of the largest
_MORE = 1.0 + 1e-6  #: covers rounding
_OUTWARD = np.repeat([-1.0, 1.0], 3)  #: the ends of a box


class Skin(NamedTuple):
    """A closed surface at a pose, and how far the true one may lie beyond it."""

    mesh: Mesh
    row: Array  #: the pose, (13,)
    slack: float
    decided: bool = True  #: False if a part of it may lie inside another body of the same thing
    curved: bool = False  #: whether it stands in for a curved shape
    outer: Mesh | None = None  #: of a union of curved parts: what holds it, since `mesh` may have deep crevices
    parts: tuple[Skin, ...] = ()  #: of such a union

    @property
    def host(self) -> Mesh:
        """A surface such that what it holds is no deeper in the true one, but for the slack."""
        return self.outer or self.mesh


class Deepest(NamedTuple):
    """Bounds of the depth, and the deepest pair of points known, in the outer frame; None where none lies inside."""

    lower: float  #: how far the two points are apart
    upper: float
    points: tuple[Array, Array] | None
    slack: float  #: by how much less than is known the true depth may be
    decided: bool = True  #: False if `upper` may be too small, and what is known too large, since bodies overlap


def skins(thing: Any) -> list[Skin]:
    """Return the closed surfaces of something, in its own frame; those that are decided do not overlap."""
    if isinstance(thing, Compound):
        return thing._cached("united skins", lambda: _united(_skins_of_parts(thing)))
    if isinstance(thing, Mesh):
        union = union_of(thing)
        return [Skin(union.mesh, IDENTITY[0], union.slack, union.decided)]
    if isinstance(thing, VoxelGrid):
        return [Skin(thing._cached("skin", lambda: Mesh(*thing.surface())), IDENTITY[0], 0.0)]
    if isinstance(thing, HeightField) and thing.bottom > -inf:
        return [Skin(thing._skin, IDENTITY[0], 0.0)]
    if isinstance(thing, Body):
        raise UnsupportedPair(
            f"penetration of a {type(thing).__name__}: it has no closed surface; ask signed_distance how deep it"
            " is, make a closed gjk3d.Mesh of it, or give ground a bottom"
        )
    if isinstance(thing, Halfspace):
        raise UnsupportedPair(
            f"penetration in a {type(thing).__name__}, which has no end: ask signed_distance, or use a large Box "
            "in its place"
        )
    if isinstance(thing, Polytope):
        return [Skin(skin_of(thing), IDENTITY[0], 0.0)]
    assert isinstance(thing, Shape)
    return [_of_curved(thing)]


def _skins_of_parts(thing: Compound) -> list[Skin]:
    return [
        piece._replace(row=composed(row, piece.row[None])[0])
        for part, row in thing._parts
        for skin in skins(part)
        for piece in skin.parts or (skin,)
    ]


def _united(parts: list[Skin]) -> list[Skin]:
    """Return the union of surfaces where any of them may overlap; undecided where it cannot be made."""
    boxes = [turned(skin.mesh.bounds.reshape(1, 6) + skin.slack * _OUTWARD, skin.row) for skin in parts]
    if not any_overlap(np.concatenate(boxes)):
        return parts
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
    """Return the union of closed meshes at the poses of parts, and how far it may be from the true one."""
    bodies = [mesh and placed(mesh, skin.row) for mesh, skin in zip(meshes, parts, strict=True)]
    manifold: Any = None if None in bodies else joined(bodies)
    if manifold is None or not (union := Mesh(*arrays_of(manifold))).is_solid:
        return None
    return union, ERROR * manifold.get_tolerance()


def _around(skin: Skin) -> Mesh | None:
    """Return a polytope that holds a shape: that within it, enlarged; None if that has no inside.

    If a polytope holds a ball of radius r round a point, it holds all that is within a distance d of it if it is larger
    by d / r from that point on (Schneider, Convex Bodies, 2014, section 3.1).
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
            raise UnsupportedPair(f"penetration of {shape!r}, which has no surface: ask signed_distance")
        mesh = Mesh(surface.vertices, surface.faces)
        shape._cache["skin within"] = Skin(mesh, IDENTITY[0], _reach_beyond(shape, mesh), curved=True)
    skin: Skin = shape._cache["skin within"]
    return skin


def _reach_beyond(shape: Shape, mesh: Mesh) -> float:
    """Bound how far a convex shape reaches beyond a polytope whose corners are its points.

    Beyond a face it reaches by what its support point says. A direction between the normals n of the faces at a corner
    is a sum of them with weights, and what the shape reaches beyond along it at most the sum of what it does along
    each, so weighted. For any w the weights add up to 1 / min(w n) at most.
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


def surfaces_of(a: Any, b: Any) -> Surfaces:
    """Return the surfaces of two, at least one of which is closed."""
    surfaces = skins(a), skins(b)
    if not any(skin.mesh.is_solid for side in surfaces for skin in side):
        raise UnsupportedPair("penetration: neither is closed, so nothing is inside of either; ask signed_distance")
    return surfaces


def deepest(a: Any, b: Any, surfaces: Surfaces, row_a: Array, row_b: Array, tolerance: float) -> Deepest:
    """Enclose how deep either surface of two things lies inside the other."""
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
    if any(skin.parts for skin in (*first, *second)) and best.upper > (1.0 + tolerance) * best.lower:
        vertices = _of_vertices(_bodies(first, row_a), _bodies(second, row_b))
        if vertices.lower - vertices.slack > best.lower - best.slack:
            return vertices._replace(upper=best.upper, decided=True)
    return best


def _deeper(so_far: Deepest, a: Skin, b: Skin, row_a: Array, row_b: Array, tolerance: float) -> Deepest:
    """Return the bounds with what two surfaces add to them."""
    m = relative(row_a, row_b)
    pair = MeshPair.of(a.host, b.host, m)
    slack = a.slack + b.slack + pair.error
    lower, upper, points = so_far.lower, 0.0, so_far.points
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
        upper = max(lower, min(upper, depth(pair).most))  # what frees the two takes every point out
    return Deepest(lower, max(so_far.upper, upper + slack), points, max(so_far.slack, slack))


def _of_surfaces(inside: Inner, host: Skin, guest: Skin, pose: Array) -> Inner:
    """Return the deepest point known of true surfaces, where there are unions of curved parts.

    The true surface is within the slack of a point of the guest's that is clear of all its parts but one. Such a point
    is no less deep in the true host than in the union of the polytopes within it.
    """
    local = moved_back(pose, inside.points)
    distances = [_distances_to(part, local) for part in guest.parts]
    on = sum(np.asarray(within | (away <= 4.0 * guest.slack), dtype=int) for away, within, _ in distances)
    away, is_inside, feet = _distances_to(host._replace(row=IDENTITY[0]), inside.points)
    depths = np.where(is_inside & (np.asarray(on) <= 1), away, 0.0)
    order = np.argsort(-depths, kind="stable")
    return Inner(float(depths.max(initial=0.0)), inside.upper, depths[order], inside.points[order], feet[order])


def _bodies(parts: list[Skin], row: Array) -> list[Skin]:
    """Return surfaces at a pose, each body by itself where bodies may overlap."""
    return [
        piece._replace(mesh=body, row=composed(row, piece.row[None])[0])
        for skin in parts
        for piece in skin.parts or (skin,)
        for body in ([piece.mesh] if piece.decided else piece.mesh.bodies())
    ]


def _of_vertices(first: list[Skin], second: list[Skin]) -> Deepest:
    """Return the deepest vertex of bodies that overlap others of the same thing; nothing bounds other points.

    A vertex counts that is clearly outside the other bodies of its thing. It is no less deep in the union of the
    others than it is far from all of their surfaces, inner walls included.
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
    """Return how far points are from a surface, whether they are inside it, and the nearest places on it."""
    local = np.ascontiguousarray(moved_back(body.row, points))
    away, places = from_points(body.mesh, local)[:2]
    return away, holds(body.mesh, local) & body.mesh.is_solid, moved(body.row, places)


def _placed(inside: Inner, row: Array, by_a: bool) -> tuple[Array, Array]:
    """Return the deepest point and the nearest place on the surface that holds it, that of a first."""
    foot, point = moved(row, inside.feet[:1])[0], moved(row, inside.points[:1])[0]
    return (foot, point) if by_a else (point, foot)
