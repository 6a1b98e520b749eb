"""The connected components of a graph."""

from __future__ import annotations

import numpy as np

from gjk3d._kernels.decorators import single_entry
from gjk3d.typing import Ints, Ints1


def connected(starts: Ints, ends: Ints, count: int) -> Ints:
    """Return the number of the component of each of ``count`` nodes, for edges from ``starts`` to ``ends``.

    Components are numbered in the order of their first nodes.
    """
    label = np.empty(count, dtype=np.int64)
    join(np.ascontiguousarray(starts), np.ascontiguousarray(ends), label)
    return label


@single_entry
def join(starts: Ints1, ends: Ints1, label: Ints1) -> None:
    """Write the component of each node, by a union-find forest with links to lower nodes and path halving."""
    for k in range(len(label)):
        label[k] = k
    for k in range(len(starts)):
        i, j = starts[k], ends[k]
        while label[i] != i:
            label[i] = label[label[i]]
            i = label[i]
        while label[j] != j:
            label[j] = label[label[j]]
            j = label[j]
        if i < j:
            label[j] = i
        else:
            label[i] = j
    count = 0
    for k in range(len(label)):
        if label[k] == k:
            label[k] = count
            count += 1
        else:
            label[k] = label[label[k]]  # a lower node, which has its number already
