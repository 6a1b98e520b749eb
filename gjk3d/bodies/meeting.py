"""Where faces of two meshes meet, and at which of many pairs of poses they do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.bodies import surfaces
from gjk3d.bodies.bvh import BOX, tree_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.traversal import STACK, between, boxes_apart, crossings
from gjk3d.bodies.triangles import Triangle, crossing_segment, nearest, normal_of, place, read
from gjk3d.geometry.vec3 import Rigid, Vec3, dot, sub
from gjk3d.poses import ROUNDING, relative
from gjk3d.typing import Array, Ints

_WIDTH = 7


class Touches(NamedTuple):
    """One row for each pair of faces that meet, in a's frame."""

    faces: Ints  #: (k, 2), ascending
    points: Array  #: (k, 3)
    normals: Array  #: (k, 3), from a to b
    depths: Array  #: (k,), not negative


@kernel
def _behind(n: Vec3, p: Triangle, q: Triangle) -> float:
    """Return how far the triangle q reaches behind the plane of p with normal n, 0 where it does not."""
    return max(0.0, dot(n, sub(p[0], q[0])), dot(n, sub(p[0], q[1])), dot(n, sub(p[0], q[2])))


@kernel
def touch_many(m: Rigid, ca: Array, cb: Array, pairs: Ints, out: Array) -> None:
    """Write of each pair of triangles that meet a point of both, a normal and a depth, in A's frame."""
    for k in range(pairs.shape[0]):
        s, t = read(ca, pairs[k, 0]), place(m, cb, pairs[k, 1])
        length, x, y = crossing_segment(s, t)
        if not length > 0.0:
            _, x, y = nearest(s, t)
        u, v = normal_of(s), normal_of(t)
        n, depth = u, _behind(u, s, t)
        other = _behind(v, t, s)
        flat_a, flat_b = dot(u, u) == 0.0, dot(v, v) == 0.0
        if not flat_b and (flat_a or other < depth):
            n, depth = (-v[0], -v[1], -v[2]), other
        elif flat_a:
            n, depth = (1.0, 0.0, 0.0), 0.0
        for c in range(3):
            out[k, c] = 0.5 * (x[c] + y[c])
            out[k, 3 + c] = n[c] + 0.0
        out[k, 6] = depth


def touches(a: Mesh, b: Mesh, m: Array) -> Touches:
    """Return where faces of two meshes meet, m being the pose of b in a's frame.

    The normal is the outward one of a's face or the inward one of b's, whichever parts the two faces by the shorter
    shift of b's; the depth is that shift: how far one face reaches behind the plane of the other.
    """
    faces = surfaces.meeting_faces(a, b, m)
    corners = [np.ascontiguousarray(x.vertices[x.wound[faces[:, k]]].reshape(-1, 9)) for k, x in ((0, a), (1, b))]
    out = np.empty((len(faces), _WIDTH))
    rows = np.repeat(np.arange(len(faces), dtype=np.int64)[:, None], 2, axis=1)
    touch_many(tuple(m.tolist()), corners[0], corners[1], rows, out)
    return Touches(faces, out[:, :3], out[:, 3:6], out[:, 6])


def nearest_face(mesh: Mesh, point: Array) -> int:
    """Return the face of a mesh that is nearest to a point in its frame."""
    return int(surfaces.from_points(mesh, point[None])[2][0])


APART, MEET, HOLDS, HELD = range(4)
_MAYBE = -1
REACH, RADIUS = BOX, BOX + 1  #: columns of `root_of`


@inlined
def _relative(p: Array, i: int, q: Array, j: int) -> Rigid:
    """Return the pose of row j of q in the frame of row i of p."""
    x, y, z = q[j, 9] - p[i, 9], q[j, 10] - p[i, 10], q[j, 11] - p[i, 11]
    a, b, c = p[i, 0], p[i, 3], p[i, 6]
    d, e, f = p[i, 1], p[i, 4], p[i, 7]
    g, h, k = p[i, 2], p[i, 5], p[i, 8]
    return (
        a * q[j, 0] + b * q[j, 3] + c * q[j, 6], a * q[j, 1] + b * q[j, 4] + c * q[j, 7],
        a * q[j, 2] + b * q[j, 5] + c * q[j, 8],
        d * q[j, 0] + e * q[j, 3] + f * q[j, 6], d * q[j, 1] + e * q[j, 4] + f * q[j, 7],
        d * q[j, 2] + e * q[j, 5] + f * q[j, 8],
        g * q[j, 0] + h * q[j, 3] + k * q[j, 6], g * q[j, 1] + h * q[j, 4] + k * q[j, 7],
        g * q[j, 2] + h * q[j, 5] + k * q[j, 8],
        a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + k * z,
    )  # fmt: skip


