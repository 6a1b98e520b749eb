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
  origin, but for triangles behind which a cap of directions is proven to be as deep. The distance of a triangle is
  bounded by the *least* of its three vertices along its normal, which holds for a poor normal too.

Van den Bergen 2003, sec. 4.3.8; Cameron's support bound; the winding argument needs no convexity, so slivers and
coplanar faces do no harm.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import kernel, plain
from gjk3d.geometry.vec3 import Vec3, divide, dot, neg, row3, unit
from gjk3d.narrow.caps import Cap, cap_round, in_cap
from gjk3d.narrow.cores import Cores, support_pair
from gjk3d.narrow.gjk import AS_GOOD, TOUCHING, known, set_row
from gjk3d.narrow.pierce import reach_both_ways
from gjk3d.narrow.polytope import (
    Polytope,
    add_vertex,
    closest_on_face,
    first_faces,
    let_go,
    let_wait,
    lowest_face,
    lowest_waiting,
    normal_of,
    polytope_in,
    take_simplex,
)
from gjk3d.narrow.room import EPA_START, EPA_STEP, VERTEX_ROW, Room, put, put3
from gjk3d.narrow.summit import FIRST as SUMMIT
from gjk3d.narrow.summit import find_summit, glide_both
from gjk3d.narrow.tetrahedron import first_tetrahedron, is_sliver
from gjk3d.typing import Array

CLOSED, APART, FLAT, STUCK, FULL = range(5)
#: of a curved pair's size: what the depth is known to where nothing else is asked for
EPA_WIDTH = 1e-11
#: the same of a log, whose surface a certificate keeps: it costs EPA a few steps, and a cap's answer gives away as much
LOG_WIDTH = 1e-12
#: steps after which a curved pair's nearest face is taken to the summit of its branches, and again after twice as many
_FIRST_TRIAL = 2
_TIDY = 16  #: steps after which removed faces are let go


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
def look_out(p: Polytope, top: int, faces: int, c: Cores) -> tuple[int, Vec3, float, bool]:
    """Return the face nearest to an origin outside or on the polytope, the newest of those that it touches.

    All faces that meet in a cone's apex touch an origin there; split one after the other, none would soon be narrow
    enough to be a proof. It is ``top`` where no face is as low. Return also the direction to ask, the face's distance,
    and whether that direction is the one to its nearest point, as in GJK: along a plane's normal alone the loop would
    go astray.
    """
    face, point, least = top, (0.0, 0.0, 0.0), inf
    for f in range(faces - 1, -1, -1):
        if p.fi[f, 6] == 1 and p.ff[f, 3] <= c.error:
            q = closest_on_face(p, f, c.tiny)
            if dot(q, q) < least:
                least, point, face = dot(q, q), q, f
            if least <= (TOUCHING * c.tiny) ** 2:
                break
    length = sqrt(dot(point, point))
    if p.ff[face, 3] < 0.0 and length > TOUCHING * c.tiny:
        return face, divide(point, -length), length, True
    return face, normal_of(p, face), length, False


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
def face_summit(c: Cores, p: Polytope, face: int, width: float) -> tuple[Cap, float]:
    """Return the cap round the summit that the branches of a face's vertices lead to, and h(n) there.

    The cosine of its angle is 2 where there is none, or no cap of which to ``width`` the support point along n is part.
    """
    n = normal_of(p, face)
    for i in range(3):
        for j in range(VERTEX_ROW):
            p.simplex[SUMMIT + i, j] = p.v[p.fi[face, i], j]
    summit = find_summit(c, p.simplex, plain(3), n, width)
    if summit.branches == 0:
        return Cap(n, 0.0, 2.0), inf
    cap = cap_round(p.simplex, summit)
    if cap.cosine > 1.0:
        return cap, inf
    w, _, _ = support_pair(c, cap.n)
    h = dot(cap.n, w)
    return Cap(cap.n, cap.floor, cap.cosine if h - cap.floor <= width else 2.0), h


@kernel
def at_summit(p: Polytope, n: Vec3) -> tuple[float, float]:
    """Put the branches of the summit into the simplex; return how far along n it is, and nothing behind."""
    front = 0.0
    for i in range(3):
        for j in range(VERTEX_ROW + 1):
            p.simplex[i, j] = p.simplex[SUMMIT + i, j]
        front += p.simplex[i, 9] * dot(n, row3(p.simplex, i))
    return front, 0.0


