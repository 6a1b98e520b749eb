"""Findings as columns: sorted, counted and grouped by arrays; a `Clash` is made when it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d.clash.finding import KINDS, OPEN, STATUSES, Clash, clash_id
from gjk3d.clash.made import Made, vectors
from gjk3d.clash.parts import order
from gjk3d.typing import Bools, Ints

Objects = NDArray[np.object_]

#: What fields have for None, which is not a number, by the shape of their rows; all others are of Python's own.
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
    idents: Objects  #: what each is known by in ids
    places: Ints  #: in the order of names

    @classmethod
    def of(cls, names: Sequence[str], idents: Sequence[str]) -> Names:
        """Return a table of names; a part that is only in findings whose ids are known has any ident."""
        places = np.full(len(names) + 1, -1)
        places[sorted(range(len(names)), key=lambda k: order(names[k]))] = np.arange(len(names))
        return cls(objects([*names, ""]), objects([*idents, ""]), places)


def objects(values: Sequence[Any]) -> Objects:
    """Return things of any kind as an array."""
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
    """Columns of equal length; one that is asked for and was not given has the default of its field."""

    def __missing__(self, name: str) -> NDArray[Any]:
        self[name] = np.repeat(column(name, [_FIELDS[name]]), len(self["a"]), axis=0)
        return self[name]


class Clashes(Made[Clash]):
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
        """Return any findings so."""
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
        return map(Clash, *(self._told(name, self.columns[name][rows]) for name in _FIELDS))

    def _told(self, name: str, values: NDArray[Any]) -> list[Any]:
        """Return a column as the fields of findings have it."""
        if name in ("a", "b"):
            return list(self.parts.names[values])
        given: list[Any] = values.tolist()
        if name in _CODES:
            return [_CODES[name][k] for k in given]
        return vectors(values) if name in _NUMBERS else given

    def take(self, rows: slice | Ints | Bools) -> Clashes:
        """Return some of them."""
        return Clashes(self.parts, {name: values[rows] for name, values in self.columns.items()})

    def joined(self, others: Iterable[Clash]) -> Clashes:
        """Return them and others behind."""
        other = Clashes.of(others)
        if not len(other):
            return self
        if other.parts is self.parts:
            return Clashes.all(self.parts, [self, other])
        names, idents = (list(each[:-1]) for each in self.parts[:2])
        number = {name: k for k, name in enumerate(names)}
        new = np.array([*(number.setdefault(name, len(number)) for name in other.parts.names[:-1]), -1])
        more = list(number)[len(names) :]
        renamed = {side: new[other.columns[side]] for side in "ab"}
        parts = Names.of([*names, *more], [*idents, *more])
        return Clashes.all(parts, [self, Clashes(parts, other.columns | renamed)])

    @classmethod
    def all(cls, parts: Names, many: Sequence[Clashes]) -> Clashes:
        """Return those of several, of the same parts."""
        if not many:
            return cls(parts, {side: np.zeros(0, dtype=np.int64) for side in "ab"})
        given = {name for each in many for name in each.columns}
        return cls(parts, {name: np.concatenate([each.columns[name] for each in many]) for name in given})

    def ids(self, rows: slice | Ints | Bools = slice(None)) -> list[str]:
        """Return the ids of some of them, or of all."""
        known: list[str] = self.columns["id"][rows].tolist()
        if None in known:
            kinds, idents = self.columns["kind"][rows].tolist(), self.parts.idents
            both = (idents[self.columns[side][rows]].tolist() for side in "ab")
            known = [
                ident or clash_id(KINDS[kind], a, b) for ident, kind, a, b in zip(known, kinds, *both, strict=True)
            ]
            self.columns["id"][rows] = known
        return known

    def note(self, rows: Ints, words: str) -> None:
        """Add words to the notes of some of them."""
        notes = self.columns["note"]
        notes[rows] = [f"{note}; {words}".removeprefix("; ") for note in notes[rows]]

    @property
    def is_open(self) -> Bools:
        """Which of them are; see `Clash.is_open`."""
        opened: Bools = np.isin(self.columns["status"], [STATUSES.index(status) for status in OPEN])
        return opened

    def counts(self) -> Counter[tuple[str, str]]:
        """Return how many there are of each status and kind."""
        both = np.bincount(len(KINDS) * self.columns["status"].astype(np.int64) + self.columns["kind"])
        return Counter({(STATUSES[k // len(KINDS)], KINDS[k % len(KINDS)]): int(both[k]) for k in np.flatnonzero(both)})

    def worst_first(self) -> Ints:
        """Return in what order they are: by kind, then the worst first; what is not open at the end.

        Worst is what has most in the way, by `Clash.penetration`; where that is not known, by the depth. What is apart
        comes by its gap.
        """
        known = self.columns
        distance = np.where(np.isnan(known["distance"]), inf, known["distance"])
        inside = np.where(np.isnan(known["penetration"]), distance, -known["penetration"])
        place = np.where(self.is_open, 0, known["status"])
        names = (self.parts.places[known[side]] for side in "ba")
        worst: Ints = np.lexsort((*names, distance, inside, known["kind"], place))
        return worst
