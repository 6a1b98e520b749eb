"""The layout of a shape for the kernels, two flat arrays, and the range of lengths that they support.

ints:   kind, vertex count, part count, is-polytope, symmetry, then
        for a composed shape 5 ints per part: term, kind, vertex count, offset of its numbers, offset of its placement
        for a user's support mapping the vertex count is the address of the function
        for a large hull the part count is the grid of its table of directions, and the nodes of the table follow, see
        `gjk3d.geometry.directions`
floats: radius, core centre (3), rho, slack, axis (3), inner, then the numbers of the core
        rho is a bound of the distance of the core's points from its centre
        slack is a bound of the distance between the stored core and the exact shape
        axis is the unit direction of the axis of revolution through the centre
        inner is the radius of a ball about the centre that is inside the core, or 0
        a large hull has its vertices (all x, all y, all z), then the entries of its table, point by point

The numbers of a core are relative to its centre. Offsets count from the first float of the shape, so several shapes can
be joined in one array.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gjk3d.errors import ShapeError
from gjk3d.typing import Array, Array1, Ints, Ints1

POINT, SEGMENT, BOX, HULL, CYLINDER, CONE, ELLIPSOID, COMPOSED, SUPPORT = range(9)

KIND, VERTICES, PARTS, POLYTOPE, SYMMETRY, INT_HEAD = 0, 1, 2, 3, 4, 5
PART_INTS = 5
RADIUS, CENTER, RHO, SLACK, AXIS, INNER, FLOAT_HEAD = 0, 1, 4, 5, 6, 9, 10
#: symmetry: none, about the axis, about every line through the centre
NONE, REVOLVED, BALL = range(3)
PLACEMENT = 12  #: floats of a placement: a (3, 3) matrix by rows, then a translation


class Core(NamedTuple):
    """One shape for the kernels: views of the two arrays that start at the shape. Only kernels create it."""

    ints: Ints1
    floats: Array1


#: range of lengths whose squares and cubes neither overflow nor vanish in the kernels
LEAST, GREATEST = 1e-50, 1e50
_SIGN = np.int64(-(2**63))


def in_range(values: Array, what: str) -> None:
    """Raise if the largest of some lengths is outside the range of the kernels. Zeros are ignored."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest > GREATEST or 0.0 < largest < LEAST:
        raise ShapeError(f"{what}: lengths of {largest:g} are outside {LEAST:g} to {GREATEST:g}. Use another unit.")


def order(ints: Ints, floats: Array) -> tuple[bytes, bytes]:
    """Return the sort key of a shape: bytes that compare like its numbers, so that scaling by 2 keeps the order."""
    if ints[KIND] == HULL:  # the vertices define the table
        ints, floats = ints[:INT_HEAD], floats[: FLOAT_HEAD + 3 * ints[VERTICES]]
    bits = (floats + 0.0).view(np.int64)
    bits ^= (bits >> 63) | _SIGN  # all bits of a negative number, and the sign of others
    return ints.tobytes(), bits.astype(">i8").tobytes()
