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

import numpy as np

from gjk3d._kernels.decorators import kernel
from gjk3d.geometry.simplex import closest_on_triangle
from gjk3d.geometry.vec3 import Vec3, cross, dot, perpendicular, scale, sub, triangle_normal, unit
from gjk3d.narrow.cores import Rigid, support_pair
from gjk3d.narrow.gjk import SIMPLEX, first_four, row3, set_row
from gjk3d.narrow.trace import put, put3
from gjk3d.typing import Array, Ints

CLOSED, APART, FLAT, STUCK, FULL = range(5)

# A workspace has room for so many vertices, and for FACES_PER_POINT times as many faces; dead faces keep their place.
# work:  GJK's simplex, vertex rows (w, a, b), face rows (normal, key), the heap's keys
# table: face rows (three vertices, three neighbours over edges 01 12 20, alive), the heap's faces, stack, horizon,
# marks
FACES_PER_POINT = 12
VERTEX_ROW, FACE_FLOATS, FACE_INTS = 9, 4, 7


@kernel
def workspace(room: int) -> tuple[int, int]:
    """Return how many floats and ints a workspace for a polytope of this many vertices takes."""
    cap = FACES_PER_POINT * room
    return SIMPLEX + VERTEX_ROW * room + 5 * cap, 9 * cap + 3 * (2 * room + 16) + room + 1


@kernel
def add_face(v: Array, ff: Array, fi: Ints, f: int, i: int, j: int, k: int) -> bool:
    """Store face f = (i, j, k) with its unit normal and key; False where it is too thin to have a normal."""
    a, b, c = row3(v, i), row3(v, j), row3(v, k)
    n = triangle_normal(a, b, c)
    length = sqrt(dot(n, n))
    fi[f, 0], fi[f, 1], fi[f, 2] = i, j, k
    fi[f, 6] = 1
    if not length > 0.0:
        return False
    n = (n[0] / length, n[1] / length, n[2] / length)
    ff[f, 0], ff[f, 1], ff[f, 2] = n
    ff[f, 3] = min(dot(n, a), dot(n, b), dot(n, c))
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
def first_tetrahedron(
    qa: Ints, ia: int, fa: Array, oa: int, qb: Ints, ib: int, fb: Array, ob: int, m: Rigid, tiny: float, v: Array
) -> tuple[int, float, Vec3, Vec3]:
    """Fill v[:4] with far-apart support points.

    Return the dimension found, the least h(n) seen, its n, and a normal of a flat difference.
    """
    least = inf
    best = (1.0, 0.0, 0.0)
    for k in range(6):
        s = 1.0 if k < 3 else -1.0
        d = (s if k % 3 == 0 else 0.0, s if k % 3 == 1 else 0.0, s if k % 3 == 2 else 0.0)
        w, a, b = support_pair(qa, ia, fa, oa, qb, ib, fb, ob, m, d)
        set_row(v, k, w, a, b)
        h = dot(d, w)
        if h < least:
            least, best = h, d
    i0, i1 = 0, 0
    far = 0.0
    for i in range(6):
        for j in range(i + 1, 6):
            e = sub(row3(v, i), row3(v, j))
            if dot(e, e) > far:
                far = dot(e, e)
                i0, i1 = i, j
    if not sqrt(far) > tiny:
        return 0, least, best, best
    for j in range(9):
        v[6, j] = v[i0, j]
        v[7, j] = v[i1, j]
    for j in range(9):
        v[0, j] = v[6, j]
        v[1, j] = v[7, j]
    p0, p1, _, _ = first_four(v)
    line = unit(sub(p1, p0))
    u1 = perpendicular(line)
    u2 = cross(line, u1)
    far = 0.0
    slot = int(np.int64(2))
    for k in range(8):
        c = (1.0, 0.7071067811865476, 0.0, -0.7071067811865476, -1.0, -0.7071067811865476, 0.0, 0.7071067811865476)[k]
        s = (0.0, 0.7071067811865476, 1.0, 0.7071067811865476, 0.0, -0.7071067811865476, -1.0, -0.7071067811865476)[k]
        d = (c * u1[0] + s * u2[0], c * u1[1] + s * u2[1], c * u1[2] + s * u2[2])
        w, a, b = support_pair(qa, ia, fa, oa, qb, ib, fb, ob, m, d)
        h = dot(d, w)
        if h < least:
            least, best = h, d
        e = cross(line, sub(w, p0))
        if dot(e, e) > far:
            far = dot(e, e)
            set_row(v, slot, w, a, b)
    if not sqrt(far) > tiny:
        return 1, least, best, u1
    p0, p1, p2, _ = first_four(v)
    n = unit(triangle_normal(p0, p1, p2))
    far = 0.0
    slot = int(np.int64(3))
    for k in range(2):
        d = n if k == 0 else (-n[0], -n[1], -n[2])
        w, a, b = support_pair(qa, ia, fa, oa, qb, ib, fb, ob, m, d)
        h = dot(d, w)
        if h < least:
            least, best = h, d
        height = abs(dot(n, sub(w, p0)))
        if height > far:
            far = height
            set_row(v, slot, w, a, b)
    if not far > tiny:
        return 2, least, best, n
    return 3, least, best, n


