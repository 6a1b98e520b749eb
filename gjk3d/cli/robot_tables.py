"""How ``gjk3d robot`` prints: tables for people, one JSON document or CSV rows for programs."""

from __future__ import annotations

import csv as csv_module
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gjk3d.cli.configurations import columns
from gjk3d.cli.models import sha256, versions
from gjk3d.cli.tables import Table
from gjk3d.cli.terminal import console, print_table, safe, write_json
from gjk3d.wording import above, below, number, told

if TYPE_CHECKING:
    from gjk3d.cli.robot_work import Pair, Row, Rows, Way, Work
    from gjk3d.robot import Robot

SCHEMA_VERSION = 1
Document = dict[str, Any]
_SHOWN = 3  # pairs of one configuration in a table


def head(work: Work, urdf: Path, srdf: Path | None, scene: list[Path], geometry: str) -> Document:
    """Return what every document begins with."""
    own, around = work.pair_count()
    return {
        "schema_version": SCHEMA_VERSION,
        "command": "robot",
        "robot": {"name": work.robot.name, "path": str(urdf), "sha256": sha256(urdf), "joints": columns(work.robot)},
        "srdf": None if srdf is None else {"path": str(srdf), "sha256": sha256(srdf)},
        "scene": [{"path": str(path), "sha256": sha256(path)} for path in scene],
        "objects": [{"name": each.name, "file": str(each.source), "geometry": each.way} for each in work.things],
        "geometry": geometry,
        "unit": "m",
        "margin": work.margin,
        "pairs": {"of_links": own, "with_objects": around},
    }


def _foot(**more: Any) -> Document:
    return {**more, "versions": versions()}


def _pair(pair: Pair | None) -> str:
    return "-" if pair is None else f"{safe(pair[0])}, {safe(pair[1])}"


_RIGHT = ("#", "clearance m", "configurations", "bodies", "from", "to")
_NAMES = ("in collision", "closest", "outside its limits", "joint", "parent", "child", "link or object", "file", "pair")
_SPARE = ("outside its limits", "geometry", "type")


def _table(*titles: str) -> Table:
    return Table(titles, _RIGHT, _NAMES, _SPARE)


def _say(line: str) -> None:
    from rich.text import Text

    console().print(Text(line))


def _count(many: int, one: str) -> str:
    return f"{many} {one}" if many == 1 else f"{many} {one}s"


def _title(work: Work) -> str:
    own, around = work.pair_count()
    things = f", {_count(len(work.things), 'object')} around it" if work.things else ""
    margin = f", margin {number(work.margin)} m" if work.margin else ""
    return f"{safe(work.robot.name)}: {_count(work.robot.dof, 'joint number')}, {own + around} pairs{things}{margin}"


# configurations -------------------------------------------------------------------------------------------------------


def write_rows(head: Document, work: Work, rows: Rows, asked: Document, json: bool, csv: bool, top: int) -> None:
    """Print what was found of configurations."""
    if json:
        found = [
            {
                "row": row.number,
                "free": row.free,
                "collisions": [each._asdict() for each in row.meetings],
                "clearance": None if row.nearest is None else row.nearest._asdict(),
                "beyond_limits": row.beyond,
                "q": row.q.tolist(),
            }
            for row in rows.rows
        ]
        counts = [{"pair": pair, "configurations": count} for pair, count in rows.pairs()]
        write_json(
            {
                **head,
                "asked": {**asked, "configurations": rows.total},
                "complete": rows.complete,
                "free": len(rows.rows) - rows.hits,
                "hits": rows.hits,
                "pairs_that_hit": counts,
                "rows": found,
                **_foot(),
            }
        )
    elif csv:
        _csv_rows(work, rows)
    else:
        _print_rows(work, rows, "file" in asked, top)


def _csv_rows(work: Work, rows: Rows) -> None:
    out = csv_module.writer(sys.stdout, lineterminator="\n")
    near = any(row.nearest is not None for row in rows.rows)
    distances = ["clearance", "lower", "upper", "nearest_a", "nearest_b"] if near else []
    out.writerow(["row", "state", "a", "b", *distances, *columns(work.robot)])
    for row in rows.rows:
        cells = [row.number, "free" if row.free else "hit", *(("", "") if row.free else row.meetings[0].pair)]
        if row.nearest is not None:
            cells += [*map(repr, row.nearest[:3]), *(row.nearest.pair or ("", ""))]
        out.writerow([*cells, *map(repr, row.q.tolist())])


