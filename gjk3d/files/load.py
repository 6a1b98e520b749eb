"""Reading model files: trimesh parses, this file checks, bakes the transforms and names the parts."""

from __future__ import annotations

import contextlib
import difflib
import importlib.util
import io
import logging
import os
import re
import tempfile
import threading
import urllib.parse
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.mesh import Mesh, Part
from gjk3d.bodies.surface import corner_rounding, stretch
from gjk3d.errors import FileError, ParseError, ShapeError
from gjk3d.files import collada, gltf, headers, nodes, obj, process, stl_ply_off, threemf
from gjk3d.files.nodes import colour_gltf, colour_obj
from gjk3d.files.obj import unfolded
from gjk3d.files.step import unit_of
from gjk3d.typing import Array
from gjk3d.units import check_unit

#: Bytes of the largest file that is read.
MAX_BYTES = 4 << 30

_quiet_lock = threading.Lock()


_STILL = np.eye(4)
#: Name of a part: its geometries, each with its transform; several for several materials.
Pieces = dict[str, list[tuple[Any, Any]]]


class _Format(NamedTuple):
    check: Callable[[bytes], tuple[bytes, int]]
    reader: str  #: trimesh's name of the format, or `ARRAYS` or `ARCHIVE`
    unit: str | None = None
    needs: tuple[str, ...] = ()
    extra: str = "io"
    process_reader: str = ""  #: the reader of `gjk3d.files.process` that has the file first
    drawn: Callable[[bytes], str | None] = lambda data: None  #: the unit that was drawn in, where the reader's differs
    states: Callable[[bytes], bool] = lambda data: False  #: whether the file itself states its unit
    faceted: bool = False  #: whether the reader tells of its triangles how far they may be from curved faces


ARRAYS, ARCHIVE = "arrays", "archive"  #: what readers in a process of their own give back; a zip of other files

_STEP = _Format(gltf.check_glb, "glb", "meters", ("cascadio",), process_reader="STEP", drawn=unit_of, faceted=True)
#: Every extension that `load` reads. STEP is converted to GLB, which is in metres. Collada is scaled to metres.
FORMATS = {
    ".stl": _Format(stl_ply_off.check_stl, "stl"),
    ".obj": _Format(obj.check_obj, "obj"),
    ".ply": _Format(stl_ply_off.check_ply, "ply"),
    ".off": _Format(stl_ply_off.check_off, "off"),
    ".glb": _Format(gltf.check_glb, "glb", "meters"),
    ".gltf": _Format(gltf.check_gltf, "gltf", "meters"),
    ".3mf": _Format(headers.check_3mf, "3mf", None, ("lxml",), states=lambda data: True),
    ".dae": _Format(
        collada.check_dae,
        "dae",
        "meters",
        ("collada",),
        "robot",
        states=lambda data: collada.meters(data) is not None,
    ),
    ".step": _STEP,
    ".stp": _STEP,
    ".3dxml": _Format(headers.unchecked, ARRAYS, "millimeters", ("lxml", "networkx"), process_reader="3DXML"),
    ".xaml": _Format(headers.unchecked, ARRAYS, "meters", ("lxml",), process_reader="XAML"),
    ".ifc": _Format(
        headers.unchecked,
        ARRAYS,
        "meters",
        ("ifcopenshell",),
        "ifc",
        process_reader="IFC",
        states=lambda data: b".LENGTHUNIT." in data,
    ),
    ".vtk": _Format(headers.unchecked, ARRAYS, process_reader="VTK"),
    ".vtp": _Format(headers.unchecked, ARRAYS, process_reader="VTK"),
    ".zae": _Format(headers.check_zip, ARCHIVE, "meters", ("collada",), "robot"),
    ".zip": _Format(headers.check_zip, ARCHIVE),
}


