"""Ties, where a circle or sphere of directions gives the same depth, compared with closed forms and a plane search.

The reference value is the least h(n) over the directions in the plane of the axis and the offset. It is searched on a
grid that is refined around each of its minima.
"""

from __future__ import annotations

import laws
import naive
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from strategies import sampled

import gjk3d as gk
from tests.hardening.__main__ import run

SOLIDS = {
    "sphere": ("sphere", 0.8),
    "capsule": ("capsule", 0.4, 1.25),
    "cylinder": ("cylinder", 0.6, 1.25),
    "flat cylinder": ("cylinder", 1.5, 0.1),
    "cone": ("cone", 0.7, 1.5),
    "needle": ("cone", 1e-3, 2.0),
    "prolate": ("ellipsoid", (0.5, 0.5, 1.0)),
    "oblate": ("scaled", ("ellipsoid", (0.25, 1.0, 1.0)), (4.0, 1.0, 0.25)),
    "rounded cone": ("inflated", ("cone", 0.5, 1.0), 0.2),
    "stretched capsule": ("scaled", ("capsule", 0.4, 1.0), (1.0, 1.0, 1.5)),
}
CURVED = ("cylinder", "flat cylinder", "cone", "needle", "prolate", "oblate", "rounded cone", "stretched capsule")
PAIRS = [(one, other) for one in CURVED for other in SOLIDS]


def deepest(a: naive.Body, b: naive.Body, turn: np.ndarray) -> float:
    """Return the signed distance of solids of revolution about the rotated z axis, from directions in one plane."""
    u = turn @ [0.0, 0.0, 1.0]
    across = (b.center - a.center) - ((b.center - a.center) @ u) * u
    e = across / np.linalg.norm(across) if np.linalg.norm(across) > 1e-13 else turn @ [1.0, 0.0, 0.0]
    angles = np.linspace(-np.pi, np.pi, 20_001)

    def g(t):
        t = np.asarray(t)
        return naive.gap(a, b, np.cos(t)[:, None] * e + np.sin(t)[:, None] * u)

    values = g(angles)
    dips = np.argsort(-values)[:8]
    best = values.max()
    for k in dips:  # ternary search, because scipy's scalar minimizer reaches only half the digits
        low, high = angles[max(k - 1, 0)], angles[min(k + 1, 20_000)]
        while high - low > 1e-15:
            third = (high - low) / 3
            first, second = g([low + third, high - third])
            best = max(best, first, second)
            low, high = (low + third, high) if first < second else (low, high - third)
    return float(best)


def parallel_poses(rng, one, other, count):
    """Return poses with parallel axes at small to large offsets, a third of them upside down, in random frames."""
    height = naive.body(SOLIDS[one]).size + naive.body(SOLIDS[other]).size
    poses_a, poses_b = [], []
    for k in range(count):
        spin = rng.uniform(0, 2 * np.pi)
        local = naive.pose([[np.cos(spin), -np.sin(spin), 0], [np.sin(spin), np.cos(spin), 0], [0, 0, 1]])
        if k % 3 == 2:
            local[:3, :3] = local[:3, :3] @ np.diag([1, -1, -1])
        offset = (0.0, 1e-13, 1e-6, 0.05, 0.3)[k % 5] * height
        local[:3, 3] = (offset, 0.0, rng.uniform(-0.3, 0.3) * height if k % 2 else 0.0)
        common = naive.pose(naive.random_rotations(rng, 1)[0], rng.normal(size=3)) if k % 4 else np.eye(4)
        poses_a.append(common)
        poses_b.append(common @ local)
    return np.array(poses_a), np.array(poses_b)


