"""Depth of a triangle in a polytope of few faces, or in a triangle, by facets of their Minkowski difference."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import inlined, kernel, plain
from gjk3d.bodies.base import Parts
from gjk3d.bodies.parts import PlacedParts
from gjk3d.bodies.tree_collision import PosedPair
from gjk3d.bodies.triangles import Triangle, normal_of, placed_triangle, read
from gjk3d.geometry.vec3 import (
    Rigid,
    Vec3,
    add,
    along,
    cross,
    dot,
    neg,
    offset,
    place,
    row3,
    scale,
    sub,
    turn,
    turn_back,
)
from gjk3d.narrow.solve import OVERLAPPING
from gjk3d.poses import IDENTITY, ROUNDING
from gjk3d.shapes import layout
from gjk3d.shapes.base import Polytope
from gjk3d.typing import Array, Array2, Ints, Ints1, Ints2

_MOST_EDGES = 192  #: greatest number of edges of a polytope, since GJK and EPA are as fast for larger ones
CLEAR_CUT = 0.02  #: sine between two edges below which GJK and EPA compute the facet
SURELY = 1.0 + 1e-9  #: factor above rounding
#: Error of a gap, in units of the error of positions. The error of positions bounds the sum of the errors of the points
#: of both parts. A foot and the normal through the foot add at most as much each.
WIDTH = 4.0
_ALIKE = 0.9  #: cosine of the angle between similar directions, of which one is sufficient
_OFF = 64.0  #: greatest error of a nearest point, in units of the error of positions
IS_APART, IS_DEEP, IS_OPEN = range(3)

_CORNER, _EDGE, _OUT = 0, 3, 6  #: columns of a triangle's corner: position, edge to the next corner, normal of the edge


class Solid(NamedTuple):
    """A solid polytope in its frame. It is empty if the shape is not a polytope or has too many edges."""

    vertices: Array2
    planes: Array2  #: unit normals and offsets of the faces of all solids, (4, n)
    first: int  #: index of the first face
    faces: int
    edges: Array2  #: a point and the unit direction of each edge, (edges, 6)
    sides: Ints2  #: the two faces of an edge
    heights: Array2  #: scratch: heights of the triangle's corners along the normals, and the gap of each, (4, faces)
    corners: Array2  #: scratch: corners of the triangle with the columns above, (3, 9)
    outline: Ints1  #: scratch, see `_list_outlines`


class GivenSolids(NamedTuple):
    """The arrays of several `Solid`, one after another, and scratch for all of them."""

    vertices: Array2
    planes: Array2
    edges: Array2
    sides: Ints2
    begins: Ints2  #: (n + 1, 3) first indices of the vertices, planes and edges of each solid, and the ends of the last
    heights: Array2
    corners: Array2
    outline: Ints1


class Facet(NamedTuple):
    """The facet of the Minkowski difference with the widest gap, in the polytope's frame."""

    gap: float
    normal: Vec3  #: unit normal from the triangle to the polytope
    a: Vec3  #: a point of the triangle
    b: Vec3  #: a point of the polytope
    sure: bool  #: whether the gap is certainly the widest, and a and b are the nearest points


_NONE = np.empty((0, 3)), np.empty((0, 4)), np.empty((0, 6)), np.empty((0, 2), dtype=np.int64)


@inlined
def solid_in(t: GivenSolids, k: int) -> Solid:
    """Return polytope k of the given arrays."""
    p, q = t.begins[k], t.begins[k + 1]
    return Solid(
        t.vertices[p[0] : q[0]], t.planes, p[1], q[1] - p[1], t.edges[p[2] : q[2]], t.sides[p[2] : q[2]], t.heights,
        t.corners, t.outline,
    )  # fmt: skip


@inlined
def normal_at(s: Solid, f: int) -> Vec3:
    """Return the outward unit normal of face f."""
    return (s.planes[0, s.first + f], s.planes[1, s.first + f], s.planes[2, s.first + f])


@inlined
def _corner_at(s: Solid, k: int, column: int) -> Vec3:
    return (s.corners[k, column], s.corners[k, column + 1], s.corners[k, column + 2])


