"""Motions of pairs that no kernel answers, proven by the linear bound of `gjk3d.robot.motion_cover`, left to right.

Several configurations of a stretch ahead are asked at once, and the stretch grows where all of it is proven, and
shrinks where it is not. In overlap the depth of what is not convex is no distance that a motion changes evenly:
nothing is proven of it, nor where a margin is negative.
"""

from __future__ import annotations

from math import nan

import numpy as np

from gjk3d.poses import UNIT_ROUNDOFF as _U
from gjk3d.robot import general_pairs
from gjk3d.robot.cell import Cell
from gjk3d.robot.curves import Curves, points_on
from gjk3d.robot.motion_asked import FINER, HIT, NOBODY, OPEN, PROVEN
from gjk3d.robot.motion_bounds import Arms, MotionBounds, curve_speeds
from gjk3d.typing import Array, Ints

_MORE = 1.0 + 2.0**-40
_AHEAD = 8  #: configurations at once
MOST_GENERAL_LOOKS = 2000  #: at so many of one motion: meshes that nearly overlap take milliseconds each


def certified_general(
    cell: Cell, curves: Curves, e: int, until: float, tolerance: float, bounds: MotionBounds, numbers: Ints
) -> tuple[int, float, float, int]:
    """Return what is known of one edge and some pairs up to a parameter: status, safe, hit or NaN, and the pair."""
    joints, curve = np.zeros((6, len(cell.robot.links))), curves.controls[e]
    curve_speeds(cell.robot._chain, curve, curves.loose[e], joints)
    margins = cell.margins[numbers]
    way, wrong = (_general_ways(bounds.arms, turn, slide)[numbers] for turn, slide in (joints[:2], joints[2:4]))
    way = np.maximum(way * _MORE, 1e-300)
    # a gap less its floor, divided by the way, is rounded by a few parts of the way and of the margin
    floor = np.maximum(margins, 0.0) + bounds.slack + wrong + 8.0 * _U * (way + np.abs(margins))
    safe = np.zeros(len(way))  # of each pair
    first, who, step = 2.0, NOBODY, min(0.25, until)
    looks = 0
    while True:
        low = float(safe.min(initial=until))
        if low >= until:
            return PROVEN, until, nan, NOBODY
        if first - low <= tolerance:
            return HIT, low, first, who
        looks += 1
        if looks > MOST_GENERAL_LOOKS:
            break
        end = min(low + step, until, first)
        t = np.linspace(low, end, _AHEAD + 1)
        lower, upper = general_pairs.bounds(cell, points_on(curve, t), way * step + floor, numbers)
        touching = np.argwhere(upper <= margins)
        if len(touching):
            first, who = float(t[touching[0, 0]]), int(numbers[touching[0, 1]])
        with np.errstate(over="ignore"):  # of what does not move
            reach = np.maximum(lower - floor, 0.0) / way
        for c, far in zip(t, reach, strict=True):
            meets = (c - far <= safe) & (far > 0.0)
            safe = np.where(meets, np.maximum(safe, c + far), safe)
        gained = float(safe.min()) - low
        least = max(tolerance * (FINER if first - low <= 1.5 * tolerance / FINER else 1.0), 8.0 * _U)
        if gained >= end - low:
            step = min(2.0 * max(step, gained), 0.5)
        elif step > least:
            step = max(step / 4.0, least)
        elif gained < 0.5 * least:
            c = min(low + tolerance / FINER, until)
            if first <= 1.0 or low >= until or c <= low:
                break
            # is a contact near?
            _, upper = general_pairs.bounds(cell, points_on(curve, np.array([c])), floor, numbers)
            touching = np.argwhere(upper <= margins)
            if not len(touching):
                break
            first, who = c, int(numbers[touching[0, 1]])
    return OPEN, low, first if first <= 1.0 else nan, int(numbers[np.argmin(safe)])


def _general_ways(arms: Arms, turn: Array, slide: Array) -> Array:
    """Return how far the two of each pair move against each other at most."""
    steps, counts = arms.steps, np.diff(arms.begins)
    each = slide[steps] + turn[steps] * arms.arms.min(axis=0)
    owner = np.repeat(np.arange(len(counts)), counts)
    total: Array = np.bincount(owner, weights=each, minlength=len(counts)).astype(np.float64)
    return total
