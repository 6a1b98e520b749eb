"""Faces of one mesh that intersect each other beyond the vertices and edges that they share.

The tree of the mesh is traversed against itself. Floats decide a pair if the signs of determinants are certain
(Shewchuk, Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates, 1997). Rational numbers
decide all other pairs. The list is therefore complete, and each of its pairs intersects.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.bodies.base import TriangleTree
from gjk3d.bodies.body_pair import grown
from gjk3d.bodies.bvh import traversal_stack, tree_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.triangles import Triangle, read, triangles_meet
from gjk3d.exact.arithmetic import cross, dot, fractions, sub
from gjk3d.geometry.vec3 import Vec3, box_pose, boxes_apart
from gjk3d.geometry.vec3 import add as added
from gjk3d.geometry.vec3 import cross as crossed
from gjk3d.geometry.vec3 import dot as product
from gjk3d.geometry.vec3 import scale as scaled
from gjk3d.geometry.vec3 import sub as difference
from gjk3d.poses import ROUNDING
from gjk3d.typing import Ints, Ints2

_ROOM = 4096  #: pairs that fit into the first list
_DETERMINANT = 8e-16  #: relative error of a determinant of differences, by the sum of the sizes of its products
_PRODUCT = 2e-15  #: relative error of a dot product with a difference or of normals, by the same sum
_TINY = 1e-290  #: bound of errors by underflow
_LEAN = 1e-6  #: tangent of the angle by which a separating plane is tilted away from an edge
NO, YES, DOUBT = 0, 1, 2
_Exact = tuple[Any, Any, Any]  #: a vector of fractions

_SAME = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


@inlined
def _side(a: Vec3, b: Vec3, c: Vec3) -> int:
    """Return the sign of the determinant of three differences of points, or 0 if the sign is not certain."""
    x, y, z = b[1] * c[2], b[2] * c[0], b[0] * c[1]
    u, v, w = b[2] * c[1], b[0] * c[2], b[1] * c[0]
    value = a[0] * (x - u) + a[1] * (y - v) + a[2] * (z - w)
    size = abs(a[0]) * (abs(x) + abs(u)) + abs(a[1]) * (abs(y) + abs(v)) + abs(a[2]) * (abs(z) + abs(w))
    limit = _DETERMINANT * size + _TINY
    return 1 if value > limit else (-1 if value < -limit else 0)


@inlined
def _ahead(w: Vec3, d: Vec3) -> int:
    """Return the sign of the dot product of a vector and a difference of points, or 0 if the sign is not certain."""
    x, y, z = w[0] * d[0], w[1] * d[1], w[2] * d[2]
    value, limit = x + y + z, _PRODUCT * (abs(x) + abs(y) + abs(z)) + _TINY
    return 1 if value > limit else (-1 if value < -limit else 0)


@kernel
def _pierces(p: Vec3, q: Vec3, t: Triangle) -> bool:
    """Return whether a segment certainly crosses the inside of a triangle."""
    a, b, c = difference(t[0], p), difference(t[1], p), difference(t[2], p)
    start = _side(a, b, c)
    if start == 0 or _side(difference(t[0], q), difference(t[1], q), difference(t[2], q)) != -start:
        return False
    along = difference(q, p)
    first = _side(along, a, b)
    return first != 0 and _side(along, b, c) == first and _side(along, c, a) == first


@kernel
def _strangers(f: Triangle, g: Triangle, noise: float) -> int:
    """Return YES, NO or DOUBT: whether triangles without a common corner intersect."""
    if not triangles_meet(f, g, noise):
        return NO
    for k in range(3):
        if _pierces(f[k], f[(k + 1) % 3], g) or _pierces(g[k], g[(k + 1) % 3], f):
            return YES
    return DOUBT


@kernel
def _fan(f: Triangle, g: Triangle) -> int:
    """Return whether triangles that share only their first corner intersect elsewhere: YES, NO or DOUBT.

    They do not if a plane through this corner separates the other corners of both triangles.
    """
    b, c = difference(f[1], f[0]), difference(f[2], f[0])
    d, e = difference(g[1], g[0]), difference(g[2], g[0])
    # the planes of both triangles, then those through one edge of each
    bcd, bce = _side(b, c, d), _side(b, c, e)
    if bcd * bce > 0:
        return NO
    bde, cde = _side(b, d, e), _side(c, d, e)
    if bde * cde > 0 or bcd * bde > 0 or bce * bde < 0 or bcd * cde < 0 or bce * cde > 0:
        return NO
    if bcd != 0 and bce != 0 and bde != 0 and cde != 0:
        return YES
    # nearly coplanar triangles: planes across the first, which lean away from one of its edges
    n = crossed(b, c)
    for k in range(4):
        edge = b if k == 0 else (c if k == 1 else (d if k == 2 else e))
        across = crossed(n, edge)
        size, length = product(across, across), product(edge, edge)
        if not (size > 0.0 and length > 0.0):
            continue
        across = scaled(1.0 / (size**0.5), across)
        for sign in (-1.0, 1.0):
            for lean in (-_LEAN, _LEAN):
                w = added(scaled(sign, across), scaled(lean / length**0.5, edge))
                side = _ahead(w, b)
                if side != 0 and side == _ahead(w, c) and side == -_ahead(w, d) and side == -_ahead(w, e):
                    return NO
    return DOUBT


@kernel
def _hinge(f: Triangle, g: Triangle) -> int:
    """Return DOUBT if triangles with their first two corners in common may be folded onto each other, else NO."""
    u, v, w = difference(f[1], f[0]), difference(f[2], f[0]), difference(g[2], g[0])
    if _side(u, v, w) != 0:
        return NO
    total, size = 0.0, _TINY
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        total += (u[i] * v[j] - u[j] * v[i]) * (u[i] * w[j] - u[j] * w[i])
        size += (abs(u[i] * v[j]) + abs(u[j] * v[i])) * (abs(u[i] * w[j]) + abs(u[j] * w[i]))
    return NO if total < -_PRODUCT * size else DOUBT


@kernel
def _has_area(t: Triangle) -> bool:
    """Return whether a triangle certainly has an area."""
    u, v = difference(t[1], t[0]), difference(t[2], t[0])
    for i in range(3):
        x, y = u[i] * v[(i + 1) % 3], u[(i + 1) % 3] * v[i]
        if abs(x - y) > _PRODUCT * (abs(x) + abs(y)) + _TINY:
            return True
    return False


@kernel
def _turned(t: Triangle, k: int) -> Triangle:
    """Return the corners of a triangle in the same cyclic order, with corner k first."""
    return t[k], t[(k + 1) % 3], t[(k + 2) % 3]


@kernel
def _decide(f: Triangle, g: Triangle, places: Ints, p: int, q: int, noise: float) -> int:
    """Return whether triangles p and q intersect beyond the corners that they share: YES, NO or DOUBT.

    Corners with equal position indices in ``places`` are shared.
    """
    common, i, j, lone_f, lone_g = 0, 0, 0, 3, 3
    for k in range(3):
        for h in range(3):
            if places[p, k] == places[q, h]:
                common, i, j = common + 1, k, h
                lone_f, lone_g = lone_f - k, lone_g - h
    if common == 0:
        return _strangers(f, g, noise)
    if common == 1:
        return _fan(_turned(f, i), _turned(g, j))
    if common == 3 and _has_area(f) and _has_area(g):
        return YES
    if common != 2 or lone_f > 2 or lone_g > 2:  # a triangle with equal corners
        return DOUBT
    i, j = (lone_f + 1) % 3, (lone_g + 1) % 3
    first_f, second_f, first_g, second_g = (
        places[p, i], places[p, (i + 1) % 3], places[q, j], places[q, (j + 1) % 3]
    )  # fmt: skip
    a, b, c = _turned(g, j)
    if first_f == first_g and second_f == second_g and first_f != second_f:
        return _hinge(_turned(f, i), (a, b, c))
    if first_f == second_g and second_f == first_g and first_f != second_f:
        return _hinge(_turned(f, i), (b, a, c))
    return DOUBT


@entry
def intersecting(tree: TriangleTree, places: Ints2, noise: float, stack: Ints2, pairs: Ints2) -> int:
    """Write the pairs of triangles that intersect, and return their number.

    If ``pairs`` is too short, the function returns its length plus 1. A pair (p, q) has the indices of the
    triangles in the tree. A pair in doubt is written as (p, ~q).
    """
    boxes, links, corners = tree
    count, top = 0, 1
    stack[0, 0] = stack[0, 1] = 0
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        inner_i, inner_j = links[i, 0] >= 0, links[j, 0] >= 0
        if i == j and inner_i:
            k = links[i, 0]
            stack[top, 0], stack[top, 1] = k, k + 1
            stack[top + 1, 0] = stack[top + 1, 1] = k + 1
            stack[top + 2, 0] = stack[top + 2, 1] = k
            top += 3
            continue
        if i != j:
            x, y, z = boxes[i, 3] + noise, boxes[i, 4] + noise, boxes[i, 5] + noise
            if boxes_apart(box_pose(_SAME, boxes, i, boxes, j), x, y, z, boxes[j, 3], boxes[j, 4], boxes[j, 5]):
                continue
        if inner_i or inner_j:
            split_i = not inner_j or (
                inner_i and max(boxes[i, 3], boxes[i, 4], boxes[i, 5]) >= max(boxes[j, 3], boxes[j, 4], boxes[j, 5])
            )
            for k in range(2):
                stack[top, 0] = links[i, 0] + 1 - k if split_i else i
                stack[top, 1] = j if split_i else links[j, 0] + 1 - k
                top += 1
            continue
        for p in range(links[i, 1], links[i, 1] + links[i, 2]):
            f = read(corners, p)
            for q in range(p + 1 if i == j else links[j, 1], links[j, 1] + links[j, 2]):
                code = _decide(f, read(corners, q), places, p, q, noise)
                if code == NO:
                    continue
                if count == pairs.shape[0]:
                    return count + 1
                pairs[count, 0], pairs[count, 1] = p, q if code == YES else ~q
                count += 1
    return count


def self_intersections(mesh: Mesh) -> Ints:
    """Return the pairs of faces that intersect, see `Mesh.self_intersections`."""
    return _listed(mesh, None)[0]


def intersects_itself(mesh: Mesh) -> bool:
    """Return whether any two faces intersect, without listing all pairs."""
    some, is_complete = _listed(mesh, _ROOM)
    return len(some) > 0 or not (is_complete or len(mesh.self_intersections()) == 0)


def _listed(mesh: Mesh, most: int | None) -> tuple[Ints, bool]:
    """Return the pairs of faces that intersect, and whether all candidates were examined.

    With ``most``, only this number of candidates is examined, and only until one pair is known to intersect.
    """
    vertices, faces, places = mesh.vertices, mesh.faces, mesh._places
    first = np.zeros(int(places.max()) + 1, dtype=np.int64)
    first[places[::-1]] = np.arange(len(places))[::-1]
    merged = vertices[first[places]]
    if not np.array_equal(merged, vertices):  # copies of a corner that differ by rounding are one corner
        mesh = Mesh._of(merged, faces, rounding=0.0)
    tree = tree_of(mesh)
    corners = np.ascontiguousarray(places[faces][tree.order])
    noise = 4.0 * ROUNDING * float(np.abs(mesh.bounds).max())
    pairs = grown(lambda pairs: intersecting(tree.arrays, corners, noise, traversal_stack(), pairs), _ROOM, most)
    intersect = pairs[:, 1] >= 0
    doubtful = np.flatnonzero(~intersect)
    pairs[doubtful, 1] = ~pairs[doubtful, 1]
    for k in doubtful.tolist():
        if most is not None and intersect.any():  # one intersecting pair is sufficient
            break
        p, q = pairs[k].tolist()
        f, g = ([fractions(corner) for corner in tree.corners[t].reshape(3, 3)] for t in (p, q))
        intersect[k] = _intersect(f, g)
    listed = np.sort(tree.order[pairs[intersect]], axis=1)
    return listed[np.lexsort((listed[:, 1], listed[:, 0]))], most is None or len(pairs) < most


# --- in rational numbers ----------------------------------------------------------------------------------------------


def _intersect(f: list[_Exact], g: list[_Exact]) -> bool:
    """Return whether triangles intersect beyond their common corners and the edge between them."""
    shared = list(dict.fromkeys(corner for corner in f if corner in g))
    if len(shared) == 3:
        return any(cross(sub(f[1], f[0]), sub(f[2], f[0])))
    # the extreme points of the intersection are on the edges of both triangles
    return any(
        not (shared and point in _cut(shared[0], shared[-1], [point] * 3))
        for s, t in ((f, g), (g, f))
        for k in range(3)
        for point in _cut(s[k], s[(k + 1) % 3], t)
    )


def _cut(p: _Exact, q: _Exact, t: list[_Exact]) -> list[_Exact]:
    """Return the two ends of the part of the segment pq that is in a triangle, or an empty list if they are apart.

    The corners of the triangle may be on a line or coincide.
    """
    along = sub(q, p)
    low, high = Fraction(0), Fraction(1)
    # constraints offset + slope s >= 0 of the parameter s
    for offset, slope in _constraints(p, along, t):
        if slope == 0:
            if offset < 0:
                return []
        elif slope > 0:
            low = max(low, -offset / slope)
        else:
            high = min(high, -offset / slope)
    return [tuple(a + s * b for a, b in zip(p, along, strict=True)) for s in (low, high)] if low <= high else []


def _constraints(p: _Exact, along: _Exact, t: list[_Exact]) -> list[tuple[Any, Any]]:
    """Return constraints (offset, slope): the point p + s * ``along`` is in a triangle if offset + slope * s >= 0.

    Each constraint is from a half-space that bounds the triangle.
    """
    edges = [sub(t[(k + 1) % 3], t[k]) for k in range(3)]
    normal = cross(edges[0], edges[1])
    if any(normal):
        walls = [(normal, t[0]), *((cross(normal, edge), corner) for edge, corner in zip(edges, t, strict=True))]
        both = walls[:1]
    else:  # a segment along its longest edge: the planes through it, and across its ends
        k = max(range(3), key=lambda k: dot(edges[k], edges[k]))
        edge = edges[k]
        axes: list[_Exact] = [tuple(Fraction(int(i == j)) for j in range(3)) for i in range(3)]  # type: ignore[misc]
        both = [(cross(edge, axis) if any(edge) else axis, t[k]) for axis in axes]
        walls = [*both, (edge, t[k]), (sub(t[k], t[(k + 1) % 3]), t[(k + 1) % 3])]
    constraints = [(dot(n, sub(p, corner)), dot(n, along)) for n, corner in walls]
    return constraints + [(-offset, -slope) for offset, slope in constraints[: len(both)]]
