"""The queries of the benchmarks: shapes and poses. Half of the pairs overlap in every block of queries."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any

import naive
import numpy as np
from naive import Array, Spec
from scipy.spatial.transform import Rotation
from strategies import build

import gjk3d as gk

HULLS = (32, 128, 512, 2048, 8192)
ROWS = ("sphere-sphere", "box-box", "capsule-box", "cylinder-cylinder", *(f"hulls of {n}" for n in HULLS))
#: rows with exact results after finitely many steps; the others need a tolerance
FLAT = ("box-box", *ROWS[4:])

QUESTIONS = ("boolean", "distance", "depth")

SETTINGS = {
    "one": "One pair, pose by pose",
    "stack": "100 000 poses of one pair",
    "pairs": "100 000 different pairs",
    "path": "A coherent trajectory of one pair",
}

TOTAL = 100_000  #: queries of a stack and of many pairs
DISTINCT = 16_384  #: number of different queries, more than a branch predictor remembers
BLOCK = 16  #: length of a block of queries, of which exactly half overlap
STEPS, PERIOD = 4096, 128  #: steps of a trajectory and of its period, in which contact begins and ends once


@dataclass(frozen=True)
class Scene:
    """The queries of a row in a setting, equal for all competitors."""

    row: str
    setting: str
    specs: list[Spec]
    pairs: Any  #: (n, 2) int, or None if all queries use the first two shapes
    poses_a: Array  #: (n, 4, 4), or (1, 4, 4) if A is fixed
    poses_b: Array  #: (n, 4, 4)
    sizes: Array  #: (n,) reach of A plus reach of B
    block: int  #: the number of queries of a timed loop is a multiple of this

    @property
    def still(self) -> bool:
        """Return whether A is fixed."""
        return len(self.poses_a) == 1

    def __len__(self) -> int:
        return len(self.poses_b)

    def pair(self, k: int) -> tuple[int, int]:
        """Return the indices of the two shapes of a query."""
        return (0, 1) if self.pairs is None else (int(self.pairs[k, 0]), int(self.pairs[k, 1]))


def hull_points(count: int, radii: Any, rng: np.random.Generator) -> Array:
    """Return points on an ellipsoid, all of which are vertices of their hull."""
    return naive.unit_vectors(rng, count) * np.asarray(radii)


def specs_of(row: str, side: int, count: int, rng: np.random.Generator) -> list[Spec]:
    """Return shapes for one side of a row. The first has the nominal lengths of the row, and the others vary them."""
    specs: list[Spec] = []
    for k in range(count):
        f = np.ones(3) if k == 0 else rng.uniform(0.7, 1.4, 3)
        if row == "sphere-sphere":
            specs.append(("sphere", (0.5, 0.6)[side] * f[0]))
        elif row == "box-box" or (row == "capsule-box" and side == 1):
            specs.append(("box", tuple(((1.0, 1.2, 0.8), (0.9, 1.0, 1.1))[side] * f)))
        elif row == "capsule-box":
            specs.append(("capsule", 0.3 * f[0], 1.0 * f[1]))
        elif row == "cylinder-cylinder":
            specs.append(("cylinder", (0.5, 0.4)[side] * f[0], (1.0, 1.2)[side] * f[1]))
        else:
            radii = ((0.5, 0.6, 0.4), (0.45, 0.5, 0.55))[side]
            specs.append(("hull", hull_points(int(row.split()[-1]), radii * f, rng)))
    return specs


def reach(spec: Spec) -> float:
    """Return the radius of a ball about the origin that contains the shape."""
    return naive.body(spec).size


def _placed(rotations: Any, translations: Any) -> Array:
    poses = np.zeros((len(translations), 4, 4))
    poses[:, :3, :3], poses[:, :3, 3], poses[:, 3, 3] = rotations, translations, 1.0
    return poses


def _touching_distance(a: Any, b: Any, far: float, rng: np.random.Generator) -> float:
    """Return the median distance of the origins at which the shapes touch, along random directions."""
    poses = _placed(naive.random_rotations(rng, 256), far * naive.unit_vectors(rng, 256))
    return float(np.median(far - gk.signed_distance(a, b, None, poses).distance))


def _relative(distance: Any, rng: np.random.Generator) -> Array:
    """Return poses of B relative to A, from deep overlap to wide separation."""
    count = len(distance)
    away = naive.unit_vectors(rng, count) * (distance * rng.uniform(0.3, 1.7, count))[:, None]
    return _placed(naive.random_rotations(rng, count), away)


def _half(hits: Any, count: int, rng: np.random.Generator) -> Any:
    """Return ``count`` indices in blocks of which half are hits, in random order, or None if there are too few."""
    inside, outside = np.flatnonzero(hits), np.flatnonzero(~hits)
    half = count // 2
    if min(len(inside), len(outside)) < half:
        return None
    blocks = np.concatenate([inside[:half].reshape(-1, BLOCK // 2), outside[:half].reshape(-1, BLOCK // 2)], axis=1)
    return rng.permuted(blocks, axis=1).ravel()


def _how_many(row: str) -> int:
    """Return the number of shapes on each side of different pairs. Hulls have 65 536 vertices on each side."""
    return min(448, 65_536 // int(row.split()[-1])) if row.startswith("hulls") else 448


def make(row: str, setting: str, distinct: int = DISTINCT, shapes: int | None = None) -> Scene:
    """Build the queries of a row in a setting; ``shapes`` limits the shapes on each side of different pairs."""
    rng = np.random.default_rng([ROWS.index(row), list(SETTINGS).index(setting)])
    per_side = (shapes or _how_many(row)) if setting == "pairs" else 1
    left, right = (specs_of(row, side, per_side, rng) for side in (0, 1))
    specs = left + right
    reaches = np.array([reach(spec) for spec in specs])
    size = float(reaches[0] + reaches[per_side])
    built = [build(spec) for spec in specs]
    a, b = built[0], built[per_side]
    touch = _touching_distance(a, b, 2.0 * size, rng)
    if setting == "path":
        poses = trajectory(a, b, touch, rng)
        return Scene(row, setting, specs, None, np.eye(4)[None], poses, np.full(STEPS, size), PERIOD)
    drawn = 2 * distinct
    while True:
        if setting == "pairs":
            pairs = np.stack([rng.integers(0, per_side, drawn), per_side + rng.integers(0, per_side, drawn)], axis=1)
        else:
            pairs = np.tile((0, 1), (drawn, 1))
        sizes = reaches[pairs].sum(axis=1)
        rel = _relative(touch / size * sizes, rng)
        still = setting == "stack"
        frames = _placed(naive.random_rotations(rng, drawn), rng.uniform(-2.0, 2.0, (drawn, 3)))
        poses_a = np.eye(4)[None] if still else frames
        poses_b = poses_a @ rel
        if setting == "pairs":
            hits = np.array(
                [gk.collide(built[i], built[j], p, q) for (i, j), p, q in zip(pairs, poses_a, poses_b, strict=True)]
            )
        else:
            hits = gk.collide(a, b, poses_a, poses_b)
        chosen = _half(hits, distinct, rng)
        if chosen is not None:
            break
        drawn *= 2
    if setting != "one":
        chosen = np.resize(chosen, TOTAL // BLOCK * BLOCK)
    return Scene(
        row,
        setting,
        specs,
        pairs[chosen] if setting == "pairs" else None,
        poses_a if still else poses_a[chosen],
        poses_b[chosen],
        sizes[chosen],
        BLOCK,
    )


def trajectory(a: Any, b: Any, touch: float, rng: np.random.Generator) -> Array:
    """Return poses of B, which rotates by 0.02 rad a step while it moves in and out of A.

    The mean distance is chosen so that half of the steps overlap.
    """
    k = np.arange(STEPS)
    axes = naive.unit_vectors(rng, 2)
    turns = Rotation.from_rotvec(0.02 * k[:, None] * axes[0]) * Rotation.random(rng=rng)
    around = Rotation.from_rotvec(0.005 * k[:, None] * axes[1])
    directions = around.apply(naive.unit_vectors(rng, 1)[0])
    swing = 0.3 * np.sin(2.0 * pi * k / PERIOD)
    low, high = 0.3, 2.0
    for _ in range(20):
        middle = 0.5 * (low + high)
        poses = _placed(turns.as_matrix(), directions * (touch * (middle + swing))[:, None])
        low, high = (middle, high) if gk.collide(a, b, None, poses).mean() > 0.5 else (low, middle)
    return poses
