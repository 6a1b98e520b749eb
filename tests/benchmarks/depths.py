"""``python -m tests.benchmarks.depths``: time of depth, contact and penetration of bodies, and ratio of their bounds.

The first table has the CPU time of a call, the least of several, and the time of a pose in a stack of 16 equal poses.
The time of a contact does not include its depth. The second table has the first 16 overlapping poses of each mesh and
shape in single calls, median and slowest. No peer has these queries. The bounds are those of the depth, and
``least / most`` is 1 if it is exact. The third table compares the fast depth of the same poses with the boolean and
with the tight depth.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from scipy.spatial.transform import Rotation

import gjk3d as gk

from .bodies import bumpy, cloud, ground, guests, of_mesh, poses_about, voxels
from .table_file import table_parser, write_table

sys.path.insert(0, str(Path(__file__).parents[1] / "bodies"))
import assembled_parts

Case = tuple[str, Any, Any, np.ndarray]
_STACK = 16  #: poses of a stack


def pose_at(place: Any, seed: int) -> np.ndarray:
    """Return a pose with a random rotation at a position."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = Rotation.random(random_state=seed).as_matrix(), place
    return pose


def cases(largest: int) -> Iterator[Case]:
    """Yield intersecting meshes, assembled parts, and other bodies with shapes in their surface."""
    for count in (10**3, 10**4, 10**5):
        if count <= largest:
            mesh = gk.Mesh(*(lambda model: (model.vertices, model.faces))(bumpy(count)))
            for seed, far in ((2, 1.8), (3, 1.2), (4, 0.3)):
                yield f"two meshes of {count}, {far} apart", mesh, mesh, pose_at((far, 0.0, 0.0), seed)
    torus = of_mesh("torus of 256", trimesh.creation.torus(1.0, 0.3, major_sections=16, minor_sections=8))
    meshes = [of_mesh(f"mesh of {count}", bumpy(count)) for count in (10**3, 10**4, 10**5) if count <= largest]
    for host in (torus, *meshes):
        for guest in guests(0.3):
            poses = poses_about(host, guest)
            hit = int(gk.collide(host.ours, guest.ours, None, poses).argmax())
            yield f"{host.name}, {guest.name}", host.ours, guest.ours, poses[hit]
    yield "two tori of 256", torus.ours, torus.ours, pose_at((1.2, 0.3, 0.2), 5)
    for fit in assembled_parts.fits():
        yield fit.name, fit.a, fit.b, fit.pose
    box, hull = gk.Box((0.6, 0.5, 0.7)), gk.ConvexHull(0.2 * np.random.default_rng(5).normal(size=(32, 3)))
    arm = gk.Compound([(gk.Box((0.5, 0.1, 0.1)), None), (gk.Sphere(0.12), pose_at((0.25, 0.0, 0.0), 1))])
    for host, place in ((ground(), (0.2, 0.1, 0.05)), (voxels(24), (0.3, 0.1, 0.2)), (cloud(10**4), (0.9, 0.3, 0.3))):
        for name, guest in (("box", box), ("hull of 32", hull), ("compound of 2", arm)):
            yield f"{host.name}, {name}", host.ours, guest, pose_at(place, 1)


def many_poses(largest: int) -> Iterator[tuple[str, Any, Any, np.ndarray]]:
    """Yield meshes and shapes with their first overlapping poses."""
    torus = of_mesh("torus of 256", trimesh.creation.torus(1.0, 0.3, major_sections=16, minor_sections=8))
    meshes = [of_mesh(f"mesh of {count}", bumpy(count)) for count in (10**3, 10**4, 10**5) if count <= largest]
    for host in (torus, *meshes):
        for guest in guests(0.3):
            poses = poses_about(host, guest)
            hit = np.flatnonzero(gk.collide(host.ours, guest.ours, None, poses))[:_STACK]
            yield f"{host.name}, {guest.name}", host.ours, guest.ours, poses[hit]


def pairs_of_meshes(largest: int) -> Iterator[tuple[str, Any, Any, np.ndarray]]:
    """Yield two meshes with their first overlapping poses."""
    for count in (10**2, 1400, 2 * 10**4):
        if count <= largest:
            model = bumpy(count)
            a, b = gk.Mesh(model.vertices, model.faces), gk.Mesh(0.4 * model.vertices, model.faces)
            rng = np.random.default_rng(3)
            poses = np.stack([pose_at(rng.uniform(-1.3, 1.3, 3), seed) for seed in range(64)])
            yield f"two meshes of {count}", a, b, poses[gk.collide(a, b, None, poses)][:_STACK]


