"""`Frozen`: the base of all that is immutable: shapes, meshes and other bodies, bounding volumes, motions.

Its law: a class names its fields in ``__slots__``; `_set` fills them once and makes arrays read-only; every later
assignment raises. Two objects are equal where their classes and all fields are, arrays bit for bit but for the sign of
a zero. A copy is the object itself, a pickle holds the fields. What is computed from the fields is kept by `_cached`;
it is neither compared nor pickled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar, cast

import numpy as np

from gjk3d.shown import shown

_T = TypeVar("_T")
_set = object.__setattr__


class Frozen:
    """An immutable object made of its slots; see the module."""

    __slots__ = ("__weakref__", "_cache")
    _cache: dict[str, Any]
    _repr_mimebundle_ = shown

    @classmethod
    def _field_names(cls) -> tuple[str, ...]:
        """Return the names of the fields, those of base classes first."""
        names = (name for base in reversed(cls.__mro__) for name in base.__dict__.get("__slots__", ()))
        return tuple(name for name in names if name not in ("_cache", "__weakref__"))

    @classmethod
    def _made(cls, **fields: Any) -> Self:
        """Return an object of fields that are known to be right: no ``__init__`` is called."""
        return object.__new__(cls)._set(**fields)

    def _set(self, **fields: Any) -> Self:
        """Fill the fields, once."""
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                value.setflags(False)  # type: ignore[call-arg]  # by its place, at half the time
            _set(self, name, value)
        _set(self, "_cache", {})
        return self

    def _cached(self, name: str, compute: Callable[[], _T]) -> _T:
        """Return what was computed under this name, after the first call from memory."""
        if name not in self._cache:
            self._cache[name] = compute()
        return cast("_T", self._cache[name])

    def _content(self) -> tuple[Any, ...]:
        """Return what makes two objects of a class equal; hashable."""
        return tuple(_comparable(getattr(self, name)) for name in self._field_names())

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a {type(self).__name__} is immutable, {name} cannot be set: build a new one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} is immutable, {name} cannot be deleted: build a new one")

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self is other or (hash(self) == hash(other) and self._content() == cast("Self", other)._content())

    def __hash__(self) -> int:
        return self._cached("hash", lambda: hash((type(self).__name__, self._content())))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self), {name: getattr(self, name) for name in self._field_names()})


def _comparable(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return value.shape, (value + 0.0 if value.dtype.kind == "f" else value).tobytes()


def _rebuilt(cls: type[Frozen], fields: dict[str, Any]) -> Frozen:
    return cls._made(**fields)
