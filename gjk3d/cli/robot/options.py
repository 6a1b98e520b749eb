"""What the commands of ``gjk3d robot`` share: options, and how they print and draw."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from gjk3d.cli.arguments import UsageError
from gjk3d.cli.terminal import Table, note, safe
from gjk3d.wording import above, count, number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gjk3d.cli.robot.cell import Cell, Pair
    from gjk3d.robot import Robot


IMAGES = (".png", ".jpg", ".jpeg", ".html", ".htm")
INTERRUPTED = 130
Geometry = Literal["bodies", "hull", "parts", "mesh"]
Flag = Annotated[bool, Parameter(negative=(), show_default=False)]
_Length = Annotated[str | None, Parameter(allow_leading_hyphen=True)]
_Several = Parameter(negative=(), show_default=False)


@Parameter(name="*", group=Group("Robot", sort_key=1))
@dataclass(frozen=True)
class Model:
    """How a robot is read.

    Parameters
    ----------
    srdf
        Which pairs of links need no check, and named poses; without one, links that share a joint need none.
    package_dir
        A folder of packages, or that holds some, for meshes named package://; may be given several times.
    geometry
        What a mesh becomes: a hull for each connected body, one hull, convex parts (needs coacd), its triangles.
    collision
        Which geometry is checked: what is meant for it, or, of links that have none, what is drawn.
    """

    srdf: Path | None = None
    package_dir: Annotated[tuple[Path, ...], _Several] = ()
    geometry: Geometry = "bodies"
    collision: Literal["collision", "visual"] = "collision"

    def read(self, urdf: Path) -> Robot:
        """Return the robot of a URDF."""
        from gjk3d.robot import Robot

        return Robot.load(
            urdf, self.srdf, package_dirs=self.package_dir, geometry=self.geometry, collision=self.collision
        )

    def files(self, *others: Path | str | None) -> tuple[Path, ...]:
        """Return the files that are read, these others among them."""
        return tuple(Path(each) for each in (self.srdf, *others) if each is not None)


@Parameter(name="*", group=Group("Surroundings", sort_key=2))
@dataclass(frozen=True)
class Surroundings:
    """What stands around a robot.

    Parameters
    ----------
    scene
        What stands around: a URDF, each link of it an object, or models (GLB, STL, ...), each part an object.
    scene_geometry
        What a mesh of them becomes; by default its triangles, where a path is certified a hull for each body of it.
    unit
        The unit of models that state none, such as STL: mm, cm, m, in.
    scene_up
        Which axis points up in models; that of a robot is z, that of glTF files y.
    touching
        A link and an object that may touch, as LINK:OBJECT; may be given several times.
    margin
        How close is too close, such as 5mm; 0 by default.
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
        """Return the links and objects that may touch."""
        found = []
        for text in self.touching:
            link, mark, name = text.partition(":")
            if not (link and mark and name):
                raise UsageError(f"--touching {text!r}: expected LINK:OBJECT, such as base:table")
            found.append((link, name))
        return found


@Parameter(name="*", group=Group("Output", sort_key=3))
@dataclass(frozen=True)
class Output:
    """How an answer is printed.

    Parameters
    ----------
    json
        Print one JSON document.
    quiet
        No progress and no notes.
    """

    json: Flag = False
    quiet: Annotated[Flag, Parameter(name=["--quiet", "-q"])] = False


@Parameter(name="*", group=Group("Output", sort_key=3))
@dataclass(frozen=True)
class Run(Output):
    """How many questions are answered and printed.

    Parameters
    ----------
    csv
        Print CSV: a row for each configuration, or one for a path.
    jobs
        How many threads.
    """

    csv: Flag = False
    jobs: Annotated[int, Parameter(name=["--jobs", "-j"])] = 1

    def check(self) -> None:
        """Refuse two forms at once."""
        if self.csv and self.json:
            raise UsageError("--json and --csv: one of them at a time")


#: where no option is given
MODEL, ALONE, OUTPUT, RUN = Model(), Surroundings(), Output(), Run()


def at_least(**options: int | None) -> None:
    """Refuse numbers below 1, and below 0 for a seed."""
    for name, value in options.items():
        least = 0 if name == "seed" else 1
        if value is not None and value < least:
            raise UsageError(f"--{name} {value}: expected {least} or more")


SCHEMA_VERSION = 1
Document = dict[str, Any]
_RIGHT = ("#", "clearance m", "configurations", "bodies", "from", "to")
_NAMES = ("in collision", "closest", "outside its limits", "joint", "parent", "child", "link or object", "file", "pair")
_SPARE = ("outside its limits", "geometry", "type")


def document(cell: Cell, **found: Any) -> Document:
    """Return a document: the robot and its surroundings, what was found, and with which versions."""
    from gjk3d.clash.detection.assembly import sha256
    from gjk3d.clash.report import versions

    own, around = cell.pair_counts()
    robot, srdf = cell.robot, cell.model.srdf
    return {
        "schema_version": SCHEMA_VERSION,
        "command": "robot",
        "robot": {"name": robot.name, "path": str(cell.urdf), "sha256": sha256(cell.urdf), "joints": cell.columns},
        "srdf": None if srdf is None else {"path": str(srdf), "sha256": sha256(srdf)},
        "scene": [{"path": str(path), "sha256": sha256(path)} for path in cell.around.scene],
        "objects": [{"name": each.name, "file": str(each.source), "geometry": each.way} for each in cell.things],
        "geometry": cell.model.geometry,
        "unit": "m",
        "margin": cell.margin,
        "pairs": {"of_links": own, "with_objects": around},
        **found,
        "versions": versions(),
    }


def title(cell: Cell) -> str:
    """Return the first line of an answer."""
    things = f", {count(len(cell.things), 'object')} around it" if cell.things else ""
    margin = f", margin {number(cell.margin)} m" if cell.margin else ""
    numbers = count(cell.robot.dof, "joint number")
    return f"{safe(cell.robot.name)}: {numbers}, {sum(cell.pair_counts())} pairs{things}{margin}"


def pair_words(pair: Pair | None) -> str:
    """Return the two names of a pair."""
    return "-" if pair is None else f"{safe(pair[0])}, {safe(pair[1])}"


def new_table(*titles: str) -> Table:
    """Return an empty table."""
    return Table(titles, _RIGHT, _NAMES, _SPARE)


def write_csv(rows: Iterable[Iterable[Any]]) -> None:
    """Print rows for programs."""
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)


def notes(cell: Cell, found: Iterable[str], hit: bool = False) -> None:
    """Say beside the answer what looks wrong, and what a hit is worth where hulls or parts stand for meshes."""
    for text in found:
        note(text)
    robot = cell.robot
    ways = {each.way for each in robot.geometries} | {way for thing in cell.things for way in thing.way.split(" and ")}
    if hit and ways & {"bodies", "hull"}:
        what = "the hulls of their connected bodies" if "bodies" in ways else "their hulls"
        note(f"meshes stand as {what}: free is free, a hit may be of a hull only (--geometry mesh tells)")
    if "parts" in ways:
        error = max((each.error for each in robot.geometries if each.error), default=0.0)
        note(f"meshes stand as convex parts, which are up to {above(error, 3)} m off: a graze may be missed")


def save_picture(cell: Cell, q: NDArray[np.float64], names: str, target: Path, quiet: bool) -> None:
    """Draw one configuration."""
    from gjk3d.viz import show

    show(cell.pictured(), q=q, path=target, names=names)
    wrote(target, quiet)


def wrote(target: Path, quiet: bool) -> None:
    """Say what was written."""
    if not quiet:
        note(target, "wrote")
