"""The steps of an explanation: their drawings, and the window, pictures and page that show the drawings.

Each step is drawn in two views. The coordinates of a view are relative to its middle and in units of its size, so
pictures do not depend on the scale.

One plotter draws all steps with both views, the text, the legend and the curve of bounds. It shows them in a window, or
writes a picture of numbered panels or an animation. A page is written without OpenGL.
"""

from __future__ import annotations

import ast
import html
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gjk3d import webpage
from gjk3d.geometry import simplex
from gjk3d.narrow import epa, gjk
from gjk3d.query.overlap import Difference
from gjk3d.query.wording import headline, verdict
from gjk3d.results import Distance
from gjk3d.shapes import layout
from gjk3d.typing import Array
from gjk3d.viz.colors import COLORS, INK, NORMAL, SEPARATION, darker
from gjk3d.viz.drawing import PART, UP, Drawing, Item, across, ball_of, called, camera_of, direction, kind, lay_out
from gjk3d.viz.explanation.narration import PLACES, Step
from gjk3d.viz.image_files import palette, shot, telling, write_frames
from gjk3d.viz.kinds.bodies import evenly
from gjk3d.viz.page import ROOM, mesh_data
from gjk3d.viz.paint import Added, repaint
from gjk3d.viz.picture import new_plotter
from gjk3d.webpage import to_json
from gjk3d.wording import json_ready

if TYPE_CHECKING:
    import pyvista
    from PIL import Image

    from gjk3d.viz.explanation import Explanation

# --- drawings --------------------------------------------------------------------------------------------------------


class Role(NamedTuple):
    """The legend entry and the colours of one kind of item, such as support points.

    The colours of different kinds are distinct for all kinds of colour vision.
    """

    meaning: str
    light: str
    dark: str  #: colour on a dark background
    over: bool = False  #: whether it shows through items in front of it


#: in the order of the legend
ROLES = {
    "a": Role("A", COLORS[0], COLORS[0], over=True),
    "b": Role("B", COLORS[1], COLORS[1], over=True),
    "difference": Role("A - B", "#8FA3B0", "#B5C4CE"),
    "simplex": Role("simplex", "#CC79A7", "#CC79A7"),
    "dropped": Role("corner to drop", "#80868B", "#A5ABB3"),
    "polytope": Role("EPA's polytope, inside A - B", "#56B4E9", "#56B4E9"),
    "closest": Role("its face nearest to the origin", "#F0E442", "#F0E442"),
    "removed": Role("other replaced faces", "#F3B58A", "#F3B58A"),
    "fan": Role("new faces around the horizon", "#E07B39", "#FF9A5C"),
    "bound": Role("plane of the lower bound", "#5F7D95", "#93AFC4"),
    "new": Role("new point and its horizon", SEPARATION, "#FF7A33", over=True),
    "direction": Role("support direction", NORMAL, "#4C9FE0", over=True),
    "ink": Role("nearest points so far", INK, "#E8EAED", over=True),
    "region": Role("Voronoi region of the new simplex", "#7B3FA0", "#B58BE0"),
}
PALETTE = {name: role.light for name, role in ROLES.items()}
#: other legend entries of the last step, for overlap and for separation
ANSWERED = {
    "deep": {"new": "separation of B", "ink": "the depth, from the origin to the surface of A - B"},
    "apart": {"direction": "normal from A to B", "ink": "nearest points"},
}
HEADINGS = ("The two shapes", "Minkowski difference A - B")
_BALL, _ROD, _ARROW = 0.026, 0.008, 0.011
_SUPPORT_ARROW, _TOWARDS = 0.26, 0.36  #: lengths of the arrows at the support points, and in A - B
_STRAIGHT = 0.8  #: cosine of the angle to the viewer above which an arrow appears too short
_TETRAHEDRON = np.array([(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)])


def rod_color(name: str, roles: Mapping[str, Role] = ROLES) -> str:
    """Return the colour of the balls, rods and arrows of a role. It may be darker than the faces of the role."""
    return darker(roles[name].light, 0.8) if name in ("simplex", "polytope") else roles[name].light


