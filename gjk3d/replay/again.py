"""The same question once more, and whether the answer is the same."""

from __future__ import annotations

import os
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d import queries
from gjk3d.errors import Gjk3dError, ParseError
from gjk3d.replay.document import NUMBERS, Case, read
from gjk3d.results import Distance


class Sameness(IntEnum):
    """How an answer of now and one of then go together."""

    SAME = 0  #: to the last bit
    AGREES = 1  #: other bits, and the two intervals have values in common
    CONTRADICTS = 2  #: the intervals have none: one of the two answers is wrong

    def __str__(self) -> str:
        return self.name


class Replay(NamedTuple):
    """A case asked again.

    Attributes
    ----------
    case : Case
        What was asked then, and answered.
    now : Distance
        The answer of now.
    rows : (n,) int
        `Sameness` of each row, of one pair one.
    """

    case: Case
    now: Distance
    rows: NDArray[np.int64]

    @property
    def sameness(self) -> Sameness:
        """The worst of all rows."""
        return Sameness(int(self.rows.max(initial=0)))

    def __repr__(self) -> str:
        return f"Replay: {self.sameness.name.lower()}, then {self.case.answer!r}, now {self.now!r}"


def run(path: str | os.PathLike[str]) -> Replay:
    """Ask again what is in a file that `Distance.to_json` wrote, and compare the answers.

    Raises
    ------
    FileError, ParseError
        Where the file holds no such question.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> result = gk.signed_distance(gk.Box((1, 1, 1)), gk.Sphere(1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = result.to_json(pathlib.Path(folder) / "case.json")
    ...     gk.replay.run(pathlib.Path(folder) / "case.json").sameness.name
    'SAME'
    """
    case = read(path)
    try:
        now = getattr(queries, case.query)(case.a, case.b, case.pose_a, case.pose_b, **case.arguments)
    except Gjk3dError as reason:
        raise ParseError(f"{os.path.basename(path)}: {reason}") from None
    if np.shape(now.distance) != np.shape(case.answer.distance):
        then, rows = (_rows(np.shape(of.distance)) for of in (case.answer, now))
        raise ParseError(f"{os.path.basename(path)}: the answer is of {then}, the poses are of {rows}")
    return Replay(case, now, compare(case.answer, now))


def _rows(shape: tuple[int, ...]) -> str:
    return f"a stack of {shape[0]}" if shape else "one pair"


def compare(then: Distance, now: Distance) -> NDArray[np.int64]:
    """Return the `Sameness` of each row."""
    same = np.ones(len(np.atleast_1d(now.distance)), dtype=bool)
    for name in (*NUMBERS, "status", "tight"):
        differ = _bits(np.asarray(getattr(then, name))) != _bits(np.asarray(getattr(now, name)))
        same &= ~(differ.any(axis=-1) if name in ("normal", "point_a", "point_b") else differ)
    # where a bound is NaN nothing is in common
    meet = (np.atleast_1d(now.lower) <= np.atleast_1d(then.upper)) & (
        np.atleast_1d(then.lower) <= np.atleast_1d(now.upper)
    )
    return np.where(same, Sameness.SAME, np.where(meet, Sameness.AGREES, Sameness.CONTRADICTS)).astype(np.int64)


def _bits(values: NDArray[Any]) -> NDArray[Any]:
    """Return floats as their bits, so that -0 is not 0 and NaN is NaN."""
    return np.ascontiguousarray(values).view(np.int64) if values.dtype == np.float64 else values
