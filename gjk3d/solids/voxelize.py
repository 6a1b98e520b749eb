"""A mesh as voxels: every cube that its surface touches, and those inside.

A cube and a triangle are apart where one of 13 axes parts them (Akenine-Möller, Fast 3D triangle-box overlap testing,
2001). What the surface leaves falls into pieces, each inside or outside as a whole, so one point of each is asked.
"""

from __future__ import annotations

from math import floor

import numpy as np

from gjk3d._numba import kernel
from gjk3d.errors import ShapeError
from gjk3d.geometry.vec3 import Vec3, cross, dot, sub
from gjk3d.meshes.mesh import Mesh
from gjk3d.meshes.surfaces import holds
from gjk3d.meshes.triangles import read
from gjk3d.shapes.base import Array, number
from gjk3d.solids.base import ROUNDING
from gjk3d.solids.voxels import Bits, VoxelGrid

_MOST = 100_000_000  #: cubes, five bytes each while they are filled


@kernel
def _spread(u: float, v: float, w: float, reach: float) -> bool:
    """Tell whether numbers leave an interval about 0 on one side."""
    return min(u, v, w) > reach or max(u, v, w) < -reach


@kernel
def _parted(a: Vec3, b: Vec3, c: Vec3, h: float) -> bool:
    """Tell whether an axis parts a triangle from the cube about the origin with that half an edge."""
    if _spread(a[0], b[0], c[0], h) or _spread(a[1], b[1], c[1], h) or _spread(a[2], b[2], c[2], h):
        return True
    for edge in (sub(b, a), sub(c, b), sub(a, c)):
        x, y, z = edge
        axis = (0.0, -z, y)  # an edge of the triangle times one of the cube
        if _spread(dot(a, axis), dot(b, axis), dot(c, axis), h * (abs(y) + abs(z))):
            return True
        axis = (z, 0.0, -x)
        if _spread(dot(a, axis), dot(b, axis), dot(c, axis), h * (abs(x) + abs(z))):
            return True
        axis = (-y, x, 0.0)
        if _spread(dot(a, axis), dot(b, axis), dot(c, axis), h * (abs(x) + abs(y))):
            return True
    n = cross(sub(b, a), sub(c, a))
    return abs(dot(n, a)) > h * (abs(n[0]) + abs(n[1]) + abs(n[2]))


@kernel
def _cell(x: float, pitch: float, count: int) -> int:
    return min(max(floor(x / pitch), 0), count - 1)


@kernel
def touched(corners: Array, pitch: float, more: float, cells: Bits) -> None:
    """Mark the cubes of a grid from the origin that triangles, (m, 9), touch; ``more`` is what rounding may hide."""
    half = 0.5 * pitch + more
    nx, ny, nz = cells.shape
    for m in range(corners.shape[0]):
        a, b, c = read(corners, m)
        x0, x1 = min(a[0], b[0], c[0]) - more, max(a[0], b[0], c[0]) + more
        y0, y1 = min(a[1], b[1], c[1]) - more, max(a[1], b[1], c[1]) + more
        z0, z1 = min(a[2], b[2], c[2]) - more, max(a[2], b[2], c[2]) + more
        for i in range(_cell(x0, pitch, nx), _cell(x1, pitch, nx) + 1):
            for j in range(_cell(y0, pitch, ny), _cell(y1, pitch, ny) + 1):
                for k in range(_cell(z0, pitch, nz), _cell(z1, pitch, nz) + 1):
                    if cells[i, j, k] == 0:
                        p = ((i + 0.5) * pitch, (j + 0.5) * pitch, (k + 0.5) * pitch)
                        if not _parted(sub(a, p), sub(b, p), sub(c, p), half):
                            cells[i, j, k] = 1


def voxelized(mesh: Mesh, pitch: float) -> VoxelGrid:
    """Answer `Mesh.voxelized`."""
    edge = number(pitch, "voxelized: pitch")
    low, high = mesh.bounds
    more = ROUNDING * float(np.abs(mesh.bounds).max())
    size = (high - low - more) / edge
    if not float(np.prod(np.maximum(np.ceil(size), 1.0))) <= _MOST:
        least = float((np.prod(np.maximum(high - low, edge)) / _MOST) ** (1 / 3))
        raise ShapeError(
            f"voxelized: a pitch of {edge:g} makes {np.prod(np.maximum(size, 1.0)):.3g} cubes of a mesh of "
            f"{' x '.join(f'{x:g}' for x in high - low)}, at most {_MOST:g} are made: use one of more than {least:.3g}"
        )
    cells = np.zeros(np.maximum(np.ceil(size), 1.0).astype(np.int64), dtype=np.uint8)
    corners = np.ascontiguousarray((mesh.vertices[mesh.faces] - low).reshape(-1, 9))
    touched(corners, edge, more, cells)
    if mesh.is_solid:
        _fill(mesh, cells, edge, low)
    return VoxelGrid(cells, edge, low)


def _fill(mesh: Mesh, cells: Bits, pitch: float, low: Array) -> None:
    """Mark the cubes inside a closed mesh."""
    from scipy.ndimage import label

    pieces, count = label(cells == 0)
    if not count:
        return
    _, first = np.unique(pieces, return_index=True)
    first = first[1:] if cells.any() else first  # the first number is that of the surface
    where = np.array(np.unravel_index(first, cells.shape)).T
    inside = np.concatenate([[False], holds(mesh, low + pitch * (where + 0.5))])
    cells[inside[pieces]] = 1
