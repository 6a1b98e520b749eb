"""Plans: paths that are searched, smoothed and proven, and large stacks of edges."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import gjk3d as gk
from gjk3d.errors import RobotError, UnsupportedPair
from gjk3d.robot import PlanStatus, motion_certified, planner
from gjk3d.robot.motions import path_clearance

TURNTABLE = """<robot name="arm"><link name="post"/><link name="beam"><collision><origin xyz="0.5 0 0"/>
<geometry><box size="1 0.04 0.04"/></geometry></collision></link>
<joint name="turn" type="continuous"><parent link="post"/><child link="beam"/><axis xyz="0 0 1"/></joint></robot>"""
CART = """<robot name="cart"><link name="ground"/><link name="slide"/><link name="body"><collision>
<geometry><box size="0.3 0.2 0.2"/></geometry></collision></link>
<joint name="x" type="prismatic"><parent link="ground"/><child link="slide"/><axis xyz="1 0 0"/>
<limit lower="{low}" upper="{high}"/></joint>
<joint name="y" type="prismatic"><parent link="slide"/><child link="body"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1"/></joint></robot>"""


def at(x, y, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def arm(**around):
    return gk.robot.Checker(gk.robot.Robot.example(), around)


def cart(low=-1, high=1, **around):
    return gk.robot.Checker(gk.robot.Robot.from_urdf(CART.format(low=low, high=high)), around)


def wall(gap=0.5):
    """Return a wall across the path of a cart, with a gap at y > 1 - gap."""
    return gk.Box((0.1, 2.0 - gap, 1.0)), at(0.0, -0.5 * gap)


def samples(path, count=3000):
    t = np.linspace(0.0, len(path) - 1.0, count)
    return np.column_stack([np.interp(t, np.arange(len(path)), column) for column in path.T])


def assert_proven(checker, plan, start, goal):
    assert (bool(plan), plan.status, plan.proof.proven, plan.proof.pair) == (True, PlanStatus.PROVEN, True, None)
    assert np.array_equal(plan.path[[0, -1]], [start, goal])
    assert checker.path_free(plan.path, certify=True)
    assert checker.free(samples(plan.path)).all()


def test_path_around_pole_is_proven():
    checker, start, goal = arm(pole=(gk.Cylinder(0.1, 1.0), at(0.0, 1.5))), [0.0, 0.0], [3.0, 0.0]
    plan = checker.plan(start, goal)
    assert plan.goal == 0
    assert_proven(checker, plan, start, goal)
    assert not checker.motion_free(start, goal)
    assert repr(plan) == f"Plan(PROVEN, {len(plan.path)} waypoints, goal=0)"


@pytest.mark.parametrize("seed", range(4))
def test_equal_seeds_give_equal_paths(seed):
    paths = [cart(wall=wall()).plan([-0.8, -0.5], [0.8, -0.5], seed=seed).path for _ in range(2)]
    assert np.array_equal(*paths)
    other = cart(wall=wall()).plan([-0.8, -0.5], [0.8, -0.5], seed=seed + 10).path
    assert not np.array_equal(paths[0], other)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["box", "mesh", "cloud"])
def test_path_through_narrow_gap_is_proven(seed, kind):
    shape, pose = wall(0.3)
    if kind == "mesh":
        shape = gk.Mesh(*shape.surface()[:2])
    elif kind == "cloud":
        grid = np.stack(np.meshgrid(0.0, np.linspace(-0.85, 0.85, 120), [-0.05, 0.05], indexing="ij"), axis=-1)
        shape = gk.PointCloud(grid.reshape(-1, 3), 0.01)
    checker = cart(wall=(shape, pose))
    plan = checker.plan([-0.8, -0.5], [0.8, -0.5], seed=seed)
    assert_proven(checker, plan, [-0.8, -0.5], [0.8, -0.5])
    length = np.linalg.norm(np.diff(plan.path, axis=0), axis=1).sum()
    assert length < 1.3 * (2.0 * np.hypot(0.65, 1.3) + 0.3), "smoothed paths are not much longer than the shortest"


