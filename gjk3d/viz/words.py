"""What is written at the edges of a picture: lines above, the meaning of colours below, as its panel has room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d.viz.drawing import INK, Drawing

if TYPE_CHECKING:
    import pyvista

#: A panel in which letters have their full size, in pixels; in a smaller one they shrink, but not to less than this.
_FULL, _LEAST = (1000, 750), 0.6
#: Heights of letters, in pixels: of the first line, of the other lines, of the key to colours.
_HEAD, LINE, _KEY = 26, 24, 22
#: Rows of words, above and below.
_MOST_ROWS = 12
#: From the left, and from below.
_EDGE, _FOOT = 0.014, 0.016
_OURS = ("gjk3d line ", "gjk3d key ", "gjk3d chip ")


def panel_size(plotter: pyvista.Plotter) -> tuple[float, float]:
    """Return width and height of the panel that is drawn into, in pixels."""
    left, low, right, high = plotter.renderer.GetViewport()
    wide, tall = plotter.window_size
    return max((right - left) * wide, 1.0), max((high - low) * tall, 1.0)


def scale_of(plotter: pyvista.Plotter) -> float:
    """Return how large letters are in the panel that is drawn into; 1 in a picture of the usual size."""
    wide, tall = panel_size(plotter)
    return float(np.clip(min(wide / _FULL[0], tall / _FULL[1]), _LEAST, 2.0))


def add_words(plotter: pyvista.Plotter, drawing: Drawing) -> None:
    """Write the words at the top and the meaning of colours at the bottom, in place of those before."""
    for name in [name for name in plotter.renderer.actors if name.startswith(_OURS)]:
        # of this panel: the plotter's own method would take them out of every panel
        plotter.renderer.remove_actor(name, reset_camera=False, render=False)
    wide, tall = panel_size(plotter)
    top, low = 0.99, _FOOT
    for row, line in enumerate(drawing.words[:_MOST_ROWS]):
        top = write_line(plotter, row, line, top)
    side = _KEY * scale_of(plotter)  # of a chip with the room round it
    for row, (text, color) in enumerate(reversed(drawing.keys[:_MOST_ROWS])):
        chip = _chip((_EDGE, low + 0.2 * side / tall), (0.75 * side / wide, 0.75 * side / tall), color)
        plotter.add_actor(chip, name=f"gjk3d chip {row}", reset_camera=False, render=False, pickable=False)
        low += 0.005 + write(plotter, text, (_EDGE + 1.1 * side / wide, low), _KEY, f"gjk3d key {row}")


def write_line(plotter: pyvista.Plotter, row: int, text: str, top: float, color: str = INK) -> float:
    """Write a line below a height, in parts of the panel; return the height below it."""
    size = LINE if row else _HEAD
    name = f"gjk3d line {row}"
    high = write(plotter, text, (_EDGE, top), size, name, color, above=False)
    return top - high - 0.004


def write(
    plotter: pyvista.Plotter,
    text: str,
    place: tuple[float, float],
    size: int,
    name: str,
    color: str = INK,
    *,
    above: bool = True,
) -> float:
    """Write above or below a place, in parts of the panel, in as many rows as it needs; return how high they are."""
    wide, tall = panel_size(plotter)
    written = plotter.add_text("", position=place, viewport=True, color=color, name=name, render=False)
    written.prop.font_size = round(size * scale_of(plotter))
    written.prop.background_color, written.prop.background_opacity = "white", 0.55  # to be read over a body too
    written.input, high = _broken(text, written.prop, (1.0 - place[0] - 0.01) * wide)
    if not above:
        written.position = (place[0], place[1] - high / tall)
    return high / tall


def _broken(text: str, look: Any, room: float) -> tuple[str, float]:
    """Return a text with a line break wherever the next word has no room, and how high it is, in pixels."""
    from vtkmodules.vtkRenderingCore import vtkTextRenderer

    def box(words: str) -> tuple[int, int]:
        edges = [0, 0, 0, 0]
        vtkTextRenderer.GetInstance().GetBoundingBox(look, words, edges, 72)
        return edges[1] - edges[0], edges[3] - edges[2]

    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and box(longer)[0] > room:
            lines.append(word)
        else:
            lines[-1] = longer
    # each row as high as the tallest letters, so that rows keep their places whatever stands in them
    return "\n".join(lines), 1.25 * look.font_size * len(lines)


def _chip(place: tuple[float, float], size: tuple[float, float], color: str) -> Any:
    """Return a small rectangle of a colour, in parts of the panel."""
    import pyvista
    from vtkmodules.vtkRenderingCore import vtkActor2D, vtkCoordinate, vtkPolyDataMapper2D

    (x, y), (wide, high) = place, size
    corners = np.array([(x, y, 0), (x + wide, y, 0), (x + wide, y + high, 0), (x, y + high, 0)])
    window = vtkCoordinate()
    window.SetCoordinateSystemToNormalizedViewport()
    mapper, actor = vtkPolyDataMapper2D(), vtkActor2D()
    mapper.SetInputData(pyvista.PolyData(corners, faces=[4, 0, 1, 2, 3]))
    mapper.SetTransformCoordinate(window)
    actor.SetMapper(mapper)
    actor.GetProperty().SetColor(pyvista.Color(color).float_rgb)
    return actor
