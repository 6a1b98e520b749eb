"""Robots of capsules near point clouds and half-spaces, compared with closed-form distances in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gjk3d as gk
from gjk3d.errors import Gjk3dError
from gjk3d.robot import Checker, MotionStatus, Robot

LENGTHS, RADII = (0.4, 0.3, 0.25), (0.06, 0.05, 0.03)
AXES = np.eye(3)[[2, 1, 0]]


def urdf() -> str:
    """Return an arm of three capsules along z. Each turns about a different axis at the end of the previous one."""
    text = "<robot name='arm'><link name='base'/>"
    for k, (length, radius) in enumerate(zip(LENGTHS, RADII, strict=True)):
        below = "base" if k == 0 else f"link{k - 1}"
        at = 0.0 if k == 0 else LENGTHS[k - 1]
        axis = " ".join(map(str, AXES[k]))
        text += (
            f"<link name='link{k}'><collision><origin xyz='0 0 {length / 2}'/><geometry>"
            f"<capsule radius='{radius}' length='{length}'/></geometry></collision></link>"
            f"<joint name='j{k}' type='revolute'><parent link='{below}'/><child link='link{k}'/>"
            f"<origin xyz='0 0 {at}'/><axis xyz='{axis}'/><limit lower='-3' upper='3'/></joint>"
        )
    return text + "</robot>"


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    path = tmp_path_factory.mktemp("arm") / "arm.urdf"
    path.write_text(urdf())
    return Robot.from_urdf(path)


def turn(axis: np.ndarray, angle: float) -> np.ndarray:
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def segments(q: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Return the end points and the radius of each link."""
    at, frame, out = np.zeros(3), np.eye(3), []
    for k in range(3):
        frame = frame @ turn(AXES[k], q[k])
        end = at + frame @ (0, 0, LENGTHS[k])
        out.append((at, end, RADII[k]))
        at = end
    return out


