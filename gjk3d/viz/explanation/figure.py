"""What stands beside the pictures of steps: words, what colours mean, and the curve of both bounds closing in."""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from gjk3d.viz.drawing import darker
from gjk3d.viz.explanation.scene import ANSWERED, PALETTE, ROLES
from gjk3d.viz.explanation.steps import Step, bounds
from gjk3d.wording import number

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont


INK, SOFT, LINE, PAPER = "#202124", "#5F6368", "#D8DCE1", "#FFFFFF"


@functools.cache
def font(size: float) -> ImageFont.FreeTypeFont:
    """Return the font of all words, which Pillow brings."""
    from PIL import ImageFont

    loaded = ImageFont.load_default(size)
    if not isinstance(loaded, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType, and words cannot be drawn: pip install -U pillow")
    return loaded


@functools.lru_cache(maxsize=4096)
def wrapped(text: str, size: float, width: float) -> tuple[str, ...]:
    """Break a sentence into lines."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if not lines[-1] or font(size).getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return tuple(lines)


def legend(*steps: Step) -> list[tuple[str, str]]:
    """Return the colours of steps and what they mean in any of them."""
    words = {role: ROLES[role].meaning for role in ("a", "b", "difference")}
    for step in steps:
        if step.phase == "answer":
            words = ANSWERED["deep" if step.upper < 0.0 else "apart"] | words
            continue
        point = ROLES["new"].meaning if len(step.horizon) else "new point" if step.joins else "point found"
        words["new"] = max(words.get("new", ""), point, key=len)
        roles = ["polytope", "closest"] if len(step.faces) else ["simplex"] if len(step.simplex) else []
        roles += [*(["dropped"] if step.dropped else []), *(["removed"] if len(step.removed) > 1 else []), "direction"]
        words |= {role: ROLES[role].meaning for role in (*roles, *(["ink"] if step.nearest is not None else []))}
    return [(role, words[role]) for role in ROLES if role in words]


_SHARP = 2  #: drawn this much larger and shrunk
_LEAST = 1e-6  #: range that is shown, of the size of what it is about
_BAND, _LATER = "#D6E6F2", "#BDC1C6"


def curve(steps: list[Step], index: int, size: tuple[int, int]) -> Image.Image:
    """Draw the bounds of all steps, those after this one faintly."""
    from PIL import Image, ImageDraw

    width, height = size[0] * _SHARP, size[1] * _SHARP
    image = Image.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(image)
    low, high = limits(steps)
    text, values = font(13 * _SHARP), ticks(low, high)
    written = labels(values)
    left = max([62 * _SHARP, *(round(text.getlength(label)) + 14 * _SHARP for label in written)])
    right, top, bottom = width - 20 * _SHARP, 26 * _SHARP, height - 24 * _SHARP
    xs = left + (right - left) * (np.arange(len(steps)) + 0.5) / len(steps)

    def y(value: float) -> float:
        return bottom - (bottom - top) * (value - low) / (high - low)

    known = [k for k, s in enumerate(steps) if np.isfinite(s.lower) and np.isfinite(s.upper)]
    lower = [(float(xs[k]), y(steps[k].lower)) for k in known]
    upper = [(float(xs[k]), y(steps[k].upper)) for k in known]
    for value, label in zip(values, written, strict=True):
        at = y(value)
        draw.line([(left, at), (right, at)], SOFT if value == 0.0 else LINE, 2 if value == 0.0 else 1)
        draw.text((left - 8 * _SHARP, at), label, SOFT, text, anchor="rm")
    seen = sum(k <= index for k in known)
    if seen > 1:
        draw.polygon([*lower[:seen], *upper[:seen][::-1]], _BAND)
    every = max(1, len(known) // 60)
    for points, turn in ((lower, 0), (upper, 180)):  # triangles point to the distance
        draw.line(points[max(0, seen - 1) :], _LATER, _SHARP)
        draw.line(points[:seen], INK, 2 * _SHARP)
        for k, point in zip(known, points, strict=True):
            if k % every == 0 or k == index:
                radius = _SHARP * (6.0 if k == index else 4.2)
                draw.regular_polygon((point, radius), 3, turn, INK if k <= index else _LATER)
    draw.line([(xs[index], top - 4 * _SHARP), (xs[index], bottom)], "#0072B2", 2 * _SHARP)
    every = max(1, -(-len(steps) // 24))
    for k, at in enumerate(xs):
        if k % every == 0 or k == index:
            color = "#0072B2" if k == index else SOFT
            if k == index or abs(k - index) >= every:
                draw.text((at, bottom + 5 * _SHARP), str(k + 1), color, text, anchor="ma")
    draw.text((left, 0), "Bounds of the distance, step by step", SOFT, font(14 * _SHARP))
    return image.resize(size, Image.Resampling.LANCZOS)


def limits(steps: list[Step]) -> tuple[float, float]:
    """Return what the curve shows, from the lowest bound to the highest, and a little more.

    Bounds that are one number but for rounding are drawn as one line, not as that rounding.
    """
    values = np.array([v for s in steps for v in (s.lower, s.upper) if np.isfinite(v)] or [0.0])
    low, high = float(values.min()), float(values.max())
    largest = max(abs(low), abs(high))
    size = max([largest, *(float(np.linalg.norm(s.point)) for s in steps if s.point is not None)])
    room = 0.08 * (high - low)
    if high - low <= _LEAST * size:
        room = max(0.5 * largest, 0.05 * size, 1e-300)
    return low - room, high + room


def ticks(low: float, high: float) -> list[float]:
    """Return two to five round numbers between."""
    rough = (high - low) / 3.0
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * min((1.0, 2.0, 5.0, 10.0), key=lambda m: abs(m * power - rough))
    return [float(k * step) for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


def labels(values: list[float]) -> list[str]:
    """Write neighbouring numbers with as many digits as tell them apart."""
    apart = min((b - a for a, b in itertools.pairwise(values)), default=1.0)
    largest = max((abs(value) for value in values), default=0.0)
    digits = max(4, math.ceil(math.log10(largest / apart)) + 1) if largest > 0.0 else 4
    return ["0" if abs(value) < 1e-9 * apart else number(value, digits) for value in values]


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


def tell(draw: ImageDraw.ImageDraw, step: Step, at: tuple[int, int], width: int, size: int, more: str = "") -> None:
    """Write the title of a step, its sentence, and more, in lines."""
    x, y = at
    title = round(1.15 * size)
    for text, high, color in ((step.title, title, INK), (step.sentence, size, INK), (more, size, SOFT)):
        for line in wrapped(text, high, width):
            draw.text((x, y), line, color, font(high), stroke_width=0.4 if text is step.title else 0.0)
            y += round(1.33 * high)
        y += size // 2


_CURVE = 210  #: height of the curve and the colours beside it


def height_beneath(steps: list[Step], width: int) -> int:
    """Return how high `beneath` is: as the longest sentence needs, so that nothing jumps from step to step."""
    return 56 + 24 * max(len(wrapped(step.sentence, 18, width - 32)) for step in steps) + _CURVE


def beneath(steps: list[Step], index: int, width: int) -> Image.Image:
    """Draw what stands under both views of a step: its words, the curve and what the colours mean."""
    from PIL import Image, ImageDraw

    step, height = steps[index], height_beneath(steps, width)
    image = Image.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(image)
    draw.line([(16, 0), (width - 16, 0)], LINE)
    draw.text((width - 16, 15), f"step {index + 1} of {len(steps)}", SOFT, font(16), anchor="ra")
    tell(draw, step, (16, 10), width - 32, 18)
    top, left = height - _CURVE, width - 288
    image.paste(curve(steps, index, (left - 22, _CURVE - 14)), (6, top + 8))
    told = bounds(step)
    draw.text((min(left, width - 16 - font(16).getlength(told)), top + 10), told, INK, font(16))
    key(image, legend(step), (left, top + 36))
    return image
