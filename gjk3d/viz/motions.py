"""Motions in pictures and on pages, and the page of a safety report.

The motion of a robot along a path, or of any body, is shown as a picture with ghosts (faint bodies at earlier poses),
as an animation, or as a page that plays it. A `Play` has the moving bodies, and the captions and markers of each
moment. The page of a safety report has the tables of the report. It shows the robot and its surroundings in 3D at the
least distance of each row.
"""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gjk3d import webpage
from gjk3d.bodies.mesh import Mesh
from gjk3d.errors import RobotError
from gjk3d.query.raycast import raycast
from gjk3d.query.time_of_impact import Impact, Motion
from gjk3d.query.wording import impact_words
from gjk3d.robot import Checker, Robot, SafetyMotion, SafetyPlace, SafetyReport, SafetyRow, Trajectory
from gjk3d.robot.safety import MOTION_HEAD, ROW_HEAD, VERDICTS, motion_cells, row_cells
from gjk3d.robot.timed import Moving
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Number, Rows, VectorLike
from gjk3d.viz import picture
from gjk3d.viz.colors import COLORS, INK, PALETTE, darker, hex_rgb
from gjk3d.viz.drawing import (
    ANGLE,
    CORNERS,
    Drawing,
    Look,
    Style,
    aim_at,
    ball_of,
    called,
    check_text,
    is_dots,
    joined,
    placed,
    ready,
    set_background,
    solid_surface,
)
from gjk3d.viz.image_files import IMAGES, PAGES, check_rendering, palette, shot, target_file, telling, write_frames
from gjk3d.viz.kinds import answers, robots
from gjk3d.viz.kinds.bodies import add, matrices, words_for
from gjk3d.viz.kinds.robots import HIT, LINKS, THINGS, TRAIL, Travel, check_frames, mark_ends, path_frames, travel
from gjk3d.viz.page import ROOM, camera_data, item_data, write_viewer
from gjk3d.viz.paint import Mover, Posed
from gjk3d.viz.picture import UNKNOWN_OPTIONS, check_size, drawing_as_asked, figure_of, new_plotter, show
from gjk3d.webpage import color_key, to_base64
from gjk3d.wording import expected_names, kind_of, number, with_cure

if TYPE_CHECKING:
    import pyvista
    from PIL import Image

# --- motions ---------------------------------------------------------------------------------------------------------


ANIMATIONS = (".gif", ".webp", ".mp4")
#: Width and height of an animation, in pixels.
_SIZE = (800, 600)
#: Number of poses in the picture of a motion.
_GHOSTS = 8


def _cure_of_path(*args: Any, **keywords: Any) -> str:
    return " Pass the file to write as target=." if len(args) > 1 and "path" in keywords else ""


def _farthest(robot: Robot) -> int:
    """Return the index of the link at the end of the longest chain of moving joints. The last such link wins a tie."""
    chain = robot._chain
    joints = (chain.kind != 0).astype(np.int64)
    for k, parent in enumerate(chain.parent):  # parents come first
        joints[k] += joints[parent] if parent >= 0 else 0
    return int(len(joints) - 1 - np.argmax(joints[::-1]))


