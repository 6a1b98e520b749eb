"""The faces that ended EPA, kept for the next question about the same two cores: one support point proves them again.

EPA's last surface is closed, goes round the origin, and consists of points of A and of B. These stay points of A and of
B wherever the two go; the surface only changes its shape. Where no point of it has moved by more than m, each of its
faces is as far from the origin as it was, less m. So only the few nearest faces are placed again. All others were at
least a stored distance away, and are now at least that distance less m away.

The surface still goes round the origin: on the straight way from the old points to the new ones the origin does not
cross a face that is far from it at both ends, more than m together.

What the nearest face proves from below (the depth is no less) its support point proves from above. Nothing is believed
that is not proven now; if the proof fails, the query runs again without the cache.
"""

from __future__ import annotations

from math import inf, sqrt

from gjk3d._kernels.decorators import kernel
from gjk3d.geometry.vec3 import (
    NO_LENGTH,
    Vec3,
    cross,
    dot,
    offset,
    perpendicular,
    place,
    sub,
    triangle_normal,
    turn_back,
)
from gjk3d.narrow.cores import Cores, support_pair
from gjk3d.narrow.epa import CLOSED, OUTSIDE, Depth, polytope_in
from gjk3d.narrow.gjk import set_row
from gjk3d.narrow.room import Room
from gjk3d.narrow.solve import SIGNED, WIDTH_POLYTOPE, Estimate, Query, at_common_point, penetrate, report
from gjk3d.shapes import layout
from gjk3d.typing import Array, Ints

_RHO = layout.RHO
FACES = 8  #: most that are kept
# a row: how many faces (0: nothing), how far all others were at least, the pose of B in A, then of each face, the
# nearest first, how far it was, and its three corners: a point of A in A's frame, and one of B in B's
_OTHER_FACES, _POSE, _KEYS = 1, 2, 14
_CORNERS = _KEYS + FACES
CORNER = 6
ROW = _CORNERS + 3 * CORNER * FACES
# in units of a pair's ``tiny``:
_ROUNDING = 4.0  #: of a point that was taken to its own frame and back, and of m
_WIDTH = 16.0  #: between the bounds of a depth that is proven; some 3e-14 of the pair's size


@kernel
def store_faces(c: Cores, room: Room, cache: Array, k: int) -> None:
    """Keep in row k what EPA ended with, if it ended in this room with the depth, else nothing."""
    p = polytope_in(room)
    faces, count, other_faces = p.mark[room.points], 0, inf
    for f in range(faces):
        if p.fi[f, 6] != 1:
            continue
        key, r = p.ff[f, 3], min(count, FACES)
        while r > 0 and cache[k, _KEYS + r - 1] > key:  # the farther ones go down by one place
            if r < FACES:
                cache[k, _KEYS + r], p.stack[r] = cache[k, _KEYS + r - 1], p.stack[r - 1]
            else:
                other_faces = cache[k, _KEYS + r - 1]
            r -= 1
        if r < FACES:
            cache[k, _KEYS + r], p.stack[r] = key, f
        else:
            other_faces = min(other_faces, key)
        count += 1
    count = min(count, FACES)
    cache[k, 0], cache[k, _OTHER_FACES] = float(count), other_faces
    for i in range(12):
        cache[k, _POSE + i] = c.m[i]
    at = _CORNERS
    for r in range(count):
        for e in range(3):
            i = p.fi[p.stack[r], e]
            local = turn_back(c.m, sub((p.v[i, 6], p.v[i, 7], p.v[i, 8]), offset(c.m)))
            cache[k, at], cache[k, at + 1], cache[k, at + 2] = p.v[i, 3], p.v[i, 4], p.v[i, 5]
            cache[k, at + 3], cache[k, at + 4], cache[k, at + 5] = local
            at += CORNER


@kernel
def most_moved(c: Cores, cache: Array, k: int) -> float:
    """Return how far a point of B has moved in A's frame at most since row k was kept."""
    turned, shifted = 0.0, 0.0
    for i in range(9):
        d = c.m[i] - cache[k, _POSE + i]
        turned += d * d
    for i in range(9, 12):
        d = c.m[i] - cache[k, _POSE + i]
        shifted += d * d
    # the difference of two rotations stretches by its Frobenius norm over the root of two
    return float(sqrt(0.5 * turned) * c.b.floats[_RHO] + sqrt(shifted) + _ROUNDING * c.tiny)


@kernel
def corner_of(c: Cores, cache: Array, k: int, at: int) -> tuple[Vec3, Vec3, Vec3]:
    """Return a corner of a face that was kept as a point of A - B, and the points of A and of B it is made of."""
    a = (cache[k, at], cache[k, at + 1], cache[k, at + 2])
    b = place(c.m, (cache[k, at + 3], cache[k, at + 4], cache[k, at + 5]))
    return sub(a, b), a, b


