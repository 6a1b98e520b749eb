"""``python -m tests.hardening.oriented``: check the oriented boxes of capsules scaled along three axes."""

from __future__ import annotations

import argparse

import numpy as np

import gjk3d as gk
from gjk3d.errors import Gjk3dError

DIRECTIONS = np.random.default_rng(5).normal(size=(2000, 3))


def scaled_capsule(rng: np.random.Generator) -> gk.Shape:
    """Draw a capsule, scaled by one decimal factor per axis."""
    return gk.Capsule(*rng.uniform(0.1, 1.0, 2)).scaled(rng.integers(3, 20, 3) / 10.0)


def fault(shape: gk.Shape) -> str:
    """Return the fault of the oriented box of a shape, or an empty string."""
    try:
        box = gk.obb(shape)
    except Gjk3dError as error:
        return str(error)
    axes, size = box.pose[:3, :3], float(box.extents.max())
    if np.abs(axes.T @ axes - np.eye(3)).max() > 1e-14 or np.linalg.det(axes) < 0.0:
        return "the axes are not a rotation"
    points = (shape.support(DIRECTIONS) - box.pose[:3, 3]) @ axes
    if (2.0 * np.abs(points) - box.extents).max() > 1e-14 * size:
        return "a support point is outside"
    aabb = gk.aabb(shape)
    return "" if box.volume <= (aabb.high - aabb.low).prod() * (1.0 + 1e-12) else "larger than the box along the axes"


def faults(count: int, seed: int) -> list[str]:
    """Return the faults of the boxes of random capsules, each with its shape."""
    rng = np.random.default_rng(seed)
    shapes = [scaled_capsule(rng) for _ in range(count)]
    return [f"{shape._terms()}: {text}" for shape in shapes if (text := fault(shape))]


def main(given: list[str] | None = None) -> int:
    """Print the faults and their number; return 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.hardening.oriented", description=__doc__)
    parser.add_argument("--capsules", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(given)
    messages = faults(options.capsules, options.seed)
    print(*messages, f"{options.capsules} capsules, {len(messages)} faults", sep="\n")
    return int(bool(messages))


if __name__ == "__main__":
    raise SystemExit(main())