def test_colliding_goals_are_skipped_and_index_is_returned():
    checker = cart(wall=wall())
    goals = [[0.0, 0.0], [0.8, 0.0], [0.1, -0.9]]
    plan = checker.plan([-0.8, 0.0], goals)
    assert plan.goal == 1
    assert_proven(checker, plan, [-0.8, 0.0], goals[1])
    goals = np.array([[0.9, y] for y in np.linspace(-0.9, 0.9, 200)])
    plan = checker.plan([-0.8, 0.9], goals)
    assert_proven(checker, plan, [-0.8, 0.9], goals[plan.goal])


def test_wrapping_joints_turn_the_shorter_way():
    checker = gk.robot.Checker(gk.robot.Robot.from_urdf(TURNTABLE))
    path = checker.plan([-3.0], [3.0]).path
    assert np.abs(path[-1] - path[0]).max() == pytest.approx(2.0 * np.pi - 6.0)
    assert (path[-1, 0] - 3.0) / (2.0 * np.pi) == pytest.approx(-1.0)
    for bounds in ({"lower": [-3.1], "upper": [3.1]}, {"lower": [-3.1]}):
        assert checker.plan([-3.0], [3.0], **bounds).path[-1].tolist() == [3.0], "a joint with a bound does not wrap"
    pole = gk.robot.Checker(checker.robot, {"pole": (gk.Cylinder(0.05, 1.0), at(-0.8, 0.0))})
    path = pole.plan([-3.0], [3.0]).path
    assert path[-1].tolist() == [3.0], "the shorter way is blocked"
    assert pole.path_free(path, certify=True)


def test_some_joints_move_and_others_keep_their_values():
    checker = arm(pole=(gk.Cylinder(0.1, 1.0), at(0.0, 1.0)))
    name = checker.robot.joint_names[0]
    for joints in (name, [name]):
        path = checker.plan([-0.5, 0.3], [0.5, 0.3], joints=joints).path
        assert (path[:, 1] == 0.3).all()
    checker.robot.groups["first"] = (name,)
    assert checker.plan([-0.5, 0.3], [0.5, 0.3], joints="first")
    with pytest.raises(RobotError, match=r"goals\[0\]\[1\] is 0\.4, but start\[1\] is 0\.3 .*joints="):
        checker.plan([-0.5, 0.3], [0.5, 0.4], joints=name)


def test_path_keeps_the_margin():
    checker = cart(wall=wall(1.0))
    plan = checker.plan([-0.8, -0.5], [0.8, -0.5], margin=0.1)
    assert checker.clearance(samples(plan.path)).distance.min() >= 0.1
    assert checker.margin == 0.0, "the checker does not change"
    with pytest.raises(RobotError, match="start is not free: 'body' and 'wall' are closer"):
        checker.plan([-0.25, -0.5], [0.8, -0.5], margin=0.1)


def test_touching_pairs_are_allowed_at_the_ends():
    checker = cart(shelf=(gk.Box((4.0, 0.1, 1.0)), at(0.0, -0.65)))
    start, goal = [-0.5, -0.5], [0.5, -0.5]
    with pytest.raises(RobotError, match=r"start is not free: 'body' and 'shelf'.*touching="):
        checker.plan(start, goal)
    plan = checker.plan(start, goal, touching=[("shelf", "body")])
    assert plan
    assert checker.clearance(samples(plan.path)).lower.min() >= -2e-6
    with pytest.raises(RobotError, match=r"'shelf' and 'bdy', which are not a checked pair\. Did you mean 'body'"):
        checker.plan(start, goal, touching=[("shelf", "bdy")])


def test_attached_object_is_included_in_plans():
    checker = cart(wall=wall(0.5))
    checker.attach("mast", gk.Box((0.1, 0.1, 0.1)), link="body", pose=at(0.0, -0.5))
    assert checker.plan([-0.8, 0.9], [0.8, 0.9], seconds=0.05).status == PlanStatus.TIMEOUT
    checker.detach("mast")
    assert checker.plan([-0.8, 0.9], [0.8, 0.9])


