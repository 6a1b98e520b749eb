"""The unit of length that a STEP file is drawn in, which its reader brings to metres."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

from gjk3d.units import conversion, symbol

_CONTEXT = re.compile(rb"GLOBAL_UNIT_ASSIGNED_CONTEXT\s{0,99}\(\s{0,99}\(([^)]{0,999})")
_UNIT, _NUMBER = re.compile(rb"LENGTH_UNIT"), re.compile(rb"#(\d{1,18})\s*=")
_SI = re.compile(rb"SI_UNIT\s*\(\s*(?:\$|\.([A-Z]+)\.)\s*,\s*\.METRE\.\s*\)")
_CONVERTED = re.compile(rb"CONVERSION_BASED_UNIT\s*\(\s*'([^']*)'")
_PREFIXES = {
    b"": "m", b"NANO": "nm", b"MICRO": "um", b"MILLI": "mm", b"CENTI": "cm", b"DECI": "dm", b"KILO": "km"
}  # fmt: skip
_MOST, _AROUND = 4096, 500  #: units and contexts that are looked at, and bytes before and behind where one is named


def unit_of(step: bytes) -> str | None:
    """Return the unit of most representations of a STEP file, the first of several; None where it is not known.

    ISO 10303-21 has no one place for it: each GLOBAL_UNIT_ASSIGNED_CONTEXT refers to a LENGTH_UNIT, which is an SI_UNIT
    or a CONVERSION_BASED_UNIT with a name. What these are based on is a LENGTH_UNIT, too, and in no context.
    """
    units: dict[bytes, str] = {}
    for found in islice(_UNIT.finditer(step), _MOST):
        before = step[max(0, found.start() - _AROUND) : found.start()].rpartition(b";")[2]
        entity = before + step[found.start() : found.end() + _AROUND].partition(b";")[0]
        number, unit = _NUMBER.search(before), _named(entity)
        if number is not None and unit is not None:
            units[number[1]] = unit
    contexts = islice(_CONTEXT.finditer(step), _MOST)
    used = [units[each] for context in contexts for each in re.findall(rb"#(\d+)", context[1]) if each in units]
    return Counter(used).most_common(1)[0][0] if used else None


def _named(entity: bytes) -> str | None:
    own = _CONVERTED.search(entity)
    if own is not None:
        name = symbol(own[1].decode("latin-1").lower()) or ""
        return name if conversion(name, "m") is not None else None
    metric = _SI.search(entity)
    return None if metric is None else _PREFIXES.get(metric[1] or b"")
