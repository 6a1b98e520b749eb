"""Splines and timed waypoints among moving obstacles, compared with dense samples."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from example_robots import robot as example_robot
from example_robots import some
from oracle import CLOSE, Oracle
from random_robots import drawn, random_robot
from scipy.interpolate import (
    Akima1DInterpolator,
    BPoly,
    BSpline,
    CubicHermiteSpline,
    CubicSpline,
    PchipInterpolator,
    PPoly,
    make_interp_spline,
)
from strategies import sampled

import gjk3d as gk
from gjk3d.errors import Gjk3dError
from gjk3d.robot import Checker, MotionStatus, Robot, Trajectory
from gjk3d.robot.trajectories import Parts

POINTS = 5


def at(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def path_of(robot, seed, length=0.5):
    """Return times and waypoints of a random path that begins at a free configuration."""
    rng = np.random.default_rng(seed)
    q = drawn(robot, 3000, seed)
    q = np.concatenate([q[Checker(robot, margin=0.02).free(q)][:1], q[-POINTS:]])
    points = q[0] + length * np.cumsum(rng.uniform(-0.2, 0.2, (POINTS, 1)) * (q[1:] - q[0]), axis=0)
    return np.cumsum(rng.uniform(0.2, 2.0, POINTS)) + rng.uniform(-5, 5), points


def hermite(times, points):
    return CubicHermiteSpline(times, points, np.random.default_rng(1).normal(size=points.shape) * 0.1)


def uniform(times, points):
    """Return a B-spline that passes through none of its points and ends inside its knots."""
    return BSpline(np.arange(POINTS + 4.0), points, 3)


SPLINES = {
    "cubic": CubicSpline,
    "hermite": hermite,
    "pchip": PchipInterpolator,
    "akima": Akima1DInterpolator,
    "quintic": lambda t, q: BPoly.from_derivatives(t, [[row, 0 * row, 0 * row] for row in q]),
    "interpolating": lambda t, q: make_interp_spline(t, q, k=4),
    "linear": lambda t, q: make_interp_spline(t, q, k=1),
    "uniform": uniform,
}


def boxes_that_move(seed):
    """Return shapes with poses, and motions: a translation, a screw, and a turn about a point far away."""
    rng = np.random.default_rng(seed)
    shapes = {"crate": gk.Box((0.3, 0.2, 0.1)), "ball": gk.Sphere(0.15), "beam": gk.Capsule(0.05, 0.6)}
    moving = {}
    for k, name in enumerate(shapes):
        start = at(*rng.uniform(0.6, 1.2, 3) * rng.choice((-1, 1), 3))
        center = None if k != 1 else rng.normal(size=3)
        turn = np.zeros(3) if k == 0 else rng.normal(size=3)
        moving[name] = gk.Motion(start, rng.uniform(-0.6, 0.6, 3), turn, center=center)
    return {name: (shape, at(9, 9, 9)) for name, shape in shapes.items()}, moving


def clearances(robot, around, moving, spline, times, begin, end):
    """Return the clearance at some times from a new checker with every obstacle at its pose of that time."""
    checker, distances = Checker(robot, around), []
    for t in times:
        for name, motion in moving.items():
            checker.move(name, motion.at((t - begin) / (end - begin)))
        distances.append(checker.clearance(np.asarray(spline(t))).distance)
    return np.array(distances)


def test_trajectories_of_splines_agree_with_scipy():
    for name, make in SPLINES.items():
        times, points = path_of(example_robot("panda"), 3)
        spline = make(times, points)
        way = Trajectory(spline)
        t = np.linspace(way.start, way.end, 501)
        assert way.at(t) == pytest.approx(spline(t), abs=1e-13), name
        assert way.at(way.start - 1.0) == pytest.approx(spline(way.start)), name
    way = Trajectory(CubicSpline(times, points.T, axis=1))
    assert way.at(times) == pytest.approx(points, abs=1e-13)
    assert Trajectory(points, times).at(times) == pytest.approx(points, abs=1e-15)


@pytest.mark.parametrize("kind", SPLINES)
@pytest.mark.parametrize("seed", sampled([(0,), (2,), (4,), (5,)], 4))
def test_certified_with_every_joint_type(tmp_path, kind, seed):
    """All joint types move among obstacles that slide and turn."""
    assert_dense_samples_agree(random_robot(tmp_path, seed), kind, seed)


@pytest.mark.parametrize("seed", [1, 3])
def test_certified_with_joined_robots(tmp_path, seed):
    """One base moves, one is tilted and fixed, and one robot is carried by the first."""
    tilted = at(0.0, 0.0, 2.0)
    tilted[:3, :3] = gk.Motion(None, angular=(2.0, 0.7, 0.1)).at(1.0)[:3, :3]
    arm, drawn_one = Robot.example(), random_robot(tmp_path, seed)
    joined = Robot.join(
        {"cart": arm.at(at(-1.5, 0.0, -0.5)), "above": drawn_one.at(tilted), "carried": arm.at(at(0.2, 0.0, 0.3))},
        on={"carried": "cart/hand"}, joints={"cart": "planar"},
    )  # fmt: skip
    assert_dense_samples_agree(joined, "cubic", seed)


def assert_dense_samples_agree(robot, kind, seed):
    around, moving = boxes_that_move(seed)
    checker = Checker(robot, around)
    for n in range(4):
        times, points = path_of(robot, 10 * seed + n)
        spline = SPLINES[kind](times, points)
        way = Trajectory(spline)
        dense = np.linspace(way.start, way.end, 400)
        seen = clearances(robot, around, moving, spline, dense, way.start, way.end)
        proof = checker.trajectory_free(spline, moving=moving, certify=True)
        sampled = checker.trajectory_free(way, moving=moving)
        if proof.free:
            assert seen.min() > 0.0
            assert (proof.safe, proof.pair, proof.configuration) == (way.end, None, None)
        else:
            assert seen[dense < proof.safe].min(initial=np.inf) > 0.0
        if proof.status == MotionStatus.HIT:
            assert 0.0 <= proof.hit - proof.safe <= 1e-6
            distance = clearances(robot, around, moving, way.at, [proof.hit], way.start, way.end)[0]
            assert distance <= 1e-9
            assert proof.configuration == pytest.approx(way.at(proof.hit), abs=1e-12)
            assert proof.pair is not None
        if not sampled.free:
            assert proof.safe <= sampled.hit
            distance = clearances(robot, around, moving, way.at, [sampled.hit], way.start, way.end)[0]
            assert distance <= 1e-12
        elif proof.hit == proof.hit:  # samples miss only short contacts
            assert seen.min() > -0.05
        least = checker.trajectory_clearance(spline, moving=moving)
        assert least.lower <= least.upper
        assert least.lower <= seen.min()
        assert seen.min() >= least.upper - 1e-3 or seen.min() >= least.lower
        distance = clearances(robot, around, moving, way.at, [least.time], way.start, way.end)[0]
        assert distance == pytest.approx(least.distance, abs=1e-7)
        assert least.upper - least.lower <= (1.1e-4 if least.upper > 0.0 else 1e-2)


CART = """<robot name="cart"><link name="rail"/><link name="cart"><collision><geometry><sphere radius="0.1"/></geometry>
</collision></link><joint name="x" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9"/></joint></robot>"""


