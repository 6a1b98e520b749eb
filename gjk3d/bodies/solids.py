"""Solids of meshes: unions without inner walls and intersections by manifold3d, and separate solids with cavities."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.body_pair import MeshPair
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.topology import Edges, edges_of
from gjk3d.broad import Tree
from gjk3d.errors import ShapeError
from gjk3d.geometry.polygon import connected
from gjk3d.poses import IDENTITY, matrices, moved, relative
from gjk3d.typing import Array, Ints

_UNCHANGED = 1e-9  #: relative change of the area below which no wall was removed
_FLAT = 1e-13  #: greatest volume of a flat piece, in units of its area to the power of 3/2
SAME_FRAME = IDENTITY[0, :12]  #: the pose of B where both solids are in one frame
_LISTED = 4096  #: greatest number of pairs of faces whose segments are the overlap of meshes that touch
_THIN = 1e-6  #: greatest thickness of a sheet, relative to the diagonal of the solid
_SAME_ANGLE = 1e-4  #: greatest angle between the two sides of a sheet, in radians
_SHEETS = 4  #: greatest number of directions in which sheets are removed
ERROR = 4.0  #: bound of the error of a union, in units of the tolerance of manifold3d


class Union(NamedTuple):
    """A mesh without inner walls."""

    mesh: Mesh  #: the given mesh itself if it does not have inner walls
    slack: float = 0.0  #: bound of the distance between the surfaces of this mesh and of the exact union
    decided: bool = True  #: False if the union failed, so that the mesh may have inner walls


@cache
def available() -> bool:
    """Return whether manifold3d is installed (the extra gjk3d[mesh] or gjk3d[clash])."""
    return importlib.util.find_spec("manifold3d") is not None


def solid(mesh: Mesh) -> Any:
    """Return the manifold3d solid bounded by a mesh, or None if the mesh is open or rejected, or without manifold3d."""
    if not available() or not mesh.is_watertight:
        return None
    mesh = mesh.skin
    place = mesh._places
    _, first = np.unique(place, return_index=True)
    faces = place[mesh.faces]
    faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
    if mesh.volume < 0.0:  # inside out
        faces = faces[:, ::-1]
    return _solid_of(mesh.vertices[first], faces)


class Overlap(NamedTuple):
    """The intersection of two solids, with its volume and its surface. The surface is empty for the volume 0."""

    volume: float
    vertices: Array
    faces: Ints


def intersection(a: Any, b: Any, m: Array = SAME_FRAME) -> Overlap | None:
    """Return the intersection of two solids in a's frame, with b at pose row m, or None if the operation fails."""
    shared = _intersected(a, b, m)
    if shared is None:
        return None
    if shared.is_empty():
        return Overlap(0.0, np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64))
    return Overlap(float(shared.volume()), *arrays_of(_without_sheets(shared)))


def _intersected(a: Any, b: Any, m: Array) -> Any:
    import manifold3d

    shared = a ^ (b if m is SAME_FRAME else b.transform(matrices(m)[:3]))
    return shared if shared.status() == manifold3d.Error.NoError else None


def _without_sheets(body: Any) -> Any:
    """Return a solid of manifold3d without pieces whose thickness is of the size of rounding.

    Two solids with faces on one plane overlap in a sheet if rounding moves the faces into each other. A sheet with the
    normal n is removed by a morphological opening with a short segment along n, which keeps thicker pieces up to
    rounding.
    """
    volume, vertices, faces = body.volume(), *arrays_of(body)
    thin = _THIN * float(np.linalg.norm(np.ptp(vertices, axis=0)))
    if volume <= thin * body.surface_area():  # a contact without an overlap
        return body
    for normal in _sheet_normals(vertices[faces], thin):
        step = 2.0 * thin * normal
        lower = body ^ body.translate(-step)
        opened = lower + lower.translate(step)
        if abs(opened.volume() - volume) <= thin * body.surface_area():
            body = opened
    return body


def _sheet_normals(corners: Array, thin: float) -> list[Array]:
    """Return the normals, at most `_SHEETS`, of planes on which triangles of a solid face in opposite directions.

    Triangles are on one plane if their planes are within ``thin``. ``corners`` has the corners of all triangles,
    (n, 3, 3).
    """
    from scipy.spatial import cKDTree

    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    length = np.linalg.norm(normals, axis=1)
    wide = length > 2.0 * thin * edges  # the normal of a sliver is rounding
    normals, origin = normals[wide] / length[wide, None], corners[0, 0]
    if not len(normals):
        return []
    offsets = np.einsum("ij,ij->i", normals, corners[wide, 0] - origin)
    planes = np.column_stack([normals * (thin / _SAME_ANGLE), offsets])
    opposite = np.isfinite(cKDTree(planes).query(-planes, distance_upper_bound=2.0 * thin)[0])
    directions: list[Array] = []
    for normal in normals[opposite]:
        if len(directions) < _SHEETS and all(abs(float(normal @ n)) < 1.0 - _SAME_ANGLE for n in directions):
            directions.append(normal)
    return directions


