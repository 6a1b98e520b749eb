"""Parts of an assembly, and the default tolerance of each. A part is a shape at a pose.

Equal shapes are stored once. Poses in files are rounded, so copies whose stretches differ only by rounding share one
shape. The slack of a part is the largest distance of its vertices from their positions in the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.errors import ShapeError
from gjk3d.files.load import natural
from gjk3d.files.readers import Colour
from gjk3d.poses import WIDTH, as_matrices, matrices, parts, pose_rows
from gjk3d.shapes.layout import in_range
from gjk3d.typing import Array

#: The ``extras`` of glTF meshes that `gjk3d.clash.formats.to_glb` writes for findings.
MARK = {"gjk3d": "mark of a finding"}
#: The default tolerance of a part divided by its largest distance along an axis from the middle of the assembly.
#: float32 files have a relative error of 6e-8.
TOLERANCE = 1e-6
#: The default tolerance is at least this many spacings of the numbers in the file of the part.
SPACINGS = 8.0


@dataclass(frozen=True)
class AssemblyPart:
    """A part of an assembly, with its unique name, its file, its shape and its pose.

    Parts of equal shape share one `Mesh` with its hull and its tree.

    Attributes
    ----------
    name : str
        The unique name. For a file with a tree of nodes, it is the path from the root to the part, such as "a/b/c".
    file : str
        The path of the file.
    shape : Mesh or None
        The triangles in the frame of the shape. None if the part could not be loaded.
    reason : str
        The reason why the part could not be loaded, or an empty text.
    pose : (4, 4) float or None
        The transform from the frame of the shape to the frame of the assembly, as tuples. None is the identity.
    slack : float
        The largest distance of a vertex from its position in the file. It is positive for copies that share a shape
        although their matrices differ by rounding.
    facets : float
        The largest distance of the triangles from the curved faces that they approximate, if the reader knows it
        (STEP).
    spacing : float
        The rounding of the coordinates in the file: the distance between two neighbouring numbers that the file can
        store, as float32 or as decimal text.
    path : tuple of str
        The names of the nodes, products or spaces from the root of the file to the part itself. In a file without a
        tree, the path has only the name of the part.
    colour : (3,) float or None
        The colour in the file (GLB, glTF, STEP, IFC, OBJ, 3MF): red, green and blue in sRGB, from 0 to 1. For several
        materials it is the colour of the largest surface.
    guid : str
        The GlobalId in IFC, or an empty text.

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
            _ = self._row  # raises an error if the matrix is not a pose

    @cached_property
    def _row(self) -> Array | None:
        """The pose as a pose row, (13,) float, or None for the identity."""
        return None if self.pose is None else pose_rows(np.array(self.pose), f"pose of {self.name!r}")[0][0]

    @property
    def mesh(self) -> Mesh | None:
        """The triangles in the frame of the assembly, or None for a part that could not be loaded.

        The triangles of a part with a pose are computed at each access.
        """
        if self.shape is None or self._row is None:
            return self.shape
        points = moved_points(self._row, self.shape.vertices)
        shape = self.shape
        return shape._like(points, shape.faces, name=self.name, source=shape.source, rounding=shape._spread)

    @cached_property
    def bounds(self) -> Array:
        """The lowest and the highest corner in the frame of the assembly, (2, 3) float."""
        if self.shape is None:
            return np.full((2, 3), np.nan)
        if self._row is None:
            return self.shape.bounds
        points = moved_points(self._row, self.shape._used)
        return np.array([points.min(axis=0), points.max(axis=0)])


def hex_of(colour: Colour) -> str:
    """Return a colour as ``#rrggbb``."""
    red, green, blue = (round(255.0 * min(1.0, max(0.0, value))) for value in colour)
    return f"#{red:02x}{green:02x}{blue:02x}"


def first_names(names: Sequence[str], most: int) -> str:
    """Return the first ``most`` names as text, such as "a, b and 3 more"."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


@lru_cache(1 << 18)  # names are sorted many times
def order(name: str) -> tuple[list[str | int], str]:
    """Return the sort key of a name. 'bolt 2' comes before 'bolt 10'."""
    return natural(name), name


class Scaled:
    """A conversion of parts to a unit. Parts that share a shape share the converted shape."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._made: dict[tuple[int, float], Mesh] = {}

    def part(self, part: AssemblyPart, factor: float) -> AssemblyPart:
        """Return a part with its lengths times ``factor``.

        If a length is then out of range, the result has no shape, and its ``reason`` states the error.
        """
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
        except ShapeError as error:
            return replace(part, shape=None, reason=str(error), pose=None)
        lengths = {name: getattr(part, name) * factor for name in ("slack", "facets", "spacing")}
        return replace(part, shape=self._made[key], pose=pose, **lengths)


