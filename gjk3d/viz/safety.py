"""The page of a safety report: the tables, and the robot's cell in 3D at the least distance of each row."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d import webpage
from gjk3d.bodies.mesh import Mesh
from gjk3d.query.raycast import raycast
from gjk3d.robot import SafetyMotion, SafetyPlace, SafetyReport, SafetyRow
from gjk3d.robot.safety import MOTION_HEAD, ROW_HEAD, VERDICTS, motion_cells, row_cells
from gjk3d.typing import Array
from gjk3d.viz.drawing import Style, ball_of
from gjk3d.viz.kinds import robots
from gjk3d.viz.layout import placed
from gjk3d.viz.motions import Moment, Play, keys_of, movers_of, write_page
from gjk3d.viz.page import ROOM
from gjk3d.viz.paint import Mover
from gjk3d.viz.triangles import joined

_FPS = 1.0
#: The legend of vermilion bodies by the verdicts of their rows.
_HITS = {"collision": "colliding", "too close": "too close", "open": "open"}
#: Greatest number of moments with a separate view, and number of points of a body whose visibility decides the view.
_MOST_VIEWS, _SAMPLES = 200, 40


def write_safety(report: SafetyReport, path: str | os.PathLike[str]) -> Path:
    """Write a safety report as one page and return the page's path. A click on a row shows its least distance in 3D."""
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
    """Return a play whose moments are the least distances of the motions, then of the rows."""
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
    trace = np.zeros((len(entries), 3))  # moments of many motions are not a path
    moments = [_moment(entry) for entry in entries]
    moments[:_MOST_VIEWS] = [
        moment._replace(view=_clear_view(movers, k, moment)) for k, moment in enumerate(moments[:_MOST_VIEWS])
    ]
    return Play(title, report.headline, movers, moments, trace, scene, keys)


def _clear_view(movers: Sequence[Mover], k: int, moment: Moment) -> tuple[Array, float, Array] | None:
    """Return centre and radius of a ball around a moment's pair, and the view direction in which least is in front."""
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
