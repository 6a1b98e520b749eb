"""``python -m tests.benchmarks.one_call``: single queries from Python, compared with peers that have them.

The table has the CPU time of a call, the median over interleaved rounds. coal is timed twice: with prepared and reused
functors, transforms, requests and results, and with transforms made from the same 4x4 arrays that gjk3d takes. Rows
with "read" also read the distance, the normal and both points of each result.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import coal
import numpy as np
import trimesh
from scipy.spatial.transform import Rotation
from trimesh.collision import CollisionManager

import gjk3d as gk

from .beyond import medians, sphere_points
from .coal_competitor import Coal
from .gjk3d_competitor import Gjk3d
from .robots import SHARE, SRDFS, URDFS
from .scenes import ROWS, make
from .table_file import table_parser, write_table

COUNT = 512  #: queries of a repetition
QUESTIONS = {"boolean": "collide", "distance": "distance", "depth": "signed_distance"}


def some_poses(count: int, spread: float, seed: int) -> list[np.ndarray]:
    """Return random poses in a cube."""
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = Rotation.random(count, random_state=seed).as_matrix()
    poses[:, :3, 3] = np.random.default_rng(seed).uniform(-spread, spread, (count, 3))
    return list(poses)


def placed(pose: np.ndarray) -> Any:
    """Return coal's transform for a matrix."""
    return coal.Transform3s(pose[:3, :3], pose[:3, 3])


def of_coal(peer: Coal, question: str, read: bool, matrices: list[Any] | None) -> Callable[[], Any]:
    """Return a loop of coal over poses, with prepared transforms or from matrices."""
    request, result = peer._prepared(question)
    functor, clear = peer._functor(question, 0, 1), result.clear

    def prepared() -> None:
        for a, b in peer.transforms[:COUNT]:
            clear()
            functor(a, b, request, result)

    def reading() -> None:
        for a, b in peer.transforms[:COUNT]:
            clear()
            functor(a, b, request, result)
            result.min_distance, result.normal, result.getNearestPoint1(), result.getNearestPoint2()

    def from_matrices() -> None:
        for a, b in matrices or ():
            clear()
            functor(placed(a), placed(b), request, result)

    return from_matrices if matrices else reading if read else prepared


def of_gjk3d(query: Callable[..., Any], poses: list[Any], read: bool, *shapes: Any) -> Callable[[], Any]:
    """Return a loop of gjk3d over poses."""

    def plain() -> None:
        for a, b in poses:
            query(*shapes, a, b)

    def reading() -> None:
        for a, b in poses:
            answer = query(*shapes, a, b)
            answer.distance, answer.normal, answer.point_a, answer.point_b  # noqa: B018

    return reading if read else plain


def pairs(rounds: int) -> Iterator[str]:
    """Yield the table of two convex shapes."""
    yield "| pair | query | `Pair` | `gk.` functions | coal, prepared | coal, from 4x4 | faster | than from 4x4 |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for row in ROWS:
        scene = make(row, "one", COUNT, 0)
        peer, ours = Coal(scene), Gjk3d(scene)
        poses = list(zip(ours.poses_a[:COUNT], ours.poses_b[:COUNT], strict=True))
        for question, name in QUESTIONS.items():
            for read in (False, True) if question == "distance" else (False,):
                tasks = [
                    ("own", COUNT, of_gjk3d(getattr(ours.pair, name), poses, read)),
                    ("plain", COUNT, of_gjk3d(getattr(gk, name), poses, read, *ours.shapes[:2])),
                    ("coal", COUNT, of_coal(peer, question, read, None)),
                    ("4x4", COUNT, of_coal(peer, question, False, poses)),
                ]
                t = medians(tasks, rounds)
                cells = [f"{t[name]:.2f}" for name in ("own", "plain", "coal", "4x4")]
                last = "" if read else f"{t['4x4'] / t['own']:.2f}x"
                cells[3] = "" if read else cells[3]
                what = f"{question}, read" if read else question
                yield f"| {row} | {what} | {' | '.join(cells)} | {t['coal'] / t['own']:.2f}x | {last} |"


