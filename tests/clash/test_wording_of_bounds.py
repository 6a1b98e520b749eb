"""The bounds that a report states of a distance, against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gjk3d.clash.report.wording import bounds
from tests.clash.reports import finding


def test_stated_bounds_hold_the_distance_and_its_error_exactly():
    rng = np.random.default_rng(31)
    for distance, error in zip(rng.uniform(0.1, 1.0, 50), 10.0 ** rng.uniform(-18.0, -15.0, 50), strict=True):
        low, high = bounds(finding("clearance", "a", "b", distance=float(distance), error_bound=float(error)))
        assert Fraction(low) <= Fraction(float(distance)) - Fraction(float(error))
        assert Fraction(high) >= Fraction(float(distance)) + Fraction(float(error))


def test_the_stated_bound_of_a_depth_is_no_less_than_its_error_allows():
    rng = np.random.default_rng(32)
    for depth, error in zip(rng.uniform(0.1, 1.0, 50), 10.0 ** rng.uniform(-18.0, -15.0, 50), strict=True):
        more = {"depth": float(depth), "error_bound": float(error), "distance_kind": "bound"}
        low, high = bounds(finding("hard", "a", "b", distance=-float(depth), **more))
        assert low == -depth
        assert -Fraction(float(depth)) + Fraction(float(error)) <= Fraction(high) < 0
