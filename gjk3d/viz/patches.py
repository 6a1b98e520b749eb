"""A contact as a picture: both shapes, the points of the patch with their gaps, and the normal."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gjk3d.query.contact import Contact
from gjk3d.viz.distances import add_pair
from gjk3d.viz.drawing import COLORS, INK, NORMAL, SEPARATION, Camera, Drawing, Label, Style, darker
from gjk3d.viz.layout import Body, lay_out
from gjk3d.viz.marks import arrow, ball, rod
from gjk3d.wording import below, number

#: Points whose gaps are written beside them.
_MOST_LABELS = 8


def draw(x: Contact, style: Style) -> Drawing:
    """Draw an answer of `gjk3d.contact`."""
    if x.gaps.ndim == 2:
        raise TypeError(f"this contact is of {len(x)} pairs, and one can be drawn: take a row, contact[0]")
    layout = lay_out(x.result)
    size = layout.radius
    drawing = Drawing(words=[_headline(x)], sorted=True)
    drawing.camera = Camera(layout.center, layout.eye, layout.up, layout.angle)
    drawing.focus = (layout.center, size)
    none: list[Body | None] = [None, None]
    add_pair(drawing, x.result, layout, none, style, opacity=0.35)
    add_points(drawing, x, size, (style.color(0, COLORS), style.color(1, COLORS)))
    drawing.marks(
        arrow(x.points.mean(axis=0) if x.count else layout.center, x.normal, 0.3 * size, 0.009 * size), NORMAL
    )
    drawing.key("normal, A to B", NORMAL)
    if x.count:
        drawing.key("contact points, with their gaps", SEPARATION)
    return drawing


def add_points(drawing: Drawing, x: Contact, size: float, colors: tuple[str, str]) -> None:
    """Add the points of a patch, on both bodies, its rim, and their gaps."""
    middles = x.points
    if x.count > 1:
        ring = middles if x.count == 2 else np.vstack([middles, middles[:1]])
        for a, b in itertools.pairwise(ring):
            drawing.marks([rod(a, b, 0.004 * size, 16)], SEPARATION)
    for a, b, gap in zip(x.points_a, x.points_b, x.gaps, strict=True):
        if abs(gap) > 0.02 * size:
            drawing.marks([rod(a, b, 0.004 * size, 16)], INK)
            drawing.marks([ball(a, 0.013 * size, 24)], darker(colors[0]))
            drawing.marks([ball(b, 0.013 * size, 24)], darker(colors[1]))
        else:
            drawing.marks([ball((a + b) / 2, 0.018 * size, 24)], SEPARATION)
    if 0 < x.count <= _MOST_LABELS and np.ptp(x.gaps) > 1e-9 * size:
        drawing.labels += [Label(p, _gap(g)) for p, g in zip(middles, x.gaps, strict=True)]


def _headline(x: Any) -> str:
    if not x.count:
        return f"No contact points: more than {below(max(float(x.lower), 0.0))} apart"
    points = "1 contact point" if x.count == 1 else f"{x.count} contact points"
    low, high = float(x.gaps.min()), float(x.gaps.max())
    if x.count == 1 or high - low <= 1e-9 * max(abs(low), abs(high)):
        return f"{points}, gap {_gap(low)}"
    return f"{points}, gaps from {_gap(low)} to {_gap(high)}"


def _gap(value: float) -> str:
    return "0" if abs(value) < 1e-13 else number(value, 4)
