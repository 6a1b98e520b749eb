"""Options that commands of ``gjk3d robot`` share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from gjk3d.cli.arguments import UsageError

if TYPE_CHECKING:
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
    """

    srdf: Path | None = None
    package_dir: Annotated[tuple[Path, ...], _Several] = ()
    geometry: Geometry = "bodies"

    def read(self, urdf: Path) -> Robot:
        """Return the robot of a URDF."""
        from gjk3d.robot import Robot

        return Robot.from_urdf(urdf, self.srdf, package_dirs=self.package_dir, geometry=self.geometry)

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
        from gjk3d.clash.units import length

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
