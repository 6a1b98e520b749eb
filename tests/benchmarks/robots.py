"""``python -m tests.benchmarks.robots``: configurations of Panda, UR5 and Talos, compared with pinocchio and coal.

Each link mesh is replaced by its hull in both libraries, and the pairs are those of the SRDF. The table has the CPU
time of one thread, the median over interleaved rounds. gjk3d takes a batch in one call, and pinocchio runs in a Python
loop. "one call" is a single configuration from Python in both, as in the callback of a planner. The run stops if the
results disagree: distances by more than 1e-6, or booleans except for collisions that coal is known to miss.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio

import gjk3d as gk
from gjk3d.robot import Checker, Robot

from .startup import seconds_of
from .timing import QUICK, Plan, Task, Timing, measure, ratio

sys.path.insert(0, str(Path(__file__).parents[1] / "robot"))

from example_robots import SHARE, SRDFS, URDFS, hulls_of, some, twin

ROBOTS = ("panda", "ur5", "talos")
COUNT = 1000  #: number of configurations, which longer loops repeat
BOXES = 10
CLOSE = 1e-6

Loop = Any  #: runs the first n queries


def boxes(seed: int = 0) -> dict[str, tuple[gk.Box, np.ndarray]]:
    """Return boxes within reach of a robot at the origin, none of them at its base."""
    rng = np.random.default_rng(seed)
    out = {}
    for k in range(BOXES):
        pose = np.eye(4)
        turn, far = rng.uniform(-np.pi, np.pi), rng.uniform(0.6, 0.9)
        pose[:3, 3] = far * np.cos(turn), far * np.sin(turn), rng.uniform(0.0, 1.0)
        out[f"box {k}"] = gk.Box(rng.uniform(0.05, 0.25, 3)), pose
    return out


class Peer:
    """The queries of pinocchio with coal."""

    def __init__(self, name: str, around: dict[str, tuple[gk.Box, np.ndarray]], numbers: np.ndarray) -> None:
        self.twin, self.q = twin(name), [self.numbers_of(name, row) for row in numbers]
        self.shapes, _ = hulls_of(name, SHARE / SRDFS[name])
        robot = range(self.shapes.ngeoms)
        for key, (shape, pose) in around.items():
            solid = coal.Box(*shape.extents)
            geometry = pinocchio.GeometryObject(key, 0, 0, pinocchio.SE3(pose), solid)
            added = self.shapes.addGeometryObject(geometry)
            for k in robot:
                self.shapes.addCollisionPair(pinocchio.CollisionPair(k, added))
        self.data = pinocchio.GeometryData(self.shapes)

    def numbers_of(self, name: str, q: np.ndarray) -> np.ndarray:
        """Return a configuration in pinocchio's numbers."""
        numbers: np.ndarray = twin(name).numbers(q)
        return numbers

    def hit(self, q: np.ndarray) -> bool:
        """Return whether any pair collides. The search stops at the first."""
        other = self.twin
        return bool(pinocchio.computeCollisions(other.model, other.data, self.shapes, self.data, q, True))

    def distance(self, q: np.ndarray) -> float:
        """Return the least signed distance of all pairs."""
        other = self.twin
        k = pinocchio.computeDistances(other.model, other.data, self.shapes, self.data, q)
        return float(self.data.distanceResults[k].min_distance)

    def hits(self, n: int) -> list[bool]:
        """Return the booleans of the first n configurations."""
        return [self.hit(q) for q in self.q[:n]]

    def distances(self, n: int) -> list[float]:
        """Return the distances of the first n configurations."""
        return [self.distance(q) for q in self.q[:n]]


