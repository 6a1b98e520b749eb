"""Findings. A `Clash` is one finding. `Clashes` stores findings in columns, and creates a `Clash` when it is read."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from math import inf
from typing import Annotated, Any, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d.clash.detection.parts import order
from gjk3d.clash.documents import Ascii, Count, Interval, Number, Vector, convert, one_of
from gjk3d.typing import Bools, Ints
from gjk3d.wording import excerpt, format_depth, json_ready, number

T = TypeVar("T")
_BLOCK = 32  #: rows that are created at once


class LazyRows(Sequence[T]):
    """A sequence that creates its items when they are read. Otherwise it behaves as a tuple."""

    __slots__ = ()

    @abstractmethod
    def _some(self, rows: slice) -> Iterable[T]:
        """Return the items of a slice of rows."""

    def __iter__(self) -> Iterator[T]:
        for start in range(0, len(self), _BLOCK):
            yield from self._some(slice(start, start + _BLOCK))

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return tuple(self._some(index))
        place = range(len(self))[index]
        (item,) = self._some(slice(place, place + 1))
        return item

    def __add__(self, items: Iterable[T]) -> tuple[T, ...]:
        return (*self, *items)

    def __radd__(self, items: Iterable[T]) -> tuple[T, ...]:
        return (*items, *self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LazyRows | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"({excerpt(self).strip()})"


def vectors(values: NDArray[np.float64]) -> list[Any]:
    """Return the rows of an array as nested tuples, or as numbers if it has one axis. A row of nan becomes None."""
    rows = values.tolist()
    for _ in range(values.ndim - 2):
        rows = [tuple(map(tuple, row)) for row in rows]
    if values.ndim == 2:
        rows = list(map(tuple, rows))
    unknown = np.logical_and.reduce(np.isnan(values), axis=tuple(range(1, values.ndim)))
    return [None if lacks else row for row, lacks in zip(rows, unknown.tolist(), strict=True)]


#: The kinds of findings, the worst first.
KINDS = ("hard", "contained", "duplicate", "unchecked", "clearance", "touch")
#: The kinds that count as clashes unless a caller includes touches.
COUNTED = KINDS[:-1]
#: The status of a finding: not in the baseline, also in the baseline, only in the baseline, and ignored.
STATUSES = ("new", "active", "resolved", "ignored")
OPEN = STATUSES[:2]

_DISTANCE_KINDS = ("exact", "bound", "approximate")


@dataclass(frozen=True, slots=True)
class Clash:
    """A finding about two parts. Lengths are in the unit of the report, points and directions in the assembly's frame.

    Attributes
    ----------
    id : str
        The identifier of the finding. It is equal in all runs in which the kind and the names of the two parts are
        equal. For parts of IFC files, the GlobalIds count instead of the names.
    kind : {"hard", "touch", "clearance", "contained", "duplicate", "unchecked"}
        The kind of the finding. "hard" is an overlap deeper than the tolerance, "touch" an overlap or gap up to the
        tolerance, and "clearance" a gap below clearance - tolerance. "contained" is a part inside the other without a
        contact of surfaces, "duplicate" a pair of equal parts at one place, and "unchecked" a failed check.
    severity : int
        The rank in the report, where 1 is the worst. Findings are sorted by kind, then by `penetration` (or `depth` if
        `penetration` is unknown), then by gap.
    status : {"new", "active", "resolved", "ignored"}
        The status from the comparison with the baseline and from the rules for ignored findings.
    a, b : str
        The names of the parts, in the order of names.
    a_file, b_file : str
        The files of the parts.
    distance : float or None
        The signed distance. It is negative for an overlap.
    depth : float or None
        The length of the separating translation `mtv` of part B, or 0 without an overlap. `distance_kind` states
        whether this length is exact or a bound.
    mtv : (3,) float or None
        The shortest known translation of part B that separates the parts.
    normal : (3,) float or None
        The unit vector from part A to part B.
    point_a, point_b : (3,) float or None
        The witness points, which are the nearest points of both parts, or the deepest points in the other part.
    point : (3,) float or None
        The point that shows the place of the finding.
    overlap_volume : float or None
        The volume of the intersection of both parts.
    overlap_box : pair of (3,) float, or None
        The lowest and the highest corner of the intersection of both parts.
    shape_a, shape_b : {"hull", "triangles"}
        The geometry of each part that decided the pair.
    method : str
        The algorithm: "gjk", "epa", "triangles", "boolean", "inside" or "equal". Empty if the pair is unchecked.
    distance_kind : {"exact", "bound", "approximate"}
        The quality of the distance. "exact" is correct within `error_bound`. "bound" is an upper bound of the depth,
        because `mtv` separates the parts, and the true depth is at least ``depth - error_bound``. "approximate" is an
        estimate.
    error_bound : float or None
        The largest error of `distance`. For STEP files it includes the error of the triangles on curved faces. None if
        it is unknown, as for the depth of a touch.
    tolerance : float or None
        The largest overlap or gap that counts as touching.
    convex_gap : float or None
        The difference between the true distance and the distance of the hulls, if the hulls were compared first.
    penetration : float or None
        A lower bound of the largest depth of a surface point inside of the other part, as in `gjk3d.penetration`.
        Overlaps of one kind are sorted by this number.
    time : float or None
        The time of the values above if a part moves. It is the time of the deepest overlap or the smallest gap.
    intervals : tuple of (float, float, float, float)
        The times of each clash of moving parts. The parts are free before the first time, clash from the second to the
        third time, and are free after the fourth time.
    least : (float, float) or None
        Bounds of the smallest clearance over the whole motion, also between the computed times. If joints were solved
        numerically, the bounds include their measured error, and a note of the report states it.
    group : str
        The name of the group of the finding: a part that is common to near findings, which are often one problem.
    note : str
        Further information.

    Examples
    --------
    >>> import gjk3d as gk
    >>> cube = gk.Box((1, 1, 1)).surface()
    >>> parts = {name: gk.Mesh(cube.vertices + shift, cube.faces) for name, shift in (("a", 0), ("b", 0.75), ("c", 3))}
    >>> report = gk.clash.check(gk.clash.Assembly.of(parts, "mm"), clearance=2.5)
    >>> worst = report.clashes[0]
    >>> worst.kind, worst.a, worst.b, worst.depth, worst.evidence
    ('hard', 'a', 'b', 0.25, 'epa, exact')
    >>> worst.is_open, worst.fails(("hard",), only_new=True)
    (True, True)
    >>> gk.clash.Clash.from_dict(worst.to_dict()) == worst
    True
    """

    id: Ascii
    kind: Annotated[str, one_of(*KINDS)]
    severity: Count
    status: Annotated[str, one_of(*STATUSES)]
    a: str
    b: str
    a_file: str
    b_file: str
    distance: Number | None = None
    depth: Number | None = None
    mtv: Vector | None = None
    normal: Vector | None = None
    point_a: Vector | None = None
    point_b: Vector | None = None
    point: Vector | None = None
    overlap_volume: Number | None = None
    overlap_box: tuple[Vector, Vector] | None = None
    shape_a: Ascii = "hull"
    shape_b: Ascii = "hull"
    method: Ascii = "gjk"
    distance_kind: Annotated[str, one_of(*_DISTANCE_KINDS)] = "approximate"
    error_bound: Number | None = None
    tolerance: Number | None = None
    convex_gap: Number | None = None
    penetration: Number | None = None
    time: Number | None = None
    intervals: tuple[Interval, ...] = ()
    least: tuple[Number, Number] | None = None
    group: str = ""
    note: str = ""

    def __repr__(self) -> str:
        measure = ""
        if self.distance is not None:
            error = self.error_bound if self.distance_kind == "bound" and self.error_bound is not None else 0.0
            depth = format_depth(self.distance, min(0.0, self.distance + error))
            gap = f"depth {depth}" if self.distance < 0.0 else f"distance {number(self.distance)}"
            measure = f", {gap} ({self.evidence})"
        return f"<Clash {self.id}: {self.kind}, {self.a!r} and {self.b!r}{measure}>"

    @property
    def evidence(self) -> str:
        """The method and the quality of the distance as a short text."""
        if self.kind == "unchecked":
            return "-"
        kind = "range" if self.distance_kind == "bound" else self.distance_kind
        return ", ".join(word for word in (self.method, "" if self.distance is None else kind) if word)

    @property
    def is_open(self) -> bool:
        """Whether the finding is neither ignored nor resolved."""
        return self.status in OPEN

    def fails(self, kinds: Collection[str], only_new: bool) -> bool:
        """Return whether the finding fails a check in CI.

        Parameters
        ----------
        kinds : collection of str
            The kinds that fail the check.
        only_new : bool
            Whether findings that the baseline contains do not fail.
        """
        return self.kind in kinds and self.status in (("new",) if only_new else OPEN)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON data. Vectors are lists, and numbers that are not finite are None."""
        return record(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Clash:
        """Return the finding that `to_dict` converted to a dict.

        Parameters
        ----------
        values : dict
            The value of each field by its name. Unknown names are ignored.
        """
        return convert(dict(values), cls, "the finding", ending="")


def clash_id(kind: str, a: str, b: str) -> str:
    """Return the id of a finding: a hash of its kind and of the identifiers of its parts. Their order has no effect."""
    first, second = sorted((a, b))
    text = "\0".join((kind, first, second))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def record(item: Any) -> dict[str, Any]:
    """Return the fields of a finding, a part or a file as JSON data."""
    return {entry.name: json_ready(getattr(item, entry.name)) for entry in fields(item)}


Objects = NDArray[np.object_]

#: The shape of an entry in each column of float64. None is nan in these columns.
_NUMBERS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("distance", "depth", "overlap_volume", "error_bound", "tolerance", "convex_gap"), ()),
    **dict.fromkeys(("penetration", "time"), ()),
    **dict.fromkeys(("mtv", "normal", "point_a", "point_b", "point"), (3,)),
    "overlap_box": (2, 3),
    "least": (2,),
}
_CODES = {"kind": KINDS, "status": STATUSES}
_FIELDS = {item.name: "" if item.default is MISSING else item.default for item in fields(Clash)}
_FIELDS |= {"id": None, "kind": KINDS[0], "severity": 0, "status": "new"}


