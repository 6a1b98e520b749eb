"""Of many pairs of objects the closest: boxes say in which order they are asked, and which need not be."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gjk3d.compat.answers import Nearest, nearest
from gjk3d.compat.objects import CollisionObject, Pairs
from gjk3d.shapes.base import Array

_START = 1.0 / 64.0  #: of the size of everything: how far boxes are looked for first


class Closest(NamedTuple):
    """The closest pair."""

    nearest: Nearest
    a: CollisionObject
    b: CollisionObject


def closest(find: Callable[[float], Pairs], size: float, solid: bool) -> Closest:
    """Return the closest of pairs, of which there is at least one; of equals the first.

    ``find`` returns the pairs whose boxes are no farther apart along any axis than that; none are farther than
    ``size``.
    """
    within = 0.0
    while not len((pairs := find(within)).numbers):
        within = max(2.0 * within, _START * size)
    best = _best(pairs, None, solid)
    if best is None or best.nearest.distance > within:
        best = _best(find(size if best is None else best.nearest.distance), best, solid)
    assert best is not None
    return best


def _best(pairs: Pairs, best: Closest | None, solid: bool) -> Closest | None:
    low = _bounds(pairs)
    for k in np.argsort(low, kind="stable"):
        i, j = pairs.numbers[k].tolist()
        a, b = pairs.left.at[i], pairs.right.at[j]
        least = np.inf if best is None else best.nearest.distance
        if low[k] >= least:
            break
        if least <= 0.0 and not (a.mesh.is_convex and b.mesh.is_convex):
            continue  # only a convex pair is ever below zero
        found = nearest(a, b, max(least, 0.0), solid)
        if found is not None and found.distance < least:
            best = Closest(found, a, b)
    return best


def _bounds(pairs: Pairs) -> Array:
    """Return a lower bound of the signed distance of each pair: that of their boxes."""
    a, b = pairs.left.boxes[pairs.numbers[:, 0]], pairs.right.boxes[pairs.numbers[:, 1]]
    gaps = np.maximum(a[:, :3] - b[:, 3:], b[:, :3] - a[:, 3:])
    apart: Array = np.linalg.norm(np.maximum(gaps, 0.0), axis=1)
    return np.where(gaps.max(axis=1) > 0.0, apart, gaps.max(axis=1))
