"""``python -m tests.benchmarks.manager``: 50 nuts of 1046 triangles in `gjk3d.CollisionManager` and in that of trimesh.

The table has the CPU time of a call, the median over interleaved rounds. The run stops if the results of the two
disagree. In the row "step", all nuts get new transforms before each query.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pyvista as pv
import trimesh
from pyvista import examples
from scipy.spatial.transform import Rotation
from trimesh.collision import CollisionManager

import gjk3d as gk

from .beyond import medians

COUNT = 50
REPEATS = 5


def nut() -> trimesh.Trimesh:
    """Return the nut mesh of pyvista, centred at the origin."""
    data = pv.read(examples.nutfile).triangulate().extract_surface(algorithm="dataset_surface").clean()
    mesh = trimesh.Trimesh(data.points.astype(float), data.faces.reshape(-1, 4)[:, 1:])
    mesh.apply_translation(-mesh.bounds.mean(axis=0))
    return mesh


def transforms(spread: float, seed: int) -> np.ndarray:
    """Return a random transform for each nut."""
    rng = np.random.default_rng(seed)
    out = np.tile(np.eye(4), (COUNT, 1, 1))
    out[:, :3, :3] = Rotation.random(COUNT, random_state=seed).as_matrix()
    out[:, :3, 3] = rng.uniform(-spread, spread, (COUNT, 3))
    return out


def filled(kind: Any, mesh: trimesh.Trimesh, where: np.ndarray) -> Any:
    """Return a manager with all nuts."""
    manager = kind()
    for k in range(COUNT):
        manager.add_object(f"nut {k}", mesh, where[k])
    place(manager, where)
    return manager


def place(manager: Any, where: np.ndarray) -> None:
    """Set the transforms of all nuts in full precision, since ``add_object`` of trimesh rounds them."""
    for k in range(COUNT):
        manager.set_transform(f"nut {k}", where[k])


def queries_of(kind: Any, mesh: trimesh.Trimesh, where: np.ndarray, last: np.ndarray) -> dict[str, Any]:
    """Return the queries of a manager by name."""
    manager = filled(kind, mesh, where)

    def step() -> Any:
        place(manager, where)
        return manager.in_collision_internal(return_names=True)

    def fill() -> int:
        filled(kind, mesh, where)
        return COUNT

    return {
        "add all": fill,
        "move all": lambda: place(manager, where),
        "collision of any": manager.in_collision_internal,
        "names of all that collide": lambda: manager.in_collision_internal(return_names=True),
        "step: move all, names": step,
        "contacts of all": lambda: manager.in_collision_internal(return_data=True),
        "one nut against all": lambda: manager.in_collision_single(mesh, last, return_names=True),
        "distance of one in it from the others": lambda: round(manager.min_distance_internal("nut 0"), 9),
        "distance of a nut from all": lambda: round(manager.min_distance_single(mesh, last), 9),
    }


def comparable(answer: Any) -> Any:
    """Return the pairs of faces of contacts, since fcl can have two points of a pair, or another result unchanged."""
    if not (isinstance(answer, tuple) and isinstance(answer[-1], list)):
        return answer
    return {frozenset((name, contact.index(name)) for name in contact.names) for contact in answer[-1]}


def several(call: Any) -> Any:
    """Return a loop of calls that is long enough for the clock."""

    def run() -> None:
        for _ in range(REPEATS):
            call()

    return run


def main(given: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args(given).rounds
    mesh = nut()
    print("| 50 nuts | question | gjk3d ms | trimesh ms | gjk3d is faster |\n| --- | --- | --- | --- | --- |")
    for label, spread in (("crowded", 70.0), ("loose", 200.0)):
        where, last = transforms(spread, 1), np.eye(4)
        last[:3, 3] = 1.1 * spread
        queries = [queries_of(kind, mesh, where, last) for kind in (gk.CollisionManager, CollisionManager)]
        for question in queries[0]:
            calls = [by_name[question] for by_name in queries]
            answers = [comparable(call()) for call in calls]
            assert answers[0] == answers[1], question
            tasks = [(name, REPEATS, several(call)) for name, call in zip(("gjk3d", "trimesh"), calls, strict=True)]
            mine, peer = (1e-3 * spent for spent in medians(tasks, rounds).values())
            print(f"| {label} | {question} | {mine:.3f} | {peer:.3f} | {peer / mine:.2f}x |", flush=True)


if __name__ == "__main__":
    main()
