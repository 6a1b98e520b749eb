"""Facets of A - B over the Gauss map: the separating axis test in 3D, exact for polytopes.

The 2D text tries the normals of every edge of both polygons. In 3D the facets of A - B are the faces of A, the faces
of B reversed, and the pairs of edges whose arcs cross on the sphere of directions: there the cross product of the
edges is a facet's normal, and nowhere else. Each candidate n costs one support scan h(n); apart, the largest -h(n) is
the best separating axis; in overlap the least h(n) is the depth.

A candidate too many does no harm, since each h(n) is a bound by itself; so every test lets pass what it is not sure
of. One too few would: near-parallel edges are skipped only below 1e-14, where h along their arcs is a single
sinusoid, least at its ends, and those are face normals. Gottschalk 1996; Gregorius, GDC 2013 (arcs); Hornus, Inria
RR-8730, 2015.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from gjk3d._kernels.decorators import kernel
from gjk3d.geometry.vec3 import Vec3, cross, dot, product_difference
from gjk3d.narrow.cores import Rigid, center_error, pair_size, relative_pose, rounding_error, support_pair
from gjk3d.narrow.gjk import INSIDE_SIMPLEX, gjk, witnesses
from gjk3d.narrow.solve import SIGNED, WIDTH_POLYTOPE, direction_between, finish
from gjk3d.shapes import layout
from gjk3d.typing import Array, Ints

_U = layout.UNIT_ROUNDOFF
FACE_A, FACE_B, EDGES, POINTS = range(4)

# An edge row: direction (3), then the outward normals of its two faces (3 + 3).


@kernel
def turn(m: Rigid, x: float, y: float, z: float) -> Vec3:
    """Return R (x, y, z)."""
    return (m[0] * x + m[1] * y + m[2] * z, m[3] * x + m[4] * y + m[5] * z, m[6] * x + m[7] * y + m[8] * z)


@kernel
def facet_depth(
    qa: Ints, ia: int, fa: Array, oa: int, qb: Ints, ib: int, fb: Array, ob: int, m: Rigid,
    normals_a: Array, edges_a: Array, normals_b: Array, edges_b: Array, turned: Array,
) -> tuple[float, Vec3, int, int, int, int]:  # fmt: skip
    """Return the least h(n), its n from A to B, what it is a facet of, its face or edges, and the number of candidates.

    ``turned`` is room for B's edges in A's frame, (edges, 9).
    """
    least = inf
    best = (1.0, 0.0, 0.0)
    kind, first, second = FACE_A, -1, -1
    tried = 0
    for k in range(normals_a.shape[0] + normals_b.shape[0]):
        on_a = k < normals_a.shape[0]
        j = k if on_a else k - normals_a.shape[0]
        if on_a:
            n = (normals_a[j, 0], normals_a[j, 1], normals_a[j, 2])
        else:
            n = turn(m, -normals_b[j, 0], -normals_b[j, 1], -normals_b[j, 2])
        w, _, _ = support_pair(qa, ia, fa, oa, qb, ib, fb, ob, m, n)
        h = dot(n, w) / sqrt(dot(n, n))
        tried += 1
        if h < least:
            least, best = h, n
            kind, first, second = (FACE_A if on_a else FACE_B), j, -1
    for j in range(edges_b.shape[0]):
        for c in range(3):
            s = 1.0 if c == 0 else -1.0  # the faces of -B
            e = turn(m, s * edges_b[j, 3 * c], s * edges_b[j, 3 * c + 1], s * edges_b[j, 3 * c + 2])
            turned[j, 3 * c], turned[j, 3 * c + 1], turned[j, 3 * c + 2] = e
    for i in range(edges_a.shape[0]):
        ea = (edges_a[i, 0], edges_a[i, 1], edges_a[i, 2])
        a1 = (edges_a[i, 3], edges_a[i, 4], edges_a[i, 5])
        a2 = (edges_a[i, 6], edges_a[i, 7], edges_a[i, 8])
        for j in range(edges_b.shape[0]):
            eb = (turned[j, 0], turned[j, 1], turned[j, 2])
            u1, u2 = dot(a1, eb), dot(a2, eb)
            if u1 * u2 > 0.0 and min(abs(u1), abs(u2)) > 1e-12:
                continue  # both ends of A's arc on one side of B's great circle
            b1 = (turned[j, 3], turned[j, 4], turned[j, 5])
            b2 = (turned[j, 6], turned[j, 7], turned[j, 8])
            w1, w2 = dot(b1, ea), dot(b2, ea)
            if w1 * w2 > 0.0 and min(abs(w1), abs(w2)) > 1e-12:
                continue
            n = cross(ea, eb)
            square = dot(n, n)
            if square < 1e-8:
                n = (
                    product_difference(ea[1], eb[2], ea[2], eb[1]),
                    product_difference(ea[2], eb[0], ea[0], eb[2]),
                    product_difference(ea[0], eb[1], ea[1], eb[0]),
                )
                square = dot(n, n)
                if square < 1e-28:
                    continue
            length = sqrt(square)
            n = (n[0] / length, n[1] / length, n[2] / length)
            # the crossing is on both arcs or opposite to them: the side that faces both pairs of normals, both where
            # unsure
            over_a = dot(n, a1) + dot(n, a2)
            over_b = dot(n, b1) + dot(n, b2)
            if over_a * over_b < 0.0 and min(abs(over_a), abs(over_b)) > 1e-12:
                continue  # one arc crosses the other's antipode
            sure = min(abs(over_a), abs(over_b)) > 1e-12
            for side in range(2):
                if side == 1:
                    if sure:
                        break
                    n = (-n[0], -n[1], -n[2])
                elif over_a < 0.0:
                    n = (-n[0], -n[1], -n[2])
                w, _, _ = support_pair(qa, ia, fa, oa, qb, ib, fb, ob, m, n)
                h = dot(n, w)
                tried += 1
                if h < least:
                    least, best = h, n
                    kind, first, second = EDGES, i, j
    if tried == 0:  # two points: the line between them
        best = direction_between(m)
        w, _, _ = support_pair(qa, ia, fa, oa, qb, ib, fb, ob, m, best)
        least = dot(best, w) / sqrt(dot(best, best))
        kind = POINTS
    length = sqrt(dot(best, best))
    return least, (best[0] / length, best[1] / length, best[2] / length), kind, first, second, tried


@kernel
def axis_rows(
    qa: Ints, fa: Array, qb: Ints, fb: Array, pa: Array, pb: Array,
    normals_a: Array, edges_a: Array, normals_b: Array, edges_b: Array, turned: Array, start: int, stop: int,
    out: Array, kinds: Ints,
) -> None:  # fmt: skip
    """Fill rows start to stop.

    Out with the gap, its error, n in A's frame and in world axes; kinds as in `facet_depth`.
    """
    for k in range(start, stop):
        i = k if pa.shape[0] > 1 else 0
        j = k if pb.shape[0] > 1 else 0
        m = relative_pose(pa, i, fa, 0, pb, j, fb, 0)
        size = pair_size(fa, 0, fb, 0, m)
        least, n, kind, first, second, tried = facet_depth(
            qa, 0, fa, 0, qb, 0, fb, 0, m, normals_a, edges_a, normals_b, edges_b, turned
        )
        out[k, 0] = -least - fa[0] - fb[0]
        out[k, 1] = rounding_error(size, fa, 0, fb, 0, pa[i, 12]) + center_error(pa, i, fa, 0, pb, j, fb, 0)
        for r in range(3):
            out[k, 2 + r] = n[r]
            out[k, 5 + r] = pa[i, 3 * r] * n[0] + pa[i, 3 * r + 1] * n[1] + pa[i, 3 * r + 2] * n[2]
        kinds[k, 0], kinds[k, 1], kinds[k, 2], kinds[k, 3] = kind, first, second, tried


@kernel
def overlap_rows(
    qa: Ints, fa: Array, qb: Ints, fb: Array, pa: Array, pb: Array, axes: Array, kinds: Ints, start: int, stop: int,
    simplex: Array, out: Array, flags: Ints,
) -> None:  # fmt: skip
    """Answer the rows whose cores certainly overlap, from their axes; flags[k, 3] is 1 for those left to `solve_rows`.

    The witnesses are where the two touch once B is moved out by the depth: GJK's nearest points there.
    """
    for k in range(start, stop):
        error = axes[k, 1]
        least = -axes[k, 0] - fa[0] - fb[0]
        flags[k, 3] = 1
        if not least > 2.0 * error:
            continue
        i = k if pa.shape[0] > 1 else 0
        j = k if pb.shape[0] > 1 else 0
        m = relative_pose(pa, i, fa, 0, pb, j, fb, 0)
        size = pair_size(fa, 0, fb, 0, m)
        n = (axes[k, 2], axes[k, 3], axes[k, 4])
        x, y, z = m[9] + least * n[0], m[10] + least * n[1], m[11] + least * n[2]
        moved = (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], x, y, z)
        code, count, v, _, _, steps, _ = gjk(
            qa, 0, fa, 0, qb, 0, fb, 0, moved, n, error, 16.0 * _U * size, 0.0, 0.0, inf, -inf,
            int(np.int64(0)), simplex, simplex[0, :0], int(np.int64(0)),
        )  # fmt: skip
        if code == INSIDE_SIMPLEX or dot(v, v) > error * error:
            continue
        a, b = witnesses(simplex, count)
        # the enumeration misses no facet by more than a few roundings, given the faces and edges of the hulls
        finish(
            pa, i, fa, 0, n, a, b, -least, -least - error, -least + 4.0 * error, True, fa[0], fb[0],
            WIDTH_POLYTOPE * size + 5.0 * error, size, SIGNED, inf, 0, steps + kinds[k, 3], out, flags, k,
        )  # fmt: skip