def test_search_keeps_time_limit_and_reports_progress():
    checker, reports = cart(wall=wall(0.0)), []
    plan = checker.plan([-0.8, 0.0], [0.8, 0.0], seconds=0.1, progress=lambda *report: reports.append(report))
    assert (plan.path, plan.status, plan.goal, plan.proof, bool(plan)) == (None, PlanStatus.TIMEOUT, None, None, False)
    times, nodes = zip(*reports, strict=True)
    assert list(times) == sorted(times)
    assert list(nodes) == sorted(nodes)
    assert nodes[-1] > 2
    assert repr(plan) == "Plan(TIMEOUT, no path, goal=None)"


def test_checker_works_after_interrupted_search():
    checker = cart(wall=wall(0.0))

    def interrupt(spent, nodes):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checker.plan([-0.8, 0.0], [0.8, 0.0], progress=interrupt)
    assert checker.free([0.8, 0.0])


def test_trees_grow_beyond_initial_capacity(monkeypatch):
    monkeypatch.setattr(planner, "_NODES", 4)
    checker = cart(wall=wall(0.21))  # the cart is 0.2 wide, so the search needs many nodes
    plan = checker.plan([-0.8, -0.5], [0.8, -0.5], range=0.05)
    assert_proven(checker, plan, [-0.8, -0.5], [0.8, -0.5])


def test_many_goals_exceed_initial_tree_capacity():
    """The start tree gets up to 64 nodes for each goal before the search begins."""
    checker = cart(wall=(gk.Box((0.1, 1.9, 1.0)), at(0.0, -0.05)))  # no gap is wide enough
    goals = np.column_stack([np.full(300, 0.9), np.linspace(-0.9, 0.9, 300)])
    assert checker.plan([-0.8, 0.0], goals, seconds=0.05, range=0.01).status == PlanStatus.TIMEOUT
    assert checker.plan([0.8, 0.0], goals, range=0.01)


def test_certify_false_returns_unproven_path():
    plan = cart(wall=wall()).plan([-0.8, -0.5], [0.8, -0.5], certify=False)
    assert (plan.status, plan.proof, bool(plan), len(plan.path) > 2) == (PlanStatus.UNPROVEN, None, False, True)


@pytest.mark.parametrize("seed", range(6))
def test_thin_obstacle_between_samples_is_avoided(seed):
    """Samples with a step of 3 radians miss a pole with a radius of a millimetre."""
    checker = arm(pole=(gk.Cylinder(1e-3, 3.0), at(1.15, 0.8)))
    start, goal = [0.0, 0.0], [1.2, 0.0]
    sampled = checker.plan(start, goal, resolution=3.0, seed=seed, certify=False)
    assert not checker.path_free(sampled.path, certify=True)
    plan = checker.plan(start, goal, resolution=3.0, seed=seed)
    assert_proven(checker, plan, start, goal)
    assert plan.proof.repaired + plan.proof.replanned > 0


LEVER = """<robot name="lever"><link name="base"/><link name="turner"/><link name="tip"><collision><geometry>
<sphere radius="0.01"/></geometry></collision></link><joint name="turn" type="revolute"><parent link="base"/>
<child link="turner"/><axis xyz="0 0 1"/><limit lower="-1" upper="1"/></joint><joint name="slide" type="prismatic">
<parent link="turner"/><child link="tip"/><axis xyz="1 0 0"/></joint></robot>"""


def test_motion_bounds_include_fixed_translation():
    """The motion bounds omitted the translation of 300, so a path through the pole was proven."""
    pole = at(300.0 * np.cos(0.31), 300.0 * np.sin(0.31))
    checker = gk.robot.Checker(gk.robot.Robot.from_urdf(LEVER), {"pole": (gk.Sphere(0.2), pole)})
    start, goal = [0.0, 300.0], [0.6, 300.0]
    assert not checker.plan(start, goal, joints="turn", resolution=3.0, seconds=0.05)
    assert not checker.prove([start, goal], joints="turn", seconds=0.05)
    assert checker.edges_free(start, [goal], certify=True, resolution=3.0).tolist() == [False]
    around = checker.plan(start, goal, lower=[-1.0, 290.0], upper=[1.0, 310.0], resolution=3.0)
    assert_proven(checker, around, start, goal)


