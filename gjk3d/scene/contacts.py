"""Contacts of pairs of objects, convex or not, many in one call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.first_call import first_call
from gjk3d.bodies.between import Between, box_at
from gjk3d.bodies.compound import parts_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.surfaces import meeting_faces
from gjk3d.bodies.union_queries import hulls_with_plane, union_of
from gjk3d.bodies.unions import Solid, Union
from gjk3d.convex.pairs import Pairs
from gjk3d.convex.rows import in_chunks
from gjk3d.convex.solve import plane_core
from gjk3d.narrow import manifold
from gjk3d.narrow import solve as narrow
from gjk3d.poses import parts, relative
from gjk3d.query.contact import Contact, most_corners
from gjk3d.scene.narrow import Answers, Narrow
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Ints

_MOST = 256  #: pairs of parts, the deepest, that are looked at for more than one point
_LOOKED_AT = 16384  #: pairs of faces that meet
_MUCH = 2.0  #: so much deeper may the normal of a face be than the shortest way
_FAR = 8.0  #: and so much deeper at most
_LEVEL = 1e-9  #: a direction that is off a plane by less is along it
_SAME = 1e-9  #: points nearer than that to each other are one, in units of the greatest coordinate

Points = tuple[Array, Array]  #: rows as those of `gjk3d.narrow.manifold`, and a normal each


def meeting_points(
    a: Any, b: Any, row_a: Array, row_b: Array, answer: Array, within: float, most: int | None
) -> Points:
    """Return where two solids touch, in world axes, the deepest first; ``answer`` is their signed distance.

    Each pair of parts that touch, or come within a distance, has the points of these two. Of a mesh the parts are its
    faces, and only those that meet the other count. Where nothing of the surfaces meets, as where one holds the other,
    it is the one point that the distance was measured at.
    """
    if isinstance(a, Halfspace) or isinstance(b, Halfspace):
        found = _on_plane(a, b, row_a, row_b, answer, within)
    else:
        found = _of_parts(a, b, row_a, row_b, within)
    points, normals = found
    if not len(points):
        points = np.concatenate([answer[6:12], answer[:1]])[None]
        normals = answer[None, 3:6]
    return _spread(points, normals, most)


def _on_plane(a: Any, b: Any, row_a: Array, row_b: Array, answer: Array, within: float) -> Points:
    """Return the points of a solid's convex hull: it stands on these."""
    hulls = hulls_with_plane(a, b)
    assert hulls is not None
    pairs = Pairs(hulls)
    which = np.array([[0, 1]])
    points, count = patch_points(
        pairs, which, pairs.table(which, which), np.stack([row_a, row_b]), answer[None].copy(), within, None, 1
    )
    own = points[0, : count[0]]
    return own, np.broadcast_to(answer[3:6], (len(own), 3))


def _of_parts(a: Any, b: Any, row_a: Array, row_b: Array, within: float) -> Points:
    if isinstance(a, Shape) or (isinstance(a, Mesh) and isinstance(b, Solid)):
        points, normals = _of_parts(b, a, row_b, row_a, within)
        return points[:, [3, 4, 5, 0, 1, 2, 6]], 0.0 - normals
    m = relative(row_a, row_b)
    if isinstance(a, Mesh):
        x, pairs, out = _of_faces(a, b, m)
    else:
        second = union_of(b)
        x = Between(a.facing(box_at(second.box, m)), second, m)
        pairs = x.meeting(within)
        out, _ = x.solve(pairs, narrow.SIGNED)
    some = np.argsort(out[:, 0], kind="stable")
    some = some[out[some, 1] <= within]
    points, normals = _manifolds(x, pairs[some[:_MOST]], out[some[:_MOST]], within)
    rest = out[some[_MOST:]]
    points = np.concatenate([points, np.column_stack([rest[:, 6:12], rest[:, 0]])])
    normals = np.concatenate([normals, rest[:, 3:6]])
    turn = parts(row_a)[0].T
    for column in (0, 3):
        points[:, column : column + 3] = points[:, column : column + 3] @ turn + row_a[9:12]
    return points, normals @ turn


def _of_faces(a: Mesh, b: Mesh | Shape, m: Array) -> tuple[Between, Ints, Array]:
    """Return pairs of a mesh's faces and those of another, or a shape, that meet, and how deep they do."""
    faces = meeting_faces(a, b, m, _LOOKED_AT)
    numbers, at = np.unique(faces[:, 0], return_inverse=True)
    pairs = np.zeros_like(faces)
    pairs[:, 0] = at
    first, second = _some_faces(a, numbers), union_of(b)
    if isinstance(b, Mesh):
        numbers, pairs[:, 1] = np.unique(faces[:, 1], return_inverse=True)
        second = _some_faces(b, numbers)
    x = Between(first, second, m)
    out, _ = x.solve(pairs, narrow.SIGNED)
    ways = []
    turn, shift = parts(m)
    if a.is_solid:
        n, c = _planes(a, faces[:, 0])
        if isinstance(b, Mesh):
            corners = b.vertices[b.faces[faces[:, 1]]] @ turn.T + shift
            lowest = _extreme(corners, -n)
        else:
            lowest = b.support(-n @ turn) @ turn.T + shift
        ways.append((n, np.einsum("ij,ij->i", n, c - lowest), lowest))
    if isinstance(b, Mesh) and b.is_solid:
        n, c = _planes(b, faces[:, 1])
        n, c = n @ turn.T, c @ turn.T + shift
        highest = _extreme(a.vertices[a.faces[faces[:, 0]]], -n)
        deep = np.einsum("ij,ij->i", n, c - highest)
        ways.append((0.0 - n, deep, highest + deep[:, None] * n))
    kept = _push_out(out, ways, 4.0 * x.error)
    return x, pairs[kept], out[kept]


