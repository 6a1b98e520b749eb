"""What a scene answers: results of pairs and rays, with names."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any, Generic, NamedTuple, TypeVar

from gjk3d.contacts import Contact
from gjk3d.rays import RayHit
from gjk3d.results import Distance

Name = str | None
NamePair = tuple[str, Name]
Row = TypeVar("Row", Distance, Contact)


class ScenePairs(Generic[Row]):
    """Answers of `Scene.closest` and `Scene.contacts`: pairs of names, each with its result.

    Going through it yields ``name_a, name_b, row``, and ``found[k]`` is one such; the second name is None of a shape
    that the scene was asked against.

    Attributes
    ----------
    pairs : list of (str, str)
        Names.
    result : Distance or Contact
        The numbers of all pairs in arrays, in the same order.
    """

    __slots__ = ("pairs", "result")
    pairs: list[NamePair]
    result: Row

    def __init__(self, pairs: list[NamePair], result: Row) -> None:
        self.pairs, self.result = pairs, result

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int) -> tuple[str, Name, Row]:
        return (*self.pairs[index], self.result[index])

    def __iter__(self) -> Iterator[tuple[str, Name, Row]]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        count = "1 pair" if len(self) == 1 else f"{len(self)} pairs"
        return f"{type(self.result).__name__} of {count} of objects"


class Clearance(NamedTuple):
    """Answer of `Scene.clearance`: the least signed distance, and whose it is.

    Attributes
    ----------
    distance : float
        Negative where something overlaps; infinite where there is no pair.
    pair : (str, str) or None
        Names; the second is None of a shape that the scene was asked against.
    result : Distance or None
        Bounds, points and normal of that pair.
    """

    distance: float = inf
    pair: NamePair | None = None
    result: Distance | None = None


class SceneHit(RayHit):
    """Answer of `Scene.raycast`: a `RayHit` that knows what was hit.

    Attributes
    ----------
    name : str or None, or list of such
        The object that a ray meets first; None where it meets none.
    """

    __slots__ = ("name",)
    name: Any

    def __getitem__(self, index: int) -> SceneHit:
        """Return one row of a stack."""
        plain = super().__getitem__(index)
        row: SceneHit = object.__new__(SceneHit)
        for field in RayHit.__slots__:
            setattr(row, field, getattr(plain, field))
        row.name = self.name[index]
        return row

    def __repr__(self) -> str:
        told = super().__repr__()
        return told if self.point.ndim == 2 or self.name is None else f"{told} of {self.name!r}"