@with_cure(_cure_of_path)
def motion(
    checker: Checker | Impact | Motion,
    path: Rows | Trajectory | Any = None,
    target: str | os.PathLike[str] | None = None,
    *,
    of: Any = None,
    moving: Moving | None = None,
    certify: bool = False,
    resolution: Number | VectorLike = 0.05,
    frames: int = 60,
    fps: float = 20.0,
    link: str | int | None = None,
    off_screen: bool | None = None,
    title: str | None = None,
    size: tuple[int, int] | None = None,
    view: VectorLike | str | None = None,
    up: VectorLike | None = None,
    background: str | None = None,
    **options: Any,
) -> pyvista.Plotter | Path | None:
    """Show the path of a robot up to its first collision, the motion of a body, or two bodies up to their impact.

    Progress is printed on stderr if the drawing takes longer than two seconds.

    Parameters
    ----------
    checker : Checker, Impact or Motion
        A robot with its surroundings, the first contact of two bodies, or the motion of a body.
    path : (n, dof) float, Trajectory, or spline of scipy
        The path of a robot. Waypoints are joined by straight lines in joint space. A trajectory is shown at equal time
        steps, and is given as in `Checker.trajectory_free`.
    target : path, optional
        The file to write: an image with ghosts (faint bodies at earlier poses), an animation (.gif, .webp or .mp4,
        which needs imageio and imageio-ffmpeg), or an .html page that plays the motion in 3D and is written without
        OpenGL. By default the image is shown as by `show`, and a notebook plays the motion after a click.
    of : shape, mesh or other solid, or a list of them
        The bodies that a Motion moves.
    moving : mapping of str to Motion, or to (Motion, (float, float)), optional
        Moving obstacles of a trajectory, as in `Checker.trajectory_free`.
    certify : bool
        Whether a path is proven between samples too, as in `Checker.path_free` and `Checker.trajectory_free`. The path
        is checked before it is drawn.
    resolution : float, or (dof,) float
        Greatest change of a joint value between samples, as in `Checker.path_free`.
    frames : int
        Number of pictures of an animation, at least 2.
    fps : float
        Pictures per second.
    link : str or int, optional
        The path of the origin of this link is drawn as a line. The default is the link at the end of the longest chain
        of moving joints.
    off_screen, view, up, background
        As in `show`.
    title : str, optional
        First line of the caption.
    size : (int, int), optional
        Width and height of an image or an animation in pixels.
    **options
        Any other option raises a TypeError that names the most similar option.

    Returns
    -------
    pyvista.Plotter, Path or None
        The path of a written file, None in a notebook, or the plotter.

    Raises
    ------
    FileError, ValueError
        The folder of ``target`` does not exist, or its extension is unknown.
    RobotError
        The path is missing or not a path of the robot, the link does not exist, there are too few frames, or obstacles
        move along waypoints without times.
    TypeError
        A Motion is given without a body, or is a stack of motions, or an option does not exist.
    ImportError
        A package for writing the animation is missing. The message names it.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> arm = gk.robot.Robot.from_urdf("data/arm/arm.urdf", "data/arm/arm.srdf")
    >>> path = [[0, 0, 0, 0, 0, 0], [0.5, 0.2, 0, 0, 0, 0]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gk.viz.motion(gk.robot.Checker(arm), path, pathlib.Path(folder) / "arm.html", frames=2).name
    'arm.html'
    """
    for name in options:
        known = [*signature(motion).parameters][1:-1]
        cure = UNKNOWN_OPTIONS.get(name, "").removesuffix("=")
        cure = "target" if cure == "path" else cure  # the path is that of the robot
        hint = f"Use {cure}=" if cure in known else expected_names(name, known)
        raise TypeError(f"motion does not have the option {name!r}. {hint[:1].upper()}{hint[1:]}")
    look = Look(view, up, None, background)
    check_text(title, "title")
    if size is not None:
        check_size(size)
    if target is not None and not isinstance(target, (str, os.PathLike)):
        raise TypeError(f"target is {kind_of(target)}, expected the file to write. Pass the path of a robot as path=")
    file = None if target is None else target_file(target, IMAGES + ANIMATIONS + PAGES)
    kind = "" if file is None else file.suffix.lower()
    if kind == ".mp4" and not (find_spec("imageio") and find_spec("imageio_ffmpeg")):
        raise ImportError(f"{file}: an .mp4 needs imageio and ffmpeg. Run pip install imageio imageio-ffmpeg")
    check_frames(frames)
    subject: Any = checker
    if isinstance(checker, Checker):
        if isinstance(path, (str, os.PathLike)):
            raise TypeError(
                f"path is {str(path)!r:.80}, expected the path of the robot. Pass the file as target=, as in "
                "viz.motion(checker, waypoints, target='arm.html')"
            )
        if path is None:
            raise RobotError(
                "path is missing. Pass waypoints or a spline, as in viz.motion(checker, path, target=file)"
            )
        traced = _farthest(checker.robot) if link is None else checker.robot.link_number(link)
        subject = travel(checker, path_frames(checker, path, moving, certify, resolution, frames), traced)
    elif path is not None or moving is not None:
        cure = "Pass the file as target=" if isinstance(path, (str, os.PathLike)) else "Pass the body as of="
        raise TypeError(f"path= and moving= need a Checker, but {kind_of(checker)} is given. {cure}")
    inline = file is None and off_screen is None and picture.is_open()
    play = play_of(subject, of, title, int(frames)) if inline or kind in ANIMATIONS + PAGES else None
    play = play and _with_look(play, look)
    if file is not None and play is not None:
        return write_page(file, play, fps) if kind in PAGES else write_film(file, play, fps, size or _SIZE)
    if isinstance(checker, Motion):
        play_of_motion(checker, of, title, 2)  # raises the error for a motion that cannot be shown
        poses = checker.at(np.linspace(0.0, 1.0, _GHOSTS))
        subject = [(body, poses) for body in (of if isinstance(of, (list, tuple)) else [of])]
    if play is not None:
        drawing, more = drawing_as_asked(subject, title=title, look=look), () if size is None else (size,)
        words = picture.describe(drawing)
        picture.display(figure_of(drawing, words, lambda page: write_page(page, play, fps), *more))
        return None
    wishes: Any = {"view": view, "up": up, "background": background} | ({} if size is None else {"size": size})
    return show(subject, path=file, off_screen=off_screen, title=title, **wishes)


