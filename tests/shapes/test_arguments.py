"""Numbers of all kinds and in all clothes are checked alike: the quick way says what the long one does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from words import assert_names

import gjk3d as gk
from gjk3d.errors import ShapeError
from gjk3d.shapes.base import number, rows, vector

ODD = [0.0, -0.0, 1, -3, True, 2**70, 10**400, 1e-320, 1e-60, 1e-50, 1e50, 1.1e50, np.inf, -np.inf, np.nan, "1", None,
       1j, np.float32(0.1), np.int8(-4)]  # fmt: skip
ANY = st.one_of(st.sampled_from(ODD), st.floats(), st.integers(-5, 5))


def told(ask):
    """What a call returns, as bytes, or raises."""
    try:
        return np.asarray(ask()).tobytes()
    except ShapeError as error:
        return str(error)


class Clothed:
    """Hides numbers from all that looks at types."""

    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.value)

    def __repr__(self):
        return repr(self.value)


@given(st.lists(ANY, min_size=2, max_size=4), st.booleans())
def test_three_numbers_in_any_clothes(value, lengths):
    long_way = told(lambda: vector(Clothed(value), "v", lengths=lengths))
    assert told(lambda: vector(list(value), "v", lengths=lengths)) == long_way
    in_a_tuple = told(lambda: vector(tuple(value), "v", lengths=lengths))
    assert type(in_a_tuple) is type(long_way)
    assert isinstance(long_way, str) or in_a_tuple == long_way


@given(st.lists(st.floats(), min_size=3, max_size=3))
def test_an_array_of_three(value):
    array = np.array(value)
    assert told(lambda: vector(array, "v")) == told(lambda: vector(array[::-1].copy()[::-1], "v"))
    good = all(map(np.isfinite, value))
    size = max(map(abs, value))
    if good and (size == 0.0 or 1e-50 <= size <= 1e50):
        kept = vector(array, "v")
        assert kept.tolist() == value
        assert not np.signbit(kept[kept == 0.0]).any()
        assert not np.shares_memory(kept, array)
    else:
        with pytest.raises(ShapeError, match=r"nan|inf|1e\+50"):
            vector(array, "v")


@example([1.7e308, 1.7e308, 1.0], 3)
@given(st.lists(st.floats(), min_size=3, max_size=3), st.integers(1, 30))
def test_rows_few_and_many(value, at):
    few, many = np.ones((4, 3)), np.ones((40, 3))
    few[at % 4], many[at] = value, value
    one, other = told(lambda: rows(few, "r")), told(lambda: rows(many, "r"))
    if np.isfinite(value).all() and max(map(abs, value)) <= 1e50:
        assert one == few.tobytes() or 0.0 in value
        assert other == many.tobytes() or 0.0 in value
    elif np.isfinite(value).all():
        assert one == other
        assert "1e+50" in one
        assert told(lambda: rows(few, "r", lengths=False)) == (few + 0.0).tobytes()
    else:
        assert_names(one, "1 of 4", "finite")
        assert_names(other, "1 of 40", "finite")


@given(ANY)
def test_a_number_is_what_a_float_makes_of_it(value):
    said = told(lambda: number(value, "n"))
    if type(value) in (int, float) and 1e-50 <= value <= 1e50:
        assert said == np.float64(value).tobytes()
    else:
        assert isinstance(said, str) or type(value) is np.float32


def test_what_shapes_keep_is_their_own():
    extents = np.array([1.0, 2.0, 3.0])
    box = gk.Box(extents)
    extents[0] = 7.0
    assert box == gk.Box((1, 2, 3)) == gk.Box([1.0, 2, 3])
    assert not box.extents.flags.writeable
