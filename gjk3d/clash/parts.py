"""One part of an assembly: a shape at a place, and what its file says of it besides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.clash.instances import moved_points
from gjk3d.errors import ShapeError
from gjk3d.files.load import natural
from gjk3d.files.nodes import Colour
from gjk3d.poses import as_matrices, matrices, pose_rows
from gjk3d.shapes.layout import in_range
from gjk3d.typing import Array

#: What a mesh in a glTF says of itself (``extras``) that `gjk3d.clash.formats.to_glb` drew to mark a finding.
MARK = {"gjk3d": "mark of a finding"}


@dataclass(frozen=True)
class AssemblyPart:
    """One part: its unique name, the file it came from, its shape, and where in the whole that is.

    Parts of one shape share one `Mesh`, with its hull and its tree.

    Attributes
    ----------
    name, file : str
        Node path in the assembly, and the file.
    shape : Mesh or None
        Its triangles in a frame of their own. None where it could not be loaded.
    reason : str
        Why it could not be loaded, else empty.
    pose : (4, 4) float or None
        Frame of the whole from the shape's, as tuples; None where that is the same.
    slack : float
        How far its vertices may be from where the file has them, at most: copies whose matrices differ by rounding
        are one shape.
    facets : float
        How far its triangles may be from the curved faces that they stand for, as far as its reader tells (STEP).
    spacing : float
        Spacing of the numbers that its file places its vertices by, as far as float32 or decimal text rounded them.
    path : tuple of str
        The nodes, products or spaces from the root of the file down to it, itself last: the steps of its name where
        none has a slash. The name alone where the file has no tree.
    colour : (3,) float or None
        Red, green and blue, 0 to 1, that the file gives it (GLB, glTF, STEP, IFC, OBJ, 3MF), as screens take them; of
        several materials that of the largest surface.
    guid : str
        Its GlobalId in IFC, else empty.

    Examples
    --------
    >>> import gjk3d as gk
    >>> lid = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    >>> part = gk.clash.AssemblyPart("lid", "lid.stl", lid)
    >>> part.name, len(part.mesh.faces), part.mesh is part.shape
    ('lid', 1, True)
    >>> up = [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 5), (0, 0, 0, 1)]
    >>> gk.clash.AssemblyPart("lid 2", "lid.stl", lid, pose=up).bounds.tolist()
    [[0.0, 0.0, 5.0], [1.0, 1.0, 5.0]]
    """

    name: str
    file: str
    shape: Mesh | None
    reason: str = ""
    pose: Any = None
    slack: float = 0.0
    facets: float = 0.0
    spacing: float = 0.0
    path: tuple[str, ...] = ()
    colour: Colour | None = None
    guid: str = ""

    def __post_init__(self) -> None:
        if not self.path:
            object.__setattr__(self, "path", (self.name,))
        if self.pose is not None:
            object.__setattr__(self, "pose", tuple(map(tuple, as_matrices(self.pose).tolist())))
            _ = self._row  # that is refused where it is no pose

    @cached_property
    def _row(self) -> Array | None:
        """The pose as kernels take it, (13,) float; None where there is none."""
        return None if self.pose is None else pose_rows(np.array(self.pose), f"pose of {self.name!r}")[0][0]

    @property
    def mesh(self) -> Mesh | None:
        """Its triangles in the frame of the whole, made anew where the part has a pose; None as `shape` is."""
        if self.shape is None or self._row is None:
            return self.shape
        points = moved_points(self._row, self.shape.vertices)
        shape = self.shape
        return shape._like(points, shape.faces, name=self.name, source=shape.source, rounding=shape._spread)

    @cached_property
    def bounds(self) -> Array:
        """Lowest and highest corner in the frame of the whole, (2, 3) float."""
        if self.shape is None:
            return np.full((2, 3), np.nan)
        if self._row is None:
            return self.shape.bounds
        points = moved_points(self._row, self.shape._used)
        return np.array([points.min(axis=0), points.max(axis=0)])


def hex_of(colour: Colour) -> str:
    """Return a colour as pages and pictures write it, ``#rrggbb``."""
    red, green, blue = (round(255.0 * min(1.0, max(0.0, value))) for value in colour)
    return f"#{red:02x}{green:02x}{blue:02x}"


@lru_cache(1 << 18)  # names are sorted many times
def order(name: str) -> tuple[list[str | int], str]:
    """Return what names are sorted by: 'bolt 2' before 'bolt 10'."""
    return natural(name), name


class Scaled:
    """Brings parts to another unit; those of one shape to one."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._made: dict[tuple[int, float], Mesh] = {}

    def part(self, part: AssemblyPart, factor: float) -> AssemblyPart:
        """Return a part with its lengths multiplied."""
        if part.shape is None:
            return part
        key = id(part.shape), factor
        try:
            if key not in self._made:
                self._made[key] = converted(part.shape, factor, self._unit, part.name)
            pose = None
            if part._row is not None:
                pose = matrices(part._row)
                pose[:3, 3] *= factor
                in_range(moved_points(pose_rows(pose)[0][0], self._made[key].bounds), "vertices")
        except ShapeError as error:  # too large or too small to compute with in that unit
            return replace(part, shape=None, reason=str(error), pose=None)
        lengths = {name: getattr(part, name) * factor for name in ("slack", "facets", "spacing")}
        return replace(part, shape=self._made[key], pose=pose, **lengths)


def converted(mesh: Mesh, factor: float, unit: str, name: str | None = None) -> Mesh:
    """Return a mesh with its lengths multiplied, in another unit."""
    return mesh._like(
        mesh.vertices * factor, mesh.faces, name=name or mesh.name, unit=unit, parts=mesh.parts, source=mesh.source,
        rounding=mesh._spread * factor,
    )  # fmt: skip