class Moment(NamedTuple):
    """The captions, colliding bodies and marked points of one picture of an animation."""

    lines: list[str]  #: captions below the title, the last with the result
    hit: frozenset[str]  #: names of colliding bodies
    ends: tuple[Array, Array] | None  #: the closest or deepest points of the two bodies
    view: tuple[Array, float, Array] | None = None  #: centre and radius of the ball to look at, direction to the camera


@dataclass(frozen=True)
class Play:
    """The content of an animation: its bodies, the captions and markers of each picture, and the legend."""

    title: str
    verdict: str
    movers: list[Mover]
    moments: list[Moment]
    trace: Array  #: (frames, 3), the path of a point, drawn as a line
    whole: Drawing  #: everything that the camera has to show during the animation
    keys: list[tuple[str, str]]
    trail: str = TRAIL  #: colour of the line ``trace``
    signs: Drawing = field(default_factory=Drawing)  #: markers of the last picture


def _with_look(play: Play, look: Look) -> Play:
    aim_at(play.whole, look)
    set_background(play.whole, look.background)
    ink = play.whole.ink
    play.signs.recolor(INK, ink)
    return replace(play, keys=[(text, ink if color == INK else color) for text, color in play.keys])


def play_of(x: Travel | Impact | Motion, of: Any, title: str | None, frames: int) -> Play:
    """Return the animation of a path, of bodies up to an impact, or of bodies along a motion."""
    if isinstance(x, Travel):
        return play_of_travel(x, title)
    if isinstance(x, Impact):
        return play_of_impact(x, title, frames)
    if isinstance(x, Motion):
        return play_of_motion(x, of, title, frames)
    raise TypeError(f"motion cannot show {kind_of(x)}, expected a Checker and a path, an Impact or a Motion")


def movers_of(checker: Checker, poses: Array, moved: Mapping[str, Array]) -> list[Mover]:
    """Return the bodies of an animation: the links of a robot, the attached objects and the obstacles.

    ``poses`` holds the poses of the links, (frames, links, 4, 4). ``moved`` maps the name of each moving obstacle to
    its poses, (frames, 4, 4).
    """
    parts = robots.parts_of(checker, Style())
    things = Drawing()
    robots.add_things(things, checker, frozenset())
    movers = [
        *(Mover(part.name, part.color, part.items, poses[:, part.link] @ part.local) for part in parts),
        *(Mover(item.name, THINGS, [item]) for item in things.items if item.name not in moved),
    ]
    for k, (name, body_poses) in enumerate(moved.items()):
        body_drawing, color = Drawing(), PALETTE[k % len(PALETTE)]
        add(body_drawing, checker.shape(name), None, color, 1.0, outline=False, name=name)
        movers.append(Mover(name, color, body_drawing.items, body_poses))
    return movers


