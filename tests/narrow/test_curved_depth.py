"""Newton's method on branches, and the caps of directions around its results, compared with plain numpy."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import build, random_poses, random_spec

import gjk3d as gk
from gjk3d.narrow.cores import cores_at, support_pair
from gjk3d.narrow.curved import BRANCH_ROWS, Cap, cap_around, find_stationary
from gjk3d.narrow.gjk import set_row
from gjk3d.poses import pose_rows
from gjk3d.shapes.layout import Core

#: kinds without a radius, where the core is the whole shape
SHARP = ("cylinder", "cone", "ellipsoid", "placed cylinder", "squashed cone", "disc", "box", "hull")
CURVED = ("cylinder", "cone", "ellipsoid", "placed cylinder", "squashed cone")


def grid(count: int) -> np.ndarray:
    """Return evenly distributed directions on a Fibonacci spiral."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    angle = np.arange(count) * np.pi * (3.0 - np.sqrt(5.0))
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=-1)


def greatest_gap(a: naive.Body, b: naive.Body) -> float:
    """Return the signed distance of overlapping bodies by a dense search over directions, refined around the best.

    The refinement is the cross-entropy method, which adapts each sample to narrow ridges. The search is restarted at
    the best direction, because a sample may shrink before it reaches the end of a ridge.
    """
    rng, directions = np.random.default_rng(0), grid(10_000)
    values = naive.gap(a, b, directions)
    best, top = values.max(), directions[values.argmax()]
    starts = []
    for _ in range(8):
        starts.append(directions[values.argmax()])
        values[directions @ starts[-1] > 0.985] = -np.inf  # the starts are at least 0.17 radians apart
    for k in range(12):
        n, reach = (starts[k], 0.03) if k < 8 else (top, 0.03 * 0.1 ** (k - 8))
        x = np.cross(n, (1.0, 0.0, 0.0) if abs(n[0]) < 0.7 else (0.0, 1.0, 0.0))
        y = np.cross(n, x)
        middle, spread = np.zeros(2), reach * np.eye(2)
        for _ in range(50):
            sample = middle + rng.normal(size=(400, 2)) @ spread
            around = n + sample[:, :1] * x + sample[:, 1:] * y
            around /= np.linalg.norm(around, axis=1)[:, None]
            gaps = naive.gap(a, b, around)
            order = np.argsort(-gaps)[:40]
            if gaps[order[0]] > best:
                best, top = gaps[order[0]], around[order[0]]
            if gaps[order[0]] - gaps[order[-1]] < 1e-15 * abs(best):
                break  # the best directions differ only by rounding
            middle = sample[order].mean(axis=0)
            _, lengths, axes = np.linalg.svd((sample[order] - middle) / np.sqrt(40.0), full_matrices=False)
            spread = 2.0 * lengths[:, None] * axes
    return float(best)


def caps_of(spec_a, pose_a, spec_b, pose_b, rng) -> list[Cap]:
    """Return the caps that the kernels compute from triples of support points, in A's axes."""
    cores = [Core(*build(spec)._packed) for spec in (spec_a, spec_b)]
    rows = [pose_rows(pose)[0][0] for pose in (pose_a, pose_b)]
    c = cores_at(cores[0], rows[0], cores[1], rows[1])
    caps = []
    least = gk.signed_distance(build(spec_a), build(spec_b), pose_a, pose_b).normal @ pose_a[:3, :3]
    for n in least + 0.1 * rng.normal(size=(8, 3)):
        n /= np.linalg.norm(n)
        s = np.zeros((6, 10))
        for i in range(3):
            d = n + 0.1 * rng.normal(size=3)
            set_row(s, BRANCH_ROWS + i, *support_pair(c, tuple((d / np.linalg.norm(d)).tolist())))
        summit = find_stationary(c, s, 3, tuple(n.tolist()), 0.0)
        if summit.branches:
            cap = cap_around(s, summit)
            caps += [cap] if cap.cosine <= 1.0 else []
    return caps


@pytest.mark.parametrize("one", CURVED)
@pytest.mark.parametrize("other", SHARP)
def test_depth_in_a_cap_is_at_least_its_floor(one, other):
    """The naive depth along 400 directions of a cap is at least the cap's floor."""
    rng = np.random.default_rng(CURVED.index(one) * 10 + SHARP.index(other))
    spec_a, spec_b = random_spec(rng, one), random_spec(rng, other)
    count = 0
    for pose_a, pose_b in zip(*random_poses(rng, spec_a, spec_b, 12), strict=True):
        a, b = naive.bodies(spec_a, pose_a, spec_b, pose_b)
        for cap in caps_of(spec_a, pose_a, spec_b, pose_b, rng):
            n = pose_a[:3, :3] @ cap.n
            turned = np.cross(n, naive.unit_vectors(rng, 400))
            turned /= np.linalg.norm(turned, axis=1)[:, None]
            angles = np.arccos(cap.cosine) * np.concatenate([rng.random(300), 10.0 ** -rng.uniform(0, 8, 100)])[:, None]
            directions = np.cos(angles) * n + np.sin(angles) * turned
            depth = -naive.gap(a, b, directions)
            assert depth.min() >= cap.floor - 1e-14 * naive.pair_size(a, b)
            count += 1
    assert count or other == "disc"


@pytest.mark.full
@given(seed=st.integers(0, 2**32 - 1), one=st.sampled_from(CURVED), other=st.sampled_from(SHARP))
def test_bounds_of_curved_pairs_contain_a_dense_search(seed, one, other):
    rng = np.random.default_rng(seed)
    spec_a, spec_b = random_spec(rng, one), random_spec(rng, other)
    poses_a, poses_b = random_poses(rng, spec_a, spec_b, 2)
    size = gk.bounding_sphere(build(spec_a)).radius + gk.bounding_sphere(build(spec_b)).radius
    for pose_a, pose_b in zip(poses_a, poses_b, strict=True):
        result = gk.signed_distance(build(spec_a), build(spec_b), pose_a, pose_b)
        assert result.upper - result.lower <= 4e-10 * size
        best = greatest_gap(*naive.bodies(spec_a, pose_a, spec_b, pose_b))
        assert best <= result.upper + 1e-14 * size  # the gap along any direction is a lower bound
        assert best >= result.lower - 1e-10 * size  # the error of the search is below 1e-10