@kernel
def nearest_face(v: Array, ff: Array, fi: Ints, faces: int, tiny: float, error: float) -> tuple[int, Vec3]:
    """Return the live face whose triangle is nearest to an origin outside or on the polytope, and its nearest point."""
    chosen = -1
    least = inf
    point = (0.0, 0.0, 0.0)
    for f in range(faces):
        if fi[f, 6] == 1 and ff[f, 3] <= error:
            p, _ = closest_on_triangle(row3(v, fi[f, 0]), row3(v, fi[f, 1]), row3(v, fi[f, 2]), tiny)
            if dot(p, p) < least:
                least = dot(p, p)
                point = p
                chosen = f
    return chosen, point


@kernel
def seen_along(v: Array, fi: Ints, f: int, e1: Vec3, e2: Vec3) -> Vec3:
    """Return the areas that the origin's image spans with the edges of a face seen along e1 x e2, edge opposite each.

    All are positive where the ray pierces the face from inside; this much cancels nothing.
    """
    a, b, c = row3(v, fi[f, 0]), row3(v, fi[f, 1]), row3(v, fi[f, 2])
    ax, ay, bx, by, cx, cy = dot(e1, a), dot(e2, a), dot(e1, b), dot(e2, b), dot(e1, c), dot(e2, c)
    return (bx * cy - by * cx, cx * ay - cy * ax, ax * by - ay * bx)


@kernel
def pierced(v: Array, fi: Ints, faces: int, likely: int, n: Vec3, s: Array, row: int) -> float:
    """Put the face hit by the ray from the origin along n into s[row : row + 3], with weights; return the ray's length.

    The witness points of an overlap: a convex combination of points of A - B that lies on n to the last bit, whatever
    stopped the loop. The face is ``likely``, else it is searched for.
    """
    e1 = perpendicular(n)
    e2 = cross(n, e1)
    chosen = likely
    u = seen_along(v, fi, likely, e1, e2)
    if not min(u[0], u[1], u[2]) > 0.0:
        chosen = -1
        best = -inf
        for f in range(faces):
            if fi[f, 6] != 1:
                continue
            w = seen_along(v, fi, f, e1, e2)
            total = w[0] + w[1] + w[2]
            if total > 0.0:
                worst = min(w[0], w[1], w[2]) / total
                if worst > best:
                    best = worst
                    chosen = f
                    u = (max(w[0], 0.0), max(w[1], 0.0), max(w[2], 0.0))
        if chosen < 0:  # never seen; some point of the polytope all the same
            chosen = 0
            while fi[chosen, 6] != 1:
                chosen += 1
            u = (1.0, 0.0, 0.0)
    total = u[0] + u[1] + u[2]
    s[row, 9], s[row + 1, 9], s[row + 2, 9] = u[0] / total, u[1] / total, u[2] / total
    length = 0.0
    for i in range(3):
        for j in range(9):
            s[row + i, j] = v[fi[chosen, i], j]
        length += s[row + i, 9] * dot(n, row3(v, fi[chosen, i]))
    return length


