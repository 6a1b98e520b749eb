"""Interactive windows that update the result: a shape that the mouse drags, and a robot with sliders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d.errors import RobotError, UnsupportedPair
from gjk3d.query.contact import Contact, contact
from gjk3d.query.pair import Pair
from gjk3d.query.wording import headline, proof
from gjk3d.results import Distance
from gjk3d.robot import Checker, Robot
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Row
from gjk3d.viz.colors import COLORS, INK
from gjk3d.viz.drawing import Drawing, Style
from gjk3d.viz.kinds.answers import add_points, add_witness, key_pair
from gjk3d.viz.kinds.bodies import add, matrices
from gjk3d.viz.kinds.robots import (
    LINKS,
    THINGS,
    State,
    add_state,
    add_things,
    draw_robot,
    labels_of,
    parts_of,
    slider_range,
    state_of,
    words_for,
)  # fmt: skip
from gjk3d.viz.paint import Mover, Posed
from gjk3d.viz.picture import in_window
from gjk3d.wording import count

if TYPE_CHECKING:
    import pyvista

_HELP = "drag an arrow to move B, a ring to rotate B"


class Dragged:
    """Two shapes in a plotter, and the result at the pose that B was dragged to.

    Attributes
    ----------
    plotter : pyvista.Plotter
        Its ``show()`` opens the window.
    pose_b : (4, 4) float
        The present pose of B.
    result : Distance
        The present signed distance.
    contact : Contact or None
        The present contact points, or None if the shapes are apart or not both convex.
    """

    def __init__(
        self, plotter: pyvista.Plotter, a: Any, b: Any, pose_a: Array | None, pose_b: Array, style: Style
    ) -> None:
        self.plotter, self.pose_b = plotter, pose_b
        self._shapes, self._pose_a, self._style = (a, b), pose_a, style
        self._pair = Pair(a, b)
        drawings = (Drawing(), Drawing())
        for k, (drawing, pose) in enumerate(zip(drawings, (pose_a, None), strict=True)):
            # without an outline, since VTK computes it for the old pose of B
            add(drawing, self._shapes[k], pose, style.color(k, COLORS), style.alpha(k, 0.5), outline=False)
        scene = Drawing(drawings[0].items + [item.moved(pose_b) for item in drawings[1].items])
        points = drawings[1].framed
        self._center = (points.min(axis=0) + points.max(axis=0)) / 2.0
        arrows = 0.6 * float(np.linalg.norm(np.ptp(points, axis=0))) * np.eye(3)
        scene.dots(pose_b[:3, :3] @ self._center + pose_b[:3, 3] + arrows, INK)  # the camera has to show the arrows too
        movers = [Mover("AB"[k], style.color(k, COLORS), drawing.items) for k, drawing in enumerate(drawings)]
        self._posed = Posed(plotter, scene, movers)
        self._grip = self._posed.actors[1][0]
        self._widget: Any = None
        self._query()
        self._grip.AddObserver("ModifiedEvent", self._follow)

    def move(self, pose_b: Any) -> Distance:
        """Set the pose of B, like dragging it, and return the result at this pose."""
        self._grip.user_matrix = matrices(pose_b, "pose_b")[0]
        if self._widget is not None:  # a widget continues from its last pose of B
            self._widget.remove()
            self._widget = None
            self._hold()
        return self.result

    def _follow(self, *_: Any) -> None:
        pose = np.array(self._grip.user_matrix)
        if np.array_equal(pose, self.pose_b):
            return
        self.pose_b = pose
        if self._widget is not None:
            self._widget.origin = self._middle()
        self._query()

    def _query(self) -> None:
        self.result: Distance = self._pair.signed_distance(self._pose_a, self.pose_b)
        self.contact: Contact | None = None
        a, b = self._shapes
        if isinstance(a, Shape) and isinstance(b, Shape) and self.result.distance <= 0.0:
            with suppress(UnsupportedPair):
                self.contact = contact(a, b, self._pose_a, self.pose_b, max_points=None)
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
        """Return the middle of B in the world, about which the mouse rotates B."""
        return tuple((self.pose_b @ np.append(self._center, 1.0))[:3].tolist())

    def _hold(self) -> None:
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
    """Open a window in which the mouse drags B, and return the shapes with their present result.

    The picture shows the present distance or depth with its proven bounds, the nearest points and the normal. In
    overlap it shows the separating translation and, for convex shapes, the contact points. Without a display, a picture
    of the start is saved, and stderr names the file.

    Parameters
    ----------
    a, b : shape, mesh or other solid
        B must be bounded.
    pose_a, pose_b : (4, 4) float, optional
        Poses at the start.
    plotter : pyvista.Plotter, optional
        The plotter to draw into. Its window is not opened.
    colors : (str, str)
        Colours of A and B.
    opacity : float
        Opacity of A and B.
    off_screen : bool, optional
        True neither opens a window nor saves a picture.
    path : path, optional
        The file to save a picture of the start to, instead of opening a window.

    Returns
    -------
    Dragged
        ``pose_b`` and ``result`` follow the mouse. They keep their last values after the window is closed.

    Raises
    ------
    RenderingUnavailableError
        No OpenGL library works. The message names the packages to install.
    UnsupportedPair
        B is a half-space, which is unbounded.

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
        raise UnsupportedPair(f"B is a {type(b).__name__}, which is unbounded and cannot be dragged. Pass it as A")
    first, second = None if pose_a is None else matrices(pose_a, "pose_a")[0], matrices(pose_b, "pose_b")[0]
    return in_window(
        lambda plotter: Dragged(plotter, a, b, first, second, Style(colors=colors, opacity=opacity)),
        " to drag in", plotter, off_screen, path, begin=Dragged._hold,
    )[0]  # fmt: skip


