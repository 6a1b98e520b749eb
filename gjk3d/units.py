"""Symbols of units of length, lengths with a unit, and the common unit of several files."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from statistics import median

from gjk3d.errors import ParseError

_METRES = {
    "nm": 1e-9, "um": 1e-6, "mm": 1e-3, "cm": 1e-2, "dm": 1e-1, "m": 1.0, "km": 1e3,
    "mil": 2.54e-5, "in": 0.0254, "ft": 0.3048, "yd": 0.9144, "mi": 1609.344,
}  # fmt: skip
_NAMES = {
    "nanometer": "nm", "nanometre": "nm", "decimeter": "dm", "decimetre": "dm", "yard": "yd", "mile": "mi",
    "micron": "um", "micrometer": "um", "micrometre": "um", "µm": "um",
    "millimeter": "mm", "millimetre": "mm", "centimeter": "cm", "centimetre": "cm", "meter": "m", "metre": "m",
    "kilometer": "km", "kilometre": "km", "inch": "in", "inche": "in", "foot": "ft", "feet": "ft",
}  # fmt: skip


def symbol(unit: str | None) -> str | None:
    """Return the symbol of a unit from any common spelling ('meters'); other text is returned unchanged."""
    if unit is None or unit in _METRES:
        return unit
    name = unit.strip().lower()
    return name if name in _METRES else _NAMES.get(name) or _NAMES.get(name.removesuffix("s")) or unit


def conversion(unit: str, target: str) -> float | None:
    """Return the factor from one unit to another, None if one of them is not a unit of length."""
    if unit == target:
        return 1.0
    metres_a, metres_b = _METRES.get(symbol(unit) or ""), _METRES.get(symbol(target) or "")
    if metres_a is None or metres_b is None:
        return None
    # a whole quotient is exact: m to mm multiplies by 1000, mm to m divides by it
    up, down = metres_a / metres_b, metres_b / metres_a
    return float(f"{up:.12g}") if up >= 1.0 else 1.0 / float(f"{down:.12g}")


def rescaling(unit: str, target: str) -> str:
    """Return the call that converts a mesh from one unit to another, empty if the units are equal."""
    factor = conversion(unit, target)
    if factor == 1.0:
        return ""
    return f"mesh.scaled({'factor' if factor is None else f'{factor:.12g}'}, unit={target!r})"


def spellings() -> dict[str, float]:
    """Return the length in metres of each unit, by each of its spellings in lower case."""
    names = {spelt: _METRES[name] for spelling, name in _NAMES.items() for spelt in (spelling, f"{spelling}s")}
    return {**names, **_METRES}


#: Metric units for printing: each with the least size in metres that it is used for.
_READ = (("m", 1000.0), ("mm", 1e-3), ("um", 0.0))


def reading(unit: str | None, size: float) -> tuple[str | None, float]:
    """Return the unit for printing lengths of an object of this size, and the factor to it.

    The unit is mm for parts and buildings, m above a kilometre, and um below a millimetre. Units that are not metric,
    or unknown, are returned unchanged.

    Parameters
    ----------
    unit : str or None
        The unit of the lengths.
    size : float
        Size of the whole, in that unit.

    Examples
    --------
    >>> from gjk3d.units import reading
    >>> reading("m", 0.3), reading("mm", 300.0), reading("in", 12.0), reading(None, 1.0)
    (('mm', 1000.0), ('mm', 1.0), ('in', 1.0), (None, 1.0))
    """
    spelt = symbol(unit)
    if spelt is None or spelt not in _METRES or not spelt.endswith("m"):
        return unit, 1.0
    metres = size * _METRES[spelt]
    best = next((name for name, least in _READ if metres >= least), spelt)
    if metres == 0.0 or not math.isfinite(metres):
        best = "mm"
    return best, conversion(spelt, best) or 1.0


def check_unit(unit: str | None) -> None:
    """Raise unless the text is a unit of length.

    Raises
    ------
    ParseError
        The unit is unknown.
    """
    if unit is not None and not (isinstance(unit, str) and conversion(unit, "m")):
        units = ", ".join(_METRES)
        raise ParseError(f"{unit!r:.80} is not a unit of length. Set unit= (or --unit) to one of {units}.")


def one_unit(files: Sequence[tuple[str, str | None]], wanted: str | None) -> tuple[str | None, list[float], list[str]]:
    """Return one unit for all files, and the factors to it.

    The unit is the first that a file states, and the user's unit applies to files that do not state one. If all files
    state one, the user's unit replaces theirs. Without a user's unit, a file without a unit is refused next to files
    with one, because a wrong guess is an error by a factor of 1000.

    Parameters
    ----------
    files : sequence of (str, str or None)
        The name of each file, and the unit that it states.
    wanted : str, optional
        The user's unit.

    Returns
    -------
    unit, factors, notes
        The unit of all files, the factor of each file, and notes for the user about every change.

    Raises
    ------
    ParseError
        One of the units is not a unit of length, or only some files state one and ``wanted`` is None.
    """
    check_unit(wanted)
    stated = [unit for _, unit in files]
    if wanted is not None and None not in stated:
        differing = [(name, unit) for name, unit in dict.fromkeys(files) if conversion(str(unit), wanted) != 1.0]
        notes = [f"{name}: its numbers are read as {wanted}, although it states {unit}" for name, unit in differing]
        return wanted, [1.0] * len(files), notes
    common = next((unit for unit in stated if unit is not None), wanted)
    factors, notes = [], []
    for name, unit in files:
        if wanted is not None and unit is not None and conversion(unit, wanted) != 1.0:
            notes.append(f"{name} keeps its unit {unit}: {wanted} applies to the files without a unit")
        file_unit = unit or wanted
        if file_unit is None and common is not None:
            raise ParseError(
                f"{name} does not state a unit of length, and other files are in {common}. Set its unit (unit='mm' in"
                " Python, --unit mm on the command line)."
            )
        factor = 1.0 if file_unit is None or common is None else conversion(file_unit, common)
        if factor is None:
            raise ParseError(
                f"{name} is in {file_unit} and other files in {common}, expected units such as mm. Convert one."
            )
        factors.append(factor)
        if factor != 1.0:
            notes.append(f"{name} is in {file_unit}; its lengths are multiplied by {factor:g}")
    return common, factors, notes


#: Limits in metres that suggest a wrong unit: a larger whole (the second if the user gave the unit), a larger median
#: part (the third), or a smaller whole (the last).
_VAST, _VAST_AS_SAID, _LARGE_PART, _TINY = 100.0, 1000.0, 3.0, 1e-3


def doubt(unit: str | None, sizes: Sequence[float], total: float, wanted: bool) -> str | None:
    """Return a remark if a size suggests that the numbers are in another unit, else None.

    ``sizes`` are the sizes of the parts, and ``total`` is the largest extent of the whole. ``wanted`` is whether the
    user gave the unit, rather than a file or its format.
    """
    spelt = symbol(unit)
    if spelt is None or spelt not in _METRES or not len(sizes):
        return None
    metre, middling = _METRES[spelt], median(sizes)
    vast = total * metre > (_VAST_AS_SAID if wanted else _VAST) or (not wanted and middling * metre > _LARGE_PART)
    if not vast and total * metre >= _TINY:
        return None
    size = f"The assembly measures {total:.3g} {spelt} and a typical part {middling:.3g} {spelt}"
    cure = "set it (--unit mm, or unit='mm' in Python)"
    return f"{size}. If the unit is wrong, {cure}{'. Otherwise look for a part far away' if vast else ''}."


def length(text: str, unit: str | None, what: str) -> float:
    """Return a length such as '0.5mm' in a unit; a bare number is in that unit already.

    Raises
    ------
    ParseError
        The text is not a finite number, its unit is unknown, or the target unit is unknown.
    """
    match = re.fullmatch(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\W\d]*)\s*", text)
    if match is None or not math.isfinite(float(match[1])):
        raise ParseError(f"{what} {text!r} is not a length. Use a number with a unit, for example 0.5mm.")
    value, known_unit = float(match[1]), symbol(match[2] or None)
    if known_unit is None:
        return value
    if known_unit not in _METRES:
        raise ParseError(f"{what} {text!r}: {match[2]!r} is not a unit of length. Use one of {', '.join(_METRES)}.")
    if unit is None:
        raise ParseError(
            f"{what} {text!r}: the models do not state a unit. Set it with --unit, or leave {known_unit!r} out."
        )
    factor = conversion(known_unit, unit)
    if factor is None:
        raise ParseError(f"{what} {text!r}: the models are in {unit!r}, expected a unit such as mm. Set --unit.")
    return value * factor
