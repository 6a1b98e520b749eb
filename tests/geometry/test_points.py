"""`farthest` and `reaching` agree with the full product, and `boxes_of` equals single poses bit by bit."""

from __future__ import annotations

import tracemalloc

import naive
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gjk3d.geometry.points import boxes_of, farthest, principal_axes, reaching

TURN = Rotation.from_rotvec([0.3, 0.5, -0.7]).as_matrix()
_RNG = np.random.default_rng(21)


def grid(count):
    line = np.linspace(-0.5, 0.5, count)
    return np.stack(np.meshgrid(line, line, line), axis=-1).reshape(-1, 3)


POINTS = {
    "sphere": naive.unit_vectors(_RNG, 2000),
    "cube": grid(12),
    "turned cube": grid(12) @ TURN.T,
    "plate": naive.unit_vectors(_RNG, 2000) * (1, 1, 1e-9) @ TURN.T,
    "needle": naive.unit_vectors(_RNG, 2000) * (1e-6, 1e-6, 1),
    "flat": (grid(12) * (1, 1, 0)) @ TURN.T,
    "far off": naive.unit_vectors(_RNG, 2000) + 1e4,
    "all the same": np.ones((2000, 3)),
    "two": naive.unit_vectors(_RNG, 2),
    "one": naive.unit_vectors(_RNG, 1),
}


@pytest.mark.parametrize("name", POINTS)
def test_farthest_equals_full_product(name, rng):
    points = POINTS[name]
    special = np.vstack([np.eye(3), -np.eye(3), TURN, -TURN, np.repeat(TURN, 60, axis=0), np.zeros((1, 3))])
    near = special + 10.0 ** rng.uniform(-17, -1, (len(special), 1)) * rng.normal(size=special.shape)
    directions = np.vstack([naive.unit_vectors(rng, 1500) * rng.uniform(0.5, 2.0, (1500, 1)), special, near])
    reach, index = farthest(points, directions)
    everything = directions @ points.T
    rounding = 16 * 2.0**-53 * np.abs(points).max() * 2.0
    assert np.abs(reach - everything.max(axis=1)).max() <= rounding
    assert np.abs(everything[np.arange(len(directions)), index] - reach).max() <= rounding


def test_farthest_accepts_no_directions(rng):
    reach, index = farthest(naive.unit_vectors(rng, 5), np.zeros((0, 3)))
    assert (len(reach), len(index)) == (0, 0)


@pytest.mark.parametrize("level", [-0.3, 0.0, 0.9, 0.999])
def test_reaching_omits_no_pair(level, rng):
    points = naive.unit_vectors(rng, 4000)
    directions = np.vstack([naive.unit_vectors(rng, 2000), 0.1 * naive.unit_vectors(rng, 1000)])
    hits = np.zeros((len(directions), len(points)), dtype=bool)
    times = np.zeros(len(directions), dtype=np.int64)
    for rows, members in reaching(points, directions, level):
        hits[np.ix_(rows, members)] = True
        times[rows] += 1
    wanted = directions @ points.T >= level
    assert wanted.any()
    assert (hits | ~wanted).all()
    assert times.max() == 1
    assert level < 0.99 or hits.mean() < 0.2, "most are left out"


@pytest.mark.parametrize("seed", [1, 7])
def test_point_exactly_at_the_level_is_included(seed):
    """The two directions differ only in length, so the bound for both is the product with the longer one."""
    rng = np.random.default_rng(seed)
    points = naive.unit_vectors(rng, 40000)
    longer = naive.unit_vectors(rng, 1)[0]
    heights = points @ longer
    top = int(heights.argmax())
    members = np.concatenate([some for _, some in reaching(points, np.stack([longer, 0.5 * longer]), heights[top])])
    assert top in members


@pytest.mark.parametrize("count", [1, 2, 3, 20_000])
def test_principal_axes_are_orthonormal_in_linear_memory(rng, count):
    points = rng.normal(size=(count, 3)) * (3, 2, 1)
    tracemalloc.start()
    lengths, axes = principal_axes(points)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * count + 20_000
    assert len(lengths) == min(count, 3)
    assert np.abs(axes @ axes.T - np.eye(3)).max() < 1e-14
    assert np.linalg.norm(points @ axes[: len(lengths)].T, axis=0) == pytest.approx(lengths)


def test_boxes_equal_those_of_single_poses():
    rng = np.random.default_rng(3)
    rows = np.zeros((40, 13))
    rows[:, :9] = Rotation.random(40, rng).as_matrix().reshape(-1, 9)
    rows[:, 9:12] = rng.normal(size=(40, 3))
    points = rng.normal(size=(17, 3))
    x, y, z = points.T
    for row, box in zip(rows, boxes_of(rows, points), strict=True):
        along = [row[3 * k] * x + row[3 * k + 1] * y + row[3 * k + 2] * z for k in range(3)]
        assert box.tolist() == [[values.min() + row[9 + k] for k, values in enumerate(along)],
                                [values.max() + row[9 + k] for k, values in enumerate(along)]]  # fmt: skip


def test_box_of_a_point_has_no_negative_zero():
    still = np.zeros((1, 13))
    still[:, [0, 4, 8]] = 1.0
    box = boxes_of(still, np.array([[0.0, -0.0, 2.0]]))
    assert box.tolist() == [[[0.0, 0.0, 2.0]] * 2]
    assert not np.signbit(box).any()
