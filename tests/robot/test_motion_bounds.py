"""Bounds of certified motions. In each test a single term of a bound decides whether a motion is proven free."""

from __future__ import annotations

from fractions import Fraction
from math import cos, sin
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.interpolate import PPoly

import gjk3d as gk
from gjk3d.robot import Checker, Robot, Trajectory
from gjk3d.robot.cell_kernels import place
from gjk3d.robot.kinematics import link_poses
from gjk3d.robot.motion_certified import PROVEN, certified
from gjk3d.robot.motion_cover import Bound, Workspace, _curved, _speed_of_guest
from gjk3d.robot.trajectories import Curves

BALL, WALL = 0.01, 20.0  #: the radius of the ball, the side of the wall
DEPTH = 1e-3  #: how deep the ball is in the wall at the end of its motion
X, Y, Z = (f'<axis xyz="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
TO_1 = '<limit lower="0" upper="1"/>'
TURN = 0.25


def at(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def collision(geometry, place):
    return f'<collision><origin xyz="{place[0]!r} {place[1]!r} 0"/><geometry>{geometry}</geometry></collision>'


def link(name, content=""):
    return f'<link name="{name}">{content}</link>'


def ball(x=0.0, radius=BALL):
    return collision(f'<sphere radius="{radius}"/>', (x, 0.0))


def robot_of(*parts):
    return Robot.load(f'<robot name="r">{"".join(parts)}</robot>')


def joint(kind, parent, child, more, x=0.0):
    return (
        f'<joint name="to {child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{x!r} 0 0"/>{more}</joint>'
    )


#: Links and joints, where "WALL" marks the link that carries the wall. Then the degree of the motion, which is its
#: coefficient times t or t^2. Then the position of the ball at t = 1, and the direction from the ball to the wall.
MECHANISMS = {
    "slide on a turn": (
        link("base", "WALL") + link("beam") + link("cart", ball())
        + joint("continuous", "base", "beam", Z) + joint("prismatic", "beam", "cart", X + TO_1),
        1, (TURN, 1.0), (cos(TURN), sin(TURN)), (0, 1),
    ),
    "turn on a turn": (
        link("base", "WALL") + link("upper") + link("lower", ball(1.0))
        + joint("continuous", "base", "upper", Z) + joint("continuous", "upper", "lower", Z, 1.0),
        1, (0.15, 0.15), (cos(0.15) + cos(0.3), sin(0.15) + sin(0.3)), (-1, 0),
    ),
    "accelerated slide": (
        link("base", "WALL") + link("cart", ball()) + joint("prismatic", "base", "cart", Y + TO_1),
        2, (1.0,), (0.0, 1.0), (0, 1),
    ),
    "accelerated turn": (
        link("base", "WALL") + link("arm", ball(1.0)) + joint("continuous", "base", "arm", Z),
        2, (TURN,), (cos(TURN), sin(TURN)), (0, 1),
    ),
    "accelerated slide that mimics another": (
        link("base", "WALL") + link("cart", ball()) + link("drive") + joint("prismatic", "base", "drive", Y + TO_1)
        + joint("prismatic", "base", "cart", Y + TO_1 + '<mimic joint="to drive" multiplier="2"/>'),
        2, (0.5,), (0.0, 1.0), (0, 1),
    ),
}  # fmt: skip
#: A planar joint moves the wall. The ball is fixed to the base, or to a link with a higher number than the plate.
CARRIED = {
    "before the wall": link("base", ball()) + link("plate", "WALL") + joint("planar", "base", "plate", Z),
    "behind the wall": (
        link("base") + link("plate", "WALL") + link("ball", ball())
        + joint("planar", "base", "plate", Z) + joint("continuous", "base", "ball", Z)
    ),
}  # fmt: skip


def checker_of(links, place, side, carried):
    """Return a checker with a wall that touches the ball at ``place``. The wall is a link or an obstacle."""
    x, y = np.array(place) + np.array(side) * (0.5 * WALL + BALL - DEPTH)
    wall = collision(f'<box size="{WALL} {WALL} {WALL}"/>', (float(x), float(y))) if carried else ""
    robot = robot_of(links.replace("WALL", wall))
    robot.allowed = []
    return Checker(robot, {} if carried else {"wall": (gk.Box((WALL, WALL, WALL)), at(x, y, 0.0))})


@pytest.mark.parametrize("carried", [False, True], ids=["obstacle", "link"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_ball_that_hits_wall_at_end_is_not_proven_free(name, carried):
    links, degree, end, place, side = MECHANISMS[name]
    checker = checker_of(links, place, side, carried)
    powers = np.zeros((degree + 1, 1, len(end)))
    powers[0] = end
    assert not checker.trajectory_free(PPoly(powers, [0.0, 1.0]), certify=True).free
    assert checker.clearance(end).distance == pytest.approx(-DEPTH, abs=1e-9)


@pytest.mark.parametrize("name", CARRIED)
def test_wall_that_hits_ball_at_end_is_not_proven_free(name):
    checker = checker_of(CARRIED[name], (-cos(TURN), sin(TURN)), (0, 1), True)
    end = np.zeros(checker.robot.dof)
    end[:3] = 1.0, 0.0, TURN
    assert not checker.motion_free(0.0 * end, end, certify=True).free
    assert checker.clearance(end).distance == pytest.approx(-DEPTH, abs=1e-9)


GAP = 0.01
MESH = gk.Mesh(*gk.Box((1.0, 1.0, 1.0)).surface())
#: Obstacles whose distance to the ball is bounded by the capsule, by GJK and by the tree of a non-convex body.
OBSTACLES = {"ball": gk.Sphere(0.5), "box": gk.Box((1.0, 1.0, 1.0)), "mesh": MESH}
#: Joints, the index of the coordinate that is uncertain, and how far the ball moves per unit of that coordinate.
UNCERTAIN = {
    "slide": (joint("prismatic", "base", "cart", X + '<limit lower="-1" upper="1"/>'), 0, 1.0),
    "turn": (joint("continuous", "base", "cart", Z), 0, 1.0),
    "mimic": (
        link("drive") + joint("prismatic", "base", "drive", X + '<limit lower="-1" upper="1"/>')
        + joint("prismatic", "base", "cart", X + '<mimic joint="to drive" multiplier="-3"/>'), 0, 3.0,
    ),
    "planar slide": (joint("planar", "base", "cart", Z), 0, 1.0),
    "planar turn": (joint("planar", "base", "cart", Z), 2, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("obstacle", [*OBSTACLES, "mesh and mesh"])
@pytest.mark.parametrize("name", UNCERTAIN)
def test_curve_proof_allows_for_coordinate_errors(name, obstacle):
    """A curve is proven free only if the error of its coordinates moves the ball by less than the gap."""
    joints, number, arm = UNCERTAIN[name]
    turns = "turn" in name
    robot = robot_of(link("base"), link("cart"), joints)
    where = at(1.0, 1.0 + GAP, 0.0) if turns else at(1.0 + GAP, 0.0, 0.0)
    checker = Checker(robot, {"obstacle": (OBSTACLES.get(obstacle, MESH), where)})
    checker.attach("load", MESH if obstacle == "mesh and mesh" else gk.Sphere(0.5), "cart", at(float(turns), 0.0, 0.0))
    for share, proven in ((0.5, True), (1.0 + 1e-3, False)):
        loose = np.zeros((1, robot.dof))
        loose[0, number] = share * GAP / arm
        results = certified(checker._cell(), Curves(np.zeros((1, 2, robot.dof)), loose), 1e-6, 1)
        assert (results[0][0] == PROVEN) == proven


@pytest.mark.parametrize("share", [0.3, 0.45])
@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_slide_between_adjacent_floats_stops_at_contact(obstacle, share):
    """The motion goes from 1e9 to the next float, so all configurations between are rounded to one of them."""
    limits = '<limit lower="1e9" upper="1000000001"/>'
    robot = robot_of(
        link("base"), link("drive"), joint("revolute", "base", "drive", X + limits), link("cart", ball(0.0, 0.5)),
        joint("prismatic", "base", "cart", X + '<mimic joint="to drive" multiplier="1" offset="-1e9"/>'),
    )  # fmt: skip
    step = np.spacing(1e9)
    checker = Checker(robot, {"obstacle": (OBSTACLES[obstacle], at(1.0 + share * step, 0.0, 0.0))})
    result = checker.motion_free([1e9], [1e9 + step], certify=True)
    assert not result.free
    assert result.safe <= share


def far_point(rng):
    """Return the workspace of a proof for a tiny ball far away, its height above a box, and its velocity.

    The joint turns the ball about the origin and slides it back almost as fast, so a small velocity remains.
    """
    x, y = rng.uniform(1e8, 2e8), 0.5 + rng.uniform(0.1, 0.5)
    robot = robot_of(link("base"), link("cart", ball(0.0, 1e-10)), joint("floating", "base", "cart", ""))
    cell = Checker(robot, {"box": (gk.Box((1.0, 1.0, 1.0)), at(x, 0.0, 0.0))})._cell()
    frames, pair = cell.frames(), cell.layout.pairs[0]
    link_poses(robot._chain, np.array([x, y, 0.0, 0.0, 0.0, 0.0]), frames.matrix, frames.links)
    frames.stamp[:] = -1
    place(cell.layout, frames, pair[0], 0)
    place(cell.layout, frames, pair[1], 0)
    turn = rng.uniform(0.01, 1.0)
    slide = -turn * x - rng.uniform(0.6, 1.0)
    twist = np.array([[0.0] * 6, [0.0, 0.0, turn, 0.0, slide, 0.0]])
    nearest = np.array([[0.0, 0.0, 0.0, 0.0, -1.0, 0.0, x, y, 0.0, x, 0.5, 0.0]])
    # the bound of a pair with a non-convex body reads this
    bodies = SimpleNamespace(pairs=np.array([[pair[1], pair[0], 1]]))
    workspace = Workspace(
        cell.layout, frames, SimpleNamespace(one=nearest), np.zeros((1, 7)), twist, bodies, False, None
    )
    velocity = -Fraction(turn) * Fraction(y), Fraction(slide) + Fraction(turn) * Fraction(x)
    return workspace, Fraction(y) - Fraction(1, 2), velocity


@pytest.mark.parametrize("seed", range(8))
def test_proof_of_uniform_motion_stops_at_contact(seed):
    """The velocity is the difference of two numbers of size 1e8, so its last digits are lost by rounding."""
    workspace, height, velocity = far_point(np.random.default_rng(seed))
    a, b = workspace.layout.pairs[0, :2]
    _, forth, _ = _curved(workspace, Bound(0.0, 0.0, 1.0, 0.0, True), a, b, 0.0, 1.0)
    assert forth > 0.0
    assert 0 <= height + Fraction(float(forth)) * velocity[1] < Fraction(1, 10**4)


@pytest.mark.parametrize("seed", range(8))
def test_speed_plus_error_bounds_true_speed(seed):
    workspace, _, velocity = far_point(np.random.default_rng(seed))
    speed, error = _speed_of_guest(workspace, Bound(0.0, 0.0, 1.0, 0.0, True), 0, 0)
    assert velocity[0] ** 2 + velocity[1] ** 2 <= (Fraction(float(speed)) + Fraction(float(error))) ** 2


ROUNDED = 0.25 - 1e-9  #: radius of the smaller ball and half the side of the smaller box
SMALLER = {
    "balls": (gk.Sphere(0.25), gk.Sphere(ROUNDED)),
    "boxes": (gk.Box((0.5, 0.5, 0.5)), gk.Box((2.0 * ROUNDED,) * 3)),
    "meshes": tuple(gk.Mesh(*gk.Box((2.0 * half,) * 3).surface()) for half in (0.25, ROUNDED)),
}


@pytest.mark.parametrize("kind", SMALLER)
def test_loads_separated_only_by_rounding_are_not_proven_free(kind):
    """The shapes overlap by 1e-9, but coordinates of 1e8 are rounded by up to 7e-9 and show a gap of 1e-9."""
    origin = 0.25 - 2e-9
    assert Fraction(origin) + Fraction(1, 4) < Fraction(1, 4) + Fraction(ROUNDED)
    robot = robot_of(
        link("base"), link("a"), joint("fixed", "base", "a", "", 1e8),
        link("b"), joint("prismatic", "a", "b", X + TO_1, origin),
    )  # fmt: skip
    checker = Checker(robot)
    for name, shape in zip("ab", SMALLER[kind], strict=True):
        checker.attach(f"load of {name}", shape, name)
    assert checker.clearance([0.25]).distance > 0.0
    result = checker.motion_free([0.25], [0.25], certify=True)
    assert (result.free, result.safe) == (False, 0.0)


def largest_x(checker, path):
    """Return the largest x coordinate of all pieces of a swept volume as a rational number."""
    pieces = checker.swept(path, excess=0.01)
    return max(
        Fraction(float(np.asarray(piece.shape.core.support((1.0, 0.0, 0.0)))[0])) + Fraction(piece.shape.radius)
        for piece in pieces.pieces
    )


def test_swept_volume_contains_ball_at_rounded_position():
    """Coordinates of 1e8 are rounded. The position of this ball is rounded down by 2e-9."""
    origin = 0.25 + 2e-9
    robot = robot_of(
        link("base"), link("a"), joint("fixed", "base", "a", "", 1e8),
        link("b", ball(0.0, 0.25)), joint("prismatic", "a", "b", X + TO_1, origin),
    )  # fmt: skip
    reach = largest_x(Checker(robot), Trajectory([[0.25], [0.25]], [0.0, 1.0]))
    assert Fraction(10**8) + Fraction(origin) + Fraction(1, 2) <= reach
