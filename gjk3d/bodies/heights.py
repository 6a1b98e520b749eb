"""`HeightField`: ground given by its heights over a grid, solid below."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor

import numpy as np

from gjk3d._kernels.decorators import entry, kernel
from gjk3d.bodies.base import Body, Packed, Parts
from gjk3d.bodies.parts import BLOCK, turned
from gjk3d.errors import ShapeError, UnboundedShapeError
from gjk3d.poses import translations
from gjk3d.shapes import layout
from gjk3d.shapes.arguments import number
from gjk3d.shapes.base import Shape
from gjk3d.shapes.convex_hull import ConvexHull
from gjk3d.shapes.layout import in_range
from gjk3d.shapes.surfaces import Surface
from gjk3d.typing import Array, Array2, Ints, Ints2, RowsLike, VectorLike

_PRISM = np.array([layout.HULL, 6, 0, 1, layout.NONE], dtype=np.int64)
#: of each half of a cell, its corners as steps along the grid, anticlockwise from above
_STEPS = np.array([[(0, 0), (1, 0), (1, 1)], [(0, 0), (1, 1), (0, 1)]])
_FARTHEST = 1e15  #: in pitches; a prism longer or farther away than that has no width in floats


@kernel
def _clamped(x: float, most: int) -> int:
    """Return a place on the grid, or one beyond its ends."""
    return int(min(max(floor(x), -1.0), float(most)))


@entry
def prisms_near(
    heights: Array2, left: float, front: float, pitch: float, boxes: Array2, within: float, box: int, cell: int,
    out: Ints2,
) -> tuple[int, int, int]:  # fmt: skip
    """Fill rows of ``out`` with a box and a prism that are no farther apart than that; go on with a box and its cell.

    Return how many were found, and where to go on; with the number of boxes where all are done.
    """
    nx, ny = heights.shape[0] - 1, heights.shape[1] - 1
    found = 0
    while box < boxes.shape[0]:
        i0 = _clamped((boxes[box, 0] - within - left) / pitch - 1e-6, nx)
        i1 = _clamped((boxes[box, 3] + within - left) / pitch + 1e-6, nx)
        j0 = _clamped((boxes[box, 1] - within - front) / pitch - 1e-6, ny)
        j1 = _clamped((boxes[box, 4] + within - front) / pitch + 1e-6, ny)
        i0, j0, i1, j1 = max(i0, 0), max(j0, 0), min(i1, nx - 1), min(j1, ny - 1)
        wide = max(j1 - j0 + 1, 0)
        total = max(i1 - i0 + 1, 0) * wide
        while cell < total:
            if found + 2 > out.shape[0]:
                return found, box, cell
            i, j = i0 + cell // wide, j0 + cell % wide
            cell += 1
            x, y = left + i * pitch, front + j * pitch
            dx = max(x - boxes[box, 3], boxes[box, 0] - x - pitch, 0.0)
            dy = max(y - boxes[box, 4], boxes[box, 1] - y - pitch, 0.0)
            across = max(heights[i, j], heights[i + 1, j + 1])
            for half in range(2):
                top = max(across, heights[i + 1, j] if half == 0 else heights[i, j + 1])
                dz = max(boxes[box, 2] - top, 0.0)
                if dx * dx + dy * dy + dz * dz <= within * within * (1.0 + 1e-9):
                    out[found, 0], out[found, 1] = box, 2 * (i * ny + j) + half
                    found += 1
        box, cell = box + 1, 0
    return found, box, 0


class Prisms(Parts):
    """The columns below the triangles of a height field, two a cell, down to a bottom below all that is asked about."""

    __slots__ = ("_bottom", "_heights", "_origin", "_pitch")

    def __init__(self, heights: Array, pitch: float, origin: Array, bottom: float) -> None:
        self._heights, self._pitch, self._origin, self._bottom = heights, pitch, origin, bottom
        self.count = 2 * (heights.shape[0] - 1) * (heights.shape[1] - 1)
        self.reach = float(np.abs(self.box).max())
        self.endless = True

    @property
    def box(self) -> Array:
        """See `Parts`."""
        x, y = self._origin
        nx, ny = self._heights.shape
        far = x + (nx - 1) * self._pitch, y + (ny - 1) * self._pitch
        return np.array([x, y, self._bottom, *far, float(self._heights.max())])

    def _corners(self, which: Ints) -> Array:
        """Return the triangles on top, (k, 3, 3)."""
        cell, half = which // 2, which % 2
        ny = self._heights.shape[1] - 1
        grid = np.column_stack([cell // ny, cell % ny])[:, None] + _STEPS[half]
        out = np.empty((len(which), 3, 3))
        out[..., :2] = self._origin + self._pitch * grid
        out[..., 2] = self._heights[grid[..., 0], grid[..., 1]]
        return out

    def boxes(self, which: Ints) -> Array:
        """See `Parts`."""
        corners = self._corners(which)
        low, high = corners.min(axis=1), corners.max(axis=1)
        low[:, 2] = self._bottom
        more = 8.0 * 2.0**-52 * self.reach
        return np.hstack([low - more, high + more])

    def boxes_at(self, which: Ints, m: Array) -> Array:
        """See `Parts`."""
        return turned(self.boxes(which), m)

    def near(self, boxes: Array, within: float) -> Iterator[Ints]:
        """See `Parts`."""
        box, cell = 0, 0
        boxes = np.ascontiguousarray(boxes)
        more = within + 8.0 * 2.0**-52 * (self.reach + float(np.abs(boxes).max(initial=0.0)))
        heights = self._heights if self._heights.flags.writeable else self._heights.view()
        while box < len(boxes):
            out = np.empty((BLOCK, 2), dtype=np.int64)
            x, y = self._origin.tolist()
            found, box, cell = prisms_near(heights, x, y, self._pitch, boxes, more, box, cell, out)
            if found:
                yield out[:found]

    def seed(self, box: Array) -> int:
        """See `Parts`."""
        nx, ny = self._heights.shape[0] - 1, self._heights.shape[1] - 1
        at = (0.5 * (box[:2] + box[3:5]) - self._origin) / self._pitch
        x, y = at.tolist()
        i, j = int(min(max(x, 0.0), nx - 1)), int(min(max(y, 0.0), ny - 1))
        return int(2 * (i * ny + j) + (self._heights[i, j + 1] > self._heights[i + 1, j]))

    def pack(self, which: Ints) -> Packed:
        """See `Parts`."""
        head = layout.FLOAT_HEAD
        local = self._local(which)
        floats = np.zeros((len(which), head + 18))
        floats[:, layout.RHO] = np.sqrt((local**2).sum(axis=2).max(axis=1)) * (1.0 + 1e-15)
        floats[:, head:] = local.transpose(0, 2, 1).reshape(len(which), 18)
        starts = np.zeros((len(which), 2), dtype=np.int64)
        starts[:, 1] = np.arange(len(which)) * floats.shape[1]
        return Packed(_PRISM, floats.ravel(), starts)

    def _middles(self, corners: Array) -> Array:
        low, high = corners.min(axis=1), corners.max(axis=1)
        low[:, 2] = self._bottom
        middles: Array = 0.5 * (low + high)
        return middles

    def _local(self, which: Ints) -> Array:
        """Return the vertices of prisms about their middles, (k, 6, 3)."""
        corners = self._corners(which)
        below = corners.copy()
        below[..., 2] = self._bottom
        local: Array = np.concatenate([corners, below], axis=1) - self._middles(corners)[:, None]
        return local

    def rows(self, which: Ints) -> Array:
        """See `Parts`."""
        return translations(self._middles(self._corners(which)))

    def shape(self, part: int) -> Shape:
        """See `Parts`."""
        return ConvexHull(self._local(np.array([part]))[0])

    def points(self) -> Array:
        """See `Parts`: what has no end is inside nothing."""
        return np.zeros((0, 3))


class HeightField(Body):
    """Ground: heights over a grid, two triangles a cell, solid below them without end.

    `gjk3d.collide`, `distance`, `contact` and their like take it on either side, against all that has an end; the
    answers are those of the solid, exact. In overlap the depth comes with bounds, as a `Compound` has it; a thing that
    has fallen through the ground is inside it.

    Parameters
    ----------
    heights : (nx, ny) float
        The height z over the place ``origin + pitch * (i, j)``. The triangles of a cell meet over the line from
        [i, j] to [i + 1, j + 1].
    pitch : float
        How far apart the places are.
    origin : (2,) float
        x and y of the place [0, 0].

    Raises
    ------
    ShapeError
        Where there are fewer than 2 x 2 heights, or one is not finite; naming which.

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
    """

    __slots__ = ("heights", "origin", "pitch")
    heights: Array
    origin: Array
    pitch: float

    def __init__(self, heights: RowsLike, pitch: float, origin: VectorLike = (0.0, 0.0)) -> None:
        try:
            raw = np.asarray(heights)
            place = np.asarray(origin)
        except ValueError:
            raise ShapeError("HeightField: heights or origin is ragged, expected (nx, ny) and (2,)") from None
        if raw.ndim != 2 or min(raw.shape) < 2 or raw.dtype.kind not in "iuf":
            raise ShapeError(
                f"HeightField: heights has shape {raw.shape} and dtype {raw.dtype}, expected (nx, ny) real numbers, "
                "at least 2 x 2: a cell lies between four of them"
            )
        bad = np.argwhere(~np.isfinite(raw))
        if len(bad):
            i, j = bad[0].tolist()
            raise ShapeError(
                f"HeightField: heights[{i}, {j}] is {raw[i, j]} ({len(bad)} of {raw.size} are not finite): "
                "fill the gaps, as with the lowest height near them"
            )
        if place.shape != (2,) or place.dtype.kind not in "iuf" or not np.isfinite(place).all():
            raise ShapeError(f"HeightField: origin is {origin!r:.60}, expected two finite numbers, x and y")
        own = np.array(raw, dtype=np.float64, order="C") + 0.0
        in_range(own, "HeightField: heights")
        in_range(place, "HeightField: origin")
        step = number(pitch, "HeightField: pitch")
        reach = max(float(np.abs(own).max()), float(np.abs(place).max()))
        if reach > _FARTHEST * step:
            raise ShapeError(
                f"HeightField: heights and origin reach {reach:g} at a pitch of {step:g}, over {_FARTHEST:g} of it,"
                " so that floats cannot tell its cells apart: are both in one unit?"
            )
        self._set(heights=own, origin=np.array(place, dtype=np.float64) + 0.0, pitch=step)

    def __repr__(self) -> str:
        nx, ny = self.heights.shape
        return f"<HeightField {nx} x {ny}, pitch {self.pitch:g}, from {self.heights.min():g} to {self.heights.max():g}>"

    @property
    def _order(self) -> tuple[int, int]:
        """See `Body`: before all others, so that the kernels work in the frame of its grid."""
        return -1, self.heights.size

    @property
    def bounds(self) -> Array:
        """Least and greatest corner, (2, 3) float: none, so `UnboundedShapeError` is raised."""
        raise UnboundedShapeError("a HeightField goes down without end: it has no bounds")

    @property
    def _limits(self) -> list[tuple[Array, float]]:
        """Half-spaces, normals and offsets, that hold all of it: what lies above, and beyond each of four sides."""
        far = self.origin + self.pitch * (np.array(self.heights.shape) - 1.0)
        x, y, z = np.eye(3)
        sides = [(x, far[0]), (y, far[1]), (-x, -self.origin[0]), (-y, -self.origin[1])]
        return [(z, float(self.heights.max())), *((n, float(d)) for n, d in sides)]

    def surface(self, resolution: int = 32) -> Surface:
        """Return the ground as triangles, without sides or bottom.

        Parameters
        ----------
        resolution : int
            Not used here.

        Returns
        -------
        Surface
            ``vertices``, (n, 3) float, and ``faces``, (m, 3) int, seen anticlockwise from above.
        """
        nx, ny = self.heights.shape
        i, j = (index.ravel() for index in np.meshgrid(np.arange(nx), np.arange(ny), indexing="ij"))
        flat = self.origin + self.pitch * np.column_stack([i, j])
        cells = np.column_stack([index.ravel() for index in np.meshgrid(range(nx - 1), range(ny - 1), indexing="ij")])
        faces = (cells[:, None, None] + _STEPS) @ np.array([ny, 1])
        return Surface(np.column_stack([flat, self.heights.ravel()]), faces.reshape(-1, 3))

    def _parts_near(self, box: Array) -> Parts:
        """Return the columns, so deep that a thing in that box can be moved out of them, but not through them."""
        nx, ny = self.heights.shape
        low = min(float(self.heights.min()), float(box[2]))
        size = self.pitch * (nx + ny) + float(np.ptp(self.heights)) + float((box[3:] - box[:3]).sum())
        return Prisms(self.heights, self.pitch, self.origin, low - 2.0 * size)
