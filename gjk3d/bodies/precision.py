"""How finely the numbers of a file were written: as float32, as decimal text, or in full."""

from __future__ import annotations

from math import inf

import numpy as np

from gjk3d.typing import Array

#: Copies of a corner may differ by so many spacings: each is rounded, often after a transform that is rounded too.
COPIES = 8.0
_SAMPLES = 64  #: coordinates that are looked at
_EXACT, _TEXT = 5, 9  #: decimal digits: fewer than rounding leaves, and the most that float32 has
_WHOLE = 1e-5  #: how far from a whole number a decimal is in units of its last digit, by the rounding of float64


def corner_rounding(points: Array) -> float:
    """Return the distance, along any axis, up to which two corners may be copies of one that were rounded apart."""
    single, unit, _ = _units(_sample(points))
    return COPIES * max(float(single[0]), float(unit[0]) if unit[0] < inf else 0.0)


def file_spacing(numbers: Array) -> float:
    """Return the `spacings` of all the numbers together."""
    return float(spacings(_sample(numbers))[0])


def spacings(rows: Array) -> Array:
    """Return the spacing of float32 numbers at the largest of each row, or 0 if nothing shows that they were rounded.

    Numbers of few digits are exact, and numbers that float32 cannot hold were not rounded to it, unless they are
    decimal text of no more digits than float32 has.
    """
    single, unit, held = _units(rows)
    rounded = np.where(unit < inf, unit > 0.0, held)
    found: Array = np.where(rounded, single, 0.0)
    return found


def stretch(linear: Array) -> Array:
    """Return by how much matrices, (..., 3, 3), lengthen a step along an axis, at most."""
    most: Array = np.sqrt((linear * linear).sum(axis=-2)).max(axis=-1)
    return most


def _sample(numbers: Array) -> Array:
    """Return some of the numbers that are nearly the largest, (1, k)."""
    sizes = np.abs(numbers).ravel()
    large = sizes[sizes >= 0.1 * sizes.max(initial=0.0)]
    some = np.linspace(0, len(large) - 1, min(len(large), _SAMPLES)).astype(np.int64)
    found: Array = large[some][None]
    return found


def _units(rows: Array) -> tuple[Array, Array, Array]:
    """Return the spacing of float32 numbers at each row, the unit of its last decimal digit, and if float32 holds it.

    The unit is 0 of numbers of few digits and infinite of more digits than float32 has. Only those numbers of a row
    count that are nearly its largest, since text may have smaller ones with more digits behind the point.
    """
    sizes = np.abs(np.where(np.isfinite(rows), rows, 0.0))
    most = sizes.max(axis=1, initial=0.0)
    small = sizes < 0.1 * most[:, None]
    single = np.where(most > 0.0, np.ldexp(1.0, np.frexp(most)[1] - 24), 0.0)
    power = np.floor(np.log10(np.where(most > 0.0, most, 1.0)))
    unit = np.full(len(rows), inf)
    for digits in range(_TEXT, _EXACT - 1, -1):
        step = 10.0 ** (power + 1 - digits)
        scaled = sizes / step[:, None]
        whole = ((np.abs(scaled - np.rint(scaled)) < _WHOLE) | small).all(axis=1)
        unit[whole] = step[whole] if digits > _EXACT else 0.0
    bits = np.ascontiguousarray(sizes).view(np.uint64) << np.uint64(35)  # float32 has 29 bits less
    return single, unit, ((bits == 0) | small).all(axis=1)
