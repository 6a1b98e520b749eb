"""One part of an assembly: a shape at a pose, and equal shapes stored once.

Poses in files are rounded. A matrix that differs from a known one by rounding alone places the same shape; the
largest distance of a vertex from its place in the file is the slack of the part.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.errors import ShapeError
from gjk3d.files.load import natural
from gjk3d.files.nodes import Colour
from gjk3d.poses import WIDTH, as_matrices, matrices, parts, pose_rows
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
    """Return the key that names are sorted by: 'bolt 2' comes before 'bolt 10'."""
    return natural(name), name


class Scaled:
    """Converts parts to another unit. Parts of one shape stay parts of one shape."""

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


#: A matrix whose stretch is that close to another's places the same shape; float32 files round by a sixteenth of it.
ALIKE = 1e-6


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

    def unique(self, mesh: Mesh) -> Mesh:
        """Return the first mesh with the same triangles."""
        digest = hashlib.sha256(mesh.vertices.tobytes())
        digest.update(mesh.faces.tobytes() + repr((mesh.vertices.shape, mesh._solid, mesh.unit)).encode())
        return self._meshes.setdefault(digest.digest(), mesh)

    def placed(self, mesh: Mesh, matrix: Array) -> Placed:
        """Return a mesh at an affine matrix as a shape at a pose. Stretch and reflection become part of the shape."""
        if np.array_equal(matrix, np.eye(4)):
            return Placed(mesh, None, 0.0)
        linear = np.asarray(matrix[:3, :3], dtype=np.float64)
        turn = _rotation(linear)
        stretch = np.eye(3) if turn is None else turn.T @ linear
        variants = self._stretched.setdefault(id(mesh), [(np.eye(3), mesh)])
        for stretched, shape in variants:
            if turn is not None and np.abs(stretch - stretched).max() <= ALIKE * np.abs(stretched).max():
                row = _row(turn, matrix[:3, 3])
                return Placed(shape, row, _slack(mesh.vertices, linear - turn @ stretched))
        residual = stretch if turn is not None else linear
        if turn is None:
            return Placed(mesh._mapped(residual, matrix[:3, 3], source=mesh.source), None, 0.0)
        shape = mesh._mapped(residual, source=mesh.source)
        variants.append((stretch, shape))
        return Placed(shape, _row(turn, matrix[:3, 3]), 0.0)


def _rotation(linear: Array) -> Array | None:
    """Return the rotation that is nearest to a matrix, None for a flat matrix or one that is not finite."""
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
    """Return the largest displacement of vertices by an error of the matrix."""
    away = vertices @ error.T
    return float(np.sqrt((away * away).sum(axis=1).max(initial=0.0)))


def moved_points(row: Array | None, points: Array) -> Array:
    """Return points at a pose row. A point has the same bits at any index of the array."""
    if row is None:
        return points
    turn, shift = parts(row)
    x, y, z = points[:, 0, None], points[:, 1, None], points[:, 2, None]
    out: Array = x * turn[:, 0] + y * turn[:, 1] + z * turn[:, 2] + shift
    return out
