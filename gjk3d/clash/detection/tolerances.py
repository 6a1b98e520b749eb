"""Tolerances of parts: the default ones, and those of a check."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gjk3d.typing import Array

#: The default tolerance of a pair relative to the reach of its parts. float32 files have a relative error of 6e-8.
TOLERANCE = 1e-6
#: The default tolerance relative to the spacing of the numbers in a file. The spacing is wide far from the origin.
SPACINGS = 8.0


def default_tolerances(bounds: Array, spacings: Array) -> Array:
    """Return the default tolerance of each part, (n,) float. A pair has the larger tolerance of its two parts."""
    if not len(bounds):
        return np.zeros(0)
    # the median ignores a single part far away
    middle = np.median(bounds.mean(axis=1), axis=0)
    reach = np.abs(bounds - middle).max(axis=(1, 2))
    tolerances: Array = np.maximum(TOLERANCE * reach, SPACINGS * spacings)
    return tolerances


class Tolerances(NamedTuple):
    """The tolerances of parts.

    The tolerance of a pair is the larger tolerance of its parts, and at least the sum of the errors of their facets.

    Attributes
    ----------
    by_part, facets : (n,) float
        The tolerance of each part, and the error of its triangles on curved faces.
    """

    by_part: Array
    facets: Array

    def of(self, i: Any, j: Any) -> Any:
        """Return the tolerance of each pair of parts with the numbers i and j."""
        return np.maximum(np.maximum(self.by_part[i], self.by_part[j]), self.facets[i] + self.facets[j])
