"""Drawings of solids, poses, bounding volumes, the boxes of a mesh's tree, and values in space.

Values in space are slices of signed distances, distances of points, and depth images. The colour of a vertex shows its
value. Signed distances are vermilion inside, white on the surface and blue outside. Depths are yellow near the camera
and dark purple far from it.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gjk3d import poses
from gjk3d.bodies.bvh import boxes_at, tree_of
from gjk3d.bodies.grids import VoxelGrid
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.solids import arrays_of, solid
from gjk3d.bodies.solids import joined as joined_solids
from gjk3d.errors import PoseError, ShapeError
from gjk3d.poses import pose_rows
from gjk3d.query.distance import PointDistances
from gjk3d.query.raycast import RayHit
from gjk3d.query.volumes import AABB, OBB, BoundingSphere, Volume
from gjk3d.robot.occupancy import SweptVolume
from gjk3d.shapes.base import number as positive
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Ints
from gjk3d.units import reading
from gjk3d.viz.colors import AXES, GREY, INK, NORMAL, PALETTE, SEPARATION, darker
from gjk3d.viz.drawing import (
    BOX_FACES,
    FIELD,
    PART,
    RESOLUTION,
    Drawing,
    Style,
    across,
    ball,
    ball_of,
    box_lines,
    direction,
    half_space,
    is_dots,
    joined,
    kind,
    placed,
    surface_of,
)
from gjk3d.wording import above, count, expected_names, kind_of, number, with_unit

# --- values in space -------------------------------------------------------------------------------------------------


#: Colours of a signed distance from the least to the greatest, and of a depth from near to far.
_SIGNED = ((213, 94, 0), (246, 196, 160), (255, 255, 255), (158, 202, 225), (0, 114, 178))
_DEPTHS = ((253, 231, 37), (94, 201, 98), (33, 145, 140), (59, 82, 139), (68, 1, 84))
#: Colour of lines of equal distance. Slices are light on dark pages too.
_LINE = "#404040"
#: Points along the longer side of a slice, size of a slice relative to the body, and number of lines of equal distance.
_GRID, _ROOM, _LEVELS = 161, 1.35, 10
_PLANES = {"xy": ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)), "xz": ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0)),
           "yz": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))}  # fmt: skip


def colored(values: Array, low: float, high: float, scale: Any) -> Array:
    """Return the colours, (n, 3) uint8, of values on a colour scale from the value ``low`` to the value ``high``."""
    share = np.clip((values - low) / ((high - low) or 1.0), 0.0, 1.0)
    places = np.linspace(0.0, 1.0, len(scale))
    return np.column_stack([np.interp(share, places, [color[k] for color in scale]) for k in range(3)]).astype(np.uint8)


def signed_colors(values: Array) -> Array:
    """Return the colours of signed distances: white at 0, vermilion at the least and blue at the greatest value."""
    finite = values[np.isfinite(values)]
    least, most = float(-finite.min(initial=0.0)) or 1.0, float(finite.max(initial=0.0)) or 1.0
    return colored(np.where(values < 0.0, values / least, values / most), -1.0, 1.0, _SIGNED)


def _key_signed(drawing: Drawing, least: float, most: float, unit: str | None) -> None:
    if least < 0.0:
        drawing.key(f"inside, to {with_unit(number(least, 3), unit)}", SEPARATION)
    drawing.key(f"outside, to {with_unit(number(most, 3), unit)}", NORMAL)


def draw_points(x: PointDistances, style: Style, *, of: Drawing | None = None) -> Drawing:
    """Draw a result of ``signed_distances``: each point in the colour of its distance.

    Parameters
    ----------
    of : Drawing, optional
        The drawing of the body that the distances were computed from.
    """
    drawing = Drawing()
    if of is not None:
        drawing.take(of)
        drawing.words = []
    finite = np.isfinite(x.distance)
    points = x.point[finite] + x.distance[finite, None] * x.normal[finite]
    values = x.distance[finite]
    width = 8.0 if len(points) < 2000 else 4.0
    drawing.dots(points, NORMAL, width=width, colors=signed_colors(values), name="points")
    drawing.words = [f"{count(len(x.distance), 'point')}, {int(x.inside.sum())} inside"]
    if not finite.all():
        drawing.words.append(f"{int((~finite).sum())} points beyond the limit are left out")
    if len(values):
        _key_signed(drawing, float(values.min()), float(values.max()), None)
    return drawing


def add_slice(drawing: Drawing, x: Any, pose: Array, plane: Any) -> None:
    """Add a slice through the signed distances of a body at a pose, with lines of equal distance."""
    vertices = surface_of(x)[0] @ pose[:3, :3].T + pose[:3, 3]
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    point, normal, right = (low + high) / 2, *_axes(plane, (low + high) / 2)[1:]
    if not isinstance(plane, str):
        point = np.asarray(plane[0], dtype=np.float64)
    up, heights = np.cross(normal, right), (vertices - point) @ normal
    if heights.min() > 0.0 or heights.max() < 0.0:
        drawing.words.append("The slice does not intersect the body. Choose another point or slice='xy'")
    spread = (vertices - point) @ np.column_stack([right, up])
    middle, half = (spread.min(axis=0) + spread.max(axis=0)) / 2, _ROOM * np.ptp(spread, axis=0) / 2
    half = np.maximum(half, 0.35 * half.max())
    rows, columns = (max(2, round(_GRID * side / half.max())) for side in half[::-1])
    u, v = np.meshgrid(
        np.linspace(middle[0] - half[0], middle[0] + half[0], columns),
        np.linspace(middle[1] - half[1], middle[1] + half[1], rows),
    )
    points = point + u.reshape(-1, 1) * right + v.reshape(-1, 1) * up
    values = np.asarray(x.signed_distances(points, pose=pose).distance)
    finite = values[np.isfinite(values)]
    most = float(np.abs(finite).max(initial=0.0)) or 1.0
    faces = grid_faces(rows, columns)
    drawing.body(points, faces, GREY, look=FIELD, colors=signed_colors(values), name="signed distance")
    step = most / _LEVELS
    for k in range(-_LEVELS, _LEVELS + 1):
        ends = _contour(points, values, faces, k * step)
        drawing.lines(ends, _LINE, width=4.0 if k == 0 else 1.0, opacity=1.0 if k == 0 else 0.45, framed=False)
    _key_signed(drawing, float(finite.min(initial=0.0)), float(finite.max(initial=0.0)), getattr(x, "unit", None))
    drawing.key(f"surface; thin lines {number(step, 2)} apart", _LINE)
    view = normal + 0.3 * right + 0.25 * up
    drawing.view = view / np.linalg.norm(view)
    drawing.up = up if abs(normal[2]) > 0.9 else None


def _axes(plane: Any, center: Array) -> tuple[Array, Array, Array]:
    """Return ``center``, and the normal of a slice and its direction to the right.

    ``plane`` is the name of a plane or (point, normal).
    """
    if isinstance(plane, str):
        if plane not in _PLANES:
            raise ShapeError(f"slice is {plane!r}, {expected_names(plane, _PLANES)} A (point, normal) is accepted too")
        normal, right = map(np.array, _PLANES[plane])
        return center, normal, right
    if not (isinstance(plane, (tuple, list)) and len(plane) == 2):
        raise ShapeError(f"slice is {plane!r:.80}, expected 'xy', 'xz', 'yz' or (point, normal)")
    normal = direction(plane[1], "normal of the slice")
    return center, normal, across(normal)[0]


def grid_faces(rows: int, columns: int) -> Ints:
    """Return the triangles of a grid of points that are stored row by row."""
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    first = np.column_stack([corner, corner + 1, corner + columns + 1])
    return np.concatenate([first, np.column_stack([corner, corner + columns + 1, corner + columns])])


def _contour(points: Array, values: Array, faces: Ints, level: float) -> Array:
    """Return the segments (k, 2, 3) on which the linearly interpolated ``values`` of triangles are ``level``."""
    above = values[faces] > level
    crossed = faces[(above.any(axis=1) & ~above.all(axis=1)) & np.isfinite(values[faces]).all(axis=1)]
    above = values[crossed] > level
    lone = np.argmax(above == (above.sum(axis=1, keepdims=True) == 1), axis=1)  # the corner on one side alone
    rows = np.arange(len(crossed))
    ends = []
    for turn in (1, 2):
        a, b = crossed[rows, lone], crossed[rows, (lone + turn) % 3]
        share = (level - values[a]) / (values[b] - values[a])
        ends.append(points[a] + share[:, None] * (points[b] - points[a]))
    return np.stack(ends, axis=1)


def crossings(triangles: Array, others: Array) -> Array:
    """Return the segments (k, 2, 3) in which triangles of equal index in two (n, 3, 3) arrays intersect."""
    points, valid = [], []
    for first, second in ((triangles, others), (others, triangles)):
        origin = second[:, 0]
        along = np.stack([second[:, 1] - origin, second[:, 2] - origin], axis=2)
        normal = np.cross(along[:, :, 0], along[:, :, 1])
        for k in range(3):  # each edge of the first triangle with the second triangle
            a, b = first[:, k], first[:, (k + 1) % 3]
            heights = [np.einsum("ij,ij->i", end - origin, normal) for end in (a, b)]
            with np.errstate(divide="ignore", invalid="ignore"):
                share = heights[0] / (heights[0] - heights[1])
                point = a + share[:, None] * (b - a)
                local = np.einsum("ijk,ij->ik", np.linalg.pinv(along).transpose(0, 2, 1), point - origin)
            points.append(point)
            valid.append((share >= 0.0) & (share <= 1.0) & (local.min(axis=1) >= 0.0) & (local.sum(axis=1) <= 1.0))
    found, inside = np.stack(points, axis=1), np.stack(valid, axis=1)
    enough = inside.sum(axis=1) >= 2
    found, inside = found[enough], inside[enough]
    rows, first = np.arange(len(found)), np.argmax(inside, axis=1)
    far = np.where(inside, np.linalg.norm(found - found[rows, first][:, None], axis=2), -1.0)
    return np.stack([found[rows, first], found[rows, np.argmax(far, axis=1)]], axis=1)


def add_depth_image(drawing: Drawing, x: RayHit, shape: Any) -> None:
    """Add the depth image in front of a camera, and the hit points of its rays, both coloured by depth."""
    if not isinstance(shape, (tuple, list)) or len(shape) != 2 or not all(isinstance(n, Integral) for n in shape):
        raise TypeError(f"image is {shape!r:.80}, expected (rows, columns), two whole numbers")
    rows, columns = map(int, shape)
    depth = np.reshape(x.distance, -1)
    if rows * columns != len(depth) or min(rows, columns) < 2:
        given = count(len(depth), "ray")
        raise ShapeError(f"image is ({rows}, {columns}) and the result has {given}, expected {rows * columns} rays")
    origins = np.broadcast_to(np.reshape(x.origin, (-1, 3)), (len(depth), 3))
    rays = np.broadcast_to(np.reshape(x.direction, (-1, 3)), (len(depth), 3))
    hit = np.reshape(x.hit, -1)
    low, high = (float(depth[hit].min()), float(depth[hit].max())) if hit.any() else (0.0, 1.0)
    colors = colored(np.where(hit, depth, high), low, high, _DEPTHS)
    colors[~hit] = (224, 228, 232)
    points = np.reshape(x.point, (-1, 3))[hit]
    drawing.dots(points, NORMAL, width=4.0, colors=colors[hit], name="hit points")
    ahead = rays.mean(axis=0) / np.linalg.norm(rays.mean(axis=0))
    plane = origins + 0.4 * low * rays / (rays @ ahead)[:, None]
    drawing.body(plane, grid_faces(rows, columns), GREY, look=FIELD, colors=colors, name="depth image")
    corners = plane.reshape(rows, columns, 3)[[0, 0, -1, -1], [0, -1, -1, 0]]
    drawing.lines([[corners[k], corners[k - 1]] for k in range(4)], INK, width=2.0)
    drawing.lines([[origins[0], corner] for corner in corners], GREY, width=2.0)
    drawing.balls(origins[0], 0.012 * ball_of(np.concatenate([points, plane]))[1], INK, key="camera")
    drawing.key(f"depth {number(low, 3)}, the nearest", "#FDE725")
    drawing.key(f"depth {number(high, 3)}, the farthest", "#440154")
    if not hit.all():
        drawing.key("no hit", "#E0E4E8")


# --- solids ----------------------------------------------------------------------------------------------------------


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
        The level of a mesh's tree of boxes that is drawn. Level 0 is the box around the mesh.
    slice : str or ((3,) float, (3,) float), optional
        A slice through the signed distances: "xy", "xz" or "yz" through the middle, or a point and a normal.
    self_intersections : bool
        Whether the faces of a mesh that intersect other faces of the mesh are marked.
    """
    drawing = Drawing()
    for option, given in (("self_intersections", self_intersections), ("level", level is not None)):
        if given and not isinstance(x, Mesh):
            raise TypeError(f"{option}= needs a gjk3d.Mesh, but the object is {kind_of(x)}. Leave the option out")
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
    """Mark the faces of a mesh that intersect other faces of the mesh, and their intersection curves."""
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
    """Draw a result of `Checker.swept`: for each link, the union of the convex pieces that contain its motion.

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
    """Return the lengths of the edges of a box, (3,) float in ``unit``, as text in a unit that suits their size."""
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
    """Return the name of a solid. Without a name return its repr, or its kind if the repr is too long."""
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
    length = None if length is None else positive(length, "length")
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
    """Raise ValueError for a level that is not a whole number from 0 to ``last``."""
    whole = int(level) if isinstance(level, Integral) and not isinstance(level, bool) else -1
    if whole < 0 or (last is not None and whole > last):
        end = "of at least 0" if last is None else f"from 0 to {last}, the last level of the mesh's tree"
        raise ValueError(f"level is {level!r:.80}, expected a whole number {end}")


def _last_level(mesh: Mesh) -> int:

    links, nodes, level = tree_of(mesh).links, np.zeros(1, dtype=np.int64), 0
    while len(first := links[nodes, 0][links[nodes, 0] >= 0]):
        nodes, level = np.concatenate([first, first + 1]), level + 1
    return level


def _grouped(volume: float) -> str:
    """Return a volume as text with 5 significant digits. Large volumes have commas instead of a power of ten."""
    return f"{float(number(volume, 5)):,.0f}" if 1e5 <= volume < 1e15 else number(volume, 5)


def add_levels(drawing: Drawing, mesh: Mesh, pose: Array, level: int) -> None:
    """Add the boxes at a level of a mesh's tree in four alternating colours."""
    corners = boxes_at(mesh, level) @ pose[:3, :3].T + pose[:3, 3]
    colors = (NORMAL, SEPARATION, PALETTE[1], PALETTE[3])
    for k, color in enumerate(colors):
        drawing.lines(box_lines(corners[k :: len(colors)]), color, width=2.2)
    drawing.words.append(f"level {level} of its tree: {len(corners)} box{'es' if len(corners) > 1 else ''}")
