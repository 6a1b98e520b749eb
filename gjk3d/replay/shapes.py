"""Shapes as plain numbers, and back to the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gjk3d.errors import ShapeError, UnsupportedPair
from gjk3d.geometry.hulls import build_hull, hull_of_faces
from gjk3d.replay.json_reader import Value
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.composed import Composed, Rounded
from gjk3d.shapes.layout import GREATEST
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.shapes.table import SHAPES
from gjk3d.shapes.terms import Part
from gjk3d.typing import Array

#: arguments of the classes that store them unchanged; 0 means one number
_PLAIN: dict[str, dict[str, tuple[int, ...]]] = {
    "Point": {"p": (3,)},
    "Segment": {"a": (3,), "b": (3,)},
    "Triangle": {"vertices": (3, 3)},
    "Tetrahedron": {"vertices": (4, 3)},
    "Sphere": {"radius": ()},
    "Box": {"extents": (3,)},
    "Capsule": {"radius": (), "height": ()},
    "Cylinder": {"radius": (), "height": ()},
    "Cone": {"radius": (), "height": ()},
    "Ellipsoid": {"radii": (3,)},
    "Halfspace": {"normal": (3,), "offset": ()},
    "Plane": {"normal": (3,), "offset": ()},
}
_CLASSES = {cls.__name__: cls for cls in SHAPES}
_KINDS = {
    "point": layout.POINT,
    "segment": layout.SEGMENT,
    "box": layout.BOX,
    "hull": layout.HULL,
    "cylinder": layout.CYLINDER,
    "cone": layout.CONE,
    "ellipsoid": layout.ELLIPSOID,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_SIZES = {layout.POINT: 0, layout.CYLINDER: 2, layout.CONE: 2}  #: numbers of a primitive, else 3; a hull varies
_UNIT = 1e-15  #: largest error of the length of a normalised vector


# --- written ----------------------------------------------------------------------------------------------------------


def write_shape(shape: Shape) -> dict[str, Any]:
    """Return the class of a shape and its numbers.

    Raises
    ------
    UnsupportedPair
        Its class is not in `gjk3d.shapes.table`.
    """
    kind = next((cls for cls in SHAPES if isinstance(shape, cls)), None)
    if kind is None or (isinstance(shape, Composed) and shape._functions):
        raise UnsupportedPair(f"a {type(shape).__name__} cannot be written, because gjk3d does not know its numbers")
    name = kind.__name__
    if isinstance(shape, Rounded):
        return {"shape": name, "core": write_shape(shape.core), "radius": shape.radius}
    if isinstance(shape, Composed):
        terms = [[_write_part(part) for part in term] for term in shape._terms()]
        return {"shape": name, "terms": terms, "radius": shape._rounding()}
    if isinstance(shape, ConvexHull):
        return _write_hull(shape)
    return {"shape": name, **{field: np.asarray(getattr(shape, field)).tolist() for field in _PLAIN[name]}}


def _write_part(part: Part) -> dict[str, Any]:
    return {
        "kind": _NAMES[part.kind],
        "numbers": part.numbers.tolist(),
        "matrix": part.matrix.tolist(),
        "offset": part.offset.tolist(),
    }


def _write_hull(shape: ConvexHull) -> dict[str, Any]:
    written: dict[str, Any] = {"shape": "ConvexHull", "points": shape.vertices.tolist()}
    hull, again = shape._hull(), build_hull(shape.vertices)
    is_same = np.array_equal(again.vertices, hull.vertices) and np.array_equal(again.faces, hull.faces)
    is_same = is_same and again.defect == hull.defect and again.dimension == hull.dimension
    if not (is_same and np.array_equal(again.angles, hull.angles)):
        # points that are not vertices affected ties of faces and the bound of the removed points
        written["dimension"], written["defect"] = hull.dimension, hull.defect
        written["faces"], written["angles"] = hull.faces.tolist(), hull.angles.tolist()
    return written


# --- read -------------------------------------------------------------------------------------------------------------


def read_shape(value: Value, more_kinds: tuple[str, ...] = ()) -> Shape:
    """Return the shape in a document from any source; the message for an unknown class names ``more_kinds`` too.

    Raises
    ------
    ParseError
        The message names the place, the value seen and the expected value.
    """
    kind = value.peek("shape")
    name = kind.text()
    if name not in _CLASSES:
        kind.wrong(f"one of {', '.join((*_CLASSES, *more_kinds))}")
    special: dict[str, Callable[[Value], Shape]] = {
        "Rounded": _read_rounded,
        "Composed": _read_composed,
        "ConvexHull": _read_hull,
        "Halfspace": _read_halfspace,
        "Plane": _read_halfspace,
    }
    try:
        if name in special:
            return special[name](value)
        return _CLASSES[name](**_arguments(name, value))
    except ShapeError as reason:
        raise value.failed(reason) from None


def _arguments(name: str, value: Value) -> dict[str, Any]:
    fields = value.fields(("shape", *_PLAIN[name]))
    return {
        field: fields[field].array(*shape) if shape else fields[field].number() for field, shape in _PLAIN[name].items()
    }


def _read_rounded(value: Value) -> Shape:
    fields = value.fields(("shape", "core", "radius"))
    if fields["core"].peek("shape").raw in ("Rounded", "Halfspace", "Plane"):
        fields["core"].peek("shape").wrong("a bounded shape that is not itself Rounded")
    return Rounded(read_shape(fields["core"]), fields["radius"].number())


def _read_halfspace(value: Value) -> Shape:
    kind = _CLASSES[value.peek("shape").text()]
    numbers = _arguments(kind.__name__, value)
    plane = kind(**numbers)
    if abs(float(np.linalg.norm(numbers["normal"])) - 1.0) > _UNIT:
        return plane
    exact = object.__new__(kind)  # its normal was normalised before, and a second division would change it by an ulp
    exact._set(**numbers)
    return exact


def _read_hull(value: Value) -> Shape:
    stored = ("dimension", "defect", "faces", "angles")
    built = "faces" in value.members()
    fields = value.fields(("shape", "points", *(stored if built else ())))
    points = fields["points"].array(None, 3)
    shape = ConvexHull(points)
    if not built:
        return shape
    dimension, defect, angles = fields["dimension"].whole(0, 3), fields["defect"].number(), fields["angles"].array(None)
    if not 0.0 <= defect <= GREATEST:
        fields["defect"].wrong(f"0 to {GREATEST:g}")
    hull = hull_of_faces(points, fields["faces"].indices(3, len(points)), dimension, defect, angles)
    if hull is None:
        fields["faces"].wrong("triangles of these points that make one closed surface, with an angle per edge")
    exact = object.__new__(ConvexHull)
    exact._set(_vertices=points)
    exact._cache["hull"] = hull
    return exact


def _read_composed(value: Value) -> Shape:
    fields = value.fields(("shape", "terms", "radius"))
    terms = [[_read_part(part) for part in term.items()] for term in fields["terms"].items()]
    if not terms or not all(terms):
        fields["terms"].wrong("one or more lists of one or more parts")
    radius = fields["radius"].number()
    if not 0.0 <= radius <= GREATEST:
        fields["radius"].wrong(f"0 to {GREATEST:g}")
    return Composed._from_terms(terms, radius)


def _read_part(value: Value) -> Part:
    fields = value.fields(("kind", "numbers", "matrix", "offset"))
    kind = _KINDS[fields["kind"].one_of(*_KINDS)]
    numbers, matrix, offset = fields["numbers"].array(None), fields["matrix"].array(3, 3), fields["offset"].array(3)
    count = len(numbers) // 3 if kind == layout.HULL else 0
    if len(numbers) != (3 * max(count, 1) if kind == layout.HULL else _SIZES.get(kind, 3)):
        fields["numbers"].wrong(f"as many numbers as a {_NAMES[kind]} has")
    lengths = numbers[:1] if kind == layout.CYLINDER and numbers[1] == 0.0 else numbers  # a disc has height 0
    if kind in (layout.BOX, layout.CYLINDER, layout.CONE, layout.ELLIPSOID) and not (lengths > 0.0).all():
        fields["numbers"].wrong("lengths, each more than 0")
    for name, values in (("numbers", numbers), ("matrix", matrix), ("offset", offset)):
        if _greatest(values) > GREATEST:
            fields[name].wrong(f"numbers of at most {GREATEST:g}")
    if _greatest(matrix) * _greatest(numbers) > GREATEST or not abs(np.linalg.det(matrix)) > 0.0:
        fields["matrix"].wrong(f"an invertible one, and lengths of at most {GREATEST:g}")
    return Part(kind, count, numbers, matrix, offset)


def _greatest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))
