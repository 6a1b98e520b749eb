"""Steps as files: one picture a step, strips of them, an animation, and a page that needs no OpenGL."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d import webpage
from gjk3d.results import Distance
from gjk3d.typing import Array
from gjk3d.viz.drawing import Item, darker
from gjk3d.viz.explanation.figure import (
    ANSWERED,
    LINE,
    MEANING,
    PAPER,
    beneath,
    curve,
    height_beneath,
    key,
    legend,
    tell,
)
from gjk3d.viz.explanation.scene import HEADINGS, OVER, PALETTE, Scene, rod_color
from gjk3d.viz.explanation.stage import Stage
from gjk3d.viz.explanation.steps import PLACES, Difference, Step, bounds
from gjk3d.viz.film import palette, write_frames
from gjk3d.viz.layout import called, verdict
from gjk3d.viz.page import ROOM, mesh_data
from gjk3d.viz.progress import telling
from gjk3d.webpage import to_json
from gjk3d.wording import json_ready

WIDTH = 1000
_PANEL = (490, 390)  #: size of a view in an animation
_ROW = 262  #: height of a step in a strip
_CELL = (330, 250)
_TEXT = 2 * _CELL[0] + 24  #: where words begin beside them
_CURVE = 232
_LONGEST = 20_000  #: milliseconds of an animation that nobody asked to be longer
#: every colour that means something has its place in a palette
_OWN = (PAPER, *PALETTE.values(), *map(rod_color, PALETTE))


def save_animation(path: Path, steps: list[Step], scene: Scene, most: int, seconds: float | None) -> None:
    """Write one frame a step; each stays as long as its sentence takes to read."""
    from PIL import Image

    shown, frames = chosen(len(steps), most), []
    low = height_beneath(steps, WIDTH)
    stage = Stage(scene, (WIDTH, _PANEL[1]))
    try:
        for index in telling("drawing step", shown, len(shown)):
            frames.append(Image.new("RGB", (WIDTH, _PANEL[1] + low), PAPER))
            frames[-1].paste(stage.shoot(index), (0, 0))
            frames[-1].paste(beneath(steps, index, WIDTH), (0, _PANEL[1]))
    finally:
        stage.plotter.close()
    times = [round(1000 * (seconds or reading_time(steps[index].sentence))) for index in shown]
    times[-1] += 2000
    if seconds is None and sum(times) > _LONGEST:  # the page and the words are there to be read at leisure
        times = [_LONGEST * time // sum(times) for time in times]
    write_frames(path, frames, times, palette(frames, _OWN))


def reading_time(sentence: str) -> float:
    """Return how many seconds a sentence and its picture take: four words a second are read at ease."""
    return 1.5 + len(sentence.split()) / 4.0


def save_strip(path: Path, steps: list[Step], scene: Scene, most: int) -> None:
    """Write the steps one below the other, each with both views, and the curve below them."""
    from PIL import Image, ImageDraw

    shown = chosen(len(steps), most)
    top = _ROW * len(shown)
    image = Image.new("RGB", (WIDTH, top + _CURVE), PAPER)
    draw = ImageDraw.Draw(image)
    stage = Stage(scene, (2 * _CELL[0], _CELL[1]))
    try:
        for row, index in enumerate(telling("drawing step", shown, len(shown))):
            step, at = steps[index], _ROW * row
            image.paste(stage.shoot(index), (6, at + 8))
            draw.line([(16, at), (WIDTH - 16, at)], LINE if row else PAPER)
            numbered = step._replace(title=f"{index + 1}. {step.title}")
            tell(draw, numbered, (_TEXT, at + 12), WIDTH - _TEXT - 16, 15, bounds(step))
    finally:
        stage.plotter.close()
    draw.line([(16, top), (WIDTH - 16, top)], LINE)
    image.paste(curve(steps, len(steps) - 1, (690, _CURVE - 12)), (6, top + 8))
    key(image, legend(*steps), (712, top + 12))
    if path.suffix.lower() == ".png":  # flat colours and words: as few colours as this take a fifth of the space
        image = image.quantize(palette=palette([image], _OWN), dither=Image.Dither.NONE)
    image.save(path)


def chosen(count: int, most: int) -> list[int]:
    """Return which steps a strip shows: all, or the first, the last and some evenly between."""
    if count <= max(most, 2):
        return list(range(count))
    return sorted({round(x) for x in np.linspace(0, count - 1, max(most, 2))})


#: on dark paper, where the others are not seen well
_DARK = {
    "region": "#B58BE0",
    "ink": "#E8EAED",
    "direction": "#4C9FE0",
    "difference": "#B5C4CE",
    "dropped": "#A5ABB3",
    "new": "#FF7A33",
}


def write_page(
    path: str | os.PathLike[str],
    result: Distance,
    steps: list[Step],
    scene: Scene,
    difference: Difference,
    names: tuple[str, str] | None,
) -> Path:
    """Write the page; nothing in it reaches for the network, and its own policy forbids it."""
    both = names or (called(result.shape_a), called(result.shape_b))
    headline = verdict(result)
    headline = headline[:1].upper() + headline[1:]
    text = {
        "title": f"{both[0]} and {both[1]}, explained: {verdict(result)}",
        "name_a": both[0],
        "name_b": both[1],
        "headline": headline,
        "status": result.status.name.lower(),
        "left": HEADINGS[0],
        "right": HEADINGS[1],
        "last": str(len(steps) - 1),
        "first_title": steps[0].title,
        "first_sentence": steps[0].sentence,
    }
    data = _data(steps, scene, difference) | {"names": both, "verdict": headline}
    markup = {
        "all": "\n".join(f"<li><b>{html.escape(s.title)}.</b> {html.escape(s.sentence)}</li>" for s in steps),
        "scene": to_json(data),
    }
    files = ("explain.html", "explain.css", "gjk.js", "tell.js", "pieces.js", "panel.js", "explain.js")
    return webpage.write_page(path, ROOM, files, text=text, markup=markup)


def _data(steps: list[Step], scene: Scene, difference: Difference) -> dict[str, Any]:
    """Return all that is drawn: bodies in units of their view, steps as they are, about A's centre."""
    views = (scene.left._replace(center=scene.left.center - difference.center), scene.right)
    given = difference.given()
    spanned = given is not None and difference.sampled  # by the page, from the support mappings of both
    return {
        "colors": {
            role: {
                "light": color,
                "dark": _DARK.get(role, color),
                "line": darker(color),
                "rod": rod_color(role),
                "over": role in OVER,
            }
            for role, color in PALETTE.items()
        },
        "view": scene.view.tolist(),
        "up": scene.up.tolist(),
        "views": [{"center": view.center.tolist(), "unit": view.unit} for view in views],
        "still": [
            [_item(one) for one in scene.left.still],
            [] if spanned else [_item(one) for one in scene.right.still],
        ],
        "given": given,
        "sampled": difference.sampled,
        "words": MEANING,
        "answered": ANSWERED,
        "steps": [_step(step, difference.center) for step in steps],
    }


def _step(step: Step, origin: Array) -> dict[str, Any]:
    """Return what a step holds, but what is empty."""
    entry = {name: value for name, value in step._asdict().items() if value is not None and np.size(value)}
    entry |= {name: entry[name] - origin for name in PLACES if name in entry}
    return {name: json_ready(np.asarray(value).tolist()) for name, value in entry.items()} | {"bounds": bounds(step)}


def _item(item: Item) -> dict[str, Any]:
    entry: dict[str, Any] = {"role": item.name, "opacity": item.opacity}
    if not len(item.faces):
        return entry | {"points": item.vertices.tolist(), "size": 0.014}
    return entry | mesh_data(item.vertices, item.faces) | ({"edges": ""} if item.even else {})
