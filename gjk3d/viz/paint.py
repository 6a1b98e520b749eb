"""Painting of drawings in a plotter: bodies from far to near, markers over them, captions at the edges.

`Posed` has rigid bodies that move. Each body is added once, for animations, dragging with the mouse, and sliders.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from gjk3d.typing import Array
from gjk3d.viz.colors import INK, PALE, SEPARATION, is_dark
from gjk3d.viz.drawing import BODY, DOTS, FIELD, LINES, MARK, MODEL, PART, TRANSPARENT, Camera, Drawing, Item, darker
from gjk3d.viz.layout import camera_of, ready
from gjk3d.viz.triangles import is_sheet, shade
from gjk3d.viz.words import LINE, Box, add_edges, add_halos, add_labels, panel_size, write

if TYPE_CHECKING:
    import pyvista

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
    """Add a drawing to the current renderer of a plotter, and aim the camera at all drawings in it."""
    scene, actors = drawn_in(plotter), _ACTORS.setdefault(plotter.renderer, set())
    for name, actor in plotter.renderer.actors.items():  # what the caller added since, which the camera has to show too
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
    """Return everything that was painted into the current panel of a plotter."""
    return _DRAWN.setdefault(plotter.renderer, Drawing())


def repaint(plotter: pyvista.Plotter, drawing: Drawing, before: Added) -> Added:
    """Replace a painted drawing, except for common items, and return the painted items."""
    mine = {id(item) for item in drawing.items}
    _remove(plotter, [entry for entry in before if id(entry[0]) not in mine])
    _DRAWN[plotter.renderer] = drawing
    return _paint(plotter, drawing, drawing, [entry for entry in before if id(entry[0]) in mine])


def _remove(plotter: pyvista.Plotter, added: Added) -> None:
    for _, actors in added:
        for actor in actors:
            plotter.renderer.remove_actor(actor, reset_camera=False, render=False)


def _paint(plotter: pyvista.Plotter, drawing: Drawing, scene: Drawing, retained: Added) -> Added:
    """Add the items of a drawing that are not retained, and aim the camera at everything in the panel."""
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
    """Make the keys n and p of the window show the next and the previous drawing, if the drawing has `Steps`."""
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


def aim(plotter: pyvista.Plotter, to: Camera) -> None:
    """Set the camera of a plotter. A panel narrower than 4:3 shows everything that a 4:3 picture shows."""
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
    """Return the points in front of the camera in coordinates of the panel, (n, 2), which are -1 and 1 at its edges."""
    import pyvista

    wide, tall = panel_size(plotter)
    matrix = plotter.camera.GetCompositeProjectionTransformMatrix(wide / tall, -1.0, 1.0)
    projected = np.column_stack([points, np.ones(len(points))]) @ pyvista.array_from_vtkmatrix(matrix).T
    projected = projected[projected[:, 3] > 0.0]
    return np.asarray(projected[:, :2] / projected[:, 3:])


def _free_edges(plotter: pyvista.Plotter, points: Array, edges: list[Box]) -> list[bool]:
    """Return for the captions and for the legend whether no point of ``points`` (n, 3) is behind them."""
    projected = _projected(plotter, points)
    return [not len(projected) or _parted(projected, (2.0 * low - 1.0, 2.0 * high - 1.0)) for low, high in edges]


def _parted(points: Array, box: Box) -> bool:
    """Return whether a line in one of 48 directions separates points (n, 2) from a box."""
    directions = np.array([(np.cos(a), np.sin(a)) for a in np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False)])
    corners = np.array([(x, y) for x in (box[0][0], box[1][0]) for y in (box[0][1], box[1][1])])
    return bool(((points @ directions.T).min(axis=0) >= (corners @ directions.T).max(axis=0)).any())


def add_items(plotter: pyvista.Plotter, items: list[Item], eye: Array | None) -> Added:
    """Add items and return them with their actors. Opaque items are first, then transparent ones, then markers."""
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
    draw: dict[str, Callable[..., list[Any]]]
    draw = {
        BODY: body,
        MODEL: body,
        MARK: _add_mark,
        PART: _add_mark,
        LINES: _add_thin,
        DOTS: _add_thin,
        FIELD: _add_thin,
    }
    return [(item, draw[item.look](plotter, item)) for item in order]


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
    """Return PolyData of arrays: without faces a point, or the segment from the first to the last vertex."""
    import pyvista

    points = np.ascontiguousarray(vertices)
    if not len(faces):
        return pyvista.PolyData(points, lines=[len(points), *range(len(points))] if len(points) > 1 else None)
    mesh = pyvista.PolyData.from_regular_faces(points, np.asarray(faces))
    if normals is not None:
        mesh.point_data.active_normals = normals
    return mesh


class Mover(NamedTuple):
    """A rigid body that moves."""

    name: str
    color: str  #: colour of a free body
    items: list[Item]  #: in the frame of the body
    poses: Array | None = None  #: (frames, 4, 4), None for a static body or for poses that are not known yet


class Posed:
    """A plotter with bodies that can be moved and coloured, and the present markers and captions."""

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
        """Return a drawing without items for the markers of a moment. Its ball to look at contains all bodies."""
        return Drawing(words=list(words), focus=self._ball)

    def set(
        self, poses: Iterable[Array | None], signs: Drawing, hit: Collection[str] = (), alarm: bool = False
    ) -> None:
        """Move the first bodies to their poses, where None keeps a pose, and make the named bodies vermilion.

        The first caption is vermilion too if a body is vermilion, or with ``alarm``.
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