def keys_of(robot: str, movers: list[Mover], moved: Mapping[str, Array], hit: str) -> list[tuple[str, str]]:
    """Return the legend of the bodies from `movers_of` as texts and colours. ``hit`` is the text for vermilion bodies.

    Moving obstacles beyond the number of colours in the palette are left out.
    """
    moving = [(mover.name, mover.color) for mover in movers if mover.name in [*moved][: len(PALETTE)]]
    around = [("obstacles", THINGS)] if any(mover.poses is None for mover in movers) else []
    return [(robot, LINKS[0]), *moving, *around, (hit, HIT)]


def play_of_travel(travelled: Travel, title: str | None) -> Play:
    """Return the animation of a robot along a path. Its title ends with the robot's name."""
    checker = travelled.checker
    name = checker.robot.name or "robot"
    scene = robots.draw_robot(checker, Style(), q=travelled.way.q, labels=False)
    moments = []
    for where, state in zip(travelled.way.where, travelled.states, strict=True):
        has_distance = state.closest is not None and np.isfinite(state.distance)
        moments.append(Moment([where, robots.words_for(state)], state.hit, state.points if has_distance else None))
    movers = movers_of(checker, travelled.poses, travelled.way.moved)
    _add_reach(scene, movers)
    trail = f"path of {travelled.link}", TRAIL
    keys = [*keys_of(name, movers, travelled.way.moved, "colliding links"), trail, ("closest points", INK)]
    heading = f"{title} – {name}" if title else name
    return Play(heading, travelled.way.verdict, movers, moments, travelled.trace, scene, keys)


def play_of_impact(x: Impact, title: str | None, frames: int) -> Play:
    """Return the animation of two bodies up to their impact, or to the end of the motion."""
    scene, headings = answers.draw_impact(x, Style()), impact_words(x)
    times = np.linspace(0.0, float(x.free_until), frames)
    sides = [("A", x.shape_a, x.motion_a), ("B", x.shape_b, x.motion_b)]
    movers = [_mover(*side, times, color) for side, color in zip(sides, COLORS, strict=True)]
    solid = [mover for mover in movers if mover.poses is not None]
    if len(solid) == 2:  # the larger body is transparent, so that the smaller one is visible inside it
        large = max(solid, key=lambda mover: ball_of(mover.items[0].vertices)[1])
        large.items[:] = [replace(item, opacity=0.5) for item in large.items]
    _add_reach(scene, movers)
    moments = [_at(time) for time in times[:-1]] + [Moment(headings, frozenset(), None)]
    last = max((k for k, side in enumerate(sides) if answers.moves(side[2])), default=1)
    trace, trail = answers.track(*sides[last][1:], times), darker(COLORS[last])
    heading = title or _heading(text[3:] for text, _ in scene.keys[:2])
    keys = scene.keys[:2] + [key for key in scene.keys if key[1] == trail]
    signs = answers.contact_signs(x, scene.ball[1])
    return Play(heading, headings[0], movers, moments, trace, scene, keys, trail, signs)


def _at(time: float) -> Moment:
    return Moment([f"at {number(time, 3)} of the motion"], frozenset(), None)


def _add_reach(scene: Drawing, movers: Iterable[Mover]) -> None:
    """Add the boxes of bodies at all their poses to the points that the camera has to show."""
    for mover in movers:
        for item in mover.items if mover.poses is not None else ():
            box = item.vertices.min(axis=0) + (CORNERS + 1.0) / 2.0 * np.ptp(item.vertices, axis=0)
            scene.dots(placed(box, (), mover.poses).vertices, INK)


