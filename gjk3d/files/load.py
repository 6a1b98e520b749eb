"""Reading of model files.

A file is checked, and then parsed by trimesh or by a reader in a separate process. This module applies the transforms
of its nodes, and names its parts.
"""

from __future__ import annotations

import contextlib
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
from gjk3d.bodies.topology import corner_rounding, stretch
from gjk3d.errors import FileError, ParseError, ShapeError
from gjk3d.files import gltf, obj, readers, stl_ply_off, threemf
from gjk3d.files.step_ifc import unit_of
from gjk3d.typing import Array
from gjk3d.units import check_unit
from gjk3d.wording import cut, expected_names, kind_of, nearest

MAX_BYTES = 4 << 30  #: greatest size of a file

_quiet_lock = threading.Lock()
_STILL = np.eye(4)
#: For the name of each part, its geometries and their transforms. A part with several materials has several geometries.
Pieces = dict[str, list[tuple[Any, Any]]]


class _Format(NamedTuple):
    check: Callable[[bytes], tuple[bytes, int]]  #: the check of the file or of the output of ``process_reader``
    reader: str  #: the name of the format in trimesh, or `ARRAYS` or `ARCHIVE`
    unit: str | None = None  #: the unit of the numbers that the reader returns
    needs: tuple[str, ...] = ()  #: optional packages that the reader imports
    extra: str = "io"  #: the extra of gjk3d that installs these packages
    process_reader: str = ""  #: the reader of `gjk3d.files.process` that converts the file first
    drawn: Callable[[bytes], str | None] = lambda data: None  #: the unit in the file, if the reader converts it
    states: Callable[[bytes], bool] = lambda data: False  #: whether the file itself states its unit


ARRAYS, ARCHIVE = "arrays", "archive"  #: the output of a reader in a separate process, and a zip archive of models

_STEP = _Format(gltf.check_glb, "glb", "meters", ("cascadio",), process_reader="STEP", drawn=unit_of)
#: All extensions that `load` reads. STEP is converted to GLB, which is in metres. Collada is scaled to metres.
FORMATS = {
    ".stl": _Format(stl_ply_off.check_stl, "stl"),
    ".obj": _Format(obj.check_obj, "obj"),
    ".ply": _Format(stl_ply_off.check_ply, "ply"),
    ".off": _Format(stl_ply_off.check_off, "off"),
    ".glb": _Format(gltf.check_glb, "glb", "meters"),
    ".gltf": _Format(gltf.check_gltf, "gltf", "meters"),
    ".3mf": _Format(threemf.check_3mf, "3mf", None, ("lxml",), states=lambda data: True),
    ".dae": _Format(
        readers.check_dae, "dae", "meters", ("collada",), "robot",
        states=lambda data: readers.meters(data) is not None,
    ),
    ".step": _STEP,
    ".stp": _STEP,
    ".3dxml": _Format(readers.unchecked, ARRAYS, "millimeters", ("lxml", "networkx"), process_reader="3DXML"),
    ".xaml": _Format(readers.unchecked, ARRAYS, "meters", ("lxml",), process_reader="XAML"),
    ".ifc": _Format(
        readers.unchecked, ARRAYS, "meters", ("ifcopenshell",), "ifc", process_reader="IFC",
        states=lambda data: b".LENGTHUNIT." in data,
    ),
    ".vtk": _Format(readers.unchecked, ARRAYS, process_reader="VTK"),
    ".vtp": _Format(readers.unchecked, ARRAYS, process_reader="VTK"),
    ".zae": _Format(readers.check_zip, ARCHIVE, "meters", ("collada",), "robot"),
    ".zip": _Format(readers.check_zip, ARCHIVE),
}  # fmt: skip


