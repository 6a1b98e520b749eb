"""Shared code of the commands of ``gjk3d robot``: configurations, options, and the cell.

Configurations come from CSV files, named poses or random numbers. A `Cell` is a robot with the objects around it.
"""

from __future__ import annotations

import csv
import math
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from gjk3d.cli.arguments import UsageError
from gjk3d.cli.terminal import Table, note, safe
from gjk3d.errors import FileError, ParseError
from gjk3d.wording import above, count, expected_names, is_number, number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gjk3d.robot import Checker, Robot, Trajectory
    from gjk3d.typing import Rows

# --- configurations --------------------------------------------------------------------------------------------------

_LARGEST = 1 << 30  #: the largest size of a CSV file in bytes
TIME = "t"  #: the name of the column of times, unless a joint has this name


def columns(robot: Robot) -> tuple[str, ...]:
    """Return the names of the coordinates of a configuration.

    The name is that of the joint. A joint with several coordinates has the names "joint[0]", "joint[1]" and so on.
    """
    names: list[str] = []
    for name, indices in robot.columns.items():
        size = indices.stop - indices.start
        names += [name] if size == 1 else [f"{name}[{k}]" for k in range(size)]
    return tuple(names)


def read_configurations(text: str, robot: Robot) -> NDArray[np.float64]:
    """Return the configurations, (n, dof), in a CSV file or in a named pose of the SRDF.

    ``text`` is the path of the file or the name of the pose. Cells are separated by commas, semicolons or spaces,
    and ``#`` begins a comment. If the first row contains the names of the joints, the columns may have any order. A
    column of times, ``t``, is ignored. Raise a FileError or a ParseError for a file that cannot be read.
    """
    return _read(text, robot)[:, : robot.dof]