def solids_of(every: Sequence[Parts]) -> GivenSolids:
    """Return a `Solid` for each body, in shared arrays. It is empty unless the body is a polytope of few edges."""
    solids = [_solid_of(parts) for parts in every] or [_NONE]
    vertices, planes, edges, sides = (np.concatenate(column) for column in zip(*solids, strict=True))
    begins = np.zeros((len(solids) + 1, 3), dtype=np.int64)
    begins[1:] = np.cumsum([[len(column) for column in table[:3]] for table in solids], axis=0)
    most_faces, most_edges = np.diff(begins[:, 1:], axis=0).max(axis=0).tolist()
    return GivenSolids(
        vertices, np.ascontiguousarray(planes.T), edges, sides, begins, np.empty((4, most_faces)), np.empty((3, 9)),
        np.empty(3 * most_edges + 1, dtype=np.int64),
    )  # fmt: skip


def with_scratch(solids: GivenSolids) -> GivenSolids:
    """Return solids with new scratch, which threads must not share."""
    # without `_replace` and `empty_like`, which take twice as long
    heights, corners, outline = solids[5:]
    scratch = np.empty(heights.shape), np.empty(corners.shape), np.empty(outline.shape, dtype=np.int64)
    return GivenSolids(*solids[:5], *scratch)


def _solid_of(parts: Parts) -> tuple[Array, Array, Array, Ints]:
    if not (isinstance(parts, PlacedParts) and len(parts.things) == 1):
        return _NONE
    thing, row = parts.things[0]
    if not isinstance(thing, Polytope) or not (row == IDENTITY[0]).all():
        return _NONE
    facets: tuple[Array, Array, Array, Ints] | None = thing._cached("facets", lambda: _make(thing))
    return _NONE if facets is None else facets


def _make(shape: Polytope) -> tuple[Array, Array, Array, Ints] | None:
    floats: Any = shape._packed[1]
    hull = shape._hull()
    blunt = floats[layout.RADIUS] != 0.0 or floats[layout.SLACK] > ROUNDING * floats[layout.RHO]
    if hull.dimension != 3 or blunt or len(hull.edges) > 2 * _MOST_EDGES:
        return None
    normals, edges = shape._gauss_map()
    if len(edges) > _MOST_EDGES:
        return None
    corners = np.ascontiguousarray(hull.vertices)
    sides = np.stack([np.argmax(edges[:, k : k + 3] @ normals.T, axis=1) for k in (3, 6)], axis=1)
    ends = corners[np.argmax((edges[:, 3:6] + edges[:, 6:9]) @ corners.T, axis=1)]
    planes = np.column_stack([normals, (normals @ corners.T).max(axis=1)])
    return corners, planes, np.hstack([ends, edges[:, :3]]), sides


@kernel
def _rise(x: Array, y: Array, z: Array, p: Vec3, out: Array) -> None:
    """Write the heights of p along many normals, whose coordinates are x, y and z, into ``out``."""
    # like `_gaps`, the loop compiles to vector instructions
    for f in range(out.shape[0]):
        out[f] = x[f] * p[0] + y[f] * p[1] + z[f] * p[2]


@kernel
def _gaps(x: Array, y: Array, z: Array, limits: Array, out: Array) -> None:
    for f in range(out.shape[0]):
        out[f] = min(x[f], min(y[f], z[f])) - limits[f]


@kernel
def _past_face(t: Triangle, s: Solid) -> tuple[Facet, bool]:
    """Return the facet of the polytope's face with the widest gap, and whether no other facet can have a wider one.

    That is certain if the triangle's deepest corner behind this face is not nearer to another face. The ball about the
    corner that touches the face is then inside the polytope, and no translation out of it is shorter.
    """
    start, stop, h = s.first, s.first + s.faces, s.heights
    for k in range(3):
        p = t[k]
        _rise(s.planes[0, start:stop], s.planes[1, start:stop], s.planes[2, start:stop], p, h[k, : s.faces])
    _gaps(h[0, : s.faces], h[1, : s.faces], h[2, : s.faces], s.planes[3, start:stop], h[3, : s.faces])
    best, which = -inf, 0
    for f in range(s.faces):
        if h[3, f] > best:
            best, which = h[3, f], f
    x, y, z = h[0, which], h[1, which], h[2, which]
    a = t[0] if x <= y and x <= z else t[1] if y <= z else t[2]
    n = normal_at(s, which)
    row_heights, widest = h[0] if x <= y and x <= z else h[1] if y <= z else h[2], True
    for f in range(s.faces):
        widest &= row_heights[f] - s.planes[3, start + f] <= best
    return Facet(best, neg(n), a, along(a, n, -best), True), widest


