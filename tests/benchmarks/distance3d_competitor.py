"""distance3d: its fastest solver for each query. The poses are set on the colliders."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from naive import Array
from strategies import build

from .competitor import Competitor, Loop
from .scenes import Scene

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # numba warns about the kernels of distance3d
    from distance3d import colliders, epa, gjk


class Distance3d(Competitor):
    """distance3d: booleans of primitives by its compiled solver, distances by its port of Jolt, depths by its EPA."""

    name = "distance3d"
    module = "distance3d"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.shapes = [_collider(spec) for spec in scene.specs]
        self.queries = []
        for k in range(self.most):
            i, j = scene.pair(k)
            place = scene.poses_a[0 if scene.still else k].copy()
            self.queries.append((self.shapes[i], place, self.shapes[j], scene.poses_b[k].copy()))
        self.shapes[0].update_pose(self.queries[0][1])

    @property
    def most(self) -> int:
        """Return a small number of queries, since this library is slow."""
        return min(256, super().most)

    def loop(self, question: str) -> Loop:
        hulls = self.scene.specs[0][0] == "hull"
        if question == "boolean":
            query: Any = gjk.gjk_intersection_jolt if hulls else gjk.gjk_nesterov_accelerated_primitives_intersection
        else:
            query = gjk.gjk_distance_jolt if question == "distance" else _signed
        still, queries = self.scene.still, self.queries

        def run(n: int) -> list[Any]:
            answers = []
            for a, pa, b, pb in queries[:n]:
                if not still:
                    a.update_pose(pa)
                b.update_pose(pb)
                answers.append(query(a, b))
            return answers

        return run

    def values(self, question: str, answers: Any) -> Array:
        return np.array([x[0] for x in answers]) if question == "distance" else np.asarray(answers)

    def points(self, count: int) -> tuple[Array, Array]:
        answers = self.loop("distance")(count)
        nothing = np.full(3, np.nan)
        return tuple(  # type: ignore[return-value]
            np.array([nothing if x[k] is None else x[k] for x in answers]) for k in (1, 2)
        )


def _signed(a: Any, b: Any) -> float:
    distance, _, _, simplex = gjk.gjk_distance_jolt(a, b)
    if distance > 0.0:
        return float(distance)
    try:
        translation, _, _ = epa.epa(simplex, a, b, max_faces=256, max_loose_edges=128)
    except AssertionError:  # EPA has no room for more faces or edges
        return float("nan")
    return -float(np.linalg.norm(translation))


def _collider(spec: Any) -> Any:
    kind, *numbers = spec
    identity = np.eye(4)
    if kind == "hull":
        hull = build(spec)
        return colliders.MeshGraph(
            identity, np.array(hull.vertices), np.array(hull.faces)
        )  # the kernels need writable arrays
    if kind == "box":
        return colliders.Box(identity, np.asarray(numbers[0], dtype=float))
    if kind == "sphere":
        return colliders.Sphere(np.zeros(3), float(numbers[0]))
    make = {"capsule": colliders.Capsule, "cylinder": colliders.Cylinder}[kind]
    return make(identity, float(numbers[0]), float(numbers[1]))


COMPETITORS = [Distance3d]
