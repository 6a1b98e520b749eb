"""Moved, joined and held robots and replaced tools, compared with single robots and with coal."""

from __future__ import annotations

from itertools import combinations, pairwise

import coal
import numpy as np
import pytest
from example_robots import SHARE, SRDFS, URDFS, some, twin
from hypothesis import given
from hypothesis import strategies as st
from random_robots import drawn, random_robot
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.errors import RobotError, ShapeError
from gjk3d.robot import Checker, Robot, allow_by_sampling

CART = """<robot name="cart"><link name="deck"><collision><geometry><box size="0.8 0.5 0.1"/></geometry></collision>
</link><link name="mast"><collision><origin xyz="0 0 0.25"/><geometry><box size="0.1 0.1 0.4"/></geometry></collision>
</link><joint name="bolt" type="fixed"><parent link="deck"/><child link="mast"/></joint></robot>"""
GRIPPER = """<robot name="grip"><link name="palm"><collision><geometry><box size="0.05 0.1 0.1"/></geometry></collision>
</link><link name="jaw"><collision><geometry><box size="0.1 0.02 0.02"/></geometry></collision></link>
<joint name="slide" type="prismatic"><parent link="palm"/><child link="jaw"/><origin xyz="0.1 0 0"/><axis xyz="0 1 0"/>
<limit lower="0" upper="0.05"/></joint></robot>"""


def at(x, y, z=0.0, turn=0.0):
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_rotvec([0.0, 0.0, turn]).as_matrix()
    pose[:3, 3] = x, y, z
    return pose


def random_pose(rng, size=1.0):
    pose = np.eye(4)
    pose[:3, :3] = Rotation.random(rng=rng).as_matrix()
    pose[:3, 3] = rng.uniform(-size, size, 3)
    return pose


def real_robot(name):
    return Robot.from_urdf(SHARE / URDFS[name], SRDFS.get(name) and SHARE / SRDFS[name], geometry="hull")


def coal_distance(a, x, b, y):
    made = {
        gk.Box: lambda s: coal.Box(*s.extents),
        gk.Sphere: lambda s: coal.Sphere(s.radius),
        gk.Cylinder: lambda s: coal.Cylinder(s.radius, s.height),
    }
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance, request.gjk_max_iterations = 1e-12, 1000
    placed = [coal.Transform3s(pose[:3, :3].copy(), pose[:3, 3].copy()) for pose in (x, y)]
    return coal.distance(made[type(a)](a), placed[0], made[type(b)](b), placed[1], request, result)


def test_joined_arms_equal_single_arms():
    panda = real_robot("panda")
    place = at(0.9, 0.1, 0.05, 2.5)
    joined = Robot.join({"left": panda, "right": panda.at(place)})
    assert joined.links[0] == "world"
    assert joined.links[1:] == tuple(f"{part}/{link}" for part in ("left", "right") for link in panda.links)
    assert joined.parts == {"left": slice(0, 8), "right": slice(8, 16)}
    assert joined.joint_names == tuple(f"{part}/{joint}" for part in ("left", "right") for joint in panda.joint_names)
    assert joined.lower.tolist() == [*panda.lower] * 2
    assert len(joined.bodies) == 2 * len(panda.bodies)
    q, oracle = some(joined, 20, 3), twin("panda")
    poses = joined.link_poses(q)
    for row, links in zip(q, poses, strict=True):
        left, right = oracle.poses(row[:8]), place @ oracle.poses(row[8:])
        assert np.abs(links[1:] - [*left, *right]).max() < 1e-12
    rest = joined.state("left/default")
    assert np.array_equal(rest[:8], panda.state("default"))
    assert not rest[8:].any()


