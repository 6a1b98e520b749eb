"""STEP files and building models (IFC), which have the same syntax.

cascadio converts STEP to GLB. It loses the names of products and the units, so this module reads them from the STEP
file. The module also bounds the error of the triangles, and removes curves from the GLB.

ifcopenshell reads building models, and cuts openings out of their elements. The model has a node for each element,
below the nodes of its storey, building and site. Spaces, openings and grids are not elements, so they are not parts.
"""

from __future__ import annotations

import importlib
import json
import os
import re
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gjk3d.files.readers import HeaderError, Node, Nodes, Shape
from gjk3d.units import conversion, symbol

# --- STEP files ------------------------------------------------------------------------------------------------------


_STRING = rb"'(?:[^']|'')*+'"
_OCCURRENCE, _DEFINITION, _FORMATION, _PRODUCT = (
    b"NEXT_ASSEMBLY_USAGE_OCCURRENCE", b"PRODUCT_DEFINITION", b"PRODUCT_DEFINITION_FORMATION", b"PRODUCT"
)  # fmt: skip
_ENTITY = re.compile(
    rb"#(\d+)\s*=\s*(" + b"|".join((_OCCURRENCE, _FORMATION, _DEFINITION, _PRODUCT))
    + rb")(?:_WITH_SPECIFIED_SOURCE|_WITH_ASSOCIATED_DOCUMENTS)?\s*\(((?:" + _STRING + rb"|[^';])*+);"
)  # fmt: skip
_TOKEN = re.compile(rb"(" + _STRING + rb")|#(\d+)|\$")
_MACHINE = re.compile(r"(NAUO)?\d*")  #: names of occurrences that programs generate
REFERENCE = re.compile(r"=>\[[\d:]+\]")  #: names that Open CASCADE generates for unnamed shapes


class _Occurrence(NamedTuple):
    name: str
    definition: int  #: the number of the product's definition


class _Products:
    """The products of a STEP file, and their occurrences in assemblies.

    A product is identified by the entity number of its definition.
    """

    def __init__(self, step: bytes) -> None:
        formations: dict[int, int] = {}
        definitions: dict[int, int] = {}
        names: dict[int, str] = {}
        self._used: dict[tuple[int, str], list[_Occurrence]] = {}
        for number, what, text in _ENTITY.findall(step):
            tokens = _TOKEN.findall(text)
            strings = [_text(string).strip() for string, _ in tokens[:2]]
            references = [int(reference) for _, reference in tokens if reference]
            if what == _PRODUCT and strings:
                names[int(number)] = next((name for name in reversed(strings) if name), "")
            elif what == _FORMATION and references:
                formations[int(number)] = references[0]
            elif what == _DEFINITION and references:
                definitions[int(number)] = references[0]
            elif what == _OCCURRENCE and len(strings) == 2 and len(references) > 1:
                ident, name = strings
                occurrence = _Occurrence("" if name == ident else name, references[1])
                # cascadio names a node by its occurrence, or by the occurrence's id if the name is empty
                for node in dict.fromkeys((name or ident, name)):
                    self._used.setdefault((references[0], node), []).append(occurrence)
        self._names = {key: names.get(formations.get(formation, -1), "") for key, formation in definitions.items()}

    def called(self, name: str) -> list[int]:
        """Return the definition numbers of the products with this name."""
        return [definition for definition, its in self._names.items() if its == name.strip()]

    def occurrence(self, wholes: list[int], node: str, before: int) -> tuple[list[int], str]:
        """Return the definition number of the product of a node, as a list, and a better name for the node.

        The list is empty if the product is not known. ``node`` is the name of the node in the glTF, and ``wholes`` are
        the possible products of its parent. Nodes with equal names are in the order of the STEP file, and ``before``
        is the number of earlier nodes with this name.
        """
        for parent in wholes:
            if used := self._used.get((parent, node.strip())):
                its = used[min(before, len(used) - 1)]
                product = self._names.get(its.definition, "")
                return [its.definition], product if product and _MACHINE.fullmatch(its.name) else node.strip()
        return [], node


