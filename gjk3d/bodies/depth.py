"""How deep two bodies overlap, between bounds that hold.

No way is known to compute the depth of what is not convex in acceptable time, so it is enclosed. From above: every
translation after which the two are apart, tried and found free, is as deep as they can be; that of their hulls always
is. From below: two parts that overlap must be parted, and a point that lies deep in a closed surface must leave it.
Where the way out of the deepest two parts is free, and where both are convex, the two bounds agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import inf
from typing import NamedTuple

import numpy as np

from gjk3d.bodies.bvh import from_points
from gjk3d.bodies.pair import BodyPair
from gjk3d.bodies.raycast import inside_of
from gjk3d.convex.solve import signed
from gjk3d.poses import matrices, moved, moved_back
from gjk3d.typing import Array, Ints

_SAMPLES = 256  #: points that are looked at for the bound from below, and rows of parts for a way out
_MANY = 20_000  #: pairs of parts, of which every try takes long
_FEWER = 4  #: directions that are tried then
_FACES = 16  #: faces that meet whose normals are tried
_HALVINGS = 10
_SAME_WAY = 0.99  #: cosine of directions that are as good as one
_EX = np.array([1.0, 0.0, 0.0])


class Depth(NamedTuple):
    """At least and at most how deep; moving b by ``most`` along ``normal``, in a's frame, frees it."""

    least: float
    most: float
    normal: Array
    place: Array  #: a point where they overlap, in a's frame


def depth(x: BodyPair) -> Depth:
    """Return bounds of the depth of two that meet; infinite where nothing parts them."""
    error = x.error
    least, place = _innermost(x)
    slack = x.a.convex_slack + x.b.convex_slack + 2.0 * error
    most, normal, hulls = _outer(x) if slack < inf else (inf, _EX, None)
    if hulls is not None and slack < 1e-6 * most:  # both convex, as they mostly are: the hulls' depth is theirs
        least = max(least, -float(hulls[2]) - slack)
        return Depth(min(least, most), most, normal, x.place(hulls) if place is None else place)
    pairs, out = x.deepest()
    if len(out):
        own = -float(out[0, 2]) - error
        if own > least or place is None:
            least, place = max(least, own), 0.5 * (out[0, 6:9] + out[0, 9:12])
        if own >= least:  # the deepest pair's own way out: where that is free there is no shorter one
            most, normal = max(-float(out[0, 1]), 0.0) + 4.0 * error, out[0, 3:6]
            if x.freedom(most)(most * normal):
                return Depth(min(least, most), most, normal, place)
    most, normal, hulls = _outer(x)
    if place is None:
        place = x.place(hulls)
    free = x.freedom(most)
    for row in _different(out):
        t = max(-float(row[1]), 0.0) + 4.0 * error
        if t < most and free(t * row[3:6]):
            most, normal = t, row[3:6]
            break
    if most < inf:
        ways = distinct(_ways(x, pairs, out, normal), x.ways if len(out) < _MANY else _FEWER)
        most, normal = shortest(free, ways, most, normal, error)
    return Depth(max(0.0, min(least, most)), most, normal, place)


def _outer(x: BodyPair) -> tuple[float, Array, Array | None]:
    """Return a translation that parts the two for certain: that of the hulls, with their answer, or of the boxes."""
    hull_a, hull_b = x.a.hull(), x.b.hull()
    if hull_a is not None and hull_b is not None:
        row = signed(hull_a, hull_b, matrices(x.m))[0]
        return max(-float(row[1]), 0.0) + x.error, row[3:6].copy(), row
    most, normal = inf, _EX
    box_a = x.a.box
    own = x.b.boxes_at(np.arange(x.b.count), x.m)
    box_b = np.concatenate([own[:, :3].min(axis=0), own[:, 3:].max(axis=0)])
    for c in range(3):
        for sign, far in ((1.0, box_a[3 + c] - box_b[c]), (-1.0, box_b[3 + c] - box_a[c])):
            if far < most and not (x.a.endless and c == 2 and sign < 0.0):
                most, normal = max(float(far), 0.0), sign * np.eye(3)[c]
    return most + 4.0 * x.error, normal, None


