"""Bounding volumes as pictures, with what they bound; and the boxes of a mesh's tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.query.volume import Volume
from gjk3d.query.volumes import AABB, OBB, BoundingSphere
from gjk3d.typing import Array
from gjk3d.viz.drawing import NORMAL, PALETTE, SEPARATION, Drawing, Style
from gjk3d.viz.layout import kind
from gjk3d.viz.marks import ball, box_lines
from gjk3d.wording import number

_WORDS = {AABB: "box along the axes", OBB: "turned box", BoundingSphere: "bounding sphere"}
_SIGNS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
#: Of a box whose eight corners come with the last axis fastest.
BOX_FACES = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6],
                   [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]])  # fmt: skip


def draw(x: Volume, style: Style, *, of: Any = None) -> Drawing:
    """Draw a bounding volume, or a stack of them.

    Parameters
    ----------
    of : anything that can be drawn
        What is bounded; ``pose`` is its pose.
    """
    drawing = Drawing()
    color = style.color(0, (NORMAL,))
    if of is not None:
        from gjk3d.viz.kinds import drawing_of

        drawing.take(drawing_of(of, Style(style.pose)))
        drawing.words = []
    name = next((words for cls, words in _WORDS.items() if isinstance(x, cls)), kind(x))
    if isinstance(x, BoundingSphere):
        centers, radii = np.reshape(x.center, (-1, 3)), np.reshape(x.radius, -1)
        for center, radius in zip(centers, radii, strict=True):
            drawing.body(*ball(center, radius, 64), color, style.alpha(0, 0.25))
        count, size = len(radii), float(np.sum(x.volume))
    else:
        corners = np.reshape(x.corners, (-1, 8, 3))  # type: ignore[attr-defined]
        drawing.lines(box_lines(corners), color, width=3.0)
        for eight in corners[:40]:
            drawing.body(eight, BOX_FACES, color, style.alpha(0, 0.10), outline=False)
        count, size = len(corners), float(np.sum(x.volume))  # type: ignore[attr-defined]
    drawing.words.append(
        f"{name[:1].upper() + name[1:]}, volume {number(size, 5)}" if count == 1 else f"{count} of the kind: {name}"
    )
    drawing.key(style.name(0, name), color)
    return drawing


def level_boxes(mesh: Mesh, level: int) -> Array:
    """Return the corners of the boxes at a level of the mesh's tree, (n, 8, 3); leaves above it are among them."""
    from gjk3d.bodies.bvh import tree_of

    tree = tree_of(mesh)
    nodes = np.zeros(1, dtype=np.int64)
    for _ in range(level):
        first = tree.links[nodes, 0]
        inner = nodes[first >= 0]
        if not len(inner):
            break
        children = tree.links[inner, 0]
        nodes = np.concatenate([nodes[first < 0], children, children + 1])
    boxes = tree.boxes[nodes]
    axes = boxes[:, 6:15].reshape(-1, 3, 3)
    corners: Array = boxes[:, None, :3] + (_SIGNS * boxes[:, None, 3:6]) @ axes
    return corners


def add_levels(drawing: Drawing, mesh: Mesh, pose: Array, level: int) -> None:
    """Add the boxes at a level of a mesh's tree, neighbours in different colours."""
    corners = level_boxes(mesh, level) @ pose[:3, :3].T + pose[:3, 3]
    colors = (NORMAL, SEPARATION, PALETTE[1], PALETTE[3])
    for k, color in enumerate(colors):
        drawing.lines(box_lines(corners[k :: len(colors)]), color, width=2.2)
    drawing.words.append(f"level {level} of its tree: {len(corners)} box{'es' if len(corners) > 1 else ''}")