def _text(string: bytes) -> str:
    r"""Return the text of a quoted STEP string. Doubled quotes, ``\X2\..\X0\``, ``\X\..`` and ``\S\.`` are decoded."""
    try:
        text = string[1:-1].decode()
    except UnicodeDecodeError:
        text = string[1:-1].decode("latin-1")
    text = text.replace("''", "'")
    text = re.sub(r"\\X2\\((?:[0-9A-F]{4})+)\\X0\\", lambda m: bytes.fromhex(m[1]).decode("utf-16-be", "replace"), text)
    text = re.sub(r"\\X\\([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), text)
    return re.sub(r"\\S\\([ -~])", lambda m: chr(ord(m[1]) + 128), text)


def name_products(tree: dict[str, Any], step: bytes) -> None:
    """Replace generated names of nodes in a glTF of cascadio by the names of their products in the STEP file."""
    nodes = tree.get("nodes", [])
    if not any(node.get("children") for node in nodes):
        return
    products = _Products(step)
    roots = [root for scene in tree.get("scenes", []) for root in scene.get("nodes", [])]
    waiting = [(root, products.called(nodes[root].get("name", ""))) for root in roots]
    while waiting:
        parent, definitions = waiting.pop()
        before: Counter[str] = Counter()
        for child in nodes[parent].get("children", ()):
            node = nodes[child].get("name", "")
            its, name = products.occurrence(definitions, node, before[node])
            before[node] += 1
            if its:
                nodes[child]["name"] = name
                waiting.append((child, its))


def name_shapes(tree: dict[str, Any]) -> None:
    """Replace generated names of shapes by numbers from 1. A single shape of a product gets the product's name."""
    nodes = tree.get("nodes", [])
    for parent in nodes:
        children = parent.get("children", [])
        unnamed = [child for child in children if REFERENCE.fullmatch(nodes[child].get("name", ""))]
        if children == unnamed and len(unnamed) == 1 and nodes[unnamed[0]].keys() <= {"name", "mesh"}:
            parent |= {**nodes[unnamed[0]], "name": parent.get("name", "")}
            del parent["children"]
        for number, child in enumerate(unnamed, 1):
            nodes[child]["name"] = str(number)


_TRIANGLES = 4  #: the mode of a glTF primitive of triangles. Lower modes are points and lines
_NAMED = 5  #: greatest number of names in a note


def leave_out_curves(tree: dict[str, Any]) -> None:
    """Remove points and lines from a glTF. A note in the extras of its scene lists the nodes without triangles."""
    meshes, nodes, scenes = (tree.get(key, []) for key in ("meshes", "nodes", "scenes"))
    for mesh in meshes:
        mesh["primitives"] = [
            primitive for primitive in mesh["primitives"] if primitive.get("mode", _TRIANGLES) >= _TRIANGLES
        ]
    empty = {number for number, mesh in enumerate(meshes) if not mesh["primitives"]}
    removed = {number: node.get("name", "") for number, node in enumerate(nodes) if node.get("mesh") in empty}
    if not removed:
        return
    for parent in nodes:  # unnamed shapes have the name of their product in the note
        unnamed = [child for child in parent.get("children", []) if REFERENCE.fullmatch(removed.get(child, ""))]
        removed |= dict.fromkeys(unnamed, parent.get("name", ""))
    for owner, key in (*((node, "children") for node in nodes), *((scene, "nodes") for scene in scenes)):
        if removed.keys() & owner.get(key, []):
            owner[key] = [child for child in owner[key] if child not in removed]
    names = list(removed.values())
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    note = f"left out, because they contain only curves and points: {', '.join(names[:_NAMED])}{more}"
    scenes[0]["extras"] = {"notes": [note]}


TOLERANCE = 0.01  #: tolerance of the mesher of Open CASCADE on curved faces, in millimetres
#: Greatest error of the triangles of each kind of face, relative to the tolerance, and that of all other kinds. The
#: measured error of spheres was 2.1.
_MISSED = {"plane": 0.0, "cylinder": 1.0, "cone": 1.0, "torus": 1.0}
_MOST_MISSED = 2.5
KINDS = frozenset(_MISSED)  #: the kinds of faces that cascadio writes to the glTF
_FACES = "TM_brep_faces"


def write_facets(tree: dict[str, Any]) -> None:
    """Write the error of the triangles of each mesh in a glTF of cascadio to ``extras["facets"]`` of the mesh.

    The error is an upper bound of the distance of the triangles from the curved faces, in metres. The list of curved
    and plane faces, from which it is computed, is removed.
    """
    for mesh in tree.get("meshes", []):
        error = 0.0
        for primitive in mesh.get("primitives", []):
            brep = primitive.get("extensions", {}).pop(_FACES, None)
            faces = [None] if brep is None else brep["faces"]
            error = max([error, *(_MISSED.get(str((face or {}).get("type")), _MOST_MISSED) for face in faces)])
        mesh["extras"] = {"facets": 1e-3 * TOLERANCE * error}
    for key in ("extensionsUsed", "extensionsRequired"):
        if _FACES in tree.get(key, []):
            tree[key].remove(_FACES)


_CONTEXT = re.compile(rb"GLOBAL_UNIT_ASSIGNED_CONTEXT\s{0,99}\(\s{0,99}\(([^)]{0,999})")
_UNIT, _NUMBER = re.compile(rb"LENGTH_UNIT"), re.compile(rb"#(\d{1,18})\s*=")
_SI = re.compile(rb"SI_UNIT\s*\(\s*(?:\$|\.([A-Z]+)\.)\s*,\s*\.METRE\.\s*\)")
_CONVERTED = re.compile(rb"CONVERSION_BASED_UNIT\s*\(\s*'([^']*)'")
_PREFIXES = {
    b"": "m", b"NANO": "nm", b"MICRO": "um", b"MILLI": "mm", b"CENTI": "cm", b"DECI": "dm", b"KILO": "km"
}  # fmt: skip
#: greatest number of units and of contexts that are read, and number of bytes examined before and after a unit
_MOST, _AROUND = 4096, 500


def unit_of(step: bytes) -> str | None:
    """Return the unit of length of most contexts in a STEP file, or None if it is not known.

    In ISO 10303-21 each GLOBAL_UNIT_ASSIGNED_CONTEXT refers to a LENGTH_UNIT. This is either an SI_UNIT, or a
    CONVERSION_BASED_UNIT with a name.
    """
    units: dict[bytes, str] = {}
    for match in islice(_UNIT.finditer(step), _MOST):
        before = step[max(0, match.start() - _AROUND) : match.start()].rpartition(b";")[2]
        entity = before + step[match.start() : match.end() + _AROUND].partition(b";")[0]
        number, unit = _NUMBER.search(before), _unit_name(entity)
        if number is not None and unit is not None:
            units[number[1]] = unit
    contexts = islice(_CONTEXT.finditer(step), _MOST)
    used = [
        units[number_of]
        for context in contexts
        for number_of in re.findall(rb"#(\d+)", context[1])
        if number_of in units
    ]
    return Counter(used).most_common(1)[0][0] if used else None


def _unit_name(entity: bytes) -> str | None:
    converted = _CONVERTED.search(entity)
    if converted is not None:
        name = symbol(converted[1].decode("latin-1").lower()) or ""
        return name if conversion(name, "m") is not None else None
    metric = _SI.search(entity)
    return None if metric is None else _PREFIXES.get(metric[1] or b"")


# --- building models -------------------------------------------------------------------------------------------------


_DEEPEST = 64  #: greatest number of containers above an element
_BEGIN, _END = b"ISO-10303-21;", b"END-ISO-10303-21;"
_CURE = "Repair it, or export it again"
_NOTES = 5  #: greatest number of errors in the notes
_SEARCHED = 1000  #: greatest number of entities in the search from a faulty entity to its elements
_WELD = 1e-9  #: vertices up to this distance apart, relative to the size of their element, are merged
_CUT_OFF, _VIRTUAL = "IfcFeatureElement", "IfcVirtualElement"  #: classes of elements that are not solid objects


def elements(source: str) -> Nodes:
    """Return the elements of an IFC file, in metres. Raise a HeaderError for a damaged file."""
    data = Path(source).read_bytes()
    if _BEGIN not in data[:4096]:
        raise HeaderError(f"the file does not begin with {_BEGIN.decode()}. {_CURE} as IFC-SPF.")
    if _END not in data[-4096:]:
        raise HeaderError(
            f"the file of {len(data)} bytes does not end with {_END.decode()}, so it is truncated. {_CURE}."
        )
    ifc: Any = importlib.import_module("ifcopenshell")
    geometry: Any = importlib.import_module("ifcopenshell.geom")
    ifc.ifcopenshell_wrapper.set_log_format_json()
    ifc.get_log()  # clears earlier messages
    try:
        model = ifc.open(source)
    except Exception as error:  # ifcopenshell raises its own class
        raise HeaderError(f"{str(error).splitlines()[0][:120].rstrip('.')}. {_CURE}.") from None
    wrong = _errors(ifc)
    if wrong:
        raise HeaderError(f"{_line(wrong[0])[:120].rstrip('.')}. {_CURE}.")
    products = [e for e in model.by_type("IfcElement") if not (e.is_a(_CUT_OFF) or e.is_a(_VIRTUAL))]
    shapes = _shaped(geometry, model, [e for e in products if e.Representation is not None])
    if not shapes:
        fault = f"none of its {len(products)} elements has a shape" if products else "the file contains no elements"
        raise HeaderError(f"{fault}. {_CURE} with the bodies of the elements.")
    nodes = _Collected()
    for element in products:
        shape = shapes.get(element.id())
        if shape is not None:
            nodes.add(element, shape.geometry, np.array(shape.transformation.matrix).reshape(4, 4, order="F"))
        elif element.Representation is not None and any(
            item.RepresentationIdentifier == "Body" for item in element.Representation.Representations
        ):
            nodes.add(element, None, np.eye(4))
    errors = list(dict.fromkeys(_error_words(model, error) for error in _errors(ifc)))
    return Nodes(tuple(nodes.shapes), tuple(nodes.all), (*errors[:_NOTES], *_left_out(model, products)))


def _errors(ifc: Any) -> list[dict[str, str]]:
    """Return the errors that ifcopenshell has logged since the last call."""
    errors = []
    for line in ifc.get_log().splitlines():
        try:
            entry = json.loads(line)
        except ValueError:  # a line of another source
            continue
        if entry.get("level") == "error":
            errors.append(entry)
    return errors


def _line(error: dict[str, str]) -> str:
    """Return the message of an error with its entity as one line, for example "Failed to convert #64=Ifc..."."""
    message = ". ".join(part.strip() for part in error["message"].splitlines())
    entity = error.get("instance", "").partition("(")[0]
    return f"{message.rstrip(':')} {entity}" if entity else message


def _error_words(model: Any, error: dict[str, str]) -> str:
    """Return an error of ifcopenshell as one line, which begins with the elements concerned if they are known."""
    number = (error.get("product") or error.get("instance", "")).partition("=")[0].removeprefix("#")
    elements = _elements_of(model, int(number)) if number.isdigit() else []
    if not elements:
        return _line(error)
    first, more = elements[0], f" and {len(elements) - 1} more" if len(elements) > 1 else ""
    return f"{first.is_a()} {first.Name or ''!r} ({first.GlobalId}){more}: {_line(error)}"


def _elements_of(model: Any, number: int) -> list[Any]:
    """Return the elements whose shapes use the entity ``number``, or an empty list if too many entities use it."""
    waiting, visited, elements = [model.by_id(number)], {number}, []
    while waiting:
        entity = waiting.pop()
        if entity.is_a("IfcProduct"):
            elements.append(entity)
            continue
        users = [user for user in model.get_inverse(entity) if user.id() not in visited]
        visited.update(user.id() for user in users)
        if len(visited) > _SEARCHED:
            return []
        waiting += users
    return sorted(elements, key=lambda element: element.id())


def _left_out(model: Any, products: list[Any]) -> list[str]:
    """Return a list with a note on the objects that have a shape but are not parts, or an empty list without them.

    Openings, which were cut out, are not mentioned.
    """
    part_ids = {product.id() for product in products}
    omitted = [e for e in model.by_type("IfcProduct") if e.Representation is not None and e.id() not in part_ids]
    counts = Counter(product.is_a() for product in omitted if not product.is_a(_CUT_OFF))
    if not counts:
        return []
    listing = ", ".join(f"{many} {kind}" for kind, many in sorted(counts.items()))
    return [f"left out, because they are not solid elements: {listing}"]


def _shaped(geometry: Any, model: Any, products: list[Any]) -> dict[int, Any]:
    settings = geometry.settings()
    settings.set("apply-default-materials", False)  # only colours of the file are used
    shape_of: dict[int, Any] = {}
    if products:
        shapes = geometry.iterator(settings, model, os.cpu_count() or 1, include=products)
        going = shapes.initialize()
        while going:
            shape = shapes.get()
            shape_of[shape.id] = shape
            going = bool(shapes.next())
    return shape_of


class _Collected:
    """The nodes and shapes of an IFC file. Elements with equal triangulations share a shape."""

    def __init__(self) -> None:
        self.all: list[Node] = []
        self.shapes: list[Shape] = []
        self._known: dict[int, str] = {}
        self._taken = {"world"}  # the name of the root in trimesh
        self._number: dict[str, int] = {}

    def add(self, element: Any, triangulation: Any, matrix: Any) -> None:
        """Add a node for an element, below the node of its container. ``triangulation`` is the shape or None."""
        shape = None
        if triangulation is not None:
            if triangulation.id not in self._number:
                self._number[triangulation.id] = len(self.shapes)
                self.shapes.append(_triangles(triangulation))
            shape = self._number[triangulation.id]
        parent = self._parent(element, 0)
        reason = "" if shape is not None else "ifcopenshell could not create its shape"
        self.all.append(self._node(element, parent, shape, matrix, reason))

    def _parent(self, element: Any, depth: int) -> str | None:
        util: Any = importlib.import_module("ifcopenshell.util.element")
        container = util.get_aggregate(element) or util.get_container(element)
        if container is None or depth > _DEEPEST:
            return None
        if container.id() not in self._known:
            node = self._node(container, self._parent(container, depth + 1), None, None, "")
            self._known[container.id()] = node.key
            self.all.append(node)
        return self._known[container.id()]

    def _node(self, element: Any, parent: str | None, shape: int | None, matrix: Any, reason: str) -> Node:
        name = element.Name or element.is_a()
        key, number = name, 1
        while key in self._taken:
            number += 1
            key = f"{name} ({number})"
        self._taken.add(key)
        return Node(key, parent, shape, matrix, name, element.GlobalId, reason)


def _triangles(triangulation: Any) -> Shape:
    """Return the triangles of a shape of ifcopenshell. The colour is that of more than half of them, or None."""
    which = np.asarray(triangulation.material_ids, dtype=np.int64)
    counts = np.bincount(which[which >= 0], minlength=1)
    colour = None
    if len(triangulation.materials) and counts.max() * 2 > len(which):
        red, green, blue = triangulation.materials[int(np.argmax(counts))].diffuse.components
        colour = float(red), float(green), float(blue)
    faces = np.array(triangulation.faces, dtype=np.int64).reshape(-1, 3)
    return Shape(*_welded(np.array(triangulation.verts).reshape(-1, 3), faces), colour)


def _welded(vertices: Any, faces: Any) -> tuple[Any, Any]:
    """Merge vertices that differ only by rounding, and return the vertices and the faces."""
    # elements with openings have copies of vertices whose coordinates differ in the last bits
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import KDTree

    points, number = np.unique(vertices, axis=0, return_inverse=True)
    if not len(points):
        return vertices, faces
    near = _WELD * float(np.ptp(points, axis=0).max()) + 16.0 * float(np.spacing(np.abs(points).max()))
    pairs = KDTree(points).query_pairs(near, output_type="ndarray")
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(points), len(points)))
    label = connected_components(graph, directed=False)[1]
    _, first = np.unique(label, return_index=True)
    faces = label[number.reshape(-1)][faces]
    proper = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
    return points[first], faces[proper]
