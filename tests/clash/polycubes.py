"""Non-convex parts of unit cubes on a lattice, with many coplanar faces, and the exact reference for their pairs."""

import numpy as np

import gjk3d as gk


def grown(rng, count):
    """Return the lattice cells of a part that grows by random adjacent cells."""
    cells = [(0, 0, 0)]
    while len(cells) < count:
        step = np.zeros(3, dtype=int)
        step[rng.integers(3)] = rng.choice([-1, 1])
        cell = tuple((np.array(cells[rng.integers(len(cells))]) + step).tolist())
        if cell not in cells:
            cells.append(cell)
    return cells


def surface(cells, shift=(0, 0, 0)):
    """Return the mesh of the outer faces; vertices and edges may be shared by more faces than a manifold allows."""
    places, faces = {}, []
    for cell in cells:
        for axis in range(3):
            for side in (0, 1):
                beyond = list(cell)
                beyond[axis] += 2 * side - 1
                if tuple(beyond) in cells:
                    continue
                ring = []
                for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)):
                    corner = list(cell)
                    corner[axis] += side
                    corner[(axis + 1) % 3] += u
                    corner[(axis + 2) % 3] += v
                    ring.append(places.setdefault(tuple(corner), len(places)))
                ring = ring if side else ring[::-1]
                faces += [(ring[0], ring[1], ring[2]), (ring[0], ring[2], ring[3])]
    return gk.Mesh(np.array(list(places), float) + np.array(shift, float), faces)


def truth(a, b, halves):
    """Return the overlap volume and the distance of two parts, the second shifted by some half units."""
    first, second = (np.array([(2 * x + i, 2 * y + j, 2 * z + k) for x, y, z in cells for i, j, k in _EIGHTHS])
                     for cells in (a, b))  # fmt: skip
    second = second + halves
    common = {tuple(c) for c in first.tolist()} & {tuple(c) for c in second.tolist()}
    gaps = np.maximum(np.abs(first[:, None] - second[None]) - 1.0, 0.0)
    return len(common) / 8.0, float(np.sqrt((gaps**2).sum(axis=2)).min() / 2.0)


_EIGHTHS = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
