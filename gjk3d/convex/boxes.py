"""Boxes along the axes round placed shapes, for a broad phase: a little larger than need be."""

from __future__ import annotations

import numpy as np

from gjk3d._kernels.decorators import kernel, plain, single_entry
from gjk3d.broad.nodes import Box
from gjk3d.convex.solve import is_mapped
from gjk3d.poses import UNIT_ROUNDOFF
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Array1, Array2, Ints1, Ints2

_U = UNIT_ROUNDOFF
_KIND, _RADIUS, _CENTER, _RHO, _SLACK = layout.KIND, layout.RADIUS, layout.CENTER, layout.RHO, layout.SLACK
_BOX, _HEAD = layout.BOX, layout.FLOAT_HEAD
#: of a shape's size: by more than this two boxes overlap wherever the narrow phase might not prove the shapes apart;
#: twice the width that it promises of curved shapes
SLACK = 1e-9


@kernel
def reach_along(core: Core, ball: bool, poses: Array, s: int, axis: int) -> tuple[float, float]:
    """Return from where to where a shape at pose row s reaches along an axis of the world."""
    g = core.floats
    size = g[_RHO] + g[_RADIUS]
    c0, c1, c2 = g[_CENTER], g[_CENTER + 1], g[_CENTER + 2]
    off = abs(c0) + abs(c1) + abs(c2)
    # how far from orthonormal the rotation is stretches what it turns
    grown = g[_SLACK] + SLACK * size + (32.0 * _U + 2.0 * poses[s, 12]) * (size + off)
    d = (poses[s, 3 * axis], poses[s, 3 * axis + 1], poses[s, 3 * axis + 2])
    if ball:
        high, low = g[_RHO], -g[_RHO]
    elif core.ints[_KIND] == _BOX:
        high = abs(d[0]) * g[_HEAD] + abs(d[1]) * g[_HEAD + 1] + abs(d[2]) * g[_HEAD + 2]
        low = -high
    else:
        p = support(core, d)
        high = p[0] * d[0] + p[1] * d[1] + p[2] * d[2]
        p = support(core, (-d[0], -d[1], -d[2]))
        low = p[0] * d[0] + p[1] * d[1] + p[2] * d[2]
    middle = d[0] * c0 + d[1] * c1 + d[2] * c2 + poses[s, 9 + axis]
    more = g[_RADIUS] + grown + 8.0 * _U * (abs(poses[s, 9 + axis]) + off)
    return middle + low - more, middle + high + more


@kernel
def placed_box(core: Core, ball: bool, poses: Array, s: int) -> Box:
    """Return the box round a shape at pose row s: its least corner, then its greatest.

    Where a ``ball`` is wanted it is the box of the ball round it, since its support mapping is not to be called.
    """
    x0, x1 = reach_along(core, ball, poses, s, plain(0))
    y0, y1 = reach_along(core, ball, poses, s, plain(1))
    z0, z1 = reach_along(core, ball, poses, s, plain(2))
    return (x0, y0, z0, x1, y1, z1)


@single_entry
def placed_boxes(q: Ints1, f: Array1, starts: Ints2, balls: Ints1, poses: Array2, slots: Ints1, out: Array2) -> None:
    """Fill row k of ``out`` with the box round object slots[k]: shape starts[slot] at pose row ``slot``; see above."""
    for k in range(slots.shape[0]):
        s = slots[k]
        box = placed_box(Core(q[starts[s, 0] :], f[starts[s, 1] :]), balls[s] != 0, poses, s)
        out[k, 0], out[k, 1], out[k, 2], out[k, 3], out[k, 4], out[k, 5] = box


def box_round(shape: Shape, row: Array) -> Array:
    """Return the lowest and the highest corner of a shape at a pose row, (2, 3)."""
    out, one = np.empty((1, 6)), np.zeros(1, dtype=np.int64)
    placed_boxes(*shape._packed, np.zeros((1, 2), dtype=np.int64), one + is_mapped(shape), row[None], one, out)
    return out.reshape(2, 3)
