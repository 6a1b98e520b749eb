"""``gjk3d robot check URDF CONFIGURATIONS``: which configurations are free, and what collides in the others."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gjk3d.cli.arguments import UsageError, check_output
from gjk3d.cli.robot.cell import (
    ALONE,
    IMAGES,
    INTERRUPTED,
    MODEL,
    RUN,
    Document,
    Flag,
    Model,
    Run,
    Surroundings,
    at_least,
    document,
    new_table,
    notes,
    pair_words,
    save_picture,
    title,
    write_csv,
)
from gjk3d.cli.robot.configurations import beyond_limits, outside_limits, random_configurations, read_configurations
from gjk3d.cli.terminal import Bar, Table, print_table, say, say_more, write_json
from gjk3d.wording import count, told

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gjk3d.cli.robot.cell import Cell, Pair
    from gjk3d.robot import Robot, RobotCollision

_AT_ONCE = 512  #: configurations between two looks at the keyboard
_SHOWN = 3  # pairs of one configuration in a table


def check(
    urdf: Path,
    configurations: str | None = None,
    /,
    *,
    random: int | None = None,
    seed: int = 0,
    clearance: Flag = False,
    top: int = 20,
    picture: Path | None = None,
    model: Model = MODEL,
    around: Surroundings = ALONE,
    output: Run = RUN,
) -> int:
    """Tell which configurations are free, and what collides in the others.

    Exits with 0 if all are free, else with 1.

    Parameters
    ----------
    urdf
        The robot.
    configurations
        A CSV file, a row each, in radians and metres, with or without names of joints above; or a pose of the SRDF.
    random
        In place of a file: so many configurations, drawn evenly within the limits.
    seed
        Of the random numbers.
    clearance
        Also tell the closest pair of each configuration, and how far apart or how deep it is.
    top
        Most rows of a table.
    picture
        Draw the first one that collides, or where all are free the closest one, to a .png, .jpg or .html file.
    """
    if (configurations is None) == (random is None):
        raise UsageError("name configurations, a CSV file or a pose of the SRDF, or --random: one of them at a time")
    at_least(random=random, seed=seed, top=top)
    output.check()
    check_output(picture, "--picture", IMAGES, model.files(urdf, configurations, *around.scene))
    from gjk3d.cli.robot.cell import Cell

    with Bar(show=not output.quiet) as bar:
        bar("reading")
        cell = Cell(urdf, model, around, output.jobs)
        found = _ask(cell, _read(cell.robot, configurations, random, seed), clearance, bar)
    if not output.quiet:
        outside = outside_limits(cell.robot, [row.q for row in found.rows])
        notes(cell, outside, hit=found.complete and found.hits > 0)
    if output.json:
        asked = {"random": random, "seed": seed} if configurations is None else {"file": configurations}
        write_json(_document(cell, found, asked))
    elif output.csv:
        _write_csv(cell, found)
    else:
        _print(cell, found, configurations is not None, top)
    if picture is not None and found.rows:
        row = _worst(cell, found)
        save_picture(cell, row.q, f"{cell.robot.name}, row {row.number}", picture, output.quiet)
    return int(found.hits > 0) if found.complete else INTERRUPTED


# asking ---------------------------------------------------------------------------------------------------------------


class Nearest(NamedTuple):
    """The closest pair of one configuration."""

    distance: float
    lower: float
    upper: float
    pair: Pair | None
    point_a: list[float]
    point_b: list[float]


class Row(NamedTuple):
    """What was found of one configuration."""

    number: int  #: from 0
    q: NDArray[np.float64]
    meetings: list[RobotCollision]  #: the deepest first, each pair once; none where all is free
    nearest: Nearest | None
    beyond: list[str]

    @property
    def free(self) -> bool:
        """Whether no pair is too close."""
        return not self.meetings


@dataclass
class Rows:
    """What was found of many."""

    total: int
    rows: list[Row] = field(default_factory=list)
    complete: bool = True

    @property
    def hits(self) -> int:
        """How many configurations collide."""
        return sum(not row.free for row in self.rows)

    def pairs(self) -> list[tuple[Pair, int]]:
        """Return the pairs that collide and in how many configurations, the most frequent first."""
        return Counter(each.pair for row in self.rows for each in row.meetings).most_common()


def _read(robot: Robot, file: str | None, random: int | None, seed: int) -> NDArray[np.float64]:
    return random_configurations(robot, random or 0, seed) if file is None else read_configurations(file, robot)


def _ask(cell: Cell, q: NDArray[np.float64], clearance: bool, bar: Bar) -> Rows:
    """Ask about configurations, some at a time; Ctrl-C leaves what was found so far."""
    result = Rows(len(q))
    try:
        for start in range(0, len(q), _AT_ONCE):
            bar("checking", start, len(q), result.hits)
            some = q[start : start + _AT_ONCE]
            meetings = _meetings(cell, some)
            nearest = _nearest(cell, some) if clearance else [None] * len(some)
            for k, (met, near) in enumerate(zip(meetings, nearest, strict=True)):
                result.rows.append(Row(start + k, some[k], met, near, beyond_limits(cell.robot, some[k])))
    except KeyboardInterrupt:
        result.complete = False
    return result


def _meetings(cell: Cell, q: NDArray[np.float64]) -> list[list[RobotCollision]]:
    """Return the pairs that are too close, of n configurations: asked in full where a quick look finds one."""
    found: list[list[RobotCollision]] = [[] for _ in q]
    hit = [k for k, free in enumerate(cell.checker.free(q, workers=cell.workers)) if not free]
    for k, each in zip(hit, cell.checker.collisions(q[hit]), strict=True):
        seen: dict[Pair, RobotCollision] = {}
        for met in each:  # the deepest comes first
            named = met._replace(b=cell.owner.get(met.b, met.b))
            seen.setdefault(named.pair, named)
        found[k] = list(seen.values())
    return found


def _nearest(cell: Cell, q: NDArray[np.float64]) -> list[Nearest | None]:
    """Return the closest pairs of n configurations."""
    found = cell.checker.clearance(q, workers=cell.workers)
    numbers = (each.tolist() for each in (found.distance, found.lower, found.upper, found.point_a, found.point_b))
    distance, lower, upper, point_a, point_b = numbers
    pairs = map(cell.name, found.pair)
    return [Nearest(*each) for each in zip(distance, lower, upper, pairs, point_a, point_b, strict=True)]


def _worst(cell: Cell, found: Rows) -> Row:
    """Return the first configuration that collides, else the one that comes closest."""
    import numpy as np

    for row in found.rows:
        if not row.free:
            return row
    near = [row.nearest for row in found.rows]
    if None in near:
        near = _nearest(cell, np.array([row.q for row in found.rows]))
    return min(zip(found.rows, near, strict=True), key=lambda each: each[1].distance if each[1] else math.inf)[0]


# telling --------------------------------------------------------------------------------------------------------------


def _document(cell: Cell, found: Rows, asked: Document) -> Document:
    rows = [
        {
            "row": row.number,
            "free": row.free,
            "collisions": [
                {"pair": each.pair, "distance": each.distance, "lower": each.lower, "upper": each.upper}
                for each in row.meetings
            ],
            "clearance": None if row.nearest is None else row.nearest._asdict(),
            "beyond_limits": row.beyond,
            "q": row.q.tolist(),
        }
        for row in found.rows
    ]
    return document(
        cell,
        asked={**asked, "configurations": found.total},
        complete=found.complete,
        free=len(rows) - found.hits,
        hits=found.hits,
        pairs_that_hit=[{"pair": pair, "configurations": many} for pair, many in found.pairs()],
        rows=rows,
    )


def _write_csv(cell: Cell, found: Rows) -> None:
    near = any(row.nearest is not None for row in found.rows)
    distances = ["clearance", "lower", "upper", "nearest_a", "nearest_b"] if near else []
    lines: list[list[object]] = [["row", "state", "a", "b", *distances, *cell.columns]]
    for row in found.rows:
        line = [row.number, "free" if row.free else "hit", *(("", "") if row.free else row.meetings[0].pair)]
        if row.nearest is not None:
            line += [*map(repr, row.nearest[:3]), *(row.nearest.pair or ("", ""))]
        lines.append([*line, *map(repr, row.q.tolist())])
    write_csv(lines)


def _print(cell: Cell, found: Rows, each: bool, top: int) -> None:
    """Print counts, a row for each configuration unless they are random ones, and the pairs that collide."""
    done = len(found.rows)
    say(title(cell))
    part = "" if found.complete else f" (of {found.total}: interrupted)"
    counts = f"{done - found.hits} free, {found.hits} in collision"
    say(f"{count(done, 'configuration')}{part}: {counts}")
    near = [(row.nearest, row.number) for row in found.rows if row.nearest is not None and row.nearest.pair is not None]
    if near:
        least, number = min(near, key=lambda one: one[0].distance)
        gap = told(least.lower, least.upper, unit="m")
        say(f"least clearance {gap}, {pair_words(least.pair)}, row {number}")
    if each and done:
        say()
        print_table(_table(found.rows[:top], bool(near)))
        say_more(done, top)
    if found.hits and (not each or done > 1):
        say()
        table = new_table("in collision", "configurations")
        for pair, many in found.pairs()[:top]:
            table.add(pair_words(pair), str(many))
        print_table(table)


def _table(rows: list[Row], near: bool) -> Table:
    beyond = any(row.beyond for row in rows)
    titles = ["#", "state", "in collision", *(["clearance m", "closest"] if near else [])]
    table = new_table(*titles, *(["outside its limits"] if beyond else []))
    for row in rows:
        cells = [str(row.number), "free" if row.free else "HIT", _met(row)]
        if near:
            found = row.nearest
            cells += ["-", "-"] if found is None else [told(found.lower, found.upper), pair_words(found.pair)]
        table.add(*cells, *([", ".join(row.beyond) or "-"] if beyond else []))
    return table


def _met(row: Row) -> str:
    if row.free:
        return "-"
    more = f" and {len(row.meetings) - _SHOWN} more" if len(row.meetings) > _SHOWN else ""
    return "; ".join(pair_words(each.pair) for each in row.meetings[:_SHOWN]) + more
