"""A path of a robot: a picture with ghosts along the way, an animation, or a page to play it in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gjk3d import webpage
from gjk3d.errors import FileError
from gjk3d.robot import Checker
from gjk3d.typing import Array, Number, Rows, VectorLike
from gjk3d.viz.drawing import COLORS, INK, LINES, Drawing, Style, darker
from gjk3d.viz.kinds import robots
from gjk3d.viz.kinds.robots import Travel, travel
from gjk3d.viz.layout import camera_of
from gjk3d.viz.page import ROOM, camera_data, mesh_data
from gjk3d.viz.rendering import check_rendering
from gjk3d.webpage import color_key, to_base64, to_json

if TYPE_CHECKING:
    import pyvista


IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")
ANIMATIONS = (".gif",)
PAGES = (".html", ".htm")


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
        The robot and its surroundings.
    path : (n, dof) float
        Waypoints, joined by straight lines in joint space.
    target : path, optional
        An image, with ghosts along the way; a .gif, which moves; or an .html page to play it in, in 3D, which needs no
        OpenGL to be written. Without one the picture with ghosts is shown, as by `show`.
    certify : bool
        Whether the path is proven between samples too; as in `Checker.path_free`, which is asked first.
    resolution : float, or (dof,) float, one each
        Between samples, as there.
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

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> arm = gk.robot.Robot.from_urdf("data/arm/arm.urdf", "data/arm/arm.srdf")
    >>> path = [[0, 0, 0, 0, 0, 0], [0.5, 0.2, 0, 0, 0, 0]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gk.viz.motion(gk.robot.Checker(arm), path, pathlib.Path(folder) / "arm.html", frames=2).name
    'arm.html'
    """
    file = _target(target)
    there = travel(checker, path, certify=certify, resolution=resolution, frames=frames, link=link)
    heading = title or checker.robot.name or "robot"
    if file is not None and file.suffix.lower() in ANIMATIONS:
        return write_gif(file, there, heading, fps)
    if file is not None and file.suffix.lower() in PAGES:
        return write_page(file, there, heading, fps)
    from gjk3d.viz.picture import show

    return show(there, path=file, off_screen=off_screen, title=title)


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


_SIZE = (800, 600)
_HOLD = 1.5  #: seconds that the last picture stays
_COLORS = 96  #: of the palette, which is the same in all pictures


class Stage:
    """A plotter with the robot and its surroundings, to be set to one picture of a motion after another."""

    def __init__(self, there: Travel, title: str, size: tuple[int, int] = _SIZE) -> None:
        from gjk3d.viz.layout import camera_of
        from gjk3d.viz.paint import add_items, aim
        from gjk3d.viz.picture import new_plotter

        check_rendering()
        self.there, self.title = there, title
        self.plotter = new_plotter(off_screen=True, size=size)
        self.plotter.set_background("white")  # a gradient would take most of the palette
        whole = frame(there)
        checker, camera = there.checker, camera_of(whole)
        self.size = whole.ball[1]
        #: by name: the actors of its faces and of its edges, and the colour while it is free
        self.actors: dict[str, tuple[list[Any], str]] = {}
        for item in whole.items:
            if item.name in checker.objects:
                self.actors[item.name] = add_items(self.plotter, [item], camera.eye), robots.THINGS
        self.links: list[tuple[int, list[Any]]] = []
        for part in robots.parts_of(checker, Style()):
            one = Drawing()
            part.add_to(one, np.eye(4), part.color)
            actors = [actor for item in one.items for actor in add_items(self.plotter, [item], None)]
            self.links.append((part.link, actors))
            self.actors[part.name] = actors, part.color
        self.marks: list[Any] = []
        aim(self.plotter, camera)

    def set(self, k: int) -> None:
        """Move everything to where it is in the k-th picture."""
        from gjk3d.viz.paint import add_items, add_words

        there, state = self.there, self.there.states[k]
        for number, actors in self.links:
            for actor in actors:
                actor.user_matrix = there.poses[k, number]
        for name, (actors, color) in self.actors.items():
            now = robots.HIT if name in state.hit else color
            for n, actor in enumerate(actors):
                actor.prop.color = now if n == 0 else darker(now)
        for actor in self.marks:
            self.plotter.remove_actor(actor, render=False)
        over = Drawing(focus=(np.zeros(3), self.size))
        robots.add_state(over, state, labels=False)
        if k:
            color = robots.HIT if state.pairs else COLORS[1]
            over.lines(np.stack([there.trace[:k], there.trace[1 : k + 1]], axis=1), color, width=5.0)
        self.marks = add_items(self.plotter, over.items, None)
        where = f"edge {there.edge[k]}, from waypoint {there.edge[k]} to {there.edge[k] + 1} of {there.edges}"
        words = [self.title, where, robots.words_for(state)]
        add_words(self.plotter, Drawing(words=words))

    def image(self, k: int) -> NDArray[np.uint8]:
        """Draw the k-th picture."""
        self.set(k)
        self.plotter.reset_camera_clipping_range()
        self.plotter.render()
        return np.asarray(self.plotter.screenshot(None, return_img=True))

    def close(self) -> None:
        """Give the window back."""
        self.plotter.close()


