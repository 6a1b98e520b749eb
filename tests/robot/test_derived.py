"""Robots elsewhere, several in one, held, and with other tools: against each robot by itself, and coal."""

from __future__ import annotations

from itertools import combinations, pairwise

import coal
import numpy as np
import pytest
from chains import drawn, random_robot
from example_robots import SHARE, SRDFS, URDFS, some, twin
from hypothesis import given
from hypothesis import strategies as st
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


def any_pose(rng, size=1.0):
    pose = np.eye(4)
    pose[:3, :3] = Rotation.random(rng=rng).as_matrix()
    pose[:3, 3] = rng.uniform(-size, size, 3)
    return pose


def real(name):
    return Robot.from_urdf(SHARE / URDFS[name], SRDFS.get(name) and SHARE / SRDFS[name], geometry="hull")


def by_coal(a, x, b, y):
    made = {
        gk.Box: lambda s: coal.Box(*s.extents),
        gk.Sphere: lambda s: coal.Sphere(s.radius),
        gk.Cylinder: lambda s: coal.Cylinder(s.radius, s.height),
    }
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance, request.gjk_max_iterations = 1e-12, 1000
    placed = [coal.Transform3s(pose[:3, :3].copy(), pose[:3, 3].copy()) for pose in (x, y)]
    return coal.distance(made[type(a)](a), placed[0], made[type(b)](b), placed[1], request, result)


def test_two_arms_stand_where_each_would():
    panda = real("panda")
    there = at(0.9, 0.1, 0.05, 2.5)
    both = Robot.join({"left": panda, "right": panda.at(there)})
    assert both.links[0] == "world"
    assert both.links[1:] == tuple(f"{part}/{link}" for part in ("left", "right") for link in panda.links)
    assert both.parts == {"left": slice(0, 8), "right": slice(8, 16)}
    assert both.joint_names == tuple(f"{part}/{joint}" for part in ("left", "right") for joint in panda.joint_names)
    assert both.lower.tolist() == [*panda.lower] * 2
    assert len(both.bodies) == 2 * len(panda.bodies)
    q, oracle = some(both, 20, 3), twin("panda")
    poses = both.link_poses(q)
    for row, found in zip(q, poses, strict=True):
        left, right = oracle.poses(row[:8]), there @ oracle.poses(row[8:])
        assert np.abs(found[1:] - [*left, *right]).max() < 1e-12
    rest = both.state("left/default")
    assert np.array_equal(rest[:8], panda.state("default"))
    assert not rest[8:].any()


