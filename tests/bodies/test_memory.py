"""Memory of a body after queries, compared with the table of the guide."""

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


def collect_arrays(value: Any, sizes: dict[Any, int], seen: set[int]) -> dict[Any, int]:
    """Collect the sizes of the arrays that a value refers to, each once; a view counts only the part it shows."""
    if isinstance(value, np.ndarray):
        where = value.__array_interface__["data"][0], value.nbytes
        sizes[where] = value.nbytes
    elif id(value) not in seen:
        seen.add(id(value))
        members: list[Any] = []
        if isinstance(value, (list, tuple)):
            members = list(value)
        elif isinstance(value, dict):
            members = list(value.values())
        elif isinstance(value, (Frozen, Parts)):
            names = [name for base in type(value).__mro__ for name in base.__dict__.get("__slots__", ())]
            members = [getattr(value, name, None) for name in names if name != "__weakref__"]
        for member in members:
            collect_arrays(member, sizes, seen)
    return sizes


def bytes_of(value: Any) -> int:
    return sum(collect_arrays(value, {}, set()).values())


def bumpy(n: int) -> gk.Mesh:
    """Return a torus of n^2 triangles."""
    i, j = (x.ravel() for x in np.meshgrid(np.arange(n), np.arange(n // 2), indexing="ij"))
    a, b = 2.0 * np.pi * i / n, 4.0 * np.pi * j / n
    away = 3.0 + np.cos(b) * (1.0 + 0.1 * np.sin(5.0 * a))
    p, q, r, s = (((i + u) % n) * (n // 2) + (j + v) % (n // 2) for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)))
    faces = np.concatenate([np.column_stack([p, q, r]), np.column_stack([p, r, s])])
    return gk.Mesh(np.column_stack([away * np.cos(a), away * np.sin(a), np.sin(b)]), faces)


def test_guide_lists_the_bytes_of_a_triangle_and_a_point() -> None:
    mesh, ball, box = bumpy(200), gk.Sphere(0.1), gk.Box((0.1, 0.1, 0.1))

    def check(name: str) -> None:
        assert bytes_of(mesh) / len(mesh.faces) == pytest.approx(BYTES[f"a mesh, {name}"], rel=0.05)

    assert gk.collide(mesh, gk.Box((5, 5, 5)))
    check("for collisions")
    gk.signed_distance(mesh, box)
    check("also for distances and rays")
    before = bytes_of(mesh)
    assert gk.raycast(mesh, (3, 0, 5), (0, 0, -1)).hit
    assert bytes_of(mesh) == before  # rays use the tree of the distances
    assert gk.contact(mesh, gk.Sphere(2.5)).count > 0
    check("also for contacts and depth")
    mesh = bumpy(200)
    for query in (gk.collide, gk.signed_distance):
        query(mesh, ball)
    check("only for points, balls and rays")
    cloud = gk.PointCloud(np.random.default_rng(0).normal(size=(40_000, 3)), 0.01)
    for query in (gk.collide, gk.signed_distance):
        query(cloud, ball)
    assert bytes_of(cloud) / len(cloud.points) == pytest.approx(BYTES["a cloud, for collisions"], rel=0.05)
