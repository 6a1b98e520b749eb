"""Proven results for parts whose poses are known only up to a slack or up to rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.clash.detection.pairs import boxes_close
from gjk3d.clash.detection.parts import Tolerances
from gjk3d.clash.motion.movement import Track, still, through
from gjk3d.clash.motion.moving import Timeline, swept_box

PI = Fraction("3.14159265358979323846264338327950288419716939937510582")
OWN, TRACKS = 1.0 / 64.0, (1.0 / 32.0, 1.0 / 64.0)
SLACK = OWN + sum(TRACKS)


def block(x=0.0, size=1.0):
    surface = gk.Box((size, size, size)).surface()
    return gk.Mesh(surface.vertices + (x, 0.0, 0.0), surface.faces)


def timeline(x, *, comes=0.0, tracks=TRACKS, own=OWN):
    """Return the timeline from 0 to 1 of a unit cube and a second one at x that approaches at speed `comes`."""
    fixed = still((0.0, 1.0))._replace(slack=tracks[0])
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[1, 0, 3] = -comes
    moving = through(np.array([0.0, 1.0]), poses, tracks[1])
    return Timeline((block(), block(x)), (fixed, moving), 1e-6, 1e-4, own)


def test_gap_bounds_include_slack_of_tracks_and_parts():
    seen = timeline(1.25).sample(0.5)
    assert seen.lower == pytest.approx(0.25 - SLACK, abs=1e-9)
    assert seen.upper == pytest.approx(0.25 + SLACK, abs=1e-9)
    assert not timeline(1.0 + 0.9 * SLACK).sample(0.5).free


def test_depth_is_reduced_by_slack():
    without = timeline(0.5, tracks=(0.0, 0.0), own=0.0).sample(0.5).inside
    assert without > 2.0 * SLACK
    assert timeline(0.5).sample(0.5).inside == pytest.approx(without - SLACK, abs=1e-12)


def test_least_gap_is_bounded_to_a_thousandth_and_slack():
    least, _ = timeline(1.25).follow().least
    assert 0.999 * 0.25 - SLACK - 1e-9 <= least <= 0.25 - SLACK


def test_approaching_parts_are_free_up_to_clearance_and_slack():
    """The gap falls from 1 at time 0 to 0 at time 1."""
    free, hit = timeline(2.0, comes=1.0).advance(0.0, 1.0, 0.25)
    assert 0.74 - SLACK < free <= 0.75 - SLACK <= hit < 0.76 - SLACK


@pytest.mark.parametrize("seed", range(12))
def test_parts_are_not_proven_free_after_late_contact(seed):
    """A tip hits a box at a distance of 1024 from the axis after 41.25 turns, at a time rounded to 1e-13."""
    rng = np.random.default_rng(seed)
    turn, begin, radius, rise = float(rng.uniform(259.3, 263.0)), float(rng.uniform(500.0, 1000.0)), 1024.0, 164.0
    contact = (82 + Fraction(1, 2)) * PI / Fraction(turn)
    pose = np.eye(4)
    pose[0, 3] = radius
    helix = gk.Motion(pose, (0.0, 0.0, rise), (0.0, 0.0, turn), center=(0.0, 0.0, 0.0))
    tip = gk.Mesh([(0.0, 0.0, 0.0), (0.0, -0.5, -0.25), (0.0, -0.5, 0.25)], [(0, 1, 2)], solid=False)
    wall = gk.Box((2.0, 2.0, 2.0)).surface()
    box = gk.Mesh(wall.vertices + (-1.0, radius, float(Fraction(rise) * contact)), wall.faces)
    times = begin, begin + 1.0
    course = Timeline((tip, box), (Track(np.array(times), helix._rows), still(times)), 1e-6, 1e-4)
    touch = Fraction(begin) + contact * (Fraction(times[1]) - Fraction(begin))
    free, _ = course.advance(begin + 0.95 * float(contact), times[1], 0.0)
    assert Fraction(free) <= touch
    assert touch - Fraction(free) < Fraction(1, 10**11)


def test_swept_box_includes_slack():
    box = swept_box(block(), still((0.0, 1.0))._replace(slack=SLACK))
    assert (box[0] <= -0.5 - SLACK).all()
    assert (box[1] >= 0.5 + SLACK).all()


@pytest.mark.parametrize("seed", range(6))
def test_swept_box_contains_exact_vertices(seed):
    rng = np.random.default_rng(seed)
    pose = gk.Motion(None, angular=rng.uniform(-1.0, 1.0, 3)).at(1.0)
    pose[:3, 3] = rng.uniform(-1e8, 1e8, 3)
    track = through(np.array([0.0, 1.0]), np.array([pose, pose]))
    mesh, pose = block(1e8), track.pose(0.0)
    low, high = swept_box(mesh, track)
    for vertex in mesh.vertices:
        for row, shift, least, most in zip(pose[:3, :3], pose[:3, 3], low, high, strict=True):
            place = sum(Fraction(float(r)) * Fraction(float(x)) for r, x in zip(row, vertex, strict=True))
            assert Fraction(float(least)) <= place + Fraction(float(shift)) <= Fraction(float(most))


def test_speed_bounds_the_translation():
    rng = np.random.default_rng(5)
    for _ in range(20):
        pose = np.eye(4)
        pose[:3, 3] = rng.uniform(-1.0, 1.0, 3)
        track = through(np.array([0.0, 1.0]), np.array([np.eye(4), pose]))
        speed = Fraction(float(track.speeds(block().bounds)[0]))
        assert speed**2 >= sum(Fraction(float(x)) ** 2 for x in track.rows[0, 12:15])


def test_boxes_within_clearance_and_slack_are_close():
    """Rounding of the enlarged boxes far from the origin must not widen the gap between them."""
    rng = np.random.default_rng(7)
    for _ in range(200):
        x, clearance, slack = rng.uniform(1e8, 2e8), rng.uniform(0.1, 0.3), rng.uniform(0.01, 0.1, 2)
        reach = Fraction(x + 1.0) + Fraction(clearance) + sum(Fraction(float(s)) for s in slack)
        right = float(reach)
        right = right if Fraction(right) <= reach else np.nextafter(right, 0.0)
        bounds = np.array([[(x, 0.0, 0.0), (x + 1.0, 1.0, 1.0)], [(right, 0.0, 0.0), (right + 1.0, 1.0, 1.0)]])
        result = boxes_close(bounds, clearance, Tolerances(np.zeros(2), np.zeros(2)), slack)
        assert result.tolist() == [[0, 1]]