def read_trajectory(text: str, robot: Robot, speed: float | None) -> Trajectory:
    """Return the trajectory in a CSV file.

    The times are in a column ``t``. Without this column, the fastest joint moves at ``speed``, in radians or metres per
    second. If ``speed`` is None, two rows are one second apart. Raise a ParseError if the times do not increase.
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
            f"{text}: t is {times[k]:g} in row {k + 1} and {times[k + 1]:g} in row {k + 2}, expected ascending times."
            " Sort the rows by t."
        )
    return Trajectory(path, times)


def _read(text: str, robot: Robot) -> NDArray[np.float64]:
    """Return the configurations with the times in the last column, (n, dof + 1). Missing times are NaN."""
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
    if rows and not any(map(is_number, rows[0][1])):
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


def _number(cell: str, where: str) -> float:
    if not is_number(cell):
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
    """Return a text for each coordinate of a configuration that is outside of its limits.

    A text has the name, the value and the limit, for example "j1 2 is above 1".
    """
    names = columns(robot)
    return [
        f"{names[k]} {q[k]:g} is {'below' if q[k] < robot.lower[k] else 'above'} "
        f"{robot.lower[k] if q[k] < robot.lower[k] else robot.upper[k]:g}"
        for k in range(robot.dof)
        if not robot.lower[k] <= q[k] <= robot.upper[k]
    ]


def outside_limits(robot: Robot, rows: Rows, name: str = "") -> list[str]:
    """Return at most one note, on the configurations outside of the joint limits. The note starts with ``name``."""
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

    Raise a UsageError if a joint slides without limits, or its limits are too far apart for float64.
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


# --- the cell --------------------------------------------------------------------------------------------------------

IMAGES = (".png", ".jpg", ".jpeg", ".html", ".htm")
Geometry = Literal["bodies", "hull", "parts", "mesh"]
Flag = Annotated[bool, Parameter(negative=(), show_default=False)]
_Length = Annotated[str | None, Parameter(allow_leading_hyphen=True)]
_Several = Parameter(negative=(), show_default=False)


@Parameter(name="*", group=Group("Robot", sort_key=1))
@dataclass(frozen=True)
class Model:
    """Options for reading a robot.

    Parameters
    ----------
    srdf
        The SRDF with the pairs of links that need no check, and with named poses. Without it, links that share a joint
        are not checked.
    package_dir
        A package, or a folder of packages, for meshes named package://. The option can be repeated.
    geometry
        The geometry for a mesh: a hull for each connected body, one hull, convex parts (needs coacd), or its triangles.
    collision
        The geometry to check: the collision geometry, or the visual geometry for links without collision geometry.
    """

    srdf: Path | None = None
    package_dir: Annotated[tuple[Path, ...], _Several] = ()
    geometry: Geometry = "bodies"
    collision: Literal["collision", "visual"] = "collision"

    def read(self, urdf: Path) -> Robot:
        """Return the robot in a URDF file, read with these options."""
        from gjk3d.robot import Robot

        return Robot.load(
            urdf, self.srdf, package_dirs=self.package_dir, geometry=self.geometry, collision=self.collision
        )

    def files(self, *more: Path | str | None) -> tuple[Path, ...]:
        """Return the paths of the SRDF and of ``more`` files, without those that are None."""
        return tuple(Path(file) for file in (self.srdf, *more) if file is not None)


@Parameter(name="*", group=Group("Surroundings", sort_key=2))
@dataclass(frozen=True)
class Surroundings:
    """Options for the objects around a robot.

    Parameters
    ----------
    scene
        The files of the objects: a URDF, models (GLB, STL, ...), or .scene files of MoveIt. Each link of a URDF and
        each part of a model becomes an object.
    scene_geometry
        The geometry for a mesh of an object. The default is its triangles, or for proofs of paths a hull for each
        connected body.
    unit
        The unit of models that state no unit, such as STL: mm, cm, m, in.
    scene_up
        The up axis of the models in --scene. It is usually z for robots, and y for glTF files.
    touching
        A link and an object that may touch, as LINK:OBJECT. The option can be repeated.
    margin
        The distance below which a pair counts as colliding, for example 5mm. The default is 0.
    """

    scene: Annotated[tuple[Path, ...], Parameter(consume_multiple=True), _Several] = ()
    scene_geometry: Geometry | None = None
    unit: str | None = None
    scene_up: Literal["z", "y"] = "z"
    touching: Annotated[tuple[str, ...], _Several] = ()
    margin: _Length = None

    def gap(self) -> float:
        """Return the margin in metres."""
        from gjk3d.units import length

        return 0.0 if self.margin is None else length(self.margin, "m", "--margin")

    def pairs(self) -> list[tuple[str, str]]:
        """Return the pairs of a link and an object that may touch."""
        links_and_objects = []
        for text in self.touching:
            link, mark, name = text.partition(":")
            if not (link and mark and name):
                raise UsageError(f"--touching {text!r}: expected LINK:OBJECT, for example base:table")
            links_and_objects.append((link, name))
        return links_and_objects


@Parameter(name="*", group=Group("Output", sort_key=3))
@dataclass(frozen=True)
class Output:
    """Options for the output.

    Parameters
    ----------
    json
        Print a JSON document.
    quiet
        Print no progress and no notes.
    """

    json: Flag = False
    quiet: Annotated[Flag, Parameter(name=["--quiet", "-q"])] = False


@Parameter(name="*", group=Group("Output", sort_key=3))
@dataclass(frozen=True)
class Run(Output):
    """Options for the output and the threads of a check.

    Parameters
    ----------
    csv
        Print CSV, with a row for each configuration, or a row for a path.
    jobs
        The number of threads.
    """

    csv: Flag = False
    jobs: Annotated[int, Parameter(name=["--jobs", "-j"])] = 1

    def check(self) -> None:
        """Raise a UsageError if --json and --csv are both set."""
        if self.csv and self.json:
            raise UsageError("--json and --csv cannot be combined. Use one of them.")


#: The options of a command line that sets none of them.
MODEL, NO_SURROUNDINGS, OUTPUT, RUN = Model(), Surroundings(), Output(), Run()


def at_least(**options: int | None) -> None:
    """Raise a UsageError if an option is below 1, or a seed below 0. ``options`` has the values by name."""
    for name, value in options.items():
        least = 0 if name == "seed" else 1
        if value is not None and value < least:
            raise UsageError(f"--{name} {value}: expected {least} or more")


SCHEMA_VERSION = 1
Document = dict[str, Any]
_RIGHT = ("#", "clearance m", "configurations", "bodies", "from", "to")
_NAMES = ("in collision", "closest", "outside its limits", "joint", "parent", "child", "link or object", "file", "pair")
_SPARE = ("outside its limits", "geometry", "type")


def pair_words(pair: Pair | None) -> str:
    """Return the two names of a pair as text, or "-" for None."""
    return "-" if pair is None else f"{safe(pair[0])}, {safe(pair[1])}"


def new_table(*titles: str) -> Table:
    """Return an empty table with the column formats of the robot commands."""
    return Table(titles, _RIGHT, _NAMES, _SPARE)


def write_csv(rows: Iterable[Iterable[Any]]) -> None:
    """Print rows as CSV."""
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)


def wrote(target: Path, quiet: bool) -> None:
    """Print the name of a written file, unless ``quiet``."""
    if not quiet:
        note(target, "wrote")


Pair = tuple[str, str]


class Cell:
    """A robot and the objects around it. An object with several pieces has one name in all results.

    ``model`` and ``around`` are the options of the command line. ``workers`` is the number of threads, and
    ``scene_geometry`` is the default geometry for a mesh of an object.
    """

    def __init__(
        self, urdf: Path, model: Model, around: Surroundings, workers: int = 1, scene_geometry: Geometry = "mesh"
    ) -> None:
        from gjk3d.robot import Checker
        from gjk3d.robot.cell_files import read_cell

        self.urdf, self.model, self.around, self.workers = urdf, model, around, workers
        self.touching, self.margin = around.pairs(), around.gap()
        self.robot = robot = model.read(urdf)
        kind = around.scene_geometry or scene_geometry
        self.things = read_cell(around.scene, kind, around.unit, around.scene_up, model.package_dir, robot.links)
        for text in dict.fromkeys(thing.note for thing in self.things if thing.note):
            note(text)
        self.owner: dict[str, str] = {}
        pieces: dict[str, Any] = {}
        for thing in self.things:
            for k, piece in enumerate(thing.pieces):
                name = thing.name if len(thing.pieces) == 1 else f"{thing.name}\n{k}"  # not a name in a file
                self.owner[name] = thing.name
                pieces[name] = piece
        shaped = {geometry.link for geometry in robot.geometries}
        still = [robot.links[k] for k in sorted(shaped) if robot.rigid[k] == robot.rigid[0]]
        #: The pairs of a static link and an object, whose distance is constant, so they are not checked.
        self.still = [(link, thing.name) for link in still for thing in self.things]
        self._check_touching()
        may = {*self.still, *self.touching}
        allowed = [(link, name) for name, owner in self.owner.items() for link in robot.links if (link, owner) in may]
        self.checker = Checker(robot, pieces, touching=allowed, margin=self.margin)

    def _check_touching(self) -> None:
        objects = [thing.name for thing in self.things]
        for link, name in self.touching:
            if link not in self.robot.links:
                known = expected_names(link, self.robot.links)
                raise UsageError(f"--touching {link}:{name}: the robot lacks the link {link!r}, {known}")
            if name not in objects:
                known = f", {expected_names(name, objects)}" if objects else ". Add files with --scene."
                raise UsageError(f"--touching {link}:{name}: the scene lacks the object {name!r}{known}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the coordinates of a configuration."""
        return columns(self.robot)

    def pair_counts(self) -> tuple[int, int]:
        """Return the number of checked pairs of links, and of checked pairs of a link and an object."""
        shaped = {geometry.link for geometry in self.robot.geometries}
        return len(self.robot.pairs), len(shaped) * len(self.things) - len({*self.still, *self.touching})

    def name(self, pair: Pair | None) -> Pair | None:
        """Return a pair with the name of the whole object instead of the name of its piece. None returns None."""
        return None if pair is None else (pair[0], self.owner.get(pair[1], pair[1]))

    def pictured(self) -> Checker:
        """Return a checker for pictures, in which each object is one shape."""
        from gjk3d.bodies.compound import Compound
        from gjk3d.robot import Checker

        around = {
            thing.name: thing.pieces[0] if len(thing.pieces) == 1 else (Compound(thing.pieces), None)
            for thing in self.things
        }
        return Checker(self.robot, around, touching={*self.still, *self.touching}, margin=self.margin)

    def document(self, **results: Any) -> Document:
        """Return the JSON document of a command: the robot, the objects, the ``results`` and the versions."""
        from gjk3d.clash.detection.assembly import sha256
        from gjk3d.clash.report import versions

        of_links, around = self.pair_counts()
        robot, srdf = self.robot, self.model.srdf
        return {
            "schema_version": SCHEMA_VERSION,
            "command": "robot",
            "robot": {"name": robot.name, "path": str(self.urdf), "sha256": sha256(self.urdf), "joints": self.columns},
            "srdf": None if srdf is None else {"path": str(srdf), "sha256": sha256(srdf)},
            "scene": [{"path": str(path), "sha256": sha256(path)} for path in self.around.scene],
            "objects": [
                {"name": thing.name, "file": str(thing.source), "geometry": thing.kind} for thing in self.things
            ],
            "geometry": self.model.geometry,
            "unit": "m",
            "margin": self.margin,
            "pairs": {"of_links": of_links, "with_objects": around},
            **results,
            "versions": versions(),
        }

    def title(self) -> str:
        """Return the line above a result: the robot, and the numbers of joint coordinates, pairs and objects."""
        things = f", {count(len(self.things), 'object')} around it" if self.things else ""
        margin = f", margin {number(self.margin)} m" if self.margin else ""
        numbers = count(self.robot.dof, "joint coordinate")
        return f"{safe(self.robot.name)}: {numbers}, {count(sum(self.pair_counts()), 'pair')}{things}{margin}"

    def notes(self, texts: Iterable[str], hit: bool = False) -> None:
        """Print the notes ``texts``, and notes on hulls or convex parts that replace meshes.

        ``hit`` is whether the result contains a collision, which may be a collision of hulls only.
        """
        for text in texts:
            note(text)
        robot = self.robot
        kinds = {geometry.way for geometry in robot.geometries} | {
            kind for thing in self.things for kind in thing.kind.split(" and ")
        }
        if hit and kinds & {"bodies", "hull"}:
            what = "the hulls of their connected bodies" if "bodies" in kinds else "their hulls"
            note(
                f"meshes are replaced by {what}, so a collision may be a collision of hulls only. Try --geometry mesh."
            )
        if "parts" in kinds:
            error = max((geometry.error for geometry in robot.geometries if geometry.error), default=0.0)
            note(
                f"meshes are replaced by convex parts with an error of up to {above(error, 3)} m,"
                " so a shallow contact may be missed"
            )

    def save_picture(self, q: NDArray[np.float64], names: str, target: Path, quiet: bool) -> None:
        """Draw the configuration ``q`` to the file ``target``. ``names`` is the title of the picture."""
        from gjk3d.viz import show

        show(self.pictured(), q=q, path=target, names=names)
        wrote(target, quiet)
