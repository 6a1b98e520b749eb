"""Time of impact of two convex shapes, for motions as rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d._kernels.callback import raise_pending
from gjk3d.convex.batch import in_chunks
from gjk3d.convex.rows import Rows
from gjk3d.convex.solve import core_row
from gjk3d.errors import UnsupportedPair
from gjk3d.narrow import toi as narrow
from gjk3d.narrow.motion import REFERENCE, TURN
from gjk3d.narrow.pairs import Packed
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Ints

UP = np.array([0.0, 0.0, 1.0])  #: the normal for kernels on two bounded shapes, which ignore it


def impacts(a: Any, b: Shape, rows: Rows, clearance: float, out: Array, flags: Ints) -> None:
    """Fill ``out`` and ``flags`` as `gjk3d.narrow.toi.impact_many` does; only A may be a half-space or plane."""
    ints, floats, row, is_plane = core_row(a, b)
    if is_plane:
        check_turn(a, rows.a)
    normal = a.normal.copy() if is_plane else UP
    shapes, motions = Packed(ints, floats, row), narrow.Motions(rows.a, rows.b)

    def task(start: int, stop: int) -> None:
        work = np.empty(narrow.WORK)
        narrow.impact_many(shapes, not is_plane, normal, motions, clearance, start, stop, work, out, flags)

    in_chunks(len(out), rows.workers, task)
    raise_pending()


def check_turn(plane: Shape, motions: Array) -> None:
    """Raise if a half-space or plane rotates."""
    if motions[:, TURN:REFERENCE].any():
        raise UnsupportedPair(f"time_of_impact: a {type(plane).__name__} cannot rotate. Use a large Box")