def overlap_of_meshes(a: Mesh, b: Mesh, row_a: Array, row_b: Array) -> Mesh:
    """Return the intersection of the solids of two meshes that may touch, in the world frame.

    The arrays of the result are computed when they are first read. The intersection of meshes that only touch has a
    volume of 0, and degenerate triangles on the segments in which their surfaces intersect.
    """
    a, b = union_of(a).mesh, union_of(b).mesh
    m = relative(row_a, row_b)
    solid_a, solid_b = a._cached("solid", lambda: solid(a)), b._cached("solid", lambda: solid(b))
    shared = None if solid_a is None or solid_b is None else _intersected(solid_a, solid_b, m)
    if shared is None:
        raise ShapeError(
            "overlap: manifold3d does not accept the meshes as solids. Pass mesh.hull() for a convex mesh, or repair "
            "the meshes in their source"
        )

    volume = float(shared.volume())

    def arrays() -> tuple[Array, Ints]:
        vertices, faces = arrays_of(_without_sheets(shared)) if volume > 0.0 else _touch(MeshPair.of(a, b, m))
        return np.ascontiguousarray(moved(row_a, vertices)), faces

    return Mesh._later(arrays, volume, a.unit or b.unit)


def _touch(pair: MeshPair) -> tuple[Array, Ints]:
    """Return vertices and faces of degenerate triangles on the segments where two surfaces meet, or at one point."""
    segments = pair.cut(_LISTED)
    if not len(segments):
        return pair.place(None)[None], np.zeros((1, 3), dtype=np.int64)
    return segments.reshape(-1, 3), 2 * np.arange(len(segments))[:, None] + np.array([0, 1, 1])


def _solid_of(vertices: Array, faces: Any) -> Any:
    import manifold3d

    corners, triangles = np.ascontiguousarray(vertices), np.ascontiguousarray(faces).astype(np.uint64)
    body = manifold3d.Manifold(manifold3d.Mesh64(vert_properties=corners, tri_verts=triangles))
    return body if body.status() == manifold3d.Error.NoError else None


def union_of(mesh: Mesh) -> Union:
    """Return a mesh without its inner walls as a cached `Union`."""
    return mesh._cached("union", lambda: _union_of(mesh))


def _union_of(mesh: Mesh) -> Union:
    if not mesh.is_solid or not _may_overlap(mesh.skin):
        return Union(mesh)
    merged = solid(mesh)
    if merged is None:
        return Union(mesh, decided=False)
    union_solid = joined(_bodies(merged))
    if union_solid is None:
        return Union(mesh, decided=False)
    if abs(union_solid.surface_area() - _area(mesh.skin)) <= _UNCHANGED * union_solid.surface_area():
        return Union(mesh)
    vertices, faces = arrays_of(union_solid)
    hanging = mesh.faces[mesh._mended.hanging]  # triangles that can be touched
    corners = np.concatenate([vertices, mesh.vertices[hanging].reshape(-1, 3)])
    hanging_faces = len(vertices) + np.arange(hanging.size).reshape(-1, 3)
    union = mesh._like(corners, np.concatenate([faces, hanging_faces]), source=mesh.source)
    if not union.is_watertight:
        return Union(mesh, decided=False)
    union._cache["union"] = Union(union)
    return Union(union, ERROR * union_solid.get_tolerance())


def joined(solids: Sequence[Any]) -> Any:
    """Return the union of solids of manifold3d, or None if it fails."""
    import manifold3d

    union = manifold3d.Manifold.batch_boolean(solids, manifold3d.OpType.Add)
    return union if union.status() == manifold3d.Error.NoError and not union.is_empty() else None


