"""Texts: numbers with bounds, nouns with their numbers and articles, and the cures in errors.

Bounds are rounded outward. A single number is printed only if both bounds round to it, so all its digits are correct.
Otherwise the lower bound is rounded down and the upper bound is rounded up, in exact decimal arithmetic. The printed
interval therefore contains the proven interval.
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
    """Return a number as text, rounded to ``digits`` significant digits. A negative zero is printed as 0."""
    return f"{float(value) + 0.0:.{digits}g}"


def count(number: int, noun: str, mark: str = "") -> str:
    """Return a number and its noun, "1 part" or "2 parts". A ``mark`` such as "," separates thousands."""
    return f"{number:{mark}} {noun}{'' if number == 1 else 's'}"


def excerpt(rows: Sequence[object], most: int = 8) -> str:
    """Return the `repr` of each row on a separate line. Only the first and last ``most / 2`` of many rows are shown."""
    half, left = most // 2, len(rows) - most
    few = [*map(repr, rows[:half]), f"... {left} more ...", *map(repr, rows[-half:])] if left > 1 else map(repr, rows)
    return "".join(f"\n {row}" for row in few)


def cut(value: object, most: int = 200) -> str:
    """Return a value as text, with at most ``most`` characters and then "..."."""
    text = str(value)
    return text if len(text) <= most else f"{text[:most]}..."


def with_article(noun: str) -> str:
    """Return a noun with its article: "a list", "an int"."""
    return f"{'an' if noun[:1] in 'aeioAEIO' else 'a'} {noun}"


def kind_of(value: Any) -> str:
    """Return the type of a value with its article, for an error message: "an int", "a Halfspace", "None"."""
    return "None" if value is None else with_article(type(value).__name__)


def nearest(name: object, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return " Did you mean 'x'?" with up to three ``names`` similar to ``name``, or an empty text.

    ``cutoff`` is the least similarity, from 0 to 1.
    """
    from difflib import get_close_matches

    near = sorted(get_close_matches(str(name), list(names), 3, cutoff))
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def expected_names(name: object, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return "expected one of 'a', 'b'. Did you mean 'a'?" for a ``name`` that is not one of ``names``."""
    known = [*map(str, names)]
    more = f" and {len(known) - 12} more" if len(known) > 12 else ""
    choices = f"expected {'one of ' if known[1:] else ''}{', '.join(map(repr, known[:12]))}{more}."
    return choices + nearest(name, known, cutoff) if known else "and there are none."


def missing_name(module: str, name: str, names: Iterable[str]) -> AttributeError:
    """Return the error for a name that a module does not have. It contains the nearest names."""
    words = f"module {module!r} does not have the name {name!r}."
    return AttributeError(f"{words}{nearest(name, names)}", name=name, obj=None)


def with_cure(cure: Callable[..., str]) -> Callable[[_F], _F]:
    """Return a decorator that adds a cure to the TypeError of a call with wrong arguments.

    The text of ``cure(*args, **keywords)`` is appended to the message. Errors from inside the function are unchanged.
    """

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
    """Return the cure for a query of two shapes that got the argument ``pose``, else an empty text."""
    return " Set pose_a= or pose_b=, the pose of the first or the second shape." if "pose" in keywords else ""


def cure_of_numbers(self: Any, *numbers: Any, **keywords: Any) -> str:
    """Return the cure for a shape that needs one vector and got several numbers, else an empty text."""
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
    """Return a number as text, followed by its unit if ``unit`` is not empty."""
    return f"{text} {unit}" if unit else text


def json_ready(value: Any) -> Any:
    """Return a value in types that JSON has: a list for a tuple, None for a float that is not finite."""
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
    """Return a number rounded to a multiple of the smallest power of ten that is not below its error.

    For example, an error of 0.03 gives multiples of 0.1. If the error is 0 or infinite, the number is unchanged.
    """
    if not 0.0 < error < inf or not isfinite(value):
        return value
    return round(value, floor(-log10(error)))


def widened(lower: float, upper: float) -> tuple[float, float]:
    """Return both bounds, with 0 in place of a subnormal lower bound above 0 or upper bound below 0.

    A subnormal bound only means that a gap or an overlap exists. Its size is not known.
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
    """Return a number as text, from its lower and its upper bound.

    Parameters
    ----------
    lower, upper : float
        Proven bounds of the number. An infinite bound, or NaN, means that the number is not bounded on this side.
    digits : int
        Significant digits.
    unit : str, optional
        Unit, printed after the number.
    least : float
        A trivial lower bound, such as 0 for a depth. A lower bound of at most ``least`` is not printed.
    rounding : float
        A bound whose absolute value is at most ``rounding`` is printed as 0, followed by "(up to rounding)".
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
    down, up = (number, number) if error > 0.0 else (below, above)  # with an error, both are rounded already
    if low <= least:
        return "not bounded" if high == inf else with_unit(f"≤ {up(high, digits)}", unit)
    if high == inf:
        return with_unit(f"≥ {down(low, digits)}", unit)
    if low < 0.0 < high:
        digits = min(digits, _ROUND_ZERO)
    return with_unit(f"{down(low, digits)} to {up(high, digits)}", unit)


def format_depth(lower: Any, upper: Any, digits: int = 6, unit: str | None = None, *, error: float = 0.0) -> str:
    """Return the depth of an overlap as text. ``lower`` and ``upper`` are bounds of the signed distance."""
    return format_bounds(-upper, -lower, digits, unit, least=0.0, error=error)


def format_gap(lower: Any, upper: Any, digits: int = 6, unit: str | None = None) -> str:
    """Return the distance of a pair as text, or "depth .." for an overlap, from bounds of the signed distance."""
    if upper < 0.0:
        return f"depth {format_depth(lower, upper, digits, unit)}"
    return format_bounds(lower, upper, digits, unit)


def format_distance(lower: Any, upper: Any, digits: int = 6, unit: str | None = None, *, rounding: float = 0.0) -> str:
    """Return the bounds of a signed distance as text: "distance ..", "depth ..", or both if the bounds enclose 0.

    A bound whose absolute value is at most ``rounding`` counts as 0.

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
    """Return a time as text, from its bounds: "at .." if both bounds round to one number, else "within .. to .."."""
    words = format_bounds(lower, upper, digits)
    return f"at {words}" if words == number(lower, digits) else f"within {words}"


def format_vector(values: Iterable[float], digits: int = 6) -> str:
    """Return a vector as text, "(1, 0, 0.5)".

    All components are rounded to the last digit of the largest component, so rounding errors are printed as 0.
    """
    numbers = [float(value) for value in values]
    largest = max(map(abs, numbers))
    error = 10.0 ** (floor(log10(largest)) - digits + 1) if 0.0 < largest < inf else 0.0
    return f"({', '.join(number(snapped(value, error), digits) for value in numbers)})"


def certified(lower: float, upper: float) -> tuple[str, str]:
    """Return two bounds as decimals, rounded outward to the first two digits of their difference."""
    width, size = upper - lower, max(abs(lower), abs(upper))
    digits = 17 if not 0.0 < width < inf else min(17, max(2, 2 + floor(log10(size)) - floor(log10(width))))
    return below(lower, digits), above(upper, digits)


def _rounded(value: float, context: Context) -> str:
    """Return a number as text in the form of ``%g``, rounded by a decimal context."""
    if not isfinite(value) or value == 0.0:
        return number(value)
    short = context.normalize(context.create_decimal(Decimal(value)))
    power = short.adjusted()
    if -4 <= power < context.prec:
        return f"{short:f}"
    first, more = (digits := "".join(map(str, short.as_tuple().digits)))[0], digits[1:]
    return f"{'-' * short.is_signed()}{first}{'.' * bool(more)}{more}e{power:+03d}"