@kernel
def left_behind(
    c: Cores, p: Polytope, found: Depth, faces: int, face: int, how: tuple[bool, bool, bool, bool]
) -> Depth:
    """Return what was found, and leave the faces that `Depth` tells of in the simplex.

    ``how`` tells whether the origin is inside, whether the best normal is a summit's, whether there is a cap, and
    whether the length behind is asked for. What a cap shows and the surface of a certificate does not is given away.
    """
    code, steps, least, best, outer, _, _ = found
    inside, held, capped, both = how
    p.mark[p.mark.shape[0] - 1] = faces if inside and code == CLOSED else 0  # for `again`: no vertex has that number
    if capped:
        outer += LOG_WIDTH * c.size
    if inside:
        front, back = at_summit(p, best) if held else reach_both_ways(p, faces, face, best, both)
        return Depth(code, steps, least, best, outer, front, back)
    for i in range(3):
        for j in range(VERTEX_ROW):
            p.simplex[i, j] = p.v[p.fi[face, i], j]
    return found


@kernel
def epa(c: Cores, width: float, both: bool, seeded: bool, least: float, best: Vec3, room: Room) -> Depth:
    """Return how deep two cores overlap; GJK's tetrahedron in the simplex is a start where it is ``seeded``.

    CLOSED: the nearest face supports the difference to within ``width``. APART: the origin is outside, and the nearest
    face's nearest point is the difference's. FLAT: the difference has no volume, n is a normal of its plane. STUCK:
    rounding stopped it. FULL: the room is too small. The bounds hold after all of them.

    ``least`` and ``best`` come in as the best that GJK has seen; ``both`` asks for the length behind, too. Of curved
    cores, what a face of chords cannot show a cap of directions round a summit does; see `gjk3d.narrow.summit`.
    """
    p, log = polytope_in(room), room.log
    if seeded:
        take_simplex(p)
    if not seeded or is_sliver(p.v, c.tiny):
        dimension, first, direction, n = first_tetrahedron(c, p.v)
        if first < least:
            least, best = first, direction
        if dimension < 3:
            return flat_depth(c, p.v, dimension, n, least, best)
    waiting, inner = 4, first_faces(p)
    if log.shape[0] > 0:
        log_start(log, p)
    faces, points, steps = plain(4), plain(4), 0
    code, face, inside, held = FULL, -1, False, False
    glides = glide_both(c) and not both and log.shape[0] == 0  # a trace shows EPA's own steps
    outer, trial, cap = inf, _FIRST_TRIAL if glides else room.points, Cap(best, 0.0, 2.0)
    while points < room.points:
        waiting = let_go(p, waiting) if steps % _TIDY == 0 else waiting
        at = lowest_waiting(p, waiting)
        face, key = (p.waiting[at], p.keys[at]) if at >= 0 else (face, inf)
        inside = key > c.error
        if inside and key < cap.floor and in_cap(cap, normal_of(p, face), key):
            p.keys[at] = cap.floor
            continue
        if inside and log.shape[0] == 0 and least - key <= width:  # a log's last step has the surface that is final
            code, outer = CLOSED, min(outer, -min(key, least))  # a face that does not wait is no lower than ``least``
            break
        if inside and not held and steps >= trial:
            tried, h = face_summit(c, p, face, width)
            steps += 1
            trial = 2 * steps
            if tried.cosine <= 1.0:
                cap, held = tried, h <= least + width
                least, best = (h, tried.n) if held else (least, best)
                continue
        if inside:
            d, length, astray = normal_of(p, face), -key, False
        else:
            face, d, length, astray = look_out(p, face, faces, c)
        outer = min(outer, length)
        w, a, b = support_pair(c, d)
        steps += 1
        h = dot(d, w)
        if h < (cap.floor if held else least):
            least, best, held = h, d, False
        # nothing lies beyond a face that ends at a vertex known, whatever its rounded plane says
        clear = inside and h + length > AS_GOOD * c.tiny
        code = STUCK if not clear and known(p.v, points, w) else FULL
        if inside:
            code = CLOSED if h + length <= width else code
        elif h + (length if astray else -p.ff[face, 3]) <= (width if astray else max(width, c.tiny)):
            code = APART
        grown, gone = -1, 0
        if code == FULL:
            if faces + 2 * points + 8 > p.ff.shape[0]:
                break
            set_row(p.v, points, w, a, b)
            seen = lowest_face(p, faces, w, c.tiny) if astray else face
            grown, gone = add_vertex(p, seen, points, faces, inner, c.tiny)
            code = FULL if grown > 0 else STUCK
        if log.shape[0] > 0:
            log_growth(log, p, (d, w, a, b), face, (-least, outer), faces, grown, gone)
        if code != FULL:
            break
        waiting = let_wait(p, waiting, faces, grown, least if least > c.error and log.shape[0] == 0 else inf)
        faces = grown
        points += 1
    found = Depth(code, steps, least, best, outer, -1.0, -1.0)
    return left_behind(c, p, found, faces, face, (inside, held, cap.cosine <= 1.0, both))
