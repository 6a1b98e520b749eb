"""How much memory a body takes once it was asked about, as the guide tells it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.bodies.base import Parts
from gjk3d.frozen import Frozen

GUIDE = (Path(__file__).parents[2] / "examples" / "guides" / "speed.md").read_text(encoding="utf-8")
BYTES = {name: int(count) for name, count in re.findall(r"^\| (a \w+, .*) \| (\d+) for each \w+ \|$", GUIDE, re.M)}


def arrays_in(thing: Any, found: dict[Any, int], seen: set[int]) -> dict[Any, int]:
    """Collect the arrays that are held, each place once; of a view what it shows, as what is behind was not touched."""
    if isinstance(thing, np.ndarray):
        where = thing.__array_interface__["data"][0], thing.nbytes
        found[where] = thing.nbytes
    elif id(thing) not in seen:
        seen.add(id(thing))
        held: list[Any] = []
        if isinstance(thing, (list, tuple)):
            held = list(thing)
        elif isinstance(thing, dict):
            held = list(thing.values())
        elif isinstance(thing, (Frozen, Parts)):
            names = [name for base in type(thing).__mro__ for name in base.__dict__.get("__slots__", ())]
            held = [getattr(thing, name, None) for name in names if name != "__weakref__"]
        for each in held:
            arrays_in(each, found, seen)
    return found


def taken(thing: Any) -> int:
    return sum(arrays_in(thing, {}, set()).values())


def bumpy(n: int) -> gk.Mesh:
    """A ring of n^2 triangles."""
    i, j = (x.ravel() for x in np.meshgrid(np.arange(n), np.arange(n // 2), indexing="ij"))
    a, b = 2.0 * np.pi * i / n, 4.0 * np.pi * j / n
    away = 3.0 + np.cos(b) * (1.0 + 0.1 * np.sin(5.0 * a))
    p, q, r, s = (((i + u) % n) * (n // 2) + (j + v) % (n // 2) for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)))
    faces = np.concatenate([np.column_stack([p, q, r]), np.column_stack([p, r, s])])
    return gk.Mesh(np.column_stack([away * np.cos(a), away * np.sin(a), np.sin(b)]), faces)


def test_the_guide_has_the_bytes_of_a_triangle_and_a_point() -> None:
    mesh, ball, box = bumpy(200), gk.Sphere(0.1), gk.Box((0.1, 0.1, 0.1))

    def check(name: str) -> None:
        assert taken(mesh) / len(mesh.faces) == pytest.approx(BYTES[f"a mesh, {name}"], rel=0.05)

    assert gk.collide(mesh, gk.Box((5, 5, 5)))
    check("for collisions")
    gk.signed_distance(mesh, box)
    check("also for distances and rays")
    before = taken(mesh)
    assert gk.raycast(mesh, (3, 0, 5), (0, 0, -1)).hit
    assert taken(mesh) == before  # by the tree of the distances
    assert gk.contact(mesh, gk.Sphere(2.5)).count > 0
    check("also for contacts and depth")
    mesh = bumpy(200)
    for query in (gk.collide, gk.signed_distance):
        query(mesh, ball)
    check("only for points, balls and rays")
    cloud = gk.PointCloud(np.random.default_rng(0).normal(size=(40_000, 3)), 0.01)
    for query in (gk.collide, gk.signed_distance):
        query(cloud, ball)
    assert taken(cloud) / len(cloud.points) == pytest.approx(BYTES["a cloud, for collisions"], rel=0.05)
