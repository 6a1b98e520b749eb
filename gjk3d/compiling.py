"""Compile every kernel ahead of the first query, by asking one small query of each kind."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d.bodies.contact import touches
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_pair import MeshPair, meet_many
from gjk3d.convex.pairs import Pairs
from gjk3d.poses import pose_rows
from gjk3d.query.contact import contact
from gjk3d.query.distance import collide, separating_axis, signed_distance
from gjk3d.query.raycast import raycast
from gjk3d.query.time_of_impact import time_of_impact
from gjk3d.scene import Scene
from gjk3d.shapes.box import Box
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.simplices import Point
from gjk3d.shapes.sphere import Sphere


def warmup(report: Callable[[str, float], None] | None = None) -> list[tuple[str, float]]:
    """Compile every kernel that a first query of any kind needs: minutes where nothing is compiled yet.

    Parameters
    ----------
    report : callable, optional
        Called after each step with its name and its seconds.

    Returns
    -------
    list of (str, float)
        What took how many seconds.

    Examples
    --------
    >>> import gjk3d as gk
    >>> [name for name, seconds in gk.warmup()][:2]
    ['poses', 'support']
    """
    point, box, far = Point((0.0, 0.0, 0.0)), Box((1.0, 1.0, 1.0)), np.eye(4)
    far[0, 3] = 3.0
    steps: list[tuple[str, Callable[[], Any]]] = [
        ("poses", lambda: pose_rows(far)),
        ("support", lambda: point.support((1.0, 0.0, 0.0))),
        ("distance, signed distance", lambda: signed_distance(point, point, None, far)),
        ("collide", lambda: collide(point, point, None, far)),
        ("half-spaces", lambda: signed_distance(Halfspace((0, 0, 1), 0), point, None, far)),
        ("many pairs", lambda: Pairs([point, point]).collide([[0, 1]], [np.eye(4), far])),
        ("facets", lambda: separating_axis(box, box, None, far)),
        ("contacts", lambda: contact(box, box, None, far)),
        ("times of impact", lambda: time_of_impact(point, point, None, far)),
        ("scenes", lambda: _scene(far)),
        ("meshes", lambda: _meshes(far)),
        ("rays", lambda: raycast(point, (1.0, 0.0, 0.0), (1.0, 0.0, 0.0))),
        ("robots", _robot),
    ]
    times = []
    for name, step in steps:
        start = time.perf_counter()
        step()
        times.append((name, time.perf_counter() - start))
        if report is not None:
            report(*times[-1])
    return times


def _meshes(far: Any) -> None:
    """Ask two meshes everything that has kernels of its own."""
    corners, faces = np.vstack([np.zeros(3), np.eye(3)]), [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    first, second = Mesh(corners, faces), Mesh(corners, faces)
    signed_distance(first, second, None, far)
    rows = pose_rows(far[None])[0]
    meet_many(first, second, rows, rows)
    touches(MeshPair.of(first, second, rows[0, :12]))


def _scene(far: Any) -> None:
    """Ask a scene everything that has kernels of its own."""
    scene, other = Scene(), Scene()
    for name in "abc":
        scene.add(name, Point())
        other.add(name, Point())
    scene.closest(within=0.0)
    scene.collisions(other)
    scene.move_many(["a", "b"], np.stack([far, far]))
    scene.clearance()
    for name in "c":  # few among many are moved one by one
        many = Scene()
        many.add_many([f"{name}{k}" for k in range(40)], Point())
        many.collides()
        many.move(f"{name}0", far)
        many.add("one more", Point())
        many.collides()
        many.remove("one more")


_ROBOT = """<robot name="warmup"><link name="plate"/>
<link name="post"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<link name="beam"><collision><origin xyz="0.5 0 0"/><geometry><box size="0.6 0.1 0.1"/></geometry>
</collision></link><joint name="lift" type="prismatic"><parent link="post"/><child link="plate"/>
<limit lower="0" upper="1" effort="1" velocity="1"/></joint>
<joint name="turn" type="continuous"><parent link="plate"/><child link="beam"/><axis xyz="0 0 1"/></joint></robot>"""


def _robot() -> None:
    """Ask a checker everything that has kernels of its own."""
    from gjk3d.robot import Checker, Robot

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "warmup.urdf"
        path.write_text(_ROBOT)
        robot = Robot.from_urdf(path)
    checker = Checker(robot, {"floor": Halfspace((0, 0, 1), -1), "ball": Sphere(0.1)}, touching=[("post", "ball")])
    q = np.array([0.5, 0.0])
    robot.jacobian(q, "beam")
    for each in (q, q[None]):
        checker.free(each)
        checker.gradient(each)
    checker.collisions(q)
    for certify in (False, True):
        checker.copy().motion_free(q, q + 0.1, certify=certify)
