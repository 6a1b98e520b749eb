"""Reader of building models (IFC) by ifcopenshell, with a node for each element below its storey, building and site.

ifcopenshell cuts openings out of their elements. Spaces, openings and grids are not elements, so they are not parts.
"""

from __future__ import annotations

import importlib
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d.files.headers import HeaderError
from gjk3d.files.nodes import Node, Nodes, Shape

_DEEPEST = 64  #: the largest number of steps from an element to the project
_BEGIN, _END = b"ISO-10303-21;", b"END-ISO-10303-21;"
_CURE = "Repair it, or export it again"
_NOTES = 5  #: the largest number of errors in the notes
_SEARCHED = 1000  #: the largest number of entities in the search from a faulty entity to its elements
_WELD = 1e-9  #: vertices within this distance, relative to the size of an element, are merged
_CUT_OFF, _VIRTUAL = "IfcFeatureElement", "IfcVirtualElement"  #: elements without matter


def elements(source: str) -> Nodes:
    """Return the elements of a file in metres. Raise a HeaderError for a damaged file."""
    data = Path(source).read_bytes()
    if _BEGIN not in data[:4096]:
        raise HeaderError(f"it does not begin with {_BEGIN.decode()}. {_CURE} as IFC-SPF.")
    if _END not in data[-4096:]:
        raise HeaderError(
            f"it does not end with {_END.decode()}, because it is cut off after {len(data)} bytes. {_CURE}."
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
        raise HeaderError(f"all of its {len(products)} elements lack a shape. {_CURE} with bodies.")
    nodes = _Collected()
    for element in products:
        shape = shapes.get(element.id())
        if shape is not None:
            nodes.add(element, shape.geometry, np.array(shape.transformation.matrix).reshape(4, 4, order="F"))
        elif _has_body(element):
            nodes.add(element, None, np.eye(4))
    errors = list(dict.fromkeys(_named(model, error) for error in _errors(ifc)))
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


def _named(model: Any, error: dict[str, str]) -> str:
    """Return the message of an error as one line, after the elements that it concerns if these are known."""
    number = (error.get("product") or error.get("instance", "")).partition("=")[0].removeprefix("#")
    elements = _elements_of(model, int(number)) if number.isdigit() else []
    if not elements:
        return _line(error)
    first, more = elements[0], f" and {len(elements) - 1} more" if len(elements) > 1 else ""
    return f"{first.is_a()} {first.Name or ''!r} ({first.GlobalId}){more}: {_line(error)}"


def _elements_of(model: Any, number: int) -> list[Any]:
    """Return the elements whose shape uses an entity, or the entity itself. Empty if too many entities use it."""
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
    """Return notes on the objects with a shape that are not parts, except openings, which were cut out."""
    part_ids = {product.id() for product in products}
    omitted = [e for e in model.by_type("IfcProduct") if e.Representation is not None and e.id() not in part_ids]
    counts = Counter(product.is_a() for product in omitted if not product.is_a(_CUT_OFF))
    if not counts:
        return []
    return [f"left out, because not matter: {', '.join(f'{many} {kind}' for kind, many in sorted(counts.items()))}"]


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


def _has_body(element: Any) -> bool:
    representation = element.Representation
    return representation is not None and any(
        item.RepresentationIdentifier == "Body" for item in representation.Representations
    )


class _Collected:
    """The nodes of a file. Mapped elements share the shape of their map."""

    def __init__(self) -> None:
        self.all: list[Node] = []
        self.shapes: list[Shape] = []
        self._known: dict[int, str] = {}
        self._taken = {"world"}  # the name of the root in trimesh
        self._number: dict[str, int] = {}

    def add(self, element: Any, triangulation: Any, matrix: Any) -> None:
        """Add an element below its container. ``triangulation`` is its shape from ifcopenshell."""
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
    """Return the triangles of a shape, with the colour of most of them."""
    which = np.asarray(triangulation.material_ids, dtype=np.int64)
    counts = np.bincount(which[which >= 0], minlength=1)
    colour = None
    if len(triangulation.materials) and counts.max() * 2 > len(which):
        red, green, blue = triangulation.materials[int(np.argmax(counts))].diffuse.components
        colour = float(red), float(green), float(blue)
    faces = np.array(triangulation.faces, dtype=np.int64).reshape(-1, 3)
    return Shape(*_welded(np.array(triangulation.verts).reshape(-1, 3), faces), colour)


def _welded(vertices: Any, faces: Any) -> tuple[Any, Any]:
    """Return vertices and faces with merged vertices that differ only by rounding."""
    # elements with openings have copies of vertices that are a few ulps apart
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
