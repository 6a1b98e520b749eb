"""``python -m tests.benchmarks.beyond``: contacts, times of impact, rays and hulls, compared with peers that have them.

The table has the CPU time of a query, the median over interleaved rounds. python-fcl's conservative advancement runs on
its `Convex` and on its `BVHModel`. A time of impact is wrong if its error exceeds 1e-3 of the motion.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import gjk3d as gk

from .table_file import table_parser, write_table

HULL = 130_000  #: number of points of a hull
Task = tuple[str, int, Callable[[], Any]]


def sphere_points(rng: np.random.Generator, count: int) -> np.ndarray:
    """Return random points on the unit sphere, all of which are vertices of their hull."""
    points = rng.normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def medians(tasks: list[Task], rounds: int) -> dict[str, float]:
    """Return the microseconds of CPU time of a query for each task, the median over interleaved rounds."""
    spent: dict[str, list[float]] = {name: [] for name, _, _ in tasks}
    for _, _, task in tasks:
        task()
    for _ in range(rounds):
        for name, count, task in tasks:
            start = time.process_time()
            task()
            spent[name].append((time.process_time() - start) / count * 1e6)
    return {name: float(np.median(times)) for name, times in spent.items()}


def contacts(rng: np.random.Generator, rounds: int) -> list[str]:
    """Return the rows for contacts of two boxes, face on face and at random poses."""
    a, b, count = gk.Box((1, 1, 1)), gk.Box((1, 0.8, 0.6)), 20_000
    lines = []
    for what in ("face on face", "random"):
        poses = np.tile(np.eye(4), (count, 1, 1))
        turns = Rotation.random(count, random_state=1)
        if what == "face on face":
            turns = Rotation.from_rotvec(np.outer(rng.uniform(-3, 3, count), (0, 0, 1)))
            poses[:, :3, 3] = np.column_stack([rng.uniform(-0.5, 0.5, (count, 2)), np.full(count, 0.79)])
        else:
            poses[:, :3, 3] = rng.uniform(-0.7, 0.7, (count, 3))
        poses[:, :3, :3] = turns.as_matrix()
        times = medians(
            [
                ("distance", count, lambda p=poses: gk.signed_distance(a, b, None, p)),
                ("contact", count, lambda p=poses: gk.contact(a, b, None, p)),
                ("coal", 2_000, coal_patches(poses[:2_000])),
            ],
            rounds,
        )
        ratio = times["contact"] / times["distance"]
        lines.append(
            f"| contact of two boxes, {what} | {times['contact']:.2f} | signed_distance | {ratio:.1f} x its cost |"
        )
        lines.append(f"| the same | {times['contact']:.2f} | coal, collide and contact patch | {times['coal']:.2f} |")
    return lines


def coal_patches(poses: np.ndarray) -> Callable[[], None]:
    """Return a loop that computes coal's contact patches of the same boxes, with prepared objects."""
    import coal

    a, b, still = coal.Box(1, 1, 1), coal.Box(1, 0.8, 0.6), coal.Transform3s()
    transforms = [coal.Transform3s(p[:3, :3].copy(), p[:3, 3].copy()) for p in poses]
    request, wanted = coal.CollisionRequest(), coal.ContactPatchRequest()
    request.enable_contact = True
    collisions, patches = coal.CollisionResult(), coal.ContactPatchResult()

    def run() -> None:
        for at in transforms:
            collisions.clear()
            if coal.collide(a, still, b, at, request, collisions):
                patches.clear()
                coal.computeContactPatch(a, still, b, at, collisions, wanted, patches)

    return run


def impacts(rng: np.random.Generator, rounds: int) -> list[str]:
    """Return the rows for times of impact of a moving hull and a fixed hull, single and stacked."""
    return [line for size in (32, 1000) for line in _impacts(rng, rounds, size)]


def _impacts(rng: np.random.Generator, rounds: int, size: int) -> list[str]:
    import trimesh

    hulls = [trimesh.convex.convex_hull(sphere_points(rng, size)) for _ in range(2)]
    a, b = (gk.ConvexHull(hull.vertices) for hull in hulls)
    start = np.eye(4)
    start[0, 3] = -3.0
    motion = gk.Motion(start, (6, 0.3, 0), (0, 0, 1))
    truth = float(gk.time_of_impact(a, b, motion).time[1])
    many, count = gk.Motion(np.tile(start, (500, 1, 1)), (6, 0.3, 0), rng.normal(size=(500, 3))), 20
    convex, mesh = (Advancement(kind, hulls, motion) for kind in (_convex, _mesh))
    times = medians(
        [
            ("one", count, lambda: [gk.time_of_impact(a, b, motion) for _ in range(count)]),
            ("stack", 500, lambda: gk.time_of_impact(a, b, many)),
            ("convex", count, lambda: [convex.solve() for _ in range(count)]),
            ("mesh", count, lambda: [mesh.solve() for _ in range(count)]),
        ],
        rounds,
    )
    lines = []
    for name, peer, result in (("convex", "Convex", convex.solve()), ("mesh", "BVHModel", mesh.solve())):
        verdict = "right" if abs(result - truth) < 1e-3 else f"wrong: {result:.4f} for {truth:.4f}"
        lines.append(
            f"| impact of hulls of {size} vertices, one / in a stack | {times['one']:.1f} / {times['stack']:.1f} "
            f"| python-fcl {peer}, {times[name]:.1f}, {verdict} "
            f"| {times[name] / times['one']:.1f} / {times[name] / times['stack']:.1f} x faster |"
        )
    return lines


