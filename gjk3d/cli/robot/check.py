"""``gjk3d robot check URDF CONFIGURATIONS``, which lists the pairs that collide at each configuration."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter

from gjk3d.cli import ExitCode
from gjk3d.cli.arguments import UsageError, check_output
from gjk3d.cli.robot.cell import (
    IMAGES,
    MODEL,
    NO_SURROUNDINGS,
    RUN,
    Cell,
    Document,
    Flag,
    Model,
    Pair,
    Run,
    Surroundings,
    at_least,
    beyond_limits,
    new_table,
    outside_limits,
    pair_words,
    random_configurations,
    read_configurations,
    write_csv,
)
from gjk3d.cli.terminal import Bar, Table, print_line, print_omitted, print_table, write_json
from gjk3d.wording import count, format_gap

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gjk3d.robot import RobotCollision

_AT_ONCE = 512  #: the number of configurations between two tests for Ctrl-C
_SHOWN = 3  #: the largest number of pairs of a configuration in a table


def check(
    urdf: Path,
    configurations: str | None = None,
    /,
    *,
    random: int | None = None,
    seed: int = 0,
    clearance: Flag = False,
    top: int = 20,
    picture: Annotated[Path | None, Parameter(name=["--picture", "--image"])] = None,
    model: Model = MODEL,
    around: Surroundings = NO_SURROUNDINGS,
    output: Run = RUN,
) -> int:
    """Check which configurations are free, and list the colliding pairs of all other configurations.

    The exit code is 0 if all configurations are free, and otherwise 1.

    Parameters
    ----------
    urdf
        The robot.
    configurations
        A CSV file with a row for each configuration, in radians and metres, with an optional first row of joint names.
        It can also be the name of a pose in the SRDF.
    random
        The number of random configurations within the limits, instead of a file.
    seed
        The seed of the random numbers.
    clearance
        Also compute the closest pair of each configuration, and its distance or depth.
    top
        The largest number of rows of a table.
    picture
        Draw the first colliding configuration to a .png, .jpg or .html file. If all configurations are free, draw the
        configuration with the smallest clearance.
    """
    if (configurations is None) == (random is None):
        fault = "no configurations are given" if random is None else f"{configurations!r} and --random are both given"
        raise UsageError(f"{fault}. Name either a CSV file or a pose of the SRDF, or use --random.")
    at_least(random=random, seed=seed, top=top)
    output.check()
    check_output(picture, "--picture", IMAGES, model.files(urdf, configurations, *around.scene))
    with Bar(show=not output.quiet) as bar:
        bar("reading")
        cell = Cell(urdf, model, around, output.jobs)
        if configurations is None:
            q = random_configurations(cell.robot, random or 0, seed)
        else:
            q = read_configurations(configurations, cell.robot)
        result = _run(cell, q, clearance, bar)
    if not output.quiet:
        outside = outside_limits(cell.robot, [row.q for row in result.rows])
        cell.notes(outside, hit=result.complete and result.hits > 0)
    if output.json:
        source = {"random": random, "seed": seed} if configurations is None else {"file": configurations}
        write_json(_document(cell, result, source))
    elif output.csv:
        _write_csv(cell, result)
    else:
        _print(cell, result, configurations is not None, top)
    if picture is not None and result.rows:
        row = _worst(cell, result)
        cell.save_picture(row.q, f"{cell.robot.name}, row {row.number + 1} of {result.total}", picture, output.quiet)
    return ExitCode(result.hits > 0) if result.complete else ExitCode.INTERRUPTED


class Nearest(NamedTuple):
    """The closest pair of a configuration, its distance with bounds, and its witness points."""

    distance: float
    lower: float
    upper: float
    pair: Pair | None
    point_a: list[float]
    point_b: list[float]


class Row(NamedTuple):
    """The collisions, the closest pair and the exceeded limits of a configuration."""

    number: int  #: the index of the configuration, from 0
    q: NDArray[np.float64]
    collisions: list[RobotCollision]  #: the colliding pairs, the deepest first
    nearest: Nearest | None
    beyond: list[str]  #: the result of `beyond_limits`

    @property
    def free(self) -> bool:
        """Whether no pair collides."""
        return not self.collisions


@dataclass
class Rows:
    """The results of many configurations."""

    total: int
    rows: list[Row] = field(default_factory=list)
    complete: bool = True

    @property
    def hits(self) -> int:
        """The number of colliding configurations."""
        return sum(not row.free for row in self.rows)

    def pairs(self) -> list[tuple[Pair, int]]:
        """Return each colliding pair and the number of its colliding configurations, the most frequent pair first."""
        return Counter(collision.pair for row in self.rows for collision in row.collisions).most_common()


def _run(cell: Cell, q: NDArray[np.float64], clearance: bool, bar: Bar) -> Rows:
    result = Rows(len(q))
    try:
        for start in range(0, len(q), _AT_ONCE):
            bar("checking", start, len(q), result.hits)
            some = q[start : start + _AT_ONCE]
            hits = _collisions(cell, some)
            nearest = _nearest(cell, some) if clearance else [None] * len(some)
            for k, (collisions, near) in enumerate(zip(hits, nearest, strict=True)):
                result.rows.append(Row(start + k, some[k], collisions, near, beyond_limits(cell.robot, some[k])))
    except KeyboardInterrupt:
        result.complete = False
    return result


def _collisions(cell: Cell, q: NDArray[np.float64]) -> list[list[RobotCollision]]:
    collisions: list[list[RobotCollision]] = [[] for _ in q]
    hit = [k for k, free in enumerate(cell.checker.free(q, workers=cell.workers)) if not free]
    for k, all_collisions in zip(hit, cell.checker.collisions(q[hit]), strict=True):
        deepest: dict[Pair, RobotCollision] = {}
        for collision in all_collisions:  # the deepest first
            named = collision._replace(b=cell.owner.get(collision.b, collision.b))
            deepest.setdefault(named.pair, named)
        collisions[k] = list(deepest.values())
    return collisions


def _nearest(cell: Cell, q: NDArray[np.float64]) -> list[Nearest | None]:
    x = cell.checker.clearance(q, workers=cell.workers)
    distance, lower, upper, point_a, point_b = (
        column.tolist() for column in (x.distance, x.lower, x.upper, x.point_a, x.point_b)
    )
    pairs = map(cell.name, x.pair)
    return [Nearest(*values) for values in zip(distance, lower, upper, pairs, point_a, point_b, strict=True)]


def _worst(cell: Cell, result: Rows) -> Row:
    import numpy as np

    for row in result.rows:
        if not row.free:
            return row
    near = [row.nearest for row in result.rows]
    if None in near:
        near = _nearest(cell, np.array([row.q for row in result.rows]))
    distances = [math.inf if nearest is None else nearest.distance for nearest in near]
    return result.rows[distances.index(min(distances))]


def _document(cell: Cell, result: Rows, source: Document) -> Document:
    rows = [
        {
            "row": row.number,
            "free": row.free,
            "collisions": [
                {"pair": hit.pair, "distance": hit.distance, "lower": hit.lower, "upper": hit.upper}
                for hit in row.collisions
            ],
            "clearance": None if row.nearest is None else row.nearest._asdict(),
            "beyond_limits": row.beyond,
            "q": row.q.tolist(),
        }
        for row in result.rows
    ]
    return cell.document(
        asked={**source, "configurations": result.total},
        complete=result.complete,
        free=len(rows) - result.hits,
        hits=result.hits,
        pairs_that_hit=[{"pair": pair, "configurations": many} for pair, many in result.pairs()],
        rows=rows,
    )


def _write_csv(cell: Cell, result: Rows) -> None:
    near = any(row.nearest is not None for row in result.rows)
    distances = ["clearance", "lower", "upper", "nearest_a", "nearest_b"] if near else []
    lines: list[list[object]] = [["row", "state", "a", "b", *distances, *cell.columns]]
    for row in result.rows:
        line = [row.number, "free" if row.free else "hit", *(("", "") if row.free else row.collisions[0].pair)]
        if row.nearest is not None:
            line += [*map(repr, row.nearest[:3]), *(row.nearest.pair or ("", ""))]
        lines.append([*line, *map(repr, row.q.tolist())])
    write_csv(lines)


def _print(cell: Cell, result: Rows, one_by_one: bool, top: int) -> None:
    tested = len(result.rows)
    print_line(cell.title())
    part = "" if result.complete else f" (of {result.total}: interrupted)"
    counts = f"{tested - result.hits} free, {result.hits} in collision"
    print_line(f"{count(tested, 'configuration')}{part}: {counts}")
    near = [
        (row.nearest, row.number) for row in result.rows if row.nearest is not None and row.nearest.pair is not None
    ]
    if near:
        least, number = min(near, key=lambda candidate: candidate[0].distance)
        gap = format_gap(least.lower, least.upper, unit="m")
        print_line(f"least clearance: {gap}, {pair_words(least.pair)}, row {number + 1} of {result.total}")
    if one_by_one and tested:
        print_line()
        print_table(_table(result.rows[:top], bool(near)))
        print_omitted(tested, top)
    if result.hits and (not one_by_one or tested > 1):
        print_line()
        table = new_table("in collision", "configurations")
        for pair, many in result.pairs()[:top]:
            table.add(pair_words(pair), str(many))
        print_table(table)


def _table(rows: list[Row], near: bool) -> Table:
    outside = any(row.beyond for row in rows)
    titles = ["#", "state", "in collision", *(["clearance m", "closest"] if near else [])]
    table = new_table(*titles, *(["outside its limits"] if outside else []))
    for row in rows:
        pairs = "; ".join(pair_words(collision.pair) for collision in row.collisions[:_SHOWN]) or "-"
        pairs += f" and {len(row.collisions) - _SHOWN} more" if len(row.collisions) > _SHOWN else ""
        cells = [str(row.number + 1), "free" if row.free else "HIT", pairs]
        if near:
            nearest = row.nearest
            gap = "-" if nearest is None else format_gap(nearest.lower, nearest.upper)
            cells += [gap, "-" if nearest is None else pair_words(nearest.pair)]
        table.add(*cells, *([", ".join(row.beyond) or "-"] if outside else []))
    return table
