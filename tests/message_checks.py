"""Checks of texts: the interval that a text states, and the values that a message names."""

from __future__ import annotations

import re
from fractions import Fraction
from math import inf

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?(?![\w.]*\w)")


def read(words: str, digits: int, least: float = -inf) -> tuple[Fraction | float, Fraction | float]:
    """Return the interval that a text states. A single number stands for all numbers that round to it."""
    if "not bounded" in words:
        return least, inf
    numbers = [Fraction(text) for text in NUMBER.findall(words)]
    if " to " in words.replace("(up to", ""):
        low, high = numbers
        return low, high
    (only,) = numbers
    if "≤" in words:
        return least, only
    if "≥" in words:
        return only, inf
    power = int(f"{float(only):.{digits - 1}e}".partition("e")[2])
    half = Fraction(10) ** (power + 1 - digits) / 2 if only else Fraction(0)
    return only - half, only + half


def assert_names(text: object, *fragments: str) -> None:
    """Assert that a message contains each fragment: a value, a file, an option, a call."""
    missing = [fragment for fragment in fragments if fragment not in str(text)]
    assert fragments, "no fragment is expected"
    assert not missing, f"{missing} not in {str(text)!r}"
