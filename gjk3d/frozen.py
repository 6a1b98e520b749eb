"""Immutable objects, and the picture of an object in a notebook.

`shown` is the ``_repr_mimebundle_`` of all classes that have a picture in a notebook. `Frozen` is the base class of
immutable objects: shapes, meshes and other bodies, bounding volumes, motions.

A class lists its fields in ``__slots__``. `_set` fills them once and makes arrays read-only. Every later assignment
raises an AttributeError. Two objects are equal if their classes and all fields are equal. Arrays are compared bit for
bit, except that -0.0 equals 0.0 and NaN equals NaN. A copy is the object itself, and a pickle contains the fields.
`_cached` and `cached` store values that are computed from the fields. These values are neither compared nor pickled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from math import isnan
from typing import Any, Self, TypeVar, cast

import numpy as np

# --- pictures --------------------------------------------------------------------------------------------------------


def shown(self: Any, include: Any = None, exclude: Any = None) -> Any:
    """Return the MIME bundle of an object for Jupyter: its text, and its picture if it can be drawn."""
    from gjk3d.viz.picture import bundle

    return bundle(self)


# --- immutable objects -----------------------------------------------------------------------------------------------


_F = TypeVar("_F", bound="Frozen")
_T = TypeVar("_T")
_set = object.__setattr__


class Frozen:
    """The base class of immutable objects. The ``__slots__`` of a class are its fields, see the module's docstring."""

    __slots__ = ("__weakref__", "_cache")
    _cache: dict[str, Any]
    _repr_mimebundle_ = shown

    @classmethod
    def _field_names(cls) -> tuple[str, ...]:
        """Return the names of the fields, base classes first."""
        names = (name for base in reversed(cls.__mro__) for name in base.__dict__.get("__slots__", ()))
        return tuple(name for name in names if name not in ("_cache", "__weakref__"))

    @classmethod
    def _made(cls, **fields: Any) -> Self:
        """Return an object with these fields, which are already validated. ``__init__`` is not called."""
        return object.__new__(cls)._set(**fields)

    def _set(self, **fields: Any) -> Self:
        """Set the fields, once for each object, and return the object."""
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                value.setflags(False)  # type: ignore[call-arg]  # by position, which takes half the time
            _set(self, name, value)
        _set(self, "_cache", {})
        return self

    def _cached(self, name: str, compute: Callable[[], _T]) -> _T:
        """Return the cached value of this name. The first call computes it."""
        if name not in self._cache:
            # kernels may have the address of the first value, so another thread must not replace it
            self._cache.setdefault(name, compute())
        return cast("_T", self._cache[name])

    def _content(self) -> tuple[Any, ...]:
        """Return a hashable value. Two objects of a class are equal if their values are equal."""
        return tuple(comparable(getattr(self, name)) for name in self._field_names())

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"this {type(self).__name__} is immutable, {name} cannot be set. Build a new one.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"this {type(self).__name__} is immutable, {name} cannot be deleted. Build a new one.")

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


def cached(compute: Callable[[_F], _T]) -> Callable[[_F], _T]:
    """Return a getter for a property of a `Frozen` class. It computes the value once, and makes an array read-only."""
    name = compute.__name__

    @wraps(compute)
    def get(frozen: _F) -> _T:
        if name not in frozen._cache:
            value = frozen._cache[name] = compute(frozen)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        return cast("_T", frozen._cache[name])

    return get


def comparable(value: Any) -> Any:
    """Return a hashable form of a field. Equal fields have equal forms; NaN equals NaN, and -0.0 equals 0.0."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            value = np.where(np.isnan(value), np.nan, value + 0.0)  # a NaN has many bit patterns
        return value.shape, value.tobytes()
    if isinstance(value, float):
        return "nan" if isnan(value) else value
    if isinstance(value, list | tuple):
        return tuple(map(comparable, value))
    if isinstance(value, Mapping):
        return frozenset((key, comparable(item)) for key, item in value.items())
    return value


def _rebuilt(cls: type[Frozen], fields: dict[str, Any]) -> Frozen:
    # an unpickled array may be at any address, and kernels need numbers at multiples of their size
    for name, value in fields.items():
        if isinstance(value, np.ndarray) and not value.flags.aligned:
            fields[name] = value.copy()
    return cls._made(**fields)
