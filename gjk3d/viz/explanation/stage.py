"""Draw the two views of a step, one plotter for all steps; and the window that walks through them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d.viz.drawing import INK
from gjk3d.viz.explanation.figure import beneath, height_beneath
from gjk3d.viz.explanation.scene import Scene
from gjk3d.viz.explanation.steps import Step
from gjk3d.viz.paint import Added, repaint
from gjk3d.viz.picture import new_plotter

if TYPE_CHECKING:
    from PIL import Image


class Stage:
    """A plotter with the two views side by side, in which step after step is drawn."""

    def __init__(self, scene: Scene, size: tuple[int, int], off_screen: bool = True, **layout: Any) -> None:
        self._views = scene.left, scene.right
        self.plotter = new_plotter(off_screen=off_screen, size=size, **({"shape": (1, 2)} | layout))
        self.plotter.set_background("white", all_renderers=True)
        self._added: list[Added] = [[], []]

    def show(self, index: int) -> None:
        """Replace what is drawn by a step."""
        for column, view in enumerate(self._views):
            self.plotter.subplot(0, column)
            self._added[column] = repaint(self.plotter, view.steps[index], self._added[column])

    def shoot(self, index: int) -> Image.Image:
        """Draw a step and return the picture of both views."""
        from PIL import Image

        self.show(index)
        self.plotter.render()
        return Image.fromarray(np.asarray(self.plotter.screenshot(None, return_img=True)))


_SIZE = (1200, 860)


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
        low = height_beneath(steps, _SIZE[0]) + 40  # with the slider
        weights = {"row_weights": [_SIZE[1] - low, low], "groups": [(1, [0, 1])]}
        self._stage = Stage(scene, _SIZE, off_screen, shape=(2, 2), **weights)
        self.plotter = self._stage.plotter
        self.plotter.subplot(1, 0)
        self._page = pyvista.Plane(center=(0, 20, 0), i_size=_SIZE[0], j_size=low - 40, i_resolution=1, j_resolution=1)
        self.plotter.enable_parallel_projection()
        self.plotter.camera_position = [(0, 0, 1000), (0, 0, 0), (0, 1, 0)]
        self.plotter.camera.parallel_scale = low / 2
        look = {"color": INK, "fmt": "%.0f", "title_height": 0.02, "slider_width": 0.02, "tube_width": 0.006}
        ends = {"pointa": (0.025, 0.06), "pointb": (0.56, 0.06)}
        self.slider = self.plotter.add_slider_widget(
            self._slid, [1, len(steps)], value=1, interaction_event="always", **ends, **look
        )
        for name, by in (("Left", -1), ("Right", 1)):
            self.plotter.add_key_event(name, lambda by=by: self.go(self.at + by))
        self.go(0)

    def go(self, step: int) -> None:
        """Show a step, the first or the last where there is none of this number."""
        import pyvista

        to = min(max(step, 0), len(self._steps) - 1)
        if to == self.at:
            return
        self.at = to
        self._stage.show(to)
        self.plotter.subplot(1, 0)
        texture = pyvista.Texture(np.asarray(beneath(self._steps, to, _SIZE[0])))
        look = {"lighting": False, "reset_camera": False, "render": False, "pickable": False}
        self.plotter.add_mesh(self._page, texture=texture, name="words", **look)
        self.slider.GetRepresentation().SetValue(to + 1)
        if self.plotter.iren is not None and self.plotter.iren.initialized:
            self.plotter.render()

    def _slid(self, value: float) -> None:
        if self.at >= 0:
            self.go(round(value) - 1)
