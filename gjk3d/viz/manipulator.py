"""Two shapes, one of which is dragged with the mouse, and their distance as it moves."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d.errors import UnsupportedPair
from gjk3d.query.contact import Contact, contact
from gjk3d.query.pair import Pair
from gjk3d.query.wording import headline, proof
from gjk3d.results import Distance
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array
from gjk3d.viz.drawing import COLORS, INK, Drawing, Style
from gjk3d.viz.kinds.answers import add_points, add_witness, key_pair
from gjk3d.viz.kinds.bodies import add, matrices
from gjk3d.viz.paint import Mover, Posed
from gjk3d.viz.picture import in_window
from gjk3d.wording import count

if TYPE_CHECKING:
    import pyvista

_HELP = "drag an arrow of B to move it, a ring to turn it"


class Dragged:
    """Two shapes in a plotter, and their answer for where B was dragged to.

    Attributes
    ----------
    plotter : pyvista.Plotter
        Its ``show()`` opens the window.
    pose_b : (4, 4) float
        Where B is now.
    result : Distance
        Their signed distance now.
    contact : Contact or None
        Their contact points now; None where they are apart, or not both convex.
    """

    def __init__(
        self, plotter: pyvista.Plotter, a: Any, b: Any, pose_a: Array | None, pose_b: Array, style: Style
    ) -> None:
        self.plotter, self.pose_b = plotter, pose_b
        self._shapes, self._pose_a, self._style = (a, b), pose_a, style
        self._pair = Pair(a, b)
        both = (Drawing(), Drawing())
        for k, (one, pose) in enumerate(zip(both, (pose_a, None), strict=True)):
            # no outline: VTK finds it for where B was, not for where it is
            add(one, self._shapes[k], pose, style.color(k, COLORS), style.alpha(k, 0.5), outline=False)
        whole = Drawing(both[0].items + [item.moved(pose_b) for item in both[1].items])
        points = both[1].framed
        self._center = (points.min(axis=0) + points.max(axis=0)) / 2.0
        arrows = 0.6 * float(np.linalg.norm(np.ptp(points, axis=0))) * np.eye(3)
        whole.dots(pose_b[:3, :3] @ self._center + pose_b[:3, 3] + arrows, INK)  # they have to be in the picture too
        movers = [Mover("AB"[k], style.color(k, COLORS), one.items) for k, one in enumerate(both)]
        self._posed = Posed(plotter, whole, movers)
        self._grip = self._posed.actors[1][0]
        self._widget: Any = None
        self._ask()
        self._grip.AddObserver("ModifiedEvent", self._follow)

    def move(self, pose_b: Any) -> Distance:
        """Put B somewhere, as dragging it does, and return the answer there."""
        self._grip.user_matrix = matrices(pose_b, "pose_b")[0]
        if self._widget is not None:  # a widget goes on from where it left B
            self._widget.remove()
            self._widget = None
            self._hold()
        return self.result

    def _follow(self, *_: Any) -> None:
        """Ask again where B's actor has a new matrix."""
        pose = np.array(self._grip.user_matrix)
        if np.array_equal(pose, self.pose_b):
            return
        self.pose_b = pose
        if self._widget is not None:
            self._widget.origin = self._middle()
        self._ask()

    def _ask(self) -> None:
        self.result: Distance = self._pair.signed_distance(self._pose_a, self.pose_b)
        self.contact: Contact | None = None
        a, b = self._shapes
        if isinstance(a, Shape) and isinstance(b, Shape) and self.result.distance <= 0.0:
            with suppress(UnsupportedPair):
                self.contact = contact(a, b, self._pose_a, self.pose_b, max_points=None)
        self._draw()

    def _draw(self) -> None:
        result, colors = self.result, self._style.colors or COLORS
        signs = self._posed.signs(headline(result), proof(result))
        key_pair(signs, self._shapes, self._style)
        add_witness(signs, result, signs.ball[1], colors)
        if self.contact is not None and self.contact.count:
            signs.words.append(count(self.contact.count, "contact point"))
            add_points(signs, self.contact, signs.ball[1], colors)
        signs.words.append(_HELP)
        self._posed.set([None, self.pose_b], signs, alarm=result.distance <= 0.0)

    def _middle(self) -> tuple[float, ...]:
        """Return where the middle of B is, about which it turns."""
        return tuple((self.pose_b @ np.append(self._center, 1.0))[:3].tolist())

    def _hold(self) -> None:
        """Put the arrows and rings round where B is; they follow it from there."""
        self.plotter.subplot(*self._posed.panel)
        self._widget = self.plotter.add_affine_transform_widget(
            self._grip, origin=self._middle(), scale=0.45, line_radius=0.02
        )


def drag(
    a: Any,
    b: Any,
    pose_a: Any = None,
    pose_b: Any = None,
    *,
    plotter: pyvista.Plotter | None = None,
    colors: tuple[str, str] = COLORS,
    opacity: float = 0.5,
    off_screen: bool | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Dragged:
    """Open a window in which B is dragged with the mouse, and its distance from A follows.

    Distance or depth, what is proven of it, the nearest points, the normal, the way out of an overlap and, for convex
    shapes, the contact points are those of every moment. Where there is no display, nothing opens: a picture of the
    start is saved, and stderr says where.

    Parameters
    ----------
    a, b : shape, mesh or other solid
        B needs to be bounded.
    pose_a, pose_b : (4, 4) float, optional
        Where they are at first.
    plotter : pyvista.Plotter, optional
        Draw into this one; it is not shown.
    colors : (str, str)
        Of A and B.
    opacity : float
        Of both.
    off_screen : bool, optional
        True: nothing is shown or saved; for tests and for pictures of one's own.
    path : path, optional
        Save a picture of the start here, and open nothing.

    Returns
    -------
    Dragged
        ``pose_b`` and ``result`` are those of the moment, also after the window was closed.

    Raises
    ------
    RenderingUnavailableError
        There is no OpenGL library to draw with; the message says what to install.
    UnsupportedPair
        B is a half-space, which has no end to hold it by.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> at = np.eye(4); at[0, 3] = 2.0
    >>> dragged = gk.viz.drag(gk.Box((1, 1, 1)), gk.Sphere(0.5), None, at, off_screen=True)
    >>> dragged.result
    Distance: separated, 1 along (1, 0, 0)
    >>> at[0, 3] = 0.9
    >>> dragged.move(at)
    Distance: overlapping, -0.1 along (1, 0, 0)
    >>> dragged.plotter.close()
    """
    if isinstance(b, Halfspace):
        raise UnsupportedPair(f"a {type(b).__name__} cannot be dragged: give it as A")
    first, second = None if pose_a is None else matrices(pose_a, "pose_a")[0], matrices(pose_b, "pose_b")[0]
    return in_window(
        lambda plotter: Dragged(plotter, a, b, first, second, Style(colors=colors, opacity=opacity)),
        " to drag in", plotter, off_screen, path, begin=Dragged._hold,
    )[0]  # fmt: skip