class View(NamedTuple):
    """One of the two pictures in every step: its middle, its unit of length and its items."""

    center: Array  #: middle in the world
    unit: float  #: length in the world that is 1 in the picture
    still: list[Item]  #: items of every step, each named by its role in PALETTE
    steps: list[Drawing]

    def local(self, points: Any) -> Array:
        """Return points of the world in coordinates of the picture, (n, 3): relative to its middle, in its unit."""
        return np.reshape((np.asarray(points, dtype=np.float64) - self.center) / self.unit, (-1, 3))


class Scene(NamedTuple):
    """The left and the right view of all steps. The two views have the same direction to the camera."""

    left: View
    right: View
    view: Array  #: unit vector towards the camera
    up: Array


def arrange(result: Distance, steps: list[Step], difference: Difference, view: Any, up: Any) -> Scene:
    """Return the view of the shapes and the view of their Minkowski difference, each with a drawing of every step."""
    layout = lay_out(result)
    toward, top = _axes(_slanted(layout.view, steps) if view is None else view, UP if up is None else up)
    core, difference_drawing = difference.core(), difference.whole()
    left = View(layout.center, layout.radius, [], [])
    right = View(*ball_of(np.concatenate([difference_drawing[0], np.zeros((1, 3))])), [], [])
    shown = Drawing(left.still)  # adds its items to left.still
    for body, role in zip(layout.bodies, "ab", strict=True):
        shown.body(left.local(body.vertices), body.faces, PALETTE[role], 0.4, name=role, outline=False)
    shown = Drawing(right.still)
    solids = [(difference_drawing, 0.12, True)] if sum(difference.radii) > 0.0 else []
    for (vertices, faces), opacity, even in [*solids, (core, 0.22, difference.sampled)]:
        places = right.local(vertices)
        shown.body(places, faces, PALETTE["difference"], opacity, name="difference", outline=even, even=even)
    for at, draw, heading in zip((left, right), (_workspace, _differences), HEADINGS, strict=True):
        at.steps.extend(draw(at, step) for step in steps)
        arrows = [item for step_items in at.steps for item in step_items.items if item.color == PALETTE["direction"]]
        extent = Drawing([*at.still, *arrows], view=toward, up=top)
        if at is right:
            extent.dots(at.local(np.zeros(3)), PALETTE["ink"])
        camera = camera_of(extent)
        for drawing in at.steps:
            drawing.items[:0] = at.still
            drawing.camera, drawing.sorted, drawing.words = camera, True, [heading]
    return Scene(left, right, toward, top)


def _axes(view: Any, up: Any) -> tuple[Array, Array]:
    toward, top = direction(view, "view"), direction(up, "up")
    top -= (top @ toward) * toward
    length = float(np.linalg.norm(top))
    return toward, top / length if length > 1e-6 else across(toward)[1]


def _slanted(view: Array, steps: list[Step]) -> Array:
    """Return a direction near ``view`` for which few or no arrows of the steps point at the viewer."""
    arrows = np.array([step.direction for step in steps if step.direction is not None])
    z, turn = np.meshgrid(np.linspace(-0.2, 0.7, 7), np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False))
    flat = np.sqrt(1.0 - z * z)
    directions = np.stack([flat * np.cos(turn), flat * np.sin(turn), z], axis=-1).reshape(-1, 3)
    directions = np.concatenate([view[None] / np.linalg.norm(view), directions])
    straight = np.maximum(np.abs(directions @ arrows.T) - _STRAIGHT, 0.0).sum(axis=1) / (1.0 - _STRAIGHT)
    return np.asarray(directions[np.argmin(4.0 * straight - directions @ directions[0])])


# --- the workspace ----------------------------------------------------------------------------------------------------