@pytest.mark.parametrize("start", [0.0, -3.0, 1.7e9])
def test_contact_of_cart_and_ball_agrees_with_formula(start):
    """The cart is at t^2 and the ball at 5 - t. They touch if 5 - t - t^2 is the sum of their radii."""
    way = PPoly(np.array([[[1.0]], [[0.0]], [[0.0]]]), [start, start + 3.0])
    ball = gk.Motion.translation(at(5, 0, 0), (-3, 0, 0))
    checker = Checker(Robot.load(CART), {"ball": gk.Sphere(0.3)})
    meet = start + (-1 + np.sqrt(1 + 4 * 4.6)) / 2
    result = checker.trajectory_free(way, moving={"ball": ball}, certify=True)
    assert result.pair == ("cart", "ball")
    digit = 1e-15 * abs(start)
    assert result.safe <= meet + 1e-12 + digit
    assert meet <= result.hit + 1e-12 + digit
    assert result.hit - result.safe <= 1.1e-6 + digit
    assert result.configuration == pytest.approx([(meet - start) ** 2], abs=1e-5)
    # half as fast and a second later: the ball is at 5 - (t - 1) / 2
    later = {"ball": (gk.Motion.translation(at(5, 0, 0), (-1.0, 0, 0)), (start + 1.0, start + 3.0))}
    meet = start + (-0.5 + np.sqrt(0.25 + 4 * 5.1)) / 2
    result = checker.trajectory_free(way, moving=later, certify=True)
    assert result.hit == pytest.approx(meet, abs=2e-6)
    side = gk.Motion.translation(at(5, 1, 0), (-3, 0, 0))
    nearest = checker.trajectory_clearance(way, moving={"ball": side})
    assert nearest.distance == pytest.approx(0.6, abs=1e-4)
    assert nearest.lower <= 0.6 <= nearest.upper + 1e-9
    assert nearest.time == pytest.approx(start + (-1 + np.sqrt(21)) / 2, abs=1e-2)