@kernel
def known(v: Array, points: int, w: Vec3) -> bool:
    """Tell whether w is a vertex of the polytope already."""
    for i in range(points):  # noqa: SIM110, a generator does not compile
        if v[i, 0] == w[0] and v[i, 1] == w[1] and v[i, 2] == w[2]:
            return True
    return False


@kernel
def expand(
    v: Array,
    ff: Array,
    fi: Ints,
    stack: Ints,
    rim: Ints,
    mark: Ints,
    seed: int,
    new: int,
    faces: int,
    inner: Vec3,
    threshold: float,
) -> int:
    """Replace the faces that vertex ``new`` sees, flooding from ``seed``, by a fan; return the new face count.

    Or -1, with nothing changed.
    A face counts as seen where the vertex is more than ``threshold`` above its plane. Refused unless the horizon is
    one simple cycle and every new face is wound outward about ``inner``.
    """
    w = row3(v, new)
    # flood; seen faces get alive = 2 until it is sure that they go
    fi[seed, 6] = 2
    stack[0] = seed
    depth = 1
    seen = 1
    edges = 0
    at = 0
    while at < depth:
        f = stack[at]
        at += 1
        for e in range(3):
            g = fi[f, 3 + e]
            if fi[g, 6] == 2:
                continue
            n = (ff[g, 0], ff[g, 1], ff[g, 2])
            if dot(n, sub(w, row3(v, fi[g, 0]))) > threshold:
                fi[g, 6] = 2
                stack[depth] = g
                depth += 1
                seen += 1
    good = True
    for k in range(depth):
        f = stack[k]
        for e in range(3):
            g = fi[f, 3 + e]
            if fi[g, 6] != 2:
                i, j = fi[f, e], fi[f, (e + 1) % 3]
                if mark[i] != -1:
                    good = False  # the rim passes this vertex twice
                else:
                    mark[i] = edges
                rim[edges, 0], rim[edges, 1], rim[edges, 2] = i, j, g
                edges += 1
    if good and edges >= 3:
        # one cycle, not several
        length = 1
        k = mark[rim[0, 1]]
        while k > 0 and length <= edges:
            length += 1
            k = mark[rim[k, 1]]
        good = k == 0 and length == edges
    else:
        good = False
    if good:
        for k in range(edges):
            i, j = rim[k, 0], rim[k, 1]
            if not add_face(v, ff, fi, faces + k, i, j, new):
                good = False
                break
            n = (ff[faces + k, 0], ff[faces + k, 1], ff[faces + k, 2])
            if not dot(n, sub(w, inner)) > 0.0:
                good = False
                break
    for k in range(edges):
        mark[rim[k, 0]] = -1
    if not good:
        for k in range(depth):
            fi[stack[k], 6] = 1
        return -1
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
    for k in range(edges):
        mark[rim[k, 0]] = -1
    for k in range(depth):
        fi[stack[k], 6] = 0
    stack[stack.shape[0] - 1] = depth
    return faces + edges