def cycled(count: int, query: Any) -> Loop:
    """Return a loop over n queries that repeats the first ``count``."""

    def run(n: int) -> None:
        for _ in range(n // count):
            query(count)
        if n % count:
            query(n % count)

    return run


def agree(checker: Checker, peer: Peer, q: np.ndarray, about: str) -> tuple[float, int]:
    """Compare both libraries; return the share of free configurations and the number of collisions that coal missed."""
    free, mine = checker.free(q), checker.clearance(q).distance
    theirs, hits = np.array(peer.distances(len(q))), np.array(peer.hits(len(q)))
    separated = (mine > CLOSE) | (theirs > CLOSE)
    assert np.abs(mine - theirs)[separated].max(initial=0.0) < CLOSE, about
    assert np.array_equal(free, mine > 0.0), about
    assert not (hits & free).any(), about
    return float(free.mean()), int((~hits & ~free).sum())


def row(name: str, crowded: bool, plan: Plan, count: int) -> list[str]:
    """Return the rows of the table for a robot, alone or among boxes."""
    around = boxes() if crowded else {}
    robots = {
        way: Robot.from_urdf(SHARE / URDFS[name], SHARE / SRDFS[name], geometry=way) for way in ("hull", "bodies")
    }
    checkers = {way: Checker(robot, around) for way, robot in robots.items()}
    q = some(robots["hull"], count, 1)
    peer = Peer(name, around, q)
    about = f"{name}, {BOXES} boxes" if crowded else name
    free, missed = agree(checkers["hull"], peer, q, about)
    checker, rows = checkers["hull"], list(q)
    questions: dict[str, dict[str, Loop]] = {
        "boolean": {
            "hull": lambda n: checker.free(q[:n]),
            "bodies": lambda n: checkers["bodies"].free(q[:n]),
            "peer": peer.hits,
        },
        "distance": {
            "hull": lambda n: checker.clearance(q[:n]),
            "bodies": lambda n: checkers["bodies"].clearance(q[:n]),
            "peer": peer.distances,
        },
        "boolean, one call": {"hull": lambda n: [checker.free(x) for x in rows[:n]], "peer": peer.hits},
        "distance, one call": {"hull": lambda n: [checker.clearance(x) for x in rows[:n]], "peer": peer.distances},
    }
    lines = []
    for question, loops in questions.items():
        tasks = {who: Task(cycled(count, loop), count, 64 * count, plan.batch_seconds) for who, loop in loops.items()}
        lines.append(line(about, question, measure(tasks, plan), f"{100 * free:.0f} %", missed))
    return lines


def line(about: str, question: str, timings: dict[str, Timing], free: str, missed: int) -> str:
    """Return a row of the table."""
    cells = [f"{timings[who].median:.2f}" if who in timings else "" for who in ("hull", "bodies", "peer")]
    low, middle, high = ratio(timings["peer"], timings["hull"])
    spread = f"{middle:.1f}x ({low:.1f}-{high:.1f})"
    more = f"{ratio(timings['bodies'], timings['hull'])[1]:.2f}x" if "bodies" in timings else ""
    return f"| {about} | {free} | {question} | " + " | ".join([*cells, spread, more, str(missed)]) + " |"


_LOAD = """import gjk3d as gk
robot = gk.robot.Robot.from_urdf({urdf!r}, {srdf!r})
checker = gk.robot.Checker(robot)
"""


def loading(name: str) -> str:
    """Return the load times of a robot in a fresh process, with cached machine code."""
    code = _LOAD.format(urdf=str(SHARE / URDFS[name]), srdf=str(SHARE / SRDFS[name]))
    full = code + "checker.free([0.0] * robot.dof)"
    seconds_of(full)
    times = [min(seconds_of(script) or np.nan for _ in range(3)) for script in ("import gjk3d", code, full)]
    return f"| {name} | " + " | ".join(f"{seconds:.2f}" for seconds in times) + " |"


def main(given: list[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--quick", action="store_true", help="to see that all works")
    parser.add_argument("--no-loading", action="store_true")
    parser.add_argument("--alone", action="store_true", help="without the rows among boxes")
    given_now = parser.parse_args(given)
    plan = QUICK if given_now.quick else Plan(given_now.rounds, 0.01, 0.05, 10.0)
    print("microseconds of CPU time a configuration\n")
    print("| robot | free | question | hull | bodies | pinocchio, coal | faster | bodies to hull | coal missed |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in given_now.robots:
        for crowded in (False,) if given_now.alone else (False, True):
            for text in row(name, crowded, plan, given_now.count):
                print(text, flush=True)
    if not given_now.no_loading:
        print("\nCPU seconds of a process\n\n| robot | import | and load | and first answer |\n|---|---|---|---|")
        for name in given_now.robots:
            print(loading(name), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