def arrays_of(body: Any) -> tuple[Array, Any]:
    """Return the vertices and the faces of a solid of manifold3d, both sorted.

    manifold3d uses threads, and the order of its output differs from run to run.
    """
    surface = body.to_mesh64()
    vertices = np.array(surface.vert_properties[:, :3], dtype=np.float64)
    order = np.lexsort(vertices.T)
    vertices = np.ascontiguousarray(vertices[order])
    # vertices at one position have the same rank, since their order is not defined
    rank = np.cumsum(np.any(np.diff(vertices, axis=0, prepend=vertices[:1]) != 0.0, axis=1))
    faces = np.argsort(order)[surface.tri_verts.astype(np.int64)]
    first = rank[faces].argmin(axis=1)[:, None]
    faces = np.take_along_axis(faces, (first + np.arange(3)) % 3, axis=1)
    return vertices, faces[np.lexsort(rank[faces].T)]


def placed(mesh: Mesh, row: Array) -> Any:
    """Return the solid of manifold3d of a mesh at a pose row, or None if `solid` returns None."""
    body = solid(mesh)
    return None if body is None else body.transform(matrices(row)[:3])


def any_overlap(boxes: Array) -> bool:
    """Return whether any two boxes, (n, 6), overlap or touch."""
    tree = Tree(len(boxes))
    tree.insert(np.arange(len(boxes)), boxes)
    return any(len(block) for block in tree.pairs())


def _may_overlap(skin: Mesh) -> bool:
    """Return whether the connected bodies of a closed surface share edges, or their boxes overlap or touch."""
    if skin._mended.crowded:
        return True
    body = skin._bodies
    if not body.any():
        return False
    order = np.argsort(body, kind="stable")
    starts = np.searchsorted(body[order], np.arange(int(body.max()) + 1))
    corners = skin.vertices[skin.faces[order]]
    low, high = np.minimum.reduceat(corners.min(axis=1), starts), np.maximum.reduceat(corners.max(axis=1), starts)
    return any_overlap(np.hstack([low, high]))


def _bodies(merged: Any) -> list[Any]:
    """Return the bodies of a solid of manifold3d, with their cavities subtracted. Flat pieces are omitted."""
    pieces = [piece for piece in merged.decompose() if abs(piece.volume()) > _FLAT * piece.surface_area() ** 1.5]
    bodies = sorted((piece for piece in pieces if piece.volume() > 0.0), key=lambda piece: float(piece.volume()))
    for hollow in pieces:
        if hollow.volume() > 0.0:
            continue
        vertices, faces = arrays_of(hollow)
        filled = _solid_of(vertices, faces[:, ::-1])
        owner = next((k for k, body in enumerate(bodies) if _holds_box(body, filled)), None)
        if owner is None:  # inside out
            bodies.append(filled)
        else:
            bodies[owner] = bodies[owner] - filled
    return bodies


def _holds_box(outer: Any, inner: Any) -> bool:
    low, high = np.array(outer.bounding_box()).reshape(2, 3), np.array(inner.bounding_box()).reshape(2, 3)
    return bool((low[0] <= high[0]).all() and (low[1] >= high[1]).all() and outer.volume() > inner.volume())


