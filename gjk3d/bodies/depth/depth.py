"""Depth of two bodies: the least translation that separates them, between proven bounds.

No method computes the depth of non-convex bodies in acceptable time, so it is bounded from both sides. Upper bound:
each translation that was tested and leaves the bodies apart, such as that of their hulls. Lower bounds: two overlapping
parts must be separated, a deep point in a closed surface must leave it, and of two balls about a point, one in each of
two solids, one must leave the other. Both bounds agree if the translation of the deepest two parts separates the
bodies, and for two convex bodies. The kernels are those of `search`.
"""

from __future__ import annotations

import threading
from math import inf
from typing import NamedTuple

import numpy as np

from gjk3d.bodies.base import Parts
from gjk3d.bodies.bvh import traversal_stack
from gjk3d.bodies.depth.inside import COLUMNS, ROWS, SAMPLED, room_for
from gjk3d.bodies.depth.partings import PLANE, PLANES
from gjk3d.bodies.depth.search import COLUMNS as COLUMNS_OF_NODES
from gjk3d.bodies.depth.search import (
    LEAST,
    LOOKED_AT,
    LOOKS,
    MOST,
    NODES,
    NORMAL,
    PLACE,
    PLANES_PER_PAIR,
    SAMPLES,
    STATE,
    TRIES,
    TURNS,
    GivenScratch,
    depth_rows,
)
from gjk3d.bodies.depth.two_surfaces import FOUND_ROWS, GivenRoom, innermost, surface_of
from gjk3d.bodies.facets import GivenSolids, solids_of, with_scratch
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_pair import MeshPair
from gjk3d.bodies.mesh_trees import STACK
from gjk3d.bodies.pair import BodyPair
from gjk3d.bodies.parts import PlacedParts, Triangles
from gjk3d.bodies.tree_collision import tree_scratch
from gjk3d.convex.batch import in_chunks
from gjk3d.convex.solve import signed
from gjk3d.narrow.solve import FLOATS
from gjk3d.poses import IDENTITY, ROUNDING, matrices
from gjk3d.shapes.base import Polytope
from gjk3d.typing import Array

_CHUNK = 64  #: rows a call into the kernels
_NO_SOLIDS = solids_of([])
_SAME_DEPTH = 1e-6  #: relative, of what hulls may be deeper than what is all but convex


class Depth(NamedTuple):
    """Bounds of the depth; moving b by ``most`` along ``normal``, in a's frame, separates the bodies."""

    least: float
    most: float
    normal: Array
    place: Array  #: a point of both, or half-way between two that lie half the depth from it along the normal


def depth(x: BodyPair) -> Depth:
    """Return bounds of the depth of two intersecting bodies; infinite if no translation separates them."""
    row = depths(x.a, x.b, x.rows[1])[0]
    return Depth(float(row[LEAST]), float(row[MOST]), row[NORMAL:PLACE], row[PLACE : PLACE + 3])


def depths(a: Parts, b: Parts, rows: Array, workers: int = 1) -> Array:
    """Return the depths of two bodies at poses of b in a's frame, (n, 8), in the columns of `search`."""
    out = np.empty((len(rows), STATE))
    hulls = outer_translations(a, b, rows, out)
    slack = a.convex_slack + b.convex_slack + 2.0 * ROUNDING * (a.reach + b.reach + np.abs(rows[:, 9:12]).max(axis=1))
    convex = slack < _SAME_DEPTH * out[:, MOST] if hulls is not None else np.zeros(len(rows), dtype=bool)
    # bodies that are convex up to the slack have the depth of their hulls
    for k in np.flatnonzero(convex).tolist():
        assert hulls is not None
        out[k, LEAST] = min(max(0.0, -float(hulls[k, 2]) - slack[k]), out[k, MOST])
        out[k, PLACE : PLACE + 3] = _pair(a, b, rows[k]).place(hulls[k])
    left = np.flatnonzero(~convex)
    if a.any_mapped or b.any_mapped:
        for k in left.tolist():
            _by_functions(_pair(a, b, rows[k]), out[k])
    elif len(left):
        out[left] = _searched(a, b, np.ascontiguousarray(rows[left]), out[left], workers)
    for k in np.flatnonzero(np.isnan(out[:, PLACE])).tolist():  # they touch, as far as rounding lets one tell
        out[k, PLACE : PLACE + 3] = _pair(a, b, rows[k]).nearest().row[6:9]
    return out[:, : PLACE + 3]


def _pair(a: Parts, b: Parts, row: Array) -> BodyPair:
    meshes = isinstance(a, Triangles) and isinstance(b, Triangles)
    return (MeshPair if meshes else BodyPair)(a, b, row[:12])


def _searched(a: Parts, b: Parts, rows: Array, out: Array, workers: int) -> Array:
    """Return depths computed by the kernels."""
    skin = _skin_parts(a, b)
    kind = 2 if isinstance(a, Triangles) and isinstance(b, Triangles) else 0 if skin is b else 1
    (of_a, ours), (of_skin, theirs) = surface_of(a), surface_of(skin)
    kernel_args = a.given, b.given, skin.given, of_a, of_skin, (ours, surface_of(b)[1], theirs), kind

    def run(start: int, stop: int) -> None:
        solids = _NO_SOLIDS if skin is b else with_scratch(_solids_of(b))
        depth_rows(*kernel_args, solids, IDENTITY, rows, start, stop, tree_scratch(), *_room(), out)

    in_chunks(len(rows), workers, run, _CHUNK)
    return out


