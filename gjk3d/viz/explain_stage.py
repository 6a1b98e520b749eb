"""Draws the two views of a step with pyvista: one plotter for all steps, few actors in each."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d.shapes import surfaces
from gjk3d.typing import Array
from gjk3d.viz.convert import polydata
from gjk3d.viz.drawing import darker
from gjk3d.viz.explain_scene import OVER, PALETTE, Piece, Scene, View
from gjk3d.viz.marks import Shaded, shade
from gjk3d.viz.paint import wires, with_normals

if TYPE_CHECKING:
    import pyvista
    from PIL import Image


SHARP = 2  #: pictures are drawn this much larger and shrunk, which is the smoothest
_MARGIN = 1.16
_PLAIN = {"reset_camera": False, "render": False, "pickable": False}
#: what faces the light keeps its colour: the lights and these add up to a little more than 1
_LIGHT = {"ambient": 0.42, "diffuse": 0.56, "specular": 0.05, "specular_power": 20.0}
_LIGHTS = ((-35.0, 45.0, 0.62), (60.0, 10.0, 0.28), (0.0, -50.0, 0.18))  #: azimuth, elevation, intensity


class Stage:
    """A plotter with the two views side by side, in which step after step is drawn."""

    def __init__(
        self,
        scene: Scene,
        size: tuple[int, int],
        off_screen: bool = True,
        layout: dict[str, Any] | None = None,
        window: tuple[int, int] | None = None,
    ) -> None:
        import pyvista

        self.scene, self.size = scene, size
        shape: dict[str, Any] = {"shape": (1, 2)} if layout is None else layout
        self.plotter = pyvista.Plotter(
            off_screen=off_screen, window_size=[*(window or size)], border=False, lighting="none", **shape
        )
        self.sides = [(0, scene.left), (1, scene.right)]
        self._added: list[tuple[int, Any]] = []
        for column, view in self.sides:
            self.plotter.subplot(0, column)
            self._prepare(view)
            for piece in view.still:
                self._still(piece)

    def _prepare(self, view: View) -> None:
        import pyvista

        plotter = self.plotter
        plotter.set_background("white")
        plotter.renderer.SetUseOIT(False)  # glass is blended in the order it is added, not by weights
        for azimuth, elevation, intensity in _LIGHTS:
            light = pyvista.Light(light_type="camera light", intensity=intensity)
            a, e = np.radians(azimuth), np.radians(elevation)
            light.position = (np.sin(a) * np.cos(e), np.sin(e), np.cos(a) * np.cos(e))
            light.focal_point = (0.0, 0.0, 0.0)
            plotter.add_light(light)
        camera = plotter.camera
        camera.parallel_projection = True
        camera.focal_point = tuple(view.focus)
        camera.position = tuple(view.focus + 10.0 * self.scene.view)
        camera.up = tuple(self.scene.up)
        camera.parallel_scale = self.scale(view)
        camera.clipping_range = (1.0, 100.0)

    def scale(self, view: View) -> float:
        """Return half the height of what a view shows."""
        aspect = self.size[0] / 2 / self.size[1]
        return _MARGIN * max(view.height, view.width / aspect)

    def pixels(self, view: View, points: Array) -> Array:
        """Return where points of a view are in its picture, from its upper left corner."""
        width, height = self.size[0] / 2, self.size[1]
        axes = np.array([np.cross(self.scene.up, self.scene.view), -self.scene.up])
        flat = (points - view.focus) @ axes.T * (height / 2 / self.scale(view))
        return np.asarray(flat + (width / 2, height / 2))

    def show(self, index: int) -> None:
        """Replace what is drawn by a step's pieces."""
        for column, actor in self._added:
            self.plotter.subplot(0, column)
            self.plotter.remove_actor(actor, render=False, reset_camera=False)
        self._added = []
        for (column, _), pieces in zip(self.sides, self.scene.steps[index], strict=True):
            self.plotter.subplot(0, column)
            self._added += [(column, actor) for actor in self._moving(pieces)]

    def shoot(self, index: int) -> tuple[Image.Image, Image.Image]:
        """Draw a step and return the pictures of both views, in the size drawn."""
        from PIL import Image

        self.show(index)
        self.plotter.render()
        pixels = self.plotter.screenshot(None, return_img=True)
        assert pixels is not None
        half = pixels.shape[1] // 2
        return Image.fromarray(pixels[:, :half, :3]), Image.fromarray(pixels[:, half:, :3])

    def close(self) -> None:
        """Give the plotter back."""
        self.plotter.close()

    # --- pieces -------------------------------------------------------------------------------------------------------

    def _still(self, piece: Piece) -> None:
        if piece.kind in ("glass", "ghost") and len(piece.faces):
            self._glass(piece)
        elif piece.kind in ("glass", "ghost"):  # a point or a segment
            kind = "ball" if len(piece.points) == 1 else "rod"
            solid = Piece(kind, piece.role, piece.points[[0, -1]] if kind == "rod" else piece.points, size=0.014)
            self._moving([solid])
        elif piece.kind != "label":
            self._moving([piece])

    def _glass(self, piece: Piece) -> None:
        color = PALETTE[piece.role]
        shaded = shade(piece.points, piece.faces)
        mesh = with_normals(shaded)
        # samples have ragged creases: they are lit evenly, and outlined only
        light = _LIGHT if piece.kind == "glass" else {"ambient": 0.8, "diffuse": 0.15}
        for hidden in ("front", "back"):  # the far side first: a convex body then blends in the right order
            actor = self.plotter.add_mesh(mesh, color=color, opacity=piece.opacity, culling=hidden, **light, **_PLAIN)
            actor.prop.interpolation = "Phong"
        if piece.kind == "ghost":
            outline = polydata(piece.points, piece.faces)
            look = {"opacity": 0.3 + piece.opacity, "line_width": 1.3 * SHARP}
            self.plotter.add_silhouette(outline, color=darker(color), **look)
        elif len(shaded.edges):
            look = {"opacity": min(1.0, 0.3 + piece.opacity), "line_width": 1.3 * SHARP}
            self.plotter.add_mesh(wires(shaded.edges), color=darker(color), **look, **_PLAIN)

    def _moving(self, pieces: list[Piece]) -> list[Any]:
        actors = []
        for piece in pieces:
            if piece.kind == "faces":
                mesh = polydata(piece.points, piece.faces)
                flat = 0.95 if piece.role in ("closest", "removed") else 0.6  # their colour says what they are
                look = {"ambient": flat, "diffuse": 0.95 - flat, "opacity": piece.opacity}
                actors.append(self.plotter.add_mesh(mesh, color=PALETTE[piece.role], **look, **_PLAIN))
        roles = dict.fromkeys(piece.role for piece in pieces)
        for role in roles:
            solids = [solid(p) for p in pieces if p.role == role and p.kind in ("ball", "rod", "arrow")]
            if solids:
                mesh = joined([part for parts in solids for part in parts])
                color = rod_color(role)
                over = {"culling": "back"} if role in OVER else {}
                actors.append(self.plotter.add_mesh(mesh, color=color, **over, **_LIGHT, **_PLAIN))
                if over:
                    _over_all(actors[-1])
        return actors


