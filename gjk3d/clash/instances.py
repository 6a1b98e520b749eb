"""Copies of one shape: which parts are the same shape at another place, and which pairs stand alike.

A part is a shape and a pose. What is decided of two shapes at a relative pose holds for every pair of parts that are
these shapes at that pose. Poses in files are rounded: those that differ by no more than that are taken for one, and
how far the two may be elsewhere for it, the slack, goes into the bounds of the finding.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.poses import IDENTITY, ROUNDING, WIDTH, parts, relatives
from gjk3d.typing import Array, Ints

#: A matrix whose stretch is that close to another's places the same shape; float32 files round by a sixteenth of it.
ALIKE = 1e-6
#: Poses that differ by no more than this part of the tolerance are taken for one; float32 files round by half of it.
PART_OF_TOLERANCE = 1.0 / 8.0


class Placed(NamedTuple):
    """One part: its shape, the pose row where that is, None for the frame of the whole, and the slack of the pose."""

    shape: Mesh
    row: Array | None
    slack: float


class Shapes:
    """The shapes of a file, each once: equal arrays are one mesh."""

    def __init__(self) -> None:
        self._meshes: dict[bytes, Mesh] = {}
        self._stretched: dict[int, list[tuple[Array, Mesh]]] = {}

    def one(self, mesh: Mesh) -> Mesh:
        """Return the mesh of the same triangles that came first."""
        digest = hashlib.sha256(mesh.vertices.tobytes())
        digest.update(mesh.faces.tobytes() + repr((mesh.vertices.shape, mesh._solid, mesh.unit)).encode())
        return self._meshes.setdefault(digest.digest(), mesh)

    def placed(self, mesh: Mesh, matrix: Array) -> Placed:
        """Return a mesh at an affine matrix as a shape at a pose: what is no rotation goes into the shape."""
        if np.array_equal(matrix, np.eye(4)):
            return Placed(mesh, None, 0.0)
        linear = np.asarray(matrix[:3, :3], dtype=np.float64)
        turn = _rotation(linear)
        stretch = np.eye(3) if turn is None else turn.T @ linear
        known = self._stretched.setdefault(id(mesh), [(np.eye(3), mesh)])
        for other, shape in known:
            if turn is not None and np.abs(stretch - other).max() <= ALIKE * np.abs(other).max():
                row = _row(turn, matrix[:3, 3])
                return Placed(shape, row, _slack(mesh.vertices, linear - turn @ other))
        made = stretch if turn is not None else linear
        if turn is None:
            return Placed(mesh._mapped(made, matrix[:3, 3], source=mesh.source), None, 0.0)
        shape = mesh._mapped(made, source=mesh.source)
        known.append((stretch, shape))
        return Placed(shape, _row(turn, matrix[:3, 3]), 0.0)


def _rotation(linear: Array) -> Array | None:
    """Return the rotation that is nearest to a matrix, None where it has none of use: flat, or not finite."""
    if not np.isfinite(linear).all():
        return None
    scale = float(np.abs(linear).max())
    if np.array_equal(linear, scale * np.eye(3)) and scale > 0.0:
        return np.eye(3)
    u, lengths, v = np.linalg.svd(linear)
    if not lengths[2] > 1e-6 * lengths[0]:
        return None
    turn: Array = u @ v
    if np.linalg.det(turn) < 0.0:  # the mirror image belongs to the shape
        turn = -turn
    # a rotation that is there to the last bits stays as it is
    return linear if np.abs(linear - turn).max() <= 4.0 * 2.0**-52 else turn


def _row(turn: Array, shift: Array) -> Array:
    row = np.zeros(WIDTH)
    row[:9], row[9:12] = turn.ravel(), shift
    row[12] = np.abs(turn.T @ turn - np.eye(3)).max()
    return row


def _slack(vertices: Array, error: Array) -> float:
    """Return by how much vertices are elsewhere at most for an error of the matrix."""
    away = vertices @ error.T
    return float(np.sqrt((away * away).sum(axis=1).max(initial=0.0)))


def moved_points(row: Array | None, points: Array) -> Array:
    """Return points at a pose row; the same bits for a point wherever it stands in the array."""
    if row is None:
        return points
    turn, shift = parts(row)
    x, y, z = points[:, 0, None], points[:, 1, None], points[:, 2, None]
    out: Array = x * turn[:, 0] + y * turn[:, 1] + z * turn[:, 2] + shift
    return out


class Alike(NamedTuple):
    """Which pairs share a decision.

    ``group`` is the decision of each pair, ``first`` the pair that it is made of, ``rows`` the pose of B in A's frame
    there, and ``slack`` how far the shapes of each pair may be from where that decision has them.
    """

    group: Ints
    first: Ints
    rows: Array
    slack: Array

    def members(self) -> list[Ints]:
        """Return the pairs of each decision, in order."""
        by_group = np.argsort(self.group, kind="stable")
        return np.split(by_group, np.cumsum(np.bincount(self.group, minlength=len(self.first)))[:-1])


def alike(pairs: Ints, shapes: Sequence[Mesh], which: Ints, rows: Array, slacks: Array, steps: Array) -> Alike:
    """Find the pairs that stand alike.

    Parameters
    ----------
    pairs : (n, 2) int
        Parts by number.
    shapes : sequence of Mesh
    which : (k,) int
        The shape of each part.
    rows : (k, 13) float
        Pose rows of the parts.
    slacks : (k,) float
        How far the vertices of each part may be elsewhere.
    steps : (n,) float
        How far poses may differ that are taken for one; 0 where only equal ones are.
    """
    a, b = pairs[:, 0], pairs[:, 1]
    reach = np.array([float(np.abs(shape.bounds).max()) for shape in shapes])[which[b]]
    to = relatives(rows[a], rows[b])
    first, group = _distinct(np.column_stack([which[a], which[b], to[:, :12]]))
    leader = first[_leaders(which[pairs[first]], to[first, :12], reach[first], steps[first])][group]
    first, group = np.unique(leader, return_inverse=True)
    group = group.reshape(-1)
    still = (rows[:, :12] == IDENTITY[0, :12]).all(axis=1)
    far = np.abs(rows[:, 9:12]).max(axis=1)
    rounding = np.where(still[a] & still[b], 0.0, 0.25 * ROUNDING * (far[a] + far[b] + reach))
    slack = _away(to[:, :12], to[leader, :12], reach) + slacks[a] + slacks[b] + rounding
    return Alike(group, first, to[first], slack)


def _away(one: Array, other: Array, reach: Array) -> Array:
    """Return by how much two poses place a shape of that reach differently, at most."""
    turned, shifted = one[:, :9] - other[:, :9], one[:, 9:] - other[:, 9:]
    # a corner is as far from the frame's origin as the root of three times the greatest coordinate
    away: Array = np.sqrt(3.0 * (turned * turned).sum(axis=1)) * reach + np.sqrt((shifted * shifted).sum(axis=1))
    return away


def _leaders(shapes: Ints, to: Array, reach: Array, steps: Array) -> Ints:
    """Return for each pose the one that it is taken for, of those before it, itself mostly."""
    leader = np.arange(len(to))
    steps = np.where(steps > 0.0, np.ldexp(1.0, np.frexp(steps)[1] - 1), 0.0)  # few different ones
    _, pair = _distinct(shapes.astype(np.float64))
    least = np.full(len(to), np.inf)
    np.minimum.at(least, pair, np.where(steps > 0.0, steps, np.inf))
    for size in (least[pair], steps):  # what differs in the last bits first, wherever it is
        # what a border of one grid parts lies within a cell of the other
        for offset in (0.5, 1.0):
            chief = np.unique(leader[steps > 0.0])
            cell = 4.0 * size[chief, None]
            turns = np.floor(to[chief, :9] * (reach[chief, None] / cell) + offset)
            places = np.floor(to[chief, 9:] / cell + offset)
            first, group = _distinct(np.column_stack([shapes[chief], size[chief], turns, places]))
            after = np.arange(len(to))
            after[chief] = chief[first[group]]
            wanted = after[leader]
            leader = np.where(_away(to, to[wanted], reach) <= steps, wanted, leader)
    return leader


def _distinct(key: Array) -> tuple[Ints, Ints]:
    """Return where each distinct row comes first, in the order of those places, and for each row which one it is."""
    bits: Any = np.ascontiguousarray(key + 0.0, dtype=np.float64).view(np.uint64)
    odd = np.random.default_rng(1).integers(0, 2**63, key.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    mixed = bits ^ (bits >> np.uint64(29))
    value = (mixed * odd).sum(axis=1, dtype=np.uint64)
    value ^= value >> np.uint64(31)
    _, first, group = np.unique(value, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    other = np.flatnonzero((bits != bits[first[group]]).any(axis=1))  # rows of one hash that differ stay apart
    group[other] = len(first) + np.arange(len(other))
    first = np.concatenate([first, other])
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return first[order], rank[group]
