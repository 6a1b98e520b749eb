"""`Shell`: a surface of triangles with a thickness, such as sheet metal."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gjk3d.bodies.base import Body
from gjk3d.bodies.bvh import straight
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.part_tree import OPEN, SKIN, TRIANGLES, PartTree
from gjk3d.bodies.parts import ONE_TRIANGLE, TreeParts, boxes_round, ends_of, given
from gjk3d.errors import ShapeError
from gjk3d.poses import IDENTITY
from gjk3d.shapes.base import Shape, number
from gjk3d.shapes.measure import Surface
from gjk3d.shapes.polytopes import Triangle
from gjk3d.typing import Array
from gjk3d.wording import count, kind_of


class Shell(Body):
    """All points within half a thickness of the triangles of a mesh, and the interior of a closed mesh.

    An open mesh is a surface without volume, so a thin body may pass through it between two steps. A shell is the body
    that a ball of diameter ``thickness`` sweeps on the surface, with a rounded rim. `gjk3d.collide`, `distance`,
    `contact` and similar queries accept it as either argument. Their results are exact for this body. The depth of
    an overlap has bounds, as for a `Compound`.

    A closed mesh is solid in `gjk3d.collide`, so its shell is the mesh grown by half the thickness. The shell of a
    ``Mesh(..., solid=False)`` is hollow.

    Parameters
    ----------
    mesh : Mesh
        The middle surface of the sheet.
    thickness : float
        More than 0, in the unit of the mesh.

    Raises
    ------
    ShapeError
        The mesh is not a `Mesh`, or the thickness is not a length.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> sheet = gk.Mesh([(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)], [(0, 1, 2), (0, 2, 3)])
    >>> plate, pose = gk.Shell(sheet, thickness=0.5), np.eye(4)
    >>> pose[:3, 3] = 2, 1, 1
    >>> plate, gk.distance(plate, gk.Sphere(0.5), None, pose).distance
    (<Shell of 2 triangles, thickness 0.5>, 0.25)
    >>> pose[2, 3] = 0.5
    >>> round(gk.signed_distance(plate, gk.Sphere(0.5), None, pose).distance, 9)
    -0.25
    """

    __slots__ = ("mesh", "thickness")
    mesh: Mesh
    thickness: float

    def __init__(self, mesh: Mesh, thickness: float) -> None:
        if not isinstance(mesh, Mesh):
            raise ShapeError(
                f"Shell: mesh is {kind_of(mesh)}, expected a gjk3d.Mesh. Use inflated(radius) of a convex shape"
            )
        self._set(mesh=mesh, thickness=number(thickness, "Shell: thickness"))

    def __repr__(self) -> str:
        return f"<Shell of {count(len(self.mesh.faces), 'triangle')}, thickness {self.thickness:g}>"

    @property
    def unit(self) -> str | None:
        """The unit of length of the mesh, or None."""
        return self.mesh.unit

    def hull(self) -> Shape:
        """Return the convex hull, a shape that every query accepts."""
        return self.mesh.hull().inflated(0.5 * self.thickness)

    def surface(self, resolution: int = 32) -> Surface:
        """Return the surface for pictures: the rim and both sides, which follow the mean normals of the vertices.

        Parameters
        ----------
        resolution : int
            Not used, since edges are not rounded.

        Returns
        -------
        Surface
            ``vertices``, (n, 3) float, and ``faces``, (m, 3) int.
        """
        v, f = self.mesh.vertices, self.mesh.faces
        normals, across = np.zeros_like(v), np.cross(v[f[:, 1]] - v[f[:, 0]], v[f[:, 2]] - v[f[:, 0]])
        np.add.at(normals, f.ravel(), np.repeat(across, 3, axis=0))
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        normals = np.divide(normals, length, out=np.zeros_like(v), where=length > 0.0)
        edges = np.concatenate([f[:, [0, 1]], f[:, [1, 2]], f[:, [2, 0]]])
        valid = {tuple(edge) for edge in edges.tolist()}
        rim = np.array([edge for edge in edges.tolist() if (edge[1], edge[0]) not in valid], dtype=np.int64)
        p, q = rim.reshape(-1, 2).T
        walls = np.concatenate([np.column_stack([q, p, p + len(v)]), np.column_stack([q, p + len(v), q + len(v)])])
        more = 0.5 * self.thickness * normals
        return Surface(np.vstack([v + more, v - more]), np.vstack([f, f[:, ::-1] + len(v), walls]))

    def _build_parts(self) -> Plates:
        return Plates(self.mesh, 0.5 * self.thickness)

    def _bytes(self) -> Iterator[bytes]:
        yield from (self.mesh.vertices.tobytes(), self.mesh.faces.tobytes(), np.float64(self.thickness).tobytes())


class Plates(TreeParts):
    """Rounded triangles of a mesh."""

    __slots__ = ("_corners", "mesh", "radius")

    def __init__(self, mesh: Mesh, radius: float) -> None:
        corners = mesh.vertices[mesh.faces]
        more = radius + 4.0 * 2.0**-52 * (np.abs(corners).max(axis=(1, 2)) + radius)
        super().__init__(boxes_round(corners) + np.outer(more, np.repeat((-1.0, 1.0), 3)), 2)
        self.mesh, self.radius, self._corners = mesh, radius, corners[self._order]

    def _give(self) -> PartTree:
        nodes = straight(boxes_round(self._corners), self._links)
        return given(
            TRIANGLES, nodes, self._links, self._corners.reshape(-1, 9), np.zeros((1, 3), dtype=np.int64), ONE_TRIANGLE,
            np.array([self.radius]), rim=self.radius, reach=self.reach, points=self.points(),
            inside=SKIN if self.mesh.is_solid else OPEN, span=self.mesh.bounds.ravel(),
        )  # fmt: skip

    def shape(self, part: int) -> Shape:
        """Return one part in its own frame."""
        return Triangle(self._corners[part]).inflated(self.radius)

    def hull(self) -> Shape:
        """Return the convex hull of all parts."""
        return self.mesh.hull().inflated(self.radius)

    @property
    def solids(self) -> list[tuple[Mesh, Array]]:
        """Closed meshes with an interior, and their pose rows."""
        return [(self.mesh, IDENTITY[0])] if self.mesh.is_solid else []

    def ends(self, n: Array) -> Array:
        """Return the lowest and the highest point along n of each part or connected piece, (k, 2, 3)."""
        surface_ends = ends_of(self.mesh.vertices[self.mesh.faces.ravel()], np.repeat(self.mesh._bodies, 3), n)
        out: Array = surface_ends + self.radius * np.stack([-n, n])
        return out

    def points(self) -> Array:
        """Return at least one point of every connected piece, (k, 3)."""
        return self.mesh._body_points

    def samples(self) -> Array:
        """Return points spread over the whole body, (k, 3), for lower bounds of depth."""
        return self.mesh._used
