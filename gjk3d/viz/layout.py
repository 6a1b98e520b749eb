"""The bodies in the picture of a result, and the position of the camera, computed without drawing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gjk3d.errors import ShapeError
from gjk3d.results import Distance
from gjk3d.shapes.arguments import vector
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array
from gjk3d.viz.drawing import ANGLE, BODY, MODEL, Camera, Drawing, Item, ball_of
from gjk3d.viz.triangles import Solid, ball, repeated, rod, slab, solid_surface

UP = np.array([0.0, 0.0, 1.0])
#: Default direction to the camera: from the front, a little from the right and from above.
VIEW = np.array([0.42, -0.80, 0.43]) / np.linalg.norm([0.42, -0.80, 0.43])
#: Largest size of the picture relative to the smaller body. Beyond it, part of the larger body is not shown.
_ZOOM = 5.0


class Layout(NamedTuple):
    """The two bodies of a result, and the view of them."""

    bodies: tuple[Solid, Solid]  #: in world axes, without vertices for a half-space
    center: Array  #: centre of the ball that is shown
    radius: float
    view: Array  #: unit vector from the centre to the camera


def lay_out(result: Distance) -> Layout:
    """Return the bodies of a result in world axes and a view of them. A result of many pairs is a TypeError."""
    if result.normal.ndim == 2:
        raise TypeError(f"the result has {len(result)} pairs, expected one pair. Draw one row, for example result[0]")
    sides = ((result.shape_a, result.pose_a), (result.shape_b, result.pose_b))
    none = np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
    a, b = (placed(*(none if isinstance(s, Halfspace) else solid_surface(s)), p) for s, p in sides)
    center, radius = _focus([a.vertices, b.vertices], result)
    return Layout((a, b), center, radius, side_view(np.asarray(result.normal)))


def placed(vertices: Array, faces: Any, pose: Array | None) -> Solid:
    """Return a surface in world axes, at a pose or at each pose of a stack."""
    points, faces = np.asarray(vertices, dtype=np.float64), np.asarray(faces, dtype=np.int64).reshape(-1, 3)
    if pose is None:
        return Solid(points, faces)
    poses = np.reshape(pose, (-1, 4, 4))
    moved = points @ np.swapaxes(poses[:, :3, :3], 1, 2) + poses[:, None, :3, 3]
    return Solid(moved.reshape(-1, 3), repeated(faces, len(poses), len(points)))


def half_space(shape: Halfspace, pose: Array | None, color: str, opacity: float, **more: Any) -> Item:
    """Return an item for a half-space, which `ready` completes when the size of the picture is known."""
    thick = 0.04 if shape._sides == 1.0 else 0.0
    ends = np.outer([shape.offset, shape.offset + 1.0], shape.normal)
    return Item(*placed(ends, (), pose), color, opacity, framed=False, slab=thick, **more)


def _focus(bodies: list[Array], result: Distance) -> tuple[Array, float]:
    """Return the centre and radius of the ball to look at: around both bodies, or near a body that is far smaller."""
    witness = np.array([result.point_a, result.point_b])
    ball = ball_of(np.concatenate([*bodies, witness]))
    sizes = [0.5 * float(np.ptp(points, axis=0).max()) for points in bodies if len(points)]
    if len(sizes) == 2:
        small = int(np.argmin(sizes))
        room = _ZOOM * sizes[small] if sizes[small] > 1e-3 * max(sizes) else 0.1 * max(sizes)  # a point has no size
        limit = max(room, 1.5 * float(np.linalg.norm(witness[1] - witness[0])))
        if ball[1] > limit > 0.0:
            return ball_of(np.concatenate([bodies[small], witness]))[0], limit
    return ball


def direction(value: Any, what: str) -> Array:
    """Return a value as a unit vector, or raise an error that names ``what``."""
    direction_vector = vector(value, what)
    length = float(np.linalg.norm(direction_vector))
    if length == 0.0:
        raise ShapeError(f"{what} is (0, 0, 0), expected a direction such as (1, -2, 1)")
    return direction_vector / length


def upright(up: Array) -> Array:
    """Return the rotation from the axes of a picture, x right and z up, to the axes of a world with another up axis."""
    if up[2] > 0.5:
        return np.eye(3)
    return np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # y is up, as in glTF, and z to the camera


def side_view(n: Array) -> Array:
    """Return the direction to a camera that sees a unit vector from its side, and a little from above."""
    if abs(n[2]) > 0.9:  # n is along z, so the view is from the front
        side = np.array([0.35, -1.0, 0.0])
    else:
        side = np.cross(n, UP)
        side *= 1.0 if side[1] <= 0.0 else -1.0  # from the front rather than from behind
        side += 0.35 * np.linalg.norm(side) * n
    side -= (side @ UP) * UP
    view = side / np.linalg.norm(side) + 0.42 * UP
    return np.asarray(view / np.linalg.norm(view))


def stand_back(points: Array, center: Array, radius: float, view: Array, up: Array) -> tuple[Array, Array]:
    """Return the target and the position of the nearest camera that shows all points in the ball in a 4:3 picture."""
    right = np.cross(up, view)
    right /= np.linalg.norm(right)
    axes = np.array([right, np.cross(view, right), view])
    local = (points - center) @ axes.T / radius
    length = np.linalg.norm(local, axis=1)
    local /= np.maximum(length, 1.0)[:, None]  # points outside the ball may be outside the picture
    half = np.tan(np.radians(ANGLE / 2))
    plus, minus = half * np.array([1.2, 0.70]), half * np.array([1.2, 0.90])  # sideways, up, down: captions are above
    # the tightest pyramid around the points: opposite sides determine its axis, the wider pair of sides the distance
    high = (local[:, :2] + plus * local[:, 2:]).max(axis=0)
    low = (local[:, :2] - minus * local[:, 2:]).min(axis=0)
    away = max(float(((high - low) / (plus + minus)).max()), 1.0)
    middle = center + radius * (axes[:2].T @ ((high - plus * away + low + minus * away) / 2))
    return middle, middle + radius * away * view


def ready(items: list[Item], center: Array, size: float) -> list[Item]:
    """Return the items with points, segments and half-spaces replaced by solids of a size that fits this ball."""
    out = []
    for item in items:
        if item.look in (BODY, MODEL) and not len(item.faces):
            every = item.vertices.reshape(item.copies, -1, 3)
            first, last, form = every[:, 0], every[:, -1], MODEL
            if item.slab is not None:
                solid, form = slab(first[0], last[0] - first[0], center, 1.4 * size, item.slab), BODY
            else:
                solid = ball(first, 0.03 * size) if every.shape[1] == 1 else rod(first, last, 0.015 * size)
            item = replace(item, vertices=solid[0], faces=solid[1], look=form)
        out.append(item)
    return out


def camera_at(center: Array, radius: float, view: Array, up: Array) -> Camera:
    """Return the camera in whose picture the ball is as high as the picture."""
    return Camera(center, center + radius / np.sin(np.radians(ANGLE / 2)) * view, up)


def camera_of(drawing: Drawing) -> Camera:
    """Return the camera of a drawing."""
    if drawing.camera is not None:
        return drawing.camera
    center, radius = drawing.ball
    points = drawing.framed
    up = UP if drawing.up is None else drawing.up
    view = upright(up) @ VIEW if drawing.view is None else drawing.view
    if abs(float(view @ up)) >= 0.99:
        up = upright(up) @ np.array([0.0, 1.0, 0.0])
    if not len(points):
        return camera_at(center, radius, view, up)
    return Camera(*stand_back(points, center, radius, view, up), up)


def models_of(result: Distance, models: tuple[Any, Any] | None) -> list[Solid | None]:
    """Return the two models whose hulls were compared, in world axes. A convex or missing model is None."""
    poses = (result.pose_a, result.pose_b)
    return [
        None if model is None or getattr(model, "is_convex", False) else placed(model.vertices, model.faces, pose)
        for model, pose in zip(models or (None, None), poses, strict=True)
    ]


def kind(shape: Any) -> str:
    """Return the kind of a shape in words."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in type(shape).__name__).strip()


def called(shape: Any) -> str:
    """Return the name of a mesh, or for a shape without a name its kind in words."""
    name = getattr(shape, "name", None)
    return name if isinstance(name, str) and name else kind(shape)