def test_detour_moves_only_selected_joints():
    checker = arm(pole=(gk.Cylinder(1e-3, 3.0), at(1.15, 0.8)))
    plan = checker.prove([[0.0, 0.0], [1.2, 0.5]], joints=checker.robot.joint_names[0])
    assert (plan.status, plan.proof.pair) == (PlanStatus.UNPROVEN, ("hand", "pole"))


def test_prove_adds_detours_or_reports_the_pair():
    checker = arm(pole=(gk.Cylinder(1e-3, 3.0), at(1.15, 0.8)))
    path = [[0.0, 0.0], [1.2, 0.0], [1.3, 0.1]]
    plan = checker.prove(path)
    assert_proven(checker, plan, path[0], path[-1])
    assert (plan.proof.repaired, plan.proof.replanned, plan.goal) == (1, False, None)
    assert 0.0 < plan.proof.clearance <= checker.clearance(samples(plan.path)).distance.min()
    blocked = arm(pole=(gk.Cylinder(1e-3, 3.0), at(0.4, 0.4)))
    plan = blocked.prove([[0.0, 0.0], [1.5, 0.0]], seconds=0.05)
    assert (plan.status, plan.proof.proven, plan.proof.pair) == (PlanStatus.UNPROVEN, False, ("beam", "pole"))
    assert plan.path.tolist() == [[0.0, 0.0], [1.5, 0.0]]
    single = checker.prove([[0.5, 0.5]])
    assert (len(single.path), bool(single)) == (1, True)


@pytest.mark.parametrize("certify", [False, True])
@pytest.mark.parametrize("workers", [1, 3])
def test_edges_free_equals_motion_free(certify, workers, rng):
    hull = gk.ConvexHull(rng.normal(size=(20, 3)) * 0.1)
    around = {
        "pole": (gk.Cylinder(0.1, 1.0), at(0.0, 1.0)),
        "thin": (gk.Cylinder(1e-3, 3.0), at(1.15, -0.8)),
        "mesh": (gk.Mesh(*hull.surface()[:2]), at(-1.2, 0.5)),
    }
    checker = arm(**around)
    q0, q1 = rng.uniform(-2.5, 2.5, (2, 300, 2))
    free = checker.edges_free(q0, q1, certify=certify, resolution=0.3, workers=workers)
    assert free.tolist() == checker.motion_free(q0, q1, certify=certify, resolution=0.3).free.tolist()
    assert 50 < free.sum() < 250
    assert checker.edges_free(q0[0], q1[:5]).tolist() == checker.motion_free(q0[0], q1[:5]).free.tolist()
    assert checker.edges_free(np.empty((0, 2)), np.empty((0, 2))).shape == (0,)


def test_edges_against_support_function_shapes():
    def support(d):
        return 0.1 * d / np.linalg.norm(d)

    checker = arm(ball=(gk.Support(support, (0.0, 0.0, 0.0), 0.1), at(1.2, 0.6)))
    q0, q1 = [[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [-1.0, 0.0]]
    assert checker.edges_free(q0, q1).tolist() == checker.motion_free(q0, q1).free.tolist() == [False, True]
    with pytest.raises(UnsupportedPair, match=r"cannot test '\w+' against '\w+'.*ompl.Planning"):
        checker.plan([0.0, 0.0], [-1.0, 0.0])


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda c: c.plan([0.0, 0.0], [0.8, np.nan]), "goals"),
        (lambda c: c.plan([0.0], [0.8, 0.0]), "start"),
        (lambda c: c.plan([[-0.8, 0.0]], [0.8, 0.0]), "start is a stack"),
        (lambda c: c.plan([-0.8, 0.0], np.empty((0, 2))), "goals has no rows"),
        (lambda c: c.plan([0.0, 0.0], [0.8, 0.0]), "start is not free: 'body' and 'wall'"),
        (lambda c: c.plan([-0.8, 0.0], [[0.0, 0.0], [0.1, 0.0]]), "no goal is free: in goals.0., 'body' and 'wall'"),
        (lambda c: c.plan([-0.8, 0.0], [0.8, 0.0], joints="z"), "neither a group nor a movable joint 'z'"),
        (lambda c: c.plan([-0.8, 0.0], [0.8, 0.0], joints=["x", "x"]), "only once"),
        (
            lambda c: c.plan([-0.8, 0.0], [0.8, 0.0], lower=[-0.5, -1.0]),
            "joint 'x' has the value -0.8, but lower is -0.5",
        ),
        (lambda c: c.plan([-0.8, 0.0], [0.8, 0.0], seconds=0.0), "seconds is 0.0"),
        (lambda c: c.plan([-0.8, 0.0], [0.8, 0.0], range=-1.0), "range is -1.0"),
        (lambda c: c.prove([0.0, 0.0]), r"path has shape \(2,\)"),
        (lambda c: c.edges_free([[0.0, 0.0]] * 2, [[0.0, 0.0]] * 3), "q0 has 2 rows and q1 has 3"),
        (lambda c: c.edges_free([0.0, 0.0], [0.0, np.inf]), "q1"),
    ],
)
def test_errors_name_the_fault(ask, text):
    with pytest.raises(RobotError, match=text):
        ask(cart(wall=wall()))