def test_joined_arms_agree_with_single_pairs():
    panda = real_robot("panda")
    joined = Robot.join({"left": panda, "right": panda.at(at(0.8, 0.0, 0.0, np.pi))})
    around = {"post": (gk.Box((0.1, 0.1, 0.6)), at(0.4, 0.4, 0.3))}
    checker, q = Checker(joined, around), some(joined, 25, 4)
    own_pairs = {tuple(pair) for pair in panda.pairs.tolist()}
    count, free, nearest = len(panda.links), checker.free(q), checker.clearance(q)
    for k, row in enumerate(q):
        poses = joined.link_poses(row)
        bodies = [(b.link, poses[b.link] @ b.pose, b.shape) for b in joined.bodies]
        truth = {}
        for (i, x, a), (j, y, b) in combinations(bodies, 2):
            across = (i <= count) != (j <= count)
            still = {i, j} == {1, count + 1}  # the pair of bases
            if (across and not still) or (not across and ((i - 1) % count, (j - 1) % count) in own_pairs):
                d = gk.signed_distance(a, b, x, y).distance
                key = frozenset((joined.links[i], joined.links[j]))
                truth[key] = min(truth.get(key, np.inf), d)
        for i, x, a in bodies:
            truth[frozenset((joined.links[i], "post"))] = gk.signed_distance(
                a, around["post"][0], x, at(0.4, 0.4, 0.3)
            ).distance
        least = min(truth.values())
        assert free[k] == (least > 0.0)
        assert nearest.distance[k] == pytest.approx(least, abs=1e-9)
        assert truth[frozenset(nearest.pair[k])] == pytest.approx(least, abs=1e-9)
    assert 0 < free.sum() < len(q)
    names = {frozenset(checker._cell().names[p]) for p in range(len(checker._cell().slots))}
    assert frozenset(("left/panda_link1", "right/panda_link0")) in names, "bases are no neighbours of the other arm"
    assert frozenset(("left/panda_link0", "right/panda_link0")) not in names, "what never moves is not checked"


@given(st.integers(0, 10_000), st.sampled_from(["fixed", "planar", "floating"]), st.booleans())
def test_joined_random_robots_agree_with_coal(tmp_path_factory, seed, kind, stands):
    rng = np.random.default_rng(seed)
    folder = tmp_path_factory.mktemp("robots")
    robot_a, robot_b = random_robot(folder, seed, links=4), random_robot(folder, seed + 1, links=4)
    base, second_base = random_pose(rng), random_pose(rng)
    link = int(rng.integers(0, 4))
    on = {"b": f"a/{robot_a.links[link]}"} if stands else {}
    joined = Robot.join({"a": robot_a.at(base), "b": robot_b.at(second_base)}, on=on, joints={"a": kind})
    q = drawn(joined, 6, seed)
    holds = {"fixed": 0, "planar": 3, "floating": 6}[kind]
    assert joined.parts == {"a": slice(0, holds + robot_a.dof), "b": slice(holds + robot_a.dof, joined.dof)}
    checker, poses = Checker(joined), joined.link_poses(q)
    nearest = checker.clearance(q)
    assert joined.base.tolist() == np.eye(4).tolist()
    for k, row in enumerate(q):
        moved = np.eye(4)
        if kind == "planar":
            moved = at(row[0], row[1], 0.0, row[2])
        elif kind == "floating":
            moved[:3, :3], moved[:3, 3] = Rotation.from_rotvec(row[3:6]).as_matrix(), row[:3]
        first = base @ moved @ robot_a.link_poses(row[holds : holds + robot_a.dof])
        second = second_base @ robot_b.link_poses(row[holds + robot_a.dof :])
        if stands:
            second = first[link] @ second
        link_poses = {name: poses[k, n] for n, name in enumerate(joined.links)}
        for part, robot, expected in (("a", robot_a, first), ("b", robot_b, second)):
            for name, pose in zip(robot.links, expected, strict=True):
                assert np.abs(link_poses[f"{part}/{name}"] - pose).max() < 1e-12
        least = np.inf
        placed = {joined.links[b.link]: (b.shape, link_poses[joined.links[b.link]] @ b.pose) for b in joined.bodies}
        for i, j in joined.pairs.tolist():
            least = min(least, coal_distance(*placed[joined.links[i]], *placed[joined.links[j]]))
        if least > 1e-3:
            assert nearest.lower[k] - 1e-7 <= least <= nearest.upper[k] + 1e-7
        else:
            assert nearest.distance[k] < 2e-3
    for a, b in pairwise(q):
        motion = checker.motion_free(a, b, certify=True)
        t = np.linspace(0.0, 1.0, 60)[:, None]
        free = checker.free((1.0 - t) * a + t * b)
        assert free[t[:, 0] < motion.safe].all(), "what is proven is free"
        if motion.status == gk.robot.MotionStatus.HIT:
            assert not checker.free((1.0 - motion.hit) * a + motion.hit * b)


