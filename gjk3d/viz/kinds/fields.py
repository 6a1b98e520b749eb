"""Drawings of many values in space: slices of signed distances, distances of points, and depth images.

The values are colours of vertices. Signed distances are vermilion inside, white on the surface and blue outside. Depths
are yellow near the camera and dark blue far from it.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from gjk3d.errors import ShapeError
from gjk3d.query.points import PointDistances
from gjk3d.query.raycast import RayHit
from gjk3d.typing import Array, Ints
from gjk3d.viz.colors import GREY, INK, NORMAL, SEPARATION
from gjk3d.viz.drawing import FIELD, Drawing, Style, ball_of
from gjk3d.viz.layout import direction
from gjk3d.viz.triangles import across, surface_of
from gjk3d.wording import count, expected_names, number, with_unit

#: Colours of a signed distance from the least to the greatest, and of a depth from near to far.
_SIGNED = ((213, 94, 0), (246, 196, 160), (255, 255, 255), (158, 202, 225), (0, 114, 178))
_DEPTHS = ((253, 231, 37), (94, 201, 98), (33, 145, 140), (59, 82, 139), (68, 1, 84))
#: Colour of lines of equal distance, which are on light colours on a dark page too.
_LINE = "#404040"
#: Points along the longer side of a slice, size of a slice relative to the body, and number of lines of equal distance.
_GRID, _ROOM, _LEVELS = 161, 1.35, 10
_PLANES = {"xy": ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)), "xz": ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0)),
           "yz": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))}  # fmt: skip


def colored(values: Array, low: float, high: float, scale: Any) -> Array:
    """Return the colours, (n, 3) uint8, of values: ``low`` has the first colour of ``scale``, ``high`` the last."""
    share = np.clip((values - low) / ((high - low) or 1.0), 0.0, 1.0)
    places = np.linspace(0.0, 1.0, len(scale))
    return np.column_stack([np.interp(share, places, [color[k] for color in scale]) for k in range(3)]).astype(np.uint8)


def signed_colors(values: Array) -> Array:
    """Return the colours of signed distances: white at 0, and full at the least and at the greatest."""
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
    """Return a point, the normal and the right direction of the plane in the option ``slice``: a name or a pair."""
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
    """Return the triangles of a grid of points, row by row."""
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    first = np.column_stack([corner, corner + 1, corner + columns + 1])
    return np.concatenate([first, np.column_stack([corner, corner + columns + 1, corner + columns])])


def _contour(points: Array, values: Array, faces: Ints, level: float) -> Array:
    """Return the segments (k, 2, 3) on which values that are linear in each triangle have this level."""
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
    """Return the segments (k, 2, 3) in which triangles i of the two arrays, (n, 3, 3), intersect, if they intersect."""
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
    """Add the image of a camera: its frame in front of the camera, and the hit points, both coloured by depth."""
    if not isinstance(shape, (tuple, list)) or len(shape) != 2 or not all(isinstance(n, Integral) for n in shape):
        raise TypeError(f"image is {shape!r:.80}, expected (rows, columns), two whole numbers")
    rows, columns = map(int, shape)
    depth = np.reshape(x.distance, -1)
    if rows * columns != len(depth) or min(rows, columns) < 2:
        given = count(len(depth), "ray")
        raise ShapeError(f"image is ({rows}, {columns}) and the result has {given}, expected rows x columns rays")
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
