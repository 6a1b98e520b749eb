"""Solids on a grid: voxels and height fields.

`VoxelGrid` consists of the occupied cubes of a grid. `HeightField` is the solid below heights over a grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels.decorators import entry
from gjk3d.bodies.base import PRISMS, Body, Parts, PartTree, packed_parts
from gjk3d.bodies.bvh import WideTree, parted, straight, wide_tree_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.parts import Copies, Grid, ends_of, given, turned
from gjk3d.convex.checks import check_workers
from gjk3d.errors import ShapeError, UnboundedShapeError
from gjk3d.frozen import cached
from gjk3d.poses import IDENTITY
from gjk3d.shapes import layout
from gjk3d.shapes.base import Kind, Shape, number, points_of, refuse_masked, vector
from gjk3d.shapes.layout import in_range
from gjk3d.shapes.measure import Surface
from gjk3d.shapes.polytopes import Box, ConvexHull
from gjk3d.typing import Array, Bits, Bits3, Bools, Ints, Ints2, RowsLike, VectorLike

# --- voxels ----------------------------------------------------------------------------------------------------------


_CORNERS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=bool)
_ROOM = 65536  #: greatest number of boxes per call of `merged`


@entry
def merged(left: Bits3, start: int, out: Ints2) -> tuple[int, int]:
    """Move boxes of solid cells greedily from ``left`` to ``out``; return the number of boxes and the next cell.

    The search begins at the flat cell index ``start``. The next cell is the flat index of the first cell that was not
    reached because ``out`` is full, or the number of cells.

    Each box extends along the last axis first, then the middle axis, then the first axis. A row of ``out`` has the
    least cell index of a box along each axis, then the greatest plus 1.
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
        All cubes are empty, the array does not have three axes, or the pitch is not a length.

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
            Not used. `Mesh.contains` has the same parameter.

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
        """Return boxes that cover the occupied cells, (n, 6): least cell indices, then greatest plus 1 (`merged`)."""
        left, blocks, cell = self._occupied.copy(), [], 0
        while cell < left.size:
            out = np.empty((_ROOM, 6), dtype=np.int64)
            count, cell = merged(left, cell, out)
            blocks.append(out[:count])
        return np.concatenate(blocks)

    def _build_parts(self) -> Copies:
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


# --- height fields ---------------------------------------------------------------------------------------------------


_PRISM = np.array([layout.HULL, 6, 0, 1, layout.NONE], dtype=np.int64)
#: corners of each half of a cell as steps along the grid, anticlockwise from above
_STEPS = np.array([[(0, 0), (1, 0), (1, 1)], [(0, 0), (1, 1), (0, 1)]])
_SQUARE = 4  #: cells of a block along each axis
_FARTHEST = 1e15  #: greatest coordinate in pitches, beyond which the width of a prism is lost in rounding


