"""Which pairs of parts can come close at all: by their boxes, then by their hulls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gjk3d.batch import Pairs
from gjk3d.broad.tree import Tree
from gjk3d.meshes import Mesh
from gjk3d.results import Distance, Status

Ints = NDArray[np.int64]
_CHUNK = 4096  #: pairs a call, so that a long run shows how far it is and can be stopped


def boxes_close(meshes: Sequence[Mesh], within: float) -> Ints:
    """Return the pairs (i < j), in ascending order, whose boxes come as close as that."""
    bounds = np.array([mesh.bounds.ravel() for mesh in meshes]).reshape(-1, 6)
    tree = Tree(len(meshes))
    tree.insert(np.arange(len(meshes)), bounds)
    # rounding: the boxes are exact, the sum of a corner and the distance is not
    reach = within * (1.0 + 1e-12) + 1e-15 * float(np.abs(bounds).max(initial=0.0))
    blocks = [np.sort(block, axis=1) for block in tree.pairs(reach)]
    pairs = np.concatenate([np.zeros((0, 2), dtype=np.int64), *blocks])
    result: Ints = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return result


def hulls_close(
    meshes: Sequence[Mesh], pairs: Ints, within: float, workers: int, progress: Callable[[str, int, int, int], None]
) -> Iterator[tuple[Ints, Distance, int]]:
    """Yield the pairs that hulls do not prove farther apart than that, their hulls' distances, and how many were asked.

    Only parts that are in a pair get a hull.
    """
    used, numbers = np.unique(pairs, return_inverse=True)
    numbers = numbers.reshape(-1, 2)
    shapes = []
    for n, k in enumerate(used):
        shapes.append(meshes[k].hull())
        progress("hulls", n + 1, len(used), 0)
    hulls = Pairs(shapes)
    poses = np.tile(np.eye(4), (len(used), 1, 1))
    for start in range(0, len(pairs), _CHUNK):
        some = numbers[start : start + _CHUNK]
        answer = hulls.signed_distance(some, poses, max_distance=within, workers=workers)
        near = np.flatnonzero((answer.status != Status.BEYOND) & ~(answer.lower > within))
        yield pairs[start : start + _CHUNK][near], answer[near], len(some)
