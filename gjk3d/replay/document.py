"""The JSON document of a query and its result: written for a bug report, read from an untrusted file, and run again."""

from __future__ import annotations

import json
import os
import platform
from enum import IntEnum
from importlib.metadata import version
from math import inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d import __version__
from gjk3d.convex.checks import FACETS, FAST
from gjk3d.engine.dispatch import Collider
from gjk3d.errors import Gjk3dError, ParseError
from gjk3d.narrow import solve as narrow
from gjk3d.query import distance as queries
from gjk3d.replay.shapes import CURE, MAX_BYTES, Value, read_collider, read_json, write_collider
from gjk3d.results import Certificate, Distance, PartsCertificate, Status
from gjk3d.typing import Array


class Sameness(IntEnum):
    """The agreement of the result of a new run with the recorded result."""

    SAME = 0  #: the results are equal to the last bit
    AGREES = 1  #: bits differ, but the intervals of the distance intersect
    CONTRADICTS = 2  #: the intervals of the distance are disjoint, so one of the results is wrong

    def __str__(self) -> str:
        return self.name


class Replay(NamedTuple):
    """A recorded query, and the result of a new run.

    Attributes
    ----------
    case : Case
        The recorded query and its result.
    now : Distance
        The result of the new run.
    rows : (n,) int
        `Sameness` of each pair. A query of one pair has one row.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> result = gk.signed_distance(gk.Box((1, 1, 1)), gk.Sphere(1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "case.json"
    ...     text = gk.replay.to_json(result, file)
    ...     replay = gk.replay.run(file)
    >>> replay.sameness.name, replay.rows.tolist(), replay.now.distance == replay.case.answer.distance
    ('SAME', [0], True)
    """

    case: Case
    now: Distance
    rows: NDArray[np.int64]

    @property
    def sameness(self) -> Sameness:
        """The greatest `Sameness` of all rows, which is the worst agreement."""
        return Sameness(int(self.rows.max(initial=0)))

    def __repr__(self) -> str:
        return f"Replay: {self.sameness.name.lower()}, then {self.case.answer!r}, now {self.now!r}"


def run(path: str | os.PathLike[str]) -> Replay:
    """Run a recorded query again, and compare the new result with the recorded result.

    Parameters
    ----------
    path : path
        A file of `Distance.to_json`.

    Returns
    -------
    Replay
        The recorded query, the result of the new run, and the agreement of both results.

    Raises
    ------
    FileError, ParseError
        The file does not exist, or is not a document of `Distance.to_json`.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> result = gk.signed_distance(gk.Box((1, 1, 1)), gk.Sphere(1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = result.to_json(pathlib.Path(folder) / "case.json")
    ...     gk.replay.run(pathlib.Path(folder) / "case.json").sameness.name
    'SAME'
    """
    case = read(path)
    try:
        now = getattr(queries, case.query)(case.a, case.b, case.pose_a, case.pose_b, **case.arguments)
    except Gjk3dError as reason:
        raise ParseError(f"{os.path.basename(path)}: {reason}") from None
    if np.shape(now.distance) != np.shape(case.answer.distance):
        then, rows = (_rows(np.shape(of.distance)) for of in (case.answer, now))
        raise ParseError(f"{os.path.basename(path)}: the result is {then}, but the poses are {rows}{CURE}")
    return Replay(case, now, compare(case.answer, now))


def _rows(shape: tuple[int, ...]) -> str:
    return f"a stack of {shape[0]}" if shape else "one pair"


def compare(then: Distance, now: Distance) -> NDArray[np.int64]:
    """Return the `Sameness` of each row of two results, (n,) int."""
    is_same = np.ones(len(np.atleast_1d(now.distance)), dtype=bool)
    for name in (*NUMBERS, "status", "tight"):
        differ = _bits(np.asarray(getattr(then, name))) != _bits(np.asarray(getattr(now, name)))
        is_same &= ~(differ.any(axis=-1) if name in ("normal", "point_a", "point_b") else differ)
    # NaN bounds do not intersect any interval
    intersect = (np.atleast_1d(now.lower) <= np.atleast_1d(then.upper)) & (
        np.atleast_1d(then.lower) <= np.atleast_1d(now.upper)
    )
    return np.where(is_same, Sameness.SAME, np.where(intersect, Sameness.AGREES, Sameness.CONTRADICTS)).astype(np.int64)


