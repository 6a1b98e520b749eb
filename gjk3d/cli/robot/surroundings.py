"""What stands around a robot, read from files: a URDF of fixed links, or models with named parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gjk3d.cli.arguments import UsageError
from gjk3d.cli.robot.options import Surroundings
from gjk3d.cli.terminal import note

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gjk3d.meshes import Mesh

UNIT = "m"  # of a URDF, by its standard
_ROBOT_FILES = (".urdf", ".xml")
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

    robot = Robot.from_urdf(file, geometry=way, package_dirs=package_dirs)
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
    from gjk3d.clash.units import conversion, symbol

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
