"""Printed bounds of a distance in clash reports, compared with rational arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from gjk3d.clash.report.wording import bounds, gap
from tests.clash.reports import finding


def test_bounds_contain_distance_plus_and_minus_error():
    rng = np.random.default_rng(31)
    for distance, error in zip(rng.uniform(0.1, 1.0, 50), 10.0 ** rng.uniform(-18.0, -15.0, 50), strict=True):
        low, high = bounds(finding("clearance", "a", "b", distance=float(distance), error_bound=float(error)))
        assert Fraction(low) <= Fraction(float(distance)) - Fraction(float(error))
        assert Fraction(high) >= Fraction(float(distance)) + Fraction(float(error))


def test_depth_bound_includes_its_error():
    rng = np.random.default_rng(32)
    for depth, error in zip(rng.uniform(0.1, 1.0, 50), 10.0 ** rng.uniform(-18.0, -15.0, 50), strict=True):
        more = {"depth": float(depth), "error_bound": float(error), "distance_kind": "bound"}
        low, high = bounds(finding("hard", "a", "b", distance=-float(depth), **more))
        assert low == -depth
        assert -Fraction(float(depth)) + Fraction(float(error)) <= Fraction(high) < 0


def test_gap_above_its_error_is_not_printed_as_zero():
    """Digits below the error of the files are omitted, but a gap above its own error bound keeps its first digit."""
    near = finding("touch", "a", "b", distance=1.0058e-4, error_bound=2.8e-12, tolerance=2.38e-4, method="gjk")
    assert gap(near, "mm", 2.38e-4) == "0.0001 mm"
    assert gap(replace(near, distance=0.0), "mm", 2.38e-4) == "0 mm"
    assert gap(replace(near, distance=1e-13), "mm", 2.38e-4) == "0 mm"  # below its error bound
