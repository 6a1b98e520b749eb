"""Convex shapes in place of bodies: their hulls, and by how much rounding may leave a body beyond its own."""

from __future__ import annotations

import numpy as np

from gjk3d.bodies.base import Body
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.parts import parts_of
from gjk3d.errors import UnboundedShapeError, UnsupportedPair
from gjk3d.poses import ROUNDING
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.typing import Array
from gjk3d.wording import kind_of

_CORNERS = np.array([(x, y, z) for x in (0, 3) for y in (1, 4) for z in (2, 5)])


def placing(body: Body | Shape) -> float:
    """Bound how far a corner of the hull is from where it is meant: it went through the pose of its part."""
    return 0.0 if isinstance(body, Mesh) else ROUNDING * parts_of(body).reach


def sharp_hulls(a: Body | Shape, b: Body | Shape) -> tuple[Shape, Shape, float]:
    """Return two hulls that are sharp polytopes, and by how much both together may be off.

    Raises
    ------
    UnsupportedPair
        Where the hull of a body is none, or it has none.
    """
    hulls, error = [], 0.0
    for name, x in (("a", a), ("b", b)):
        if isinstance(x, Shape):
            hulls.append(x)
            continue
        hull = parts_of(x).hull()
        if hull is None or not hull._packed[0][layout.POLYTOPE] or hull._packed[1][layout.RADIUS] != 0.0:
            what = "which has no hull" if hull is None else "whose hull is none"
            raise UnsupportedPair(
                f"separating_axis takes polytopes, and {name} is {kind_of(x)}, {what}: "
                "use distance or signed_distance, whose normal parts the two where a plane does"
            )
        hulls.append(hull)
        error += placing(x)
    return hulls[0], hulls[1], error


def shape_round(body: Body) -> Shape:
    """Return a convex shape that holds all of a body: its hull, grown by what rounding may leave out of it.

    Where the hull costs too much, as that of hundreds of curved parts, it is that of the parts' boxes.

    Raises
    ------
    UnboundedShapeError
        Of a height field, which has no end.
    """
    if body._as_parts().endless:
        raise UnboundedShapeError(
            "a HeightField goes down without end; give it a bottom, or of its surface alone ask "
            "gjk3d.Mesh(*field.surface())"
        )
    return body._cached("shape round", lambda: _shape_round(body))


def _shape_round(body: Body) -> Shape:
    parts = body._as_parts()
    hull = parts.hull()
    if hull is None:
        boxes: Array = parts.boxes(np.arange(parts.count))
        hull = ConvexHull(boxes[:, _CORNERS].reshape(-1, 3))
    missing = placing(body) + float(hull._packed[1][layout.SLACK])
    return hull.inflated(max(missing, layout.LEAST)) if missing > 0.0 else hull
