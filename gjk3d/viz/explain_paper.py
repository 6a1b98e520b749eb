"""The printed page of a step: two pictures with names at their points, a sentence, and the curve of the bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d.typing import Array
from gjk3d.viz.drawing import darker
from gjk3d.viz.explain_curve import curve
from gjk3d.viz.explain_fonts import INK, LINE, PAPER, SOFT, font, wrapped
from gjk3d.viz.explain_scene import PALETTE, Scene
from gjk3d.viz.explain_stage import SHARP, Stage
from gjk3d.viz.explain_words import HEADINGS, bounds, legend
from gjk3d.viz.steps import Step

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


# --- pages ------------------------------------------------------------------------------------------------------------


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


def key(image: Image.Image, entries: list[tuple[str, str]], at: tuple[int, int]) -> None:
    """Write the meaning of colours."""
    from PIL import Image, ImageDraw

    draw = ImageDraw.Draw(image)
    for row, (role, words) in enumerate(entries):
        x, y = at[0], at[1] + 19 * row
        dot = Image.new("RGB", (56, 56), PAPER)
        ImageDraw.Draw(dot).ellipse([3, 3, 52, 52], PALETTE[role], darker(PALETTE[role], 0.7), 4)
        image.paste(dot.resize((14, 14), Image.Resampling.LANCZOS), (x, y + 1))
        draw.text((x + 20, y), words, INK, font(14))
