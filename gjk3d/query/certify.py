"""Certificates of results, made from the last state that the kernels logged."""

from __future__ import annotations

from math import pi
from typing import Any, NamedTuple

import numpy as np

from gjk3d.convex.batch import Rows
from gjk3d.exact.convex_sets import body_of
from gjk3d.geometry.simplex import closest_on_triangle
from gjk3d.narrow.cores import relative_pose, support_once
from gjk3d.narrow.workspace import ENDINGS, read_log
from gjk3d.poses import parts
from gjk3d.results import Certificate, Distance, PartsCertificate, Status, Trace
from gjk3d.shapes import layout
from gjk3d.shapes.base import Kind, Shape
from gjk3d.typing import Array, Ints

_TETRAHEDRON = np.array([(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)], dtype=np.int64)
_INSIDE = ENDINGS[3]
_NONE, _NO_WEIGHTS, _NO_FACES = np.empty((0, 3)), np.empty(0), np.empty((0, 3), dtype=np.int64)
_closest: Any = closest_on_triangle  # kernels, called with tuples
_support: Any = support_once


def certify(result: Distance, rows: Rows, log: Array, exchanged: bool) -> PartsCertificate | Certificate:
    """Return the certificate of a result at the pose rows of its query.

    The certificate of convex shapes comes from the log of the kernels, and that of non-convex bodies from their parts.
    ``exchanged`` means that the first shape of the log is B.
    """
    kinds = result.shape_a._kind | result.shape_b._kind
    if kinds & Kind.PLANES:
        return _plane_certificate(result, rows)
    if kinds & Kind.BODIES:
        from gjk3d.bodies.rational import wholes_of  # loaded only for non-convex bodies
        from gjk3d.exact.unions import certificate_of

        return certificate_of(result, *wholes_of(result, (result.shape_a, result.shape_b), [rows.a[0], rows.b[0]]))
    trace = read_log(log)
    pair = _LoggedPair(result, rows, exchanged)
    normal, support = pair.best_normal(result, trace)
    # the depth of a tie of solids of revolution or of ellipsoids comes from a closed form, and no simplex proves it
    has_proof = trace.gjk_end == _INSIDE or np.linalg.norm(trace.simplex_weights @ trace.simplex) < pair.radii
    deeper = result.upper + pair.radii < 0.0 or (result.status == Status.OVERLAPPING and not has_proof)
    tie = pair.curved and not trace.epa and deeper
    upper = _Upper("section", _NONE, _NONE, _NO_WEIGHTS, _NO_FACES) if tie else _upper(trace)
    directions = pair.directions(upper, trace)
    (support_a, support_b), (points_a, points_b) = pair.to_local(*support), pair.to_local(upper.a, upper.b)
    # A - B is B - A mirrored at the origin, which reverses the orientation of the faces
    faces = upper.faces[:, ::-1] if exchanged else upper.faces
    return _frozen(upper.kind, normal, support_a[0], support_b[0], points_a, points_b, upper.weights, faces, directions)


def _frozen(kind: str, *arrays: Any) -> Certificate:
    copies = [np.array(array) for array in arrays]
    for array in copies:
        array.setflags(write=False)
    return Certificate(kind, *copies)


# --- the upper bound --------------------------------------------------------------------------------------------------


class _Upper(NamedTuple):
    """Proof of an upper bound, with points in the frame of the log. ``a`` are points of the log's first shape."""

    kind: str  #: "weights", "surface" or "section", see `Certificate`
    a: Array
    b: Array
    weights: Array
    faces: Ints


