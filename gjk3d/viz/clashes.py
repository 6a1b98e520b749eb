"""A clash report as a picture: the assembly as a ghost, one finding in colours; n and p lead from one to the next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gjk3d.clash import wording
from gjk3d.clash.formats.bcf import upward
from gjk3d.clash.report import Clash, Report
from gjk3d.typing import Array
from gjk3d.viz.drawing import (
    COLORS,
    GREY,
    INK,
    MODEL,
    NORMAL,
    SEPARATION,
    Camera,
    Drawing,
    Item,
    Steps,
    Style,
    ball_of,
    darker,
)
from gjk3d.viz.layout import Layout, upright
from gjk3d.viz.marks import arrow, ball, box_lines, rod

_WORDS = {
    "hard": "overlap",
    "contained": "one inside the other",
    "duplicate": "the same part twice",
    "unchecked": "not decided",
    "clearance": "too close",
    "touch": "touching",
}
#: How much is seen round the middle of a finding, times the size of the smaller part.
_ROOM = 2.5
#: Directions to look from: round the axis that is up, from a little above.
_WAYS = np.array([(np.sin(a), -np.cos(a), 0.45) for a in np.radians(28.0 + 45.0 * np.arange(8))]) / np.hypot(1.0, 0.45)
_SIGNS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])


def draw(x: Report, style: Style, *, clash: int | str = 0) -> Drawing:
    """Draw a report of `gjk3d.clash.check`.

    Parameters
    ----------
    clash : int or str
        Which finding: its place among those that count, the worst first; or its id, or the name of a part.
    """
    found = [row for row in x.clashes if row.is_open] or list(x.clashes)
    parts = _parts(x)
    ghost = _ghost(parts, style.color(2, (*COLORS, GREY)))
    if not found:
        whole = replace(ghost, framed=True)
        return Drawing([whole], [f"No clashes among {len(x.parts)} parts"], up=np.array(upward(x)))

    def make(k: int) -> Drawing:
        return _one(x, found, k, parts, ghost, style)

    at = _place(found, clash)
    drawing = make(at)
    drawing.steps = Steps(len(found), at, make)
    return drawing


def _ghost(parts: dict[str, tuple[Array, Any]], color: str) -> Item:
    """Join all parts: a plotter draws one large thing far faster than many small ones."""
    bodies = list(parts.values()) or [(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64))]
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in bodies)])
    faces = np.concatenate([faces + start for (_, faces), start in zip(bodies, starts[:-1], strict=True)])
    return Item(np.concatenate([v for v, _ in bodies]), faces, color, 0.16, MODEL, framed=False, outline=False)


def _one(
    x: Report, found: list[Clash], k: int, parts: dict[str, tuple[Array, Any]], ghost: Item, style: Style
) -> Drawing:
    row = found[k]
    drawing = Drawing([ghost], sorted=True)
    pair = [(name, parts[name]) for name in (row.a, row.b) if name in parts]
    sizes = [ball_of(vertices)[1] for _, (vertices, _) in pair]
    for i, (name, _) in enumerate(pair):
        drawing.key(f"{'AB'[i]}  {name}", style.color(i, COLORS))
    for i in sorted(range(len(pair)), key=lambda i: -sizes[i]):  # the small one shows in the large one
        name, (vertices, faces) = pair[i]
        color = style.color(i, COLORS)
        drawing.body(
            vertices, faces, color, style.alpha(i, 0.85 if sizes[i] == min(sizes) else 0.4), outline=False, name=name
        )
        drawing.key(f"{'AB'[i]}  {name}", color)
    points = np.concatenate([v for _, (v, _) in pair]) if pair else ghost.vertices
    center, size = ball_of(points)
    if row.overlap_box is not None:
        corners = np.array(row.overlap_box)
        points = corners[_SIGNS, np.arange(3)]
        center = points.mean(axis=0)
        drawing.lines(box_lines(points), INK, width=2.0)
        drawing.key("box round what both fill", INK)
    elif row.point is not None:
        center = np.array(row.point)
    radius = min(1.15 * size, _ROOM * min(sizes, default=size))
    drawing.focus = (center, radius)
    drawing.camera = _camera(row, center, radius, ball_of(ghost.vertices)[0], np.array(upward(x)))
    _add_signs(drawing, row, radius)
    drawing.words = [f"{k + 1} of {len(found)}: {_headline(row, x.unit)}", f"{row.a}  –  {row.b}"]
    return drawing


def _camera(row: Clash, center: Array, radius: float, middle: Array, up: Array) -> Camera:
    """Look at the place of a finding across its normal, from outside the assembly rather than through it."""
    out = center - middle
    out /= float(np.linalg.norm(out)) or 1.0
    normal = np.zeros(3) if row.normal is None else np.array(row.normal)
    turn, angle = upright(up), Layout._field_defaults["angle"]
    view = min(_WAYS @ turn.T, key=lambda way: round(float(way @ normal) ** 2 - 0.5 * float(way @ out), 9))
    return Camera(center, center + radius / np.sin(np.radians(angle / 2)) * view, up, angle)


def _add_signs(drawing: Drawing, row: Clash, size: float) -> None:
    if row.point_a is not None and row.point_b is not None:
        a, b = np.array(row.point_a), np.array(row.point_b)
        if not np.array_equal(a, b):
            drawing.marks([rod(a, b, 0.005 * size)], INK)
        for point, color in ((a, COLORS[0]), (b, COLORS[1])):
            drawing.marks([ball(point, 0.016 * size)], darker(color))
    if row.mtv is not None and row.depth:
        way = np.array(row.mtv)
        length = float(np.linalg.norm(way))
        if length > 0.0:
            start = np.array(row.point_b if row.point_b is not None else row.point)
            shown = max(length, 0.12 * size)
            drawing.marks(arrow(start, way / length, shown, min(0.014 * size, 0.12 * shown)), SEPARATION)
            drawing.key("way out, for B" if shown == length else "way out, for B (drawn longer)", SEPARATION)
    elif row.normal is not None and row.point is not None:
        drawing.marks(arrow(np.array(row.point), np.array(row.normal), 0.25 * size, 0.009 * size), NORMAL)
        drawing.key("normal, A to B", NORMAL)


def _headline(row: Clash, unit: str | None) -> str:
    what = _WORDS.get(row.kind, row.kind)
    if row.kind == "hard" and row.depth:
        return f"{what} by {wording.depth(row, unit=unit)}"
    if row.kind == "clearance" and row.distance is not None:
        return f"{what}, {wording.distance(row, unit=unit)} apart"
    return what


def _parts(x: Report) -> dict[str, tuple[Array, Any]]:
    """Return the triangles of each part; where the report has none, those of its box."""
    if x.assembly is not None:
        return {part.name: (part.mesh.vertices, part.mesh.faces) for part in x.assembly.parts if part.mesh is not None}
    from gjk3d.viz.volumes import BOX_FACES

    return {
        part.name: (np.array(part.bounds)[_SIGNS, np.arange(3)], BOX_FACES)
        for part in x.parts
        if part.bounds is not None
    }


def _place(found: list[Clash], wanted: int | str) -> int:
    if isinstance(wanted, str):
        places = [k for k, row in enumerate(found) if wanted in (row.id, row.a, row.b)]
        if not places:
            raise ValueError(f"clash={wanted!r}: no finding has this id, and none is about a part of this name")
        return places[0]
    if not -len(found) <= wanted < len(found):
        raise ValueError(f"clash={wanted}: the report has {len(found)} findings, 0 is the worst")
    return wanted % len(found)
