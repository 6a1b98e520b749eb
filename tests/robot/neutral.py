"""Every URDF of example-robot-data where all joints are 0: what collides there, and why; neutral.json has it.

``python tests/robot/neutral.py`` writes that file anew. A pair is listed under "shapes overlap" where pinocchio and
coal find that the triangles and primitives of the file itself meet, under "hulls overlap" where only the hulls do that
stand for the connected bodies of a mesh.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pinocchio
from example_robots import SHARE, Twin

from gjk3d.errors import Gjk3dError, RobotWarning
from gjk3d.robot import Checker, Robot

FILE = Path(__file__).with_suffix(".json")
NAMES = sorted(str(file.relative_to(SHARE)) for file in SHARE.rglob("*.urdf"))


def raw_pairs(file, robot):
    """Return which pairs of links coal finds to meet, triangles against triangles, among those that robot checks."""
    twin = Twin(file, robot)
    shapes = pinocchio.buildGeomFromUrdf(
        twin.model, str(file), pinocchio.GeometryType.COLLISION, package_dirs=[str(SHARE), str(SHARE.parents[1])]
    )
    links = [twin.model.frames[each.parentFrame].name for each in shapes.geometryObjects]
    checked = {frozenset((robot.links[a], robot.links[b])) for a, b in robot.pairs.tolist()}
    shapes.addAllCollisionPairs()
    pairs = [(pair.first, pair.second) for pair in shapes.collisionPairs]
    shapes.removeAllCollisionPairs()
    asked = [pair for pair in pairs if frozenset((links[pair[0]], links[pair[1]])) in checked]
    for pair in asked:
        shapes.addCollisionPair(pinocchio.CollisionPair(*pair))
    data = pinocchio.GeometryData(shapes)
    pinocchio.updateGeometryPlacements(twin.model, twin.data, shapes, data, twin.numbers(np.zeros(robot.dof)))
    found = set()
    for k, (a, b) in enumerate(asked):
        if pinocchio.computeCollision(shapes, data, k):
            found.add(frozenset((links[a], links[b])))
    return found


def loaded(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)
        return Robot.from_urdf(SHARE / name)


def hits(robot):
    """Return the pairs of links that collide where all joints are 0."""
    return {frozenset(each.pair) for each in Checker(robot).collisions(np.zeros(robot.dof))}


def answer(name):
    """Return what the file should have about one robot."""
    try:
        robot = loaded(name)
    except Gjk3dError as reason:
        return {"refused": type(reason).__name__}
    try:
        ours = hits(robot)
    except Gjk3dError as reason:
        return {"refused": type(reason).__name__}
    raw = raw_pairs(SHARE / name, robot)
    assert raw <= ours, (name, raw - ours)
    order = {link: k for k, link in enumerate(robot.links)}
    told = {"shapes overlap": ours & raw, "hulls overlap": ours - raw}
    return {why: sorted(sorted(pair, key=order.get) for pair in pairs) for why, pairs in told.items() if pairs}


if __name__ == "__main__":
    answers = {}
    for name in NAMES:
        answers[name] = answer(name)
        print(name, {k: v if isinstance(v, str) else len(v) for k, v in answers[name].items()}, flush=True)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in answers.items())
    FILE.write_text(f"{{\n{lines}\n}}\n")
