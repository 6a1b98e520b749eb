"""``python -m tests.benchmarks.copies``: assemblies of up to 100 000 parts, most of which are copies.

Racks of ten parts (a plate with bolts, nuts, washers and pins through it) stand with random rotations on a lattice. A
ball that has no copy lies on every twentieth rack. `gjk3d.clash.check` takes shapes and poses, and returns the kind and
the depth or distance of each pair. `gjk3d.Scene` and python-fcl take the same parts, and return the pairs that collide.
With ``--cluster`` two processes of Dask decide the pairs. The table has the CPU time of all processes, the wall time,
and the peak memory of the calling process.

Each row runs in its own process. ``--stages`` prints the CPU time of the stages of a check instead, by the clocks of
their threads, and the cost of reading the findings. ``--bare`` prints the time of the libraries alone.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack
from typing import Any
from unittest import mock

import numpy as np
import trimesh
from scipy.spatial.transform import Rotation

SPACING, CLEARANCE = 9.0, 0.02


def shapes() -> dict[str, trimesh.Trimesh]:
    """Return the shapes that have copies, of about 300 triangles each."""
    return {
        "bolt": trimesh.creation.cylinder(0.4, 3.0, sections=75),
        "nut": trimesh.creation.annulus(0.39, 0.8, 0.5, sections=38),
        "washer": trimesh.creation.annulus(0.45, 0.9, 0.1, sections=38),
        "plate": trimesh.creation.box((8.0, 2.5, 1.0)).subdivide().subdivide(),
    }


#: The parts of a rack and their positions: a plate with three bolts, each with a washer and an intersecting nut.
RACK = [("plate", (0.0, 0.0, 0.0))] + [
    (name, (x, 0.0, z)) for x in (-2.5, 0.0, 2.5) for name, z in (("bolt", 0.6), ("washer", 0.56), ("nut", 0.9))
]


def assembly(racks: int) -> tuple[dict[str, trimesh.Trimesh], list[tuple[str, str, Any]]]:
    """Return the shapes, and the name, shape and pose of each part."""
    rng = np.random.default_rng(2)
    kinds = shapes()
    side = int(np.ceil(racks ** (1 / 3)))
    parts = []
    for k in range(racks):
        pose = np.eye(4)
        pose[:3, :3] = Rotation.from_rotvec((0.0, 0.0, rng.uniform(0, 6))).as_matrix()
        pose[:3, 3] = SPACING * np.array((k % side, k // side % side, k // side**2))
        for n, (name, place) in enumerate(RACK):
            at = pose.copy()
            at[:3, 3] += pose[:3, :3] @ place
            parts.append((f"rack {k}/{name} {n}", name, at))
        if k % 20 == 0:
            ball = trimesh.creation.uv_sphere(rng.uniform(0.4, 0.6), count=(14, 12))
            ball.vertices *= rng.uniform(0.9, 1.1, (len(ball.vertices), 1))
            kinds[f"ball {k}"] = ball
            at = pose.copy()
            at[:3, 3] += pose[:3, :3] @ (1.25, 0.8, 0.9)
            parts.append((f"rack {k}/ball", f"ball {k}", at))
    return kinds, parts


def made(racks: int) -> Any:
    """Return the assembly as the argument of `gjk3d.clash.check`."""
    import gjk3d as gk

    kinds, parts = assembly(racks)
    meshes = {name: gk.Mesh(mesh.vertices, mesh.faces) for name, mesh in kinds.items()}
    return gk.clash.Assembly.of({name: (meshes[shape], pose) for name, shape, pose in parts}, "mm")


def by_gjk3d(racks: int, cluster: bool) -> dict[str, Any]:
    """Return the cost and the results of a check."""
    import gjk3d as gk

    gk.clash.check(made(20), CLEARANCE)  # loads all modules and compiled code
    before = _peak()
    parts = made(racks)

    def check(client: Any) -> dict[str, Any]:
        cpu, started, wall = time.process_time(), _workers(client), time.perf_counter()
        report = gk.clash.check(parts, CLEARANCE, executor=client)
        says = ", ".join(f"{count} {kind}" for kind, count in report.counts.items() if count)
        return {
            "wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "workers": _spent(client, started),
            "memory": _peak(), "before": before, "parts": len(report.parts),
            "triangles": sum(part.triangles for part in report.parts),
            "says": f"{says}; {report.decisions} decisions for {report.pairs_close} pairs",
        }  # fmt: skip

    if not cluster:
        return check(None)
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as processes,
        Client(processes) as client,
    ):
        gk.clash.check(made(20), CLEARANCE, executor=client)
        return check(client)


def by_scene(racks: int) -> dict[str, Any]:
    """Return the cost of booleans alone: a scene with all parts, and the pairs that collide."""
    import gjk3d as gk

    def made(count: int) -> tuple[Any, list[tuple[str, str, Any]]]:
        kinds, parts = assembly(count)
        return {name: gk.Mesh(mesh.vertices, mesh.faces) for name, mesh in kinds.items()}, parts

    def meeting(meshes: Any, parts: Any) -> int:
        scene = gk.Scene()
        for name, shape, pose in parts:
            scene.add(name, meshes[shape], pose)
        return len(scene.collisions())

    meeting(*made(20))  # loads all modules and compiled code
    meshes, parts = made(racks)
    before = _peak()
    cpu, wall = time.process_time(), time.perf_counter()
    pairs = meeting(meshes, parts)
    return {
        "cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall, "memory": _peak(), "before": before,
        "parts": len(parts), "triangles": sum(len(meshes[s].faces) for _, s, _ in parts),
        "says": f"{pairs} pairs intersect",
    }  # fmt: skip


def by_trimesh(racks: int) -> dict[str, Any]:
    """Return the cost of a script with trimesh's manager over python-fcl, which builds a tree for each part."""
    kinds, parts = assembly(racks)
    before = _peak()
    cpu, wall = time.process_time(), time.perf_counter()
    manager = trimesh.collision.CollisionManager()
    for name, shape, pose in parts:
        manager.add_object(name, kinds[shape], pose)
    _, names = manager.in_collision_internal(return_names=True)
    return {
        "cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall, "memory": _peak(), "before": before,
        "parts": len(parts), "triangles": sum(len(kinds[s].faces) for _, s, _ in parts),
        "says": f"{len(names)} pairs intersect",
    }  # fmt: skip


