"""Shapes and meshes as pyvista has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gjk3d.shapes.base import rigid
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.viz.layout import RESOLUTION, placed, plate

if TYPE_CHECKING:
    import pyvista

Array = NDArray[np.float64]


def to_pyvista(
    x: Any, pose: Any = None, *, resolution: int = RESOLUTION, around: tuple[Any, float] = ((0.0, 0.0, 0.0), 1.0)
) -> pyvista.PolyData:
    """Turn a shape, a mesh or a surface into `pyvista.PolyData`.

    A point becomes a vertex, a segment a line, a flat shape its two sides.

    Parameters
    ----------
    x : shape, Mesh, Surface or PolyData
    pose : (4, 4) float, optional
        Where it is.
    resolution : int
        Segments per full turn of curved shapes.
    around : (center, radius)
        A half-space becomes a square slab whose top is on its surface, near this ball.

    Raises
    ------
    TypeError
        There is no surface to be had from ``x``.
    """
    import pyvista

    matrix = None
    if pose is not None:
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = rigid(pose)
    if isinstance(x, pyvista.PolyData):
        return x.copy() if matrix is None else x.transform(matrix, inplace=False)
    if isinstance(x, Halfspace):
        center, radius = np.asarray(around[0], dtype=np.float64), float(around[1])
        body = plate(x, matrix, center, 2.5 * radius)
    elif hasattr(x, "vertices") and hasattr(x, "faces") and not hasattr(x, "surface"):
        body = placed(x.vertices, x.faces, matrix)
    elif hasattr(x, "surface"):
        surface = x.surface(resolution)
        body = placed(surface.vertices, surface.faces, matrix)
    else:
        raise TypeError(f"{type(x).__name__} has no surface: give a shape, a Mesh, a Surface or PolyData")
    return polydata(body.vertices, body.faces)


def polydata(vertices: Array, faces: Any) -> pyvista.PolyData:
    """Build PolyData from arrays; no faces mean a point, or the segment of the first and last vertex."""
    import pyvista

    if len(faces):
        return pyvista.PolyData.from_regular_faces(np.ascontiguousarray(vertices), np.asarray(faces))
    if len(vertices) == 1:
        return pyvista.PolyData(np.ascontiguousarray(vertices))
    return pyvista.PolyData(np.ascontiguousarray(vertices), lines=[len(vertices), *range(len(vertices))])
