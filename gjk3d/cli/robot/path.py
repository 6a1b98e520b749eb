"""``gjk3d robot path``, which checks a path, and ``gjk3d robot safety``, which checks the margins of a programme."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter

from gjk3d.cli import ExitCode
from gjk3d.cli.arguments import UsageError, check_output
from gjk3d.cli.robot.cell import (
    IMAGES,
    MODEL,
    NO_SURROUNDINGS,
    OUTPUT,
    RUN,
    Cell,
    Flag,
    Model,
    Output,
    Pair,
    Run,
    Surroundings,
    outside_limits,
    read_configurations,
    read_trajectory,
    write_csv,
    wrote,
)
from gjk3d.cli.terminal import Bar, print_line, safe, write_json
from gjk3d.wording import above, below, count, number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_ANIMATIONS = (".gif", ".html", ".htm")
_EDGES = 4  #: the number of edges between two tests for Ctrl-C


@Parameter(name="*")
@dataclass(frozen=True)
class Sampling:
    """Options for the check of a path.

    Parameters
    ----------
    certify
        Prove that the whole path is free, also between samples.
    resolution
        The largest change of a joint between two samples, in radians or metres.
    tolerance
        The length of the smallest interval that --certify examines, as a share of the segment between two waypoints.
    """

    certify: Flag = False
    resolution: float = 0.05
    tolerance: float = 1e-6

    def __str__(self) -> str:
        if self.certify:
            return f"certified, in intervals down to {number(self.tolerance)} of an edge"
        return f"sampled, in steps of at most {number(self.resolution)} rad or m"


SAMPLED = Sampling()


def path(
    urdf: Path,
    waypoints: str,
    /,
    *,
    look: Sampling = SAMPLED,
    picture: Annotated[Path | None, Parameter(name=["--picture", "--image"])] = None,
    animation: Annotated[Path | None, Parameter(name=["--animation", "--gif"])] = None,
    model: Model = MODEL,
    around: Surroundings = NO_SURROUNDINGS,
    output: Run = RUN,
) -> int:
    """Check whether a path is free, at samples or with a proof for the whole path.

    The exit code is 0 if the path is free, and 1 for a collision or an unresolved path.

    Parameters
    ----------
    urdf
        The robot.
    waypoints
        A CSV file with two or more rows, in radians and metres, with an optional first row of joint names. The path is
        straight between the rows in joint space.
    picture
        Draw the path up to the first collision to a .png, .jpg or .html file.
    animation
        Write an animation of the path up to the first collision to a .gif file, or to an .html page, which needs no
        OpenGL.
    """
    inputs = model.files(urdf, waypoints, *around.scene)
    output.check()
    check_output(picture, "--picture", IMAGES, inputs)
    check_output(animation, "--animation", _ANIMATIONS, inputs)
    with Bar(show=not output.quiet) as bar:
        bar("reading")
        cell = Cell(urdf, model, around, output.jobs, "bodies" if look.certify else "mesh")
        points = read_configurations(waypoints, cell.robot)
        if len(points) < 2:
            raise UsageError(
                f"{waypoints} has one configuration, expected two or more. Use `gjk3d robot check` for a single one."
            )
        result = _check(cell, points, look, bar)
    if not output.quiet:
        cell.notes(outside_limits(cell.robot, points), hit=result.complete and result.status != "FREE")
    if output.json:
        q = None if result.q is None else result.q.tolist()
        values = {**result._asdict(), "q": q, "free": result.status == "FREE"}
        write_json(cell.document(asked={"path": waypoints, **asdict(look)}, **values))
    elif output.csv:
        _write_csv(cell, result)
    else:
        _print(cell, result, f"{safe(waypoints)}: {count(result.edges, 'edge')}, {look}", look.certify)
    if not result.complete:
        return ExitCode.INTERRUPTED
    _draw(cell, points, look, picture, animation, output.quiet)
    return ExitCode(result.status != "FREE")


class PathResult(NamedTuple):
    """The result of the check of a path. The names of its fields are also the keys of the JSON document."""

    status: str  #: FREE, HIT or UNRESOLVED
    edges: int  #: the number of edges of the path
    looked_at: int  #: the number of checked edges, which are the first edges of the path
    edge: int | None = None  #: the index of the edge that is not free, from 0
    safe: float = 1.0  #: the share of this edge that is free, from its start
    hit: float = math.nan  #: the share of this edge at which the pair collides
    pair: Pair | None = None  #: the pair that collides or is too close to decide
    q: NDArray[np.float64] | None = None  #: the configuration at ``hit``, or at ``safe`` without a collision
    complete: bool = True  #: False after Ctrl-C


def _check(cell: Cell, points: NDArray[np.float64], look: Sampling, bar: Bar) -> PathResult:
    """Return the result of a path, which is checked up to its first edge that is not free.

    ``points`` are the waypoints, and an edge is the segment between two of them. After Ctrl-C, only the
    edges checked so far count.
    """
    edges = len(points) - 1
    checked = 0
    try:
        for first in range(0, edges, _EDGES):
            some = points[first : first + _EDGES + 1]
            bar("proving" if look.certify else "sampling", first, edges)
            part = cell.checker.path_free(some, **asdict(look), workers=cell.workers)
            if not part.free:
                edge = first + int(part.edge or 0)
                where = float(part.safe), float(part.hit), cell.name(part.pair), part.configuration
                return PathResult(str(part.status), edges, edge + 1, edge, *where)
            checked = first + len(some) - 1
    except KeyboardInterrupt:
        return PathResult("UNRESOLVED", edges, checked, complete=False)
    return PathResult("FREE", edges, edges)


def _write_csv(cell: Cell, result: PathResult) -> None:
    numbers = ["" if result.edge is None else repr(x) for x in (result.safe, result.hit)]
    q = [""] * cell.robot.dof if result.q is None else list(map(repr, result.q.tolist()))
    edge = "" if result.edge is None else result.edge
    head = ["status", "edges", "edge", "safe", "hit", "a", "b", *cell.columns]
    write_csv([head, [result.status, result.edges, edge, *numbers, *(result.pair or ("", "")), *q]])


def _print(cell: Cell, result: PathResult, source: str, certify: bool) -> None:
    print_line(cell.title())
    print_line(source)
    if not result.complete:
        print_line(f"interrupted: {result.looked_at} of {result.edges} edges are free, the others were not checked")
        return
    if result.edge is None:
        print_line("FREE, proven for the whole path" if certify else "FREE at every sample")
        return
    rows = f"from row {result.edge + 1} to row {result.edge + 2} of {result.edges + 1}"
    where = f"edge {result.edge + 1} of {result.edges}, {rows}"
    words = {"HIT": "collide", "UNRESOLVED": "are too close to decide"}[result.status]
    print_line(f"{result.status} on {where}: {' and '.join(map(safe, result.pair or ()))} {words}")
    end = "" if math.isnan(result.hit) else f", in collision at {above(result.hit)}"
    print_line(f"free up to {below(result.safe)} of this edge{end}")
    if result.q is not None:
        print_line(f"q = {', '.join(number(value, 4) for value in result.q)} (rad or m)")


def _draw(
    cell: Cell, points: NDArray[np.float64], look: Sampling, picture: Path | None, animation: Path | None, quiet: bool
) -> None:
    if picture is None and animation is None:
        return
    from gjk3d.viz import motion

    checker = cell.pictured()
    for file in filter(None, (picture, animation)):
        motion(checker, points, file, certify=look.certify, resolution=look.resolution)
        wrote(file, quiet)


_PAGES = (".html", ".htm")


def safety(
    urdf: Path,
    /,
    *waypoints: Annotated[str, Parameter(negative=())],
    report: Annotated[Path | None, Parameter(name=["--report", "--html"])] = None,
    speed: float | None = None,
    tolerance: float = 1e-4,
    model: Model = MODEL,
    around: Surroundings = NO_SURROUNDINGS,
    output: Output = OUTPUT,
) -> int:
    """List the pairs that are not proven to keep the margin on every path of a programme, also between samples.

    The exit code is 0 if every pair is proven to keep its margin on every path, otherwise 1.

    Parameters
    ----------
    urdf
        The robot.
    waypoints
        A CSV file for each path of the programme, in the form of gjk3d robot path. A column t contains the times of the
        rows.
    report
        Write the table of paths and the table of listed pairs to an .html page for any browser.
    speed
        The speed of the fastest joint in radians or metres per second, for files without a column t. By default, two
        rows of these files are one second apart.
    tolerance
        The width in metres of the bounds of each distance.
    """
    if not waypoints:
        raise UsageError("safety: no waypoints are given. Name one or more CSV files.")
    if speed is not None and not 0.0 < speed < math.inf:
        raise UsageError(f"--speed {speed:g}: expected a number above 0")
    inputs = model.files(urdf, *waypoints, *around.scene)
    check_output(report, "--report", _PAGES, inputs)
    with Bar(show=not output.quiet) as bar:
        bar("reading")
        cell = Cell(urdf, model, around, scene_geometry="bodies")
        programme = {safe(name): read_trajectory(name, cell.robot, speed) for name in waypoints}
        bar("proving")
        result = cell.pictured().safety(programme, tolerance=tolerance)
    if not output.quiet:
        outside = [
            words
            for name, trajectory in programme.items()
            for words in outside_limits(cell.robot, trajectory.at(trajectory.times), f"{name}: ")
        ]
        cell.notes(outside, hit=bool(result.rows))
    if output.json:
        write_json(
            cell.document(
                asked={"paths": list(waypoints), "speed": speed, "tolerance": tolerance}, report=result.to_dict()
            )
        )
    else:
        print_line(cell.title())
        print_line(result.to_text().rstrip())
    if report is not None:
        result.to_html(report)
        wrote(report, output.quiet)
    return ExitCode(not result)
