"""EPA: how deep two cores overlap, by growing a polytope inside A - B until its face nearest to the origin is final.

The 2D text keeps a polygon, takes its edge nearest to the origin, asks for the support point along that edge's
normal, and splits the edge there. In 3D the edge is a triangle, and the new point may see several: those are removed,
and the hole they leave (its rim is the horizon) is closed by a fan round the new point.

Unlike the texts, nothing is asked of the origin. The first tetrahedron is made of extreme points wherever the origin
is; faces are oriented by their winding about that tetrahedron's centre, never by the foot of the origin. While the
origin is outside the polytope the nearest point of its surface is followed as in GJK; once inside, the least plane
distance is. Both ends of the interval are facts:

- every normal n asked proves sd >= -h(n): moving B by h(n) n parts the two;
- a closed surface of points of A - B round the origin proves sd <= -r, r the least distance of its triangles from the
  origin. The distance of a triangle is bounded by the *least* of its three vertices along its normal, which holds for
  a poor normal too.

Van den Bergen 2003, sec. 4.3.8; Cameron's support bound; the winding argument needs no convexity, so slivers and
coplanar faces do no harm.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import kernel, plain
from gjk3d.geometry.simplex import closest_on_triangle
from gjk3d.geometry.vec3 import Vec3, cross, divide, dot, neg, perpendicular, row3, scale, sub, triangle_normal, unit
from gjk3d.narrow.cores import Cores, support_pair
from gjk3d.narrow.gjk import TOUCHING, first_four, known, set_row
from gjk3d.narrow.room import EPA_START, EPA_STEP, FACES_PER_POINT, SIMPLEX, VERTEX_ROW, Room, put, put3
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

CLOSED, APART, FLAT, STUCK, FULL = range(5)
#: of its longest edge: GJK's tetrahedron is a sliver where it is lower, or its base narrower
_SLIVER = 1e-3
_DIAGONAL = 0.7071067811865476
#: directions of the plane, an eighth of a turn apart
EIGHT = (
    (1.0, 0.0), (_DIAGONAL, _DIAGONAL), (0.0, 1.0), (-_DIAGONAL, _DIAGONAL),
    (-1.0, 0.0), (-_DIAGONAL, -_DIAGONAL), (0.0, -1.0), (_DIAGONAL, -_DIAGONAL),
)  # fmt: skip


class Depth(NamedTuple):
    """How deep two cores overlap, as far as known.

    With the origin inside, ``front`` and ``back`` are how far what was built reaches from it along the normal and, if
    that was asked for, along its opposite, and the faces hit there are left in the simplex, rows 0 to 2 and 3 to 5;
    else both are -1 and rows 0 to 2 are the nearest face.
    """

    code: int  #: why it stopped
    steps: int
    least: float  #: the least h(n) seen, a bound of the depth from above
    normal: Vec3  #: its n
    outer: float  #: an upper bound of the signed distance
    front: float
    back: float


class Polytope(NamedTuple):
    """EPA's polytope in the room it is lent; see `gjk3d.narrow.room`."""

    simplex: Array2
    v: Array2  #: vertex rows
    ff: Array2  #: floats of faces: normal, key
    fi: Ints2  #: ints of faces: vertices, neighbours, alive
    hk: Array1  #: keys of the heap
    hf: Ints1  #: faces of the heap
    stack: Ints1
    rim: Ints2
    mark: Ints1


