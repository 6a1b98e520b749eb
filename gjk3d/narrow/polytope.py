"""EPA's polytope: a closed surface of triangles, each with its neighbours, that grows by one vertex at a time.

A new vertex may see several faces: those are removed, and the hole they leave (its rim is the horizon) is closed by a
fan round the vertex. Faces are oriented by their winding about the first tetrahedron's centre, which needs no
convexity, so slivers and coplanar faces do no harm. Removed faces keep their place.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.geometry.simplex import closest_on_triangle
from gjk3d.geometry.vec3 import NO_LENGTH, Vec3, cross, dot, row3, scale, sub, triangle_normal
from gjk3d.narrow.gjk import first_four
from gjk3d.narrow.room import FACES_PER_POINT, SIMPLEX, VERTEX_ROW, Room
from gjk3d.typing import Array1, Array2, Ints1, Ints2

#: square of a sine: two edges that far apart make as good a normal as any
_WIDE = 0.01


class Polytope(NamedTuple):
    """EPA's polytope in the room it is lent; see `gjk3d.narrow.room`."""

    simplex: Array2
    v: Array2  #: vertex rows
    ff: Array2  #: floats of faces: normal, key
    fi: Ints2  #: ints of faces: vertices, neighbours, alive, place among those that wait
    keys: Array1  #: of the faces that wait, inf of those removed since
    waiting: Ints1  #: faces that may have to be asked, from old to new
    stack: Ints1
    rim: Ints2
    mark: Ints1


@kernel
def polytope_in(room: Room) -> Polytope:
    """Return the views of a room that EPA works on."""
    work, table, points = room.work, room.table, room.points
    cap = FACES_PER_POINT * points
    o = SIMPLEX + VERTEX_ROW * points
    end = 10 * cap + 3 * (2 * points + 16)
    return Polytope(
        room.simplex,
        work[SIMPLEX:o].reshape(points, VERTEX_ROW),
        work[o : o + 4 * cap].reshape(cap, 4),
        table[: 8 * cap].reshape(cap, 8),
        work[o + 4 * cap : o + 5 * cap],
        table[8 * cap : 9 * cap],
        table[9 * cap : 10 * cap],
        table[10 * cap : end].reshape(2 * points + 16, 3),
        table[end : end + points + 1],
    )


@kernel
def normal_of(p: Polytope, f: int) -> Vec3:
    """Return a face's normal."""
    return row3(p.ff, f)


@kernel
def closest_on_face(p: Polytope, f: int, tiny: float) -> Vec3:
    """Return a face's point nearest to the origin."""
    point, _ = closest_on_triangle(row3(p.v, p.fi[f, 0]), row3(p.v, p.fi[f, 1]), row3(p.v, p.fi[f, 2]), tiny)
    return point


@inlined
def add_face(p: Polytope, f: int, i: int, j: int, k: int) -> bool:
    """Store face f = (i, j, k) with its unit normal and key; False where it is too thin to have a normal."""
    a, b, c = row3(p.v, i), row3(p.v, j), row3(p.v, k)
    ab, ac = sub(b, a), sub(c, a)
    n = cross(ab, ac)
    square = dot(n, n)
    if not square > _WIDE * dot(ab, ab) * dot(ac, ac):
        n = triangle_normal(a, b, c)
        square = dot(n, n)
    p.fi[f, 0], p.fi[f, 1], p.fi[f, 2] = i, j, k
    p.fi[f, 6] = 1
    if not square > NO_LENGTH * NO_LENGTH:
        return False
    n = scale(1.0 / sqrt(square), n)
    p.ff[f, 0], p.ff[f, 1], p.ff[f, 2] = n
    p.ff[f, 3] = min(dot(n, a), dot(n, b), dot(n, c))
    return True


@kernel
def take_simplex(p: Polytope) -> None:
    """Take GJK's tetrahedron as the first four vertices."""
    for i in range(4):
        for j in range(VERTEX_ROW):
            p.v[i, j] = p.simplex[i, j]


@kernel
def first_faces(p: Polytope) -> Vec3:
    """Wind the tetrahedron of the first four vertices outward, and let its faces wait; return its centre.

    That orients all faces to come, wherever the origin is.
    """
    p0, p1, p2, p3 = first_four(p.v)
    inner = scale(0.25, (p0[0] + p1[0] + p2[0] + p3[0], p0[1] + p1[1] + p2[1] + p3[1], p0[2] + p1[2] + p2[2] + p3[2]))
    if dot(triangle_normal(p0, p1, p2), sub(p3, p0)) > 0.0:
        for j in range(VERTEX_ROW):
            p.v[1, j], p.v[2, j] = p.v[2, j], p.v[1, j]
    for f in range(4):
        i, j, k = ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0))[f]
        add_face(p, f, i, j, k)
        p.fi[f, 3], p.fi[f, 4], p.fi[f, 5] = ((1, 2, 3), (3, 2, 0), (1, 3, 0), (2, 1, 0))[f]
        p.waiting[f], p.keys[f], p.fi[f, 7] = f, p.ff[f, 3], f
        p.mark[f] = -1
    return inner


@inlined
def let_wait(p: Polytope, count: int, faces: int, grown: int, most: float) -> int:
    """Let the new faces wait that are nearer than ``most``; return how many wait."""
    nowhere = p.keys.shape[0] - 1  # as many never wait
    for f in range(faces, grown):
        key = p.ff[f, 3]
        near = key < most
        p.fi[f, 7] = count if near else nowhere
        p.waiting[count], p.keys[count] = f, key
        count += 1 if near else 0
    return count


