"""``python -m tests.benchmarks.clash``: an assembly of 2 000 parts, 1 million triangles, about 5 000 close pairs.

Rings, nuts and balls of about 500 triangles each stand with random rotations on a lattice. Neighbours intersect, come
within the clearance or are farther away. `gjk3d.clash.check` returns the kind and the depth or distance of each pair.
The manager of trimesh, which uses python-fcl, returns the pairs whose surfaces intersect. The table has the CPU time,
the wall time, both with the trees and hulls, and the results. The run stops if the results of the two disagree.

With ``--findings`` it measures memory instead: cubes on a lattice, each close to 26 others, written as JSON lines.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import trimesh
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.clash import Assembly, Report, check
from gjk3d.clash.formats import LineWriter

GRID = (10, 10, 20)
SPACING = 1.98  #: puts the boxes of about 5 000 pairs within the clearance
CLEARANCE = 0.05


def assembly(grid: tuple[int, int, int] = GRID, seed: int = 11) -> dict[str, trimesh.Trimesh]:
    """Return the parts by name, a third each of rings, nuts and balls."""
    rng = np.random.default_rng(seed)
    kinds = {
        "ring": trimesh.creation.torus(0.8, 0.25, major_sections=26, minor_sections=10),
        "nut": trimesh.creation.annulus(0.4, 1.0, 0.8, sections=62),
        "ball": trimesh.creation.uv_sphere(1.0, count=(12, 12)),
    }
    places = np.stack(np.meshgrid(*map(np.arange, grid), indexing="ij"), axis=-1).reshape(-1, 3)
    turns = Rotation.random(len(places), random_state=seed)
    parts = {}
    for k, place in enumerate(places):
        name = list(kinds)[rng.integers(3)]
        mesh = kinds[name].copy()
        points = turns[k].apply(mesh.vertices) * rng.uniform(0.85, 1.1) + SPACING * place
        parts[f"{name} {k}"] = trimesh.Trimesh(points + rng.uniform(-0.1, 0.1, 3), mesh.faces, process=False)
    return parts


def by_gjk3d(parts: dict[str, trimesh.Trimesh], workers: int) -> Report:
    """Return the report of `gjk3d clash`, without reading and writing files."""
    meshes = {name: gk.Mesh(mesh.vertices, mesh.faces) for name, mesh in parts.items()}
    return check(Assembly.of(meshes, "mm"), CLEARANCE, workers=workers)


def by_trimesh(parts: dict[str, trimesh.Trimesh]) -> set[tuple[str, str]]:
    """Return the pairs whose surfaces intersect, as a script with trimesh and python-fcl computes them."""
    manager = trimesh.collision.CollisionManager()
    for name, mesh in parts.items():
        manager.add_object(name, mesh)
    _, names = manager.in_collision_internal(return_names=True)
    return {(min(pair), max(pair)) for pair in names}


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return the result, the CPU time and the wall time of a call."""
    cpu, wall = time.process_time(), time.perf_counter()
    answer = work()
    return answer, time.process_time() - cpu, time.perf_counter() - wall


def compare(grid: tuple[int, int, int]) -> None:
    """Print the Markdown table."""
    by_gjk3d(assembly((2, 2, 2)), 1)  # compiles
    parts = assembly(grid)
    (report, *cost), (report_of_two, *cost_of_two) = (timed(lambda w=w: by_gjk3d(parts, w)) for w in (1, 2))
    meeting, *cost_of_trimesh = timed(lambda: by_trimesh(parts))
    assert report.clashes == report_of_two.clashes
    hit = {(min(c.a, c.b), max(c.a, c.b)) for c in report.clashes if c.kind == "hard"}
    inside = {(min(c.a, c.b), max(c.a, c.b)) for c in report.clashes if c.kind == "contained"}
    assert meeting <= hit | inside, sorted(meeting - hit - inside)[:5]
    assert not hit - meeting, sorted(hit - meeting)[:5]
    triangles = sum(len(mesh.faces) for mesh in parts.values())
    print(f"{len(parts)} parts, {triangles} triangles, {report.pairs_close} pairs of boxes within the clearance\n")
    print("| | CPU time | wall time | says |")
    print("| --- | --- | --- | --- |")
    says = ", ".join(f"{count} {kind}" for kind, count in report.counts.items() if count)
    for name, (cpu, wall) in (("gjk3d clash", cost), ("gjk3d clash, 2 workers", cost_of_two)):
        print(f"| {name} | {cpu:.1f} s | {wall:.1f} s | {says} |")
    cpu, wall = cost_of_trimesh
    print(f"| trimesh CollisionManager, python-fcl | {cpu:.1f} s | {wall:.1f} s | {len(meeting)} pairs meet |")


def stream(side: int, path: str) -> None:
    """Print the peak of memory of a check that writes its many findings one by one."""
    surface = gk.Box((1.0, 1.0, 1.0)).surface()
    places = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    parts = {f"cube {k}": gk.Mesh(surface.vertices + 1.01 * place, surface.faces) for k, place in enumerate(places)}
    check(Assembly.of(dict(list(parts.items())[:2]), "mm"), 0.05)  # compiles
    peaks: list[float] = []

    def progress(stage: str, done: int, total: int, found: int) -> None:
        if stage == "pairs" and not peaks:
            peaks.append(_peak())

    with open(path, "w", encoding="utf-8") as file:
        writer = LineWriter(file)
        report = check(Assembly.of(parts, "mm"), 0.05, keep=0, found=writer.clash, progress=progress)
        writer.close(report)
    print(
        f"{report.total} findings among {len(parts)} parts, {os.path.getsize(path) / 1e6:.0f} MB of lines: peak"
        f" {_peak():.0f} MB, of which {peaks[0]:.0f} MB before the first pair"
    )


def _peak() -> float:
    """Return the peak of resident memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def main(given: list[str] | None = None) -> int:
    """Run the benchmark that the command line selects."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.clash", description=__doc__)
    parser.add_argument("--grid", type=int, nargs=3, default=GRID, metavar="N", help="parts along x, y, z")
    parser.add_argument("--findings", metavar="FILE", help="measure memory; write the findings there")
    parser.add_argument("--side", type=int, default=21, help="cubes along each side, with --findings")
    arguments = parser.parse_args(given)
    if arguments.findings:
        stream(arguments.side, arguments.findings)
    else:
        compare(tuple(arguments.grid))
    return 0


if __name__ == "__main__":
    sys.exit(main())