def rod_color(role: str) -> str:
    """Return the colour of balls, rods and arrows: darker than the faces that they border."""
    return darker(PALETTE[role], 0.8) if role in ("simplex", "polytope") else PALETTE[role]


def _over_all(actor: Any) -> None:
    """Paint an actor after the glass and as if before all of it."""
    actor.ForceTranslucentOn()
    actor.mapper.SetResolveCoincidentTopologyToPolygonOffset()
    actor.mapper.SetRelativeCoincidentTopologyPolygonOffsetParameters(0.0, -66000.0)


@functools.cache
def _template(name: str) -> Shaded:
    surface = {
        "ball": lambda: surfaces.sphere(1.0, 24),
        "rod": lambda: surfaces.cylinder(1.0, 1.0, 16),
        "cone": lambda: surfaces.cone(1.0, 1.0, 24),
    }[name]()
    return shade(surface.vertices, surface.faces)


def solid(piece: Piece) -> list[Shaded]:
    """Return what a ball, a rod or an arrow is made of."""
    if piece.kind == "ball":
        ball = _template("ball")
        return [ball._replace(vertices=piece.points[0] + piece.size * ball.vertices)]
    start, end = piece.points
    if piece.kind == "rod":
        return [_turned("rod", start, end, piece.size)]
    length = float(np.linalg.norm(end - start)) or 1.0
    neck = end - min(6.0 * piece.size, 0.5 * length) / length * (end - start)
    return [_turned("rod", start, neck, piece.size), _turned("cone", neck, end, 2.4 * piece.size)]


def _turned(name: str, start: Array, end: Array, radius: float) -> Shaded:
    template = _template(name)
    length = float(np.linalg.norm(end - start)) or 1.0
    axis = (end - start) / length
    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    side /= np.linalg.norm(side)
    turn = np.array([side, np.cross(axis, side), axis])
    stretch = template.vertices * (radius, radius, length)
    return template._replace(vertices=(start + end) / 2 + stretch @ turn, normals=template.normals @ turn)


def joined(parts: list[Shaded]) -> pyvista.PolyData:
    """Return several solids as one mesh."""
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    whole = Shaded(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=False)]),
        np.empty((0, 2, 3)),
    )
    return with_normals(whole)
