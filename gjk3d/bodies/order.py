"""Which of two the kernels see first, so that an answer of (b, a) mirrors that of (a, b) to the last bit.

A body comes before a shape, and of two bodies or two shapes the lower by their content. Where these tie, as of a thing
and itself, it is the one whose pose is lower, number by number.
"""

from __future__ import annotations

from typing import Any

from gjk3d.bodies.base import Body
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array

Thing = Body | Shape

ORDERED, TURNED, TIED = range(3)  #: two are as they were asked about, or turned round, or their poses tell


def order_of(a: Thing, b: Thing) -> int:
    """Return the order of two."""
    if isinstance(a, Body) != isinstance(b, Body):
        return ORDERED if isinstance(a, Body) else TURNED
    first: Any = a._order
    second: Any = b._order
    return TIED if first == second else ORDERED if first < second else TURNED


def in_order(a: Thing, b: Thing, row_a: Array, row_b: Array) -> bool:
    """Tell whether a comes first of two at these pose rows, or on such ways."""
    order = order_of(a, b)
    return order == ORDERED or (order == TIED and not row_a.tolist() > row_b.tolist())
