"""Cells from files: the objects around a robot, as shapes and poses in metres.

Each link of a robot file, each part of a model, and each object of a MoveIt ``.scene`` file becomes one object. Links
of robot files do not move. The command line reads its ``--scene`` files by these functions too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.compound import Compound
from gjk3d.bodies.mesh import Mesh
from gjk3d.errors import FileError, ParseError, ShapeError
from gjk3d.robot.model import Robot
from gjk3d.scene import Scene
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array
from gjk3d.units import conversion, symbol
from gjk3d.wording import count, cut

UNIT = "m"  # the unit of URDF by its standard
ROBOT_FILES = (".urdf", ".xacro", ".xml")
MAX_BYTES = 64 << 20  #: greatest size of a .scene file in bytes
_Y_TO_Z = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
_SIZES = {"box": 3, "sphere": 1, "cylinder": 2, "cone": 2, "plane": 4, "mesh": 2}


class CellObject(NamedTuple):
    """An object around a robot: its shapes, and where they come from."""

    name: str
    source: Path  #: the file of the object
    kind: str  #: the geometry of the shapes: exact, bodies, hull, parts or mesh
    pieces: tuple[tuple[Any, Array], ...]  #: shapes, and their (4, 4) poses in the world
    note: str = ""  #: a message for the user about the file


def load_cell(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    geometry: str = "mesh",
    unit: str | None = None,
    up: str = "z",
    package_dirs: Sequence[str | os.PathLike[str]] = (),
) -> Scene:
    """Read the objects around a robot from files, in metres.

    The scene can be passed to `Checker` as its surroundings. The option ``--scene`` of ``gjk3d robot`` reads the same
    files.

    Parameters
    ----------
    files : path, or sequence of paths
        Robot files (URDF, xacro, MJCF), models (STL, GLB, STEP, ...), and ``.scene`` files of MoveIt. The links of a
        robot become objects at their poses for the joint values 0. The parts of a model become objects.
    geometry : {"mesh", "bodies", "hull", "parts"}
        The geometry for a mesh, as in `Robot.from_urdf`: its triangles, a hull for each connected body, one hull, or
        convex parts.
    unit : str, optional
        The unit of models whose files do not state a unit, such as STL.
    up : {"z", "y"}
        The axis of models that points up. "y" rotates models, for example glTF files, so that their y axis becomes z.
    package_dirs : sequence of paths
        As in `Robot.from_urdf`.

    Returns
    -------
    Scene
        The objects by name. If a name occurs again, a number is appended, such as "box (2)".

    Raises
    ------
    FileError
        A file does not exist, or its extension is unknown.
    ParseError
        A file is malformed, lacks collision geometry, or does not state its unit.

    Examples
    --------
    >>> import gjk3d as gk
    >>> cell = gk.robot.load_cell("data/nut.stl", unit="mm")
    >>> list(cell), cell.collides()
    (['nut'], False)
    >>> checker = gk.robot.Checker(gk.robot.Robot.example(), cell)
    >>> checker.objects
    ('nut',)
    """
    paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    scene = Scene()
    for item in read_cell(map(Path, paths), geometry, unit, up, package_dirs):
        shape, pose = item.pieces[0] if len(item.pieces) == 1 else (Compound(list(item.pieces)), None)
        scene.add(item.name, shape, pose)
    return scene


def read_cell(
    files: Iterable[Path],
    geometry: str,
    unit: str | None = None,
    up: str = "z",
    package_dirs: Sequence[str | os.PathLike[str]] = (),
    taken_names: Sequence[str] = (),
) -> tuple[CellObject, ...]:
    """Return the objects of all files in metres, with unique names that are not in ``taken_names``."""
    objects: list[CellObject] = []
    used = set(taken_names)
    for file in files:
        ending = file.suffix.lower()
        if ending in ROBOT_FILES:
            read = _links(file, geometry, package_dirs)
        elif ending == ".scene":
            read = list(_of_moveit(file, geometry))
        elif ending in (".sdf", ".world"):
            raise FileError(
                f"{file} is an SDF file, which gjk3d cannot read. Convert it to URDF (for example with sdf2urdf.py of "
                "the ROS package pysdf), or export its meshes"
            )
        else:
            read = _parts(file, geometry, unit, up)
        for item in read:
            name, number = item.name, 1
            while name in used:
                number += 1
                name = f"{item.name} ({number})"
            used.add(name)
            objects.append(item._replace(name=name))
    return tuple(objects)


def _links(file: Path, geometry: str, package_dirs: Sequence[str | os.PathLike[str]]) -> list[CellObject]:
    robot = Robot.load(file, geometry=geometry, package_dirs=package_dirs)
    note = ""
    if robot.dof:
        joints = count(len(robot.columns), "movable joint")
        note = f"{file} has {joints}. The links are placed at the joint values 0."
    poses = robot.link_poses(np.zeros(robot.dof))
    objects = []
    for k, name in enumerate(robot.links):
        pieces = tuple((b.shape, poses[k] @ b.pose) for b in robot.bodies if b.link == k)
        kinds = {part.way for part in robot.geometries if part.link == k}
        if pieces:
            objects.append(CellObject(name, file, " and ".join(sorted(kinds)), pieces, note))
    if not objects:
        raise ParseError(f"{file} lacks collision geometry, expected links with shapes. Use a mesh file instead.")
    return objects


def _parts(file: Path, geometry: str, unit: str | None, up: str) -> list[CellObject]:
    from gjk3d.files.load import FORMATS, load

    if file.suffix.lower() not in FORMATS:
        extensions = " ".join((*ROBOT_FILES, ".scene", *FORMATS))
        raise FileError(f"{file} has the unknown extension {file.suffix!r}. Use one of {extensions}.")
    mesh = load(file)
    length_unit = symbol(mesh.unit) or symbol(unit)
    if length_unit is None:
        raise ParseError(
            f"{file.name} does not state a unit of length, but the cell of a robot is in metres."
            " Set the unit with --unit mm, or in Python unit='mm' (or m, cm, in, ...)."
        )
    factor = conversion(length_unit, UNIT)
    if factor is None:
        raise ParseError(
            f"{file.name} is in {length_unit!r}, which is not a unit of length. Convert it to mm, cm, m, in or ft."
        )
    note = ""
    if up == "z" and file.suffix.lower() in (".glb", ".gltf"):
        note = f"{file.name}: the axes are not changed, so z points up, but in glTF y points up. Set --scene-up y."
    pose = np.eye(4)
    if up == "y":
        pose[:3, :3] = _Y_TO_Z
    parts = [(part.name, part.mesh) for part in mesh.parts] or [(mesh.name or file.stem, mesh)]
    objects = []
    for name, part in parts:
        kind, shapes = _shapes(part if factor == 1.0 else part.scaled(factor, unit=UNIT), geometry)
        objects.append(CellObject(name, file, kind, tuple((shape, pose @ local) for shape, local in shapes), note))
    return objects


def _shapes(mesh: Mesh, geometry: str) -> tuple[str, list[tuple[Any, Array]]]:
    identity = np.eye(4)
    if mesh.is_convex:
        return "exact", [(mesh.hull(), identity)]
    if geometry == "mesh":
        return geometry, [(mesh, identity)]
    if geometry == "hull":
        return geometry, [(mesh.hull(), identity)]
    bodies = mesh.bodies()
    if geometry == "bodies":
        return geometry, [(body.hull(), identity) for body in bodies]
    return geometry, [
        piece
        for body in bodies
        for piece in (body.decompose().parts if body.is_watertight else [(body.hull(), identity)])
    ]


# MoveIt's .scene files ------------------------------------------------------------------------------------------------


class _Lines:
    """The lines of a ``.scene`` file, with errors that name the line."""

    def __init__(self, file: Path) -> None:
        if file.exists() and file.stat().st_size > MAX_BYTES:
            raise ParseError(f"{file} is larger than {MAX_BYTES >> 20} MiB, the limit for .scene files. Split the file")
        try:
            self.lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as reason:
            raise FileError(f"{file} cannot be read: {reason.strerror}. Check the path") from reason
        self.file, self.at = file, 0

    def next(self, what: str) -> str:
        while self.at < len(self.lines):
            self.at += 1
            line = self.lines[self.at - 1].strip()
            if line:
                return line
        raise ParseError(f"{self.file} is truncated, since it ends before {what}. Save the scene again")

    def numbers(self, count: int, what: str) -> Array:
        line = self.next(what)
        try:
            values = np.array([float(word) for word in line.replace("_", "?").split()])  # Python reads 1_0 as 10
        except ValueError:
            values = np.empty(0)
        if len(values) != count or not np.isfinite(values).all():
            raise ParseError(f"{self.file}, line {self.at}: {cut(line)!r}, expected {what}: {count} numbers")
        return values

    def count(self, what: str, most: int) -> int:
        value = self.numbers(1, what)[0]
        if not (0 <= value <= most and value == int(value)):
            raise ParseError(f"{self.file}, line {self.at}: {value:g}, expected {what}: an integer from 0 to {most}")
        return int(value)

    def pose(self) -> Array:
        from scipy.spatial.transform import Rotation

        pose = np.eye(4)
        pose[:3, 3] = self.numbers(3, "a position")
        quaternion = self.numbers(4, "a quaternion")
        if not np.linalg.norm(quaternion) > 0.0:
            raise ParseError(f"{self.file}, line {self.at}: the quaternion is zero, expected a rotation x y z w")
        pose[:3, :3] = Rotation.from_quat(quaternion).as_matrix()
        return pose


def _of_moveit(file: Path, geometry: str) -> Iterator[CellObject]:
    lines = _Lines(file)
    lines.next("the name of the scene")
    while (line := lines.next('"." at the end, or "* NAME"')) != ".":
        if not line.startswith("*"):
            raise ParseError(
                f'{file}, line {lines.at}: {cut(line)!r}, expected "* NAME" of an object, or "." at the end'
            )
        name, base, place = line[1:].strip() or "object", np.eye(4), lines.at
        # the older format continues with the number of shapes, the newer format with the pose of the object
        is_new = len(lines.next("a pose or a number of shapes").split()) == 3
        lines.at = place
        if is_new:
            base = lines.pose()
        pieces: list[tuple[Any, Array]] = []
        kinds = set()
        for _ in range(lines.count("the number of shapes", len(lines.lines))):
            try:
                kind, shapes = _moveit_shape(lines, geometry)
            except ShapeError as fault:
                raise ParseError(f"{file}, line {lines.at}: {fault}") from None
            pose = base @ lines.pose()
            lines.numbers(4, "a colour")
            kinds.add(kind)
            pieces += [(shape, pose @ local) for shape, local in shapes]
        for _ in range(lines.count("the number of subframes", len(lines.lines)) if is_new else 0):
            lines.next("the name of a subframe")
            lines.pose()
        if pieces:
            yield CellObject(name, file, " and ".join(sorted(kinds)), tuple(pieces))


def _moveit_shape(lines: _Lines, geometry: str) -> tuple[str, list[tuple[Any, Array]]]:
    from gjk3d.shapes.curved import Cone, Cylinder, Sphere
    from gjk3d.shapes.halfspace import Plane
    from gjk3d.shapes.polytopes import Box

    kind = lines.next("the type of a shape")
    if kind not in _SIZES:
        known = ", ".join(_SIZES)
        raise ParseError(f"{lines.file}, line {lines.at}: the shape is {cut(kind)!r}, expected one of {known}")
    sizes = lines.numbers(_SIZES[kind], f"the sizes of a {kind}")
    if kind == "mesh":
        points, faces = (
            _rows(lines, count, what) for count, what in zip(sizes, ("a vertex", "a triangle"), strict=True)
        )
        if len(faces) and not (faces.min() >= 0 and faces.max() < len(points)):
            odd, top = faces.min() if faces.min() < 0 else faces.max(), len(points) - 1
            raise ParseError(
                f"{lines.file}, up to line {lines.at}: a triangle refers to vertex {odd:g}, expected 0 to {top}"
            )
        return _shapes(Mesh(points, faces.astype(np.int64)), geometry)
    shape: Shape | Any
    if kind == "box":
        shape = Box(sizes)
    elif kind == "sphere":
        shape = Sphere(sizes[0])
    elif kind == "plane":
        shape = Plane(sizes[:3], -sizes[3])
    else:
        shape = (Cylinder if kind == "cylinder" else Cone)(*sizes.tolist())
    return "exact", [(shape, np.eye(4))]


def _rows(lines: _Lines, count: float, what: str) -> Array:
    if not 0 <= count <= len(lines.lines):
        raise ParseError(
            f"{lines.file}, line {lines.at}: the number of rows with {what} is {count:g}, but the file has "
            f"{len(lines.lines)} lines. Save the scene again"
        )
    return np.array([lines.numbers(3, what) for _ in range(int(count))]).reshape(-1, 3)
