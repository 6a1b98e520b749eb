"""Painting of drawings and their text in a plotter.

The text has captions at the top of a panel, the legend at the bottom, and labels at points. Bodies are painted from far
to near, and markers over them. `Posed` moves rigid bodies in animations and interactive windows without adding them
again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from gjk3d.typing import Array
from gjk3d.viz.colors import INK, PALE, SEPARATION, TRANSPARENT, darker, is_dark
from gjk3d.viz.drawing import (
    BODY,
    DOTS,
    LINES,
    MARK,
    MODEL,
    PART,
    Camera,
    Drawing,
    Item,
    Label,
    camera_of,
    is_sheet,
    ready,
    shade,
)

if TYPE_CHECKING:
    import pyvista

# --- text ------------------------------------------------------------------------------------------------------------


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
_TURNS, _STEPS = (0.0, 0.6, -0.6, 1.2, -1.2, 2.0, -2.0, 3.1), (1.0, 1.35, 1.7)

Box = tuple[Array, Array]


def panel_size(plotter: pyvista.Plotter) -> tuple[float, float]:
    """Return the width and height of the current panel, in pixels."""
    left, low, right, high = plotter.renderer.GetViewport()
    wide, tall = plotter.window_size
    return max((right - left) * wide, 1.0), max((high - low) * tall, 1.0)


def scale_of(plotter: pyvista.Plotter) -> float:
    """Return the scale of letters in the current panel, which is 1 for a panel of 1000 x 750 pixels."""
    wide, tall = panel_size(plotter)
    return float(np.clip(min(wide / _FULL[0], tall / _FULL[1]), _LEAST, 2.0))


def add_edges(plotter: pyvista.Plotter, drawing: Drawing, head: str | None = None) -> list[Box]:
    """Replace the text of the panel by captions and legend, and return the boxes around the captions and the legend.

    The boxes are in fractions of the panel, from its lower left corner. ``head`` is the colour of the first caption.
    """
    for name in [name for name in plotter.renderer.actors if name.startswith(_OURS)]:
        # the method of the plotter would remove the actors of every panel
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
    """Add halos to captions and legend where a body is behind them.

    ``free`` holds whether no body is behind the captions, and whether none is behind the legend.
    """
    over = tuple(prefix for is_free, prefix in zip(free, ("gjk3d line ", "gjk3d key "), strict=True) if not is_free)
    for name, actor in [(name, actor) for name, actor in plotter.renderer.actors.items() if name.startswith(over)]:
        _add_halo(plotter, actor, name)


def _add_halo(plotter: pyvista.Plotter, actor: Any, name: str) -> None:
    """Add shifted copies behind a text, in white for dark letters and in black for light ones."""
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
    plotter.add_actor(actor, name=name, reset_camera=False, render=False, pickable=False)  # the last actor is in front


def add_labels(plotter: pyvista.Plotter, labels: list[Label], edges: list[Box]) -> None:
    """Add labels next to their points in the picture, between the captions and the legend (``edges``)."""
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
        # the label of a point behind the camera, or far outside the picture, stays outside
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
    """Return the lower left corner, in pixels, of a label near ``spot`` that covers few other labels and points.

    ``out`` is the preferred direction from ``spot``. The label has the size ``size``. It should not cover the boxes
    ``occupied`` and the points ``free``. If ``inside`` is True, it stays in the box ``room``.
    """
    angle = float(np.arctan2(out[1], out[0]))
    best, least = spot, np.inf
    for turn in _TURNS:
        direction = np.array([np.cos(angle + turn), np.sin(angle + turn)])
        for far in _STEPS:
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
    """Return a text with line breaks that fit the width ``room`` in pixels, and the height of the text in pixels."""
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
    """Return a text with escaped dollars and replaced bars, which VTK would read as formulas and columns."""
    return text.replace("$", r"\$").replace("|", "\u00a6")  # VTK's font does not have another bar


def unescaped(text: str) -> str:
    """Return the original of a text from `_escaped`."""
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
    """Return a coloured rectangle for the legend. Position and size are in fractions of the panel."""
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


# --- painting --------------------------------------------------------------------------------------------------------


#: Greatest number of bodies with outlines, which cost time in every frame.
_MOST_OUTLINES = 40
#: Margin between bodies and captions, in halves of a panel.
_MARGIN = 0.03
_MESH_OPTIONS = {"reset_camera": False, "render": False, "pickable": False}
_LIGHT = {"ambient": 0.34, "diffuse": 0.78, "specular": 0.2, "specular_power": 25.0}
_FAR, _EVEN = {"ambient": 0.6, "diffuse": 0.45}, {"ambient": 0.85, "diffuse": 0.15}

#: The drawings in each renderer, which share captions and camera.
_DRAWN: WeakKeyDictionary[Any, Drawing] = WeakKeyDictionary()
#: The names of the actors in each renderer after the last drawing.
_ACTORS: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


def prepare(plotter: pyvista.Plotter) -> None:
    """Set background, soft lights that follow the camera, and smooth edges."""
    import pyvista

    plotter.set_background("white", top="#E8EDF2")
    plotter.enable_anti_aliasing("msaa", multi_samples=4)
    # from the upper left, from the right, and from below
    for azimuth, elevation, intensity in ((-35.0, 45.0, 0.8), (60.0, 10.0, 0.4), (0.0, -50.0, 0.25)):
        light = pyvista.Light(light_type="camera light", intensity=intensity)
        light.SetDirectionAngle(elevation, azimuth)
        plotter.add_light(light, only_active=True)


Added = list[tuple[Item, list[Any]]]


def paint(drawing: Drawing, plotter: pyvista.Plotter) -> pyvista.Plotter:
    """Add a drawing to the current renderer of a plotter, and show all drawings of this renderer."""
    scene, actors = drawn_in(plotter), _ACTORS.setdefault(plotter.renderer, set())
    for name, actor in plotter.renderer.actors.items():  # actors of the caller, which the camera has to show too
        if hasattr(actor, "GetMapper") and name not in actors and (bounds := actor.GetBounds()):
            corners = np.array([*product(bounds[:2], bounds[2:4], bounds[4:])])
            scene.items.insert(0, Item(corners, np.zeros((0, 3), dtype=np.int64), INK, look=DOTS))
    if drawing.background is None and is_dark(str(plotter.renderer.background_color.hex_rgb)):
        drawing.recolor(INK, PALE)
        scene.ink = drawing.ink
    scene.join(drawing)
    if drawing.background is not None:
        scene.background, scene.ink = drawing.background, drawing.ink
        solid = "white" if drawing.background == TRANSPARENT else drawing.background
        plotter.set_background(solid, all_renderers=False)
    _walk(plotter, drawing, _paint(plotter, drawing, scene, []))
    actors.update(plotter.renderer.actors)
    return plotter


def drawn_in(plotter: pyvista.Plotter) -> Drawing:
    """Return the drawing of everything that was painted into the current panel of a plotter."""
    return _DRAWN.setdefault(plotter.renderer, Drawing())


def repaint(plotter: pyvista.Plotter, drawing: Drawing, before: Added) -> Added:
    """Replace the painted items ``before`` by the items of a drawing, and return the new painted items."""
    mine = {id(item) for item in drawing.items}
    _remove(plotter, [entry for entry in before if id(entry[0]) not in mine])
    _DRAWN[plotter.renderer] = drawing
    return _paint(plotter, drawing, drawing, [entry for entry in before if id(entry[0]) in mine])


def _remove(plotter: pyvista.Plotter, added: Added) -> None:
    for _, actors in added:
        for actor in actors:
            plotter.renderer.remove_actor(actor, reset_camera=False, render=False)


def _paint(plotter: pyvista.Plotter, drawing: Drawing, scene: Drawing, retained: Added) -> Added:
    """Add the items of a drawing that are not in ``retained``, show everything in the panel, and return all items."""
    painted, camera = {id(item) for item, _ in retained}, camera_of(scene)
    items = ready([item for item in drawing.items if id(item) not in painted], *scene.ball)
    added = [*retained, *add_items(plotter, items, None if drawing.sorted else camera.eye)]
    aim(plotter, camera)
    edges = add_edges(plotter, scene)
    if scene.camera is None:
        center, radius = scene.ball
        points = scene.framed
        make_room(plotter, points[np.linalg.norm(points - center, axis=1) <= 1.001 * radius], edges)
    every = np.concatenate([np.zeros((0, 3)), *(item.vertices for item in scene.items)])
    add_halos(plotter, _free_edges(plotter, every, edges))
    add_labels(plotter, scene.labels, edges)
    return added


def panel_of(plotter: pyvista.Plotter) -> tuple[int, int]:
    """Return the row and the column of the current panel, for ``plotter.subplot``."""
    row, column = plotter.renderers.index_to_loc(plotter.renderers.active_index)
    return int(row), int(column)


def _walk(plotter: pyvista.Plotter, drawing: Drawing, added: Added) -> None:
    """Make the keys n and p show the next and the previous drawing, if the drawing is one of several (`Steps`)."""
    steps = drawing.steps
    if steps is None or steps.total < 2:
        return
    at, panel = steps.at, panel_of(plotter)

    def go(by: int) -> None:
        nonlocal at, added
        at = (at + by) % steps.total
        plotter.subplot(*panel)
        added = repaint(plotter, steps.make(at), added)
        plotter.render()

    if not plotter.off_screen:
        write(plotter, "n next, p previous", (0.74, 0.016), LINE, "gjk3d help")
    plotter.add_key_event("n", lambda: go(1))
    plotter.add_key_event("p", lambda: go(-1))


def cut(plotter: pyvista.Plotter, planes: Sequence[tuple[Array, Array]]) -> None:
    """Clip bodies at planes, each with a point and a normal to the removed side. Text is not clipped."""
    from vtkmodules.vtkCommonDataModel import vtkPlane

    for point, normal in planes:
        plane = vtkPlane()
        plane.SetOrigin(*point.tolist())
        plane.SetNormal(*(-normal).tolist())
        for actor in plotter.renderer.GetActors():
            actor.GetMapper().AddClippingPlane(plane)


def aim(plotter: pyvista.Plotter, to: Camera) -> None:
    """Set the camera of a plotter. A panel narrower than 4:3 gets a wider angle and shows all of a 4:3 picture."""
    camera = plotter.camera
    wide, tall = panel_size(plotter)
    narrow = max(1.0, 4.0 / 3.0 * tall / wide)
    camera.view_angle = 2.0 * np.degrees(np.arctan(narrow * np.tan(np.radians(to.angle) / 2.0)))
    camera.focal_point = tuple(to.center)
    camera.position = tuple(to.eye)
    camera.up = tuple(to.up)
    camera.SetWindowCenter(0.0, 0.0)
    plotter.reset_camera_clipping_range()


def make_room(plotter: pyvista.Plotter, points: Array, edges: list[Box]) -> None:
    """Shift and shrink the picture by the least amount that moves points (n, 3) off the captions and the legend."""
    if all(_free_edges(plotter, points, edges)):
        return
    projected = _projected(plotter, points)
    words, key = ((2.0 * low - 1.0, 2.0 * high - 1.0) for low, high in edges)  # from -1 to 1, as in the projection
    low, high = projected.min(axis=0), projected.max(axis=0)
    best, by = 0.0, np.zeros(2)
    for left, foot in ((-1.0, key[1][1]), (key[1][0], -1.0)):  # above the legend, or to its right
        corner, far = np.array([left, foot]) + _MARGIN, np.array([1.0, words[0][1]]) - _MARGIN
        room = float(min(1.0, ((far - corner) / np.maximum(high - low, 1e-9)).min()))
        if room > best:
            best, by = room, np.clip(0.0, corner - room * low, far - room * high)
    if best > 0.0:
        half = np.tan(np.radians(plotter.camera.view_angle) / 2.0) / best
        plotter.camera.view_angle = 2.0 * np.degrees(np.arctan(half))
        plotter.camera.SetWindowCenter(*(-by))


def _projected(plotter: pyvista.Plotter, points: Array) -> Array:
    """Return the points in front of the camera in coordinates of the panel, (n, 2). Its edges are at -1 and 1."""
    import pyvista

    wide, tall = panel_size(plotter)
    matrix = plotter.camera.GetCompositeProjectionTransformMatrix(wide / tall, -1.0, 1.0)
    projected = np.column_stack([points, np.ones(len(points))]) @ pyvista.array_from_vtkmatrix(matrix).T
    projected = projected[projected[:, 3] > 0.0]
    return np.asarray(projected[:, :2] / projected[:, 3:])


def _free_edges(plotter: pyvista.Plotter, points: Array, edges: list[Box]) -> list[bool]:
    """Return whether no point (n, 3) is behind the captions, and whether none is behind the legend."""
    projected = _projected(plotter, points)
    return [not len(projected) or _parted(projected, (2.0 * low - 1.0, 2.0 * high - 1.0)) for low, high in edges]


def _parted(points: Array, box: Box) -> bool:
    """Return whether a line in one of 48 directions separates points (n, 2) from a box."""
    directions = np.array([(np.cos(a), np.sin(a)) for a in np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False)])
    corners = np.array([(x, y) for x in (box[0][0], box[1][0]) for y in (box[0][1], box[1][1])])
    return bool(((points @ directions.T).min(axis=0) >= (corners @ directions.T).max(axis=0)).any())


def add_items(plotter: pyvista.Plotter, items: list[Item], eye: Array | None) -> Added:
    """Add items and return them with their actors: opaque items, then transparent items, then markers.

    Transparent items are sorted by their distance from ``eye``, the farthest first. If ``eye`` is None, they are not
    sorted.
    """
    # the order of transparent items that VTK computes since 9.4 would put them over markers
    if hasattr(plotter.renderer, "SetUseOIT"):
        plotter.renderer.SetUseOIT(False)
    models, bodies = ([item for item in items if item.look == form] for form in (MODEL, BODY))
    glass = [item for item in bodies if item.opacity < 1.0]
    if eye is not None:
        # slabs of half-spaces first, since other bodies are above them
        glass.sort(key=lambda item: (item.framed, -float(np.linalg.norm(item.vertices.mean(axis=0) - eye))))
    signs = [item for item in items if item.look not in (MODEL, BODY)]
    order = [*models, *(item for item in bodies if item.opacity >= 1.0), *glass, *signs]
    body = partial(_add_body, outlined=len(bodies) <= _MOST_OUTLINES)
    draw: dict[str, Any] = {BODY: body, MODEL: body, MARK: _add_mark, PART: _add_mark}
    return [(item, draw.get(item.look, _add_thin)(plotter, item)) for item in order]


def _add_body(plotter: pyvista.Plotter, item: Item, outlined: bool) -> list[Any]:
    shaded = shade(item.vertices, item.faces, item.copies)
    if not len(shaded.faces):
        return []  # all triangles are degenerate
    mesh = polydata(shaded.vertices, shaded.faces, shaded.normals)
    sheet = item.opacity >= 1.0 and is_sheet(item.vertices, item.faces)  # its far side would show as stripes
    if sheet or item.look == MODEL or (item.opacity >= 1.0 and not item.outline):
        passes, width = [("back" if sheet else None, _LIGHT)], 1.2
    else:
        # The far side is drawn first and the near side over it, so that a convex body blends in the right order. VTK's
        # depth peeling, which is made for this, fails with Mesa's software drivers.
        even = _EVEN if item.even else {}
        passes, width = [("front", _LIGHT | _FAR | even), ("back", _LIGHT | even)], item.width
    actors = [
        plotter.add_mesh(mesh, color=item.color, opacity=item.opacity, culling=hidden, **light, **_MESH_OPTIONS)
        for hidden, light in passes
    ]
    for actor in actors:
        actor.prop.interpolation = "Phong"
        # Faces are moved a little away from the camera, since they would hide half of each line along their edges.
        # Transparent faces are moved farther, since coincident faces of an overlap would show as stripes.
        backface = 1.0 if item.opacity >= 1.0 else 4.0
        actor.mapper.SetResolveCoincidentTopologyToPolygonOffset()
        actor.mapper.SetRelativeCoincidentTopologyPolygonOffsetParameters(backface, backface)
    faint = {"opacity": max(item.opacity, 0.25)} if item.opacity < 0.4 else {}
    if len(shaded.edges) and not item.even:
        actors.append(
            plotter.add_mesh(wires(shaded.edges), color=darker(item.color), line_width=width, **faint, **_MESH_OPTIONS)
        )
    if outlined and item.outline and item.look == BODY:
        line = polydata(item.vertices, item.faces).clean()  # merges equal corners of faces
        actors.append(plotter.add_silhouette(line, color=darker(item.color), line_width=1.8, **faint))
    return actors


def _add_mark(plotter: pyvista.Plotter, item: Item) -> list[Any]:
    vertices, normals, faces, _ = shade(item.vertices, item.faces, item.copies)
    mesh = polydata(vertices, faces, normals)
    actor = plotter.add_mesh(mesh, color=item.color, opacity=item.opacity, culling="back", **_LIGHT, **_MESH_OPTIONS)
    if item.look == MARK:  # drawn in front of all others, after the opaque items
        actor.ForceTranslucentOn()
        actor.mapper.SetResolveCoincidentTopologyToPolygonOffset()
        actor.mapper.SetRelativeCoincidentTopologyPolygonOffsetParameters(0.0, -66000.0)
    return [actor]


def _add_thin(plotter: pyvista.Plotter, item: Item) -> list[Any]:
    options: dict[str, Any] = {"line_width": item.width}
    if item.look == DOTS:
        options = {"style": "points", "render_points_as_spheres": True, "point_size": item.width}
    paint = {"color": item.color} if item.colors is None else {"scalars": item.colors, "rgb": True, "lighting": False}
    return [plotter.add_mesh(mesh_of(item), opacity=item.opacity, **paint, **options, **_MESH_OPTIONS)]


def mesh_of(item: Item) -> pyvista.PolyData:
    """Return an item as PolyData."""
    import pyvista

    if item.look == DOTS:
        return pyvista.PolyData(np.ascontiguousarray(item.vertices))
    return wires(item.vertices) if item.look == LINES else polydata(item.vertices, item.faces)


def wires(ends: Array) -> pyvista.PolyData:
    """Return segments, (k, 2, 3) float, as PolyData of lines."""
    import pyvista

    return pyvista.line_segments_from_points(np.ascontiguousarray(ends).reshape(-1, 3))


def polydata(vertices: Array, faces: Any, normals: Array | None = None) -> pyvista.PolyData:
    """Return vertices and faces as PolyData. Without faces it is a point, or a polyline through the vertices."""
    import pyvista

    points = np.ascontiguousarray(vertices)
    if not len(faces):
        return pyvista.PolyData(points, lines=[len(points), *range(len(points))] if len(points) > 1 else None)
    mesh = pyvista.PolyData.from_regular_faces(points, np.asarray(faces))
    if normals is not None:
        mesh.point_data.active_normals = normals
    return mesh


class Mover(NamedTuple):
    """A rigid body that an animation or an interactive window moves."""

    name: str
    color: str  #: colour of a free body
    items: list[Item]  #: in the frame of the body
    poses: Array | None = None  #: (frames, 4, 4), None for a static body or for poses that are not known yet


class Posed:
    """A plotter with bodies that can be moved and coloured, and with markers and captions that can be replaced."""

    def __init__(self, plotter: pyvista.Plotter, scene: Drawing, movers: Sequence[Mover]) -> None:
        self.plotter, self.movers = plotter, movers
        self._ball, camera = scene.ball, camera_of(scene)
        added = [add_items(plotter, ready(mover.items, *self._ball), camera.eye) for mover in movers]
        #: actors of each mover
        self.actors = [[actor for _, actors in groups for actor in actors] for groups in added]
        self._edges = [
            [actor.prop.color != mover.color for actor in actors]
            for mover, actors in zip(movers, self.actors, strict=True)
        ]
        self._signs: Added = []
        self._hit: set[int] = set()  #: indices of vermilion movers
        self.panel = panel_of(plotter)  #: panel of the plotter with the bodies
        aim(plotter, camera)

    def signs(self, *words: str) -> Drawing:
        """Return a drawing with captions and without items, for `set`. Its focus is a ball around all bodies."""
        return Drawing(words=list(words), focus=self._ball)

    def set(
        self, poses: Iterable[Array | None], signs: Drawing, hit: Collection[str] = (), alarm: bool = False
    ) -> None:
        """Move the bodies to ``poses``, make the bodies in ``hit`` vermilion, and replace the markers by ``signs``.

        A pose of None, and a missing pose at the end, leave the body at its pose. The first caption is vermilion if a
        body is vermilion, or if ``alarm`` is True.
        """
        for actors, pose in zip(self.actors, poses, strict=False):
            for actor in actors if pose is not None else ():
                actor.user_matrix = pose
        for k in {k for k, mover in enumerate(self.movers) if mover.name in hit} ^ self._hit:
            self._hit ^= {k}
            now = SEPARATION if k in self._hit else self.movers[k].color
            for actor, edge in zip(self.actors[k], self._edges[k], strict=True):
                actor.prop.color = darker(now) if edge else now
        self.plotter.subplot(*self.panel)
        _remove(self.plotter, self._signs)
        self._signs = add_items(self.plotter, signs.items, None)
        edges = add_edges(self.plotter, signs, SEPARATION if hit or alarm else None)
        add_labels(self.plotter, signs.labels, edges)