@kernel
def epa(
    qa: Ints, ia: int, fa: Array, oa: int, qb: Ints, ib: int, fb: Array, ob: int, m: Rigid,
    error: float, tiny: float, width: float, both: bool, seeds: int, least: float, best: Vec3,
    work: Array, table: Ints, room: int, log: Array, at: int,
) -> tuple[int, int, float, Vec3, float, float, float, int]:  # fmt: skip
    """Return why it stopped, steps, least h(n), its n, an upper bound, two lengths, and the log's end.

    CLOSED: the nearest face supports the difference to within ``width``. APART: the origin is outside, and the nearest
    face's nearest point is the difference's. FLAT: the difference has no volume, n is a normal of its plane. STUCK:
    rounding stopped it. FULL: the workspace is too small. The bounds hold after all of them.

    ``least`` and ``best`` come in as the best that GJK has seen.

    With the origin inside, the lengths are how far the polytope reaches from it along n and, where ``both`` are asked
    for, along -n, and the faces hit there are left in the simplex, rows 0 to 2 and 3 to 5; else the lengths are -1 and
    rows 0 to 2 are the nearest face.
    """
    cap = FACES_PER_POINT * room
    simplex = work[:SIMPLEX].reshape(6, 10)
    v = work[SIMPLEX : SIMPLEX + 9 * room].reshape(room, 9)
    o = SIMPLEX + 9 * room
    ff = work[o : o + 4 * cap].reshape(cap, 4)
    hk = work[o + 4 * cap : o + 5 * cap]
    fi = table[: 7 * cap].reshape(cap, 7)
    hf = table[7 * cap : 8 * cap]
    stack = table[8 * cap : 9 * cap]
    o = 9 * cap + 3 * (2 * room + 16)
    rim = table[9 * cap : o].reshape(2 * room + 16, 3)
    mark = table[o : o + room + 1]
    zero = (0.0, 0.0, 0.0)
    ready = False
    if seeds == 4:
        # GJK's last tetrahedron, where it is no sliver
        for i in range(4):
            for j in range(9):
                v[i, j] = simplex[i, j]
        p0, p1, p2, p3 = first_four(v)
        n = triangle_normal(p0, p1, p2)
        height = abs(dot(unit(n), sub(p3, p0)))
        longest = sqrt(max(dot(sub(p0, p1), sub(p0, p1)), dot(sub(p0, p2), sub(p0, p2)), dot(sub(p1, p2), sub(p1, p2))))
        ready = height > 1e-3 * longest and sqrt(dot(n, n)) > 1e-3 * longest * longest and height > tiny
    if not ready:
        dimension, first, direction, n = first_tetrahedron(qa, ia, fa, oa, qb, ib, fb, ob, m, tiny, v)
        if first < least:
            least, best = first, direction
        if dimension < 3:
            # h(n) is about 0 along any normal of a flat difference; both sides are asked, the better one is kept
            for k in range(2):
                d = n if k == 0 else (-n[0], -n[1], -n[2])
                if dimension == 0:
                    d = unit((-v[0, 0], -v[0, 1], -v[0, 2])) if k == 0 else d
                w, a, b = support_pair(qa, ia, fa, oa, qb, ib, fb, ob, m, d)
                if dot(d, w) < least:
                    least, best = dot(d, w), d
            return FLAT, 1, least, best, inf, -1.0, -1.0, at
    p0, p1, p2, p3 = first_four(v)
    inner = scale(0.25, (p0[0] + p1[0] + p2[0] + p3[0], p0[1] + p1[1] + p2[1] + p3[1], p0[2] + p1[2] + p2[2] + p3[2]))
    if dot(triangle_normal(p0, p1, p2), sub(p3, p0)) > 0.0:  # wind outward
        for j in range(9):
            v[4, j] = v[1, j]
            v[1, j] = v[2, j]
            v[2, j] = v[4, j]
    faces = int(np.int64(4))  # no literals: they would compile every callee once more
    points = int(np.int64(4))
    heap = int(np.int64(0))
    for f in range(4):
        i, j, k = ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0))[f]
        add_face(v, ff, fi, f, i, j, k)
        fi[f, 3], fi[f, 4], fi[f, 5] = ((1, 2, 3), (3, 2, 0), (1, 3, 0), (2, 1, 0))[f]
        heap = push(hk, hf, heap, ff[f, 3], f)
    for i in range(mark.shape[0]):
        mark[i] = -1
    if log.shape[0] > 0:
        at = put(log, at, 2.0)
        for i in range(4):
            for j in range(9):
                at = put(log, at, v[i, j])
        for f in range(4):
            for e in range(3):
                at = put(log, at, float(fi[f, e]))
    steps = 0
    code = FULL
    chosen = -1
    inside = False
    length = 0.0
    top = int(np.int64(0))
    nearest = zero
    outer = inf  # upper bound of the signed distance, from the polytope
    while points < room:
        while fi[hf[0], 6] == 0:
            heap = pop(hk, hf, heap)
        f = hf[0]
        key = hk[0]
        chosen = f
        inside = key > error
        astray = False
        if inside:
            outer = min(outer, -key)
        else:
            if key < 0.0:
                f, nearest = nearest_face(v, ff, fi, faces, tiny, error)
                chosen = f
            else:
                nearest, _ = closest_on_triangle(row3(v, fi[f, 0]), row3(v, fi[f, 1]), row3(v, fi[f, 2]), tiny)
            length = sqrt(dot(nearest, nearest))
            outer = min(outer, length)
            astray = ff[f, 3] < 0.0 and length > 4.0 * tiny
        d = (ff[f, 0], ff[f, 1], ff[f, 2])
        if astray:
            d = (-nearest[0] / length, -nearest[1] / length, -nearest[2] / length)
        w, a, b = support_pair(qa, ia, fa, oa, qb, ib, fb, ob, m, d)
        steps += 1
        h = dot(d, w)
        if h < least:
            least, best = h, d
        if known(v, points, w):
            code = STUCK  # nothing lies beyond this face, whatever its rounded plane says
        if inside:
            if h - key <= width:
                code = CLOSED
        elif astray:
            if length + h <= width:
                code = APART
        elif h - ff[f, 3] <= max(width, tiny):
            code = APART  # the origin is on the surface
        if code == FULL:
            set_row(v, points, w, a, b)
            seed = f
            if astray:
                # the nearest face need not see w where its nearest point is on an edge
                most = -inf
                for g in range(faces):
                    if fi[g, 6] == 1:
                        above = dot((ff[g, 0], ff[g, 1], ff[g, 2]), sub(w, row3(v, fi[g, 0])))
                        if above > most:
                            most, seed = above, g
                if not most > tiny:
                    code = STUCK
        grown = -1
        if code == FULL:
            if faces + 2 * points + 8 > ff.shape[0] or heap + 2 * points + 8 > hk.shape[0]:
                break
            for k in range(3):  # keep coplanar faces, then split them, then swallow them
                grown = expand(v, ff, fi, stack, rim, mark, seed, points, faces, inner, (1.0 - k) * tiny)
                if grown > 0:
                    break
            if grown < 0:
                code = STUCK
        if log.shape[0] > 0:
            at = put(log, at, 3.0)
            at = put3(log, at, d)
            at = put3(log, at, w)
            at = put3(log, at, a)
            at = put3(log, at, b)
            at = put(log, at, float(chosen))
            at = put(log, at, -least)
            at = put(log, at, outer)
            at = put(log, at, float(grown - faces if grown > 0 else 0))
            for g in range(faces, grown):
                for e in range(3):
                    at = put(log, at, float(fi[g, e]))
            gone = stack[stack.shape[0] - 1] if grown > 0 else 0
            at = put(log, at, float(gone))
            for k in range(gone):
                at = put(log, at, float(stack[k]))
        if code != FULL:
            break
        for g in range(faces, grown):
            heap = push(hk, hf, heap, ff[g, 3], g)
        faces = grown
        points += 1
    if inside:
        if fi[chosen, 6] != 1:  # the last step removed it, and left its own faces
            chosen = faces - 1
        front = pierced(v, fi, faces, chosen, best, simplex, top)
        back = 0.0
        if both:
            back = pierced(v, fi, faces, chosen, (-best[0], -best[1], -best[2]), simplex, top + 3)
        return code, steps, least, best, outer, front, back, at
    for i in range(3):
        for j in range(9):
            simplex[i, j] = v[fi[chosen, i], j]
    return code, steps, least, best, outer, -1.0, -1.0, at
