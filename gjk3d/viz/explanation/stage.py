"""Draw the two views of a step with pyvista, one plotter for all steps; and the window that walks through them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d.shapes import surfaces
from gjk3d.typing import Array
from gjk3d.viz.drawing import darker
from gjk3d.viz.explanation.figure import HEADINGS, INK, LINE, PAPER, SOFT, curve, font, key, legend, wrapped
from gjk3d.viz.explanation.scene import OVER, PALETTE, Piece, Scene, View, rod_color
from gjk3d.viz.explanation.steps import Step, bounds
from gjk3d.viz.paint import add_lights, bring_to_front, polydata, wires, with_normals
from gjk3d.viz.triangles import Shaded, across, shade

if TYPE_CHECKING:
    import pyvista
    from PIL import Image


SHARP = 2  #: pictures are drawn this much larger and shrunk, which is the smoothest
_MARGIN = 1.16
_PLAIN = {"reset_camera": False, "render": False, "pickable": False}
#: what faces the light keeps its colour: the lights and these add up to a little more than 1
_LIGHT = {"ambient": 0.42, "diffuse": 0.56, "specular": 0.05, "specular_power": 20.0}
_LIGHTS = (0.62, 0.28, 0.18)


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
        plotter = self.plotter
        plotter.set_background("white")
        plotter.renderer.SetUseOIT(False)  # glass is blended in the order it is added, not by weights
        add_lights(plotter, _LIGHTS)
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
                mesh = _joined([part for parts in solids for part in parts])
                color = rod_color(role)
                over = {"culling": "back"} if role in OVER else {}
                actors.append(self.plotter.add_mesh(mesh, color=color, **over, **_LIGHT, **_PLAIN))
                if over:
                    bring_to_front(actors[-1])
        return actors


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
    turn = np.array([*across(axis), axis])
    stretch = template.vertices * (radius, radius, length)
    return template._replace(vertices=(start + end) / 2 + stretch @ turn, normals=template.normals @ turn)


def _joined(parts: list[Shaded]) -> pyvista.PolyData:
    """Return several solids as one mesh."""
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    whole = Shaded(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=False)]),
        np.empty((0, 2, 3)),
    )
    return with_normals(whole)


_SIZE = (1200, 860)
_WORDS = 340  #: height of the lower part, with the words, the slider and the curve


class Window:
    """A plotter that shows one step at a time.

    Attributes
    ----------
    plotter : pyvista.Plotter
        Its ``show()`` opens the window.
    at : int
        The step shown, from 0.
    """

    def __init__(self, steps: list[Step], scene: Scene, off_screen: bool) -> None:
        import pyvista

        self._steps, self.at = steps, -1
        upper = _SIZE[1] - _WORDS
        layout = {"shape": (2, 2), "row_weights": [upper, _WORDS], "groups": [(1, [0, 1])]}
        self._stage = Stage(scene, (_SIZE[0], upper), off_screen, layout, _SIZE)
        self.plotter = self._stage.plotter
        for column, words in enumerate(HEADINGS):
            self.plotter.subplot(0, column)
            self.plotter.add_text(words, position=(0.02, 0.94), viewport=True, font_size=11, color=SOFT)
        self.plotter.subplot(1, 0)
        self.plotter.set_background("white")
        self._page = pyvista.Plane(
            center=(0, 0, 0), direction=(0, 0, 1), i_size=_SIZE[0], j_size=_WORDS, i_resolution=1, j_resolution=1
        )
        camera = self.plotter.camera
        camera.parallel_projection = True
        camera.focal_point, camera.position, camera.up = (0, 0, 0), (0, 0, 1000), (0, 1, 0)
        camera.parallel_scale = _WORDS / 2
        camera.clipping_range = (1.0, 2000.0)
        self._labels: list[tuple[int, Any]] = []
        self.slider = self.plotter.add_slider_widget(
            self._slid,
            [1, len(steps)],
            value=1,
            pointa=(0.025, 0.06),
            pointb=(0.56, 0.06),
            fmt="%.0f",
            interaction_event="always",
            color=INK,
            title_height=0.02,
            slider_width=0.02,
            tube_width=0.006,
        )
        for name, step in (("Right", 1), ("Left", -1)):
            self.plotter.add_key_event(name, lambda step=step: self.go(self.at + step))
        self.go(0)

    def go(self, to: int) -> None:
        """Show a step; before the first is the first, behind the last the last."""
        to = min(max(to, 0), len(self._steps) - 1)
        if to == self.at:
            return
        self.at = to
        self._stage.show(to)
        self._name()
        self._write()
        self.slider.GetRepresentation().SetValue(to + 1)
        if self.plotter.iren is not None and self.plotter.iren.initialized:
            self.plotter.render()

    def _slid(self, value: float) -> None:
        if self.at >= 0:
            self.go(round(value) - 1)

    def _name(self) -> None:
        """Write the names of the points into both views."""
        plotter = self.plotter
        for column, actor in self._labels:
            plotter.subplot(0, column)
            plotter.remove_actor(actor, render=False, reset_camera=False)
        self._labels = []
        for column, pieces in enumerate(self._stage.scene.steps[self.at]):
            plotter.subplot(0, column)
            labels = [piece for piece in pieces if piece.kind == "label"]
            for role in dict.fromkeys(piece.role for piece in labels):
                mine = [piece for piece in labels if piece.role == role]
                actor = plotter.add_point_labels(
                    np.array([piece.points[0] for piece in mine]),
                    [f" {piece.text}" for piece in mine],
                    font_size=18,
                    text_color=PALETTE[role] if role in ("ink", "new") else darker(PALETTE[role], 0.6),
                    shape=None,
                    show_points=False,
                    always_visible=True,
                    reset_camera=False,
                    render=False,
                )
                self._labels.append((column, actor))

    def _write(self) -> None:
        """Draw the lower part: title, sentence, bounds, curve and what the colours mean."""
        import pyvista
        from PIL import Image, ImageDraw

        step = self._steps[self.at]
        image = Image.new("RGB", (_SIZE[0], _WORDS), PAPER)
        draw = ImageDraw.Draw(image)
        draw.line([(16, 0), (_SIZE[0] - 16, 0)], LINE)
        draw.text((20, 10), step.title, INK, font(22), stroke_width=0.4)
        for row, line in enumerate(wrapped(step.sentence, 18, _SIZE[0] - 40)):
            draw.text((20, 42 + 24 * row), line, INK, font(18))
        image.paste(curve(self._steps, self.at, (820, 160)), (6, 122))
        draw.text((850, 126), bounds(step), INK, font(17))
        key(image, legend(step), (850, 154))
        said = f"step {self.at + 1} of {len(self._steps)}; the left and right arrow keys lead on"
        draw.text((_SIZE[0] - 20, 15), said, SOFT, font(14), anchor="ra")
        self.plotter.subplot(1, 0)
        texture = pyvista.Texture(np.asarray(image))
        self.plotter.add_mesh(
            self._page, texture=texture, lighting=False, name="words", reset_camera=False, render=False, pickable=False
        )