def others(rounds: int) -> Iterator[str]:
    """Yield the table of the other queries."""
    rng = np.random.default_rng(0)
    h, k = (gk.ConvexHull(0.5 * sphere_points(rng, 32)) for _ in range(2))
    box, cloud, ahead = gk.Box((1, 1.2, 0.8)), rng.normal(size=(40, 3)), np.eye(4)
    ahead[:3, 3] = 3.0, 0.2, 0.1
    near = some_poses(1, 0.4, 1)[0]
    still, moving = gk.Motion(ahead), gk.Motion.translation(None, (3, 0, 0))
    origin, way, none = np.array((5.0, 0.1, 0.2)), np.array((-1.0, 0.0, 0.0)), np.eye(4)
    deep, separated = gk.signed_distance(box, box, None, near), gk.signed_distance(h, k, None, ahead)
    queries: dict[str, tuple[float, Callable[[], Any]]] = {
        "contact of two boxes": (6, lambda: gk.contact(box, box, none, near)),
        "raycast of a box": (2, lambda: gk.raycast(box, origin, way)),
        "raycast of a hull of 32": (2, lambda: gk.raycast(h, origin, way)),
        "time_of_impact of hulls of 32": (12, lambda: gk.time_of_impact(h, k, moving, still)),
        "shapecast of hulls of 32": (15, lambda: gk.shapecast(h, k, (3, 0, 0), None, ahead)),
        "Motion.translation": (4, lambda: gk.Motion.translation(None, (3, 0, 0))),
        "Motion.between": (4, lambda: gk.Motion.between(none, near)),
        "gradient, overlapping": (6, lambda: gk.gradient(deep)),
        "gradient, apart": (6, lambda: gk.gradient(separated)),
        "aabb of a hull": (2, lambda: gk.aabb(h, near)),
        "bounding_sphere of a hull": (2, lambda: gk.bounding_sphere(h, near)),
        "obb of a new hull of 40 points": (500, lambda: gk.obb(gk.ConvexHull(cloud))),
        "overlap of two boxes": (60, lambda: gk.overlap(box, box, None, near)),
        "separating_axis of two boxes": (4, lambda: gk.separating_axis(box, box, None, near)),
        "ConvexHull of 40 points": (300, lambda: gk.ConvexHull(cloud)),
        "Box": (2, lambda: gk.Box((1, 1, 1))),
    }
    many = {name: 10 if goal >= 60 else 200 for name, (goal, _) in queries.items()}
    tasks = [
        (name, many[name], lambda call=call, n=many[name]: [call() for _ in range(n)])
        for name, (_, call) in queries.items()
    ]
    times = medians(tasks, rounds)
    yield "| one call | us | goal |"
    yield "| --- | ---: | ---: |"
    yield from (f"| {name} | {times[name]:.2f} | {goal:g} |" for name, (goal, _) in queries.items())


def scenes(rounds: int) -> Iterator[str]:
    """Yield the table of scenes in which one object is moved and queried."""
    yield "| scene of | move and collides(name) | coal: set, update, collide | gjk3d is faster |"
    yield "| ---: | ---: | ---: | ---: |"
    for count in (10, 100, 1000):
        spread = 2.0 * count ** (1 / 3)
        where, steps = some_poses(count, spread, 1), some_poses(200, spread, 2)
        scene, box = gk.Scene(), gk.Box((0.5, 0.5, 0.5))
        manager, solid, objects = coal.DynamicAABBTreeCollisionManager(), coal.Box(0.5, 0.5, 0.5), []
        for k, pose in enumerate(where):
            scene.add(f"o{k}", box, pose)
            objects.append(coal.CollisionObject(solid, placed(pose)))
            objects[-1].computeAABB()
            if k:  # object 0 is the query, and would collide with itself
                manager.registerObject(objects[-1])
        manager.setup()
        call = coal.CollisionCallBackDefault()

        def own(scene: gk.Scene = scene, steps: Any = steps) -> list[bool]:
            hits = []
            for pose in steps:
                scene.move("o0", pose)
                hits.append(scene.collides("o0"))
            return hits

        def peer(first: Any = objects[0], manager: Any = manager, call: Any = call, steps: Any = steps) -> list[bool]:
            hits = []
            for pose in steps:
                first.setTransform(placed(pose))
                first.computeAABB()
                manager.update()
                call.data.result.clear()
                call.data.done = False
                manager.collide(first, call)
                hits.append(call.data.result.isCollision())
            return hits

        assert own() == peer()
        t = medians([("own", len(steps), own), ("coal", len(steps), peer)], rounds)
        yield f"| {count} | {t['own']:.1f} | {t['coal']:.1f} | {t['coal'] / t['own']:.2f}x |"