@pytest.mark.parametrize("wall", [1.0 + k / 16 * 1.03 for k in range(8)])
def test_safe_and_hit_times_bracket_exact_contact(wall):
    """Times near 1e9 are rounded to 1.2e-7. The cart touches the wall at a rational time."""
    start = 1e9
    checker = Checker(Robot.load(CART), {"wall": (gk.Box((0.5, 2, 2)), at(wall, 0, 0))})
    result = checker.trajectory_free(Trajectory([[0.0], [2.0]], [start, start + 2.0]), certify=True, tolerance=1e-9)
    contact = Fraction(start) + Fraction(wall) - Fraction(1, 4) - Fraction(0.1)
    assert contact - Fraction(1, 10**6) < Fraction(result.safe) <= contact
    assert contact <= Fraction(result.hit) < contact + Fraction(1, 10**6)


@pytest.mark.parametrize(("start", "width"), [(0.0, 1e-6), (1e8, 1e-6), (1.7e9, 6.1e-6)])
def test_bracket_of_a_contact_is_as_narrow_as_the_clock_allows(start, width):
    pose = np.eye(4)
    pose[:2, 3] = 1.2, 2.0
    checker = Checker(Robot.example(), {"crate": (gk.Box((0.2, 0.2, 0.2)), pose)})
    still = Trajectory([[0.0, 0.0], [0.0, 0.0]], times=[start, start + 10.0])
    check = checker.trajectory_free(still, moving={"crate": gk.Motion.translation(pose, (0, -2, 0))}, certify=True)
    assert check.status == MotionStatus.HIT
    assert check.hit - check.safe <= width


def test_obstacle_that_turns_about_a_distant_point():
    """A beam turns once about a point at a distance of 2. Its angle alone decides when it touches the ball."""
    still = Trajectory([[0.0], [0.0]], [0.0, 8.0])
    round_ = gk.Motion(at(4, 0, 0), (0, 0, 0), (0, 0, 2 * np.pi), center=(2, 0, 0))
    checker = Checker(Robot.load(CART), {"ball": gk.Sphere(0.05)})
    result = checker.trajectory_free(still, moving={"ball": round_}, certify=True)
    angle = np.pi - 2 * np.arcsin(0.15 / 4)  # the angle at which the ball is 0.15 from the cart
    assert result.hit == pytest.approx(8.0 * angle / (2 * np.pi), abs=1e-5)
    sampled = checker.trajectory_free(still, moving={"ball": round_}, resolution=0.01)
    assert sampled.pair == ("cart", "ball")
    assert result.safe <= sampled.hit <= result.hit + 0.02


def nonconvex_shapes():
    box = gk.Box((0.3, 0.3, 0.3))
    corners = np.array(np.meshgrid(*[[-0.15, 0.15]] * 3)).reshape(3, -1).T
    return {
        "mesh": gk.Mesh(*box.surface()), "compound": gk.Compound([(box, None), (gk.Sphere(0.1), at(0.2, 0, 0))]),
        "cloud": gk.PointCloud(corners, 0.03), "ellipsoid": gk.Ellipsoid((0.2, 0.1, 0.15)),
    }  # fmt: skip


@pytest.mark.parametrize("kind", nonconvex_shapes())
@pytest.mark.parametrize("name", ["panda", "ur5", "tiago"])
def test_moving_shapes_near_real_robots(name, kind):
    robot = example_robot(name)
    robot = robot if name != "tiago" else example_robot(name, "hull")
    rng = np.random.default_rng(4)
    q = np.clip(some(robot, 3, 4) * 0.3, robot.lower, robot.upper)
    spline = CubicSpline([0.0, 1.0, 2.0], q)
    start = at(1.5, 0.3, 0.8)
    moving = {"it": gk.Motion(start, (-3.0, -0.2, 0.0), (0.0, 0.0, 2.0))}
    around = {"it": (nonconvex_shapes()[kind], start)}
    checker = Checker(robot, around)
    proof = checker.trajectory_free(spline, moving=moving, certify=True)
    sampled = checker.trajectory_free(spline, moving=moving, resolution=0.02)
    assert proof.free <= sampled.free
    if not proof.free:
        before = rng.uniform(0.0, proof.safe, 20)
        seen = clearances(robot, around, moving, spline, before, 0.0, 2.0)
        assert seen.min() > 0.0 or proof.safe == 0.0
    if not sampled.free:
        assert proof.safe <= sampled.hit
    if proof.hit == proof.hit:
        assert clearances(robot, around, moving, spline, [proof.hit], 0.0, 2.0)[0] <= 1e-9