def _bits(values: NDArray[Any]) -> NDArray[Any]:
    """Return floats as integers with the same bits, so that -0 differs from 0. Other arrays are unchanged."""
    return np.ascontiguousarray(values).view(np.int64) if values.dtype == np.float64 else values


FORMAT, SCHEMA_VERSION = "gjk3d-replay", 1
#: numbers of a result, and their shapes for one pair
NUMBERS: dict[str, tuple[int, ...]] = {
    "distance": (),
    "lower": (),
    "upper": (),
    "normal": (3,),
    "point_a": (3,),
    "point_b": (3,),
}
#: arrays of a certificate, and their shapes; None is any length
_PROOF: dict[str, tuple[int | None, ...]] = {
    "normal": (3,),
    "support_a": (3,),
    "support_b": (3,),
    "points_a": (None, 3),
    "points_b": (None, 3),
    "weights": (None,),
    "faces": (None, 3),
    "directions": (None, 3),
}
_MOST_PARTS = 1 << 31
_DEPTHS = {"auto": narrow.SIGNED, "epa": narrow.EPA_ALWAYS, "facets": FACETS, "fast": FAST}
_MODES = {mode: depth for depth, mode in _DEPTHS.items()}
_STATUS = {status.name.lower(): status for status in Status}


class Case(NamedTuple):
    """A recorded query: its arguments, its result, and the versions that computed it.

    Attributes
    ----------
    query : str
        "distance" or "signed_distance".
    arguments : dict
        The keyword arguments of the query.
    a, b : Shape, Mesh or the like
        The shapes of the query.
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float or None
        World from local for each shape. None is the identity.
    answer : Distance
        The recorded result.
    versions : dict
        The recorded versions of gjk3d and of its dependencies.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> result = gk.signed_distance(gk.Box((1, 1, 1)), gk.Sphere(1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "case.json"
    ...     text = gk.replay.to_json(result, file)
    ...     case = gk.replay.read(file)
    >>> case.query, case.arguments["depth"], case.b, case.answer.status.name
    ('signed_distance', 'auto', Sphere(radius=1.0), 'OVERLAPPING')
    """

    query: str
    arguments: dict[str, Any]
    a: Collider
    b: Collider
    pose_a: Array | None
    pose_b: Array | None
    answer: Distance
    versions: dict[str, str]


def versions() -> dict[str, str]:
    """Return the versions of gjk3d, Python, numpy and llvmlite by name, and the platform.

    The last bits of a result may depend on them.

    Examples
    --------
    >>> import gjk3d as gk
    >>> sorted(gk.replay.versions())
    ['gjk3d', 'llvmlite', 'numpy', 'platform', 'python']
    """
    return {
        "gjk3d": __version__,
        "numpy": np.__version__,
        "llvmlite": version("llvmlite"),
        "python": platform.python_version(),
        "platform": platform.platform(),
    }


# --- writing ----------------------------------------------------------------------------------------------------------