class Prisms(Parts):
    """The columns below the triangles of a height field, two per cell, down to a bottom.

    The columns are numbered block by block, in the order of a tree over square blocks of cells.
    """

    __slots__ = ("_bottom", "_cells", "_closed", "_field", "_heights", "_links", "_nodes", "_origin", "_pitch")

    def __init__(self, field: HeightField, bottom: float) -> None:
        heights, pitch, origin = field.heights, field._steps, field.origin
        self._field, self._heights, self._pitch, self._origin, self._bottom = field, heights, pitch, origin, bottom
        self.count = 2 * (heights.shape[0] - 1) * (heights.shape[1] - 1)
        self.reach = float(np.abs(self.box).max())
        self.endless = field.bottom == -inf
        blocks, self._cells, begins = _blocks(heights.shape[0] - 1, heights.shape[1] - 1)
        low_xy, high_xy = origin + pitch * blocks[:, :2], origin + pitch * blocks[:, 2:]
        top = np.array([heights[i : k + 1, j : m + 1].max() for i, j, k, m in blocks.tolist()])
        more = 8.0 * 2.0**-52 * self.reach
        spans = np.column_stack([low_xy - more, np.full(len(blocks), self._bottom), high_xy + more, top + more])
        order, links = parted(spans, 1)
        self._nodes = straight(spans[order], links)
        sizes = np.diff(begins)[order]
        self._cells = np.concatenate([self._cells[begins[k] : begins[k + 1]] for k in order.tolist()])
        ends = np.concatenate([[0], np.cumsum(sizes)])
        links[:, 2] = ends[links[:, 1] + links[:, 2]] - ends[links[:, 1]]
        links[:, 1] = ends[links[:, 1]]
        self._links = links

    @property
    def box(self) -> Array:
        """The box around all columns, (6,): the least corner, then the greatest."""
        x, y = self._origin
        nx, ny = self._heights.shape
        far = x + (nx - 1) * self._pitch[0], y + (ny - 1) * self._pitch[1]
        return np.array([x, y, self._bottom, *far, float(self._heights.max())])

    def _corners(self, which: Ints) -> Array:
        """Return the corners of the top triangles of the columns ``which``, (k, 3, 3)."""
        cell, half = self._cells[which] // 2, self._cells[which] % 2
        ny = self._heights.shape[1] - 1
        grid = np.column_stack([cell // ny, cell % ny])[:, None] + _STEPS[half]
        out = np.empty((len(which), 3, 3))
        out[..., :2] = self._origin + self._pitch * grid
        out[..., 2] = self._heights[grid[..., 0], grid[..., 1]]
        return out

    def boxes(self, which: Ints) -> Array:
        """Return the boxes of the columns ``which``, (k, 6): the least corner of each, then the greatest."""
        corners = self._corners(which)
        low, high = corners.min(axis=1), corners.max(axis=1)
        low[:, 2] = self._bottom
        more = 8.0 * 2.0**-52 * self.reach
        return np.hstack([low - more, high + more])

    def boxes_at(self, which: Ints, m: Array) -> Array:
        """Return the axis-aligned boxes, (k, 6), of the columns ``which`` if the body is placed at the pose row m."""
        return turned(self.boxes(which), m)

    def _give(self) -> PartTree:
        grid = np.array([*self._origin, *self._pitch, self._bottom, self._bottom if self.endless else -inf])
        return given(
            PRISMS, self._nodes, self._links, self._heights, self._cells[:, None], _PRISM, grid, reach=self.reach,
            points=self.points(),
        )  # fmt: skip

    def shape(self, part: int) -> Shape:
        """Return a column as a shape in the frame of the column, without its pose row."""
        floats = packed_parts(self.given, np.array([part])).floats
        return ConvexHull(floats[layout.FLOAT_HEAD :].reshape(3, 6).T)

    def ends(self, n: Array) -> Array:
        """Return the lowest and the highest point of the surface along n, (1, 2, 3)."""
        corners = self._field.surface().vertices
        return ends_of(corners, np.zeros(len(corners), dtype=np.int64), n)

    def points(self) -> Array:
        """Return a point of the surface, (1, 3), or no point if the field is unbounded and so never inside a body."""
        return np.zeros((0, 3)) if self.endless else self._field.surface().vertices[:1]

    def hull(self) -> Shape | None:
        """Return the convex hull of the height field, or None if the field has no bottom."""
        return None if self.endless else self._field.hull()

    @property
    def closed(self) -> WideTree:
        """The tree of the closed surface of the columns down to their bottom, cached."""
        try:
            return self._closed
        except AttributeError:
            field = self._field
            closed = HeightField(field.heights, field.pitch, field.origin, self._bottom)
            self._closed: WideTree = wide_tree_of(closed._skin)
        return self._closed

    def holds(self, points: Array) -> Bools:
        """Return which points are below the surface, including points below the bottom of the columns."""
        low, high = self.box[[0, 1]], self.box[[3, 4]]
        over = ((points[:, :2] > low) & (points[:, :2] < high)).all(axis=1)
        return over & (points[:, 2] < self._field._heights_at(points))

    @property
    def solids(self) -> list[tuple[Mesh, Array]]:
        """The closed surface with its pose row, or nothing if the field has no bottom."""
        return [] if self.endless else [(self._field._skin, IDENTITY[0])]

    def samples(self) -> Array:
        """Return the vertices of the surface, (k, 3), for lower bounds of its depth, or none if it has no bottom."""
        return self.points() if self.endless else self._field.surface().vertices


def _blocks(nx: int, ny: int) -> tuple[Ints, Ints, Ints]:
    """Return the blocks of a grid of nx x ny cells, their columns block by block, and the start of each block in these.

    A block is a row of its least cell indices i and j, then its greatest indices plus 1.
    """
    i, j = np.meshgrid(np.arange(0, nx, _SQUARE), np.arange(0, ny, _SQUARE), indexing="ij")
    low = np.column_stack([i.ravel(), j.ravel()])
    high = np.minimum(low + _SQUARE, (nx, ny))
    x, y = np.meshgrid(np.arange(nx), np.arange(ny), indexing="ij")
    square = (x // _SQUARE) * i.shape[1] + y // _SQUARE
    cells = np.argsort(square.ravel(), kind="stable")
    begins = np.concatenate([[0], 2 * np.cumsum((high - low).prod(axis=1))])
    return np.hstack([low, high]), (2 * cells[:, None] + np.arange(2)).ravel(), begins


def rim_of(nx: int, ny: int) -> Ints:
    """Return the indices of the vertices on the rim of an nx x ny grid, anticlockwise from above."""
    grid = np.arange(nx * ny).reshape(nx, ny)
    return np.concatenate([grid[:-1, 0], grid[-1, :-1], grid[:0:-1, -1], grid[0, :0:-1]])


def _faces_down(nx: int, ny: int) -> Ints:
    """Return the triangles of the walls below the rim of a grid, and of its bottom, (m, 3), anticlockwise from outside.

    They index the vertices of the grid, then those below the rim at the bottom, then the middle of the bottom.
    """
    top = rim_of(nx, ny)
    low = nx * ny + np.arange(len(top))
    p, q, p_low, q_low = top, np.roll(top, -1), low, np.roll(low, -1)
    middle = np.full(len(top), nx * ny + len(top))
    return np.concatenate(
        [np.column_stack(corners) for corners in ((q, p, p_low), (q, p_low, q_low), (q_low, p_low, middle))]
    )


class HeightField(Body):
    """The solid below a surface of heights over a grid, which has two triangles per cell.

    The solid is unbounded below, or it ends at a bottom.

    `gjk3d.collide`, `distance`, `contact` and similar queries accept it as either argument. Without a bottom, the other
    object must be bounded. The results are exact for the solid. The depth of a point is exact too, and the depth of
    other objects has bounds, as for a `Compound`. A body that has fallen through the surface is inside the solid, and a
    body below the bottom is not.

    Parameters
    ----------
    heights : (nx, ny) float
        The height z over the point ``origin + pitch * (i, j)``. The triangles of a cell share the edge over the line
        from [i, j] to [i + 1, j + 1].
    pitch : float or (2,) float
        The distance of the points along both axes, or along x and along y.
    origin : (2,) float
        x and y of the point [0, 0].
    bottom : float
        The z of the bottom of the solid, at most the least height. The default, minus infinity, means a solid that is
        unbounded below. A field with a bottom has a hull and a closed `surface`, and queries that refuse unbounded
        objects accept it. Its thickness is 0 at heights equal to the bottom.

    Raises
    ------
    ShapeError
        There are fewer than 2 x 2 heights, or a height is not finite or below the bottom.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> x = np.linspace(0, 10, 101)
    >>> ground = gk.HeightField(np.tile(0.1 * x, (101, 1)).T, 0.1)      # a slope of one in ten
    >>> pose = np.eye(4); pose[:3, 3] = 5, 5, 1.5
    >>> ball = gk.Sphere(0.5)
    >>> round(gk.distance(ground, ball, None, pose).distance, 9)        # 1 / hypot(1, 0.1) - 0.5
    0.49503719
    >>> pose[2, 3] = -7
    >>> gk.collide(ground, ball, None, pose)
    True
    >>> slab = gk.HeightField(ground.heights, (0.1, 0.2), bottom=-1)    # twice as wide, and nothing below z = -1
    >>> slab.bounds.tolist(), round(gk.distance(slab, ball, None, pose).distance, 9)
    ([[0.0, 0.0, -1.0], [10.0, 20.0, 1.0]], 5.5)
    """

    __slots__ = ("bottom", "heights", "origin", "pitch")
    bottom: float
    heights: Array
    origin: Array
    pitch: float | Array

    @property
    def _kind(self) -> int:  # type: ignore[override]
        return Kind.ENDLESS if self.bottom == -inf else Kind.GROUND

    def __init__(
        self, heights: RowsLike, pitch: float | VectorLike, origin: VectorLike = (0.0, 0.0), bottom: float = -inf
    ) -> None:
        refuse_masked(heights, "HeightField: heights", "Fill them in, for example with the lowest height")
        try:
            raw = np.asarray(heights)
            place = np.asarray(origin)
        except ValueError:
            raise ShapeError("HeightField: heights or origin is ragged, expected (nx, ny) and (2,)") from None
        if raw.ndim != 2 or min(raw.shape) < 2 or raw.dtype.kind not in "iuf":
            raise ShapeError(
                f"HeightField: heights has shape {raw.shape} and dtype {raw.dtype}, expected (nx, ny) real numbers, "
                "at least 2 x 2"
            )
        bad = np.argwhere(~np.isfinite(raw))
        if len(bad):
            i, j = bad[0].tolist()
            raise ShapeError(
                f"HeightField: heights[{i}, {j}] is {raw[i, j]}, expected a finite number (wrong in {len(bad)} of "
                f"{raw.size} heights). Fill the gaps, for example with the lowest height near them"
            )
        if place.shape != (2,) or place.dtype.kind not in "iuf" or not np.isfinite(place).all():
            raise ShapeError(f"HeightField: origin is {origin!r:.60}, expected two finite numbers, x and y")
        values = np.array(raw, dtype=np.float64, order="C") + 0.0
        in_range(values, "HeightField: heights")
        in_range(place, "HeightField: origin")
        step = _pitch(pitch)
        floor = _bottom(bottom, values)
        reach = max(float(np.abs(values).max()), float(np.abs(place).max()), 0.0 if floor == -inf else abs(floor))
        least = float(np.min(step))
        if reach > _FARTHEST * least:
            raise ShapeError(
                f"HeightField: the largest absolute value of heights, origin and bottom is {reach:g}, expected at most "
                f"{_FARTHEST * least:g} for a pitch of {least:g}. Use one unit for these lengths and the pitch"
            )
        self._set(bottom=floor, heights=values, origin=np.array(place, dtype=np.float64) + 0.0, pitch=step)

    def __repr__(self) -> str:
        nx, ny = self.heights.shape
        pitch = " x ".join(f"{step:g}" for step in np.atleast_1d(self.pitch))
        bottom = "" if self.bottom == -inf else f", bottom {self.bottom:g}"
        low, high = self.heights.min(), self.heights.max()
        return f"<HeightField {nx} x {ny}, pitch {pitch}, from {low:g} to {high:g}{bottom}>"

    @property
    def _steps(self) -> Array:
        """The pitch along x and along y, (2,)."""
        return np.array(np.broadcast_to(self.pitch, 2), dtype=np.float64)

    def _find_order(self) -> tuple[int, int]:
        """Return a key that sorts before the keys of other bodies, so that the kernels work in the field's frame."""
        return -1 if self.bottom == -inf else 0, super()._find_order()[1]

    @property
    def bounds(self) -> Array:
        """The least and the greatest corner of the bounding box in the field's frame, (2, 3) float.

        A field without a bottom raises UnboundedShapeError.
        """
        if self.bottom == -inf:
            raise UnboundedShapeError(
                "bounds: the HeightField is unbounded below. Give it a bottom, HeightField(..., bottom=z)"
            )
        return super().bounds

    @property
    def _limits(self) -> list[tuple[Array, float]]:
        """Half-spaces below the highest point and inside the four sides: normals and offsets in the field's frame."""
        far = self.origin + self._steps * (np.array(self.heights.shape) - 1.0)
        x, y, z = np.eye(3)
        sides = [(x, far[0]), (y, far[1]), (-x, -self.origin[0]), (-y, -self.origin[1])]
        return [(z, float(self.heights.max())), *((n, float(d)) for n, d in sides)]

    def hull(self) -> Shape:
        """Return the convex hull of a height field with a bottom, a shape that every query accepts.

        Raises
        ------
        UnboundedShapeError
            The height field is unbounded below.
        """
        if self.bottom == -inf:
            raise UnboundedShapeError(
                "hull: the HeightField is unbounded below. Give it a bottom, HeightField(..., bottom=z)"
            )
        return self._cached("hull", lambda: ConvexHull(self.surface().vertices))

    def _heights_at(self, places: Array) -> Array:
        """Return the surface heights at points (x, y), which are clamped to the rim."""
        shape = np.array(self.heights.shape)
        at = np.clip((places[:, :2] - self.origin) / self._steps, 0.0, shape - 1.0)
        cell = np.minimum(at.astype(np.int64), shape - 2)
        u, v = (at - cell).T
        i, j = cell.T
        h = self.heights
        low, far = h[i, j], h[i + 1, j + 1]
        # the two triangles of a cell share the edge over the line from [i, j] to [i + 1, j + 1]
        third = np.where(u >= v, h[i + 1, j], h[i, j + 1])
        heights: Array = np.where(
            u >= v, low + u * (third - low) + v * (far - third), low + v * (third - low) + u * (far - third)
        )
        return heights

    def surface(self, resolution: int = 32) -> Surface:
        """Return the surface as triangles. A field without a bottom has only its top.

        Parameters
        ----------
        resolution : int
            Not used.

        Returns
        -------
        Surface
            ``vertices``, (n, 3) float, and ``faces``, (m, 3) int, anticlockwise from outside, those of the top first.
        """
        nx, ny = self.heights.shape
        flat = self.origin + self._steps * np.indices((nx, ny)).reshape(2, -1).T
        cells = np.indices((nx - 1, ny - 1)).reshape(2, -1).T
        vertices = np.column_stack([flat, self.heights.ravel()])
        faces = ((cells[:, None, None] + _STEPS) @ np.array([ny, 1])).reshape(-1, 3)
        if self.bottom == -inf:
            return Surface(vertices, faces)
        rim = vertices[rim_of(nx, ny)]
        low = np.vstack([rim, 0.5 * (vertices[0] + vertices[-1])])
        low[:, 2] = self.bottom
        return Surface(np.vstack([vertices, low]), np.vstack([faces, _faces_down(nx, ny)]))

    @property
    @cached
    def _skin(self) -> Mesh:
        """The surface as a mesh, which is closed if there is a bottom."""
        return Mesh(*self.surface())

    def _build_parts(self) -> Parts:
        return self._columns(self._least_depth)

    @property
    def _least_depth(self) -> float:
        nx, ny = self.heights.shape
        size: float = float(np.max(self.pitch)) * (nx + ny) + float(np.ptp(self.heights))
        return 4.0 * size

    def _columns(self, depth: float) -> Prisms:
        """Return the columns down to the bottom, or without a bottom to ``depth`` below the surface's lowest point."""
        return Prisms(self, float(self.heights.min()) - depth if self.bottom == -inf else self.bottom)

    def _parts_near(self, reach: float, shift: Array, pushed: bool = True) -> Parts:
        """Return columns that are deep enough to move an object out of them at the top, but not through their bottom.

        All points of the object are within ``reach`` of the position ``shift``. In a field without a bottom, the depth
        of the columns is counted from the lowest point of the surface. They end below both ``shift`` and this point, by
        at least half that depth plus a multiple of ``reach``. The multiple is larger if the object is ``pushed`` out.
        """
        low, lengths = float(self.heights.min()), 23.0 if pushed else 2.0
        depth = least = self._least_depth
        while self.bottom == -inf and min(float(shift[2]), low) - lengths * reach < low - 0.5 * depth:
            depth *= 2.0
        if depth == least:
            return self._as_parts()
        return self._cached(f"columns down by {depth}", lambda: self._columns(depth))


def _pitch(pitch: Any) -> float | Array:
    if np.ndim(pitch) == 0:
        return number(pitch, "HeightField: pitch")
    steps: Sequence[float] = np.asarray(pitch).tolist()
    if len(steps) != 2:
        raise ShapeError(f"HeightField: pitch is {pitch!r:.60}, expected one length, or two lengths along x and y")
    return np.array([number(step, f"HeightField: pitch[{k}]") for k, step in enumerate(steps)])


def _bottom(bottom: float, heights: Array) -> float:
    if bottom == -inf:
        return -inf
    z = number(bottom, "HeightField: bottom", positive=False)
    low = float(heights.min())
    if z > low:
        i, j = np.unravel_index(int(heights.argmin()), heights.shape)
        raise ShapeError(
            f"HeightField: heights[{i}, {j}] is {low:g}, below the bottom at {z:g}. Lower the bottom, or raise the "
            "heights with np.maximum(heights, bottom)"
        )
    return z
