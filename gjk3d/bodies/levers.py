"""Which parts carry the distance of two bodies, and with what weights: what its derivatives are made of.

Apart it is the nearest parts. In overlap it is what touches once the shortest translation t has parted the two: t is
held by contacts whose normals n make up its direction with weights w of at least 0, t / |t| = sum w n, and by the
envelope theorem the depth changes as the sum of w times what each contact does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gjk3d.bodies.base import Body
from gjk3d.bodies.distance import pair_of
from gjk3d.bodies.order import Thing, in_order
from gjk3d.bodies.pair import BodyPair
from gjk3d.convex.rows import mirror
from gjk3d.narrow import solve as narrow
from gjk3d.poses import ROUNDING, composed, relative
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Ints

_STEP = 1e-7  #: of the size: so far apart are the two moved to see what they touch
_TIE = 1e-9  #: of the size: parts that are nearer than the nearest and this are as near
_SAME_PLACE = 1e-6  #: of the size: points that are one
_SAME_WAY = 1e-6  #: of normals that are one, the length of their difference
_MOST = 64  #: parts that are looked at


class Levers(NamedTuple):
    """What carries a distance: answers of parts in world axes, b moved by ``shift``, and a weight each."""

    rows: Array
    weights: Array
    shift: Array
    parts: list[tuple[Shape, Array, Shape, Array]]  #: the two parts of each row, and their pose rows
    sure: bool  #: whether nothing but these, and just these, may carry it


def levers(a: Thing, b: Thing, row_a: Array, row_b: Array, answer: Array, tight: bool) -> Levers:
    """Return what carries the signed distance of two of which one is a body, and none a half-space."""
    if not in_order(a, b, row_a, row_b):
        turned = answer[None].copy()
        mirror(turned, True)
        own = levers(b, a, row_b, row_a, turned[0], tight)
        # b stands, and a has been moved the other way: all of it is moved back
        rows = own.rows.copy()
        mirror(rows, True)
        parts = [(t, q, s, p) for s, p, t, q in own.parts]
        back = -own.shift
        rows[:, 6:9] += back
        rows[:, 9:12] += back
        for k, (s, p, t, q) in enumerate(parts):
            parts[k] = s, _shifted(p, back), t, _shifted(q, back)
        return own._replace(rows=rows, shift=back, parts=parts)
    assert isinstance(a, Body)
    x = pair_of(a, b, relative(row_a, row_b))
    size = x.error / ROUNDING
    apart = bool(answer[1] > 0.0)
    shift, margin = np.zeros(3), answer[0] + _TIE * size + 4.0 * x.error
    if not apart:
        step = _STEP * size
        shift = (step - min(float(answer[0]), 0.0)) * answer[3:6]
        x = x.moved(row_a[:9].reshape(3, 3).T @ shift)
        margin = step * (1.0 + 1e-3) + 4.0 * x.error
    pairs = BodyPair.meeting(x, margin)
    out, _ = x.solve(pairs, narrow.SIGNED)
    some = np.flatnonzero(out[:, 0] <= margin)
    some = some[np.argsort(out[some, 0], kind="stable")][:_MOST]
    pairs, out = pairs[some], out[some]
    first = _distinct(out, _SAME_PLACE * size)
    parts = _parts(x, pairs[first], row_a)
    for column, place in ((3, 0.0), (6, row_a[9:12]), (9, row_a[9:12])):
        out[:, column : column + 3] = out[:, column : column + 3] @ row_a[:9].reshape(3, 3).T + place
    rows = out[first]
    alone = len(rows) == 1 and len(some) < _MOST
    if apart or not len(rows):
        if not alone:
            return Levers(answer[None], np.ones(1), np.zeros(3), [], False)
        return Levers(rows, np.ones(1), shift, parts, True)
    weights, whole = _weights(rows[:, 3:6], answer[3:6])
    if not whole:
        return Levers(answer[None], np.ones(1), np.zeros(3), [], False)
    return Levers(rows, weights, shift, parts, bool(tight and (weights > _SAME_WAY).all() and len(some) < _MOST))


def _shifted(row: Array, by: Array) -> Array:
    out = row.copy()
    out[9:12] += by
    return out


def _distinct(out: Array, same: float) -> Ints:
    """Return the first of those rows that have one normal and one pair of points."""
    kept: list[int] = []
    for k, row in enumerate(out):
        if not any(
            np.linalg.norm(row[3:6] - out[j, 3:6]) <= _SAME_WAY and np.abs(row[6:12] - out[j, 6:12]).max() <= same
            for j in kept
        ):
            kept.append(k)
    return np.array(kept, dtype=np.int64)


def _parts(x: BodyPair, pairs: Ints, row_a: Array) -> list[tuple[Shape, Array, Shape, Array]]:
    """Return the two parts of pairs and where they are in world axes."""
    placed_a = composed(row_a, x.a.rows(pairs[:, 0]))
    placed_b = composed(row_a, composed(x.m, x.b.rows(pairs[:, 1])))
    return [(x.a.shape(i), p, x.b.shape(j), q) for (i, j), p, q in zip(pairs.tolist(), placed_a, placed_b, strict=True)]


def _weights(normals: Array, way: Array) -> tuple[Array, bool]:
    """Return weights of at least 0 with which normals make up a direction, and whether they do, in just one way."""
    if (np.linalg.norm(normals - way, axis=1) <= 1e-4).all():
        return np.full(len(normals), 1.0 / len(normals)), len(normals) == 1
    from scipy.optimize import nnls  # few overlaps are held by more than one contact

    weights, left = nnls(normals.T, way)
    return weights, left <= 1e-4 and int((weights > 0.0).sum()) == np.linalg.matrix_rank(normals, tol=1e-6)
