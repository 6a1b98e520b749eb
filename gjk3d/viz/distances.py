"""A distance as a picture: both shapes, the points that prove it, and what to do about it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.results import Distance
from gjk3d.viz.drawing import COLORS, INK, MODEL, NORMAL, SEPARATION, Camera, Drawing, Style, darker
from gjk3d.viz.layout import Body, Layout, called, lay_out, models_of, proof, verdict, way_out
from gjk3d.viz.marks import arrow, ball, rod


def draw(x: Distance, style: Style, *, surfaces: tuple[Any, Any] | None = None) -> Drawing:
    """Draw an answer of `gjk3d.distance` or `signed_distance`.

    A is orange and B green. The blue arrow is the normal, from A to B; the orange one, in overlap, is the shortest
    move of B that makes the two just touch, or one that does where the legend says "a way out".

    Parameters
    ----------
    surfaces : (mesh, mesh), optional
        The models whose hulls were compared, each a Mesh or None: they are drawn inside their hulls.
    """
    layout = lay_out(x)
    drawing = Drawing(words=[verdict(x).capitalize(), proof(x)], sorted=True)
    drawing.camera = Camera(layout.center, layout.eye, layout.up, layout.angle)
    drawing.focus = (layout.center, layout.radius)
    add_pair(drawing, x, layout, models_of(x, surfaces), style)
    colors = (style.color(0, COLORS), style.color(1, COLORS))
    _add_witness(drawing, x, layout, colors)
    drawing.key("normal, A to B", NORMAL)
    if x.depth > 0.0:
        drawing.key(way_out(x), SEPARATION)
    return drawing


def add_pair(
    drawing: Drawing, x: Distance, layout: Layout, models: list[Body | None], style: Style, opacity: float = 0.5
) -> None:
    """Add the two bodies of an answer, from far to near, and what they are called."""
    # from far to near: the plane between the two, across the normal, has the farther one behind it
    between = (x.point_a + x.point_b) / 2
    for i in (0, 1) if float(x.normal @ (layout.eye - between)) >= 0.0 else (1, 0):
        body, model, color = layout.bodies[i], models[i], style.color(i, COLORS)
        if model is not None:
            drawing.body(model.vertices, model.faces, color, look=MODEL)
        # a half-space, and a hull round its model, are glass
        alpha = style.alpha(i, opacity) * (0.6 if body.plate else 0.4 if model is not None else 1.0)
        if len(body.faces):
            drawing.body(
                body.vertices, body.faces, color, alpha, framed=not body.plate, outline=not body.plate, name="AB"[i]
            )
        else:  # a point or a segment: as thick as can be seen
            first, last = body.vertices[0], body.vertices[-1]
            thin = (
                ball(first, 0.018 * layout.radius)
                if len(body.vertices) == 1
                else rod(first, last, 0.012 * layout.radius)
            )
            drawing.body(*thin, color, look=MODEL, name="AB"[i])
    for k, shape in enumerate((x.shape_a, x.shape_b)):
        drawing.key(f"{'AB'[k]}  {style.name(k, called(shape))}", style.color(k, COLORS))


def _add_witness(drawing: Drawing, x: Distance, layout: Layout, colors: tuple[str, str]) -> None:
    size = layout.radius
    a, b, n = x.point_a, x.point_b, x.normal
    gap = float(np.linalg.norm(b - a))
    if x.distance > 0.0 and gap > 0.0:
        drawing.marks([rod(a, b, 0.005 * size)], INK)
    start = a if x.distance <= 0.0 or gap < 0.6 * size else (a + b) / 2 - 0.17 * size * n
    drawing.marks(arrow(start, n, 0.34 * size, 0.009 * size), NORMAL)
    if x.depth > 0.0:
        thickness = min(0.014 * size, 0.2 * x.depth)
        drawing.marks(arrow(b, n, x.depth, thickness), SEPARATION)
    radius = min(0.022 * size, max(0.2 * gap, 0.012 * size))
    for point, color in ((a, colors[0]), (b, colors[1])):
        drawing.marks([ball(point, radius)], darker(color))
