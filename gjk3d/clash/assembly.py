"""The parts that are checked against one another: named meshes in one frame and one unit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.surface import file_spacing
from gjk3d.clash.finding import Vector
from gjk3d.clash.instances import Shapes
from gjk3d.clash.parts import AssemblyPart, Scaled, order
from gjk3d.clash.reading import File, named_files, sha256, unread
from gjk3d.clash.report import Input, Report
from gjk3d.convex.checks import line_for
from gjk3d.errors import ShapeError
from gjk3d.shown import shown
from gjk3d.typing import OnePose
from gjk3d.units import doubt, one_unit, symbol
from gjk3d.wording import count, excerpt, kind_of

_Path = str | os.PathLike[str]


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

    def __repr__(self) -> str:
        unit = f", in {self.unit}" if self.unit else ""
        return f"<Assembly: {count(len(self.parts), 'part')}{unit}{excerpt([part.name for part in self.parts])}>"

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
                    f"part {name!r} is {kind_of(mesh)}: Assembly.of takes meshes by names that are text; {line}"
                )
            spacing = file_spacing(mesh.vertices) if mesh.source is not None else 0.0
            given[name] = AssemblyPart(name, str(mesh.source or ""), shapes.one(mesh), pose=pose, spacing=spacing)
        names = sorted(given, key=order)
        stated = [symbol(None if (shape := given[name].shape) is None else shape.unit) for name in names]
        told = {each for each in stated if each is not None}
        agreed = symbol(unit) or (told.pop() if len(told) == 1 else None)
        own, factors, notes = one_unit(list(zip(names, stated, strict=True)), agreed)
        parts, scaled = [], Scaled(str(own))
        for name, its, factor in zip(names, stated, factors, strict=True):
            parts.append(given[name] if factor == 1.0 and its in (None, own) else scaled.part(given[name], factor))
        return cls(tuple(parts), own, notes=(*notes, *_doubts(parts, own, said=unit is not None)))

    @classmethod
    def load(cls, paths: _Path | Iterable[_Path], *, unit: str | None = None, bodies: bool = False) -> Assembly:
        """Load one model file, several that make a whole, or a folder with all below it.

        Parameters
        ----------
        paths : path or sequence of paths
            Files that `gjk3d.load` reads, and folders. Each file may be a part or an assembly of its own; all keep
            the coordinates that they state.
        unit : str, optional
            The unit of files that state none, such as STL: "mm", "cm", "m", "in". Where each file states one, as
            GLB always does (m), and STEP (the one that it was drawn in), it goes before that.
        bodies : bool
            Whether each solid of a part of several is a part of its own, named by its number, as "frame/2". A cavity
            belongs to the solid around it. Without it, a note names the parts of STEP files that have several.

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
        named = named_files(given)
        shapes = Shapes()
        loaded = [File(prefix, file, len(named) > 1, shapes, bodies) for prefix, file in named]
        if not any(part.shape for file in loaded for part in file.parts):
            # one file: its own error; more: the first, all being of no use
            raise next(file.error for file in loaded if file.error is not None)
        own, notes = _one_unit(loaded, unit)
        parts = [part for file in loaded for part in file.parts]
        remarks = [note for file in loaded for note in file.notes]
        inputs = tuple(Input(str(file.path), sha256(file.path), file.unit) for file in loaded)
        stated = unit is None and all(file.stated for file in loaded)
        doubts = () if stated else _doubts(parts, own, said=unit is not None)
        return cls(
            _unique(sorted(parts, key=lambda part: (order(part.name), part.file))),
            own,
            inputs,
            (*notes, *remarks, *doubts, *unread(given)),
        )


def upward(whole: Assembly | Report) -> Vector:
    """Return which way is up: y in glTF, as its standard says, else z."""
    suffixes = {Path(item.path).suffix.lower() for item in whole.inputs}
    return (0.0, 1.0, 0.0) if suffixes and suffixes <= {".glb", ".gltf"} else (0.0, 0.0, 1.0)


def _one_unit(files: list[File], said: str | None) -> tuple[str | None, list[str]]:
    """Bring all parts into the unit of the first file that states one; return it and what was done."""
    read = [file for file in files if any(part.shape for part in file.parts)]
    own, factors, notes = one_unit([(str(file.path), file.unit) for file in read], symbol(said))
    for file, factor in zip(read, factors, strict=True):
        if factor != 1.0 or file.unit not in (None, own):
            scaled = Scaled(str(own))
            file.parts = [scaled.part(part, factor) for part in file.parts]
    return own, notes


def check_assembly(given: object, of: str) -> None:
    """Refuse what is no assembly to check, sweep or take apart."""
    if not isinstance(given, Assembly):
        raise TypeError(
            f"{of} takes an Assembly, not {type(given).__name__}: Assembly.load(paths), or Assembly.of(meshes)"
        )


def _doubts(parts: Sequence[AssemblyPart], unit: str | None, said: bool) -> tuple[str, ...]:
    """Return the remark on a size that suggests another unit, if there is one."""
    bounds = np.array([part.bounds for part in parts if part.shape is not None]).reshape(-1, 2, 3)
    if not len(bounds):
        return ()
    whole = float((bounds[:, 1].max(axis=0) - bounds[:, 0].min(axis=0)).max())
    text = doubt(unit, np.ptp(bounds, axis=1).max(axis=1).tolist(), whole, said)
    return () if text is None else (text,)


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
