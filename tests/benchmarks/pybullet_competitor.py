"""pybullet: getClosestPoints on collision shapes, which takes the poses in the same call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pybullet
from naive import Array
from scipy.spatial.transform import Rotation

from .competitor import Competitor, Loop
from .scenes import Scene

_FAR = 1e3


class Pybullet(Competitor):
    """pybullet with prepared poses as tuples of floats, and with collision margins of 0."""

    name = "pybullet"
    module = "pybullet"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        if pybullet.isConnected():
            pybullet.resetSimulation()
        else:
            pybullet.connect(pybullet.DIRECT)
        used = [_shape(spec) for spec in scene.specs]
        self.queries = []
        first = _place(scene.poses_a[0])
        for k in range(self.most):
            i, j = scene.pair(k)
            place_a = first if scene.still else _place(scene.poses_a[k])
            self.queries.append((used[i], used[j], *place_a, *_place(scene.poses_b[k])))

    def loop(self, question: str) -> Loop:
        closest_points, queries = pybullet.getClosestPoints, self.queries
        limit = 0.0 if question == "boolean" else _FAR

        def run(n: int) -> list[Any]:
            return [
                closest_points(
                    -1,
                    -1,
                    limit,
                    collisionShapeA=a,
                    collisionShapeB=b,
                    collisionShapePositionA=xa,
                    collisionShapePositionB=xb,
                    collisionShapeOrientationA=qa,
                    collisionShapeOrientationB=qb,
                )
                for a, b, xa, qa, xb, qb in queries[:n]
            ]

        return run

    def values(self, question: str, answers: Any) -> Array:
        if question == "boolean":
            return np.array([len(contacts) > 0 for contacts in answers])
        return np.array([min((contact[8] for contact in contacts), default=np.nan) for contacts in answers])

    def points(self, count: int) -> tuple[Array, Array]:
        points = np.full((2, count, 3), np.nan)
        for k, contacts in enumerate(self.loop("distance")(count)):
            if contacts:
                nearest = min(contacts, key=lambda contact: contact[8])
                points[:, k] = nearest[5], nearest[6]
        return points[0], points[1]


def _place(pose: Array) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(pose[:3, 3].tolist()), tuple(Rotation.from_matrix(pose[:3, :3]).as_quat().tolist())


def _shape(spec: Any) -> int:
    kind, *numbers = spec
    if kind == "hull":
        made = pybullet.createCollisionShape(pybullet.GEOM_MESH, vertices=np.asarray(numbers[0]).tolist())
    elif kind == "box":
        made = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=(np.asarray(numbers[0]) / 2).tolist())
    elif kind == "sphere":
        made = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=float(numbers[0]))
    else:
        code = {"capsule": pybullet.GEOM_CAPSULE, "cylinder": pybullet.GEOM_CYLINDER}[kind]
        made = pybullet.createCollisionShape(code, radius=float(numbers[0]), height=float(numbers[1]))
    if made < 0:
        raise RuntimeError(f"pybullet makes no {kind} of {numbers}")
    # the margin set on the body also applies to its shape; hulls have an additional margin
    pybullet.changeDynamics(pybullet.createMultiBody(baseCollisionShapeIndex=made), -1, collisionMargin=0.0)
    return int(made)


COMPETITORS = [Pybullet]