def row_of_many(case: Case, rounds: int) -> str:
    """Return a row of the second table."""
    name, a, b, poses = case
    timings = [timed(lambda p=p: gk.signed_distance(a, b, None, p), rounds) for p in poses]
    spent, tight = [t for t, _ in timings], [f.upper / f.lower for _, f in timings]
    stacked, _ = timed(lambda: gk.signed_distance(a, b, None, poses), rounds)
    cells = (np.median(spent), max(spent), stacked / len(poses))
    return f"| {name} | {' | '.join(f'{t:.2g}' for t in cells)} | {np.median(tight):.3f} | {min(tight):.3f} |"


def row_of_fast(case: Case, rounds: int) -> str:
    """Return a row of the third table: median times of single calls in µs, and ratios of fast to tight depths."""
    name, a, b, poses = case

    def spent(query: Callable[[Any], Any]) -> float:
        return float(np.median([timed(lambda p=p: [query(p) for _ in range(20)], rounds)[0] for p in poses]) / 20)

    boolean = spent(lambda p: gk.collide(a, b, None, p))
    fast = spent(lambda p: gk.signed_distance(a, b, None, p, depth="fast"))
    result, tight = (gk.signed_distance(a, b, None, poses, depth=depth) for depth in ("fast", "tight"))
    longer = result.depth / tight.depth
    cells = (1e3 * boolean, 1e3 * fast, fast / boolean, np.median(longer), np.quantile(longer, 0.9))
    return f"| {name} | {' | '.join(f'{x:.3g}' for x in cells)} | {np.median(result.upper / result.lower):.3f} |"


def timed(query: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Return the least CPU time in ms, and the result."""
    best, answer = np.inf, query()
    for _ in range(rounds):
        start = time.process_time()
        answer = query()
        best = min(best, time.process_time() - start)
    return 1e3 * best, answer


def row(case: Case, rounds: int) -> str:
    """Return a row of the first table."""
    name, a, b, pose = case
    stack = np.repeat(pose[None], _STACK, axis=0)
    spent, result = timed(lambda: gk.signed_distance(a, b, None, pose), rounds)
    stacked, _ = timed(lambda: gk.signed_distance(a, b, None, stack), rounds)
    touched, _ = timed(lambda: gk.contact(a, b, None, pose), rounds)
    stacked_contact, _ = timed(lambda: gk.contact(a, b, None, stack), rounds)
    cells = [
        f"{spent:.2g}",
        f"{stacked / _STACK:.2g}",
        f"{touched:.2g}",
        f"{stacked_contact / _STACK:.2g}",
        f"{-result.upper:.5g}",
        f"{-result.lower:.5g}",
        f"{result.upper / result.lower:.3f}",
        "",
        "",
        "",
    ]
    try:
        spent, inside = timed(lambda: gk.penetration(a, b, None, pose), rounds)
        cells[-3:] = f"{spent:.1f}", f"{inside.lower:.5g}", f"{inside.upper:.5g}"
    except gk.errors.UnsupportedPair:
        pass  # penetration needs closed surfaces
    return f"| {name} | {' | '.join(cells)} |"


def main(given: list[str] | None = None) -> int:
    """Write the Markdown tables."""
    parser = table_parser("tests.benchmarks.depths", __doc__, 5)
    parser.add_argument("--largest", type=int, default=10**4, help="triangles of a mesh, up to a hundred thousand")
    arguments = parser.parse_args(given)
    lines = [
        "# Depth and penetration of bodies",
        "",
        "Written by `python -m tests.benchmarks.depths --out FILE`: ms of CPU time a call.",
        "",
        "| which | depth, ms | in a stack | contact, ms | in a stack | least | most | least / most | penetration, ms |"
        " least | most |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for case in cases(arguments.largest):
        lines.append(row(case, arguments.rounds))
        print(lines[-1], file=sys.stderr, flush=True)
    lines += [
        "",
        "| the first 16 poses that overlap | median, ms | slowest | in a stack | least / most, median | least |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for case in many_poses(arguments.largest):
        lines.append(row_of_many(case, arguments.rounds))
        print(lines[-1], file=sys.stderr, flush=True)
    lines += [
        "",
        "| the first 16 poses that overlap | boolean, us | fast depth, us | ratio | fast / tight, median | 90 % |"
        " least / most, median |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for case in (*many_poses(arguments.largest), *pairs_of_meshes(arguments.largest)):
        lines.append(row_of_fast(case, arguments.rounds))
        print(lines[-1], file=sys.stderr, flush=True)
    write_table(lines, arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
