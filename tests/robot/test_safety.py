"""Safety reports, paddings, and filters of inverse kinematics solutions."""

from __future__ import annotations

import json

import numpy as np
import pinocchio
import pytest
from example_robots import robot as example_robot
from example_robots import some, twin
from oracle import Oracle, made
from scipy.interpolate import CubicSpline

import gjk3d as gk
from gjk3d.errors import Gjk3dError
from gjk3d.robot import Checker, Reason, Robot, SafetyReport, Trajectory


def at(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


AROUND = {
    "post": (gk.Box((0.1, 0.1, 1.2)), at(0.45, 0.3, 0.4)),
    "ball": (gk.Sphere(0.15), at(-0.4, 0.2, 0.7)),
}


def waypoints(checker, count, seed):
    """Return ``count`` configurations. The first is free, and the steps between them are short."""
    robot, rng = checker.robot, np.random.default_rng(seed)
    low, high = np.maximum(robot.lower, -3.0), np.minimum(robot.upper, 3.0)
    q = rng.uniform(low, high, (4000, robot.dof))
    q = q[checker.free(q)]
    points = [q[0]]
    for _ in range(count - 1):
        points.append(points[-1] + 0.25 * (q[rng.integers(len(q))] - points[-1]))
    return np.array(points)


@pytest.mark.parametrize("name", ["panda", "ur5", "talos"])
def test_report_agrees_with_dense_samples_of_every_pair(name):
    robot = made(name)
    checker = Checker(robot, AROUND, margin=0.01)
    checker.set_padding(robot.links[-1], 0.05)
    checker.set_margin("post", None, 0.03)
    crate = gk.Motion.translation(at(1.5, 0.0, 0.5), (-3, 0.2, 0))
    checker.add("crate", gk.Box((0.2, 0.2, 0.2)), at(9, 9, 9))
    programme = {
        "one": Trajectory(waypoints(checker, 3, 1), [0.0, 1.0, 3.0]),
        "two": (CubicSpline([0.0, 1.0, 2.0], waypoints(checker, 3, 2)), {"crate": crate}),
    }
    report = checker.safety(programme)
    seen = {}
    for key, path in programme.items():
        spline, moving = (path[0], path[1]) if isinstance(path, tuple) else (path.at, {})
        way = Trajectory(spline) if moving else path
        reference = Checker(robot, {n: (checker.shape(n), checker.pose(n)) for n in checker.objects}, margin=0.3)
        for t in np.linspace(way.start, way.end, 120):
            for obstacle, motion in moving.items():
                reference.move(obstacle, motion.at((t - way.start) / (way.end - way.start)))
            for contact in reference.collisions(way.at(t)):
                pair = key, contact.a, contact.b
                seen[pair] = min(seen.get(pair, np.inf), contact.distance)
    margins = {"post": 0.03}

    def margin(a, b):
        if "post" in (a, b):
            return margins["post"]
        return 0.05 if a == robot.links[-1] and b in ("ball", "crate") else 0.01

    listed = {(row.motion, row.a, row.b): row for row in report.rows}
    assert len(listed) == len(report.rows)
    for pair, distance in seen.items():
        if distance < margin(*pair[1:]) - 1e-6:
            assert pair in listed, pair
        if pair in listed:
            assert listed[pair].lower <= distance
    for pair, row in listed.items():
        assert row.margin == margin(*pair[1:])
        assert row.lower <= row.upper
        if row.verdict != "open":
            assert row.distance <= row.margin + 1e-9
            assert row.since <= row.time + 1e-9
            assert seen[pair] >= row.distance - 1e-3
        assert (row.verdict == "collision") == (row.upper <= 0.0)
    assert bool(report) == (not listed)
    for motion in report.motions:
        assert motion.lower <= min(d for (key, *_), d in seen.items() if key == motion.name)


def test_report_as_text_json_and_html(tmp_path):
    checker = Checker(Robot.example(), {"<b>": (gk.Sphere(0.1), at(1.0, 1.0, 0.0))}, margin=0.02)
    report = checker.safety({"there": [[0.0, 0.0], [0.3, 0.0]], "& over": [[0.3, 0.0], [1.2, 0.0]]})
    assert isinstance(report, SafetyReport)
    assert [motion.verdict for motion in report.motions] == ["kept", "collision"]
    text = report.to_text()
    assert "collision  & over" in text
    document = json.loads(report.to_json(tmp_path / "r.json"))
    assert document == json.loads((tmp_path / "r.json").read_text())
    assert (document["kept"], document["rows"][0]["b"]) == (False, "<b>")
    page = report.to_html(tmp_path / "r.html").read_text()
    assert "hand, &lt;b&gt;" in page
    assert "<b></bdi>" not in page
    assert "@tiles@" not in page
    assert "default-src 'none'" in page
    empty = checker.safety({"stay": [[0.0, 0.0], [0.0, 0.0]]})
    assert empty
    assert "1 of 1" in empty.to_text()
    with pytest.raises(Gjk3dError, match=r"safety.*\{\}.*mapping.*that is not empty"):
        checker.safety({})


CART = """<robot name="cart"><link name="rail"/><link name="cart"><collision>
<geometry><sphere radius="0.25"/></geometry></collision></link><joint name="x" type="prismatic"><parent link="rail"/>
<child link="cart"/><axis xyz="1 0 0"/><limit lower="-9" upper="9"/></joint></robot>"""


@pytest.mark.parametrize(
    ("end", "margin", "verdict"),
    [(1.0, 0.5, "open"), (1.0, 0.5 + 1e-12, "too close"), (1.5, 0.0, "open"), (1.5 + 1e-12, 0.0, "collision")],
)
def test_distance_equal_to_margin_is_open(end, margin, verdict):
    """The cart stops at a distance of 0.5 or 0 from a ball. The bounds of that distance include the margin."""
    checker = Checker(Robot.load(CART), {"ball": (gk.Sphere(0.25), at(2.0, 0.0, 0.0))}, margin=margin)
    motion = Trajectory([[0.0], [end]], [0.0, 1.0])
    nearest = checker.trajectory_clearance(motion)
    assert nearest.distance <= margin
    assert (nearest.upper <= margin) == (verdict != "open")
    assert [row.verdict for row in checker.safety({"stop": motion}).rows] == [verdict]


def test_padding_applies_only_to_obstacles(tmp_path):
    robot = Robot.example()
    checker = Checker(robot, {"ball": (gk.Sphere(0.1), at(1.9, 0.0, 0.0))})
    fold = [0.0, 2.5]
    assert checker.clearance(fold).pair == ("post", "hand")
    checker.set_padding("hand", checker.clearance(fold).distance + 0.1)
    assert checker.free(fold)  # padding does not apply between links
    assert not checker.free([0.0, 0.0])
    checker.set_padding("hand", 0.2)
    assert checker.free([0.0, 0.0])
    checker.add("later", gk.Sphere(0.1), at(0.0, 1.8, 0.0))
    assert not checker.free([np.pi / 2, 0.0]) or checker.clearance([np.pi / 2, 0.0]).distance > 0.2
    still = Trajectory([[0.0, 0.0], [0.0, 0.0]], [0.0, 1.0])
    come = gk.Motion.translation(at(3.0, 0.0, 0.0), (-1.2, 0, 0))  # stops within the padding of 0.2 but does not touch
    assert checker.trajectory_free(still, moving={"ball": come}, certify=True).pair == ("hand", "ball")
    checker.set_padding("hand", 0.1)
    assert checker.trajectory_free(still, moving={"ball": come}, certify=True)
    for name in ("ball", "nobody"):
        with pytest.raises(Gjk3dError, match=f"set_padding.*'{name}'"):
            checker.set_padding(name, 0.1)


@pytest.mark.parametrize("name", ["panda", "ur5", "tiago"])
def test_scaled_links_are_scaled_in_place(name):
    robot = made(name)
    links = sorted({robot.links[entry.link] for entry in robot.geometries})[:4]
    larger = gk.robot.scaled(robot, dict.fromkeys(links, 1.25))
    for old, new in zip(robot.geometries, larger.geometries, strict=True):
        grown = robot.links[old.link] in links
        low, high = old.hull.bounds
        a, b = (entry @ new.pose[:3, :3].T + new.pose[:3, 3] for entry in new.hull.bounds)
        middle = old.pose[:3, :3] @ ((low + high) / 2) + old.pose[:3, 3]
        assert (a + b) / 2 == pytest.approx(middle, abs=1e-12)
        assert np.ptp(new.hull.bounds, axis=0) == pytest.approx((high - low) * (1.25 if grown else 1.0))
        assert len(larger.bodies[new.first : new.last]) == len(robot.bodies[old.first : old.last])
    q = some(robot, 40, 1)
    assert Checker(larger).free(q).sum() <= Checker(robot).free(q).sum()
    assert len(larger.pairs) == len(robot.pairs)
    for factors in ({links[0]: 0.0}, {"nobody": 1.0}, {links[0]: "big"}):
        with pytest.raises(Gjk3dError):
            gk.robot.scaled(robot, factors)


def inverse_kinematics(name, count, seed):
    """Return many solutions for one pose of the last frame, computed by pinocchio from random starts."""
    reference, robot = twin(name), example_robot(name)
    model, data = reference.model, reference.model.createData()
    frame = model.nframes - 1
    rng = np.random.default_rng(seed)
    pinocchio.framesForwardKinematics(model, data, pinocchio.neutral(model) + 0.4)
    goal = data.oMf[frame].copy()
    solutions = []
    for start in some(robot, count, seed):
        q = start.copy()
        for _ in range(60):
            pinocchio.framesForwardKinematics(model, data, q)
            error = pinocchio.log6(data.oMf[frame].actInv(goal)).vector
            if np.linalg.norm(error) < 1e-6:
                break
            jacobian = pinocchio.computeFrameJacobian(model, data, q, frame, pinocchio.ReferenceFrame.LOCAL)
            step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-6 * np.eye(6), error)
            q = q + np.clip(step, -0.5, 0.5)
        solutions.append(q if np.linalg.norm(error) < 1e-6 else np.full(len(q), np.nan))
    return np.array(solutions), rng


