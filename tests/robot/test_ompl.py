"""Planning with OMPL, which has no wheels for Windows."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from example_robots import SHARE, SRDFS, URDFS
from hypothesis import given
from hypothesis import strategies as st

import gjk3d as gk
from gjk3d.errors import RobotError

if sys.platform == "win32":
    pytest.skip("OMPL has no wheels for Windows", allow_module_level=True)

from ompl import util

from gjk3d.robot.ompl import REFUSED, ClearanceObjective, MotionValidator, Planning

ARM = """<robot name="arm"><link name="post"/><link name="beam"><collision><origin xyz="0.5 0 0"/>
<geometry><box size="1 0.04 0.04"/></geometry></collision></link>
<joint name="turn" type="revolute"><parent link="post"/><child link="beam"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3"/></joint>{more}</robot>"""
LIFT = """<link name="hand"><collision><origin xyz="0 0 0.2"/><geometry><box size="0.1 0.1 0.1"/></geometry></collision>
</link><joint name="lift" type="prismatic"><parent link="beam"/><child link="hand"/><origin xyz="1 0 0"/>
<axis xyz="0 0 1"/></joint>"""


def at(x, y, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def arm(tmp_path, around, more=""):
    file = tmp_path / "arm.urdf"
    file.write_text(ARM.format(more=more))
    return gk.robot.Checker(gk.robot.Robot.from_urdf(file), around)


@pytest.fixture(scope="module")
def panda():
    around = {
        "pillar": (gk.Box((0.1, 0.1, 1.4)), at(0.35, 0.0, 0.7)),
        "shelf": (gk.Box((0.5, 1.2, 0.05)), at(0.75, 0.0, 0.2)),
    }
    return gk.robot.Checker(gk.robot.Robot.from_urdf(SHARE / URDFS["panda"], SHARE / SRDFS["panda"]), around)


def ends(checker):
    q = checker.robot.state("default")
    start, goal = q.copy(), q.copy()
    first = checker.robot.columns["panda_joint1"].start
    start[first], goal[first] = -0.8, 0.8
    return start, goal


@pytest.mark.full
@pytest.mark.parametrize("planner", ["RRTConnect", "PRM", "BITstar"])
def test_path_around_obstacles(panda, planner):
    start, goal = ends(panda)
    assert panda.free([start, goal]).all()
    assert not panda.motion_free(start, goal)
    util.RNG.setSeed(1)
    planning = Planning(panda, joints=[f"panda_joint{k}" for k in range(1, 8)], rest=start)
    path = planning.plan(start, goal, planner=planner, seconds=20.0 if planner == "RRTConnect" else 3.0)
    assert path is not None
    assert np.array_equal(path[[0, -1]], [start, goal])
    assert (path[:, planning.checker.robot.dof - 1] == start[-1]).all(), "the fingers rest"
    for a, b in pairwise(path):
        dense = a + np.linspace(0.0, 1.0, int(np.abs(b - a).max() / 0.05) + 2)[:, None] * (b - a)
        assert panda.free(dense).all()
    assert planning.motions > 3


def test_plan_returns_none_without_a_path(tmp_path):
    checker = arm(tmp_path, {"wall": (gk.Box((1.0, 0.1, 0.1)), at(0.8, 0.0))})
    planning = Planning(checker)
    assert planning.plan([-1.0], [1.0], seconds=0.3) is None
    assert planning.plan([-1.0], [-2.0], seconds=5.0) is not None


def test_motion_validator_checks_single_motions(tmp_path):
    checker = arm(tmp_path, {"plate": (gk.Box((0.2, 1e-3, 0.2)), at(0.8, 0.0))})
    coarse, fine = (Planning(checker, resolution=step) for step in (0.9, 0.01))
    a, b = coarse.state([-0.8]), coarse.state([0.65])
    assert MotionValidator(coarse).checkMotion(a, b), "its samples miss the plate"
    assert not MotionValidator(fine).checkMotion(a, b)
    assert MotionValidator(fine).checkMotion(a, fine.state([-0.1]))
    assert fine.motions == 2
    certified = Planning(checker, resolution=0.9, certify=True)
    assert not MotionValidator(certified).checkMotion(a, b)
    assert MotionValidator(certified).checkMotion(a, fine.state([-0.1]))
    with pytest.raises(RobotError, match="lastValid"):
        MotionValidator(fine).checkMotion(a, b, None)


angles = st.floats(-3.0, 3.0)
steps = st.floats(0.02, 5.0)


def free_by_formula(q, centre, radius):
    """Return whether the ball's centre is farther than its radius from both boxes of the lifting arm."""
    turned = np.array([[np.cos(q[0]), np.sin(q[0])], [-np.sin(q[0]), np.cos(q[0])]]) @ centre[:2]
    boxes = (([0.5, 0.0, 0.0], [0.5, 0.02, 0.02]), ([1.0, 0.0, 0.2 + q[1]], [0.05, 0.05, 0.05]))
    outside = [np.abs([*turned, centre[2]] - np.array(middle)) - half for middle, half in boxes]
    return min(np.linalg.norm(np.maximum(gap, 0.0)) for gap in outside) > radius


@given(
    st.tuples(angles, angles), st.tuples(angles, angles), st.tuples(steps, steps), st.booleans(),
    st.tuples(*[st.floats(0.2, 1.2)] * 2, st.floats(-0.2, 1.0)), st.floats(0.01, 0.3),
)  # fmt: skip
def test_motion_is_free_if_all_samples_are_free(tmp_path_factory, q0, q1, each, swapped, centre, radius):
    checker = arm(tmp_path_factory.mktemp("arm"), {"ball": (gk.Sphere(radius), at(*centre))}, LIFT)
    names = ["lift", "turn"] if swapped else ["turn", "lift"]
    planning = Planning(checker, joints=names, lower=[-3, -3], upper=[3, 3], resolution=each)
    q0, q1 = np.array(q0), np.array(q1)
    count = max(int(np.ceil((np.abs(q1 - q0) / each).max())), 1)
    truth = all(free_by_formula(q0 + k / count * (q1 - q0), np.array(centre), radius) for k in range(count + 1))
    first, second = planning.state(q0), planning.state(q1)
    assert MotionValidator(planning).checkMotion(first, second) == truth
    assert MotionValidator(planning).checkMotion(second, first) == truth
    assert planning.setup.getSpaceInformation().checkMotion(first, second) == truth
    assert planning.state_checker()(second) == free_by_formula(q1, np.array(centre), radius)
    assert planning.motions == 3


def test_motion_validator_uses_current_poses_and_checks_input(tmp_path):
    checker = arm(tmp_path, {"floor": (gk.Halfspace((0.0, 0.0, 1.0), -1.0), None)}, LIFT)
    bounds = {"lower": [-3, -3], "upper": [3, 3]}
    planning = Planning(checker, **bounds)
    low, high = planning.state([0.0, -1.5]), planning.state([1.0, 2.0])
    assert not MotionValidator(planning).checkMotion(low, high), "the hand begins below the floor"
    checker.move("floor", at(0.0, 0.0, -5.0))
    assert MotionValidator(planning).checkMotion(low, high), "obstacles move between questions"
    with pytest.raises(RobotError, match=r"3\.5e\+12 .*resolution"):
        MotionValidator(Planning(checker, resolution=1e-12, **bounds)).checkMotion(low, high)
    low[0] = np.nan
    with pytest.raises(RobotError, match=r"q0\[0\].*nan"):
        MotionValidator(planning).checkMotion(low, high)


@pytest.mark.full
def test_no_object_leaks_at_exit():
    code = """
import gc, weakref
import gjk3d as gk
from gjk3d.robot.ompl import ClearanceObjective, Planning
def planned():
    planning = Planning(gk.robot.Checker(gk.robot.Robot.example()))
    planning.setup.setOptimizationObjective(ClearanceObjective(planning, 0.5))
    planning.plan([0.0, 0.0], [1.0, 1.0], planner="RRTstar", seconds=0.1)
    return planning
planning, other = planned(), planned()
gone = weakref.ref(other.setup.getSpaceInformation().getMotionValidator())
del other
gc.collect()
assert gone() is None, "Python cannot collect cycles through OMPL"
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), "nor is anything left for nanobind to tell of"


def pole(x, y, radius=1e-3):
    """Return a checker with a pole that coarse samples miss."""
    return gk.robot.Checker(gk.robot.Robot.example(), {"pole": (gk.Cylinder(radius, 3.0), at(x, y))})


def free_by_samples(checker, path, count=2000):
    """Return whether dense samples of a path have more clearance than the margin, and their least clearance."""
    t = np.linspace(0.0, len(path) - 1.0, count)
    q = np.column_stack([np.interp(t, np.arange(len(path)), column) for column in path.T])
    least = checker.clearance(q).distance.min()
    return least > checker.margin, least


@pytest.mark.parametrize("way", ["detours", "planned again"])
@pytest.mark.parametrize("simplify", [True, False])
def test_thin_obstacle_between_samples_is_avoided(way, simplify, monkeypatch):
    """A coarse sampling planner goes straight through the obstacle. The certified path does not."""
    checker, ends = pole(1.15, 0.8), np.array([[0.0, 0.0], [1.2, 0.0]])
    searched = Planning._solve

    def solve(self, *args):
        return searched(self, *args) if self._queries.how["certify"] else [ends]

    monkeypatch.setattr(Planning, "_solve", solve)
    if way == "planned again":
        monkeypatch.setattr("gjk3d.robot.planner.Planner._bridge", lambda *_: None)
    missed = Planning(checker, resolution=3.0, certify=False)
    assert np.array_equal(missed.plan(*ends, simplify=simplify), ends)
    assert missed.proof is None
    assert not free_by_samples(checker, ends)[0]
    planning = Planning(checker, resolution=3.0)
    path = planning.plan(*ends, seconds=20.0, simplify=simplify)
    assert np.array_equal(path[[0, -1]], ends)
    free, least = free_by_samples(checker, path)
    assert free
    assert checker.path_free(path, certify=True)
    assert planning.proof.proven
    assert (planning.proof.repaired > 0) == (way == "detours")
    assert planning.proof.replanned == (way == "planned again")
    assert 0.0 <= planning.proof.clearance <= least
    assert planning.proof.pair is None
    assert not planning._queries.how["certify"], "motions are sampled again"


def test_unproven_path_is_not_returned():
    checker = pole(0.4, 0.4)  # the beam cannot pass this pole
    planning = Planning(checker, resolution=3.0)
    assert Planning(checker, resolution=3.0, certify=False).plan([0.0, 0.0], [1.5, 0.0]) is not None
    assert planning.plan([0.0, 0.0], [1.5, 0.0], seconds=0.5) is None
    assert (planning.proof.proven, planning.proof.pair) == (False, ("beam", "pole"))
    assert planning.plan([0.0, 0.0], [0.3, 0.0], seconds=5.0) is not None
    assert planning.proof.proven


@pytest.mark.full
@given(st.integers(0, 10_000))
def test_paths_among_random_obstacles_are_proven(seed):
    rng = np.random.default_rng(seed)
    around = {
        f"pole{k}": (gk.Cylinder(rng.choice([1e-3, 0.02, 0.1]), 3.0), at(*rng.uniform(-1.4, 1.4, 2))) for k in range(4)
    }
    checker = gk.robot.Checker(gk.robot.Robot.example(), around, margin=float(rng.choice([0.0, 0.01])))
    ends = [q for q in rng.uniform(-2.0, 2.0, (20, 2)) if checker.free(q)][:2]
    if len(ends) < 2:
        return
    util.RNG.setSeed(seed + 1)
    planning = Planning(checker, resolution=0.5)
    path = planning.plan(*ends, seconds=0.3)
    if path is None:
        return
    assert planning.proof.proven
    assert np.array_equal(path[[0, -1]], ends)
    free, least = free_by_samples(checker, path)
    assert free
    assert checker.margin + planning.proof.clearance <= least
    assert checker.path_free(path, certify=True)


def test_certify_true_proves_all_edges_while_planning():
    checker = pole(1.15, 0.8)
    planning = Planning(checker, resolution=3.0, certify=True)
    path = planning.plan([0.0, 0.0], [1.2, 0.0], seconds=20.0)
    assert (planning.proof.proven, planning.proof.repaired, planning.proof.replanned) == (True, 0, False)
    assert checker.path_free(path, certify=True)


def test_states_and_configurations(panda):
    start, _ = ends(panda)
    planning = Planning(panda, joints=["panda_joint3", "panda_joint1"], rest=start)
    columns = [panda.robot.columns[name].start for name in ("panda_joint3", "panda_joint1")]
    q = start.copy()
    q[columns] = 0.25, -0.5
    state = planning.state(q)
    assert [state[0], state[1]] == [0.25, -0.5]
    assert np.array_equal(planning.configuration(state), q)
    assert planning.state_checker()(state) == panda.free(q)
    bounds = planning.space.getBounds()
    assert list(bounds.low) == panda.robot.lower[columns].tolist()


@pytest.mark.parametrize("kind", REFUSED)
def test_planners_that_need_last_valid_raise(tmp_path, kind):
    with pytest.raises(RobotError, match=f"{kind} .*lastValid.*RRTConnect"):
        Planning(arm(tmp_path, {})).plan([0.0], [1.0], planner=kind)


def test_clearance_objective_weights_length_near_obstacles(tmp_path):
    checker = arm(tmp_path, {"ball": (gk.Sphere(0.1), at(-0.1, 1.15))})
    planning = Planning(checker, resolution=0.01)
    objective = ClearanceObjective(planning, enough=0.5, weight=4.0)
    q = np.linspace(0.2, 1.5, 4001)[:, None]
    by_hand = np.mean(1.0 + 4.0 * np.clip(1.0 - checker.clearance(q).distance / 0.5, 0.0, 1.0))
    cost = objective.motionCost(planning.state([0.2]), planning.state([1.5])).value()
    assert cost == pytest.approx(1.3 * by_hand, rel=1e-3)
    assert by_hand > 1.2
    assert objective.stateCost(planning.state([-2.0])).value() == 1.0
    planning.setup.setOptimizationObjective(objective)
    path = planning.plan([-1.0], [0.2], planner="RRTstar", seconds=0.3)
    assert path is not None


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda c: Planning(c, joints=["trun"]), "'arm'.*'trun'.*'turn'"),
        (lambda c: Planning(c, joints=["turn", "turn"]), r"\['turn', 'turn'\].*only once"),
        (lambda c: Planning(c), "'lift'.*lower=.*upper="),
        (lambda c: Planning(c, lower=[-1, -1], upper=[1]), r"upper is \[1\].*\b2\b"),
        (lambda c: Planning(c, lower=[-1, 1], upper=[1, 1]), r"'lift'.*lower is 1 .*upper 1, .*lower < upper"),
        (lambda c: Planning(c, joints=["turn"]).plan([0, 0], [4, 0]), r"goal\[0\].*4\.0.*-3.*3.*lower=.*upper="),
        (lambda c: Planning(c, joints=["turn"]).plan([0, 0.5], [1, 0]), r"start\[1\].*0\.5.*0\.0.*rest="),
        (lambda c: Planning(c, joints=["turn"]).plan([0, 0], [1, 0], planner="RTR"), "'RTR'.*Did you mean 'RRT'"),
        (lambda c: Planning(c, joints=["turn"]).plan([0, 0], [1.5, 0]), "goal.*'beam'.*'wall'"),
        (lambda c: Planning(c, joints=["turn"]).plan([[0, 0]], [1, 0]), "start.*stack"),
        (lambda c: Planning(c, joints=["turn"], rest=[[0, 0], [0, 1]]), "rest is a stack, expected one configuration"),
        (lambda c: ClearanceObjective(Planning(c, joints=["turn"]), 0.0), r"enough.*0\.0.*weight.*10\.0"),
        (lambda c: Planning(c, joints=["turn"], certify="all"), "certify.*'all'.*'end', False or True"),
    ],
)
def test_invalid_arguments_raise(tmp_path, ask, text):
    checker = arm(tmp_path, {"wall": (gk.Box((0.1, 0.1, 0.1)), at(0.0, 0.8))}, LIFT)
    with pytest.raises(RobotError, match=text):
        ask(checker)


@pytest.mark.full
def test_import_without_ompl_raises():
    code = "import sys; sys.modules['ompl'] = None\nimport gjk3d.robot.ompl"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: gjk3d.robot.ompl" in done.stderr
    assert "pip install gjk3d[plan]" in done.stderr


@pytest.mark.full
def test_garbage_collection_frees_nothing_in_use():
    """The debug allocator overwrites freed memory, so a later read of it crashes the subprocess."""
    code = """
import gc
import gjk3d as gk
from gjk3d.robot.ompl import ClearanceObjective, Planning
robot = gk.robot.Robot.example()
planning = Planning(gk.robot.Checker(robot))
gc.collect()
planning.setup.setOptimizationObjective(ClearanceObjective(planning, 0.5))
gc.collect()
print(planning.plan([0.0, 0.0], [0.5, 0.5], seconds=5.0) is not None)
gc.collect()
del planning
gc.collect()
"""
    overwritten = {**os.environ, "PYTHONMALLOC": "debug"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=overwritten)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "True"
