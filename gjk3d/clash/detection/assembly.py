"""Assemblies, which are named parts in one frame and one unit, from meshes, model files and folders."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.solids import solids
from gjk3d.bodies.topology import file_spacing, spacings, stretch
from gjk3d.clash.detection.parts import MARK, AssemblyPart, Placed, Scaled, Shapes, first_names, moved_points, order
from gjk3d.clash.documents import Vector
from gjk3d.clash.report.report import Input, Report
from gjk3d.convex.checks import line_for
from gjk3d.errors import FileError, Gjk3dError, ParseError, ShapeError
from gjk3d.files import load as model_files
from gjk3d.files.readers import Colour
from gjk3d.frozen import shown
from gjk3d.poses import matrices
from gjk3d.shapes.layout import in_range
from gjk3d.typing import Array, OnePose
from gjk3d.units import conversion, doubt, one_unit, reading, symbol
from gjk3d.wording import count, excerpt, kind_of, number, with_unit

_Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Assembly:
    """Named parts in one frame and one unit of length.

    Attributes
    ----------
    parts : tuple of AssemblyPart
        The parts in the order of their names.
    unit : str or None
        The unit of all lengths, for example "m", "mm" or "in". None if the unit is unknown.
    inputs : tuple of Input
        The files of the assembly.
    notes : tuple of str
        Notes on the import, for example converted units.

    Examples
    --------
    >>> import gjk3d as gk
    >>> from pyvista import examples  # models that come with it
    >>> pair = gk.clash.Assembly.load([examples.nutfile, examples.antfile], unit="mm")
    >>> [(part.name, len(part.mesh.faces)) for part in pair.parts]
    [('ant', 912), ('nut', 1046)]
    """

    parts: tuple[AssemblyPart, ...]
    unit: str | None = None
    inputs: tuple[Input, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)

    _repr_mimebundle_ = shown

    def __repr__(self) -> str:
        unit = f", in {self.unit}" if self.unit else ""
        return f"<Assembly: {count(len(self.parts), 'part')}{unit}{excerpt([part.name for part in self.parts])}>"

    @classmethod
    def of(cls, meshes: Mapping[str, Mesh | tuple[Mesh, OnePose]], unit: str | None = None) -> Assembly:
        """Return an assembly of meshes.

        Parameters
        ----------
        meshes : dict of str to Mesh, or to pairs of a Mesh and its pose
            The mesh of each part by its name. A pose transforms from the frame of the mesh to the frame of the
            assembly. Equal meshes become one shape, so many copies are best passed as one mesh at many poses. As in
            `load`, all lengths are converted to the first unit that a mesh states, including those of poses.
        unit : str, optional
            The unit of meshes that state no unit, for example "mm", "m" or "in". The default is the unit of the other
            meshes, if they agree.

        Returns
        -------
        Assembly
            The parts are in the order of their names. The notes name the parts that were converted.

        Raises
        ------
        ParseError
            If a unit is not a unit of length, or a mesh states no unit and the units of the other meshes differ.
        ShapeError
            If ``meshes`` is not a dict, a name is not a text, or a part is not a mesh.

        Examples
        --------
        >>> import gjk3d as gk
        >>> cube = gk.Box((1, 1, 1)).surface()
        >>> pair = gk.clash.Assembly.of({"b": gk.Mesh(cube.vertices + 2, cube.faces), "a": gk.Mesh(*cube[:2])}, "mm")
        >>> [part.name for part in pair.parts], pair.unit
        (['a', 'b'], 'mm')
        >>> up = [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 2), (0, 0, 0, 1)]
        >>> stack = gk.clash.Assembly.of({"low": gk.Mesh(*cube[:2]), "high": (gk.Mesh(*cube[:2]), up)}, "mm")
        >>> stack.parts[0].shape is stack.parts[1].shape, stack.parts[0].bounds[0].tolist()
        (True, [-0.5, -0.5, 1.5])
        """
        if not isinstance(meshes, dict):
            raise ShapeError(f'Assembly.of needs meshes by name, not {kind_of(meshes)}. Pass {{"name": mesh}}.')
        shapes, unscaled = Shapes(), {}
        for name, entry in meshes.items():
            mesh, pose = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, None)
            if not isinstance(name, str):
                raise ShapeError(f"Assembly.of: the name {name!r} is not a text. Pass {str(name)!r}.")
            if not isinstance(mesh, Mesh):
                line = line_for(mesh) or "pass gk.Mesh(*shape.surface()) for a convex shape"
                raise ShapeError(f"Assembly.of: {name!r} is {kind_of(mesh)}, expected a Mesh. To convert it, {line}.")
            spacing = file_spacing(mesh.vertices) if mesh.source is not None else 0.0
            unscaled[name] = AssemblyPart(name, str(mesh.source or ""), shapes.unique(mesh), pose=pose, spacing=spacing)
        names = sorted(unscaled, key=order)
        stated = [symbol(None if (shape := unscaled[name].shape) is None else shape.unit) for name in names]
        units = {name for name in stated if name is not None}
        agreed = symbol(unit) or (units.pop() if len(units) == 1 else None)
        target, factors, notes = one_unit(list(zip(names, stated, strict=True)), agreed)
        parts, scaled = [], Scaled(str(target))
        for name, source, factor in zip(names, stated, factors, strict=True):
            parts.append(
                unscaled[name] if factor == 1.0 and source in (None, target) else scaled.part(unscaled[name], factor)
            )
        return cls(tuple(parts), target, notes=(*notes, *_doubts(parts, target, stated=unit is not None)))

    @classmethod
    def load(cls, paths: _Path | Iterable[_Path], *, unit: str | None = None, bodies: bool = False) -> Assembly:
        """Return the assembly of one or more model files, or of a folder with its subfolders.

        Parameters
        ----------
        paths : path or sequence of paths
            Files that `gjk3d.load` reads, and folders. A file may contain a part or an assembly. The coordinates in
            the files are not changed, so all files must use one frame.
        unit : str, optional
            The unit of files that state no unit, such as STL, for example "mm", "cm", "m" or "in". If every file states
            a unit, this argument replaces it. GLB is always in m, and STEP states the unit of the drawing.
        bodies : bool
            Whether each solid of a part with several solids becomes a part. The name of the new part ends with the
            number of the solid, for example "frame/2". A cavity belongs to the solid around it. By default, a note
            names the parts of STEP files with several solids.

        Returns
        -------
        Assembly
            A part is named by its path in the tree of its file, for example "frame/door/bolt". If there are several
            files, the path starts with the name of the file. A file or part that cannot be read becomes a part
            without a mesh, whose attribute ``reason`` states the error.

        Raises
        ------
        FileError
            If a path does not exist, or a folder contains no model.
        ParseError
            If no part could be loaded, or only some files state a unit and ``unit`` is not set.
        """
        listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        named = named_files(listed)
        shapes = Shapes()
        loaded = [File(prefix, file, len(named) > 1, shapes, bodies) for prefix, file in named]
        if not any(part.shape for file in loaded for part in file.parts):
            # every file failed, so the error of the first file is raised
            raise next(file.error for file in loaded if file.error is not None)
        target, notes = _one_unit(loaded, unit)
        parts = [part for file in loaded for part in file.parts]
        remarks = [note for file in loaded for note in file.notes]
        inputs = tuple(Input(str(file.path), sha256(file.path), file.unit) for file in loaded)
        stated = unit is None and all(file.stated for file in loaded)
        doubts = () if stated else _doubts(parts, target, stated=unit is not None)
        return cls(
            _unique(sorted(parts, key=lambda part: (order(part.name), part.file))),
            target,
            inputs,
            (*notes, *remarks, *doubts, *unread(listed)),
        )


def upward(model: Assembly | Report, up: str = "") -> Vector:
    """Return the up direction as a unit vector: the axis ``up``.

    If ``up`` is "", the axis is y if all files of the model are glTF, and otherwise z.
    """
    if up not in ("", "x", "y", "z"):
        raise ShapeError(f"up is {up!r:.80}, expected '', 'x', 'y' or 'z'")
    if up:
        return float(up == "x"), float(up == "y"), float(up == "z")
    suffixes = {Path(item.path).suffix.lower() for item in model.inputs}
    return (0.0, 1.0, 0.0) if suffixes and suffixes <= {".glb", ".gltf"} else (0.0, 0.0, 1.0)


def _one_unit(files: list[File], stated: str | None) -> tuple[str | None, list[str]]:
    """Convert the parts of all files to one unit. Return this unit and notes. ``stated`` is the unit the user set."""
    read = [file for file in files if any(part.shape for part in file.parts)]
    target, factors, notes = one_unit([(str(file.path), file.unit) for file in read], symbol(stated))
    for file, factor in zip(read, factors, strict=True):
        if factor != 1.0 or file.unit not in (None, target):
            scaled = Scaled(str(target))
            file.parts = [scaled.part(part, factor) for part in file.parts]
    return target, notes


def check_assembly(assembly: object, of: str) -> None:
    """Raise a TypeError unless a value is an assembly. ``of`` is the name of the function that got the value."""
    if not isinstance(assembly, Assembly):
        raise TypeError(
            f"{of} needs an Assembly, not {kind_of(assembly)}. Use Assembly.load(paths) or Assembly.of(meshes)."
        )


def _doubts(parts: Sequence[AssemblyPart], unit: str | None, stated: bool) -> tuple[str, ...]:
    """Return a note if the sizes of the parts suggest a wrong unit. ``stated`` is whether the user set the unit."""
    bounds = np.array([part.bounds for part in parts if part.shape is not None]).reshape(-1, 2, 3)
    if not len(bounds):
        return ()
    extent = float((bounds[:, 1].max(axis=0) - bounds[:, 0].min(axis=0)).max())
    text = doubt(unit, np.ptp(bounds, axis=1).max(axis=1).tolist(), extent, stated)
    return () if text is None else (text,)


def _unique(parts: list[AssemblyPart]) -> tuple[AssemblyPart, ...]:
    """Return parts with unique names. Equal names get numbers: 'bolt', 'bolt (2)', 'bolt (3)'."""
    original = {part.name for part in parts}
    used: set[str] = set()
    result = []
    for part in parts:
        name, number = part.name, 1
        while name in used or (number > 1 and name in original):
            number += 1
            name = f"{part.name} ({number})"
        used.add(name)
        result.append(part if name == part.name else replace(part, name=name))
    return tuple(sorted(result, key=lambda part: order(part.name)))


#: Suffixes of model formats that gjk3d does not read. A note names such files in a folder.
_UNREAD = (
    ".3dm", ".3ds", ".blend", ".brep", ".catpart", ".catproduct", ".dwg", ".dxf", ".fbx", ".iam", ".ifcxml", ".ifczip",
    ".iges", ".igs", ".ipt", ".jt", ".prt", ".sat", ".sldasm", ".sldprt", ".usd", ".usda", ".usdc", ".usdz", ".vtu",
    ".wrl", ".x3d", ".x_b", ".x_t", ".xyz",
)  # fmt: skip


class File:
    """A model file with its parts, or with the error that reading it raised.

    ``prefix`` is the name of the file in the names of parts. A part without a name in the file gets the prefix as its
    name. If the assembly has ``several`` files, all names start with the prefix. With ``bodies``, each solid of a part
    becomes a separate part.
    """

    def __init__(self, prefix: str, path: Path, several: bool, shapes: Shapes, bodies: bool = False) -> None:
        self.path = path
        self._shapes, self._bodies = shapes, bodies
        self.unit: str | None = None
        self.stated = True  #: whether the file itself states its unit
        self.notes: list[str] = []
        self.error: Gjk3dError | ImportError | None = None
        self.parts: list[AssemblyPart]
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # the reason of a part names an overflow
                self.parts = self._read(prefix, several)
        except (Gjk3dError, ImportError) as error:
            self.error = error
            reason = str(error).removeprefix(str(path)).removeprefix(":").strip()
            self.parts = [AssemblyPart(prefix, str(path), None, reason)]
        else:
            if not any(part.shape for part in self.parts):
                self.error = ParseError(f"{path}: {next(part.reason for part in self.parts)}")

    def _read(self, prefix: str, several: bool) -> list[AssemblyPart]:
        content, drawn, empty = model_files.read_pieces(self.path)
        pieces = {
            key: geometries
            for key, geometries in drawn.items()
            if not all(MARK.items() <= geometry.metadata.items() for geometry, _ in geometries)
        }
        self.unit, self.stated = symbol(content.unit), content.stated
        about = content.scene.metadata
        labels, guids = about.get("labels", {}), about.get("guids", {})
        parents = content.scene.graph.transforms.parents
        base = content.scene.graph.base_frame
        start = (prefix,) if several else ()
        meshes: dict[tuple[int, ...], Mesh] = {}
        spacing = _Spacing(content.scene.graph)

        def part(key: str, shape: Mesh | None, reason: str = "", **values: Any) -> AssemblyPart:
            steps = _upwards(key, parents)
            path = (*start, *(str(labels.get(step, step)) for step in reversed(steps) if step != base))
            if key == self.path.stem and key not in parents:  # an unnamed mesh gets the name of its file
                path = (prefix,)
            name = "/".join(path)
            return AssemblyPart(name, str(self.path), shape, reason, path=path, guid=guids.get(key, ""), **values)

        parts = []
        for key, geometries in pieces.items():
            try:
                shape, row, slack = self._place(labels.get(key, key), geometries, meshes)
            except ShapeError as error:
                parts.append(part(key, None, str(error)))
                continue
            pose = None if row is None else matrices(row)
            facets = max(model_files.facets_of(geometry) for geometry, _ in geometries)
            rounded = spacing.of(key, geometries)
            colour = _colour(geometries)
            parts.append(part(key, shape, pose=pose, slack=slack, facets=facets, spacing=rounded, colour=colour))
        notes = [*about.get("notes", []), *self._faceted(parts)]
        if self._bodies:
            parts = self._split(parts)
        elif content.kind.process_reader == "STEP":  # a STEP product may have several solids
            notes += _several(parts)
        if marks := len(drawn) - len(pieces):
            notes.append(f"skipped {count(marks, 'mark')} of findings that gjk3d clash wrote")
        self.notes = [f"{self.path}: {note}" for note in notes]
        parts += [part(key, None, f"has no triangles: {what}") for key, what in empty.items()]
        return parts if content.drawn in (None, self.unit) else self._drawn(parts, content.drawn)

    def _split(self, parts: list[AssemblyPart]) -> list[AssemblyPart]:
        result = []
        for part, bodies in zip(parts, _solids(parts), strict=True):
            if len(bodies) < 2:
                result.append(part)
                continue
            for k, body in enumerate(bodies, 1):
                path, shape = (*part.path, str(k)), self._shapes.unique(body)
                result.append(replace(part, name=f"{part.name}/{k}", path=path, shape=shape))
        return result

    def _faceted(self, parts: list[AssemblyPart]) -> list[str]:
        error = max((part.facets for part in parts), default=0.0)
        if not error:
            return []
        unit, factor = reading(self.unit, 0.0)
        deviation = with_unit(number(error * factor, 3), unit)
        return [
            f"curved faces are read as triangles with an error of up to {deviation}:"
            " gaps and overlaps within the errors of two parts are reported as touching"
        ]

    def _drawn(self, parts: list[AssemblyPart], unit: str) -> list[AssemblyPart]:
        """Return the parts converted to ``unit``, the unit of the drawing.

        Before, they are in the unit of the library that read the file.
        """
        factor = conversion(str(self.unit), unit)
        assert factor is not None
        self.unit, scaled = unit, Scaled(unit)
        return [scaled.part(part, factor) for part in parts]

    def _place(self, name: str, pieces: list[tuple[Any, Any]], meshes: dict[tuple[int, ...], Mesh]) -> Placed:
        """Return the shape and the pose of a part. Pieces at different poses become one shape without a pose.

        ``pieces`` are geometries with their matrices. ``meshes`` is a cache of meshes by the ``id()`` of geometries.
        """
        matrix = pieces[0][1]
        if all(np.array_equal(transform, matrix) for _, transform in pieces[1:]):
            try:
                key = tuple(id(geometry) for geometry, _ in pieces)
                if key not in meshes:
                    local = [(geometry, np.eye(4)) for geometry, _ in pieces]
                    meshes[key] = self._shapes.unique(model_files.joined(name, local, self.unit, self.path).mesh)
                placed = self._shapes.placed(meshes[key], matrix)
                in_range(moved_points(placed.row, placed.shape.bounds), "vertices")
                return placed
            except ShapeError:  # the call below raises it again with the vertices in the frame of the assembly
                pass
        mesh = model_files.joined(name, pieces, self.unit, self.path).mesh
        return Placed(self._shapes.unique(mesh), None, 0.0)


def _solids(parts: list[AssemblyPart]) -> list[list[Mesh]]:
    shapes = {id(part.shape): part.shape for part in parts}
    bodies = {key: [] if shape is None else solids(shape) for key, shape in shapes.items()}
    return [bodies[id(part.shape)] for part in parts]


def _several(parts: list[AssemblyPart]) -> list[str]:
    counts = [(part.name, len(bodies)) for part, bodies in zip(parts, _solids(parts), strict=True) if len(bodies) > 1]
    if not counts:
        return []
    counts.sort(key=lambda item: order(item[0]))
    named = first_names([f"{name} ({many})" for name, many in counts], 5)
    what = f"parts with several bodies, which are not checked against each other: {named}"
    return [f"{what}. Set --bodies (bodies=True in Python) to check each body as a part."]


class _Spacing:
    """The rounding steps of vertices of parts. They follow from the rounded coordinates and matrices in a file."""

    def __init__(self, graph: Any) -> None:
        edges = {child: data["matrix"] for (_, child), data in graph.transforms.edge_data.items() if "matrix" in data}
        self._nodes = dict(zip(edges, _placing(np.array(list(edges.values())).reshape(-1, 4, 4)), strict=True))
        self._parents = graph.transforms.parents
        self._points: dict[int, tuple[float, float]] = {}

    def of(self, key: str, pieces: list[tuple[Any, Any]]) -> float:
        """Return the rounding step of the vertices of a part in the frame of the assembly.

        ``key`` is the node of the part in the tree of the file. ``pieces`` are its geometries with their matrices.
        """
        spacing, reach = self._of_points(pieces[0][0])
        for geometry, _ in pieces[1:]:
            spacing, reach = map(max, (spacing, reach), self._of_points(geometry))
        in_tree = key in self._parents
        steps = _upwards(key, self._parents) if in_tree else [""]
        nodes = self._nodes if in_tree else dict(zip(steps, _placing(pieces[0][1][None]), strict=True))
        for step in steps:
            factor, shift, axes, place = nodes.get(step, (1.0, 0.0, 0.0, 0.0))
            spacing = factor * spacing + axes * reach + place
            reach = factor * reach + shift
        return spacing

    def _of_points(self, geometry: Any) -> tuple[float, float]:
        if id(geometry) not in self._points:
            points = np.asarray(geometry.vertices, np.float64)
            self._points[id(geometry)] = file_spacing(points), float(np.abs(points).max(initial=0.0))
        return self._points[id(geometry)]


def _placing(matrices: Array) -> list[tuple[float, ...]]:
    """Return four numbers for each affine matrix: the stretch, the largest translation, and two rounding steps.

    The first rounding step is that of the linear part, and the second is that of the translation.
    """
    axes, shifts = matrices[:, :3, :3], matrices[:, :3, 3]
    table = np.column_stack(
        [stretch(axes), np.abs(shifts).max(axis=1, initial=0.0), spacings(axes.reshape(-1, 9)), spacings(shifts)]
    )
    return list(map(tuple, table.tolist()))


def _upwards(key: str, parents: Mapping[str, str]) -> list[str]:
    """Return the keys of a node and of its ancestors, the node first."""
    steps = [key]
    while steps[-1] in parents and len(steps) <= len(parents):
        steps.append(parents[steps[-1]])
    return steps


def _colour(pieces: list[tuple[Any, Any]]) -> Colour | None:
    areas: dict[Colour | None, float] = {}
    for geometry, _ in pieces:
        colour = geometry.metadata.get("colour")
        areas[colour] = areas.get(colour, 0.0) + (float(geometry.area) if len(pieces) > 1 else 1.0)
    return max(areas, key=lambda colour: areas[colour])


def named_files(paths: Sequence[_Path]) -> list[tuple[str, Path]]:
    """Return the model files of paths and folders as (prefix, path), sorted by prefix. Each file is listed once.

    The prefix is the name of the file without its extension. For a file in a folder, it is the path from the folder.
    """
    if not paths:
        raise FileError("no models are given. Name a file or a folder.")
    files: dict[Path, tuple[str, Path]] = {}
    for entry in paths:
        if not os.fspath(entry):
            raise FileError("a path is empty. Name a file or a folder ('.' is the current folder).")
        path = Path(entry)
        if not os.path.isdir(path):
            named = [(path.stem, path)]
            model_files.existing(path)
        else:
            named = [(str(file.relative_to(path).with_suffix("")), file) for file in _below(path, model_files.FORMATS)]
            if not named:
                raise FileError(f"{path} contains no model. gjk3d reads {' '.join(model_files.FORMATS)}.")
        for name, file in named:
            files.setdefault(Path(os.path.realpath(file)), (Path(name).as_posix(), file))
    return sorted(files.values(), key=lambda entry: (order(entry[0]), str(entry[1])))


def unread(paths: Sequence[_Path]) -> list[str]:
    """Return a note for each folder in ``paths`` with models in formats that gjk3d does not read."""
    notes = []
    for folder in (Path(path) for path in paths if os.path.isdir(path)):
        names = sorted((str(file.relative_to(folder)) for file in _below(folder, _UNREAD)), key=order)
        if names:
            notes.append(f"{folder}: skipped files in formats that are not supported: {first_names(names, 5)}")
    return notes


def _below(folder: Path, endings: Iterable[str]) -> list[Path]:
    """Return the paths below a folder that have a suffix in ``endings``.

    Hidden files are left out, and broken links are included.
    """
    return [
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in endings
        and not _holds_files(file)
        and not any(name.startswith(".") for name in file.relative_to(folder).parts)
    ]


def _holds_files(path: Path) -> bool:
    try:
        return os.path.isdir(path) and any(path.iterdir())
    except OSError:  # a folder without permission is reported as a file that cannot be read
        return False


def sha256(path: Path) -> str | None:
    """Return the SHA-256 hash of a file, or None if it cannot be read."""
    if not os.path.isfile(path):  # opening a pipe would block
        return None
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