def test_two_arms_among_obstacles_agree_with_every_pair():
    panda = real("panda")
    both = Robot.join({"left": panda, "right": panda.at(at(0.8, 0.0, 0.0, np.pi))})
    around = {"post": (gk.Box((0.1, 0.1, 0.6)), at(0.4, 0.4, 0.3))}
    checker, q = Checker(both, around), some(both, 25, 4)
    own = {tuple(each) for each in panda.pairs.tolist()}
    count, free, nearest = len(panda.links), checker.free(q), checker.clearance(q)
    for k, row in enumerate(q):
        poses = both.link_poses(row)
        bodies = [(b.link, poses[b.link] @ b.pose, b.shape) for b in both.bodies]
        truth = {}
        for (i, x, a), (j, y, b) in combinations(bodies, 2):
            across = (i <= count) != (j <= count)
            still = {i, j} == {1, count + 1}  # the two bases
            if (across and not still) or (not across and ((i - 1) % count, (j - 1) % count) in own):
                d = gk.signed_distance(a, b, x, y).distance
                key = frozenset((both.links[i], both.links[j]))
                truth[key] = min(truth.get(key, np.inf), d)
        for i, x, a in bodies:
            truth[frozenset((both.links[i], "post"))] = gk.signed_distance(
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
def test_robots_drawn_at_random(tmp_path_factory, seed, kind, stands):
    rng = np.random.default_rng(seed)
    folder = tmp_path_factory.mktemp("robots")
    one, two = random_robot(folder, seed, links=4), random_robot(folder, seed + 1, links=4)
    base, other = any_pose(rng), any_pose(rng)
    link = int(rng.integers(0, 4))
    on = {"b": f"a/{one.links[link]}"} if stands else {}
    both = Robot.join({"a": one.at(base), "b": two.at(other)}, on=on, joints={"a": kind})
    q = drawn(both, 6, seed)
    holds = {"fixed": 0, "planar": 3, "floating": 6}[kind]
    assert both.parts == {"a": slice(0, holds + one.dof), "b": slice(holds + one.dof, both.dof)}
    checker, poses = Checker(both), both.link_poses(q)
    nearest = checker.clearance(q)
    assert both.base.tolist() == np.eye(4).tolist()
    for k, row in enumerate(q):
        moved = np.eye(4)
        if kind == "planar":
            moved = at(row[0], row[1], 0.0, row[2])
        elif kind == "floating":
            moved[:3, :3], moved[:3, 3] = Rotation.from_rotvec(row[3:6]).as_matrix(), row[:3]
        first = base @ moved @ one.link_poses(row[holds : holds + one.dof])
        second = other @ two.link_poses(row[holds + one.dof :])
        if stands:
            second = first[link] @ second
        found = {name: poses[k, n] for n, name in enumerate(both.links)}
        for part, robot, expected in (("a", one, first), ("b", two, second)):
            for name, pose in zip(robot.links, expected, strict=True):
                assert np.abs(found[f"{part}/{name}"] - pose).max() < 1e-12
        least = np.inf
        placed = {both.links[b.link]: (b.shape, found[both.links[b.link]] @ b.pose) for b in both.bodies}
        for i, j in both.pairs.tolist():
            least = min(least, by_coal(*placed[both.links[i]], *placed[both.links[j]]))
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
def test_held_joints_are_where_they_were(tmp_path_factory, seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(tmp_path_factory.mktemp("robot"), seed, links=6).at(any_pose(rng))
    if not robot.dof:
        return
    q = drawn(robot, 2, seed)
    some_names = [name for name in robot.joint_names if rng.random() < 0.5]
    for names in (some_names, robot.joint_names):
        still = robot.held(q[0], names)
        assert still.links == robot.links
        assert still.joint_names == tuple(name for name in robot.joint_names if name not in names)
        whole = q[1].copy()
        for name in names:
            whole[robot.columns[name]] = q[0][robot.columns[name]]
        own = still.configuration({name: whole[robot.columns[name]] for name in still.joint_names})
        assert np.abs(still.link_poses(own) - robot.link_poses(whole)).max() < 1e-12


def test_a_held_robot_stands_around_another():
    arm = Robot.example()
    other = arm.at(at(1.2, -0.6)).held([np.pi / 2, 0.0])
    both = Robot.join({"arm": arm, "other": other})
    assert both.dof == 2
    poses = other.link_poses(np.zeros(0))
    around = {other.links[b.link]: (b.shape, poses[b.link] @ b.pose) for b in other.bodies}
    q = np.random.default_rng(0).uniform(-2.0, 2.0, (200, 2))
    assert np.array_equal(Checker(both).free(q), Checker(arm, {f"o {k}": v for k, v in around.items()}).free(q))
    assert 20 < Checker(both).free(q).sum() < 180


def test_an_arm_on_a_cart_and_a_tool_on_the_arm():
    cart, arm, tool = Robot.load(CART), Robot.example(), Robot.load(GRIPPER)
    whole = Robot.join(
        {"cart": cart, "arm": arm.at(at(0.0, 0.0, 0.6)), "tool": tool.at(at(0.53, 0.0))},
        on={"arm": "cart/mast", "tool": "arm/hand"}, joints={"cart": "planar"},
    )  # fmt: skip
    assert whole.joint_names == ("cart", "arm/shoulder", "arm/elbow", "tool/slide")
    reasons = {frozenset(pair[:2]): pair[2] for pair in whole.allowed}
    for pair in (
        ("cart/deck", "arm/post"),
        ("cart/mast", "arm/beam"),
        ("arm/hand", "tool/jaw"),
        ("arm/beam", "tool/palm"),
    ):
        checked = {frozenset((whole.links[a], whole.links[b])) for a, b in whole.pairs.tolist()}
        assert reasons.get(frozenset(pair)) == "adjacent", pair
        assert frozenset(pair) not in checked
    assert frozenset(("cart/deck", "tool/palm")) in checked
    q = whole.configuration({"cart": (2.0, 1.0, np.pi / 2), "arm/elbow": 0.5, "tool/slide": 0.02})
    poses = dict(zip(whole.links, whole.link_poses(q), strict=True))
    expected = at(2.0, 1.0, 0.0, np.pi / 2) @ at(0, 0, 0.6) @ at(1.0, 0.0, 0.0, 0.5) @ at(0.53, 0.0) @ at(0.1, 0.02)
    assert np.abs(poses["tool/jaw"] - expected).max() < 1e-12
    checker = Checker(whole, {"wall": (gk.Box((0.1, 6.0, 3.0)), at(4.0, 0.0))})
    away = whole.configuration({"cart": (0.0, 0.0, 0.0)})
    near = whole.configuration({"cart": (3.0, 0.0, 0.0)})
    motion = checker.motion_free(away, near, certify=True)
    assert motion.pair == ("tool/jaw", "wall")
    assert motion.safe == pytest.approx((3.95 - 1.0 - 0.53 - 0.15) / 3.0, abs=1e-5)
    found = checker.distances(away, within=3.0)
    row = next(r for r, p in enumerate(found.pair) if found.pairs[p] == ("tool/palm", "wall"))
    assert found.gradient[row, :3] == pytest.approx([-1.0, 0.0, found.gradient[row, 2]])


def test_robots_of_robots(tmp_path):
    arm = Robot.example()
    cell = Robot.join({"left": arm, "right": arm.at(at(2.5, 0.0, 0.0, np.pi))})
    two = Robot.join({"north": cell, "south": cell.at(at(0.0, -5.0))})
    assert two.dof == 8
    assert two.joint_names[:2] == ("north/left/shoulder", "north/left/elbow")
    checked = {frozenset((two.links[a], two.links[b])) for a, b in two.pairs.tolist()}
    assert frozenset(("north/left/beam", "north/right/post")) in checked
    assert frozenset(("north/left/beam", "south/right/post")) in checked
    assert frozenset(("north/left/beam", "north/left/post")) not in checked
    assert len(two.adjacent()) == 4 * len(arm.adjacent())
    assert {pair.reason for pair in allow_by_sampling(two, 200, prove=0)} <= {"adjacent", "never"}
    path = tmp_path / "two.urdf"
    cell.at(at(0.0, 1.0)).to_urdf(path)
    again, q = Robot.load(path), [0.1, 0.2, 0.3, 0.4]
    assert np.abs(again.link_poses(q)[1:] - cell.at(at(0.0, 1.0)).link_poses(q)).max() < 1e-12


def test_a_robot_elsewhere_is_written_where_it_stands(tmp_path):
    rng = np.random.default_rng(1)
    robot = real("panda").at(any_pose(rng))
    for write in (robot.to_urdf, robot.spheres(0.1).to_urdf):
        write(tmp_path / "there.urdf")
        again, q = Robot.load(tmp_path / "there.urdf"), some(robot, 3)
        assert np.abs(again.link_poses(q)[:, 1:] - robot.link_poses(q)).max() < 1e-12
    assert np.array_equal(robot.at(None).base, np.eye(4))
    q = some(robot, 200, 2)
    assert np.array_equal(Checker(robot).free(q), Checker(real("panda")).free(q))


def test_another_tool():
    checker = Checker(Robot.example(), {"wall": (gk.Box((0.1, 2.0, 2.0)), at(2.0, 0.0))}, margin=0.01)
    checker.attach("label", gk.Box((0.01, 0.01, 0.01)), "hand", at(0.3, 0.1), ["beam", "post"])
    longer = checker.robot.with_geometry("hand", [gk.Box((0.1, 0.1, 0.1)), (gk.Sphere(0.1), at(0.9, 0.0))])
    assert [b.link for b in longer.bodies] == [0, 1, 2, 2]
    assert [b.geometry for b in longer.bodies] == [0, 1, 2, 3]
    other = checker.with_robot(longer)
    assert checker.clearance([0.0, 0.0]).pair == ("hand", "wall")
    assert checker.clearance([0.0, 0.0]).distance == pytest.approx(0.45)
    assert other.clearance([0.0, 0.0]).distance == pytest.approx(-0.05)
    assert (other.margin, other.objects, other.attached) == (0.01, ("wall",), {"label": "hand"})
    other.remove("wall")
    assert checker.objects == ("wall",)
    bare = checker.robot.with_geometry(1, None)
    assert [bare.links[b.link] for b in bare.bodies] == ["post", "hand"]
    tetrahedron = gk.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    for way, kind in (("hull", gk.ConvexHull), ("bodies", gk.ConvexHull), ("mesh", gk.Mesh)):
        made = checker.robot.with_geometry("hand", (tetrahedron, at(0.6, 0.0)), geometry=way)
        assert isinstance(made.bodies[-1].shape, kind)
        assert made.geometries[-1].way == way
        assert Checker(made).free([0.0, 0.0])


def test_two_arms_and_a_cart_are_planned_for_together():
    arm = Robot.example()
    both = Robot.join({"left": arm, "right": arm.at(at(2.4, 0.0, 0.0, np.pi))})
    checker = Checker(both)
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


def test_worlds_of_mjcf_are_surroundings():
    pytest.importorskip("mujoco")
    text = """<mujoco model="m"><worldbody><geom type="box" size="1 1 0.1" pos="0 0 -0.3"/><body name="a"><joint
    name="turn" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.6 0 0" size="0.05"/></body></worldbody></mujoco>"""
    one = Robot.load(text)
    both = Robot.join({"l": one, "r": one.at(at(0.0, 3.0))})
    checked = {frozenset((both.links[a], both.links[b])) for a, b in both.pairs.tolist()}
    worlds = [name for name in both.links if name in both._worlds]
    assert len(worlds) == 2
    for part, other in (("l", "r"), ("r", "l")):
        assert frozenset((f"{part}/a", next(w for w in worlds if w.startswith(part)))) in checked
        assert frozenset((f"{part}/a", next(w for w in worlds if w.startswith(other)))) in checked


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
        (lambda r: Robot.join({"a\0b": r}), r"'a\\x00b'"),  # which no XML can have
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
