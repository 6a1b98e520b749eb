"""Balls, rods and arrows as triangles, in world axes.

pyvista's own solids lose their place at 1e-9 and at 1e6: they are float32, and skip translations that look small.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gjk3d.shapes import surfaces

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Solid = tuple[Array, Indices]


def ball(center: Array, radius: float, resolution: int = 40) -> Solid:
    """Return a ball."""
    vertices, faces = surfaces.sphere(1.0, resolution)
    return np.asarray(center) + radius * vertices, faces


def rod(start: Array, end: Array, radius: float, resolution: int = 32) -> Solid:
    """Return a round bar from one point to another."""
    return turned(surfaces.cylinder(1.0, 1.0, resolution), start, end, radius)


def arrow(start: Array, direction: Array, length: float, thickness: float) -> list[Solid]:
    """Return shaft and head of an arrow; the direction is a unit vector, the thickness half the shaft's."""
    end = start + length * direction
    neck = end - min(6.0 * thickness, 0.5 * length) * direction
    return [rod(start, neck, thickness), turned(surfaces.cone(1.0, 1.0, 40), neck, end, 2.3 * thickness)]


def axes(pose: Array, length: float, thickness: float) -> list[list[Solid]]:
    """Return the arrows along x, y and z of a pose."""
    return [arrow(pose[:3, 3], pose[:3, k], length, thickness) for k in range(3)]


def box_lines(corners: Array) -> Array:
    """Return the twelve edges of boxes as segments, (12 n, 2, 3), from eight corners each, the last axis fastest."""
    pairs = [(i, i | 1 << bit) for bit in range(3) for i in range(8) if not i >> bit & 1]
    return np.asarray(corners).reshape(-1, 8, 3)[:, np.array(pairs)].reshape(-1, 2, 3)


def turned(surface: surfaces.Surface, start: Array, end: Array, radius: float) -> Solid:
    """Stretch a solid of revolution of height 1 and radius 1 from one point to another."""
    length = float(np.linalg.norm(end - start)) or 1.0
    axis = (end - start) / length
    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    side /= np.linalg.norm(side)
    frame = np.array([radius * side, radius * np.cross(axis, side), end - start])
    return (start + end) / 2 + surface.vertices @ frame, surface.faces
