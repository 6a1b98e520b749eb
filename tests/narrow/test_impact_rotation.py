"""Times of impact of bodies that rotate or start far away, compared with rational multiples of powers of pi."""

from __future__ import annotations

from fractions import Fraction
from math import pi

import naive
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.narrow import toi
from gjk3d.narrow.toi import CENTER, MOTION, TURN, WAY
from gjk3d.poses import IDENTITY
from gjk3d.shapes.layout import Core

PI = Fraction("3.14159265358979323846264338327950288419716939937510582")
BAR = gk.Segment((-1.0, 0.0, 0.0), (1.0, 0.0, 0.0))


def core_of(shape: gk.Shape) -> Core:
    return Core(*shape._packed[:2])


def motion_row(turn: float) -> np.ndarray:
    """Return the motion row of a body that rotates about the z axis through its origin."""
    row = np.zeros(MOTION)
    row[:9] = np.eye(3).ravel()
    row[TURN + 2] = turn
    return row


@pytest.mark.parametrize("turn", np.random.default_rng(1).uniform(4100.0, 6283.0, 12).tolist())
def test_free_until_is_not_after_contact_after_a_thousand_turns(turn: float) -> None:
    """The bar along x hits a point on the y axis after every odd quarter turn.

    The rounding error of the angle is 4096 times that of an angle of 1 radian.
    """
    half_turns = int(turn / pi) - 2
    contact = (half_turns + Fraction(1, 2)) * PI / Fraction(turn)
    point = IDENTITY[0].copy()
    point[CENTER + 1] = 0.5
    motions = np.stack([motion_row(turn), motion_row(0.0)])
    begin = float(contact) * (1.0 - 1e-5)
    flight = toi.flight_of_parts(
        core_of(BAR), IDENTITY[0], core_of(gk.Point()), point, motions, 0.0, begin, 1.0, np.empty(toi.PART_WORK)
    )
    free = toi.impact(flight, 0.0)[1]
    assert begin < free
    assert Fraction(free) <= contact


