"""The surface of any solid as triangles, for pictures of it by itself and in an answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.bodies import PointCloud
from gjk3d.errors import Gjk3dError
from gjk3d.shapes import surfaces
from gjk3d.shapes.convex_hull import ConvexHull
from gjk3d.typing import Array, Ints
from gjk3d.viz.marks import ball

#: Segments of a full turn of curved shapes.
RESOLUTION = 96
#: Faces of a hull that is drawn as it is; one of more is drawn by its farthest points in a few thousand directions.
MAX_FACES = 150_000
#: Balls of a point cloud that are drawn as balls; more are dots.
MOST_BALLS = 1500
#: Segments of each of many balls: the fewest at which neighbouring faces are shaded as one, with no edge between them.
_SMALL = 22
_OCTAHEDRON = (
    np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=np.float64),
    np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]]),
)


def surface_of(x: Any, resolution: int = RESOLUTION) -> tuple[Array, Ints]:
    """Return a solid's surface in its own frame as triangles.

    Raises
    ------
    TypeError
        It has none.
    """
    if isinstance(x, PointCloud):
        points = np.asarray(x.points)
        if x.radius <= 0.0:
            return points, np.zeros((0, 3), dtype=np.int64)
        return _at_each(points, *ball(np.zeros(3), x.radius, _SMALL if len(points) > 200 else 32))
    if not hasattr(x, "surface"):
        if hasattr(x, "vertices") and hasattr(x, "faces"):
            return np.asarray(x.vertices, dtype=np.float64), np.asarray(x.faces, dtype=np.int64)
        if hasattr(x, "regular_faces"):  # PolyData
            whole = x.triangulate()
            return np.asarray(whole.points, dtype=np.float64), np.asarray(whole.regular_faces, dtype=np.int64)
        raise TypeError(f"{type(x).__name__} has no surface: give a shape, a Mesh, a Surface or PolyData")
    try:
        surface = x.surface(resolution)
        if len(surface.faces) > MAX_FACES and hasattr(x, "support"):
            surface = ConvexHull(x.support(surfaces.sphere(1.0, RESOLUTION).vertices)).surface()
    except Gjk3dError as error:
        raise TypeError(f"{x!r} cannot be drawn: {error}") from error
    return surface.vertices, surface.faces


def solid_surface(x: Any) -> tuple[Array, Ints]:
    """Return the same, but small octahedra for a cloud that by itself is dots: what is in an answer has faces."""
    if not is_dots(x) and not (isinstance(x, PointCloud) and x.radius <= 0.0):
        return surface_of(x)
    points = np.asarray(x.points)
    radius = x.radius or 0.004 * float(np.linalg.norm(np.ptp(points, axis=0)))
    return _at_each(points, radius * _OCTAHEDRON[0], _OCTAHEDRON[1]) if radius > 0.0 else (points[:1], surface_of(x)[1])


def is_dots(x: Any) -> bool:
    """Return whether this is a point cloud of more points than are drawn as balls."""
    return isinstance(x, PointCloud) and len(x.points) > MOST_BALLS


def _at_each(points: Array, vertices: Array, faces: Ints) -> tuple[Array, Ints]:
    every = points[:, None] + vertices
    return every.reshape(-1, 3), (faces + len(vertices) * np.arange(len(points))[:, None, None]).reshape(-1, 3)
