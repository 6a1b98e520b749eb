"""Text in pictures: captions at the top of a panel, the legend at the bottom, and labels at points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d.typing import Array
from gjk3d.viz.colors import INK
from gjk3d.viz.drawing import Drawing, Label

if TYPE_CHECKING:
    import pyvista

#: Size of a panel with full letters, in pixels, and the least scale of letters in smaller panels.
_FULL, _LEAST = (1000, 750), 0.8
#: Heights of letters of the first line, the other lines and the legend, in pixels.
_HEAD, LINE, _KEY = 26, 24, 22
#: Greatest number of caption lines and of legend entries.
_MOST_ROWS = 12
#: Distance of text from the left edge, in pixels, and from the lower edge, in parts of the panel.
_EDGE, _FOOT = 14, 0.016
#: Spacing of broken lines, in units of the spacing of the font, which is too small.
_SPACING = 1.3
HALO = "gjk3d halo "  #: the names of the actors of a halo begin with it
_OURS = ("gjk3d line ", "gjk3d key ", "gjk3d chip ", "gjk3d label ", HALO)
_LABEL = 20  #: height of labels, in pixels
_RIM = 2.0  #: width of a halo, in pixels
#: Candidate positions of a label: angles from the outward direction, and distances from its point.
_TURNS, _FAR = (0.0, 0.6, -0.6, 1.2, -1.2, 2.0, -2.0, 3.1), (1.0, 1.35, 1.7)

Box = tuple[Array, Array]


def panel_size(plotter: pyvista.Plotter) -> tuple[float, float]:
    """Return the width and height of the current panel, in pixels."""
    left, low, right, high = plotter.renderer.GetViewport()
    wide, tall = plotter.window_size
    return max((right - left) * wide, 1.0), max((high - low) * tall, 1.0)


def scale_of(plotter: pyvista.Plotter) -> float:
    """Return the scale of letters in the current panel, which is 1 in a picture of the usual size."""
    wide, tall = panel_size(plotter)
    return float(np.clip(min(wide / _FULL[0], tall / _FULL[1]), _LEAST, 2.0))


def add_edges(plotter: pyvista.Plotter, drawing: Drawing, head: str | None = None) -> list[Box]:
    """Replace all text by captions at the top and the legend at the bottom, and return the boxes of both.

    The boxes are in fractions of the panel, from its lower left corner.
    """
    for name in [name for name in plotter.renderer.actors if name.startswith(_OURS)]:
        # only of this panel, while the method of the plotter removes actors of every panel
        plotter.renderer.remove_actor(name, reset_camera=False, render=False)
    wide, tall = panel_size(plotter)
    edge, side = _EDGE * scale_of(plotter) / wide, _KEY * scale_of(plotter)  # side of a chip with its margin
    top, low, across, aside = 0.99, _FOOT, 0.0, 0.0
    for row, line in enumerate(drawing.words[:_MOST_ROWS]):
        if not line:
            continue  # the caption has no head
        size, color = (LINE, drawing.ink) if row else (_HEAD, head or drawing.ink)
        long, high = write(plotter, line, (edge, top), size, f"gjk3d line {row}", color, above=False)
        top, across = top - 0.004 - high, max(across, edge + long)
    for row, (text, color) in enumerate(reversed(drawing.keys[:_MOST_ROWS])):
        chip = _chip((edge, low + 0.2 * side / tall), (0.75 * side / wide, 0.75 * side / tall), color)
        plotter.add_actor(chip, name=f"gjk3d chip {row}", reset_camera=False, render=False, pickable=False)
        begin = edge + 1.1 * side / wide
        long, high = write(plotter, text, (begin, low), _KEY, f"gjk3d key {row}", drawing.ink)
        low, aside = low + 0.005 + high, max(aside, begin + long)
    return [(np.array([0.0, top]), np.array([across, 1.0])), (np.zeros(2), np.array([aside, low]))]


def add_halos(plotter: pyvista.Plotter, free: list[bool]) -> None:
    """Add a halo to the captions and to the legend if a body is behind them."""
    over = tuple(prefix for is_free, prefix in zip(free, ("gjk3d line ", "gjk3d key "), strict=True) if not is_free)
    for name, actor in [(name, actor) for name, actor in plotter.renderer.actors.items() if name.startswith(over)]:
        _add_halo(plotter, actor, name)


def _add_halo(plotter: pyvista.Plotter, actor: Any, name: str) -> None:
    """Add copies of a text around it, in white for dark letters and in black for light ones."""
    from vtkmodules.vtkRenderingCore import vtkTextActor

    font, color, place = actor.GetTextProperty(), [0.0, 0.0, 0.0], actor.GetPositionCoordinate()
    font.GetShadowColor(color)
    pixel = np.ones(2) if place.GetCoordinateSystemAsString() == "Viewport" else 1.0 / np.array(panel_size(plotter))
    for k, angle in enumerate(np.arange(8) * np.pi / 4.0):
        copy = vtkTextActor()
        copy.GetTextProperty().ShallowCopy(font)
        copy.GetTextProperty().SetColor(color)
        copy.SetInput(actor.GetInput())
        x, y = np.array(place.GetValue()[:2]) + _RIM * pixel * (np.cos(angle), np.sin(angle))
        at = copy.GetPositionCoordinate()
        at.SetCoordinateSystem(place.GetCoordinateSystem())
        at.SetReferenceCoordinate(place.GetReferenceCoordinate())
        at.SetValue(x, y, 0.0)
        plotter.add_actor(copy, name=f"{HALO}{name} {k}", reset_camera=False, render=False, pickable=False)
    plotter.renderer.remove_actor(name, reset_camera=False, render=False)
    plotter.add_actor(actor, name=name, reset_camera=False, render=False, pickable=False)  # the last one is in front


def add_labels(plotter: pyvista.Plotter, labels: list[Label], edges: list[Box]) -> None:
    """Add labels next to the present positions of their points, between the captions and the legend."""
    import pyvista
    from vtkmodules.vtkRenderingCore import vtkCoordinate, vtkTextActor

    if not labels:
        return
    spots = np.array([_pixel(plotter, label.point) for label in labels])
    (wide, tall), occupied = panel_size(plotter), list[Box]()
    room = np.array([3.0, edges[1][1][1] * tall]), np.array([wide - 3.0, edges[0][0][1] * tall])
    for row, (label, spot) in enumerate(zip(labels, spots, strict=True)):
        actor, point = vtkTextActor(), vtkCoordinate()
        font = actor.GetTextProperty()
        font.SetFontSize(round(_LABEL * scale_of(plotter)))
        font.SetColor(pyvista.Color(label.color).float_rgb)
        actor.SetInput(_escaped(label.text))
        size = np.array(_extent(font, actor.GetInput()), dtype=np.float64)
        # a point behind the camera, or far outside the picture, keeps its label outside
        inside = bool((np.abs(spot) < 1e5).all())
        free = np.array([*spots, *(_pixel(plotter, point) for point in label.free)])
        low = _next_to(spot, spot - spots.mean(axis=0), free, size, room, occupied, inside)
        occupied.append((low - 2.0, low + size + 2.0))
        point.SetCoordinateSystemToWorld()
        point.SetValue(np.asarray(label.point).tolist())
        place = actor.GetPositionCoordinate()  # follows the point when the camera moves
        place.SetCoordinateSystemToViewport()
        place.SetReferenceCoordinate(point)
        x, y = (low - spot).tolist()
        place.SetValue(x, y, 0.0)
        plotter.add_actor(actor, name=f"gjk3d label {row}", reset_camera=False, render=False, pickable=False)
        _add_halo(plotter, actor, f"gjk3d label {row}")


def _pixel(plotter: pyvista.Plotter, point: Array) -> Array:
    """Return the pixel of a point of the world, relative to the lower left corner of the panel."""
    plotter.renderer.SetWorldPoint(*point, 1.0)
    plotter.renderer.WorldToView()
    return (np.array(plotter.renderer.GetViewPoint()[:2]) + 1.0) / 2.0 * panel_size(plotter)


def _next_to(spot: Array, out: Array, free: Array, size: Array, room: Box, occupied: list[Box], inside: bool) -> Array:
    """Return the lower left corner, in pixels, of a label at ``spot`` that hides no label and no point of ``free``."""
    angle = float(np.arctan2(out[1], out[0]))
    best, least = spot, np.inf
    for turn in _TURNS:
        direction = np.array([np.cos(angle + turn), np.sin(angle + turn)])
        for far in _FAR:
            reach = np.array([(9.0 + size[0] / 2 * abs(direction[0])) * min(1.0, abs(direction[0]) + 0.25), size[1]])
            low = spot + far * reach * (np.sign(direction[0]), direction[1]) - size / 2
            low = np.clip(low, room[0], np.maximum(room[1] - size, room[0])) if inside else low
            over = sum(np.prod(np.maximum(np.minimum(low + size, b) - np.maximum(low, a), 0.0)) for a, b in occupied)
            hidden = ((low - 5.0 < free) & (free < low + size + 5.0)).all(axis=1).sum()
            cost = 0.15 * abs(turn) + 0.3 * (far - 1.0) + 0.05 * over + 2.0 * hidden
            if cost < least:
                best, least = low, cost
    return best


def write(
    plotter: pyvista.Plotter,
    text: str,
    place: tuple[float, float],
    size: int,
    name: str,
    color: str = INK,
    *,
    above: bool = True,
) -> tuple[float, float]:
    """Write a text above or below a position, with line breaks, and return its size in fractions of the panel."""
    wide, tall = panel_size(plotter)
    written = plotter.add_text("", position=place, viewport=True, color=color, name=name, render=False)
    written.prop.font_size = round(size * scale_of(plotter))
    written.prop.SetLineSpacing(_SPACING)
    written.input, high = _broken(_escaped(text), written.prop, (1.0 - place[0] - 0.01) * wide)
    if not above:
        written.position = (place[0], place[1] - high / tall)
    return _extent(written.prop, written.input)[0] / wide, high / tall


def _broken(text: str, font: Any, room: float) -> tuple[str, float]:
    """Return a text with line breaks that fit a width, and its height in pixels."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and _extent(font, longer)[0] > room:
            lines.append(word)
        else:
            lines[-1] = longer
    # all rows have the height of the tallest letters, so that their positions do not depend on the text
    return "\n".join(lines), 1.25 * font.font_size * len(lines)


def _escaped(text: str) -> str:
    """Return a text in which the characters for formulas (dollars) and columns (bars) of VTK are replaced."""
    return text.replace("$", r"\$").replace("|", "\u00a6")  # VTK's font does not have another bar


def unescaped(text: str) -> str:
    """Return the original of an escaped text."""
    return text.replace(r"\$", "$").replace("\u00a6", "|")


def _extent(font: Any, words: str) -> tuple[int, int]:
    left, right, low, high = extent(font, words)
    return right - left, high - low


def extent(font: Any, words: str) -> list[int]:
    """Return the left, right, lower and upper edge of a text relative to its position, in pixels."""
    from vtkmodules.vtkRenderingCore import vtkTextRenderer

    edges = [0, 0, 0, 0]
    vtkTextRenderer.GetInstance().GetBoundingBox(font, words, edges, 72)
    return edges


def _chip(place: tuple[float, float], size: tuple[float, float], color: str) -> Any:
    """Return a coloured rectangle for the legend; position and size are in fractions of the panel."""
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
