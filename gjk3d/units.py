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
    """Return the symbol of a unit for a common spelling, "m" for "meters". Other texts are returned unchanged."""
    if unit is None or unit in _METRES:
        return unit
    name = unit.strip().lower()
    return name if name in _METRES else _NAMES.get(name) or _NAMES.get(name.removesuffix("s")) or unit


def conversion(unit: str, target: str) -> float | None:
    """Return the factor that converts lengths in ``unit`` to ``target``, or None if one is not a unit of length."""
    if unit == target:
        return 1.0
    metres_a, metres_b = _METRES.get(symbol(unit) or ""), _METRES.get(symbol(target) or "")
    if metres_a is None or metres_b is None:
        return None
    # the larger quotient is mostly a whole number, which is exact: m to mm is 1000, mm to m is 1 / 1000
    up, down = metres_a / metres_b, metres_b / metres_a
    return float(f"{up:.12g}") if up >= 1.0 else 1.0 / float(f"{down:.12g}")


def rescaling(unit: str, target: str) -> str:
    """Return a Python expression that converts ``mesh`` from one unit to another, or an empty text for equal units."""
    factor = conversion(unit, target)
    if factor == 1.0:
        return ""
    return f"mesh.scaled({'factor' if factor is None else f'{factor:.12g}'}, unit={target!r})"


def spellings() -> dict[str, float]:
    """Return the length of each unit in metres. The keys are all spellings of all units."""
    names = {spelt: _METRES[name] for spelling, name in _NAMES.items() for spelt in (spelling, f"{spelling}s")}
    return {**names, **_METRES}


#: Metric units for printing. Each is used for objects of at least this size in metres.
_READ = (("m", 1000.0), ("mm", 1e-3), ("um", 0.0))


def reading(unit: str | None, size: float) -> tuple[str | None, float]:
    """Return the unit for printing lengths of an object, and the factor that converts the lengths to it.

    The unit is m for a size of at least a kilometre, um for a size below a millimetre, and mm otherwise. Units that are
    not metric, or not known, are returned unchanged.

    Parameters
    ----------
    unit : str or None
        The unit of the lengths.
    size : float
        Size of the whole object in this unit.

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
    """Raise a ParseError if the text is not a unit of length. None is accepted."""
    if unit is not None and not (isinstance(unit, str) and conversion(unit, "m")):
        units = ", ".join(_METRES)
        raise ParseError(f"{unit!r:.80} is not a unit of length. Set unit= (or --unit) to one of {units}.")


def one_unit(files: Sequence[tuple[str, str | None]], wanted: str | None) -> tuple[str | None, list[float], list[str]]:
    """Return one unit for all files, and for each file the factor that converts its lengths to this unit.

    The unit is the first unit that a file states. Files that do not state a unit have the user's unit. If all files
    state a unit, the user's unit replaces their units. If only some files state a unit and the user's unit is not
    given, the result is an error, because a guess may be wrong by a factor of 1000.

    Parameters
    ----------
    files : sequence of (str, str or None)
        The name of each file, and the unit that it states.
    wanted : str, optional
        The user's unit.

    Returns
    -------
    unit, factors, notes
        The unit of all files (None if it is not known), the factor of each file, and notes for the user about each
        unit that was converted or replaced.

    Raises
    ------
    ParseError
        A text is not a unit of length, or only some files state a unit and ``wanted`` is None.
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
                f"{name} is in {file_unit} and other files are in {common}, expected units of length such as mm. "
                "Convert one of them."
            )
        factors.append(factor)
        if factor != 1.0:
            notes.append(f"{name} is in {file_unit}: its lengths are multiplied by {factor:g}")
    return common, factors, notes


#: Limits in metres beyond which a wrong unit is likely: greatest size of an assembly, the same if the user gave the
#: unit, greatest median size of its parts, and least size of an assembly.
_VAST, _VAST_WANTED, _LARGE_PART, _TINY = 100.0, 1000.0, 3.0, 1e-3


def doubt(unit: str | None, sizes: Sequence[float], total: float, wanted: bool) -> str | None:
    """Return a warning if the size of an assembly suggests a wrong unit, else None.

    ``sizes`` are the sizes of the parts, and ``total`` is the largest extent of the assembly, all in ``unit``.
    ``wanted`` is True if the user gave the unit, and False if it comes from a file or its format.
    """
    spelt = symbol(unit)
    if spelt is None or spelt not in _METRES or not len(sizes):
        return None
    metre, middling = _METRES[spelt], median(sizes)
    vast = total * metre > (_VAST_WANTED if wanted else _VAST) or (not wanted and middling * metre > _LARGE_PART)
    if not vast and total * metre >= _TINY:
        return None
    size = f"The assembly measures {total:.3g} {spelt} and a typical part {middling:.3g} {spelt}"
    cure = "set it (--unit mm, or unit='mm' in Python)"
    return f"{size}. If the unit is wrong, {cure}{'. Otherwise look for a part far away' if vast else ''}."


def length(text: str, unit: str | None, what: str) -> float:
    """Return a length in ``unit`` from a text such as "0.5mm". A number without a unit is in ``unit`` already.

    ``what`` names the text in errors, for example "--clearance".

    Raise a ParseError if the text is not a finite number, or its unit or ``unit`` is not known.
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