def test_translations_without_limits_need_bounds():
    text = CART.replace('<limit lower="{low}" upper="{high}"/>', "")
    checker = gk.robot.Checker(gk.robot.Robot.from_urdf(text))
    with pytest.raises(RobotError, match=r"joint 'x' lacks limits, but a plan needs bounds\. Set lower= and upper="):
        checker.plan([0.0, 0.0], [1.0, 0.0])
    assert checker.plan([0.0, 0.0], [1.0, 0.0], lower=[-2, -1], upper=[2, 1])


def test_single_waypoint_is_proven_only_if_free():
    checker = arm(pole=(gk.Cylinder(0.1, 1.0), at(0.0, 1.5)))
    hit = checker.prove([[np.pi / 2, 0.0]])
    assert (hit.status, hit.proof.pair) == (PlanStatus.UNPROVEN, ("hand", "pole"))
    free = checker.prove([[0.1, 0.0]])
    assert (free.status, len(free.path)) == (PlanStatus.PROVEN, 1)
    assert 0.0 < free.proof.clearance <= checker.clearance([0.1, 0.0]).distance


MIMIC = """<robot name="a"><link name="b"/><link name="d"/><link name="u"><collision><origin xyz="0.5 0 0"/>
<geometry><box size="1 .1 .1"/></geometry></collision></link>
<joint name="j" type="continuous"><parent link="b"/><child link="d"/><axis xyz="0 0 1"/></joint>
<joint name="k" type="{}"><parent link="b"/><child link="u"/><axis xyz="0 0 1"/><limit lower="-9" upper="9"/>
<mimic joint="j" multiplier="{}"/></joint></robot>"""


@pytest.mark.parametrize(("kind", "factor"), [("continuous", 0.5), ("prismatic", 0.1)])
def test_joint_does_not_wrap_if_mimic_joint_does_not(kind, factor):
    checker = gk.robot.Checker(gk.robot.Robot.load(MIMIC.format(kind, factor)))
    with pytest.raises(RobotError, match=r"joint 'j' lacks limits"):
        checker.plan([1.0], [6.0])
    plan = checker.plan([1.0], [6.0], lower=[-7.0], upper=[7.0])
    assert plan.path[-1].tolist() == [6.0]


def test_joint_wraps_if_mimic_joint_does():
    checker = gk.robot.Checker(gk.robot.Robot.load(MIMIC.format("continuous", 2)))
    assert checker.plan([0.5], [6.0]).path[-1] == pytest.approx([6.0 - 2.0 * np.pi])


def test_planar_base_wraps_its_angle():
    base = """<robot name="b"><link name="ground"/><link name="cart"><collision>
    <geometry><box size="1 .5 .1"/></geometry>
    </collision></link><joint name="base" type="planar"><parent link="ground"/><child link="cart"/>
    <axis xyz="0 0 1"/></joint></robot>"""
    checker = gk.robot.Checker(gk.robot.Robot.load(base))
    plan = checker.plan([0.0, 0.0, 3.0], [0.5, 0.0, -3.0], lower=[-2, -2, -np.inf], upper=[2, 2, np.inf])
    assert plan.path[-1] == pytest.approx([0.5, 0.0, 2.0 * np.pi - 3.0])


