"""The tree of a mesh and what its kernels need, made when a mesh is first asked about."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gjk3d.firstcall import first_call
from gjk3d.meshes import bvh
from gjk3d.meshes.mesh import Mesh
from gjk3d.shapes.base import Array, Ints


class Tree(NamedTuple):
    """Boxes over triangles, see `gjk3d.meshes.bvh`."""

    boxes: Array  #: (nodes, 15)
    links: Ints  #: (nodes, 3)
    corners: Array  #: (m, 9) in the order of the leaves
    order: Ints  #: (m,) which face of the mesh each is
    reach: float  #: greatest coordinate

    @property
    def arrays(self) -> tuple[Array, Ints, Array]:
        """What the traversals take."""
        return self.boxes, self.links, self.corners


def tree_of(mesh: Mesh) -> Tree:
    """Return the mesh's tree, built once."""
    tree: Tree | None = mesh._cache.get("tree")
    if tree is None:
        tree = mesh._cache["tree"] = _built(mesh.vertices, mesh.faces)
    return tree


def refitted(tree: Tree, vertices: Array, faces: Ints) -> Tree:
    """Return the tree of the same faces with vertices elsewhere: boxes anew, branches as they were."""
    corners = _gathered(vertices, faces)[0][tree.order]
    return Tree(_fitted(corners, tree.links), tree.links, corners, tree.order, _reach(vertices))


def _built(vertices: Array, faces: Ints) -> Tree:
    with first_call("mesh"):
        corners, spans = _gathered(vertices, faces)
        order = np.arange(len(faces), dtype=np.int64)
        links = np.empty((2 * len(faces), 3), dtype=np.int64)
        stack = np.empty((2 * bvh.DEEPEST, 4), dtype=np.int64)
        count = bvh.build(spans, order, links, np.empty((bvh.BINS, 9)), stack)
        corners, links = corners[order], links[:count].copy()
        return Tree(_fitted(corners, links), links, corners, order, _reach(vertices))


def _fitted(corners: Array, links: Ints) -> Array:
    boxes = np.empty((len(links), bvh.BOX))
    bvh.fit(corners, links, boxes, np.empty((11, bvh.BOX)))
    return boxes


def _gathered(vertices: Array, faces: Ints) -> tuple[Array, Array]:
    corners, spans = np.empty((len(faces), 9)), np.empty((len(faces), 6))
    # one mutability: read-only arrays would compile everything again
    points, triangles = vertices.view(), faces.view()
    if not points.flags.writeable:
        points, triangles = vertices.copy(), faces.copy()
    bvh.gather(points, triangles, corners, spans)
    return corners, spans


def _reach(vertices: Array) -> float:
    return float(np.abs(vertices).max())
