"""Distance and collision of two meshes: nearest and intersecting triangles of two trees, in A's frame."""

from __future__ import annotations

from math import sqrt

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.bodies.part_tree import TriangleTree
from gjk3d.bodies.tree_collision import widest
from gjk3d.bodies.triangles import (
    gap_along,
    nearest_on,
    nearest_points,
    placed_triangle,
    proven_square,
    read,
)
from gjk3d.geometry.vec3 import (
    Rigid,
    Vec3,
    box_pose,
    dot,
    from_box,
    gap_squared,
    offset,
    place,
    row_at,
    sub,
    turn_back,
)
from gjk3d.typing import Array, Array1, Ints, Ints1, Ints2

_STEPS = 4  #: alternating projections for a first pair


@kernel
def _gap(m: Rigid, a: TriangleTree, i: int, b: TriangleTree, j: int) -> float:
    ba, bb = a.boxes, b.boxes
    return gap_squared(box_pose(m, ba, i, bb, j), ba[i, 3], ba[i, 4], ba[i, 5], bb[j, 3], bb[j, 4], bb[j, 5])


@inlined
def _along(w: Vec3, b: Array, i: int) -> float:
    """Return the half extent of a box along a direction."""
    return float(
        abs(dot(w, row_at(b, i, 6))) * b[i, 3]
        + abs(dot(w, row_at(b, i, 9))) * b[i, 4]
        + abs(dot(w, row_at(b, i, 12))) * b[i, 5]
    )


@kernel
def _is_farther(m: Rigid, w: Vec3, v: Vec3, best: float, a: TriangleTree, i: int, b: TriangleTree, j: int) -> bool:
    """Return whether the gap of two boxes along w exceeds |w|. best is w squared, and v is w in B's frame."""
    t = sub(place(m, row_at(b.boxes, j, 0)), row_at(a.boxes, i, 0))
    return bool(dot(w, t) - _along(w, a.boxes, i) - _along(v, b.boxes, j) > best)


@kernel
def _near_each_other(m: Rigid, a: TriangleTree, b: TriangleTree, stack: Ints, keys: Array, seed: Ints) -> None:
    """Write a first pair of triangles by alternating projections, starting at the centre of B's box."""
    p = row_at(b.boxes, 0, 0)
    for _ in range(_STEPS):
        _, first, p = to_point(place(m, p), 1e150, a.boxes, a.links, a.corners, stack, keys)
        before = seed[1]
        p = turn_back(m, sub(p, offset(m)))
        _, seed[1], p = to_point(p, 1e150, b.boxes, b.links, b.corners, stack, keys)
        if first == seed[0] and seed[1] == before:
            return
        seed[0] = first


@entry
def nearest_triangles(
    m: Rigid, most: float, a: TriangleTree, b: TriangleTree, stack: Ints2, keys: Array1, seed: Ints1, out: Array1
) -> bool:  # fmt: skip
    """Write a proven lower bound of the distance of separated meshes, the distance and two points, in A's frame.

    ``seed`` becomes the nearest pair of triangles. The result is False if the distance is more than ``most``.
    """
    best, low = most * most, 1e308
    keys[0] = _gap(m, a, 0, b, 0)
    if keys[0] > best:
        return False
    # a good first pair makes the upper bound small from the start
    _near_each_other(m, a, b, stack, keys, seed)
    point_a, point_b = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    w, v = point_a, point_b  # from A's point to B's, in A's and in B's frame
    some = False
    s, t = read(a.corners, seed[0]), placed_triangle(m, b.corners, seed[1])
    d, x, y = nearest_points(s, t)
    if d <= best:
        w = sub(y, x)
        v = turn_back(m, w)
        best, low, point_a, point_b, some = d, proven_square(w, d, s, t), x, y, True
    stack[0, 0] = stack[0, 1] = 0
    keys[0] = 0.0
    top = 1
    while top > 0:
        top -= 1
        if keys[top] > best or (some and keys[top] == best):
            continue
        i, j = stack[top, 0], stack[top, 1]
        inner_a, inner_b = a.links[i, 0] >= 0, b.links[j, 0] >= 0
        if not inner_a and not inner_b:
            for q in range(b.links[j, 1], b.links[j, 1] + b.links[j, 2]):
                t = placed_triangle(m, b.corners, q)
                for p in range(a.links[i, 1], a.links[i, 1] + a.links[i, 2]):
                    s = read(a.corners, p)
                    if some:
                        # a gap along the last nearest direction proves that the pair is farther
                        gap = gap_along(w, s, t)
                        if gap > best and gap > 0.0:
                            continue
                    d, x, y = nearest_points(s, t)
                    if d < best or (d == best and not some):
                        w = sub(y, x)
                        v = turn_back(m, w)
                        low = min(low, proven_square(w, d, s, t))
                        best, point_a, point_b, some = d, x, y, True
                        seed[0], seed[1] = p, q
            continue
        if not inner_b or (inner_a and widest(a.boxes, i) >= widest(b.boxes, j)):
            i0, j0, i1, j1 = a.links[i, 0], j, a.links[i, 0] + 1, j
        else:
            i0, j0, i1, j1 = i, b.links[j, 0], i, b.links[j, 0] + 1
        # the plane orthogonal to the last nearest direction is cheaper to test than the axes of both boxes
        d0 = 1e308 if some and _is_farther(m, w, v, best, a, i0, b, j0) else _gap(m, a, i0, b, j0)
        d1 = 1e308 if some and _is_farther(m, w, v, best, a, i1, b, j1) else _gap(m, a, i1, b, j1)
        if d0 < d1:
            i0, j0, d0, i1, j1, d1 = i1, j1, d1, i0, j0, d0
        if d0 <= best:
            stack[top, 0], stack[top, 1], keys[top] = i0, j0, d0
            top += 1
        if d1 <= best:
            stack[top, 0], stack[top, 1], keys[top] = i1, j1, d1
            top += 1
    if some:
        out[0], out[1] = sqrt(min(low, best)), sqrt(best)
        out[2], out[3], out[4] = point_a
        out[5], out[6], out[7] = point_b
    return some


@kernel
def to_point(p: Vec3, most: float, ba: Array, la: Ints, ca: Array, stack: Ints, keys: Array) -> tuple[float, int, Vec3]:
    """Return a point's squared distance from the surface, the nearest triangle (-1 beyond ``most``) and its point."""
    best, which, foot = most * most, -1, p
    top = 1
    stack[0, 0] = 0
    keys[0] = 0.0
    while top > 0:
        top -= 1
        if keys[top] > best:
            continue
        i = stack[top, 0]
        if la[i, 0] < 0:
            for t in range(la[i, 1], la[i, 1] + la[i, 2]):
                d, x = nearest_on(p, read(ca, t))
                if d < best or (d == best and which < 0):
                    best, which, foot = d, t, x
            continue
        d0, d1 = from_box(p, ba, la[i, 0]), from_box(p, ba, la[i, 0] + 1)
        first = 1 if d0 < d1 else 0
        stack[top, 0], keys[top] = la[i, 0] + first, d1 if first == 1 else d0
        stack[top + 1, 0], keys[top + 1] = la[i, 0] + 1 - first, d0 if first == 1 else d1
        top += 2
    return best, which, foot
