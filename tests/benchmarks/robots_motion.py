"""``python -m tests.benchmarks.robots_motion``: motions of Panda, UR5 and Talos among boxes, sampled and certified.

Straight lines from a free configuration, up to `LENGTH` long in the norm of joint space; CPU time of one thread,
medians over rounds in which all take turns. "single calls" asks `Checker.free` sample by sample, up to the first that
hits. "any contact" is the proof with a tolerance of half a motion, which takes the first configuration that is found to
collide. Missed are motions that samples call free and the proof does not. With ``--meshes`` a torus of 512 triangles
stands in the place of each box.
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
    """Motions within the limits that begin free."""
    q = some(robot, 20 * count, 2)
    first = q[checker.free(q)][:count]
    toward = some(robot, len(first), 3) - first
    length = np.random.default_rng(4).uniform(0.0, LENGTH, (len(first), 1))
    far = np.linalg.norm(toward, axis=1)[:, None]
    return first, first + toward * np.minimum(length / far, 1.0)


def tori() -> dict[str, tuple[gk.Mesh, np.ndarray]]:
    """Meshes about as large as the boxes, where these are."""
    out = {}
    for name, (box, pose) in boxes().items():
        wide = float(box.extents.max()) / 2
        torus = trimesh.creation.torus(0.7 * wide, 0.3 * wide, 32, 8)
        out[name] = gk.Mesh(torus.vertices, torus.faces), pose
    return out


def one_by_one(checker: Checker, q0: np.ndarray, q1: np.ndarray, step: float) -> bool:
    """Ask for a motion as a planner's callback would."""
    steps = max(int(np.ceil(np.abs(q1 - q0).max() / step)), 1)
    return all(checker.free(q0 + (k / steps) * (q1 - q0)) for k in range(steps + 1))


def row(name: str, around: dict[str, Any], plan: Plan, count: int) -> list[str]:
    """Lines of the table of one robot among obstacles."""
    robot = Robot.from_urdf(SHARE / URDFS[name], SHARE / SRDFS[name])
    checker = Checker(robot, around)
    q0, q1 = edges(robot, checker, count)
    proof = checker.motion_free(q0, q1, certify=True)
    asked: dict[str, Any] = {"certified": lambda n: checker.motion_free(q0[:n], q1[:n], certify=True)}
    asked["certified, any contact"] = lambda n: checker.motion_free(q0[:n], q1[:n], certify=True, tolerance=0.5)
    missed = {"certified": 0}
    for step in STEPS:
        text = f"sampled, {step}"
        asked[text] = lambda n, step=step: checker.motion_free(q0[:n], q1[:n], resolution=step)
        sampled = checker.motion_free(q0, q1, resolution=step)
        assert not (proof.free & ~sampled.free).any(), name
        missed[text] = int((sampled.free & ~proof.free).sum())
    asked[f"single calls, {STEPS[0]}"] = lambda n: [
        one_by_one(checker, *ends, STEPS[0]) for ends in zip(q0[:n], q1[:n], strict=True)
    ]
    timings = measure(
        {who: Task(cycled(len(q0), ask), len(q0), 64 * len(q0), plan.batch_seconds) for who, ask in asked.items()}, plan
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
