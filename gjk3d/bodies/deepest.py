"""Which two of the parts that are near lie deepest in each other, without asking all of them.

Along a unit vector two parts overlap by no less than they are deep, and that takes three products of a triangle. So the
way out of each pair that was asked bounds all others. The one with the greatest bound is asked next, until it is one
that was asked, as in the cutting plane methods of convex programming.
"""

from __future__ import annotations

from math import inf

from gjk3d._kernels.decorators import inlined, kernel, plain
from gjk3d.bodies.facets import APART, OPEN, Solid, facet_of
from gjk3d.bodies.part_tree import TRIANGLES, part_at, put_behind
from gjk3d.bodies.triangles import read
from gjk3d.bodies.walk import Bench, Two, parts_at
from gjk3d.geometry.vec3 import Vec3, dot, neg, place, row3, turn_back
from gjk3d.narrow.solve import FLOATS, SIGNED, quick_collide, solve
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import farthest_point
from gjk3d.typing import Array, Ints

#: columns of `gjk3d.narrow.solve`; a pair that was not asked has no lower bound, else all it has is what bounds it
_DISTANCE, _LOWER, _UPPER, _N = 0, 1, 2, 3
_GRAZING = 0.05  #: least cosine between a way out and a normal that an overlap is divided by
PLANES = 24  #: that part pairs, at most
PLANE = 4  #: columns of one: its normal, and the pair
_ASKED = 3
_SURELY = 64.0  #: times the error of places, by which parts that only touch or slide overlap less
_BLOCKING = 4  #: pairs that are asked whether they block a way
_MEET = 1  #: what `quick_collide` says


@inlined
def _height(core: Core, row: Array, n: Vec3) -> float:
    """Return how far a part reaches along a unit vector."""
    return dot(n, place(row, farthest_point(core, turn_back(row, n))))


@inlined
def _top(x: Two, p: int, n: Vec3, w: Bench) -> float:
    """Return how far part p of A reaches along a unit vector."""
    if x.a.kind == TRIANGLES:
        t = read(x.a.places, p)
        return max(dot(n, t[0]), dot(n, t[1]), dot(n, t[2])) + float(x.a.floats[0])
    return _height(part_at(x.a, p, w.floats_a, w.row_a), w.row_a, n)


@inlined
def _bottom(x: Two, q: int, n: Vec3, w: Bench) -> float:
    """Return how far along a unit vector part q of B begins."""
    core = part_at(x.b, q, w.floats_b, w.row_b)
    put_behind(x.m, w.row_b)
    return -_height(core, w.row_b, neg(n))


@kernel
def bound_pairs(x: Two, pairs: Ints, count: int, n: Vec3, w: Bench, depths: Array) -> None:
    """Bound how deep pairs are that were not asked by how far they overlap along a unit vector."""
    q, bottom = -1, 0.0
    for k in range(count):
        if depths[k, _LOWER] > -inf:
            continue
        if pairs[k, 1] != q:
            q = pairs[k, 1]
            bottom = _bottom(x, q, n, w)
        overlap = _top(x, pairs[k, 0], n, w) - bottom
        if overlap < -depths[k, _UPPER]:
            depths[k, _DISTANCE] = depths[k, _UPPER] = -overlap
            depths[k, _N], depths[k, _N + 1], depths[k, _N + 2] = n


@kernel
def ask_pair(x: Two, pairs: Ints, k: int, w: Bench, out: Array) -> Vec3:
    """Write how deep a pair of parts is into a row; return the way out."""
    c = parts_at(x, pairs[k, 0], pairs[k, 1], w)
    solve(c, SIGNED, inf, 0.0, w.room, w.room.simplex[:0], w.out, w.flags, 0)
    for i in range(FLOATS):
        out[i] = w.out[0, i]
    return (out[_N], out[_N + 1], out[_N + 2])


@kernel
def _keep_meeting(pairs: Ints, count: int, error: float, depths: Array) -> int:
    """Move pairs that are not proven apart to the front; return how many they are."""
    kept = 0
    for k in range(count):
        if depths[k, _UPPER] > error:
            continue
        if kept < k:
            pairs[kept, 0], pairs[kept, 1] = pairs[k, 0], pairs[k, 1]
            for i in range(FLOATS):
                depths[kept, i] = depths[k, i]
        kept += 1
    return kept


@inlined
def _deepest_of(depths: Array, count: int) -> int:
    """Return which pair may be deepest, -1 of none."""
    best = -1
    for k in range(count):
        if best < 0 or depths[k, _UPPER] < depths[best, _UPPER]:
            best = k
    return best


@kernel
def find_deepest(x: Two, pairs: Ints, count: int, way: Vec3, w: Bench, depths: Array) -> tuple[int, int]:
    """Return which pair is deepest, -1 of none, and how many are not proven apart, which come first.

    Rows get how deep each is, or a bound of it and what bounds it; the first bounds are those along a way.
    """
    for k in range(count):
        depths[k, _LOWER] = depths[k, _UPPER] = -inf
    bound_pairs(x, pairs, count, way, w, depths)
    for _ in range(count):
        best = _deepest_of(depths, count)
        if depths[best, _LOWER] > -inf:
            break
        n = ask_pair(x, pairs, best, w, depths[best])
        bound_pairs(x, pairs, count, n, w, depths)
    count = _keep_meeting(pairs, count, x.error, depths)
    return _deepest_of(depths, count), count