def to_json(result: Distance, path: str | os.PathLike[str] | None = None) -> str:
    r"""Return the JSON document of a query and its result, and write it to a file if a path is given.

    Parameters
    ----------
    result : Distance
        Result of a query of two shapes or bodies, at one pair of poses or at a stack of poses.
    path : path, optional
        The file to write.

    Returns
    -------
    str
        The document, see `Distance.to_json`.

    Raises
    ------
    TypeError, ValueError
        The result is of several pairs of shapes, or the document is too large.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.replay.to_json(gk.distance(gk.Sphere(1), gk.Point((3, 0, 0))))[:28]
    '{\n"format": "gjk3d-replay",\n'
    """
    if result.shape_a is None:
        raise TypeError("to_json() needs a result of two shapes. Take a row first: result[i].to_json().")
    query, arguments = _options_of(result)
    document = {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "query": query,
        "arguments": arguments,
        "a": write_collider(result.shape_a),
        "b": write_collider(result.shape_b),
        "pose_a": None if result.pose_a is None else result.pose_a.tolist(),
        "pose_b": None if result.pose_b is None else result.pose_b.tolist(),
        "answer": _write_answer(result),
        **({} if result.certificate is None else {"certificate": _write_certificate(result.certificate)}),
        "versions": versions(),
    }
    rows = (f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in document.items())
    text = "{\n" + ",\n".join(rows) + "\n}\n"
    if len(text) > MAX_BYTES:
        cure = (
            "Take the relevant rows: result[i].to_json()."
            if np.ndim(result.distance)
            else "Cut out the relevant part of the models, or send their files with the call of the query."
        )
        raise ValueError(
            f"to_json: the document has {len(text) / 2**20:.1f} MiB, expected at most {MAX_BYTES >> 20} MiB. {cure}"
        )
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def _options_of(result: Distance) -> tuple[str, dict[str, Any]]:
    mode, max_distance, tol, trace = result.asked
    far, wide = None if max_distance == inf else float(max_distance), None if tol is None else float(tol)
    arguments: dict[str, Any] = {"max_distance": far, "tol": wide}
    if trace:
        arguments["trace"] = True
    if result.certificate is not None:
        arguments["certificate"] = True
    if mode == narrow.UNSIGNED:
        return "distance", arguments
    return "signed_distance", {"depth": _MODES[mode], **arguments}


def _write_answer(result: Distance) -> dict[str, Any]:
    is_single = result.normal.ndim == 1
    statuses = [result.status] if is_single else result.status.tolist()
    names = [Status(status).name.lower() for status in statuses]
    return {
        "status": names[0] if is_single else names,
        **{name: _plain(np.asarray(getattr(result, name)).tolist()) for name in NUMBERS},
        "tight": np.asarray(result.tight).tolist(),
        "iterations": np.asarray(result.iterations).tolist(),
    }


def _write_certificate(certificate: Certificate | PartsCertificate) -> dict[str, Any]:
    if isinstance(certificate, PartsCertificate):
        return {"kind": "parts", **{name: array.tolist() for name, array in certificate._asdict().items()}}
    return {"kind": certificate.kind, **{name: getattr(certificate, name).tolist() for name in _PROOF}}