def _workspace(view: View, step: Step) -> Drawing:
    drawing = Drawing()
    if step.witness_a is not None and step.witness_b is not None:
        ends = view.local([step.witness_a, step.witness_b])
        separation = ends[0] - ends[1]
        gap = float(np.linalg.norm(separation))
        if step.phase == "answer" and step.upper < 0.0 and gap > 2.0 * _ARROW:  # the separating translation of B
            drawing.arrows(ends[1], separation / gap, gap, _ARROW, PALETTE["new"])
        else:
            if gap > _ROD:
                drawing.rods(ends[0], ends[1], _ROD, PALETTE["ink"])
            if step.phase == "answer" and step.direction is not None:
                middle = ends.mean(axis=0) - 0.15 * step.direction
                drawing.arrows(middle, step.direction, 0.3, _ARROW, PALETTE["direction"])
        for end, role in zip(ends, "ab", strict=True):
            drawing.balls(end, _BALL, PALETTE[role])
    if step.support_a is not None and step.support_b is not None and step.direction is not None:
        supports = view.local([step.support_a, step.support_b])
        drawing.arrows(supports, np.outer([1.0, -1.0], step.direction), _SUPPORT_ARROW, _ARROW, PALETTE["direction"])
        drawing.balls(supports, 1.25 * _BALL, PALETTE["new"])
    return drawing


# --- the configuration space ------------------------------------------------------------------------------------------


def _differences(view: View, step: Step) -> Drawing:
    drawing = Drawing()
    (_add_polytope if len(step.faces) else _add_simplex)(drawing, view, step)
    origin = view.local(np.zeros(3))[0]
    drawing.balls(origin, _BALL, PALETTE["ink"])
    drawing.label(origin, "origin", PALETTE["ink"])
    if step.nearest is not None:
        near = view.local(step.nearest)[0]
        if np.linalg.norm(near - origin) > _ROD:
            drawing.rods(origin, near, 0.75 * _ROD, PALETTE["ink"])
        drawing.balls(near, 0.7 * _BALL, PALETTE["ink"])
        if step.direction is not None and step.phase != "answer":
            drawing.arrows(near, step.direction, _TOWARDS, _ARROW, PALETTE["direction"])
    if step.point is not None and step.phase != "answer":
        at = view.local(step.point)[0]
        drawing.balls(at, 1.25 * _BALL, PALETTE["new"])
        drawing.label(at, step.point_name, PALETTE["new"])
    return drawing


def _add_simplex(drawing: Drawing, view: View, step: Step) -> None:
    corners, color = view.local(step.simplex), rod_color("simplex")
    is_kept = np.array([name not in step.dropped for name in step.names], dtype=bool)
    if len(corners) >= 3:
        faces = _TETRAHEDRON[: 1 if len(corners) == 3 else 4]
        drawing.body(corners, faces, PALETTE["simplex"], 0.45, outline=False)
    pairs = np.array([(i, j) for i in range(len(corners)) for j in range(i)], dtype=np.int64).reshape(-1, 2)
    drawing.rods(corners[pairs[:, 0]], corners[pairs[:, 1]], 1.4 * _ROD, color, look=PART)
    if step.joins and step.point is not None:  # the new edges
        new = np.broadcast_to(view.local(step.point), corners[is_kept].shape)
        drawing.rods(corners[is_kept], new, 0.5 * _ROD, color, look=PART)
    drawing.balls(corners[is_kept], 1.1 * _BALL, color, look=PART)
    drawing.balls(corners[~is_kept], 1.1 * _BALL, PALETTE["dropped"], look=PART)
    for corner, name in zip(corners, step.names, strict=True):
        if name in step.dropped:
            drawing.label(corner, f"{name} (drop)", darker(PALETTE["dropped"], 0.62))
        elif name != step.point_name:
            drawing.label(corner, name, darker(PALETTE["simplex"], 0.62))


