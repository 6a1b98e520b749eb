"""The printed text of a number with bounds contains the proven interval, checked with fractions."""

from __future__ import annotations

import re
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from message_checks import read

from gjk3d.wording import (
    above,
    below,
    certified,
    expected_names,
    format_bounds,
    format_depth,
    format_time,
    format_vector,
    is_number,
    kind_of,
    number,
    widened,
)
from tests.messages import AT_LEAST, AT_MOST, BETWEEN, UNBOUNDED, UP_TO_ROUNDING


def exactly(value: float) -> Fraction | float:
    return Fraction(value) if np.isfinite(value) else value


FINITE = st.floats(allow_nan=False, allow_infinity=False)
NARROW = st.builds(lambda x, steps: (x, x + steps * float(np.spacing(x))), st.floats(-1e9, 1e9), st.integers(0, 40))
ANY = st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False)).map(sorted)
INTERVALS = st.one_of(ANY, NARROW.map(sorted)).filter(lambda pair: pair[0] < inf and pair[1] > -inf)
DIGITS = st.integers(1, 17)


@given(INTERVALS, DIGITS)
def test_printed_interval_contains_proven_interval(interval, digits):
    lower, upper = interval
    low, high = read(format_bounds(lower, upper, digits), digits)
    assert low <= exactly(lower) <= exactly(upper) <= high


@given(INTERVALS.filter(lambda pair: pair[0] < 0.0), DIGITS)
def test_printed_depth_contains_proven_depth(interval, digits):
    lower, upper = interval
    low, high = read(format_depth(lower, upper, digits), digits, 0.0)
    assert low <= max(exactly(-upper), 0) <= exactly(-lower) <= high


@given(FINITE, DIGITS)
def test_bounds_are_rounded_outward_in_last_digit(value, digits):
    texts = below(value, digits), above(value, digits)
    low, high = map(Fraction, texts)
    assert low <= Fraction(value) <= high
    assert high - low <= abs(Fraction(value)) * Fraction(10) ** (1 - digits)
    assert all(len(re.sub(r"e.*|[-.]", "", text).strip("0")) <= digits for text in texts)


@given(st.integers(-(10**8), 10**8).map(float))
def test_short_numbers_are_printed_exactly(whole):
    assert below(whole, 9) == above(whole, 9) == number(whole, 9) == format_bounds(whole, whole, 9)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (format_bounds(0.4999999999, 0.5000000001), "0.5"),
        (format_bounds(0.0003125, 0.01163031, 4, "m"), BETWEEN.format("0.0003125", "0.01164 m")),
        (format_depth(-0.01163031, -0.0003125, 4, "m"), BETWEEN.format("0.0003125", "0.01164 m")),
        (format_depth(-0.01163031, 0.0, 5), AT_MOST.format("0.011631")),
        (format_depth(-0.01163031, 0.2, 5), AT_MOST.format("0.011631")),
        (format_depth(-inf, -0.25), AT_LEAST.format("0.25")),
        (format_bounds(0.25, inf, unit="mm"), AT_LEAST.format("0.25 mm")),
        (format_bounds(-inf, 0.25), AT_MOST.format("0.25")),
        (format_bounds(-inf, inf), UNBOUNDED),
        (format_bounds(nan, nan), UNBOUNDED),
        (format_bounds(nan, 2.0), AT_MOST.format("2")),
        (format_bounds(inf, inf), "inf"),
        (format_bounds(-0.0, 0.0), "0"),
        (format_bounds(-1.23456e-17, 2.34567e-17, 9), BETWEEN.format("-1.24e-17", "2.35e-17")),
        (format_bounds(123456.7, 123456.9, 4), "1.235e+05"),
        (format_bounds(0.69655464, 0.6965546393 + 1e-8, 10), BETWEEN.format("0.69655464", "0.6965546493")),
        (format_time(0.75, 0.75), "at 0.75"),
        (format_time(0.7, 0.8), f"within {BETWEEN.format('0.699999', '0.800001')}"),
        (format_bounds(1.49999, 1.50001, unit="mm", error=9.5e-5), "1.5 mm"),
        (format_bounds(0.29744, inf, error=1e-4), AT_LEAST.format("0.2974")),
        (format_bounds(-3e-9, 2e-9, error=1e-7), "0"),
        (format_vector((-2.375, -4.113616943, 1e-9)), "(-2.375, -4.11362, 0)"),
        (format_vector((0, 0, 0)), "(0, 0, 0)"),
        (certified(0.25, 0.25 + 2.0**-40), ("0.25", "0.25000000000091")),
        (certified(0.25, 0.25), ("0.25", "0.25")),
        (below(-2 / 3, 3), "-0.667"),
        (above(-2 / 3, 3), "-0.666"),
        (above(2e22 / 3, 3), "6.67e+21"),
        (below(2e-7 / 3, 3), "6.66e-08"),
        (below(-inf), "-inf"),
        (kind_of(3), "an int"),
        (kind_of([]), "a list"),
        (kind_of(None), "None"),
    ],
)
def test_formatted_text_is_expected(words, wanted):
    assert words == wanted


def test_is_number_accepts_inf_and_nan():
    assert [is_number(text) for text in ("1", " -2.5e3", "inf", "nan", "", "1,5", "90deg")] == [True] * 4 + [False] * 3


def test_decimal_context_does_not_affect_formatting():
    import decimal

    with decimal.localcontext(decimal.Context(prec=2, rounding=decimal.ROUND_UP)):
        assert format_bounds(1.23456, 1.34567, 5) == BETWEEN.format("1.2345", "1.3457")


def test_bounds_within_rounding_are_printed_as_zero():
    assert format_bounds(-2.0, 2.06e-14, 5, "mm", rounding=1e-12) == UP_TO_ROUNDING.format(BETWEEN.format("-2", "0 mm"))
    assert format_bounds(-2.93e-14, -2.93e-14, rounding=1e-12) == UP_TO_ROUNDING.format("0")
    assert format_bounds(0.0, 0.0, rounding=1e-12) == "0"  # exact, so without "up to rounding"
    assert format_bounds(-1e-15, 0.25, least=0.0, rounding=1e-12) == UP_TO_ROUNDING.format(AT_MOST.format("0.25"))
    assert format_bounds(1e-11, 1e-11, rounding=1e-12) == "1e-11"


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["hand", "arm"], "expected one of 'hand', 'arm'. Did you mean 'hand'?"),
        (["arm"], "expected 'arm'."),
        ([], "and there are none."),
        ("abcdefghijklmn", f"expected one of {', '.join(map(repr, 'abcdefghijkl'))} and 2 more."),
    ],
)
def test_expected_names_lists_and_suggests_names(names, text):
    assert expected_names("hnad", names) == text


def test_subnormal_bound_is_printed_as_zero():
    assert format_bounds(5e-324, 3.25e-12, 2) == "0 to 3.3e-12"
    assert format_depth(-3.25e-12, -5e-324, 2) == "≤ 3.3e-12"
    assert widened(-5e-324, 5e-324) == (-5e-324, 5e-324)