@kernel
def polytope_in(room: Room) -> Polytope:
    """Return the views of a room that EPA works on."""
    work, table, points = room.work, room.table, room.points
    cap = FACES_PER_POINT * points
    o = SIMPLEX + VERTEX_ROW * points
    end = 9 * cap + 3 * (2 * points + 16)
    return Polytope(
        room.simplex,
        work[SIMPLEX:o].reshape(points, VERTEX_ROW),
        work[o : o + 4 * cap].reshape(cap, 4),
        table[: 7 * cap].reshape(cap, 7),
        work[o + 4 * cap : o + 5 * cap],
        table[7 * cap : 8 * cap],
        table[8 * cap : 9 * cap],
        table[9 * cap : end].reshape(2 * points + 16, 3),
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


@kernel
def add_face(p: Polytope, f: int, i: int, j: int, k: int) -> bool:
    """Store face f = (i, j, k) with its unit normal and key; False where it is too thin to have a normal."""
    a, b, c = row3(p.v, i), row3(p.v, j), row3(p.v, k)
    n = triangle_normal(a, b, c)
    length = sqrt(dot(n, n))
    p.fi[f, 0], p.fi[f, 1], p.fi[f, 2] = i, j, k
    p.fi[f, 6] = 1
    if not length > 0.0:
        return False
    n = divide(n, length)
    p.ff[f, 0], p.ff[f, 1], p.ff[f, 2] = n
    p.ff[f, 3] = min(dot(n, a), dot(n, b), dot(n, c))
    return True


@kernel
def push(hk: Array, hf: Ints, size: int, key: float, face: int) -> int:
    """Add a face to the binary heap of keys; return the heap's new size."""
    i = size
    while i > 0:
        parent = (i - 1) // 2
        if hk[parent] <= key:
            break
        hk[i] = hk[parent]
        hf[i] = hf[parent]
        i = parent
    hk[i] = key
    hf[i] = face
    return size + 1


@kernel
def pop(hk: Array, hf: Ints, size: int) -> int:
    """Remove the heap's first entry; return its new size."""
    size -= 1
    key = hk[size]
    face = hf[size]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and hk[child + 1] < hk[child]:
            child += 1
        if hk[child] >= key:
            break
        hk[i] = hk[child]
        hf[i] = hf[child]
        i = child
    hk[i] = key
    hf[i] = face
    return size


@kernel
def farthest_apart(v: Array, count: int) -> tuple[int, int, float]:
    """Return which two of the first vertices are farthest apart, and the square of how far."""
    i0, i1, far = 0, 0, 0.0
    for i in range(count):
        for j in range(i + 1, count):
            e = sub(row3(v, i), row3(v, j))
            if dot(e, e) > far:
                far = dot(e, e)
                i0, i1 = i, j
    return i0, i1, far


@kernel
def first_tetrahedron(c: Cores, v: Array) -> tuple[int, float, Vec3, Vec3]:
    """Fill v[:4] with far-apart support points: of six directions, of eight round their line, of two off their plane.

    Return the dimension found, the least h(n) seen, its n, and a normal of a flat difference.
    """
    least = inf
    best = (1.0, 0.0, 0.0)
    for k in range(6):
        s = 1.0 if k < 3 else -1.0
        d = (s if k % 3 == 0 else 0.0, s if k % 3 == 1 else 0.0, s if k % 3 == 2 else 0.0)
        w, a, b = support_pair(c, d)
        set_row(v, k, w, a, b)
        if dot(d, w) < least:
            least, best = dot(d, w), d
    i0, i1, far = farthest_apart(v, 6)
    if not sqrt(far) > c.tiny:
        return 0, least, best, best
    for j in range(VERTEX_ROW):
        v[6, j] = v[i0, j]
        v[1, j] = v[i1, j]
        v[0, j] = v[6, j]
    p0, p1, _, _ = first_four(v)
    line = unit(sub(p1, p0))
    u1 = perpendicular(line)
    u2 = cross(line, u1)
    far, slot = 0.0, plain(2)
    for k in range(8):
        x, y = EIGHT[k]
        d = (x * u1[0] + y * u2[0], x * u1[1] + y * u2[1], x * u1[2] + y * u2[2])
        w, a, b = support_pair(c, d)
        if dot(d, w) < least:
            least, best = dot(d, w), d
        e = cross(line, sub(w, p0))
        if dot(e, e) > far:
            far = dot(e, e)
            set_row(v, slot, w, a, b)
    if not sqrt(far) > c.tiny:
        return 1, least, best, u1
    p0, p1, p2, _ = first_four(v)
    n = unit(triangle_normal(p0, p1, p2))
    far = 0.0
    for k in range(2):
        d = n if k == 0 else neg(n)
        w, a, b = support_pair(c, d)
        if dot(d, w) < least:
            least, best = dot(d, w), d
        height = abs(dot(n, sub(w, p0)))
        if height > far:
            far = height
            set_row(v, slot + 1, w, a, b)
    return 3 if far > c.tiny else 2, least, best, n


@kernel
def flat_depth(c: Cores, v: Array, dimension: int, n: Vec3, least: float, best: Vec3) -> Depth:
    """Ask both sides of a difference without volume: h(n) is about 0 along any normal of it, the better one is kept."""
    for k in range(2):
        d = n if k == 0 else neg(n)
        if dimension == 0 and k == 0:
            d = unit(neg(row3(v, 0)))
        w, _, _ = support_pair(c, d)
        if dot(d, w) < least:
            least, best = dot(d, w), d
    return Depth(FLAT, 1, least, best, inf, -1.0, -1.0)


@kernel
def is_sliver(v: Array, tiny: float) -> bool:
    """Tell whether the first four vertices are too flat a tetrahedron to begin with."""
    p0, p1, p2, p3 = first_four(v)
    n = triangle_normal(p0, p1, p2)
    height = abs(dot(unit(n), sub(p3, p0)))
    longest = sqrt(max(dot(sub(p0, p1), sub(p0, p1)), dot(sub(p0, p2), sub(p0, p2)), dot(sub(p1, p2), sub(p1, p2))))
    wide = sqrt(dot(n, n)) > _SLIVER * longest * longest
    return not (height > _SLIVER * longest and wide and height > tiny)


@kernel
def look_out(p: Polytope, top: int, faces: int, c: Cores) -> tuple[int, Vec3, float, bool]:
    """Return the face nearest to an origin outside or on the polytope, which is ``top`` where no plane is below it.

    And the direction to ask, the face's distance, and whether that direction is the one to its nearest point, as in
    GJK: along a plane's normal alone the loop would go astray.
    """
    face = top
    point = closest_on_face(p, top, c.tiny)
    if p.ff[top, 3] < 0.0:
        least = inf
        for f in range(faces):
            if p.fi[f, 6] == 1 and p.ff[f, 3] <= c.error:
                q = closest_on_face(p, f, c.tiny)
                if dot(q, q) < least:
                    least = dot(q, q)
                    point, face = q, f
    length = sqrt(dot(point, point))
    if p.ff[face, 3] < 0.0 and length > TOUCHING * c.tiny:
        return face, divide(point, -length), length, True
    return face, normal_of(p, face), length, False


@kernel
def seen_along(p: Polytope, f: int, e1: Vec3, e2: Vec3) -> Vec3:
    """Return the areas that the origin's image spans with the edges of a face seen along e1 x e2, edge opposite each.

    All are positive where the ray pierces the face from inside; this much cancels nothing.
    """
    a, b, c = row3(p.v, p.fi[f, 0]), row3(p.v, p.fi[f, 1]), row3(p.v, p.fi[f, 2])
    ax, ay, bx, by, cx, cy = dot(e1, a), dot(e2, a), dot(e1, b), dot(e2, b), dot(e1, c), dot(e2, c)
    return (bx * cy - by * cx, cx * ay - cy * ax, ax * by - ay * bx)


@kernel
def pierced(p: Polytope, faces: int, likely: int, n: Vec3, row: int) -> float:
    """Put the face hit by the ray from the origin along n into the simplex from a row on; return the ray's length.

    The witness points of an overlap: a convex combination of points of A - B that lies on n to the last bit, whatever
    stopped the loop. The face is ``likely``, else it is searched for.
    """
    s = p.simplex
    e1 = perpendicular(n)
    e2 = cross(n, e1)
    chosen = likely
    u = seen_along(p, likely, e1, e2)
    if not min(u[0], u[1], u[2]) > 0.0:
        chosen = -1
        best = -inf
        for f in range(faces):
            if p.fi[f, 6] != 1:
                continue
            w = seen_along(p, f, e1, e2)
            total = w[0] + w[1] + w[2]
            if total > 0.0:
                worst = min(w[0], w[1], w[2]) / total
                if worst > best:
                    best = worst
                    chosen = f
                    u = (max(w[0], 0.0), max(w[1], 0.0), max(w[2], 0.0))
        if chosen < 0:  # never seen; some point of the polytope all the same
            chosen = 0
            while p.fi[chosen, 6] != 1:
                chosen += 1
            u = (1.0, 0.0, 0.0)
    total = u[0] + u[1] + u[2]
    s[row, 9], s[row + 1, 9], s[row + 2, 9] = u[0] / total, u[1] / total, u[2] / total
    length = 0.0
    for i in range(3):
        for j in range(9):
            s[row + i, j] = p.v[p.fi[chosen, i], j]
        length += s[row + i, 9] * dot(n, row3(p.v, p.fi[chosen, i]))
    return length


@kernel
def flood(p: Polytope, seed: int, w: Vec3, threshold: float) -> int:
    """Put the faces that w sees on the stack, from ``seed`` on, and mark them by 2; return how many.

    A face counts as seen where w is more than ``threshold`` above its plane.
    """
    p.fi[seed, 6] = 2
    p.stack[0] = seed
    depth = 1
    at = 0
    while at < depth:
        f = p.stack[at]
        at += 1
        for e in range(3):
            g = p.fi[f, 3 + e]
            if p.fi[g, 6] == 2:
                continue
            if dot(normal_of(p, g), sub(w, row3(p.v, p.fi[g, 0]))) > threshold:
                p.fi[g, 6] = 2
                p.stack[depth] = g
                depth += 1
    return depth


@kernel
def trace_horizon(p: Polytope, depth: int) -> tuple[int, bool]:
    """Write the edges between marked faces and the others to the rim; return how many, and whether they are one cycle.

    A mark of a vertex is the edge that begins there, for whoever cleans up.
    """
    edges = 0
    good = True
    for k in range(depth):
        f = p.stack[k]
        for e in range(3):
            g = p.fi[f, 3 + e]
            if p.fi[g, 6] != 2:
                i, j = p.fi[f, e], p.fi[f, (e + 1) % 3]
                if p.mark[i] != -1:
                    good = False  # the rim passes this vertex twice
                else:
                    p.mark[i] = edges
                p.rim[edges, 0], p.rim[edges, 1], p.rim[edges, 2] = i, j, g
                edges += 1
    if not good or edges < 3:
        return edges, False
    length = 1
    k = p.mark[p.rim[0, 1]]
    while k > 0 and length <= edges:
        length += 1
        k = p.mark[p.rim[k, 1]]
    return edges, k == 0 and length == edges


@kernel
def add_fan(p: Polytope, edges: int, new: int, faces: int, inner: Vec3) -> bool:
    """Add the faces between the rim and a vertex; False where one is too thin, or wound inward about ``inner``."""
    w = row3(p.v, new)
    for k in range(edges):
        if not add_face(p, faces + k, p.rim[k, 0], p.rim[k, 1], new):
            return False
        if not dot(normal_of(p, faces + k), sub(w, inner)) > 0.0:
            return False
    return True


@kernel
def sew(p: Polytope, edges: int, faces: int) -> None:
    """Make the fan's faces neighbours of each other and of those behind the rim."""
    fi, rim, mark = p.fi, p.rim, p.mark
    for k in range(edges):
        mark[rim[k, 0]] = faces + k
    for k in range(edges):
        f = faces + k
        g = rim[k, 2]
        fi[f, 3] = g
        fi[f, 4] = mark[rim[k, 1]]
        fi[mark[rim[k, 1]], 5] = f
        for e in range(3):
            if fi[g, e] == rim[k, 1] and fi[g, (e + 1) % 3] == rim[k, 0]:
                fi[g, 3 + e] = f


@kernel
def expand(p: Polytope, seed: int, new: int, faces: int, inner: Vec3, threshold: float) -> tuple[int, int]:
    """Replace the faces that vertex ``new`` sees by a fan; return the new face count, and how many went.

    Or -1 and 0, with nothing changed: unless the horizon is one simple cycle and every new face is wound outward.
    """
    depth = flood(p, seed, row3(p.v, new), threshold)
    edges, good = trace_horizon(p, depth)
    good = good and add_fan(p, edges, new, faces, inner)
    if good:
        sew(p, edges, faces)
    for k in range(edges):
        p.mark[p.rim[k, 0]] = -1
    for k in range(depth):
        p.fi[p.stack[k], 6] = 0 if good else 1
    if not good:
        return -1, 0
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


@kernel
def first_faces(p: Polytope) -> tuple[int, Vec3]:
    """Wind the tetrahedron of the first four vertices outward, and put its faces on the heap; return its size, centre.

    The centre orients all faces to come, wherever the origin is.
    """
    p0, p1, p2, p3 = first_four(p.v)
    inner = scale(0.25, (p0[0] + p1[0] + p2[0] + p3[0], p0[1] + p1[1] + p2[1] + p3[1], p0[2] + p1[2] + p2[2] + p3[2]))
    if dot(triangle_normal(p0, p1, p2), sub(p3, p0)) > 0.0:
        for j in range(VERTEX_ROW):
            p.v[1, j], p.v[2, j] = p.v[2, j], p.v[1, j]
    heap = plain(0)
    for f in range(4):
        i, j, k = ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0))[f]
        add_face(p, f, i, j, k)
        p.fi[f, 3], p.fi[f, 4], p.fi[f, 5] = ((1, 2, 3), (3, 2, 0), (1, 3, 0), (2, 1, 0))[f]
        heap = push(p.hk, p.hf, heap, p.ff[f, 3], f)
    p.mark[:] = -1
    return heap, inner