def test_bar_hits_a_wall_that_its_tips_first_move_away_from() -> None:
    """The bar starts at -80 degrees, makes half a turn, and its lower tip rises to the plane y = 0.99."""
    start, height = np.radians(-80.0), 0.99
    wall = gk.Halfspace((0.0, -1.0, 0.0), -height)
    pose = naive.pose(Rotation.from_rotvec((0.0, 0.0, start)).as_matrix())
    impact = gk.time_of_impact(BAR, wall, gk.Motion(pose, angular=(0.0, 0.0, pi)))
    assert impact.status == gk.ImpactStatus.HIT
    assert impact.time[0] == pytest.approx((np.arcsin(height) - start) / pi, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_free_until_is_not_after_contact_far_from_the_origin(seed: int) -> None:
    """The rounding error of the ball's position is far larger than that of the sizes of ball and box."""
    rng = np.random.default_rng(seed)
    start, way, wall = 1e8 * rng.uniform(1, 2), 1e3 * rng.uniform(1, 2), 500.0 * rng.uniform() + 2.0
    radius, box, edge = float(rng.uniform(0.4, 0.6)), gk.Box((2.0, 2.0, 2.0)), start + wall
    motion, pose = gk.Motion(naive.pose(None, (start, 0, 0)), linear=(way, 0, 0)), naive.pose(None, (edge, 0, 0))
    contact = (Fraction(edge) - Fraction(start) - 1 - Fraction(radius)) / Fraction(way)
    for body in (box, gk.Compound([(box, None)])):
        impact = gk.time_of_impact(body, gk.Sphere(radius), pose, motion)
        assert Fraction(impact.free_until) <= contact
        assert contact - Fraction(impact.free_until) < Fraction(1, 10**9)


@pytest.mark.parametrize("seed", range(8))
def test_free_until_is_not_after_contact_of_a_distant_part(seed: int) -> None:
    """The body rests, only the world position of its part is rounded. A point flies there along the x axis."""
    rng = np.random.default_rng(seed)
    body, part = motion_row(0.0), IDENTITY[0].copy()
    body[:9] = naive.random_rotations(rng, 1)[0].ravel()
    turn = body[:9].reshape(3, 3)
    part[9:12] = 1e6 * rng.normal(size=3)
    body[9:12] = -turn @ part[9:12]
    place = sum(Fraction(x) * Fraction(y) for x, y in zip(turn[0].tolist(), part[9:12].tolist(), strict=True))
    place += Fraction(body[9])
    flying = motion_row(0.0)
    flying[CENTER], flying[WAY] = -1.0, 2.0
    flight = toi.flight_of_parts(
        core_of(gk.Sphere(0.25)), part, core_of(gk.Point()), IDENTITY[0], np.stack([body, flying]), 0.0, 0.0, 1.0,
        np.empty(toi.PART_WORK),
    )  # fmt: skip
    contact = (place + Fraction(3, 4)) / 2  # nearly exact: the other two coordinates are below rounding
    assert Fraction(toi.impact(flight, 0.0)[1]) <= contact


#: each body first touches at its origin; the other corners of the triangle follow behind it on the helix
AT_ORIGIN = {
    "point": gk.Point(),
    "compound": gk.Compound([(gk.Point(), None)]),
    "cloud": gk.PointCloud([(0.0, 0.0, 0.0), (0.0, -0.5, 0.0)], 0.0),
    "mesh": gk.Mesh([(0.0, 0.0, 0.0), (0.0, -0.5, -0.25), (0.0, -0.5, 0.25)], [(0, 1, 2)], solid=False),
}


@pytest.mark.parametrize("kind", AT_ORIGIN)
@pytest.mark.parametrize("seed", range(8))
def test_free_until_is_not_after_contact_on_a_wide_helix(seed: int, kind: str) -> None:
    """It hits a box at radius 1024 after 41.25 turns, where the rounding error of the angle is 3e-14."""
    turn = float(np.random.default_rng(seed).uniform(259.3, 263.0))
    radius, rise, contact = 1024.0, 164.0, (82 + Fraction(1, 2)) * PI / Fraction(turn)
    helix = gk.Motion(naive.pose(None, (radius, 0, 0)), (0, 0, rise), (0, 0, turn), center=(0, 0, 0))
    place = naive.pose(None, (-1.0, radius, float(Fraction(rise) * contact)))
    impact = gk.time_of_impact(AT_ORIGIN[kind], gk.Box((2.0, 2.0, 2.0)), helix, place)
    assert Fraction(impact.free_until) <= contact
    assert contact - Fraction(impact.free_until) < Fraction(1, 10**12)


def angle_of_slope(q: int) -> Fraction:
    """Return the angle with cosine (q^2 - 1) / (q^2 + 1) and sine 2 q / (q^2 + 1), for a large q."""
    return 2 * sum(Fraction((-1) ** k, (2 * k + 1) * q ** (2 * k + 1)) for k in range(10))


@pytest.mark.parametrize("wall", ["box", "half-space"])
@pytest.mark.parametrize("slope", [10, 1000])
@pytest.mark.parametrize("seed", range(8))
def test_free_until_is_not_after_contact_of_a_distant_point(seed: int, slope: int, wall: str) -> None:
    """It starts at (x, x) and rotates about the origin until its first coordinate is that of a wall.

    The rounding error of the rotation matrix does not decrease with the angle.
    """
    rng = np.random.default_rng(seed)
    factor, square = int(rng.integers(1000, 5000)) * 1000**2 // slope**2, slope**2
    x, height, side = (factor * n for n in (square + 1, square - 1 - 2 * slope, square - 1 + 2 * slope))
    turn = float(rng.uniform(1.2, 2.5)) * float(angle_of_slope(slope))
    contact = angle_of_slope(slope) / Fraction(turn)
    shape = gk.Box((2.0, 2.0, 2.0)) if wall == "box" else gk.Halfspace((1.0, 0.0, 0.0), 0.0)
    place = naive.pose(None, (height - 1.0 if wall == "box" else height, side, 0.0))
    motion = gk.Motion(None, angular=(0.0, 0.0, turn))
    impact = gk.time_of_impact(gk.Point((float(x), float(x), 0.0)), shape, motion, place)
    assert Fraction(impact.free_until) <= contact
    assert contact - Fraction(impact.free_until) < Fraction(1, 10**9)
