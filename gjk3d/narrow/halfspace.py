"""A half-space against a convex core: one support point along the plane's normal is the whole answer."""

from __future__ import annotations

from gjk3d._kernels.decorators import kernel
from gjk3d.narrow.cores import pair_size, relative_pose, rounding_error, support_pair, world_center
from gjk3d.narrow.solve import BEYOND, OVERLAPPING, SEPARATED, TOUCHING, UNSIGNED
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
        i = k if poses_plane.shape[0] > 1 else 0
        j = k if poses.shape[0] > 1 else 0
        m = relative_pose(poses_plane, i, fp, 0, poses, j, f, 0)
        size = pair_size(fp, 0, f, 0, m)
        error = rounding_error(size, fp, 0, f, 0, poses_plane[i, 12])
        _, _, b = support_pair(qp, 0, fp, 0, q, 0, f, 0, m, nl)
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
        center = world_center(poses_plane, i, fp, 0)
        for r in range(3):
            x, y, z = poses_plane[i, 3 * r], poses_plane[i, 3 * r + 1], poses_plane[i, 3 * r + 2]
            t = center[r]
            out[k, 3 + r] = x * n[0] + y * n[1] + z * n[2]
            out[k, 6 + r] = x * a[0] + y * a[1] + z * a[2] + t
            out[k, 9 + r] = x * b[0] + y * b[1] + z * b[2] + t
        flags[k, 0], flags[k, 1], flags[k, 2], flags[k, 3] = status, 1, 1, 0