@kernel
def log_start(log: Array, p: Polytope) -> None:
    """Write the tetrahedron that EPA starts from."""
    put(log, EPA_START)
    for i in range(4):
        for j in range(VERTEX_ROW):
            put(log, p.v[i, j])
    for f in range(4):
        for e in range(3):
            put(log, float(p.fi[f, e]))


@kernel
def log_growth(
    log: Array, p: Polytope, asked: tuple[Vec3, Vec3, Vec3, Vec3], face: int, bounds: tuple[float, float],
    faces: int, grown: int, gone: int,
) -> None:  # fmt: skip
    """Write what was asked, for which face, and what came of it: both bounds, the faces added, those that went."""
    put(log, EPA_STEP)
    for x in asked:
        put3(log, x)
    put(log, float(face))
    put(log, bounds[0])
    put(log, bounds[1])
    put(log, float(max(grown - faces, 0)))
    for g in range(faces, grown):
        for e in range(3):
            put(log, float(p.fi[g, e]))
    put(log, float(gone))
    for k in range(gone):
        put(log, float(p.stack[k]))


@kernel
def reach_both_ways(p: Polytope, faces: int, chosen: int, n: Vec3, both: bool) -> tuple[float, float]:
    """Return how far the polytope reaches from an origin inside along n, and along -n where ``both`` are asked for."""
    if p.fi[chosen, 6] != 1:  # the last step removed it, and left its own faces
        chosen = faces - 1
    front, back = 0.0, 0.0
    for side in range(2 if both else 1):
        if side == 0:
            front = pierced(p, faces, chosen, n, 3 * side)
        else:
            back = pierced(p, faces, chosen, neg(n), 3 * side)
    return front, back


