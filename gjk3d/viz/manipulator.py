"""Two shapes, one of which is dragged with the mouse, and their distance as it moves."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d.errors import UnsupportedPair
from gjk3d.poses import pose_rows
from gjk3d.query.contact import Contact, contact
from gjk3d.query.pair import Pair
from gjk3d.results import Distance
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array
from gjk3d.viz.drawing import COLORS, INK, NORMAL, SEPARATION, Drawing
from gjk3d.viz.kinds.bodies import add
from gjk3d.viz.layout import called, camera_of, proof, thickened, verdict
from gjk3d.viz.paint import add_items, aim, bring_to_front, panel_of
from gjk3d.viz.picture import has_no_window, new_plotter, save_start
from gjk3d.viz.rendering import check_rendering
from gjk3d.viz.words import LINE, write, write_line
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
        self, plotter: pyvista.Plotter, pair: tuple[Any, Any], pose_a: Array | None, pose_b: Array, colors: Any
    ) -> None:
        self.plotter, self.pose_b = plotter, pose_b
        self._a, self._b = pair
        self._pose_a, self._start, self._colors = pose_a, pose_b, colors
        self._pair = Pair(self._a, self._b)
        self.result: Distance = self._pair.signed_distance(pose_a, pose_b)
        self.contact: Contact | None = None
        self._widget: Any = None
        self._grip: Any = None
        self._moved_with: list[Any] = []
        self._size = 1.0
        self._panel = panel_of(plotter)

    def move(self, pose_b: Any) -> Distance:
        """Put B somewhere, as dragging it does, and return the answer there."""
        self._grip.user_matrix = self._matrix(pose_b, "pose_b") @ np.linalg.inv(self._start)
        if self._widget is not None:  # a widget goes on from where it left B
            self._widget.remove()
            self._widget = None
            self._hold()
        return self.result

    @staticmethod
    def _matrix(pose: Any, name: str) -> Array:
        row = pose_rows(pose, name)[0][0]
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = row[:9].reshape(3, 3), row[9:12]
        return matrix

    def _follow(self, *_: Any) -> None:
        """Ask again where B's actor has a new matrix."""
        moved = np.asarray(self._grip.user_matrix)
        pose = moved @ self._start
        if np.array_equal(pose, self.pose_b):
            return
        self.pose_b = pose
        for actor in self._moved_with:
            actor.user_matrix = moved
        if self._widget is not None:
            self._widget.origin = self._middle()
        self._ask()

    def _ask(self) -> None:
        self.result = self._pair.signed_distance(self._pose_a, self.pose_b)
        self.contact = None
        if isinstance(self._a, Shape) and isinstance(self._b, Shape) and self.result.distance <= 0.0:
            with suppress(UnsupportedPair):
                self.contact = contact(self._a, self._b, self._pose_a, self.pose_b, max_points=None)
        self._draw()

    def _draw(self) -> None:
        result, size = self.result, self._size
        a, b, n = result.point_a, result.point_b, result.normal
        over = result.distance <= 0.0
        self._witness.points = np.array([a, b])
        self._between.points = np.array([a, b])
        self._normal.points = np.array([(a + b) / 2, (a + b) / 2 + 0.3 * size * n])
        self._way_out.points = np.array([b, b + result.depth * n])
        touching = self.contact.points_a if self.contact is not None else np.empty((0, 3))
        here = touching if len(touching) else a[None]
        self._patch_points.points = np.resize(here, (len(self._patch_points.points), 3))
        ring = np.concatenate([here, here[:1]])
        self._patch.points = ring[np.minimum(np.arange(len(self._patch.points)), len(ring) - 1)]
        self.plotter.subplot(*self._panel)
        words = [verdict(result).capitalize(), proof(result)]
        if len(touching):
            words.append(count(len(touching), "contact point"))
        top = 0.99
        for row, text in enumerate([*words, ""][:3]):
            top = write_line(self.plotter, row, text, top, SEPARATION if over and row == 0 else INK)

    def _build(self, opacity: float) -> None:
        """Draw both shapes, and what will be moved with every answer."""
        import pyvista

        around = (np.asarray(self.result.point_a), 1.0)
        both = (Drawing(), Drawing())
        # no outline: VTK finds it for where B was, not for where it is
        add(both[1], self._b, self._start, self._colors[1], opacity, around=around, outline=False)
        if isinstance(self._a, Halfspace):
            around = both[1].ball
        add(both[0], self._a, self._pose_a, self._colors[0], opacity, around=around, outline=False)
        whole = Drawing()
        for one in both:
            whole.take(one)
        self._size, points = whole.ball[1], both[1].framed
        self._center = (points.min(axis=0) + points.max(axis=0)) / 2.0
        arrows = 0.6 * float(np.linalg.norm(np.ptp(points, axis=0))) * np.eye(3)
        whole.dots(self._center + arrows, INK)  # not drawn: the arrows have to be in the picture too
        camera = camera_of(whole)
        _, moving = (add_items(self.plotter, thickened(one.items, self._size), camera.eye) for one in both)
        self._grip, self._moved_with = moving[0], moving[1:]

        def lines(points: int) -> Any:
            return pyvista.PolyData(np.zeros((points, 3)), lines=[points, *range(points)])

        self._witness, self._patch_points = (pyvista.PolyData(np.zeros((k, 3))) for k in (2, 32))
        self._between, self._normal, self._way_out, self._patch = lines(2), lines(2), lines(2), lines(33)
        look = {"pickable": False, "reset_camera": False, "render": False, "lighting": False}
        dots = {**look, "render_points_as_spheres": True}
        tops = [
            self.plotter.add_mesh(self._between, color=INK, line_width=3, **look),
            self.plotter.add_mesh(self._normal, color=NORMAL, line_width=4, **look),
            self.plotter.add_mesh(self._way_out, color=SEPARATION, line_width=6, **look),
            self.plotter.add_mesh(self._patch, color=SEPARATION, line_width=3, **look),
            self.plotter.add_mesh(self._patch_points, color=SEPARATION, point_size=10, **dots),
            self.plotter.add_mesh(self._witness, color=INK, point_size=13, **dots),
        ]
        for actor in tops:  # seen through both shapes
            bring_to_front(actor, translucent=False)
        aim(self.plotter, camera)
        kinds = f"A  {called(self._a)}   B  {called(self._b)}   {_HELP}"
        write(self.plotter, kinds, (0.014, 0.016), LINE, "gjk3d key")
        self._ask()
        self._grip.AddObserver("ModifiedEvent", self._follow)

    def _middle(self) -> tuple[float, ...]:
        """Return where the middle of B is, about which it turns."""
        return tuple((np.asarray(self._grip.user_matrix) @ np.append(self._center, 1.0))[:3].tolist())

    def _hold(self) -> None:
        """Put the arrows and rings round where B is; they follow it from there."""
        self.plotter.subplot(*self._panel)
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
    first = Dragged._matrix(pose_a, "pose_a") if pose_a is not None else None
    windowless = has_no_window(path, off_screen)
    given = plotter is not None
    if plotter is None:
        check_rendering()
        plotter = new_plotter(off_screen=windowless)
    made = Dragged(plotter, (a, b), first, Dragged._matrix(pose_b, "pose_b"), colors)
    made._build(float(opacity))
    if given or off_screen is True:
        return made
    if windowless:
        save_start(plotter, path, "drag")
        return made
    made._hold()
    plotter.show()
    return made