class Names(NamedTuple):
    """The names of parts by index. The last name is empty and means a missing part."""

    names: Objects
    idents: Objects  #: the text of each part that is hashed for ids
    places: Ints  #: the index of each part in the order of names

    @classmethod
    def of(cls, names: Sequence[str], idents: Sequence[str]) -> Names:
        """Return the table for the names and identifiers of parts, with the empty last name added."""
        places = np.full(len(names) + 1, -1)
        places[sorted(range(len(names)), key=lambda k: order(names[k]))] = np.arange(len(names))
        return cls(objects([*names, ""]), objects([*idents, ""]), places)


def objects(values: Sequence[Any]) -> Objects:
    """Return values of any type as an array of objects."""
    return np.fromiter(values, dtype=object, count=len(values))


def column(name: str, values: Sequence[Any]) -> NDArray[Any]:
    """Return the values of the field ``name`` of findings as an array.

    Numbers become float64 or int64. Kinds and statuses become their indices in `KINDS` and `STATUSES`. All other values
    become objects.
    """
    if name in _CODES:
        return np.array([_CODES[name].index(value) for value in values], dtype=np.int8)
    if name in _NUMBERS:
        none = np.full(_NUMBERS[name], np.nan)
        rows = [none if value is None else value for value in values]
        return np.array(rows, dtype=np.float64).reshape(-1, *_NUMBERS[name])
    if name == "severity":
        return np.array(values, dtype=np.int64)
    return objects(values)


