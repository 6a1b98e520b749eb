"""Roadmaps: edges compared with single motions, paths with dense samples, and updates with new roadmaps."""

from __future__ import annotations

import numpy as np
import pytest
from test_planner import CART, TURNTABLE, arm, assert_proven, at, cart, wall

import gjk3d as gk
from gjk3d.errors import RobotError
from gjk3d.robot import PlanStatus


@pytest.mark.parametrize("kind", ["box", "mesh", "cloud"])
def test_paths_through_gap_are_proven(kind):
    shape, pose = wall(0.5)
    if kind == "mesh":
        shape = gk.Mesh(*shape.surface()[:2])
    elif kind == "cloud":
        grid = np.stack(np.meshgrid(0.0, np.linspace(-0.75, 0.75, 100), [-0.05, 0.05], indexing="ij"), axis=-1)
        shape = gk.PointCloud(grid.reshape(-1, 3), 0.01)
    checker = cart(wall=(shape, pose))
    roadmap = checker.roadmap(samples=150, seed=2)
    for start, goal in (([-0.8, -0.5], [0.8, -0.5]), ([0.7, 0.1], [-0.9, -0.8]), ([-0.8, 0.8], [-0.8, 0.8])):
        assert_proven(checker, roadmap.plan(start, goal), start, goal)
    assert repr(roadmap).startswith(f"<Roadmap of 'cart': 150 nodes, {len(roadmap.edges)} edges, {roadmap.free.sum()}")


def test_plan_uses_the_graph_without_search(monkeypatch):
    roadmap = cart(wall=wall(0.5)).roadmap(samples=150, seed=2)
    monkeypatch.setattr("gjk3d.robot.planner.Planner.path", lambda *_: pytest.fail("a search"))
    plan = roadmap.plan([-0.8, -0.5], [[0.0, 0.0], [0.8, -0.9], [0.8, 0.5]])
    assert (plan.status, plan.goal) == (PlanStatus.PROVEN, 2), "goal 0 collides, and goal 1 is farther"


@pytest.mark.parametrize("workers", [1, 3])
def test_free_edges_equal_motion_free(workers):
    checker = arm(pole=(gk.Cylinder(0.1, 1.0), at(0.0, 1.0)), thin=(gk.Cylinder(1e-3, 3.0), at(1.15, -0.8)))
    roadmap = checker.roadmap(samples=60, seed=1, resolution=0.2, workers=workers)
    ends = roadmap.nodes[roadmap.edges]
    assert roadmap.free.tolist() == checker.motion_free(ends[:, 0], ends[:, 1], resolution=0.2).free.tolist()
    assert 0 < roadmap.free.sum() < len(roadmap.free)
    assert (roadmap.nodes == checker.roadmap(samples=60, seed=1).nodes).all()
    assert (roadmap.nodes != checker.roadmap(samples=60, seed=2).nodes).all()
    gaps = np.linalg.norm(roadmap.nodes[:, None] - roadmap.nodes, axis=2)
    assert (np.argsort(gaps[7])[1] == roadmap.edges[(roadmap.edges == 7).any(axis=1)]).any(), "the nearest node"


def test_roadmap_follows_changes_of_the_cell():
    checker = cart(wall=wall(0.5))
    roadmap = checker.roadmap(samples=150, seed=2)
    first, free = roadmap.plan([-0.8, -0.5], [0.8, -0.5]), roadmap.free.copy()
    assert not roadmap.update()
    checker.move("wall", at(0.0, 0.25))  # moves the gap to the other side
    second = roadmap.plan([-0.8, -0.5], [0.8, -0.5])
    assert_proven(checker, second, [-0.8, -0.5], [0.8, -0.5])
    assert first.path[:, 1].max() > 0.5 > second.path[:, 1].max()
    assert roadmap.free.tolist() == checker.roadmap(samples=150, seed=2).free.tolist() != free.tolist()
    checker.remove("wall")
    assert roadmap.update()
    assert roadmap.free.all()
    checker.margin = 0.2
    checker.add("wall", *wall(0.4))
    assert roadmap.update()
    with pytest.raises(RobotError, match="start is not free: 'body' and 'wall'"):
        roadmap.plan([-0.3, -0.5], [0.8, -0.5])