def scenes_more(rounds: int) -> Iterator[str]:
    """Yield the table of scene queries that coal's manager does not have, with and without a floor."""
    yield "| scene of | query | us |"
    yield "| ---: | --- | ---: |"
    box, steps = gk.Box((0.5, 0.5, 0.5)), some_poses(200, 4.0, 2)
    rays = [(step[:3, 3].copy(), step[:3, 0].copy()) for step in steps]
    starts, ways = (np.ascontiguousarray(part) for part in zip(*rays, strict=True))
    for count in (10, 100):
        where = some_poses(count, 2.0 * count ** (1 / 3), 1)
        plain, floored = gk.Scene(), gk.Scene()
        for scene in (plain, floored):
            scene.add_many([f"o{k}" for k in range(count)], box, np.array(where))
        floored.add("floor", gk.Halfspace((0, 0, 1), -30))

        def moved(scene: gk.Scene, query: Callable[[], Any]) -> None:
            for step in steps:
                scene.move("o0", step)
                query()

        queries: dict[str, tuple[int, Callable[[], Any]]] = {
            "raycast of one": (len(rays), lambda scene=plain: [scene.raycast(*ray) for ray in rays]),
            "raycast, a ray of 200": (len(rays), lambda scene=plain: scene.raycast(starts, ways)),
        }
        for name, scene in (("", plain), (", over a floor", floored)):
            for what in ("collides", "collisions", "clearance"):
                query = getattr(scene, what)
                queries[f"move, {what}('o0'){name}"] = (200, lambda s=scene, a=query: moved(s, lambda: a("o0")))
        t = medians([(name, many, query) for name, (many, query) in queries.items()], rounds)
        yield from (f"| {count} | {name} | {t[name]:.1f} |" for name in queries)


def checkers(rounds: int) -> Iterator[str]:
    """Yield the table of a Panda at single configurations."""
    yield "| a Panda at one configuration | us |"
    yield "| --- | ---: |"
    robot = gk.robot.Robot.from_urdf(SHARE / URDFS["panda"], SHARE / SRDFS["panda"], geometry="hull")
    checker = gk.robot.Checker(robot)
    rows = list(np.random.default_rng(5).uniform(robot.lower, robot.upper, (200, robot.dof)))
    names = ("free", "clearance", "gradient", "collisions", "contacts")

    def run(name: str) -> list[Any]:
        query = getattr(checker, name)
        return [query(q) for q in rows]

    tasks = [(name, len(rows), lambda name=name: run(name)) for name in names]
    t = medians(tasks, rounds)
    yield from (f"| {name} | {t[name]:.1f} |" for name in names)