@kernel
def epa(c: Cores, width: float, both: bool, seeded: bool, least: float, best: Vec3, room: Room) -> Depth:
    """Return how deep two cores overlap; GJK's tetrahedron in the simplex is a start where it is ``seeded``.

    CLOSED: the nearest face supports the difference to within ``width``. APART: the origin is outside, and the nearest
    face's nearest point is the difference's. FLAT: the difference has no volume, n is a normal of its plane. STUCK:
    rounding stopped it. FULL: the room is too small. The bounds hold after all of them.

    ``least`` and ``best`` come in as the best that GJK has seen; ``both`` asks for the length behind, too.
    """
    p, log = polytope_in(room), room.log
    if seeded:
        for i in range(4):
            for j in range(VERTEX_ROW):
                p.v[i, j] = p.simplex[i, j]
    if not seeded or is_sliver(p.v, c.tiny):
        dimension, first, direction, n = first_tetrahedron(c, p.v)
        if first < least:
            least, best = first, direction
        if dimension < 3:
            return flat_depth(c, p.v, dimension, n, least, best)
    heap, inner = first_faces(p)
    if log.shape[0] > 0:
        log_start(log, p)
    faces, points, steps = plain(4), plain(4), 0
    code, face, inside = FULL, -1, False
    outer = inf
    while points < room.points:
        while p.fi[p.hf[0], 6] == 0:
            heap = pop(p.hk, p.hf, heap)
        face, key = p.hf[0], p.hk[0]
        inside = key > c.error
        if inside:
            d, length, astray = normal_of(p, face), -key, False
        else:
            face, d, length, astray = look_out(p, face, faces, c)
        outer = min(outer, length)
        w, a, b = support_pair(c, d)
        steps += 1
        h = dot(d, w)
        if h < least:
            least, best = h, d
        # nothing lies beyond a face that ends at a vertex known, whatever its rounded plane says
        code = STUCK if known(p.v, points, w) else FULL
        if inside:
            code = CLOSED if h + length <= width else code
        elif h + (length if astray else -p.ff[face, 3]) <= (width if astray else max(width, c.tiny)):
            code = APART
        grown, gone = -1, 0
        if code == FULL:
            if faces + 2 * points + 8 > p.ff.shape[0] or heap + 2 * points + 8 > p.hk.shape[0]:
                break
            set_row(p.v, points, w, a, b)
            grown, gone = add_vertex(
                p, lowest_face(p, faces, w, c.tiny) if astray else face, points, faces, inner, c.tiny
            )
            code = FULL if grown > 0 else STUCK
        if log.shape[0] > 0:
            log_growth(log, p, (d, w, a, b), face, (-least, outer), faces, grown, gone)
        if code != FULL:
            break
        for g in range(faces, grown):
            heap = push(p.hk, p.hf, heap, p.ff[g, 3], g)
        faces = grown
        points += 1
    if inside:
        front, back = reach_both_ways(p, faces, face, best, both)
        return Depth(code, steps, least, best, outer, front, back)
    for i in range(3):
        for j in range(VERTEX_ROW):
            p.simplex[i, j] = p.v[p.fi[face, i], j]
    return Depth(code, steps, least, best, outer, -1.0, -1.0)