@given(st.integers(0, 10_000))
def test_held_joints_retain_link_poses(tmp_path_factory, seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(tmp_path_factory.mktemp("robot"), seed, links=6).at(random_pose(rng))
    if not robot.dof:
        return
    q = drawn(robot, 2, seed)
    some_names = [name for name in robot.joint_names if rng.random() < 0.5]
    for names in (some_names, robot.joint_names):
        still = robot.held(q[0], names)
        assert still.links == robot.links
        assert still.joint_names == tuple(name for name in robot.joint_names if name not in names)
        full = q[1].copy()
        for name in names:
            full[robot.columns[name]] = q[0][robot.columns[name]]
        reduced = still.configuration({name: full[robot.columns[name]] for name in still.joint_names})
        assert np.abs(still.link_poses(reduced) - robot.link_poses(full)).max() < 1e-12


def test_held_robot_equals_fixed_obstacles():
    arm = Robot.example()
    obstacle = arm.at(at(1.2, -0.6)).held([np.pi / 2, 0.0])
    joined = Robot.join({"arm": arm, "other": obstacle})
    assert joined.dof == 2
    poses = obstacle.link_poses(np.zeros(0))
    around = {obstacle.links[b.link]: (b.shape, poses[b.link] @ b.pose) for b in obstacle.bodies}
    q = np.random.default_rng(0).uniform(-2.0, 2.0, (200, 2))
    assert np.array_equal(Checker(joined).free(q), Checker(arm, {f"o {k}": v for k, v in around.items()}).free(q))
    assert 20 < Checker(joined).free(q).sum() < 180


def test_joined_cart_arm_and_tool():
    cart, arm, tool = Robot.load(CART), Robot.example(), Robot.load(GRIPPER)
    joined = Robot.join(
        {"cart": cart, "arm": arm.at(at(0.0, 0.0, 0.6)), "tool": tool.at(at(0.53, 0.0))},
        on={"arm": "cart/mast", "tool": "arm/hand"}, joints={"cart": "planar"},
    )  # fmt: skip
    assert joined.joint_names == ("cart", "arm/shoulder", "arm/elbow", "tool/slide")
    reasons = {frozenset(pair[:2]): pair[2] for pair in joined.allowed}
    for pair in (
        ("cart/deck", "arm/post"),
        ("cart/mast", "arm/beam"),
        ("arm/hand", "tool/jaw"),
        ("arm/beam", "tool/palm"),
    ):
        checked = {frozenset((joined.links[a], joined.links[b])) for a, b in joined.pairs.tolist()}
        assert reasons.get(frozenset(pair)) == "adjacent", pair
        assert frozenset(pair) not in checked
    assert frozenset(("cart/deck", "tool/palm")) in checked
    q = joined.configuration({"cart": (2.0, 1.0, np.pi / 2), "arm/elbow": 0.5, "tool/slide": 0.02})
    poses = dict(zip(joined.links, joined.link_poses(q), strict=True))
    expected = at(2.0, 1.0, 0.0, np.pi / 2) @ at(0, 0, 0.6) @ at(1.0, 0.0, 0.0, 0.5) @ at(0.53, 0.0) @ at(0.1, 0.02)
    assert np.abs(poses["tool/jaw"] - expected).max() < 1e-12
    checker = Checker(joined, {"wall": (gk.Box((0.1, 6.0, 3.0)), at(4.0, 0.0))})
    away = joined.configuration({"cart": (0.0, 0.0, 0.0)})
    near = joined.configuration({"cart": (3.0, 0.0, 0.0)})
    motion = checker.motion_free(away, near, certify=True)
    assert motion.pair == ("tool/jaw", "wall")
    assert motion.safe == pytest.approx((3.95 - 1.0 - 0.53 - 0.15) / 3.0, abs=1e-5)
    result = checker.distances(away, within=3.0)
    row = next(r for r, p in enumerate(result.pair) if result.pairs[p] == ("tool/palm", "wall"))
    assert result.gradient[row, :3] == pytest.approx([-1.0, 0.0, result.gradient[row, 2]])


def test_joined_robots_are_joined_again(tmp_path):
    arm = Robot.example()
    cell = Robot.join({"left": arm, "right": arm.at(at(2.5, 0.0, 0.0, np.pi))})
    joined = Robot.join({"north": cell, "south": cell.at(at(0.0, -5.0))})
    assert joined.dof == 8
    assert joined.joint_names[:2] == ("north/left/shoulder", "north/left/elbow")
    checked = {frozenset((joined.links[a], joined.links[b])) for a, b in joined.pairs.tolist()}
    assert frozenset(("north/left/beam", "north/right/post")) in checked
    assert frozenset(("north/left/beam", "south/right/post")) in checked
    assert frozenset(("north/left/beam", "north/left/post")) not in checked
    assert len(joined.adjacent()) == 4 * len(arm.adjacent())
    assert {pair.reason for pair in allow_by_sampling(joined, 200, prove=0)} <= {"adjacent", "never"}
    path = tmp_path / "two.urdf"
    cell.at(at(0.0, 1.0)).to_urdf(path)
    again, q = Robot.load(path), [0.1, 0.2, 0.3, 0.4]
    assert np.abs(again.link_poses(q)[1:] - cell.at(at(0.0, 1.0)).link_poses(q)).max() < 1e-12


def test_moved_robot_round_trips_through_urdf(tmp_path):
    rng = np.random.default_rng(1)
    robot = real_robot("panda").at(random_pose(rng))
    for write in (robot.to_urdf, robot.spheres(0.1).to_urdf):
        write(tmp_path / "there.urdf")
        again, q = Robot.load(tmp_path / "there.urdf"), some(robot, 3)
        assert np.abs(again.link_poses(q)[:, 1:] - robot.link_poses(q)).max() < 1e-12
    assert np.array_equal(robot.at(None).base, np.eye(4))
    q = some(robot, 200, 2)
    assert np.array_equal(Checker(robot).free(q), Checker(real_robot("panda")).free(q))


def test_replaced_geometry_applies_to_new_checker():
    checker = Checker(Robot.example(), {"wall": (gk.Box((0.1, 2.0, 2.0)), at(2.0, 0.0))}, margin=0.01)
    checker.attach("label", gk.Box((0.01, 0.01, 0.01)), "hand", at(0.3, 0.1), ["beam", "post"])
    longer = checker.robot.with_geometry("hand", [gk.Box((0.1, 0.1, 0.1)), (gk.Sphere(0.1), at(0.9, 0.0))])
    assert [b.link for b in longer.bodies] == [0, 1, 2, 2]
    assert [b.geometry for b in longer.bodies] == [0, 1, 2, 3]
    changed = checker.with_robot(longer)
    assert checker.clearance([0.0, 0.0]).pair == ("hand", "wall")
    assert checker.clearance([0.0, 0.0]).distance == pytest.approx(0.45)
    assert changed.clearance([0.0, 0.0]).distance == pytest.approx(-0.05)
    assert (changed.margin, changed.objects, changed.attached) == (0.01, ("wall",), {"label": "hand"})
    changed.remove("wall")
    assert checker.objects == ("wall",)
    bare = checker.robot.with_geometry(1, None)
    assert [bare.links[b.link] for b in bare.bodies] == ["post", "hand"]
    tetrahedron = gk.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    for way, kind in (("hull", gk.ConvexHull), ("bodies", gk.ConvexHull), ("mesh", gk.Mesh)):
        made = checker.robot.with_geometry("hand", (tetrahedron, at(0.6, 0.0)), geometry=way)
        assert isinstance(made.bodies[-1].shape, kind)
        assert made.geometries[-1].way == way
        assert Checker(made).free([0.0, 0.0])


def test_plan_for_joined_arms_and_for_cart():
    arm = Robot.example()
    joined = Robot.join({"left": arm, "right": arm.at(at(2.4, 0.0, 0.0, np.pi))})
    checker = Checker(joined)
    start, goal = np.array([0.7, 0.0, -0.9, 0.0]), np.array([-0.7, 0.0, 0.9, 0.0])
    assert checker.free([start, goal]).all()
    assert not checker.motion_free(start, goal)
    assert checker.plan(start, goal, seconds=20.0)
    cart = Robot.join({"cart": arm}, joints={"cart": "planar"})
    checker = Checker(cart, {"post": (gk.Cylinder(0.2, 2.0), at(2.0, 0.0))})
    ends = [cart.configuration({"cart": (x, 0.0, 0.0), "cart/elbow": 2.0}) for x in (-0.2, 3.5)]
    lower, upper = [-2.0, -4.0, -3.2, -3.0, -2.5], [5.0, 4.0, 3.2, 3.0, 2.5]
    plan = checker.plan(*ends, lower=lower, upper=upper, seconds=20.0)
    assert plan
    assert checker.path_free(plan.path, certify=True)


def test_mjcf_worlds_collide_with_all_parts():
    pytest.importorskip("mujoco")
    text = """<mujoco model="m"><worldbody><geom type="box" size="1 1 0.1" pos="0 0 -0.3"/><body name="a"><joint
    name="turn" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.6 0 0" size="0.05"/></body></worldbody></mujoco>"""
    robot = Robot.load(text)
    joined = Robot.join({"l": robot, "r": robot.at(at(0.0, 3.0))})
    checked = {frozenset((joined.links[a], joined.links[b])) for a, b in joined.pairs.tolist()}
    worlds = [name for name in joined.links if name in joined._worlds]
    assert len(worlds) == 2
    for part, second in (("l", "r"), ("r", "l")):
        assert frozenset((f"{part}/a", next(w for w in worlds if w.startswith(part)))) in checked
        assert frozenset((f"{part}/a", next(w for w in worlds if w.startswith(second)))) in checked


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda r: Robot.join({}), r"\{\}.*mapping"),
        (
            lambda r: Checker(Robot.join({"a": r}, joints={"a": "planar"})).free([0, 0]),
            r"\(n, 5\).*a \(3 numbers\), a/sh",
        ),
        (lambda r: Checker(r).path_free(np.sin), "path.*trajectory_free.*times"),
        (lambda r: Robot.join([r, r]), r"\[<Robot 'example'.*mapping"),
        (lambda r: Robot.join({"a/b": r}), "'a/b'.*slash"),
        (lambda r: Robot.join({"a\0b": r}), r"'a\\x00b'"),  # XML cannot contain this character
        (lambda r: Robot.join({"": r}), "''.*slash"),
        (lambda r: Robot.join({"world": r}), "part.*'world'.*'world'"),
        (lambda r: Robot.join({"a": "b"}), "'a'.*str.*Robot"),
        (lambda r: Robot.join({"a": r}, on={"b": "a/hand"}), r"on .*'b'.*expected 'a'\.$"),
        (lambda r: Robot.join({"a": r, "b": r}, on={"b": "a/foot"}), "'b'.*'a/foot'.*'arm/flange'"),
        (lambda r: Robot.join({"a": r, "b": r}, on={"b": "hand"}), "'b'.*'hand'.*'arm/flange'"),
        (lambda r: Robot.join({"a": r}, on={"a": "a/hand"}), "'a'.*'a'.*loop"),
        (lambda r: Robot.join({"a": r, "b": r}, on={"a": "b/hand", "b": "a/hand"}), "'a'.*'b'.*'a'.*loop"),
        (
            lambda r: Robot.join({"a": r}, joints={"a": "revolute"}),
            "joints.*'a'.*'revolute'.*'fixed', 'planar', 'floating'",
        ),
        (lambda r: r.at(np.tile(np.eye(4), (2, 1, 1))), "pose.*robot.*stack"),
        (lambda r: r.held([0.0, 0.0], ["knee"]), "held.*'example'.*'knee'.*'shoulder', 'elbow'"),
        (lambda r: r.held([[0.0, 0.0]]), "q .*stack"),
        (lambda r: r.held([0.0]), r"q.*\(1,\).*shoulder, elbow"),
        (lambda r: r.with_geometry("hand", gk.Halfspace((0, 0, 1), 0.0)), "'hand'.*Halfspace.*Mesh"),
        (lambda r: r.with_geometry("hand", "box"), "'hand' is a str, .*Mesh"),
        (lambda r: r.with_geometry("foot", None), "'example'.*'foot'.*'post', 'beam', 'hand'"),
        (lambda r: r.with_geometry("hand", None, geometry="points"), "geometry='points'"),
        (lambda r: Checker(r).with_robot(Robot.join({"a": r})), "'a'.*'example'"),
    ],
)
def test_errors(ask, text):
    with pytest.raises((RobotError, ShapeError), match=text):
        ask(Robot.example())
