"""What the commands of ``gjk3d robot`` ask: a robot and what stands around it, as files have them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gjk3d.cli.arguments import UsageError
from gjk3d.cli.robot.configurations import columns
from gjk3d.cli.robot.options import Geometry, Model, Surroundings
from gjk3d.cli.terminal import note

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gjk3d.bodies.mesh import Mesh
    from gjk3d.robot import Checker


UNIT = "m"  # of a URDF, by its standard
_ROBOT_FILES = (".urdf", ".xacro", ".xml")
_Y_TO_Z = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))


class Thing(NamedTuple):
    """One object: its name, its file, and the shapes that it is made of, each at its pose in the world."""

    name: str
    source: Path
    way: str  #: what the shapes are to the file: exact, bodies, hull, parts or mesh
    pieces: tuple[tuple[Any, NDArray[np.float64]], ...]


def read_scene(
    around: Surroundings, way: str, package_dirs: Sequence[Path], taken_names: Sequence[str] = ()
) -> tuple[Thing, ...]:
    """Return the objects of all files in metres, with names of their own, none of them one of ``taken_names``.

    A link of a URDF is an object, and so is a part of a model; boxes, cylinders and spheres of a URDF stay exact, and
    ``way`` says what becomes of a mesh, as in `gjk3d.robot.Robot.from_urdf`.
    """
    found: list[Thing] = []
    for file in around.scene:
        if file.suffix.lower() in _ROBOT_FILES:
            read = _cell(file, way, package_dirs)
        else:
            read = _model(file, way, around.unit, around.scene_up)
        taken = {*taken_names, *(each.name for each in found)}
        for each in read:
            name, count = each.name, 1
            while name in taken:
                count += 1
                name = f"{each.name} ({count})"
            taken.add(name)
            found.append(each._replace(name=name))
    return tuple(found)


def _cell(file: Path, way: str, package_dirs: Sequence[Path]) -> list[Thing]:
    import numpy as np

    from gjk3d.robot import Robot

    robot = Robot.load(file, geometry=way, package_dirs=package_dirs)
    if robot.dof:
        note(f"{file} has {len(robot.columns)} joints that move: its links stand where all of them are 0")
    poses = robot.link_poses(np.zeros(robot.dof))
    found = []
    for number, name in enumerate(robot.links):
        pieces = tuple((b.shape, poses[number] @ b.pose) for b in robot.bodies if b.link == number)
        ways = {each.way for each in robot.geometries if each.link == number}
        if pieces:
            found.append(Thing(name, file, " and ".join(sorted(ways)), pieces))
    if not found:
        raise UsageError(f"--scene {file} has no collision geometry")
    return found


def _model(file: Path, way: str, unit: str | None, up: str) -> list[Thing]:
    import numpy as np

    import gjk3d as gk
    from gjk3d.files.load import FORMATS
    from gjk3d.units import conversion, symbol

    if file.suffix.lower() not in FORMATS:
        known = " ".join((*_ROBOT_FILES, *FORMATS))
        raise UsageError(f"--scene {file} has the unknown extension {file.suffix!r}: {known} are read")
    mesh = gk.load(file)
    own = symbol(mesh.unit) or symbol(unit)
    if own is None:
        raise UsageError(
            f"--scene {file.name} has no unit of length, and a robot is in metres\n"
            "say which it is in: --unit mm (or m, cm, in, ...)"
        )
    factor = conversion(own, UNIT)
    if factor is None:
        raise UsageError(f"--scene {file.name} is in {own!r}, which is no unit of length; mm, cm, m, in and ft are")
    if up == "z" and file.suffix.lower() in (".glb", ".gltf"):
        note(f"{file.name}: axes are taken as they are, z up, though glTF says y up; --scene-up y turns it")
    pose = np.eye(4)
    if up == "y":
        pose[:3, :3] = _Y_TO_Z
    parts = [(part.name, part.mesh) for part in mesh.parts] or [(mesh.name or file.stem, mesh)]
    found = []
    for name, part in parts:
        kind, shapes = _shapes(part if factor == 1.0 else part.scaled(factor, unit=UNIT), way)
        found.append(Thing(name, file, kind, tuple((shape, pose @ local) for shape, local in shapes)))
    return found


def _shapes(mesh: Mesh, way: str) -> tuple[str, list[tuple[Any, Any]]]:
    import numpy as np

    whole = np.eye(4)
    if mesh.is_convex:
        return "exact", [(mesh.hull(), whole)]
    if way == "mesh":
        return way, [(mesh, whole)]
    if way == "hull":
        return way, [(mesh.hull(), whole)]
    bodies = mesh.bodies()
    if way == "bodies":
        return way, [(body.hull(), whole) for body in bodies]
    return way, [
        piece for body in bodies for piece in (body.decompose().parts if body.is_watertight else [(body.hull(), None)])
    ]


Pair = tuple[str, str]


class Cell:
    """A robot and its surroundings; pairs are named by object, not by its pieces.

    Parameters
    ----------
    urdf : Path
    model, around : Model, Surroundings
        What the command line says of both.
    workers : int
        Threads.
    scene_geometry : str
        What a mesh of the surroundings becomes, unless ``around`` says so.
    """

    def __init__(
        self, urdf: Path, model: Model, around: Surroundings, workers: int = 1, scene_geometry: Geometry = "mesh"
    ) -> None:
        from gjk3d.robot import Checker

        self.urdf, self.model, self.around, self.workers = urdf, model, around, workers
        touching, self.margin = around.pairs(), around.gap()
        self.robot = robot = model.read(urdf)
        self.things = read_scene(around, around.scene_geometry or scene_geometry, model.package_dir, robot.links)
        self.owner: dict[str, str] = {}
        pieces: dict[str, Any] = {}
        for thing in self.things:
            for k, piece in enumerate(thing.pieces):
                name = thing.name if len(thing.pieces) == 1 else f"{thing.name}\n{k}"  # no file has such a name
                self.owner[name] = thing.name
                pieces[name] = piece
        shaped = {each.link for each in robot.geometries}
        still = [robot.links[k] for k in sorted(shaped) if robot.rigid[k] == robot.rigid[0]]
        #: links and objects neither of which moves: no configuration changes what is between them
        self.still = [(link, thing.name) for link in still for thing in self.things]
        self.touching = self._known(touching)
        may = {*self.still, *self.touching}
        allowed = [(link, name) for name, owner in self.owner.items() for link in robot.links if (link, owner) in may]
        self.checker = Checker(robot, pieces, touching=allowed, margin=self.margin)

    def _known(self, touching: Sequence[Pair]) -> list[Pair]:
        objects = [thing.name for thing in self.things]
        for link, name in touching:
            if link not in self.robot.links:
                raise UsageError(f"--touching {link}:{name}: there is no link {link!r}; links are "
                                 + ", ".join(self.robot.links))  # fmt: skip
            if name not in objects:
                known = f"objects are {', '.join(objects)}" if objects else "--scene names files with objects"
                raise UsageError(f"--touching {link}:{name}: there is no object {name!r}; {known}")
        return list(touching)

    @property
    def columns(self) -> tuple[str, ...]:
        """Name of each number of a configuration."""
        return columns(self.robot)

    def pair_counts(self) -> tuple[int, int]:
        """Return how many pairs of links are checked, and how many of a link with an object."""
        shaped = {each.link for each in self.robot.geometries}
        return len(self.robot.pairs), len(shaped) * len(self.things) - len({*self.still, *self.touching})

    def name(self, pair: Pair | None) -> Pair | None:
        """Name the object where a pair has one of its pieces."""
        return None if pair is None else (pair[0], self.owner.get(pair[1], pair[1]))

    def pictured(self) -> Checker:
        """Return a checker that has each object as one, to be drawn."""
        from gjk3d.bodies.compound import Compound
        from gjk3d.robot import Checker

        around = {
            each.name: each.pieces[0] if len(each.pieces) == 1 else (Compound(each.pieces), None)
            for each in self.things
        }
        return Checker(self.robot, around, touching={*self.still, *self.touching}, margin=self.margin)