def _upper(trace: Trace) -> _Upper:
    """Return the proof of the upper bound from the last simplex or polytope of the kernels."""
    if trace.epa:
        last = trace.epa[-1]
        if last.upper < 0.0 and _encloses_origin(last.vertices, last.faces):
            used, faces = np.unique(last.faces, return_inverse=True)
            a, b = last.vertices_a[used], last.vertices_b[used]
            return _Upper("surface", a, b, _NO_WEIGHTS, faces.reshape(-1, 3).astype(np.int64))
    elif trace.gjk_end == _INSIDE:
        return _Upper("surface", trace.simplex_a, trace.simplex_b, _NO_WEIGHTS, _TETRAHEDRON)
    a, b, weights = trace.simplex_a, trace.simplex_b, trace.simplex_weights
    if trace.epa:
        p, q, r = (tuple(w) for w in last.vertices[last.closest].tolist())
        near, barycentric = _closest(p, q, r, 0.0)
        if np.linalg.norm(near) < np.linalg.norm(weights @ trace.simplex):
            a, b, weights = last.vertices_a[last.closest], last.vertices_b[last.closest], np.array(barycentric[:3])
    used_rows = weights > 0.0
    return _Upper("weights", a[used_rows], b[used_rows], weights[used_rows], _NO_FACES)


def _encloses_origin(vertices: Array, faces: Ints) -> bool:
    """Return whether a closed surface encloses the origin, from its solid angle (van Oosterom and Strackee, 1983)."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    la, lb, lc = (np.linalg.norm(p, axis=1) for p in (a, b, c))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    below = la * lb * lc + np.einsum("ij,ij->i", a, b) * lc
    below += np.einsum("ij,ij->i", b, c) * la + np.einsum("ij,ij->i", c, a) * lb
    return bool(abs(2.0 * np.arctan2(volume, below).sum()) > 2.0 * pi)


# --- the lower bound, and frames --------------------------------------------------------------------------------------


class _LoggedPair:
    """The shapes a and b of a result, in the order of the log.

    The frame of the log has the axes of a, and its origin is the centre of the core of a.
    """

    def __init__(self, result: Distance, rows: Rows, exchanged: bool) -> None:
        self.sign = -1.0 if exchanged else 1.0
        sides = [(result.shape_a, rows.a), (result.shape_b, rows.b)]
        (self.a, row_a), (self.b, row_b) = reversed(sides) if exchanged else sides
        self.packed = self.a._packed, self.b._packed
        (_, fa), (_, fb) = self.packed
        self.m = relative_pose(row_a[0], fa, row_b[0], fb)
        self.turn = row_a[0, :9].reshape(3, 3)
        self.radii = float(fa[layout.RADIUS] + fb[layout.RADIUS])
        self.curved = not all(ints[layout.POLYTOPE] for ints, _ in self.packed)

    def best_normal(self, result: Distance, trace: Trace) -> tuple[Array, tuple[Array, Array]]:
        """Return the normal with the greatest lower bound, and its support points on a and b in the frame of the log.

        The normal points from A to B of the result, in world axes.
        """
        local = self.turn.T @ (self.sign * result.normal)
        candidates = [(result.normal, local)]
        directions = self.between()
        if trace.gjk:
            directions.append(max(trace.gjk, key=lambda step: step.bound).direction)
        if trace.epa:
            directions.append(min(trace.epa, key=lambda step: float(step.direction @ step.point)).direction)
        candidates += [(self.sign * (self.turn @ d), d) for d in directions]
        answers = [self.support(d) for _, d in candidates]
        best = int(np.argmin([d @ w for (_, d), (w, _, _) in zip(candidates, answers, strict=True)]))
        _, p, q = answers[best]
        return candidates[best][0], (p[None], q[None])

    def between(self) -> list[Array]:
        """Return GJK's first direction, from centre to centre, in a list; the list is empty if the centres coincide."""
        shift = np.array(self.m[9:])
        length = float(np.linalg.norm(shift))
        return [shift / length] if length > 0.0 else []

    def support(self, d: Array) -> tuple[Array, Array, Array]:
        """Return the support point of a - b along d, and its points on a and b, with the rounding of the kernels."""
        (qa, fa), (qb, fb) = self.packed
        w, p, q = _support(qa, fa, qb, fb, self.m, (d[0], d[1], d[2]))
        return np.array(w), np.array(p), np.array(q)

    def directions(self, upper: _Upper, trace: Trace) -> Array:
        """Return the support direction of each point of ``upper``, from A to B in world axes; zero if it is unknown."""
        unlogged = [*np.eye(3), *-np.eye(3), *self.between()]  # the first directions of EPA and of GJK
        logged = {_key(p, q): d for d in unlogged for _, p, q in [self.support(d)]}
        logged |= {_key(step.support_a, step.support_b): step.direction for step in trace.epa}
        logged |= {_key(step.support_a, step.support_b): step.direction for step in trace.gjk}
        directions = [logged.get(_key(p, q), np.zeros(3)) for p, q in zip(upper.a, upper.b, strict=True)]
        return self.sign * np.array(directions).reshape(-1, 3) @ self.turn.T

    def to_local(self, points_a: Array, points_b: Array) -> tuple[Array, Array]:
        """Return points on a and b of the log in the frames of their shapes: points of A first, then points of B.

        Points of a polytope become its original vertices, which removes the rounding of the transformation.
        """
        (_, fa), (_, fb) = self.packed
        turn, shift = np.array(self.m[:9]).reshape(3, 3), np.array(self.m[9:])
        local_a = _snapped(points_a + fa[layout.CENTER : layout.CENTER + 3], self.a)
        local_b = _snapped((points_b - shift) @ turn + fb[layout.CENTER : layout.CENTER + 3], self.b)
        return (local_b, local_a) if self.sign < 0.0 else (local_a, local_b)


