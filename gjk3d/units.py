"""Units of length by their symbols, lengths that carry one, and what brings the files of models to one."""

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
    """Return the symbol of a unit that files spell in many ways ('millimeter', 'meters'); others stay as they are."""
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
    # the quotient that is a whole number is the exact one: m to mm is 1000, mm to m divides by it
    up, down = metres_a / metres_b, metres_b / metres_a
    return float(f"{up:.12g}") if up >= 1.0 else 1.0 / float(f"{down:.12g}")


def rescaling(unit: str, target: str) -> str:
    """Return the call that takes a mesh from one unit to another, empty if the units are the same length."""
    factor = conversion(unit, target)
    if factor == 1.0:
        return ""
    return f"mesh.scaled({'factor' if factor is None else f'{factor:.12g}'}, unit={target!r})"


def spellings() -> dict[str, float]:
    """Return how many metres long a unit is, by each of its spellings in small letters."""
    names = {spelt: _METRES[name] for spelling, name in _NAMES.items() for spelt in (spelling, f"{spelling}s")}
    return {**names, **_METRES}


#: Metric units in which lengths are read: each where the whole is at least so many metres in size.
_READ = (("m", 1000.0), ("mm", 1e-3), ("um", 0.0))


def reading(unit: str | None, size: float) -> tuple[str | None, float]:
    """Return the unit in which the lengths of a thing of that size are read, and what to multiply them by.

    Parts and buildings are read in mm, what is larger than a kilometre in m, what is smaller than a millimetre in um;
    units that are not metric, or unknown, stay as they are.

    Parameters
    ----------
    unit : str or None
        The unit of the lengths.
    size : float
        Of the whole, in that unit.

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
        raise ParseError(f"{unit!r:.80} is no unit of length: unit= (on the command line --unit) takes {units}")


def one_unit(files: Sequence[tuple[str, str | None]], wanted: str | None) -> tuple[str | None, list[float], list[str]]:
    """Bring files to the unit of the first one that states one.

    What the user says is the unit of those that state none; where all state one it goes before theirs. A file of
    unknown size beside one of known size is refused: taking it for the other's unit is wrong by 1000 where metres meet
    millimetres.

    Parameters
    ----------
    files : sequence of (str, str or None)
        What each is called, and the unit that it states.
    wanted : str, optional
        The unit that the user gives.

    Returns
    -------
    unit, factors, notes
        The unit of all, what the lengths of each are to be multiplied by, and what was done, for the user.

    Raises
    ------
    ParseError
        One of the units is none of length, or only some of the files have one.
    """
    check_unit(wanted)
    stated = [unit for _, unit in files]
    if wanted is not None and None not in stated:
        differing = [(name, unit) for name, unit in dict.fromkeys(files) if conversion(str(unit), wanted) != 1.0]
        notes = [f"{name}: its numbers are taken for {wanted}, though it is in {unit}" for name, unit in differing]
        return wanted, [1.0] * len(files), notes
    common = next((unit for unit in stated if unit is not None), wanted)
    factors, notes = [], []
    for name, unit in files:
        if wanted is not None and unit is not None and conversion(unit, wanted) != 1.0:
            notes.append(f"{name} keeps the unit that it states, {unit}: {wanted} is that of the files without")
        file_unit = unit or wanted
        if file_unit is None and common is not None:
            raise ParseError(
                f"{name} has no unit of length, and other files are in {common}: say which it is in (unit='mm' in"
                " Python, --unit mm on the command line)"
            )
        factor = 1.0 if file_unit is None or common is None else conversion(file_unit, common)
        if factor is None:
            raise ParseError(f"{name} is in {file_unit} and other files in {common}: one of these is no unit of length")
        factors.append(factor)
        if factor != 1.0:
            notes.append(f"{name} is in {file_unit}: its lengths are multiplied by {factor:g}")
    return common, factors, notes


#: Metres: a whole larger than the first (the second where the user said the unit), a middling part larger than the
#: third, or a whole smaller than the last is more often one of another unit.
_VAST, _VAST_AS_SAID, _LARGE_PART, _TINY = 100.0, 1000.0, 3.0, 1e-3


def doubt(unit: str | None, sizes: Sequence[float], total: float, wanted: bool) -> str | None:
    """Return a remark if a size suggests that the numbers are in another unit, else None.

    ``sizes`` are those of the parts and ``total`` that of all, along the axis on which it is largest; ``wanted`` tells
    whether the user gave the unit, so that a file or its format did not.
    """
    spelt = symbol(unit)
    if spelt is None or spelt not in _METRES or not len(sizes):
        return None
    metre, middling = _METRES[spelt], median(sizes)
    vast = total * metre > (_VAST_AS_SAID if wanted else _VAST) or (not wanted and middling * metre > _LARGE_PART)
    if not vast and total * metre >= _TINY:
        return None
    size = f"all is {total:.3g} {spelt} in size, and a middling part {middling:.3g} {spelt}"
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
    value, known_unit = float(match[1]), symbol(match[2] or None)
    if known_unit is None:
        return value
    if known_unit not in _METRES:
        raise ParseError(f"{what} {text!r}: {match[2]!r} is no unit of length, {', '.join(_METRES)} are")
    if unit is None:
        raise ParseError(
            f"{what} {text!r}: the models state no unit; say which they are in with --unit, or leave {known_unit!r} out"
        )
    factor = conversion(known_unit, unit)
    if factor is None:
        raise ParseError(f"{what} {text!r}: the models are in {unit!r}, which is no unit of length")
    return value * factor
