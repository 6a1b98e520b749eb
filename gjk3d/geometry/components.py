"""The connected components of a graph."""

from __future__ import annotations

import numpy as np

from gjk3d._kernels.decorators import single_entry
from gjk3d.typing import Ints, Ints1


def connected(one: Ints, other: Ints, count: int) -> Ints:
    """Return the component of each of so many nodes, of which those pairs are joined; numbered by their first nodes."""
    label = np.empty(count, dtype=np.int64)
    join(np.ascontiguousarray(one), np.ascontiguousarray(other), label)
    return label


@single_entry
def join(one: Ints1, other: Ints1, label: Ints1) -> None:
    """Write the component of each node: a forest whose links lead to lower nodes, each path halved as it is walked."""
    for k in range(len(label)):
        label[k] = k
    for k in range(len(one)):
        i, j = one[k], other[k]
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
            label[k] = label[label[k]]  # which is lower, and has its number
