"""``python -m tests.benchmarks.robots_clouds``: a Panda in a cloud of points, with pinocchio and coal's octree.

The points lie on a bumpy shell around the robot, which about a quarter of the configurations touch. Each link mesh is
replaced by its hull in both libraries. The base may touch. The points are balls in gjk3d, and in coal they are cubes of
an octree that contain them. A cube is nearer than its point by at most its diagonal, and never farther. Every result is
checked for this. The table has the CPU time of one thread, the median over interleaved rounds. pinocchio takes one
configuration per call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import coal
import numpy as np
import pinocchio

import gjk3d as gk
from gjk3d.robot import Checker, Robot

from .robots import SHARE, SRDFS, URDFS, Peer, cycled, some
from .table_file import table_parser, write_table
from .timing import QUICK, Plan, Task, measure

NAME, BASE = "panda", "panda_link0"
RADIUS = 0.005
COUNT = 64  #: configurations of a query, which longer loops repeat
TURN = 0.4  #: largest rotation of each joint in a motion, in radians


def shell(count: int) -> np.ndarray:
    """Return points around a robot at the origin, none of them at its base."""
    rng = np.random.default_rng(0)
    way = rng.normal(size=(2 * count, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    far = 0.9 + 0.1 * np.sin(7 * np.arctan2(way[:, 1], way[:, 0])) * np.sin(5 * np.arccos(way[:, 2]))
    points = way * far[:, None] + (0.0, 0.0, 0.35)
    return points[np.linalg.norm(points[:, :2], axis=1) > 0.25][:count]


class Octree(Peer):
    """Pinocchio with coal's octree of the points."""

    def __init__(self, points: np.ndarray, numbers: np.ndarray) -> None:
        super().__init__(NAME, {}, numbers)
        links = range(self.shapes.ngeoms)
        tree = coal.makeOctree(np.ascontiguousarray(points), 2.0 * RADIUS)
        added = self.shapes.addGeometryObject(pinocchio.GeometryObject("cloud", 0, 0, pinocchio.SE3.Identity(), tree))
        for k in links:
            if not self.shapes.geometryObjects[k].name.startswith(BASE):
                self.shapes.addCollisionPair(pinocchio.CollisionPair(k, added))
        self.data = pinocchio.GeometryData(self.shapes)


def agree(checker: Checker, peer: Octree, q: np.ndarray) -> float:
    """Check that the results fit cubes and balls of the same points; return the share of free configurations."""
    few = slice(0, 16)
    near, free = checker.clearance(q[few]), checker.free(q)
    theirs, hits = np.array(peer.distances(16)), np.array(peer.hits(len(q)))
    diagonal = 2.0 * RADIUS * 3**0.5
    points = near.upper + RADIUS  # upper bound of the distance to the nearest point
    assert (theirs <= points + 1e-6)[points > 0].all()
    separated = theirs > 0
    assert (theirs >= near.lower + RADIUS - diagonal - 1e-6)[separated & (near.lower > 0)].all()
    assert np.array_equal(free[few], near.lower > 0)
    wide = Checker(checker.robot, {"cloud": gk.PointCloud(checker.shape("cloud").points, diagonal)}, touching=TOUCHING)
    assert not (hits & wide.free(q)).any()  # a cube collides only if its point is within the diagonal
    point = Checker(checker.robot, {"cloud": gk.PointCloud(checker.shape("cloud").points, 0.0)}, touching=TOUCHING)
    assert not (~hits & ~point.free(q)).any()
    return float(free.mean())


TOUCHING = [(BASE, "cloud")]