@kernel
def _any_in_box(m: Rigid, points: Array, low_high: Array, pad: float) -> bool:
    """Tell whether any of the points, in the frame that m leads from, is in a box."""
    for k in range(points.shape[0]):
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        u = m[0] * x + m[1] * y + m[2] * z + m[9]
        v = m[3] * x + m[4] * y + m[5] * z + m[10]
        w = m[6] * x + m[7] * y + m[8] * z + m[11]
        if (
            low_high[0, 0] - pad <= u <= low_high[1, 0] + pad
            and low_high[0, 1] - pad <= v <= low_high[1, 1] + pad
            and low_high[0, 2] - pad <= w <= low_high[1, 2] + pad
        ):
            return True
    return False


@kernel
def meet_rows(
    rows_a: Array, rows_b: Array, rounding: float, reach: float, first: bool,
    ba: Array, la: Ints, ca: Array, points_a: Array, box_a: Array,
    bb: Array, lb: Ints, cb: Array, points_b: Array, box_b: Array,
    stack: Ints, found: Ints, out: Ints,
) -> None:  # fmt: skip
    """Write what each pair of poses makes of two meshes: they meet, one may lie in the other, or they are apart."""
    for k in range(rows_a.shape[0]):
        m = _relative(rows_a, k, rows_b, k)
        noise = rounding * (reach + max(abs(m[9]), abs(m[10]), abs(m[11])))
        if crossings(m, noise, ba, la, ca, bb, lb, cb, stack, found) > 0:
            out[k] = MEET
            if first:
                return
        elif _any_in_box(m, points_b, box_a, noise) or _any_in_box(
            _relative(rows_b, k, rows_a, k), points_a, box_b, noise
        ):
            out[k] = _MAYBE


@kernel
def roots_apart(rows: Array, at: Ints, roots: Array, which: Ints, margin: float, rounding: float, out: Ints) -> None:
    """Tell which pairs of meshes are farther apart than a margin by the boxes of the whole, or the balls about these.

    ``at`` are their pose rows, ``which`` their rows of ``roots``, see `root_of`.
    """
    for k in range(at.shape[0]):
        a, b = which[k, 0], which[k, 1]
        m = _relative(rows, at[k, 0], rows, at[k, 1])
        more = margin + rounding * (roots[a, REACH] + roots[b, REACH] + max(abs(m[9]), abs(m[10]), abs(m[11])))
        to = between(m, roots, a, roots, b)
        far = roots[a, RADIUS] + roots[b, RADIUS] + more
        if to[9] * to[9] + to[10] * to[10] + to[11] * to[11] > far * far:
            out[k] = 1
            continue
        x, y, z = roots[a, 3] + more, roots[a, 4] + more, roots[a, 5] + more
        out[k] = boxes_apart(to, x, y, z, roots[b, 3], roots[b, 4], roots[b, 5])


def root_of(mesh: Mesh) -> Array:
    """Return the box of the whole mesh, its greatest coordinate, and the radius of the ball about the box's middle."""
    if "root" not in mesh._cache:
        tree = tree_of(mesh)
        away = tree.corners.reshape(-1, 3) - tree.boxes[0, :3]
        radius = float(np.sqrt((away * away).sum(axis=1).max())) * (1.0 + 1e-15)
        mesh._cache["root"] = np.concatenate([tree.boxes[0], [tree.reach, radius]])
    root: Array = mesh._cache["root"]
    return root


def meet_many(a: Mesh, b: Mesh, rows_a: Array, rows_b: Array, first: bool = False) -> Ints:
    """Return of each pair of poses, (k, 12) each, whether surfaces MEET, a HOLDS b, is HELD by it, or they are APART.

    With ``first`` only the first that meets is sure to be right where any does.
    """
    (boxes_a, links_a, corners_a), (boxes_b, links_b, corners_b) = tree_of(a).arrays, tree_of(b).arrays
    out = np.zeros(len(rows_a), dtype=np.int64)
    meet_rows(
        rows_a, rows_b, ROUNDING, tree_of(a).reach + tree_of(b).reach, first,
        boxes_a, links_a, corners_a, *_of_bodies(a), boxes_b, links_b, corners_b, *_of_bodies(b),
        np.empty((STACK, 2), dtype=np.int64), np.empty((1, 2), dtype=np.int64), out,
    )  # fmt: skip
    if not (first and (out == MEET).any()):
        for k in np.flatnonzero(out == _MAYBE):
            which = surfaces.one_in_other(a, b, relative(rows_a[k], rows_b[k]))
            out[k] = (APART, HOLDS, HELD)[which]
    return out


def _of_bodies(mesh: Mesh) -> tuple[Array, Array]:
    """Return a point of each body and the box, writable as the kernels know arrays."""
    if "bodies and box" not in mesh._cache:
        mesh._cache["bodies and box"] = mesh.body_points.copy(), mesh.bounds.copy()
    both: tuple[Array, Array] = mesh._cache["bodies and box"]
    return both
