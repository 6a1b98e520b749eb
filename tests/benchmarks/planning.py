"""``python -m tests.benchmarks.planning --problems FILE``: real problems of Panda, solved by OMPL's RRTConnect.

The callbacks, a state checker and a motion validator, come from `gjk3d.robot.ompl.Planning` or from pinocchio with
coal, with the same hulls, pairs, samples of a motion and seeds. The table compares the CPU time of the callbacks. With
``--plans``, it compares proven paths of `Checker.plan` and of OMPL on the same checker. FILE has problems of
MotionBenchMaker as JSON: for each name of a scene, a list of start, goal, other joints and obstacles. With
``--robot ur5`` or ``--robot pr2``, a seeded script draws the problems instead: a table, a shelf and a cage.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable
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

Free = Callable[[Any], bool]  #: whether a state is free
MotionFree = Callable[[Any, Any], bool]


@dataclass
class Spent:
    """The work of a library on a problem."""

    solved: bool
    seconds: float  #: CPU seconds in the callbacks
    whole: float  #: CPU seconds in the planner with its callbacks
    states: int
    motions: int
    proof: float = 0.0  #: CPU seconds of the proof that the path is also free between its samples


def surroundings(problem: dict[str, Any]) -> dict[str, tuple[gk.Shape, np.ndarray]]:
    """Return the obstacles as shapes."""
    made = {
        "box": lambda obstacle: gk.Box(obstacle["extents"]),
        "cylinder": lambda obstacle: gk.Cylinder(obstacle["radius"], obstacle["height"]),
        "sphere": lambda obstacle: gk.Sphere(obstacle["radius"]),
    }
    return {
        obstacle["name"]: (made[obstacle["type"]](obstacle), np.array(obstacle["pose"]))
        for obstacle in problem["obstacles"]
    }


def planning_of(robot: Robot, problem: dict[str, Any], **how: Any) -> Planning:
    """Return a problem for OMPL. Some start or end outside the limits of the URDF, so the limits are widened."""
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
    """The callbacks of pinocchio with coal."""

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
        """Return whether a configuration is free. The second finger follows the first."""
        other = self.twin
        numbers = np.append(q, q[-1])
        return not pinocchio.computeCollisions(other.model, other.data, self.shapes, self.data, numbers, True)

    def motion_free(self, a: np.ndarray, b: np.ndarray) -> bool:
        """Return whether a motion is free at the samples that gjk3d takes."""
        count = max(ceil(np.abs(b - a).max() / RESOLUTION), 1)
        return all(self.free(a + (b - a) * (k / count)) for k in range(count + 1))


class Timed(ob.MotionValidator):
    """A motion validator that times the callbacks of a library."""

    def __init__(self, information: Any, free: Free, motion_free: MotionFree) -> None:
        super().__init__(information)
        self.ask, self.ask_state = motion_free, free
        self.seconds, self.states, self.motions = 0.0, 0, 0

    def checkMotion(self, first: Any, second: Any) -> bool:
        """Check a motion for OMPL."""
        start = time.process_time()
        answer = self.ask(first, second)
        self.seconds += time.process_time() - start
        self.motions += 1
        return answer

    def valid(self, state: Any) -> bool:
        """Check a state for OMPL."""
        start = time.process_time()
        answer = self.ask_state(state)
        self.seconds += time.process_time() - start
        self.states += 1
        return answer


def solve(planning: Planning, problem: dict[str, Any], peer: Peer | None, seed: int, most: float) -> Spent:
    """Run RRTConnect once, with the callbacks of gjk3d if there is no peer."""
    util.RNG.setSeed(seed)
    setup, rest = planning.setup, problem["other_joints"]["panda_finger_joint1"]
    information = setup.getSpaceInformation()
    start, goal = (planning.state(np.append(problem[name], rest)) for name in ("start", "goal"))
    free, motion_free = planning.state_checker(), MotionValidator(planning).checkMotion
    free(start), motion_free(start, start)  # the one-time work of the checker is not measured

    def numbers(state: Any) -> np.ndarray:  # a callback that refers to the setup would keep both alive forever
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
    elapsed = time.process_time() - begin
    spent = Spent(bool(setup.haveExactSolutionPath()), timed.seconds, elapsed, timed.states, timed.motions)
    if spent.solved and peer is None:
        path = np.array([numbers(state) for state in setup.getSolutionPath().getStates()])
        begin = time.process_time()
        planning.checker.path_free(path, certify=True)
        spent.proof = time.process_time() - begin
    return spent


def compare(problems: list[dict[str, Any]], robot: Robot, most: float) -> dict[str, list[Spent]]:
    """Solve each problem with both libraries, which alternate in going first."""
    spent: dict[str, list[Spent]] = {"gjk3d": [], "peer": []}
    for k, problem in enumerate(problems):
        sides = {"gjk3d": None, "peer": Peer(problem)}
        for name in sorted(sides, reverse=k % 2 == 1):
            spent[name].append(solve(planning_of(robot, problem), problem, sides[name], k + 1, most))
    return spent


def line(scene: str, spent: dict[str, list[Spent]]) -> str:
    """Return a row of the table: sums over the problems of a scene."""
    mine, theirs = spent["gjk3d"], spent["peer"]
    same = sum((a.states, a.motions) == (b.states, b.motions) for a, b in zip(mine, theirs, strict=True))
    cells = [str(len(mine)), f"{sum(a.solved for a in mine)} / {sum(b.solved for b in theirs)}", str(same)]
    for side in (mine, theirs):
        motions, seconds = sum(a.motions for a in side), sum(a.seconds for a in side)
        cells += [str(motions), f"{1e3 * seconds:.1f}", f"{100 * seconds / sum(a.whole for a in side):.0f} %"]
        cells.append(f"{1e3 * np.median([a.whole for a in side]):.1f}")
    cells.append(f"{1e3 * np.median([a.proof for a in mine]):.1f}")
    times = [(a.seconds, b.seconds) for a, b in zip(mine, theirs, strict=True)]
    ratio = sum(b for _, b in times) / sum(a for a, _ in times)
    low, middle, high = np.percentile([b / a for a, b in times], (25, 50, 75))
    return f"| {scene} | " + " | ".join([*cells, f"{ratio:.1f}x", f"{middle:.1f}x ({low:.1f}-{high:.1f})"]) + " |"


@dataclass
class Problem:
    """A start, a goal, and the checker that both planners use."""

    start: np.ndarray
    goal: np.ndarray
    planning: Planning
    joints: tuple[str, ...]
    bounds: dict[str, Any]


def file_problem(robot: Robot, problem: dict[str, Any]) -> Problem:
    """Return a problem of the file."""
    rest = problem["other_joints"]["panda_finger_joint1"]
    start, goal = (np.append(problem[name], rest) for name in ("start", "goal"))
    return Problem(start, goal, planning_of(robot, problem), robot.joint_names[:7], {})


def at(x: float, y: float, z: float, turn: float = 0.0) -> np.ndarray:
    """Return a pose that is rotated about x."""
    pose = np.eye(4)
    pose[1:3, 1:3] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    pose[:3, 3] = x, y, z
    return pose


def table(rng: np.random.Generator) -> dict[str, Any]:
    """Return a table with eight objects on it."""
    made: dict[str, Any] = {"top": (gk.Box((0.7, 1.1, 0.04)), at(0.15, 0.0, -0.32))}
    for k in range(8):
        height, size = rng.uniform(0.1, 0.4), rng.uniform(0.03, 0.06)
        shape = gk.Cylinder(size, height) if k % 2 else gk.Box((2 * size, 2 * size, height))
        made[f"thing {k}"] = shape, at(*rng.uniform((-0.15, -0.5), (0.4, 0.5)), 0.5 * height - 0.3)
    return made


def shelf(rng: np.random.Generator) -> dict[str, Any]:
    """Return a shelf of three rows and three columns."""
    made: dict[str, Any] = {"back": (gk.Box((0.02, 1.0, 1.0)), at(0.3, 0.0, 0.0))}
    for k, z in enumerate((-0.48, -0.16, 0.16, 0.48)):
        made[f"board {k}"] = gk.Box((0.3, 1.0, 0.02)), at(0.15, 0.0, z + rng.uniform(-0.03, 0.03))
    for k, y in enumerate((-0.49, -0.16, 0.16, 0.49)):
        made[f"side {k}"] = gk.Box((0.3, 0.02, 1.0)), at(0.15, y + rng.uniform(-0.03, 0.03), 0.0)
    return made


def cage(rng: np.random.Generator) -> dict[str, Any]:
    """Return bars around the origin."""
    made: dict[str, Any] = {}
    for k, angle in enumerate(np.arange(4) * np.pi / 2 + rng.uniform(0.0, 1.0)):
        made[f"bar {k}"] = gk.Cylinder(0.015, 0.9), at(0.32 * np.cos(angle), 0.32 * np.sin(angle), 0.0)
    for k, z in enumerate((-0.25, 0.25)):
        made[f"beam {k}"] = gk.Cylinder(0.015, 0.7), at(rng.uniform(-0.1, 0.1), 0.0, z, 0.5 * np.pi)
    return made


#: robots of the script: a link that reaches into the scene, the moving joints, and the centre of the scene
SCRIPTED = {"ur5": ("wrist_3_link", 6, (0.6, 0.0, 0.4)), "pr2": ("r_gripper_palm_link", "right_arm", (0.6, -0.3, 0.8))}
PR2 = SHARE / "pr2_description"
SCENES = {"table": table, "shelf": shelf, "cage": cage}


def scripted(name: str) -> tuple[Robot, tuple[str, ...]]:
    """Return a robot of the script and its moving joints."""
    files = {"pr2": (PR2 / "urdf/pr2.urdf", PR2 / "srdf/pr2.srdf")}
    urdf, srdf = files.get(name) or (SHARE / URDFS[name], SHARE / SRDFS[name])
    robot, joints = Robot.from_urdf(urdf, srdf, geometry="hull"), SCRIPTED[name][1]
    return robot, robot.groups[joints] if isinstance(joints, str) else robot.joint_names[:joints]


def drawn(name: str, robot: Robot, joints: tuple[str, ...], scene: str, seed: int) -> Problem:
    """Return a problem of the script: the ends are free and in the scene, and their straight line is not free."""
    rng, (link, _, middle) = np.random.default_rng([seed, list(SCENES).index(scene)]), SCRIPTED[name]
    checker = Checker(robot)
    for obstacle, (shape, pose) in SCENES[scene](rng).items():
        checker.add(obstacle, shape, at(*middle) @ pose)
    columns = [robot.columns[joint].start for joint in joints]
    bounds = {"lower": np.maximum(robot.lower[columns], -np.pi), "upper": np.minimum(robot.upper[columns], np.pi)}
    rest = np.clip(np.zeros(robot.dof), robot.lower, robot.upper)
    if name == "pr2":  # moves the left arm out of the scene
        rest = robot.configuration({"l_shoulder_pan_joint": 1.5}, rest)
    while True:
        q = np.tile(rest, (4000, 1))
        q[:, columns] = rng.uniform(bounds["lower"], bounds["upper"], (len(q), len(columns)))
        tips = robot.link_poses(q)[:, robot.link_number(link), :3, 3] - middle
        near = (np.abs(tips) < (0.3, 0.45, 0.3)).all(axis=1)
        near[near] = checker.free(q[near])
        q, tips = q[near], tips[near]
        for k in range(0, len(q) - 1, 2):
            if np.linalg.norm(tips[k + 1] - tips[k]) > 0.25 and not checker.edges_free(q[k], q[k + 1 : k + 2])[0]:
                planning = Planning(checker, joints=joints, rest=rest, resolution=RESOLUTION, **bounds)
                return Problem(q[k], q[k + 1], planning, joints, bounds)


@dataclass
class Plans:
    """Results of `Checker.plan` and of OMPL for the problems of a scene."""

    times: dict[str, list[float]]  #: seconds of each plan with its proof
    proven: dict[str, int]
    repaired: int  #: number of plans with detours

    def __add__(self, other: Plans) -> Plans:
        times = {name: spent + other.times[name] for name, spent in self.times.items()}
        proven = {name: count + other.proven[name] for name, count in self.proven.items()}
        return Plans(times, proven, self.repaired + other.repaired)

    def line(self, scene: str) -> str:
        """Return a row of the table of plans."""
        cells: list[Any] = [len(self.times["plan"])]
        for name, spent in self.times.items():
            middle, mean, most = np.median(spent), np.mean(spent), max(spent)
            cells += [self.proven[name], f"{1e3 * middle:.1f}", f"{1e3 * mean:.1f}", f"{1e3 * most:.0f}"]
        return f"| {scene} | " + " | ".join(map(str, [*cells, self.repaired])) + " |"


def plans(problems: Iterable[Problem], most: float) -> Plans:
    """Plan with `Checker.plan` and with OMPL, and certify the paths of both."""
    done = Plans({"plan": [], "OMPL": []}, {"plan": 0, "OMPL": 0}, 0)
    for k, problem in enumerate(problems):
        start, goal, checker = problem.start, problem.goal, problem.planning.checker
        checker.motion_free(start, start), checker.free(start)  # the one-time work of the checker is not measured
        util.RNG.setSeed(k + 1)
        begin = time.process_time()
        plan = checker.plan(start, goal, joints=problem.joints, seconds=most, seed=k, **problem.bounds)
        middle = time.process_time()
        path = problem.planning.plan(start, goal, seconds=most)
        done.times["plan"].append(middle - begin)
        done.times["OMPL"].append(time.process_time() - middle)
        for name, result in (("plan", plan.path if plan else None), ("OMPL", path)):
            done.proven[name] += result is not None and bool(checker.path_free(result, certify=True))
        done.repaired += plan.proof is not None and plan.proof.repaired > 0
    return done


def print_plans(scenes: Iterable[tuple[str, Iterable[Problem]]], most: float) -> None:
    """Print the table of plans."""
    columns = "proven | median ms | mean ms | slowest ms"
    print(f"| scene | problems | Checker.plan: {columns} | OMPL: {columns} | plans with detours |\n|{11 * '---|'}")
    total = None
    for scene, problems in scenes:
        done = plans(problems, most)
        print(done.line(scene), flush=True)
        total = done if total is None else total + done
    if total is not None:
        print(total.line("all"))


def main(given_arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=Path, metavar="FILE", help="JSON, see above")
    parser.add_argument("--robot", choices=sorted(SCRIPTED), help="problems of the script, 50 in all")
    parser.add_argument("--most", type=float, default=20.0, help="seconds a problem may take")
    parser.add_argument("--each", type=int, help="so many of each scene")
    parser.add_argument("--plans", action="store_true", help="compare proven paths of Checker.plan and of OMPL")
    arguments = parser.parse_args(given_arguments)
    if not arguments.problems and not arguments.robot:
        parser.error("expected --problems FILE or --robot NAME")
    util.setLogLevel(util.LogLevel.LOG_NONE)
    if arguments.robot:
        robot, joints = scripted(arguments.robot)
        seeds = {scene: range(min(n, arguments.each or n)) for scene, n in zip(SCENES, (17, 17, 16), strict=True)}
        some = ((scene, (drawn(arguments.robot, robot, joints, scene, k) for k in ks)) for scene, ks in seeds.items())
        print_plans(some, arguments.most)
        return 0
    scenes = json.loads(arguments.problems.read_text())["problems"]
    robot = Robot.from_urdf(SHARE / URDFS["panda"], SHARE / SRDFS["panda"], geometry="hull")
    if arguments.plans:
        few = (
            (scene, (file_problem(robot, entry) for entry in problems[: arguments.each]))
            for scene, problems in scenes.items()
        )
        print_plans(few, arguments.most)
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
        for name, entry in spent.items():
            total[name] += entry
    print(line("all", total), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