def gaps(q: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the signed distance of each point to the nearest link."""
    least = np.full(len(points), np.inf)
    for a, b, radius in segments(q):
        way = b - a
        t = np.clip((points - a) @ way / (way @ way), 0.0, 1.0)
        least = np.minimum(least, np.linalg.norm(points - a - t[:, None] * way, axis=1) - radius)
    return least


def points_near(arm: Robot, seed: int, count: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return configurations, points around the arm of which few are inside it, and the radius of the points."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.5, 1.5, (6, 3))
    way = rng.normal(size=(count, 3))
    points = way / np.linalg.norm(way, axis=1)[:, None] * rng.uniform(0.25, 1.2, (count, 1)) + (0, 0, 0.3)
    return q, points, float(rng.uniform(0.0, 0.03))


def checker_without_links(arm: Robot) -> Checker:
    """Return a checker without pairs of links, which the closed forms leave out."""
    for pair in (("link0", "link1"), ("link1", "link2"), ("link0", "link2")):
        arm.allowed.allow(*pair, "user")
    return Checker(arm)


CASES = given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 300), margin=st.sampled_from([0.0, 0.0, 0.02]))


@CASES
def test_free_and_clearance_near_cloud(arm: Robot, seed: int, count: int, margin: float) -> None:
    checker = checker_without_links(arm)
    q, points, radius = points_near(arm, seed, count)
    checker.add("cloud", gk.PointCloud(points, radius))
    checker.margin = margin
    truth = np.array([gaps(row, points).min() - radius for row in q])
    free, near = checker.free(q), checker.clearance(q)
    assert (free == (truth > margin))[np.abs(truth - margin) > 1e-12].all()
    assert [checker.free(row) for row in q] == free.tolist()
    separated = truth > 1e-12
    assert (near.lower <= truth + 1e-15)[separated].all()
    assert (near.upper >= truth - 1e-15)[separated].all()
    assert near.distance[separated] == pytest.approx(truth[separated], abs=1e-12)
    assert (near.distance <= 1e-12)[~separated].all()
    for k in np.flatnonzero(separated).tolist():
        single = checker.clearance(q[k])
        assert single.distance == pytest.approx(truth[k], abs=1e-12)
        assert gaps(q[k], single.point_b[None])[0] == pytest.approx(truth[k], abs=1e-9)
        assert single.point_b - single.point_a == pytest.approx(single.distance * single.normal, abs=1e-12)
    short = checker.clearance(q, max_distance=0.05)
    assert (np.isinf(short.distance) == (truth > 0.05))[np.abs(truth - 0.05) > 1e-12].all()


@pytest.mark.full
@CASES
def test_certified_motions_near_cloud(arm: Robot, seed: int, count: int, margin: float) -> None:
    checker = checker_without_links(arm)
    q, points, radius = points_near(arm, seed, count)
    checker.add("cloud", gk.PointCloud(points, radius))
    checker.margin = margin
    stack = checker.motion_free(q[:3], q[:3] + 0.3 * (q[3:] - q[:3]), certify=True)
    single = checker.motion_free(q[0], q[0] + 0.3 * (q[3] - q[0]), certify=True)
    assert (single.status, single.safe) == (stack.status[0], stack.safe[0])
    t = np.linspace(0.0, 1.0, 201)
    for k in range(3):
        line = q[k] + 0.3 * t[:, None] * (q[3 + k] - q[k])
        truth = np.array([gaps(row, points).min() - radius for row in line])
        assert (truth[t < stack.safe[k]] > margin - 1e-12).all()
        if stack.status[k] == MotionStatus.FREE:
            assert truth.min() > margin - 1e-12
            continue
        if stack.status[k] == MotionStatus.HIT:
            at = q[k] + 0.3 * stack.hit[k] * (q[3 + k] - q[k])
            assert gaps(at, points).min() - radius <= margin + 1e-9
            assert stack.hit[k] - stack.safe[k] <= 1e-6
        assert stack.pair[k][1] == "cloud"


@given(seed=st.integers(0, 2**32 - 1), margin=st.sampled_from([0.0, 0.03, -0.01]))
def test_halfspace_agrees_with_closed_form(arm: Robot, seed: int, margin: float) -> None:
    checker = checker_without_links(arm)
    rng = np.random.default_rng(seed)
    q, normal = rng.uniform(-2.0, 2.0, (8, 3)), rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    offset = rng.uniform(-0.8, 0.2)
    checker.add("floor", gk.Halfspace(normal, offset))
    checker.margin = margin
    truth = np.array([min(min(normal @ a, normal @ b) - offset - r for a, b, r in segments(row)) for row in q])
    near = checker.clearance(q)
    assert near.distance == pytest.approx(truth, abs=1e-12)
    assert ((near.lower <= truth + 1e-15) & (near.upper >= truth - 1e-15)).all()
    assert (checker.free(q) == (truth > margin))[np.abs(truth - margin) > 1e-12].all()
    assert [checker.free(row) for row in q] == checker.free(q).tolist()
    deep = [hits[0].depth if hits else 0.0 for hits in checker.collisions(q)]
    assert deep == pytest.approx(np.where(truth <= margin, np.maximum(-truth, 0.0), 0.0), abs=1e-12)
    step = 1e-6
    rise = [
        (checker.clearance(q[0] + step * e).distance - checker.clearance(q[0] - step * e).distance) / (2 * step)
        for e in np.eye(3)
    ]
    assert checker.gradient(q[0]) == pytest.approx(rise, abs=1e-3)
    motion = checker.motion_free(q[0], q[1], certify=True)
    t = np.linspace(0.0, 1.0, 101)
    along = [
        min(min(normal @ a, normal @ b) - offset - r for a, b, r in segments(q[0] + x * (q[1] - q[0])))
        for x in t[t < motion.safe]
    ]
    assert all(x > margin - 1e-12 for x in along)
    assert motion.status != MotionStatus.UNRESOLVED


@given(seed=st.integers(0, 2**32 - 1), margin=st.sampled_from([0.0, 0.02, -0.01]), far=st.sampled_from([0.0, 1e3]))
def test_outside_agrees_with_closed_form(arm: Robot, seed: int, margin: float, far: float) -> None:
    checker = checker_without_links(arm)
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.5, 1.5, (3, 3))
    points = rng.uniform(-0.7, 0.7, (200, 3)) + (0, 0, 0.4)
    points[:30] = [a + t * (b - a) for a, b, _ in segments(q[0]) for t in rng.random(10)]
    points[30:60] += far
    truth = np.array([gaps(row, points) for row in q])
    outside = checker.outside(points, q, margin=margin)
    sure = np.abs(truth - margin) > 1e-12 * (1 + far)
    assert (outside == (truth > margin))[sure].all()
    assert np.array_equal(checker.outside(points, q[1], margin=margin), outside[1])
    assert np.array_equal(checker.outside(points, q, margin=margin, workers=2), outside)


def test_outside_includes_attached_objects(arm: Robot) -> None:
    """`outside` includes attached shapes and bodies and excludes obstacles."""
    checker = checker_without_links(arm)
    rng = np.random.default_rng(5)
    points, q = rng.uniform(-0.9, 0.9, (400, 3)) + (0, 0, 0.7), np.array([0.3, 0.4, -0.2])
    expected = checker.outside(points, q)
    checker.add("wall", gk.Box((0.5, 3, 3)))
    assert np.array_equal(checker.outside(points, q), expected)
    frame = np.eye(4)
    frame[2, 3] = 0.3
    place = arm.link_poses(q)[arm.links.index("link2")] @ frame
    local = (points - place[:3, 3]) @ place[:3, :3]
    ball = gk.Sphere(0.3)
    for shape, truth in (
        (gk.Box((0.4, 0.6, 0.5)), (np.abs(local) <= (0.2, 0.3, 0.25)).all(axis=1)),
        (gk.Compound([(gk.Box((0.4, 0.6, 0.5)), None)]), (np.abs(local) <= (0.2, 0.3, 0.25)).all(axis=1)),
        (gk.PointCloud([(0, 0, 0), (0.2, 0.2, 0)], 0.25), np.minimum(
            np.linalg.norm(local, axis=1), np.linalg.norm(local - (0.2, 0.2, 0), axis=1)) <= 0.25),
        (gk.Mesh(*gk.Box((0.4, 0.6, 0.5)).surface()), (np.abs(local) <= (0.2, 0.3, 0.25)).all(axis=1)),
        (ball, np.linalg.norm(local, axis=1) <= 0.3),
    ):  # fmt: skip
        checker.attach("held", shape, "link2", frame)
        outside = checker.outside(points, q)
        assert np.array_equal(outside, expected & ~truth)
        assert truth.any()
        checker.detach("held")


def test_outside_rejects_invalid_points(arm: Robot) -> None:
    checker = checker_without_links(arm)
    q = np.zeros(3)
    assert checker.outside(np.zeros((1, 3)) + 9, q).tolist() == [True]
    assert checker.outside(np.zeros((2, 3)), np.zeros((0, 3))).shape == (0, 2)
    for points, margin, words in (
        ([(np.nan, 0, 0)], 0.0, r"outside.*points\[0\].*\[nan, 0\.0, 0\.0\]"),
        ([(0, 0)], 0.0, r"outside.*points.*\(1, 2\).*\(n, 3\)"),
        ([(0, 0, 0)], np.nan, "margin.*nan"),
    ):
        with pytest.raises(Gjk3dError, match=words):
            checker.outside(points, q, margin=margin)


def test_replaced_cloud_equals_new_checker(arm: Robot) -> None:
    """A checker with a replaced cloud equals a new checker and retains its other objects."""
    checker = checker_without_links(arm)
    pose = np.eye(4)
    pose[0, 3] = 0.9
    checker.add("wall", gk.Box((0.1, 2, 2)), pose)
    q = np.random.default_rng(1).uniform(-1.5, 1.5, (40, 3))
    for seed in range(4):
        _, points, radius = points_near(arm, seed, 200)
        cloud = gk.PointCloud(points, radius)
        checker.add("cloud", cloud)
        fresh = Checker(arm, {"wall": (checker.shape("wall"), checker.pose("wall")), "cloud": cloud})
        assert np.array_equal(checker.free(q), fresh.free(q))
        assert np.array_equal(checker.clearance(q[:5]).distance, fresh.clearance(q[:5]).distance)
        checker.remove("cloud")
    assert checker.objects == ("wall",)
