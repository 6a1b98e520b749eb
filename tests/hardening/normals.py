"""``python -m tests.hardening.normals``: compare normals of touches and impacts of balls with closest points in numpy.

The normals of crates that exactly touch level height fields must be vertical.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import naive
import numpy as np
from naive import Array

import gjk3d as gk

Rng = np.random.Generator
DATA = Path(__file__).parents[2] / "data"
ACCURATE = 1e-9  #: greatest allowed error of a normal, in radians
SAME_GAP = 1e-12  #: relative to the size: surfaces within this of the nearest one may define the normal


@dataclass
class Casts:
    """Counts of casts, and their faults."""

    casts: int = 0
    hits: int = 0
    worst: float = 0.0  #: error of a normal, in radians
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        text = f"{self.casts} casts, {self.hits} hits, {len(self.wrong)} wrong, worst error {self.worst:.1e} rad"
        return "\n  ".join([text, *self.wrong[:20]])

    def judge(self, name: str, normal: Array, center: Array, feet: Array, gaps: Array, size: float) -> None:
        """Compare a normal from the ball's surface to the body with those of the nearest surfaces.

        ``feet`` are the points of the surfaces nearest to the ball's centre, ``gaps`` their distances from it.
        """
        nearest = gaps <= gaps.min() + SAME_GAP * size
        true = (feet[nearest] - center) / gaps[nearest, None]
        error = float(np.linalg.norm(true - normal, axis=1).min())
        self.worst = max(self.worst, error)
        if error > ACCURATE:
            self.wrong.append(f"{name}: normal {normal} instead of {true[0]}, error {error:.1e}")


def closest_points(p: Array, triangles: Array) -> Array:
    """Return the point closest to p of each triangle, (n, 3, 3)."""
    a = triangles[:, 0]
    u, v = triangles[:, 1] - a, triangles[:, 2] - a
    n = np.cross(u, v)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.einsum("ij,ij->i", np.cross(p - a, v), n) / np.einsum("ij,ij->i", n, n)
        t = np.einsum("ij,ij->i", np.cross(u, p - a), n) / np.einsum("ij,ij->i", n, n)
    inside = (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0)
    feet = [np.where(inside[:, None], a + s[:, None] * u + t[:, None] * v, np.inf)]
    for i, j in ((0, 1), (1, 2), (2, 0)):
        start, way = triangles[:, i], triangles[:, j] - triangles[:, i]
        along = np.einsum("ij,ij->i", p - start, way) / np.maximum(np.einsum("ij,ij->i", way, way), 1e-300)
        feet.append(start + np.clip(along, 0.0, 1.0)[:, None] * way)
    every = np.stack(feet)
    best = np.linalg.norm(every - p, axis=2).argmin(axis=0)
    return every[best, np.arange(len(triangles))]


def some_balls(rng: Rng, count: int = 12) -> tuple[gk.Compound, Array, Array]:
    """Return a compound of balls that overlap in part, their centres and their radii."""
    centers, radii = rng.uniform(-1.0, 1.0, (count, 3)), rng.uniform(0.2, 0.5, count)
    balls = [(gk.Sphere(r), naive.pose(None, c)) for c, r in zip(centers, radii, strict=True)]
    return gk.Compound(balls), centers, radii


def cast_at_balls(rng: Rng, casts: int) -> Casts:
    """Cast balls at a compound of balls, and check the normals at each impact."""
    result = Casts()
    compound, centers, radii = some_balls(rng)
    for k in range(casts):
        radius = rng.uniform(0.05, 0.3)
        start = 4.0 * naive.unit_vectors(rng, 1)[0]
        way = 2.0 * (rng.uniform(-0.8, 0.8, 3) - start)
        hit = gk.shapecast(gk.Sphere(radius), compound, way, naive.pose(None, start))
        result.casts += 1
        # the time of contact with each ball is the root of a quadratic equation
        offsets, reach = centers - start, radii + radius
        b, c = offsets @ way, (offsets**2).sum(axis=1) - reach**2
        root = b**2 - (way @ way) * c
        times = np.where(root >= 0.0, (b - np.sqrt(np.maximum(root, 0.0))) / (way @ way), np.inf)
        first = int(times.argmin())
        if hit.status != gk.ImpactStatus.HIT:
            if times[first] <= 1.0 and root[first] > 1e-9:
                result.wrong.append(f"cast {k}: {hit.status}, but the balls touch at {times[first]}")
            continue
        result.hits += 1
        center = start + times[first] * way
        gaps = np.linalg.norm(centers - center, axis=1) - radii
        feet = center + (centers - center) * (gaps / (gaps + radii))[:, None]
        for name, normal in normals_of(gk.Sphere(radius), compound, hit, center):
            result.judge(f"cast {k}, {name}", normal, center, feet, gaps, 4.0)
    return result


def normals_of(ball: gk.Sphere, body: Any, hit: gk.Impact[float], center: Array) -> Iterator[tuple[str, Array]]:
    """Yield the normal of the impact, and those of the queries with the ball at the impact."""
    yield "impact", hit.normal
    yield "signed distance", gk.signed_distance(ball, body, naive.pose(None, center)).normal
    yield "distance", gk.distance(ball, body, naive.pose(None, center)).normal


def cast_at_mesh(rng: Rng, mesh: gk.Mesh, casts: int, result: Casts, name: str) -> None:
    """Cast balls of several sizes from outside at points near the surface of a mesh."""
    corners = mesh.vertices[mesh.faces]
    low, high = mesh.bounds
    middle, size = 0.5 * (low + high), float(np.linalg.norm(high - low))
    for k in range(casts):
        radius = size * rng.choice((0.003, 0.02, 0.1))
        start = middle + size * 1.5 * naive.unit_vectors(rng, 1)[0]
        aim = corners[rng.integers(len(corners))].T @ rng.dirichlet(np.ones(3))
        hit = gk.shapecast(gk.Sphere(radius), mesh, 2.0 * (aim - start), naive.pose(None, start))
        result.casts += 1
        if hit.status != gk.ImpactStatus.HIT:
            result.wrong.append(f"{name} {k}: {hit.status} of a cast at a point of the surface")
            continue
        result.hits += 1
        center = start + hit.free_until * 2.0 * (aim - start)
        feet = closest_points(center, corners)
        gaps = np.linalg.norm(feet - center, axis=1)
        if abs(gaps.min() - radius) > 1e-9 * size:
            result.wrong.append(f"{name} {k}: the gap is {gaps.min() - radius} at the impact")
        for query, normal in normals_of(gk.Sphere(radius), mesh, hit, center):
            result.judge(f"{name} {k}, {query}", normal, center, feet, gaps, size)


def cast_at_gearbox(rng: Rng, casts: int, parts: int | None = None) -> Casts:
    """Cast balls at each part of the gearbox, or at the first parts."""
    result = Casts()
    for part in gk.clash.Assembly.load(DATA / "gearbox.glb").parts[:parts]:
        cast_at_mesh(rng, part.mesh, casts, result, part.name)
    return result


def touch_level_fields(counts: Sequence[int], sides: Sequence[float]) -> Casts:
    """Put crates on level height fields at lattice points, where edges of crates lie on edges of columns."""
    result = Casts()
    for n, bottom, side in itertools.product(counts, (-np.inf, -2.0), sides):
        ground, crate = gk.HeightField(np.zeros((n, n)), 1.0, bottom=bottom), gk.Box((side, side, 1.0))
        for x, y in itertools.product(np.arange(side / 2, n - 1 - side / 2 + 0.01, 0.5), repeat=2):
            result.casts, result.hits = result.casts + 1, result.hits + 1
            normal = gk.signed_distance(ground, crate, None, naive.pose(None, (x, y, 0.5))).normal
            error = float(np.linalg.norm(normal - (0.0, 0.0, 1.0)))
            result.worst = max(result.worst, error)
            if error > ACCURATE:
                result.wrong.append(f"{n} posts, bottom {bottom}, side {side} at {x}, {y}: normal {normal}")
    return result


def main(given: list[str] | None = None) -> int:
    """Run all sweeps; return 1 if a normal is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.hardening.normals", description=__doc__)
    parser.add_argument("--balls", type=int, default=2000, help="casts at a compound of balls")
    parser.add_argument("--each", type=int, default=60, help="casts at each part of the gearbox")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(given)
    results = [
        cast_at_balls(np.random.default_rng(arguments.seed), arguments.balls),
        cast_at_gearbox(np.random.default_rng(arguments.seed), arguments.each),
        touch_level_fields((4, 8, 12, 16, 20, 24, 33), (0.5, 1.0, 3.0)),
    ]
    for name, result in zip(("compound of balls", "gearbox", "level height fields"), results, strict=True):
        print(f"{name}: {result}")
    return int(any(result.wrong for result in results))


if __name__ == "__main__":
    sys.exit(main())