def test_valid_filters_inverse_kinematics_solutions():
    """Ten thousand candidates in one call agree with single queries and with coal."""
    solved, rng = inverse_kinematics("ur5", 60, 3)
    q = np.repeat(solved, 170, axis=0)[:10_000]
    q += rng.normal(scale=0.02, size=q.shape)
    robot = made("ur5")
    checker = Checker(robot, AROUND)
    checker.set_margin("post", None, 0.05)
    result = checker.valid(q, margin=0.01)
    assert result.valid.dtype == bool
    assert len(set(result.reason.tolist())) == 4
    finite = np.isfinite(q).all(axis=1)
    assert ((result.reason == Reason.NOT_FINITE) == ~finite).all()
    inside = np.zeros(len(q), dtype=bool)
    inside[finite] = robot.within_limits(q[finite])
    assert ((result.reason == Reason.LIMIT) == (finite & ~inside)).all()
    twice = checker.copy()
    twice.margin = 0.01
    free = np.zeros(len(q), dtype=bool)
    free[inside] = twice.free(q[inside])
    assert (result.valid == free).all()
    for k in np.flatnonzero(result.reason == Reason.LIMIT)[:50]:
        columns = robot.columns[result.joint[k]]
        beyond = np.maximum(robot.lower - q[k], q[k] - robot.upper)
        assert beyond[columns].max() == beyond.max()
    for k in np.flatnonzero(result.reason == Reason.TOO_CLOSE)[:50]:
        assert result.pair[k] in [contact.pair for contact in twice.collisions(q[k])]
    judge = Oracle("ur5")  # coal checks only pairs of links
    for k in np.flatnonzero(result.valid)[:40]:
        assert judge.distances(q[k])[0].min() > 0.01 - 1e-7
    single = checker.valid(q[np.flatnonzero(result.valid)[0]], margin=0.01)
    assert single
    assert (single.reason, single.joint, single.pair) == (Reason.VALID, None, None)
    assert checker.valid(np.full(6, np.nan)).reason == Reason.NOT_FINITE
    assert len(checker.valid(np.empty((0, 6))).valid) == 0
    with pytest.raises(Gjk3dError, match=r"q.*\(5,\).*\(6,\)"):
        checker.valid(np.zeros(5))
    for bad, words in (([[0.0] * 6, [1.0]], "ragged"), ([None] * 6, "dtype"), ([True] * 6, "dtype")):
        with pytest.raises(Gjk3dError, match=words):
            checker.valid(bad)
    with pytest.raises(Gjk3dError, match=r"tolerance.*'wide'"):
        checker.valid(np.zeros(6), tolerance="wide")
    with pytest.raises(Gjk3dError, match=r"truth value.*\.valid\.all\(\)"):
        bool(result)


def test_headline_counts_each_pair_once():
    checker = gk.robot.Checker(gk.robot.Robot.example(), {"ball": gk.Sphere(0.1)})
    path = [[0.0, 0.0], [0.5, 0.0]]
    report = checker.safety({"there": path, "back": path[::-1]})
    pairs = len({frozenset((row.a, row.b)) for row in report.rows})
    assert len(report.rows) == 2 * pairs > 0
    assert report.headline.endswith(f"{pairs} pair{'s' * (pairs > 1)} without proof in 2 motions")
