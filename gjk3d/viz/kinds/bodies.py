"""Drawings of shapes, meshes and other solids, of poses, of bounding volumes, and of the boxes of a mesh's tree."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gjk3d import poses
from gjk3d.bodies.bvh import boxes_at, tree_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.solids import arrays_of, solid
from gjk3d.bodies.solids import joined as joined_solids
from gjk3d.bodies.voxels import VoxelGrid
from gjk3d.errors import PoseError
from gjk3d.poses import pose_rows
from gjk3d.query.volumes import AABB, OBB, BoundingSphere, Volume
from gjk3d.robot.swept import SweptVolume
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array
from gjk3d.units import reading
from gjk3d.viz.colors import AXES, GREY, INK, NORMAL, PALETTE, SEPARATION
from gjk3d.viz.drawing import PART, Drawing, Style, ball_of, darker
from gjk3d.viz.kinds.fields import add_slice, crossings
from gjk3d.viz.layout import half_space, kind, placed
from gjk3d.viz.triangles import BOX_FACES, RESOLUTION, ball, box_lines, is_dots, joined, surface_of
from gjk3d.wording import above, count, kind_of, number, with_unit

#: Greatest number of poses of a body that are drawn. They are at even intervals in a longer stack.
MOST_GHOSTS = 24
#: Greatest number of points that are drawn as large dots.
_FEW_DOTS = 2000
#: Greatest number of triangles (two per square) of a voxel grid whose edges are drawn.
MOST_SQUARES = 20_000
#: Greatest number of triangles of a body with an outline, which is computed in every frame.
MOST_OUTLINED = 30_000


def draw_body(
    x: Any, style: Style, *, axes: bool = False, level: int | None = None, slice: Any = None,
    self_intersections: bool = False,
) -> Drawing:  # fmt: skip
    """Draw a solid at its poses.

    Parameters
    ----------
    axes : bool
        Whether the axes of each pose are drawn.
    level : int
        The level of a mesh's tree whose boxes are drawn. Level 0 is the box around the mesh.
    slice : str or ((3,) float, (3,) float), optional
        A slice through the signed distances: "xy", "xz" or "yz" through the middle, or a point and a normal.
    self_intersections : bool
        Whether the faces of a mesh that intersect other faces of the mesh are marked.
    """
    drawing = Drawing()
    if self_intersections and not isinstance(x, Mesh):
        raise TypeError(f"self_intersections= needs a gjk3d.Mesh, but the object is {kind_of(x)}. Leave it out")
    if level is not None and not isinstance(x, Mesh):
        raise TypeError(f"level= needs a gjk3d.Mesh, but the object is {kind_of(x)}. Leave it out")
    if level is not None:
        check_level(level, _last_level(x))
    stack = matrices(style.pose)
    shown = evenly(len(stack), MOST_GHOSTS)
    if len(shown) == 0:
        return drawing
    color, name = style.color(0, () if level is None else (GREY,)), style.name(0, words_for(x))
    for k, i in enumerate(shown):
        last = k == len(shown) - 1
        fade = 1.0 if last else 0.12 + 0.22 * k / max(len(shown) - 1, 1)
        faint = 0.25 if slice is not None or self_intersections else 1.0
        add(drawing, x, stack[i], color, fade * style.alpha(0, faint))
    if axes:
        add_axes(drawing, stack[shown], 0.75 * drawing.ball[1] if len(stack) == 1 else None)
    drawing.words = [name]
    if hasattr(x, "faces"):
        vertices, faces = surface_of(x) if hasattr(x, "regular_faces") else (x.vertices, x.faces)  # PolyData
        size = extent_words(np.ptp(vertices, axis=0), getattr(x, "unit", None))
        triangles = count(len(faces), "triangle")
        drawing.words.append(size if triangles in name else f"{triangles}, {size}")  # the repr of a mesh has them
    if len(stack) > 1:
        of = f" of {len(stack)}" if len(shown) < len(stack) else ""
        drawing.words.append(f"{len(shown)}{of} poses, the last one opaque")
    if level is not None:
        add_levels(drawing, x, stack[-1], level)
    if slice is not None:
        add_slice(drawing, x, stack[-1], slice)
    if self_intersections:
        _add_self_intersections(drawing, x, stack[-1])
    return drawing


def _add_self_intersections(drawing: Drawing, mesh: Mesh, pose: Array) -> None:
    """Mark the faces of a mesh that intersect other faces of the mesh, and their edges."""
    pairs = mesh.self_intersections()
    drawing.words.append(f"{count(len(pairs), 'pair')} of its faces intersect" + "s" * (len(pairs) == 1))
    if not len(pairs):
        return
    vertices = placed(mesh.vertices, (), pose).vertices
    faces, key = mesh.faces[np.unique(pairs)], "faces that intersect others"
    drawing.body(vertices, faces, SEPARATION, 0.6, look=PART, key=key, name="self-intersections")
    drawing.lines(crossings(*(vertices[mesh.faces[pairs[:, k]]] for k in (0, 1))), INK, width=4.0)
    drawing.key("intersection curve", INK)


def draw_swept(x: SweptVolume, style: Style, *, of: Any = None) -> Drawing:
    """Draw a result of `Checker.swept`: the union of the pieces of each link.

    Parameters
    ----------
    of : Checker, optional
        The checker whose obstacles are drawn too.
    """
    drawing, names = Drawing(), list(dict.fromkeys(piece.link for piece in x.pieces))
    if of is not None:
        for name in of.objects:
            add(drawing, of.shape(name), of.pose(name), GREY, 1.0, outline=False, name=name)
        drawing.key("obstacles", GREY)
    for k, name in enumerate(names):
        surfaces = [piece.shape.surface(24) for piece in x.pieces if piece.link == name]
        solids = [solid(Mesh(*surface)) for surface in surfaces]
        union = None if None in solids else joined_solids(solids)
        vertices, faces = joined(surfaces) if union is None else arrays_of(union)
        color = style.color(k)
        if style.colors is None and k >= len(PALETTE):  # every link has another colour
            color = darker(color, 0.6 ** (k // len(PALETTE)))
        drawing.body(vertices, faces, color, style.alpha(k, 0.45), name=name, even=True)
        drawing.key(style.name(k, name), color)
    excess = f"excess ≤ {above(x.excess, 3)}"
    drawing.words = [f"Swept volumes of {count(len(names), 'link')}: {count(len(x.pieces), 'piece')}, {excess}"]
    return drawing


def extent_words(size: Array, unit: str | None) -> str:
    """Return the edges of a box, (3,) float, as text in a unit that suits their size."""
    unit, factor = reading(unit, float(size.max()))
    return with_unit(" x ".join(number(factor * side, 4) for side in size.tolist()), unit)


def add(
    drawing: Drawing,
    x: Any,
    pose: Array | None,
    color: str,
    opacity: float,
    *,
    outline: bool = True,
    name: str = "",
    resolution: int = RESOLUTION,
) -> None:
    """Add a solid at a pose or at each pose of a stack. A half-space is more transparent than other solids."""
    copies = 1 if pose is None else np.size(pose) // 16
    if isinstance(x, Halfspace):
        drawing.items.append(half_space(x, pose, color, 0.4 * opacity, name=name))
        return
    if is_dots(x):
        width = 3.0 if len(x.points) > _FEW_DOTS else 8.0
        drawing.dots(placed(x.points, (), pose).vertices, color, width=width, opacity=opacity, name=name)
        return
    vertices, faces = surface_of(x, resolution)
    body = placed(vertices, faces, pose)
    if isinstance(x, VoxelGrid) and len(faces) < MOST_SQUARES:
        half = len(faces) // 2  # the two halves of each square
        first, second = np.moveaxis(body.faces.reshape(copies, 2, half, 3), 1, 0)
        corners = body.vertices[np.concatenate([first, second[..., 2:]], axis=-1).reshape(-1, 4)]
        drawing.lines(corners[:, [[0, 1], [1, 2], [2, 3], [3, 0]]], darker(color), width=1.0, name=name)
    # a non-convex solid is recognised by its edges, and a large one by its shading, so neither has an outline
    small = len(getattr(x, "faces", ())) <= MOST_OUTLINED
    outline = outline and copies == 1 and small and getattr(x, "is_convex", hasattr(x, "support")) is True
    drawing.body(body.vertices, body.faces, color, opacity, outline=outline, name=name, copies=copies)


def matrices(pose: Any, name: str = "pose") -> Array:
    """Return a pose or a stack of poses as (n, 4, 4), after a check. None becomes one identity matrix."""
    return poses.matrices(pose_rows(pose, name)[0])


def evenly(count: int, most: int) -> NDArray[np.int64]:
    """Return at most ``most`` indices below ``count`` at even intervals, with the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def add_axes(drawing: Drawing, stack: Array, length: float | None = None) -> None:
    """Add arrows along the axes of poses (n, 4, 4). The default length follows from their spread."""
    if length is None:
        spread = ball_of(stack[:, :3, 3])[1] if len(stack) > 1 else 1.0
        length = 0.35 * spread if len(stack) < 8 else 1.4 * spread / len(stack) ** 0.5
    for k, color in enumerate(AXES):
        drawing.arrows(stack[:, :3, 3], stack[:, :3, k], length, 0.02 * length, color, key="xyz"[k])


