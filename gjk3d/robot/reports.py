"""All that is too close at a configuration, and where shapes touch: lists, for people and for simulators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d.contacts import check_patches, contact
from gjk3d.robot.every import FAR
from gjk3d.robot.kinematics import Array, Ints
from gjk3d.robot.results import RobotCollision, RobotContact
from gjk3d.shapes.base import Shape

if TYPE_CHECKING:
    from gjk3d.robot.checker import Checker

_AT_ONCE = 1 << 16  #: most configurations times pairs that are held


def collisions(checker: Checker, rows: Array) -> list[list[RobotCollision]]:
    """Return the pairs of each configuration that are closer than their margin, the deepest first."""
    tables, names = checker._ready(), checker._names
    found: list[dict[tuple[str, str], RobotCollision]] = [{} for _ in rows]

    def put(k: int, pair: tuple[str, str], row: Array) -> None:
        old = found[k].get(pair)
        if old is None or row[0] < old.distance:
            lower = min(row[1], old.lower) if old else row[1]
            found[k][pair] = RobotCollision(*pair, float(row[0]), float(lower), float(row[2]), *row[3:12].reshape(3, 3))
        elif row[1] < old.lower:
            found[k][pair] = old._replace(lower=float(row[1]))

    for start, out, which in _every(checker, rows, tables.margins):
        for k, p in np.argwhere((which != FAR) & ~(out[..., 1] > tables.margins)).tolist():
            put(start + k, names[p], out[k, p].copy())
    solids = checker.solids
    for s in range(len(solids)):
        margin = float(tables.solid_margins[s])
        for k, row in solids.rows_within(rows, s, margin):
            put(k, solids.names(s), row)
    return [sorted(each.values(), key=lambda one: (one.distance, one.pair)) for each in found]


def contacts(checker: Checker, rows: Array, within: float, max_points: int | None) -> list[list[RobotContact]]:
    """Return where bodies touch or come within a distance, of each configuration, pair by pair."""
    check_patches(within, max_points)
    tables, solids = checker._ready(), checker.solids
    found: list[list[RobotContact]] = [[] for _ in rows]
    for start, out, which in _every(checker, rows, np.full(len(tables.rows), float(within))):
        for k, p in np.argwhere((which != FAR) & ~(out[..., 1] > within)).tolist():
            links = checker.robot.link_poses(rows[start + k : start + k + 1])
            first, last = tables.rows[p, 2:].tolist()
            for pair in tables.subs[first:last] if last > first else tables.rows[p : p + 1, :2]:
                found[start + k] += _patch(checker, links, pair, within, max_points)
    for s in range(len(solids)):
        for k, row in solids.rows_within(rows, s, within):
            if all(isinstance(shape, Shape) for shape in solids.shapes(s)):
                links = checker.robot.link_poses(rows[k : k + 1])
                found[k] += _patch(checker, links, tables.solid_pairs[s], within, max_points)
            else:
                normal, a, b = row[3:12].reshape(3, 3)
                gap = float(row[0])
                found[k].append(
                    RobotContact(*solids.names(s), normal, a[None], b[None], row[:1], gap, float(row[1]), float(row[2]))
                )
    return found


def _patch(checker: Checker, links: Array, pair: Ints, within: float, max_points: int | None) -> Iterator[RobotContact]:
    tables = checker._ready()
    a, b = pair.tolist()
    found: Any = contact(
        tables.shapes[a],
        tables.shapes[b],
        tables.placed(links, a)[0],
        tables.placed(links, b)[0],
        within=within,
        max_points=max_points,
    )
    if found.count:
        yield RobotContact(
            *tables.names(pair), found.normal, found.points_a, found.points_b, found.gaps,
            found.distance, found.lower, found.upper,
        )  # fmt: skip


def _every(checker: Checker, rows: Array, most: Array) -> Iterator[tuple[int, Array, Ints]]:
    size = max(1, _AT_ONCE // max(len(most), 1))
    for start in range(0, len(rows), size):
        yield (start, *checker._every(rows[start : start + size], most))