def play_of_motion(x: Motion, of: Any, title: str | None, frames: int) -> Play:
    """Return the animation of a motion that moves one or several bodies."""
    if of is None:
        raise TypeError("a Motion does not contain a body. Pass the moving body, as in viz.motion(motion, of=shape)")
    if x.stacked:
        raise TypeError(f"the Motion has {len(x)} rows, expected one motion. Pass one row, for example motion[0]")
    bodies = of if isinstance(of, (list, tuple)) else [of]
    if not bodies:
        raise ValueError("of is an empty list, expected at least one body")
    times = np.linspace(0.0, 1.0, frames)
    movers = [_mover(words_for(body), body, x, times, PALETTE[k % len(PALETTE)]) for k, body in enumerate(bodies)]
    scene, trail, trace = Drawing(), darker(PALETTE[0]), answers.track(bodies[0], x, times)
    _add_reach(scene, movers)
    keys = [(mover.name, mover.color) for mover in movers] + [("path of its middle", trail)]
    heading = title or _heading(map(called, bodies))
    return Play(heading, "A motion", movers, [_at(time) for time in times], trace, scene, keys, trail)


def _heading(names: Iterable[str]) -> str:
    text = " and ".join(names)
    return text[:1].upper() + text[1:]


def _mover(name: str, shape: Any, motion: Motion, times: Array, color: str) -> Mover:
    """Return a body with its poses along a motion. A half-space stays at its last pose."""
    body_drawing, plane = Drawing(), isinstance(shape, Halfspace)
    if is_dots(shape):
        body_drawing.body(*solid_surface(shape), color, name=name)
    else:
        add(body_drawing, shape, motion.at(times[-1]) if plane else None, color, 1.0, outline=False, name=name)
    return Mover(name, color, body_drawing.items, None if plane else matrices(motion.at(times)))


_HOLD = 1.5  #: seconds for which the last picture stays
_COLORS = 96  #: size of the palette of a GIF, which is the same in all pictures


class Stage(Posed):
    """A plotter that draws the pictures of an animation."""

    def __init__(self, play: Play, size: tuple[int, int] = _SIZE) -> None:
        check_rendering()
        plotter = new_plotter(off_screen=True, size=size)
        plotter.set_background(play.whole.background or "white")  # a gradient would use most of the palette
        super().__init__(plotter, play.whole, play.movers)
        self.play = play

    def go(self, k: int) -> None:
        """Set all bodies, captions and markers to the k-th picture."""
        play, moment = self.play, self.play.moments[k]
        over = self.signs(play.title, *moment.lines)
        over.keys = [(text, color) for text, color in play.keys if moment.hit or color != HIT]
        if moment.ends is not None:
            mark_ends(over, *moment.ends, HIT if moment.hit else INK)
        if k:
            over.lines(np.stack([play.trace[:k], play.trace[1 : k + 1]], axis=1), play.trail, width=5.0)
        if k == len(play.moments) - 1:
            over.take(play.signs)
        over.recolor(INK, play.whole.ink)
        self.set([None if mover.poses is None else mover.poses[k] for mover in play.movers], over, moment.hit)

    def image(self, k: int) -> Image.Image:
        """Return the k-th picture."""
        self.go(k)
        self.plotter.reset_camera_clipping_range()
        return shot(self.plotter)


