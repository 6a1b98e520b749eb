"""The sizes that the kernels can compute with; apart from the shapes, so that reading a file loads no compiler."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gjk3d.errors import ShapeError

#: sizes within which squares and cubes of lengths neither overflow nor vanish in the kernels
LEAST, GREATEST = 1e-50, 1e50


def in_range(values: NDArray[np.float64], what: str) -> None:
    """Raise where the largest of some lengths is outside the range of the kernels; zeros are no lengths."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest > GREATEST or 0.0 < largest < LEAST:
        raise ShapeError(f"{what}: lengths of {largest:g} are outside {LEAST:g} to {GREATEST:g}; use another unit")
