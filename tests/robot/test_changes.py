"""Changes of a checker or its robot take effect at the next query, or are rejected."""

from __future__ import annotations

import copy
import gc
import pickle
import threading

import numpy as np
import pytest
from message_checks import assert_names

import gjk3d as gk
from gjk3d.errors import RobotError
from gjk3d.robot import Checker, Robot

FOLDED = [0.0, 3.14]  #: for `Robot.example`: the hand overlaps the post, and the elbow exceeds its limit


def at(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def long_hand():
    """Return the example robot with a hand that is long enough to collide with the post."""
    return Robot.example().with_geometry("hand", [(gk.Box((1.0, 0.1, 0.8)), at(0.5, 0.0, 0.0))])


def pair_checked(checker):
    """Return the set of results of all queries at `FOLDED`: whether hand and post are checked."""
    q = np.array(FOLDED)
    return {
        checker.hit(q) == ("post", "hand"),
        not checker.free(q),
        not checker.free(q),  # uses the preparation of the previous query
        not checker.free([q])[0],
        bool(checker.collisions(q)),
        checker.clearance(q).distance < 0.0,
        not checker.valid(q, limits=False),
        not checker.motion_free(q, q).free,
        not checker.motion_free(q, q, certify=True).free,
        not checker.path_free([q, q], certify=True).free,
        len(checker.distances(q, within=0.0).pair) > 0,
        not checker.trajectory_free(gk.robot.Trajectory([q, q], times=[0.0, 1.0])).free,
    }


def test_robot_pairs_apply_at_next_query():
    robot = long_hand()
    checker, second = Checker(robot), Checker(robot)
    twin = checker.copy()
    checkers = [checker, second, twin, copy.copy(checker), pickle.loads(pickle.dumps(checker))]
    for item in checkers:
        assert pair_checked(item) == {True}
    robot.allowed.allow("hand", "post")
    for item in checkers[:-1]:
        assert pair_checked(item) == {False}
    assert pair_checked(checkers[-1]) == {True}  # the unpickled checker has its own robot
    checkers[-1].robot.allowed.allow("hand", "post")
    assert pair_checked(checkers[-1]) == {False}
    robot.allowed.forbid("hand", "post")
    assert pair_checked(checker) == pair_checked(twin) == {True}
    robot.allowed.allow("hand", "post", "seen")
    assert pair_checked(checker) == {False}
    assert robot.allowed.forbid_reason("seen") == 1
    assert pair_checked(checker) == {True}
    robot.allowed = [("post", "hand"), ("post", "beam"), ("beam", "hand")]
    assert pair_checked(checker) == pair_checked(twin) == {False}
    robot.allowed.forbid("post", "hand")  # one of the pairs set above
    assert pair_checked(checker) == {True}
    robot.allowed = gk.robot.AllowedPairs(robot.links, [("post", "hand", "user")])
    assert {checker.hit(FOLDED), checker.hit([0.0, 0.0])} <= {("post", "beam"), ("beam", "hand")}


def test_copied_robot_has_its_own_pairs():
    robot = long_hand()
    checker, moved = Checker(robot), Checker(robot.at(at(1.0, 0.0, 0.0)))
    moved.robot.allowed.allow("post", "hand")
    assert pair_checked(moved) == {False}
    assert pair_checked(checker) == {True}
    assert pair_checked(Checker(copy.deepcopy(robot))) == {True}


def test_checker_pairs_override_robot_pairs():
    robot = long_hand()
    checker = Checker(robot)
    twin = checker.copy()
    checker.allow("hand", "post")
    assert pair_checked(checker) == {False}
    assert pair_checked(twin) == {True}
    robot.allowed.forbid("post", "hand")  # the setting of the checker takes precedence
    assert pair_checked(checker) == {False}
    assert pair_checked(checker.with_robot(robot.at(at(1, 0, 0)))) == {False}
    assert pair_checked(pickle.loads(pickle.dumps(checker))) == {False}
    checker.forbid("post", "hand")
    robot.allowed.allow("post", "hand")
    assert pair_checked(checker) == {True}
    assert pair_checked(twin) == {False}
    checker.forbid("beam", "hand")  # overrides the default for neighbours
    assert ("beam", "hand") in {hit.pair for hit in checker.collisions([0.0, 0.0])}


def test_allow_and_forbid_apply_to_objects():
    checker = Checker(long_hand(), {"wall": (gk.Box((0.1, 2.0, 2.0)), at(2.0, 0.0, 0.0))})
    checker.attach("cup", gk.Sphere(0.2), "hand", at(1.0, 0.0, 0.0))
    q = [0.0, 0.0]
    checker.set_margin("cup", "wall", 0.01)
    pairs = [("hand", "wall"), ("cup", "wall")]
    assert sorted(hit.pair for hit in checker.collisions(q)) == sorted(pairs)
    checker.allow("wall", "hand")
    assert [hit.pair for hit in checker.collisions(q)] == [("cup", "wall")]
    checker.allow("wall", "cup")
    assert checker.free(q)
    checker.forbid("cup", "wall")
    assert checker.hit(q) == ("cup", "wall")
    checker.move("wall", at(2.0 + 0.05 + 0.205, 0.0, 0.0))  # the margin of the pair persists
    assert checker.hit(q) == ("cup", "wall")
    checker.allow("cup", "wall")
    checker.remove("wall")
    checker.add("wall", gk.Box((0.1, 2.0, 2.0)), at(2.0, 0.0, 0.0))  # a new object of the same name
    assert checker.hit(q) is not None
    for a, b in (("cup", "nobody"), ("cup", "cup"), ("nobody", "hand")):
        with pytest.raises(RobotError, match=b if a == "cup" else a):
            checker.allow(a, b)
        with pytest.raises(RobotError):
            checker.forbid(a, b)


def test_margins_padding_objects_apply_at_next_query():
    checker = Checker(Robot.example())
    wall = gk.Box((0.1, 2.0, 2.0))
    q = np.zeros(2)
    changes = [
        (lambda: checker.add("wall", wall, at(1.75, 0.0, 0.0)), True),
        (lambda: checker.set_padding("hand", 0.3), False),
        (lambda: checker.set_padding("hand", 0.0), True),
        (lambda: checker.set_margin("hand", "wall", 0.3), False),
        (lambda: checker.set_margin("hand", "wall", 0.0), True),
        (lambda: setattr(checker, "margin", 0.25), True),  # the margin of the pair takes precedence
        (lambda: checker.set_margin("hand", None, 0.3), False),
        (lambda: checker.remove("wall"), True),
        (lambda: checker.attach("stick", gk.Box((0.5, 0.05, 0.05)), "hand", at(0.75, 0.0, 0.0)), True),
        (lambda: checker.add("wall", wall, at(2.0, 0.0, 0.0)), False),
        (lambda: checker.detach("stick"), True),
        (lambda: checker.move("wall", at(1.4, 0.0, 0.0)), False),
    ]
    for change, free in changes:
        change()
        for _ in range(2):
            results = {
                checker.free(q), bool(checker.free(q[None])[0]), checker.hit(q) is None, bool(checker.valid(q)),
                checker.motion_free(q, q).free, checker.motion_free(q, q, certify=True).free,
            }  # fmt: skip
            assert results == {free}


def test_checker_copies_inputs_and_results():
    """Later changes of arrays, mappings and scenes, or of returned values, do not change the checker."""
    pose, scene = at(1.75, 0.0, 0.0), gk.Scene()
    scene.add("wall", gk.Box((0.1, 2.0, 2.0)), pose)
    around = {"wall": (gk.Box((0.1, 2.0, 2.0)), pose)}
    for surroundings in (scene, around):
        checker = Checker(Robot.example(), surroundings)
        before = checker.clearance([0.0, 0.0]).distance
        checker.pose("wall")[0, 3] = 0.0
        checker.attached["x"] = "hand"
        assert checker.clearance([0.0, 0.0]).distance == before
        assert not checker.attached
    pose[0, 3] = 0.0
    scene.move("wall", pose)
    around.clear()
    assert checker.clearance([0.0, 0.0]).distance == before
    cloud = np.array([[1.75, 0.0, 0.0]])
    checker.add("cloud", gk.PointCloud(cloud, 0.01))
    cloud[:] = 0.0
    assert checker.free([0.0, 0.0])


def test_read_only_attributes_raise():
    checker = Checker(Robot.example())
    with pytest.raises(AttributeError):
        checker.robot = Robot.example()
    with pytest.raises(ValueError, match="read-only"):
        checker.robot.lower[0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        checker.robot.bodies[0].pose[0, 3] = 0.0


def test_checkers_are_garbage_collected():
    """Allowed pairs do not keep their checkers alive, and are pickled and copied without them."""
    robot = long_hand()
    for _ in range(20):
        Checker(robot).free(FOLDED)
    gc.collect()
    checker = Checker(robot)
    assert list(robot.allowed._users) == [checker]
    assert pickle.loads(pickle.dumps(robot.allowed)) == robot.allowed == copy.deepcopy(robot.allowed)


def test_pairs_change_during_threaded_queries():
    """Each result is that of the pairs before or after a change."""
    robot = long_hand()
    checker, stop, faults = Checker(robot), threading.Event(), []

    def run_queries():
        while not stop.is_set():
            hit = checker.hit(FOLDED)
            if hit not in (None, ("post", "hand")):
                faults.append(hit)

    threads = [threading.Thread(target=run_queries) for _ in range(3)]
    for thread in threads:
        thread.start()
    results = []
    try:
        for k in range(200):
            (robot.allowed.forbid if k % 2 else robot.allowed.allow)("post", "hand")
            results.append(checker.hit(FOLDED) is None)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert results == [True, False] * 100
    assert not faults


def lifted_cup(table, **options):
    """Return a checker with a hand above a table, a lamp, and a cup on the table that is attached to the hand."""
    robot = Robot.load(
        """<robot name="lift"><link name="base"/><link name="hand"><collision><geometry><box size="0.1 0.1 0.02"/>
        </geometry></collision></link><joint name="z" type="prismatic"><parent link="base"/><child link="hand"/>
        <axis xyz="0 0 1"/><limit lower="0" upper="1"/></joint></robot>"""
    )
    around = {"table": (table, at(0, 0, -0.5)), "cup": (gk.Cylinder(0.03, 0.1), at(0, 0, 0.05))}
    checker = Checker(robot, {**around, "lamp": (gk.Sphere(0.1), at(0, 0, 0.9))})
    checker.attach("cup", link="hand", q=[0.11], **options)
    return checker


@pytest.mark.parametrize("table", [gk.Box((1, 1, 1)), gk.Mesh(*gk.Box((1, 1, 1)).surface())])
def test_attached_obstacle_keeps_pose_and_touching_pairs(table):
    checker = lifted_cup(table)
    assert (checker.attached, checker.objects) == ({"cup": "hand"}, ("table", "lamp"))
    assert np.abs(checker.pose("cup") - at(0, 0, -0.06)).max() < 1e-15
    assert checker.free([0.11])
    assert checker.motion_free([0.11], [0.5], certify=True).free
    hit = checker.motion_free([0.11], [1.0], certify=True)
    assert hit.pair == ("hand", "lamp")
    checker.move("lamp", at(0.1, 0, 0.28))
    assert checker.hit([0.4]) == ("cup", "lamp")  # only pairs that touched before are allowed
    checker.detach("cup")
    checker.add("cup", gk.Cylinder(0.03, 0.1), at(0, 0, 0.05))
    assert checker.hit([0.105]) == ("hand", "cup")


def test_failed_attach_changes_nothing():
    checker = lifted_cup(gk.Box((1, 1, 1)), touch_links=["lamp"])
    before = checker._settings
    for arguments, fragments in (
        ({"name": "cup", "link": "hand", "q": [0.2]}, ("cup", "hand", "Detach")),
        ({"name": "lamp", "link": "hand"}, ("lamp", "Give q")),
        ({"name": "lamp", "link": "hand", "q": [0.2], "pose": np.eye(4)}, ("lamp", "pose")),
        ({"name": "lamp", "q": [0.2]}, ("lamp", "link=")),
        ({"name": "lamp", "link": "hand", "q": [[0.2]]}, ("(1, 1)", "(1,)")),
        ({"name": "lamp", "link": "hand", "q": [0.2], "touch_links": ["sofa"]}, ("lamp", "sofa")),
        ({"name": "vase", "link": "hand", "q": [0.2]}, ("vase", "lamp")),
        ({"name": "vase", "link": "hand", "q": [0.2], "shape": gk.Sphere(1)}, ("vase", "Leave out q")),
    ):
        with pytest.raises(RobotError) as caught:
            checker.attach(**arguments)
        assert_names(caught.value, *fragments)
        assert checker._settings is before
