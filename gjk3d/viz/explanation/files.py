"""Steps as files: one picture a step, strips of them, an animation, and a page that needs no OpenGL."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d import webpage
from gjk3d.results import Distance
from gjk3d.typing import Array
from gjk3d.viz.drawing import darker
from gjk3d.viz.explanation.figure import (
    HEADINGS,
    INK,
    LINE,
    MEANING,
    PAPER,
    SOFT,
    curve,
    font,
    key,
    legend,
    legends,
    wrapped,
)
from gjk3d.viz.explanation.scene import OVER, PALETTE, Piece, Scene, rod_color
from gjk3d.viz.explanation.stage import SHARP, Stage
from gjk3d.viz.explanation.steps import Difference, Step, bounds
from gjk3d.viz.layout import called, verdict
from gjk3d.viz.page import ROOM, mesh_data
from gjk3d.viz.rendering import check_rendering
from gjk3d.webpage import to_json
from gjk3d.wording import json_ready

if TYPE_CHECKING:
    from PIL import Image, ImageDraw


WIDTH = 1000
PANEL = (490, 390)  #: size of one of the two pictures
_BELOW = PANEL[1] + 22, 210  #: heights of the pictures with their heading, and of the curve


def panels(stage: Stage, scene: Scene, index: int) -> list[Image.Image]:
    """Draw both views of a step, with the names of their points."""
    from PIL import Image, ImageDraw

    out = []
    for side, (view, image) in enumerate(zip((scene.left, scene.right), stage.shoot(index), strict=True)):
        small = image.resize((image.width // SHARP, image.height // SHARP), Image.Resampling.LANCZOS)
        draw = ImageDraw.Draw(small)
        pieces = [*view.still, *scene.steps[index][side]]
        labels = [piece for piece in pieces if piece.kind == "label"]
        if labels:
            spots = stage.pixels(view, np.array([piece.points[0] for piece in labels])) / SHARP
            _write(draw, labels, spots, small.size)
        out.append(small)
    return out


def _write(draw: ImageDraw.ImageDraw, labels: list[Any], spots: Array, size: tuple[int, int]) -> None:
    """Write each name beside its point, away from the middle of all and off the others."""
    middle = spots.mean(axis=0)
    taken: list[tuple[float, float, float, float]] = []
    for piece, spot in zip(labels, spots, strict=True):
        text = font(16)
        width, height = text.getlength(piece.text), 17.0
        out = spot - middle
        angle = float(np.arctan2(out[1], out[0]))
        best, least = None, np.inf
        for turn in (0.0, 0.6, -0.6, 1.2, -1.2, 2.0, -2.0, 3.1):
            for far in (1.0, 1.7):
                c, s = np.cos(angle + turn), np.sin(angle + turn)
                x = spot[0] + far * (9 + width / 2 * abs(c)) * np.sign(c) * min(1.0, abs(c) + 0.25) - width / 2
                y = spot[1] + far * (18 * s) - height / 2
                x, y = min(max(x, 3.0), size[0] - width - 3), min(max(y, 3.0), size[1] - height - 3)
                box = (x - 2, y - 1, x + width + 2, y + height + 1)
                cost = 0.15 * abs(turn) + 0.3 * (far - 1.0) + 5.0 * sum(_overlap(box, other) for other in taken)
                cost += 2.0 * sum(box[0] - 5 < p[0] < box[2] + 5 and box[1] - 5 < p[1] < box[3] + 5 for p in spots)
                if cost < least:
                    best, least = (x, y, box), cost
        assert best is not None
        x, y, box = best
        taken.append(box)
        color = darker(PALETTE[piece.role], 0.62) if piece.role not in ("ink", "new") else PALETTE[piece.role]
        draw.text((x, y), piece.text, color, text, stroke_width=2, stroke_fill="white")


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> float:
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return wide * high / 100.0 if wide > 0 and high > 0 else 0.0


# --- a step as one picture --------------------------------------------------------------------------------------------


def page(stage: Stage, scene: Scene, steps: list[Step], index: int) -> Image.Image:
    """Draw a step as one picture: words, both views, the curve and the colours."""
    from PIL import Image, ImageDraw

    step = steps[index]
    # as many lines as the longest sentence takes, so that nothing jumps from step to step
    top = 56 + 24 * max(len(wrapped(s.sentence, 18, WIDTH - 32)) for s in steps)
    below = top + _BELOW[0]
    image = Image.new("RGB", (WIDTH, below + _BELOW[1]), PAPER)
    draw = ImageDraw.Draw(image)
    draw.text((16, 10), step.title, INK, font(23), stroke_width=0.4)
    draw.text((WIDTH - 16, 15), f"step {index + 1} of {len(steps)}", SOFT, font(16), anchor="ra")
    lines = wrapped(step.sentence, 18, WIDTH - 32)
    for row, line in enumerate(lines):
        draw.text((16, 44 + 24 * row), line, INK, font(18))
    for side, (view, words) in enumerate(zip(panels(stage, scene, index), HEADINGS, strict=True)):
        x = side * (WIDTH - PANEL[0])
        image.paste(view, (x, top + 22))
        draw.text((x + 16, top + 2), words, SOFT, font(15))
    draw.line([(16, top - 4), (WIDTH - 16, top - 4)], LINE)
    draw.line([(WIDTH // 2, top + 8), (WIDTH // 2, below - 8)], LINE)
    draw.line([(16, below), (WIDTH - 16, below)], LINE)
    image.paste(curve(steps, index, (690, _BELOW[1] - 14)), (6, below + 8))
    draw.text((712, below + 10), bounds(step), INK, font(16))
    key(image, legend(step), (712, below + 36))
    return image


# --- strips and animations --------------------------------------------------------------------------------------------

_ROW = 262  #: height of a step in a strip
_CELL = (330, 232)
_CURVE = 232
_LONGEST = 20_000  #: milliseconds of an animation that nobody asked to be longer


def save_animation(path: Path, steps: list[Step], scene: Scene, most: int, seconds: float | None) -> None:
    """Write one frame a step; each stays as long as its sentence takes to read."""
    from PIL import Image

    shown = chosen(len(steps), most)
    stage = _stage(scene, PANEL)
    # frames are shrunk, which is smooth enough of what moves: samples within pixels would double the time they take
    stage.plotter.render_window.SetMultiSamples(0)
    try:
        frames = [page(stage, scene, steps, index) for index in shown]
    finally:
        stage.close()
    times = [round(1000 * (seconds or reading_time(steps[index].sentence))) for index in shown]
    times[-1] += 2000
    if seconds is None and sum(times) > _LONGEST:  # the page and the words are there to be read at leisure
        times = [_LONGEST * time // sum(times) for time in times]
    if path.suffix.lower() == ".webp":
        frames[0].save(path, save_all=True, append_images=frames[1:], duration=times, loop=0, quality=85, method=4)
        return
    palette = _palette(frames)
    small = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    small[0].save(path, save_all=True, append_images=small[1:], duration=times, loop=0, disposal=1, optimize=False)


def _palette(frames: list[Image.Image]) -> Image.Image:
    """Return one palette for all frames, in which every colour that means something has its place."""
    from PIL import Image

    sample = np.concatenate([np.asarray(frame)[::3, ::3].reshape(-1, 3) for frame in frames])
    colors = sorted({PAPER, INK, *PALETTE.values(), *map(rod_color, PALETTE)})
    kept = [int(color[k : k + 2], 16) for color in colors for k in (1, 3, 5)]
    found = Image.fromarray(sample[None]).quantize(256 - len(colors), Image.Quantize.MEDIANCUT).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette(kept + found[: 3 * (256 - len(colors))])
    return palette


def reading_time(sentence: str) -> float:
    """Return how many seconds a sentence and its picture take: four words a second are read at ease."""
    return 1.5 + len(sentence.split()) / 4.0


def save_strip(path: Path, steps: list[Step], scene: Scene, most: int) -> None:
    """Write the steps one below the other, each with both views, and the curve below them."""
    from PIL import Image, ImageDraw

    shown = chosen(len(steps), most)
    image = Image.new("RGB", (WIDTH, _ROW * len(shown) + 34 + _CURVE), PAPER)
    draw = ImageDraw.Draw(image)
    for side, words in enumerate(HEADINGS):
        draw.text((16 + side * (_CELL[0] + 6), 10), words, SOFT, font(14))
    stage = _stage(scene, _CELL)
    try:
        for row, index in enumerate(shown):
            _row(image, stage, scene, steps, index, 34 + _ROW * row)
    finally:
        stage.close()
    top = 34 + _ROW * len(shown)
    draw.line([(16, top), (WIDTH - 16, top)], LINE)
    image.paste(curve(steps, len(steps) - 1, (690, _CURVE - 12)), (6, top + 8))
    key(image, legends(steps), (712, top + 12))
    if path.suffix.lower() == ".png":  # flat colours and words: as few colours as this take a fifth of the space
        image = image.quantize(palette=_palette([image]), dither=Image.Dither.NONE)
    image.save(path)


def chosen(count: int, most: int) -> list[int]:
    """Return which steps a strip shows: all, or the first, the last and some evenly between."""
    if count <= max(most, 2):
        return list(range(count))
    return sorted({round(x) for x in np.linspace(0, count - 1, max(most, 2))})


def _row(image, stage: Stage, scene: Scene, steps: list[Step], index: int, top: int) -> None:  # type: ignore[no-untyped-def]
    from PIL import ImageDraw

    draw = ImageDraw.Draw(image)
    step = steps[index]
    draw.line([(16, top), (WIDTH - 16, top)], LINE)
    for side, view in enumerate(panels(stage, scene, index)):
        image.paste(view, (6 + side * (_CELL[0] + 6), top + 16))
    x = 2 * _CELL[0] + 24
    draw.text((x, top + 12), f"{step.number + 1}. {step.title}", INK, font(17), stroke_width=0.4)
    y = top + 40
    for line in wrapped(step.sentence, 15, WIDTH - x - 16):
        draw.text((x, y), line, INK, font(15))
        y += 20
    draw.text((x, y + 8), bounds(step), SOFT, font(15))


def _stage(scene: Scene, panel: tuple[int, int]) -> Stage:
    check_rendering()
    return Stage(scene, (2 * SHARP * panel[0], SHARP * panel[1]))


#: on dark paper, where the others are not seen well
_DARK = {
    "region": "#B58BE0",
    "ink": "#E8EAED",
    "direction": "#4C9FE0",
    "difference": "#B5C4CE",
    "dropped": "#A5ABB3",
    "new": "#FF7A33",
}
#: what a page gets of a step as it is; points of A - B and directions; places in the world, by their names there
_TOLD = ("phase", "title", "sentence", "lower", "upper", "names", "joins", "dropped")
_POINTS = ("simplex", "nearest", "direction", "point", "vertices")
_PLACES = {"support_a": "supportA", "support_b": "supportB", "witness_a": "witnessA", "witness_b": "witnessB"}


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
    files = ("explain.html", "explain.css", "gjk.js", "tell.js", "explain.js")
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
        "still": [[_piece(p) for p in scene.left.still], [] if spanned else [_piece(p) for p in scene.right.still]],
        "given": given,
        "sampled": difference.sampled,
        "words": MEANING,
        "steps": [_step(step, steps[k + 1 : k + 2], difference.center) for k, step in enumerate(steps)],
    }


def _step(step: Step, following: list[Step], origin: Array) -> dict[str, Any]:
    """Return what a step holds, but what is empty; ``after`` are the corners that GJK keeps."""
    entry: dict[str, Any] = {name: json_ready(getattr(step, name)) for name in _TOLD}
    entry |= {"bounds": bounds(step), "pointName": step.point_name}
    for name in _POINTS:
        value = getattr(step, name)
        if value is not None and len(value):
            entry[name] = value.tolist()
    for name, told in _PLACES.items():
        place = getattr(step, name)
        if place is not None:
            entry[told] = (place - origin).tolist()
    if len(step.faces):
        entry |= {name: getattr(step, name).tolist() for name in ("faces", "closest", "removed", "horizon")}
    if step.phase == "GJK" and following and following[0].phase == "GJK":
        entry["after"] = list(following[0].names)
    return entry


def _piece(piece: Piece) -> dict[str, Any]:
    entry: dict[str, Any] = {"role": piece.role, "opacity": piece.opacity}
    if not len(piece.faces):
        return entry | {"points": piece.points.tolist(), "size": 0.014}
    shaded = mesh_data(piece.points, piece.faces)
    return entry | shaded | ({"edges": ""} if piece.kind == "ghost" else {})
