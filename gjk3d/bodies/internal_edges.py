"""Which contacts of pairs of parts are contacts of the two bodies, and not of edges and faces inside these."""

from __future__ import annotations

from gjk3d._kernels.decorators import kernel
from gjk3d.bodies.cones import is_contact, is_normal, is_sure, look_of, shortest_look
from gjk3d.bodies.meetings import FACES, PARTS
from gjk3d.bodies.part_tree import PartTree, part_at, put_behind
from gjk3d.bodies.partings import outward_at
from gjk3d.bodies.pushes import NORMAL, PUSHED, STATE, Met, vec_at
from gjk3d.bodies.walk import Bench, Two
from gjk3d.geometry.vec3 import Vec3, dot, neg, place, row3, sub, turn, turn_back
from gjk3d.shapes.table import farthest_point
from gjk3d.typing import Ints

_FIRST = 0
_SLACK = 16.0  #: of a lowest point, in units of the error of places
_LEANING = 0.25  #: cosine between normals of two meshes that cross


@kernel
def _is_lowest(x: Two, f: Met, j: int, n: Vec3, w: Bench) -> bool:
    """Tell whether the point on a shape, which a face of a mesh pushes, is its lowest one along the normal."""
    if f.lowest.shape[0] > 0:
        low = row3(f.lowest, j)
    else:
        core = part_at(x.b, _FIRST, w.floats_b, w.row_b)
        put_behind(x.m, w.row_b)
        low = place(w.row_b, farthest_point(core, turn_back(w.row_b, neg(n))))
    return dot(n, sub(vec_at(f.out[j], 9), low)) <= _SLACK * x.error


@kernel
def _is_of_bodies(
    x: Two, kind: int, mapped: tuple[bool, bool], f: Met, j: int, state: float, origin: PartTree, w: Bench
) -> bool:  # fmt: skip
    """Tell whether the contact of a pair of parts is one of the two bodies."""
    p, q, n = f.pairs[j, 0], f.pairs[j, 1], vec_at(f.out[j], 3)
    inside = kind == PARTS or f.walls
    if state == NORMAL or mapped[0]:
        return True
    if state != PUSHED and is_sure(x.a, p, n, inside) and is_sure(x.b, q, turn_back(x.m, neg(n)), inside):
        return True
    a, b = vec_at(f.out[j], 6), vec_at(f.out[j], 9)
    if state == PUSHED and kind == FACES:
        look = look_of(x, p, q, -f.out[j, 0], f.walls, w)
        return _is_lowest(x, f, j, n, w) and is_normal(x.a, p, origin, a, n, look, w)
    if state == PUSHED and not f.walls:  # where two meshes cross, the normal of a face leans from those of the other
        ours, theirs = dot(n, outward_at(f.outward_a, p)), -dot(n, turn(x.m, outward_at(f.outward_b, q)))
        if min(ours, theirs) >= _LEANING:
            return True
    if state == PUSHED:
        return is_contact(x, p, q, origin, a, b, n, shortest_look(x.error, _LEANING, f.walls), w)
    look = look_of(x, p, q, -f.out[j, 0], inside, w)
    if mapped[1]:
        return is_normal(x.a, p, origin, a, n, look, w)
    return is_contact(x, p, q, origin, a, b, n, look, w)


@kernel
def split(
    x: Two, kind: int, mapped: tuple[bool, bool], f: Met, first: int, stop: int, count: int, origin: PartTree,
    order: Ints, w: Bench,
) -> int:  # fmt: skip
    """Put contacts of the two bodies before all others that are chosen; return how many these are.

    The order is else as it was: by gap. Pairs of faces that meet are ``first`` to ``stop``. The nearest points of two
    that are apart are one. Where functions of a user's have no contact all count.
    """
    kept, left = 0, 0
    for i in range(count):
        j = f.some[i]
        state = f.noted[j - first, STATE] if kind != PARTS and first <= j < stop else 0.0
        if (i == 0 and f.out[j, 1] > 0.0) or _is_of_bodies(x, kind, mapped, f, j, state, origin, w):
            f.some[kept] = j
            kept += 1
        else:
            order[left] = j
            left += 1
    for i in range(left):
        f.some[kept + i] = order[i]
    return count if kept == 0 and (mapped[0] or mapped[1]) else kept