@kernel
def _past_triangle(t: Triangle, n: Vec3, s: Solid, best: Facet) -> Facet:
    """Return the facet of the triangle's side, n or -n, with the wider gap, or ``best`` if this is at least as wide."""
    low, high, lowest, highest = inf, -inf, 0, 0
    for k in range(s.vertices.shape[0]):
        x = dot(n, row3(s.vertices, k))
        if x < low:
            low, lowest = x, k
        if x > high:
            high, highest = x, k
    at = dot(n, t[0])
    gap, normal, k = (low - at, n, lowest) if low - at >= at - high else (at - high, neg(n), highest)
    if not gap > best.gap:
        return best
    b = row3(s.vertices, k)
    a = along(b, normal, -gap)
    inside = True
    for i in range(3):
        p, q, r = t[i], t[(i + 1) % 3], t[(i + 2) % 3]
        out = cross(sub(q, p), n)
        inside = inside and dot(out, sub(a, p)) * dot(out, sub(r, p)) >= 0.0
    return Facet(gap, normal, a, b, inside)


@kernel
def _keep_direction(n: Vec3, gap: float, directions: Array, count: int) -> int:
    """Store the direction n unless a similar one has a wider gap, and return the number of directions.

    If ``directions`` is full, n replaces the direction with the narrowest gap, provided that the gap of n is wider.
    """
    shallow = plain(0)
    for k in range(count):
        if dot(n, row3(directions, k)) > _ALIKE:
            shallow = k
            break
        if directions[k, 3] < directions[shallow, 3]:
            shallow = k
    else:
        if count < directions.shape[0]:
            shallow, count = count, count + 1
            directions[shallow, 3] = -inf
    if gap > directions[shallow, 3]:
        directions[shallow, 0], directions[shallow, 1], directions[shallow, 2] = n
        directions[shallow, 3] = gap
    return count


@kernel
def _list_outlines(s: Solid) -> int:
    """List the edges of the polytope's outline seen along each edge of the triangle, and return the length of the list.

    ``s.outline`` gets 3 j + k for edge j of the polytope on the outline along edge k of the triangle. The branch is
    unpredictable, so each item is written, and the counter advances only if the edge is on the outline.
    """
    h, count = s.heights, 0
    for j in range(s.edges.shape[0]):
        f, g = s.sides[j, 0], s.sides[j, 1]
        x, y, z, u, v, w = h[0, f], h[1, f], h[2, f], h[0, g], h[1, g], h[2, g]
        s.outline[count] = 3 * j
        count += 1 if (y - x) * (v - u) < 0.0 else 0
        s.outline[count] = 3 * j + 1
        count += 1 if (z - y) * (w - v) < 0.0 else 0
        s.outline[count] = 3 * j + 2
        count += 1 if (x - z) * (u - w) < 0.0 else 0
    return count


@kernel
def _past_edges(s: Solid, best: Facet, enough: float) -> Facet:
    """Return the facet of a triangle edge and a polytope edge with the widest gap, or ``best`` if no gap is wider.

    The search ends at a gap above ``enough``, or with an unsure result at nearly parallel edges.
    """
    for i in range(_list_outlines(s)):
        j, k = s.outline[i] // 3, s.outline[i] % 3
        f, g, end = s.sides[j, 0], s.sides[j, 1], k + 1 if k < 2 else 0
        u, v = s.heights[end, f] - s.heights[k, f], s.heights[end, g] - s.heights[k, g]
        # the arc between both face normals on the Gauss map crosses the triangle edge's great circle at d
        d = add(scale(abs(v), normal_at(s, f)), scale(abs(u), normal_at(s, g)))
        t, p, square = _corner_at(s, k, _CORNER), row3(s.edges, j), dot(d, d)
        rise = dot(d, sub(t, p))
        if (rise < 0.0) & (best.gap < 0.0) & (rise * rise > SURELY * (best.gap * best.gap) * square):
            continue  # the gap is not wider, which is tested without a root
        far = sqrt(square)
        gap = rise / far
        if not ((gap > best.gap) & (dot(d, _corner_at(s, k, _OUT)) <= 0.0)):
            continue
        e = _corner_at(s, k, _EDGE)
        # nearly parallel edges give an ill-conditioned normal, so GJK and EPA decide
        if max(abs(u), abs(v)) < CLEAR_CUT * sqrt(dot(e, e)):
            return Facet(best.gap, best.normal, best.a, best.b, False)
        normal = scale(-1.0 / far, d)
        # the point at which the triangle's edge passes over the other edge, along the normal of both
        across = cross((s.edges[j, 3], s.edges[j, 4], s.edges[j, 5]), normal)
        r = dot(across, sub(p, t)) / dot(across, e)
        a = along(t, e, r)
        best = Facet(gap, normal, a, along(a, normal, gap), 0.0 <= r <= 1.0)
        if gap > enough:
            return best
    return best


