"""Which pairs of parts can come close at all: by their boxes, then by their hulls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.broad.tree import Tree
from gjk3d.convex.pairs import Pairs
from gjk3d.interrupts import Aside
from gjk3d.results import Distance, Status
from gjk3d.shapes.convex_hull import ConvexHull
from gjk3d.typing import Array, Ints

#: Pairs a call: few at first, so that the first findings come soon, then twice as many each time.
_FIRST, _MOST = 4, 1024


def reaches(clearance: float, tolerances: Array, pairs: Ints) -> Array:
    """Return how far apart the two of each pair may be and still be of interest, (n,) float."""
    reach: Array = np.maximum(clearance, tolerances[pairs].max(axis=1))
    return reach


def boxes_close(meshes: Sequence[Mesh], clearance: float, tolerances: Array) -> Ints:
    """Return the pairs (i < j), in ascending order, whose boxes come as close as the clearance or their tolerance."""
    bounds = np.array([mesh.bounds.ravel() for mesh in meshes]).reshape(-1, 6)
    # each box with its own tolerance round it, so that a far part with a large one leaves the others apart
    wide = bounds + tolerances[:, None] * np.repeat((-1.0, 1.0), 3)
    tree = Tree(len(meshes))
    tree.insert(np.arange(len(meshes)), wide)
    rounding = 1e-15 * float(np.abs(wide).max(initial=0.0))  # the boxes are exact, the sum of a corner and a gap is not
    found = [np.zeros((0, 2), dtype=np.int64)]
    for block in tree.pairs(clearance * (1.0 + 1e-12) + rounding):
        a, b = bounds[block[:, 0]], bounds[block[:, 1]]
        gaps = np.maximum(a[:, :3] - b[:, 3:], b[:, :3] - a[:, 3:]).max(axis=1)
        reach = reaches(clearance, tolerances, block) * (1.0 + 1e-12) + rounding
        found.append(np.sort(block[gaps <= reach], axis=1))
    pairs = np.concatenate(found)
    result: Ints = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return result


def hulls_close(
    meshes: Sequence[Mesh], pairs: Ints, reach: Array, workers: int, threads: Aside
) -> Iterator[tuple[Ints, Distance, int]]:
    """Yield the pairs that hulls do not prove farther apart than their reach, with the hulls' distances.

    They come in lots, each with how many pairs were asked for it. Only parts that are in a pair get a hull, and get
    it when their first pair is due.
    """

    def asked(numbers: Ints, shapes: list[ConvexHull]) -> Distance:
        poses = np.tile(np.eye(4), (len(shapes), 1, 1))
        return Pairs(shapes).signed_distance(numbers, poses, max_distance=float(reach.max()), workers=workers)

    start, count = 0, _FIRST
    while start < len(pairs):
        some, within = pairs[start : start + count], reach[start : start + count]
        used, numbers = np.unique(some, return_inverse=True)
        shapes = [hull for _, hull in threads.map(lambda k: meshes[k].hull(), used)]
        answer = threads.run(asked, numbers.reshape(-1, 2), shapes)
        near = np.flatnonzero((answer.status != Status.BEYOND) & ~(answer.lower > within))
        yield some[near], answer[near], len(some)
        start, count = start + count, min(2 * count, _MOST)