def write_film(file: Path, play: Play, fps: float, size: tuple[int, int] = _SIZE) -> Path:
    """Write an animation and return its path: a .gif or .webp that plays in a loop, or an .mp4."""
    stage = Stage(play, size)
    try:
        count = len(play.moments)
        frames = [stage.image(k) for k in telling("drawing picture", range(count), count)]
    finally:
        stage.plotter.close()
    if file.suffix.lower() == ".mp4":
        import imageio.v2

        shown_frames = frames + frames[-1:] * round(_HOLD * fps)
        imageio.v2.mimwrite(file, list(map(np.asarray, shown_frames)), fps=fps, macro_block_size=8)
        return file
    times = [max(20, round(1000.0 / fps))] * (count - 1) + [round(1000.0 * _HOLD)]
    # the first, middle and last picture contain every state, and thin lines have fixed colours of the palette
    some = [frames[0], frames[count // 2], frames[-1]]
    return write_frames(file, frames, times, palette(some, (play.trail, HIT), _COLORS))


_PLAYER = (
    '<form id="play"><button type="button" id="run">pause</button>'
    '<input type="range" id="at" min="0" max="{}" value="0" aria-label="{}">{}</form>'
)


def write_page(
    file: Path, play: Play, fps: float, *, aside: str = "", more: tuple[str, ...] = (), running: bool = True,
    moment: str = "moment",
) -> Path:  # fmt: skip
    """Write an animation as one self-contained page, which plays it in 3D, and return the path of the page.

    The page does not use the network. With ``#12`` in its address, the page shows picture 12, counted from 0, and does
    not play. ``aside`` is HTML next to the picture. It may have links such as ``#12``. ``more`` are the names of
    further style and script files. ``moment`` is the word for a position of the slider, such as "row".
    """
    scene, keys = _scene(play, fps) | {"running": running}, [color_key(*key) for key in play.keys + play.signs.keys]
    note = "" if moment == "moment" else f" <span>one {moment} after another</span>"
    tools, help = _PLAYER.format(len(play.moments) - 1, moment, note), ", arrow keys step, the space bar plays"
    return write_viewer(
        file, play.title, scene, keys, words=[play.verdict], tools=tools, aside=aside, help=help, more=more
    )


def _scene(play: Play, fps: float) -> dict[str, Any]:
    """Return an animation as data for a page.

    Positions are relative to the middle and size of the scene, since they are stored as float32.
    """
    center, size = play.whole.ball
    items = []
    for mover in play.movers:
        more, middle = {}, center
        if mover.poses is not None:
            moved, middle = mover.poses.copy(), np.zeros(3)
            moved[:, :3, 3] = (moved[:, :3, 3] - center) / size
            more["frames"] = to_base64(np.swapaxes(moved, 1, 2), "<f4")  # column by column, as in three.js
        items += [item_data(item, middle, size) | more for item in ready(mover.items, center, size)]
    items += [item_data(item, center, size) | {"last": True} for item in play.signs.items]
    states = []
    for lines, hit, ends, view in play.moments:
        shown = None if ends is None else [((point - center) / size).tolist() for point in ends]
        state: dict[str, Any] = {"words": lines[-1], "hit": sorted(hit), "ends": shown}
        if view is not None:
            far = view[1] / size / np.sin(np.radians(ANGLE / 2))
            state["look"] = {"center": ((view[0] - center) / size).tolist(), "far": far, "direction": view[2].tolist()}
        states.append(state)
    return {
        "items": items,
        "states": states,
        "trace": to_base64((play.trace - center) / size, "<f4"),
        "colors": {"hit": HIT, "trail": play.trail, "ink": play.whole.ink},
        "background": play.whole.background and hex_rgb(play.whole.background),
        "fps": float(fps),
        **camera_data(play.whole, play.whole.framed),
    }


# --- safety reports --------------------------------------------------------------------------------------------------


_FPS = 1.0
#: Legend of the vermilion bodies, by the verdict of their row.
_HITS = {"collision": "colliding", "too close": "too close", "open": "open"}
#: Greatest number of rows with a separate view, and number of points of a body whose visibility decides the view.
_MOST_VIEWS, _SAMPLES = 200, 40


def write_safety(report: SafetyReport, path: str | os.PathLike[str]) -> Path:
    """Write a safety report as one page and return its path. A click on a row shows the row's least distance in 3D."""
    tiles = "".join(_tile(name, sum(row.verdict == name for row in report.rows)) for name in VERDICTS)
    cells = [(motion.verdict, motion_cells(motion)) for motion in report.motions]
    row_cells_of = [(row.verdict, row_cells(row)) for row in report.rows]
    tables = {
        "title": html.escape(f"Safety of {report.robot}"),
        "facts": html.escape(report.headline),
        "tiles": tiles,
        "motion_head": _head(MOTION_HEAD),
        "row_head": _head(ROW_HEAD),
        "motions": "\n".join(_table_row(k, *motion) for k, motion in enumerate(cells)),
        "rows": "\n".join(_table_row(k, *row) for k, row in enumerate(row_cells_of, len(cells))),
    }
    aside = webpage.fill(webpage.template(ROOM, "safety.html"), tables)
    return write_page(
        Path(path), _play(report), _FPS, aside=aside, more=("safety.css", "safety.js"), running=False, moment="row"
    )


def _head(titles: Sequence[str]) -> str:
    return "".join(f"<th>{html.escape(title)}</th>" for title in titles)


def _tile(name: str, number_of: int) -> str:
    return f'<div class="tile {name.replace(" ", "-")}"><b>{number_of}</b>{html.escape(name)}</div>'


def _table_row(k: int, verdict: str, cells: Sequence[str]) -> str:
    first, *more = (f"<bdi>{html.escape(cell)}</bdi>" for cell in cells)
    inner = "".join(f"<td>{cell}</td>" for cell in (f'<a href="#{k}">{first}</a>', *more))
    return f'<tr class="{verdict.replace(" ", "-")}">{inner}</tr>'


def _play(report: SafetyReport) -> Play:
    """Return an animation with a picture of the least distance in each motion, then in each row of the report."""
    checker = report.checker
    entries: list[SafetyMotion | SafetyRow] = [*report.motions, *report.rows]
    rows: Any = np.array([entry.place.configuration for entry in entries]).reshape(len(entries), -1)
    moving = dict.fromkeys(name for entry in entries for name, _ in entry.place.moved)
    moved = {name: _poses_of(name, [entry.place for entry in entries], checker) for name in moving}
    movers = movers_of(checker, checker.robot.link_poses(rows), moved)
    scene = robots.draw_robot(checker, Style(), q=rows, labels=False)
    verdicts = {entry.verdict for entry in entries}
    hit = " or ".join(text for verdict, text in _HITS.items() if verdict in verdicts) or "without proof"
    keys = keys_of(report.robot, movers, moved, hit)
    title = f"Safety of {report.robot}"
    trace = np.zeros((len(entries), 3))  # the rows are not configurations along one path
    moments = [_moment(entry) for entry in entries]
    moments[:_MOST_VIEWS] = [
        moment._replace(view=_clear_view(movers, k, moment)) for k, moment in enumerate(moments[:_MOST_VIEWS])
    ]
    return Play(title, report.headline, movers, moments, trace, scene, keys)


def _clear_view(movers: Sequence[Mover], k: int, moment: Moment) -> tuple[Array, float, Array] | None:
    """Return a view of a colliding pair: centre and radius of the ball to show, and the clearest camera direction."""
    if moment.ends is None or not moment.hit:
        return None
    bodies = {
        mover.name: joined([placed(item.vertices, item.faces, None if mover.poses is None else mover.poses[k])
                            for item in mover.items if len(item.faces)])
        for mover in movers
    }  # fmt: skip
    small = min(moment.hit, key=lambda name: ball_of(bodies[name].vertices)[1])
    center = (moment.ends[0] + moment.ends[1]) / 2
    radius = 5.0 * ball_of(bodies[small].vertices)[1]
    others = [body for name, body in bodies.items() if name != small and len(body.faces)]
    if not others:
        return None
    order = np.argsort(np.linalg.norm(bodies[small].vertices - center, axis=1))
    starts = bodies[small].vertices[order[:: max(1, len(order) // _SAMPLES)][:_SAMPLES]]
    views = robots.VIEWS
    eyes = np.repeat(center + 4.0 * radius * views, len(starts), axis=0)
    from_points = np.tile(starts, (len(views), 1))
    hidden = raycast(Mesh(*joined(others)), from_points, eyes - from_points, max_distance=4.0 * radius).hit
    return center, radius, np.asarray(views[np.argmin(hidden.reshape(len(views), -1).sum(axis=1))])


def _poses_of(name: str, places: Sequence[SafetyPlace], checker: Any) -> Array:
    poses = [dict(place.moved).get(name) for place in places]
    return np.array([checker.pose(name) if pose is None else pose for pose in poses], dtype=np.float64)


def _moment(entry: SafetyMotion | SafetyRow) -> Moment:
    if isinstance(entry, SafetyMotion):
        names, words = entry.pair, ", ".join(motion_cells(entry)[:3]) + " m"
    else:
        names, words = (entry.a, entry.b), ", ".join(row_cells(entry)[:3])
    hit = frozenset(names or ()) if entry.verdict != "kept" else frozenset()
    ends = np.array([entry.place.point_a, entry.place.point_b])
    return Moment([words], hit, (ends[0], ends[1]) if names and np.isfinite(ends).all() else None)
