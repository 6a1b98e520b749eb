"""Motions of robots: a picture with ghosts along the way, an animation, or a page to play it in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d.errors import FileError, RobotError
from gjk3d.robot import Checker
from gjk3d.typing import Array, Number, Rows, VectorLike
from gjk3d.viz import robots
from gjk3d.viz.bodies import evenly
from gjk3d.viz.drawing import COLORS, Drawing, Style
from gjk3d.viz.robots import State, state_of

if TYPE_CHECKING:
    import pyvista

    from gjk3d.robot import PathCheck


IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")
ANIMATIONS = (".gif",)
PAGES = (".html", ".htm")
_GHOSTS = 7


class Travel(NamedTuple):
    """A path as it is shown: evenly, from its first configuration to its last, or to the first that is not free."""

    checker: Checker
    found: PathCheck
    edges: int
    q: Array  #: (frames, dof)
    edge: NDArray[np.int64]  #: of each frame
    poses: Array  #: (frames, links, 4, 4)
    states: tuple[State, ...]
    trace: Array  #: (frames, 3), the way of one link

    @property
    def verdict(self) -> str:
        """What is known of the path, in words."""
        what = f"{self.edges} edge{'' if self.edges == 1 else 's'}"
        if self.found.free:
            return f"Free: {what}"
        pair = " with ".join(self.found.pair or ())
        if np.isnan(self.found.hit):
            return f"Unresolved on edge {self.found.edge}, {pair}"
        return f"Collision on edge {self.found.edge}, {pair}"


def motion(
    checker: Checker,
    path: Rows,
    target: str | os.PathLike[str] | None = None,
    *,
    certify: bool = False,
    resolution: Number | VectorLike = 0.05,
    frames: int = 60,
    fps: float = 20.0,
    link: str | int | None = None,
    off_screen: bool | None = None,
    title: str | None = None,
) -> pyvista.Plotter | Path:
    """Show a path of a robot up to its end, or to where it first collides.

    Parameters
    ----------
    checker : Checker
    path : (m, dof) float
        Waypoints, joined by straight lines in joint space.
    target : path, optional
        An image, with ghosts along the way; a .gif, which moves; or an .html page to play it in, in 3D, which needs no
        OpenGL to be written. Without one the picture with ghosts is shown, as by `show`.
    certify, resolution
        As in `Checker.path_free`, which is asked first.
    frames : int
        Configurations of an animation, at least 2.
    fps : float
        How many of them in a second.
    link : str or int, optional
        Whose origin leaves a line; the last link by default.
    off_screen : bool, optional
        As in `show`.
    title : str, optional
        A line above the rest.

    Returns
    -------
    pyvista.Plotter or Path
        The path where a file was written, else the plotter.

    Raises
    ------
    FileError, ValueError
        The folder of ``target`` is not there, or its ending is unknown.
    RobotError
        There is no path, no such link, or too few frames.
    """
    file = _target(target)
    there = travel(checker, path, certify=certify, resolution=resolution, frames=frames, link=link)
    heading = title or checker.robot.name or "robot"
    if file is not None and file.suffix.lower() in ANIMATIONS:
        from gjk3d.viz.animation import write_gif

        return write_gif(file, there, heading, fps)
    if file is not None and file.suffix.lower() in PAGES:
        from gjk3d.viz.motion_page import write_page

        return write_page(file, there, heading, fps)
    from gjk3d.viz.picture import show

    return show(there, path=file, off_screen=off_screen, title=title)


def travel(
    checker: Checker,
    path: Rows,
    *,
    certify: bool = False,
    resolution: Number | VectorLike = 0.05,
    frames: int = 60,
    link: str | int | None = None,
) -> Travel:
    """Ask about a path, and about configurations along it; see `motion`."""
    if isinstance(frames, bool) or not isinstance(frames, (int, np.integer)) or frames < 2:
        raise RobotError(f"frames is {frames!r}, expected a whole number of at least 2")
    robot = checker.robot
    points = robot.configurations(path, "path")[0]
    found = checker.path_free(points, certify=certify, resolution=resolution)
    edges = max(len(points) - 1, 1)
    if found.edge is not None:
        points = np.concatenate([points[: found.edge + 1], np.asarray(found.configuration)[None]])
    elif len(points) == 1:
        points = np.repeat(points, 2, axis=0)
    q, edge = along(points, int(frames))
    poses = robot.link_poses(q)
    number = len(robot.links) - 1 if link is None else robot.link_number(link)
    states = tuple(state_of(checker, each) for each in q)
    return Travel(checker, found, edges, q, edge, poses, states, poses[:, number, :3, 3].copy())


def along(points: Array, count: int) -> tuple[Array, NDArray[np.int64]]:
    """Return configurations evenly along waypoints, by the joint that moves most, and the edge that each is on."""
    lengths = np.abs(np.diff(points, axis=0)).max(axis=1) if points.shape[1] else np.zeros(len(points) - 1)
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    at = np.linspace(0.0, ends[-1], count)
    edge = np.clip(np.searchsorted(ends, at, side="right") - 1, 0, len(lengths) - 1)
    length = lengths[edge]
    share = np.where(length > 0.0, (at - ends[edge]) / np.where(length > 0.0, length, 1.0), 0.0)
    share[-1] = 1.0
    edge[-1] = len(lengths) - 1
    return points[edge] + share[:, None] * (points[edge + 1] - points[edge]), edge


def draw(x: Travel, style: Style) -> Drawing:
    """Draw a path as one picture: ghosts, the last configuration solid, the line that a link leaves."""
    drawing = robots.draw(x.checker, style, q=x.q[evenly(len(x.q), _GHOSTS)])
    drawing.words = [style.name(0, x.checker.robot.name or "robot"), x.verdict]
    color = COLORS[1] if x.found.free else robots.HIT
    drawing.lines(np.stack([x.trace[:-1], x.trace[1:]], axis=1), color, width=5.0)
    return drawing


def _target(target: Any) -> Path | None:
    if target is None:
        return None
    file = Path(target)
    known = IMAGES + ANIMATIONS + PAGES
    if file.suffix.lower() not in known:
        raise ValueError(f"{file} has the unknown extension {file.suffix!r}: {' '.join(known)} are written")
    if not file.parent.is_dir():
        raise FileError(f"{file}: there is no folder {file.parent}; make it first")
    return file
