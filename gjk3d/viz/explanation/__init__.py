"""Explanation of a result: every step of GJK and EPA, as a drawing and in words.

`narration` converts the trace of a result to steps in words. `stage` draws the steps, shows them in a window, and
writes them as a page, pictures and animations. `lessons` writes pages on a topic.
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
from gjk3d.frozen import shown
from gjk3d.narrow.solve import EPA_ALWAYS, SIGNED, UNSIGNED
from gjk3d.query.overlap import Difference
from gjk3d.query.pair import query_distance
from gjk3d.results import Distance, Status, Trace
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.units import symbol
from gjk3d.viz import picture as notebook
from gjk3d.viz.drawing import check_text
from gjk3d.viz.explanation.narration import SHARED, Narrator, Step
from gjk3d.viz.explanation.stage import Scene, arrange
from gjk3d.viz.image_files import PAGES, check_rendering, free_name, has_display, target_file
from gjk3d.wording import kind_of

if TYPE_CHECKING:
    from gjk3d.viz.explanation.stage import Window

_PICTURES, _ANIMATIONS = (".png", ".jpg", ".jpeg"), (".gif", ".webp")
#: tolerance of EPA, relative to the size of the pair, for a depth that has a closed form
_NEAR = 1e-3


def explain(
    result: Distance,
    *,
    view: Sequence[float] | None = None,
    up: Sequence[float] | None = None,
    unit: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Explanation:
    """Return the explanation of a result: the recorded steps of GJK and EPA, as drawings and in words.

    Parameters
    ----------
    result : Distance
        Result of one pair of convex shapes. If it was computed without ``trace=True``, the query is repeated.
    view : (3,) float, optional
        Direction to the camera in the two pictures of a step, of the shapes and of their Minkowski difference.
    up : (3,) float, optional
        Direction that is up in the pictures, z by default.
    unit : str, optional
        Unit that is printed after lengths.
    path : path, optional
        The file to write, as by `Explanation.save`.

    Returns
    -------
    Explanation
        An object with ``.steps``, ``.show()`` and ``.save(path)``.

    Raises
    ------
    TypeError
        ``result`` is not a result of one pair.
    UnsupportedPair
        A shape is a half-space or not convex, so the result is not from GJK and EPA.

    Examples
    --------
    >>> import gjk3d as gk
    >>> result = gk.distance(gk.Box((1, 1, 1)), gk.Point((2, 0, 0)), trace=True)
    >>> explanation = gk.viz.explain(result)
    >>> explanation.steps[-1].title
    'Result: apart by 1.5'
    """
    check_text(unit, "unit")
    if not isinstance(result, Distance):
        raise TypeError(f"result is {kind_of(result)}, expected a result of gjk3d.distance or gjk3d.signed_distance")
    if result.normal.ndim == 2:
        raise TypeError(
            f"the result has {len(result)} pairs, expected one pair. Explain one row, for example result[0]"
        )
    for name, shape in zip("AB", (result.shape_a, result.shape_b), strict=True):
        if not isinstance(shape, Shape):
            raise UnsupportedPair(
                f"{name} is {kind_of(shape)}, but explain shows GJK and EPA, which need convex shapes. Use the hull, "
                f"result.shape_{name.lower()}.hull()"
            )
        if isinstance(shape, Halfspace):
            raise UnsupportedPair(
                f"{name} is {kind_of(shape)}, whose distances are computed without GJK and EPA. Use viz.show to draw "
                "the result"
            )
    explanation = Explanation(result, view, up, symbol(unit))
    if path is not None:
        explanation.save(path)
    return explanation


def _trace_of(result: Distance) -> Trace:
    """Return the recorded steps of GJK and EPA of a result.

    The query is repeated if the result has no trace, or if the trace of a depth has no steps of EPA.
    """
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
    # The depth of this tie of curved shapes has a closed form. EPA runs with a coarse tolerance, since with a fine one
    # it takes thousands of steps.
    return trace_in_mode(EPA_ALWAYS, max(tol or 0.0, _NEAR))


class Explanation:
    """The steps by which GJK and EPA computed a result.

    Attributes
    ----------
    result : Distance
        The explained result.
    steps : list of Step
        The steps. A step has a ``sentence``, a simplex or polytope, a direction, a point and bounds.
    """

    def __init__(self, result: Distance, view: Any, up: Any, unit: str | None) -> None:
        self.result, self._unit = result, unit
        self._difference = Difference(result)
        self.steps: list[Step] = Narrator(result, _trace_of(result), self._difference, unit).narrate()
        self._look = view, up

    _repr_mimebundle_ = shown

    def __repr__(self) -> str:
        return f"Explanation of {len(self.steps)} steps: {self.steps[-1].title.lower()}"

    def __str__(self) -> str:
        return "\n".join(f"{step.number + 1}. {step.title}. {step.sentence}" for step in self.steps)

    def _figure(self) -> notebook.Bundle:
        """Return the figure for a notebook: the first and last step, and the page of all steps."""
        return notebook.figure(repr(self), str(self), lambda path: self.save(path, most=2), self.save)

    @cached_property
    def _scene(self) -> Scene:

        return arrange(self.result, self.steps, self._difference, *self._look)

    def show(self, *, off_screen: bool | None = None) -> Window | Path | None:
        """Open a window in which the left and right arrow keys and a slider select the step, and return the window.

        Parameters
        ----------
        off_screen : bool, optional
            True returns the window without opening it. By default a notebook shows the steps, and otherwise a window
            opens. Without a display a picture of the steps is saved, and stderr names the file.

        Returns
        -------
        Window, Path or None
            The window with ``.plotter``, ``.at`` and ``.go(step)``, the path of the picture, or None in a notebook.

        Raises
        ------
        RenderingUnavailableError
            No OpenGL library works. The message names the packages to install.
        """
        from gjk3d.viz.explanation.stage import Window

        if off_screen is None and notebook.is_open():
            notebook.display(self._figure())
            return None
        check_rendering()
        if off_screen is None and not has_display():
            saved = self.save(free_name())
            sys.stderr.write(f"gjk3d: no display, so the steps are saved as {saved}\n")
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
        """Write a picture of numbered panels (.png, .jpg), an animation (.gif, .webp) or one offline page (.html).

        Both views of a page can be rotated. Its slider and the arrow keys select the step.

        Parameters
        ----------
        path : path
            The file to write. Its extension determines the format.
        most : int, optional
            Greatest number of steps, including the first and the last. The default is 8 in a picture and 24 in an
            animation. A page has all steps.
        seconds : float, optional
            Time of each step in an animation. By default it is the reading time of the step's sentence, at most 20
            seconds for all steps.
        names : (str, str), optional
            Names of A and B in a page. By default they are the kinds of the shapes.

        Returns
        -------
        Path
            The written file.

        Raises
        ------
        FileError
            The folder does not exist.
        RenderingUnavailableError
            No OpenGL library works. Pages are written without OpenGL.
        """
        target = target_file(path, _PICTURES + _ANIMATIONS + PAGES)
        kind = target.suffix.lower()
        from gjk3d.viz.explanation import stage

        if kind in PAGES:
            return stage.write_page(target, self, names)
        check_rendering()
        if kind in _PICTURES:
            stage.save_panels(target, self.steps, self._scene, most or 8)
        else:
            stage.save_animation(target, self.steps, self._scene, most or 24, seconds)
        return target
