"""mujoco: mj_geomDistance on a model that contains all shapes. The poses are written into its world frames."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from naive import Array, Spec
from scipy.spatial.transform import Rotation
from strategies import build

from .competitor import Competitor, Loop
from .scenes import Scene

_FAR = 1e9
#: a boolean is a distance below this; a limit of 0 returns 0 for separated and for touching pairs
_NEAR = 1e-12


class Mujoco(Competitor):
    """mujoco with the default tolerance and iterations of its solver."""

    name = "mujoco"
    module = "mujoco"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        spec = mujoco.MjSpec()
        for k, shape in enumerate(scene.specs):
            body = spec.worldbody.add_body(name=f"b{k}")
            body.add_freejoint()
            add_shape(spec, body.add_geom(), shape, k, set())
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        mujoco.mj_kinematics(self.model, self.data)
        # mujoco stores a mesh relative to its centre of mass and principal axes
        frames = np.zeros((len(scene.specs), 4, 4))
        frames[:, :3, :3] = Rotation.from_quat(np.roll(self.model.geom_quat, -1, axis=1)).as_matrix()
        frames[:, :3, 3], frames[:, 3, 3] = self.model.geom_pos, 1.0
        self.spots = [(self.data.geom_xpos[k], self.data.geom_xmat[k]) for k in range(len(scene.specs))]
        self.queries = []
        for k in range(self.most):
            i, j = scene.pair(k)
            query: list[Any] = [i, j]
            for index, pose in ((i, scene.poses_a[0 if scene.still else k]), (j, scene.poses_b[k])):
                placed = pose @ frames[index]
                query += [placed[:3, 3].copy(), placed[:3, :3].ravel()]
            self.queries.append(tuple(query))
        self._place(self.queries[0])

    def _place(self, query: tuple[Any, ...]) -> None:
        i, j, xa, ra, xb, rb = query
        self.spots[i][0][:], self.spots[i][1][:] = xa, ra
        self.spots[j][0][:], self.spots[j][1][:] = xb, rb

    def loop(self, question: str) -> Loop:
        geom_distance, model, data, queries = mujoco.mj_geomDistance, self.model, self.data, self.queries
        limit, segment = (_NEAR, None) if question == "boolean" else (_FAR, np.zeros(6))
        if self.scene.pairs is not None:
            spots = self.spots

            def run_pairs(n: int) -> list[float]:
                answers = []
                for i, j, xa, ra, xb, rb in queries[:n]:
                    position, rotation = spots[i]
                    position[:] = xa
                    rotation[:] = ra
                    position, rotation = spots[j]
                    position[:] = xb
                    rotation[:] = rb
                    answers.append(geom_distance(model, data, i, j, limit, segment))
                return answers

            return run_pairs
        if self.scene.still:
            position, rotation = self.spots[1]

            def run_still(n: int) -> list[float]:
                answers = []
                for _, _, _, _, xb, rb in queries[:n]:
                    position[:] = xb
                    rotation[:] = rb
                    answers.append(geom_distance(model, data, 0, 1, limit, segment))
                return answers

            return run_still
        # one assignment sets the poses of both bodies
        positions, rotations = self.data.geom_xpos, self.data.geom_xmat
        placements = [(np.stack([xa, xb]), np.stack([ra, rb])) for _, _, xa, ra, xb, rb in queries]

        def run(n: int) -> list[float]:
            answers = []
            for x, r in placements[:n]:
                positions[:] = x
                rotations[:] = r
                answers.append(geom_distance(model, data, 0, 1, limit, segment))
            return answers

        return run

    def values(self, question: str, answers: Any) -> Array:
        distances = np.asarray(answers)
        return distances < _NEAR if question == "boolean" else distances

    def points(self, count: int) -> tuple[Array, Array]:
        segments = np.empty((count, 6))
        for query, row in zip(self.queries[:count], segments, strict=True):
            self._place(query)
            mujoco.mj_geomDistance(self.model, self.data, query[0], query[1], _FAR, row)
        return segments[:, :3], segments[:, 3:]


def add_shape(spec: Any, geom: Any, shape: Spec, index: int, meshes: set[str]) -> None:
    """Set the shape of a geom. The mesh of a hull is added once, and its name is added to ``meshes``."""
    kind, *numbers = shape
    types = mujoco.mjtGeom
    if kind == "hull":
        name = f"m{index}"
        if name not in meshes:
            hull = build(shape)
            mesh = spec.add_mesh(name=name)
            mesh.uservert, mesh.userface = hull.vertices.ravel(), hull.faces.ravel()
            meshes.add(name)
        geom.type, geom.meshname = types.mjGEOM_MESH, name
    elif kind == "box":
        geom.type, geom.size = types.mjGEOM_BOX, np.asarray(numbers[0]) / 2
    elif kind == "sphere":
        geom.type, geom.size = types.mjGEOM_SPHERE, [numbers[0], 0.0, 0.0]
    else:
        geom.type = {"capsule": types.mjGEOM_CAPSULE, "cylinder": types.mjGEOM_CYLINDER}[kind]
        geom.size = [numbers[0], numbers[1] / 2, 0.0]


COMPETITORS = [Mujoco]