MOST_SLIDERS = 12
#: Edges of the area of sliders, in fractions of the window, and the shift of the picture that makes room for them.
_LEFT, _RIGHT, _TOP, _BOTTOM, _ASIDE = 0.76, 0.98, 0.90, 0.08, 0.2
#: Number of random configurations that estimate the reach of a robot, and the limit that replaces an infinite limit.
_TRIED, _TURN = 32, 2.0 * np.pi


class Slid:
    """A robot in a plotter, and the result at the configuration of its sliders.

    Attributes
    ----------
    plotter : pyvista.Plotter
        Its ``show()`` opens the window.
    q : (dof,) float
        The present configuration.
    state : State or None
        The colliding pairs and the closest pair, or None for a Robot without a Checker.
    sliders : dict of str to vtkSliderWidget
        The sliders by their labels.
    """

    def __init__(
        self, plotter: pyvista.Plotter, x: Robot | Checker, q: Array, numbers: dict[str, int], style: Style
    ) -> None:
        self.plotter, self.q, self._numbers = plotter, q, numbers
        self.state: State | None = None
        self.sliders: dict[str, Any] = {}
        self._x, self._parts = x, parts_of(x, style)
        self._robot = x.robot if isinstance(x, Checker) else x
        scene, things = draw_robot(x, style, q=q, labels=False), Drawing()
        if isinstance(x, Checker):
            add_things(things, x, frozenset())
        scene.dots(self._reached(), INK)  # the camera shows the robot at all configurations
        center, radius = scene.ball
        far = np.linalg.norm(scene.items[-1].vertices - center, axis=1).max(initial=radius)
        scene.focus = center, float(far)
        self._keys = [key for key in scene.keys if key[1] in (style.color(0, LINKS), THINGS)]
        movers = [Mover(part.name, part.color, part.items) for part in self._parts]
        self._posed = Posed(plotter, scene, movers + [Mover(item.name, THINGS, [item]) for item in things.items])
        plotter.camera.SetWindowCenter(_ASIDE, 0.0)
        self._add_sliders()
        self._query()

    def _reached(self) -> Array:
        """Return extreme points of the links at random configurations, (n, 3) float, for the size of the picture."""
        low, high = (np.clip(limits, -_TURN, _TURN) for limits in (self._robot.lower, self._robot.upper))
        rows = np.random.default_rng(0).uniform(low, high, (_TRIED, self._robot.dof))
        limits_reached = [
            item.moved(links[part.link] @ part.local).vertices
            for links in map(self._robot.link_poses, rows)
            for part in self._parts
            for item in part.items
        ]
        ends = [points[[*points.argmin(axis=0), *points.argmax(axis=0)]] for points in limits_reached]
        return np.concatenate([np.zeros((0, 3)), *ends])

    def move(self, q: Row) -> State | None:
        """Set the configuration of the robot and the sliders, and return the collisions or the closest pair."""
        self.q = np.array(self._robot.configurations(q)[0][0])
        for label, widget in self.sliders.items():
            widget.GetRepresentation().SetValue(self.q[self._numbers[label]])
        self._query()
        return self.state

    def _slide(self, number: int, value: float) -> None:
        if value != self.q[number]:  # pyvista also calls this when it makes a slider
            self.q[number] = value
            self._query()

    def _query(self) -> None:
        links, signs = self._robot.link_poses(self.q), self._posed.signs()
        signs.keys = list(self._keys)
        self.state = state_of(self._x, self.q) if isinstance(self._x, Checker) else None
        if self.state is not None:
            signs.words = [words_for(self.state)]
            add_state(signs, self.state, labels=False)
        poses = [links[part.link] @ part.local for part in self._parts]
        self._posed.set(poses, signs, self.state.hit if self.state is not None else ())

    def _add_sliders(self) -> None:
        space = min((_TOP - _BOTTOM) / max(len(self._numbers), 1), 0.13)
        for row, (label, number) in enumerate(self._numbers.items()):
            height = _TOP - space * (row + 0.6)
            value = self.q[number]
            self.sliders[label] = self.plotter.add_slider_widget(
                partial(self._slide, number), slider_range(self._robot, number, value), value=value, title="",
                pointa=(_LEFT, height), pointb=(_RIGHT, height), color=INK, interaction_event="always",
                title_height=0.022, fmt=f"{label.replace('%', '%%')}  %.3f", slider_width=0.018, tube_width=0.004,
            )  # fmt: skip


