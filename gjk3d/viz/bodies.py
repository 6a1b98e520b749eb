"""Shapes, meshes and other solids as pictures; with several poses the earlier ones are ghosts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gjk3d.bodies import VoxelGrid
from gjk3d.bodies.mesh import Mesh
from gjk3d.shapes.base import rigid
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array
from gjk3d.viz.drawing import AXES, GREY, PALETTE, Drawing, Style, ball_of, darker
from gjk3d.viz.layout import kind, placed, plate
from gjk3d.viz.marks import axes as axes_of
from gjk3d.viz.surfacing import RESOLUTION, is_dots, surface_of

#: Poses of one body that are drawn; of more, so many evenly.
MOST_GHOSTS = 24
#: Squares of a voxel grid, twice over, whose edges are drawn.
MOST_SQUARES = 20_000
#: Triangles of a body with an outline; it is found anew in every frame.
MOST_OUTLINED = 30_000


def draw(x: Any, style: Style, *, axes: bool = False, level: int | None = None) -> Drawing:
    """Draw a solid at its poses.

    Parameters
    ----------
    axes : bool
        Draw the axes of each pose too.
    level : int
        Of a mesh: draw the boxes at this level of its tree too; level 0 is the box round all of it.
    """
    drawing = Drawing()
    if level is not None and not isinstance(x, Mesh):
        raise TypeError(f"level= is of a gjk3d.Mesh, and this is a {type(x).__name__}")
    stack = matrices(style.pose)
    shown = evenly(len(stack), MOST_GHOSTS)
    if len(shown) == 0:
        return drawing
    color, name = style.color(0, PALETTE if level is None else (GREY,)), style.name(0, words_for(x))
    around = (stack[shown][:, :3, 3].mean(axis=0), 1.0)
    for k, i in enumerate(shown):
        last = k == len(shown) - 1
        fade = 1.0 if last else 0.12 + 0.22 * k / max(len(shown) - 1, 1)
        add(drawing, x, stack[i], color, fade * style.alpha(0, 1.0), around=around)
    if axes:
        add_axes(drawing, stack[shown], 0.75 * drawing.ball[1] if len(stack) == 1 else None)
    drawing.words = [name]
    if len(shown) < len(stack):
        drawing.words.append(f"{len(shown)} of {len(stack)} poses, the last one solid")
    elif len(stack) > 1:
        drawing.words.append(f"{len(stack)} poses, the last one solid")
    if level is not None:
        from gjk3d.viz.volumes import add_levels

        add_levels(drawing, x, stack[-1], level)
    return drawing


def add(
    drawing: Drawing,
    x: Any,
    pose: Array | None,
    color: str,
    opacity: float,
    *,
    around: tuple[Array, float] | None = None,
    outline: bool = True,
    name: str = "",
    resolution: int = RESOLUTION,
) -> None:
    """Add one solid at one pose; a half-space as a slab near ``around``, glassier than the rest."""
    if isinstance(x, Halfspace):
        center, radius = around or drawing.ball
        slab = plate(x, pose, np.asarray(center), 2.5 * radius)
        drawing.body(
            slab.vertices,
            slab.faces,
            color,
            0.4 * opacity,
            framed=not drawing.items,
            outline=False,
            name=name,
        )
        return
    if is_dots(x):
        body = placed(x.points, np.zeros((0, 3), dtype=np.int64), pose)
        drawing.dots(body.vertices, color, width=3.0, opacity=opacity, name=name)
        return
    vertices, faces = surface_of(x, resolution)
    body = placed(vertices, faces, pose)
    if isinstance(x, VoxelGrid) and len(faces) < MOST_SQUARES:
        half = len(faces) // 2  # the two halves of each square
        corners = body.vertices[np.column_stack([body.faces[:half], body.faces[half:, 2]])]
        drawing.lines(corners[:, [[0, 1], [1, 2], [2, 3], [3, 0]]], darker(color), width=1.0)
    drawing.body(body.vertices, body.faces, color, opacity, outline=outline and convex(x), name=name)


def convex(x: Any) -> bool:
    """Return whether a solid gets an outline: one that is not convex is told by its edges, a large one by its shade."""
    if len(getattr(x, "faces", ())) > MOST_OUTLINED:
        return False
    return getattr(x, "is_convex", hasattr(x, "support")) is True


def matrices(pose: Any) -> Array:
    """Return poses as (n, 4, 4); None is one identity."""
    if pose is None:
        return np.eye(4)[None]
    if hasattr(pose, "as_matrix"):
        pose = pose.as_matrix()
    stack = np.asarray(pose, dtype=np.float64)
    if stack.ndim == 2:
        stack = stack[None]
    out = np.tile(np.eye(4), (len(stack), 1, 1))
    for row, given in zip(out, stack, strict=True):
        row[:3, :3], row[:3, 3] = rigid(given)
    return out


def evenly(count: int, most: int) -> NDArray[np.int64]:
    """Return at most so many indices, with the first and the last."""
    if count <= most:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, most).round().astype(np.int64))


def add_axes(drawing: Drawing, stack: Array, length: float | None = None) -> None:
    """Add the axes of poses."""
    if length is None:
        spread = ball_of(stack[:, :3, 3])[1] if len(stack) > 1 else 1.0
        length = 0.35 * spread if len(stack) < 8 else 1.4 * spread / len(stack) ** 0.5
    for pose in stack:
        for solids, color in zip(axes_of(pose, length, 0.02 * length), AXES, strict=True):
            drawing.marks(solids, color)
    for text, color in zip("xyz", AXES, strict=True):
        drawing.key(text, color)


def words_for(x: Any) -> str:
    """Name a solid in words, with its numbers where they are few."""
    name = getattr(x, "name", None)
    if isinstance(name, str) and name:
        return name
    text = repr(x).strip("<>")
    return text if len(text) <= 60 and "\n" not in text else kind(x).capitalize()