@inlined
def _seen_from(m: Rigid, t: Triangle) -> Triangle:
    """Return a triangle of A in the frame of the polytope, whose pose in A's frame is m."""
    to = offset(m)
    return turn_back(m, sub(t[0], to)), turn_back(m, sub(t[1], to)), turn_back(m, sub(t[2], to))


@kernel
def _put_corners(t: Triangle, n: Vec3, s: Solid) -> None:
    for i in range(3):
        c, edge = s.corners[i], sub(t[(i + 1) % 3], t[i])
        c[_CORNER], c[_CORNER + 1], c[_CORNER + 2] = t[i]
        c[_EDGE], c[_EDGE + 1], c[_EDGE + 2] = edge
        c[_OUT], c[_OUT + 1], c[_OUT + 2] = cross(edge, n)


@kernel
def separating_directions(x: PosedPair, k: int, s: Solid, directions: Array) -> int:
    """Write a few different directions with the widest gaps from triangle k of A to the polytope; return their number.

    Each row has a unit normal in A's frame and the gap along the normal, which is negative in overlap. The number is 0
    for a degenerate triangle.
    """
    local, count = _seen_from(x.m, read(x.a.places, k)), plain(0)
    n = normal_of(local)
    if not dot(n, n) > 0.0:
        return count
    _past_face(local, s)
    # candidates are the facets of the Minkowski difference: faces, both sides of the triangle, edge pairs
    for f in range(s.faces):
        count = _keep_direction(neg(normal_at(s, f)), s.heights[3, f], directions, count)
    low, high, at = inf, -inf, dot(n, local[0])
    for i in range(s.vertices.shape[0]):
        height = dot(n, row3(s.vertices, i))
        low, high = min(low, height), max(high, height)
    count = _keep_direction(neg(n), at - high, directions, _keep_direction(n, low - at, directions, count))
    _put_corners(local, n, s)
    for i in range(_list_outlines(s)):
        j, c = s.outline[i] // 3, s.outline[i] % 3
        f, g, end = s.sides[j, 0], s.sides[j, 1], c + 1 if c < 2 else 0
        u, v = s.heights[end, f] - s.heights[c, f], s.heights[end, g] - s.heights[c, g]
        d, e = add(scale(abs(v), normal_at(s, f)), scale(abs(u), normal_at(s, g))), _corner_at(s, c, _EDGE)
        if max(abs(u), abs(v)) >= CLEAR_CUT * sqrt(dot(e, e)) and dot(d, _corner_at(s, c, _OUT)) <= 0.0:
            far = sqrt(dot(d, d))
            gap = dot(d, sub(_corner_at(s, c, _CORNER), row3(s.edges, j))) / far
            count = _keep_direction(scale(-1.0 / far, d), gap, directions, count)
    for i in range(count):
        directions[i, 0], directions[i, 1], directions[i, 2] = turn(x.m, row3(directions, i))
    return count


@kernel
def _holds(s: Solid, p: Vec3, off: float) -> bool:
    for f in range(s.faces):  # noqa: SIM110, a generator does not compile
        if dot(normal_at(s, f), p) > s.planes[3, s.first + f] + off:
            return False
    return True


@inlined
def write_depth(n: Vec3, a: Vec3, b: Vec3, gap: float, width: float, out: Array, flags: Ints, row: int) -> None:
    """Write a result row of an overlap in the format of `gjk3d.narrow.solve`, with the bounds gap - and + width."""
    out[row, 0], out[row, 1], out[row, 2] = gap, gap - width, gap + width
    for c in range(3):
        out[row, 3 + c], out[row, 6 + c], out[row, 9 + c] = n[c], a[c], b[c]
    flags[row, 0], flags[row, 1], flags[row, 2], flags[row, 3] = OVERLAPPING, 1, 1, 0


@kernel
def facet_of(x: PosedPair, k: int, s: Solid, out: Array, flags: Ints, row: int) -> int:
    """Return IS_APART if triangle k of A is apart from the polytope, IS_DEEP if both overlap, IS_OPEN if undecided.

    For IS_DEEP, the depth is written into row ``row`` of ``out`` and ``flags``.
    """
    local = _seen_from(x.m, read(x.a.places, k))
    clear = WIDTH * x.error
    best, widest = _past_face(local, s)
    if best.gap > clear:
        return IS_APART
    # the faces decide most pairs, and the other facets are tried only for the rest
    if not (widest and best.gap <= -clear):
        n = normal_of(local)
        if n[0] == 0.0 and n[1] == 0.0 and n[2] == 0.0:
            return IS_OPEN
        best = _past_triangle(local, n, s, best)
        if best.gap > clear:
            return IS_APART
        _put_corners(local, n, s)
        best = _past_edges(s, best, clear)
        if best.gap > clear and best.sure:
            return IS_APART
        if best.gap > -clear or not best.sure or not _holds(s, best.b, _OFF * x.error):
            return IS_OPEN
    normal, b = turn(x.m, best.normal), place(x.m, best.b)
    write_depth(normal, along(b, normal, -best.gap), b, best.gap, clear, out, flags, row)
    return IS_DEEP


