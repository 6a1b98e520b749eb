"""Cores with a distance in closed form, compared with the naive twins and with EPA."""

from __future__ import annotations

from itertools import pairwise

import laws
import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from strategies import random_poses, sampled

import gjk3d as gk

SPECS = {
    "point": ("point", (0.0, 0.0, 0.0)),
    "ball": ("sphere", 0.3),
    "capsule": ("capsule", 0.2, 1.4),
    "thread": ("capsule", 1e-9, 2.0),
    "box": ("box", (0.7, 1.1, 0.4)),
    "plate": ("box", (1.2, 0.9, 1e-7)),
    "needle": ("box", (1e-7, 1.3, 1e-7)),
    "rounded box": ("inflated", ("box", (0.5, 0.8, 0.6)), 0.1),
    "cylinder": ("cylinder", 0.5, 1.2),
    "coin": ("cylinder", 0.8, 1e-7),
}
ROUND = ("point", "ball", "capsule", "thread")
BOXES = ("box", "plate", "needle", "rounded box")
PAIRS = [
    (a, b) for a in SPECS for b in SPECS
    if (a in ROUND and b in ROUND) or ((a in ROUND[:2]) != (b in ROUND[:2]) and not {a, b} & set(ROUND[2:]))
    or ((a in BOXES or b in BOXES) and {a, b} <= {*BOXES, *ROUND})
]  # fmt: skip


def cylinder_gap(radius: float, height: float, points: np.ndarray) -> np.ndarray:
    """Return signed distances of points from a cylinder, by the outline of its half section."""
    rho, z = np.hypot(points[:, 0], points[:, 1]), points[:, 2]
    outline = np.array([(0.0, height / 2), (radius, height / 2), (radius, -height / 2), (0.0, -height / 2)])
    best = np.full(len(points), np.inf)
    for p, q in pairwise(outline):
        at = np.stack([rho, z], axis=1) - p
        share = np.clip(at @ (q - p) / ((q - p) @ (q - p)), 0.0, 1.0)
        best = np.minimum(best, np.linalg.norm(at - share[:, None] * (q - p), axis=1))
    return np.where((rho <= radius) & (abs(z) <= height / 2), -best, best)


def truths(pair: laws.Pair, names: tuple[str, str]) -> np.ndarray:
    """Return the signed distances by the naive twins."""
    if "cylinder" not in names and "coin" not in names:
        posed = [
            naive.bodies(pair.a, pose_a, pair.b, pose_b)
            for pose_a, pose_b in zip(pair.poses_a, pair.poses_b, strict=True)
        ]
        return np.array([naive.signed_distance(a, b)[0] for a, b in posed])
    solid = 0 if names[0] in ("cylinder", "coin") else 1
    poses, others = (pair.poses_a, pair.poses_b)[:: 1 if solid == 0 else -1]
    local = np.einsum("kji,kj->ki", poses[:, :3, :3], others[:, :3, 3] - poses[:, :3, 3])
    return cylinder_gap(*SPECS[names[solid]][1:], local) - (pair.body_a, pair.body_b)[1 - solid].radius


def check(pair: laws.Pair, names: tuple[str, str]) -> None:
    """Compare the results with the naive twins and with EPA."""
    result, by_epa = pair.signed(), pair.signed(depth="epa")
    near = 1e-11 * pair.size + pair.rounding
    assert np.all(abs(result.distance - truths(pair, names)) <= near)
    assert np.all(result.lower <= by_epa.upper)
    assert np.all(by_epa.lower <= result.upper)
    assert np.all(np.linalg.norm(result.normal, axis=1) == pytest.approx(1.0, abs=1e-12))
    gap = result.point_b - result.point_a - result.distance[:, None] * result.normal
    assert np.all(np.linalg.norm(gap, axis=1) <= near + pair.world)
    assert np.array_equal(pair.collide(), ~(result.lower > 0.0))
    unsigned = pair.apart()
    assert np.all(unsigned.lower <= np.maximum(by_epa.upper, 0.0))
    assert np.all(np.maximum(by_epa.lower, 0.0) <= unsigned.upper)


@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_random_poses_match_naive_twins_and_epa(names):
    """Half of the pairs share a point. The others are separated by at least a millionth of their size."""
    rng = np.random.default_rng(PAIRS.index(names))
    a, b = SPECS[names[0]], SPECS[names[1]]
    poses_a, poses_b = random_poses(rng, a, b, 12)
    check(laws.Pair(a, poses_a, b, poses_b), names)


@pytest.mark.parametrize("names", sampled(((names,) for names in PAIRS), 3), ids="-".join)
@given(data=st.data())
def test_poses_with_ties_match_naive_twins_and_epa(names, data):
    """Centres coincide, axes are parallel, and points lie on faces, edges, rims and axes."""
    step = st.sampled_from((-1.0, -0.6, -0.25, 0.0, 1e-9, 0.2, 0.25, 0.5, 0.6, 0.7, 2.0))
    turn = st.sampled_from((np.eye(3), np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]), np.diag([1.0, -1, -1])))
    poses_a, poses_b = np.eye(4)[None].copy(), np.eye(4)[None].copy()
    poses_a[0, :3, :3], poses_b[0, :3, :3] = data.draw(turn), data.draw(turn)
    poses_b[0, :3, 3] = data.draw(st.tuples(step, step, step))
    a, b = SPECS[names[0]], SPECS[names[1]]
    check(laws.Pair(a, poses_a, b, poses_b), names)


def test_clipped_step_is_not_the_gap():
    """The result of a step that is clipped at the end of a box is not the gap: it was once 0 at a distance of 2.7."""
    plank, wall = gk.Box((0.7, 0.35, 0.06)), gk.Box((0.15, 0.6, 2.4))
    pose = [
        [-0.860351814052504, -0.502281860995135, -0.08664691668968516, 0.1324487653145888],
        [0.09374867641357956, 0.011155201973927956, -0.9955333983044581, -0.0339616984194147],
        [0.5010049318392658, -0.8646319989360705, 0.03749086140045245, 0.9104915416680797],
        [0.0, 0.0, 0.0, 1.0],
    ]
    rng = np.random.default_rng(7)
    turns = Rotation.random(20000, random_state=7).as_matrix()
    poses = np.tile(np.eye(4), (20001, 1, 1))
    poses[0], poses[1:, :3, :3], poses[1:, :3, 3] = pose, turns, rng.normal(size=(20000, 3))
    for shape in (wall, gk.Capsule(0.01, 2.4)):
        result, searched = (gk.signed_distance(plank, shape, poses, None, depth=depth) for depth in ("auto", "epa"))
        assert (result.lower <= searched.upper + 1e-12).all()
        assert (searched.lower <= result.upper + 1e-12).all()