def _add_polytope(drawing: Drawing, view: View, step: Step) -> None:
    vertices, color = view.local(step.vertices), rod_color("polytope")
    removed, near = {tuple(face) for face in step.removed.tolist()}, tuple(step.closest.tolist())
    remaining = [face for face in step.faces.tolist() if tuple(face) not in removed and tuple(face) != near]
    visible = [face for face in step.removed.tolist() if tuple(face) != near]
    for faces, role, opacity in ((remaining, "polytope", 0.3), (visible, "removed", 0.6), ([near], "closest", 0.9)):
        if faces:
            drawing.body(vertices, faces, PALETTE[role], opacity, outline=False, even=role != "polytope")
    edges = {tuple(sorted((int(f[i]), int(f[(i + 1) % 3])))) for f in step.faces for i in range(3)}
    rim = {tuple(sorted(map(int, edge))) for edge in step.horizon}
    thin = 0.6 * _ROD if len(step.faces) < 60 else 0.3 * _ROD
    for every, radius, tone in ((edges - rim, thin, color), (rim, 1.2 * _ROD, PALETTE["new"])):
        pairs = np.array(sorted(every), dtype=np.int64).reshape(-1, 2)
        drawing.rods(vertices[pairs[:, 0]], vertices[pairs[:, 1]], radius, tone, 16, look=PART)
    used = np.unique(step.faces)
    named = used if len(used) <= 9 else np.unique(step.closest)
    drawing.balls(vertices[used if len(used) <= 40 else named], 0.7 * _BALL, color, look=PART)
    for i in named.tolist():
        if step.names[i] != step.point_name or step.phase == "answer":
            drawing.label(vertices[i], step.names[i], darker(PALETTE["polytope"], 0.62))


# --- the window ------------------------------------------------------------------------------------------------------


def legend(*steps: Step) -> list[tuple[str, str]]:
    """Return the legend of some steps: text and colour of each entry."""
    words = {role: ROLES[role].meaning for role in ("a", "b", "difference")}
    for step in steps:
        if step.phase == "answer":
            words = ANSWERED["deep" if step.upper < 0.0 else "apart"] | words
            continue
        point = ROLES["new"].meaning if len(step.horizon) else "new point" if step.joins else "support point"
        words["new"] = max(words.get("new", ""), point, key=len)
        roles = ["polytope", "closest"] if len(step.faces) else ["simplex"] if len(step.simplex) else []
        roles += [*(["dropped"] if step.dropped else []), *(["removed"] if len(step.removed) > 1 else []), "direction"]
        words |= {role: ROLES[role].meaning for role in (*roles, *(["ink"] if step.nearest is not None else []))}
    return [(words[role], PALETTE[role]) for role in ROLES if role in words]


_LEAST = 1e-6  #: least range of the curve, relative to the greatest bound or point
_LETTERS = 17  #: height of letters, in pixels
_BAND, _LATER = "#D6E6F2", "#BDC1C6"