def _plain(value: Any) -> Any:
    """Return a number or nested lists of numbers, with strings for NaN and infinities, which JSON does not have."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isfinite(value) else str(value)


# --- reading ----------------------------------------------------------------------------------------------------------


def read(path: str | os.PathLike[str]) -> Case:
    """Return the query and the result in a file of `Distance.to_json`.

    Parameters
    ----------
    path : path
        The file.

    Raises
    ------
    FileError, ParseError
        The file does not exist, or a value in it is wrong. The message names the path of the value in the document.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "case.json"
    ...     text = gk.distance(gk.Sphere(1), gk.Point((3, 0, 0))).to_json(file)
    ...     gk.replay.read(file).b
    Point(p=[3.0, 0.0, 0.0])
    """
    document = read_json(path)
    if document.peek("format").raw != FORMAT:
        document.peek("format").wrong(json.dumps(FORMAT))
    document.peek("schema_version").whole(SCHEMA_VERSION, SCHEMA_VERSION)
    fields = document.fields(
        ("format", "schema_version", "query", "arguments", "a", "b", "pose_a", "pose_b", "answer", "versions"),
        ("certificate",),
    )
    query = fields["query"].one_of("distance", "signed_distance")
    arguments = _read_arguments(fields["arguments"], query)
    a, b = read_collider(fields["a"]), read_collider(fields["b"])
    pose_a, pose_b = _read_pose(fields["pose_a"]), _read_pose(fields["pose_b"])
    answer = _read_answer(fields["answer"])
    answer.shape_a, answer.shape_b, answer.pose_a, answer.pose_b = a, b, pose_a, pose_b
    answer.asked = (
        _DEPTHS[arguments["depth"]] if query == "signed_distance" else narrow.UNSIGNED,
        arguments["max_distance"],
        arguments["tol"],
        arguments["trace"],
    )
    if "certificate" in fields:
        answer.certificate = _read_certificate(fields["certificate"])
    members = fields["versions"].members()
    version_texts = {name: value.text() for name, value in fields["versions"].fields(tuple(members)).items()}
    return Case(query, arguments, a, b, pose_a, pose_b, answer, version_texts)


def _read_arguments(value: Value, query: str) -> dict[str, Any]:
    needed = ("max_distance", "tol") if query == "distance" else ("depth", "max_distance", "tol")
    fields = value.fields(needed, ("trace", "certificate"))
    arguments: dict[str, Any] = {"depth": fields["depth"].one_of(*_DEPTHS)} if "depth" in fields else {}
    for name, absent in (("max_distance", inf), ("tol", None)):
        number = absent if fields[name].raw is None else fields[name].number()
        if number is not None and not number >= 0.0:
            fields[name].wrong("a number of at least 0, or null")
        arguments[name] = number
    for name in ("trace", "certificate"):
        arguments[name] = name in fields and fields[name].truth()
    return arguments


def _read_certificate(value: Value) -> Certificate | PartsCertificate:
    if value.peek("kind").raw == "parts":
        return _read_parts(value)
    fields = value.fields(("kind", *_PROOF))
    numbers = {name: fields[name].array(*shape) for name, shape in _PROOF.items() if name != "faces"}
    faces = fields["faces"].indices(3, max(1, len(numbers["points_a"])))
    return Certificate(kind=fields["kind"].one_of("weights", "surface", "section", "plane"), faces=faces, **numbers)


def _read_parts(value: Value) -> PartsCertificate:
    fields = value.fields(("kind", *PartsCertificate._fields))
    lists = {
        name: np.array([number.whole(0, _MOST_PARTS) for number in fields[name].items()], dtype=np.int64)
        for name in ("order_a", "order_b", "parts")
    }
    ranges = fields["ranges"].indices(4, _MOST_PARTS + 1)
    return PartsCertificate(ranges=ranges, normals=fields["normals"].array(None, 3), **lists)


def _read_pose(value: Value) -> Array | None:
    if value.raw is None:
        return None
    first = next(value.items(), None)
    row = first and next(first.items(), None)
    stacked = first is None or (row is not None and isinstance(row.raw, list))
    return value.array(None, 4, 4) if stacked else value.array(4, 4)


def _read_answer(value: Value) -> Distance:
    fields = value.fields(("status", *NUMBERS, "tight", "iterations"))
    result: Distance = object.__new__(Distance)
    result.trace = None
    if not isinstance(fields["status"].raw, list):
        result.status = _STATUS[fields["status"].one_of(*_STATUS)]
        result.tight, result.iterations = fields["tight"].truth(), fields["iterations"].whole(0, 1 << 62)
        for name, columns in NUMBERS.items():
            numbers = fields[name].array(*columns, finite=False)
            setattr(result, name, numbers if columns else float(numbers))
        return result
    result.status = np.array([_STATUS[v.one_of(*_STATUS)] for v in fields["status"].items()], dtype=np.int64)
    result.tight = np.array([v.truth() for v in fields["tight"].items()], dtype=bool)
    result.iterations = np.array([v.whole(0, 1 << 62) for v in fields["iterations"].items()], dtype=np.int64)
    for name, columns in NUMBERS.items():
        setattr(result, name, fields[name].array(None, *columns, finite=False))
    for name in (*NUMBERS, "tight", "iterations"):
        length = len(getattr(result, name))
        if length != len(result.status):
            raise ParseError(f"{fields[name].where} has {length} entries, but status has {len(result.status)}{CURE}")
    return result
