"""The words of printed steps: colours and font."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import ImageFont

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