def _print_rows(work: Work, rows: Rows, each: bool, top: int) -> None:
    done = len(rows.rows)
    _say(_title(work))
    part = "" if rows.complete else f" (of {rows.total}: interrupted)"
    _say(f"{_count(done, 'configuration')}{part}: {done - rows.hits} free, {rows.hits} in collision")
    near = [row for row in rows.rows if row.nearest is not None and row.nearest.pair is not None]
    if near:
        least = min(near, key=lambda row: row.nearest.distance if row.nearest else math.inf)
        assert least.nearest is not None
        gap = told(least.nearest.lower, least.nearest.upper, unit="m")
        _say(f"least clearance {gap}, {_pair(least.nearest.pair)}, row {least.number}")
    if each and done:
        _say("")
        print_table(_row_table(rows.rows[:top], bool(near)))
        if done > top:
            _say(f"... {done - top} more, --top {done} shows them")
    if rows.hits and (not each or done > 1):
        _say("")
        table = _table("in collision", "configurations")
        for pair, count in rows.pairs()[:top]:
            table.add(_pair(pair), str(count))
        print_table(table)


def _met(row: Row) -> str:
    if row.free:
        return "-"
    more = f" and {len(row.meetings) - _SHOWN} more" if len(row.meetings) > _SHOWN else ""
    return "; ".join(_pair(each.pair) for each in row.meetings[:_SHOWN]) + more


def _row_table(rows: list[Row], near: bool) -> Table:
    beyond = any(row.beyond for row in rows)
    titles = ["#", "state", "in collision", *(["clearance m", "closest"] if near else [])]
    table = _table(*titles, *(["outside its limits"] if beyond else []))
    for row in rows:
        cells = [str(row.number), "free" if row.free else "HIT", _met(row)]
        if near:
            found = row.nearest
            cells += ["-", "-"] if found is None else [told(found.lower, found.upper), _pair(found.pair)]
        table.add(*cells, *([", ".join(row.beyond) or "-"] if beyond else []))
    return table


# paths ----------------------------------------------------------------------------------------------------------------


def write_path(head: Document, work: Work, way: Way, file: str, how: Document, json: bool, csv: bool) -> None:
    """Print what was found of a path."""
    if json:
        found = {**way._asdict(), "q": None if way.q is None else way.q.tolist(), "free": way.status == "FREE"}
        write_json({**head, "asked": {"path": file, **how}, **found, **_foot()})
        return
    if csv:
        out = csv_module.writer(sys.stdout, lineterminator="\n")
        out.writerow(["status", "edges", "edge", "safe", "hit", "a", "b", *columns(work.robot)])
        numbers = ["" if way.edge is None else repr(x) for x in (way.safe, way.hit)]
        q = [""] * work.robot.dof if way.q is None else list(map(repr, way.q.tolist()))
        edge = "" if way.edge is None else way.edge
        out.writerow([way.status, way.edges, edge, *numbers, *(way.pair or ("", "")), *q])
        return
    _say(_title(work))
    _say(f"{safe(file)}: {_count(way.edges, 'edge')}, {_how(how)}")
    if not way.complete:
        _say(f"interrupted: {way.looked_at} of {way.edges} edges were free, the rest was not looked at")
        return
    if way.edge is None:
        _say("FREE, proven all the way" if how["certify"] else "FREE at every sample")
        return
    where = f"edge {way.edge}, from row {way.edge} to row {way.edge + 1}"
    words = {"HIT": "collide", "UNRESOLVED": "are too close to tell"}[way.status]
    _say(f"{way.status} on {where}: {_pair(way.pair)} {words}")
    end = "" if math.isnan(way.hit) else f", in collision at {above(way.hit)}"
    _say(f"free up to {below(way.safe)} of it{end}")
    if way.q is not None:
        _say(f"q = {', '.join(number(value, 4) for value in way.q)}")


def _how(how: Document) -> str:
    if how["certify"]:
        return f"certified, tolerance {number(how['tolerance'])}"
    return f"sampled, no joint moves more than {number(how['resolution'])} between samples"


# the robot itself -----------------------------------------------------------------------------------------------------


