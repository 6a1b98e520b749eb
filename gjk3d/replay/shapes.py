"""Shapes and bodies as JSON, and the reader of untrusted JSON.

A shape that is written and read again has the same bits. Errors of the reader contain the path of the wrong value in
the document, for example ``a.radius``.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Callable, Iterator
from math import inf, isfinite, prod
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from gjk3d.bodies.base import Body
from gjk3d.bodies.compound import Compound, PointCloud, Shell
from gjk3d.bodies.grids import HeightField, VoxelGrid
from gjk3d.bodies.mesh import Mesh
from gjk3d.engine.dispatch import Collider
from gjk3d.errors import FileError, Gjk3dError, ParseError, ShapeError, UnsupportedPair
from gjk3d.geometry.hulls import build_hull, hull_of_faces
from gjk3d.poses import matrices
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.composed import Composed, Rounded
from gjk3d.shapes.layout import GREATEST, Part
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.shapes.table import SHAPES
from gjk3d.typing import Array
from gjk3d.wording import expected_names

# --- the reader ------------------------------------------------------------------------------------------------------


MAX_BYTES = 16 << 20  #: greatest size of a document. Python's lists of its numbers take up to 50 times as much memory
CURE = ". Write the file again with result.to_json()"
_SHOWN = 40  #: greatest number of characters of a wrong value in an error
_NAMED = {"inf": inf, "-inf": -inf, "nan": float("nan")}


class Value(NamedTuple):
    """A value of a document, the name of its file, and its path in the document."""

    raw: Any
    file: str
    place: str = ""

    @property
    def where(self) -> str:
        """The name of the file and the path of the value, for errors."""
        return f"{self.file}: {self.place}" if self.place else self.file

    def wrong(self, expected: str) -> NoReturn:
        """Raise a ParseError with the value and the text ``expected``."""
        raise ParseError(f"{self.where} is {_shown(self.raw)}, expected {expected}{CURE}")

    def fields(self, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Value]:
        """Return the members of a JSON object. Raise a ParseError for a missing ``needed`` name or an unknown name."""
        for name in needed:
            self.peek(name)
        for name in self.raw:
            if name not in needed and name not in optional:
                raise ParseError(f"{self.where} has {name[:_SHOWN]!r}, {expected_names(name, (*needed, *optional))}")
        return {name: self._member(name) for name in self.raw}

    def _member(self, name: str) -> Value:
        return Value(self.raw[name], self.file, f"{self.place}.{name}" if self.place else name)

    def members(self) -> set[str]:
        """Return the names of the members of a JSON object."""
        if not isinstance(self.raw, dict):
            self.wrong("an object")
        return set(self.raw)

    def peek(self, name: str) -> Value:
        """Return one member of a JSON object. Other members are not checked."""
        if name not in self.members():
            raise ParseError(f"{self.where} does not contain {name!r}{CURE}")
        return self._member(name)

    def items(self) -> Iterator[Value]:
        """Return the items of a JSON list."""
        if not isinstance(self.raw, list):
            self.wrong("a list")
        return (Value(item, self.file, f"{self.place}[{i}]") for i, item in enumerate(self.raw))

    def number(self, *, finite: bool = True) -> float:
        """Return the value as a float. A hexadecimal string such as "0x1.8p+1" is accepted too.

        Without ``finite``, the strings "inf", "-inf" and "nan" are accepted too.
        """
        raw = self.raw
        if isinstance(raw, str):
            if not finite and raw in _NAMED:
                return _NAMED[raw]
            try:
                raw = float.fromhex(raw) if raw.lstrip("+-")[:2].lower() == "0x" else None
            except (ValueError, OverflowError):
                raw = None
        if isinstance(raw, bool) or not isinstance(raw, int | float):
            self.wrong("a number")
        try:
            value = float(raw)
        except OverflowError:
            value = inf
        if not isfinite(value):
            self.wrong("a finite number")
        return value

    def whole(self, least: int, most: int) -> int:
        """Return the value as an integer from ``least`` to ``most``."""
        if isinstance(self.raw, bool) or not isinstance(self.raw, int) or not least <= self.raw <= most:
            self.wrong(f"an integer from {least} to {most}")
        return int(self.raw)

    def array(self, *shape: int | None, finite: bool = True) -> Array:
        """Return nested lists of numbers as an array of this shape. None in the shape accepts any length."""
        lengths = [len(self.raw) if length is None else length for length in shape]
        return np.array(self._numbers(shape, finite), dtype=np.float64).reshape(lengths)

    def _numbers(self, shape: tuple[int | None, ...], finite: bool) -> list[float]:
        if not shape:
            return [self.number(finite=finite)]
        members = list(self.items())
        if shape[0] is not None and len(members) != shape[0]:
            raise ParseError(f"{self.where} has {len(members)} entries, expected {shape[0]}{CURE}")
        return [number for member in members for number in member._numbers(shape[1:], finite)]

    def indices(self, columns: int, below: int) -> NDArray[np.int64]:
        """Return lists of integers from 0 to ``below`` - 1 as an array (n, columns)."""
        rows = []
        for row in self.items():
            members = [member.whole(0, below - 1) for member in row.items()]
            if len(members) != columns:
                raise ParseError(f"{row.where} has {len(members)} entries, expected {columns}{CURE}")
            rows.append(members)
        return np.array(rows, dtype=np.int64).reshape(-1, columns)

    def one_of(self, *choices: str) -> str:
        """Return the value as a string that is one of ``choices``."""
        if not isinstance(self.raw, str) or self.raw not in choices:
            self.wrong(" or ".join(map(repr, choices)))
        return str(self.raw)

    def text(self) -> str:
        """Return the value as a string."""
        if not isinstance(self.raw, str):
            self.wrong("a string")
        return str(self.raw)

    def truth(self) -> bool:
        """Return the value as a bool."""
        if not isinstance(self.raw, bool):
            self.wrong("true or false")
        return bool(self.raw)


def _shown(raw: Any) -> str:
    if isinstance(raw, dict | list):
        return f"{'an object' if isinstance(raw, dict) else 'a list'} of {len(raw)}"
    if isinstance(raw, int) and abs(raw) >= 1 << 64:
        return "an integer of more than 64 bits"
    text = json.dumps(raw)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def read_json(path: str | os.PathLike[str]) -> Value:
    """Return the JSON document in a file. Raise a FileError if it does not exist, or a ParseError for other content."""
    file = Path(path)
    if os.path.isdir(file):
        raise FileError(f"{str(file)!r} is a folder, expected a file of result.to_json(). Name a file in it")
    if not os.path.isfile(file):
        raise FileError(f"the file {str(file)!r} does not exist. Write it with result.to_json(path)")
    with file.open("rb") as stream:
        content = stream.read(MAX_BYTES + 1)  # the size in the folder's entry may be wrong
    if len(content) > MAX_BYTES:
        raise ParseError(
            f"{file.name} is larger than {MAX_BYTES >> 20} MiB, the limit for one query. Write one row of the result: "
            "result[i].to_json()"
        )
    try:
        raw = json.loads(content.decode("utf-8"), parse_constant=_refuse, object_pairs_hook=_without_duplicates)
    except RecursionError:
        raise ParseError(
            f"{file.name} is nested too deeply, expected the few levels of result.to_json(). Write it again with "
            "result.to_json(path)"
        ) from None
    except (ValueError, UnicodeDecodeError) as reason:
        raise ParseError(f"{file.name} is not JSON: {reason}{CURE}") from None
    return Value(raw, file.name)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{max(names, key=names.count)[:_SHOWN]!r} occurs twice")
    return members


# --- shapes and bodies -----------------------------------------------------------------------------------------------


#: for each class that stores its arguments unchanged, the arguments and their shapes; () means one number
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
#: how many numbers a kind of part has, if there are not 3 of them; a hull has 3 for each vertex
_SIZES = {layout.POINT: 0, layout.CYLINDER: 2, layout.CONE: 2}
_UNIT = 1e-15  #: largest error of the length of a normalised vector

_FEW = 96  #: an array of more numbers is written as base64, a smaller array as nested lists
_MOST_CELLS = 1 << 26  #: greatest number of cells of a grid. A byte of the document contains several cells
_RESIDUAL = 1e-11  #: largest residual of a pose row after the polar step, see `gjk3d.poses`
_SUM = 1e-15  #: largest difference of two sums of three products with different orders of the terms


class _Type(NamedTuple):
    dtype: str  #: type of the numbers in base64
    read: Callable[..., NDArray[Any]]  #: reader of nested lists


_TYPES = {
    "float64": _Type("<f8", lambda value, shape: value.array(*shape)),
    "int32": _Type("<i4", lambda value, shape: value.indices(shape[1], 1 << 31).astype(np.int32)),
}


# --- writing shapes ---------------------------------------------------------------------------------------------------


def write_shape(shape: Shape) -> dict[str, Any]:
    """Return a convex shape as a dict for JSON, with the name of its class and its numbers.

    Raise an UnsupportedPair error for a class that gjk3d does not define, and for a user's support mapping.
    """
    kind = next((cls for cls in SHAPES if isinstance(shape, cls)), None)
    if kind is None or (isinstance(shape, Composed) and shape._functions):
        raise UnsupportedPair(
            f"a {type(shape).__name__} cannot be written to JSON, because its support mapping is a Python function. "
            "Use a gjk3d.ConvexHull of its surface().vertices."
        )
    name = kind.__name__
    if isinstance(shape, Rounded):
        return {"shape": name, "core": write_shape(shape.core), "radius": shape.radius}
    if isinstance(shape, Composed):
        terms = [
            [
                {
                    "kind": _NAMES[part.kind],
                    "numbers": part.numbers.tolist(),
                    "matrix": part.matrix.tolist(),
                    "offset": part.offset.tolist(),
                }
                for part in term
            ]
            for term in shape._terms()
        ]
        return {"shape": name, "terms": terms, "radius": shape._rounding()}
    if isinstance(shape, ConvexHull):
        return _write_hull(shape)
    return {"shape": name, **{field: np.asarray(getattr(shape, field)).tolist() for field in _PLAIN[name]}}


def _write_hull(shape: ConvexHull) -> dict[str, Any]:
    written: dict[str, Any] = {"shape": "ConvexHull", "points": shape.vertices.tolist()}
    hull, again = shape._hull(), build_hull(shape.vertices)
    is_same = np.array_equal(again.vertices, hull.vertices) and np.array_equal(again.faces, hull.faces)
    is_same = is_same and again.defect == hull.defect and again.dimension == hull.dimension
    if not (is_same and np.array_equal(again.angles, hull.angles)):
        # the hull of the vertices alone differs, because points that are not vertices decided ties between its faces
        written["dimension"], written["defect"] = hull.dimension, hull.defect
        written["faces"], written["angles"] = hull.faces.tolist(), hull.angles.tolist()
    return written


# --- reading shapes ---------------------------------------------------------------------------------------------------


def read_shape(value: Value) -> Shape:
    """Return the convex shape that a value of an untrusted document describes. Raise a ParseError for another value."""
    kind = value.peek("shape")
    name = kind.text()
    if name not in _CLASSES:
        kind.wrong(f"one of {', '.join((*_CLASSES, *_READERS))}")
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
        raise ParseError(f"{value.where}: {reason}") from None


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
    exact = object.__new__(kind)  # the normal was normalised before, and a second division could change its last bit
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
        fields["defect"].wrong(f"a number from 0 to {GREATEST:g}")
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
        fields["radius"].wrong(f"a number from 0 to {GREATEST:g}")
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
        fields["matrix"].wrong(f"an invertible matrix whose products with the numbers are at most {GREATEST:g}")
    return Part(kind, count, numbers, matrix, offset)


def _greatest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))


# --- writing bodies ---------------------------------------------------------------------------------------------------


def write_collider(x: Collider) -> dict[str, Any]:
    """Return a shape or a body as a dict for JSON, with the name of its class and its numbers.

    A mesh is written with its triangles, name and unit, and without its file and the names of its parts.

    Raise an UnsupportedPair error for a class that gjk3d does not define.
    """
    if not isinstance(x, Body):
        return write_shape(x)
    write = _WRITERS.get(type(x))
    if write is None:
        raise UnsupportedPair(
            f"a {type(x).__name__} cannot be written to JSON, because it is not a class of gjk3d. Use a gjk3d.Mesh "
            "of its surface."
        )
    written: dict[str, Any] = {"shape": type(x).__name__, **write(x)}
    return written


def _write_mesh(x: Mesh) -> dict[str, Any]:
    faces = x.faces.astype(np.int32)  # a document is too small for more vertices
    values: dict[str, Any] = {"name": x.name, "unit": x.unit, "solid": x._solid}
    if x._rounding is not None:
        values["rounding"] = x._rounding
    return {**values, "vertices": _write_array(x.vertices, "float64"), "faces": _write_array(faces, "int32")}


def _write_compound(x: Compound) -> dict[str, Any]:
    things = {id(thing): thing for thing, _ in x._parts}  # an object that occurs several times is written once
    number = {key: k for k, key in enumerate(things)}
    return {
        "things": [write_collider(thing) for thing in things.values()],
        "which": [number[id(thing)] for thing, _ in x._parts],
        "poses": _write_array(matrices(np.stack([row for _, row in x._parts])), "float64"),
        "residuals": _write_array(np.array([row[12] for _, row in x._parts]), "float64"),
    }


def _write_voxels(x: VoxelGrid) -> dict[str, Any]:
    bits = {"type": "bits", "length": list(x.occupied.shape), "base64": _base64(np.packbits(x.occupied))}
    return {"occupied": bits, "pitch": x.pitch, "origin": x.origin.tolist()}


def _write_heights(x: HeightField) -> dict[str, Any]:
    values = {"heights": _write_array(x.heights, "float64"), "pitch": np.asarray(x.pitch).tolist()}
    bottom = {} if x.bottom == -inf else {"bottom": x.bottom}
    return {**values, "origin": x.origin.tolist(), **bottom}


_WRITERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    Mesh: _write_mesh,
    Compound: _write_compound,
    VoxelGrid: _write_voxels,
    PointCloud: lambda x: {"points": _write_array(x.points, "float64"), "radius": x.radius},
    HeightField: _write_heights,
    Shell: lambda x: {"mesh": write_collider(x.mesh), "thickness": x.thickness},
}


def _write_array(array: NDArray[Any], kind: str) -> Any:
    if array.size <= _FEW:
        return array.tolist()
    if array.nbytes > MAX_BYTES:
        raise ValueError(
            f"to_json: an array has {array.nbytes / 2**20:.1f} MiB, expected at most {MAX_BYTES >> 20} MiB. Cut out "
            "the relevant part of the model, or send its file with the call of the query."
        )
    return {"type": kind, "length": list(array.shape), "base64": _base64(array.astype(_TYPES[kind].dtype))}


def _base64(array: NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")


# --- reading bodies ---------------------------------------------------------------------------------------------------


def read_collider(value: Value) -> Collider:
    """Return the shape or body that an untrusted value describes. Raise a ParseError for other values."""
    name = value.peek("shape").raw
    read = _READERS.get(name) if isinstance(name, str) else None
    if read is None:
        return read_shape(value)
    try:
        return read(value)
    except ParseError:
        raise
    except Gjk3dError as reason:
        raise ParseError(f"{value.where}: {reason}") from None


def _read_mesh(value: Value) -> Mesh:
    fields = value.fields(("shape", "vertices", "faces"), ("name", "unit", "solid", "rounding"))
    vertices = _read_array(fields["vertices"], "float64", None, 3)
    faces = _read_array(fields["faces"], "int32", None, 3)
    name, unit = (fields[key].text() if key in fields and fields[key].raw is not None else None for key in _LABELS)
    solid = "solid" not in fields or fields["solid"].truth()
    rounding = fields["rounding"].number() if "rounding" in fields else None
    return Mesh._of(vertices, faces, name=name, unit=unit, solid=solid, rounding=rounding)


_LABELS = "name", "unit"


def _read_compound(value: Value) -> Compound:
    fields = value.fields(("shape", "things", "which", "poses"), ("residuals",))
    things = []
    for part in fields["things"].items():
        things.append(read_collider(part))
        if isinstance(things[-1], Body) and not isinstance(things[-1], Mesh):
            part.peek("shape").wrong("a convex shape or a Mesh")
    which = [k.whole(0, len(things) - 1) for k in fields["which"].items()]
    poses = _read_array(fields["poses"], "float64", len(which), 4, 4)
    compound = Compound([(things[k], pose) for k, pose in zip(which, poses, strict=True)])
    if "residuals" not in fields:
        return compound
    residuals = _read_array(fields["residuals"], "float64", len(which))
    turns = poses[:, :3, :3]
    off = np.abs(turns.transpose(0, 2, 1) @ turns - np.eye(3)).max(axis=(1, 2))
    if not (np.abs(residuals - off) <= _SUM).all() or not (off <= _RESIDUAL).all():
        fields["residuals"].wrong(f"the deviation of each rotation from orthonormal, at most {_RESIDUAL:g}")
    # the polar step was applied before, and a second one could change the last bits
    rows = np.concatenate([turns.reshape(-1, 9), poses[:, :3, 3], residuals[:, None]], axis=1)
    rows.setflags(write=False)
    placed = tuple((thing, row) for (thing, _), row in zip(compound._parts, rows, strict=True))
    return Compound._made(_geometry_error=None, _parts=placed)


def _read_voxels(value: Value) -> VoxelGrid:
    fields = value.fields(("shape", "occupied", "pitch", "origin"))
    bits = fields["occupied"]
    inner = bits.fields(("type", "length", "base64"))
    inner["type"].one_of("bits")
    length = [size.whole(1, _MOST_CELLS) for size in inner["length"].items()]
    cells = prod(length)
    if len(length) != 3 or cells > _MOST_CELLS:
        inner["length"].wrong(f"the numbers of cells along three axes, whose product is at most {_MOST_CELLS}")
    packed = np.frombuffer(_content(inner["base64"], (cells + 7) // 8), dtype=np.uint8)
    occupied = np.unpackbits(packed, count=cells).reshape(length)
    return VoxelGrid(occupied, fields["pitch"].number(), fields["origin"].array(3))


def _read_cloud(value: Value) -> PointCloud:
    fields = value.fields(("shape", "points", "radius"))
    return PointCloud(_read_array(fields["points"], "float64", None, 3), fields["radius"].number())


def _read_heights(value: Value) -> HeightField:
    fields = value.fields(("shape", "heights", "pitch", "origin"), ("bottom",))
    first = next(fields["heights"].items(), None) if isinstance(fields["heights"].raw, list) else None
    wide = len(first.raw) if first is not None and isinstance(first.raw, list) else None
    heights = _read_array(fields["heights"], "float64", None, wide)
    pitch, origin = fields["pitch"], fields["origin"].array(2)
    steps = pitch.array(2) if isinstance(pitch.raw, list) else pitch.number()
    return HeightField(heights, steps, origin, fields["bottom"].number() if "bottom" in fields else -inf)


def _read_shell(value: Value) -> Shell:
    fields = value.fields(("shape", "mesh", "thickness"))
    mesh = read_collider(fields["mesh"])
    if not isinstance(mesh, Mesh):
        fields["mesh"].peek("shape").wrong("a Mesh")
    return Shell(mesh, fields["thickness"].number())


_READERS: dict[str, Callable[[Value], Collider]] = {
    "Mesh": _read_mesh,
    "Compound": _read_compound,
    "VoxelGrid": _read_voxels,
    "PointCloud": _read_cloud,
    "HeightField": _read_heights,
    "Shell": _read_shell,
}


def _read_array(value: Value, kind: str, *shape: int | None) -> NDArray[Any]:
    """Return an array that is written as nested lists, or as base64 with the type and the length of each axis.

    ``kind`` is the type of the entries, a key of `_TYPES`. None in the shape accepts any length.
    """
    if isinstance(value.raw, list):
        return _TYPES[kind].read(value, shape)
    fields = value.fields(("type", "length", "base64"))
    fields["type"].one_of(kind)
    length = [size.whole(0, MAX_BYTES) for size in fields["length"].items()]
    if len(length) != len(shape) or any(want not in (None, size) for want, size in zip(shape, length, strict=True)):
        expected = ", ".join("any" if size is None else str(size) for size in shape)
        fields["length"].wrong(f"the length of each axis: {expected}")
    dtype = np.dtype(_TYPES[kind].dtype)
    content = _content(fields["base64"], prod(length) * dtype.itemsize)
    return np.frombuffer(content, dtype=dtype).reshape(length).astype(dtype.newbyteorder("="))


def _content(value: Value, size: int) -> bytes:
    """Return the bytes of a base64 string. Raise a ParseError unless there are ``size`` bytes."""
    text = value.text()
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        value.wrong("base64")
    if len(content) != size:
        value.wrong(f"base64 of {size} bytes, not of {len(content)} bytes")
    return content
