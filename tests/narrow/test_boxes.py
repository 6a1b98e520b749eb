"""Two boxes by their fifteen axes, compared with all facets of the hull of their differences and verified exactly."""

from __future__ import annotations

import laws
import naive
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.narrow.closed import CLEAR_CUT, PARALLEL


def turns(kind: str, rng: np.random.Generator, count: int) -> np.ndarray:
    """Return rotations of B relative to A; the kind determines which axes are parallel or nearly parallel."""
    vectors = naive.unit_vectors(rng, count)
    if kind == "aligned":
        return np.array([np.eye(3)[p] * s for p, s in _signed_permutations(rng, count)])
    if kind == "round an axis":
        vectors = np.eye(3)[rng.integers(0, 3, count)]
        return Rotation.from_rotvec(vectors * rng.uniform(-3, 3, (count, 1))).as_matrix()
    if kind == "nearly aligned":
        angles = 10.0 ** rng.uniform(-17, -1, (count, 1))
        return Rotation.from_rotvec(vectors * angles).as_matrix()
    return naive.random_rotations(rng, count)


def _signed_permutations(rng, count):
    for _ in range(count):
        p, s = rng.permutation(3), rng.choice([-1.0, 1.0], (3, 1))
        if np.linalg.det(np.eye(3)[p] * s) < 0:
            s = -s
        yield p, s


def corners(box):
    return np.array(np.meshgrid(*box.bounds.T)).reshape(3, -1).T


KINDS = ("random", "aligned", "round an axis", "nearly aligned")


def scenes(kind, seed, count):
    """Yield two boxes, a pose of B and the generator. About half overlap, and some offsets are 0 along an axis."""
    rng = np.random.default_rng(seed)
    for k, turn in enumerate(turns(kind, rng, count)):
        e, f = 10.0 ** rng.uniform(-1, 1, (2, 3))
        if k % 4 == 0:
            f = e
        where = rng.uniform(-1, 1, 3) * (e + f) * 0.6
        where[rng.random(3) < 0.25] = 0.0
        yield gk.Box(e), gk.Box(f), naive.pose(turn, where), rng


@pytest.mark.parametrize("kind", KINDS)
def test_depth_matches_all_facets(kind):
    overlapping = 0
    for a, b, pose, _ in scenes(kind, 1, 60):
        result = gk.signed_distance(a, b, None, pose)
        first, second = corners(a), corners(b) @ pose[:3, :3].T + pose[:3, 3]
        truth, _ = naive.hull_signed_distance(naive.differences(first, second))
        size = np.linalg.norm(a.extents) + np.linalg.norm(b.extents)
        assert result.distance == pytest.approx(truth, abs=1e-12 * size)
        assert result.lower <= result.distance <= result.upper
        assert result.tight
        assert gk.collide(a, b, None, pose) == (not result.lower > 0.0)
        overlapping += result.distance < 0
    assert overlapping >= 18


@pytest.mark.parametrize("kind", KINDS)
def test_signed_distance_is_proven_exactly(kind):
    closed = 0
    for a, b, pose, _ in scenes(kind, 2, 25):
        result = gk.signed_distance(a, b, None, pose)
        assert gk.verify(result, a, b, None, pose).proven
        closed += result.iterations == 1
    assert closed >= 4  # the closed form computed some of the results


@pytest.mark.parametrize("kind", KINDS)
def test_distance_of_kissing_boxes_is_proven(kind):
    """A surface point that is common to both boxes only to rounding does not prove an overlap."""
    for a, b, pose, rng in scenes(kind, 4, 25):
        result = gk.signed_distance(a, b, None, pose)
        pose[:3, 3] -= result.distance * (1.0 + rng.choice((0.0, 1e-15, -1e-12, 1e-9))) * result.normal
        unsigned = gk.distance(a, b, None, pose)
        assert gk.verify(unsigned, a, b, None, pose).proven
        assert gk.collide(a, b, None, pose) or unsigned.lower > 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_rounded_and_distant_boxes_keep_the_laws(kind):
    for k, (a, b, pose, rng) in enumerate(scenes(kind, 3, 20)):
        first, second = ("box", tuple(a.extents)), ("box", tuple(b.extents))
        if k % 2:
            first, second = ("inflated", first, 0.1), ("inflated", second, 0.25)
        frame = naive.pose(naive.random_rotations(rng, 1)[0], rng.uniform(-1, 1, 3) * 10.0 ** rng.uniform(0, 4))
        laws.all_laws(laws.Pair(first, frame, second, frame @ pose), tight=True, rng=rng)


@pytest.mark.parametrize("angle", [0.0, 0.5 * PARALLEL, 2 * PARALLEL, 0.5 * CLEAR_CUT, 2 * CLEAR_CUT])
def test_both_sides_of_angle_thresholds_match_facets(angle):
    a, b = gk.Box((2, 1, 1)), gk.Box((1, 1, 3))
    for axis in np.eye(3):
        pose = naive.pose(Rotation.from_rotvec(axis * angle).as_matrix(), (0.9, 0.1, -0.2))
        result = gk.signed_distance(a, b, None, pose)
        facets = gk.signed_distance(a, b, None, pose, depth="facets")
        assert result.distance == pytest.approx(facets.distance, abs=1e-13)
        assert result.tight
        assert gk.verify(result, a, b, None, pose).proven
