"""A ship flies among two thousand tumbling rocks. All rocks move at each step, and the ship avoids the closest ones."""

import argparse
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import gjk3d as gk

COUNT, STEPS, SIDE = 2000, 120, 40.0  #: rocks, steps, and the side of the cube of the rocks in metres
NEAR, SHOWN = 1.5, 4.0  #: the ship avoids rocks nearer than NEAR; rocks within SHOWN of its path are drawn
SPEED = 0.4  #: metres a step
SHIP = gk.ConvexHull([(1.2, 0, 0), (-0.6, 0.6, 0), (-0.6, -0.6, 0), (-0.6, 0, 0.4)])
ROCK, CLOSE, PATH, INK = "#9A948C", "#D55E00", "#0072B2", "#202124"


def rocks(rng):
    """Return the shape of each rock, one of twenty."""
    kinds = [gk.ConvexHull(rng.normal(size=(24, 3)) * rng.uniform(0.15, 0.4)) for _ in range(20)]
    return [kinds[k] for k in rng.integers(0, len(kinds), COUNT)]


def placed(turns, places):
    """Return the poses of rotations and positions."""
    poses = np.tile(np.eye(4), (len(places), 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = turns.as_matrix(), places
    return poses


def along(a, b):
    """Return the pose at the middle of two points whose z axis points from the first to the second."""
    turn = Rotation.align_vectors((b - a)[None], np.array([[0.0, 0.0, 1.0]]))[0]
    return placed(Rotation.concatenate([turn]), ((a + b) / 2)[None])[0]


def steered(scene, heading):
    """Return the new heading: the last one, a little forward, and away from near rocks, most from the nearest."""
    push = np.zeros(3)
    for a, _, row in scene.closest("ship", within=NEAR):
        outward = row.normal if a != "ship" else -row.normal
        push += outward * ((NEAR - max(row.distance, 0.0)) / NEAR) ** 2
    heading = heading + 0.15 * np.array([1.0, 0.0, 0.0]) + push
    return heading / np.linalg.norm(heading)


def fly(seed=3):
    """Fly through the rocks; return the scene at the end, the ship's path, and its clearance at each step."""
    rng = np.random.default_rng(seed)
    names = [f"rock {k}" for k in range(COUNT)]
    turns, places = Rotation.random(COUNT, rng=rng), rng.uniform(-SIDE / 2, SIDE / 2, (COUNT, 3))
    places[:, 0] += SIDE / 2 + 4.0  # the ship starts outside
    spins, drifts = rng.normal(size=(COUNT, 3)) * 0.1, rng.normal(size=(COUNT, 3)) * 0.04
    ship, heading, path, clearances = np.zeros(3), np.array([1.0, 0.0, 0.0]), [np.zeros(3)], []
    scene = gk.Scene()
    scene.add_many(names, rocks(rng), placed(turns, places), group="rocks", mask=["ship"])
    scene.add("ship", SHIP, group="ship")
    for step in range(STEPS):
        turns, places = Rotation.from_rotvec(spins) * turns, places + drifts
        scene.move_many(names, placed(turns, places))
        heading = steered(scene, heading)
        ship = ship + SPEED * heading
        scene.move("ship", placed(Rotation.identity(1), ship[None])[0])
        least = scene.clearance("ship")
        path.append(ship)
        clearances.append(least.distance)
        if step % 20 == 19:
            rock = next(name for name in least.pair if name != "ship")
            print(f"step {step + 1:>3}: clearance {least.distance:.4f} m from {rock}, at x = {ship[0]:.1f} m")
    return scene, np.array(path), clearances


def draw(scene, path, file):
    """Draw the path and the rocks near it at the end, with the nearest in another colour."""
    trace = gk.Scene()  # the path as a scene of its own
    for k, (a, b) in enumerate(pairwise(path)):
        trace.add(f"{k}", gk.Segment(a, b), group="ship")  # rocks may collide with this group
    near = {a: row.distance for a, _, row in reversed(list(scene.closest(trace, within=SHOWN))) if a != "ship"}
    some = [[name for name in near if low < near[name] <= high] for low, high in ((-SHOWN, NEAR), (NEAR, SHOWN))]
    close, far = ([(scene.shape(name), scene.pose(name)) for name in names] for names in some)
    tubes = [gk.Capsule(0.1, float(np.linalg.norm(b - a))) for a, b in pairwise(path)]
    gk.viz.show(
        [far, close, [(shape, along(a, b)) for shape, (a, b) in zip(tubes, pairwise(path), strict=True)],
         (SHIP, scene.pose("ship"))],
        colors=(ROCK, CLOSE, PATH, INK),
        opacity=(0.35, 1.0, 1.0, 1.0),
        names=(f"rocks within {SHOWN} of the way", f"rocks within {NEAR}, from which it turns away", "way", "ship"),
        title=f"{len(tubes)} steps among {COUNT} rocks, none hit",
        view=(0.0, -0.92, 0.38),
        path=file,
    )  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    out = parser.parse_args().out
    scene, path, clearances = fly()
    print(f"{COUNT} rocks, {STEPS} steps: clearance never below {min(clearances):.4f} m")
    out.mkdir(parents=True, exist_ok=True)
    draw(scene, path, out / "asteroids.png")
    print(f"picture: {out / 'asteroids.png'}", file=sys.stderr)