def _key(p: Array, q: Array) -> bytes:
    return bytes((p + 0.0).tobytes() + (q + 0.0).tobytes())


def _snapped(points: Array, shape: Shape) -> Array:
    """Return the vertices nearest to the points if the shape is a polytope; otherwise return the points."""
    body = body_of(shape)
    if body is None or len(body.terms) != 1 or len(body.terms[0].sets) != 1 or body.terms[0].balls:
        return points
    vertices = np.array([[x / body.scale for x in p] for p in body.terms[0].sets[0]])
    nearest = [int(((vertices - point) ** 2).sum(axis=1).argmin()) for point in points]
    return np.asarray(vertices[nearest]).reshape(-1, 3)


def _plane_certificate(result: Distance, rows: Rows) -> Certificate:
    """Return the certificate of a half-space or a plane and another shape.

    It contains the normal, the support point of the other shape's core, and the projection of that point onto the
    plane. For a non-convex body it contains the witness point instead, and `verify` checks all parts.
    """
    plane_is_b = bool(result.shape_b._kind & Kind.PLANES)
    plane, shape = (result.shape_b, result.shape_a) if plane_is_b else (result.shape_a, result.shape_b)
    (row_plane, *_), (row_shape, *_) = (rows.swapped() if plane_is_b else rows)[:2]
    turn_plane, turn_shape = parts(row_plane)[0], parts(row_shape)[0]
    if shape._kind & Kind.SHAPES:
        up = turn_plane @ plane.normal
        if plane._sides > 1.0 and (up @ result.normal < 0.0) != plane_is_b:
            up = -up
        down = turn_shape.T @ -up
        support = _snapped((shape.support(down) - shape._rounding() * down)[None], shape)[0]
    else:
        support = turn_shape.T @ ((result.point_a if plane_is_b else result.point_b) - row_shape[9:12])
    world = turn_shape @ support + (row_shape[9:12] - row_plane[9:12])
    in_plane = turn_plane.T @ world
    foot = in_plane + (plane.offset - plane.normal @ in_plane) * plane.normal
    ends = (support, foot) if plane_is_b else (foot, support)
    return _frozen("plane", result.normal, *ends, _NONE, _NONE, _NO_WEIGHTS, _NO_FACES, _NONE)
