"""Draw steps, one plotter for all of them: both views, their words and the curve; and the window that walks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gjk3d.viz.drawing import INK, Drawing
from gjk3d.viz.explanation.figure import Curve, legend
from gjk3d.viz.explanation.scene import Scene
from gjk3d.viz.explanation.steps import Step, bounds
from gjk3d.viz.paint import Added, repaint
from gjk3d.viz.picture import new_plotter, shot

if TYPE_CHECKING:
    from PIL import Image


CURVE = 262  #: height of the curve and the colours beside it
_ROW, _LETTER = 25, 9.4  #: height of a row of words and width of a letter, in pixels


def height_beneath(steps: list[Step], width: int) -> int:
    """Return how high what stands under the views is: the longest sentence fits, so that nothing jumps."""
    longest = max(len(step.sentence) for step in steps)
    return round(_ROW * (1.8 + _LETTER * longest // width + 1.0)) + CURVE


class Stage:
    """A plotter with the two views side by side, in which step after step is drawn.

    Words stand below them with the curve and what the colours mean, or ``beside`` them.
    """

    def __init__(
        self,
        steps: list[Step],
        scene: Scene,
        size: tuple[int, int],
        beside: bool = False,
        off_screen: bool = True,
        foot: int = 0,
    ) -> None:
        self._steps, self._views, self._beside = steps, (scene.left, scene.right), beside
        low = height_beneath(steps, size[0])
        heights = [size[1] - low - foot, low - CURVE, CURVE, *([foot] if foot else [])]
        below = {"groups": [(row, [0, 1]) for row in (1, 3) if row < len(heights)], "row_weights": heights}
        shape, layout = ((1, 3), {"col_weights": [30, 30, 40]}) if beside else ((len(heights), 2), below)
        self.plotter = new_plotter(off_screen=off_screen, size=size, shape=shape, **layout)
        self.plotter.set_background("white", all_renderers=True)
        self._added: list[Added] = [[], []]
        if not beside:
            self.plotter.subplot(2, 0)
            self._curve = Curve(self.plotter, steps)

    def show(self, index: int) -> None:
        """Replace what is drawn by a step."""
        step = self._steps[index]
        for column, view in enumerate(self._views):
            self.plotter.subplot(0, column)
            self._added[column] = repaint(self.plotter, view.steps[index], self._added[column])
        words, known = [f"{index + 1} of {len(self._steps)}: {step.title}", step.sentence], [bounds(step)]
        if self._beside:
            self._write(0, 2, Drawing(words=words + known))
        else:
            self._write(1, 0, Drawing(words=words))
            self._write(2, 1, Drawing(words=known, keys=legend(step)))
            self._curve.show(index)

    def _write(self, row: int, column: int, drawing: Drawing) -> None:
        self.plotter.subplot(row, column)
        repaint(self.plotter, drawing, [])

    def shoot(self, index: int) -> Image.Image:
        """Draw a step and return the picture of it."""
        from PIL import Image

        self.show(index)
        return Image.fromarray(shot(self.plotter))


def shoot_curve(steps: list[Step], size: tuple[int, int]) -> Image.Image:
    """Return a picture of the curve of all steps, and beside it what the colours in any of them mean."""
    from PIL import Image

    plotter = new_plotter(off_screen=True, size=size, shape=(1, 2))
    try:
        plotter.set_background("white", all_renderers=True)
        Curve(plotter, steps).show(len(steps) - 1)
        plotter.subplot(0, 1)
        repaint(plotter, Drawing(keys=legend(*steps)), [])
        return Image.fromarray(shot(plotter))
    finally:
        plotter.close()


_SIZE, _SLIDER = (1200, 900), 40


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
        self._last, self.at = len(steps) - 1, -1
        self._stage = Stage(steps, scene, _SIZE, off_screen=off_screen, foot=_SLIDER)
        self.plotter = self._stage.plotter
        self.plotter.subplot(3, 0)
        look = {"color": INK, "fmt": "%.0f", "title_height": 0.3, "slider_width": 0.3, "tube_width": 0.08}
        ends = {"pointa": (0.025, 0.5), "pointb": (0.56, 0.5)}
        self.slider = self.plotter.add_slider_widget(
            self._slid, [1, len(steps)], value=1, interaction_event="always", **ends, **look
        )
        for name, by in (("Left", -1), ("Right", 1)):
            self.plotter.add_key_event(name, lambda by=by: self.go(self.at + by))
        self.go(0)

    def go(self, step: int) -> None:
        """Show a step, the first or the last where there is none of this number."""
        to = min(max(step, 0), self._last)
        if to == self.at:
            return
        self.at = to
        self._stage.show(to)
        self.slider.GetRepresentation().SetValue(to + 1)
        if self.plotter.iren is not None and self.plotter.iren.initialized:
            self.plotter.render()

    def _slid(self, value: float) -> None:
        if self.at >= 0:
            self.go(round(value) - 1)