@kernel
def nearest_face(c: Cores, cache: Array, k: int) -> tuple[float, Vec3]:
    """Return how far A - B reaches from the origin in all directions at least, and the normal of the nearest face.

    Where the origin may be outside it is 0.
    """
    moved = most_moved(c, cache, k)
    least, n = inf, (0.0, 0.0, 0.0)
    for r in range(int(cache[k, 0])):
        before = cache[k, _KEYS + r]
        if before - moved >= least:
            break  # the faces are sorted, and each is at least that far away
        at = _CORNERS + 3 * CORNER * r
        p0, _, _ = corner_of(c, cache, k, at)
        p1, _, _ = corner_of(c, cache, k, at + CORNER)
        p2, _, _ = corner_of(c, cache, k, at + 2 * CORNER)
        up = triangle_normal(p0, p1, p2)
        length = sqrt(dot(up, up))
        if not length > NO_LENGTH:
            return 0.0, n
        key = min(dot(up, p0), dot(up, p1), dot(up, p2)) / length
        if not key + before > moved:
            return 0.0, n
        if key < least:
            least, n = key, (up[0] / length, up[1] / length, up[2] / length)
    least = min(least, cache[k, _OTHER_FACES] - moved) - _ROUNDING * c.tiny
    return (least if least > 2.0 * c.error else 0.0), n


@kernel
def pierced_face(c: Cores, cache: Array, k: int, n: Vec3, s: Array) -> float:
    """Put the face that the ray from the origin along n meets into the simplex; return its length, -1 if none does."""
    e1 = perpendicular(n)
    e2 = cross(n, e1)
    for r in range(int(cache[k, 0])):
        for e in range(3):
            w, a, b = corner_of(c, cache, k, _CORNERS + CORNER * (3 * r + e))
            set_row(s, e, w, a, b)
        total, least = 0.0, inf
        for e in range(3):
            i, j = (e + 1) % 3, (e + 2) % 3
            x = s[i, 0] * e1[0] + s[i, 1] * e1[1] + s[i, 2] * e1[2]
            y = s[i, 0] * e2[0] + s[i, 1] * e2[1] + s[i, 2] * e2[2]
            u = s[j, 0] * e1[0] + s[j, 1] * e1[1] + s[j, 2] * e1[2]
            v = s[j, 0] * e2[0] + s[j, 1] * e2[1] + s[j, 2] * e2[2]
            s[e, 9] = x * v - y * u  # all are positive where the ray comes from inside
            total, least = total + s[e, 9], min(least, s[e, 9])
        if least >= 0.0 and total > 0.0:
            length = 0.0
            for e in range(3):
                s[e, 9] /= total
                length += s[e, 9] * (n[0] * s[e, 0] + n[1] * s[e, 1] + n[2] * s[e, 2])
            return length
    return -1.0


@kernel
def verified_depth(c: Cores, cache: Array, k: int, s: Array) -> Depth:
    """Return what `epa` would: CLOSED where the nearest of the faces in row k still is the depth, else APART."""
    key, n = nearest_face(c, cache, k)
    if key > 0.0:
        w, _, _ = support_pair(c, n)
        h = dot(n, w)
        if h - key <= _WIDTH * c.tiny:
            front = pierced_face(c, cache, k, n, s)
            if front >= 0.0:
                return Depth(CLOSED, 1, h, n, -key, front, -1.0)
    return Depth(OUTSIDE, 1, inf, n, inf, -1.0, -1.0)


@kernel
def proves_overlap(c: Cores, margin: float, cache: Array, k: int) -> bool:
    """Tell whether the faces in row k prove that two cores overlap, as deep as any margin from 0 asks for."""
    if not margin >= 0.0:
        return False
    key, _ = nearest_face(c, cache, k)
    return key > 0.0


@kernel
def solve_from_cache(
    c: Cores, max_distance: float, room: Room, cache: Array, k: int, out: Array, flags: Ints, row: int
) -> bool:
    """Answer a signed distance into a row as `solve` does, if the faces in row k prove it; else await new ones."""
    if cache[k, 0] > 0.0:
        depth = verified_depth(c, cache, k, room.simplex)
        if depth.code == CLOSED:
            nowhere = (0.0, 0.0, 0.0)
            query = Query(SIGNED, max_distance, 0.0, False, WIDTH_POLYTOPE * c.size + 2.0 * c.error)
            cold = Estimate(0.0, -inf, inf, False, nowhere, nowhere, nowhere, nowhere, 0, False)
            estimate = penetrate(c, query, cold, depth, False, (nowhere, nowhere), room.simplex)
            report(c, query, at_common_point(c, query, estimate), out, flags, row)
            return True
    polytope_in(room).mark[room.points] = 0
    return False