def words_for(x: Any) -> str:
    """Return the name of a solid, or else its repr, or its kind if the repr is too long."""
    name = getattr(x, "name", None)
    if isinstance(name, str) and name:
        return name
    text = repr(x).strip("<>") if type(x).__module__.startswith("gjk3d.") else kind(x).capitalize()
    return text if len(text) <= 60 and "\n" not in text else kind(x).capitalize()


#: Greatest number of poses whose axes are drawn. They are at even intervals in a longer stack.
_MOST_AXES = 60


def draw_poses(x: Any, style: Style, *, length: float | None = None) -> Drawing:
    """Draw one pose or a stack of poses, with x vermilion, y green and z blue.

    Parameters
    ----------
    length : float
        Length of the arrows.
    """
    if isinstance(x, np.ndarray) and x.shape[-2:] != (4, 4):
        raise TypeError(
            f"an array of shape {x.shape} cannot be drawn, expected poses (4, 4) or (n, 4, 4). Draw points as a "
            "gjk3d.PointCloud"
        )
    try:
        stack = matrices(x)
    except PoseError as error:
        raise TypeError(f"the array cannot be drawn: {error}") from None
    drawing = Drawing()
    shown = evenly(len(stack), _MOST_AXES)
    places = stack[:, :3, 3]
    if len(stack) > 1:
        drawing.lines(np.stack([places[:-1], places[1:]], axis=1), GREY, width=2.5)
    add_axes(drawing, stack[shown], length)
    drawing.words = [count(len(stack), "pose")]
    if len(shown) < len(stack):
        drawing.words.append(f"axes of {len(shown)} poses")
    return drawing