def test_long_edges_are_proven_in_parts():
    plan = arm().plan([0.0, 0.0], [2e4, 0.0], seconds=60.0)
    assert plan
    assert np.abs(np.diff(plan.path, axis=0)).max() <= 8.0
    late = arm().plan([0.0, 0.0], [2e4, 0.0], seconds=1e-6)
    assert late.status == PlanStatus.UNPROVEN  # the search tries the straight line before it reads the clock


def test_proof_of_two_meshes_keeps_time_limit(monkeypatch):
    ring = gk.Mesh.from_trimesh(trimesh.creation.annulus(0.1, 0.2, 0.1, sections=24))
    pipe = gk.Mesh.from_trimesh(trimesh.creation.annulus(0.05, 0.0999, 6.0, sections=24))
    checker = cart(pipe=(pipe, np.eye(4)))
    checker.attach("ring", ring, "body", at(0.0, 0.0, 0.3))
    checker.set_margin("body", "pipe", -1.0)
    calls = []
    clock = iter(range(10**6))
    measure = motion_certified.general_pairs.bounds
    monkeypatch.setattr(motion_certified.general_pairs, "bounds", lambda *a: calls.append(0) or measure(*a))
    monkeypatch.setattr(motion_certified.time, "perf_counter", lambda: float(next(clock)))
    plan = checker.prove([[0.0, 0.0], [0.00001, 0.0]], seconds=20.0)
    assert plan.status == PlanStatus.UNPROVEN
    assert len(calls) < 40


def test_joint_with_equal_limits_does_not_move():
    checker = cart(low=0, high=0, wall=wall())
    plan = checker.plan([0.0, 0.9], [0.0, 0.95])
    assert plan
    assert checker.prove(plan.path)
    assert checker.plan([0.0, 0.9], [0.0, 0.9])


def test_joints_accepts_several_groups():
    checker = arm()
    checker.robot.groups.update(first=("shoulder",), second=("elbow",))
    assert checker.plan([0.0, 0.0], [1.0, 1.0], joints=["first", "second"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": -1}, ["seed", "-1"]),
        ({"seed": "a"}, ["seed", "'a'"]),
        ({"touching": ("hand", "pole")}, ["touching", "'hand'", "pairs"]),
        ({"touching": [1]}, ["touching", "1", "pairs"]),
        ({"lower": [np.nan, -3.0]}, ["lower", "nan"]),
        ({"goals": []}, ["goals has no rows"]),
    ],
)
def test_errors_name_the_invalid_option(options, words):
    with pytest.raises(RobotError) as caught:
        arm(pole=(gk.Cylinder(0.1, 1.0), at(0.0, 1.5))).plan([0.0, 0.0], **{"goals": [1.0, 0.0], **options})
    assert all(word in str(caught.value) for word in words)


def test_touching_a_mesh_raises_and_suggests_decompose():
    table = gk.Mesh(*gk.Box((0.5, 0.5, 0.1)).surface())
    checker = cart(table=(table, at(0.0, 0.0, -0.15)))
    with pytest.raises(UnsupportedPair, match=r"'body' and 'table'.*decompose"):
        checker.plan([0.0, 0.0], [1.0, 0.0], touching=[("body", "table")])


def test_ragged_stack_of_goals_raises():
    with pytest.raises(RobotError, match="goals"):
        arm().plan([0.0, 0.0], [[1.0, 2.0], [3.0]])


def test_path_clearance_keeps_deadline():
    checker = arm(pole=(gk.Cylinder(0.1, 1.0), at(0.0, 1.6)))
    path = np.array([[0.0, 0.0], [0.3, 0.2], [0.6, 0.1]])
    assert path_clearance(checker._cell(), path, 1e-6, np.inf) == checker.prove(path).proof.clearance > 0.0
    assert path_clearance(checker._cell(), path, 1e-6, 0.0) == 0.0