class _Columns(dict[str, NDArray[Any]]):
    """Columns of equal length. A missing column contains the default of its field."""

    def __missing__(self, name: str) -> NDArray[Any]:
        self[name] = np.repeat(column(name, [_FIELDS[name]]), len(self["a"]), axis=0)
        return self[name]


class Clashes(LazyRows[Clash]):
    """A sequence of findings, stored in columns. Each `Clash` is created when it is read.

    Parameters
    ----------
    parts : Names
        The names of the parts.
    columns : dict of str to array
        The values of each field of `Clash`. Unknown numbers are nan. Kinds and statuses are indices in `KINDS` and
        `STATUSES`. Parts ``a`` and ``b`` are indices in ``parts``, or -1 for a missing part. A missing column has the
        default of its field. An id of None is computed from the kind and the parts.
    """

    __slots__ = ("columns", "parts")

    def __init__(self, parts: Names, columns: Mapping[str, NDArray[Any]]) -> None:
        self.parts = parts
        self.columns = _Columns(columns)

    @classmethod
    def of(cls, clashes: Iterable[Clash]) -> Clashes:
        """Return the columns of a sequence of findings."""
        if isinstance(clashes, Clashes):
            return clashes
        rows = list(clashes)
        names = list(dict.fromkeys(name for clash in rows for name in (clash.a, clash.b) if name))
        number = {name: k for k, name in enumerate(names)} | {"": -1}
        columns = {name: column(name, [getattr(clash, name) for clash in rows]) for name in _FIELDS.keys() - {"a", "b"}}
        for side in "ab":
            columns[side] = np.array([number[getattr(clash, side)] for clash in rows], dtype=np.int64)
        return cls(Names.of(names, names), columns)

    def __len__(self) -> int:
        return len(self.columns["a"])

    def _some(self, rows: slice) -> Iterator[Clash]:
        self.ids(rows)
        return map(Clash, *(self._field_values(name, self.columns[name][rows]) for name in _FIELDS))

    def _field_values(self, name: str, values: NDArray[Any]) -> list[Any]:
        if name in ("a", "b"):
            return list(self.parts.names[values])
        items: list[Any] = values.tolist()
        if name in _CODES:
            return [_CODES[name][k] for k in items]
        return vectors(values) if name in _NUMBERS else items

    def subset(self, rows: slice | Ints | Bools) -> Clashes:
        """Return the findings of the selected rows."""
        return Clashes(self.parts, {name: values[rows] for name, values in self.columns.items()})

    def joined(self, clashes: Iterable[Clash]) -> Clashes:
        """Return these findings followed by ``clashes``, in columns."""
        added = Clashes.of(clashes)
        if not len(added):
            return self
        if added.parts is self.parts:
            return Clashes.all(self.parts, [self, added])
        names, idents = (list(labels[:-1]) for labels in self.parts[:2])
        number = {name: k for k, name in enumerate(names)}
        new = np.array([*(number.setdefault(name, len(number)) for name in added.parts.names[:-1]), -1])
        more = list(number)[len(names) :]
        renamed = {side: new[added.columns[side]] for side in "ab"}
        parts = Names.of([*names, *more], [*idents, *more])
        return Clashes.all(parts, [self, Clashes(parts, added.columns | renamed)])

    @classmethod
    def all(cls, parts: Names, many: Sequence[Clashes]) -> Clashes:
        """Return one table with the findings of several tables of the same parts."""
        if not many:
            return cls(parts, {side: np.zeros(0, dtype=np.int64) for side in "ab"})
        if len(many) == 1:
            return many[0]
        fields_set = {name for part in many for name in part.columns}
        return cls(parts, {name: np.concatenate([part.columns[name] for part in many]) for name in fields_set})

    def ids(self, rows: slice | Ints | Bools = slice(None)) -> list[str]:
        """Return the ids of the findings of the selected rows, by default of all findings."""
        ids: list[str] = self.columns["id"][rows].tolist()
        if None in ids:
            kinds, idents = self.columns["kind"][rows].tolist(), self.parts.idents
            sides = (idents[self.columns[side][rows]].tolist() for side in "ab")
            ids = [ident or clash_id(KINDS[kind], a, b) for ident, kind, a, b in zip(ids, kinds, *sides, strict=True)]
            self.columns["id"][rows] = ids
        return ids

    def note(self, rows: Ints, words: str) -> None:
        """Add the text ``words`` to the note of each finding in ``rows``."""
        notes = self.columns["note"]
        notes[rows] = [f"{note}; {words}".removeprefix("; ") for note in notes[rows]]

    @property
    def is_open(self) -> Bools:
        """Whether each finding is open. See `Clash.is_open`."""
        opened: Bools = self.columns["status"] < len(OPEN)
        return opened

    def counts(self) -> Counter[tuple[str, str]]:
        """Return the number of findings of each status and kind."""
        totals = np.bincount(len(KINDS) * self.columns["status"].astype(np.int64) + self.columns["kind"])
        return Counter(
            {(STATUSES[k // len(KINDS)], KINDS[k % len(KINDS)]): int(totals[k]) for k in np.flatnonzero(totals)}
        )

    def worst_first(self) -> Ints:
        """Return the indices of the findings sorted by severity, with resolved and ignored findings at the end.

        Findings are sorted by kind, then by `Clash.penetration` (or the depth if it is unknown), then by the gap.
        """
        columns = self.columns
        distance = np.where(np.isnan(columns["distance"]), inf, columns["distance"])
        inside = np.where(np.isnan(columns["penetration"]), distance, -columns["penetration"])
        place = np.where(self.is_open, 0, columns["status"])
        names = (self.parts.places[columns[side]] for side in "ba")
        worst: Ints = np.lexsort((*names, distance, inside, columns["kind"], place))
        return worst