def test_roadmap_without_path_falls_back_to_search():
    checker = cart(wall=wall(0.22))  # the cart is 0.2 wide, so few samples find no path
    roadmap = checker.roadmap(samples=5)
    assert_proven(checker, roadmap.plan([-0.8, -0.5], [0.8, -0.5]), [-0.8, -0.5], [0.8, -0.5])
    checker.add("plug", gk.Box((0.1, 2.0, 1.0)), at(0.0, 0.1))
    assert roadmap.plan([-0.8, -0.5], [0.8, -0.5], seconds=0.05).status == PlanStatus.TIMEOUT
    checker.add("cover", gk.Box((5.0, 5.0, 5.0)), at(0.0, 0.0), touching=["body"])
    checker.forbid("body", "cover")
    roadmap.update()
    assert not roadmap.free.any()


def test_thin_obstacle_between_samples_is_avoided():
    checker = arm(pole=(gk.Cylinder(1e-3, 3.0), at(1.15, 0.8)))
    roadmap = checker.roadmap(samples=40, resolution=3.0)
    plan = roadmap.plan([0.0, 0.0], [1.2, 0.0])
    assert_proven(checker, plan, [0.0, 0.0], [1.2, 0.0])
    assert plan.proof.repaired + plan.proof.replanned > 0


def test_wrapping_joints_are_connected_the_shorter_way():
    turntable = gk.robot.Robot.from_urdf(TURNTABLE)
    checker = gk.robot.Checker(turntable, {"pole": (gk.Cylinder(0.05, 1.0), at(0.8, 0.0))})
    roadmap = checker.roadmap(samples=30)
    for start, goal in ((-2.0, 2.5), (-2.0, 2.5 + 4.0 * np.pi), (7.0, 5.0)):
        plan = roadmap.plan([start], [goal])
        assert plan
        assert ((plan.path[-1] - goal) / (2.0 * np.pi)).round(9).item().is_integer()
        assert checker.path_free(plan.path, certify=True)
        assert len(plan.path) < 4, "no turns back and forth"
    far = np.abs(np.diff(roadmap.nodes[roadmap.edges][:, :, 0], axis=1)).max()
    assert far > 5.0, "nodes at both ends of the turn are neighbours"


def test_joints_not_selected_keep_their_rest_values():
    checker = arm(pole=(gk.Cylinder(0.1, 1.0), at(0.0, 1.0)))
    name = checker.robot.joint_names[0]
    roadmap = checker.roadmap(samples=30, joints=name, rest=[0.0, 0.3])
    assert (roadmap.nodes[:, 1] == 0.3).all()
    path = roadmap.plan([-0.5, 0.3], [0.5, 0.3]).path
    assert (path[:, 1] == 0.3).all()
    with pytest.raises(RobotError, match=r"start\[1\] is 0\.2, but the roadmap was made with 0\.3, .*rest=start"):
        roadmap.plan([-0.5, 0.2], [0.5, 0.2])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"samples": 1}, "samples is 1, expected an integer of at least 2"),
        ({"samples": 10.0}, "samples is 10.0"),
        ({"joints": "z"}, "neither a group nor a movable joint 'z'"),
        ({"lower": [2.0, 2.0]}, "expected lower <= upper"),
        ({"resolution": 0.0}, "resolution is 0.0"),
        ({"rest": [0.0]}, "rest"),
        ({"rest": [[0.0, 0.1], [0.0, 0.2]]}, "rest is a stack, expected one configuration"),
    ],
)
def test_errors_name_the_fault(options, text):
    with pytest.raises(RobotError, match=text):
        cart().roadmap(**options)
    text = CART.replace('<limit lower="{low}" upper="{high}"/>', "")
    with pytest.raises(RobotError, match=r"joint 'x' lacks limits, but a plan needs bounds"):
        gk.robot.Checker(gk.robot.Robot.from_urdf(text)).roadmap()
