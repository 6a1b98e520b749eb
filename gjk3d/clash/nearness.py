"""How near two parts must come to be of interest, and which boxes do."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gjk3d.broad.tree import Tree
from gjk3d.typing import Array, Ints

#: The default tolerance of a pair in units of how far its parts reach; float32 files round coordinates by 6e-8 of them.
TOLERANCE = 1e-6
#: and in units of the spacing of the numbers in the files of its parts, which is wide far from a file's origin
SPACINGS = 8.0


def default_tolerances(bounds: Array, spacings: Array) -> Array:
    """Return the default tolerance of each part, (n,) float; that of a pair is the larger one of its two.

    The middle is the median of the parts' own middles: a part that was lost far away does not move it.
    """
    if not len(bounds):
        return np.zeros(0)
    middle = np.median(bounds.mean(axis=1), axis=0)
    reach = np.abs(bounds - middle).max(axis=(1, 2))
    tolerances: Array = np.maximum(TOLERANCE * reach, SPACINGS * spacings)
    return tolerances


class Tolerances(NamedTuple):
    """The tolerances of parts: that of a pair is the larger of its two, and no less than their facets are off together.

    Attributes
    ----------
    own, facets : (n,) float
        The tolerance of each part, and how far its triangles may be from the faces that they stand for.
    """

    own: Array
    facets: Array

    def of(self, i: Any, j: Any) -> Any:
        """Return those of pairs."""
        return np.maximum(np.maximum(self.own[i], self.own[j]), self.facets[i] + self.facets[j])


def boxes_close(bounds: Array, clearance: float, tolerances: Tolerances, slacks: Array) -> Ints:
    """Return the pairs (i < j), in ascending order, whose boxes come as close as the clearance or their tolerance.

    ``bounds`` is (n, 2, 3), right to ``slacks``, (n,).
    """
    bounds = bounds.reshape(-1, 6) + slacks[:, None] * np.repeat((-1.0, 1.0), 3)
    # each box with its own tolerance round it, so that a far part with a large one leaves the others apart
    wide = bounds + np.maximum(*tolerances)[:, None] * np.repeat((-1.0, 1.0), 3)
    tree = Tree(len(bounds))
    tree.insert(np.arange(len(bounds)), wide)
    rounding = 4e-15 * float(np.abs(wide).max(initial=0.0))  # of places at a pose, and of a corner and a gap
    found = [np.zeros((0, 2), dtype=np.int64)]
    for block in tree.pairs(clearance * (1.0 + 1e-12) + rounding):
        a, b = bounds[block[:, 0]], bounds[block[:, 1]]
        gaps = np.maximum(a[:, :3] - b[:, 3:], b[:, :3] - a[:, 3:]).max(axis=1)
        reach = np.maximum(clearance, tolerances.of(*block.T)) * (1.0 + 1e-12) + rounding
        found.append(np.sort(block[gaps <= reach], axis=1))
    pairs = np.concatenate(found)
    result: Ints = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return result
