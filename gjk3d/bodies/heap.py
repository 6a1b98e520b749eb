"""A heap in arrays: items by their keys, the greatest first."""

from __future__ import annotations

from gjk3d._kernels.decorators import kernel
from gjk3d.typing import Array, Ints


@kernel
def push(heap: Array, items: Ints, count: int, key: float, item: int) -> int:
    """Put an item into a heap, the greatest key first; return how many are in it."""
    k = count
    while k > 0 and heap[(k - 1) // 2] < key:
        heap[k], items[k] = heap[(k - 1) // 2], items[(k - 1) // 2]
        k = (k - 1) // 2
    heap[k], items[k] = key, item
    return count + 1


@kernel
def pop(heap: Array, items: Ints, count: int) -> int:
    """Take the first item out of a heap; return how many are left in it."""
    count -= 1
    key, item = heap[count], items[count]
    k = 0
    while 2 * k + 1 < count:
        child = 2 * k + 1
        if child + 1 < count and heap[child + 1] > heap[child]:
            child += 1
        if not heap[child] > key:
            break
        heap[k], items[k] = heap[child], items[child]
        k = child
    heap[k], items[k] = key, item
    return count