def write_overview(head: Document, work: Work, json: bool) -> None:
    """Print joints, links, pairs."""
    robot = work.robot
    if json:
        write_json({**head, **_overview(work), **_foot()})
        return
    own, around = work.pair_count()
    _say(f"{safe(robot.name)}: {_count(len(robot.links), 'link')}, {_count(robot.dof, 'joint number')}, lengths in m")
    _say("")
    table = _table("joint", "type", "from", "to", "parent", "child")
    for joint in (each for each in robot.joints if each is not None):
        own_columns = robot.columns.get(joint.name)
        ends = ("-", "-")
        if own_columns is not None and own_columns.stop - own_columns.start == 1:
            ends = (number(robot.lower[own_columns.start]), number(robot.upper[own_columns.start]))
        kind = f"{joint.type}, mimics {safe(joint.mimic.joint)}" if joint.mimic else joint.type
        table.add(safe(joint.name), kind, *ends, safe(joint.parent), safe(joint.child))
    print_table(table)
    _say("")
    table = _table("link or object", "bodies", "geometry", "file")
    for cells in _solids(work):
        table.add(*cells)
    print_table(table)
    _say("")
    counts = ", ".join(f"{count} {safe(reason)}" for reason, count in robot.allowed.counts().items()) or "none"
    _say(f"pairs of links: {own} checked, left unchecked: {counts}")
    if work.things:
        _say(f"pairs with objects: {around} checked, {len({*work.still, *work.touching})} left unchecked")
    if robot.states:
        _say(f"poses: {', '.join(map(safe, robot.states))}")


def _solids(work: Work) -> list[tuple[str, str, str, str]]:
    robot = work.robot
    found = []
    for number_, name in enumerate(robot.links):
        own = [each for each in robot.geometries if each.link == number_]
        files = sorted({each.source.name for each in own if each.source is not None})
        bodies = str(sum(each.last - each.first for each in own)) if own else "-"
        ways = ", ".join(sorted({each.way for each in own})) or "-"
        found.append((safe(name), bodies, ways, ", ".join(map(safe, files)) or "-"))
    for thing in work.things:
        found.append((safe(thing.name), str(len(thing.pieces)), thing.way, safe(thing.source.name)))
    return found


def _overview(work: Work) -> Document:
    robot = work.robot
    joints = [
        {
            "name": joint.name,
            "type": joint.type,
            "parent": joint.parent,
            "child": joint.child,
            "columns": list(range(own.start, own.stop)) if (own := robot.columns.get(joint.name)) else [],
            "lower": robot.lower[own].tolist() if own else [],
            "upper": robot.upper[own].tolist() if own else [],
            "mimics": joint.mimic.joint if joint.mimic else None,
        }
        for joint in robot.joints
        if joint is not None
    ]
    links = [
        {
            "name": name,
            "geometries": [
                {
                    "geometry": each.way,
                    "bodies": each.last - each.first,
                    "file": None if each.source is None else str(each.source),
                    "error": each.error,
                }
                for each in robot.geometries
                if each.link == k
            ],
        }
        for k, name in enumerate(robot.links)
    ]
    return {
        "joints": joints,
        "links": links,
        "checked": [[robot.links[a], robot.links[b]] for a, b in robot.pairs.tolist()],
        "allowed": [each._asdict() for each in robot.allowed],
        "poses": {name: robot.state(name).tolist() for name in robot.states},
    }


def write_allowed(robot: Robot, target: Path, json: bool, top: int) -> None:
    """Print the pairs that need no check, and what that rests on."""
    allowed = robot.allowed
    proven = set(allowed.proven)
    if json:
        write_json(
            {
                "schema_version": SCHEMA_VERSION,
                "command": "robot",
                "robot": {"name": robot.name, "path": str(robot.source)},
                "srdf": str(target),
                "counts": allowed.counts(),
                "checked": len(robot.pairs),
                "allowed": [{**each._asdict(), "proven": tuple(each[:2]) in proven} for each in allowed],
                "evidence": allowed.evidence,
                **_foot(),
            }
        )
        return
    counts = ", ".join(f"{count} {reason}" for reason, count in allowed.counts().items()) or "none"
    _say(f"{safe(robot.name)}: {len(allowed)} pairs of links need no check ({counts}), {len(robot.pairs)} do")
    _say("")
    table = _table("pair", "reason")
    for each in list(allowed)[:top]:
        table.add(_pair(each[:2]), f"{each.reason}, proven" if tuple(each[:2]) in proven else safe(each.reason))
    print_table(table)
    if len(allowed) > top:
        _say(f"... {len(allowed) - top} more, --top {len(allowed)} shows them")
    _say("")
    _say(allowed.evidence)
