"""The steps of an explanation in a window, as a picture of numbered panels, as an animation, and as a page.

One plotter draws all steps with both views, the text, the legend and the curve of bounds. A page is written without
OpenGL.
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
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d import webpage
from gjk3d.geometry import simplex
from gjk3d.narrow import epa, gjk
from gjk3d.query.overlap import Difference
from gjk3d.query.wording import headline, verdict
from gjk3d.results import Distance
from gjk3d.shapes import layout
from gjk3d.typing import Array
from gjk3d.viz.drawing import INK, NORMAL, Drawing, Item, called, darker, kind
from gjk3d.viz.explanation.narration import PLACES, Step
from gjk3d.viz.explanation.scene import ANSWERED, PALETTE, ROLES, Role, Scene, rod_color
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
        """Mark a step. Bounds of later steps are faint."""
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
    """Return the range of the curve, from the lowest bound to the highest with a margin.

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
    """Return the height of the area below the views, in which the longest sentence fits."""
    longest = max(len(step.sentence) for step in steps)
    return round(_ROW * (1.8 + _LETTER * longest // width + 1.0)) + CURVE


class Stage:
    """A plotter that draws a step in two views side by side.

    The text, the curve and the legend are below the views. A ``panel`` of a picture has no curve and no legend, and its
    title is above the views.
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
        below = {"groups": [(row, [0, 1]) for row in (1, 3) if row < len(heights)], "row_weights": heights}
        if panel:
            heights = [_TITLE, _VIEWS, size[1] - _TITLE - _VIEWS]
            below = {"groups": [(0, [0, 1]), (2, [0, 1])], "row_weights": heights}
        shape, layout = (len(heights), 2), below
        self.plotter = new_plotter(off_screen=off_screen, size=size, shape=shape, **layout)
        self.plotter.set_background("white", all_renderers=True)
        self._added: list[Added] = [[], []]
        if not panel:
            self.plotter.subplot(2, 0)
            self._curve = Curve(self.plotter, steps)

    def show(self, index: int) -> None:
        """Draw a step instead of the present step."""
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
        """Return the picture of a step."""
        self.show(index)
        return shot(self.plotter)


def shoot_curve(steps: list[Step], size: tuple[int, int], parts: Sequence[str] = ("curve", "legend")) -> Image.Image:
    """Return a picture of the curve of all steps, of the legend, or of both side by side."""
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
        """Show the step with the index ``step``, or the first or last step for an index out of range."""
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
#: curved cores with support mappings in a page, and the count of their sizes
_CURVED = {layout.CYLINDER: ("cylinder", 2), layout.CONE: ("cone", 2), layout.ELLIPSOID: ("ellipsoid", 3)}
#: the words of the controls that move through steps
STEPS: dict[str, str] = {"controls": "steps", "back": "back", "next": "next", "slide": "step"}
#: the templates with the port of the kernels, and those of a page: with the text of the steps, and the pictures
SCRIPTS: tuple[str, ...] = (
    "vectors.js", "support.js", "simplex.js", "gjk.js", "polytope.js", "circles.js", "epa.js", "solve.js", "words.js"
)  # fmt: skip
_FILES = (
    "head.html", "explain.html", "end.html", "explain.css",
    *SCRIPTS, "tell.js", "curve.js", "marks.js", "pieces.js", "panel.js", "bodies.js", "sight.js", "drag.js",
    "stepper.js", "shapes.js", "presets.js", "pseudocode.js", "links.js", "code.js", "numbers.js", "inputs.js",
    "explain.js",
)  # fmt: skip
_TEXT = {"new": 0.85, "ink": 1.0}  #: factors of the colours of names, which need contrast on paper
_LONGEST = 20_000  #: greatest default duration of an animation, in milliseconds
#: colours of the legend, which a palette contains exactly
_PALETTE_COLORS = (_PAPER, *PALETTE.values(), *map(rod_color, ROLES))


def save_animation(path: Path, steps: list[Step], scene: Scene, most: int, seconds: float | None) -> None:
    """Write an animation with one frame per step. The reading time of a sentence is a second for four words."""
    shown = evenly(len(steps), max(most, 2)).tolist()
    frames = list(_shots(steps, scene, (WIDTH, _HIGH + height_beneath(steps, WIDTH)), shown))
    times = [round(1000 * (seconds or 1.5 + len(steps[index].sentence.split()) / 4.0)) for index in shown]
    times[-1] += 2000
    if seconds is None and sum(times) > _LONGEST:  # slow readers can use the page
        times = [_LONGEST * time // sum(times) for time in times]
    write_frames(path, frames, times, palette(frames, _PALETTE_COLORS))


def save_panels(path: Path, steps: list[Step], scene: Scene, most: int) -> None:
    """Write a picture with a numbered panel per step, in two columns, and with the curve below them.

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
    """Yield pictures of some steps, each with its views and its text."""
    stage = Stage(steps, scene, size, panel)
    try:
        yield from (stage.shoot(index) for index in telling("drawing step", shown, len(shown)))
    finally:
        stage.plotter.close()


def write_page(
    path: Path, explained: Explanation, names: tuple[str, str] | None = None, code_shown: bool = False
) -> Path:
    """Write the page of an explanation and return its path. The page's security policy forbids the network."""
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
    """Return the legend and the colours of roles for a page: of faces, lines, rods and text."""
    return {
        name: role._asdict()
        | {"line": darker(role.light), "rod": rod_color(name, roles), "text": darker(role.light, _TEXT.get(name, 0.5))}
        for name, role in roles.items()
    }


def _data(explained: Explanation) -> dict[str, Any]:
    """Return the data of a page: bodies in units of their view, and steps about the centre of A."""
    scene, difference = explained._scene, explained._difference
    views = (scene.left._replace(center=scene.left.center - difference.center), scene.right)
    inputs = given_to(explained.result, difference)
    spanned = inputs is not None and difference.sampled  # whether the page samples the support mappings of both
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
    """Return the source text of GJK and EPA; an empty dictionary for a frozen program without sources."""
    try:
        return {name: "\n\n".join(_source(*part) for part in parts) for name, parts in _SHOWN_KERNELS.items()}
    except OSError:
        return {}


def _source(module: ModuleType, names: Sequence[str]) -> str:
    text = inspect.getsource(module)
    nodes = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    return "\n\n".join(filter(None, (ast.get_source_segment(text, nodes[name]) for name in names)))


def given_to(result: Distance, difference: Difference) -> list[dict[str, Any]] | None:
    """Return the data of both shapes about the centre of A, for GJK in a page.

    The result is None if the page's scripts lack the support mapping of a shape.
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
