"""Units of length by their symbols, and lengths that carry one."""

from __future__ import annotations

import math
import re

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
