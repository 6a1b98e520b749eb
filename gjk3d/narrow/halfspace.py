"""A half-space against a convex core: one support point along the plane's normal is the whole answer."""

from __future__ import annotations

from gjk3d._kernels.decorators import kernel
from gjk3d.narrow.cores import cores_at, rounding_error, support_pair
from gjk3d.narrow.solve import BEYOND, OVERLAPPING, SEPARATED, TOUCHING, UNSIGNED, write_in_world
from gjk3d.shapes.layout import Core
from gjk3d.typing import Array, Ints


@kernel
def plane_rows(
    normal: Array, qp: Ints, fp: Array, q: Ints, f: Array, poses_plane: Array, poses: Array,
    flip: bool, mode: int, max_distance: float,
    start: int, stop: int, out: Array, flags: Ints,
) -> None:  # fmt: skip
    """Fill rows start to stop.

    ``qp, fp`` are a point core centred on the plane, ``flip`` says that the half-space is B.
    """
    nl = (normal[0], normal[1], normal[2])
    opposite = (-nl[0], -nl[1], -nl[2])
    for k in range(start, stop):
        pose = poses_plane[k if poses_plane.shape[0] > 1 else 0]
        c = cores_at(Core(qp, fp), pose, Core(q, f), poses[k if poses.shape[0] > 1 else 0])
        error = rounding_error(c.size, c.a, c.b, pose[12])
        _, _, b = support_pair(c, nl)
        distance = nl[0] * b[0] + nl[1] * b[1] + nl[2] * b[2] - f[0]
        lower, upper = distance - error, distance + error
        b = (b[0] - f[0] * nl[0], b[1] - f[0] * nl[1], b[2] - f[0] * nl[2])
        if mode == UNSIGNED:
            lower, upper = max(lower, 0.0), max(upper, 0.0)
            if upper == 0.0:
                distance = 0.0
            distance = max(distance, 0.0)
        if lower > 0.0:
            status = BEYOND if lower > max_distance else SEPARATED
        elif upper < 0.0 or (mode == UNSIGNED and upper == 0.0):
            status = OVERLAPPING
        else:
            status = TOUCHING
        a = (b[0] - distance * nl[0], b[1] - distance * nl[1], b[2] - distance * nl[2])
        n = nl
        if flip:
            a, b = b, a
            n = opposite
        out[k, 0], out[k, 1], out[k, 2] = distance, lower, upper
        write_in_world(c, n, a, b, out, k)
        flags[k, 0], flags[k, 1], flags[k, 2], flags[k, 3] = status, 1, 1, 0
