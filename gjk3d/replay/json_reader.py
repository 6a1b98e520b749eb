"""The reader of untrusted JSON. Each value has its path in the document, which errors name."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from math import inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from gjk3d.errors import FileError, ParseError
from gjk3d.typing import Array
from gjk3d.wording import expected_names

MAX_BYTES = 16 << 20  #: size of a document for writing and reading; Python's lists take up to 50 times as much memory
CURE = ". Write the file again with result.to_json()"
_SHOWN = 40  #: characters of a wrong value that a message quotes
_NAMED = {"inf": inf, "-inf": -inf, "nan": float("nan")}


class Value(NamedTuple):
    """One value of a document and its place in it."""

    raw: Any
    file: str
    place: str = ""

    @property
    def where(self) -> str:
        """The file and the place, for messages."""
        return f"{self.file}: {self.place}" if self.place else self.file

    def wrong(self, expected: str) -> NoReturn:
        """Raise an error that names the value seen and the expected value."""
        raise ParseError(f"{self.where} is {_shown(self.raw)}, expected {expected}{CURE}")

    def failed(self, reason: object) -> ParseError:
        """Return a `ParseError` with the place of this value, followed by ``reason``, the error of another function."""
        return ParseError(f"{self.where}: {reason}")

    def fields(self, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Value]:
        """Return the members of an object with exactly these names."""
        for name in needed:
            if name not in self.members():
                raise ParseError(f"{self.where} lacks {name!r}{CURE}")
        for name in self.raw:
            if name not in needed and name not in optional:
                raise ParseError(f"{self.where} has {name[:_SHOWN]!r}, {expected_names(name, (*needed, *optional))}")
        return {name: self._member(name) for name in self.raw}

    def _member(self, name: str) -> Value:
        return Value(self.raw[name], self.file, f"{self.place}.{name}" if self.place else name)

    def members(self) -> set[str]:
        """Return the names of an object's members."""
        if not isinstance(self.raw, dict):
            self.wrong("an object")
        return set(self.raw)

    def peek(self, name: str) -> Value:
        """Return one member of an object whose other names are not checked yet."""
        if name not in self.members():
            raise ParseError(f"{self.where} lacks {name!r}{CURE}")
        return self._member(name)

    def items(self) -> Iterator[Value]:
        """Return the members of a list."""
        if not isinstance(self.raw, list):
            self.wrong("a list")
        return (Value(item, self.file, f"{self.place}[{i}]") for i, item in enumerate(self.raw))

    def number(self, *, finite: bool = True) -> float:
        """Return the value as a float. A string of hex digits is accepted, and unless ``finite`` "inf" and "nan"."""
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
        """Return nested lists of numbers as an array of this shape. None in the shape is any length."""
        return np.array(self._numbers(shape, finite), dtype=np.float64).reshape(self._lengths(shape))

    def _numbers(self, shape: tuple[int | None, ...], finite: bool) -> list[float]:
        if not shape:
            return [self.number(finite=finite)]
        members = list(self.items())
        if shape[0] is not None and len(members) != shape[0]:
            raise ParseError(f"{self.where} has {len(members)} entries, expected {shape[0]}{CURE}")
        return [number for member in members for number in member._numbers(shape[1:], finite)]

    def _lengths(self, shape: tuple[int | None, ...]) -> tuple[int, ...]:
        return tuple(len(self.raw) if length is None else length for length in shape)

    def indices(self, columns: int, below: int) -> NDArray[np.int64]:
        """Return rows of integers from 0 to ``below`` - 1."""
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
    """Return the document in a file.

    Raises
    ------
    FileError, ParseError
        The file does not exist, or it is too large or not JSON.
    """
    file = Path(path)
    if os.path.isdir(file):
        raise FileError(f"{str(file)!r} is a folder, expected a file of result.to_json(). Name a file in it")
    if not os.path.isfile(file):
        raise FileError(f"the file {str(file)!r} does not exist. Write it with result.to_json(path)")
    with file.open("rb") as stream:
        content = stream.read(MAX_BYTES + 1)  # the stated size of a file may be wrong
    if len(content) > MAX_BYTES:
        raise ParseError(
            f"{file.name} is larger than {MAX_BYTES >> 20} MiB, the limit for one query. Write one row, "
            "result[i].to_json()"
        )
    try:
        raw = json.loads(content.decode("utf-8"), parse_constant=_refuse, object_pairs_hook=_without_duplicates)
    except RecursionError:
        raise ParseError(
            f"{file.name} is nested too deep, expected the few levels of result.to_json(). Write the file again with it"
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