def load(path: str | os.PathLike[str], *, part: str | None = None, unit: str | None = None) -> Mesh:
    """Return the mesh in a model file.

    The formats are STL, OBJ, PLY, OFF, GLB, glTF, and ``.vtp`` and ``.vtk`` of VTK. 3MF, STEP, 3DXML and XAML need
    ``gjk3d[io]``, IFC needs ``gjk3d[ifc]``, and Collada needs ``gjk3d[robot]``. All models of a ``.zip`` archive are
    returned as one mesh. All transforms in the file are applied to the vertices, including scale and reflection. The
    network is never used, and the buffers of a glTF are only read from its folder.

    Parameters
    ----------
    path : str or path
        The file. Its extension, in upper or lower case, selects the format.
    part : str, optional
        The name of the part to return. The default returns all parts.
    unit : str, optional
        The unit of the numbers. It replaces the unit of the file or of its format, and no number is converted.

    Returns
    -------
    Mesh
        The union of all parts. ``.parts`` has the parts in the order of their names, and ``.unit`` is the unit of
        length, or None if neither the file nor its format states one. STEP is read in meters, with an error of about
        0.01 mm on curved faces. IFC is read in meters, with openings cut out of its elements and an error of up to
        1 mm on curved faces. A volume of VTK is replaced by its surface.

    Raises
    ------
    FileError
        If the file does not exist, or is a folder.
    ParseError
        If the file is damaged, has an unknown format, or does not contain triangles or the part. Also if it has too
        many parts or copies for its size, or if ``unit`` is not a unit of length.
    ImportError
        If an optional reader is not installed. The message contains the pip command.

    Examples
    --------
    >>> import gjk3d as gk
    >>> from pyvista import examples  # models in the pyvista package
    >>> plane = gk.load(examples.planefile)
    >>> len(plane.faces), plane.is_watertight
    (2452, False)
    """
    if unit is not None:
        check_unit(unit)
    content = read(path)
    with _blamed_on(content.file, content.kind):
        mesh = _mesh(content, unit or content.unit)
    if part is None:
        return mesh
    for each in mesh.parts:
        if each.name == part:
            return each.mesh
    known = expected_names(part, (each.name for each in mesh.parts), 0.4)
    raise ParseError(f"{mesh.source} does not contain the part {part!r}, {known}")


class Content(NamedTuple):
    """The content of a model file, before the transforms of its nodes are applied."""

    file: Path
    kind: _Format
    size: int  #: size of the file in bytes
    scene: Any  #: the model as a trimesh scene
    promised: int  #: the number of faces that the header declares, 0 if it declares none
    unit: str | None  #: the unit of the numbers, None if neither the file nor its format states one
    drawn: str | None = None  #: the unit in the file, if the reader converted the numbers to another unit
    stated: bool = False  #: whether the file itself states its unit


def read(path: str | os.PathLike[str]) -> Content:
    """Return the checked content of a model file. Errors are those of `load`."""
    file = existing(path)
    kind = _format(file)
    size = file.stat().st_size
    if size == 0:
        raise ParseError(f"{file} has 0 triangles, because it is empty (0 bytes). {_EXPORT}")
    if size > MAX_BYTES:
        raise ParseError(f"{file} has {size} bytes, expected at most {MAX_BYTES}. Split the file.")
    try:
        data = file.read_bytes()
    except OSError as error:
        raise FileError(
            f"{file} cannot be read: {error.strerror or error}. Change its permissions, or copy it."
        ) from error
    with _blamed_on(file, kind):
        drawn = kind.drawn(data)
        content = data
        if reader := kind.process_reader:
            from gjk3d.files import process  # only some formats need it

            content = process.converted(file, reader, alone=reader in process.ALONE)
        content, promised = kind.check(content)
        stated = drawn is not None or kind.states(data)
        if kind.reader == ARCHIVE:
            return _unpacked(Content(file, kind, size, None, 0, None), content)
        scene = _read(content, kind.reader, file.parent)
        if kind.reader in ("obj", "ply", "off") or (kind.reader == "dae" and b"<poly" in content):
            _unfold(scene, promised)
    if not kind.process_reader:  # this metadata is only trusted from the readers of gjk3d, not from a GLB
        for geometry in scene.geometry.values():
            geometry.metadata.pop("facets", None)
        for key in ("labels", "guids", "notes"):
            scene.metadata.pop(key, None)
    unit = kind.unit or (scene.units if kind.reader == "3mf" else None)
    return Content(file, kind, size, scene, promised, unit, drawn, stated)


def states_unit(file: Path | None) -> bool:
    """Return whether a model file itself states its unit. A unit of the format does not count."""
    if file is None:
        return False
    kind, data = _format(file), file.read_bytes()
    return kind.drawn(data) is not None or kind.states(data)


def facets_of(geometry: Any) -> float:
    """Return an upper bound of the distance of a geometry's triangles from its curved faces, in the geometry's unit."""
    return float(geometry.metadata.get("facets", 0.0))


def _unpacked(archive: Content, data: bytes) -> Content:
    """Return one content for all models in the zip archive ``data``. Archives in the archive are skipped."""
    import trimesh

    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            readers.refuse_parts(sum(map(_is_model, map(Path, packed.namelist()))), len(data))
            packed.extractall(folder)  # zipfile writes only in the folder, for any names
        root = Path(folder)
        contents = []
        for file in sorted(path for path in root.rglob("*") if path.is_file() and _is_model(path.relative_to(root))):
            try:
                contents.append((file.relative_to(root), read(file)))
            except (FileError, ParseError) as error:
                raise readers.HeaderError(str(error).replace(f"{root}{os.sep}", "")) from None
    if not contents:
        raise readers.HeaderError(
            f"contains no model in one of the formats {' '.join(FORMATS)}. Archives in it are not read, so unpack them."
        )
    units = {content.unit for _, content in contents}
    if len(units) > 1:
        listing = ", ".join(f"{name.as_posix()} {content.unit or 'none'}" for name, content in contents[:8])
        raise readers.HeaderError(f"its models have different units ({listing}). Unpack it and load each model.")
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
    kind = FORMATS.get(path.suffix.lower())
    return (
        kind is not None and kind.reader != ARCHIVE and not path.name.startswith(".") and "__MACOSX" not in path.parts
    )