def load(path: str | os.PathLike[str], *, part: str | None = None, unit: str | None = None) -> Mesh:
    """Load a model file.

    STL, OBJ, PLY, OFF, GLB, glTF, VTK's ``.vtp`` and ``.vtk``; 3MF, STEP, 3DXML and XAML with ``gjk3d[io]``, IFC with
    ``gjk3d[ifc]``, Collada with ``gjk3d[robot]``; a ``.zip`` of any of these, all its models joined. Every transform of
    the file is baked into the vertices, scale and mirroring included. Nothing is fetched, and a glTF reads its buffers
    from its own folder only.

    Parameters
    ----------
    path : str or path
        The file; its extension says what it is, in upper or lower case.
    part : str, optional
        The name of the one part to return.
    unit : str, optional
        What unit the numbers of the file are in, whatever it or its format says; no number is changed.

    Returns
    -------
    Mesh
        All parts joined; ``.parts`` has them one by one, in the order of their names, ``.unit`` the unit of length
        where the format has one (STEP comes in meters, curved faces as triangles about 0.01 mm off; IFC in meters, its
        elements without what openings cut out, curved faces within 1 mm; of VTK's volumes the surface is taken).

    Raises
    ------
    FileError
        There is no such file, or it is a folder.
    ParseError
        The file is damaged, holds no triangles, is of an unknown format, or has no part of that name; or ``unit`` is
        no unit of length. A file that has many more parts, or places many more copies, than its size lets expect is
        refused as well; the message has the limit.
    ImportError
        An optional reader is not installed; the message has the pip line.

    Examples
    --------
    >>> import gjk3d as gk
    >>> from pyvista import examples  # models that come with it
    >>> plane = gk.load(examples.planefile)
    >>> len(plane.faces), plane.is_watertight
    (2452, False)
    """
    if unit is not None:
        check_unit(unit)
    content = read(path)
    with _blamed_on(content.file, content.kind):
        mesh = _mesh(content, unit or content.unit)
    return mesh if part is None else _selected(mesh, part)


class Content(NamedTuple):
    """The output of a reader for a file, before its transforms are applied."""

    file: Path
    kind: _Format
    size: int  #: in bytes
    scene: Any  #: trimesh's
    promised: int  #: faces that the header counts
    unit: str | None  #: of length, where the format has one
    drawn: str | None = None  #: the unit that the file was drawn in, where the reader brought it to another
    stated: bool = False  #: whether the file itself states its unit, and not its format alone


def read(path: str | os.PathLike[str]) -> Content:
    """Read and check a file; it raises what `load` raises."""
    file = existing(path)
    kind = _format(file)
    size = file.stat().st_size
    if size == 0:
        raise ParseError(f"{file} is empty: it has 0 triangles (0 bytes)")
    if size > MAX_BYTES:
        raise ParseError(f"{file} has {size} bytes, more than the {MAX_BYTES} that are read: split it")
    try:
        data = file.read_bytes()
    except OSError as error:
        raise FileError(f"{file} cannot be read: {error.strerror or error}") from error
    with _blamed_on(file, kind):
        drawn = kind.drawn(data)
        content = process.converted(file, kind.process_reader) if kind.process_reader else data
        content, promised = kind.check(content)
        stated = drawn is not None or kind.states(data)
        if kind.reader == ARCHIVE:
            return _unpacked(Content(file, kind, size, None, 0, None), content)
        scene = _read(content, kind.reader, file.parent)
        if kind.reader in ("obj", "ply", "off") or (kind.reader == "dae" and b"<poly" in content):
            _unfold(scene, promised)
    if not kind.faceted:  # only our own readers are believed, not extras of a GLB
        for geometry in scene.geometry.values():
            geometry.metadata.pop("facets", None)
    if not kind.process_reader:
        for key in ("labels", "guids", "notes"):
            scene.metadata.pop(key, None)
    unit = kind.unit or (_unit(scene) if kind.reader == "3mf" else None)
    return Content(file, kind, size, scene, promised, unit, drawn, stated)


def states_unit(file: Path | None) -> bool:
    """Return whether a model file itself states its unit, and not its format alone."""
    if file is None:
        return False
    kind, data = _format(file), file.read_bytes()
    return kind.drawn(data) is not None or kind.states(data)


def facets_of(geometry: Any) -> float:
    """Return the greatest distance of a geometry's triangles from its curved faces, in its unit."""
    return float(geometry.metadata.get("facets", 0.0))


