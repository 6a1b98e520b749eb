"""One question of two bodies at two matrices, as users ask most: little is done around the kernel."""

from __future__ import annotations

import threading
from math import inf, nextafter
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.distance import walked
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_pair import prepared_meshes
from gjk3d.bodies.order import TURNED, order_of
from gjk3d.bodies.parts import parts_of
from gjk3d.bodies.touch import ANSWERED, DEPTHS, NORMALS, distance_rows
from gjk3d.bodies.walk import APART, HELD, MEET, Bench, bench, meet_rows
from gjk3d.convex.solve import Quick
from gjk3d.narrow import solve as narrow
from gjk3d.poses import WIDTH
from gjk3d.typing import Array, Ints


class _Desk(NamedTuple):
    """What is written beside an answer, and the scratch of walks."""

    row_a: Array
    row_b: Array
    told: Ints
    flags: Ints
    parts: Ints
    bench: Bench


_local = threading.local()


def _desk() -> _Desk:
    """Return this thread's desk."""
    try:
        found: _Desk = _local.desk
    except AttributeError:
        row_a, row_b = np.empty((2, 1, WIDTH))
        flags, parts = (np.empty((1, n), dtype=np.int64) for n in (narrow.INTS, 2))
        found = _local.desk = _Desk(row_a, row_b, np.empty(1, dtype=np.int64), flags, parts, bench())
    return found


def prepare(a: Any, b: Any) -> Quick | None:
    """Return what answers single questions of two, one of them a body; None where the long way must."""
    faces = isinstance(a, Mesh) and isinstance(b, Mesh)
    order = order_of(a, b)
    swap = order == TURNED
    first, second = (b, a) if swap else (a, b)
    parts = (parts_of(first), parts_of(second)) if faces else walked(first, second)
    if parts is None or parts[1].endless:
        return None
    one, two = (each.given for each in parts)

    def collide(a: Any, b: Any, ma: Array, mb: Array, margin: float) -> bool | None:
        if swap:
            ma, mb = mb, ma
        at = _desk()
        told = meet_rows(one, two, ma, mb, at.row_a, at.row_b, order, margin, 0, 1, at.bench, at.told)
        if told == APART:
            return False
        return True if told in (MEET, HELD) else None

    def measure(ma: Array, mb: Array, mode: int, most: float, out: Array) -> int:
        if swap:
            ma, mb = mb, ma
        row_a, row_b, said, flags, parts, w = _desk()
        above = nextafter(most, inf)
        signed = mode != narrow.UNSIGNED
        level = DEPTHS if signed else NORMALS
        told = distance_rows(
            one, two, faces, level, ma, mb, row_a, row_b, most, above, order, 0, 1, w, said, out, flags, parts
        )  # fmt: skip
        if told not in (APART, ANSWERED) and (signed or told not in (MEET, HELD)):
            return -1
        status, _, tight, unsure = flags[0].tolist()
        return -1 if unsure else int(status + 8 * tight)

    return Quick(prepared_meshes(a, b) if faces else collide, measure)
