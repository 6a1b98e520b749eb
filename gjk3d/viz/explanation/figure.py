"""What stands beside the pictures of steps: what colours mean, and the curve of both bounds closing in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gjk3d.viz.drawing import INK, NORMAL
from gjk3d.viz.explanation.scene import ANSWERED, PALETTE, ROLES
from gjk3d.viz.explanation.steps import Step

if TYPE_CHECKING:
    import pyvista


def legend(*steps: Step) -> list[tuple[str, str]]:
    """Return what the colours of steps mean in any of them, and the colours."""
    words = {role: ROLES[role].meaning for role in ("a", "b", "difference")}
    for step in steps:
        if step.phase == "answer":
            words = ANSWERED["deep" if step.upper < 0.0 else "apart"] | words
            continue
        point = ROLES["new"].meaning if len(step.horizon) else "new point" if step.joins else "point found"
        words["new"] = max(words.get("new", ""), point, key=len)
        roles = ["polytope", "closest"] if len(step.faces) else ["simplex"] if len(step.simplex) else []
        roles += [*(["dropped"] if step.dropped else []), *(["removed"] if len(step.removed) > 1 else []), "direction"]
        words |= {role: ROLES[role].meaning for role in (*roles, *(["ink"] if step.nearest is not None else []))}
    return [(words[role], PALETTE[role]) for role in ROLES if role in words]


_LEAST = 1e-6  #: range that is shown, of the size of what it is about
_LETTERS = 17  #: height of words and numbers, in pixels
_BAND, _LATER = "#D6E6F2", "#BDC1C6"


class Curve:
    """The bounds of all steps, drawn into the panel of a plotter that is current."""

    def __init__(self, plotter: pyvista.Plotter, steps: list[Step]) -> None:
        import pyvista

        self.chart = chart = pyvista.Chart2D()
        known = [step for step in steps if np.isfinite(step.lower) and np.isfinite(step.upper)]
        self._at = np.array([step.number + 1.0 for step in known])
        self._bounds = [np.array([getattr(step, side) for step in known]) for side in ("lower", "upper")]
        chart.title = "Bounds of the distance, step by step"
        chart.x_range, chart.y_range = [0.5, len(steps) + 0.5], list(limits(steps))
        ticks = range(1, len(steps) + 1, -(-len(steps) // 12))
        chart.x_axis.tick_locations, chart.x_axis.tick_labels = list(ticks), list(map(str, ticks))
        chart.x_label = chart.y_label = ""
        chart.GetTitleProperties().SetFontSize(_LETTERS)
        chart.x_axis.tick_label_size = chart.y_axis.tick_label_size = _LETTERS
        plotter.add_chart(chart)

    def show(self, index: int) -> None:
        """Mark a step; what is known after it is faint."""
        chart, seen = self.chart, self._at <= index + 1
        chart.clear()
        if seen.any():
            chart.area(self._at[seen], *(bound[seen] for bound in self._bounds), color=_BAND)
        for bound in self._bounds:
            for some, color, width in ((self._at > index, _LATER, 1.0), (seen, INK, 2.0)):
                if some.any():
                    chart.line(self._at[some], bound[some], color=color, width=width)
                    chart.scatter(self._at[some], bound[some], color=color, size=8.0)
        chart.line([index + 1.0] * 2, chart.y_range, color=NORMAL, width=2.0)


def limits(steps: list[Step]) -> tuple[float, float]:
    """Return what the curve shows, from the lowest bound to the highest, and a little more.

    Bounds that are one number but for rounding are drawn as one line, not as that rounding.
    """
    values = np.array([v for s in steps for v in (s.lower, s.upper) if np.isfinite(v)] or [0.0])
    low, high = float(values.min()), float(values.max())
    largest = max(abs(low), abs(high))
    size = max([largest, *(float(np.linalg.norm(s.point)) for s in steps if s.point is not None)])
    room = 0.08 * (high - low)
    if high - low <= _LEAST * size:
        room = max(0.5 * largest, 0.05 * size, 1e-300)
    return low - room, high + room
