"""Points in order, for kernels."""

from __future__ import annotations

from gjk3d._kernels.decorators import kernel
from gjk3d.typing import Array, Ints


@kernel
def sort_points(flat: Array, count: int, order: Ints) -> None:
    """Fill order with the first points of (2, n) or more, by x, and of equal x by y (Shell, 1959)."""
    for i in range(count):
        order[i] = i
    gap = 1
    while 3 * gap < count:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            k = order[i]
            x, y = flat[0, k], flat[1, k]
            j = i
            while j >= gap:
                h = order[j - gap]
                if flat[0, h] < x or (flat[0, h] == x and flat[1, h] <= y):
                    break
                order[j] = h
                j -= gap
            order[j] = k
        gap //= 3
