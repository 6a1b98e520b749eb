"""Assembled parts: bolts in holes, pins, rings, shafts and gears, as closed meshes of 64 segments a turn."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from random_shapes import at
from scipy.spatial.transform import Rotation

import gjk3d as gk

Array = NDArray[np.float64]
SEGMENTS = 64
FACET = 5.3 * (1.0 - np.cos(np.pi / SEGMENTS))  # largest distance of a polygon from its circle


def circle(radius: float, count: int = SEGMENTS) -> Array:
    turn = 2.0 * np.pi * np.arange(count) / count
    return radius * np.column_stack([np.cos(turn), np.sin(turn)])


def square(half: float) -> Array:
    ways = circle(1.0)
    return half * ways / np.abs(ways).max(axis=1, keepdims=True)


def _bands(*bands: tuple[Array, Array]) -> list[Array]:
    """Return triangles between rings of vertex numbers. The second ring is above the first, seen from outside."""
    faces = []
    for low, high in bands:
        start, end, up, over = low, np.roll(low, -1), high, np.roll(high, -1)
        faces += [np.column_stack([start, end, over]), np.column_stack([start, over, up])]
    return faces


def pierced(hole: Array, rim: Array, low: float, high: float) -> gk.Mesh:
    """Return a plate with a hole. Both polygons are counter-clockwise and have the same number of corners."""
    rings = [
        np.column_stack([ring, np.full(len(ring), z)])
        for ring, z in ((rim, low), (rim, high), (hole, low), (hole, high))
    ]
    a, b, c, d = np.arange(4 * len(rim)).reshape(4, -1)
    return gk.Mesh(np.vstack(rings), np.vstack(_bands((a, b), (b, d), (d, c), (c, a))))


def turned(profile: list[tuple[float, float]]) -> gk.Mesh:
    """Return a body of revolution of a profile (radius, height) that starts and ends on the axis."""
    unit = circle(1.0)
    rings = [np.column_stack([r * unit, np.full(len(unit), z)]) for r, z in profile[1:-1]]
    numbers = np.arange(len(rings) * SEGMENTS).reshape(len(rings), SEGMENTS)
    ends = np.array([(0.0, 0.0, profile[0][1]), (0.0, 0.0, profile[-1][1])])
    first, last = np.full(SEGMENTS, numbers.size), np.full(SEGMENTS, numbers.size + 1)
    faces = _bands(*pairwise(numbers))
    faces += [np.column_stack([first, np.roll(numbers[0], -1), numbers[0]])]
    faces += [np.column_stack([last, numbers[-1], np.roll(numbers[-1], -1)])]
    return gk.Mesh(np.vstack([*rings, ends]), np.vstack(faces))


def plate(radius: float = 5.2) -> gk.Mesh:
    return pierced(circle(radius), square(20.0), 0.0, 10.0)


def pin(radius: float = 5.0) -> gk.Mesh:
    return turned([(0, -6), (radius, -6), (radius, 16), (0, 16)])


def bolt() -> gk.Mesh:
    """Return a shank of radius 5 and a head of radius 8, whose underside is at the top of the plate."""
    return turned([(0, -6), (5, -6), (5, 10), (8, 10), (8, 16), (0, 16)])


def ring(large: float = 10.0, small: float = 2.0, n: int = 48, k: int = 24) -> gk.Mesh:
    i, j = (x.ravel() for x in np.meshgrid(np.arange(n), np.arange(k), indexing="ij"))
    u, v = 2 * np.pi * i / n, 2 * np.pi * j / k
    far = large + small * np.cos(v)
    number = lambda i, j: (i % n) * k + j % k  # noqa: E731
    a, b, c, d = number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)
    points = np.column_stack([far * np.cos(u), far * np.sin(u), small * np.sin(v)])
    return gk.Mesh(points, np.vstack([np.column_stack([a, b, c]), np.column_stack([a, c, d])]))


def gear() -> gk.Mesh:
    """Return a gear with 20 teeth from radius 9 to 11."""
    pitch = 2 * np.pi / 20
    at_angles = [(t + off, r) for t in range(20) for off, r in ((-0.25, 9.0), (-0.12, 11.0), (0.12, 11.0), (0.25, 9.0))]
    rim = np.array([(r * np.cos(pitch * t), r * np.sin(pitch * t)) for t, r in at_angles])
    rings = [np.column_stack([rim, np.full(len(rim), z)]) for z in (0.0, 4.0)]
    low, high = np.arange(2 * len(rim)).reshape(2, -1)
    first, last = np.full(len(rim), 2 * len(rim)), np.full(len(rim), 2 * len(rim) + 1)
    faces = _bands((low, high))
    faces += [np.column_stack([first, np.roll(low, -1), low]), np.column_stack([last, high, np.roll(high, -1)])]
    return gk.Mesh(np.vstack([*rings, [(0, 0, 0), (0, 0, 4)]]), np.vstack(faces))


class Fit(NamedTuple):
    """Two parts, the pose of B, and the expected depth and penetration, both within the tolerance."""

    name: str
    a: gk.Mesh
    b: gk.Mesh
    pose: Array
    depth: float
    penetration: float
    tolerance: float = 2.0 * FACET


def fits() -> Iterator[Fit]:
    for off, deep in ((0.3, 0.1), (1.0, 0.8), (4.0, 3.8)):
        for angle in (0.0, 0.4):
            x, y = off * np.cos(angle), off * np.sin(angle)
            name = f"{off} off at {angle}"
            yield Fit(f"pin {name}", plate(), pin(), at(x, y, 0), deep, deep)
            yield Fit(f"bolt {name}, its head above the plate", plate(), bolt(), at(x, y, 0.01), deep, deep)
            yield Fit(f"bolt {name}, its head on the plate", plate(), bolt(), at(x, y, 0), deep, deep)
            oblique = float(np.hypot(deep, 0.2))  # sideways and up, as far as the hole's rim is from the bolt's fillet
            yield Fit(f"bolt {name}, its head in the plate", plate(), bolt(), at(x, y, -0.2), oblique, oblique)
    # only a translation along the axis separates them
    yield Fit("pin pressed into its hole", plate(5.0), pin(5.027), at(0, 0, 0), 16.0, 0.027, 0.006)
    wall, shaft = gk.Box((60, 60, 3)).surface(), turned([(0, -20), (4, -20), (4, 20), (0, 20)])
    yield Fit("shaft through a wall", gk.Mesh(*wall), shaft, at(1, 2, 0), 21.5, 4.0, 0.05)
    mesh = at(19.95, 0, 0, rotation=Rotation.from_euler("z", np.pi / 20))
    # the tip of a tooth, a chord of radius 11, overlaps the bottom between two teeth, a chord of radius 9
    tip = 11 * np.cos(0.12 * np.pi / 10) + 9 * np.cos(0.25 * np.pi / 10) - 19.95
    yield Fit("gears in mesh", gear(), gear(), mesh, tip, tip, 1e-6)


def linked() -> Iterator[tuple[str, gk.Mesh, gk.Mesh, Array]]:
    """Yield pairs of rings: linked without contact, linked and intersecting, and intersecting askew."""
    upright = Rotation.from_euler("x", np.pi / 2)
    yield "linked and apart", ring(), ring(), at(10, 0, 0, rotation=upright)
    yield "linked and crossing", ring(), ring(), at(3, 0, 0, rotation=upright)
    yield "crossing askew", ring(), ring(), at(16.4, 1.0, 0.5, rotation=upright)
