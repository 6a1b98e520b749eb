"""Certified motions for pairs that the kernels leave open: meshes, other solids, half-spaces.

The linear bound of `gjk3d.robot.motion_certified`, from left to right: several configurations of a stretch ahead are
asked at once, and the stretch grows where all of it is proven, and shrinks where it is not. In overlap the depth of
what is not convex is no distance that a motion changes evenly: nothing is proven of it, nor where a margin is negative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gjk3d.robot.motion_bounds import Arms
from gjk3d.robot.motion_certified import FINER, HIT, OPEN, PROVEN, speeds
from gjk3d.typing import Array

if TYPE_CHECKING:
    from gjk3d.robot.checker import Checker

_U = 2.0**-53
_AHEAD = 8  #: configurations at once
MOST_LOOKS = 2000  #: at so many of one motion: meshes that nearly overlap take milliseconds each


def certified_solids(
    checker: Checker, q0: Array, q1: Array, until: float, tolerance: float, arms: Arms
) -> tuple[int, float, float, int]:
    """Return what is known of one edge up to a parameter: status, safe, hit or NaN, and the number of the pair.

    Pairs are numbered behind those of the kernels, -1 for none.
    """
    tables, chain = checker._ready(), checker.robot.chain
    joints = np.zeros((4, len(chain.parent)))
    speeds(chain.kind, chain.source, chain.multiplier, chain.offset, q0, q1, *joints)
    behind, margins = len(tables.rows), tables.solid_margins
    way, wrong = (_ways(arms, behind, turn, slide) for turn, slide in (joints[:2], joints[2:]))
    way = np.maximum(way * (1.0 + 2.0**-40), 1e-300)
    floor = np.maximum(margins, 0.0) + arms.slack + wrong + 8.0 * _U * (way + np.abs(margins))
    safe = np.zeros(len(way))  # of each pair
    first, who, step = 2.0, -1, min(0.25, until)
    looks = 0
    while True:
        low = float(safe.min(initial=until))
        if low >= until:
            return PROVEN, until, np.nan, -1
        if first - low <= tolerance:
            return HIT, low, first, who + behind
        looks += 1
        if looks > MOST_LOOKS:
            return OPEN, low, first if first <= 1.0 else np.nan, int(np.argmin(safe)) + behind
        end = min(low + step, until, first)
        t = np.linspace(low, end, _AHEAD + 1)
        lower, upper = checker.solids.bounds((1.0 - t[:, None]) * q0 + t[:, None] * q1, way * step + floor)
        touching = np.argwhere(upper <= margins)
        if len(touching):
            first, who = float(t[touching[0, 0]]), int(touching[0, 1])
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
            if first > 1.0 and low < until:  # is a contact near?
                c = min(low + tolerance / FINER, until)
                _, upper = checker.solids.bounds(((1.0 - c) * q0 + c * q1)[None], floor)
                touching = np.argwhere(upper <= margins)
                if len(touching) and c > low:
                    first, who = c, int(touching[0, 1])
                    continue
            return OPEN, low, first if first <= 1.0 else np.nan, int(np.argmin(safe)) + behind


def _ways(arms: Arms, start: int, turn: Array, slide: Array) -> Array:
    """Return how far the two of each pair from that number on move against each other at most."""
    steps, counts = arms.steps[arms.begins[start] :], np.diff(arms.begins[start:])
    each = slide[steps] + turn[steps] * arms.arms[:, arms.begins[start] :].min(axis=0)
    of = np.repeat(np.arange(len(counts)), counts)
    total: Array = np.bincount(of, weights=each, minlength=len(counts)).astype(np.float64)
    return total