def converted(mesh: Mesh, factor: float, unit: str, name: str | None = None) -> Mesh:
    """Return a mesh in the unit ``unit``, with all lengths multiplied by ``factor``."""
    return mesh._like(
        mesh.vertices * factor, mesh.faces, name=name or mesh.name, unit=unit, parts=mesh.parts, source=mesh.source,
        rounding=mesh._spread * factor,
    )  # fmt: skip


#: The largest relative difference of the stretches of copies that share one shape, 16 rounding errors of float32.
ALIKE = 1e-6


class Placed(NamedTuple):
    """A shape, its pose row (None is the identity), and the largest position error of its vertices."""

    shape: Mesh
    row: Array | None
    slack: float


class Shapes:
    """The distinct shapes of a file. Meshes with equal arrays are one shape."""

    def __init__(self) -> None:
        self._meshes: dict[bytes, Mesh] = {}
        self._stretched: dict[int, list[tuple[Array, Mesh]]] = {}

    def unique(self, mesh: Mesh) -> Mesh:
        """Return the stored mesh that equals ``mesh``. If there is none, store and return ``mesh``."""
        digest = hashlib.sha256(mesh.vertices.tobytes())
        digest.update(mesh.faces.tobytes() + repr((mesh.vertices.shape, mesh._solid, mesh.unit)).encode())
        return self._meshes.setdefault(digest.digest(), mesh)

    def placed(self, mesh: Mesh, matrix: Array) -> Placed:
        """Return a mesh that is transformed by an affine matrix (4, 4), as a shape at a pose.

        The pose is rigid. The shape includes the stretch and the reflection of the matrix.
        """
        if np.array_equal(matrix, np.eye(4)):
            return Placed(mesh, None, 0.0)
        linear = np.asarray(matrix[:3, :3], dtype=np.float64)
        turn = _rotation(linear)
        if turn is None:
            return Placed(mesh._mapped(linear, matrix[:3, 3], source=mesh.source), None, 0.0)
        row, stretch = _row(turn, matrix[:3, 3]), turn.T @ linear
        variants = self._stretched.setdefault(id(mesh), [(np.eye(3), mesh)])
        for stretched, shape in variants:
            if np.abs(stretch - stretched).max() <= ALIKE * np.abs(stretched).max():
                away = mesh.vertices @ (linear - turn @ stretched).T
                return Placed(shape, row, float(np.sqrt((away * away).sum(axis=1).max(initial=0.0))))
        shape = mesh._mapped(stretch, source=mesh.source)
        variants.append((stretch, shape))
        return Placed(shape, row, 0.0)


def _rotation(linear: Array) -> Array | None:
    """Return the rotation of a polar decomposition of a (3, 3) matrix, or None if the matrix is nearly singular."""
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
    # an exact rotation is not changed by the rounding of the SVD
    return linear if np.abs(linear - turn).max() <= 4.0 * 2.0**-52 else turn


def _row(turn: Array, shift: Array) -> Array:
    row = np.zeros(WIDTH)
    row[:9], row[9:12] = turn.ravel(), shift
    row[12] = np.abs(turn.T @ turn - np.eye(3)).max()
    return row


def moved_points(row: Array | None, points: Array) -> Array:
    """Return points transformed by a pose row, (n, 3).

    The rounding of a point does not depend on its index in the array.
    """
    if row is None:
        return points
    turn, shift = parts(row)
    x, y, z = points[:, 0, None], points[:, 1, None], points[:, 2, None]
    out: Array = x * turn[:, 0] + y * turn[:, 1] + z * turn[:, 2] + shift
    return out


def default_tolerances(bounds: Array, spacings: Array) -> Array:
    """Return the default tolerance of each part, (n,).

    ``bounds`` (n, 2, 3) are the boxes of the parts, and ``spacings`` (n,) are the values of `AssemblyPart.spacing`.
    """
    if not len(bounds):
        return np.zeros(0)
    # the median ignores a single part far away
    middle = np.median(bounds.mean(axis=1), axis=0)
    reach = np.abs(bounds - middle).max(axis=(1, 2))
    tolerances: Array = np.maximum(TOLERANCE * reach, SPACINGS * spacings)
    return tolerances


class Tolerances(NamedTuple):
    """The tolerances of parts.

    The tolerance of a pair is the larger tolerance of its parts, and at least the sum of the errors of their facets.

    Attributes
    ----------
    by_part : (n,) float
        The tolerance of each part.
    facets : (n,) float
        The largest distance of the triangles of each part from the curved faces that they approximate.
    """

    by_part: Array
    facets: Array

    def of(self, i: Any, j: Any) -> Any:
        """Return the tolerance of each pair of parts. ``i`` and ``j`` are part indices, or arrays of part indices."""
        return np.maximum(np.maximum(self.by_part[i], self.by_part[j]), self.facets[i] + self.facets[j])
