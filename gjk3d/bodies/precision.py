"""How finely the coordinates of a mesh were written: as float32, as decimal text, or in full."""

from __future__ import annotations

from decimal import Decimal
from math import floor, frexp, ldexp, log10

import numpy as np

from gjk3d.typing import Array

#: Copies of a corner may differ by so many spacings: each is rounded, often after a transform that is rounded too.
COPIES = 8.0
_SAMPLES = 64  #: coordinates whose digits are counted
_EXACT, _TEXT = 5, 9  #: decimal digits: fewer than rounding leaves, and the most that float32 has


def corner_rounding(points: Array) -> float:
    """Return the distance, along any axis, up to which two corners may be copies of one that were rounded apart."""
    most, digits, _ = _digits(points)
    return COPIES * max(_single(most), _decimal(most, digits) if digits <= _TEXT else 0.0)


def file_spacing(numbers: Array) -> float:
    """Return the spacing of float32 numbers at the largest of these, or 0 if nothing shows that they were rounded.

    Numbers of few digits are exact, and numbers that float32 cannot hold were not rounded to it. Decimal text is
    rounded at its last digit.
    """
    most, digits, single = _digits(numbers)
    if digits <= _EXACT or (digits > _TEXT and not single):
        return 0.0
    return _single(most) if digits > _TEXT else min(_single(most), _decimal(most, digits))


def _single(most: float) -> float:
    """Return the spacing of float32 numbers of that size, also of those that are too large for float32."""
    return 0.0 if most == 0.0 else ldexp(1.0, frexp(most)[1] - 24)


def _decimal(most: float, digits: int) -> float:
    """Return the unit of the last of so many decimal digits."""
    return 0.0 if digits <= _EXACT else 10.0 ** (floor(log10(most)) + 1 - digits)


def _digits(numbers: Array) -> tuple[float, int, bool]:
    """Return the largest number, the digits of those of its size, and whether float32 holds these."""
    sizes = np.abs(numbers).ravel()
    most = float(sizes.max(initial=0.0))
    large = sizes[sizes >= 0.1 * most]
    some = large[np.linspace(0, len(large) - 1, min(len(large), _SAMPLES)).astype(np.int64)]
    digits = max((len(Decimal(repr(x)).normalize().as_tuple().digits) for x in some.tolist()), default=0)
    return most, digits, bool((some.view(np.uint64) << np.uint64(35) == 0).all())  # float32 has 29 bits less
