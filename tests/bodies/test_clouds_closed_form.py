"""Contacts, gradients and impacts of clouds of balls, compared with closed forms in plain numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import gjk3d as gk
from tests.bodies.random_shapes import anywhere

CASES = given(
    seed=st.integers(0, 2**32 - 1), counts=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    exponent=st.sampled_from([0, 0, -9, 9, -40, 40]), far=st.sampled_from([0.0, 0.0, 1e3]),
)  # fmt: skip


class Reference:
    """A reference implementation of two clouds at poses: their centres in world axes, and the gaps of all balls."""

    def __init__(self, seed: int, counts: tuple[int, int], exponent: int, far: float, separation: float) -> None:
        rng = np.random.default_rng(seed)
        self.size = 10.0**exponent
        radii = 0.3 * rng.random(2) * self.size
        clouds = [self.size * rng.uniform(-1, 1, (count, 3)) for count in counts]
        self.poses = [anywhere(rng, 1.0), anywhere(rng, 1.0)]
        self.poses[1][0, 3] += separation
        for pose in self.poses:
            pose[:3, 3] = (pose[:3, 3] + far) * self.size
        self.a, self.b = (gk.PointCloud(x, r) for x, r in zip(clouds, radii, strict=True))
        self.p, self.q = (x @ m[:3, :3].T + m[:3, 3] for x, m in zip(clouds, self.poses, strict=True))
        self.radii = radii
        self.way = self.q[None] - self.p[:, None]
        self.between = np.linalg.norm(self.way, axis=2)
        self.gaps = self.between - radii.sum()
        self.slack = 1e-12 * self.size * (1.0 + far)

    def normal(self, i: Any, j: Any) -> Any:
        return self.way[i, j] / self.between[i, j][..., None]


@CASES
def test_gradients_equal_closed_form(seed: int, counts: tuple[int, int], exponent: int, far: float) -> None:
    x = Reference(seed, counts, exponent, far, 3.5)
    order = np.argsort(x.gaps, axis=None)
    i, j = np.unravel_index(order[0], x.gaps.shape)
    assume(x.gaps[i, j] > 1e-3 * x.size)
    n = x.normal(i, j)
    slope = gk.gradient(gk.signed_distance(x.a, x.b, *x.poses))
    second = x.gaps.flat[order[1]] - x.gaps[i, j] if x.gaps.size > 1 else np.inf
    assume(second > 1e-6 * x.size)
    assert slope.unique
    points = x.p[i] + x.radii[0] * n, x.q[j] - x.radii[1] * n
    for computed, sign, point, pose in zip((slope.a, slope.b), (-1.0, 1.0), points, x.poses, strict=True):
        wanted = sign * np.concatenate([n * x.size, np.cross(point - pose[:3, 3], n)])
        assert np.concatenate([computed[:3] * x.size, computed[3:]]) == pytest.approx(
            wanted, abs=1e-9 * x.size * (1 + far)
        )


@CASES
def test_contacts_equal_closed_form(seed: int, counts: tuple[int, int], exponent: int, far: float) -> None:
    x = Reference(seed, counts, exponent, far, 0.8)
    assume((np.abs(x.gaps) > 1e-6 * x.size).all())
    touch = gk.contact(x.a, x.b, *x.poses, max_points=None)
    i, j = np.nonzero(x.gaps < 0.0)
    assume(len(i) <= 256)
    assert touch.count == len(i)
    if not len(i):
        return
    order = np.argsort(x.gaps[i, j])
    i, j = i[order], j[order]
    assume(len(i) == 1 or (np.diff(x.gaps[i, j]) > 1e-9 * x.size * (1 + far)).all())
    ranks = np.argsort(touch.gaps)
    assert touch.gaps[ranks] / x.size == pytest.approx(x.gaps[i, j] / x.size, abs=1e-11 * (1 + far))
    n = x.normal(i, j)
    assert touch.normals[ranks] == pytest.approx(n, abs=1e-8 * (1 + far))
    assert touch.points_a[ranks] / x.size == pytest.approx((x.p[i] + x.radii[0] * n) / x.size, abs=1e-8 * (1 + far))
    assert touch.points_b[ranks] / x.size == pytest.approx((x.q[j] - x.radii[1] * n) / x.size, abs=1e-8 * (1 + far))


@CASES
def test_impacts_equal_closed_form(seed: int, counts: tuple[int, int], exponent: int, far: float) -> None:
    x = Reference(seed, counts, exponent, far, 4.0)
    assume(x.gaps.min() > 1e-3 * x.size)
    way = np.array([-6.0, 0.5, -0.3]) * x.size
    # |w + t v|^2 = r^2, as b moves along v
    v, r = way, x.radii.sum()
    b, c = x.way @ v, (x.way**2).sum(axis=2) - r * r
    disc = b * b - (v @ v) * c
    with np.errstate(invalid="ignore"):
        t = (-b - np.sqrt(disc)) / (v @ v)
    t = np.where((disc > 0.0) & (t >= 0.0), t, np.inf)
    assume((np.abs(disc) > 1e-6 * (v @ v) * r * r).all())
    impact = gk.shapecast(x.b, x.a, way, x.poses[1], x.poses[0])
    first = float(t.min())
    assume(abs(first - 1.0) > 1e-6)
    if first > 1.0:
        assert impact.status == gk.ImpactStatus.FREE
    else:
        assert impact.status == gk.ImpactStatus.HIT
        assert impact.time == pytest.approx(first, abs=1e-8 * (1 + far))
        assert impact.free_until <= first + 1e-12 * (1 + far)
