"""``gjk3d robot path`` and ``gjk3d robot safety``: check a path, and the distances and speeds of a trajectory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter

from gjk3d.cli.arguments import UsageError, check_output
from gjk3d.cli.robot.cell import (
    ALONE,
    IMAGES,
    INTERRUPTED,
    MODEL,
    OUTPUT,
    RUN,
    Flag,
    Model,
    Output,
    Run,
    Surroundings,
    document,
    notes,
    pair_words,
    title,
    write_csv,
    wrote,
)
from gjk3d.cli.robot.configurations import outside_limits, read_configurations, read_trajectory
from gjk3d.cli.terminal import Bar, safe, say, write_json
from gjk3d.wording import above, below, count, number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gjk3d.cli.robot.cell import Cell, Pair


_ANIMATIONS = (".gif", ".html", ".htm")
_EDGES = 4  #: between two looks at the keyboard


@Parameter(name="*")
@dataclass(frozen=True)
class Look:
    """How a path is looked at.

    Parameters
    ----------
    certify
        Prove that the path is free between samples too.
    resolution
        Of samples: the most that a joint moves between two.
    tolerance
        Of a proof: parameters of an edge closer than this are not told apart.
    """

    certify: Flag = False
    resolution: float = 0.05
    tolerance: float = 1e-6

    def __str__(self) -> str:
        if self.certify:
            return f"certified, tolerance {number(self.tolerance)}"
        return f"sampled, no joint moves more than {number(self.resolution)} between samples"


SAMPLED = Look()


def path(
    urdf: Path,
    waypoints: str,
    /,
    *,
    look: Look = SAMPLED,
    picture: Path | None = None,
    animation: Path | None = None,
    model: Model = MODEL,
    around: Surroundings = ALONE,
    output: Run = RUN,
) -> int:
    """Tell whether a path is free, at samples or proven all the way.

    Exits with 0 if it is, with 1 if it hits or if that stays unresolved.

    Parameters
    ----------
    urdf
        The robot.
    waypoints
        A CSV file, a row each and at least two, in radians and metres, with or without the names of the joints above:
        the straight lines between them, in joint space, are asked about.
    picture
        Draw the way up to where it hits, to a .png, .jpg or .html file.
    animation
        The same as a .gif, or as an .html page to play it in, which needs no OpenGL.
    """
    inputs = model.files(urdf, waypoints, *around.scene)
    output.check()
    check_output(picture, "--picture", IMAGES, inputs)
    check_output(animation, "--animation", _ANIMATIONS, inputs)
    from gjk3d.cli.robot.cell import Cell

    with Bar(show=not output.quiet) as bar:
        bar("reading")
        cell = Cell(urdf, model, around, output.jobs, "bodies" if look.certify else "mesh")
        points = read_configurations(waypoints, cell.robot)
        if len(points) < 2:
            raise UsageError(
                f"{waypoints} has one configuration, expected two or more: `gjk3d robot check` asks of one"
            )
        way = _ask(cell, points, look, bar)
    if not output.quiet:
        notes(cell, outside_limits(cell.robot, points), hit=way.complete and way.status != "FREE")
    if output.json:
        found = {**way._asdict(), "q": None if way.q is None else way.q.tolist(), "free": way.status == "FREE"}
        write_json(document(cell, asked={"path": waypoints, **asdict(look)}, **found))
    elif output.csv:
        _write_csv(cell, way)
    else:
        _print(cell, way, f"{safe(waypoints)}: {count(way.edges, 'edge')}, {look}", look.certify)
    if not way.complete:
        return INTERRUPTED
    _draw(cell, points, look, picture, animation, output.quiet)
    return int(way.status != "FREE")


# asking ---------------------------------------------------------------------------------------------------------------


class Way(NamedTuple):
    """What was found of a path."""

    status: str  #: FREE, HIT or UNRESOLVED
    edges: int
    looked_at: int  #: edges, from the first on
    edge: int | None = None
    safe: float = 1.0
    hit: float = math.nan
    pair: Pair | None = None
    q: NDArray[np.float64] | None = None
    complete: bool = True


def _ask(cell: Cell, points: NDArray[np.float64], look: Look, bar: Bar) -> Way:
    """Ask edge by edge, up to the first that is not free; Ctrl-C leaves what was found so far."""
    edges = len(points) - 1
    asked = 0
    try:
        for first, some in _pieces(points):
            bar("proving" if look.certify else "sampling", first, edges)
            found = cell.checker.path_free(some, **asdict(look), workers=cell.workers)
            if not found.free:
                edge = first + int(found.edge or 0)
                where = float(found.safe), float(found.hit), cell.name(found.pair), found.configuration
                return Way(str(found.status), edges, edge + 1, edge, *where)
            asked = first + len(some) - 1
    except KeyboardInterrupt:
        return Way("UNRESOLVED", edges, asked, complete=False)
    return Way("FREE", edges, edges)


def _pieces(points: NDArray[np.float64]) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield a few edges at a time, each piece with the number of its first."""
    for start in range(0, len(points) - 1, _EDGES):
        yield start, points[start : start + _EDGES + 1]