@pytest.mark.parametrize(("one", "other"), sampled(PAIRS, 4))
def test_parallel_solids_of_revolution_have_tight_bounds(one, other):
    rng = np.random.default_rng(PAIRS.index((one, other)))
    poses_a, poses_b = parallel_poses(rng, one, other, 20)
    pair = laws.Pair(SOLIDS[one], poses_a, SOLIDS[other], poses_b)
    result = laws.all_laws(pair, tight=True, rng=rng)
    checked = 0
    for k in range(0, 20, 3):
        a, b = naive.bodies(SOLIDS[one], poses_a[k], SOLIDS[other], poses_b[k])
        if result.upper[k] < 0:
            truth = deepest(a, b, poses_a[k, :3, :3])
            slack = 1e-12 * naive.pair_size(a, b)
            assert result.lower[k] - slack <= truth <= result.upper[k] + slack
            checked += 1
    assert checked >= 4


def test_depths_equal_closed_forms():
    pin, bore = gk.Cylinder(0.5, 3), gk.Cylinder(0.75, 1)
    assert gk.signed_distance(pin, bore).distance == pytest.approx(-1.25, abs=1e-14)
    # the ball's centre is on the cone's axis, at the distance (h/2) r / hypot(r, h) from the mantle
    ball, cone = gk.Sphere(0.1), gk.Cone(1, 2)
    foot = 1.0 / np.hypot(1, 2)
    assert gk.signed_distance(ball, cone).distance == pytest.approx(-0.1 - foot, abs=1e-14)
    assert gk.signed_distance(gk.Capsule(0.2, 1), gk.Cylinder(0.3, 4)).distance == pytest.approx(-0.5, abs=1e-14)
    # similar ellipsoids with a common centre
    small, large = gk.Ellipsoid((1, 1.0000001, 1.0001)), gk.Ellipsoid((2, 2.0000002, 2.0002))
    result = gk.signed_distance(small, large)
    assert result.tight
    assert result.distance == pytest.approx(-3, abs=1e-14)


@pytest.mark.parametrize(("radius", "height"), [(0.5, 1.0), (0.01, 1.0), (2.0, 0.1)])
@pytest.mark.parametrize("off", [0.0, 1e-16, -1e-16, -1e-15, -1e-14])
def test_contact_at_a_cone_apex_takes_few_steps(radius, height, off):
    """EPA ends early although all its faces at the apex have the same distance (it once took a thousand steps)."""
    cone, point = gk.Cone(radius, height), gk.ConvexHull(np.zeros((1, 3)))
    apex = float(cone.support((0, 0, 1.0))[2])
    above, turned = np.eye(4), np.diag((1.0, -1.0, -1.0, 1.0))
    above[2, 3], turned[2, 3] = apex + off, 2.0 * apex + off
    for result in (gk.signed_distance(cone, point, None, above), gk.signed_distance(cone, cone, None, turned)):
        assert result.lower <= max(off, 0.0)
        assert result.upper >= min(off, 0.0)
        assert result.upper - result.lower < 4e-13 * max(radius, height)
        assert result.iterations <= 40


@pytest.mark.parametrize("radii", [(1.0, 1.0, 1.0), (1.0, 1.0, 1.0 + 1e-9), (1.0, 1.001, 1.002), (1.0, 2.0, 5.0)])
def test_ellipsoids_with_common_centre_and_axes(radii):
    rng = np.random.default_rng(7)
    permuted = np.array(radii)[[2, 0, 1]] * 3
    turn = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])  # maps x to y, y to z, z to x
    poses = np.tile(np.eye(4), (6, 1, 1))
    poses[:, :3, :3] = naive.random_rotations(rng, 6)
    poses[:, :3, 3] = rng.normal(size=(6, 3))
    poses[0] = np.eye(4)
    for spec, local in ((("ellipsoid", permuted), np.eye(3)), (("ellipsoid", np.array(radii) * 3), turn)):
        pair = laws.Pair(("ellipsoid", radii), poses, spec, poses @ naive.pose(local))
        result = laws.all_laws(pair, tight=True, rng=rng)
        depth = min(np.array(radii) + np.array(radii)[[2, 0, 1]] * 3)
        assert -result.distance == pytest.approx(np.full(6, depth), rel=1e-12)


