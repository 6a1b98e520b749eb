"""numba's types of the annotations of kernels, for the builder."""

from __future__ import annotations

import typing
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Annotated, Any

from numba import types

from gjk3d.typing import Array, Bits, Bools, Floats32, Ints, Ints32

_PLAIN = {float: types.float64, int: types.int64, bool: types.boolean, type(None): types.none}
_ITEMS = {
    Array: types.float64, Ints: types.int64, Floats32: types.float32, Ints32: types.int32, Bools: types.boolean,
    Bits: types.uint8,
}  # fmt: skip


def numba_type(hint: Any) -> Any:
    """Return numba's type of an annotation.

    Raises
    ------
    TypeError
        The annotation is incomplete, for example an array without dimensions, or the type is not supported.
    """
    if hint in _PLAIN:
        return _PLAIN[hint]
    if typing.get_origin(hint) is Annotated:
        array, dimensions = typing.get_args(hint)
        return types.Array(_ITEMS[array], dimensions, "C")
    if typing.get_origin(hint) is tuple:
        return types.Tuple([numba_type(item) for item in typing.get_args(hint)])
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        fields = typing.get_type_hints(hint, include_extras=True)
        return types.NamedTuple([numba_type(fields[name]) for name in hint._fields], hint)
    raise TypeError(f"{hint} is not a complete type. Use Array2 or another type with its number of dimensions.")


@cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    return typing.get_type_hints(function, include_extras=True)


def return_type(function: Callable[..., Any]) -> Any:
    """Return numba's type of the value that a kernel returns."""
    try:
        return numba_type(_hints(function)["return"])
    except TypeError as reason:
        raise TypeError(f"{function.__module__}.{function.__qualname__}: the return type {reason}") from None


def parameter_types(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Return numba's types of the parameters of an entry."""
    hints = {name: hint for name, hint in _hints(function).items() if name != "return"}
    try:
        return tuple(numba_type(hint) for hint in hints.values())
    except TypeError as reason:
        raise TypeError(f"{function.__module__}.{function.__qualname__}: the parameter type {reason}") from None


_SCALARS = {str(kind): kind for kind in (*_PLAIN.values(), *_ITEMS.values())}


def to_json(kind: Any) -> Any:
    """Return a type as JSON: a scalar as its name, a tuple as a list, an array and a NamedTuple as an object.

    Raises
    ------
    TypeError
        No annotation has this type.
    """
    if isinstance(kind, types.Array) and kind.layout == "C" and kind.aligned:
        return {"items": to_json(kind.dtype), "dimensions": kind.ndim, "readonly": not kind.mutable}
    if isinstance(kind, types.NamedTuple):
        name = f"{kind.instance_class.__module__}:{kind.instance_class.__qualname__}"
        return {"class": name, "fields": [to_json(field) for field in kind.types]}
    if type(kind) in (types.Tuple, types.UniTuple):
        return [to_json(item) for item in kind.types]
    if str(kind) not in _SCALARS:
        raise TypeError(
            f"a kernel is called with {kind}, which is not a type of an annotation. Convert the argument to one of "
            f"{', '.join(_SCALARS)}."
        )
    return str(kind)


def from_json(kind: Any) -> Any:
    """Return the type that `to_json` describes."""
    if isinstance(kind, str):
        return _SCALARS[kind]
    if isinstance(kind, list):
        return types.Tuple([from_json(item) for item in kind])
    if "class" in kind:
        module, _, name = kind["class"].partition(":")
        return types.NamedTuple([from_json(field) for field in kind["fields"]], getattr(import_module(module), name))
    return types.Array(from_json(kind["items"]), kind["dimensions"], "C", readonly=kind["readonly"])