def by_fcl(racks: int) -> dict[str, Any]:
    """Return the cost of booleans alone: trees, the manager, and a query of every pair whose boxes overlap."""
    import fcl

    kinds, parts = assembly(racks)
    before = _peak()
    cpu, wall = time.process_time(), time.perf_counter()
    models = {}
    for name, mesh in kinds.items():
        models[name] = fcl.BVHModel()
        models[name].beginModel(len(mesh.vertices), len(mesh.faces))
        models[name].addSubModel(mesh.vertices, mesh.faces)
        models[name].endModel()
    objects = [fcl.CollisionObject(models[s], fcl.Transform(p[:3, :3], p[:3, 3])) for _, s, p in parts]
    manager = fcl.DynamicAABBTreeCollisionManager()
    manager.registerObjects(objects)
    manager.setup()
    meeting = [0]

    def test(a: Any, b: Any, data: Any) -> bool:
        meeting[0] += fcl.collide(a, b, fcl.CollisionRequest(), fcl.CollisionResult()) > 0
        return False

    manager.collide(None, test)
    return {
        "cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall, "memory": _peak(), "before": before,
        "parts": len(parts), "triangles": sum(len(kinds[s].faces) for _, s, _ in parts),
        "says": f"{meeting[0]} pairs intersect",
    }  # fmt: skip


def stages(racks: int) -> list[tuple[str, float]]:
    """Return the stages of a check with their CPU times. A nested stage does not count in the outer stage."""
    import gjk3d as gk
    from gjk3d.clash.detection import decider, run
    from gjk3d.clash.detection.decider import Decisions

    patched = {
        "parts put in order": (run.Run, "__init__"),
        "pairs whose boxes are close": (run, "boxes_close"),
        "pairs that stand alike": (run, "alike"),
        "hulls of shapes": (gk.Mesh, "hull"),
        "distances of hulls": (Decisions, "hulls"),
        "volumes shared": (decider.Decider, "_overlap"),
        "depths": (decider, "depth"),
        "other decisions": (Decisions, "decide"),
        "findings placed": (run.Run, "_clashes"),
        "findings ranked and grouped, parts listed": (run, "_report"),
    }
    gk.clash.check(made(20), CLEARANCE)  # loads all modules and compiled code
    parts, spent = made(racks), Counter[str]()
    within = threading.local()

    def clocked(stage: str, work: Any) -> Any:
        @functools.wraps(work)
        def call(*given: Any, **more: Any) -> Any:
            outer, within.inner, start = getattr(within, "inner", 0.0), 0.0, time.thread_time()
            try:
                return work(*given, **more)
            finally:
                took = time.thread_time() - start
                spent[stage] += took - within.inner
                within.inner = outer + took

        return call

    with ExitStack() as stack:
        for stage, (home, name) in patched.items():
            stack.enter_context(mock.patch.object(home, name, clocked(stage, getattr(home, name))))
        start = time.process_time()
        report = gk.clash.check(parts, CLEARANCE)
        total = time.process_time() - start
    rows = [(stage, spent[stage]) for stage in patched]
    rows += [("all else: threads, one pair after the other", total - sum(spent.values())), ("the check", total)]
    for what, read in (("every finding read", lambda: [*report.clashes]), ("every part read", lambda: [*report.parts])):
        start = time.process_time()
        read()
        rows.append((f"besides: {what}", time.process_time() - start))
    return rows