def test_bounds_for_nearly_parallel_axes_are_limited_by_the_tilt():
    a, b = SOLIDS["cylinder"], SOLIDS["cone"]
    angles = np.logspace(-16, -1, 31)
    poses = np.tile(np.eye(4), (31, 1, 1))
    poses[:, 1, 1] = poses[:, 2, 2] = np.cos(angles)
    poses[:, 2, 1] = np.sin(angles)
    poses[:, 1, 2] = -np.sin(angles)
    pair = laws.Pair(a, np.tile(np.eye(4), (31, 1, 1)), b, poses)
    result = laws.all_laws(pair, tight=False, rng=np.random.default_rng(3))
    assert result.tight[angles < 1e-11].all()
    width = result.upper - result.lower
    # the tilt moves the support points and the shape, hence the factor 2
    askew = 1e-10 + 2.02 * pair.body_b.reach * angles
    laws.at_most(width[angles < 1e-7], askew[angles < 1e-7], "no wider than askew")
    laws.at_most(width, 1e-3, "EPA's, where they are farther askew")


@pytest.mark.full
def test_near_ties_satisfy_the_laws():
    """Nearly coaxial discs, needles and ellipsoids satisfy the laws (tests.hardening checks a million of them)."""
    tally, _ = run(2000, seed=1, progress=False, only="near ties")
    total = tally.total()
    assert total.pairs >= 2000
    assert total.verified >= 5
    assert not total.wrong, tally.found
    assert total.loose < 0.2 * total.pairs


def test_normal_of_boxes_face_to_face_far_from_the_origin():
    """The normal is the exact axis that proved the bound, not a later direction with an error of 4e-9."""
    pose_a, pose_b = np.eye(4), np.eye(4)
    pose_a[:3] = (0, -1, 0, -16777216.0), (0, 0, 1, 8388608.0), (-1, 0, 0, -4194304.0)
    pose_b[:3] = (-1, 0, 0, -16777213.421438407), (0, 0, -1, 8388604.75), (0, -1, 0, -4194308.0023541665)
    box = ("box", np.array([4.0, 1.1571232, 3.25]))
    pair = laws.Pair(box, pose_a, box, pose_b)
    laws.sign_law(pair, pair.signed())


def test_distance_queries_return_the_same_status_at_a_cone_rim():
    """Both return SEPARATED where the meridian plane proves it, although GJK and EPA alone do not."""
    rng = np.random.default_rng(291)
    radius, height, count = 1.1099515488777147, 1.3181389537769181, 300
    angles = rng.uniform(-np.pi, np.pi, count)
    rim = np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(count, -0.5 * height)])
    out = rim + 10.0 ** rng.uniform(-15, -12, (count, 1)) * rng.choice((-1.0, 1.0), (count, 1)) * rim
    poses_a, poses_b = np.tile(np.eye(4), (count, 1, 1)), np.tile(np.eye(4), (count, 1, 1))
    poses_b[:, :3, :3] = naive.random_rotations(rng, count)
    poses_a[:, :3, 3] = np.einsum("nij,nj->ni", poses_b[:, :3, :3], out)
    pair = laws.Pair(("point", (0.0, 0.0, 0.0)), poses_a, ("cone", radius, height), poses_b)
    laws.distance_law(pair, pair.signed())


def test_witness_points_of_separated_boxes_face_to_face():
    """|v| was minimal up to rounding while v was tilted by 6e-11, which moved point_b off its box."""
    pose_a, pose_b = np.eye(4), np.eye(4)
    pose_a[:3] = (-1, 0, 0, -4.0), (0, 0, 1, 12.0), (0, 1, 0, -4.0)
    pose_b[:3, 3] = -9.069841753568596, 9.295255383370195, -2.882267389476221
    a = ("box", (3.397938705521271, 1.7354652210475576, 2.375))
    b = ("box", (3.0367521467246164, 3.0344892355271433, 0.5))
    for pair in (laws.Pair(a, pose_a, b, pose_b), laws.Pair(b, pose_b, a, pose_a)):
        result = pair.signed()
        laws.sign_law(pair, result)
        laws.distance_law(pair, result)
        assert np.abs(result.normal[0]).tolist() == [1, 0, 0]