def _area(mesh: Mesh) -> float:
    corners = mesh.vertices[mesh.faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return float(0.5 * np.linalg.norm(cross, axis=1).sum())


_ONE_ANGLE = 1e-5  #: greatest difference of equal angles of triangles at an edge, in radians


def solids(mesh: Mesh) -> list[Mesh]:
    """Return the solids of a mesh, each with its cavities, ordered by first face. All open surfaces form one mesh."""
    edges = edges_of(mesh._places, mesh.faces)
    if not len(edges.faces):
        return [mesh]
    corners = mesh.vertices[mesh.faces[edges.faces]]
    label = _surfaces(edges, corners)
    owner = _owners(edges, corners, label)
    if not owner.any():
        return [mesh]
    of_face = np.zeros(len(mesh.faces), dtype=np.int64)  # flat triangles stay with the first solid
    of_face[edges.faces] = owner[label]
    return [mesh._piece(of_face == k, source=mesh.source) for k in range(int(owner.max()) + 1)]


def _surfaces(edges: Edges, corners: Array) -> Ints:
    """Return the index of the connected surface of each triangle."""
    number, directions = edges.numbers.ravel(), edges.directions.ravel()
    order = np.argsort(number, kind="stable")
    starts = np.append(np.searchsorted(number[order], np.arange(len(edges.ends))), len(order))
    paired = np.diff(starts) == 2
    first, second = order[starts[:-1][paired]], order[starts[:-1][paired] + 1]
    pairs = [np.column_stack([first, second]) // 3]
    for k in np.flatnonzero(np.diff(starts) > 2):
        sides = order[starts[k] : starts[k + 1]]
        if directions[sides].sum() == 0.0:
            sides = sides[_sectors(_angles(sides, directions, corners), directions[sides])]
        else:  # an open edge, at which sectors are not closed
            sides = np.array(list(pairwise(sides)))
        pairs.append(sides // 3)
    triangle_a, triangle_b = np.concatenate(pairs).T
    return connected(triangle_a, triangle_b, len(corners))


def _angles(sides: Ints, directions: Array, corners: Array) -> Array:
    """Return the angles of triangles around their common edge from the first triangle, in radians from 0 to 2 pi.

    ``sides`` has the indices of the half-edges on this edge. Half-edge 3 t + c begins at corner c of triangle t.
    ``directions`` is 1 for a half-edge in the direction of its edge, and -1 for one in the opposite direction.
    """
    triangles = corners[sides[:, None] // 3, (np.arange(3) + sides[:, None] % 3) % 3]  # the edge is first
    along = (triangles[0, 1] - triangles[0, 0]) * directions[sides[0]]
    along = along / np.linalg.norm(along)
    apex = triangles[:, 2] - triangles[:, 0]
    x = apex[0] - (apex[0] @ along) * along
    y = np.cross(along, x)
    angles: Array = np.arctan2(apex @ y, apex @ x) % (2.0 * np.pi)
    return angles


def _sectors(angles: Array, directions: Array) -> Ints:
    """Return the pairs of triangles around an edge that bound a solid sector, as indices into ``angles``, (n / 2, 2).

    ``directions`` has 1 for each triangle whose winding is along the edge, otherwise -1.
    """
    order = np.argsort(angles, kind="stable")
    gaps = np.diff(angles[order], append=angles[order[0]] + 2.0 * np.pi)
    turn = np.roll(order, -int(np.argmax(gaps)) - 1)  # the start is in the largest gap
    step = np.concatenate([[0], np.cumsum(np.diff(angles[turn]) % (2.0 * np.pi) > _ONE_ANGLE)])
    # Sectors end before others begin at an angle. Coincident solids are paired in the same order at each edge.
    turn = turn[np.lexsort([-directions[turn] * turn, -directions[turn], step])]
    pairs: list[tuple[int, int]] = []
    begun: list[int] = []
    ended: set[int] = set()
    for side in (*turn.tolist(), *turn.tolist()):  # a sector may contain the start
        if side in ended:
            continue
        while begun and begun[-1] in ended:  # repeated in the second turn
            begun.pop()
        if directions[side] < 0.0:
            begun.append(side)
        elif begun:
            pairs.append((begun.pop(), side))
            ended.update(pairs[-1])
    return np.array(pairs)


def _owners(edges: Edges, corners: Array, label: Ints) -> Ints:
    """Return the index of the solid that each surface bounds; ``label`` has the surface index of each triangle."""
    count = int(label.max()) + 1
    owner = np.arange(count)
    runs, run = np.unique(label.repeat(3) * len(edges.ends) + edges.numbers.ravel(), return_inverse=True)
    opened = runs[np.bincount(run, edges.directions.ravel()) != 0.0] // len(edges.ends)
    owner[opened] = opened.min(initial=count)
    local = corners - corners.mean(axis=(0, 1))
    volumes = np.bincount(label, np.einsum("ij,ij->i", local[:, 0], np.cross(local[:, 1], local[:, 2])), count)
    volumes[opened] = 0.0
    for cavity in np.flatnonzero(volumes < 0.0):
        point = corners[np.argmax(label == cavity), 0]
        for solid in sorted(np.flatnonzero(volumes > 0.0), key=volumes.__getitem__):
            if _winding(corners[label == solid] - point) > 0.5:
                owner[cavity] = solid
                break
    _, first, number = np.unique(owner, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number]


def _winding(corners: Array) -> float:
    """Return the winding number of a closed surface about the origin, 1 inside; see `bodies.triangles.solid_angle`."""
    lengths = np.linalg.norm(corners, axis=2, keepdims=True)
    units = np.divide(corners, lengths, out=np.zeros_like(corners), where=lengths > 0.0)
    nearest = np.einsum("ijk,ijk->ij", units, np.roll(units, -1, axis=1)).argmax(axis=1)
    a, b, c = (units[np.arange(len(units)), (nearest + k) % 3] for k in range(3))
    u, v = a + c, b + c
    return float(np.arctan2((c * np.cross(u, v)).sum(axis=1), (u * v).sum(axis=1)).sum() / (2.0 * np.pi))