def rows(count: int, plan: Plan) -> Iterator[str]:
    """Yield the rows of the table for a cloud of points."""
    points = shell(count)
    robot = Robot.from_urdf(SHARE / URDFS[NAME], SHARE / SRDFS[NAME], geometry="hull")
    checker = Checker(robot, {"cloud": gk.PointCloud(points, RADIUS)}, touching=TOUCHING)
    q = some(robot, 6 * COUNT, 1)
    free = checker.free(q)
    self_free = Checker(robot).free(q)
    inside, clear = q[~free & self_free][:COUNT], q[free][:COUNT]
    to = clear + np.clip(some(robot, len(clear), 9) - clear, -TURN, TURN)
    clouds = [gk.PointCloud(points, RADIUS) for _ in range(4)]
    for each in clouds:
        checker.copy().add("other", each)
        gk.collide(each, gk.Sphere(0.1))
    turns = [0]

    def swap() -> None:
        turns[0] += 1
        checker.remove("cloud")
        checker.add("cloud", clouds[turns[0] % 4], touching=[BASE])
        checker.free(clear[0])

    def once(query: Callable[[], Any]) -> Callable[[int], None]:
        return lambda n: [query() for _ in range(n)] and None

    def built() -> None:
        gk.collide(gk.PointCloud(points, RADIUS), gk.Sphere(0.1))

    peers = {name: Octree(points, each) for name, each in (("clear", clear), ("inside", inside))}
    share = agree(checker, Octree(points, q), q)
    plain = np.ascontiguousarray(points)
    queries: dict[str, tuple[int, dict[str, Callable[[int], Any]]]] = {
        "build": (1, {"stack": once(built), "peer": once(lambda: coal.makeOctree(plain, 2.0 * RADIUS))}),
        "replace the cloud, and the first result": (1, {"stack": once(swap)}),
        "points of the robot itself": (1, {"stack": once(lambda: checker.outside(points, clear[0], margin=0.02))}),
    }
    for name, some_q in (("where it is free", clear), ("where it touches", inside)):
        peer, each, n = peers["clear" if some_q is clear else "inside"], list(some_q), len(some_q)
        queries[f"free, {name}"] = n, {
            "stack": cycled(n, lambda k, s=some_q: checker.free(s[:k])),
            "one": cycled(n, lambda k, s=each: [checker.free(x) for x in s[:k]]),
            "peer": cycled(n, peer.hits),
        }  # fmt: skip
        queries[f"distance, {name}"] = n, {
            "stack": cycled(n, lambda k, s=some_q: checker.clearance(s[:k])),
            "one": cycled(n, lambda k, s=each: [checker.clearance(x) for x in s[:k]]),
            "peer": cycled(n, peer.distances),
        }  # fmt: skip
        if some_q is inside:
            queries[f"distance with the fast depth, {name}"] = n, {
                "stack": cycled(n, lambda k: checker.clearance(inside[:k], depth="fast")),
                "one": cycled(n, lambda k: [checker.clearance(x, depth="fast") for x in inside[:k]]),
                "peer": cycled(n, peer.distances),
            }  # fmt: skip
    n = len(clear)
    queries[f"motions of {TURN} rad, proven"] = n, {
        "stack": cycled(n, lambda k: checker.motion_free(clear[:k], to[:k], certify=True)),
    }  # fmt: skip
    queries[f"motions of {TURN} rad, every 0.05 rad"] = n, {
        "stack": cycled(n, lambda k: checker.motion_free(clear[:k], to[:k])),
    }  # fmt: skip
    for question, (block, tasks) in queries.items():
        # slow queries need fewer repetitions
        few = min(block, 4) if "touches" in question and question.startswith("distance") else block
        timings = measure({who: Task(run, few, 64 * block, plan.batch_seconds) for who, run in tasks.items()}, plan)
        cells = [f"{timings[who].median:.1f}" if who in timings else "" for who in ("stack", "one", "peer")]
        ratio = timings["peer"].median / timings["stack"].median if "peer" in timings else 0.0
        best = f"{ratio:.{2 if ratio < 99.5 else 3}g}x" if ratio else ""
        yield f"| {len(points)} points, {100 * share:.0f} % free | {question} | {' | '.join(cells)} | {best} |"


def main(given: list[str] | None = None) -> int:
    """Write the Markdown table."""
    parser = table_parser("tests.benchmarks.robots_clouds", __doc__, 7)
    parser.add_argument("--points", type=int, nargs="+", default=[10**4, 10**5])
    parser.add_argument("--quick", action="store_true", help="to see that all works")
    arguments = parser.parse_args(given)
    plan = QUICK if arguments.quick else Plan(arguments.rounds, 0.01, 0.02, 3.0)
    lines = [
        "# A Panda in clouds",
        "",
        "Written by `python -m tests.benchmarks.robots_clouds --out tests/benchmarks/robots-clouds.md`: us of CPU time",
        "a configuration, a motion or a cloud. A number for the whole cloud is in the first column.",
        "",
        "| cloud | query | all in one call | one per call | pinocchio, coal's octree | faster |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for count in arguments.points:
        for line in rows(count, plan):
            print(line, file=sys.stderr, flush=True)
            lines.append(line)
    write_table(lines, arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
