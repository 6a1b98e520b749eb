"""Accuracy beside speed: every answer is held against gjk3d's certified interval, and a sample of those verified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from naive import Array
from strategies import build

import gjk3d as gk

from .competitor import Competitor
from .scenes import Scene

WRONG = 1e-4  #: an error larger than this, relative to the pair's size, is a wrong answer
SIGN = 1e-6  #: and so is a wrong sign or boolean of a pair farther from touching than this
MANY = 0.01  #: a competitor wrong more often than this is no anchor
SAMPLE = 1024  #: queries compared
VERIFIED = 4  #: of them verified in rational arithmetic


@dataclass(frozen=True)
class Reference:
    """The certified signed distances of a scene's first queries."""

    lower: Array
    upper: Array
    size: Array
    verified: int  #: how many of VERIFIED rational arithmetic confirmed


@dataclass(frozen=True)
class Judgement:
    """How right a competitor was."""

    wrong: float  #: share of wrong answers
    worst: float  #: largest error relative to the pair's size, NaN for booleans
    points: float | None = None  #: share of nearest points off the shapes or apart by another distance

    @property
    def right(self) -> bool:
        """Whether it may be an anchor."""
        return self.wrong <= MANY


def poses_of(scene: Scene, k: int) -> tuple[Array, Array]:
    """Poses of A and B in one query."""
    return scene.poses_a[0 if scene.still else k], scene.poses_b[k]


def reference(scene: Scene) -> Reference:
    """Ask gjk3d one by one, at its promised width."""
    count = min(SAMPLE, len(scene))
    used = sorted({i for k in range(count) for i in scene.pair(k)})
    built = {i: build(scene.specs[i]) for i in used}
    lower, upper = np.empty(count), np.empty(count)
    verified = 0
    for k in range(count):
        a, b = (built[i] for i in scene.pair(k))
        result = gk.signed_distance(a, b, *poses_of(scene, k))
        lower[k], upper[k] = result.lower, result.upper
        if k < VERIFIED:
            verified += bool(gk.verify(result, a, b, *poses_of(scene, k)))
    return Reference(lower, upper, scene.sizes[:count], verified)


def judge(competitor: Competitor, question: str, run: Any, truth: Reference) -> Judgement:
    """Compare a competitor's answers to the first queries with the certified intervals."""
    count = min(len(truth.size), competitor.most)
    count -= count % competitor.scene.block
    values = competitor.values(question, run(count))
    lower, upper, size = truth.lower[:count], truth.upper[:count], truth.size[:count]
    clear = (lower > SIGN * size) | (upper < -SIGN * size)
    if question == "boolean":
        return Judgement(float(np.mean((values.astype(bool) != (upper <= 0.0)) & clear)), np.nan)
    if question == "distance":
        values, lower, upper = (np.maximum(x, 0.0) for x in (values, lower, upper))
    error = np.maximum(np.maximum(lower - values, values - upper), 0.0) / size
    bad = ~(error <= WRONG)  # NaN is wrong
    if question == "depth":
        bad |= ((values > 0.0) != (lower > 0.0)) & clear
    worst = float(np.max(np.where(np.isnan(error), np.inf, error)))
    off = _points_off(competitor, lower, size) if question == "distance" else None
    return Judgement(float(bad.mean()), worst, off)


def _points_off(competitor: Competitor, distances: Array, size: Array) -> float | None:
    """Share of queries, of pairs apart, whose nearest points are off a shape or as far apart as they should not be."""
    apart = np.flatnonzero(distances > SIGN * size)[:32]
    found = competitor.points(int(apart[-1]) + 1)
    if found is None:
        return None
    scene, bad = competitor.scene, 0
    for k in apart:
        p, q = found[0][k], found[1][k]
        good = abs(np.linalg.norm(q - p) - distances[k]) <= WRONG * size[k]
        for point, index, pose in zip((p, q), scene.pair(k), poses_of(scene, k), strict=True):
            if good:
                shape = build(scene.specs[index])
                good = gk.distance(gk.Point(point), shape, None, pose).distance <= WRONG * size[k]
        bad += not good
    return bad / len(apart)
