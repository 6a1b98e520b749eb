"""``python -m tests.benchmarks.planning --problems FILE``: real problems of Panda solved by OMPL's RRTConnect.

The same callbacks, a state checker and a motion validator, are answered by those of `gjk3d.robot.ompl.Planning` and by
pinocchio with coal, with the same hulls, pairs, samples of a motion and seeds; what is compared is the CPU time spent
in them. With ``--proofs`` it is the whole of `Planning.plan`: what its proof mends, and costs. FILE holds problems of
MotionBenchMaker as JSON: for each name of a scene a list of start, goal, other joints and obstacles.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio
from ompl import base as ob
from ompl import util

import gjk3d as gk
from gjk3d.robot import Checker, Robot
from gjk3d.robot.ompl import MotionValidator, Planning

sys.path.insert(0, str(Path(__file__).parents[1] / "robot"))

from example_robots import SHARE, SRDFS, URDFS, hulls_of, twin

RESOLUTION = 0.05  #: radians of any joint between two samples of a motion

Free = Callable[[Any], bool]  #: of a state
MotionFree = Callable[[Any, Any], bool]


@dataclass
class Spent:
    """What one side did with one problem."""

    solved: bool
    seconds: float  #: in the callbacks
    whole: float  #: in the planner with them
    states: int
    motions: int
    proof: float = 0.0  #: that the path is free between its samples too


def surroundings(problem: dict[str, Any]) -> dict[str, tuple[gk.Shape, np.ndarray]]:
    """The obstacles as shapes."""
    made = {
        "box": lambda each: gk.Box(each["extents"]),
        "cylinder": lambda each: gk.Cylinder(each["radius"], each["height"]),
        "sphere": lambda each: gk.Sphere(each["radius"]),
    }
    return {each["name"]: (made[each["type"]](each), np.array(each["pose"])) for each in problem["obstacles"]}


def planning_of(robot: Robot, problem: dict[str, Any], **how: Any) -> Planning:
    """A problem as OMPL has it; some begin or end outside the limits of the URDF, which it would refuse."""
    ends = np.array([problem["start"], problem["goal"]])
    return Planning(
        Checker(robot, surroundings(problem)),
        joints=[f"panda_joint{k}" for k in range(1, 8)],
        rest=np.append(np.zeros(7), problem["other_joints"]["panda_finger_joint1"]),
        lower=np.minimum(robot.lower[:7], ends.min(axis=0)),
        upper=np.maximum(robot.upper[:7], ends.max(axis=0)),
        resolution=RESOLUTION,
        **how,
    )


class Peer:
    """What pinocchio and coal answer."""

    def __init__(self, problem: dict[str, Any]) -> None:
        self.twin = twin("panda")
        self.shapes, _ = hulls_of("panda", SHARE / SRDFS["panda"])
        robot = range(self.shapes.ngeoms)
        for name, (shape, pose) in surroundings(problem).items():
            solid = {
                gk.Box: lambda s: coal.Box(*s.extents),
                gk.Cylinder: lambda s: coal.Cylinder(s.radius, s.height),
                gk.Sphere: lambda s: coal.Sphere(s.radius),
            }[type(shape)](shape)
            added = self.shapes.addGeometryObject(pinocchio.GeometryObject(name, 0, 0, pinocchio.SE3(pose), solid))
            for k in robot:
                self.shapes.addCollisionPair(pinocchio.CollisionPair(k, added))
        self.data = pinocchio.GeometryData(self.shapes)

    def free(self, q: np.ndarray) -> bool:
        """Of a configuration; the second finger follows the first."""
        other = self.twin
        numbers = np.append(q, q[-1])
        return not pinocchio.computeCollisions(other.model, other.data, self.shapes, self.data, numbers, True)

    def motion_free(self, a: np.ndarray, b: np.ndarray) -> bool:
        """Of a motion, by the samples that gjk3d takes."""
        count = max(ceil(np.abs(b - a).max() / RESOLUTION), 1)
        return all(self.free(a + (b - a) * (k / count)) for k in range(count + 1))


class Timed(ob.MotionValidator):
    """Asks one side, and keeps the time."""

    def __init__(self, information: Any, free: Free, motion_free: MotionFree) -> None:
        super().__init__(information)
        self.ask, self.ask_state = motion_free, free
        self.seconds, self.states, self.motions = 0.0, 0, 0

    def checkMotion(self, first: Any, second: Any) -> bool:
        """Called by OMPL."""
        start = time.process_time()
        answer = self.ask(first, second)
        self.seconds += time.process_time() - start
        self.motions += 1
        return answer

    def valid(self, state: Any) -> bool:
        """Called by OMPL."""
        start = time.process_time()
        answer = self.ask_state(state)
        self.seconds += time.process_time() - start
        self.states += 1
        return answer


def solve(planning: Planning, problem: dict[str, Any], peer: Peer | None, seed: int, most: float) -> Spent:
    """Run RRTConnect once; gjk3d answers where there is no peer."""
    util.RNG.setSeed(seed)
    setup, rest = planning.setup, problem["other_joints"]["panda_finger_joint1"]
    information = setup.getSpaceInformation()
    start, goal = (planning.state(np.append(problem[name], rest)) for name in ("start", "goal"))
    free, motion_free = planning.state_checker(), MotionValidator(planning).checkMotion
    free(start), motion_free(start, start)  # what the checker makes once is not OMPL's

    def numbers(state: Any) -> np.ndarray:  # nothing that OMPL calls may hold the setup, or neither is ever freed
        return np.array([*(state[k] for k in range(7)), rest])

    if peer is not None:
        free, motion_free = lambda s: peer.free(numbers(s)), lambda a, b: peer.motion_free(numbers(a), numbers(b))
    timed = Timed(information, free, motion_free)
    setup.setStateValidityChecker(timed.valid)
    information.setMotionValidator(timed)
    setup.setStartAndGoalStates(start, goal)
    setup.setPlanner(planning.planner("RRTConnect"))
    begin = time.process_time()
    setup.solve(most)
    whole = time.process_time() - begin
    spent = Spent(bool(setup.haveExactSolutionPath()), timed.seconds, whole, timed.states, timed.motions)
    if spent.solved and peer is None:
        path = np.array([numbers(state) for state in setup.getSolutionPath().getStates()])
        begin = time.process_time()
        planning.checker.path_free(path, certify=True)
        spent.proof = time.process_time() - begin
    return spent


def compare(problems: list[dict[str, Any]], robot: Robot, most: float) -> dict[str, list[Spent]]:
    """Give each problem to both, who take turns in going first."""
    spent: dict[str, list[Spent]] = {"gjk3d": [], "peer": []}
    for k, problem in enumerate(problems):
        sides = {"gjk3d": None, "peer": Peer(problem)}
        for name in sorted(sides, reverse=k % 2 == 1):
            spent[name].append(solve(planning_of(robot, problem), problem, sides[name], k + 1, most))
    return spent


def line(scene: str, spent: dict[str, list[Spent]]) -> str:
    """One line of the table: sums over the problems of a scene."""
    mine, theirs = spent["gjk3d"], spent["peer"]
    same = sum((a.states, a.motions) == (b.states, b.motions) for a, b in zip(mine, theirs, strict=True))
    cells = [str(len(mine)), f"{sum(a.solved for a in mine)} / {sum(b.solved for b in theirs)}", str(same)]
    for side in (mine, theirs):
        motions, seconds = sum(a.motions for a in side), sum(a.seconds for a in side)
        cells += [str(motions), f"{1e3 * seconds:.1f}", f"{100 * seconds / sum(a.whole for a in side):.0f} %"]
        cells.append(f"{1e3 * np.median([a.whole for a in side]):.1f}")
    cells.append(f"{1e3 * np.median([a.proof for a in mine]):.1f}")
    both = [(a.seconds, b.seconds) for a, b in zip(mine, theirs, strict=True)]
    ratio = sum(b for _, b in both) / sum(a for a, _ in both)
    low, middle, high = np.percentile([b / a for a, b in both], (25, 50, 75))
    return f"| {scene} | " + " | ".join([*cells, f"{ratio:.1f}x", f"{middle:.1f}x ({low:.1f}-{high:.1f})"]) + " |"


def proofs(scene: str, problems: list[dict[str, Any]], robot: Robot, most: float) -> str:
    """One line of the other table: paths that are planned, shortened and proven."""
    sampled, proven, unproven, found = [], [], 0, []
    for k, problem in enumerate(problems):
        rest = problem["other_joints"]["panda_finger_joint1"]
        ends = [np.append(problem[name], rest) for name in ("start", "goal")]
        for times, certify in ((sampled, False), (proven, "end")):
            planning = planning_of(robot, problem, certify=certify)
            util.RNG.setSeed(k + 1)
            begin = time.process_time()
            path = planning.plan(*ends, seconds=most)
            times.append(time.process_time() - begin)
            if planning.proof is not None:
                found.append(planning.proof)
            elif path is not None:
                unproven += not planning.checker.path_free(path, certify=True)
    cells = [len(problems), unproven, sum(each.proven for each in found), sum(each.repaired for each in found)]
    cells.append(sum(each.replanned for each in found))
    for each in (sampled, proven, [each.seconds for each in found]):
        cells.append(f"{1e3 * np.median(each):.1f}" if each else "")
    return f"| {scene} | " + " | ".join(map(str, cells)) + " |"


def main(given: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=Path, required=True, metavar="FILE", help="JSON, see above")
    parser.add_argument("--most", type=float, default=20.0, help="seconds a problem may take")
    parser.add_argument("--each", type=int, help="so many of each scene")
    parser.add_argument("--proofs", action="store_true", help="what it costs that a path is proven")
    arguments = parser.parse_args(given)
    util.setLogLevel(util.LogLevel.LOG_NONE)
    scenes = json.loads(arguments.problems.read_text())["problems"]
    robot = Robot.from_urdf(SHARE / URDFS["panda"], SHARE / SRDFS["panda"], geometry="hull")
    if arguments.proofs:
        print(
            "| scene | problems | sampled paths not proven | proven | detours | planned again | median ms, sampled "
            "| median ms, proven | of which the proof |"
        )
        print("|" + 9 * "---|")
        for scene, problems in scenes.items():
            print(proofs(scene, problems[: arguments.each], robot, arguments.most), flush=True)
        return 0
    print(
        "| scene | problems | solved (gjk3d / peer) | same course | motions | ms in checking | of all | median ms "
        "| motions, peer | ms in checking | of all | median ms | median ms, proof of the path | faster, sum | each |"
    )
    print("|" + 15 * "---|")
    total: dict[str, list[Spent]] = {"gjk3d": [], "peer": []}
    for scene, problems in scenes.items():
        spent = compare(problems[: arguments.each], robot, arguments.most)
        print(line(scene, spent), flush=True)
        for name, each in spent.items():
            total[name] += each
    print(line("all", total), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