def _some_faces(mesh: Mesh, faces: Ints) -> Union:
    """Return some faces of a mesh as parts; where there are none, any one."""
    return parts_of(Mesh(mesh.vertices, mesh.faces[faces if len(faces) else [0]]))


def _planes(mesh: Mesh, faces: Ints) -> tuple[Array, Array]:
    """Return the outward normals of some faces of a closed mesh, zero where there is none, and a corner of each."""
    n = mesh.outward(faces)
    length = np.linalg.norm(n, axis=1, keepdims=True)
    return np.divide(n, length, out=np.zeros_like(n), where=length > 0.0), mesh.vertices[mesh.faces[faces, 0]]


def _extreme(corners: Array, ways: Array) -> Array:
    """Return of each triangle the corner that is farthest along a direction."""
    far = np.einsum("kij,kj->ki", corners, ways).argmax(axis=1)
    found: Array = corners[np.arange(len(corners)), far]
    return found


def _push_out(out: Array, ways: list[tuple[Array, Array, Array]], error: float) -> Ints:
    """Let faces of closed meshes push each other outwards, mostly along the normal of one; return which tell anything.

    Of each mesh that is closed there are the directions in which its faces push, how deep the other is behind each,
    and the other's point there. The shortest way out of two triangles is taken where it leads into neither mesh, and is
    much shorter: it may be across edges that are none of the solid's. Where it leads into one and the way out is far
    longer, as of faces that cross near an edge, others know better.
    """
    best, inwards = np.full(len(out), np.inf), np.zeros(len(out), dtype=bool)
    instead = out.copy()
    for n, deep, lowest in ways:
        inwards |= np.einsum("ij,ij->i", n, out[:, 3:6]) < -_LEVEL
        some = np.flatnonzero((deep < best) & n.any(axis=1))
        best[some], way, low = deep[some], n[some], lowest[some]
        depth = np.maximum(deep[some], 0.0)[:, None]
        instead[some, :3], instead[some, 3:6] = -depth, way
        instead[some, 6:9], instead[some, 9:12] = low + depth * way, low
    own, sure = -out[:, 0], np.isfinite(best)
    deepest = float(own[~inwards].max(initial=0.0))
    touch = sure & (own <= error) & (best > _MUCH * deepest)
    lost = sure & inwards & ~touch & (best > np.maximum(_FAR * own, _MUCH * deepest))
    taken = sure & ~touch & ~lost & (inwards | (best <= _MUCH * own))
    out[taken] = instead[taken]
    turned = touch & inwards
    out[turned, 3:6], out[turned, 0] = instead[turned, 3:6], 0.0
    out[turned, 9:12] = out[turned, 6:9]
    return np.flatnonzero(~lost) if not lost.all() else np.arange(len(out))


def _manifolds(x: Between, pairs: Ints, out: Array, within: float) -> Points:
    """Return the points of some pairs of parts, in the first's frame."""
    which_a, at_a = np.unique(pairs[:, 0], return_inverse=True)
    which_b, at_b = np.unique(pairs[:, 1], return_inverse=True)
    shapes = Pairs([*map(x.a.shape, which_a.tolist()), *map(x.b.shape, which_b.tolist())])
    local = np.column_stack([at_a, len(which_a) + at_b])
    table = shapes.table(local, local)
    table[:, 2], table[:, 7] = 0, 1  # in the order that they were solved in
    points, count = patch_points(shapes, local, table, x.placed(which_a, which_b), out, within, None, 1)
    kept = np.arange(points.shape[1]) < count[:, None]
    return points[kept], np.repeat(out[:, 3:6], count, axis=0)


def _spread(points: Array, normals: Array, most: int | None) -> Points:
    """Return points without doubles, at most so many: the deepest, then each the farthest from those before."""
    order = np.argsort(points[:, 6], kind="stable")
    points, normals = points[order], normals[order]
    middles = 0.5 * (points[:, :3] + points[:, 3:6])
    same = _SAME * float(np.abs(middles).max())
    far = np.full(len(points), np.inf)
    kept: list[int] = []
    while len(kept) < (len(points) if most is None else most):
        k = int(far.argmax()) if kept and most is not None else int((far > same).argmax())
        if far[k] <= same:
            break
        kept.append(k)
        far = np.minimum(far, np.linalg.norm(middles - middles[k], axis=1))
    return points[kept], normals[kept]


