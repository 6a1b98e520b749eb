"""Reading of 3MF files: objects with triangles, objects with components at any depth, and the build.

The module follows the core specification 1.3, and the production extension 1.2 for models in several files.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gjk3d.files.readers import Colour, HeaderError, check_zip, refuse_copies, shown
from gjk3d.typing import Array

UNITS = ("micron", "millimeter", "centimeter", "inch", "foot", "meter")
DEEPEST = 100  #: greatest depth of components
_SPACE = "http://schemas.microsoft.com/3dmanufacturing/"
#: Beginnings of the extensions that a file may require. They are implemented, or do not change the geometry.
_READ = (f"{_SPACE}core/", f"{_SPACE}production/", f"{_SPACE}material/", f"{_SPACE}trianglesets/")
_TAGS = ("{*}model", "{*}object", "{*}build", "{*}basematerials", "{*}colorgroup")
_HEX = re.compile(r"#([\da-fA-F]{2})([\da-fA-F]{2})([\da-fA-F]{2})(?:[\da-fA-F]{2})?")
Count = tuple[int, int]  #: the number of placed objects, and the number of their triangles


class _Use(NamedTuple):
    """A reference to an object from another object or from the build."""

    file: str  #: the file of the object in the archive
    ident: str  #: the id of the object
    matrix: Array  #: (4, 4) transform from the object to the object that uses it, or to the build
    name: str = ""  #: the part number in the build


class _Object(NamedTuple):
    name: str
    mesh: Any  #: a mesh of trimesh, or None
    uses: tuple[_Use, ...]


class _Model(NamedTuple):
    """The content of a file of the archive."""

    unit: str
    objects: dict[str, _Object]
    build: tuple[_Use, ...]


def check_3mf(data: bytes) -> tuple[bytes, int]:
    """Return a 3MF archive unchanged, and 0 as its declared number of triangles.

    Raise an error if it is too large or lacks a model.
    """
    check_zip(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if not any(name.lower().endswith("3d/3dmodel.model") for name in archive.namelist()):
            raise HeaderError(
                "contains no model, because it is a zip archive without 3D/3dmodel.model. Export it again as 3MF."
            )
        for name in archive.namelist():
            if name.lower().endswith(".model"):
                with archive.open(name) as member:
                    start = member.read(64)
                if not start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<", b"\xff\xfe<", b"\xfe\xff\0<")):
                    raise HeaderError(f"its {name} is not XML, because it begins with {shown(start)}")
    return data, 0


def scene_of(data: bytes) -> Any:
    """Return the build of a 3MF as a trimesh scene, with a node for each use of an object."""
    import trimesh
    from trimesh.util import unique_name

    scene = trimesh.Scene()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        package = _Package(archive)
        build = package.model(package.root).build
        placed, triangles = package.count(build)
        refuse_copies(placed, triangles, len(data))
        names: set[str] = set()
        counts: dict[str, int] = {}
        todo = [(use, scene.graph.base_frame) for use in reversed(build)]
        while todo:
            use, parent = todo.pop()
            thing = package.object(use)
            key = unique_name(use.name or thing.name, names, counts=counts)
            names.add(key)
            attributes: dict[str, Any] = {"matrix": use.matrix}
            if thing.mesh is not None:
                attributes["geometry"] = f"{use.file}#{use.ident}"
                scene.geometry[attributes["geometry"]] = thing.mesh
            scene.graph.update(key, parent, **attributes)
            todo += [(below, key) for below in reversed(thing.uses)]
        scene.units = package.model(package.root).unit
    return scene


class _Package:
    """The models of a 3MF archive. Each model is read at its first use."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names = {name.lower(): name for name in archive.namelist()}  # case is ignored
        self._models: dict[str, _Model] = {}
        self._counted: dict[tuple[str, str], Count] = {}
        self.root = next(name for key, name in self._names.items() if key.endswith("3d/3dmodel.model"))

    def model(self, file: str) -> _Model:
        name = self._names.get(file.strip("/").lower())
        if name is None:
            raise HeaderError(f"refers to the model {shown(file.encode())}, which is not in the archive")
        if name not in self._models:
            self._models[name] = _read(name, self._archive.read(name))
            if self._models[name].unit != self._models[self.root].unit:
                units = f"{self._models[name].unit}, and {self.root} in {self._models[self.root].unit}"
                raise HeaderError(f"its {name} is in {units}, expected one unit for all models of a 3MF")
        return self._models[name]

    def object(self, use: _Use) -> _Object:
        item = self.model(use.file).objects.get(use.ident)
        if item is None:
            raise HeaderError(f"places the object {use.ident[:40]!r}, which {use.file} does not contain")
        return item

    def count(self, uses: tuple[_Use, ...], above: tuple[tuple[str, str], ...] = ()) -> Count:
        """Return the number of objects that ``uses`` place, components included, and the number of their triangles.

        ``above`` are the file and the id of each object that contains the uses, to detect cycles.
        """
        placed = triangles = 0
        for use in uses:
            key = use.file, use.ident
            if key in above:
                raise HeaderError(f"has the object {use.ident[:40]!r}, which is a component of itself. Remove it.")
            if len(above) >= DEEPEST:
                raise HeaderError(f"nests its components more than {DEEPEST} levels deep. Flatten the components.")
            if key not in self._counted:
                item = self.object(use)
                below, faces = self.count(item.uses, (*above, key))
                self._counted[key] = 1 + below, faces + (0 if item.mesh is None else len(item.mesh.faces))
            placed, triangles = placed + self._counted[key][0], triangles + self._counted[key][1]
        return placed, triangles