@inlined
def lowest_waiting(p: Polytope, count: int) -> int:
    """Return where the face with the least key waits, the oldest of ties, -1 where none is left.

    They are few, for a face above what is known of the depth never waits: to look at all costs less than a heap, whose
    every branch is a guess.
    """
    at, least = -1, inf
    for i in range(count):
        key = p.keys[i]
        at = i if key < least else at
        least = key if key < least else least
    return at


@kernel
def let_go(p: Polytope, count: int) -> int:
    """Let removed faces wait no longer; return how many do."""
    kept = 0
    for i in range(count):
        f, key = p.waiting[i], p.keys[i]
        if key < inf:
            p.waiting[kept], p.keys[kept], p.fi[f, 7] = f, key, kept
            kept += 1
    return kept


@inlined
def horizon(p: Polytope, seed: int, w: Vec3, threshold: float, faces: int) -> tuple[int, int, bool]:
    """Put the faces that w sees on the stack, from ``seed`` on, marked by 2, and the edges round them on the rim.

    Return how many faces, how many edges, and whether none begins where another does. A face counts as seen where w is
    more than ``threshold`` above its plane. An edge is marked where it begins by the face that may stand on it.
    """
    fi, ff, v, stack, rim, mark = p.fi, p.ff, p.v, p.stack, p.rim, p.mark
    fi[seed, 6] = 2
    stack[0] = seed
    depth, at, edges, good = 1, 0, 0, True
    while at < depth:
        f = stack[at]
        at += 1
        for e in range(3):
            g = fi[f, 3 + e]
            if fi[g, 6] == 2:
                continue
            if dot(row3(ff, g), sub(w, row3(v, fi[g, 0]))) > threshold:
                fi[g, 6] = 2
                stack[depth] = g
                depth += 1
            else:
                i = fi[f, e]
                good = good and mark[i] < faces
                mark[i] = faces + edges
                rim[edges, 0], rim[edges, 1], rim[edges, 2] = i, fi[f, e + 1 if e < 2 else 0], g
                edges += 1
    return depth, edges, good


@inlined
def add_fan(p: Polytope, edges: int, new: int, faces: int, inner: Vec3) -> bool:
    """Add the faces between the rim and a vertex, in the rim's order.

    False unless the rim is one cycle, or where a face is too thin, or wound inward about ``inner``.
    """
    fi, rim, mark = p.fi, p.rim, p.mark
    up = sub(row3(p.v, new), inner)
    k = 0
    for f in range(faces, faces + edges):
        if not add_face(p, f, rim[k, 0], rim[k, 1], new):
            return False
        if not dot(row3(p.ff, f), up) > 0.0:
            return False
        fi[f, 3], fi[f, 4], fi[f, 5] = rim[k, 2], f + 1, f - 1
        k = mark[rim[k, 1]] - faces
        if k < 0 or (k == 0) != (f == faces + edges - 1):
            return False
    fi[faces, 5], fi[faces + edges - 1, 4] = faces + edges - 1, faces
    return True


@inlined
def sew(p: Polytope, edges: int, faces: int) -> None:
    """Make the fan's faces neighbours of those behind the rim."""
    fi = p.fi
    for f in range(faces, faces + edges):
        g, j = fi[f, 3], fi[f, 1]
        fi[g, 3 if fi[g, 0] == j else (4 if fi[g, 1] == j else 5)] = f


@inlined
def expand(p: Polytope, seed: int, new: int, faces: int, inner: Vec3, threshold: float) -> tuple[int, int]:
    """Replace the faces that vertex ``new`` sees by a fan; return the new face count, and how many went.

    Or -1 and 0, with nothing changed: unless the horizon is one simple cycle and every new face is wound outward.
    """
    p.mark[new] = -1
    depth, edges, good = horizon(p, seed, row3(p.v, new), threshold, faces)
    good = good and edges >= 3 and add_fan(p, edges, new, faces, inner)
    if not good:
        for k in range(depth):
            p.fi[p.stack[k], 6] = 1
        for k in range(edges):
            p.mark[p.rim[k, 0]] = -1
        return -1, 0
    for k in range(depth):
        f = p.stack[k]
        p.fi[f, 6] = 0
        p.keys[p.fi[f, 7]] = inf
    sew(p, edges, faces)
    return faces + edges, depth


@kernel
def lowest_face(p: Polytope, faces: int, w: Vec3, tiny: float) -> int:
    """Return the live face that a point is highest above, -1 where it is above none."""
    seed, most = -1, tiny
    for g in range(faces):
        if p.fi[g, 6] == 1:
            above = dot(normal_of(p, g), sub(w, row3(p.v, p.fi[g, 0])))
            if above > most:
                most, seed = above, g
    return seed


@kernel
def add_vertex(p: Polytope, seed: int, new: int, faces: int, inner: Vec3, tiny: float) -> tuple[int, int]:
    """Do as `expand` does; keep coplanar faces, else split them, else swallow them."""
    if seed < 0:
        return -1, 0
    for k in range(3):
        grown, gone = expand(p, seed, new, faces, inner, (1.0 - k) * tiny)
        if grown > 0:
            return grown, gone
    return -1, 0
