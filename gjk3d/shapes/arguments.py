"""Checks of the numbers that define shapes. Every error names the argument, its value and the cure."""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

import numpy as np

from gjk3d.errors import ShapeError
from gjk3d.poses import as_matrices, parts, pose_rows
from gjk3d.shapes.layout import GREATEST, LEAST, in_range
from gjk3d.typing import Array
from gjk3d.wording import kind_of

_FEW = 32  #: numbers up to which Python is faster than numpy
_PLAIN = {float, int}
_FLOAT = np.dtype(np.float64)


def number(value: Any, what: str, *, positive: bool = True, zero: bool = False, cure: str = "") -> float:
    """Return one finite float, or raise an error that names ``what``."""
    if isinstance(value, (str, bytes, bool, np.bool_, complex)):
        raise ShapeError(f"{what} is {value!r}, expected a real number")
    try:
        x = float(value)
    except OverflowError:
        raise ShapeError(f"{what} is a whole number above 1.7e308, expected a float") from None
    except (TypeError, ValueError):
        raise ShapeError(f"{what} is {value!r}, expected a real number") from None
    if not isfinite(x):
        raise ShapeError(f"{what} is {x}, expected a finite number")
    if positive and not (x > 0.0 or (zero and x == 0.0)):
        raise ShapeError(f"{what} is {x:g}, expected {'at least 0' if zero else 'more than 0'}{cure}")
    if not (LEAST <= abs(x) <= GREATEST or x == 0.0):
        in_range(np.array(x), what)
    return x + 0.0  # no negative zero


def refuse_masked(value: Any, what: str, cure: str = "Drop the rows of masked numbers, or fill them in") -> None:
    """Raise if an array has masked numbers."""
    if hasattr(value, "mask") and np.ma.is_masked(value):
        raise ShapeError(f"{what} masks {int(np.sum(value.mask))} of its {value.size} numbers. {cure}.")


def rows(value: Any, what: str, columns: int = 3, *, lengths: bool = True, cure: str = "") -> Array:
    """Return a new, finite (n, 3) float array, or raise an error that names ``what`` and the row."""
    refuse_masked(value, what)
    try:
        raw = np.asarray(value)
    except ValueError:
        raise ShapeError(f"{what} is ragged: {_odd_one(value, columns)}") from None
    if raw.size == 0 and raw.ndim < 2:
        raise ShapeError(f"{what} is empty, expected (n, {columns}) with at least one row")
    if raw.dtype.kind not in "fiu":
        fault = f"has dtype {raw.dtype}" if raw.ndim else f"is {kind_of(value)}"
        raise ShapeError(f"{what} {fault}, expected real numbers, (n, {columns})")
    if raw.ndim != 2 or raw.shape[1] != columns:
        hint = f". Did you mean {what.split(': ')[-1]}.T?" if raw.ndim == 2 and raw.shape[0] == columns else ""
        raise ShapeError(f"{what} has shape {raw.shape}, expected (n, {columns}){hint}")
    # a sum, since -0.0 + 0.0 is 0.0, and it is a new array
    out: Array = np.add(raw, 0.0, dtype=np.float64, order="C", casting="unsafe")
    largest = _largest(out)
    if not largest < inf:
        bad = ~np.isfinite(out).all(axis=1)
        i = int(np.argmax(bad))
        raise ShapeError(
            f"{what}[{i}] is {out[i].tolist()}, expected finite numbers ({int(bad.sum())} of {len(out)} rows "
            f"are not finite){cure}"
        )
    if lengths and not (LEAST <= largest <= GREATEST):
        in_range(out, what)
    return out


def _largest(numbers: Array) -> float:
    """Return the greatest magnitude of some numbers, 0 for no numbers; infinity or NaN if not all are finite."""
    if 0 < numbers.size <= _FEW:
        plain = numbers.ravel().tolist()
        if isfinite(sum(plain)):  # a NaN hides from comparisons
            return float(max(max(plain), -min(plain)))
    return float(max(numbers.max(initial=0.0), -numbers.min(initial=0.0)))


def points_of(value: Any, what: str, *, lengths: bool = True) -> tuple[Array, bool]:
    """Return checked rows (n, 3), as `rows` does, and whether the argument was a single row (3,).

    Lengths are at most 1e50, and they may be tiny.
    """
    single = np.ndim(value) == 1
    out = rows([value] if single else value, what, lengths=False)
    if lengths and not _largest(out) <= GREATEST:
        i = int((np.abs(out) > GREATEST).any(axis=1).argmax())
        raise ShapeError(f"{what}[{i}] is {out[i].tolist()}, at most {GREATEST:g} is allowed. Use another unit")
    return out, single


def _odd_one(value: Any, columns: int) -> str:
    """Return a message about the first row of a different shape."""
    for i, row in enumerate(value):
        if np.shape(row) != (columns,):
            return f"row {i} is {row!r:.60}, expected {columns} numbers"
    return f"expected rows of {columns} numbers"


def vector(value: Any, what: str, *, lengths: bool = True) -> Array:
    """Return a new, finite (3,) float array, or raise an error that names ``what``."""
    plain = value.tolist() if type(value) is np.ndarray and value.dtype is _FLOAT else value
    if (type(plain) is tuple or type(plain) is list) and len(plain) == 3:
        x, y, z = plain
        if type(x) in _PLAIN and type(y) in _PLAIN and type(z) in _PLAIN:
            largest = max(x, y, z, -x, -y, -z)
            if (LEAST <= largest <= GREATEST or largest == 0.0) and isfinite(x + y + z):  # a NaN hides from comparisons
                return np.array((x + 0.0, y + 0.0, z + 0.0))
    try:
        raw = np.asarray(value)
    except ValueError:
        raise ShapeError(f"{what} is ragged, expected three real numbers") from None
    if raw.dtype.kind not in "fiu" or raw.shape != (3,):
        raise ShapeError(f"{what} is {value!r}, expected three real numbers")
    out = np.array(raw, dtype=np.float64) + 0.0
    if not np.isfinite(out).all():
        raise ShapeError(f"{what} is {out.tolist()}, expected finite numbers")
    if lengths:
        in_range(out, what)
    return out


def factors3(value: Any) -> Array:
    """Return three finite, nonzero factors from one number or three."""
    if np.ndim(value) == 0:
        value = (number(value, "scaled: factors", positive=False),) * 3
    out = vector(value, "scaled: factors", lengths=False)
    if not out.all():
        raise ShapeError(
            f"scaled: factors are {out.tolist()}, expected numbers other than 0. For a flat shape use a ConvexHull of "
            "its points."
        )
    return out


def rigid(pose: Any) -> tuple[Array, Array]:
    """Return rotation and translation of one checked pose."""
    if pose is None:
        return np.eye(3), np.zeros(3)
    if as_matrices(pose, single=True).ndim != 2:
        raise ShapeError("placed: pose is a stack, expected one (4, 4) pose. Pass one of them, such as pose[0]")
    turn, shift = parts(pose_rows(pose)[0][0])
    return turn.copy(), shift.copy()
