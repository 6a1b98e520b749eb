"""``python -m tests.benchmarks.manager``: 50 nuts of 1046 triangles in `gjk3d.CollisionManager` and in that of trimesh.

CPU time a call, medians over rounds in which both take turns; both agree on what they find, or the run stops. All nuts
are given new transforms before each question in the row "step".
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
    """The nut that comes with pyvista, about the origin."""
    data = pv.read(examples.nutfile).triangulate().extract_surface(algorithm="dataset_surface").clean()
    mesh = trimesh.Trimesh(data.points.astype(float), data.faces.reshape(-1, 4)[:, 1:])
    mesh.apply_translation(-mesh.bounds.mean(axis=0))
    return mesh


def transforms(spread: float, seed: int) -> np.ndarray:
    """One for each nut."""
    rng = np.random.default_rng(seed)
    out = np.tile(np.eye(4), (COUNT, 1, 1))
    out[:, :3, :3] = Rotation.random(COUNT, random_state=seed).as_matrix()
    out[:, :3, 3] = rng.uniform(-spread, spread, (COUNT, 3))
    return out


def filled(kind: Any, mesh: trimesh.Trimesh, where: np.ndarray) -> Any:
    """A manager of the nuts."""
    manager = kind()
    for k in range(COUNT):
        manager.add_object(f"nut {k}", mesh, where[k])
    place(manager, where)
    return manager


def place(manager: Any, where: np.ndarray) -> None:
    """Give all nuts their transforms, in all their digits, which ``add_object`` of trimesh rounds."""
    for k in range(COUNT):
        manager.set_transform(f"nut {k}", where[k])


def questions(kind: Any, mesh: trimesh.Trimesh, where: np.ndarray, last: np.ndarray) -> dict[str, Any]:
    """What both are asked."""
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
    """Of contacts the pairs of faces, since fcl has two points of some; of all else itself."""
    if not (isinstance(answer, tuple) and isinstance(answer[-1], list)):
        return answer
    return {frozenset((name, contact.index(name)) for name in contact.names) for contact in answer[-1]}


def several(call: Any) -> Any:
    """The call, so often that the clock can tell."""

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
        asked = [questions(kind, mesh, where, last) for kind in (gk.CollisionManager, CollisionManager)]
        for question in asked[0]:
            calls = [ask[question] for ask in asked]
            answers = [comparable(call()) for call in calls]
            assert answers[0] == answers[1], question
            tasks = [(name, REPEATS, several(call)) for name, call in zip(("gjk3d", "trimesh"), calls, strict=True)]
            mine, peer = (1e-3 * spent for spent in medians(tasks, rounds).values())
            print(f"| {label} | {question} | {mine:.3f} | {peer:.3f} | {peer / mine:.2f}x |", flush=True)


if __name__ == "__main__":
    main()
