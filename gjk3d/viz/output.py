"""Frames as a file that moves, of one palette so that nothing flickers; a word on stderr about what takes long."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from PIL import Image

T = TypeVar("T")
_SILENT, _BETWEEN = 2.0, (0.2, 5.0)  #: seconds; between two words on a terminal, and in a file


def telling(what: str, rows: Iterable[T], total: int) -> Iterator[T]:
    """Pass rows on, and say on stderr how many are done once that has taken a while."""
    terminal = sys.stderr.isatty()
    begin, end = ("\r", "") if terminal else ("", "\n")
    said, due = False, monotonic() + _SILENT
    for k, row in enumerate(rows):
        if monotonic() > due:
            said, due = True, monotonic() + _BETWEEN[0 if terminal else 1]
            sys.stderr.write(f"{begin}gjk3d: {what} {k + 1} of {total}{end}")
            sys.stderr.flush()
        yield row
    if said and terminal:
        sys.stderr.write("\r\x1b[K")


def write_frames(file: Path, frames: list[Image.Image], times: list[int], colors: Image.Image) -> Path:
    """Write a .webp, or a .gif of these colours, that plays again and again; times are in milliseconds."""
    from PIL import Image

    options: dict[str, Any] = {"quality": 85, "method": 4}
    if file.suffix.lower() != ".webp":
        options = {"disposal": 1, "optimize": False}
        frames = [each.quantize(palette=colors, dither=Image.Dither.NONE) for each in frames]
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=times, loop=0, **options)
    return file


def palette(frames: Sequence[Image.Image], own: Iterable[str], most: int = 256) -> Image.Image:
    """Return one palette for all frames, in which some colours ``#rrggbb`` have places of their own."""
    from PIL import Image

    sample = np.concatenate([np.asarray(frame)[::3, ::3].reshape(-1, 3) for frame in frames])
    colors = sorted(set(own))
    kept = [int(color[k : k + 2], 16) for color in colors for k in (1, 3, 5)]
    found = Image.fromarray(sample[None]).quantize(most - len(colors), Image.Quantize.MEDIANCUT).getpalette() or []
    made = Image.new("P", (1, 1))
    made.putpalette(kept + found[: 3 * (most - len(colors))])
    return made