def test_attached_object_hits_moving_obstacle():
    robot = Robot.example()
    checker = Checker(robot, {"wall": (gk.Box((0.1, 4, 4)), at(9, 0, 0)), "part": (gk.Sphere(0.1), at(9, 0, 0))})
    checker.attach("cup", gk.Sphere(0.1), "hand", at(0.6, 0, 0))
    still = Trajectory([[0.0, 0.0], [0.0, 0.0]], [0.0, 1.0])
    come = {"part": gk.Motion.translation(at(4, 0, 0), (-3, 0, 0))}
    result = checker.trajectory_free(still, moving=come, certify=True)
    assert result.pair == ("cup", "part")
    assert result.hit == pytest.approx((4 - 1.6 - 0.2) / 3, abs=1e-5)
    # collisions between obstacles are not checked
    passing = {"part": gk.Motion.translation(at(12, 0, 0), (-6, 0, 0))}
    assert checker.trajectory_free(still, moving=passing, certify=True)
    checker.set_margin("cup", "part", 1.0)
    assert checker.trajectory_free(still, moving=come, certify=True).hit == pytest.approx(1.2 / 3, abs=1e-5)
    checker.detach("cup")
    assert checker.trajectory_free(still, moving=come, certify=True).pair == ("hand", "part")
    touching = Checker(robot, {"part": gk.Sphere(0.1)}, touching=[("hand", "part"), ("beam", "part"), ("post", "part")])
    assert touching.trajectory_free(still, moving=come, certify=True)


def test_line_trajectory_agrees_with_motion_free():
    robot = example_robot("panda")
    checker = Checker(robot, {"post": (gk.Box((0.1, 0.1, 1.2)), at(0.45, 0.3, 0.4))})
    q = some(robot, 400, 3)
    q = q[checker.free(q)][:21]
    for q0, q1 in pairwise(q):
        motion = checker.motion_free(q0, q1, certify=True)
        trajectory = checker.trajectory_free(Trajectory([q0, q1], [0.0, 1.0]), certify=True)
        assert (motion.status, motion.pair) == (trajectory.status, trajectory.pair)
        assert motion.safe == pytest.approx(trajectory.safe, abs=2e-6)


@pytest.mark.parametrize(
    ("path", "times", "words"),
    [
        ([[0.0, 0.0]], [0.0], r"\(1, 2\).*\(1,\).*\b2$"),
        ([[0.0, 0.0], [1.0, 1.0]], [1.0, 1.0], r"times.*\b1\b.*\b1$"),
        ([[0.0, 0.0], [1.0, np.nan]], [0.0, 1.0], "path contains nan"),
        ([[0.0, 0.0], [1.0]], [0.0, 1.0], "waypoints.*numbers"),
        ("spline", None, r"\bstr\b.*scipy.*robot\.Trajectory\(waypoints, times\)"),
        (PPoly(np.array([[[0.0, 0.0], [3.0, 0.0]]]), [0.0, 1.0, 2.0]), None, r"\b0 .*\b3\b.*\b1\b.*np\.unwrap"),
        (CubicSpline([0, 1, 2], [0, 1, 2]), None, r"\(4, 2\).*shape \(k, m, dof\)"),
        (make_interp_spline(np.arange(12.0), np.zeros((12, 2)), k=11), None, r"degree.*11.*\b9\b"),
    ],
)
def test_invalid_trajectories_raise(path, times, words):
    with pytest.raises(Gjk3dError, match=words):
        Trajectory(path, times)