_WORDS = {AABB: "axis-aligned box", OBB: "oriented box", BoundingSphere: "bounding sphere"}


def draw_volume(x: Volume, style: Style, *, of: Drawing | None = None) -> Drawing:
    """Draw a bounding volume, or a stack of bounding volumes.

    Parameters
    ----------
    of : Drawing, optional
        The drawing of the bounded object.
    """
    drawing = Drawing()
    color = style.color(0, (NORMAL,))
    if of is not None:
        drawing.take(of)
        if drawing.words and not drawing.keys:
            drawing.key(drawing.words[0], drawing.items[0].color)
        drawing.words = []
    name = next((words for cls, words in _WORDS.items() if isinstance(x, cls)), kind(x))
    if isinstance(x, BoundingSphere):
        centers, radii = np.reshape(x.center, (-1, 3)), np.reshape(x.radius, -1)
        for center, radius in zip(centers, radii, strict=True):
            drawing.body(*ball(center, radius, 64), color, style.alpha(0, 0.25), outline=True)
    else:
        corners = np.reshape(x.corners, (-1, 8, 3))  # type: ignore[attr-defined]
        drawing.lines(box_lines(corners), color, width=3.0)
        for eight in corners[:40]:
            drawing.body(eight, BOX_FACES, color, style.alpha(0, 0.10))
    volumes = np.reshape(x.volume, -1)  # type: ignore[attr-defined]
    title = f"{name[:1].upper() + name[1:]}, volume {_grouped(volumes.sum())} cubic units"
    drawing.words.append(title if len(volumes) == 1 else f"{len(volumes)} bounding volumes ({name})")
    drawing.key(style.name(0, name), color)
    return drawing


def check_level(level: Any, last: int | None = None) -> None:
    """Raise a ValueError for a level that is not a whole number from 0 to the last one."""
    whole = int(level) if isinstance(level, Integral) and not isinstance(level, bool) else -1
    if whole < 0 or (last is not None and whole > last):
        end = "of at least 0" if last is None else f"from 0 to {last}, the last level of the mesh's tree"
        raise ValueError(f"level is {level!r:.80}, expected a whole number {end}")


def _last_level(mesh: Mesh) -> int:
    """Return the last level of a mesh's tree."""
    links, nodes, level = tree_of(mesh).links, np.zeros(1, dtype=np.int64), 0
    while len(first := links[nodes, 0][links[nodes, 0] >= 0]):
        nodes, level = np.concatenate([first, first + 1]), level + 1
    return level


def _grouped(volume: float) -> str:
    """Return a volume to 5 digits, a large one with commas instead of a power of ten."""
    return f"{float(number(volume, 5)):,.0f}" if 1e5 <= volume < 1e15 else number(volume, 5)


def add_levels(drawing: Drawing, mesh: Mesh, pose: Array, level: int) -> None:
    """Add the boxes at a level of a mesh's tree, with different colours for neighbours."""
    corners = boxes_at(mesh, level) @ pose[:3, :3].T + pose[:3, 3]
    colors = (NORMAL, SEPARATION, PALETTE[1], PALETTE[3])
    for k, color in enumerate(colors):
        drawing.lines(box_lines(corners[k :: len(colors)]), color, width=2.2)
    drawing.words.append(f"level {level} of its tree: {len(corners)} box{'es' if len(corners) > 1 else ''}")
