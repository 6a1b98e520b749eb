"""Steps in a window: both views turn, the arrow keys and a slider lead from step to step."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.viz.drawing import darker
from gjk3d.viz.explain_curve import curve
from gjk3d.viz.explain_fonts import INK, LINE, PAPER, SOFT, font, wrapped
from gjk3d.viz.explain_paper import key
from gjk3d.viz.explain_scene import PALETTE, Scene
from gjk3d.viz.explain_stage import Stage
from gjk3d.viz.explain_words import HEADINGS, bounds, legend
from gjk3d.viz.steps import Step

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
