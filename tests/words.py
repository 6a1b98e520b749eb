"""How a reader understands the words about a number with bounds, in fractions."""

from __future__ import annotations

import re
from fractions import Fraction
from math import inf

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?(?![\w.]*\w)")


def read(words: str, digits: int, least: float = -inf) -> tuple[Fraction | float, Fraction | float]:
    """Return the interval that a reader understands; one number stands for all that rounds to it."""
    if "not bounded" in words:
        return least, inf
    found = [Fraction(text) for text in NUMBER.findall(words)]
    if "between" in words:
        low, high = found
        return low, high
    (only,) = found
    if "at most" in words:
        return least, only
    if "at least" in words:
        return only, inf
    power = int(f"{float(only):.{digits - 1}e}".partition("e")[2])
    half = Fraction(10) ** (power + 1 - digits) / 2 if only else Fraction(0)
    return only - half, only + half
