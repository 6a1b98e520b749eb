"""`separating_axis` of non-convex bodies: the plane in the result is checked against every point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from message_checks import assert_names

import gjk3d as gk
from gjk3d.errors import UnsupportedPair
from gjk3d.results import Status
from tests.bodies import every_kind
from tests.bodies.every_kind import CUBE, Known
from tests.bodies.random_shapes import anywhere, at

BOX = Known(gk.Box((1, 1, 1)), [CUBE])
SHARP = {
    "box": BOX,
    "solid": every_kind.closed(),
    **{k: every_kind.KINDS[k](1) for k in ("mesh", "compound", "voxels")},
}


@pytest.mark.parametrize("one", SHARP)
@pytest.mark.parametrize("other", SHARP)
def test_plane_has_the_bodies_on_opposite_sides(one: str, other: str) -> None:
    a, b = SHARP[one], SHARP[other]
    rng = np.random.default_rng(3)
    parted = 0
    for _ in range(12):
        pose_a, pose_b = anywhere(rng, 1.0), anywhere(rng, 1.5)
        pose_b[0, 3] += 1.5
        p, q = (np.concatenate(x.placed(pose)) for x, pose in ((a, pose_a), (b, pose_b)))
        true = gk.signed_distance(gk.ConvexHull(p), gk.ConvexHull(q))
        if not true.distance > 1e-9 and (one, other) != ("box", "box"):
            with pytest.raises(UnsupportedPair, match=r"\(gap -.*signed_distance"):
                gk.separating_axis(a.body, b.body, pose_a, pose_b)
            continue
        parted += 1
        axis = gk.separating_axis(a.body, b.body, pose_a, pose_b)
        gap = float((q @ axis.normal).min() - (p @ axis.normal).max())
        assert axis.gap - axis.error - 1e-14 <= gap <= axis.gap + axis.error + 1e-14
        assert axis.gap <= true.upper + axis.error
        if (one, other) != ("box", "box"):
            assert axis.status is Status.SEPARATED
            assert gk.distance(a.body, b.body, pose_a, pose_b).upper >= axis.gap - axis.error
    assert parted > 1


@given(
    seed=st.integers(0, 2**32 - 1), kinds=st.tuples(*[st.sampled_from(["mesh", "compound", "voxels"])] * 2),
    exponent=st.sampled_from([0, -9, 9, -40, 40]), far=st.sampled_from([0.0, 1e3]),
)  # fmt: skip
def test_separating_axis_at_any_size_and_position(seed: int, kinds: tuple[str, str], exponent: int, far: float) -> None:
    rng, size = np.random.default_rng(seed), 10.0**exponent
    a, b = (every_kind.BOUNDED[kind](seed + k, size) for k, kind in enumerate(kinds))
    pose_a, pose_b = anywhere(rng, 1.0), anywhere(rng, 1.0)
    pose_b[0, 3] += 4.5
    for pose in (pose_a, pose_b):
        pose[:3, 3] = (pose[:3, 3] + far) * size
    p, q = (np.concatenate(x.placed(pose)) for x, pose in ((a, pose_a), (b, pose_b)))
    try:
        axis = gk.separating_axis(a.body, b.body, pose_a, pose_b)
    except UnsupportedPair:
        n = np.array([1.0, 0.0, 0.0])
        assert not (q @ n).min() > (p @ n).max() + 1e-9 * size * (1 + far)
        return
    gap = float((q @ axis.normal).min() - (p @ axis.normal).max())
    slack = 1e-14 * size * (1 + far)
    assert axis.gap - axis.error - slack <= gap <= axis.gap + axis.error + slack
    assert axis.gap > axis.error >= 0.0


def test_stacks_and_pairs_without_a_separating_plane() -> None:
    solid = every_kind.closed().body
    poses = np.stack([at(3, 0, 0), at(0, 4, 1), at(0, 0, -7)])
    axes = gk.separating_axis(solid, gk.Box((1, 1, 1)), None, poses)
    for k, pose in enumerate(poses):
        assert axes.gap[k] == gk.separating_axis(solid, gk.Box((1, 1, 1)), None, pose).gap
    poses[1, 1, 3] = 2
    with pytest.raises(UnsupportedPair) as caught:
        gk.separating_axis(solid, gk.Box((1, 1, 1)), None, poses)
    assert_names(caught.value, "row 2 of 3", "gap -0.5", "signed_distance")
    nook = gk.Box((0.5, 0.5, 0.5))  # in the corner of the L: separated from it, but inside its hull
    assert gk.distance(solid, nook, None, at(1.4, 1.4, 0.5)).distance == pytest.approx(0.15)
    with pytest.raises(UnsupportedPair) as caught:
        gk.separating_axis(solid, nook, None, at(1.4, 1.4, 0.5))
    assert_names(caught.value, "gap -0.494975", "signed_distance")
    for round_one in (every_kind.cloud().body, every_kind.ground().body):
        with pytest.raises(UnsupportedPair, match=r"\bb\b.*(PointCloud|HeightField).*signed_distance"):
            gk.separating_axis(BOX.body, round_one, None, at(0, 0, 9))
    with pytest.raises(UnsupportedPair, match=r"separating_axis.*Halfspace.*normal"):
        gk.separating_axis(solid, gk.Halfspace((0, 0, 1), -3))
    with pytest.raises(UnsupportedPair, match=r"\ba\b.*\bSphere\b.*signed_distance"):
        gk.separating_axis(gk.Sphere(1), solid, at(0, 0, 9))
