"""Motions without a collision, proven by faces of the shapes and compared with many samples of the motion."""

from __future__ import annotations

import numpy as np
import pytest

import gjk3d as gk
from tests.bodies.random_shapes import anywhere


def faceted(rng: np.random.Generator, count: int, stretch: tuple[float, float, float]) -> gk.Mesh:
    hull = gk.ConvexHull(rng.normal(size=(count, 3)) * stretch).surface()
    return gk.Mesh(hull.vertices, hull.faces)


@pytest.mark.parametrize("turn", [0.0, 0.02, 0.3, 2.0])
def test_proven_clearance_matches_the_sampled_distance(turn: float) -> None:
    rng = np.random.default_rng(int(100 * turn))
    for _ in range(12):
        a, b = faceted(rng, 30, (1.0, 1.0, 1.0)), faceted(rng, 12, (0.1, 0.4, 1.0))
        starts = anywhere(rng, 0.3), anywhere(rng, 0.3)
        starts[1][:3, 3] += starts[0][:3, 3] + (7.0, -2.0, 1.0)
        ways = [
            gk.Motion(
                pose, rng.normal(size=3) * 0.05, rng.normal(size=3) * turn, center=pose[:3, 3] + rng.normal(size=3)
            )
            for pose in starts
        ]
        times = np.linspace(0.0, 1.0, 201)
        least = float(np.min(gk.distance(a, b, ways[0].at(times), ways[1].at(times)).distance))
        assert least > 0.1
        assert gk.time_of_impact(a, b, *ways, clearance=least * (1.0 + 1e-9)).free_until < 1.0
        assert gk.time_of_impact(a, b, *ways, clearance=least * (1.0 - 2e-3)).free_until == 1.0


def test_clearance_of_a_pin_turning_in_its_bearing_is_the_gap() -> None:
    angles = np.arange(48) * (2.0 * np.pi / 48)

    def ring(radius: float, inward: bool) -> gk.Mesh:
        flat = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        points = np.concatenate([np.c_[flat, np.full(48, -1.0)], np.c_[flat, np.full(48, 1.0)]])
        k = np.arange(48)
        n = (k + 1) % 48
        faces = np.concatenate([np.c_[k, n, n + 48], np.c_[k, n + 48, k + 48]])
        return gk.Mesh(points, faces[:, ::-1] if inward else faces)

    pin, hole = ring(1.0, False), ring(1.02, True)
    gap = 1.02 * np.cos(np.pi / 48) - 1.0  # between a corner of the pin and the middle of a facet
    swing = gk.Motion(None, (0.3, 0.1, 0.0), (0.0, 0.0, 1.0), center=(4.0, 0.0, 0.0))
    turning = gk.Motion.between(swing.at(0.0), swing.at(0.1) @ gk.Motion(None, angular=(0, 0, 0.2)).at(1.0))
    still = gk.Motion.between(swing.at(0.0), swing.at(0.1))
    for clearance, free in ((0.5 * gap, True), (2.0 * gap, False)):
        impact = gk.time_of_impact(hole, pin, still, turning, clearance=clearance)
        assert (impact.free_until == 1.0) is free
