"""EPA's last faces, cached for the next query of the same two cores: one support point proves them again.

EPA's last surface is closed, encloses the origin, and consists of points of A and of B. When the cores move, these
points remain points of A and of B, so only the shape of the surface changes. If no point of it moved by more than m,
each face is at most m nearer to the origin than before. Only the few nearest faces are therefore moved. All others were
at least a stored distance away, and are now at least that distance less m away.

The surface still encloses the origin: while the points move along straight lines, the origin does not cross a face that
is far from it at both ends, more than m in total.

The nearest face proves a lower bound of the depth, and its support point an upper bound. A cached face is never trusted
without this proof. If the proof fails, the query runs again without the cache.
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
from gjk3d.narrow.solve import SIGNED, WIDTH_POLYTOPE, Estimate, Query, at_common_point, penetrate, report
from gjk3d.narrow.workspace import Workspace, capacity
from gjk3d.shapes import layout
from gjk3d.typing import Array, Ints

_RHO = layout.RHO
FACES = 8  #: at most
# A row: the number of faces (0: empty), the least distance of all other faces, and the pose of B in A. Then follow the
# distances of the faces, nearest first, and three corners per face: a point of A in A's frame, and one of B in B's
# frame.
_OTHER_FACES, _POSE, _KEYS = 1, 2, 14
_CORNERS = _KEYS + FACES
CORNER = 6
ROW = _CORNERS + 3 * CORNER * FACES
# in units of a pair's ``tiny``:
_ROUNDING = 4.0  #: of a point that was moved to its own frame and back, and of m
_WIDTH = 16.0  #: between the bounds of a proven depth; about 3e-14 of the pair's size


@kernel
def store_faces(c: Cores, workspace: Workspace, cache: Array, k: int) -> None:
    """Store EPA's last faces in row k if EPA ended in this workspace with the depth, else mark the row as empty."""
    p = polytope_in(workspace)
    faces, count, other_faces = p.mark[capacity(workspace)], 0, inf
    for f in range(faces):
        if p.fi[f, 6] != 1:
            continue
        key, r = p.ff[f, 3], min(count, FACES)
        while r > 0 and cache[k, _KEYS + r - 1] > key:  # move farther faces down by one place
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
    """Return an upper bound of how far a point of B has moved in A's frame since row k was stored."""
    turned, shifted = 0.0, 0.0
    for i in range(9):
        d = c.m[i] - cache[k, _POSE + i]
        turned += d * d
    for i in range(9, 12):
        d = c.m[i] - cache[k, _POSE + i]
        shifted += d * d
    # the difference of two rotations stretches by its Frobenius norm divided by the root of two
    return float(sqrt(0.5 * turned) * c.b.floats[_RHO] + sqrt(shifted) + _ROUNDING * c.tiny)


@kernel
def corner_of(c: Cores, cache: Array, k: int, at: int) -> tuple[Vec3, Vec3, Vec3]:
    """Return the corner of a cached face as a point of A - B, and its points of A and of B."""
    a = (cache[k, at], cache[k, at + 1], cache[k, at + 2])
    b = place(c.m, (cache[k, at + 3], cache[k, at + 4], cache[k, at + 5]))
    return sub(a, b), a, b


@kernel
def nearest_face(c: Cores, cache: Array, k: int) -> tuple[float, Vec3]:
    """Return a lower bound of the distance from the origin to the surface of A - B, and the normal of the nearest face.

    The bound is 0 if the origin may be outside.
    """
    moved = most_moved(c, cache, k)
    least, n = inf, (0.0, 0.0, 0.0)
    for r in range(int(cache[k, 0])):
        before = cache[k, _KEYS + r]
        if before - moved >= least:
            break  # the faces are sorted, so all later ones are at least this far away
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
    """Write the face pierced by the ray from the origin along n to the simplex; return the ray's length, -1 if none."""
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
            s[e, 9] = x * v - y * u  # all are positive if the ray comes from inside
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
    """Return the depth as `epa` does; its code is CLOSED if the nearest face in row k proves the depth, else APART."""
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
    """Return whether the faces in row k prove that two cores overlap, for any margin of at least 0."""
    if not margin >= 0.0:
        return False
    key, _ = nearest_face(c, cache, k)
    return key > 0.0


@kernel
def solve_from_cache(
    c: Cores, max_distance: float, workspace: Workspace, cache: Array, k: int, out: Array, flags: Ints, row: int
) -> bool:
    """Return whether the faces in row k prove the signed distance; if so, write it to ``row`` as `solve` does."""
    if cache[k, 0] > 0.0:
        depth = verified_depth(c, cache, k, workspace.simplex)
        if depth.code == CLOSED:
            nowhere = (0.0, 0.0, 0.0)
            query = Query(SIGNED, max_distance, 0.0, False, WIDTH_POLYTOPE * c.size + 2.0 * c.error)
            cold = Estimate(0.0, -inf, inf, False, nowhere, nowhere, nowhere, nowhere, 0, False)
            estimate = penetrate(c, query, cold, depth, False, (nowhere, nowhere), workspace.simplex)
            report(c, query, at_common_point(c, query, estimate), out, flags, row)
            return True
    polytope_in(workspace).mark[capacity(workspace)] = 0
    return False
