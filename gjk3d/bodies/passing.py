"""Two moving bodies between two times: which boxes and triangles stay apart, told by their faces.

Seen from A, a place x that is fixed to B moves by straight + swing x x, as it does the other way seen from B. A face
goes with its body: along its normal, places of the other come nearer by their speeds, by what these change, and by
bounds of the rest. All that is known halfway between the times, at once, where asking GJK takes its steps.

With s the place from its reference point, which is d from the other one's, w its body's turn and o the other's, it
moves by u = v + w x s - o x (d + s). In the world u changes by g = (w - o) x (w x s) - o x v, so in the other's frame
by b = g - o x u; and b by (w - o) x (w x (w x s)) - 2 o x g + o x (o x u). The lengths of s and g never change by more
than the axes let them, so bounds of these hold at all times.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.bodies.part_tree import PartTree
from gjk3d.bodies.traversal import box_pose
from gjk3d.geometry.vec3 import Rigid, Vec3, add, cross, dot, neg, offset, sub, turn, turn_back, unit
from gjk3d.geometry.vec3 import place as place_at
from gjk3d.narrow.motion import REFERENCE, TURN, WAY
from gjk3d.typing import Array

Corners = tuple[Vec3, Vec3, Vec3]


class Seen(NamedTuple):
    """How a body goes, seen from the other one, in A's frame halfway."""

    straight: Vec3
    swing: Vec3
    own: Vec3  #: its own turn
    other: Vec3  #: that of the one it is seen from
    way: Vec3  #: of its reference point from the other one's
    center: Vec3  #: where that is
    turned: float  #: how fast both turn: by itself, and the other one
    turned_by: float


class Passing(NamedTuple):
    """How two bodies go by each other between two times."""

    begin: float
    end: float
    m: Rigid  #: the pose of B in A's frame, halfway
    a: Seen
    b: Seen


@inlined
def _three(row: Array, k: int) -> Vec3:
    return (row[k], row[k + 1], row[k + 2])


@inlined
def _length(v: Vec3) -> float:
    return sqrt(dot(v, v))


@kernel
def passing(ma: Array, mb: Array, begin: float, end: float, pose: Array, m: Rigid) -> Passing:
    """Return how two go by each other on their motions, A being at a pose row halfway, and B from there at m."""
    wa, wb = turn_back(pose, _three(ma, TURN)), turn_back(pose, _three(mb, TURN))
    v, a, b = turn_back(pose, sub(_three(mb, WAY), _three(ma, WAY))), _three(ma, REFERENCE), _three(mb, REFERENCE)
    center, swing = place_at(m, b), sub(wb, wa)
    straight = add(sub(v, cross(wb, center)), cross(wa, a))
    one, two = _length(wa), _length(wb)
    of_a = Seen(neg(straight), neg(swing), wa, wb, neg(v), a, one, two)
    return Passing(begin, end, m, of_a, Seen(straight, swing, wb, wa, v, center, two, one))


@inlined
def _going(s: Seen, x: Vec3) -> Vec3:
    """Return u at a place."""
    return add(s.straight, cross(s.swing, x))


@inlined
def _bending(s: Seen, x: Vec3, u: Vec3) -> Vec3:
    """Return b at a place."""
    return sub(cross(s.swing, cross(s.own, sub(x, s.center))), cross(s.other, add(s.way, u)))


@kernel
def _rest(s: Seen, speed: float, arm: float, half: float) -> tuple[float, float]:
    """Bound b, and by how much it changes in a time, of what is within ``arm`` and goes no faster halfway."""
    swung, other = _length(s.swing) * s.turned * arm, s.turned_by
    gain = swung + other * _length(s.way)
    fastest = speed + half * gain
    return gain + other * fastest, swung * s.turned + other * (2.0 * gain + other * fastest)


@inlined
def _beyond(t: float, own: float, x: Vec3, dx: Vec3, other: Vec3, u: float, half: float) -> float:
    """Return how far beyond a face at ``own`` a box stays whose middle, at t, goes by u and whose axes by dx from x."""
    one = other[0] * (abs(x[0]) + half * abs(dx[0]))
    two = other[1] * (abs(x[1]) + half * abs(dx[1]))
    three = other[2] * (abs(x[2]) + half * abs(dx[2]))
    return abs(t) - own - one - two - three - half * abs(u)


