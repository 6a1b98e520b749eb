"""Configurations of the commands of ``gjk3d robot``, from CSV files, named poses or random numbers."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

from gjk3d.cli.arguments import UsageError
from gjk3d.errors import FileError, ParseError
from gjk3d.wording import expected_names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gjk3d.robot import Robot, Trajectory
    from gjk3d.typing import Rows

_LARGEST = 1 << 30
TIME = "t"  #: the name of the column of times, unless a joint has this name


def columns(robot: Robot) -> tuple[str, ...]:
    """Return the name of each coordinate of q, which is the name of the joint, with [0], [1], ... for several."""
    names: list[str] = []
    for name, indices in robot.columns.items():
        size = indices.stop - indices.start
        names += [name] if size == 1 else [f"{name}[{k}]" for k in range(size)]
    return tuple(names)


def read_configurations(text: str, robot: Robot) -> NDArray[np.float64]:
    """Return the configurations in a CSV file, (n, dof), or the pose with this name in the SRDF.

    Cells are separated by commas, semicolons or spaces, and ``#`` begins a comment. If the first row contains the names
    of the joints, the columns may have any order. A column of times, ``t``, is ignored.

    Raises
    ------
    FileError, ParseError
        If the file cannot be read. The message has the file, the line, the joint and the value.
    """
    return _read(text, robot)[:, : robot.dof]


def read_trajectory(text: str, robot: Robot, speed: float | None) -> Trajectory:
    """Return the trajectory in a CSV file.

    The times are in a column ``t``. Without this column, the fastest joint has the speed in radians or metres per
    second. Without a speed, two rows are one second apart.

    Raises
    ------
    FileError, ParseError
        As in `read_configurations`, or if the times do not increase.
    """
    import numpy as np

    from gjk3d.robot import Trajectory

    table = _read(text, robot)
    path, times = table[:, :-1], table[:, -1]
    if np.isnan(times).any():
        steps = np.ones(len(path) - 1)
        if speed is not None:  # equal rows have no motion, but times must increase
            with np.errstate(over="ignore"):
                steps = np.maximum(np.abs(np.diff(path, axis=0)).max(axis=1, initial=0.0) / speed, 1e-3)
        times = np.concatenate([[0.0], np.cumsum(steps)])
    if len(path) == 1:
        path, times = np.repeat(path, 2, axis=0), np.array([0.0, 1.0])
    late = np.flatnonzero(~(np.diff(times) > 0.0))
    if len(late):
        k = int(late[0])
        raise ParseError(
            f"{text}: t is {times[k]:g} in row {k + 1} and {times[k + 1]:g} in the next, expected ascending times. "
            "Sort the rows by t."
        )
    return Trajectory(path, times)


def _read(text: str, robot: Robot) -> NDArray[np.float64]:
    """Return the configurations with the times in the last column. Missing times are NaN."""
    import numpy as np

    path = Path(text)
    if not os.path.isfile(path):
        if text in robot.states:
            return np.append(robot.state(text), np.nan)[None]
        if os.path.exists(path):
            raise FileError(f"{text!r} is a folder, a device or a pipe, expected a CSV file")
        cure = (
            f" and is not a pose of the SRDF, {expected_names(text, robot.states)}"
            if robot.states
            else ". Correct its path."
        )
        raise FileError(f"the file {text!r} ({path.absolute()}) does not exist{cure}")
    if path.stat().st_size > _LARGEST:
        raise UsageError(f"{text} has {path.stat().st_size} bytes, expected at most {_LARGEST}. Split the file.")
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as reason:
        raise ParseError(f"{path} is not a text in UTF-8: {reason}. Save it as UTF-8.") from None
    rows = [(k, _cells(line)) for k, line in enumerate(lines, 1)]
    rows = [(k, cells) for k, cells in rows if cells]
    names = *columns(robot), TIME
    order = list(range(robot.dof))
    if rows and not any(map(_is_number, rows[0][1])):
        order = _order(rows[0][1], names, f"{path}, line {rows[0][0]}", robot)
        rows = rows[1:]
    if not rows:
        raise ParseError(f"{path} has 0 configurations, expected rows of {', '.join(names[:-1])}")
    values = np.full((len(rows), len(names)), np.nan)
    for row, (line, cells) in zip(values, rows, strict=True):
        where = f"{path}, line {line}"
        if len(cells) != len(order):
            raise ParseError(
                f"{where} has {len(cells)} numbers, expected {len(order)}: {', '.join(names[: len(order)])}"
            )
        for place, cell in zip(order, cells, strict=True):
            row[place] = _number(cell, f"{where}, {names[place]}")
    return values


def _cells(line: str) -> list[str]:
    line = line.partition("#")[0].strip()
    if not line:
        return []
    mark = next((mark for mark in ",;" if mark in line), None)
    return [cell.strip().strip('"') for cell in line.split(mark)]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _number(cell: str, where: str) -> float:
    if not _is_number(cell):
        cure = " Angles are in radians." if "deg" in cell else " Correct it, or remove the row."
        raise ParseError(f"{where}: {cell!r} is not a number.{cure}")
    value = float(cell)
    if not math.isfinite(value):
        raise ParseError(f"{where} is {cell}, expected a finite number. Correct it, or remove the row.")
    return value


def _order(header: list[str], names: tuple[str, ...], where: str, robot: Robot) -> list[int]:
    for cell in header:
        if cell not in names:
            raise ParseError(
                f"{where}: {cell!r} is not a joint of the robot {robot.name!r}, {expected_names(cell, names[:-1])}"
            )
        if header.count(cell) > 1:
            raise ParseError(f"{where}: the joint {cell!r} occurs twice. Remove one of its columns.")
    missing = [name for name in names[:-1] if name not in header]
    if missing:
        raise ParseError(
            f"{where}: the column of {missing[0]!r} is missing. Add it, so that the columns are "
            f"{', '.join(names[:-1])}."
        )
    return [names.index(cell) for cell in header]


def beyond_limits(robot: Robot, q: NDArray[np.float64]) -> list[str]:
    """Return texts on the coordinates of a configuration that are outside of their limits."""
    names = columns(robot)
    return [
        f"{names[k]} {q[k]:g} is {'below' if q[k] < robot.lower[k] else 'above'} "
        f"{robot.lower[k] if q[k] < robot.lower[k] else robot.upper[k]:g}"
        for k in range(robot.dof)
        if not robot.lower[k] <= q[k] <= robot.upper[k]
    ]


def outside_limits(robot: Robot, rows: Rows, name: str = "") -> list[str]:
    """Return a note with the number of rows outside of the limits and the first of them, or an empty list."""
    import numpy as np

    q = np.asarray(rows, dtype=np.float64).reshape(len(rows), robot.dof)
    outside = np.flatnonzero(~robot.within_limits(q))
    if not len(outside):
        return []
    first = int(outside[0])
    return [
        f"{name}{len(outside)} of {len(q)} configurations are outside of the joint limits, which are not enforced. "
        f"In row {first + 1}, {beyond_limits(robot, q[first])[0]} (angles are in radians)."
    ]


def random_configurations(robot: Robot, count: int, seed: int) -> NDArray[np.float64]:
    """Return random configurations with a uniform distribution within the limits. Unlimited angles are in [-pi, pi].

    Raises
    ------
    UsageError
        If a joint slides without limits.
    """
    import numpy as np

    from gjk3d.robot.sampling import draw, limit_turns

    low, high = robot.lower.copy(), robot.upper.copy()
    limit_turns(robot, low, high)
    sliding = np.flatnonzero(~(np.isfinite(low) & np.isfinite(high)))
    if len(sliding):
        raise UsageError(f"--random: {columns(robot)[sliding[0]]} slides without limits. Add limits to the joint.")
    with np.errstate(over="ignore"):
        wide = np.flatnonzero(~np.isfinite(high - low))
    if len(wide):
        raise UsageError(f"--random: the limits of {columns(robot)[wide[0]]} are too far apart. Reduce them.")
    return draw(robot, np.random.default_rng(seed), count, low, high)