def read_pieces(path: str | os.PathLike[str]) -> tuple[Content, Pieces, dict[str, str]]:
    """Return the content of a file, its parts and its omitted nodes, see `pieces_of`. Errors are those of `load`."""
    content = read(path)
    with _blamed_on(content.file, content.kind):
        pieces, omitted = pieces_of(content)
    return content, pieces, omitted


_EXPORT = "Export the file again."
#: the start of an error text whose subject is the file: the name of the file precedes it without a colon
_PREDICATE = re.compile(r"(?:is|has|lacks|contains|does|requires|refers|places|nests|unpacks|names)\b")
_CURED = re.compile(r"\. [A-Z]|\.$")  #: an error text that already contains a cure, as its second sentence


@contextlib.contextmanager
def _blamed_on(file: Path, kind: _Format) -> Iterator[None]:
    try:
        with np.errstate(all="ignore"):  # `Mesh` raises an error for numbers that overflow
            yield
    except (readers.HeaderError, ShapeError) as error:
        fault = str(error)
        place = f"{file} " if _PREDICATE.match(fault) else f"{file}: "
        raise ParseError(place + fault + ("" if _CURED.search(fault) else f". {_EXPORT}")) from None
    except Exception as error:  # a reader may raise any error for a damaged file, even a MemoryError
        lines = str(error).strip().splitlines()
        summary = f"{type(error).__name__}{': ' + lines[0][:200] if lines else ''}"
        if isinstance(error, StopIteration | LookupError):  # a reader did not find an element
            summary = f"a referenced element is missing ({summary}), so the file is damaged"
        raise ParseError(f"{file} cannot be read as {kind.reader.upper()}: {summary.rstrip('.')}. {_EXPORT}") from error