# telling --------------------------------------------------------------------------------------------------------------


def _write_csv(cell: Cell, way: Way) -> None:
    numbers = ["" if way.edge is None else repr(x) for x in (way.safe, way.hit)]
    q = [""] * cell.robot.dof if way.q is None else list(map(repr, way.q.tolist()))
    edge = "" if way.edge is None else way.edge
    head = ["status", "edges", "edge", "safe", "hit", "a", "b", *cell.columns]
    write_csv([head, [way.status, way.edges, edge, *numbers, *(way.pair or ("", "")), *q]])


def _print(cell: Cell, way: Way, asked: str, certify: bool) -> None:
    say(title(cell))
    say(asked)
    if not way.complete:
        say(f"interrupted: {way.looked_at} of {way.edges} edges were free, the rest was not looked at")
        return
    if way.edge is None:
        say("FREE, proven all the way" if certify else "FREE at every sample")
        return
    where = f"edge {way.edge}, from row {way.edge} to row {way.edge + 1}"
    words = {"HIT": "collide", "UNRESOLVED": "are too close to tell"}[way.status]
    say(f"{way.status} on {where}: {pair_words(way.pair)} {words}")
    end = "" if math.isnan(way.hit) else f", in collision at {above(way.hit)}"
    say(f"free up to {below(way.safe)} of it{end}")
    if way.q is not None:
        say(f"q = {', '.join(number(value, 4) for value in way.q)}")


def _draw(
    cell: Cell, points: NDArray[np.float64], look: Look, picture: Path | None, animation: Path | None, quiet: bool
) -> None:
    """Draw a path with ghosts, and as an animation."""
    if picture is None and animation is None:
        return
    from gjk3d.viz.motions import motion

    checker = cell.pictured()
    for file in filter(None, (picture, animation)):
        motion(checker, points, file, certify=look.certify, resolution=look.resolution)
        wrote(file, quiet)


_PAGES = (".html", ".htm")


def safety(
    urdf: Path,
    /,
    *waypoints: Annotated[str, Parameter(negative=())],
    report: Path | None = None,
    speed: float | None = None,
    tolerance: float = 1e-4,
    model: Model = MODEL,
    around: Surroundings = ALONE,
    output: Output = OUTPUT,
) -> int:
    """Tell which pairs come closer than the margin over a programme of paths, proven between samples too.

    Exits with 0 if every pair keeps its margin in every path, with 1 if one does not or if that stays unresolved.

    Parameters
    ----------
    urdf
        The robot.
    waypoints
        CSV files as of path, one for each motion of the programme. A column t has the times of the rows.
    report
        Write both tables as an .html page too, which needs nothing but a browser.
    speed
        Of the fastest joint where there is no column t, in radians or metres a second; without it rows are a second
        apart.
    tolerance
        How close the bounds of the distances are, in metres.
    """
    if not waypoints:
        raise UsageError("safety: name a CSV file of waypoints, or several")
    if speed is not None and not 0.0 < speed < math.inf:
        raise UsageError(f"--speed {speed:g}: expected a number above 0")
    inputs = model.files(urdf, *waypoints, *around.scene)
    check_output(report, "--report", _PAGES, inputs)
    from gjk3d.cli.robot.cell import Cell

    with Bar(show=not output.quiet) as bar:
        bar("reading")
        cell = Cell(urdf, model, around, scene_geometry="bodies")
        programme = {safe(name): read_trajectory(name, cell.robot, speed) for name in waypoints}
        bar("proving")
        found = cell.pictured().safety(programme, tolerance=tolerance)
    if not output.quiet:
        outside = [
            words
            for name, way in programme.items()
            for words in outside_limits(cell.robot, way.at(way.times), f"{name}: ")
        ]
        notes(cell, outside, hit=bool(found.rows))
    if output.json:
        write_json(
            document(
                cell, asked={"paths": list(waypoints), "speed": speed, "tolerance": tolerance}, report=found.to_dict()
            )
        )
    else:
        say(title(cell))
        say(found.to_text().rstrip())
    if report is not None:
        found.to_html(report)
        wrote(report, output.quiet)
    return int(not found)
