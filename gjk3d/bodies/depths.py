"""How deep two unions of convex parts overlap, between bounds that hold.

From below: two parts that overlap must be parted, so the deepest pair of parts is a bound; and a point that lies deep
in a closed mesh must leave it. From above: every translation after which the two are apart, tried and found free, is as
deep as they can be; that of their hulls is. Where the deepest pair's own translation is free the two bounds agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Any

import numpy as np

from gjk3d.bodies.between import Between
from gjk3d.bodies.mesh_depths import Depth, distinct, shortest
from gjk3d.bodies.surfaces import from_points, holds
from gjk3d.convex.solve import signed
from gjk3d.narrow import solve as narrow
from gjk3d.poses import inverse
from gjk3d.typing import Array, Ints

_WAYS, _FEWER = 16, 4  #: directions that are tried; where many parts are near, each takes long
_MANY = 20_000
_SAMPLES = 256  #: points that are looked for in closed meshes
_CHUNK = 4096
_EX = np.array([1.0, 0.0, 0.0])


def depth(x: Between) -> Depth:
    """Return bounds of the depth of two that meet; infinite where nothing parts them."""
    pairs = x.meeting()
    out, _ = x.solve(pairs, narrow.SIGNED)
    error = x.error
    least, place = _held_depth(x)
    if place is None:
        place = x.held() if not len(pairs) else None
    if len(out):
        deepest = np.argsort(out[:, 2], kind="stable")
        out = out[deepest]
        if -out[0, 2] - error > least or place is None:
            least = max(least, float(-out[0, 2]) - error)
            place = 0.5 * (out[0, 6:9] + out[0, 9:12])
    if place is None:  # a touch that rounding takes for none
        place = x.nearest().row[6:9]
    if len(out) and -out[0, 2] - error >= least:
        # the deepest pair's own way out: where that is free there is no shorter one
        most, normal = max(float(-out[0, 1]), 0.0) + 4.0 * error, out[0, 3:6]
        if _freedom(x, most)(most * normal):
            return Depth(min(least, most), most, normal, place)
    most, normal = _outer(x)
    free = _freedom(x, most)
    for row in _different(out):
        t = max(float(-row[1]), 0.0) + 4.0 * error
        if t < most and free(t * row[3:6]):
            most, normal = t, row[3:6]
            break
    if most < inf:
        most, normal = shortest(
            free, distinct(_ways(out, normal), _WAYS if len(out) < _MANY else _FEWER), most, normal, error
        )
    return Depth(max(0.0, min(least, most)), most, normal, place)


def _different(out: Array) -> Iterator[Array]:
    """Yield a few rows, the deepest first, whose normals differ."""
    seen: list[Array] = []
    for row in out[:_SAMPLES]:
        if all(row[3:6] @ other < 0.99 for other in seen):
            seen.append(row[3:6])
            yield row
        if len(seen) >= _WAYS // 2:
            return


def _ways(out: Array, normal: Array) -> Iterator[Array]:
    yield normal
    if len(out):
        yield (out[:, 3:6] * np.maximum(-out[:, :1], 0.0)).sum(axis=0)
        yield out[:, 3:6].sum(axis=0)
    for row in _different(out):
        yield row[3:6]
    for axis in np.eye(3):
        yield axis
        yield -axis


def _outer(x: Between) -> tuple[float, Array]:
    """Return a translation that parts the two for certain: that of the hulls, or of the boxes."""
    hull_a, hull_b = x.a.outline(), x.b.outline()
    if hull_a is not None and hull_b is not None:
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = x.m[:9].reshape(3, 3), x.m[9:12]
        answer = signed(hull_a, hull_b, pose)[0]
        return max(-float(answer[1]), 0.0) + 4.0 * x.error, answer[3:6]
    most, normal = inf, _EX
    box_a = x.a.box
    own = x.b.boxes_at(np.arange(x.b.count), x.m)
    box_b = np.concatenate([own[:, :3].min(axis=0), own[:, 3:].max(axis=0)])
    for c in range(3):
        for sign, far in ((1.0, box_a[3 + c] - box_b[c]), (-1.0, box_b[3 + c] - box_a[c])):
            if far < most and not (x.a.endless and c == 2 and sign < 0.0):
                most, normal = max(float(far), 0.0), sign * np.eye(3)[c]
    return most + 4.0 * x.error, normal


def _freedom(x: Between, most: float) -> Callable[[Array], bool]:
    """Return what tells whether a translation of b, no longer than that, parts the two."""
    blocks = list(x.candidates(most)) if most < inf else []
    pairs: Ints = np.concatenate(blocks) if blocks else np.zeros((0, 2), dtype=np.int64)
    low, high = x.a.boxes(pairs[:, 0]), x.b.boxes_at(pairs[:, 1], x.m)
    bodies = bool(x.a.bodies or x.b.bodies)

    def free(shift: Array) -> bool:
        moved = x.moved(shift)
        apart = np.zeros(len(pairs), dtype=bool)
        for c in range(3):
            apart |= high[:, c] + shift[c] - low[:, 3 + c] > x.error
            apart |= low[:, c] - high[:, 3 + c] - shift[c] > x.error
        close = pairs[~apart]
        if any(bool(moved.hits(close[k : k + _CHUNK]).any()) for k in range(0, len(close), _CHUNK)):
            return False
        return not bodies or moved.held() is None

    return free


def _held_depth(x: Between) -> tuple[float, Any]:
    """Return how deep the deepest of some points of one lies in a closed mesh of the other, and that point."""
    best: tuple[float, Any] = (0.0, None)
    for host, guest, m, to_a in ((x.a, x.b, x.m, None), (x.b, x.a, inverse(x.m), x.m)):
        points = guest.points() if host.bodies else np.zeros((0, 3))
        if not len(points):
            continue
        points = points[np.unique(np.linspace(0, len(points) - 1, _SAMPLES).astype(int))]
        points = points @ m[:9].reshape(3, 3).T + m[9:12]
        for mesh, row in host.bodies:
            back = inverse(row)
            own = np.ascontiguousarray(points @ back[:9].reshape(3, 3).T + back[9:12])
            inside = np.flatnonzero(holds(mesh, own))
            if not len(inside):
                continue
            far = from_points(mesh, own[inside])[0]
            k = int(far.argmax())
            if far[k] - x.error > best[0]:
                point = points[inside[k]]
                best = float(far[k]) - x.error, point if to_a is None else to_a[:9].reshape(3, 3) @ point + to_a[9:12]
    return best
