"""Lengths that are out of all proportion to the parts: mostly they were given in another unit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gjk3d.typing import Array
from gjk3d.units import reading
from gjk3d.wording import number, with_unit

#: Times the size of the whole: who goes farther than that seldom means it.
_FAR = 10.0


def doubted_limits(
    clearance: float, tolerance: float | None, names: Sequence[str], sizes: Array, unit: str | None
) -> list[str]:
    """Return what is to be said of a clearance larger than every part, and of a tolerance larger than one of them.

    Parameters
    ----------
    clearance, tolerance : float
        As they were given; None is no tolerance.
    names : sequence of str
    sizes : (n,) float
        Of the parts: the diagonals of their boxes.
    unit : str or None
        Of all lengths.
    """
    if not len(sizes):
        return []
    most, least = int(sizes.argmax()), int(sizes.argmin())
    found = []
    if clearance > sizes[most]:
        what = f"the largest part, {names[most]}, which is {told(float(sizes[most]), unit)} in size"
        found.append(f"the clearance, {told(clearance, unit)}, is larger than {what}: {_cure(unit)}")
    if tolerance is not None and tolerance > sizes[least]:
        what = f"{names[least]}, which is {told(float(sizes[least]), unit)} in size, so none of its clashes is told"
        found.append(f"the tolerance, {told(tolerance, unit)}, is larger than {what}: {_cure(unit)}")
    return found


def doubted_ways(names: Sequence[str], bounds: Array, swept: Array, unit: str | None) -> list[str]:
    """Return what is to be said of a motion that leads a part far from all of the assembly.

    Parameters
    ----------
    names : sequence of str
    bounds, swept : (n, 2, 3) float
        Boxes of the parts where they were drawn, and of all places that they go to.
    unit : str or None
        Of all lengths.
    """
    if not len(bounds):
        return []
    low, high = bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)
    size = float(np.linalg.norm(high - low))
    away = np.maximum(low - swept[:, 0], swept[:, 1] - high).max(axis=1)
    worst = int(away.argmax())
    if not away[worst] > _FAR * size:
        return []
    far, whole = told(float(away[worst]), unit), told(size, unit)
    return [
        f"{names[worst]} goes {far} away from the assembly, which is {whole} in size: if that cannot be, its motion has"
        ' an axis, a way or poses in another unit: say it by length = "mm" at the top of the motion\'s file'
    ]


def _cure(unit: str | None) -> str:
    if unit is None:
        return "the files state no unit; if that cannot be, state theirs: unit= in Python, --unit on the command line"
    return f"if that cannot be, give it its own unit, as in 0.5mm; in Python lengths are in {unit}"


def told(length: float, unit: str | None) -> str:
    """Return a length as it is read, with its unit if that is known."""
    shown, factor = reading(unit, length)
    return with_unit(number(float(f"{factor * length:.3g}")), shown)  # 50000 mm, and not 5e+04
