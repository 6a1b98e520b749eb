"""What a query leaves for the next one about the same two shapes: its axis, and the points of its simplex.

Points of a shape stay points of it wherever it goes, so the old simplex, moved along, is one of the new A - B, and
the old axis is as good a first direction as any. Nothing is believed: the axis has to prove its bound again, and the
points are only where GJK starts.
"""

from __future__ import annotations

from gjk3d._kernels.decorators import kernel
from gjk3d.narrow.cores import Rigid, direction_between
from gjk3d.narrow.gjk import Start, Walk
from gjk3d.typing import Array

#: a row: number of points (0: nothing yet), the axis in A's frame, then each point of A and of B in its own frame
ROW = 28


@kernel
def recall(cache: Array, k: int, m: Rigid, s: Array) -> Start:
    """Put the points remembered in row k into the simplex, B's moved to where it is now."""
    if cache.shape[0] == 0 or not cache[k, 0] > 0.0:
        return Start(direction_between(m), 0)
    count = int(cache[k, 0])
    for i in range(count):
        c = 4 + 6 * i
        ax, ay, az = cache[k, c], cache[k, c + 1], cache[k, c + 2]
        x, y, z = cache[k, c + 3], cache[k, c + 4], cache[k, c + 5]
        bx = m[0] * x + m[1] * y + m[2] * z + m[9]
        by = m[3] * x + m[4] * y + m[5] * z + m[10]
        bz = m[6] * x + m[7] * y + m[8] * z + m[11]
        s[i, 0], s[i, 1], s[i, 2] = ax - bx, ay - by, az - bz
        s[i, 3], s[i, 4], s[i, 5] = ax, ay, az
        s[i, 6], s[i, 7], s[i, 8] = bx, by, bz
    return Start((cache[k, 1], cache[k, 2], cache[k, 3]), count)


@kernel
def remember(cache: Array, k: int, m: Rigid, s: Array, start: Start, walk: Walk) -> None:
    """Keep the axis and the simplex in row k, if there is one, which holds the points that it began with.

    A point that is remembered again keeps its numbers: turned there and back each time, it would wander off.
    """
    if cache.shape[0] == 0:
        return
    cache[k, 0] = float(walk.rows)
    cache[k, 1], cache[k, 2], cache[k, 3] = walk.axis
    old = 0  # the points kept are in the order they were given, and new ones come after them
    for i in range(walk.rows):
        c = 4 + 6 * i
        x, y, z = s[i, 6] - m[9], s[i, 7] - m[10], s[i, 8] - m[11]
        x, y, z = m[0] * x + m[3] * y + m[6] * z, m[1] * x + m[4] * y + m[7] * z, m[2] * x + m[5] * y + m[8] * z
        for h in range(old, start.given):
            g = 4 + 6 * h
            u, v, w = cache[k, g + 3], cache[k, g + 4], cache[k, g + 5]
            if (
                s[i, 6] == m[0] * u + m[1] * v + m[2] * w + m[9]
                and s[i, 7] == m[3] * u + m[4] * v + m[5] * w + m[10]
                and s[i, 8] == m[6] * u + m[7] * v + m[8] * w + m[11]
            ):
                x, y, z = u, v, w
                old = h + 1
                break
        cache[k, c], cache[k, c + 1], cache[k, c + 2] = s[i, 3], s[i, 4], s[i, 5]
        cache[k, c + 3], cache[k, c + 4], cache[k, c + 5] = x, y, z