@kernel
def boxes_beyond(a: PartTree, i: int, b: PartTree, j: int, s: Passing) -> tuple[float, float]:
    """Bound how far apart two boxes are all along, from below, and how much nearer any place of B's may come to A."""
    p, q, half = a.boxes[i], b.boxes[j], 0.5 * (s.end - s.begin)
    axes = (p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], 0.0, 0.0, 0.0)
    at_a, at_b, of_a, of_b = _three(p, 0), place_at(s.m, _three(q, 0)), _three(p, 3), _three(q, 3)
    here, there = turn(axes, _going(s.a, at_a)), turn(axes, _going(s.b, at_b))
    m, w = box_pose(s.m, a.boxes, i, b.boxes, j), turn(axes, s.b.swing)
    x, y, z, t = (m[0], m[3], m[6]), (m[1], m[4], m[7]), (m[2], m[5], m[8]), offset(m)
    dx, dy, dz = cross(w, x), cross(w, y), cross(w, z)
    beyond_a = max(
        _beyond(t[0], of_a[0], (m[0], m[1], m[2]), (dx[0], dy[0], dz[0]), of_b, there[0], half),
        _beyond(t[1], of_a[1], (m[3], m[4], m[5]), (dx[1], dy[1], dz[1]), of_b, there[1], half),
        _beyond(t[2], of_a[2], (m[6], m[7], m[8]), (dx[2], dy[2], dz[2]), of_b, there[2], half),
    )
    beyond_b = max(
        _beyond(dot(t, x), of_b[0], x, dx, of_a, dot(here, x), half),
        _beyond(dot(t, y), of_b[1], y, dy, of_a, dot(here, y), half),
        _beyond(dot(t, z), of_b[2], z, dz, of_a, dot(here, z), half),
    )
    rho_a, rho_b, swing = of_a[0] + of_a[1] + of_a[2], of_b[0] + of_b[1] + of_b[2], _length(w)
    speed_a, speed_b = _length(here) + swing * rho_a, _length(there) + swing * rho_b
    bend_a, _ = _rest(s.a, speed_a, _length(sub(at_a, s.a.center)) + rho_a, half)
    bend_b, _ = _rest(s.b, speed_b, _length(sub(at_b, s.b.center)) + rho_b, half)
    square = 0.5 * half * half
    apart = max(beyond_a - square * bend_b, beyond_b - square * bend_a) - a.rim - b.rim
    return apart, half * (speed_b + swing * b.rim) + square * bend_b


@inlined
def _corners(t: PartTree, k: int) -> Corners:
    return _three(t.places[k], 0), _three(t.places[k], 3), _three(t.places[k], 6)


@inlined
def _ahead(n: Vec3, s: Seen, x: Vec3, half: float) -> tuple[float, float]:
    """Return by how much a place may go along n, and against it, but for the third order."""
    u = _going(s, x)
    along, bend = half * abs(dot(n, u)), 0.5 * half * half * dot(n, _bending(s, x, u))
    return along + max(0.0, bend), along - min(0.0, bend)


@kernel
def _beyond_plane(own: Corners, other: Corners, s: Seen, half: float) -> float:
    """Return how far beyond the plane of a triangle, which goes with it, another stays that is seen to go so."""
    n, o = unit(cross(sub(own[1], own[0]), sub(own[2], own[0]))), own[0]
    e, f = dot(n, sub(own[1], o)), dot(n, sub(own[2], o))
    above, below, speed, arm = inf, -inf, 0.0, 0.0
    for x in other:
        t = dot(n, sub(x, o))
        up, down = _ahead(n, s, x, half)
        above, below = min(above, t - down), max(below, t + up)
        speed, arm = max(speed, _length(_going(s, x))), max(arm, _length(sub(x, s.center)))
    _, change = _rest(s, speed, arm, half)
    return max(above - max(0.0, e, f), min(0.0, e, f) - below) - half * half * half / 6.0 * change


@kernel
def triangles_beyond(a: PartTree, i: int, b: PartTree, j: int, s: Passing) -> float:
    """Bound from below how far apart the planes of two triangles keep them all along."""
    half, one, two = 0.5 * (s.end - s.begin), _corners(a, i), _corners(b, j)
    two = place_at(s.m, two[0]), place_at(s.m, two[1]), place_at(s.m, two[2])
    return max(_beyond_plane(one, two, s.b, half), _beyond_plane(two, one, s.a, half)) - a.rim - b.rim