def test_witness_points_of_a_capsule_on_a_cone_rim():
    """The axis that proved the bound was tilted to the witness points by 1e-7, which moved point_b off the rim."""
    pose_a = [
        [-0.7357162303713882, 0.6204081192374038, 0.2716898856277539, 0.0],
        [-0.6330838285509024, -0.7724894825814197, 0.04964741008776002, 0.0],
        [0.240679235488744, -0.135476067574306, 0.9611033975172265, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]
    pose_b = [
        [0.8442017503909595, 0.4847856563310505, 0.22870564499485507, 1.286627203815815],
        [-0.21984056796775092, -0.0759979094976233, 0.9725710474960724, 0.6701703513382826],
        [0.4888696444988753, -0.8713249595688531, 0.0424179858064897, -1.5252883324304911],
        [0.0, 0.0, 0.0, 1.0],
    ]
    capsule = ("capsule", 0.3730650685330253, 1.9267764229103792)
    cone = ("cone", 1.252799529272599, 1.4766709026973128)
    result = laws.Pair(capsule, pose_a, cone, pose_b).signed()
    shape = gk.Cone(*cone[1:])
    for answer in (result[0], gk.distance(result.shape_a, result.shape_b, pose_a, pose_b)):
        assert gk.distance(gk.Point(answer.point_b), shape, None, pose_b).distance < 1e-9


def test_nearly_aligned_boxes_that_barely_overlap_collide():
    """The cross product of edges at angles of 1e-14 to 1e-8 is mostly rounding and not a separating axis."""
    rng = np.random.default_rng(531)
    count = 4000
    turns = naive.random_rotations(rng, count)
    vectors = 10.0 ** rng.uniform(-14, -8, (count, 1)) * naive.unit_vectors(rng, count)
    poses_a, poses_b = np.tile(np.eye(4), (count, 1, 1)), np.tile(np.eye(4), (count, 1, 1))
    poses_a[:, :3, :3] = turns
    poses_b[:, :3, :3] = turns @ Rotation.from_rotvec(vectors).as_matrix()
    a, b = np.array((1.0, 0.5, 0.75)), np.array((0.5, 1.25, 0.25))
    offset = rng.choice((-1, 1), (count, 3)) * 0.499999 * (a + b) * np.where(rng.random((count, 3)) < 0.7, 1, 0.5)
    poses_b[:, :3, 3] = np.einsum("nij,nj->ni", turns, offset)
    assert gk.collide(gk.Box(a), gk.Box(b), poses_a, poses_b).all()


def test_barely_overlapping_nearly_parallel_axes_are_tight():
    """The section by a plane proves nothing about overlaps that are smaller than the effect of the tilt."""
    a, b = ("cylinder", 1.1546398253090053, 2.2944197170434726), ("cone", 0.7497530988485721, 1.5288615431986021)
    angles = np.logspace(-8, -5.5, 40)
    poses_a, poses_b = np.tile(np.eye(4), (40, 1, 1)), np.tile(np.eye(4), (40, 1, 1))
    poses_b[:, :3, :3] = Rotation.from_rotvec(angles[:, None] * (1.0, 0.0, 0.0)).as_matrix()
    poses_b[:, 0, 3] = 0.4
    pair = laws.Pair(a, poses_a, b, poses_b)
    gap = pair.gap((0.0, 0.0, 1.0))
    pair = pair.moved(shift_b=(-7e-12 - gap)[:, None] * (0.0, 0.0, 1.0))
    result = pair.signed()
    assert result.tight.all()
    laws.sign_law(pair, result)
    for k in range(0, 40, 8):
        assert gk.verify(result[k], pair.shape_a, pair.shape_b, poses_a[k], pair.poses_b[k])
