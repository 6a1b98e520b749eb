"""``python -m tests.hardening.swept_rotations``: check that `gk.clash.swept` contains a rotated cylinder."""

from __future__ import annotations

import argparse

import numpy as np

import gjk3d as gk
from gjk3d.clash import Assembly, Movement, swept

_SEGMENTS = 24
_TIMES = np.linspace(0.0, 1.0, 41)


def rotation(rng: np.random.Generator) -> tuple[gk.Mesh, gk.Motion]:
    """Draw a small cylinder, and a rotation of up to one turn about an axis up to three units away."""
    axis = rng.normal(size=3)
    if rng.random() < 0.5:
        axis = np.eye(3)[rng.integers(3)]
    turn = axis / np.linalg.norm(axis) * rng.uniform(0.2, 2.0 * np.pi)
    solid = gk.Cylinder(rng.uniform(0.1, 0.5), rng.uniform(0.2, 1.5))
    return gk.Mesh(*solid.surface(_SEGMENTS)), gk.Motion(None, (0, 0, 0), turn, center=rng.uniform(-3.0, 3.0, 3))


def missing(mesh: gk.Mesh, motion: gk.Motion) -> float:
    """Return how far vertices of the moving mesh are outside of its swept space, 0 if all are inside."""
    space = swept(Assembly.of({"body": mesh}, "mm"), Movement({"body": motion}), "body", "slices")
    space_mesh = space.parts[0].mesh
    poses = motion.at(_TIMES)
    points = (np.einsum("kij,pj->kpi", poses[:, :3, :3], mesh.vertices) + poses[:, None, :3, 3]).reshape(-1, 3)
    outside = points[~space_mesh.contains(points)]
    return max((float(gk.distance(space_mesh, gk.Point(point)).distance) for point in outside), default=0.0)


def faults(count: int, seed: int) -> list[str]:
    """Return the random rotations whose space does not contain the body."""
    messages = []
    for k in range(count):
        mesh, motion = rotation(np.random.default_rng([seed, k]))
        if (out := missing(mesh, motion)) > 0.0:
            messages.append(f"rotation {k} of seed {seed}: {out:.3g} outside")
    return messages


def main(given: list[str] | None = None) -> int:
    """Print the faults and their number; return 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.hardening.swept_rotations", description=__doc__)
    parser.add_argument("--rotations", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(given)
    messages = faults(options.rotations, options.seed)
    print(*messages, f"{options.rotations} rotations, {len(messages)} faults", sep="\n")
    return int(bool(messages))


if __name__ == "__main__":
    raise SystemExit(main())
