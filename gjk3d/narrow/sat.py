"""The separating axis test in 3D, exact for polytopes, by the facets of A - B on the Gauss map.

The candidates for the axis are the normals of the facets of A - B. These facets are the faces of A, the faces of B
reversed, and the pairs of edges whose arcs cross on the sphere of directions. Only for these pairs the cross product of
the edges is a facet's normal. Each candidate n costs one scan of the vertices for the support value h(n). If the shapes
are apart, the direction with the least h(n) is the best separating axis. If they overlap, the least h(n) is the depth.

An extra candidate is harmless, since each h(n) is a valid bound. Every test therefore keeps the candidates that it
cannot decide. A missing candidate would be an error. Two edges are skipped as parallel only if the sine of their angle
is below 1e-14. Along the arcs of such edges h is a single sinusoid. Its minimum is at an end of an arc, which is the
normal of a face. References: Gottschalk 1996; Gregorius, GDC 2013 (arcs); Hornus, Inria RR-8730, 2015.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import kernel, single_entry
from gjk3d.geometry.vec3 import NEARLY_PARALLEL, Vec3, careful_cross, cross, divide, dot, neg, row3, row_at, turn, unit
from gjk3d.narrow.cores import Cores, direction_between, moved, support_pair
from gjk3d.narrow.gjk import INSIDE_SIMPLEX, Start, gjk, witnesses
from gjk3d.narrow.solve import (
    OVERLAPPING,
    SEPARATED,
    SIGNED,
    TOUCHING,
    WIDTH_POLYTOPE,
    Estimate,
    PairRows,
    Query,
    ShapeRows,
    cores_in_row,
    cores_of_row,
    report,
    take_poses,
)
from gjk3d.shapes import layout
from gjk3d.typing import Array, Array2, Ints2

FACE_A, FACE_B, EDGES, POINTS = range(4)
_RADIUS = layout.RADIUS
_SURE = 1e-12  #: products of unit vectors above this have a certain sign
_PARALLEL = 1e-28  #: squared sine of the angle between edges, below which no facet is missed
_SURELY_PARALLEL = 1e-30  #: the same bound for rounded products; rounding adds at most 1e-15 to the sine


class GaussMap(NamedTuple):
    """The face normals and the edges of a polytope, see `gjk3d.geometry.hulls.gauss_map`."""

    normals: Array2
    edges: Array2


class Facet(NamedTuple):
    """A facet of the Minkowski difference A - B, with its support value h(n)."""

    least: float  #: h(n)
    normal: Vec3  #: from A to B
    kind: int  #: FACE_A, FACE_B, EDGES or POINTS
    first: int  #: index of the face, or of A's edge; -1 for POINTS
    second: int  #: index of B's edge, or -1
    tried: int  #: number of candidate directions that were tested


@kernel
def triple(rows: Array, i: int) -> tuple[Vec3, Vec3, Vec3]:
    """Return the direction of edge i, and the outward normals of its two faces."""
    return row3(rows, i), row_at(rows, i, 3), row_at(rows, i, 6)


@kernel
def least_face(c: Cores, normals_a: Array, normals_b: Array) -> Facet:
    """Return the facet with the least h(n) among the faces of A and the reversed faces of B."""
    facet = Facet(inf, (1.0, 0.0, 0.0), FACE_A, -1, -1, 0)
    tried = 0
    for k in range(normals_a.shape[0] + normals_b.shape[0]):
        on_a = k < normals_a.shape[0]
        j = k if on_a else k - normals_a.shape[0]
        if on_a:
            n = row3(normals_a, j)
        else:
            n = turn(c.m, neg(row3(normals_b, j)))
        w, _, _ = support_pair(c, n)
        h = dot(n, w) / sqrt(dot(n, n))
        tried += 1
        if h < facet.least:
            facet = Facet(h, n, FACE_A if on_a else FACE_B, j, -1, tried)
    return Facet(facet.least, facet.normal, facet.kind, facet.first, facet.second, tried)


@kernel
def crossing(ea: Vec3, a1: Vec3, a2: Vec3, eb: Vec3, b1: Vec3, b2: Vec3) -> tuple[int, Vec3]:
    """Return how many of the two unit vectors orthogonal to both edges may be facet normals, and the first that may.

    ``ea`` is an edge of A, and ``eb`` is an edge of -B. ``a1`` and ``a2`` are the normals of the two faces at ``ea``,
    and ``b1`` and ``b2`` those of the two faces at ``eb``. A vector is excluded only if rounding cannot change this
    decision. If both unit vectors are possible, the second is the opposite of the first.
    """
    n = (1.0, 0.0, 0.0)
    u1, u2 = dot(a1, eb), dot(a2, eb)
    if u1 * u2 > 0.0 and min(abs(u1), abs(u2)) > _SURE:
        return 0, n  # both ends of A's arc are on one side of B's great circle
    w1, w2 = dot(b1, ea), dot(b2, ea)
    if w1 * w2 > 0.0 and min(abs(w1), abs(w2)) > _SURE:
        return 0, n
    n = cross(ea, eb)
    if dot(n, n) < _SURELY_PARALLEL:
        return 0, n
    n = careful_cross(ea, eb, NEARLY_PARALLEL)
    square = dot(n, n)
    if square < _PARALLEL:
        return 0, n
    n = divide(n, sqrt(square))
    # n or -n is the crossing of the arcs; the sign is that of the products with the face normals, or both are tried
    over_a = dot(n, a1) + dot(n, a2)
    over_b = dot(n, b1) + dot(n, b2)
    clear = min(abs(over_a), abs(over_b)) > _SURE
    if over_a * over_b < 0.0 and clear:
        return 0, n  # an arc crosses the antipode of the other arc
    if over_a < 0.0:
        n = neg(n)
    return 1 if clear else 2, n


@kernel
def facet_depth(c: Cores, gauss_a: GaussMap, gauss_b: GaussMap, turned: Array) -> Facet:
    """Return the facet of A - B with the least h(n), with a unit normal in A's frame.

    ``turned`` is scratch for B's edges in A's frame, (edges, 9).
    """
    edges_a, edges_b = gauss_a.edges, gauss_b.edges
    facet = least_face(c, gauss_a.normals, gauss_b.normals)
    tried = facet.tried
    for j in range(edges_b.shape[0]):
        for k in range(3):
            s = 1.0 if k == 0 else -1.0  # the edge keeps its direction, and the normals become those of -B
            e = turn(c.m, (s * edges_b[j, 3 * k], s * edges_b[j, 3 * k + 1], s * edges_b[j, 3 * k + 2]))
            turned[j, 3 * k], turned[j, 3 * k + 1], turned[j, 3 * k + 2] = e
    last_pos, _, _ = support_pair(c, direction_between(c.m))  # the last support points for the first and second normal
    last_neg = last_pos
    for i in range(edges_a.shape[0]):
        ea, a1, a2 = triple(edges_a, i)
        for j in range(edges_b.shape[0]):
            eb, b1, b2 = triple(turned, j)
            sides, n = crossing(ea, a1, a2, eb, b1, b2)
            for side in range(sides):
                tried += 1
                w = last_pos if side == 0 else last_neg
                # if not, the point w of A - B proves that h(n) is not less than the least h; the error covers the
                # rounding of the products
                if not dot(n, w) > facet.least + c.error:
                    w, _, _ = support_pair(c, n)
                    h = dot(n, w)
                    if h < facet.least:
                        facet = Facet(h, n, EDGES, i, j, tried)
                    last_pos, last_neg = (w, last_neg) if side == 0 else (last_pos, w)
                n = neg(n)
    if tried == 0:  # two points: the line between them
        n = direction_between(c.m)
        w, _, _ = support_pair(c, n)
        facet = Facet(dot(n, w) / sqrt(dot(n, n)), n, POINTS, -1, -1, 0)
    return Facet(facet.least, unit(facet.normal), facet.kind, facet.first, facet.second, tried)


@single_entry
def axis_rows(
    a: ShapeRows, b: ShapeRows, gauss_a: GaussMap, gauss_b: GaussMap, turned: Array2, start: int, stop: int,
    out: Array2, kinds: Ints2,
) -> None:  # fmt: skip
    """Write the best axis of each query from start to stop. It is the normal of the facet with the least h(n).

    A row of ``out`` contains the gap, its error, and the normal in A's frame and in world coordinates. A row of
    ``kinds`` contains ``kind``, ``first``, ``second`` and ``tried`` of the `Facet`. ``turned`` is scratch.
    """
    for k in range(start, stop):
        c = cores_in_row(a, b, k)
        facet = facet_depth(c, gauss_a, gauss_b, turned)
        n = facet.normal
        out[k, 0] = -facet.least - a.floats[0] - b.floats[0]
        out[k, 1] = c.error
        out[k, 2], out[k, 3], out[k, 4] = n
        out[k, 5], out[k, 6], out[k, 7] = turn(c.pose, n)
        kinds[k, 0], kinds[k, 1], kinds[k, 2], kinds[k, 3] = facet.kind, facet.first, facet.second, facet.tried


@single_entry
def axis_many(
    pairs: PairRows, ma: Array2, mb: Array2, gauss_a: GaussMap, gauss_b: GaussMap, edges: Array2, start: int, stop: int,
    out: Array2, kinds: Ints2,
) -> int:  # fmt: skip
    """Write the best axis from A to B for queries start to stop.

    A row of ``out`` contains the normal in world coordinates, the gap and its error. A row of ``kinds`` contains the
    kind of the `Facet`, and the status that the gap proves, a code of `gjk3d.narrow.solve`. ``edges`` is scratch for
    the edges of a shape, (edges, 9). ``ma`` and ``mb`` are the matrices of a single query. Both are empty if ``pairs``
    has the poses. Returns 0, or -1 if a matrix is not a pose.
    """
    if not take_poses(ma, mb, pairs.poses):
        return -1
    for k in range(start, stop):
        c, turned = cores_of_row(pairs, k)
        facet = facet_depth(c, gauss_b, gauss_a, edges) if turned else facet_depth(c, gauss_a, gauss_b, edges)
        n = turn(c.pose, facet.normal)
        sign = -1.0 if turned else 1.0
        out[k, 0], out[k, 1], out[k, 2] = sign * n[0] + 0.0, sign * n[1] + 0.0, sign * n[2] + 0.0
        gap = -facet.least - c.a.floats[_RADIUS] - c.b.floats[_RADIUS]
        out[k, 3], out[k, 4] = gap, c.error
        kinds[k, 0] = FACE_A + FACE_B - facet.kind if turned and facet.kind <= FACE_B else facet.kind
        kinds[k, 1] = SEPARATED if gap > c.error else OVERLAPPING if gap < -c.error else TOUCHING
    return 0


@single_entry
def overlap_rows(
    a: ShapeRows, b: ShapeRows, axes: Array2, kinds: Ints2, start: int, stop: int, simplex: Array2, out: Array2,
    flags: Ints2,
) -> None:  # fmt: skip
    """Write to ``out`` and ``flags`` the signed distances of the queries whose axis proves an overlap.

    ``axes`` and ``kinds`` are the output of `axis_rows`. For all other queries flags[k, 3] is 1, and `solve_many` must
    solve them. The witness points are GJK's nearest points after B is moved by the depth, so that the cores touch.
    """
    for k in range(start, stop):
        error = axes[k, 1]
        least = -axes[k, 0] - a.floats[0] - b.floats[0]
        flags[k, 3] = 1
        if not least > 2.0 * error:
            continue
        c = cores_in_row(a, b, k)
        n = (axes[k, 2], axes[k, 3], axes[k, 4])
        walk = gjk(moved(c, n, least), Start(n, 0), 0.0, inf, -inf, simplex, simplex[0, :0])
        if walk.code == INSIDE_SIMPLEX or dot(walk.v, walk.v) > error * error:
            continue
        p, q = witnesses(simplex, walk.rows)
        # the least h(n) over the candidates exceeds the least h(n) of all facets by at most a few roundings
        query = Query(SIGNED, inf, 0.0, False, WIDTH_POLYTOPE * c.size + 5.0 * error)
        steps = walk.steps + kinds[k, 3]
        estimate = Estimate(-least, -least - error, -least + 4.0 * error, True, walk.v, n, p, q, steps, False)
        report(c, query, estimate, out, flags, k)
