"""Parts from model files and folders of them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.pieces import solids
from gjk3d.bodies.surface import file_spacing, spacings, stretch
from gjk3d.clash.instances import Placed, Shapes, moved_points
from gjk3d.clash.parts import MARK, AssemblyPart, Scaled, order
from gjk3d.errors import FileError, Gjk3dError, ParseError, ShapeError
from gjk3d.files import load as model_files
from gjk3d.files.nodes import Colour
from gjk3d.poses import matrices
from gjk3d.shapes.layout import in_range
from gjk3d.typing import Array
from gjk3d.units import conversion, reading, symbol
from gjk3d.wording import count, number, with_unit

#: Models of formats that are not read: in a folder they are told of, and not taken for parts that are lost.
_UNREAD = (
    ".3dm", ".3ds", ".blend", ".brep", ".catpart", ".catproduct", ".dwg", ".dxf", ".fbx", ".iam", ".ifcxml", ".ifczip",
    ".iges", ".igs", ".ipt", ".jt", ".prt", ".sat", ".sldasm", ".sldprt", ".usd", ".usda", ".usdc", ".usdz", ".vtu",
    ".wrl", ".x3d", ".x_b", ".x_t", ".xyz",
)  # fmt: skip
_Path = str | os.PathLike[str]


class File:
    """One file and the parts it gave, or the reason that it gave none."""

    def __init__(self, prefix: str, path: Path, several: bool, shapes: Shapes, bodies: bool = False) -> None:
        self.path = path
        self._shapes, self._bodies = shapes, bodies
        self.unit: str | None = None
        self.stated = True  #: whether the file itself states its unit
        self.notes: list[str] = []
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
        content, drawn, others = model_files.read_pieces(self.path)
        pieces = {key: geometries for key, geometries in drawn.items() if not _is_mark(geometries)}
        self.unit, self.stated = symbol(content.unit), content.stated
        about = content.scene.metadata
        labels, guids = about.get("labels", {}), about.get("guids", {})
        parents = content.scene.graph.transforms.parents
        base = content.scene.graph.base_frame
        start = (prefix,) if several else ()
        once: dict[tuple[int, ...], Mesh] = {}
        spacing = _Spacing(content.scene.graph)

        def part(key: str, shape: Mesh | None, reason: str = "", **values: Any) -> AssemblyPart:
            steps = _upwards(key, parents)
            path = (*start, *(str(labels.get(step, step)) for step in reversed(steps) if step != base))
            if key == self.path.stem and key not in parents:  # what has no name of its own is called as its file is
                path = (prefix,)
            name = "/".join(path)
            return AssemblyPart(name, str(self.path), shape, reason, path=path, guid=guids.get(key, ""), **values)

        parts = []
        for key, geometries in pieces.items():
            try:
                shape, row, slack = self._place(labels.get(key, key), geometries, once)
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
        elif content.kind.process_reader == "STEP":  # a product may have several solids
            notes += _several(parts)
        if marks := len(drawn) - len(pieces):
            notes.append(f"left out {count(marks, 'mark')} of findings, drawn by gjk3d clash")
        self.notes = [f"{self.path}: {note}" for note in notes]
        parts += [part(key, None, f"has no triangles: {what}") for key, what in others.items()]
        return parts if content.drawn in (None, self.unit) else self._drawn(parts, content.drawn)

    def _split(self, parts: list[AssemblyPart]) -> list[AssemblyPart]:
        """Return each solid of a part of several as a part, named by its number."""
        made = []
        for part, bodies in zip(parts, _solids(parts), strict=True):
            if len(bodies) < 2:
                made.append(part)
                continue
            for k, body in enumerate(bodies, 1):
                path, shape = (*part.path, str(k)), self._shapes.one(body)
                made.append(replace(part, name=f"{part.name}/{k}", path=path, shape=shape))
        return made

    def _faceted(self, parts: list[AssemblyPart]) -> list[str]:
        """Return what is to be said of curved faces that were read as triangles."""
        error = max((each.facets for each in parts), default=0.0)
        if not error:
            return []
        unit, factor = reading(self.unit, 0.0)
        said = with_unit(number(error * factor, 3), unit)
        return [f"curved faces are read as triangles, up to {said} off: what is no nearer is told as touching"]

    def _drawn(self, parts: list[AssemblyPart], unit: str) -> list[AssemblyPart]:
        """Return parts in the unit that the file was drawn in, not the one that its reader gives all in."""
        factor = conversion(str(self.unit), unit)
        assert factor is not None
        self.unit, scaled = unit, Scaled(unit)
        return [scaled.part(each, factor) for each in parts]

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


def _solids(parts: list[AssemblyPart]) -> list[list[Mesh]]:
    """Return the solids of each part, found once for parts of one shape."""
    shapes = {id(part.shape): part.shape for part in parts}
    bodies = {key: [] if shape is None else solids(shape) for key, shape in shapes.items()}
    return [bodies[id(part.shape)] for part in parts]


def _several(parts: list[AssemblyPart]) -> list[str]:
    """Return the note that names parts of several solids, and how many these are."""
    counts = [(part.name, len(bodies)) for part, bodies in zip(parts, _solids(parts), strict=True) if len(bodies) > 1]
    if not counts:
        return []
    named = ", ".join(f"{name} ({many})" for name, many in sorted(counts, key=lambda item: order(item[0]))[:5])
    more = f" and {len(counts) - 5} more" if len(counts) > 5 else ""
    cure = "--bodies (bodies=True in Python) makes each a part"
    return [f"parts of several bodies, not checked against each other: {named}{more}; {cure}"]


class _Spacing:
    """How finely a file places the vertices of its parts: by their own numbers, and by those of nodes above them."""

    def __init__(self, graph: Any) -> None:
        edges = {child: data["matrix"] for (_, child), data in graph.transforms.edge_data.items() if "matrix" in data}
        self._nodes = dict(zip(edges, _placing(np.array(list(edges.values())).reshape(-1, 4, 4)), strict=True))
        self._parents = graph.transforms.parents
        self._points: dict[int, tuple[float, float]] = {}

    def of(self, key: str, pieces: list[tuple[Any, Any]]) -> float:
        """Return the spacing of a part by its node, in the frame of the whole."""
        spacing, reach = self._of_points(pieces[0][0])
        for geometry, _ in pieces[1:]:
            spacing, reach = map(max, (spacing, reach), self._of_points(geometry))
        known = key in self._parents
        steps = _upwards(key, self._parents) if known else [""]
        nodes = self._nodes if known else dict(zip(steps, _placing(pieces[0][1][None]), strict=True))
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
    """Return how much matrices stretch and shift, and the spacings of the numbers of their axes and of their shifts."""
    axes, shifts = matrices[:, :3, :3], matrices[:, :3, 3]
    table = np.column_stack(
        [stretch(axes), np.abs(shifts).max(axis=1, initial=0.0), spacings(axes.reshape(-1, 9)), spacings(shifts)]
    )
    return list(map(tuple, table.tolist()))


def _upwards(key: str, parents: Mapping[str, str]) -> list[str]:
    """Return a node and those above it."""
    steps = [key]
    while steps[-1] in parents and len(steps) <= len(parents):
        steps.append(parents[steps[-1]])
    return steps


def _is_mark(pieces: list[tuple[Any, Any]]) -> bool:
    return all(MARK.items() <= geometry.metadata.items() for geometry, _ in pieces)


def _colour(pieces: list[tuple[Any, Any]]) -> Colour | None:
    """Return the colour of the most surface of a part."""
    areas: dict[Colour | None, float] = {}
    for geometry, _ in pieces:
        colour = geometry.metadata.get("colour")
        areas[colour] = areas.get(colour, 0.0) + (float(geometry.area) if len(pieces) > 1 else 1.0)
    return max(areas, key=lambda colour: areas[colour])


def named_files(paths: Sequence[_Path]) -> list[tuple[str, Path]]:
    """Return each file once with the name it gives to its parts, in the order of those names."""
    if not paths:
        raise FileError("no file: name one or more models, or a folder of them")
    files: dict[Path, tuple[str, Path]] = {}
    for given in paths:
        if not os.fspath(given):
            raise FileError("a name is empty: name a file or a folder ('.' is this one)")
        path = Path(given)
        if not os.path.isdir(path):
            found = [(path.stem, path)]
            model_files.existing(path)
        else:
            found = [(str(file.relative_to(path).with_suffix("")), file) for file in _below(path, model_files.FORMATS)]
            if not found:
                raise FileError(f"{path} holds no model: {' '.join(model_files.FORMATS)} are read")
        for name, file in found:
            files.setdefault(Path(os.path.realpath(file)), (Path(name).as_posix(), file))
    return sorted(files.values(), key=lambda entry: (order(entry[0]), str(entry[1])))


def unread(paths: Sequence[_Path]) -> list[str]:
    """Say which models in the folders are of no format that is read."""
    notes = []
    for folder in (Path(path) for path in paths if os.path.isdir(path)):
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
        return os.path.isdir(path) and any(path.iterdir())
    except OSError:  # no permission: to be told
        return False


def sha256(path: Path) -> str | None:
    """Return the hash of a file, by which a reader knows that it is the same one; None if it cannot be read."""
    if not os.path.isfile(path):  # to open a pipe is to wait for who writes to it
        return None
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
