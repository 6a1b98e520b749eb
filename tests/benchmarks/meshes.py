"""``python -m tests.benchmarks.meshes``: two meshes of 82 000 triangles, beside coal and python-fcl.

CPU time a question as a caller in Python meets it, medians over rounds in which all take turns; all three agree on
what they find, or the run stops.
"""

from __future__ import annotations

import argparse
from typing import Any

import coal
import fcl
import numpy as np
import trimesh
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.bodies.bvh import tree_of

from .beyond import medians


def coal_lists(mesh: trimesh.Trimesh) -> tuple[Any, Any]:
    """The points and triangles in coal's own containers, whose filling from Python is not timed."""
    points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    points.extend(list(np.asarray(mesh.vertices)))
    for face in mesh.faces.tolist():
        faces.append(coal.Triangle(*face))
    return points, faces


def in_coal(lists: tuple[Any, Any]) -> Any:
    """Coal's tree of boxes with swept spheres, the one that measures distances."""
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(lists[1]), len(lists[0]))
    model.addSubModel(*lists)
    model.endModel()
    return model


def in_fcl(mesh: trimesh.Trimesh) -> Any:
    """The same in python-fcl."""
    model = fcl.BVHModel()
    model.beginModel(len(mesh.vertices), len(mesh.faces))
    model.addSubModel(mesh.vertices, mesh.faces)
    model.endModel()
    return model


def ask_gjk3d(mesh: gk.Mesh, pose: np.ndarray) -> dict[str, Any]:
    """What gjk3d is asked."""
    return {
        "boolean": lambda: gk.collide(mesh, mesh, None, pose),
        "all pairs of triangles": lambda: len(gk.meeting_faces(mesh, mesh, None, pose)),
        "distance": lambda: gk.distance(mesh, mesh, None, pose).distance,
    }


def ask_coal(model: Any, pose: np.ndarray) -> dict[str, Any]:
    """What coal is asked, poses, requests and results prepared."""
    one, two = coal.Transform3s(), coal.Transform3s(pose[:3, :3].copy(), pose[:3, 3].copy())
    few, many, far = coal.CollisionRequest(), coal.CollisionRequest(), coal.DistanceRequest()
    few.enable_contact, many.num_max_contacts = False, 1_000_000
    met, apart = coal.CollisionResult(), coal.DistanceResult()

    def collide(request: Any) -> int:
        met.clear()
        return int(coal.collide(model, one, model, two, request, met))

    def distance() -> float:
        apart.clear()
        return float(coal.distance(model, one, model, two, far, apart))

    return {
        "boolean": lambda: bool(collide(few)),
        "all pairs of triangles": lambda: collide(many),
        "distance": distance,
    }


def ask_fcl(model: Any, pose: np.ndarray) -> dict[str, Any]:
    """What python-fcl is asked."""
    objects = (
        fcl.CollisionObject(model, fcl.Transform()),
        fcl.CollisionObject(model, fcl.Transform(pose[:3, :3], pose[:3, 3])),
    )
    few, many = fcl.CollisionRequest(), fcl.CollisionRequest(num_max_contacts=1_000_000)
    return {
        "boolean": lambda: fcl.collide(*objects, few, fcl.CollisionResult()) > 0,
        "all pairs of triangles": lambda: fcl.collide(*objects, many, fcl.CollisionResult()),
        "distance": lambda: fcl.distance(*objects, fcl.DistanceRequest(), fcl.DistanceResult()),
    }


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.meshes", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    ball = trimesh.creation.icosphere(subdivisions=6)
    lists = coal_lists(ball)
    mesh, peers = gk.Mesh(ball.vertices, ball.faces), {"coal": in_coal(lists), "python-fcl": in_fcl(ball)}
    print("| two balls of 81 920 triangles | gjk3d | coal | python-fcl | gjk3d is faster than the faster |")
    print("| --- | --- | --- | --- | --- |")
    builds = medians(
        [
            ("gjk3d", 1, lambda: tree_of(gk.Mesh(ball.vertices, ball.faces))),
            ("coal", 1, lambda: in_coal(lists)),
            ("python-fcl", 1, lambda: in_fcl(ball)),
        ],
        min(rounds, 5),
    )
    show("building", builds)
    for what, reach in (("overlapping by 0.1", -0.1), ("apart by 0.01", 0.01), ("apart by 0.5", 0.5)):
        pose = np.eye(4)
        pose[:3, :3] = Rotation.from_rotvec((0.3, 0.5, 0.7)).as_matrix()
        pose[:3, 3] = (2.0 + reach) * np.array((0.36, 0.48, 0.8))
        asked = {
            "gjk3d": ask_gjk3d(mesh, pose), "coal": ask_coal(peers["coal"], pose),
            "python-fcl": ask_fcl(peers["python-fcl"], pose),
        }  # fmt: skip
        for question in asked["gjk3d"]:
            if (question == "distance" and reach < 0) or (question.startswith("all") and reach > 0):
                continue
            answers = [asked[name][question]() for name in asked]
            assert np.ptp(np.array(answers, dtype=float)) < 1e-6, answers
            count = 500 if question == "boolean" else 20  # so many that what a loop finds cold does not count
            tasks = [
                (name, count, lambda ask=asks[question], n=count: [ask() for _ in range(n)])
                for name, asks in asked.items()
            ]
            show(f"{what}: {question}", medians(tasks, rounds))


def show(what: str, told: dict[str, float]) -> None:
    """Print one row."""
    fastest = min(told["coal"], told["python-fcl"])
    cells = " | ".join(f"{told[name]:,.1f} us" for name in ("gjk3d", "coal", "python-fcl"))
    print(f"| {what} | {cells} | {fastest / told['gjk3d']:.2g}x |", flush=True)


if __name__ == "__main__":
    main()
