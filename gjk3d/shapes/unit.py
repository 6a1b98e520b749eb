"""Points of any size and place, brought to about unit size."""

from __future__ import annotations

import numpy as np

from gjk3d.typing import Array


def about_unit_size(points: Array) -> tuple[Array, Array, int]:
    """Recentre and scale by a power of two to about unit size: local points, origin, exponent."""
    top = int(np.frexp(np.abs(points).max())[1])
    local = np.ldexp(points, -top)
    middle = 0.5 * (local.min(axis=0) + local.max(axis=0))
    local = local - middle
    size = int(np.frexp(np.abs(local).max())[1])
    return np.ldexp(local, -size), np.ldexp(middle, top), top + size
