"""What ``gjk3d robot`` says on stderr beside its answer: what looks wrong, and what the answer rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gjk3d.wording import above

if TYPE_CHECKING:
    from gjk3d.cli.robot_work import Pair, Rows, Work

_HUGE = 100.0  #: m: a link of this size is rather one whose millimetres were taken for metres
_SHOWN = 6


def _listed(pairs: list[Pair]) -> str:
    more = f" and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
    return ", ".join(f"{a}-{b}" for a, b in pairs[:_SHOWN]) + more


def of_robot(work: Work, has_srdf: bool) -> list[str]:
    """Return what looks wrong with a robot and its surroundings."""
    from gjk3d.robot.touching import Touching

    robot = work.robot
    found = []
    huge = [
        robot.links[each.link]
        for each in robot.geometries
        if np.ptp(np.asarray(each.hull.bounds), axis=0).max() > _HUGE
    ]
    if huge:
        found.append(f'link {huge[0]} is more than {_HUGE:g} m long: a mesh in mm needs scale="0.001 0.001 0.001"')
    unknown = [(each.link_a, each.link_b) for each in robot.allowed.unknown]
    if unknown:
        found.append(f"pairs of the SRDF name links that the robot lacks, and mean nothing: {_listed(unknown)}")
    bad = [name for name in robot.states if _outside(work, robot.state(name))]
    if bad:
        found.append(f"poses of the SRDF outside the limits: {', '.join(bad)}")
    zero = np.zeros((1, robot.dof))
    touching = Touching(robot)
    links = robot.links
    pairs = robot.pairs
    hits = [(links[a], links[b]) for a, b in pairs[touching.hits(pairs, zero)[0]].tolist()]
    if hits:
        cure = "" if has_srdf else "; --acm finds pairs that always do"
        found.append(f"where all joints are 0, these collide: {_listed(hits)}{cure}")
    adjacent = np.array(
        [sorted((links.index(a), links.index(b))) for a, b, _ in robot.adjacent()], dtype=np.int64
    ).reshape(-1, 2)
    overlapping = [(links[a], links[b]) for a, b in adjacent[touching.hits(adjacent, zero)[0]].tolist()]
    unchecked = [pair for pair in overlapping if pair in robot.allowed]
    if unchecked:
        found.append(f"overlap where all joints are 0, and are adjacent, so left unchecked: {_listed(unchecked)}")
    if not has_srdf:
        found.append("no --srdf: only links that share a joint are left unchecked; --acm finds more")
    still = work.still_touching()
    if still:
        found.append(f"touch and never move against each other, so left unchecked: {_listed(still)}")
    return found


def of_rows(work: Work, rows: Rows | None) -> list[str]:
    """Return what to know about configurations that were asked about."""
    if rows is None:
        return []
    outside = [row for row in rows.rows if row.beyond]
    if not outside:
        return []
    first = outside[0]
    return [
        f"{len(outside)} of {len(rows.rows)} configurations are outside the limits of joints, which are not enforced; "
        f"row {first.number}: {first.beyond[0]} (angles are in radians)"
    ]


def of_geometry(work: Work, hit: bool) -> list[str]:
    """Say what a hit is worth where hulls or parts stand for meshes."""
    robot = work.robot
    ways = {each.way for each in robot.geometries} | {way for thing in work.things for way in thing.way.split(" and ")}
    found = []
    if hit and ways & {"bodies", "hull"}:
        what = "the hulls of their connected bodies" if "bodies" in ways else "their hulls"
        found.append(f"meshes stand as {what}: free is free, a hit may be of a hull only (--geometry mesh tells)")
    if "parts" in ways:
        error = max((each.error for each in robot.geometries if each.error), default=0.0)
        found.append(f"meshes stand as convex parts, which are up to {above(error, 3)} m off: a graze may be missed")
    return found


def _outside(work: Work, q: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> bool:
    return bool(((q < work.robot.lower) | (q > work.robot.upper)).any())