_NO_FACES = np.zeros(1, dtype=np.int64), np.empty(0)
_RANK = 2  #: column of a shape's half of a pair row, see `gjk3d.narrow.pairs`


class _Faces(NamedTuple):
    """The faces of shapes behind each other, and half-spaces with a core on their plane."""

    ints: Ints
    floats: Array
    starts: Ints  #: by shape, in either
    corners: Ints  #: by shape the most that a feature of it has
    cores: tuple[Ints, Array]  #: the arena of the shapes, with those of half-spaces behind
    planes: dict[int, tuple[int, int]]  #: where the core of a half-space begins


def _faces(pairs: Pairs) -> _Faces:
    if "faces" not in pairs._cache:
        parts = [shape._faces() if isinstance(shape, Shape) else _NO_FACES for shape in pairs.shapes]
        starts = np.zeros((len(parts), 2), dtype=np.int64)
        starts[1:] = np.cumsum([(len(q), len(f)) for q, f in parts], axis=0)[:-1]
        ints, floats = ([array] for array in pairs.arena)
        planes = {}
        for number in np.flatnonzero(pairs.planes).tolist():
            shape = pairs.shapes[number]
            assert isinstance(shape, Halfspace)
            _, q, f = plane_core(shape)
            planes[number] = sum(map(len, ints)), sum(map(len, floats))
            ints.append(q)
            floats.append(f)
        corners = np.array([most_corners(x) if isinstance(x, Shape) else 1 for x in pairs.shapes])
        pairs._cache["faces"] = _Faces(
            np.concatenate([q for q, _ in parts]), np.concatenate([f for _, f in parts]), starts, corners,
            (np.concatenate(ints), np.concatenate(floats)), planes,
        )  # fmt: skip
    faces: _Faces = pairs._cache["faces"]
    return faces


def patch_points(
    pairs: Pairs, shapes: Ints, table: Ints, rows: Array, out: Array, within: float, most: int | None, workers: int
) -> tuple[Array, Ints]:
    """Return the points of contact patches of convex pairs, (m, columns, 7), and how many there are of each."""
    count = np.zeros(len(out), dtype=np.int64)
    if not len(out):
        return np.empty((0, most or 0, manifold.POINT)), count
    faces = _faces(pairs)
    for number, (at, where) in faces.planes.items():
        for side in range(2):
            planes = shapes[:, side] == number
            table[planes, 5 * side], table[planes, 5 * side + 1] = at, where
            # half-spaces come first, as where a pair is asked by itself
            table[planes, 5 * side + _RANK], table[planes, 5 * (1 - side) + _RANK] = 0, 1
    loops = faces.starts[shapes].reshape(-1, 2)
    corners = faces.corners[shapes]
    room = int(corners.sum(axis=1).max()) + 4
    width = room if most is None else min(most, room)
    parts: dict[int, Array] = {}

    def run(start: int, stop: int) -> None:
        points = np.full((stop - start, width, manifold.POINT), np.nan)
        manifold.contact_rows(
            *faces.cores, faces.ints, faces.floats, loops, table, rows, out, within, width, start, stop,
            np.empty((2, int(corners.max()), 3)), np.empty((3, room, 2)), points, count,
        )  # fmt: skip
        parts[start] = points

    with first_call("contact"):
        in_chunks(len(out), workers, run)
    columns = int(count.max()) if most is None else most
    points = np.full((len(out), columns, manifold.POINT), np.nan)
    for start, part in parts.items():
        kept = part[:, :columns]
        points[start : start + len(part), : kept.shape[1]] = kept
    return points, count


def patches(narrow: Narrow, answers: Answers, within: float, most: int | None) -> Contact:
    """Return the contact patches of pairs that are no farther apart than that."""
    result = narrow.result(answers, within)
    mixed = narrow.mixed(answers.pairs)
    if not mixed.any():
        shapes, table = narrow.table(answers.pairs)
        return Contact(
            result, *patch_points(narrow.pairs, shapes, table, narrow.rows, answers.out, within, most, narrow.workers)
        )

    count = np.zeros(len(answers), dtype=np.int64)
    shapes, table = narrow.table(answers.pairs[~mixed])
    some, count[~mixed] = patch_points(
        narrow.pairs, shapes, table, narrow.rows, answers.out[~mixed], within, most, narrow.workers
    )
    others = [
        meeting_points(a, b, row_a, row_b, out, within, most)
        for a, b, row_a, row_b, out in narrow.one_by_one(answers[mixed])
    ]
    count[mixed] = [len(points) for points, _ in others]
    columns = int(count.max()) if most is None else most
    points, normals = (
        np.full((len(answers), columns, manifold.POINT), np.nan),
        np.full((len(answers), columns, 3), np.nan),
    )
    points[~mixed, : some.shape[1]] = some
    normals[~mixed] = np.where(np.isnan(points[~mixed, :, :3]), np.nan, answers.out[~mixed, None, 3:6])
    for k, (own, ways) in zip(np.flatnonzero(mixed).tolist(), others, strict=True):
        points[k, : len(own)], normals[k, : len(own)] = own, ways
    return Contact(result, points, count, normals)
