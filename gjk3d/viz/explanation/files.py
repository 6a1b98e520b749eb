"""Steps as files: one picture a step, strips of them, an animation, and a page that needs no OpenGL."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d import webpage
from gjk3d.query.difference import Difference
from gjk3d.query.wording import headline, verdict
from gjk3d.results import Distance
from gjk3d.shapes import layout
from gjk3d.typing import Array
from gjk3d.viz.drawing import Item, darker
from gjk3d.viz.explanation.narration import PLACES, Step
from gjk3d.viz.explanation.scene import ANSWERED, PALETTE, ROLES, Scene, rod_color
from gjk3d.viz.explanation.stage import CURVE, Stage, height_beneath, shoot_curve
from gjk3d.viz.kinds.bodies import evenly
from gjk3d.viz.layout import called, kind
from gjk3d.viz.output import palette, telling, write_frames
from gjk3d.viz.page import ROOM, mesh_data
from gjk3d.webpage import to_json
from gjk3d.wording import json_ready

if TYPE_CHECKING:
    from PIL import Image

    from gjk3d.viz.explanation import Explanation

WIDTH = 1000
_HIGH = 390  #: of the views in an animation
_ROW, _MARGIN = 262, 10  #: of a strip: height of a step, and free on the right
_PAPER, _LINE = "#FFFFFF", "#D8DCE1"
#: of a shape that a page runs GJK on: it asks all of them for each farthest point
MOST_CORNERS = 20_000
#: curved cores whose support mappings a page has, and how many numbers each takes
_CURVED = {layout.CYLINDER: ("cylinder", 2), layout.CONE: ("cone", 2), layout.ELLIPSOID: ("ellipsoid", 3)}
_LONGEST = 20_000  #: milliseconds of an animation that nobody asked to be longer
#: every colour that means something has its place in a palette
_OWN = (_PAPER, *PALETTE.values(), *map(rod_color, PALETTE))


def save_animation(path: Path, steps: list[Step], scene: Scene, most: int, seconds: float | None) -> None:
    """Write one frame a step; each stays as long as its sentence takes to read: a second for four words."""
    shown = evenly(len(steps), max(most, 2)).tolist()
    frames = list(_shots(steps, scene, (WIDTH, _HIGH + height_beneath(steps, WIDTH)), shown))
    times = [round(1000 * (seconds or 1.5 + len(steps[index].sentence.split()) / 4.0)) for index in shown]
    times[-1] += 2000
    if seconds is None and sum(times) > _LONGEST:  # the page and the words are there to be read at leisure
        times = [_LONGEST * time // sum(times) for time in times]
    write_frames(path, frames, times, palette(frames, _OWN))


def save_strip(path: Path, steps: list[Step], scene: Scene, most: int) -> None:
    """Write the steps one below the other, each with both views, and the curve below them."""
    from PIL import Image, ImageDraw

    shown = evenly(len(steps), max(most, 2)).tolist()
    size = WIDTH - _MARGIN, _ROW - 2
    image = Image.new("RGB", (WIDTH, _ROW * len(shown) + CURVE), _PAPER)
    for row, one in enumerate(_shots(steps, scene, size, shown, True), 1):
        image.paste(one, (0, _ROW * (row - 1)))
        ImageDraw.Draw(image).line([(16, _ROW * row - 1), (WIDTH - 16, _ROW * row - 1)], _LINE)
    image.paste(shoot_curve(steps, (size[0], CURVE)), (0, _ROW * len(shown)))
    if path.suffix.lower() == ".png":  # flat colours and words: as few colours as this take a fifth of the space
        image = image.quantize(palette=palette([image], _OWN), dither=Image.Dither.NONE)
    image.save(path)


def _shots(
    steps: list[Step], scene: Scene, size: tuple[int, int], shown: list[int], beside: bool = False
) -> Iterator[Image.Image]:
    """Draw some steps, each with its words below or beside it."""
    stage = Stage(steps, scene, size, beside)
    try:
        yield from (stage.shoot(index) for index in telling("drawing step", shown, len(shown)))
    finally:
        stage.plotter.close()


def write_page(path: Path, explained: Explanation, names: tuple[str, str] | None) -> Path:
    """Write the page; nothing in it reaches for the network, and its own policy forbids it."""
    result, steps, unit = explained.result, explained.steps, explained._unit
    both = names or (called(result.shape_a), called(result.shape_b))
    text = {
        "title": f"{both[0]} and {both[1]}, explained: {verdict(result, unit)}",
        "name_a": both[0],
        "name_b": both[1],
        "headline": headline(result, unit),
        "in_unit": f" in {unit}" if unit else "",
        "first_title": steps[0].title,
        "first_sentence": steps[0].sentence,
    }
    data = _data(explained) | {"names": both, "verdict": headline(result, unit), "unit": unit}
    markup = {
        "all": "\n".join(f"<li><b>{html.escape(s.title)}.</b> {html.escape(s.sentence)}</li>" for s in steps),
        "scene": to_json(data),
    }
    files = ("explain.html", "explain.css", "gjk.js", "tell.js", "pieces.js", "panel.js", "explain.js")
    return webpage.write_page(path, ROOM, files, text=text, markup=markup)


def _data(explained: Explanation) -> dict[str, Any]:
    """Return all that is drawn: bodies in units of their view, steps as they are, about A's centre."""
    scene, difference = explained._scene, explained._difference
    views = (scene.left._replace(center=scene.left.center - difference.center), scene.right)
    given = given_to(explained.result, difference)
    spanned = given is not None and difference.sampled  # by the page, from the support mappings of both
    still = (scene.left.still, [] if spanned else scene.right.still)
    own = {name: {"line": darker(role.light), "rod": rod_color(name)} for name, role in ROLES.items()}
    return {
        "colors": {name: role._asdict() | own[name] for name, role in ROLES.items()},
        "view": scene.view.tolist(),
        "up": scene.up.tolist(),
        "views": [{"center": view.center.tolist(), "unit": view.unit} for view in views],
        "still": [[_item(one) for one in items] for items in still],
        "given": given,
        "sampled": difference.sampled,
        "answered": ANSWERED,
        "steps": [_step(step, difference.center) for step in explained.steps],
    }


def given_to(result: Distance, difference: Difference) -> list[dict[str, Any]] | None:
    """Return both shapes as a page runs GJK on them, about A's centre; None where it has no support mapping."""
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
    """Return what a step holds, but what is empty."""
    entry = {name: value for name, value in step._asdict().items() if value is not None and np.size(value)}
    entry |= {name: entry[name] - origin for name in PLACES if name in entry}
    return {name: json_ready(np.asarray(value).tolist()) for name, value in entry.items()}


def _item(item: Item) -> dict[str, Any]:
    entry: dict[str, Any] = {"role": item.name, "opacity": item.opacity}
    if not len(item.faces):
        return entry | {"points": item.vertices.tolist(), "size": 0.014}
    return entry | mesh_data(item.vertices, item.faces) | ({"edges": ""} if item.even else {})
