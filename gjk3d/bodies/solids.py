"""The solids of a mesh: closed surfaces that are apart, touch along faces and edges, or overlap.

Triangles are joined across edges. Where solids touch, more than two triangles are at an edge: the matter of a solid is
a sector around the edge, from a triangle that runs the edge backwards to the next one that runs it forwards. Triangles
of one sector are joined, as in the conversion of non-manifold solids to manifold ones (Rossignac and Cardoze,
Matchmaker, 1999). A closed surface that is inside out bounds a cavity of the solid around it.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.topology import Edges, edges_of
from gjk3d.geometry.components import connected
from gjk3d.typing import Array, Ints

_SAME = 1e-5  #: radians: triangles at an edge that differ by less are at one angle


def solids(mesh: Mesh) -> list[Mesh]:
    """Return each solid of a mesh with its cavities, in the order of their first faces; all open surfaces are one."""
    edges = edges_of(mesh._places, mesh.faces)
    if not len(edges.faces):
        return [mesh]
    corners = mesh.vertices[mesh.faces[edges.faces]]
    label = _surfaces(edges, corners)
    owner = _owners(edges, corners, label)
    if not owner.any():
        return [mesh]
    of_face = np.zeros(len(mesh.faces), dtype=np.int64)  # flat triangles stay with the first solid
    of_face[edges.faces] = owner[label]
    made = []
    for number in range(int(owner.max()) + 1):
        used, faces = np.unique(mesh.faces[of_face == number], return_inverse=True)
        made.append(mesh._like(mesh.vertices[used], faces.reshape(-1, 3), source=mesh.source))
    return made


def _surfaces(edges: Edges, corners: Array) -> Ints:
    """Return the number of the connected surface of each triangle."""
    number, ways = edges.numbers.ravel(), edges.ways.ravel()
    order = np.argsort(number, kind="stable")
    starts = np.append(np.searchsorted(number[order], np.arange(len(edges.ends))), len(order))
    two = np.diff(starts) == 2
    first, second = order[starts[:-1][two]], order[starts[:-1][two] + 1]
    pairs = [np.column_stack([first, second]) // 3]
    for k in np.flatnonzero(np.diff(starts) > 2):
        sides = order[starts[k] : starts[k + 1]]
        if ways[sides].sum() == 0.0:
            sides = sides[_sectors(_angles(sides, ways, corners), ways[sides])]
        else:  # an open edge, whose sectors have no end
            sides = np.array(list(pairwise(sides)))
        pairs.append(sides // 3)
    one, other = np.concatenate(pairs).T
    return connected(one, other, len(corners))


def _angles(sides: Ints, ways: Array, corners: Array) -> Array:
    """Return the angles of triangles around an edge that they share, from the first on, 0 to a full turn."""
    triangles = corners[sides[:, None] // 3, (np.arange(3) + sides[:, None] % 3) % 3]  # each begins with the edge
    along = (triangles[0, 1] - triangles[0, 0]) * ways[sides[0]]
    along = along / np.linalg.norm(along)
    apex = triangles[:, 2] - triangles[:, 0]
    x = apex[0] - (apex[0] @ along) * along
    y = np.cross(along, x)
    angles: Array = np.arctan2(apex @ y, apex @ x) % (2.0 * np.pi)
    return angles


def _sectors(angles: Array, ways: Array) -> Ints:
    """Return which triangles around an edge bound matter together, (n / 2, 2)."""
    order = np.argsort(angles, kind="stable")
    gaps = np.diff(angles[order], append=angles[order[0]] + 2.0 * np.pi)
    turn = np.roll(order, -int(np.argmax(gaps)) - 1)  # no angle is cut in two by the start
    step = np.concatenate([[0], np.cumsum(np.diff(angles[turn]) % (2.0 * np.pi) > _SAME)])
    # matter ends before more of it begins; of doubled solids the same ones are paired at each edge
    turn = turn[np.lexsort([-ways[turn] * turn, -ways[turn], step])]
    pairs: list[tuple[int, int]] = []
    begun: list[int] = []
    ended: set[int] = set()
    for side in (*turn.tolist(), *turn.tolist()):  # a sector may go past the start
        if side in ended:
            continue
        while begun and begun[-1] in ended:  # begun again on the second turn
            begun.pop()
        if ways[side] < 0.0:
            begun.append(side)
        elif begun:
            pairs.append((begun.pop(), side))
            ended.update(pairs[-1])
    return np.array(pairs)


def _owners(edges: Edges, corners: Array, label: Ints) -> Ints:
    """Return the number of the solid that each surface is of."""
    count = int(label.max()) + 1
    owner = np.arange(count)
    runs, run = np.unique(label.repeat(3) * len(edges.ends) + edges.numbers.ravel(), return_inverse=True)
    opened = runs[np.bincount(run, edges.ways.ravel()) != 0.0] // len(edges.ends)
    owner[opened] = opened.min(initial=count)
    local = corners - corners.mean(axis=(0, 1))
    volumes = np.bincount(label, np.einsum("ij,ij->i", local[:, 0], np.cross(local[:, 1], local[:, 2])), count)
    volumes[opened] = 0.0
    for cavity in np.flatnonzero(volumes < 0.0):
        point = corners[np.argmax(label == cavity), 0]
        for solid in sorted(np.flatnonzero(volumes > 0.0), key=volumes.__getitem__):
            if _winding(corners[label == solid] - point) > 0.5:
                owner[cavity] = solid
                break
    _, first, number = np.unique(owner, return_index=True, return_inverse=True)
    ranks: Ints = np.argsort(np.argsort(first))[number]
    return ranks


def _winding(corners: Array) -> float:
    """Return how often a closed surface goes around the origin, 1 inside (Van Oosterom and Strackee, 1983)."""
    a, b, c = (corners[:, k] for k in range(3))
    x, y, z = (np.linalg.norm(each, axis=1) for each in (a, b, c))
    up = np.einsum("ij,ij->i", a, np.cross(b, c))
    down = x * y * z + np.einsum("ij,ij->i", a, b) * z + np.einsum("ij,ij->i", b, c) * x
    down += np.einsum("ij,ij->i", c, a) * y
    return float(np.arctan2(up, down).sum() / (2.0 * np.pi))
