"""Shapes, meshes and pictures as pyvista has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d.bodies import PointCloud
from gjk3d.shapes.base import rigid
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array
from gjk3d.viz.drawing import DOTS, LINES, Drawing, Style
from gjk3d.viz.layout import placed, plate
from gjk3d.viz.surfacing import RESOLUTION

if TYPE_CHECKING:
    import pyvista


def to_pyvista(
    x: Any,
    pose: Any = None,
    *,
    resolution: int = RESOLUTION,
    around: tuple[Any, float] = ((0.0, 0.0, 0.0), 1.0),
    **options: Any,
) -> pyvista.PolyData | pyvista.MultiBlock:
    """Turn anything that can be drawn into what pyvista draws, to go on from there.

    A point becomes a vertex, a segment a line, a flat shape its two sides, a point cloud its points. What is no single
    solid becomes a `pyvista.MultiBlock` of all that its picture holds: each block has its colour ("#rrggbb") and its
    opacity as field data of these names.

    Parameters
    ----------
    x : shape, Mesh, Compound, VoxelGrid, PointCloud, HeightField, Surface, PolyData, or an answer
    pose : (4, 4) float, optional
        Where it is.
    resolution : int
        Segments per full turn of curved shapes.
    around : (center, radius)
        A half-space becomes a square slab whose top is on its surface, near this ball.
    **options
        Those of `show` for this kind of thing, where it is no single solid.

    Raises
    ------
    TypeError
        There is no surface to be had from ``x``, nor a picture.
    """
    import pyvista

    from gjk3d.viz.kinds import drawing_of, is_solid

    if not is_solid(x):
        return _blocks(drawing_of(x, Style(pose), **options))
    if options:
        raise TypeError(f"to_pyvista of a {type(x).__name__} has no option {next(iter(options))!r}")
    matrix = None
    if pose is not None:
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = rigid(pose)
    if isinstance(x, pyvista.PolyData):
        return x.copy() if matrix is None else x.transform(matrix, inplace=False)
    if isinstance(x, Halfspace):
        center, radius = np.asarray(around[0], dtype=np.float64), float(around[1])
        body = plate(x, matrix, center, 2.5 * radius)
    elif isinstance(x, PointCloud):
        return pyvista.PolyData(placed(x.points, np.zeros((0, 3), dtype=np.int64), matrix).vertices)
    elif hasattr(x, "vertices") and hasattr(x, "faces") and not hasattr(x, "surface"):
        body = placed(x.vertices, x.faces, matrix)
    else:
        surface = x.surface(resolution)
        body = placed(surface.vertices, surface.faces, matrix)
    return polydata(body.vertices, body.faces)


def _blocks(drawing: Drawing) -> pyvista.MultiBlock:
    import pyvista

    blocks = pyvista.MultiBlock()
    for k, item in enumerate(drawing.items):
        if item.look == LINES:
            block = wires(item.vertices)
        elif item.look == DOTS:
            block = pyvista.PolyData(np.ascontiguousarray(item.vertices))
        else:
            block = polydata(item.vertices, item.faces)
        block.field_data["color"], block.field_data["opacity"] = [item.color], [item.opacity]
        blocks.append(block, item.name or f"{item.look} {k}")
    return blocks


def wires(ends: Array) -> pyvista.PolyData:
    """Return segments, (k, 2, 3) float, as lines."""
    import pyvista

    corners = np.ascontiguousarray(ends).reshape(-1, 3)
    lines = np.column_stack([np.full(len(corners) // 2, 2), np.arange(len(corners)).reshape(-1, 2)])
    return pyvista.PolyData(corners, lines=lines.ravel())


def polydata(vertices: Array, faces: Any) -> pyvista.PolyData:
    """Build PolyData from arrays; no faces mean a point, or the segment of the first and last vertex."""
    import pyvista

    if len(faces):
        return pyvista.PolyData.from_regular_faces(np.ascontiguousarray(vertices), np.asarray(faces))
    if len(vertices) == 1:
        return pyvista.PolyData(np.ascontiguousarray(vertices))
    return pyvista.PolyData(np.ascontiguousarray(vertices), lines=[len(vertices), *range(len(vertices))])
