"""How finely the numbers of a file were written: as float32, as decimal text, or in full."""

from __future__ import annotations

import numpy as np

from gjk3d.typing import Array, Bools, Ints

#: Copies of a corner may differ by so many spacings of float32, since each is rounded after its own transform.
COPIES = 8.0
_TEXT_COPIES = 3.0  #: and by so many units of the last digit of text, which rounds once
_SAMPLES = 64  #: coordinates along each axis that are looked at
_FEW, _EXACT, _TEXT = 3, 5, 9  #: decimal digits: of no text, fewer than rounding leaves, and the most of float32
_WHOLE = 1e-5  #: how far from a whole number a decimal is in units of its last digit, by the rounding of float64


def corner_rounding(points: Array) -> float:
    """Return the distance, along any axis, up to which two corners may be copies of one that were rounded apart."""
    rows = _sample(points)
    single, digits, unit, _ = _units(rows)
    text = (digits > _FEW) & (digits <= _TEXT)
    if not _are_whole(rows / unit[:, None]).all():  # numbers of few digits, some smaller ones finer: these are exact
        text &= digits > _EXACT
    return float(max(COPIES * single.max(initial=0.0), _TEXT_COPIES * unit[text].max(initial=0.0)))


def file_spacing(points: Array) -> float:
    """Return the largest of the `spacings` of points along the axes."""
    return float(spacings(_sample(points)).max(initial=0.0))


def spacings(rows: Array) -> Array:
    """Return the spacing of float32 numbers at the largest of each row, or 0 if nothing shows that they were rounded.

    Numbers of few digits are exact, and numbers that float32 cannot hold were not rounded to it, unless they are
    decimal text of no more digits than float32 has.
    """
    single, digits, _, held = _units(rows)
    found: Array = np.where((digits > _EXACT) & ((digits <= _TEXT) | held), single, 0.0)
    return found


def stretch(linear: Array) -> Array:
    """Return by how much matrices, (..., 3, 3), lengthen a step along an axis, at most."""
    most: Array = np.sqrt((linear * linear).sum(axis=-2)).max(axis=-1)
    return most


def _sample(points: Array) -> Array:
    """Return some of the largest coordinates along each axis, and some of all, (3, k)."""
    if len(points) <= _SAMPLES:
        return np.abs(points).T
    found = np.zeros((3, 2, _SAMPLES))
    for rows, sizes in zip(found, np.abs(points).T, strict=True):
        for row, some in zip(rows, (sizes[sizes >= 0.1 * sizes.max()], sizes), strict=True):
            if len(some):
                row[:] = some[np.linspace(0, len(some) - 1, _SAMPLES).astype(np.int64)]
    return found.reshape(3, -1)


def _are_whole(numbers: Array) -> Bools:
    whole: Bools = np.abs(numbers - np.rint(numbers)) < _WHOLE
    return whole


def _units(rows: Array) -> tuple[Array, Ints, Array, Bools]:
    """Return the spacing of float32 numbers, the decimal digits, the unit of the last one, and if float32 holds a row.

    Those numbers count that have as many digits before the point as the largest of a row, since text may have more
    behind the point of smaller ones. More digits than float32 has are not counted.
    """
    sizes = np.abs(np.where(np.isfinite(rows), rows, 0.0))
    most = sizes.max(axis=1, initial=0.0)
    power = np.floor(np.log10(np.where(most > 0.0, most, 1.0)))
    small = sizes < (10.0**power)[:, None]
    single = np.where(most > 0.0, np.ldexp(1.0, np.frexp(most)[1] - 24), 0.0)
    counts = np.arange(_FEW, _TEXT + 1)[:, None]
    enough = (_are_whole(sizes / (10.0 ** (power + 1 - counts))[:, :, None]) | small).all(axis=2)
    digits = np.where(enough.any(axis=0), _FEW + enough.argmax(axis=0), _TEXT + 1)
    bits = np.ascontiguousarray(sizes).view(np.uint64) << np.uint64(35)  # float32 has 29 bits less
    return single, digits, 10.0 ** (power + 1 - digits), ((bits == 0) | small).all(axis=1)
