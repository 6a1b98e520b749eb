"""``python -m tests.benchmarks.meshes``: two meshes of 82 000 triangles, compared with coal and python-fcl.

The table has the CPU time of a query from Python, the median over interleaved rounds. The run stops if the results of
the three libraries disagree.
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
    """Return the points and triangles in coal's containers, which are filled before the measurement."""
    points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    points.extend(list(np.asarray(mesh.vertices)))
    for face in mesh.faces.tolist():
        faces.append(coal.Triangle(*face))
    return points, faces


def in_coal(lists: tuple[Any, Any]) -> Any:
    """Return coal's tree of oriented boxes and swept spheres, which supports distances."""
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(lists[1]), len(lists[0]))
    model.addSubModel(*lists)
    model.endModel()
    return model


def in_fcl(mesh: trimesh.Trimesh) -> Any:
    """Return the tree of python-fcl."""
    model = fcl.BVHModel()
    model.beginModel(len(mesh.vertices), len(mesh.faces))
    model.addSubModel(mesh.vertices, mesh.faces)
    model.endModel()
    return model


def gjk3d_queries(mesh: gk.Mesh, pose: np.ndarray) -> dict[str, Any]:
    """Return gjk3d's queries by name."""
    return {
        "boolean": lambda: gk.collide(mesh, mesh, None, pose),
        "all pairs of triangles": lambda: len(gk.meeting_faces(mesh, mesh, None, pose)),
        "distance": lambda: gk.distance(mesh, mesh, None, pose).distance,
    }


def coal_queries(model: Any, pose: np.ndarray) -> dict[str, Any]:
    """Return coal's queries by name, with prepared poses, requests and results."""
    pose_a, pose_b = coal.Transform3s(), coal.Transform3s(pose[:3, :3].copy(), pose[:3, 3].copy())
    few, many, far = coal.CollisionRequest(), coal.CollisionRequest(), coal.DistanceRequest()
    few.enable_contact, many.num_max_contacts = False, 1_000_000
    collisions, distances = coal.CollisionResult(), coal.DistanceResult()

    def collide(request: Any) -> int:
        collisions.clear()
        return int(coal.collide(model, pose_a, model, pose_b, request, collisions))

    def distance() -> float:
        distances.clear()
        return float(coal.distance(model, pose_a, model, pose_b, far, distances))

    return {
        "boolean": lambda: bool(collide(few)),
        "all pairs of triangles": lambda: collide(many),
        "distance": distance,
    }


def fcl_queries(model: Any, pose: np.ndarray) -> dict[str, Any]:
    """Return python-fcl's queries by name."""
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
    """Print the Markdown table."""
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
        queries = {
            "gjk3d": gjk3d_queries(mesh, pose), "coal": coal_queries(peers["coal"], pose),
            "python-fcl": fcl_queries(peers["python-fcl"], pose),
        }  # fmt: skip
        for question in queries["gjk3d"]:
            if (question == "distance" and reach < 0) or (question.startswith("all") and reach > 0):
                continue
            answers = [queries[name][question]() for name in queries]
            assert np.ptp(np.array(answers, dtype=float)) < 1e-6, answers
            count = 500 if question == "boolean" else 20  # enough repetitions that cold caches do not matter
            tasks = [
                (name, count, lambda query=by_name[question], n=count: [query() for _ in range(n)])
                for name, by_name in queries.items()
            ]
            show(f"{what}: {question}", medians(tasks, rounds))


def show(what: str, times: dict[str, float]) -> None:
    """Print a row."""
    fastest = min(times["coal"], times["python-fcl"])
    cells = " | ".join(f"{times[name]:,.1f} us" for name in ("gjk3d", "coal", "python-fcl"))
    print(f"| {what} | {cells} | {fastest / times['gjk3d']:.2g}x |", flush=True)


if __name__ == "__main__":
    main()