def _unpacked(archive: Content, data: bytes) -> Content:
    """Return all models of an archive as one; nested archives are skipped."""
    import trimesh

    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            headers.refuse_parts(sum(map(_is_model, map(Path, packed.namelist()))), len(data))
            packed.extractall(folder)  # which keeps within the folder, whatever the names say
        root = Path(folder)
        contents = []
        for file in sorted(path for path in root.rglob("*") if path.is_file() and _is_model(path.relative_to(root))):
            try:
                contents.append((file.relative_to(root), read(file)))
            except (FileError, ParseError) as error:
                raise headers.HeaderError(str(error).replace(f"{root}{os.sep}", "")) from None
    if not contents:
        raise headers.HeaderError(f"holds no model in it: {' '.join(FORMATS)} are read, but no archive in another")
    units = {content.unit for _, content in contents}
    if len(units) > 1:
        listing = ", ".join(f"{name.as_posix()} {content.unit or 'none'}" for name, content in contents[:8])
        raise headers.HeaderError(f"its models are in several units ({listing}): unpack it and load them one by one")
    promised = sum(content.promised for _, content in contents)
    drawn = {content.drawn for _, content in contents}
    archive = archive._replace(
        promised=promised, unit=units.pop(), drawn=drawn.pop() if len(drawn) == 1 else None,
        stated=all(content.stated for _, content in contents),
    )  # fmt: skip
    if len(contents) == 1:
        return archive._replace(scene=contents[0][1].scene)
    scene = trimesh.Scene(
        metadata={"notes": [n for _, content in contents for n in content.scene.metadata.get("notes", [])]}
    )
    for name, content in contents:
        for node, matrix, geometry in _placed(content.scene.graph):
            mesh = content.scene.geometry[geometry]
            part_name = _part_name(content.scene, node, mesh, content.file)
            scene.add_geometry(mesh, node_name=f"{name.with_suffix('').as_posix()}/{part_name}", transform=matrix)
    return archive._replace(scene=scene)


def _is_model(path: Path) -> bool:
    """Return whether a file of an archive is a model; the companion files of macOS are not."""
    kind = FORMATS.get(path.suffix.lower())
    return (
        kind is not None and kind.reader != ARCHIVE and not path.name.startswith(".") and "__MACOSX" not in path.parts
    )


def read_pieces(path: str | os.PathLike[str]) -> tuple[Content, Pieces, dict[str, str]]:
    """Read a file and sort its content into parts with `read` and `pieces_of`; errors name the file."""
    content = read(path)
    with _blamed_on(content.file, content.kind):
        pieces, omitted = pieces_of(content)
    return content, pieces, omitted


@contextlib.contextmanager
def _blamed_on(file: Path, kind: _Format) -> Iterator[None]:
    try:
        with np.errstate(all="ignore"):  # numbers that overflow are refused, and need no warning of numpy
            yield
    except (headers.HeaderError, ShapeError) as error:
        raise ParseError(f"{file}: {error}") from None
    except Exception as error:  # whatever a reader dies of, MemoryError and RecursionError too, the file is at fault
        raise ParseError(f"{file} cannot be read as {kind.reader.upper()}: {_first_line(error)}") from error


def existing(path: str | os.PathLike[str]) -> Path:
    """Return the path of an existing file; FileError describes any other path."""
    try:
        file = Path(path)
    except TypeError:
        raise TypeError(f"load takes the path of a file, got {type(path).__name__}") from None
    if path == "":
        raise FileError("'' names no file, expected a path")
    try:
        if file.is_file():
            return file
        if file.is_dir():
            raise FileError(f"{file} is a folder: name a file in it")
        if file.exists():
            raise FileError(f"{file} is no regular file")
        if file.is_symlink():
            raise FileError(f"{file} is a link to {os.readlink(file)}, and no file is there")
        folder = [entry.name for entry in file.parent.iterdir()] if file.parent.is_dir() else []
    except (OSError, ValueError) as error:  # no permission, a name too long, a NUL in it
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path!r} cannot be read: {error}") from error
    file_part, mark, part = str(file).partition("#")
    if mark and Path(file_part).is_file():
        raise FileError(f"there is no file {file}: a part is named by load({file_part!r}, part={part!r})")
    near = difflib.get_close_matches(file.name, folder, n=3)
    hint = f": did you mean {' or '.join(near)}?" if near else "; only files on this machine are read"
    raise FileError(f"there is no file {file}{hint}")


def _format(file: Path) -> _Format:
    kind = FORMATS.get(file.suffix.lower())
    if kind is None:
        extensions = " ".join(FORMATS)
        raise ParseError(
            f"{file} has the unknown extension {file.suffix!r}: {extensions} are read; convert it to one of these"
        )
    missing = [name for name in kind.needs if importlib.util.find_spec(name) is None]
    if missing:
        needs = " and ".join(missing)
        raise ImportError(
            f'reading {file.suffix} files needs {needs}, not installed: pip install "gjk3d[{kind.extra}]"'
        )
    return kind


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    summary = f"{type(error).__name__}{': ' + lines[0][:200] if lines else ''}"
    if isinstance(error, StopIteration | LookupError):  # a reader looked for something
        return f"it lacks something that it refers to ({summary}): damaged"
    return summary


