"""Collisions of every URDF of example-robot-data with all joints at 0, and their causes, as stored in neutral.json.

``python tests/robot/neutral.py`` rewrites that file. A pair is listed under "shapes overlap" if pinocchio and coal
report that the triangles and primitives of the file itself intersect. It is listed under "hulls overlap" if only the
convex hulls of the connected components of a mesh intersect.
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
    """Return the pairs of links whose original geometry collides by coal, among the pairs that ``robot`` checks."""
    twin = Twin(file, robot)
    shapes = pinocchio.buildGeomFromUrdf(
        twin.model, str(file), pinocchio.GeometryType.COLLISION, package_dirs=[str(SHARE), str(SHARE.parents[1])]
    )
    links = [twin.model.frames[item.parentFrame].name for item in shapes.geometryObjects]
    checked = {frozenset((robot.links[a], robot.links[b])) for a, b in robot.pairs.tolist()}
    shapes.addAllCollisionPairs()
    pairs = [(pair.first, pair.second) for pair in shapes.collisionPairs]
    shapes.removeAllCollisionPairs()
    candidates = [pair for pair in pairs if frozenset((links[pair[0]], links[pair[1]])) in checked]
    for pair in candidates:
        shapes.addCollisionPair(pinocchio.CollisionPair(*pair))
    data = pinocchio.GeometryData(shapes)
    pinocchio.updateGeometryPlacements(twin.model, twin.data, shapes, data, twin.numbers(np.zeros(robot.dof)))
    colliding = set()
    for k, (a, b) in enumerate(candidates):
        if pinocchio.computeCollision(shapes, data, k):
            colliding.add(frozenset((links[a], links[b])))
    return colliding


def loaded(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)
        return Robot.from_urdf(SHARE / name)


def hits(robot):
    """Return the pairs of links that collide with all joints at 0."""
    return {frozenset(hit.pair) for hit in Checker(robot).collisions(np.zeros(robot.dof))}


def entry_of(name):
    """Return the entry of one robot for neutral.json."""
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
    overlaps = {"shapes overlap": ours & raw, "hulls overlap": ours - raw}
    return {why: sorted(sorted(pair, key=order.get) for pair in pairs) for why, pairs in overlaps.items() if pairs}


if __name__ == "__main__":
    entries = {}
    for name in NAMES:
        entries[name] = entry_of(name)
        print(name, {k: v if isinstance(v, str) else len(v) for k, v in entries[name].items()}, flush=True)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
    FILE.write_text(f"{{\n{lines}\n}}\n")
