"""`VoxelGrid`: cubes on a grid, some of them solid."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels.decorators import entry
from gjk3d.bodies.base import Body
from gjk3d.bodies.parts import Copies, Grid
from gjk3d.convex.checks import check_workers
from gjk3d.errors import ShapeError
from gjk3d.shapes.base import Kind, Shape, number, points_of, vector
from gjk3d.shapes.measure import Surface
from gjk3d.shapes.polytopes import Box, ConvexHull
from gjk3d.typing import Array, Bits, Bits3, Ints, Ints2, VectorLike

_CORNERS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=bool)
_ROOM = 65536


@entry
def merged(left: Bits3, start: int, out: Ints2) -> tuple[int, int]:
    """Remove boxes of solid cells from a grid, greedily, and return their number and the next cell.

    Each box extends along the last axis first, then the middle one, then the first. A row of ``out`` has the first cell
    of a box and the cell after its last.
    """
    nx, ny, nz = left.shape
    count = 0
    for cell in range(start, nx * ny * nz):
        i, rest = cell // (ny * nz), cell % (ny * nz)
        j, k = rest // nz, rest % nz
        if left[i, j, k] == 0:
            continue
        if count == out.shape[0]:
            return count, cell
        c = k + 1
        while c < nz and left[i, j, c] != 0:
            c += 1
        b = j + 1
        while b < ny and left[i, b, k:c].all():
            b += 1
        a = i + 1
        while a < nx and left[a, j:b, k:c].all():
            a += 1
        left[i:a, j:b, k:c] = 0
        out[count, 0], out[count, 1], out[count, 2] = i, j, k
        out[count, 3], out[count, 4], out[count, 5] = a, b, c
        count += 1
    return count, nx * ny * nz


class VoxelGrid(Body):
    """The occupied cubes of a grid as a solid.

    `gjk3d.collide`, `distance`, `contact` and similar queries accept it as either argument. Results are exact for the
    cubes. Cubes that form a larger box are tested together. The depth of an overlap has bounds, as for a `Compound`.

    Parameters
    ----------
    occupied : (nx, ny, nz) bool
        Whether each cube is solid. Numbers other than 0 count as solid.
    pitch : float
        Edge of a cube, in the caller's unit.
    origin : (3,) float
        The least corner of the cube [0, 0, 0]. Cube [i, j, k] begins at an offset of ``pitch * (i, j, k)``.

    Raises
    ------
    ShapeError
        All cubes are empty, or the array does not have three axes.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> occupied = np.ones((4, 4, 4), dtype=bool)
    >>> occupied[1:3, 1:3, :] = False                     # a shaft through it
    >>> grid = gk.VoxelGrid(occupied, 0.25, origin=(-0.5, -0.5, -0.5))
    >>> gk.collide(grid, gk.Sphere(0.2)), round(gk.distance(grid, gk.Sphere(0.2)).distance, 9)
    (False, 0.05)
    >>> grid.contains([(0, 0, 0), (0.4, 0.4, 0)]).tolist(), grid.occupied.sum().item(), grid.volume
    ([False, True], 48, 0.75)
    """

    __slots__ = ("_occupied", "origin", "pitch")
    _kind = Kind.VOXELS
    _occupied: Bits
    origin: Array
    pitch: float

    def __init__(self, occupied: Any, pitch: float, origin: VectorLike = (0.0, 0.0, 0.0)) -> None:
        try:
            raw = np.asarray(occupied)
        except ValueError:
            raise ShapeError("VoxelGrid: occupied is ragged, expected an array (nx, ny, nz)") from None
        if raw.ndim != 3 or raw.dtype.kind not in "biuf":
            raise ShapeError(
                f"VoxelGrid: occupied has shape {raw.shape} and dtype {raw.dtype}, expected (nx, ny, nz) booleans. "
                "Use a gjk3d.PointCloud for points"
            )
        if raw.dtype.kind == "f" and np.isnan(raw).any():
            i, j, k = np.argwhere(np.isnan(raw))[0].tolist()
            raise ShapeError(f"VoxelGrid: occupied[{i}, {j}, {k}] is nan, expected booleans. Use occupied > 0.5")
        bits = np.ascontiguousarray(raw != 0).view(np.uint8)
        if not bits.any():
            raise ShapeError(f"VoxelGrid: none of the {raw.size} cubes is occupied, expected at least one")
        self._set(
            _occupied=bits.copy(), origin=vector(origin, "VoxelGrid: origin"), pitch=number(pitch, "VoxelGrid: pitch")
        )

    @property
    def occupied(self) -> NDArray[np.bool_]:
        """Whether each cube is solid, (nx, ny, nz), read-only."""
        return self._occupied.view(np.bool_)

    @property
    def volume(self) -> float:
        """Volume of all occupied cubes, in the cube of the unit of ``pitch``."""
        return float(np.count_nonzero(self._occupied)) * self.pitch**3

    def __repr__(self) -> str:
        size = " x ".join(map(str, self._occupied.shape))
        return f"<VoxelGrid {size}, {np.count_nonzero(self._occupied)} occupied, pitch {self.pitch:g}>"

    def contains(self, points: Any, *, workers: int = 1) -> Any:
        """Return which points are in an occupied cube.

        Parameters
        ----------
        points : (3,) float or (n, 3) float
            In the frame of the grid.
        workers : int
            Number of threads, which this query does not need.

        Returns
        -------
        bool or (n,) bool
            The result for points on the surface is arbitrary.

        Raises
        ------
        ShapeError
            A point is not finite, or the array does not have rows of three.
        """
        check_workers(workers)
        p, single = points_of(points, "contains: points")
        cells = np.floor((p - self.origin) / self.pitch)
        size = np.array(self._occupied.shape)
        inside = ((cells >= 0) & (cells < size)).all(axis=1)
        answer = np.zeros(len(p), dtype=bool)
        answer[inside] = self.occupied[tuple(cells[inside].astype(np.int64).T)]
        return bool(answer[0]) if single else answer

    def hull(self) -> Shape:
        """Return the convex hull of all cubes, a shape that every query accepts."""
        return self._as_parts().hull()

    def surface(self, resolution: int = 32) -> Surface:
        """Return the squares between occupied cubes and empty ones, as triangles.

        Parameters
        ----------
        resolution : int
            Not used.

        Returns
        -------
        Surface
            ``vertices``, (n, 3) float, and ``faces``, (m, 3) int.
        """
        solid = np.pad(self.occupied, 1)
        corners = []
        for axis in range(3):
            step = np.diff(solid.astype(np.int8), axis=axis)
            for sign in (1, -1):  # -1 at the end of solid cells, whose outside is ahead
                first = np.argwhere(step == sign).astype(np.float64) - 1.0
                first[:, axis] += 1.0
                u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
                square = (np.zeros(3), u, u + v, v) if sign < 0 else (np.zeros(3), v, u + v, u)
                corners.append(first[:, None] + np.array(square))
        squares = np.concatenate(corners)
        places, number_of = np.unique(squares.reshape(-1, 3), axis=0, return_inverse=True)
        quads = number_of.reshape(-1, 4)
        faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
        return Surface(self.origin + self.pitch * places, faces)

    def _as_parts(self) -> Copies:
        return self._cached("parts", self._build_parts)

    def _merged_cells(self) -> Ints:
        """Return boxes of occupied cells from `merged`, with the first cell and the cell after the last."""
        left, blocks, cell = self._occupied.copy(), [], 0
        while cell < left.size:
            out = np.empty((_ROOM, 6), dtype=np.int64)
            count, cell = merged(left, cell, out)
            blocks.append(out[:count])
        return np.concatenate(blocks)

    def _build_parts(self) -> Copies:
        """Return the merged boxes of occupied cells as parts."""
        from scipy.ndimage import label  # loaded on demand

        cells = self._merged_cells()
        ends = np.tile(self.origin, 2) + self.pitch * cells
        middles = self.origin + (0.5 * self.pitch) * (cells[:, :3] + cells[:, 3:])
        sizes, which = np.unique(cells[:, 3:] - cells[:, :3], axis=0, return_inverse=True)
        # The offset from the origin, the corners and the middle are rounded, and either corner can cancel to zero.
        largest = np.maximum(np.abs(ends[:, :3]), np.abs(ends[:, 3:])) + np.abs(self.origin)
        more = 4.0 * 2.0**-52 * largest
        boxes = np.hstack([ends[:, :3] - more, ends[:, 3:] + more])

        def hull() -> Shape:
            corners = np.where(_CORNERS, ends[:, None, 3:], ends[:, None, :3]).reshape(-1, 3)
            return ConvexHull(np.unique(corners, axis=0))

        shapes = [Box(self.pitch * size) for size in sizes]
        grid = Grid(cells, self.origin, self.pitch, self._occupied.shape)
        # the number of the connected piece of each box; cubes that touch in a corner are connected
        pieces = label(self._occupied, np.ones((3, 3, 3)))[0].astype(np.int64)[tuple(cells[:, :3].T)]
        return Copies(shapes, which.ravel(), middles, boxes, hull, pieces, grid)
