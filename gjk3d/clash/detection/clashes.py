"""Findings: a `Clash` is one row, and `Clashes` are the columns, which make a `Clash` when it is read."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from math import inf
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d.clash.detection.parts import order
from gjk3d.typing import Bools, Ints
from gjk3d.wording import below, excerpt, json_ready, number

T = TypeVar("T")
_BLOCK = 32  #: rows that are made at once


class LazyRows(Sequence[T]):
    """A sequence that makes its items when they are read, and behaves as a tuple of them otherwise."""

    __slots__ = ()

    @abstractmethod
    def _some(self, rows: slice) -> Iterable[T]:
        """Make some of the items."""

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
    """Return rows of numbers as nested tuples, or plain numbers; None for a row of nan alone."""
    rows = values.tolist()
    for _ in range(values.ndim - 2):
        rows = [tuple(map(tuple, row)) for row in rows]
    if values.ndim == 2:
        rows = list(map(tuple, rows))
    unknown = np.logical_and.reduce(np.isnan(values), axis=tuple(range(1, values.ndim)))
    return [None if lacks else row for row, lacks in zip(rows, unknown.tolist(), strict=True)]


#: Every kind of finding, the worst first.
KINDS = ("hard", "contained", "duplicate", "unchecked", "clearance", "touch")
#: What a finding is beside the baseline: there for the first time, there again, gone, or not to be counted.
STATUSES = ("new", "active", "resolved", "ignored")
OPEN = ("new", "active")

Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Clash:
    """One finding about two parts. Lengths are in the unit of the report; points and directions in its frame.

    Attributes
    ----------
    id : str
        The same in every run as long as the two parts keep their names, in IFC their GlobalIds, and the finding its
        kind.
    kind : {"hard", "touch", "clearance", "contained", "duplicate", "unchecked"}
        Overlap deeper than the tolerance; surfaces closer than it; a gap below clearance - tolerance; one part inside
        the other, their surfaces apart; the same part twice at one place; could not be decided.
    severity : int
        Rank in the report, 1 is the worst: by kind, then by `penetration` (by `depth` where it is not known), then by
        how near the two are.
    status : {"new", "active", "resolved", "ignored"}
        Beside the baseline, and by the rules of what to ignore.
    a, b : str
        Names of the parts, in the order of names.
    a_file, b_file : str
        The files they came from.
    distance : float or None
        Signed: the gap, or less the depth of the overlap.
    depth : float or None
        How far must B move to be free of A? At least or at most or just so as `distance_kind` says; 0 where they are
        apart.
    mtv : (3,) float or None
        Which move of B frees it? As short as is known, and as long as `depth`.
    normal : (3,) float or None
        Unit vector from A to B.
    point_a, point_b : (3,) float or None
        The two points that are nearest, or deepest in the other part.
    point : (3,) float or None
        Where to look.
    overlap_volume : float or None
        Volume that both parts fill.
    overlap_box : pair of (3,) float, or None
        Lowest and highest corner of what both parts fill.
    shape_a, shape_b : {"hull", "triangles"}
        What stood for the part when the pair was decided.
    method : str
        Which algorithm decided: "gjk", "epa", "triangles", "boolean", "inside", "equal"; empty if none could.
    distance_kind : {"exact", "bound", "approximate"}
        "exact": `distance` is right to `error_bound`. "bound": `depth` is an upper bound, for moving B by `mtv` frees
        it; the true depth is at least ``depth - error_bound``. "approximate": neither is proven.
    error_bound : float or None
        Width of the interval that holds the true distance, between curved faces too where a file is STEP.
    tolerance : float or None
        Overlap and gap up to which the two would count as touching.
    convex_gap : float or None
        By how much the hull distance lies below the true one, where hulls were compared first.
    penetration : float or None
        How far does one surface reach into the other part, where they overlap and that is worst? As
        `gjk3d.penetration`, and at least so much: the deepest point known. Findings are ranked by it.
    time : float or None
        Of parts that move: when the numbers above hold, that is when the two are deepest, or nearest.
    intervals : tuple of (float, float, float, float)
        When they clash: free before the first time, in clash from the second to the third, free from the fourth on.
    least : (float, float) or None
        Bounds of the least clearance over all of the motion, proven also between the times looked at;
        where joints were solved for, against ways whose own error is measured: the report's notes say so.
    group : str
        Name of the group of findings that it belongs to.
    note : str
        What a reader should know besides.

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

    id: str
    kind: str
    severity: int
    status: str
    a: str
    b: str
    a_file: str
    b_file: str
    distance: float | None = None
    depth: float | None = None
    mtv: Vector | None = None
    normal: Vector | None = None
    point_a: Vector | None = None
    point_b: Vector | None = None
    point: Vector | None = None
    overlap_volume: float | None = None
    overlap_box: tuple[Vector, Vector] | None = None
    shape_a: str = "hull"
    shape_b: str = "hull"
    method: str = "gjk"
    distance_kind: str = "approximate"
    error_bound: float | None = None
    tolerance: float | None = None
    convex_gap: float | None = None
    penetration: float | None = None
    time: float | None = None
    intervals: tuple[tuple[float, float, float, float], ...] = ()
    least: tuple[float, float] | None = None
    group: str = ""
    note: str = ""

    def __repr__(self) -> str:
        rounded = below if self.distance_kind == "bound" else number
        measure = "" if self.distance is None else f", signed distance {rounded(self.distance)} ({self.evidence})"
        return f"<Clash {self.id}: {self.kind}, {self.a!r} and {self.b!r}{measure}>"

    @property
    def evidence(self) -> str:
        """What decided, and how good the distance is, in few words."""
        if self.kind == "unchecked":
            return "-"
        kind = "depth at most" if self.distance_kind == "bound" else self.distance_kind
        return ", ".join(word for word in (self.method, "" if self.distance is None else kind) if word)

    @property
    def is_open(self) -> bool:
        """Whether it counts: not ignored, not resolved."""
        return self.status in OPEN

    def fails(self, kinds: Collection[str], only_new: bool) -> bool:
        """Tell whether a gate fails by it.

        Parameters
        ----------
        kinds : collection of str
            The kinds that a gate looks for.
        only_new : bool
            Whether it looks at those alone that the baseline lacks.
        """
        return self.kind in kinds and self.status in (("new",) if only_new else OPEN)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON has them: lists for vectors, None for what is not finite."""
        return record(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Clash:
        """Return the finding that `to_dict` wrote.

        Parameters
        ----------
        values : dict
            By the name of each field; those that this version does not know are left out.
        """
        return cls(**{item.name: _tuples(values[item.name]) for item in fields(cls) if item.name in values})


def clash_id(kind: str, a: str, b: str) -> str:
    """Return the id of a finding: a hash of its kind and what two parts are known by, in either order."""
    first, second = sorted((a, b))
    text = "\0".join((kind, first, second))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def record(item: Any) -> dict[str, Any]:
    """Return the fields of a finding, a part or a file as JSON has them."""
    return {entry.name: json_ready(getattr(item, entry.name)) for entry in fields(item)}


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


Objects = NDArray[np.object_]

#: The fields that are columns of numbers, with the shape of a row. Their None is nan. Other columns are objects.
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
    """Names of parts by number; the last one is that of no part."""

    names: Objects
    idents: Objects  #: the text for each part in ids
    places: Ints  #: in the order of names

    @classmethod
    def of(cls, names: Sequence[str], idents: Sequence[str]) -> Names:
        """Return a table of names, from a name and an ident of each part."""
        places = np.full(len(names) + 1, -1)
        places[sorted(range(len(names)), key=lambda k: order(names[k]))] = np.arange(len(names))
        return cls(objects([*names, ""]), objects([*idents, ""]), places)


def objects(values: Sequence[Any]) -> Objects:
    """Return values of any type as an array of objects."""
    return np.fromiter(values, dtype=object, count=len(values))


def column(name: str, values: Sequence[Any]) -> NDArray[Any]:
    """Return a field of findings as a column."""
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
    """Columns of equal length; a missing column is made from the default of its field."""

    def __missing__(self, name: str) -> NDArray[Any]:
        self[name] = np.repeat(column(name, [_FIELDS[name]]), len(self["a"]), axis=0)
        return self[name]


class Clashes(LazyRows[Clash]):
    """Findings, each a `Clash` that is made when it is read; equal to any sequence of the same.

    Parameters
    ----------
    parts : Names
        Of the parts.
    columns : dict of str to array
        By the fields of `Clash`: numbers with nan for None, kinds and statuses by their place in `KINDS` and
        `STATUSES`, ``a`` and ``b`` by number, -1 for none. One that is left out has the default of its field; an id of
        None is made from the kind and the parts.
    """

    __slots__ = ("columns", "parts")

    def __init__(self, parts: Names, columns: Mapping[str, NDArray[Any]]) -> None:
        self.parts = parts
        self.columns = _Columns(columns)

    @classmethod
    def of(cls, clashes: Iterable[Clash]) -> Clashes:
        """Return findings as columns."""
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
        """Return a column as a list of field values of `Clash`."""
        if name in ("a", "b"):
            return list(self.parts.names[values])
        items: list[Any] = values.tolist()
        if name in _CODES:
            return [_CODES[name][k] for k in items]
        return vectors(values) if name in _NUMBERS else items

    def subset(self, rows: slice | Ints | Bools) -> Clashes:
        """Return some of the findings."""
        return Clashes(self.parts, {name: values[rows] for name, values in self.columns.items()})

    def joined(self, clashes: Iterable[Clash]) -> Clashes:
        """Return these findings followed by others."""
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
        """Return the findings of several tables of the same parts."""
        if not many:
            return cls(parts, {side: np.zeros(0, dtype=np.int64) for side in "ab"})
        fields_set = {name for part in many for name in part.columns}
        return cls(parts, {name: np.concatenate([part.columns[name] for part in many]) for name in fields_set})

    def ids(self, rows: slice | Ints | Bools = slice(None)) -> list[str]:
        """Return the ids of some of the findings, or of all."""
        ids: list[str] = self.columns["id"][rows].tolist()
        if None in ids:
            kinds, idents = self.columns["kind"][rows].tolist(), self.parts.idents
            sides = (idents[self.columns[side][rows]].tolist() for side in "ab")
            ids = [ident or clash_id(KINDS[kind], a, b) for ident, kind, a, b in zip(ids, kinds, *sides, strict=True)]
            self.columns["id"][rows] = ids
        return ids

    def note(self, rows: Ints, words: str) -> None:
        """Add a text to the notes of some of the findings."""
        notes = self.columns["note"]
        notes[rows] = [f"{note}; {words}".removeprefix("; ") for note in notes[rows]]

    @property
    def is_open(self) -> Bools:
        """Which findings are open; see `Clash.is_open`."""
        opened: Bools = np.isin(self.columns["status"], [STATUSES.index(status) for status in OPEN])
        return opened

    def counts(self) -> Counter[tuple[str, str]]:
        """Return the number of findings of each status and kind."""
        totals = np.bincount(len(KINDS) * self.columns["status"].astype(np.int64) + self.columns["kind"])
        return Counter(
            {(STATUSES[k // len(KINDS)], KINDS[k % len(KINDS)]): int(totals[k]) for k in np.flatnonzero(totals)}
        )

    def worst_first(self) -> Ints:
        """Return in what order they are: by kind, then the worst first; what is not open at the end.

        Worst is what has most in the way, by `Clash.penetration`; where that is not known, by the depth. What is apart
        comes by its gap.
        """
        columns = self.columns
        distance = np.where(np.isnan(columns["distance"]), inf, columns["distance"])
        inside = np.where(np.isnan(columns["penetration"]), distance, -columns["penetration"])
        place = np.where(self.is_open, 0, columns["status"])
        names = (self.parts.places[columns[side]] for side in "ba")
        worst: Ints = np.lexsort((*names, distance, inside, columns["kind"], place))
        return worst