@kernel
def _over(p: Vec3, t: Triangle, n: Vec3) -> bool:
    """Return whether the point p, in the plane of the triangle t with the normal n, is in the triangle."""
    for k in range(3):
        q, r = t[k], t[(k + 1) % 3]
        if dot(cross(n, sub(r, q)), sub(p, q)) < 0.0:
            return False
    return True


@kernel
def _past_sides(flat: Triangle, corners: Triangle, n: Vec3, turned: bool, best: Facet) -> Facet:
    """Return the facet of ``flat``'s side, n or -n, with the wider gap, or ``best`` if this is at least as wide.

    ``corners`` is the other triangle. ``turned`` is whether ``flat`` is the second triangle of the pair.
    """
    x, y, z = dot(n, sub(corners[0], flat[0])), dot(n, sub(corners[1], flat[0])), dot(n, sub(corners[2], flat[0]))
    low, high = min(x, y, z), max(x, y, z)
    gap = max(low, -high)
    if not gap > best.gap:
        return best
    end, normal = (low, n) if low >= -high else (high, neg(n))
    corner = corners[0] if x == end else corners[1] if y == end else corners[2]
    foot = along(corner, normal, -gap)
    sure = _over(foot, flat, n)
    return Facet(gap, neg(normal), corner, foot, sure) if turned else Facet(gap, normal, foot, corner, sure)


@kernel
def _past_edge_pairs(s: Triangle, t: Triangle, best: Facet) -> Facet:
    for i in range(3):
        p, e = s[i], sub(s[(i + 1) % 3], s[i])
        third = sub(s[(i + 2) % 3], p)
        for j in range(3):
            q, f = t[j], sub(t[(j + 1) % 3], t[j])
            d = cross(e, f)
            d = neg(d) if dot(d, third) > 0.0 else d
            square, rise = dot(d, d), dot(d, sub(q, p))
            if (rise < 0.0) & (rise * rise > SURELY * (best.gap * best.gap) * square):
                continue  # the gap is not wider, which is tested without a root
            if dot(d, sub(t[(j + 2) % 3], q)) < 0.0 or not square > 0.0:
                continue
            far = sqrt(square)
            gap = rise / far
            if not gap > best.gap:
                continue
            # nearly parallel edges give an ill-conditioned normal, so GJK and EPA decide
            if square < CLEAR_CUT * CLEAR_CUT * dot(e, e) * dot(f, f):
                return Facet(best.gap, best.normal, best.a, best.b, False)
            normal = scale(1.0 / far, d)
            across = cross(f, normal)
            r = dot(across, sub(q, p)) / dot(across, e)
            a = along(p, e, r)
            b = along(a, normal, gap)
            u = dot(sub(b, q), f) / dot(f, f)
            best = Facet(gap, normal, a, b, min(r, u) >= 0.0 and max(r, u) <= 1.0)
    return best


@kernel
def crossed(x: PosedPair, p: int, q: int, out: Array, flags: Ints, row: int) -> int:
    """Return IS_DEEP if triangle p of A and triangle q of B certainly cross, otherwise IS_OPEN.

    For IS_DEEP, the depth is written into row ``row`` of ``out`` and ``flags``.
    """
    s, t, clear = read(x.a.places, p), placed_triangle(x.m, x.b.places, q), WIDTH * x.error
    n, m = normal_of(s), normal_of(t)
    if dot(n, n) == 0.0 or dot(m, m) == 0.0:
        return IS_OPEN
    best = _past_sides(s, t, n, False, Facet(-inf, n, s[0], s[0], False))
    best = _past_sides(t, s, m, True, best)
    if best.gap > -clear:
        return IS_OPEN
    best = _past_edge_pairs(s, t, best)
    if best.gap > -clear or not best.sure:
        return IS_OPEN
    write_depth(best.normal, along(best.b, best.normal, -best.gap), best.b, best.gap, clear, out, flags, row)
    return IS_DEEP
