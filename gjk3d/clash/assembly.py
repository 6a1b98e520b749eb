"""The parts that are checked against one another: named meshes in one frame and one unit."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d.bodies import files as model_files
from gjk3d.bodies.mesh import Mesh
from gjk3d.clash.instances import Placed, Shapes, moved_points
from gjk3d.clash.report import Input, Report, Vector
from gjk3d.convex.checks import line_for
from gjk3d.errors import FileError, Gjk3dError, ParseError, ShapeError
from gjk3d.poses import as_matrices, matrices, pose_rows
from gjk3d.shapes.layout import in_range
from gjk3d.shown import shown
from gjk3d.typing import Array, OnePose
from gjk3d.units import doubt, one_unit, symbol

#: Models of formats that are not read: in a folder they are told of, and not taken for parts that are lost.
_UNREAD = (
    ".3dm", ".3ds", ".blend", ".brep", ".catpart", ".catproduct", ".dwg", ".dxf", ".fbx", ".iam", ".ifc", ".iges",
    ".igs", ".ipt", ".jt", ".prt", ".sat", ".sldasm", ".sldprt", ".usd", ".usda", ".usdc", ".usdz", ".vtu", ".wrl",
    ".x3d", ".x_b", ".x_t", ".xyz",
)  # fmt: skip
_Path = str | os.PathLike[str]


@dataclass(frozen=True)
class AssemblyPart:
    """One part: its unique name, the file it came from, its shape, and where in the whole that is.

    Parts of one shape share one `Mesh`, with its hull and its tree.

    Attributes
    ----------
    name, file : str
        Node path in the assembly, and the file.
    shape : Mesh or None
        Its triangles in a frame of their own. None where it could not be loaded.
    reason : str
        Why it could not be loaded, else empty.
    pose : (4, 4) float or None
        Frame of the whole from the shape's, as tuples; None where that is the same.
    slack : float
        How far its vertices may be from where the file has them, at most: copies whose matrices differ by rounding
        are one shape.

    Examples
    --------
    >>> import gjk3d as gk
    >>> lid = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    >>> part = gk.clash.AssemblyPart("lid", "lid.stl", lid)
    >>> part.name, len(part.mesh.faces), part.mesh is part.shape
    ('lid', 1, True)
    >>> up = [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 5), (0, 0, 0, 1)]
    >>> gk.clash.AssemblyPart("lid 2", "lid.stl", lid, pose=up).bounds.tolist()
    [[0.0, 0.0, 5.0], [1.0, 1.0, 5.0]]
    """

    name: str
    file: str
    shape: Mesh | None
    reason: str = ""
    pose: Any = None
    slack: float = 0.0

    def __post_init__(self) -> None:
        if self.pose is not None:
            object.__setattr__(self, "pose", tuple(map(tuple, as_matrices(self.pose).tolist())))
            _ = self._row  # that is refused where it is no pose

    @cached_property
    def _row(self) -> Array | None:
        """The pose as kernels take it, (13,) float; None where there is none."""
        return None if self.pose is None else pose_rows(np.array(self.pose), f"pose of {self.name!r}")[0][0]

    @property
    def mesh(self) -> Mesh | None:
        """Its triangles in the frame of the whole, made anew where the part has a pose; None as `shape` is."""
        if self.shape is None or self._row is None:
            return self.shape
        points = moved_points(self._row, self.shape.vertices)
        return self.shape._like(points, self.shape.faces, name=self.name, source=self.shape.source)

    @cached_property
    def bounds(self) -> Array:
        """Lowest and highest corner in the frame of the whole, (2, 3) float."""
        if self.shape is None:
            return np.full((2, 3), np.nan)
        if self._row is None:
            return self.shape.bounds
        points = moved_points(self._row, self.shape._used)
        return np.array([points.min(axis=0), points.max(axis=0)])


@dataclass(frozen=True)
class Assembly:
    """Named parts in one frame and one unit of length.

    Attributes
    ----------
    parts : tuple of AssemblyPart
        In the order of their names.
    unit : str or None
        "m", "mm", "in" and the like; None where nothing says.
    inputs : tuple of Input
        The files.
    notes : tuple of str
        What was done to bring them together.

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

    @classmethod
    def of(cls, meshes: Mapping[str, Mesh | tuple[Mesh, OnePose]], unit: str | None = None) -> Assembly:
        """Return an assembly of meshes that are there already.

        Parameters
        ----------
        meshes : dict of str to Mesh, or to pairs of a Mesh and its pose
            By the name of each part; a pose is the frame of the whole from the mesh's. Equal meshes become one shape,
            so many copies are best given as one mesh at many poses. Units count as in `load`: all lengths, also those
            of poses, are brought to the first unit that a mesh states.
        unit : str, optional
            The unit of meshes that state none: "mm", "m", "in" and the like; by default that of the others, where
            these agree.

        Returns
        -------
        Assembly
            Its parts in the order of their names; its notes say what was brought to another unit.

        Raises
        ------
        ParseError
            A unit is none of length, or the others of a mesh without one do not agree.
        ShapeError
            A name is no text, or a part is no mesh.

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
            raise ShapeError(f"Assembly.of takes a dict of meshes by their names, not {type(meshes).__name__}")
        shapes, given = Shapes(), {}
        for name, entry in meshes.items():
            mesh, pose = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, None)
            if not (isinstance(name, str) and isinstance(mesh, Mesh)):
                line = line_for(mesh) or "of a convex shape, gk.Mesh(*shape.surface()) makes one"
                raise ShapeError(
                    f"part {name!r} is a {type(mesh).__name__}: Assembly.of takes meshes by names that are text; {line}"
                )
            given[name] = AssemblyPart(name, str(mesh.source or ""), shapes.one(mesh), pose=pose)
        names = sorted(given, key=order)
        stated = [symbol(None if (shape := given[name].shape) is None else shape.unit) for name in names]
        told = {each for each in stated if each is not None}
        agreed = symbol(unit) or (told.pop() if len(told) == 1 else None)
        own, factors, notes = one_unit(list(zip(names, stated, strict=True)), agreed)
        parts, scaled = [], _Scaled(str(own))
        for name, its, factor in zip(names, stated, factors, strict=True):
            parts.append(given[name] if factor == 1.0 and its in (None, own) else scaled.part(given[name], factor))
        return cls(tuple(parts), own, notes=(*notes, *_doubts(parts, own, said=unit is not None)))

    @classmethod
    def load(cls, paths: _Path | Iterable[_Path], *, unit: str | None = None) -> Assembly:
        """Load one model file, several that make a whole, or a folder with all below it.

        Parameters
        ----------
        paths : path or sequence of paths
            Files that `gjk3d.load` reads, and folders. Each file may be a part or an assembly of its own; all keep
            the coordinates that they state.
        unit : str, optional
            The unit of files that state none, such as STL: "mm", "cm", "m", "in". Where each file states one, as
            GLB always does, it goes before that.

        Returns
        -------
        Assembly
            Its parts are named by their place in the tree of the file, behind the name of the file if there are
            several. A file or part that cannot be read is a part without a mesh, and says why.

        Raises
        ------
        FileError
            A path is not there, or a folder holds no model.
        ParseError
            Nothing at all could be loaded, or files with and without a unit meet and ``unit`` is not given.
        """
        given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        named = _named_files(given)
        shapes = Shapes()
        loaded = [_File(prefix, file, len(named) > 1, shapes) for prefix, file in named]
        if not any(part.shape for file in loaded for part in file.parts):
            # one file: its own error; more: the first, all being of no use
            raise next(file.error for file in loaded if file.error is not None)
        own, notes = _one_unit(loaded, unit)
        parts = [part for file in loaded for part in file.parts]
        inputs = tuple(Input(str(file.path), sha256(file.path), file.unit) for file in loaded)
        return cls(
            _unique(sorted(parts, key=lambda part: (order(part.name), part.file))),
            own,
            inputs,
            (*notes, *_doubts(parts, own, said=unit is not None), *_unread(given)),
        )


@lru_cache(1 << 18)  # names are sorted many times
def order(name: str) -> tuple[list[str | int], str]:
    """Return what names are sorted by: 'bolt 2' before 'bolt 10'."""
    return model_files.natural(name), name


def upward(whole: Assembly | Report) -> Vector:
    """Return which way is up: y in glTF, as its standard says, else z."""
    suffixes = {Path(item.path).suffix.lower() for item in whole.inputs}
    return (0.0, 1.0, 0.0) if suffixes and suffixes <= {".glb", ".gltf"} else (0.0, 0.0, 1.0)


class _File:
    """One file and the parts it gave, or the reason that it gave none."""

    def __init__(self, prefix: str, path: Path, several: bool, shapes: Shapes) -> None:
        self.path = path
        self._shapes = shapes
        self.unit: str | None = None
        self.error: Gjk3dError | ImportError | None = None
        self.parts: list[AssemblyPart]
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # a place out of range is said of its part
                self.parts = self._read(prefix, several)
        except (Gjk3dError, ImportError) as error:
            self.error = error
            reason = str(error).removeprefix(str(path)).removeprefix(":").strip()
            self.parts = [AssemblyPart(prefix, str(path), None, reason)]
        else:
            if not any(part.shape for part in self.parts):
                self.error = ParseError(f"{path}: {next(part.reason for part in self.parts)}")

    def _read(self, prefix: str, several: bool) -> list[AssemblyPart]:
        content, pieces, others = model_files.read_pieces(self.path)
        self.unit = symbol(content.unit)
        parents = content.scene.graph.transforms.parents
        base = content.scene.graph.base_frame
        start = [prefix] if several else []
        parts = []
        once: dict[tuple[int, ...], Mesh] = {}
        for key, geometries in pieces.items():
            # what has no name of its own is called as its file is
            name = prefix if key == self.path.stem and key not in parents else _path(key, parents, base, start)
            try:
                shape, row, slack = self._place(name, geometries, once)
            except ShapeError as error:
                parts.append(AssemblyPart(name, str(self.path), None, str(error)))
                continue
            pose = None if row is None else matrices(row)
            parts.append(AssemblyPart(name, str(self.path), shape, pose=pose, slack=slack))
        for key, what in others.items():
            name = _path(key, parents, base, start)
            parts.append(AssemblyPart(name, str(self.path), None, f"has no triangles: {what}"))
        return parts

    def _place(self, name: str, pieces: list[tuple[Any, Any]], once: dict[tuple[int, ...], Mesh]) -> Placed:
        """Return the shape of a part and where it is; what has pieces at several places is its own shape there."""
        matrix = pieces[0][1]
        if all(np.array_equal(other, matrix) for _, other in pieces[1:]):
            try:
                key = tuple(id(geometry) for geometry, _ in pieces)
                if key not in once:
                    local = [(geometry, np.eye(4)) for geometry, _ in pieces]
                    once[key] = self._shapes.one(model_files.joined(name, local, self.unit, self.path).mesh)
                placed = self._shapes.placed(once[key], matrix)
                in_range(moved_points(placed.row, placed.shape.bounds), "vertices")
                return placed
            except ShapeError:  # to be said of the vertices where they are
                pass
        mesh = model_files.joined(name, pieces, self.unit, self.path).mesh
        return Placed(self._shapes.one(mesh), None, 0.0)


def _path(node: str, parents: dict[str, str], base: str, start: list[str]) -> str:
    steps = [node]
    while steps[-1] in parents and len(steps) <= len(parents):
        steps.append(parents[steps[-1]])
    return "/".join(start + [str(step) for step in reversed(steps) if step != base])


def _named_files(paths: Sequence[_Path]) -> list[tuple[str, Path]]:
    """Return each file once with the name it gives to its parts, in the order of those names."""
    if not paths:
        raise FileError("no file: name one or more models, or a folder of them")
    files: dict[Path, tuple[str, Path]] = {}
    for given in paths:
        if not os.fspath(given):
            raise FileError("a name is empty: name a file or a folder ('.' is this one)")
        path = Path(given)
        if not path.is_dir():
            found = [(path.stem, path)]
            model_files.existing(path)
        else:
            found = [(str(file.relative_to(path).with_suffix("")), file) for file in _below(path, model_files.FORMATS)]
            if not found:
                raise FileError(f"{path} holds no model: {' '.join(model_files.FORMATS)} are read")
        for name, file in found:
            files.setdefault(Path(os.path.realpath(file)), (Path(name).as_posix(), file))
    return sorted(files.values(), key=lambda entry: (order(entry[0]), str(entry[1])))


def _unread(paths: Sequence[_Path]) -> list[str]:
    """Say which models in the folders are of no format that is read."""
    notes = []
    for folder in (Path(path) for path in paths if Path(path).is_dir()):
        names = sorted((str(file.relative_to(folder)) for file in _below(folder, _UNREAD)), key=order)
        if names:
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            notes.append(f"{folder}: not read, being of other formats: {', '.join(names[:5])}{more}")
    return notes


def _below(folder: Path, endings: Iterable[str]) -> list[Path]:
    """Return what has the name of a model, also what is none: a broken link is to be told, and not passed over."""
    return [
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in endings
        and not _holds_files(file)
        and not any(name.startswith(".") for name in file.relative_to(folder).parts)
    ]


def _holds_files(path: Path) -> bool:
    try:
        return path.is_dir() and any(path.iterdir())
    except OSError:  # no permission: to be told
        return False


def _one_unit(files: list[_File], said: str | None) -> tuple[str | None, list[str]]:
    """Bring all parts into the unit of the first file that states one; return it and what was done."""
    read = [file for file in files if any(part.shape for part in file.parts)]
    own, factors, notes = one_unit([(str(file.path), file.unit) for file in read], symbol(said))
    for file, factor in zip(read, factors, strict=True):
        if factor != 1.0 or file.unit not in (None, own):
            scaled = _Scaled(str(own))
            file.parts = [scaled.part(part, factor) for part in file.parts]
    return own, notes


def _doubts(parts: Sequence[AssemblyPart], unit: str | None, said: bool) -> tuple[str, ...]:
    """Return the remark on a size that suggests another unit, if there is one."""
    bounds = np.array([part.bounds for part in parts if part.shape is not None]).reshape(-1, 2, 3)
    if not len(bounds):
        return ()
    whole = float((bounds[:, 1].max(axis=0) - bounds[:, 0].min(axis=0)).max())
    text = doubt(unit, np.ptp(bounds, axis=1).max(axis=1).tolist(), whole, said)
    return () if text is None else (text,)


class _Scaled:
    """Brings parts to another unit; those of one shape to one."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._made: dict[tuple[int, float], Mesh] = {}

    def part(self, part: AssemblyPart, factor: float) -> AssemblyPart:
        """Return a part with its lengths multiplied."""
        if part.shape is None:
            return part
        key = id(part.shape), factor
        try:
            if key not in self._made:
                self._made[key] = converted(part.shape, factor, self._unit, part.name)
            pose = None
            if part._row is not None:
                pose = matrices(part._row)
                pose[:3, 3] *= factor
                in_range(moved_points(pose_rows(pose)[0][0], self._made[key].bounds), "vertices")
        except ShapeError as error:  # too large or too small to compute with in that unit
            return replace(part, shape=None, reason=str(error), pose=None)
        return replace(part, shape=self._made[key], pose=pose, slack=part.slack * factor)


def _unique(parts: list[AssemblyPart]) -> tuple[AssemblyPart, ...]:
    """Give a number to what has the name of another part: 'bolt', 'bolt (2)', 'bolt (3)'."""
    taken = {part.name for part in parts}
    seen: set[str] = set()
    result = []
    for part in parts:
        name, number = part.name, 1
        while name in seen or (number > 1 and name in taken):
            number += 1
            name = f"{part.name} ({number})"
        seen.add(name)
        result.append(part if name == part.name else replace(part, name=name))
    return tuple(sorted(result, key=lambda part: order(part.name)))


def sha256(path: Path) -> str | None:
    """Return the hash of a file, by which a reader knows that it is the same one; None if it cannot be read."""
    if not path.is_file():  # to open a pipe is to wait for who writes to it
        return None
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def converted(mesh: Mesh, factor: float, unit: str, name: str | None = None) -> Mesh:
    """Return a mesh with its lengths multiplied, in another unit."""
    return Mesh(
        mesh.vertices * factor, mesh.faces, name=name or mesh.name, unit=unit, parts=mesh.parts, source=mesh.source
    )
