"""``python -m tests.hardening.level``: random balls and crates on level ground, for every kind of body.

All contact normals must be vertical. The contact point of a ball is below its centre. Those of a crate are its corners.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay
from scipy.spatial.transform import Rotation

import gjk3d as gk

Array = NDArray[np.float64]
Rng = np.random.Generator

SIZE = 4.0  #: edge length of the ground, whose top is z = 0
VARIANTS = 8  #: bodies of each kind
STRAIGHT, ROUNDED = 1e-6, 1e-9  #: greatest allowed error of a normal, and of a length


def move(x: float, y: float, z: float) -> Array:
    """Return a pose that only translates."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


# --- the ground -------------------------------------------------------------------------------------------------------


def field(rng: Rng, bottom: float = -np.inf) -> Any:
    """Return a height field of random pitch."""
    cells = rng.integers(2, 24, 2)
    return gk.HeightField(np.zeros(cells + 1), SIZE / cells, bottom=bottom)


def sheet(rng: Rng) -> tuple[Array, Array]:
    """Return the corners and triangles of a level square with a random triangulation."""
    n = int(rng.integers(0, 40))
    line = np.concatenate([[0.0], np.sort(rng.uniform(0.1, SIZE - 0.1, n // 4)), [SIZE]])
    ends = [np.column_stack([line, np.full_like(line, v)]) for v in (0.0, SIZE)]
    rim = np.concatenate([*ends, *(end[1:-1, ::-1] for end in ends)])
    flat = np.concatenate([rim, rng.uniform(0.1, SIZE - 0.1, (n, 2))])
    faces = Delaunay(flat).simplices.astype(np.int64)
    u, v = flat[faces[:, 1]] - flat[faces[:, 0]], flat[faces[:, 2]] - flat[faces[:, 0]]
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    faces[area < 0.0] = faces[area < 0.0, ::-1]
    return np.column_stack([flat, np.zeros(len(flat))]), faces[np.abs(area) > 1e-9]


def slab(rng: Rng, thick: float = 1.0) -> gk.Mesh:
    """Return a closed mesh with a random triangulation of its top."""
    top, faces = sheet(rng)
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    inner = {(i, j) for j, i in edges.tolist()}
    p, q = np.array([edge for edge in edges.tolist() if tuple(edge) not in inner]).T
    n = len(top)
    sides = np.concatenate([np.column_stack([p, p + n, q]), np.column_stack([q, p + n, q + n])])
    return gk.Mesh(np.concatenate([top, top - (0, 0, thick)]), np.concatenate([faces, faces[:, ::-1] + n, sides]))


def bricks(rng: Rng, make: Callable[[Array], Any] = gk.Box) -> gk.Compound:
    """Return rows of abutting boxes of random widths and depths."""
    parts = []
    rows = np.concatenate([[0.0], np.sort(rng.uniform(0, SIZE, rng.integers(0, 4))), [SIZE]])
    for low, high in pairwise(rows):
        ends = np.concatenate([[0.0], np.sort(rng.uniform(0, SIZE, rng.integers(0, 6))), [SIZE]])
        for left, right in pairwise(ends):
            depth = rng.uniform(0.5, 2.0)
            pose = move(0.5 * (left + right), 0.5 * (low + high), -0.5 * depth)
            parts.append((make(np.array([right - left, high - low, depth])), pose))
    return gk.Compound(parts)


def boxed(extents: Array) -> gk.Mesh:
    """Return a box as a closed mesh."""
    return gk.Mesh(*gk.Box(extents).surface())


def voxels(rng: Rng) -> gk.VoxelGrid:
    """Return cubes with a full top layer and holes below."""
    cells = int(rng.integers(4, 16))
    occupied = rng.random((cells, cells, 4)) < 0.5
    occupied[..., -2:] = True
    pitch = SIZE / cells
    return gk.VoxelGrid(occupied, pitch, (0.0, 0.0, -4.0 * pitch))


def shell(rng: Rng) -> gk.Shell:
    """Return a thick surface with a level upper side."""
    vertices, faces = sheet(rng)
    thick = rng.uniform(0.1, 0.5)
    return gk.Shell(gk.Mesh(vertices - (0, 0, 0.5 * thick), faces), thick)


GROUNDS: dict[str, Callable[[Rng], Any]] = {
    "height field": field,
    "height field with a bottom": lambda rng: field(rng, bottom=-1.0),
    "open mesh": lambda rng: gk.Mesh(*sheet(rng)),
    "closed mesh": slab,
    "compound of boxes": bricks,
    "compound of meshes": lambda rng: bricks(rng, boxed),
    "shell": shell,
    "voxels": voxels,
}


@cache
def ground(kind: str, variant: int) -> Any:
    """Return one of the bodies of a kind."""
    return GROUNDS[kind](np.random.default_rng([variant, *kind.encode()]))


# --- objects on the ground --------------------------------------------------------------------------------------------


def halves(extents: Array) -> gk.Compound:
    """Return a box as two abutting boxes."""
    half = extents * (0.5, 1.0, 1.0)
    return gk.Compound([(gk.Box(half), move(x * extents[0], 0, 0)) for x in (-0.25, 0.25)])


CRATES: dict[str, Callable[[Array], Any]] = {"crate": gk.Box, "mesh crate": boxed, "compound crate": halves}
THINGS = ("ball", *CRATES)


def lying(rng: Rng, item: str) -> tuple[Any, Array, Array]:
    """Return a random object, its pose on z = 0, and its contact points, (1, 3) or (4, 3)."""
    x, y = rng.uniform(0.3 * SIZE, 0.7 * SIZE, 2)
    if rng.random() < 0.3:
        x, y = np.round([x, y])
    if item == "ball":
        radius = 10.0 ** rng.uniform(-1.5, 0)
        return gk.Sphere(radius), move(x, y, radius), np.array([[x, y, 0.0]])
    extents = 10.0 ** rng.uniform(-1, 0, 3)
    yaw = 0.0 if rng.random() < 0.3 else rng.uniform(0, 2 * np.pi)
    pose = move(x, y, 0.5 * extents[2])
    pose[:3, :3] = Rotation.from_euler("z", yaw).as_matrix()
    corners = 0.5 * extents * [(u, v, -1.0) for u in (-1, 1) for v in (-1, 1)]
    return CRATES[item](extents), pose, corners @ pose[:3, :3].T + pose[:3, 3]


def fault(rng: Rng, kind: str, item: str) -> str:
    """Return the fault of the contact of a random object on level ground, or an empty string."""
    floor = ground(kind, int(rng.integers(VARIANTS)))
    body, pose, feet = lying(rng, item)
    size = float(np.min(body.bounds[1] - body.bounds[0]))
    gap = size * -(10.0 ** rng.uniform(-6, -0.8)) if rng.random() < 0.7 else rng.choice((0.0, 1e-3, 1e-2)) * size
    pose[2, 3] += gap
    world = np.eye(4)
    if rng.random() < 0.5:
        world[:3, :3], world[:3, 3] = Rotation.random(rng=rng).as_matrix(), rng.normal(size=3)
    within = 2.0 * gap if gap > 0.0 else 1e-9
    swapped, most = rng.random() < 0.5, (4 if rng.random() < 0.7 else None)
    pair = ((body, world @ pose), (floor, world)) if swapped else ((floor, world), (body, world @ pose))
    touch = gk.contact(*(a for a, _ in pair), *(p for _, p in pair), within=within, max_points=most)
    if not touch.count:
        return "no point"
    up = (-1.0 if swapped else 1.0) * world[:3, 2]
    if np.abs(touch.normals - up).max() > STRAIGHT:
        return "normal"
    if np.abs(touch.gaps - gap).max() > ROUNDED:
        return "gap"
    on_ground = touch.points_b if swapped else touch.points_a
    far = np.linalg.norm((world[:3, :3] @ feet.T).T[:, None] + world[:3, 3] - on_ground, axis=2)
    if far.min(axis=1).max() > ROUNDED:
        return "corner"
    return "count" if most == 4 and touch.count != len(feet) else ""


def faults(kind: str, item: str, rows: int, seed: int = 0) -> Counter[str]:
    """Count the faults of random objects on level ground of a kind."""
    names = (fault(np.random.default_rng([seed, row]), kind, item) for row in range(rows))
    return Counter(name for name in names if name)


def main(given: list[str] | None = None) -> int:
    """Print a table of faults; return 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.hardening.level", description=__doc__)
    parser.add_argument("--rows", type=int, default=500, help="of each thing on each kind of body")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(given)
    wrong = 0
    for kind in GROUNDS:
        for item in THINGS:
            counts = faults(kind, item, arguments.rows, arguments.seed)
            wrong += counts.total()
            print(f"{item} on {kind}: {counts.total()} of {arguments.rows} wrong", dict(counts) or "", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
