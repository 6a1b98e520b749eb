"""Steps as files: a strip of pictures, and an animation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gjk3d.viz.explain_curve import curve
from gjk3d.viz.explain_fonts import INK, LINE, PAPER, SOFT, font, wrapped
from gjk3d.viz.explain_paper import PANEL, WIDTH, key, page, panels
from gjk3d.viz.explain_scene import PALETTE, Scene
from gjk3d.viz.explain_stage import SHARP, Stage, rod_color
from gjk3d.viz.explain_words import HEADINGS, bounds, legends
from gjk3d.viz.rendering import check_rendering
from gjk3d.viz.steps import Step

if TYPE_CHECKING:
    from PIL import Image

_ROW = 262  #: height of a step in a strip
_CELL = (330, 232)
_CURVE = 232


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