@kernel
def ask_others(x: Two, pairs: Ints, count: int, solid: Solid, w: Bench, depths: Array) -> int:
    """Ask the pairs that were only bounded, too; return how many are not proven apart, which come first.

    Triangles in a solid polytope, which has no faces where B is none, are asked by facets first.
    """
    for k in range(count):
        if depths[k, _LOWER] > -inf:
            continue
        told = facet_of(x, pairs[k, 0], solid, depths[k : k + 1], w.flags, 0) if solid.faces > 0 else OPEN
        if told == APART:
            depths[k, _UPPER] = inf
        elif told == OPEN:
            ask_pair(x, pairs, k, w, depths[k])
    return _keep_meeting(pairs, count, x.error, depths)


@kernel
def _shorten(x: Two, pairs: Ints, count: int, n: Vec3, along: float, w: Bench, spans: Array, plane: int) -> None:
    """Take a plane that parts pairs sooner than what is known as what parts them."""
    q, bottom = -1, 0.0
    for k in range(count):
        if pairs[k, 1] != q:
            q = pairs[k, 1]
            bottom = _bottom(x, q, n, w)
        far = (_top(x, pairs[k, 0], n, w) - bottom) / along
        if far < spans[k, 0]:
            spans[k, 0], spans[k, 1] = far, float(plane)


@inlined
def _longest(spans: Array, count: int) -> int:
    """Return which pair takes longest to be left behind."""
    k = 0
    for i in range(1, count):
        if spans[i, 0] > spans[k, 0]:
            k = i
    return k


@kernel
def overlapping_first(pairs: Ints, count: int, error: float, depths: Array) -> int:
    """Move pairs that overlap by more than rounding to the front, which ends the order of rows; return how many."""
    kept = 0
    for k in range(count):
        if depths[k, _UPPER] < -_SURELY * error:
            pairs[kept, 0], pairs[kept, 1] = pairs[k, 0], pairs[k, 1]
            kept += 1
    return kept


@kernel
def is_blocked(there: Two, pairs: Ints, count: int, way: Vec3, w: Bench, spans: Array) -> bool:
    """Tell whether pairs that overlapped before B went there along a unit vector were seen to block all of the way.

    Two convex parts that meet at both of its ends do. Those that reach farthest past each other along it are asked.
    """
    for k in range(count):
        spans[k, 0] = inf
    _shorten(there, pairs, count, way, 1.0, w, spans, 0)
    for _ in range(min(count, _BLOCKING)):
        k = _longest(spans, count)
        if not spans[k, 0] > 0.0:
            return False
        c = parts_at(there, pairs[k, 0], pairs[k, 1], w)
        if quick_collide(c, 0.0, w.room.simplex, w.room.simplex[:0], plain(0)) == _MEET:
            return True
        spans[k, 0] = -inf
    return False


@inlined
def _was_asked(planes: Array, known: int, k: int) -> bool:
    """Tell whether one of the planes is a pair's own."""
    for i in range(1, known):  # noqa: SIM110, a generator does not compile
        if planes[i, _ASKED] == k:
            return True
    return False


@kernel
def leave_behind(
    x: Two, pairs: Ints, count: int, way: Vec3, most: float, w: Bench, spans: Array, planes: Array, wall: Array
) -> float:  # fmt: skip
    """Return how far B goes along a direction to leave all pairs behind, 0 where none overlap; the wall is the last.

    A pair is parted by its own plane or by that of another, whichever is sooner. The one that takes longest is asked
    for its own, until it is one that was; also once it takes ``most`` even so.
    """
    planes[0, 0], planes[0, 1], planes[0, 2] = way
    for k in range(count):
        spans[k, 0] = inf
    _shorten(x, pairs, count, way, 1.0, w, spans, 0)
    k = _longest(spans, count)
    for known in range(1, planes.shape[0]):
        if not spans[k, 0] > 0.0 or _was_asked(planes, known, k):
            break
        n = ask_pair(x, pairs, k, w, w.out[0])
        planes[known, 0], planes[known, 1], planes[known, 2], planes[known, _ASKED] = n[0], n[1], n[2], float(k)
        if dot(n, way) > _GRAZING:
            _shorten(x, pairs, count, n, dot(n, way), w, spans, known)
        else:
            spans[k, 0], spans[k, 1] = min(spans[k, 0], max(-w.out[0, _LOWER], 0.0)), float(known)
        if spans[k, 0] >= most:
            break
        k = _longest(spans, count)
    wall[0], wall[1], wall[2] = row3(planes, int(spans[k, 1]))
    return max(float(spans[k, 0]), 0.0)
