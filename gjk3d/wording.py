"""Numbers with bounds as text, rounded outward: the text never claims more than the proof.

A single number is printed only if both bounds round to it, so it is the truth to its last digit. Otherwise a lower
bound is rounded down and an upper bound up, in exact decimal arithmetic. The printed interval therefore contains the
proven one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import wraps
from math import floor, inf, isfinite, isnan, log10
from numbers import Real
from sys import float_info
from typing import Any, TypeVar, cast

_F = TypeVar("_F", bound=Callable[..., Any])

#: Significant digits of an interval that contains 0: more digits would show rounding errors.
_ROUND_ZERO = 3


def number(value: Any, digits: int = 6) -> str:
    """Return a number as text, to the nearest ``digits`` significant digits; a negative zero is 0."""
    return f"{float(value) + 0.0:.{digits}g}"


def count(number: int, noun: str, mark: str = "") -> str:
    """Return a number and its noun, "1 part" or "2 parts". A ``mark`` such as "," separates thousands."""
    return f"{number:{mark}} {noun}{'' if number == 1 else 's'}"


def excerpt(rows: Sequence[object], most: int = 8) -> str:
    """Return the `repr` of each row on a line of its own; of more than ``most`` rows only the first and the last."""
    half, left = most // 2, len(rows) - most
    few = [*map(repr, rows[:half]), f"... {left} more ...", *map(repr, rows[-half:])] if left > 1 else map(repr, rows)
    return "".join(f"\n {row}" for row in few)


def cut(value: object, most: int = 200) -> str:
    """Return a value as text, truncated to ``most`` letters."""
    text = str(value)
    return text if len(text) <= most else f"{text[:most]}..."


def with_article(noun: str) -> str:
    """Return a noun with its article: "a list", "an int"."""
    return f"{'an' if noun[:1] in 'aeioAEIO' else 'a'} {noun}"


def kind_of(value: Any) -> str:
    """Return the kind of a value, for an error message: "an int", "a Halfspace", "None"."""
    return "None" if value is None else with_article(type(value).__name__)


def nearest(name: object, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return " Did you mean 'x'?" for the names that are most like a misspelt one, or an empty text."""
    from difflib import get_close_matches

    near = sorted(get_close_matches(str(name), list(names), 3, cutoff))
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def expected_names(name: object, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return "expected one of 'a', 'b'." for a name that is not one of them, with the nearest name."""
    known = [*map(str, names)]
    more = f" and {len(known) - 12} more" if len(known) > 12 else ""
    choices = f"expected {'one of ' if known[1:] else ''}{', '.join(map(repr, known[:12]))}{more}."
    return choices + nearest(name, known, cutoff) if known else "and there are none."


def missing_name(module: str, name: str, names: Iterable[str]) -> AttributeError:
    """Return the error for a name that a module lacks. Python cannot add the nearest name to it again."""
    words = f"module {module!r} does not have the name {name!r}."
    return AttributeError(f"{words}{nearest(name, names)}", name=name, obj=None)


def with_cure(cure: Callable[..., str]) -> Callable[[_F], _F]:
    """Decorate a function: if a call does not fit its parameters, the text of ``cure(*args, **keywords)`` is added."""

    def decorate(function: _F) -> _F:
        @wraps(function)
        def call(*args: Any, **keywords: Any) -> Any:
            try:
                return function(*args, **keywords)
            except TypeError as error:
                inside = error.__traceback__ is not None and error.__traceback__.tb_next is not None
                text = "" if inside else cure(*args, **keywords)
                if not text:
                    raise
                raise TypeError(f"{error}.{text}") from None

        return cast("_F", call)

    return decorate


def cure_of_poses(*args: Any, **keywords: Any) -> str:
    """Return the cure for a query of two shapes whose pose was passed as ``pose``."""
    return " Set pose_a= or pose_b=, the pose of the first or the second shape." if "pose" in keywords else ""


def cure_of_numbers(self: Any, *numbers: Any, **keywords: Any) -> str:
    """Return the cure for a shape of one vector that was given as several numbers."""
    if len(numbers) < 2 or not all(isinstance(value, Real) for value in numbers):
        return ""
    return f" Pass the numbers as one argument: {type(self).__name__}(({', '.join(map(repr, numbers))}))."


def is_number(text: str) -> bool:
    """Return whether a text is a number, which may be infinite or nan."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def with_unit(text: str, unit: str | None) -> str:
    """Return a length as text, followed by its unit if it has one."""
    return f"{text} {unit}" if unit else text


def json_ready(value: Any) -> Any:
    """Return a value in the form of JSON: lists for tuples, None for a float that is not finite."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(item) for item in value]
    return value


def below(value: Any, digits: int = 6) -> str:
    """Return a lower bound as a decimal of ``digits`` significant digits that is not above it."""
    return _rounded(float(value), Context(prec=digits, rounding=ROUND_FLOOR))


def above(value: Any, digits: int = 6) -> str:
    """Return an upper bound as a decimal of ``digits`` significant digits that is not below it."""
    return _rounded(float(value), Context(prec=digits, rounding=ROUND_CEILING))


def snapped(value: float, error: float) -> float:
    """Return a number rounded to the last decimal that its error leaves certain."""
    if not 0.0 < error < inf or not isfinite(value):
        return value
    return round(value, floor(-log10(error)))


def widened(lower: float, upper: float) -> tuple[float, float]:
    """Return two bounds with 0 for a number below full precision, such as a gap that is only known to exist.

    A bound is only replaced if the interval becomes wider.
    """
    return 0.0 if 0.0 < lower < float_info.min else lower, 0.0 if -float_info.min < upper < 0.0 else upper


def format_bounds(
    lower: Any,
    upper: Any,
    digits: int = 6,
    unit: str | None = None,
    *,
    least: float = -inf,
    rounding: float = 0.0,
    error: float = 0.0,
) -> str:
    """Return a number with its two bounds as text.

    Parameters
    ----------
    lower, upper : float
        Proven bounds of the number. An infinite bound, or NaN, means that the side is not bounded.
    digits : int
        Significant digits.
    unit : str, optional
        Unit, printed after the number.
    least : float
        A trivial lower bound, such as 0 for a depth: a lower bound that does not exceed it is left out.
    rounding : float
        A bound other than 0 that is at most this far from 0 is printed as 0 up to rounding.
    error : float
        The error of the data, such as the spacing of the numbers of a file. Digits below it are not printed.

    Returns
    -------
    str
        The number alone if both bounds round to it, else ".. to ..", "≥ ..", "≤ .." or "not bounded".

    Examples
    --------
    >>> from gjk3d.wording import format_bounds
    >>> format_bounds(0.4999999999999, 0.5, unit="mm"), format_bounds(0.0003125, 0.01163031, 4, "m")
    ('0.5 mm', '0.0003125 to 0.01164 m')
    >>> format_bounds(0, 2 / 3, 2, least=0), format_bounds(1.49999, 1.49999, unit="mm", error=9e-5)
    ('≤ 0.67', '1.5 mm')
    """
    low = least if isnan(lower) else snapped(float(lower), error)
    high = inf if isnan(upper) else snapped(float(upper), error)
    low, high = widened(low, high)
    if 0.0 < abs(low) <= rounding or 0.0 < abs(high) <= rounding:
        low, high = (0.0 if abs(bound) <= rounding else bound for bound in (low, high))
        return f"{format_bounds(low, high, digits, unit, least=least)} (up to rounding)"
    if number(low, digits) == number(high, digits):
        return with_unit(number(low, digits), unit)
    down, up = (number, number) if error > 0.0 else (below, above)  # rounded already, to what the data leave certain
    if low <= least:
        return "not bounded" if high == inf else with_unit(f"≤ {up(high, digits)}", unit)
    if high == inf:
        return with_unit(f"≥ {down(low, digits)}", unit)
    if low < 0.0 < high:
        digits = min(digits, _ROUND_ZERO)
    return with_unit(f"{down(low, digits)} to {up(high, digits)}", unit)


def format_depth(lower: Any, upper: Any, digits: int = 6, unit: str | None = None, *, error: float = 0.0) -> str:
    """Return the depth of an overlap as text, from the bounds of its signed distance; see `format_bounds`."""
    return format_bounds(-upper, -lower, digits, unit, least=0.0, error=error)


def format_gap(lower: Any, upper: Any, digits: int = 6, unit: str | None = None) -> str:
    """Return the distance of a pair as text, from the bounds of its signed distance; "depth .." for an overlap."""
    if upper < 0.0:
        return f"depth {format_depth(lower, upper, digits, unit)}"
    return format_bounds(lower, upper, digits, unit)


def format_distance(lower: Any, upper: Any, digits: int = 6, unit: str | None = None, *, rounding: float = 0.0) -> str:
    """Return the bounds of a signed distance as text: "distance ..", "depth ..", or both if they contain 0.

    Examples
    --------
    >>> from gjk3d.wording import format_distance
    >>> format_distance(0.5, 0.5), format_distance(-0.5, -0.25), format_distance(-4, 3.16228)
    ('distance 0.5', 'depth 0.25 to 0.5', 'depth ≤ 4 or distance ≤ 3.17')
    """
    if isfinite(lower) and lower < -rounding:
        if upper < -rounding:
            return f"depth {format_bounds(-upper, -lower, digits, unit)}"
        if upper <= rounding:
            return f"depth ≤ {with_unit(above(-lower, digits), unit)}"
        deep, far = (with_unit(above(value, min(digits, _ROUND_ZERO)), unit) for value in (-lower, upper))
        return f"depth ≤ {deep} or distance ≤ {far}"
    return f"distance {format_bounds(lower, upper, digits, unit, rounding=rounding)}"


def format_time(lower: Any, upper: Any, digits: int = 6) -> str:
    """Return the time of an event as text: "at .." or "within .. to ..", see `format_bounds`."""
    words = format_bounds(lower, upper, digits)
    return f"at {words}" if words == number(lower, digits) else f"within {words}"


def format_vector(values: Iterable[float], digits: int = 6) -> str:
    """Return numbers in parentheses, all rounded to the last of the digits of the largest, so that noise becomes 0."""
    numbers = [float(value) for value in values]
    largest = max(map(abs, numbers))
    error = 10.0 ** (floor(log10(largest)) - digits + 1) if 0.0 < largest < inf else 0.0
    return f"({', '.join(number(snapped(value, error), digits) for value in numbers)})"


def certified(lower: float, upper: float) -> tuple[str, str]:
    """Return two bounds as decimals, rounded outward to two digits of the width between them."""
    width, size = upper - lower, max(abs(lower), abs(upper))
    digits = 17 if not 0.0 < width < inf else min(17, max(2, 2 + floor(log10(size)) - floor(log10(width))))
    return below(lower, digits), above(upper, digits)


def _rounded(value: float, context: Context) -> str:
    """Return a rounded number as ``%g`` writes it; `Decimal` would keep zeros at its end."""
    if not isfinite(value) or value == 0.0:
        return number(value)
    short = context.normalize(context.create_decimal(Decimal(value)))
    power = short.adjusted()
    if -4 <= power < context.prec:
        return f"{short:f}"
    first, more = (digits := "".join(map(str, short.as_tuple().digits)))[0], digits[1:]
    return f"{'-' * short.is_signed()}{first}{'.' * bool(more)}{more}e{power:+03d}"
