"""Numbers of all types are checked equally: the fast path returns the same result as the general path."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from message_checks import assert_names

import gjk3d as gk
from gjk3d.errors import ShapeError
from gjk3d.shapes.base import number, rows, vector

ODD = [0.0, -0.0, 1, -3, True, 2**70, 10**400, 1e-320, 1e-60, 1e-50, 1e50, 1.1e50, np.inf, -np.inf, np.nan, "1", None,
       1j, np.float32(0.1), np.int8(-4)]  # fmt: skip
ANY = st.one_of(st.sampled_from(ODD), st.floats(), st.integers(-5, 5))


def result_of(call):
    """Return the result of a call as bytes, or the message of its error."""
    try:
        return np.asarray(call()).tobytes()
    except ShapeError as error:
        return str(error)


class ArrayLike:
    """An array-like that hides its numbers from type checks."""

    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.value)

    def __repr__(self):
        return repr(self.value)


@given(st.lists(ANY, min_size=2, max_size=4), st.booleans())
def test_lists_and_tuples_agree_with_array_like(value, lengths):
    expected = result_of(lambda: vector(ArrayLike(value), "v", lengths=lengths))
    assert result_of(lambda: vector(list(value), "v", lengths=lengths)) == expected
    in_a_tuple = result_of(lambda: vector(tuple(value), "v", lengths=lengths))
    assert type(in_a_tuple) is type(expected)
    assert isinstance(expected, str) or in_a_tuple == expected


@given(st.lists(st.floats(), min_size=3, max_size=3))
def test_array_is_copied_and_checked(value):
    array = np.array(value)
    assert result_of(lambda: vector(array, "v")) == result_of(lambda: vector(array[::-1].copy()[::-1], "v"))
    good = all(map(np.isfinite, value))
    size = max(map(abs, value))
    if good and (size == 0.0 or 1e-50 <= size <= 1e50):
        result = vector(array, "v")
        assert result.tolist() == value
        assert not np.signbit(result[result == 0.0]).any()
        assert not np.shares_memory(result, array)
    else:
        with pytest.raises(ShapeError, match=r"nan|inf|1e\+50"):
            vector(array, "v")


@example([1.7e308, 1.7e308, 1.0], 3)
@given(st.lists(st.floats(), min_size=3, max_size=3), st.integers(1, 30))
def test_few_and_many_rows_agree(value, at):
    few, many = np.ones((4, 3)), np.ones((40, 3))
    few[at % 4], many[at] = value, value
    of_few, of_many = result_of(lambda: rows(few, "r")), result_of(lambda: rows(many, "r"))
    if np.isfinite(value).all() and max(map(abs, value)) <= 1e50:
        assert of_few == few.tobytes() or 0.0 in value
        assert of_many == many.tobytes() or 0.0 in value
    elif np.isfinite(value).all():
        assert of_few == of_many
        assert "1e+50" in of_few
        assert result_of(lambda: rows(few, "r", lengths=False)) == (few + 0.0).tobytes()
    else:
        assert_names(of_few, "1 of 4", "finite")
        assert_names(of_many, "1 of 40", "finite")


@given(ANY)
def test_number_equals_float(value):
    result = result_of(lambda: number(value, "n"))
    if type(value) in (int, float) and 1e-50 <= value <= 1e50:
        assert result == np.float64(value).tobytes()
    else:
        assert isinstance(result, str) or type(value) is np.float32


def test_shapes_copy_their_arrays():
    extents = np.array([1.0, 2.0, 3.0])
    box = gk.Box(extents)
    extents[0] = 7.0
    assert box == gk.Box((1, 2, 3)) == gk.Box([1.0, 2, 3])
    assert not box.extents.flags.writeable
