"""Drawings of results of a pair: distance, contact, separating axis, gradient, impact and rays.

The functions for the overlap volume, the intersection curve, the nearest points, the normal and the separating
translation are also used for clash reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.solids import intersection, solid, union_of
from gjk3d.errors import Gjk3dError
from gjk3d.query.contact import Contact
from gjk3d.query.gradient import Gradient
from gjk3d.query.overlap import intersection_curve, overlap
from gjk3d.query.raycast import RayHit
from gjk3d.query.time_of_impact import Impact, ImpactStatus, Motion
from gjk3d.query.wording import axis_words, contact_words, headline, impact_words, proof, translation_label, unit_of
from gjk3d.results import Axis, Distance
from gjk3d.shapes import measure
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.typing import Array
from gjk3d.viz.colors import COLORS, GREY, INK, NORMAL, PALETTE, SEPARATION, darker
from gjk3d.viz.drawing import (
    COMMON,
    MODEL,
    Drawing,
    Layout,
    Solid,
    Style,
    across,
    ball_of,
    called,
    check_text,
    half_space,
    lay_out,
    models_of,
    side_view,
    slab,
    solid_surface,
    turned,
)
from gjk3d.viz.kinds.bodies import add, add_depth_image, matrices
from gjk3d.wording import above, format_depth, number

#: Greatest number of corners of two hulls that are intersected without manifold3d.
_MOST_CORNERS = 400
#: Greatest number of triangles of two meshes that are intersected for a picture.
_MOST_TRIANGLES = 400_000


def draw_distance(x: Distance, style: Style, *, surfaces: Any = None, unit: str | None = None) -> Drawing:
    """Draw a result of `gjk3d.distance` or `gjk3d.signed_distance`.

    A is orange and B green. The blue arrow is the normal from A to B. In overlap, the vermilion arrow is the separating
    translation of B. If the legend calls this translation the shortest, it is the minimum translation.

    Parameters
    ----------
    surfaces : (mesh, mesh), optional
        The models whose hulls were compared, each a Mesh or None. They are drawn inside their hulls.
    unit : str, optional
        Unit of length of shapes without a unit, such as hulls.
    """
    check_text(unit, "unit")
    layout, unit = lay_out(x), unit or unit_of(x)
    drawing = _of_pair(x, layout, [headline(x, unit), proof(x, unit)], models_of(x, surfaces), style)
    if x.depth > 0.0 and all(len(body.vertices) for body in layout.bodies):
        convex = all(hasattr(shape, "support") for shape in (x.shape_a, x.shape_b))
        add_common(drawing, list(layout.bodies), convex, layout.radius)
    add_witness(drawing, x, layout.radius, (style.color(0, COLORS), style.color(1, COLORS)))
    if x.depth > 0.0:
        bounds_text = format_depth(x.lower, x.upper, 3, unit)
        label_depth(drawing, x.point_b, x.depth * x.normal, bounds_text)
    return drawing


def label_depth(drawing: Drawing, start: Array, translation: Array, text: str) -> None:
    """Add a label with the depth next to the arrow of the separating translation."""
    free = np.linspace(start, start + translation, 9)
    drawing.label(start + 0.5 * translation, f"depth {text}", darker(SEPARATION, 0.5), free)


def _of_pair(
    x: Distance, layout: Layout, words: list[str], models: list[Solid | None], style: Style, opacity: float = 0.5
) -> Drawing:
    """Return a drawing of the two bodies of a result from far to near, with their names in the legend."""
    drawing = Drawing(words=words, view=layout.view, focus=(layout.center, layout.radius), sorted=True)
    drawing.headline = words[0]
    shapes = (x.shape_a, x.shape_b)
    # from far to near: the farther body is behind the plane that separates the two
    for i in (0, 1) if float(x.normal @ layout.view) >= 0.0 else (1, 0):
        shape, body, model, color = shapes[i], layout.bodies[i], models[i], style.color(i, COLORS)
        if model is not None:
            drawing.body(model.vertices, model.faces, color, look=MODEL)
        alpha = style.alpha(i, opacity)
        if isinstance(shape, Halfspace):
            drawing.items.append(half_space(shape, (x.pose_a, x.pose_b)[i], color, 0.6 * alpha, name="AB"[i]))
        elif len(body.faces):  # a hull around its model is transparent
            drawing.body(*body, color, alpha if model is None else 0.4 * alpha, outline=True, name="AB"[i])
        else:
            drawing.body(*body, color, look=MODEL, name="AB"[i])
    key_pair(drawing, shapes, style)
    return drawing


def key_pair(drawing: Drawing, shapes: tuple[Any, Any], style: Style) -> None:
    """Add the legend entries of A and B."""
    for k, shape in enumerate(shapes):
        drawing.key(f"{'AB'[k]}  {style.name(k, called(shape))}", style.color(k, COLORS))


def add_witness(drawing: Drawing, x: Distance, size: float, colors: Sequence[str]) -> None:
    """Add the nearest points, the normal from A to B and, in overlap, the separating translation of B."""
    a, b, n = x.point_a, x.point_b, x.normal
    gap = float(np.linalg.norm(b - a))
    if x.distance > 0.0:
        drawing.rods(a, b, 0.005 * size, INK, name="gap")
    start = a if x.distance <= 0.0 or gap < 0.6 * size else (a + b) / 2 - 0.17 * size * n
    drawing.arrows(start, n, 0.34 * size, 0.009 * size, NORMAL, key="normal from A to B", name="normal")
    if x.depth > 0.0:
        key, thickness = translation_label(x), min(0.014 * size, 0.2 * x.depth)
        drawing.arrows(b, n, x.depth, thickness, SEPARATION, key=key, name="separation_vector")
    drawing.ends(a, b, size, colors, bar=None)


def add_common(drawing: Drawing, surfaces: list[tuple[Array, Any]], convex: bool, size: float) -> bool:
    """Add the overlap volume and intersection curve of two surfaces. Return whether the volume could be computed."""
    try:
        meshes = [Mesh(*surface) for surface in surfaces]
        if sum(len(mesh.faces) for mesh in meshes) > _MOST_TRIANGLES:
            return False
        common = _common(meshes, convex)
        curve = np.zeros((0, 2, 3)) if convex else intersection_curve(meshes[0], meshes[1])
    except Gjk3dError:
        return False
    if common is not None and len(common[1]):
        drawing.marks([common], COMMON, opacity=0.75, key="overlap volume", name="overlap volume")
    if len(curve):
        key = "intersection curve"
        drawing.rods(curve[:, 0], curve[:, 1], 0.004 * size, INK, 8, key=key, name=key)
    return common is not None


def _common(meshes: list[Mesh], convex: bool) -> tuple[Array, Any] | None:
    a, b = meshes
    solids = [solid(union_of(mesh).mesh) for mesh in (a, b)]
    if None not in solids:
        overlaps = intersection(*solids)
        return None if overlaps is None else (overlaps.vertices, overlaps.faces)
    if not convex or len(a.vertices) + len(b.vertices) > _MOST_CORNERS:
        return None
    hull = overlap(ConvexHull(a.vertices), ConvexHull(b.vertices))
    return None if hull is None else hull.surface()


#: Greatest number of contact points with labels of their gaps.
_MOST_LABELS = 8


def draw_contact(x: Contact, style: Style) -> Drawing:
    """Draw a result of `gjk3d.contact`."""
    if x.gaps.ndim == 2:
        raise TypeError(f"the contact has {len(x)} pairs, expected one pair. Draw one row, for example contact[0]")
    layout = lay_out(x.result)
    size = layout.radius
    drawing = _of_pair(x.result, layout, [contact_words(x)], [None, None], style, opacity=0.35)
    add_points(drawing, x, size, (style.color(0, COLORS), style.color(1, COLORS)))
    start = x.points.mean(axis=0) if x.count else layout.center
    drawing.arrows(start, x.normal, 0.3 * size, 0.009 * size, NORMAL, key="normal from A to B")
    return drawing


def add_points(drawing: Drawing, x: Contact, size: float, colors: Sequence[str]) -> None:
    """Add the contact points, the outline of the contact patch, and the gaps between the two bodies."""
    middles = x.points
    if x.count > 1:
        ring = middles if x.count == 2 else np.vstack([middles, middles[:1]])
        drawing.rods(ring[:-1], ring[1:], 0.004 * size, INK, 16)
    wide = np.abs(x.gaps) > 0.02 * size
    drawing.rods(x.points_a[wide], x.points_b[wide], 0.004 * size, INK, 16)
    drawing.balls(x.points_a[wide], 0.013 * size, darker(colors[0]), 24)
    drawing.balls(x.points_b[wide], 0.013 * size, darker(colors[1]), 24)
    drawing.balls(middles[~wide], 0.018 * size, INK, 24)
    if 0 < x.count <= _MOST_LABELS and np.ptp(x.gaps) > 1e-9 * size:
        for middle, gap in zip(middles, x.gaps, strict=True):
            drawing.label(middle, "0" if abs(gap) < 1e-13 else number(gap, 4))
    if x.count:
        drawing.key(f"contact points{' with gaps' if drawing.labels else ''}", INK)


#: caption for each `AxisKind`
_OF = ("normal of a face of A", "normal of a face of B", "normal of an edge of A and one of B", "between two points")


def draw_axis(x: Axis, style: Style, *, of: Any = None) -> Drawing:
    """Draw a result of `gjk3d.separating_axis`: the supporting planes of both shapes across the axis.

    Parameters
    ----------
    of : (a, b, pose_a, pose_b)
        The pair of the query.
    """
    drawing, (a, _), poses = _pair(x, x.normal, style, of, 0.85, "the Axis of separating_axis", "")
    center, size = drawing.ball
    n = np.asarray(x.normal)
    top = poses[0][:3, :3] @ a.support(poses[0][:3, :3].T @ n) + poses[0][:3, 3]
    for k, along in enumerate((float(n @ top), float(n @ top) + float(x.gap))):
        drawing.body(*slab(along * n, n, center, 0.5 * size, 0.04), style.color(k, COLORS), 0.25, framed=False)
    start = center + (float(n @ top) - float(n @ center)) * n
    key = "normal from A to B, orthogonal to the planes"
    drawing.arrows(start, n, 0.4 * size, 0.009 * size, NORMAL, key=key)
    if x.gap > 0.0:
        drawing.rods(start, start + x.gap * n, 0.012 * size, SEPARATION)
    drawing.words = [f"{axis_words(x)} along this axis", f"{_OF[int(x.kind)]}, error ≤ {above(x.error, 2)}"]
    drawing.view = side_view(n)
    return drawing


def _pair(
    x: Any, row: Array, style: Style, of: Any, opacity: float, title_text: str, also: str
) -> tuple[Drawing, tuple[Any, Any], list[Array]]:
    """Return a drawing of the pair ``of``, the two shapes of the pair, and their poses.

    The result ``x`` does not contain its shapes. ``row`` is a field of ``x`` that has two dimensions if ``x`` is a
    stack. Errors name the result ``title_text``, and end with ``also``.
    """
    if not isinstance(of, (tuple, list)) or not 2 <= len(of) <= 4:
        raise TypeError(
            f"{title_text} does not contain its shapes. Pass the pair of the query, as in "
            f"viz.show(result, of=(a, b)), or of=(a, b, pose_a, pose_b){also}"
        )
    a, b, *poses = of
    poses = [matrices(pose)[0] for pose in (*poses, None, None)[:2]]
    if row.ndim == 2:
        name = type(x).__name__
        raise TypeError(
            f"the {name} has {len(row)} pairs, expected one pair. Pass one row, {name}(*(field[0] for field in result))"
        )
    drawing = Drawing()
    key_pair(drawing, (a, b), style)
    for k, shape in enumerate((a, b)):
        alpha = 1.0 if isinstance(shape, Halfspace) else style.alpha(k, opacity)
        add(drawing, shape, poses[k], style.color(k, COLORS), alpha)
    return drawing, (a, b), poses


def draw_gradient(x: Gradient, style: Style, *, of: Any = None) -> Drawing:
    """Draw a result of `gjk3d.gradient`.

    Arrows at the origins of A and B show the motions that increase the distance fastest.

    Parameters
    ----------
    of : Distance, or (a, b, pose_a, pose_b)
        The result that the gradient was computed from, or the pair of the query.
    """
    if isinstance(of, Distance):
        of = (of.shape_a, of.shape_b, of.pose_a, of.pose_b)
    also = ", or the Distance of the query, of=result"
    drawing, _, poses = _pair(x, x.a, style, of, 0.5, "a Gradient", also)
    size = drawing.ball[1]
    longest = [max(float(np.linalg.norm(row[part])) for row in (x.a, x.b)) for part in (slice(3), slice(3, 6))]
    for row, pose in zip((x.a, x.b), poses, strict=True):
        origin = pose[:3, 3]
        for part, most, color in ((slice(3), longest[0], NORMAL), (slice(3, 6), longest[1], SEPARATION)):
            length = float(np.linalg.norm(row[part]))
            if most > 0.0 and length > 1e-9 * most:
                direction = row[part] / length
                drawing.arrows(origin, direction, 0.45 * size * length / most, 0.011 * size, color)
                if part.start == 3:
                    _add_turn(drawing, origin + 0.22 * size * direction * length / most, direction, 0.09 * size, color)
    drawing.words = [
        "Motion that increases the distance fastest",
        "unique" if bool(x.unique) else "one of several gradients (a kink)",
    ]
    drawing.key(f"translation: {number(float(np.linalg.norm(x.b[:3])), 4)} per unit of length", NORMAL)
    a, b = (number(float(np.linalg.norm(row[3:])), 4) for row in (x.a, x.b))
    drawing.key(f"rotation about the arrow: {a} (A) and {b} (B) per radian", SEPARATION)
    return drawing


def _add_turn(drawing: Drawing, center: Array, axis: Array, radius: float, color: str) -> None:
    """Add an arrow along three quarters of a circle, anticlockwise about the axis through ``center``."""
    first, second = across(axis)
    angles = np.linspace(0.0, 1.5 * np.pi, 28)
    ring = center + radius * (np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * second)
    drawing.rods(ring[:-1], ring[1:], 0.06 * radius, color, 12)
    end = ring[-1] + (ring[-1] - ring[-2]) * 2.5
    drawing.marks([turned(measure.cone(1.0, 1.0, 24), ring[-1], end, 0.2 * radius)], color)


_MISSED = "#6B7785"


def draw_impact(x: Impact, style: Style, *, ghosts: int = 6) -> Drawing:
    """Draw a result of `gjk3d.time_of_impact` or `gjk3d.shapecast`.

    Parameters
    ----------
    ghosts : int
        Number of faint earlier poses, including the pose at the start.
    """
    if not isinstance(ghosts, Integral) or isinstance(ghosts, bool) or ghosts < 1:
        raise ValueError(f"ghosts is {ghosts!r:.80}, expected a whole number of at least 1")
    if x.time.ndim == 2:
        raise TypeError(f"the impact has {len(x)} motions, expected one motion. Draw one row, for example impact[0]")
    until = float(x.free_until)
    drawing = Drawing(words=impact_words(x))
    drawing.headline = drawing.words[0]
    sides = [(x.shape_a, x.motion_a), (x.shape_b, x.motion_b)]
    key_pair(drawing, (x.shape_a, x.shape_b), style)
    for k, (shape, motion) in enumerate(sides):
        color = style.color(k, COLORS)
        plane = isinstance(shape, Halfspace)
        if not plane and moves(motion) and until > 0.0:
            for i, time in enumerate(np.linspace(0.0, until, ghosts, endpoint=False)):
                add(drawing, shape, motion.at(time), color, 0.10 + 0.15 * i / max(ghosts - 1, 1))
        add(drawing, shape, motion.at(until), color, 1.0 if plane else style.alpha(k, 0.85))
    size = drawing.ball[1]
    for k, (shape, motion) in enumerate(sides):
        color = darker(style.color(k, COLORS))
        if not isinstance(shape, Halfspace) and moves(motion):
            drawing.key(f"path of the middle of {'AB'[k]}", color)
            _track(drawing, shape, motion, until, color, size)
    drawing.take(contact_signs(x, size))
    drawing.view = side_view(_approach(x))
    return drawing


def contact_signs(x: Impact, size: float) -> Drawing:
    """Return a drawing with markers of the first contact and its normal, empty if there is no contact."""
    signs = Drawing()
    if x.status != ImpactStatus.FREE:
        key = "first contact and normal from A to B"
        signs.arrows(x.point_a, x.normal, 0.28 * size, 0.008 * size, NORMAL, key=key)
        signs.balls((x.point_a + x.point_b) / 2, 0.02 * size, INK)
    return signs


def _track(drawing: Drawing, shape: Any, motion: Motion, until: float, color: str, size: float) -> None:
    """Add the path of the middle of a body up to the time ``until``.

    A dashed line continues the path for a third of that time.
    """
    points = track(shape, motion, np.linspace(0.0, until, 49))
    drawing.rods(points[:-1], points[1:], 0.005 * size, color, 12)
    drawing.balls(points[-1], 0.012 * size, color, 24)
    if 0.0 < until < 1.0:
        points = track(shape, motion, np.linspace(until, min(1.0, 4.0 / 3.0 * until), 17))
        drawing.lines(np.stack([points[:-1:2], points[1::2]], axis=1), _MISSED, width=4.0, key="path without contact")


def track(shape: Any, motion: Motion, times: Array) -> Array:
    """Return the position of the middle of a body at some times, (n, 3)."""
    points: Array = (motion.at(times) @ np.append(ball_of(solid_surface(shape)[0])[0], 1.0))[:, :3]
    return points


def moves(motion: Motion) -> bool:
    """Return whether a motion changes the pose."""
    poses = motion.at(np.array([0.0, 0.31, 1.0]))
    return bool(np.ptp(poses, axis=0).max() > 0.0)


def _approach(x: Impact) -> Array:
    """Return the direction in which B moves relative to A, or the normal if there is no motion."""
    direction = np.zeros(3)
    for shape, motion, sign in ((x.shape_a, x.motion_a, -1.0), (x.shape_b, x.motion_b, 1.0)):
        if not isinstance(shape, Halfspace):
            start, end = track(shape, motion, np.array([0.0, 1.0]))
            direction += sign * (end - start)
    length = float(np.linalg.norm(direction))
    return direction / length if length > 0.0 else np.asarray(x.normal)


#: Greatest number of rays that are drawn as rods with arrows. More are drawn as lines.
_MOST_RODS = 60
#: Greatest number of rays that are drawn as opaque lines. More are transparent.
_SOLID = 400
#: Candidate colours of rays that hit, and of hit points. The first that the picture does not contain is used.
_HITS, _WHERE = (NORMAL, COLORS[1], PALETTE[3]), (SEPARATION, COLORS[0], INK)


def draw_rays(x: RayHit, style: Style, *, of: Drawing | None = None, image: tuple[int, int] | None = None) -> Drawing:
    """Draw a result of `gjk3d.raycast` or `Scene.raycast`.

    Parameters
    ----------
    of : Drawing, optional
        The drawing of the objects that the rays were cast at.
    image : (int, int), optional
        Rows and columns of pixels if the rays are those of a camera, row by row. The hit points and the depth image in
        front of the camera are drawn instead of the rays.
    """
    drawing = Drawing()
    if of is not None:
        drawing.take(of)
        drawing.words = []
    if image is not None:
        add_depth_image(drawing, x, image)
        drawing.words = [f"Depth image of {image[0]} x {image[1]} rays: {int(np.sum(x.hit))} hit"]
        return drawing
    points = np.reshape(x.point, (-1, 3))
    starts, directions = (np.broadcast_to(np.reshape(rows, (-1, 3)), points.shape) for rows in (x.origin, x.direction))
    directions = directions / np.linalg.norm(directions, axis=1)[:, None]
    hit, inside = np.reshape(x.hit, -1), np.reshape(x.inside, -1)
    size = ball_of(np.concatenate([drawing.framed, starts, points[hit]]))[1]
    # rays that miss end beyond the middle of the objects of the drawing
    middle = ((drawing.ball[0] - starts) * directions).sum(axis=1) if drawing.items else np.full(len(starts), -np.inf)
    ray_length = np.clip(middle + 0.8 * size, 0.6 * size, 3.0 * size)
    ends = np.where(hit[:, None], points, starts + ray_length[:, None] * directions)
    used = {item.color for item in drawing.items}
    colors = [next((color for color in wished if color not in used), wished[-1]) for wished in (_HITS, _WHERE)]
    colors.append("#5F6368" if drawing.keys else GREY)  # free objects of a scene are light grey
    _add_rays(drawing, starts, ends, hit, size, colors)
    out = hit & ~inside
    if len(points) <= _MOST_RODS:
        drawing.arrows(points[out], np.reshape(x.normal, (-1, 3))[out], 0.12 * size, 0.006 * size, colors[1])
    single = repr(x).replace("RayHit: ", "Hit " if hit.all() else "Hit: ")
    drawing.words.insert(0, f"{int(hit.sum())} of {len(hit)} rays hit" if len(hit) > 1 else single)
    drawing.key("rays that hit", colors[0])
    if not hit.all():
        drawing.key("rays that miss", colors[2])
    if hit.any():
        drawing.key("hit points and normals", colors[1])
    return drawing


def _add_rays(drawing: Drawing, starts: Any, ends: Any, hit: Any, size: float, colors: list[str]) -> None:
    if len(hit) <= _MOST_RODS:
        for rows, color in ((hit, colors[0]), (~hit, colors[2])):
            drawing.rods(starts[rows], ends[rows], 0.0045 * size, color, 12, framed=color == colors[0])
            drawing.balls(starts[rows], 0.009 * size, color, 16)
        drawing.balls(ends[hit], 0.012 * size, colors[1], 24)
    else:
        segments = np.stack([starts, ends], axis=1)
        alpha = float(np.clip(_SOLID / len(hit), 0.04, 1.0))  # thousands of opaque lines would look like a solid cone
        drawing.lines(segments[hit], colors[0], width=1.2, opacity=alpha)
        drawing.lines(segments[~hit], colors[2], width=1.2, framed=False, opacity=0.5 * alpha)
        drawing.dots(starts, colors[2], width=2.0)
        drawing.dots(ends[hit], colors[1], width=7.0)