class Advancement:
    """python-fcl's conservative advancement of the same motion, with prepared objects."""

    def __init__(self, kind: Callable[[Any], Any], hulls: list[Any], motion: gk.Motion) -> None:
        import fcl

        start, last, still = (fcl.Transform(m[:3, :3], m[:3, 3]) for m in (motion.at(0.0), motion.at(1.0), np.eye(4)))
        self.last, self.still = last, still
        self.one, self.two = (fcl.CollisionObject(kind(h), t) for h, t in zip(hulls, (start, still), strict=True))
        self.request = fcl.ContinuousCollisionRequest(
            num_max_iterations=100, toc_err=1e-6, ccd_solver_type=fcl.CCDSolverType.CCDC_CONSERVATIVE_ADVANCEMENT
        )
        self.fcl = fcl

    def solve(self) -> float:
        """Return the computed time of impact."""
        result = self.fcl.ContinuousCollisionResult()
        return float(self.fcl.continuousCollide(self.one, self.last, self.two, self.still, self.request, result))


def _convex(hull: Any) -> Any:
    import fcl

    faces = np.concatenate([np.full((len(hull.faces), 1), 3), hull.faces], axis=1).ravel()
    return fcl.Convex(hull.vertices, len(hull.faces), faces)


def _mesh(hull: Any) -> Any:
    import fcl

    model = fcl.BVHModel()
    model.beginModel(len(hull.vertices), len(hull.faces))
    model.addSubModel(hull.vertices, hull.faces)
    model.endModel()
    return model


def rays(rng: np.random.Generator, rounds: int) -> list[str]:
    """Return the rows for stacks of rays, about half of which hit."""
    count = 200_000
    origins = sphere_points(rng, count) * 3
    directions = -origins + rng.normal(size=(count, 3)) * 0.8
    shapes = {"a box": gk.Box((1, 1, 1)), "a sphere": gk.Sphere(1), "a cylinder": gk.Cylinder(0.5, 1)}
    shapes["a hull of 100 vertices"] = gk.ConvexHull(sphere_points(rng, 100))
    tasks = [(name, count, lambda s=shape: gk.raycast(s, origins, directions)) for name, shape in shapes.items()]
    times = medians(tasks, rounds)
    return [f"| rays against {name} | {us:.2f} | | {1 / us:.1f} million a second |" for name, us in times.items()]


def hulls(rng: np.random.Generator, rounds: int) -> list[str]:
    """Return the rows for hulls of many points with a first distance, compared with Qhull on the same points."""
    unit = sphere_points(rng, HULL)
    side = round(np.sqrt(HULL))
    turn, polar = 2 * np.pi * np.arange(side) / side, np.linspace(0, np.pi, side + 2)[1:-1, None]
    latitudes = np.stack(np.broadcast_arrays(np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)))
    caps = unit[: HULL // 2] * (1, 1, 0) + (0, 0, 1)
    clouds = {
        "on a sphere": unit,
        "in a ball": unit * rng.random((HULL, 1)) ** (1 / 3),
        "on latitudes": latitudes.reshape(3, -1).T,
        "on a tin": np.vstack([caps, -caps, *(latitudes[:, side // 2].T * (1, 1, 0) + (0, 0, z) for z in (-1, 1))]),
    }
    box, pose = gk.Box((1, 1, 1)), np.eye(4)
    pose[:3, 3] = 3, 1, 2
    lines = []
    for name, points in clouds.items():
        times = medians(
            [
                ("gjk3d", 1, lambda p=points: gk.distance(gk.ConvexHull(p), box, None, pose)),
                ("Qhull", 1, lambda p=points: ConvexHull(p)),
            ],
            min(rounds, 3),
        )
        title = f"a hull of {len(points)} points {name}, and its first distance"
        lines.append(f"| {title} | {times['gjk3d']:.0f} | scipy's hull alone {times['Qhull']:.0f} | |")
    return lines


def main(given: list[str] | None = None) -> int:
    """Write the table."""
    parser = table_parser("tests.benchmarks.beyond", __doc__, 15)
    arguments = parser.parse_args(given)
    rng = np.random.default_rng(0)
    lines = ["| question | CPU us | beside | |", "| --- | ---: | --- | ---: |"]
    for part in (contacts, impacts, rays, hulls):
        lines += part(rng, arguments.rounds)
        print(f"{part.__name__} measured", file=sys.stderr)
    write_table(lines, arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