def managers(rounds: int) -> Iterator[str]:
    """Yield the table of the managers of gjk3d and trimesh."""
    yield "| boxes | query, after set_transform | gjk3d | trimesh | gjk3d is faster |"
    yield "| ---: | --- | ---: | ---: | ---: |"
    cube = trimesh.creation.box((0.5, 0.5, 0.5))
    for count in (2, 10, 50):
        spread = 0.6 * count ** (1 / 3)
        where, steps = some_poses(count, spread, 3), some_poses(100, spread, 4)
        kinds = {"own": gk.CollisionManager(), "trimesh": CollisionManager()}
        others = {type(manager): type(manager)() for manager in kinds.values()}
        for manager in others.values():
            for k, pose in enumerate(some_poses(count, spread, 5)):
                manager.add_object(f"p{k}", cube, pose)
        for manager in kinds.values():
            for k, pose in enumerate(where):
                manager.add_object(f"o{k}", cube, pose)
        guest = where[0]
        queries: dict[str, Callable[[Any], Any]] = {
            "in_collision_internal": lambda m: m.in_collision_internal(),
            "the same, with names": lambda m: m.in_collision_internal(return_names=True),
            "in_collision_single": lambda m, guest=guest: m.in_collision_single(cube, guest),
            "min_distance_internal": lambda m: m.min_distance_internal(),
            "min_distance_single": lambda m, guest=guest: m.min_distance_single(cube, guest),
            "internal, contacts": lambda m: m.in_collision_internal(return_names=True, return_data=True),
            "single, contacts": lambda m, guest=guest: m.in_collision_single(cube, guest, return_data=True),
            "internal distance, data": lambda m: m.min_distance_internal(return_names=True, return_data=True),
            "in_collision_other": lambda m, o=others: m.in_collision_other(o[type(m)]),
            "min_distance_other": lambda m, o=others: m.min_distance_other(o[type(m)]),
        }
        for question, query in queries.items():

            def run(manager: Any, query: Any = query, steps: Any = steps) -> None:
                for pose in steps:
                    manager.set_transform("o0", pose)
                    query(manager)

            t = medians([(n, len(steps), lambda m=m, run=run: run(m)) for n, m in kinds.items()], rounds)
            ratio = t["trimesh"] / t["own"]
            yield f"| {count} | {question} | {t['own']:.1f} | {t['trimesh']:.1f} | {ratio:.2f}x |"


def warm(rounds: int) -> Iterator[str]:
    """Yield the table of a pair with warm starts along a path of small steps."""
    yield "| vertices | cold | warm | warm / cold |"
    yield "| ---: | ---: | ---: | ---: |"
    rng = np.random.default_rng(0)
    for count in (512, 1024, 2048, 8192):
        a, b = (gk.ConvexHull(sphere_points(rng, count)) for _ in range(2))
        path, pose = [], np.eye(4)
        pose[:3, 3] = 2.6, 0.0, 0.0
        for _ in range(400):
            pose = pose.copy()
            pose[:3, :3] = Rotation.from_rotvec(0.01 * sphere_points(rng, 1)[0]).as_matrix() @ pose[:3, :3]
            pose[:3, 3] += 0.002 * rng.normal(size=3)
            path.append(pose)
        by_name = {name: gk.Pair(a, b, warm=name == "warm") for name in ("cold", "warm")}
        tasks = [(n, len(path), lambda p=p, path=path: [p.distance(None, m) for m in path]) for n, p in by_name.items()]
        t = medians(tasks, rounds)
        yield f"| {count} | {t['cold']:.2f} | {t['warm']:.2f} | {t['warm'] / t['cold']:.2f} |"


PARTS = {
    "Two convex shapes": pairs,
    "Other questions": others,
    "One object of a scene": scenes,
    "More of one object of a scene": scenes_more,
    "A checker": checkers,
    "trimesh's CollisionManager": managers,
    "A pair that remembers": warm,
}


def main(given: list[str] | None = None) -> int:
    """Write the tables that the command line selects."""
    parser = table_parser("tests.benchmarks.one_call", __doc__, 15)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), help="these parts alone")
    arguments = parser.parse_args(given)
    lines = [
        "# One call at a time",
        "",
        "Written by `python -m tests.benchmarks.one_call --out FILE`: us of CPU time.",
        "",
    ]
    for title in arguments.only:
        part = PARTS[title]
        print(title, file=sys.stderr, flush=True)
        lines += [f"## {title}", "", *part(arguments.rounds), ""]
    write_table(lines, arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
