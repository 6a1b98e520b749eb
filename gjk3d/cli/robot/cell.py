"""Options of the commands of ``gjk3d robot``, and the cell that they describe, a robot with objects around it."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from gjk3d.cli.arguments import UsageError
from gjk3d.cli.robot.configurations import columns
from gjk3d.cli.terminal import Table, note, safe
from gjk3d.wording import above, count, expected_names, number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gjk3d.robot import Checker, Robot


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
        """Return the robot of a URDF."""
        from gjk3d.robot import Robot

        return Robot.load(
            urdf, self.srdf, package_dirs=self.package_dir, geometry=self.geometry, collision=self.collision
        )

    def files(self, *more: Path | str | None) -> tuple[Path, ...]:
        """Return the SRDF and ``more`` files, without those that are None."""
        return tuple(Path(file) for file in (self.srdf, *more) if file is not None)


@Parameter(name="*", group=Group("Surroundings", sort_key=2))
@dataclass(frozen=True)
class Surroundings:
    """Options for the objects around a robot.

    Parameters
    ----------
    scene
        The files of the objects: a URDF, whose links are objects, models (GLB, STL, ...), whose parts are objects, or
        .scene files of MoveIt.
    scene_geometry
        The geometry for a mesh of an object. The default is its triangles, and in proofs a hull for each body.
    unit
        The unit of models that state no unit, such as STL: mm, cm, m, in.
    scene_up
        The up axis of models. It is z for robots, and y for glTF files.
    touching
        A link and an object that may touch, as LINK:OBJECT. The option can be repeated.
    margin
        The distance below which a pair collides, for example 5mm. The default is 0.
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
        """Raise an error if --json and --csv are both set."""
        if self.csv and self.json:
            raise UsageError("--json and --csv cannot be combined. Use one of them.")


#: The defaults of the options.
MODEL, NO_SURROUNDINGS, OUTPUT, RUN = Model(), Surroundings(), Output(), Run()


def at_least(**options: int | None) -> None:
    """Raise an error for numbers below 1, or below 0 for a seed."""
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
    """Return the two names of a pair."""
    return "-" if pair is None else f"{safe(pair[0])}, {safe(pair[1])}"


def new_table(*titles: str) -> Table:
    """Return an empty table."""
    return Table(titles, _RIGHT, _NAMES, _SPARE)


def write_csv(rows: Iterable[Iterable[Any]]) -> None:
    """Print rows as CSV."""
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)


def wrote(target: Path, quiet: bool) -> None:
    """Print the name of a written file."""
    if not quiet:
        note(target, "wrote")


Pair = tuple[str, str]


class Cell:
    """A robot and the objects around it. Pairs have the names of whole objects, not of the objects' pieces.

    Parameters
    ----------
    urdf : Path
        The file of the robot.
    model, around : Model, Surroundings
        The options of the command line.
    workers : int
        The number of threads.
    scene_geometry : str
        The default geometry for a mesh of an object.
    """

    def __init__(
        self, urdf: Path, model: Model, around: Surroundings, workers: int = 1, scene_geometry: Geometry = "mesh"
    ) -> None:
        from gjk3d.robot import Checker
        from gjk3d.robot.cell_files import read_cell

        self.urdf, self.model, self.around, self.workers = urdf, model, around, workers
        touching, self.margin = around.pairs(), around.gap()
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
        #: static links with all objects, whose distance is constant
        self.still = [(link, thing.name) for link in still for thing in self.things]
        self.touching = self._checked_pairs(touching)
        may = {*self.still, *self.touching}
        allowed = [(link, name) for name, owner in self.owner.items() for link in robot.links if (link, owner) in may]
        self.checker = Checker(robot, pieces, touching=allowed, margin=self.margin)

    def _checked_pairs(self, touching: Sequence[Pair]) -> list[Pair]:
        objects = [thing.name for thing in self.things]
        for link, name in touching:
            if link not in self.robot.links:
                known = expected_names(link, self.robot.links)
                raise UsageError(f"--touching {link}:{name}: the robot lacks the link {link!r}, {known}")
            if name not in objects:
                known = f", {expected_names(name, objects)}" if objects else ". Add files with --scene."
                raise UsageError(f"--touching {link}:{name}: the scene lacks the object {name!r}{known}")
        return list(touching)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the coordinates of a configuration."""
        return columns(self.robot)

    def pair_counts(self) -> tuple[int, int]:
        """Return the number of checked pairs of links, and of checked pairs of a link and an object."""
        shaped = {geometry.link for geometry in self.robot.geometries}
        return len(self.robot.pairs), len(shaped) * len(self.things) - len({*self.still, *self.touching})

    def name(self, pair: Pair | None) -> Pair | None:
        """Return a pair with the name of an object instead of the name of its piece."""
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
        """Return a document of the robot, its surroundings, the results and the versions."""
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
        """Return the first line of a result."""
        things = f", {count(len(self.things), 'object')} around it" if self.things else ""
        margin = f", margin {number(self.margin)} m" if self.margin else ""
        numbers = count(self.robot.dof, "joint coordinate")
        return f"{safe(self.robot.name)}: {numbers}, {count(sum(self.pair_counts()), 'pair')}{things}{margin}"

    def notes(self, texts: Iterable[str], hit: bool = False) -> None:
        """Print notes on problems, and on the error if hulls or convex parts replace meshes."""
        for text in texts:
            note(text)
        robot = self.robot
        kinds = {geometry.way for geometry in robot.geometries} | {
            kind for thing in self.things for kind in thing.kind.split(" and ")
        }
        if hit and kinds & {"bodies", "hull"}:
            what = "the hulls of their connected bodies" if "bodies" in kinds else "their hulls"
            note(
                f"meshes are replaced by {what}, so a collision may be a collision of hulls only (try --geometry mesh)"
            )
        if "parts" in kinds:
            error = max((geometry.error for geometry in robot.geometries if geometry.error), default=0.0)
            note(
                f"meshes are replaced by convex parts with an error of up to {above(error, 3)} m,"
                " so a shallow contact may be missed"
            )

    def save_picture(self, q: NDArray[np.float64], names: str, target: Path, quiet: bool) -> None:
        """Draw a configuration."""
        from gjk3d.viz import show

        show(self.pictured(), q=q, path=target, names=names)
        wrote(target, quiet)