def test_invalid_arguments_raise():
    checker = Checker(Robot.example(), {"ball": gk.Sphere(0.1), "floor": gk.Halfspace((0, 0, 1), -2)})
    way = Trajectory([[0.0, 0.0], [1.0, 0.0]], [0.0, 1.0])
    go = gk.Motion.translation(None, (1, 0, 0))
    for moving, words in [
        ({"floor": go}, "moving.*'floor'.*Halfspace"),
        ({"nobody": go}, "moving.*'nobody'.*'ball', 'floor'"),
        ({"ball": np.eye(4)}, r"moving.*'ball'.*array(.|\n)*gjk3d\.Motion"),
        ({"ball": gk.Motion(np.tile(np.eye(4), (2, 1, 1)))}, r"moving.*'ball'.*\b2\b.*gjk3d\.Motion"),
        ({"ball": (go, (1.0, 1.0))}, r"moving.*'ball'.*\(1\.0, 1\.0\)"),
        ({"ball": (go, "ab")}, "moving.*'ball'.*'ab'"),
        ({"ball": (go, 3.0)}, r"moving.*'ball'.*3\.0"),
        (["ball"], r"moving.*\blist\b.*gjk3d\.Motion"),
    ]:
        with pytest.raises(Gjk3dError, match=words):
            checker.trajectory_free(way, moving=moving)
    with pytest.raises(Gjk3dError, match=r"\b3\b.*'example'.*\b2\. Pass a trajectory of this robot$"):
        checker.trajectory_free(Trajectory([[0.0] * 3, [1.0] * 3], [0.0, 1.0]))
    for tolerance in (0.0, -1.0, np.inf, np.nan, True, "fine"):
        with pytest.raises(Gjk3dError, match="tolerance"):
            checker.trajectory_free(way, tolerance=tolerance, certify=True)
        with pytest.raises(Gjk3dError, match="tolerance"):
            checker.trajectory_clearance(way, tolerance=tolerance)
    for resolution in (0.0, np.nan, [1.0], "fine"):
        with pytest.raises(Gjk3dError, match="resolution"):
            checker.trajectory_free(way, resolution=resolution)
        with pytest.raises(Gjk3dError, match="resolution"):
            checker.trajectory_free(way, moving={"ball": go}, resolution=resolution)
    with pytest.raises(Gjk3dError, match=r"1e\+12.*resolution"):
        checker.trajectory_free(way, resolution=1e-12)
    with pytest.raises(Gjk3dError, match="workers"):
        checker.trajectory_free(way, workers=0)
    with pytest.raises(Gjk3dError, match=r"Trajectory\.at.*nan"):
        way.at(np.nan)


@pytest.mark.parametrize("name", ["panda", "ur5", "talos"])
def test_trajectory_clearance_agrees_with_coal(name):
    judge = Oracle(name)
    q = some(judge.robot, 300, 6)
    q = q[Checker(judge.robot, margin=0.01).free(q)][:1]
    q = np.concatenate([q, q + 0.05, q - 0.04])
    spline = CubicSpline([0.0, 1.0, 2.0], q)
    least = Checker(judge.robot).trajectory_clearance(spline, tolerance=1e-5)
    seen = [judge.distances(spline(t))[0].min() for t in np.linspace(0.0, 2.0, 60)]
    assert least.lower <= min(seen) + CLOSE
    assert least.upper - least.lower <= 1e-4
    if least.distance > 0.0:
        distances, _ = judge.distances(spline(least.time))
        assert distances.min() == pytest.approx(least.distance, abs=CLOSE)


def exact_on(controls, t):
    """Return the point of a Bezier curve with rational control points, (n + 1,), at a rational parameter."""
    while len(controls) > 1:
        controls = [(1 - t) * a + t * b for a, b in pairwise(controls)]
    return controls[0]


def exact_spline(spline, k, t):
    """Return the first value of a scipy spline in its kth piece at the share t, in rational numbers."""
    if isinstance(spline, PPoly):
        first, last = (Fraction(float(x)) for x in spline.x[k : k + 2])
        return sum(Fraction(float(c)) * (t * (last - first)) ** n for n, c in enumerate(spline.c[::-1, k, 0]))
    if isinstance(spline, BPoly):
        return exact_on([Fraction(float(c)) for c in spline.c[:, k, 0]], t)
    knots, degree = [Fraction(float(x)) for x in spline.t], spline.k
    at = degree + k
    x = knots[at] + t * (knots[at + 1] - knots[at])
    rows = [Fraction(float(c)) for c in spline.c[k : at + 1, 0]]
    for level in range(1, degree + 1):
        shares = [
            (x - knots[at - degree + level + m]) / (knots[at + 1 + m] - knots[at - degree + level + m])
            for m in range(degree + 1 - level)
        ]
        rows = [(1 - share) * a + share * b for share, (a, b) in zip(shares, pairwise(rows), strict=True)]
    return rows[0]


