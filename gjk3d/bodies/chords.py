"""How far the triangles of a curved surface are from the surface, estimated from the mesh alone."""

from __future__ import annotations

import numpy as np

from gjk3d.bodies.surface import TriangleSurface
from gjk3d.bodies.topology import edges_of

#: Edges of a smaller angle are of a curved surface, others are edges of the part.
_SMOOTH = np.radians(30.0)
#: A chord error is less than this part of the size of its mesh.
STEEPEST = float(np.tan(_SMOOTH / 4.0) / 2.0)
_FLAT = 1e-4  #: radians: edges of a smaller angle are inside a plane


def chord_error(mesh: TriangleSurface) -> float:
    """Return the estimated distance of the triangles from the curved faces that they stand for, 0 if all are flat.

    A circle and a chord of length c whose neighbours turn by an angle t are c * tan(t / 4) / 2 apart. At each edge that
    joins two triangles smoothly, the chord runs across the edge: it is the height of the lower triangle over it. The
    edge itself may be as long as the part, such as on a cylinder. The estimate proves nothing: evenly triangulated
    spheres are off by 2.7 times as much.
    """
    return float(mesh._cached("chord error", lambda: _chord_error(mesh)))


def _chord_error(mesh: TriangleSurface) -> float:
    edges = edges_of(mesh._places, mesh.faces)
    number = edges.numbers.ravel()
    order = np.argsort(number, kind="stable")
    counts = np.bincount(number, minlength=len(edges.ends))
    two = np.repeat(counts == 2, counts)
    sides = order[two].reshape(-1, 2)
    corners = mesh.vertices[mesh.faces[edges.faces]]
    along = corners[:, [1, 2, 0]] - corners
    normals = np.cross(along[:, 0], along[:, 1])
    twice = np.sqrt(np.einsum("ij,ij->i", normals, normals))
    lengths = np.sqrt(np.einsum("ijk,ijk->ij", along, along)).ravel()
    with np.errstate(divide="ignore", invalid="ignore"):
        heights = np.repeat(twice, 3) / lengths
        normals = normals / twice[:, None]
    across = normals[sides[:, 0] // 3] - normals[sides[:, 1] // 3]
    angles = 2.0 * np.arcsin(np.minimum(0.5 * np.sqrt(np.einsum("ij,ij->i", across, across)), 1.0))
    smooth = (angles > _FLAT) & (angles < _SMOOTH)
    errors = heights[sides[smooth]].min(axis=1) * np.tan(angles[smooth] / 4.0) / 2.0
    return float(errors.max(initial=0.0))
