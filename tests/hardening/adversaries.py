"""Pairs that look for trouble, a function each: (rng, count) -> the pair, and its true signed distances or None."""

from __future__ import annotations

from collections.abc import Callable

import naive
import numpy as np
from laws import Pair
from naive import Array, Spec
from strategies import PAIRS, random_spec, rescaled

Drawn = tuple[Pair, "Array | None"]
Rng = np.random.Generator


def _any_pair(rng: Rng, names: list[str] | None = None) -> tuple[Spec, Spec]:
    pairs = PAIRS if names is None else [(a, b) for a, b in PAIRS if a in names and b in names]
    name_a, name_b = pairs[rng.integers(len(pairs))]
    return random_spec(rng, name_a), random_spec(rng, name_b)


def _at(rng: Rng, count: int, translations: Array | None = None, turned: bool = False) -> Array:
    poses = np.tile(np.eye(4), (count, 1, 1))
    if turned:
        poses[:, :3, :3] = naive.random_rotations(rng, count)
    if translations is not None:
        poses[:, :3, 3] = translations
    return poses


def scales(rng: Rng, count: int) -> Drawn:
    """Both of one scale, from 1e-9 to 1e9."""
    a, b = _any_pair(rng)
    factor = 10.0 ** rng.uniform(-9, 9)
    a, b = rescaled(a, factor), rescaled(b, factor)
    return Pair.random(rng, a, b, count), None


def mixed_scales(rng: Rng, count: int) -> Drawn:
    """One up to a billion times as large as the other."""
    a, b = _any_pair(rng)
    return Pair.random(rng, rescaled(a, 10.0 ** rng.uniform(-4.5, 4.5)), b, count), None


def offsets(rng: Rng, count: int) -> Drawn:
    """Up to 1e7 sizes away from the world's origin, or from each other."""
    pair = Pair.random(rng, *_any_pair(rng), count)
    far = 10.0 ** rng.uniform(0, 7, (count, 1)) * pair.size[:, None] * naive.unit_vectors(rng, count)
    each = rng.random((count, 1)) < 0.8
    return pair.moved(shift_a=np.where(each, far, 0.0), shift_b=far), None


CLASSES: dict[str, Callable[[Rng, int], Drawn]] = {
    "scale 1e-9 to 1e9": scales,
    "one 1e±4.5 times the other": mixed_scales,
    "offsets to 1e7 sizes": offsets,
}
NAMES = list(CLASSES)