def _numbers(robot: Robot, names: Sequence[str]) -> dict[str, int]:
    """Return a dictionary from the label of each slider to its column of q. Raise RobotError for too many sliders."""
    labels = labels_of(robot, names)
    if len(labels) > MOST_SLIDERS:
        raise RobotError(
            f"joints: {len(labels)} sliders do not fit, expected at most {MOST_SLIDERS}. Name fewer joints"
        )
    return labels


def sliders(
    x: Robot | Checker,
    q: Row | None = None,
    *,
    joints: Sequence[str] | None = None,
    plotter: pyvista.Plotter | None = None,
    colors: Sequence[str] | None = None,
    off_screen: bool | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Slid:
    """Open a window in which sliders move the joints of a robot, and return the robot and its state.

    The picture shows the present collisions or the closest pair. Without a display, a picture of the start is saved,
    and stderr names the file.

    Parameters
    ----------
    x : Robot or Checker
        For a Checker the window also shows its obstacles, and the colliding (vermilion) or closest pair.
    q : (dof,) float, optional
        The configuration at the start, all 0 by default.
    joints : sequence of str, optional
        Joints with sliders. By default they are the first joints whose sliders fit.
    colors : sequence of str, optional
        Colours of the links in turn.
    plotter, off_screen, path
        As in `drag`.

    Returns
    -------
    Slid
        ``q`` and ``state`` follow the sliders. They keep their last values after the window is closed.

    Raises
    ------
    RobotError
        A joint does not exist, or there are too many joints.
    RenderingUnavailableError
        No OpenGL library works. The message names the packages to install.

    Examples
    --------
    >>> import gjk3d as gk
    >>> arm = gk.robot.Robot.from_urdf("data/arm/arm.urdf", "data/arm/arm.srdf")
    >>> slid = gk.viz.sliders(gk.robot.Checker(arm), off_screen=True)
    >>> list(slid.sliders)[:2], slid.state.pairs
    (['joint_1', 'joint_2'], ())
    >>> slid.plotter.close()
    """
    robot = x.robot if isinstance(x, Checker) else x
    start = np.array(robot.configurations(np.zeros(robot.dof) if q is None else q)[0][0])
    if joints is None:
        ends = np.cumsum([robot.columns[name].stop - robot.columns[name].start for name in robot.joint_names])
        joints = [name for name, end in zip(robot.joint_names, ends, strict=True) if end <= MOST_SLIDERS]
    numbers, style = _numbers(robot, joints), Style(colors=None if colors is None else tuple(colors))
    return in_window(
        lambda plotter: Slid(plotter, x, start, numbers, style),
        " to slide in", plotter, off_screen, path, size=(1300, 800),
    )[0]  # fmt: skip
