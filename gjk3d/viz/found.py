"""What a scene found, as pictures: the closest pair, or each pair with its answer."""

from __future__ import annotations

from gjk3d.scene.results import Clearance, ScenePairs
from gjk3d.viz.drawing import Drawing, Style
from gjk3d.viz.kinds import drawing_of

#: Pairs that are drawn.
_MOST = 12


def draw(x: Clearance | ScenePairs, style: Style) -> Drawing:  # type: ignore[type-arg]
    """Draw an answer of `Scene.clearance`, `closest` or `contacts`."""
    if isinstance(x, Clearance):
        if x.result is None or x.pair is None:
            return Drawing(words=["No pair to be close"])
        return drawing_of(x.result, _named(style, x.pair))
    if len(x) == 1:
        a, b, row = x[0]
        return drawing_of(row, _named(style, (a, b)))
    drawing = Drawing(words=[f"{len(x)} pairs" + (f", the first {_MOST} of them" if len(x) > _MOST else "")])
    for k in range(min(len(x), _MOST)):
        a, b, row = x[k]
        one = drawing_of(row, _named(style, (a, b)))
        drawing.items += one.items
        drawing.keys = one.keys[-1:]
        if k < 4:
            drawing.words.append(f"{a} – {b or 'other'}: {one.words[0][:1].lower()}{one.words[0][1:]}")
    return drawing


def _named(style: Style, pair: tuple[str, str | None]) -> Style:
    return Style(style.pose, style.colors, style.opacity, style.names or (pair[0], pair[1] or "other"))
