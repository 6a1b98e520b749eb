"""``python -m tests.benchmarks.revisions OLD [WORD]``: this checkout against an older one, in one interleaved run.

OLD is the folder of another checkout. If a word is given, only the rows that contain it are measured. Each row runs in
three processes in turn: the old checkout, this one, and the old one again. The table has the CPU time of a call, the
ratio of new to old, and the ratio of old to old, which shows the noise of the run. A ratio is the median over the
rounds of the ratio within a round. A row is bold if its ratio is above 1.1 plus the spread of old against old.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SECONDS = 0.03  #: CPU time of a measurement
ROOT = Path(__file__).resolve().parents[2]
Rows = dict[str, Callable[[], Any]]  #: the timed calls by the names of their rows


def random_poses(count: int, spread: float) -> np.ndarray:
    """Return random poses (count, 4, 4) in a cube."""
    from scipy.spatial.transform import Rotation

    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = Rotation.random(count, random_state=1).as_matrix()
    poses[:, :3, 3] = np.random.default_rng(1).uniform(-spread, spread, (count, 3))
    return poses


def each(call: Callable[..., Any], poses: Any) -> Callable[[], None]:
    """Return a loop that makes a call for each pose."""

    def loop() -> None:
        for pose in poses:
            call(pose)

    return loop


def of_shapes() -> Rows:
    """Return queries of two convex shapes: single calls, poses as lists, stacks and pairs."""
    import gjk3d as gk

    rng = np.random.default_rng(0)
    points = rng.normal(size=(128, 3))
    hull = gk.ConvexHull(0.5 * points / np.linalg.norm(points, axis=1)[:, None])
    box, capsule, cylinder = gk.Box((1, 0.8, 0.6)), gk.Capsule(0.3, 1.0), gk.Cylinder(0.4, 1.0)
    poses, stack, rows = random_poses(64, 1.0), random_poses(20_000, 1.0), {}
    for a, b in ((gk.Sphere(0.5), box), (box, box), (capsule, box), (cylinder, cylinder), (hull, hull)):
        name = f"{type(a).__name__} and {type(b).__name__}"
        for query in ("collide", "distance", "signed_distance", "contact"):
            function = getattr(gk, query)
            rows[f"{query}, {name}"] = each(lambda pose, a=a, b=b, function=function: function(a, b, None, pose), poses)
        for query in ("collide", "distance", "signed_distance"):
            rows[f"{query}, {name}, a stack"] = lambda a=a, b=b, query=query: getattr(gk, query)(a, b, None, stack)
    lists = poses.tolist()
    rows["collide, boxes, poses as lists"] = each(lambda pose: gk.collide(box, box, None, pose), lists)
    rows["distance, boxes, keywords"] = each(lambda pose: gk.distance(a=box, b=box, pose_b=pose), poses)
    moving = gk.Motion(stack[0], (1.0, -0.5, 0.3), (0.0, 1.0, 0.5))
    rows["time_of_impact, boxes"] = each(lambda pose: gk.time_of_impact(box, box, pose, moving), poses)
    rows["raycast, Cylinder"] = lambda: gk.raycast(cylinder, stack[:, :3, 3], stack[:, :3, 0])
    rows["ConvexHull of 20 000 points"] = lambda: gk.ConvexHull(stack[:, :3, 3])
    return rows


def of_meshes() -> Rows:
    """Return queries of meshes, clouds and scenes."""
    import trimesh

    import gjk3d as gk

    ball = trimesh.creation.icosphere(4)
    mesh = gk.Mesh(ball.vertices, ball.faces)
    cloud = gk.PointCloud(ball.vertices, 0.02)
    capsule, near, far = gk.Capsule(0.2, 0.6), random_poses(32, 1.0), random_poses(32, 3.0)
    rows: Rows = {}
    for name, body in (
        ("Mesh and Capsule", (mesh, capsule)),
        ("two meshes", (mesh, mesh)),
        ("Cloud", (cloud, capsule)),
    ):
        for query in ("collide", "distance", "signed_distance", "contact"):
            function = getattr(gk, query)
            call = lambda pose, function=function, body=body: function(*body, None, pose)  # noqa: E731
            rows[f"{query}, {name}, near"], rows[f"{query}, {name}, far"] = each(call, near), each(call, far)
    rows["Mesh(...) and its first distance"] = lambda: gk.distance(
        gk.Mesh(ball.vertices, ball.faces), capsule, None, far[0]
    )
    origins, targets = random_poses(20_000, 2.0)[:, :3, 3], random_poses(20_000, 0.9)[::-1, :3, 3]
    rows["raycast, Mesh, 20 000 rays"] = lambda: gk.raycast(mesh, origins, targets - origins)
    rows["contains, Mesh, 20 000 points"] = lambda: mesh.contains(targets)
    scene = gk.Scene()
    for k, pose in enumerate(random_poses(200, 4.0)):
        scene.add(f"box {k}", gk.Box((0.5, 0.6, 0.7)), pose)
    scene.add("mesh", mesh)

    def moved() -> None:
        for pose in far:
            scene.move("box 0", pose)
            scene.contacts()

    rows["Scene.move and contacts, 201 objects"] = moved
    rows["Scene.collisions, 201 objects"] = scene.collisions
    rows["Scene.clearance, a capsule"] = each(lambda pose: scene.clearance(capsule, pose), far)
    gearbox = gk.clash.Assembly.load(ROOT / "data" / "gearbox.glb")
    rows["clash.check of a gearbox"] = lambda: gk.clash.check(gearbox, clearance=0.0005)
    return rows


def of_robots() -> Rows:
    """Return queries of a robot in a cell, of primitives and of a cloud."""
    import gjk3d as gk
    from gjk3d.robot import Checker, Robot

    robot = Robot.from_urdf(ROOT / "data" / "arm" / "arm.urdf")
    rows: Rows = {}
    boxes = gk.Scene()
    for k, pose in enumerate(random_poses(10, 0.6)):
        pose[:3, 3] += np.sign(pose[:3, 3]) * 0.4
        boxes.add(f"box {k}", gk.Box((0.15, 0.2, 0.25)), pose)
    around = random_poses(20_000, 0.6)[:, :3, 3]
    clouds = gk.Scene()
    clouds.add("cloud", gk.PointCloud(around + np.sign(around) * 0.4, 0.005))
    for name, scene in (("10 boxes", boxes), ("a cloud of 20 000 points", clouds)):
        checker = Checker(robot, scene)
        qs = np.random.default_rng(2).uniform(robot.lower, robot.upper, (200, robot.dof))
        steps = np.clip(qs + np.random.default_rng(3).uniform(-0.3, 0.3, qs.shape), robot.lower, robot.upper)
        some, ends = qs[:50], steps[:50]
        rows[f"Checker.free, {name}"] = each(checker.free, some)
        rows[f"Checker.free, {name}, a stack"] = lambda checker=checker, qs=qs: checker.free(qs)
        rows[f"Checker.hit, {name}"] = each(checker.hit, some)
        rows[f"Checker.clearance, {name}"] = each(checker.clearance, some)
        rows[f"Checker.distances, {name}"] = each(checker.distances, some)
        rows[f"motion_free, {name}"] = lambda checker=checker, a=some, b=ends: checker.motion_free(a, b)
        rows[f"motion_free, certified, {name}"] = lambda checker=checker, a=some, b=ends: checker.motion_free(
            a, b, certify=True
        )
    return rows


def all_rows() -> Rows:
    """Return all rows."""
    return {**of_shapes(), **of_meshes(), **of_robots()}


def work() -> None:
    """Time rows for the parent process: read a name, and write the microseconds of a call."""
    rows, counts = all_rows(), {}
    print(json.dumps(list(rows)), flush=True)
    for line in sys.stdin:
        call = rows[name := json.loads(line)]
        if name not in counts:
            call()
            start = time.process_time()
            call()
            counts[name] = max(1, int(SECONDS / max(time.process_time() - start, 1e-6)))
        start = time.process_time()
        for _ in range(counts[name]):
            call()
        print((time.process_time() - start) / counts[name] * 1e6, flush=True)


class Worker:
    """A process that times the rows with one checkout."""

    def __init__(self, checkout: Path) -> None:
        """Start the process and read the names of its rows."""
        environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, __file__, "--work"]
        self.process = subprocess.Popen(
            command, env=environment, cwd=checkout, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.names = json.loads(self.process.stdout.readline())

    def time(self, name: str) -> float:
        """Return the microseconds of a call."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(name) + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def compare(old: Path, word: str = "", rounds: int = 5) -> list[str]:
    """Return the lines of the table."""
    workers = [Worker(old), Worker(ROOT), Worker(old)]
    lines = ["| row | old, us | new, us | new / old | old / old |", "| --- | --- | --- | --- | --- |"]
    for name in filter(lambda name: word in name, workers[1].names):
        times = np.array([[worker.time(name) for worker in workers] for _ in range(rounds + 1)])[1:]
        ratio, noise = np.median(times[:, 1] / times[:, 0]), times[:, 2] / times[:, 0]
        spread = float(np.max(np.abs(noise - 1.0)))
        mark = "**" if ratio > 1.1 + spread else ""
        old_time, new_time = np.median(times[:, 0]), np.median(times[:, 1])
        lines.append(
            f"| {name} | {old_time:.4g} | {new_time:.4g} | {mark}{ratio:.2f}x{mark} | "
            f"{noise.min():.2f} to {noise.max():.2f}x |"
        )
        print(lines[-1], file=sys.stderr, flush=True)
    return lines


if __name__ == "__main__":
    if sys.argv[1:] == ["--work"]:
        work()
    else:
        print("\n".join(compare(Path(sys.argv[1]).resolve(), *sys.argv[2:])))