def _innermost(x: BodyPair) -> tuple[float, Array | None]:
    """Return how deep the deepest of some points of one lies in a closed surface of the other, and that point."""
    least, place = 0.0, None
    for host, guest, held_by_b in ((x.b, x.a, True), (x.a, x.b, False)):
        solids = host.solids
        if not solids:
            continue
        points = guest.samples()
        if len(points) > _SAMPLES:
            points = points[np.linspace(0, len(points) - 1, _SAMPLES).astype(int)]
        points = moved_back(x.m, points) if held_by_b else moved(x.m, points)
        for mesh, row in solids:
            own = moved_back(row, points)
            inside = np.flatnonzero(inside_of(mesh, own))
            if not len(inside):
                continue
            far = from_points(mesh, own[inside])[0]
            k = int(np.argmax(far))
            deep = max(0.0, float(far[k]) - x.error)
            if deep > least or (place is None and held_by_b):
                least, place = deep, moved(x.m, points[inside[k]]) if held_by_b else points[inside[k]]
    return least, place


def shortest(
    free: Callable[[Array], bool], ways: Iterable[Array], most: float, normal: Array, error: float
) -> tuple[float, Array]:
    """Try shorter and shorter translations along unit vectors; return the shortest that was found free."""
    for way in ways:
        low, high = 0.0, most
        # a touch needs next to nothing
        for t in (4.0 * error, 1e-6 * most, 1e-3 * most):
            if t < high and free(t * way):
                high = t
                break
            low = min(t, high)
        for _ in range(_HALVINGS):
            if high - low <= 1e-3 * high:
                break
            t = 0.5 * (low + high)
            if free(t * way):
                high = t
            elif high == most and t > 0.9 * most:
                break
            else:
                low = t
        if high < most:
            most, normal = high, way
    return most + error, normal


def distinct(candidates: Iterable[Array], count: int) -> Iterator[Array]:
    """Yield at most so many of the directions as unit vectors, without zeros and what is almost another one."""
    tried: list[Array] = []
    for way in candidates:
        length = float(np.linalg.norm(way))
        if length > 1e-9 and all(float(way @ other) < _SAME_WAY * length for other in tried):
            tried.append(way / length)
            yield tried[-1]
        if len(tried) >= count:
            return


def _ways(x: BodyPair, pairs: Ints, out: Array, normal: Array) -> Iterator[Array]:
    """Yield directions to move b along: that of the hulls, those that surfaces look to, those of parts, the axes."""
    yield normal
    if len(out):
        yield (out[:, 3:6] * np.maximum(-out[:, :1], 0.0)).sum(axis=0)
        yield out[:, 3:6].sum(axis=0)
    if len(pairs) and (x.a.solids or x.b.solids or not len(out)):
        turn = x.m[:9].reshape(3, 3)
        ours, theirs = x.a.outward(pairs[:, 0]), x.b.outward(pairs[:, 1])
        yield ours.mean(axis=0) - theirs.mean(axis=0) @ turn.T
        some = np.unique(np.linspace(0, len(pairs) - 1, _FACES).astype(int))
        yield from np.stack([ours[some], -(theirs[some] @ turn.T)], axis=1).reshape(-1, 3)
    if len(out):
        yield from (row[3:6] for row in _different(out))
        yield from np.stack([np.eye(3), -np.eye(3)], axis=1).reshape(-1, 3)


def _different(out: Array) -> Iterator[Array]:
    """Yield a few rows, the deepest first, whose normals differ."""
    seen: list[Array] = []
    for row in out[:_SAMPLES]:
        if all(row[3:6] @ other < _SAME_WAY for other in seen):
            seen.append(row[3:6])
            yield row
        if len(seen) >= 8:
            return
