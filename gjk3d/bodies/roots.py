"""How near to each other, or how deep in each other, two bodies can be at all: what the boxes round them say."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt
from typing import Any

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.bodies.base import Body
from gjk3d.bodies.bvh import BOX
from gjk3d.bodies.parts import parts_of
from gjk3d.bodies.traversal import box_pose, gap_squared
from gjk3d.geometry.vec3 import Rigid
from gjk3d.narrow.cores import relative_pose
from gjk3d.poses import ROUNDING
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Array1, Array2, Ints, Ints2

#: columns behind the box: its greatest coordinate, infinite of what has no box, and the radius of what rounds it
_REACH, _RIM, _ROOT = BOX, BOX + 1, BOX + 2
_ORIGIN = np.zeros(9)  #: of a shape whose core lies about its frame's origin, to `relative_pose`


@inlined
def _reach_of(m: Rigid, r: int, b: Array, j: int) -> float:
    """Return how far box j reaches from its middle along axis r of the other one, in whose frame m places it."""
    return float(abs(m[3 * r]) * b[j, 3] + abs(m[3 * r + 1]) * b[j, 4] + abs(m[3 * r + 2]) * b[j, 5])


@kernel
def _overlap(m: Rigid, roots: Array, a: int, b: int) -> float:
    """Return by how much two boxes overlap along that of their axes where it is least: so far a move parts them."""
    least = inf
    back = (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8], 0.0, 0.0, 0.0)
    for r in range(3):
        own = roots[a, 3 + r] + _reach_of(m, r, roots, b) - abs(m[9 + r])
        off = m[9] * m[r] + m[10] * m[3 + r] + m[11] * m[6 + r]
        other = roots[b, 3 + r] + _reach_of(back, r, roots, a) - abs(off)
        least = min(least, min(own, other))
    return least


@entry
def least_distances(rows: Array2, at: Ints2, roots: Array2, which: Ints2, rounding: float, out: Array1) -> None:
    """Write of pairs at their pose rows, and as rows of ``roots``, what no signed distance is below."""
    for k in range(at.shape[0]):
        a, b = which[k, 0], which[k, 1]
        if max(roots[a, _REACH], roots[b, _REACH]) == inf:
            out[k] = -inf
            continue
        m = relative_pose(rows[at[k, 0]], _ORIGIN, rows[at[k, 1]], _ORIGIN)
        error = rounding * (roots[a, _REACH] + roots[b, _REACH] + max(abs(m[9]), max(abs(m[10]), abs(m[11]))))
        to = box_pose(m, roots, a, roots, b)
        square = gap_squared(
            to, roots[a, 3], roots[a, 4], roots[a, 5], roots[b, 3], roots[b, 4], roots[b, 5]
        )  # fmt: skip
        apart = sqrt(square) if square > 0.0 else -_overlap(to, roots, a, b)
        out[k] = apart - roots[a, _RIM] - roots[b, _RIM] - 4.0 * error


def _root_of(thing: Any) -> Array:
    row = np.full(_ROOT, inf)
    if isinstance(thing, (Body, Shape)) and not isinstance(thing, Halfspace):
        parts = parts_of(thing)
        if not parts.endless:
            boxes, rim, reach = parts.given.boxes, parts.given.rim, parts.reach
            row[:BOX], row[_REACH], row[_RIM] = boxes[0], reach, rim
    return row


def least_possible(things: Sequence[Any], pairs: Ints, rows: Array, at: Ints) -> Array:
    """Return of pairs of things at pose rows what their signed distance is not below; -inf of what has no end."""
    numbers, which = np.unique(pairs, return_inverse=True)
    roots = np.stack([_root_of(things[number]) for number in numbers.tolist()])
    out = np.empty(len(pairs))
    least_distances(rows, np.ascontiguousarray(at), roots, which.reshape(-1, 2), ROUNDING, out)
    return out
