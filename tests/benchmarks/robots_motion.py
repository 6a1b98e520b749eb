"""``python -m tests.benchmarks.robots_motion``: motions of Panda, UR5 and Talos among boxes, sampled and certified.

The motions are straight lines from a free configuration, up to `LENGTH` long in the norm of joint space. The table has
the CPU time of one thread, the median over interleaved rounds. "single calls" runs `Checker.free` for each sample up to
the first collision. "any contact" is the proof with a tolerance of half a motion, which accepts the first colliding
configuration that it finds. Missed motions are free by their samples but not by the proof. With ``--meshes``, a torus
of 512 triangles replaces each box.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
import trimesh

import gjk3d as gk
from gjk3d.robot import Checker, MotionStatus, Robot

from .robots import ROBOTS, SHARE, SRDFS, URDFS, boxes, cycled, some
from .timing import QUICK, Plan, Task, measure

COUNT = 400
LENGTH = 2.0
STEPS = (0.05, 0.01)


def edges(robot: Robot, checker: Checker, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return motions within the limits that start free."""
    q = some(robot, 20 * count, 2)
    first = q[checker.free(q)][:count]
    toward = some(robot, len(first), 3) - first
    length = np.random.default_rng(4).uniform(0.0, LENGTH, (len(first), 1))
    far = np.linalg.norm(toward, axis=1)[:, None]
    return first, first + toward * np.minimum(length / far, 1.0)


def tori() -> dict[str, tuple[gk.Mesh, np.ndarray]]:
    """Return meshes of about the size of the boxes, at the poses of the boxes."""
    out = {}
    for name, (box, pose) in boxes().items():
        wide = float(box.extents.max()) / 2
        torus = trimesh.creation.torus(0.7 * wide, 0.3 * wide, 32, 8)
        out[name] = gk.Mesh(torus.vertices, torus.faces), pose
    return out


def one_by_one(checker: Checker, q0: np.ndarray, q1: np.ndarray, step: float) -> bool:
    """Check a motion by single calls, as in the callback of a planner."""
    steps = max(int(np.ceil(np.abs(q1 - q0).max() / step)), 1)
    return all(checker.free(q0 + (k / steps) * (q1 - q0)) for k in range(steps + 1))


def row(name: str, around: dict[str, Any], plan: Plan, count: int) -> list[str]:
    """Return the rows of the table for a robot among obstacles."""
    robot = Robot.from_urdf(SHARE / URDFS[name], SHARE / SRDFS[name])
    checker = Checker(robot, around)
    q0, q1 = edges(robot, checker, count)
    proof = checker.motion_free(q0, q1, certify=True)
    queries: dict[str, Any] = {"certified": lambda n: checker.motion_free(q0[:n], q1[:n], certify=True)}
    queries["certified, any contact"] = lambda n: checker.motion_free(q0[:n], q1[:n], certify=True, tolerance=0.5)
    missed = {"certified": 0}
    for step in STEPS:
        text = f"sampled, {step}"
        queries[text] = lambda n, step=step: checker.motion_free(q0[:n], q1[:n], resolution=step)
        sampled = checker.motion_free(q0, q1, resolution=step)
        assert not (proof.free & ~sampled.free).any(), name
        missed[text] = int((sampled.free & ~proof.free).sum())
    queries[f"single calls, {STEPS[0]}"] = lambda n: [
        one_by_one(checker, *ends, STEPS[0]) for ends in zip(q0[:n], q1[:n], strict=True)
    ]
    timings = measure(
        {who: Task(cycled(len(q0), run), len(q0), 64 * len(q0), plan.batch_seconds) for who, run in queries.items()},
        plan,
    )
    about = [int((proof.status == status).sum()) for status in MotionStatus]
    return [
        f"| {name} | {' / '.join(map(str, about))} | {who} | {timing.median:.0f} | {1e6 / timing.median:.0f} | "
        f"{missed.get(who, '')} |"
        for who, timing in timings.items()
    ]


def main(given: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--quick", action="store_true", help="to see that all works")
    parser.add_argument("--meshes", action="store_true", help="meshes in the place of boxes")
    arguments = parser.parse_args(given)
    plan = QUICK if arguments.quick else Plan(arguments.rounds, 0.01, 0.05, 10.0)
    print("microseconds of CPU time a motion\n")
    print("| robot | free / hit / unresolved | question | us | motions/s | missed |")
    print("|---|---|---|---|---|---|")
    for name in arguments.robots:
        for text in row(name, tori() if arguments.meshes else boxes(), plan, arguments.count):
            print(text, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
