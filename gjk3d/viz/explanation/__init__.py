"""Explain an answer: every step of GJK and EPA, drawn and in words.

`narration` reads the trace of an answer and puts it into `steps`, in words; `scene` draws them, `stage` shows them,
`files` writes them as a page, pictures and films. Pictures of answers without their steps are in `viz/kinds`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gjk3d.convex.checks import FACETS
from gjk3d.errors import UnsupportedPair
from gjk3d.narrow.solve import EPA_ALWAYS, SIGNED, UNSIGNED
from gjk3d.query.batch import query_distance
from gjk3d.query.difference import Difference
from gjk3d.results import Distance, Status, Trace
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shown import shown
from gjk3d.units import symbol
from gjk3d.viz import notebook
from gjk3d.viz.explanation.narration import SHARED, Narrator, Step
from gjk3d.viz.explanation.scene import Scene, arrange
from gjk3d.viz.image_files import PAGES, check_rendering, free_name, has_display, target_file
from gjk3d.wording import kind_of

if TYPE_CHECKING:
    from gjk3d.viz.explanation.stage import Window

_STRIPS, _ANIMATIONS = (".png", ".jpg", ".jpeg"), (".gif", ".webp")
#: how near EPA is let to a depth that has a closed form, in units of the pair's size
_NEAR = 1e-3


def explain(
    result: Distance,
    *,
    view: Sequence[float] | None = None,
    up: Sequence[float] | None = None,
    unit: str | None = None,
) -> Explanation:
    """Explain an answer step by step, from the trace of the kernels that found it.

    Parameters
    ----------
    result : Distance
        Answer of one pair of convex shapes, best asked with ``trace=True``; else it is asked once more with one.
    view : (3,) float, optional
        From where to look, as a direction towards the viewer, in both pictures.
    up : (3,) float, optional
        What is up in the pictures; z by default.
    unit : str, optional
        Of all lengths, written behind them; shapes have none of their own.

    Returns
    -------
    Explanation
        With ``.steps``, ``.show()`` and ``.save(path)``.

    Raises
    ------
    TypeError
        It is no answer of one pair.
    UnsupportedPair
        Its steps are none of GJK and EPA: one is a half-space or is not convex.

    Examples
    --------
    >>> import gjk3d as gk
    >>> result = gk.distance(gk.Box((1, 1, 1)), gk.Point((2, 0, 0)), trace=True)
    >>> explanation = gk.viz.explain(result)
    >>> explanation.steps[-1].title
    'Answer: apart by 1.5'
    """
    if not isinstance(result, Distance):
        raise TypeError(f"expected the answer of gjk3d.distance or signed_distance, got {type(result).__name__}")
    if result.normal.ndim == 2:
        raise TypeError(f"this answer is of {len(result)} pairs, and one can be explained: take a row, result[0]")
    for name, shape in zip("AB", (result.shape_a, result.shape_b), strict=True):
        if not isinstance(shape, Shape):
            raise UnsupportedPair(
                f"{name} is {kind_of(shape)}, and explain shows GJK and EPA, which take convex shapes: "
                "ask about its hull() or its parts"
            )
        if isinstance(shape, Halfspace):
            raise UnsupportedPair(
                f"{name} is {kind_of(shape)}, whose answer takes support points and neither GJK nor EPA: "
                "there are no steps to explain; viz.show draws the answer"
            )
    return Explanation(result, view, up, symbol(unit))


def _trace_of(result: Distance) -> Trace:
    """Return the trace of an answer; of asking once more, where it keeps none or none of how deep the two overlap."""
    mode, max_distance, tol, _ = result.asked
    deep = mode != UNSIGNED and result.status == Status.OVERLAPPING
    pose_a, pose_b = (pose[0] if getattr(pose, "ndim", 2) == 3 else pose for pose in (result.pose_a, result.pose_b))

    def trace_in_mode(mode: int, tol: float | None) -> Trace:
        again = query_distance(mode, result.shape_a, result.shape_b, pose_a, pose_b, max_distance, tol, True)
        assert again.trace is not None
        return again.trace

    trace = result.trace or trace_in_mode(SIGNED if mode == FACETS else mode, tol)
    if trace.epa or not deep or trace.gjk_end not in SHARED:
        return trace
    # a tie of curved shapes, whose depth has a closed form: EPA's way to near it is shown, all of which is thousands
    # of steps
    return trace_in_mode(EPA_ALWAYS, max(tol or 0.0, _NEAR))


class Explanation:
    """The steps of one answer.

    Attributes
    ----------
    result : Distance
        The answer.
    steps : list of Step
        Each with its ``sentence`` and what it was about: simplex, direction, point, polytope, bounds.
    """

    def __init__(self, result: Distance, view: Any, up: Any, unit: str | None) -> None:
        self.result, self._unit = result, unit
        self._difference = Difference(result)
        self.steps: list[Step] = Narrator(result, _trace_of(result), self._difference, unit).steps_told()
        self._look = view, up

    _repr_mimebundle_ = shown

    def __repr__(self) -> str:
        return f"Explanation of {len(self.steps)} steps: {self.steps[-1].title.lower()}"

    def __str__(self) -> str:
        return "\n".join(f"{step.number + 1}. {step.title}. {step.sentence}" for step in self.steps)

    def _figure(self) -> notebook.Bundle:
        """Return what a notebook shows: the first step and the last, and the page of all."""
        return notebook.figure(repr(self), str(self), lambda path: self.save(path, most=2), self.save)

    @cached_property
    def _scene(self) -> Scene:
        """What is drawn of every step, in both views."""
        return arrange(self.result, self.steps, self._difference, *self._look)

    def show(self, *, off_screen: bool | None = None) -> Window | Path | None:
        """Open a window in which the left and right arrow keys and a slider lead from step to step.

        Parameters
        ----------
        off_screen : bool, optional
            True: open nothing, and return the window ready to be drawn. By default a notebook shows the steps, and
            elsewhere a window opens; where there is no display, a strip of pictures is saved, and stderr says where.

        Returns
        -------
        Window, Path or None
            With ``.plotter``, ``.at`` and ``.go(step)``; the path of what was saved where there is no
            display; None where a notebook shows it.

        Raises
        ------
        RenderingUnavailableError
            There is no OpenGL library to draw with; the message says what to install.
        """
        from gjk3d.viz.explanation.stage import Window

        if off_screen is None and notebook.is_open():
            notebook.display(self._figure())
            return None
        check_rendering()
        if off_screen is None and not has_display():
            saved = self.save(free_name())
            sys.stderr.write(f"gjk3d: no display, so the steps are in {saved}\n")
            return saved
        window = Window(self.steps, self._scene, bool(off_screen))
        if not off_screen:
            window.plotter.show()
        return window

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        most: int | None = None,
        seconds: float | None = None,
        names: tuple[str, str] | None = None,
    ) -> Path:
        """Write a strip of pictures (.png, .jpg), an animation (.gif, .webp) or one offline page (.html).

        In a page both views can be turned; its slider and the arrow keys lead from step to step.

        Parameters
        ----------
        path : path
            Where to write; its extension says what.
        most : int, optional
            Steps shown; of more, the first, the last and some between. By default 8 in a strip, 24 in an animation.
        seconds : float, optional
            Of each step in an animation; by default as long as its sentence takes to read, all at most 20 seconds.
        names : (str, str), optional
            What A and B are called in a page; their kinds of shape by default.

        Returns
        -------
        Path
            The file written.

        Raises
        ------
        FileError
            Its folder is not there.
        RenderingUnavailableError
            There is no OpenGL library to draw with; pages need none.
        """
        target = target_file(path, _STRIPS + _ANIMATIONS + PAGES)
        kind = target.suffix.lower()
        from gjk3d.viz.explanation import stage

        if kind in PAGES:
            return stage.write_page(target, self, names)
        check_rendering()
        if kind in _STRIPS:
            stage.save_strip(target, self.steps, self._scene, most or 8)
        else:
            stage.save_animation(target, self.steps, self._scene, most or 24, seconds)
        return target
