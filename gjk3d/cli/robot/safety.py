"""``gjk3d robot safety URDF WAYPOINTS...``: which pairs come closer than the margin over a programme of paths."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gjk3d.cli.arguments import UsageError, check_output
from gjk3d.cli.robot.configurations import outside_limits, read_trajectory
from gjk3d.cli.robot.options import (
    ALONE,
    MODEL,
    OUTPUT,
    Model,
    Output,
    Surroundings,
    document,
    notes,
    title,
    wrote,
)
from gjk3d.cli.terminal import Bar, safe, say, write_json

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
