"""How far apart what stands for solids is at least: hulls and boxes round them, half-spaces that hold them."""

from __future__ import annotations

from gjk3d._kernels.decorators import kernel
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.cores import cores_of
from gjk3d.narrow.room import room_in
from gjk3d.narrow.solve import quick_collide, solve
from gjk3d.robot.capsules import between_capsules
from gjk3d.robot.kinematics import link_poses
from gjk3d.robot.walk import between_balls, place
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Ints

MEET = -1e308  #: what is written where two outlines touch: nothing is known of what is in them
_RADIUS = layout.RADIUS


@kernel
def above_plane(
    ints: Ints, floats: Array, starts: Ints, rows: Array, balls: Array, a: int, planes: Array, b: int
) -> float:
    """Return how far slot a is above the half-space of slot b at least."""
    i, o = starts[a, 0], starts[a, 1]
    x, y, z = planes[b, 0], planes[b, 1], planes[b, 2]
    u = rows[b, 0] * x + rows[b, 1] * y + rows[b, 2] * z
    v = rows[b, 3] * x + rows[b, 4] * y + rows[b, 5] * z
    w = rows[b, 6] * x + rows[b, 7] * y + rows[b, 8] * z
    offset = planes[b, 3] + u * rows[b, 9] + v * rows[b, 10] + w * rows[b, 11]
    size = abs(offset) + abs(balls[a, 0]) + abs(balls[a, 1]) + abs(balls[a, 2]) + balls[a, 3]
    size += abs(rows[b, 9]) + abs(rows[b, 10]) + abs(rows[b, 11])
    d = (
        -(rows[a, 0] * u + rows[a, 3] * v + rows[a, 6] * w),
        -(rows[a, 1] * u + rows[a, 4] * v + rows[a, 7] * w),
        -(rows[a, 2] * u + rows[a, 5] * v + rows[a, 8] * w),
    )
    s = support(Core(ints[i:], floats[o:]), d)
    height = u * balls[a, 0] + v * balls[a, 1] + w * balls[a, 2] - (s[0] * d[0] + s[1] * d[1] + s[2] * d[2])
    return float(height - floats[o + _RADIUS] - offset - 1e-10 * size)


@kernel
def outlines_many(
    start: int, stop: int, out: Array,
    parent: Ints, kind: Ints, axis: Array, origin: Array, source: Ints, multiplier: Array, offset: Array, q: Array,
    link: Ints, local: Array, ints: Ints, floats: Array, starts: Ints, planes: Array, pairs: Ints,
    most: Array, closely: bool, matrix: Array, links: Array, rows: Array, balls: Array, stamp: Ints, work: Array,
    table: Ints, room: int, one: Array, marks: Ints, simplex: Array, nothing: Array,
) -> None:  # fmt: skip
    """Write for each configuration from ``start`` on, and each pair, a lower bound of the signed distance.

    ``MEET`` where there is none. With ``closely`` False only whether it is more than ``most`` of the pair is found out.
    """
    row = 0 * start  # a literal would be a type of its own, and compile everything again
    scratch = room_in(work, table, room, one[0, :0])
    for k in range(start, stop):
        link_poses(parent, kind, axis, origin, source, multiplier, offset, q[k], matrix, links)
        for p in range(pairs.shape[0]):
            for side in range(2):
                s = pairs[p, side]
                if stamp[s] != k:
                    place(link, local, links, s, floats, starts[s, 1], rows, balls)
                    stamp[s] = k
            a, b = pairs[p, 0], pairs[p, 1]
            at = k - start
            if planes[b, 0] == planes[b, 0]:
                out[at, p] = above_plane(ints, floats, starts, rows, balls, a, planes, b)
                continue
            out[at, p] = between_balls(balls, a, b)
            if out[at, p] > most[p]:
                continue
            out[at, p] = between_capsules(rows, floats, starts, a, b)
            if out[at, p] > most[p]:
                continue
            out[at, p] = MEET
            if closely:
                cores = cores_of(ints, floats, starts, rows, a, b)
                solve(cores, narrow.UNSIGNED, max(most[p], 0.0), 0.0, scratch, nothing, one, marks, row)
                if one[0, 1] > 0.0:
                    out[at, p] = one[0, 1]
            elif quick_collide(cores_of(ints, floats, starts, rows, a, b), most[p], simplex, nothing, row) == 0:
                out[at, p] = -MEET


@kernel
def all_far(
    out: Array,
    parent: Ints, kind: Ints, axis: Array, origin: Array, source: Ints, multiplier: Array, offset: Array, q: Array,
    link: Ints, local: Array, ints: Ints, floats: Array, starts: Ints, planes: Array, pairs: Ints,
    most: Array, closely: bool, matrix: Array, links: Array, rows: Array, balls: Array, stamp: Ints, work: Array,
    table: Ints, room: int, one: Array, marks: Ints, simplex: Array, nothing: Array,
) -> bool:  # fmt: skip
    """Tell whether every pair is proven farther apart than ``most`` at the one configuration in q."""
    stamp[:] = -1
    row = 0 * pairs.shape[0]  # a literal would be a type of its own, and compile everything again
    outlines_many(
        row, row + 1, out, parent, kind, axis, origin, source, multiplier, offset, q, link, local, ints, floats, starts,
        planes, pairs, most, closely, matrix, links, rows, balls, stamp, work, table, room, one, marks, simplex,
        nothing,
    )  # fmt: skip
    far = True
    for p in range(pairs.shape[0]):
        far = far and out[0, p] > most[p]
    return far