def random_splines():
    """Return one-dimensional splines by kind and degree, with coefficients and knots that need all digits."""
    rng = np.random.default_rng(12)
    knots = np.cumsum(rng.uniform(0.1, 1.0, 2))
    powers = {f"powers {n}": PPoly(rng.normal(size=(n + 1, 1, 1)), knots) for n in (1, 3)}
    bernstein = {f"Bernstein {n}": BPoly(rng.normal(size=(n + 1, 1, 1)), knots) for n in (1, 3)}
    basis = {
        f"basis {n}": BSpline(np.cumsum(rng.uniform(0.1, 1.0, 2 * n + 4)), rng.normal(size=(n + 3, 1)), n)
        for n in (1, 3)
    }
    return powers | bernstein | basis


SHARES = [Fraction(n, 7) for n in range(8)]


@pytest.mark.parametrize("name", random_splines())
def test_curves_agree_with_spline_within_error(name):
    spline = random_splines()[name]
    way = Trajectory(spline)
    for k, (controls, loose) in enumerate(zip(way._controls[:, :, 0], way._loose[:, 0], strict=True)):
        rows = [Fraction(float(c)) for c in controls]
        errors = [abs(exact_on(rows, t) - exact_spline(spline, k, t)) for t in SHARES]
        assert max(errors) <= Fraction(float(loose))


def test_parts_agree_with_curve_within_error():
    """A joint that turns by about 3 is cut at multiples of 1/6, which are not exact floats."""
    rng = np.random.default_rng(13)
    spline = BPoly(np.cumsum(rng.uniform(0.5, 1.0, (4, 1, 1)), axis=0), [0.0, 1.0])
    parts = Parts(Trajectory(spline), Robot.load(CART.replace("prismatic", "revolute")))
    count = len(parts.curves.controls)
    assert count == 6
    for k, (controls, loose) in enumerate(zip(parts.curves.controls[:, :, 0], parts.curves.loose[:, 0], strict=True)):
        rows = [Fraction(float(c)) for c in controls]
        errors = [abs(exact_on(rows, t) - exact_spline(spline, 0, (k + t) / count)) for t in SHARES]
        assert max(errors) <= Fraction(float(loose))


def test_clock_agrees_with_times_within_error():
    times = [0.1, 0.7, 1.9, 1e3 + 0.3]
    parts = Parts(Trajectory(CubicSpline(times, [[0.0], [0.1], [0.3], [0.2]])), Robot.load(CART)).clocked(times[0])
    exact = [Fraction(t) - Fraction(times[0]) for t in times]
    for k, (controls, loose) in enumerate(zip(parts.curves.controls[:, :, 1], parts.curves.loose[:, 1], strict=True)):
        rows = [Fraction(float(c)) for c in controls]
        errors = [abs(exact_on(rows, t) - (1 - t) * exact[k] - t * exact[k + 1]) for t in SHARES]
        assert max(errors) <= Fraction(float(loose))


@pytest.mark.parametrize("times", [[-2.0, 0.7, 3.0], [-1e9, 1.0, 1e9 + 0.3], [0.1, 0.2, 1e3]])
@pytest.mark.parametrize("turn", [0.1, 9.0])
def test_time_at_parameter_lies_between_bounds(turn, times):
    """Times of opposite signs nearly cancel, and times inside a cut spline are rounded."""
    rng = np.random.default_rng(5)
    angles = turn * np.arange(4.0)
    spline = BPoly(np.stack([angles, angles[::-1]], axis=1)[:, :, None], times)
    parts = Parts(Trajectory(spline), Robot.load(CART.replace("prismatic", "revolute")))
    count = len(parts.curves.controls) // 2
    assert (count > 1) == (turn > 1.0)
    knots = [Fraction(t) for t in times]
    for k in range(2 * count):
        start, width = knots[k // count], knots[k // count + 1] - knots[k // count]
        for t in (0.0, 0.5, 1.0, *rng.uniform(0.0, 1.0, 20)):
            exact = start + (k % count + Fraction(float(t))) / count * width
            lower, upper = parts.when(k, float(t))
            assert times[0] <= lower <= exact <= upper <= times[-1]
            assert upper - lower <= 4e-15 * (abs(lower) + float(width))
