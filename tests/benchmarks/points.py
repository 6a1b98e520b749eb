"""``python -m tests.benchmarks.points``: signed distances of points from meshes, compared with four libraries.

The table has the CPU time on one core, the median over interleaved rounds. gjk3d takes float64 arrays and returns
distances with bounds, nearest points, gradients and faces. The other libraries take prepared arrays and return
distances only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

import gjk3d as gk

from .table_file import table_parser, write_table
from .timing import QUICK, Plan, Task, measure
from .triangle_peers import (
    bumpy_torus,
    igl_points,
    installed,
    meshlib_points,
    open3d_inside,
    open3d_points,
    use_one_core,
    warp_points,
)

PEERS = {"open3d": open3d_points, "warp": warp_points, "libigl": igl_points, "meshlib": meshlib_points}
WRONG = 1e-3  #: a library is struck out if a larger share of its distances has errors above 1e-4


def in_box(mesh: gk.Mesh, count: int) -> np.ndarray:
    """Return random points in the box of a mesh."""
    return np.random.default_rng(2).uniform(*mesh.bounds, (count, 3))


def near_surface(mesh: gk.Mesh, count: int) -> np.ndarray:
    """Return random points within about 0.01 of the surface."""
    rng = np.random.default_rng(3)
    corners = mesh.vertices[mesh.faces[rng.integers(0, len(mesh.faces), count)]]
    on_it = (corners * rng.dirichlet((1, 1, 1), count)[:, :, None]).sum(axis=1)
    return on_it + 0.01 * rng.normal(size=(count, 3))


def rows(triangles: int, count: int, plan: Plan) -> Iterator[str]:
    """Yield the rows of the table for a mesh."""
    mesh = bumpy_torus(triangles)
    for name, make in (("in the box", in_box), ("near the surface", near_surface)):
        points = make(mesh, count).astype(np.float32).astype(float)
        for query, ours, makers in (
            ("distance", lambda p=points: mesh.signed_distances(p).distance, PEERS),
            ("inside", lambda p=points: mesh.contains(p), {"open3d": open3d_inside}),
        ):
            peers = installed(makers, mesh, points)
            wrong = {who: _share_wrong(call(), ours()) for who, call in peers.items()}
            calls = {"gjk3d": ours, **peers}
            tasks = {who: Task(lambda _, c=call: c(), count, count, plan.batch_seconds) for who, call in calls.items()}
            times = {who: timing.median for who, timing in measure(tasks, plan).items()}
            best = min((times[who] for who in peers if wrong[who] <= WRONG), default=float("nan"))
            cells = [_cell(times, wrong, who) for who in ("gjk3d", *PEERS)]
            yield f"| {len(mesh.faces)} | {name} | {query} | {' | '.join(cells)} | {best / times['gjk3d']:.2f} |"


def _share_wrong(theirs: np.ndarray, ours: np.ndarray) -> float:
    off = theirs != ours if ours.dtype == bool else np.abs(theirs - ours) > 1e-4
    return float(off.mean())


def _cell(times: dict[str, float], wrong: dict[str, float], who: str) -> str:
    if who not in times:
        return ""
    text = f"{times[who]:.3f}"
    return text if wrong.get(who, 0.0) <= WRONG else f"~~{text}~~ {100 * wrong[who]:.2g} % wrong"


def main(given: list[str] | None = None) -> int:
    """Write the Markdown table."""
    parser = table_parser("tests.benchmarks.points", __doc__, 7)
    parser.add_argument("--triangles", type=int, nargs="+", default=[10**3, 10**4, 10**5])
    parser.add_argument("--points", type=int, default=10**5)
    parser.add_argument("--quick", action="store_true", help="to see that all works")
    arguments = parser.parse_args(given)
    if not arguments.quick:
        use_one_core()
    plan = QUICK if arguments.quick else Plan(arguments.rounds, 0.01, 0.02, 3.0)
    lines = [
        "# Points and meshes",
        "",
        "Written by `python -m tests.benchmarks.points --out tests/benchmarks/points.md`: us of CPU time a point, for",
        f"{arguments.points} points in one call on one core. The last column is how many times gjk3d is faster than",
        "the fastest library that is right.",
        "",
        f"| triangles | points | query | gjk3d | {' | '.join(PEERS)} | faster |",
        f"| ---: | --- | --- | ---: | {' | '.join(['---:'] * len(PEERS))} | ---: |",
    ]
    for triangles in arguments.triangles:
        for line in rows(triangles, arguments.points, plan):
            print(line, file=sys.stderr, flush=True)
            lines.append(line)
    write_table(lines, arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
