"""Sliders move the joints of a robot and update the text and the colours of collisions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import pyvista

import gjk3d as gk
from gjk3d.errors import RobotError
from gjk3d.viz.colors import INK, darker
from gjk3d.viz.drawing import Style
from gjk3d.viz.kinds.robots import HIT, parts_of
from tests.viz import messages

ARM = Path(__file__).parents[3] / "data" / "arm"


def at(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


@pytest.fixture(scope="module")
def checker():
    arm = gk.robot.Robot.from_urdf(ARM / "arm.urdf", ARM / "arm.srdf")
    return gk.robot.Checker(arm, {"ball": (gk.Sphere(0.2), at(0.7, 0, 0.6))})


@pytest.fixture
def slid(checker):
    made = gk.viz.sliders(checker, off_screen=True)
    yield made
    made.plotter.close()


def words(made):
    return made.plotter.renderer.actors["gjk3d line 0"].input


def colors(made):
    every = zip(made._posed.movers, made._posed.actors, strict=True)
    return {mover.name: actors[0].prop.color.hex_rgb.upper() for mover, actors in every}


def balls(plotter):
    """Return the centres of the dark balls that mark the closest points."""
    ink = pyvista.Color(darker(INK))
    actors = [actor for actor in plotter.renderer.actors.values() if getattr(actor, "prop", None)]
    return np.array([actor.center for actor in actors if actor.prop.color == ink])


def test_slider_moves_joint_and_updates_result(slid, checker):
    assert list(slid.sliders) == list(checker.robot.joint_names)
    assert words(slid).startswith("Collision")
    widget = slid.sliders["joint_2"]
    widget.GetRepresentation().SetValue(0.8)
    widget.InvokeEvent("InteractionEvent")
    assert slid.q.tolist() == [0, 0.8, 0, 0, 0, 0]
    expected = checker.clearance(slid.q)
    assert expected.distance > 0
    assert slid.state.distance == pytest.approx(expected.distance, abs=1e-12)
    assert words(slid).startswith(messages.CLOSEST.format(*expected.pair))
    assert balls(slid.plotter) == pytest.approx(np.array([expected.point_a, expected.point_b]), abs=1e-6)


def test_links_have_kinematic_poses_and_collision_colors(slid, checker):
    q = np.array([0.0, 0.1, 0.05, 0.0, 0.0, 0.0])
    state = slid.move(q)
    poses = checker.robot.link_poses(q)
    shown = {mover.name: actors for mover, actors in zip(slid._posed.movers, slid._posed.actors, strict=True)}
    for k, name in enumerate(checker.robot.links):
        for actor in shown.get(name, ()):
            assert np.asarray(actor.user_matrix) == pytest.approx(poses[k], abs=1e-12)
    assert set(shown) >= {part.name for part in parts_of(checker, Style())} > set()
    colliding = {name for pair in checker.collisions(q) for name in (pair.a, pair.b)}
    assert colliding == set(state.hit) != set()
    assert {name for name, color in colors(slid).items() if color == HIT.upper()} == colliding
    assert slid.sliders["joint_2"].GetRepresentation().GetValue() == pytest.approx(0.1)


def test_colliding_pixels_are_vermilion(slid):
    def vermilion():
        slid.plotter.render()
        image = slid.plotter.screenshot(None, return_img=True).astype(int)
        return float(((image[..., 0] > image[..., 2] + 90) & (image[..., 0] > image[..., 1] + 40)).mean())

    hit = vermilion()
    slid.move([0, 0.8, 0, 0, 0, 0])
    assert hit > 0.02
    assert vermilion() < 0.001


def test_sliders_of_robot_without_checker(checker):
    plotter = pyvista.Plotter(off_screen=True)
    made = gk.viz.sliders(checker.robot, joints=["joint_5", "joint_1"], plotter=plotter)
    assert made.plotter is plotter
    assert list(made.sliders) == ["joint_5", "joint_1"]
    assert made.move([0.1] * 6) is None
    low, high = (
        getattr(made.sliders["joint_5"].GetRepresentation(), f"Get{which}imumValue")() for which in ("Min", "Max")
    )
    number = checker.robot.columns["joint_5"].start
    assert (low, high) == pytest.approx((checker.robot.lower[number], checker.robot.upper[number]))
    plotter.close()


def test_attached_object_moves_with_link(checker):
    mine = checker.copy()
    mine.attach("cube", gk.Box((0.05, 0.05, 0.05)), "gripper", at(0, 0, 0.3), touch_links=["flange", "wrist"])
    made = gk.viz.sliders(mine, off_screen=True)
    q = np.array([0.3, 0.2, 0, 0, 0, 0])
    made.move(q)
    shown = zip(made._posed.movers, made._posed.actors, strict=True)
    (actor,) = [actors[0] for mover, actors in shown if mover.name == "cube"]
    gripper = mine.robot.link_poses(q)[mine.robot.link_number("gripper")]
    assert np.asarray(actor.user_matrix) == pytest.approx(gripper @ mine.pose("cube"), abs=1e-12)
    assert np.array(actor.center) == pytest.approx((gripper @ mine.pose("cube"))[:3, 3], abs=1e-6)
    made.plotter.close()


def test_unknown_joints_raise(checker):
    with pytest.raises(RobotError, match=r"joints.*'elbow'.*'joint_1', 'joint_2'"):
        gk.viz.sliders(checker, joints=["elbow"], off_screen=True)


def test_sliders_without_display_save_the_start(checker, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gjk3d.viz.picture.has_display", lambda: False)
    gk.viz.sliders(checker).plotter.close()
    assert (tmp_path / "gjk3d.png").stat().st_size > 10_000
    assert "gjk3d.png" in capsys.readouterr().err


def test_links_stay_in_picture_for_all_slider_values(slid, checker):
    renderer, lower, upper = slid.plotter.renderer, checker.robot.lower, checker.robot.upper
    for row in np.random.default_rng(3).uniform(lower, upper, (40, len(lower))):
        links = checker.robot.link_poses(row)
        for part in parts_of(checker, Style()):
            renderer.SetWorldPoint(*(links[part.link] @ part.local)[:3, 3], 1.0)
            renderer.WorldToView()
            assert np.abs(renderer.GetViewPoint()[:2]).max() < 1.0, part.name
