"""Which pairs of links touch in many configurations: every pair is answered, with no early exit."""

from __future__ import annotations

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.convex.pairs import Pairs
from gjk3d.query.bounding import bounding_sphere
from gjk3d.query.distance import collide
from gjk3d.robot.model import Robot
from gjk3d.typing import Array, Bools, Ints

_ROUNDING = 1e-9  #: of a ball's size, by which it is asked about larger: poses are rounded


class Touching:
    """The shapes of a robot, ready to be asked which links touch."""

    __slots__ = ("_bodies", "_center", "_hulls", "_of_link", "_plain", "_radius", "robot")

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        balls = [bounding_sphere(each.hull) for each in robot.geometries]
        centers = [each.pose[:3, :3] @ ball.center + each.pose[:3, 3] for each, ball in zip(
            robot.geometries, balls, strict=True)]  # fmt: skip
        self._center = np.array(centers).reshape(-1, 3)
        self._radius = np.array([float(ball.radius) * (1.0 + _ROUNDING) for ball in balls])
        self._hulls = Pairs([each.hull for each in robot.geometries])
        #: bodies that are no meshes, at their own numbers; a mesh is stood in for by its hull and asked by itself
        self._plain = np.array([not isinstance(each.shape, Mesh) for each in robot.bodies], dtype=bool)
        self._bodies = Pairs(
            [robot.geometries[b.geometry].hull if isinstance(b.shape, Mesh) else b.shape for b in robot.bodies]
        )
        self._of_link = [
            [g for g, each in enumerate(robot.geometries) if each.link == link] for link in range(len(robot.links))
        ]

    def hits(self, pairs: Ints, q: Array) -> Bools:
        """Tell which pairs of links touch, (n configurations, pairs)."""
        robot = self.robot
        poses = robot.link_poses(q)
        answer = np.zeros((len(q), len(pairs)), dtype=bool)
        # pairs of geometries, each with the pair of links that it is of
        rows = [
            (g, h, k)
            for k, (a, b) in enumerate(pairs.tolist())
            for g in self._of_link[a]
            for h in self._of_link[b]
        ]  # fmt: skip
        if not rows or not len(q):
            return answer
        table = np.array(rows, dtype=np.int64)
        links = np.array([each.link for each in robot.geometries])
        local = np.array([each.pose for each in robot.geometries])
        at = poses[:, links]
        world = at @ local
        centers = np.einsum("ngij,gj->ngi", at[..., :3, :3], self._center) + at[..., :3, 3]
        apart = centers[:, table[:, 0]] - centers[:, table[:, 1]]
        reach = self._radius[table[:, 0]] + self._radius[table[:, 1]]
        size = np.abs(centers).max() if centers.size else 0.0
        near = np.einsum("nij,nij->ni", apart, apart) <= (reach + _ROUNDING * size) ** 2
        n, row = np.nonzero(near)
        found = self._hulls.collide(table[row, :2], self._two(table, world, n, row))
        n, row = n[found], row[found]
        n, row = self._opened(table, world, n, row)
        answer[n, table[row, 2]] = True
        return answer

    def _opened(self, table: Ints, world: Array, n: Ints, row: Ints) -> tuple[Ints, Ints]:
        """Keep of the hulls that touch those of which bodies touch."""
        shapes = self.robot.geometries
        hit = np.zeros(len(row), dtype=bool)
        asked = [np.zeros((0, 3), dtype=np.int64)]  # which row, and its two bodies
        for k in np.unique(row).tolist():
            where = np.flatnonzero(row == k)
            g, h = table[k, 0], table[k, 1]
            for i in range(shapes[g].first, shapes[g].last):
                for j in range(shapes[h].first, shapes[h].last):
                    if self._plain[i] and self._plain[j]:
                        asked.append(np.column_stack([where, np.full_like(where, i), np.full_like(where, j)]))
                        continue
                    one, two = self.robot.bodies[i].shape, self.robot.bodies[j].shape
                    hit[where] |= collide(one, two, world[n[where], g], world[n[where], h])
        each = np.concatenate(asked)
        found = self._bodies.collide(each[:, 1:], self._two(table, world, n[each[:, 0]], row[each[:, 0]]))
        hit[each[found, 0]] = True
        return n[hit], row[hit]

    def _two(self, table: Ints, world: Array, n: Ints, row: Ints) -> Array:
        """Return the two poses of each pair of geometries, (m, 2, 4, 4)."""
        return np.stack([world[n, table[row, 0]], world[n, table[row, 1]]], axis=1)
