"""Accuracy of results: each is compared with gjk3d's certified interval, and a sample of the intervals is verified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from naive import Array
from strategies import build

import gjk3d as gk

from .competitor import Competitor
from .scenes import Scene

WRONG = 1e-4  #: a result is wrong if its error relative to the size of the pair exceeds this
SIGN = 1e-6  #: signs and booleans count only for pairs farther from touching than this, relative to their size
MANY = 0.01  #: a competitor with a larger share of wrong results is not an anchor
SAMPLE = 1024  #: number of queries that are compared
VERIFIED = 4  #: number of these queries that are verified in rational arithmetic


@dataclass(frozen=True)
class Reference:
    """The certified signed distances of the first queries of a scene."""

    lower: Array
    upper: Array
    size: Array
    verified: int  #: number of intervals that rational arithmetic confirmed, of VERIFIED


@dataclass(frozen=True)
class Judgement:
    """The accuracy of a competitor."""

    wrong: float  #: share of wrong results
    worst: float  #: largest error relative to the size of the pair, NaN for booleans
    points: float | None = None  #: share of nearest points that are off the shapes or at a wrong distance

    @property
    def right(self) -> bool:
        """Return whether the competitor can be an anchor."""
        return self.wrong <= MANY


def poses_of(scene: Scene, k: int) -> tuple[Array, Array]:
    """Return the poses of A and B in a query."""
    return scene.poses_a[0 if scene.still else k], scene.poses_b[k]


def reference(scene: Scene) -> Reference:
    """Return the certified distances of single calls of gjk3d at full accuracy."""
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
    """Compare a competitor's results of the first queries with the certified intervals."""
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
    bad = ~(error <= WRONG)  # also true for NaN
    if question == "depth":
        bad |= ((values > 0.0) != (lower > 0.0)) & clear
    worst = float(np.max(np.where(np.isnan(error), np.inf, error)))
    off = _points_off(competitor, lower, size) if question == "distance" else None
    return Judgement(float(bad.mean()), worst, off)


def _points_off(competitor: Competitor, distances: Array, size: Array) -> float | None:
    """Return the share of separated queries whose nearest points are off a shape or at a wrong distance."""
    separated = np.flatnonzero(distances > SIGN * size)[:32]
    points = competitor.points(int(separated[-1]) + 1)
    if points is None:
        return None
    scene, bad = competitor.scene, 0
    for k in separated:
        p, q = points[0][k], points[1][k]
        good = abs(np.linalg.norm(q - p) - distances[k]) <= WRONG * size[k]
        for point, index, pose in zip((p, q), scene.pair(k), poses_of(scene, k), strict=True):
            if good:
                shape = build(scene.specs[index])
                good = gk.distance(gk.Point(point), shape, None, pose).distance <= WRONG * size[k]
        bad += not good
    return bad / len(separated)
