"""Boxes stacked in walls. No pair of neighbours may need the exact stage, and all their distances are 0."""

from __future__ import annotations

from dataclasses import dataclass
from unittest import mock

import naive
import numpy as np
from naive import Array

import gjk3d as gk
import gjk3d.exact

Rng = np.random.Generator


@dataclass
class Stacked:
    """The results of touching pairs of boxes."""

    pairs: int = 0
    exact: int = 0  #: calls of the exact stage
    wrong: int = 0  #: rows whose interval excludes 0 by more than rounding, or whose boolean contradicts the status
    parted: int = 0  #: rows that are separated or overlap due to the rounding of their poses
    width: float = 0.0  #: relative to the pair's size

    def __str__(self) -> str:
        return (
            f"{self.pairs} touching pairs of stacked boxes: {self.exact} reached the exact stage, {self.wrong} wrong, "
            f"{self.parted} parted by the rounding of their poses, worst width {self.width:.1e} of the size."
        )


def wall(rng: Rng, turned: bool) -> tuple[Array, Array, Array]:
    """Return the extents of a box, and poses of touching neighbours in a grid, aligned or shifted by half a box or one.

    A grid with extents in eighths is exact in floats. A rotated grid, or one in thirds, touches only to rounding.
    """
    extents = rng.integers(1, 33, 3) / (8.0 if rng.random() < 0.5 else 3.0)
    cells = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3).astype(float)
    axes = np.eye(3)[rng.integers(3, size=len(cells))]
    slide = rng.choice((0.0, 0.5, 1.0), (len(cells), 3)) * (1.0 - axes)  # partial faces, or edge on edge
    poses = np.tile(np.eye(4), (2, len(cells), 1, 1))
    poses[0, :, :3, 3] = cells * extents
    poses[1, :, :3, 3] = (cells + axes + slide) * extents
    if turned:
        frame = naive.pose(naive.random_rotations(rng, 1)[0], rng.normal(size=3) * 10.0)
        poses = frame @ poses
    return extents, poses[0], poses[1]


def stacked(pairs: int, seed: int) -> Stacked:
    """Query at least ``pairs`` touching pairs, half of them in rotated walls, and count calls of the exact stage."""
    rng, result = np.random.default_rng([seed, 5]), Stacked()
    real = gjk3d.exact.exact_pair
    with mock.patch.object(gjk3d.exact, "exact_pair", side_effect=real) as exact_pair:
        number = 0
        while result.pairs < pairs:
            extents, poses_a, poses_b = wall(rng, turned=bool(number % 2))
            box = gk.Box(extents)
            answer = gk.signed_distance(box, box, poses_a, poses_b)
            distance = gk.distance(box, box, poses_a, poses_b)
            hit = gk.collide(box, box, poses_a, poses_b)
            size = np.linalg.norm(extents) + np.linalg.norm((poses_b - poses_a)[:, :3, 3], axis=1)
            # the rounding of the poses is relative to their distance from the origin
            rounding = 1e-15 * (size + np.abs(poses_a[:, :3, 3]).max() + np.abs(poses_b[:, :3, 3]).max())
            missed = (answer.lower > rounding) | (answer.upper < -rounding) | (distance.lower > rounding)
            result.wrong += int(np.count_nonzero(missed | (hit != (answer.status != gk.Status.SEPARATED))))
            result.parted += int(np.count_nonzero(answer.status != gk.Status.TOUCHING))
            result.width = max(result.width, float(((answer.upper - answer.lower) / size).max()))
            result.pairs += len(poses_a)
            number += 1
        result.exact = exact_pair.call_count
    return result