class _FolderResolver:
    """Resolver of the files that a glTF names: only in the folder of the file, never the network."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def get(self, name: str) -> bytes:
        wanted = (self.folder / urllib.parse.unquote(name)).resolve()
        if not wanted.is_relative_to(self.folder) or not os.path.isfile(wanted):
            raise headers.HeaderError(f"names {name[:80]!r}, which is no file in its folder")
        return wanted.read_bytes()

    __getitem__ = get


def _read(data: bytes, reader: str, folder: Path) -> Any:
    if reader == ARRAYS:
        return nodes.scene_of(data)
    if reader == "3mf":
        return threemf.scene_of(data)
    import trimesh

    options: dict[str, Any] = {"process": False}
    if reader in ("obj", "ply", "glb", "gltf"):
        options["skip_materials"] = True
    if reader == "obj":
        options |= {"split_objects": True, "group_material": False}
    with _quiet():
        scene = trimesh.load_scene(io.BytesIO(data), file_type=reader, resolver=_FolderResolver(folder), **options)
    if reader in ("glb", "gltf"):
        colour_gltf(scene, data)
    elif reader == "obj":
        colour_obj(scene, data, _FolderResolver(folder).get)
    if reader == "dae":  # axes stay as they are in the file, as in glTF, and as robots have them
        scaling = np.diag([*[collada.meters(data) or 1.0] * 3, 1.0])
        for node, place, _ in list(_placed(scene.graph)):  # scene.apply_transform hashes all nodes for each node
            scene.graph.transforms.edge_data[scene.graph.base_frame, node]["matrix"] = np.dot(scaling, place)
    return scene


def _unfold(scene: Any, promised: int) -> None:
    """Triangulate polygons again that trimesh splits as if all were convex; files of triangles only have none."""
    import trimesh

    meshes = [mesh for mesh in scene.geometry.values() if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces)]
    if sum(len(mesh.faces) for mesh in meshes) <= promised:
        return
    for mesh in meshes:
        faces = np.asarray(mesh.faces, np.int64)
        anew = unfolded(np.asarray(mesh.vertices, np.float64), faces)
        if anew is not faces:
            mesh.faces = anew


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence trimesh's log, and turn numpy's warning about text that is no number into an error."""
    log = logging.getLogger("trimesh")
    with _quiet_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", message="string or file could not be read to its end")
        level = log.level
        log.setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            log.setLevel(level)


def pieces_of(content: Content) -> tuple[Pieces, dict[str, str]]:
    """Return the parts of a file by name, and its other nodes with their types.

    A file with fewer triangles than it declares, with none, or with too many raises an error.
    """
    import trimesh

    scene, file = content.scene, content.file
    pieces: Pieces = {}
    omitted: dict[str, str] = {}
    total = 0
    for node, matrix, name in _placed(scene.graph):
        geometry = scene.geometry[name]
        if not isinstance(geometry, trimesh.Trimesh):
            omitted[str(node)] = type(geometry).__name__
        elif not len(geometry.faces):
            omitted[str(node)] = geometry.metadata.get("reason", "mesh without triangles")
        else:
            total += len(geometry.faces)
            headers.refuse_copies(0, total, content.size)
            pieces.setdefault(_part_name(scene, node, geometry, file), []).append((geometry, matrix))
    if total == 0:
        count = Counter(omitted.values())
        summary = ", ".join(f"{number} {name}" for name, number in count.items()) or "nothing to draw"
        raise headers.HeaderError(f"has 0 triangles ({content.size} bytes; {summary}): a mesh of triangles is needed")
    if total < content.promised:
        raise headers.HeaderError(
            f"promises {content.promised} faces, {total} triangles were read: truncated or damaged"
        )
    return pieces, omitted