def existing(path: str | os.PathLike[str]) -> Path:
    """Return the path of an existing file. Raise a FileError for any other path."""
    try:
        file = Path(path)
    except TypeError:
        raise TypeError(f"load needs the path of a file, not {kind_of(path)}") from None
    if path == "":
        raise FileError("the path is '', expected the path of a file. Name a model.")
    try:
        if file.is_file():
            return file
        if file.is_dir():
            raise FileError(f"{file} is a folder. Name a file in it.")
        if file.exists():
            raise FileError(f"{file} is a device or a pipe, expected a file. Save its content to a file first.")
        if file.is_symlink():
            raise FileError(f"{file} is a link to {os.readlink(file)}, which does not exist. Correct the link.")
        folder = [entry.name for entry in file.parent.iterdir()] if file.parent.is_dir() else []
    except (OSError, ValueError) as error:  # no permission, a long name, or a NUL in the name
        if isinstance(error, FileError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{cut(repr(path))} cannot be read: {reason}. Correct the path, or its permissions.") from error
    file_part, mark, part = str(file).partition("#")
    if mark and Path(file_part).is_file():
        raise FileError(f"the file {file} does not exist. For a part, use load({file_part!r}, part={part!r}).")
    raise FileError(f"the file {file} does not exist.{nearest(file.name, folder) or ' Use the path of a local file.'}")


def _format(file: Path) -> _Format:
    kind = FORMATS.get(file.suffix.lower())
    if kind is None:
        extensions = " ".join(FORMATS)
        raise ParseError(f"{file} has the unknown extension {file.suffix!r}. Convert it to one of {extensions}.")
    missing = [name for name in kind.needs if importlib.util.find_spec(name) is None]
    if missing:
        needs = " and ".join(missing)
        raise ImportError(
            f'{file.suffix} files need {needs}. Run pip install "gjk3d[{kind.extra}]" to install what is missing.'
        )
    return kind


class _FolderResolver:
    """A trimesh resolver for the files that a model refers to. It reads only files in the folder of the model."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def get(self, name: str) -> bytes:
        wanted = (self.folder / urllib.parse.unquote(name)).resolve()
        if not wanted.is_relative_to(self.folder) or not os.path.isfile(wanted):
            raise readers.HeaderError(f"names {name[:80]!r}, which is not a file in its folder. Copy it there.")
        return wanted.read_bytes()

    __getitem__ = get


def _read(data: bytes, reader: str, folder: Path) -> Any:
    if reader == ARRAYS:
        return readers.scene_of(data)
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
        gltf.colour_gltf(scene, data)
    elif reader == "obj":
        obj.colour_obj(scene, data, _FolderResolver(folder).get)
    if reader == "dae":  # the unit is converted to metres, and the axes of the file are kept, as in glTF and for robots
        scaling = np.diag([*[readers.meters(data) or 1.0] * 3, 1.0])
        for node, place, _ in list(_placed(scene.graph)):  # scene.apply_transform hashes all nodes for each node
            scene.graph.transforms.edge_data[scene.graph.base_frame, node]["matrix"] = np.dot(scaling, place)
    return scene


def _unfold(scene: Any, promised: int) -> None:
    """Triangulate non-convex polygons again, because trimesh splits all polygons as if they were convex.

    ``promised`` is the declared number of faces. If there are no more triangles than faces, nothing is changed.
    """
    import trimesh

    meshes = [mesh for mesh in scene.geometry.values() if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces)]
    if sum(len(mesh.faces) for mesh in meshes) <= promised:
        return
    for mesh in meshes:
        faces = np.asarray(mesh.faces, np.int64)
        anew = obj.unfolded(np.asarray(mesh.vertices, np.float64), faces)
        if anew is not faces:
            mesh.faces = anew


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the log of trimesh in a block, and raise an error for text that numpy cannot read as numbers."""
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
    """Return the parts of a file by name, and the reasons why its other nodes have no triangles.

    Raise a HeaderError for a file without triangles, with too many triangles, or with fewer than it declares.
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
            readers.refuse_copies(0, total, content.size)
            pieces.setdefault(_part_name(scene, node, geometry, file), []).append((geometry, matrix))
    if total == 0:
        count = Counter(omitted.values())
        summary = ", ".join(f"{number} {name}" for name, number in count.items()) or "nothing to draw"
        raise readers.HeaderError(f"has 0 triangles ({content.size} bytes; {summary}), expected a triangle mesh")
    if total < content.promised:
        raise readers.HeaderError(
            f"the header declares {content.promised} faces, but {total} triangles were read, so the file is "
            "truncated or damaged"
        )
    return pieces, omitted


def _placed(graph: Any) -> Iterator[tuple[Any, Array, str]]:
    """Yield each node with a geometry, the transform of the node to the model's frame, and the name of the geometry.

    The transforms are equal to those of the method `get` of the graph in trimesh 5.2. The time of that method grows
    with the third power of the depth of the graph.
    """
    from trimesh.transformations import fix_rigid

    parents, edges = graph.transforms.parents, graph.transforms.edge_data
    moves: dict[Any, Array | None] = {graph.base_frame: None}  # None for the identity
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
        name=file.stem, unit=unit, parts=parts, source=file, rounding=max(part.mesh._spread for part in parts),
    )  # fmt: skip


def _part_name(scene: Any, node: Any, geometry: Any, file: Path) -> str:
    if geometry.metadata.get("from_gltf_primitive") is True:
        # trimesh adds a node with a random name for each material of a glTF mesh, below the node with its name
        node = scene.graph.transforms.parents.get(node, node)
    elif re.fullmatch(r"geometry(_\d+)?", str(node)) and len(scene.graph.nodes_geometry) == 1:
        return file.stem  # trimesh gives this name to an unnamed geometry
    return str(node)


def joined(name: str, pieces: list[tuple[Any, Any]], unit: str | None, file: Path) -> Part:
    """Return a part in the frame of the model, from its geometries and their transforms (``pieces``)."""
    vertices, faces, start, rounding = [], [], 0, 0.0
    for geometry, matrix in pieces:
        points, triangles = np.asarray(geometry.vertices, np.float64), np.asarray(geometry.faces, np.int64)
        if triangles.size and not (triangles.min() >= 0 and triangles.max() < len(points)):
            Mesh(points, triangles)  # raises an error with the index of the face in this geometry
        rounding = max(rounding, corner_rounding(points) * float(stretch(matrix[:3, :3])))
        if not np.array_equal(matrix, np.eye(4)):
            points = points @ matrix[:3, :3].T + matrix[:3, 3]
            if np.linalg.det(matrix[:3, :3]) < 0.0:
                triangles = triangles[:, ::-1]  # a reflection reverses the orientation
        vertices.append(points)
        faces.append(triangles + start)
        start += len(points)
    try:
        points, triangles = np.concatenate(vertices), np.concatenate(faces)
        mesh = Mesh._of(points, triangles, name=name, unit=unit, source=file, rounding=rounding)
    except ShapeError as error:
        raise ShapeError(f"part {name!r}: {error}") from None
    return Part(name, mesh)


def natural(name: str) -> list[str | int]:
    """Return a sort key for names: 'bolt 2' is before 'bolt 10'. Case is ignored."""
    words: list[str | int] = [*re.split(r"(\d+)", name.lower())]  # every second item is a number
    words[1::2] = map(int, words[1::2])
    return words