def frame(there: Travel) -> Drawing:
    """Return a drawing of all that has to be in the picture, wherever the robot goes."""
    drawing = robots.draw_robot(there.checker, Style(), q=there.q, labels=False)
    drawing.items = [item for item in drawing.items if item.look != LINES]
    return drawing


def write_gif(file: Path, there: Travel, title: str, fps: float) -> Path:
    """Write a motion as a GIF that plays again and again."""
    from PIL import Image

    stage = Stage(there, title)
    try:
        pictures = [Image.fromarray(stage.image(k)) for k in range(len(there.q))]
    finally:
        stage.close()
    # one palette for all, of the first, the middle and the last beside each other: no flicker, and every state is in it
    some = [pictures[0], pictures[len(pictures) // 2], pictures[-1]]
    beside = Image.new("RGB", (len(some) * some[0].width, some[0].height))
    for k, each in enumerate(some):
        beside.paste(each, (k * each.width, 0))
    palette = Image.new("P", (1, 1))
    own = [int(color[k : k + 2], 16) for color in (COLORS[1], robots.HIT) for k in (1, 3, 5)]  # of thin lines
    palette.putpalette([*(beside.quantize(_COLORS).getpalette() or [])[: 3 * _COLORS], *own])
    frames = [each.quantize(palette=palette, dither=Image.Dither.NONE) for each in pictures]
    times = [max(20, round(1000.0 / fps))] * (len(frames) - 1) + [round(1000.0 * _HOLD)]
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=False)
    return file


def write_page(file: Path, there: Travel, title: str, fps: float) -> Path:
    """Write a motion as one self-contained page, to be played and turned.

    Nothing in the page reaches for the network, and its own policy forbids it. ``#12`` behind its address shows the
    12th configuration, and does not play.
    """
    keys = [(title, robots.LINKS[0]), ("who collides", robots.HIT)]
    if there.checker.objects:
        keys.insert(1, ("around it", robots.THINGS))
    files = ("motion.html", "drawing.css", "motion.css", "stage.js", "motion.js")
    text = {"title": title, "verdict": there.verdict, "last": str(len(there.q) - 1)}
    markup = {"keys": "\n".join(color_key(*key) for key in keys), "scene": to_json(_scene(there, fps))}
    return webpage.write_page(file, ROOM, files, text=text, markup=markup)


def _scene(there: Travel, fps: float) -> dict[str, Any]:
    """Return all that is drawn, in units of the picture about its middle, where float32 serves any scale."""
    checker, whole = there.checker, frame(there)
    camera, (center, size) = camera_of(whole), whole.ball
    bodies = [
        _body(item.name, item.color if item.color != robots.HIT else robots.THINGS, item.vertices - center, item.faces,
              size, opacity=item.opacity)
        for item in whole.items
        if item.name in checker.objects
    ]  # fmt: skip
    for part in robots.parts_of(checker, Style()):
        frames = _frames(there.poses[:, part.link] @ part.local, center, size)
        bodies.append(_body(part.name, part.color, *part.surface, size, frames=frames))
    states = [
        {
            "words": robots.words_for(state),
            "hit": sorted(state.hit),
            "ends": None
            if state.closest is None or not np.isfinite(state.distance)
            else [((point - center) / size).tolist() for point in state.points],
        }
        for state in there.states
    ]
    reach = float(np.linalg.norm(whole.framed - center, axis=1).max()) / size
    return {
        "bodies": bodies,
        "states": states,
        "trace": to_base64((there.trace - center) / size, "<f4"),
        "colors": {"hit": robots.HIT, "free": COLORS[1], "ink": INK},
        "fps": float(fps),
        **camera_data(camera, center, size, reach),
    }


def _body(
    name: str, color: str, vertices: Array, faces: Any, size: float, *, frames: str | None = None, opacity: float = 1.0
) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name, "color": color, "opacity": opacity, **mesh_data(vertices / size, faces)}
    return entry if frames is None else entry | {"frames": frames}


def _frames(poses: Array, center: Array, size: float) -> str:
    """Return matrices column after column, as three.js has them."""
    moved = poses.copy()
    moved[:, :3, 3] = (poses[:, :3, 3] - center) / size
    return to_base64(np.swapaxes(moved, 1, 2), "<f4")
