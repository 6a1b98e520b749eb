"""A body of every kind with a representation in plain numpy: a union of parts, each the hull of balls."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import gjk3d as gk

Array = NDArray[np.float64]


class Known(NamedTuple):
    """A body and its parts. Each part is the hull of points, (k, 3), inflated by the radius."""

    body: Any
    parts: list[Array]
    radius: float = 0.0

    @property
    def points(self) -> Array:
        return np.concatenate(self.parts)

    def placed(self, pose: Array) -> list[Array]:
        """Return the parts at a pose."""
        return [points @ pose[:3, :3].T + pose[:3, 3] for points in self.parts]


CUBE = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def mesh(seed: int = 0, size: float = 1.0, off: Any = 0.0, flat: bool = False) -> Known:
    """Return an open mesh of random triangles."""
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-1, 1, (12, 1, 3)) + 0.4 * rng.normal(size=(12, 3, 3))
    if flat:
        corners[..., 2] = 0.25
    corners = size * corners + off
    return Known(gk.Mesh(corners.reshape(-1, 3), np.arange(36).reshape(-1, 3)), list(corners))


def closed(scale: Any = 1.0, off: Any = 0.0) -> Known:
    """Return an L of two boxes as one closed mesh."""
    flat = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    corners = np.array([(x, y, z) for z in (0.0, 1.0) for x, y in flat])
    sides = [(k, (k + 1) % 6) for k in range(6)]
    faces = [f for i, j in sides for f in ((i, j, j + 6), (i, j + 6, i + 6))]
    caps = [(0, 1, 2), (0, 2, 3), (0, 3, 5), (3, 4, 5)]
    faces += [(a, c, b) for a, b, c in caps] + [(a + 6, b + 6, c + 6) for a, b, c in caps]
    corners = scale * corners + off
    solid = [corners[[0, 1, 2, 3, 6, 7, 8, 9]], corners[[0, 3, 4, 5, 6, 9, 10, 11]]]
    return Known(gk.Mesh(corners, faces), solid)


def compound(seed: int = 0, size: float = 1.0, off: Any = 0.0) -> Known:
    """Return boxes at random poses."""
    rng = np.random.default_rng(seed)
    parts, points = [], []
    for _ in range(5):
        extents = size * rng.uniform(0.2, 1.0, 3)
        pose = np.eye(4)
        pose[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        pose[:3, :3] *= np.sign(np.linalg.det(pose[:3, :3]))
        pose[:3, 3] = size * rng.uniform(-1, 1, 3) + off
        parts.append((gk.Box(extents), pose))
        points.append((CUBE * extents) @ pose[:3, :3].T + pose[:3, 3])
    return Known(gk.Compound(parts), points)


def voxels(seed: int = 0, size: float = 1.0, off: Any = 0.0) -> Known:
    """Return a grid with about a third of its cells occupied."""
    occupied = np.random.default_rng(seed).random((4, 3, 5)) < 0.3
    occupied[1, 1, 1] = True
    pitch, origin = 0.4 * size, np.zeros(3) + off - 0.8 * size
    cells = np.argwhere(occupied)
    return Known(gk.VoxelGrid(occupied, pitch, origin), [origin + pitch * (cell + CUBE + 0.5) for cell in cells])


def cloud(seed: int = 0, size: float = 1.0, off: Any = 0.0, radius: float = 0.15) -> Known:
    """Return random balls."""
    points = size * np.random.default_rng(seed).uniform(-1, 1, (30, 3)) + off
    return Known(gk.PointCloud(points, radius * size), list(points[:, None]), radius * size)


def ground(seed: int = 0, deep: float = 30.0) -> Known:
    """Return a height field. Its parts have a bottom in place of an infinite depth."""
    heights = 0.5 * np.random.default_rng(seed).random((6, 5))
    corners = np.array([[(0, 0), (1, 0), (1, 1)], [(0, 0), (1, 1), (0, 1)]])
    parts = []
    for i in range(5):
        for j in range(4):
            for half in corners:
                at = half + (i, j)
                top = np.column_stack([0.5 * at - 1.0, heights[at[:, 0], at[:, 1]]])
                parts.append(np.concatenate([top, top * (1, 1, 0) - (0, 0, deep)]))
    return Known(gk.HeightField(heights, 0.5, (-1.0, -1.0)), parts)


BOUNDED = {"mesh": mesh, "solid": closed, "compound": compound, "voxels": voxels, "cloud": cloud}
KINDS = {**BOUNDED, "ground": ground}
