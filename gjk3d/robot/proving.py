"""Proof that two links never touch within the limits: boxes of configurations, halved until each is seen to be free.

When joint ``j`` turns by an angle, the distance of two links on either side changes by no more than the angle times
the reach of the nearer one from the joint (Schwarzer, Saha, Latombe 2005). So a box of configurations is free where
the distance at its middle is more than what its half widths can take away.
"""

from __future__ import annotations

import numpy as np

from gjk3d.convex.pairs import Pairs
from gjk3d.query.bounding import bounding_sphere
from gjk3d.robot.kinematics import FIXED, SLIDING, TURNING
from gjk3d.robot.model import Robot
from gjk3d.robot.touching import Touching
from gjk3d.typing import Array, Ints

FREE, HIT, OPEN = range(3)
_ROUNDING = 1e-9  #: of the size of the robot: what poses and reaches may be rounded by, and far more


class Prover:
    """A robot and limits within which pairs of its links are looked at."""

    __slots__ = ("_hulls", "_of_link", "_reach", "high", "low", "robot", "touching")  # fmt: skip

    def __init__(self, robot: Robot, low: Array, high: Array, touching: Touching) -> None:
        self.robot, self.low, self.high, self.touching = robot, low, high, touching
        self._hulls = Pairs([each.hull for each in robot.geometries])
        self._of_link: dict[int, list[int]] = {}
        self._reach = np.zeros(len(robot.links))  # of the shapes of a link from its origin
        for g, each in enumerate(robot.geometries):
            self._of_link.setdefault(each.link, []).append(g)
            ball = bounding_sphere(each.hull)
            center = each.pose[:3, :3] @ ball.center + each.pose[:3, 3]
            self._reach[each.link] = max(self._reach[each.link], float(np.linalg.norm(center) + ball.radius))

    def ask(self, a: int, b: int, most: int) -> int:
        """Return FREE where links a and b are proven apart, HIT where they were seen to touch, else OPEN.

        No more than ``most`` configurations are looked at.
        """
        found = self._weights(a, b)
        if found is None:
            return OPEN
        weights, size = found
        columns = np.flatnonzero(weights)
        middle = 0.5 * (self.low + self.high)[None, columns]
        half = 0.5 * (self.high - self.low)[None, columns]
        looked = 0
        while len(middle):
            looked += len(middle)
            if looked > most:
                return OPEN
            q = np.tile(0.5 * (self.low + self.high), (len(middle), 1))
            q[:, columns] = middle
            apart = self._distance(a, b, q)
            if (apart <= 0.0).any():
                met = self.touching.hits(np.array([[a, b]], dtype=np.int64), q[apart <= 0.0])
                return HIT if met.any() else OPEN
            left = apart - _ROUNDING * size <= half @ weights[columns]
            middle, half = middle[left], half[left]
            if not len(middle):
                break
            # each is halved where it takes most
            widest = np.argmax(half * weights[columns], axis=1)
            rows = np.arange(len(half))
            half[rows, widest] *= 0.5
            step = np.zeros_like(half)
            step[rows, widest] = half[rows, widest]
            middle, half = np.concatenate([middle - step, middle + step]), np.concatenate([half, half])
        return FREE

    def _weights(self, a: int, b: int) -> tuple[Array, float] | None:
        """Return by how much the distance of a and b may change with each number of q, and a size of the robot.

        None where a joint between them is planar or floating.
        """
        chain = self.robot.chain
        edges = self._path(a, b)
        lengths = np.array([self._length(k) for k, _ in edges])
        total = float(lengths.sum())
        weights = np.zeros(self.robot.dof)
        passed = 0.0  # from the origin of a to where the link before the joint has its origin
        for (k, down), length in zip(edges, lengths.tolist(), strict=True):
            kind = int(chain.kind[k])
            # a joint turns about the origin of its child, which the path meets after the edge on its way down
            at = passed + length if down else passed
            passed += length
            if kind == FIXED:
                continue
            if kind == TURNING:
                arm = min(at + self._reach[a], total - at + self._reach[b])
            elif kind == SLIDING:
                arm = 1.0
            else:
                return None
            weights[chain.source[k]] += abs(chain.multiplier[k]) * arm
        return weights, total + float(self._reach[a] + self._reach[b])

    def _path(self, a: int, b: int) -> list[tuple[int, bool]]:
        """Return the joints from a to b, by their child links, and whether each is met on the way down."""
        parent = self.robot.chain.parent
        up, down = [], []
        # parents have lower numbers, so that the higher of the two goes up until they are one
        while a != b:
            if a > b:
                up.append((a, False))
                a = int(parent[a])
            else:
                down.append((b, True))
                b = int(parent[b])
        return up + down[::-1]

    def _length(self, k: int) -> float:
        """Return how far the origin of a link may be from that of its parent."""
        chain = self.robot.chain
        length = float(np.linalg.norm(chain.origin[k, :3, 3]))
        if chain.kind[k] == SLIDING:
            column = chain.source[k]
            ends = chain.multiplier[k] * np.array([self.low[column], self.high[column]]) + chain.offset[k]
            length += float(np.abs(ends).max())
        return length

    def _distance(self, a: int, b: int, q: Array) -> Array:
        """Return a lower bound of the distance of the hulls of two links, 0 where they touch."""
        robot = self.robot
        poses = robot.link_poses(q)
        best = np.full(len(q), np.inf)
        for g in self._of_link[a]:
            for h in self._of_link[b]:
                two = np.stack([poses[:, a] @ robot.geometries[g].pose, poses[:, b] @ robot.geometries[h].pose], axis=1)
                which: Ints = np.tile(np.array([[g, h]], dtype=np.int64), (len(q), 1))
                best = np.minimum(best, self._hulls.distance(which, two).lower)
        return best