def _solids_of(b: Parts) -> GivenSolids:
    """Return a polytope in the format of `gjk3d.bodies.facets`, created once."""
    try:
        solids: GivenSolids = b._solids
    except AttributeError:
        solids = b._solids = solids_of([b])
    return solids


_local = threading.local()


def _room() -> tuple[GivenRoom, GivenScratch]:
    """Return the scratch of this thread."""
    try:
        scratch: tuple[GivenRoom, GivenScratch] = _local.room
    except AttributeError:
        room = traversal_stack(), np.empty(STACK), *room_for(LOOKS), np.empty((ROWS + 1, COLUMNS))
        arrays = (
            np.zeros((2 * LOOKED_AT, 2), dtype=np.int64), np.empty((2 * FOUND_ROWS, COLUMNS)), np.empty((TRIES + 8, 3)),
            np.empty((TRIES, 3)), np.empty((TURNS, 5)), np.zeros((1, 3)), np.empty((LOOKED_AT, FLOATS)),
            np.empty((LOOKED_AT, 2)), np.empty((2 * SAMPLED, 3)), np.empty((PLANES, PLANE)),
            np.empty((NODES, COLUMNS_OF_NODES)), np.empty((PLANES_PER_PAIR, 4)),
        )  # fmt: skip
        scratch = _local.room = room, arrays
    return scratch


def _by_functions(x: BodyPair, out: Array) -> None:
    """Bound the depth of bodies with support functions of users, which kernels do not call.

    The translation of the deepest pair is tried in addition to that of the hulls.
    """
    inner = innermost(x.a, x.b, x.m, x.error, SAMPLES, 0)
    least, place = inner.least, inner.place
    pairs, row = x.deepest()
    if len(pairs):
        overlap = -float(row[2]) - x.error
        for wider in (1.0, 4.0):  # the answer after the translation may be as wide again
            most = wider * max(-float(row[1]), 0.0) + 4.0 * x.error
            if most < out[MOST] and not x.moved(most * row[3:6]).meet():
                out[MOST], out[NORMAL:PLACE] = most, row[3:6]
                break
        if overlap > least or place is None:
            least, place = max(least, overlap), x.common_point_of(pairs[0])
    out[LEAST] = max(0.0, min(least, out[MOST]))
    out[PLACE : PLACE + 3] = x.common_point()[0] if place is None else place


def outer_translations(a: Parts, b: Parts, rows: Array, out: Array) -> Array | None:
    """Write translations that certainly separate the bodies: of the hulls, with their results, or of the boxes."""
    error = ROUNDING * (a.reach + b.reach + np.abs(rows[:, 9:12]).max(axis=1))
    hull_a, hull_b = a.hull(), b.hull()
    if hull_a is not None and hull_b is not None:
        signed_rows = signed(hull_a, hull_b, matrices(rows))
        out[:, MOST], out[:, NORMAL:PLACE] = np.maximum(-signed_rows[:, 1], 0.0) + error, signed_rows[:, 3:6]
        return signed_rows
    for k, m in enumerate(rows):
        out[k, MOST], out[k, NORMAL:PLACE] = _past_box(a, b, m)
    out[:, MOST] += 4.0 * error
    return None


def _past_box(a: Parts, b: Parts, m: Array) -> tuple[float, Array]:
    most, normal = inf, np.eye(3)[0]
    box_a, boxes_b = a.box, b.boxes_at(np.arange(b.count), m)
    box_b = np.concatenate([boxes_b[:, :3].min(axis=0), boxes_b[:, 3:].max(axis=0)])
    for c in range(3):
        for sign, far in ((1.0, box_a[3 + c] - box_b[c]), (-1.0, box_b[3 + c] - box_a[c])):
            if far < most and not (a.endless and c == 2 and sign < 0.0):
                most, normal = max(float(far), 0.0), sign * np.eye(3)[c]
    return most, normal


def _skin_parts(a: Parts, b: Parts) -> Parts:
    """Return the faces of a solid polytope that intersects a mesh, whose depth is faster to compute; otherwise b."""
    if isinstance(a, Triangles) and isinstance(a.mesh, Mesh) and isinstance(b, PlacedParts) and len(b.things) == 1:
        thing, row = b.things[0]
        if isinstance(thing, Polytope) and (row == IDENTITY[0]).all():
            skin = skin_of(thing)
            if skin.is_solid and skin.volume > 0.0:
                return skin._as_parts()
    return b


def skin_of(shape: Polytope) -> Mesh:
    """Return the faces of a polytope as a mesh, created once; flat ones have no inside and may be a single point."""
    if "skin" not in shape._cache:
        hull = shape._hull()
        faces = hull.faces if len(hull.faces) else [(0, 0, len(hull.vertices) - 1)]
        shape._cache["skin"] = Mesh(hull.vertices, faces, solid=hull.dimension == 3)
    skin: Mesh = shape._cache["skin"]
    return skin


def deepest_inside(x: MeshPair) -> float:
    """Return the depth of the deepest of some points of either surface, a lower bound of `gjk3d.penetration`.

    It is usually within a few percent.
    """
    return innermost(x.a, x.b, x.m, x.error, SAMPLES, LOOKS).least