class Curve:
    """A chart of the bounds of all steps in the current panel of a plotter."""

    def __init__(self, plotter: pyvista.Plotter, steps: list[Step]) -> None:
        import pyvista

        self.chart = chart = pyvista.Chart2D()
        bounded = [step for step in steps if np.isfinite(step.lower) and np.isfinite(step.upper)]
        self._at = np.array([step.number + 1.0 for step in bounded])
        self._bounds = [np.array([getattr(step, side) for step in bounded]) for side in ("lower", "upper")]
        negative = any(min(bound, default=0.0) < 0.0 for bound in self._bounds)
        chart.title = f"Bounds of the {'signed ' * negative}distance, step by step"
        chart.x_range, chart.y_range = [0.5, len(steps) + 0.5], list(limits(steps))
        ticks = range(1, len(steps) + 1, -(-len(steps) // 12))
        chart.x_axis.tick_locations, chart.x_axis.tick_labels = list(ticks), list(map(str, ticks))
        chart.x_label = chart.y_label = ""
        chart.GetTitleProperties().SetFontSize(_LETTERS)
        chart.x_axis.tick_label_size = chart.y_axis.tick_label_size = _LETTERS
        plotter.add_chart(chart)

    def show(self, index: int) -> None:
        """Mark the step with this index. Bounds of later steps are faint."""
        chart, shown = self.chart, self._at <= index + 1
        chart.clear()
        if shown.any():
            chart.area(self._at[shown], *(bound[shown] for bound in self._bounds), color=_BAND)
        for bound in self._bounds:
            for some, color, width in ((self._at > index, _LATER, 1.0), (shown, INK, 2.0)):
                if some.any():
                    chart.line(self._at[some], bound[some], color=color, width=width)
                    chart.scatter(self._at[some], bound[some], color=color, size=8.0)
        chart.line([index + 1.0] * 2, chart.y_range, color=NORMAL, width=2.0)


def limits(steps: list[Step]) -> tuple[float, float]:
    """Return the range of the chart of bounds, from the lowest to the highest bound with a margin.

    Bounds that differ only by rounding appear as one line.
    """
    values = np.array([v for s in steps for v in (s.lower, s.upper) if np.isfinite(v)] or [0.0])
    low, high = float(values.min()), float(values.max())
    largest = max(abs(low), abs(high))
    size = max([largest, *(float(np.linalg.norm(s.point)) for s in steps if s.point is not None)])
    room = 0.08 * (high - low)
    if high - low <= _LEAST * size:
        room = max(0.5 * largest, 0.05 * size, 1e-300)
    return low - room, high + room


CURVE = 262  #: height of the curve and the legend, in pixels
_ROW, _LETTER = 25, 9.4  #: height of a row of text and width of a letter, in pixels


def height_beneath(steps: list[Step], width: int) -> int:
    """Return the height in pixels of the area below the views. The longest sentence fits into it."""
    longest = max(len(step.sentence) for step in steps)
    return round(_ROW * (1.8 + _LETTER * longest // width + 1.0)) + CURVE


class Stage:
    """A plotter that draws a step in two views side by side.

    The text, the curve of bounds and the legend are below the views. With ``panel=True``, for one panel of a picture,
    the title is above the views, and there is no curve and no legend.
    """

    def __init__(
        self,
        steps: list[Step],
        scene: Scene,
        size: tuple[int, int],
        panel: bool = False,
        off_screen: bool = True,
        foot: int = 0,
    ) -> None:
        self._steps, self._views, self._panel = steps, (scene.left, scene.right), panel
        low = height_beneath(steps, size[0])
        heights = [size[1] - low - foot, low - CURVE, CURVE, *([foot] if foot else [])]
        groups = [(row, [0, 1]) for row in (1, 3) if row < len(heights)]
        if panel:
            heights, groups = [_TITLE, _VIEWS, size[1] - _TITLE - _VIEWS], [(0, [0, 1]), (2, [0, 1])]
        layout: Any = {"shape": (len(heights), 2), "groups": groups, "row_weights": heights}
        self.plotter = new_plotter(off_screen=off_screen, size=size, **layout)
        self.plotter.set_background("white", all_renderers=True)
        self._added: list[Added] = [[], []]
        if not panel:
            self.plotter.subplot(2, 0)
            self._curve = Curve(self.plotter, steps)

    def show(self, index: int) -> None:
        """Draw the step with this index instead of the present step."""
        step = self._steps[index]
        for column, view in enumerate(self._views):
            self.plotter.subplot(int(self._panel), column)
            drawing = view.steps[index]
            if self._panel and index:
                drawing = replace(drawing, words=[])  # only the first panel names the views
            self._added[column] = repaint(self.plotter, drawing, self._added[column])
        title, words = f"{index + 1} of {len(self._steps)}: {step.title}", [step.sentence, step.bounds]
        texts = {(0, 0): Drawing(words=[title]), (2, 0): Drawing(words=["", *words])}
        if not self._panel:
            texts = {(1, 0): Drawing(words=[title, words[0]]), (2, 1): Drawing(words=words[1:], keys=legend(step))}
        for place, drawing in texts.items():
            self.plotter.subplot(*place)
            repaint(self.plotter, drawing, [])
        if not self._panel:
            self._curve.show(index)

    def shoot(self, index: int) -> Image.Image:
        """Return the picture of the step with this index."""
        self.show(index)
        return shot(self.plotter)


def shoot_curve(steps: list[Step], size: tuple[int, int], parts: Sequence[str] = ("curve", "legend")) -> Image.Image:
    """Return a picture of the curve of bounds, of the legend, or of the two side by side."""
    plotter = new_plotter(off_screen=True, size=size, shape=(1, len(parts)))
    try:
        plotter.set_background("white", all_renderers=True)
        for column, part in enumerate(parts):
            plotter.subplot(0, column)
            if part == "curve":
                Curve(plotter, steps).show(len(steps) - 1)
            else:
                repaint(plotter, Drawing(keys=legend(*steps)), [])
        return shot(plotter)
    finally:
        plotter.close()


_SIZE, _SLIDER = (1200, 900), 40


class Window:
    """A plotter that shows one step at a time.

    Attributes
    ----------
    plotter : pyvista.Plotter
        Its ``show()`` opens the window.
    at : int
        The present step, from 0.
    """

    def __init__(self, steps: list[Step], scene: Scene, off_screen: bool) -> None:
        self._last, self.at = len(steps) - 1, -1
        self._stage = Stage(steps, scene, _SIZE, off_screen=off_screen, foot=_SLIDER)
        self.plotter = self._stage.plotter
        self.plotter.subplot(3, 0)
        slider_style = {"color": INK, "fmt": "%.0f", "title_height": 0.3, "slider_width": 0.3, "tube_width": 0.08}
        ends = {"pointa": (0.025, 0.5), "pointb": (0.56, 0.5)}
        self.slider = self.plotter.add_slider_widget(
            self._slid, [1, len(steps)], value=1, interaction_event="always", **ends, **slider_style
        )
        for name, by in (("Left", -1), ("Right", 1)):
            self.plotter.add_key_event(name, lambda by=by: self.go(self.at + by))
        self.go(0)

    def go(self, step: int) -> None:
        """Show the step with the index ``step``, or the nearest step for an index out of range."""
        to = min(max(step, 0), self._last)
        if to == self.at:
            return
        self.at = to
        self._stage.show(to)
        self.slider.GetRepresentation().SetValue(to + 1)
        if self.plotter.iren is not None and self.plotter.iren.initialized:
            self.plotter.render()

    def _slid(self, value: float) -> None:
        if self.at >= 0:
            self.go(round(value) - 1)


WIDTH = 1000
_HIGH = 390  #: height of the views in an animation
_TITLE, _VIEWS = 32, 184  #: heights of the title and of the views of a panel
_MARGIN = 10  #: right margin of a panel
_PAPER, _LINE = "#FFFFFF", "#D8DCE1"
#: greatest number of corners of a shape for GJK in a page, which scans all corners for each support point
MOST_CORNERS = 20_000
#: curved cores whose support mappings a page has, and the number of their sizes
_CURVED = {layout.CYLINDER: ("cylinder", 2), layout.CONE: ("cone", 2), layout.ELLIPSOID: ("ellipsoid", 3)}
#: the words of the controls that move through steps
STEPS: dict[str, str] = {"controls": "steps", "back": "back", "next": "next", "slide": "step"}
#: templates with the kernels in JavaScript, and all templates of the page of an explanation
SCRIPTS: tuple[str, ...] = (
    "vectors.js", "support.js", "simplex.js", "gjk.js", "polytope.js", "circles.js", "epa.js", "solve.js", "words.js"
)  # fmt: skip
_FILES = (
    "head.html", "explain.html", "end.html", "explain.css",
    *SCRIPTS, "tell.js", "curve.js", "marks.js", "pieces.js", "panel.js", "bodies.js", "sight.js", "drag.js",
    "stepper.js", "shapes.js", "presets.js", "pseudocode.js", "links.js", "code.js", "numbers.js", "inputs.js",
    "explain.js",
)  # fmt: skip
_TEXT = {"new": 0.85, "ink": 1.0}  #: factors of the colours of names, which need contrast with a white page
_LONGEST = 20_000  #: greatest default duration of an animation, in milliseconds
#: colours of the legend, which a palette contains exactly
_PALETTE_COLORS = (_PAPER, *PALETTE.values(), *map(rod_color, ROLES))


def save_animation(path: Path, steps: list[Step], scene: Scene, most: int, seconds: float | None) -> None:
    """Write an animation of at most ``most`` steps, with one frame per step.

    By default a frame lasts 1.5 s plus 0.25 s per word of its sentence. Longer animations are sped up to 20 s.
    """
    shown = evenly(len(steps), max(most, 2)).tolist()
    frames = list(_shots(steps, scene, (WIDTH, _HIGH + height_beneath(steps, WIDTH)), shown))
    times = [round(1000 * (seconds or 1.5 + len(steps[index].sentence.split()) / 4.0)) for index in shown]
    times[-1] += 2000
    if seconds is None and sum(times) > _LONGEST:  # slow readers can use the page
        times = [_LONGEST * time // sum(times) for time in times]
    write_frames(path, frames, times, palette(frames, _PALETTE_COLORS))


def save_panels(path: Path, steps: list[Step], scene: Scene, most: int) -> None:
    """Write a picture of at most ``most`` steps: numbered panels in two columns, and the curve of bounds below them.

    The legend is next to the curve, or next to the last panel if the number of panels is odd.
    """
    from PIL import Image, ImageDraw

    shown = evenly(len(steps), max(most, 2)).tolist()
    width = WIDTH // 2 - _MARGIN
    longest = max(len(steps[index].sentence) for index in shown)
    size = width, _TITLE + _VIEWS + round(_ROW * (_LETTER * longest // width + 4.0))
    panels = list(_shots(steps, scene, size, shown, True))
    odd = len(panels) % 2 == 1
    if odd:
        panels.append(shoot_curve(steps, (width, CURVE), ["legend"]))
    rows = [panels[k : k + 2] for k in range(0, len(panels), 2)]
    heights = [max(map(_used_height, row)) + _MARGIN for row in rows]
    image = Image.new("RGB", (WIDTH, sum(heights) + CURVE), _PAPER)
    lines, top = ImageDraw.Draw(image), 0
    for row, height in zip(rows, heights, strict=True):
        for column, panel in enumerate(row):
            image.paste(panel.crop((0, 0, width, min(height - 2, panel.height))), (column * WIDTH // 2, top + 2))
        lines.line([(WIDTH // 2 - 6, top + 8), (WIDTH // 2 - 6, top + height - 8)], _LINE)
        top += height
        lines.line([(16, top - 1), (WIDTH - 16, top - 1)], _LINE)
    image.paste(shoot_curve(steps, (WIDTH - _MARGIN, CURVE), ["curve"] if odd else ["curve", "legend"]), (0, top))
    if path.suffix.lower() == ".png":  # a palette suffices for flat colours, in a fifth of the space
        image = image.quantize(palette=palette([image], _PALETTE_COLORS), dither=Image.Dither.NONE)
    image.save(path)


def _used_height(panel: Image.Image) -> int:
    """Return the height of a panel without its empty rows at the bottom."""
    return int(np.nonzero(np.asarray(panel.convert("L")).min(axis=1) < 200)[0].max()) + 1


def _shots(
    steps: list[Step], scene: Scene, size: tuple[int, int], shown: list[int], panel: bool = False
) -> Iterator[Image.Image]:
    """Yield a picture of each step whose index is in ``shown``, with its views and its text."""
    stage = Stage(steps, scene, size, panel)
    try:
        yield from (stage.shoot(index) for index in telling("drawing step", shown, len(shown)))
    finally:
        stage.plotter.close()


def write_page(
    path: Path, explained: Explanation, names: tuple[str, str] | None = None, code_shown: bool = False
) -> Path:
    """Write the page of an explanation and return its path. The page does not use the network."""
    result, steps, unit = explained.result, explained.steps, explained._unit
    pair_names = names or (called(result.shape_a), called(result.shape_b))
    text = {
        "title": f"{pair_names[0]} and {pair_names[1]}, explained: {verdict(result, unit)}",
        "name_a": pair_names[0],
        "name_b": pair_names[1],
        "headline": headline(result, unit),
        "in_unit": f" in {unit}" if unit else "",
        **STEPS,
        "first_title": steps[0].title,
        "first_sentence": steps[0].sentence,
    }
    data = _data(explained) | {"names": pair_names, "verdict": headline(result, unit), "unit": unit}
    markup = {
        "quiz": '<div id="quiz" role="group" aria-label="Which corners does GJK keep?" hidden></div>\n',
        "code_shown": " checked" if code_shown else "",
        "all": "\n".join(f"<li><b>{html.escape(s.title)}.</b> {html.escape(s.sentence)}</li>" for s in steps),
        "scene": to_json(data),
    }
    return webpage.write_page(path, ROOM, _FILES, text=text, markup=markup)


def role_data(roles: Mapping[str, Role]) -> dict[str, dict[str, Any]]:
    """Return the legend entries and colours of roles for a page: colours of faces, lines, rods and text."""
    return {
        name: role._asdict()
        | {"line": darker(role.light), "rod": rod_color(name, roles), "text": darker(role.light, _TEXT.get(name, 0.5))}
        for name, role in roles.items()
    }


def _data(explained: Explanation) -> dict[str, Any]:
    """Return the data of a page. Bodies are in the unit of their view. Steps have positions relative to A's centre."""
    scene, difference = explained._scene, explained._difference
    views = (scene.left._replace(center=scene.left.center - difference.center), scene.right)
    inputs = given_to(explained.result, difference)
    spanned = inputs is not None and difference.sampled  # whether the page samples A - B from support points
    still = (scene.left.still, [] if spanned else scene.right.still)
    return {
        "colors": role_data(ROLES),
        "view": scene.view.tolist(),
        "up": scene.up.tolist(),
        "views": [{"center": view.center.tolist(), "unit": view.unit} for view in views],
        "still": [[_item(item) for item in items] for items in still],
        "given": inputs,
        "sampled": difference.sampled,
        "answered": ANSWERED,
        "steps": [_step(step, difference.center) for step in explained.steps],
        "size": difference.size,
        "radii": sum(difference.radii),
        "kernels": _kernels(),
    }


#: the kernels that a page shows next to the pseudocode
_SHOWN_KERNELS = {
    "GJK": ((gjk, ("gjk",)), (simplex, ("closest_on_segment", "closest_over", "side", "closest_on_tetrahedron"))),
    "EPA": ((epa, ("epa", "nearest_face", "add_face", "horizon", "add_fan", "sew", "expand", "first_tetrahedron")),),
}


@cache
def _kernels() -> dict[str, str]:
    """Return the source texts of "GJK" and "EPA" by name. Without the sources, the dictionary is empty."""
    try:
        return {name: "\n\n".join(_source(*part) for part in parts) for name, parts in _SHOWN_KERNELS.items()}
    except OSError:
        return {}


def _source(module: ModuleType, names: Sequence[str]) -> str:
    text = inspect.getsource(module)
    nodes = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    return "\n\n".join(filter(None, (ast.get_source_segment(text, nodes[name]) for name in names)))


def given_to(result: Distance, difference: Difference) -> list[dict[str, Any]] | None:
    """Return the shapes A and B as data, from which a page runs GJK. Positions are relative to the centre of A.

    Return None if the scripts of the page lack the support mapping of a shape.
    """
    sides = []
    for k, shape in enumerate((result.shape_a, result.shape_b)):
        ints, floats = shape._packed
        turn, center = difference.frames[k]
        side: dict[str, Any] = {"name": kind(shape), "radius": difference.radii[k], "middle": center.tolist()}
        corners = difference.corners[k]
        if corners is not None and len(corners) <= MOST_CORNERS:
            side["points"] = corners.tolist()
        elif ints[layout.KIND] in _CURVED:
            name, count = _CURVED[ints[layout.KIND]]
            sizes = floats[layout.FLOAT_HEAD : layout.FLOAT_HEAD + count].tolist()
            side |= {"kind": name, "sizes": sizes, "turn": turn.ravel().tolist(), "at": side["middle"]}
        else:
            return None
        sides.append(side)
    return sides


def _step(step: Step, origin: Array) -> dict[str, Any]:
    entry = {name: value for name, value in step._asdict().items() if value is not None and np.size(value)}
    entry |= {name: entry[name] - origin for name in PLACES if name in entry}
    return {name: json_ready(np.asarray(value).tolist()) for name, value in entry.items()}


def _item(item: Item) -> dict[str, Any]:
    entry: dict[str, Any] = {"role": item.name, "opacity": item.opacity}
    if not len(item.faces):
        return entry | {"points": item.vertices.tolist(), "size": 0.014}
    return entry | mesh_data(item.vertices, item.faces) | ({"edges": ""} if item.even else {})
