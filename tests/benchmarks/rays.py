"""``python -m tests.benchmarks.rays``: rays at meshes, compared with Embree and Open3D.

The table has the CPU time on one core, the median over interleaved rounds. gjk3d takes float64 arrays and returns
distances, points, normals, faces and whether a ray begins inside. The other libraries take prepared float32 arrays with
unit directions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

import gjk3d as gk

from .table_file import table_parser, write_table
from .timing import QUICK, Plan, Task, measure
from .triangle_peers import bumpy_torus, embree_rays, installed, open3d_rays, use_one_core

PEERS = {"embreex": embree_rays, "open3d": open3d_rays}


def scattered(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rays from a sphere to random points of the box of the torus."""
    rng = np.random.default_rng(1)
    origins = rng.normal(size=(count, 3))
    origins *= 3.0 / np.linalg.norm(origins, axis=1)[:, None]
    return origins, rng.uniform(-1, 1, (count, 3)) * (1.4, 1.4, 0.4) - origins


def camera(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rays of an image."""
    side = int(count**0.5)
    x, y = np.meshgrid(np.linspace(-1.4, 1.4, side), np.linspace(-1.4, 1.4, side), indexing="ij")
    origins = np.tile((0.3, -0.4, 4.0), (side * side, 1))
    return origins, np.stack([x, y, 0 * x], -1).reshape(-1, 3) - origins


def rows(triangles: int, count: int, plan: Plan) -> Iterator[str]:
    """Yield the rows of the table for a mesh."""
    mesh = bumpy_torus(triangles)
    for name, make in (("scattered", scattered), ("camera", camera)):
        origins, directions = make(count)
        units = directions / np.linalg.norm(directions, axis=1)[:, None]
        peers = installed(PEERS, mesh, origins, units)
        ours = gk.raycast(mesh, origins, directions)
        for peer, call in peers.items():
            theirs = call()
            # float32 misses a few rays at the rim of the mesh
            same = np.isfinite(theirs) == ours.hit
            common = same & ours.hit
            assert same.mean() > 0.999, peer
            assert np.quantile(np.abs(theirs[common] - ours.distance[common]), 0.999) < 1e-4, peer
        calls = {"gjk3d": lambda o=origins, d=directions: gk.raycast(mesh, o, d), **peers}
        n = len(origins)
        tasks = {who: Task(lambda _, c=call: c(), n, n, plan.batch_seconds) for who, call in calls.items()}
        times = {who: timing.median for who, timing in measure(tasks, plan).items()}
        best = min((times[peer] for peer in peers), default=float("nan"))
        cells = [f"{times[who]:.3f}" if who in times else "" for who in ("gjk3d", *PEERS)]
        yield f"| {len(mesh.faces)} | {name} | {' | '.join(cells)} | {times['gjk3d'] / best:.2f} |"


def main(given: list[str] | None = None) -> int:
    """Write the Markdown table."""
    parser = table_parser("tests.benchmarks.rays", __doc__, 9)
    parser.add_argument("--triangles", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--rays", type=int, default=10**5)
    parser.add_argument("--quick", action="store_true", help="to see that all works")
    arguments = parser.parse_args(given)
    if not arguments.quick:
        use_one_core()
    plan = QUICK if arguments.quick else Plan(arguments.rounds, 0.01, 0.02, 3.0)
    lines = [
        "# Rays at meshes",
        "",
        "Written by `python -m tests.benchmarks.rays --out tests/benchmarks/rays.md`: us of CPU time a ray, for",
        f"{arguments.rays} rays in one call on one core. The ratio is gjk3d to the fastest other library.",
        "",
        f"| triangles | rays | gjk3d | {' | '.join(PEERS)} | ratio |",
        f"| ---: | --- | ---: | {' | '.join(['---:'] * len(PEERS))} | ---: |",
    ]
    for triangles in arguments.triangles:
        for line in rows(triangles, arguments.rays, plan):
            print(line, file=sys.stderr, flush=True)
            lines.append(line)
    write_table(lines, arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
