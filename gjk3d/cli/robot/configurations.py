"""Configurations as the commands of ``gjk3d robot`` take them: CSV files, poses by name, or drawn at random."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

from gjk3d.cli.arguments import UsageError
from gjk3d.errors import FileError, ParseError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gjk3d.robot import Robot, Trajectory
    from gjk3d.typing import Rows

_LARGEST = 1 << 30
TIME = "t"  #: the column of times, where no joint has that name


def columns(robot: Robot) -> tuple[str, ...]:
    """Return the name of each number of q: that of the joint, with [0], [1] and so on where it has several."""
    names: list[str] = []
    for name, indices in robot.columns.items():
        size = indices.stop - indices.start
        names += [name] if size == 1 else [f"{name}[{k}]" for k in range(size)]
    return tuple(names)


def read_configurations(text: str, robot: Robot) -> NDArray[np.float64]:
    """Return the configurations of a CSV file, (n, dof), or the pose of that name in the SRDF.

    Cells stand between commas, semicolons or spaces; ``#`` begins a comment. Where the first row has the names of the
    joints, columns may stand in any order; a column of times, ``t``, is left out.

    Raises
    ------
    FileError, ParseError
        Naming the file, the line, the joint and the value seen.
    """
    return _read(text, robot)[:, : robot.dof]


def read_trajectory(text: str, robot: Robot, speed: float | None) -> Trajectory:
    """Return what `read_configurations` does as a motion over time.

    Times are those of a column ``t``; without one the fastest joint has the speed, in radians or metres a second, and
    without that waypoints are a second apart.

    Raises
    ------
    FileError, ParseError
        As there, and where times do not increase.
    """
    import numpy as np

    from gjk3d.robot import Trajectory

    table = _read(text, robot)
    path, times = table[:, :-1], table[:, -1]
    if np.isnan(times).any():
        steps = np.ones(len(path) - 1)
        if speed is not None:  # what stands still for a moment is no motion, but times increase
            with np.errstate(over="ignore"):
                steps = np.maximum(np.abs(np.diff(path, axis=0)).max(axis=1, initial=0.0) / speed, 1e-3)
        times = np.concatenate([[0.0], np.cumsum(steps)])
    if len(path) == 1:
        path, times = np.repeat(path, 2, axis=0), np.array([0.0, 1.0])
    late = np.flatnonzero(~(np.diff(times) > 0.0))
    if len(late):
        k = int(late[0])
        raise ParseError(f"{text}: t is {times[k]:g} in row {k} and {times[k + 1]:g} in the next, expected it to grow")
    return Trajectory(path, times)


def _read(text: str, robot: Robot) -> NDArray[np.float64]:
    """Return configurations with the times in the last column, NaN for missing times."""
    import numpy as np

    path = Path(text)
    if not os.path.isfile(path):
        if text in robot.states:
            return np.append(robot.state(text), np.nan)[None]
        if os.path.exists(path):
            raise FileError(f"{text!r} is a folder, a device or a pipe, expected a CSV file")
        states = f"; the SRDF has the poses {', '.join(robot.states)}" if robot.states else ""
        raise FileError(f"there is no file {text!r} (looked for {path.absolute()}){states}")
    if path.stat().st_size > _LARGEST:
        raise UsageError(f"{text}: {path.stat().st_size} bytes, more than the {_LARGEST} that are read")
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as reason:
        raise ParseError(f"{path} is no text: {reason}") from None
    rows = [(k, _cells(line)) for k, line in enumerate(lines, 1)]
    rows = [(k, cells) for k, cells in rows if cells]
    names = *columns(robot), TIME
    order = list(range(robot.dof))
    if rows and not any(map(_is_number, rows[0][1])):
        order = _order(rows[0][1], names, f"{path}, line {rows[0][0]}", robot)
        rows = rows[1:]
    if not rows:
        raise ParseError(f"{path} has 0 configurations, expected at least a configuration: {', '.join(names[:-1])}")
    values = np.full((len(rows), len(names)), np.nan)
    for row, (line, cells) in zip(values, rows, strict=True):
        where = f"{path}, line {line}"
        if len(cells) != len(order):
            raise ParseError(f"{where}: {len(cells)} numbers, expected {len(order)}: {', '.join(names[: len(order)])}")
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
        raise ParseError(f"{where}: {cell!r} is no number" + (": angles are in radians" if "deg" in cell else ""))
    value = float(cell)
    if not math.isfinite(value):
        raise ParseError(f"{where}: {cell}, expected a finite number")
    return value


def _order(header: list[str], names: tuple[str, ...], where: str, robot: Robot) -> list[int]:
    """Return the column of q for each cell of a header."""
    for cell in header:
        if cell not in names:
            raise ParseError(f"{where}: {cell!r} is no joint of robot {robot.name!r}; expected {', '.join(names[:-1])}")
        if header.count(cell) > 1:
            raise ParseError(f"{where}: joint {cell!r} stands there twice")
    missing = [name for name in names[:-1] if name not in header]
    if missing:
        raise ParseError(f"{where}: no column for joint {missing[0]!r}; expected {', '.join(names[:-1])}")
    return [names.index(cell) for cell in header]


def beyond_limits(robot: Robot, q: NDArray[np.float64]) -> list[str]:
    """Say which numbers of one configuration are outside the limits, which are not enforced."""
    names = columns(robot)
    return [
        f"{names[k]} {q[k]:g} is {'below' if q[k] < robot.lower[k] else 'above'} "
        f"{robot.lower[k] if q[k] < robot.lower[k] else robot.upper[k]:g}"
        for k in range(robot.dof)
        if not robot.lower[k] <= q[k] <= robot.upper[k]
    ]


def outside_limits(robot: Robot, rows: Rows, name: str = "") -> list[str]:
    """Return a note on the number of rows outside the limits and on the first one, nothing if all are inside."""
    import numpy as np

    q = np.asarray(rows, dtype=np.float64).reshape(len(rows), robot.dof)
    outside = np.flatnonzero(~robot.within_limits(q))
    if not len(outside):
        return []
    first = int(outside[0])
    return [
        f"{name}{len(outside)} of {len(q)} configurations are outside the limits of joints, which are not enforced; "
        f"row {first}: {beyond_limits(robot, q[first])[0]} (angles are in radians)"
    ]


def random_configurations(robot: Robot, count: int, seed: int) -> NDArray[np.float64]:
    """Return configurations drawn evenly within the limits; turns without limits from -pi to pi.

    Raises
    ------
    UsageError
        A joint slides without limits.
    """
    import numpy as np
    from scipy.spatial.transform import Rotation

    low, high = robot.lower.copy(), robot.upper.copy()
    spun = []
    for joint in robot.joints:
        indices = robot.columns.get(joint.name) if joint is not None else None
        if joint is None or indices is None:
            continue
        angles = indices.start + {"prismatic": 1, "planar": 2, "floating": 3}.get(joint.type, 0)
        for k in range(indices.start, indices.stop):
            if np.isfinite(low[k]) and np.isfinite(high[k]):
                continue
            if k < angles:
                raise UsageError(f"--random: {columns(robot)[k]} slides without limits, so none can be drawn")
            low[k], high[k] = -np.pi, np.pi
        if joint.type == "floating":
            spun.append(slice(angles, indices.stop))
    with np.errstate(over="ignore"):
        wide = np.flatnonzero(~np.isfinite(high - low))
    if len(wide):
        raise UsageError(f"--random: the limits of {columns(robot)[wide[0]]} are too far apart to draw between")
    rng = np.random.default_rng(seed)
    q = rng.uniform(low, high, (count, robot.dof))
    for joint_columns in spun:
        q[:, joint_columns] = Rotation.random(count, rng=rng).as_rotvec()
    return q
