"""Rows of a report that stand in columns, and are made into objects when they are read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d.wording import excerpt

T = TypeVar("T")
_BLOCK = 32  #: rows that are made at once


class Made(Sequence[T]):
    """A sequence whose items are made when they are read; in all else a tuple of them."""

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

    def __add__(self, others: Iterable[T]) -> tuple[T, ...]:
        return (*self, *others)

    def __radd__(self, others: Iterable[T]) -> tuple[T, ...]:
        return (*others, *self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Made | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"({excerpt(self).strip()})"


def vectors(values: NDArray[np.float64]) -> list[Any]:
    """Return rows of numbers as nested tuples, or plain numbers; None for one that is nan throughout."""
    rows = values.tolist()
    for _ in range(values.ndim - 2):
        rows = [tuple(map(tuple, row)) for row in rows]
    if values.ndim == 2:
        rows = list(map(tuple, rows))
    unknown = np.logical_and.reduce(np.isnan(values), axis=tuple(range(1, values.ndim)))
    return [None if lacks else row for row, lacks in zip(rows, unknown.tolist(), strict=True)]