def _read(file: str, text: bytes) -> _Model:
    from lxml import etree

    objects: dict[str, _Object] = {}
    groups: dict[str, list[str]] = {}
    build: list[_Use] = []
    unit = ""
    reader = etree.iterparse(
        io.BytesIO(text), tag=_TAGS, events=("start", "end"), resolve_entities=False, load_dtd=False, no_network=True
    )
    for event, element in reader:
        kind = etree.QName(element).localname
        if event == "start":
            if kind == "model" and not unit:
                unit = _unit(element, file)
        elif kind == "object":
            objects[element.get("id", "")] = _object(element, file, groups)
            element.clear()
        elif kind == "build":
            build += (_use(item, file, item.get("partnumber", "")) for item in element.iterfind("{*}item"))
        elif kind != "model":
            groups[element.get("id", "")] = [entry.get("displaycolor") or entry.get("color") or "" for entry in element]
    return _Model(unit, objects, tuple(build))


def _unit(model: Any, file: str) -> str:
    """Return the unit of a model from its root element. Raise an error for unsupported extensions or units."""
    if model.getroottree().docinfo.doctype:
        raise HeaderError(f"its {file} has a DOCTYPE, which 3MF does not allow. Remove it.")
    for prefix in model.get("requiredextensions", "").split():
        space = model.nsmap.get(prefix, prefix)
        if not space.startswith(_READ):
            raise HeaderError(f"requires the extension {space[:80]}, which is not supported. Export without it.")
    unit: str = model.get("unit", "millimeter")
    if unit not in UNITS:
        raise HeaderError(f"its {file} is in the unit {unit[:40]!r}, expected one of {', '.join(UNITS)}")
    return unit


def _object(element: Any, file: str, groups: dict[str, list[str]]) -> _Object:
    import trimesh

    ident = element.get("id", "")
    mesh, mesh_element = None, element.find("{*}mesh")
    if mesh_element is not None:
        vertices = _numbers(mesh_element, "vertex", "x y z", float, ident)
        mesh = trimesh.Trimesh(vertices, _numbers(mesh_element, "triangle", "v1 v2 v3", int, ident), process=False)
        colour = _colour(groups.get(element.get("pid", ""), []), element.get("pindex", "0"))
        if colour is not None:
            mesh.metadata["colour"] = colour
    uses = tuple(_use(component, file) for component in element.iterfind("{*}components/{*}component"))
    if mesh is None and not uses:
        mesh = trimesh.Trimesh(process=False, metadata={"reason": "an object without a mesh and components"})
    return _Object(element.get("name") or ident, mesh, uses)


def _numbers(mesh: Any, tag: str, names: str, kind: type, ident: str) -> Array:
    """Return the numbers (n, 3) of all vertices or triangles of a mesh element.

    ``names`` are the three attributes, ``kind`` is float or int, and ``ident`` is the id of the object for errors.
    """
    keys = names.split()
    try:
        words = (element.get(key) for element in mesh.iter(f"{{*}}{tag}") for key in keys)
        numbers: Any = np.fromiter(map(kind, words), dtype=np.float64 if kind is float else np.int64)
        rows: Array = numbers.reshape(-1, 3)
    except (TypeError, ValueError, OverflowError):
        odd = next(_odd(mesh, tag, keys, kind), f"a {tag} has a number that is too large")
        raise HeaderError(f"object {ident[:40]!r} is damaged: {odd}, expected three numbers {names}") from None
    return rows


def _odd(mesh: Any, tag: str, keys: list[str], kind: type) -> Iterator[str]:
    for number, element in enumerate(mesh.iter(f"{{*}}{tag}")):
        for key in keys:
            try:
                kind(element.get(key))
            except (TypeError, ValueError):
                fault = f"lacks {key}" if element.get(key) is None else f"has the {key} {element.get(key)[:40]!r}"
                yield f"{tag} {number} (from 0) {fault}"


def _use(element: Any, file: str, name: str = "") -> _Use:
    path = next((value for key, value in element.attrib.items() if key.endswith("}path")), file)
    ident, words = element.get("objectid", ""), element.get("transform")
    matrix = np.eye(4)
    if words is not None:
        try:
            matrix[:3] = np.array(words.split(), dtype=np.float64).reshape(4, 3).T
        except ValueError:
            raise HeaderError(
                f"places the object {ident[:40]!r} with the transform {words[:60]!r}, expected 12 numbers"
            ) from None
    return _Use(path.strip("/"), ident, matrix, name)


def _colour(row: list[str], index: str) -> Colour | None:
    """Return the colour of a whole object, or None. Colours of single triangles are ignored.

    ``row`` has the colours of a group, as "#RRGGBB" or "#RRGGBBAA". ``index`` is the index of the object's colour in
    ``row``.
    """
    at = int(index) if index.isdecimal() else -1
    hexes = _HEX.fullmatch(row[at] if 0 <= at < len(row) else "")
    if hexes is None:
        return None
    red, green, blue = (round(int(channel, 16) / 255.0, 6) for channel in hexes.groups())
    return red, green, blue