def _placed(graph: Any) -> Iterator[tuple[Any, Array, str]]:
    """Yield each node with a geometry, its transform, and the name of the geometry.

    The transforms have the bits of trimesh's `get`, whose time grows with the third power of the depth.
    """
    from trimesh.transformations import fix_rigid

    parents, edges = graph.transforms.parents, graph.transforms.edge_data
    moves: dict[Any, Array | None] = {graph.base_frame: None}  # None if a node does not move what is below it
    for node in graph.nodes_geometry:
        path = [node]
        while path[-1] != graph.base_frame:
            path.append(parents[path[-1]])
        for below, above in pairwise(path):
            if below not in moves:
                matrix = edges[above, below].get("matrix", _STILL)
                moves[below] = matrix if np.abs(matrix - _STILL).max() > 1e-8 else None
        matrices = [matrix for step in path if (matrix := moves[step]) is not None]
        if len(path) == 2:
            matrices = [edges[path[1], node]["matrix"]]
        place = reduce(lambda product, above: np.dot(above, product), matrices) if matrices else _STILL
        if graph.repair_rigid is not None:
            place = fix_rigid(place, max_deviance=graph.repair_rigid)
        yield node, place, graph.transforms.node_data[node]["geometry"]


def _mesh(content: Content, unit: str | None) -> Mesh:
    pieces, _ = pieces_of(content)
    file = content.file
    parts = [joined(name, pieces[name], unit, file) for name in sorted(pieces, key=natural)]
    if len(parts) == 1:
        only = parts[0]
        return only.mesh._like(only.mesh.vertices, only.mesh.faces, parts=parts, source=file)
    starts = np.cumsum([0] + [len(part.mesh.vertices) for part in parts])
    return Mesh._of(
        np.concatenate([part.mesh.vertices for part in parts]),
        np.concatenate([part.mesh.faces + start for part, start in zip(parts, starts[:-1], strict=True)]),
        name=file.stem,
        unit=unit,
        parts=parts,
        source=file,
        rounding=max(part.mesh._spread for part in parts),
    )


def _part_name(scene: Any, node: Any, geometry: Any, file: Path) -> str:
    if geometry.metadata.get("from_gltf_primitive") is True:
        # a glTF mesh of several materials comes as one node each, randomly named, below the node with the name
        node = scene.graph.transforms.parents.get(node, node)
    elif re.fullmatch(r"geometry(_\d+)?", str(node)) and len(scene.graph.nodes_geometry) == 1:
        return file.stem  # trimesh's own name for what has none
    return str(node)


def joined(name: str, pieces: list[tuple[Any, Any]], unit: str | None, file: Path) -> Part:
    """Return one part in the frame of the whole; ShapeError if its numbers are not a mesh."""
    vertices, faces, start, rounding = [], [], 0, 0.0
    for geometry, matrix in pieces:
        points, triangles = np.asarray(geometry.vertices, np.float64), np.asarray(geometry.faces, np.int64)
        if triangles.size and not (triangles.min() >= 0 and triangles.max() < len(points)):
            Mesh(points, triangles)  # names the bad face, before joining shifts the numbers
        rounding = max(rounding, corner_rounding(points) * float(stretch(matrix[:3, :3])))
        if not np.array_equal(matrix, np.eye(4)):
            points = points @ matrix[:3, :3].T + matrix[:3, 3]
            if np.linalg.det(matrix[:3, :3]) < 0.0:
                triangles = triangles[:, ::-1]  # a mirrored part would be inside out
        vertices.append(points)
        faces.append(triangles + start)
        start += len(points)
    try:
        points, triangles = np.concatenate(vertices), np.concatenate(faces)
        mesh = Mesh._of(points, triangles, name=name, unit=unit, source=file, rounding=rounding)
    except ShapeError as error:
        raise ShapeError(f"part {name!r}: {error}") from None
    return Part(name, mesh)


def _unit(scene: Any) -> str | None:
    units = scene.units
    return units[:40] if isinstance(units, str) else None


def natural(name: str) -> list[str | int]:
    """Return a sort key with 'bolt 2' before 'bolt 10', and capitals next to their small letters."""
    words: list[str | int] = [*re.split(r"(\d+)", name.lower())]  # every other one is a number
    words[1::2] = map(int, words[1::2])
    return words


def _selected(mesh: Mesh, name: str) -> Mesh:
    for part in mesh.parts:
        if part.name == name:
            return part.mesh
    names = [part.name for part in mesh.parts]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    shown = ", ".join(map(repr, names[:12])) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    hint = f": did you mean {' or '.join(map(repr, near))}?" if near else "."
    raise ParseError(f"{mesh.source} has no part {name!r}{hint} It has {shown}")
