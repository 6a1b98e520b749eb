"""Pairs with a distance in closed form: aligned boxes, cylinders and capsules, spheres, a sphere and a box.

The distance is that of a point to the sum of both shapes, which is of the same family. Many pairs touch exactly, or
are a few ulps away from touching. The true distance is computed in long doubles, whose 64 bits represent every number
here up to 2**-62 of the pair's size.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product

import numpy as np
from laws import Pair
from naive import Array, Spec

Rng = np.random.Generator
Truth = tuple[Array, Array]  #: bounds of the signed distance

_QUARTERS = [
    turn
    for p in permutations(range(3))
    for s in product((1, -1), repeat=3)
    if np.linalg.det(turn := np.diag(s)[list(p)]) > 0
]


def _number(rng: Rng) -> float:
    """Return a length: a multiple of 1/8, or a random number."""
    return float(rng.integers(1, 33)) / 8 if rng.random() < 0.5 else float(rng.uniform(0.1, 4.0))


def _nudged(x: Array, rng: Rng) -> Array:
    """Change numbers by up to two ulps, or by a fraction of themselves."""
    x = x + np.spacing(x) * rng.integers(-2, 3, x.shape) * (rng.random(x.shape) < 0.7)
    part = 10.0 ** rng.uniform(-16, -3, x.shape) * rng.choice((-1, 1), x.shape)
    return np.where(rng.random(x.shape) < 0.2, x * (1 + part), x)


def _around(rng: Rng, count: int, half: Array) -> Array:
    """Return offsets of a pair whose sum has these half extents: touching by faces or edges, overlapping, separated."""
    contact = _nudged(np.tile(half, (count, 1)), rng)
    inside = half * rng.integers(-8, 9, (count, 3)) / 8
    anywhere = half * rng.uniform(-2, 2, (count, 3))
    at = rng.integers(0, 8, (count, 3))
    offsets = np.where(at < 3, contact, np.where(at < 6, inside, anywhere))
    offsets[rng.random(count) < 0.05] = 0.0
    return offsets * rng.choice((-1.0, 1.0), offsets.shape)


def _of_box(p: Array, half: Array) -> Array:
    """Return signed distances of points to a box about 0 with these half extents, in any dimension."""
    q = np.abs(p) - half
    beyond = np.maximum(q, 0)
    return np.sqrt((beyond * beyond).sum(axis=-1)) + np.minimum(q.max(axis=-1), 0)


def _pair(rng: Rng, a: Spec, b: Spec, offsets: Array, swap: bool) -> Pair:
    poses = np.tile(np.eye(4), (2, len(offsets), 1, 1))
    poses[1, :, :3, 3] = offsets
    if rng.random() < 0.5:
        poses[:, :, :3, 3] += rng.integers(-8, 9, 3) * 2.0 ** rng.integers(-3, 24)  # a large shift rounds the offsets
    return Pair(b, poses[1], a, poses[0]) if swap else Pair(a, poses[0], b, poses[1])


def _offset(pair: Pair) -> Array:
    a, b = (np.asarray(p[:, :3, 3], dtype=np.longdouble) for p in (pair.poses_a, pair.poses_b))
    return b - a


def _bounds(pair: Pair, value: Array) -> tuple[Pair, Truth]:
    slack = 2.0**-61 * pair.size.astype(np.longdouble)
    return pair, (value - slack, value + slack)


def boxes(rng: Rng, count: int) -> tuple[Pair, Truth]:
    """Draw two boxes, rotated by right angles."""
    sizes = np.array([[_number(rng) for _ in range(3)] for _ in range(2)])
    if rng.random() < 0.3:
        sizes[1] = sizes[0]
    turns = [_QUARTERS[k] for k in rng.integers(len(_QUARTERS), size=2)]
    halves = [np.abs(turn) @ size / 2 for turn, size in zip(turns, sizes, strict=True)]
    pair = _pair(rng, ("box", sizes[0]), ("box", sizes[1]), _around(rng, count, halves[0] + halves[1]), False)
    pair.poses_a[:, :3, :3], pair.poses_b[:, :3, :3] = turns
    half = halves[0].astype(np.longdouble) + halves[1]
    return _bounds(pair, _of_box(_offset(pair), half))


def spheres(rng: Rng, count: int) -> tuple[Pair, Truth]:
    """Draw two spheres, many of them on an axis or along (3, 4, 0)."""
    r, s = _number(rng), _number(rng)
    directions = np.array([(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0.8, 0), (1 / 3, 2 / 3, 2 / 3)])
    offsets = directions[rng.integers(5, size=count)] * _nudged(np.full((count, 1), r + s), rng)
    offsets = np.where(rng.random((count, 1)) < 0.2, rng.normal(size=(count, 3)) * (r + s), offsets)
    offsets[rng.random(count) < 0.05] = 0.0
    pair = _pair(rng, ("sphere", r), ("sphere", s), offsets, False)
    p = _offset(pair)
    return _bounds(pair, np.sqrt((p * p).sum(axis=1)) - np.longdouble(r) - np.longdouble(s))


def sphere_box(rng: Rng, count: int) -> tuple[Pair, Truth]:
    """Draw a sphere and a box, in either order."""
    r, size = _number(rng), np.array([_number(rng) for _ in range(3)])
    pair = _pair(rng, ("box", size), ("sphere", r), _around(rng, count, size / 2 + r), rng.random() < 0.5)
    return _bounds(pair, _of_box(_offset(pair), size.astype(np.longdouble) / 2) - np.longdouble(r))


def capsules(rng: Rng, count: int) -> tuple[Pair, Truth]:
    """Draw two capsules side by side or end to end, or a capsule and a sphere."""
    (r, s), (g, h) = rng.permutation([_number(rng) for _ in range(4)]).reshape(2, 2)
    if rng.random() < 0.3:
        b, h = ("sphere", s), 0.0
    else:
        b = ("capsule", s, h)
    half = np.array([r + s, r + s, (g + h) / 2 + r + s])
    pair = _pair(rng, ("capsule", r, g), b, _around(rng, count, half), rng.random() < 0.5)
    p = np.abs(_offset(pair))
    p[:, 2] = np.maximum(p[:, 2] - (np.longdouble(g) + np.longdouble(h)) / 2, 0)
    return _bounds(pair, np.sqrt((p * p).sum(axis=1)) - np.longdouble(r) - np.longdouble(s))


def cylinders(rng: Rng, count: int) -> tuple[Pair, Truth]:
    """Draw two parallel cylinders, face on face and side by side."""
    r, s, g, h = (_number(rng) for _ in range(4))
    half = np.array([r + s, r + s, (g + h) / 2])
    pair = _pair(rng, ("cylinder", r, g), ("cylinder", s, h), _around(rng, count, half), False)
    p = _offset(pair)
    flat = np.column_stack([np.sqrt(p[:, 0] ** 2 + p[:, 1] ** 2), p[:, 2]])
    wide = np.array([np.longdouble(r) + np.longdouble(s), (np.longdouble(g) + np.longdouble(h)) / 2])
    return _bounds(pair, _of_box(flat, wide))


CLASSES: dict[str, Callable[[Rng, int], tuple[Pair, Truth]]] = {
    "closed form: boxes": boxes,
    "closed form: spheres": spheres,
    "closed form: sphere and box": sphere_box,
    "closed form: capsules": capsules,
    "closed form: cylinders": cylinders,
}