def bare(racks: int) -> list[tuple[str, float]]:
    """Return the time of the libraries for the parts without a copy, a lower limit for a check that uses them."""
    import manifold3d
    from scipy.spatial import ConvexHull

    kinds, parts = assembly(racks)
    plate = next(pose for name, _, pose in parts if name == "rack 0/plate 0")
    balls = [(kinds[shape], pose) for name, shape, pose in parts if shape.startswith("ball")]

    def solid(mesh: trimesh.Trimesh, pose: Any) -> Any:
        body = manifold3d.Manifold(manifold3d.Mesh64(mesh.vertices, mesh.faces.astype(np.uint64)))
        return body.transform(pose[:3])

    plate_solid, plate_poses = (
        solid(kinds["plate"], plate),
        [pose for name, _, pose in parts if name.endswith("plate 0")],
    )
    solids: list[Any] = []
    work = {
        "hulls by Qhull": lambda: [ConvexHull(mesh.vertices) for mesh, _ in balls],
        "solids of manifold3d": lambda: solids.extend(solid(mesh, pose) for mesh, pose in balls),
        "volumes that they share with their plates": lambda: [
            (body ^ plate_solid.transform((pose @ np.linalg.inv(plate))[:3])).volume()
            for body, pose in zip(solids, plate_poses[::20], strict=True)
        ],
    }
    rows = []
    for what, do in work.items():
        start = time.process_time()
        do()
        rows.append((what, time.process_time() - start))
    return [*rows, ("the libraries alone", sum(spent for _, spent in rows))]


def _workers(client: Any) -> dict[str, float]:
    """Return the CPU time of each worker of a cluster so far."""
    return {} if client is None else dict(client.run(time.process_time))


def _spent(client: Any, before: dict[str, float]) -> list[float]:
    """Return the CPU time of each worker since `before`."""
    return [after - before[name] for name, after in _workers(client).items()]


def _peak() -> float:
    """Return the peak of resident memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def _cpu_cell(result: dict[str, Any]) -> str:
    """Return the CPU time of a row, for several processes with the time of each."""
    client, workers = result["cpu"], result.get("workers")
    if not workers:
        return f"{client:.1f} s"
    worker_times = " and ".join(f"{spent:.1f}" for spent in workers)
    return f"{client + sum(workers):.1f} s: client with scheduler {client:.1f}, workers {worker_times}"


ROWS = {
    "python-fcl, booleans, one tree a shape": lambda racks: by_fcl(racks),
    "python-fcl by trimesh, booleans, one tree a part": lambda racks: by_trimesh(racks),
    "gjk3d Scene, booleans": lambda racks: by_scene(racks),
    "gjk3d clash": lambda racks: by_gjk3d(racks, False),
    "gjk3d clash, two processes": lambda racks: by_gjk3d(racks, True),
}


def main(given: list[str] | None = None) -> int:
    """Run the benchmark that the command line selects."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.copies", description=__doc__)
    parser.add_argument("--racks", type=int, default=1000, help="of ten parts each")
    parser.add_argument("--cluster", action="store_true", help="two processes of Dask, too")
    parser.add_argument("--stages", action="store_true", help="where a check's time goes, in place of the table")
    parser.add_argument("--bare", action="store_true", help="what the libraries alone take, in place of the table")
    parser.add_argument("--row", choices=list(ROWS), help=argparse.SUPPRESS)
    arguments = parser.parse_args(given)
    if arguments.row:
        print(json.dumps(ROWS[arguments.row](arguments.racks)))
        return 0
    if arguments.stages or arguments.bare:
        print("| stage | CPU time |\n| --- | ---: |")
        for stage, spent in (bare if arguments.bare else stages)(arguments.racks):
            print(f"| {stage} | {spent:.3f} s |")
        return 0
    rows = list(ROWS)[: 5 if arguments.cluster else 4]
    print(
        "| | parts | triangles | CPU time | wall time | memory | result |\n| --- | --- | --- | --- | --- | --- | --- |"
    )
    for row in rows:
        command = [sys.executable, "-m", "tests.benchmarks.copies", "--racks", str(arguments.racks), "--row", row]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ)
        result = json.loads(done.stdout.splitlines()[-1])
        print(
            f"| {row} | {result['parts']} | {result['triangles']} | {_cpu_cell(result)} | {result['wall']:.1f} s |"
            f" {result['memory']:.0f} MB, {result['before']:.0f} before | {result['says']} |",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
