"""Units of length by their symbols, and lengths that carry one."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from statistics import median

from gjk3d.errors import ParseError

_METRES = {"um": 1e-6, "mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3, "in": 0.0254, "ft": 0.3048}
_NAMES = {
    "micron": "um", "micrometer": "um", "micrometre": "um", "µm": "um",
    "millimeter": "mm", "millimetre": "mm", "centimeter": "cm", "centimetre": "cm", "meter": "m", "metre": "m",
    "kilometer": "km", "kilometre": "km", "inch": "in", "inche": "in", "foot": "ft", "feet": "ft",
}  # fmt: skip


def symbol(unit: str | None) -> str | None:
    """Return the symbol of a unit that files spell in many ways ('millimeter', 'meters'); others stay as they are."""
    if unit is None or unit in _METRES:
        return unit
    name = unit.strip().lower()
    return name if name in _METRES else _NAMES.get(name) or _NAMES.get(name.removesuffix("s")) or unit


def conversion(unit: str, other: str) -> float | None:
    """Return the factor that takes lengths from one unit to another; None where one of them is none."""
    if unit == other:
        return 1.0
    if unit not in _METRES or other not in _METRES:
        return None
    # the quotient that is a whole number is the exact one: m to mm is 1000, mm to m divides by it
    up, down = _METRES[unit] / _METRES[other], _METRES[other] / _METRES[unit]
    return float(f"{up:.12g}") if up >= 1.0 else 1.0 / float(f"{down:.12g}")


#: Metres: a whole larger than the first (the second where the user said the unit), a middling part larger than the
#: third, or a whole smaller than the last is more often one of another unit.
_VAST, _VAST_AS_SAID, _LARGE_PART, _TINY = 100.0, 1000.0, 3.0, 1e-3


def doubt(unit: str | None, sizes: Sequence[float], whole: float, said: bool) -> str | None:
    """Return a remark where a size suggests that the numbers are in another unit; None where it does not.

    ``sizes`` are those of the parts and ``whole`` that of all, along the axis on which it is largest; ``said`` tells
    whether the user gave the unit, so that a file or its format did not.
    """
    own = symbol(unit)
    if own is None or own not in _METRES or not len(sizes):
        return None
    metre, middling = _METRES[own], median(sizes)
    vast = whole * metre > (_VAST_AS_SAID if said else _VAST) or (not said and middling * metre > _LARGE_PART)
    if not vast and whole * metre >= _TINY:
        return None
    size = f"all is {whole:.3g} {own} in size, and a middling part {middling:.3g} {own}"
    cure = "say what unit the numbers are in (--unit mm; unit='mm' in Python)"
    return f"{size}: if that cannot be, {cure}{', or look for a part far away' if vast else ''}"


def length(text: str, unit: str | None, what: str) -> float:
    """Return a length such as '0.5mm' in a unit; a bare number is in that unit already.

    Raises
    ------
    ParseError
        It is no finite number, its unit is unknown, or there is no unit to take it to.
    """
    match = re.fullmatch(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\W\d]*)\s*", text)
    if match is None or not math.isfinite(float(match[1])):
        raise ParseError(f"{what} {text!r} is no length: give a number, or one with its unit such as 0.5mm")
    value, own = float(match[1]), symbol(match[2] or None)
    if own is None:
        return value
    if own not in _METRES:
        raise ParseError(f"{what} {text!r}: {match[2]!r} is no unit of length, {', '.join(_METRES)} are")
    if unit is None:
        raise ParseError(
            f"{what} {text!r}: the models state no unit; say which they are in with --unit, or leave {own!r} out"
        )
    factor = conversion(own, unit)
    if factor is None:
        raise ParseError(f"{what} {text!r}: the models are in {unit!r}, which is no unit of length")
    return value * factor
